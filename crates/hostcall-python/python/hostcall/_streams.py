"""What kernels send without an answer, as tables of Arrow."""

from __future__ import annotations

import html
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from . import _hostcall
from ._attach import stream_pointer
from ._errors import NotFoundError
from ._message import Named, Policy, name_of
from ._need import package

#: For how many seconds iterating sleeps before it asks whether kernels have ended.
LOOK = 0.02


@dataclass(frozen=True)
class StreamCounts:
    """What was sent by a stream, and what became of it, in messages. All but ``received``, ``values`` and ``unhandled`` are known since the last wait.

    ``name``: the stream's. ``received``: messages that came, with ``values`` values. ``dropped``: those for which there was no room; ``waited``: those that
    waited for it. ``filtered``: those that nobody wanted. ``overwritten``: older ones in a ring of the policy ``latest``. ``unhandled``: those that came and
    were not kept.
    """

    name: str
    received: int
    values: int
    dropped: int
    filtered: int
    overwritten: int
    waited: int
    unhandled: int = 0

    @classmethod
    def of(cls, row: dict[str, Any]) -> StreamCounts:
        """From a ``row`` that the extension module gives."""
        return cls(received=row["messages"], **{key: value for key, value in row.items() if key != "messages"})

    @property
    def sent(self) -> int:
        """Messages that kernels sent, or were to send: received, dropped, filtered and overwritten ones."""
        return self.received + self.dropped + self.filtered + self.overwritten

    def _row(self) -> dict[str, int]:
        counts = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "name"}
        always = ("received", "values", "dropped")
        return {"sent": self.sent, **{name: count for name, count in counts.items() if count or name in always}}

    def __str__(self) -> str:
        return f"{self.name}: " + ", ".join(f"{count:,} {name}" for name, count in self._row().items())

    def _repr_html_(self) -> str:
        row = self._row()
        head = "".join(f"<th>{name}</th>" for name in row)
        cells = "".join(f"<td>{count:,}</td>" for count in row.values())
        return f"<table><tr><th>stream</th>{head}</tr><tr><td>{html.escape(self.name)}</td>{cells}</tr></table>"


class Stream:
    """The messages of one stream: a table that grows.

    Packages that know Arrow's PyCapsule interface take it, as ``pyarrow.table(stream)`` does. It has a row for each value; first columns are who sent it:
    ``device``, ``launch``, ``workgroup``, ``wave``, ``lane``, ``sm``, ``time``, ``site``, ``weight``, ``after_gap``.
    """

    def __init__(self, core: _hostcall.Streams, name: str) -> None:
        self._core = core
        self.name = name

    def __iter__(self) -> Iterator[_hostcall.RecordBatch]:
        return self.batches()

    def batches(self, stream: Any = None) -> Iterator[_hostcall.RecordBatch]:
        """Record batches as they come, until the kernels that run have ended. What it yields is taken: the table has it no more.

        ``stream``: as for ``Server.wait``.
        """
        pointer = stream_pointer(stream)
        while True:
            batch = self._core.take(self.name, LOOK)
            if batch is not None:
                yield batch
            elif self._core.idle(pointer):
                break
        self._core.wait(pointer)
        while (batch := self._core.take(self.name, 0.0)) is not None:
            yield batch

    def table(self) -> Any:
        """Everything that has come and was not taken, as a ``pyarrow.Table``. (Its package has no types for checkers.)

        Raises ``ImportError`` without pyarrow, ``StreamError`` if two programs define the stream differently.
        """
        return package("pyarrow", "pyarrow", "Stream.table").table(self)

    def clear(self) -> None:
        """Forgets what has come."""
        self._core.clear(self.name)

    @property
    def num_rows(self) -> int:
        """Values that have come and were not taken."""
        return self._core.rows(self.name)

    @property
    def forgotten(self) -> int:
        """Values that have come and went untaken, because more came than ``keep`` allows."""
        return self._core.forgotten(self.name)

    @property
    def counts(self) -> StreamCounts:
        """What was sent, and what became of it."""
        for row in self._core.counts():
            if row["name"] == self.name:
                return StreamCounts.of(row)
        return StreamCounts(self.name, 0, 0, 0, 0, 0, 0)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._core.export(self.name)

    def __len__(self) -> int:
        return self.num_rows

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"<hostcall.Stream {self.counts}; {self.num_rows:,} rows here>"

    def _repr_html_(self) -> str:
        return self.counts._repr_html_()


class Streams:
    """The streams of a server's programs, by name or by definition: ``streams["Loss"]``. ``hostcall.Server.streams`` makes it."""

    def __init__(
        self,
        server: _hostcall.Server,
        messages: Sequence[Named],
        policy: Policy | Mapping[str, Policy] | None,
        filters: Sequence[str],
        record: str | os.PathLike[str] | None,
        parquet: str | os.PathLike[str] | None,
        memory: int | None,
        threads: int | None,
        rows: int,
        period: float,
        keep: int | None,
    ) -> None:
        self._names = [name_of(message) for message in messages]
        settings = {
            "names": self._names,
            "policy": policy if isinstance(policy, str) else None,
            "policies": dict(policy) if policy is not None and not isinstance(policy, str) else {},
            "filters": list(filters),
            "record": record,
            "parquet": parquet,
            "memory": memory,
            "threads": threads,
            "rows": rows,
            "period": period,
            "keep": keep,
        }
        self._core = _hostcall.Streams(server, settings)

    def __getitem__(self, message: Named) -> Stream:
        name = name_of(message)
        if name not in self.names():
            there = ", ".join(self.names()) or "none"
            fix = f"if another package has loaded its program, name it in `Server.streams({name})`"
            raise NotFoundError(f"no attached program has a stream `{name}`: there are {there}; {fix}")
        return Stream(self._core, name)

    def names(self) -> list[str]:
        """Of the streams that were asked for, and those of the attached programs."""
        found = [row["name"] for row in self._core.counts()]
        return [*self._names, *(name for name in found if name not in self._names)]

    def __iter__(self) -> Iterator[Stream]:
        return (Stream(self._core, name) for name in self.names())

    def __len__(self) -> int:
        return len(self.names())

    def wait(self, stream: Any = None) -> None:
        """Waits until kernels have ended and everything that they sent has come. ``Server.wait`` does so, too.

        ``stream``: as for ``Server.wait``. Raises ``StreamError`` if something was lost or not kept.
        """
        self._core.wait(stream_pointer(stream))

    def stop(self) -> None:
        """Completes files; messages that are sent later end as closed. When the server stops it does so."""
        self._core.stop()

    def __repr__(self) -> str:
        return "\n".join(map(repr, self)) or "<hostcall.Streams: no program has any>"
