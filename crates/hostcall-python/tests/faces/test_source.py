"""What compilers are given."""

import os
import stat
import subprocess
from pathlib import Path

import pytest
from face_services import SERVICES, add42, log

import hostcall as hc
from hostcall import _source


def test_a_source_without_includes_is_all_that_a_compiler_needs(tmp_path):
    text = _source.whole(*SERVICES)
    assert "#include" not in text
    kernel = 'HOSTCALL_KERNEL(k, float* y) { y[0] = Host::add42(y[0]).value_or(-1); Host::log("text"); }\n'
    (tmp_path / "k.cc").write_text(text + kernel)
    command = ["g++", "-std=c++17", "-DHOSTCALL_SIM", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", str(tmp_path / "k.cc")]
    subprocess.run(command, check=True, timeout=120)


def test_the_directory_has_another_name_when_headers_or_stubs_differ(tmp_path, monkeypatch):
    first = _source.directory(add42)
    assert _source.directory(add42) == first
    assert {file.name for file in Path(first).iterdir()} == {"hostcall.cuh", "hostcall_services.cuh"}
    assert _source.directory(add42, log) != first
    monkeypatch.setattr(_source, "header", lambda: "// changed\n")
    assert _source.directory(add42) != first


def test_a_file_that_was_spoiled_is_written_again():
    file = Path(_source.directory(add42), "hostcall_services.cuh")
    right = file.read_text()
    file.write_text("// spoiled")
    _source.directory(add42)
    assert file.read_text() == right == hc.cuda_source(add42)


def test_only_the_user_may_write_the_directory():
    assert stat.S_IMODE(os.stat(_source.directory(add42)).st_mode) == 0o700


def test_where_nothing_can_be_written_the_error_says_what_to_set(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HOSTCALL_CACHE", str(tmp_path / "file"))
    with pytest.raises(OSError, match="HOSTCALL_CACHE"):
        _source.directory(add42)
