"""Stubs under Numba's simulator, where kernels are Python: each call goes through the wire to the server that runs, as a wave of one lane."""

from __future__ import annotations

import struct
import threading
import weakref
from typing import Any

import numpy as np

from . import _attach, _hostcall
from ._errors import StoppedError
from ._wire import SCALARS, Type, Wire

#: Of each server its client in this process.
_clients: weakref.WeakKeyDictionary[Any, _hostcall.InProcess] = weakref.WeakKeyDictionary()
_lock = threading.Lock()

# : The status of calls of a kernel that is being ended, and the cause of a report that a call failed
# (``hostcall_abi.h``).
_KERNEL_ENDED, _CAUSE_CALL = 11, 0
#: Bytes of a report's text and of its file's name.
_WHAT, _FILE = 128, 96


class Stub:
    """What kernels call."""

    def __init__(self, wire: Wire, on_error: str | None) -> None:
        self.wire, self.on_error = wire, on_error
        self.__name__ = wire.name

    def __call__(self, *arguments: Any) -> Any:
        wire = self.wire
        if len(arguments) != len(wire.arguments):
            raise TypeError(f"{wire.spoken} takes {len(wire.arguments)} arguments, not {len(arguments)}: {wire.text}")
        units, ins, outs = b"", b"", []
        for at, (of, value) in enumerate(zip(wire.arguments, arguments)):
            if of.kind == "scalar":
                units += _padded(np.asarray(value).astype(_element(of)).tobytes())
                continue
            array = _array(of, value, f"argument {at} of {wire.spoken}")
            units += struct.pack("<I", array.nbytes)
            if of.kind == "slice_mut":
                outs.append(array)
            else:
                ins += _padded(array.tobytes())
        client = _client()
        room = sum(-(-array.nbytes // 4) * 4 for array in outs)
        variable = (ins, room) if any(of.kind != "scalar" for of in wire.arguments) else None
        status, detail, reply, back = client.call(wire.name, _units(units), variable, wire.result is None)
        if status != 0:
            return self._failed(client, status, detail)
        value, behind = _value(wire.result, np.array(reply, np.uint32))
        _give_back(outs, behind, back)
        return _with_status(0, value, wire) if self.on_error == "value" else value

    def _failed(self, client: _hostcall.InProcess, status: int, detail: int) -> Any:
        if self.on_error == "value" and status != _KERNEL_ENDED:
            zero, _ = _value(self.wire.result, np.zeros(16 + 2 * len(self.wire.arguments), np.uint32))
            return _with_status(status, zero, self.wire)
        if status != _KERNEL_ENDED:
            client.call("Process__failed", _units(_report(self.wire.spoken, status, detail)), None, True)
        # Ends the lane, and nothing else: threads end by it without a word.
        raise SystemExit

    def __repr__(self) -> str:
        return f"<stub of {self.wire.spoken} for Numba's simulator>"


def _client() -> _hostcall.InProcess:
    running = _attach.running()
    if not running:
        raise StoppedError("a kernel calls the host, and no server runs: launch it inside `with hostcall.Server(\"sim\")`")
    with _lock:
        server = running[-1]
        if server not in _clients:
            _clients[server] = _hostcall.InProcess(server._core)
        return _clients[server]


def _element(of: Type) -> np.dtype[Any]:
    """On the wire a bool is a unit."""
    return np.dtype("<u4") if of.text == "bool" else np.dtype(SCALARS[of.text][0])


def _array(of: Type, value: Any, what: str) -> np.ndarray[Any, Any]:
    """The array behind what the simulator passes for one."""
    array = np.asarray(getattr(value, "_ary", getattr(value, "_item", value)))
    wanted = np.dtype("u1") if of.kind == "str" else np.dtype(of.of[0].dtype)
    if array.dtype != wanted or array.ndim != 1 or not array.flags.c_contiguous:
        raise TypeError(f"{what} is a one-dimensional contiguous array of {wanted}, not of {array.dtype} and shape {array.shape}")
    return array


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


def _units(data: bytes) -> list[int]:
    return np.frombuffer(data, "<u4").tolist()  # type: ignore[no-any-return]


def _value(of: Type | None, units: np.ndarray[Any, Any]) -> tuple[Any, np.ndarray[Any, Any]]:
    """A result, and the units behind it."""
    if of is None or of.kind == "unit":
        return None, units
    if of.kind == "tuple":
        members = []
        for member in of.of:
            value, units = _value(member, units)
            members.append(value)
        return tuple(members), units
    data = units[: of.units].tobytes()[: SCALARS[of.text][1]]
    return np.frombuffer(data, of.dtype)[0], units[of.units :]


def _with_status(status: int, value: Any, wire: Wire) -> Any:
    return status if wire.result is None or wire.result.kind == "unit" else (status, value)


def _give_back(outs: list[np.ndarray[Any, Any]], counts: np.ndarray[Any, Any], back: bytes) -> None:
    # Each has its place, however much of it came back.
    at = 0
    for array, count in zip(outs, counts.tolist()):
        array.view("u1")[:count] = np.frombuffer(back, "u1", count, at)
        at += -(-array.nbytes // 4) * 4


def _report(spoken: str, status: int, detail: int) -> bytes:
    """What a lane posts that ends because a call failed: the arguments of ``Process::failed``."""
    thread = threading.current_thread()
    places = [getattr(thread, name, None) for name in ("blockIdx", "threadIdx")]
    block, lane = ((place.x, place.y, place.z) if place is not None else (0, 0, 0) for place in places)
    what, file = spoken.encode()[:_WHAT], b"a Numba kernel"
    head = struct.pack("<3I3IQI3QI", *block, *lane, 1, _CAUSE_CALL, status, detail, 0, 0)
    return head + what.ljust(_WHAT, b"\0") + file.ljust(_FILE, b"\0")
