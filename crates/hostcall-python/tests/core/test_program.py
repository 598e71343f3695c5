"""Programs with Rust's `std`. `HOSTCALL_TEST_PROGRAMS` is the directory of those that were built of `programs/`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import hostcall as hc

PROGRAMS = Path(os.environ.get("HOSTCALL_TEST_PROGRAMS", ""))
needs_programs = pytest.mark.skipif(not (PROGRAMS / "hello.program").exists(), reason="skipped: HOSTCALL_TEST_PROGRAMS names no built programs")


@needs_programs
def test_a_program_prints(capsys: pytest.CaptureFixture[str]) -> None:
    done = hc.Program.run(PROGRAMS / "hello.program", device="sim")
    assert done.check().returncode == 0 and capsys.readouterr().out == "Hello, world!\n"


@needs_programs
def test_a_program_has_the_input_that_is_given(capsys: pytest.CaptureFixture[str]) -> None:
    hc.Program.run(PROGRAMS / "cat.program", device="sim", stdin="ünïcode\n".encode() * 1000)
    assert capsys.readouterr().out == "ünïcode\n" * 1000


@needs_programs
@pytest.mark.parametrize(("args", "code"), [(["code", "7"], 7), (["exit", "256"], 1), (["main-panics"], 101), (["error"], 1)])
def test_a_program_ends_with_the_code_that_it_has_elsewhere(args: list[str], code: int) -> None:
    done = hc.Program.run(PROGRAMS / "endings.program", args, device="sim", stdout="nowhere", stderr="nowhere")
    assert done.returncode == code
    with pytest.raises(hc.ProgramFailed, match=f"exit code {code}"):
        done.check()


@needs_programs
def test_a_program_that_panics_says_where() -> None:
    said: list[str] = []
    done = hc.Program.run(PROGRAMS / "endings.program", ["main-panics"], device="sim", stdout="nowhere", stderr=said.append)
    assert done.report.exit_code == 101 and "main.rs" in "".join(said) and "index out of bounds" in "".join(said)


@needs_programs
def test_more_threads_than_the_device_has_waves_are_refused() -> None:
    with pytest.raises(hc.InvalidError, match="a thread is a wave"):
        hc.Program.run(PROGRAMS / "hello.program", device="sim:sms=1,waves=2", threads=100)


def test_a_file_that_is_no_program_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "x.program"
    file.write_bytes(b"nothing of the kind")
    with pytest.raises(hc.InvalidError, match="cargo hostcall build"):
        hc.Program.run(file)
    with pytest.raises(FileNotFoundError):
        hc.Program.run(tmp_path / "y.program")
