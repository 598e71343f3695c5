"""Counts by service."""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Latency:
    """How long calls took, in seconds: ``p50``, ``p99`` and ``p999`` are percentiles, ``max`` is the slowest."""

    p50: float
    p99: float
    p999: float
    max: float


@dataclass(frozen=True)
class ServiceStats:
    """Counts of one service.

    ``name``: as ``Host::add42``. ``number``: on the wire. ``messages``: of waves; ``calls``: of lanes, and ``failed`` ones of them. ``bytes_in``,
    ``bytes_out``: of arguments and of results. ``latency``: a ``Latency`` with ``Server(latencies=True)``, else None.
    """

    name: str
    number: int
    messages: int
    calls: int
    failed: int
    bytes_in: int
    bytes_out: int
    latency: Latency | None

    @classmethod
    def of(cls, row: dict[str, Any]) -> ServiceStats:
        """From a ``row`` that the extension module gives."""
        latency = row["latency"]
        return cls(**{**row, "name": row["name"].replace("__", "::"), "latency": Latency(*latency) if latency is not None else None})


@dataclass(frozen=True)
class Progress:
    """How far a wait has come: ``calls`` and ``failed`` ones since it began ``seconds`` ago; ``calls_per_second`` are those of the last interval."""

    seconds: float
    calls: int
    failed: int
    calls_per_second: float

    def __str__(self) -> str:
        failed = f", {self.failed:,} failed" if self.failed else ""
        return f"{self.seconds:.1f} s: {self.calls:,} calls, {self.calls_per_second:,.0f} a second{failed}"


class Stats:
    """Counts of all services. ``stats["Host::add42"]`` has those of one."""

    def __init__(self, services: list[ServiceStats]) -> None:
        self.services = services

    def __getitem__(self, name: str) -> ServiceStats:
        for row in self.services:
            if row.name == name.replace("__", "::"):
                return row
        raise KeyError(name)

    def __iter__(self) -> Iterator[ServiceStats]:
        return iter(self.services)

    def __len__(self) -> int:
        return len(self.services)

    @property
    def calls(self) -> int:
        """Calls of all services."""
        return sum(row.calls for row in self.services)

    @property
    def failed(self) -> int:
        """Those that failed."""
        return sum(row.failed for row in self.services)

    def _table(self) -> list[tuple[str, ...]]:
        called = [row for row in self.services if row.messages]
        timed = any(row.latency for row in called)
        head = ("service", "calls", "messages", "failed", "bytes in", "bytes out") + (("p50", "p99") if timed else ())
        rows = [head]
        for row in called:
            numbers = (row.calls, row.messages, row.failed, row.bytes_in, row.bytes_out)
            times = (f"{row.latency.p50 * 1e6:.1f} µs", f"{row.latency.p99 * 1e6:.1f} µs") if row.latency else ("", "")
            rows.append((row.name, *(f"{number:,}" for number in numbers), *(times if timed else ())))
        return rows

    def __repr__(self) -> str:
        rows = self._table()
        if len(rows) == 1:
            return "<hostcall.Stats: nothing was called>"
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        lines = ["  ".join([row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))]) for row in rows]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head, *rows = self._table()

        def line(row: tuple[str, ...], tag: str) -> str:
            return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in row) + "</tr>"

        return f"<table>{line(head, 'th')}{''.join(line(row, 'td') for row in rows)}</table>"
