"""Programs with Rust's `std`. `HOSTCALL_TEST_PROGRAMS` is the directory of those that were built of `tests/programs/`."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import hostcall as hc

from .conftest import Run

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


@needs_programs
def test_a_program_reads_a_directory_that_it_is_granted_and_no_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, text in {"data/a.txt": "one two", "data/b.txt": "two", "other/c.txt": "three"}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    dirs = [f"{tmp_path / 'data'}::data:ro"]
    done = hc.Program.run(PROGRAMS / "wordcount.program", ["data"], device="sim", dirs=dirs)
    assert (done.returncode, done.denials) == (0, ())
    assert capsys.readouterr().out == "2 files, 10 bytes, 3 words, 2 different\n     2 two\n     1 one\n"
    done = hc.Program.run(PROGRAMS / "wordcount.program", ["other"], device="sim", dirs=dirs)
    said = capsys.readouterr()
    assert done.returncode == 1 and said.out == "" and "PermissionDenied" in said.err
    (denial,) = done.denials
    assert "other" in denial and "--dir" in denial


@needs_programs
def test_a_program_has_the_variables_that_are_said_and_none_of_this_process(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OF_THIS_PROCESS", "1")
    hc.Program.run(PROGRAMS / "surroundings.program", ["x", "y z"], device="sim", env={"B": "2", "A": "ä = 1"}).check()
    said = capsys.readouterr().out.splitlines()
    assert said[:2] == ['arguments ["x", "y z"]', 'variables [("A", "ä = 1"), ("B", "2")]']


@needs_programs
def test_a_program_calls_services_of_python(capsys: pytest.CaptureFixture[str]) -> None:
    sizes: list[int] = []
    logged: list[str] = []

    @hc.service(batch=True)
    def add42(x: hc.f32) -> hc.f32:
        sizes.append(len(x))
        return x + np.float32(42)

    @hc.service
    def log(message: str) -> None:
        logged.append(message)

    done = hc.Program.run(PROGRAMS / "asks.program", ["1", "2.5", "-42"], device="sim", services=[add42, log])
    assert done.returncode == 0 and capsys.readouterr().out == "43\n44.5\n0\n"
    assert sum(sizes) == 3 and logged == ["all have been asked"]


@needs_programs
def test_a_program_is_told_of_services_that_fail_or_that_nobody_has(capsys: pytest.CaptureFixture[str]) -> None:
    @hc.service
    def add42(x: hc.f32) -> hc.f32:
        raise hc.Failure(7, "not today")

    done = hc.Program.run(PROGRAMS / "asks.program", ["1"], device="sim", services=[add42])
    said = capsys.readouterr().out.splitlines()
    # Who waits is told. Nobody waits for what is posted: the report tells of it.
    assert len(said) == 1 and said[0].startswith("1: ") and "7" in said[0], said
    # The program itself has ended well, but its services have not.
    assert done.returncode == 1 and "not today" in str(done.report)
    assert "log is not registered with the server: 1 posts came to nothing" in str(done.report)


@needs_programs
def test_a_program_that_takes_too_long_is_given_up(python: Run) -> None:
    # In a process of its own, which must be able to end while the program goes on.
    done = python(
        f"""
        import hostcall as hc
        try:
            hc.Program.run({str(PROGRAMS / "endings.program")!r}, ["forever"], device="sim", timeout=0.5)
        except hc.WaitTimeout as error:
            print("given up:", error)
        """
    )
    assert done.returncode == 0 and done.stdout.startswith("given up: "), (done.returncode, done.stdout, done.stderr)


def test_a_file_that_is_no_program_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "x.program"
    file.write_bytes(b"nothing of the kind")
    with pytest.raises(hc.InvalidError, match="cargo hostcall build"):
        hc.Program.run(file)
    with pytest.raises(FileNotFoundError):
        hc.Program.run(tmp_path / "y.program")
