"""What measures calls, run for a moment: its kernels, its counting and its rows. How fast it is says nothing here."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys

from .conftest import CRATE

CALLS = CRATE / "bench/calls.py"


def test_what_measures_calls_counts_them_all_and_finds_every_answer_right() -> None:
    command = [sys.executable, str(CALLS), "--waves", "8", "--rounds", "20", "--repeat", "1", "--soak", "100"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    # It ends with another code if a call was lost or answered wrong.
    assert done.returncode == 0, done.stdout + done.stderr
    about, *rows = (json.loads(line) for line in done.stdout.splitlines())
    assert about["device"].startswith("simulator")
    assert [row["what"] for row in rows] == ["batched", "batched", "posted", "scalars", "latency of one call", "batched", "memory"]
    # 100 batches take a hundred times as many calls: 40 rounds of 8 waves of 32 lanes.
    assert [(row["lanes"], row["rounds"]) for row in rows if row["what"] == "batched"] == [(256, 20), (32, 20), (256, 40)]
    assert all(row["calls_per_second"] > 0 for row in rows if "lanes" in row) and not any("target" in row for row in rows)
    # With other waves than a device has there is no row of its figure.
    assert [(row["row"], row["us"] == row["p50_us"]) for row in rows if "row" in row] == [("python.call", True)]


def test_targets_stand_beside_what_was_measured() -> None:
    beside = runpy.run_path(str(CALLS))["beside"]
    assert beside({"calls_per_second": 21}, 20, True) == {"calls_per_second": 21, "target": 20, "is": "met"}
    assert beside({"p50_us": 16}, 15, False)["is"] == "MISSED"
