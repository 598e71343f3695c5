"""How the dispatcher handles the messages of one service: arguments as Python has them, the function, answers."""

from __future__ import annotations

import asyncio
import sys
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from . import _hostcall
from ._definition import Definition
from ._errors import Failure
from ._service import Lanes, Service, is_waited_for_nothing
from ._types import Column, Slice, SliceMut, Str, Type, Variable


class Out:
    """A ``&mut [T]`` argument: what is written here goes back to the calling lane.

    ``array`` has the lane's length, and begins as zeros. All of it goes back, or as much as ``write`` was given: ``returned`` elements.
    """

    __slots__ = {"array": "What goes back, to be written.", "returned": "How many elements of it go back."}

    def __init__(self, array: Column) -> None:
        self.array, self.returned = array, len(array)

    def write(self, values: Any) -> None:
        """Gives back these ``values``: at most as many as there is room for. Raises ``ValueError`` if they are more."""
        given = np.asarray(values)
        if len(given) > len(self.array):
            raise ValueError(f"{len(given)} values, where the lane has room for {len(self.array)}")
        self.array[: len(given)] = given
        self.returned = len(given)

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, index: Any) -> Any:
        return self.array[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self.array[index] = value

    def bytes(self) -> bytes:
        """What goes back."""
        return self.array[: self.returned].tobytes()


def explain(error: BaseException) -> tuple[int, str]:
    """The code that the lane gets, and what the report shows."""
    if isinstance(error, Failure):
        return error.code, str(error)
    frames = error.__traceback__
    while frames is not None and frames.tb_frame.f_globals.get("__name__", "").split(".")[0] == "hostcall":
        frames = frames.tb_next
    if frames is None and isinstance(error, Unfit):
        # Where this package found it says nothing.
        return 1, f"TypeError: {error}"
    return 1, "".join(traceback.format_exception(type(error), error, frames or error.__traceback__)).rstrip()


class Unfit(TypeError):
    """What a service returned is not its result."""


class Serving:
    """A registered service."""

    def __init__(self, service: Service[..., Any]) -> None:
        self.service, self.function = service, service.function
        definition: Definition = service.definition
        self.what = str(definition)
        self.types = [argument.type for argument in definition.arguments]
        self.result: Type | None = definition.result
        self.nothing = is_waited_for_nothing(definition.result)
        self.has_out = any(isinstance(ty, SliceMut) for ty in self.types)
        placed = [start for start, _ in definition.defined.placed]
        fields = [(f"a{i}", ty, start) for i, (ty, start) in enumerate(zip(self.types, placed)) if not isinstance(ty, Variable) and ty.units]
        self.row = np.dtype(
            {
                "names": [name for name, _, _ in fields],
                "formats": [ty.dtype for _, ty, _ in fields],
                "offsets": [4 * start for _, _, start in fields],
                "itemsize": 4 * definition.units,
            }
        )
        # Rows that are one number, which need no structure.
        alone = len(fields) == 1 and fields[0][1].dtype.itemsize == self.row.itemsize and not fields[0][1].dtype.subdtype
        self.alone = fields[0][1].dtype if alone else None
        self.units = definition.reply_units or 0
        self.result_row: np.dtype[Any] | None = None
        if self.result is not None and self.units:
            self.result_row = np.dtype({"names": ["r"], "formats": [self.result.dtype], "offsets": [0], "itemsize": 4 * self.units})
        self.exact = self.result is not None and self.result.dtype.itemsize == 4 * self.units and not self.result.dtype.subdtype

    # Arguments.

    def columns(self, batch: _hostcall.Batch) -> list[Any]:
        """The arguments of all lanes: an array over the message's memory for each, lists of strings and of slices."""
        lanes = batch.lanes
        if not self.service.definition.takes_var:
            rows = batch.rows()
            if self.alone is not None:
                return [rows.view(self.alone)]
            if self.row.names:
                table = rows.view(self.row)
                return [table[f"a{i}"] if ty.units else np.zeros(lanes, ty.dtype) for i, ty in enumerate(self.types)]
            return [np.zeros(lanes, ty.dtype) for ty in self.types]
        table = batch.rows().view(self.row) if self.row.names else np.zeros(lanes, "V0")
        variables = [ty for ty in self.types if isinstance(ty, Variable)]
        strings = {at: batch.strings(at) for at, ty in enumerate(variables) if isinstance(ty, Str)}
        data, places = batch.slices()
        columns: list[Any] = []
        at = 0
        for i, ty in enumerate(self.types):
            if not isinstance(ty, Variable):
                columns.append(table[f"a{i}"] if ty.units else np.zeros(lanes, ty.dtype))
                continue
            mine = places[at :: len(variables)]
            if isinstance(ty, Str):
                columns.append(strings[at])
            elif isinstance(ty, SliceMut):
                columns.append([Out(np.zeros(end // ty.element.dtype.itemsize, ty.element.dtype)) for _, end in mine])
            elif isinstance(ty, Slice):
                columns.append([slice_of(data, start, end, ty.element) for start, end in mine])
            at += 1
        return columns

    def lists(self, columns: list[Any]) -> Iterator[tuple[Any, ...]]:
        """The arguments of lane after lane."""
        lists = [column if isinstance(column, list) else ty.to_list(column) for ty, column in zip(self.types, columns)]
        return zip(*lists)

    # Answers.

    def outs(self, columns: list[Any]) -> list[list[bytes]] | None:
        """What goes back of ``&mut [T]``, by lane."""
        if not self.has_out:
            return None
        outs = [column for ty, column in zip(self.types, columns) if isinstance(ty, SliceMut)]
        return [[out.bytes() for out in lane] for lane in zip(*outs)]

    def finish(self, batch: _hostcall.Batch, values: Column | None, outs: list[list[bytes]] | None) -> None:
        """Gives results that have been checked."""
        if values is None or self.result_row is None:
            batch.answer(None, outs)
        elif self.exact and values.flags.c_contiguous:
            batch.answer(values.view(np.uint32), outs)
        else:
            rows = np.zeros(len(values), self.result_row)
            rows["r"] = values
            batch.answer(rows.view(np.uint32), outs)

    def batch_result(self, batch: _hostcall.Batch, given: Any, columns: list[Any]) -> None:
        """Checks and gives what the function returned for a whole batch."""
        lanes = batch.lanes
        if isinstance(given, Lanes):
            if len(given.failed) != lanes:
                raise ValueError(f"{self.what} returned a mask of {len(given.failed)}, where there are {lanes} lanes")
            (failed,) = np.nonzero(given.failed)
            batch.fail(failed.astype(np.uint32), np.ascontiguousarray(given.codes[failed]), given.message or "failed by `hostcall.Lanes`")
            given = given.values
        if self.result is None:
            if given is not None:
                raise TypeError(f"{self.what} is posted and has no result, and returned {type(given).__name__}")
            values = None
        else:
            values = None if self.nothing and given is None else self.result.from_batch(given, lanes, self.what)
        self.finish(batch, values, self.outs(columns))

    def lane_results(self, batch: _hostcall.Batch, results: list[Any], failures: dict[int, BaseException], columns: list[Any]) -> None:
        """Gives what the function returned for each lane: encoded, but of those that failed."""
        said: dict[tuple[str, str], tuple[int, str]] = {}
        for lane, error in failures.items():
            key = (type(error).__name__, repr(error))
            if key not in said:
                said[key] = explain(error)
            code, text = said[key]
            batch.fail(np.array([lane], np.uint32), np.array([code], np.uint32), text)
        values = None
        if self.result is not None and not self.nothing:
            if self.result.scalar and not failures:
                values = np.array(results, self.result.dtype)
            else:
                values = np.zeros(batch.lanes, self.result.dtype)
                for lane, result in enumerate(results):
                    if lane not in failures:
                        self.result.put(values, lane, result)
        self.finish(batch, values, self.outs(columns))

    def encode(self, returned: Any) -> Any:
        """What the function returned for one lane, checked."""
        if self.result is None:
            if returned is not None:
                raise Unfit(f"{self.what} is posted and has no result, and returned {returned!r}")
            return None
        try:
            return self.result.encode(returned)
        except (TypeError, ValueError, OverflowError) as error:
            raise Unfit(f"{self.what} returned {returned!r}: {error}") from None

    def serve(self, batch: _hostcall.Batch, loop: Callable[[], asyncio.AbstractEventLoop]) -> None:
        """Handles messages. Whatever the function does, they are answered, and nothing is raised."""
        try:
            columns = self.columns(batch)
            if self.service.is_async:
                start = self._start_batch if self.service.batch else self._start_lanes
                loop().call_soon_threadsafe(start, batch, columns)
            elif self.service.batch:
                self.batch_result(batch, self.function(*columns), columns)
            else:
                self._each(batch, columns)
        except BaseException as error:  # A service that raises SystemExit has failed as any other.
            fail_all(batch, error)

    def _each(self, batch: _hostcall.Batch, columns: list[Any]) -> None:
        function, encode = self.function, self.encode
        results: list[Any] = []
        failures: dict[int, BaseException] = {}
        arguments = self.lists(columns) if columns else iter([()] * batch.lanes)
        for lane, lane_arguments in enumerate(arguments):
            try:
                results.append(encode(function(*lane_arguments)))
            except BaseException as error:  # As in `serve`.
                failures[lane] = error
                results.append(None)
        self.lane_results(batch, results, failures, columns)

    # Async, on the loop's thread.

    def _start_batch(self, batch: _hostcall.Batch, columns: list[Any]) -> None:
        async def run() -> None:
            try:
                self.batch_result(batch, await self.function(*columns), columns)
            except BaseException as error:
                fail_all(batch, error)
                if not isinstance(error, Exception):
                    raise

        keep(asyncio.get_running_loop().create_task(run()))

    def _start_lanes(self, batch: _hostcall.Batch, columns: list[Any]) -> None:
        try:
            arguments = list(self.lists(columns)) if columns else [()] * batch.lanes
            # The replies of a message leave together, so each message is answered when its last lane is.
            for first, message in batch.split():
                own = [column[first : first + message.lanes] for column in columns]
                keep(asyncio.get_running_loop().create_task(self._message(message, arguments[first : first + message.lanes], own)))
        except BaseException as error:
            fail_all(batch, error)

    async def _message(self, message: _hostcall.Batch, arguments: list[tuple[Any, ...]], columns: list[Any]) -> None:
        async def one(lane_arguments: tuple[Any, ...]) -> Any:
            return self.encode(await self.function(*lane_arguments))

        try:
            results = await asyncio.gather(*(one(lane_arguments) for lane_arguments in arguments), return_exceptions=True)
            failures = {lane: result for lane, result in enumerate(results) if isinstance(result, BaseException)}
            self.lane_results(message, [None if lane in failures else result for lane, result in enumerate(results)], failures, columns)
        except BaseException as error:
            fail_all(message, error)
            if not isinstance(error, Exception):
                raise


#: Tasks that run: a loop keeps only weak references.
TASKS: set[asyncio.Task[None]] = set()


def keep(task: asyncio.Task[None]) -> None:
    TASKS.add(task)
    task.add_done_callback(TASKS.discard)


def slice_of(data: Column, start: int, end: int, element: Type) -> Column:
    return data[start:end].view(element.dtype.base).reshape(-1, *element.dtype.shape)


def fail_all(batch: _hostcall.Batch, error: BaseException) -> None:
    """All lanes of a batch have failed with an error."""
    code, text = explain(error)
    try:
        batch.fail_all(code, text)
    except RuntimeError:
        # They have been answered before it was raised.
        print(f"hostcall: after its calls were answered: {text}", file=sys.stderr)
