"""What kernels print, and what the headers and the stubs are."""

from __future__ import annotations

import contextvars
import io
from pathlib import Path

import pytest

import hostcall as hc

SOURCE = r"""
HOSTCALL_KERNEL(say, unsigned n) { for (unsigned i = 0; i < n; i++) hostcall::printf("%u: \u00e9\n", i); hostcall::print_error("to the other\n"); }
HOSTCALL_KERNEL(fail) { hostcall::abort("no more"); }
"""


def say(server: hc.Server, count: int = 3) -> None:
    module = hc.sim.Module(SOURCE)
    server.attach(module)
    module.launch("say", 1, 1, count)
    server.wait()


def test_prints_go_to_python_s_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    # What notebooks show is what is written to `sys.stdout`, which `capsys` replaces as they do.
    with hc.Server("sim") as server:
        say(server)
        assert capsys.readouterr() == ("0: é\n1: é\n2: é\n", "to the other\n")


def test_services_and_prints_are_in_the_context_of_the_last_wait() -> None:
    which = contextvars.ContextVar("which", default="none")
    seen: list[tuple[str, str]] = []

    @hc.service
    def work(x: hc.u32) -> hc.u32:
        seen.append(("per lane", which.get()))
        return x

    @hc.service(batch=True)
    async def later(x: hc.u32) -> hc.u32:
        seen.append(("async", which.get()))
        return x

    source = 'HOSTCALL_KERNEL(k) { hostcall::print("x"); Host::work(1); Host::later(2); }'
    with hc.Server("sim", stdout=lambda text: seen.append(("printed", which.get()))) as server:
        server.register(work, later)
        module = hc.sim.Module(source, [work, later])
        server.attach(module)
        for name in ("first", "second"):
            seen.clear()
            which.set(name)
            # Nothing runs: it is called for its context, which may be too late when a kernel has begun.
            server.wait()
            module.launch("k", 1, 1)
            server.wait()
            assert sorted(seen) == [("async", name), ("per lane", name), ("printed", name)]


def test_prints_go_to_a_file_or_a_function() -> None:
    out, parts = io.StringIO(), []
    with hc.Server("sim", stdout=out, stderr=parts.append) as server:
        say(server)
    assert out.getvalue() == "0: é\n1: é\n2: é\n" and "".join(parts) == "to the other\n"


def test_prints_go_to_the_process_or_nowhere(capfd: pytest.CaptureFixture[str]) -> None:
    with hc.Server("sim", stdout="process", stderr="nowhere") as server:
        say(server)
    assert capfd.readouterr() == ("0: é\n1: é\n2: é\n", "")


def test_more_is_printed_than_is_kept() -> None:
    parts: list[str] = []
    with hc.Server("sim", stdout=parts.append, stderr="nowhere") as server:
        say(server, 20_000)
    assert "".join(parts).count("\n") == 20_000


def test_a_panic_of_a_kernel_is_in_the_report(server: hc.Server) -> None:
    module = hc.sim.Module(SOURCE)
    server.attach(module, "mine")
    module.launch("fail", 1, 1)
    with pytest.raises(hc.KernelFailed, match="no more") as failed:
        server.wait()
    (panic,) = failed.value.panics
    assert panic.message == "no more" and panic.program == "mine" and panic.thread == (0, 0, 0)
    say(server)


def test_a_compiler_s_errors_are_shown() -> None:
    with pytest.raises(hc.CompileError, match="nonsense"):
        hc.sim.Module("HOSTCALL_KERNEL(k) { nonsense; }")
    with pytest.raises(hc.CompileError, match="no-such-compiler"):
        hc.sim.Module("", compiler="no-such-compiler")


def test_the_headers_are_there() -> None:
    directory = Path(hc.include_dir())
    assert (directory / "hostcall.cuh").exists() and (directory / "hostcall_abi.h").exists() and (directory / "hostcall/call.cuh").exists()


def test_launches_are_checked(server: hc.Server) -> None:
    module = hc.sim.Module(SOURCE)
    with pytest.raises(hc.InvalidError, match="not loaded"):
        module.launch("say", 1, 1, 1)
    attachment = server.attach(module)
    with pytest.raises(hc.InvalidError, match="takes 1 arguments, not 0"):
        module.launch("say", 1, 1)
    with pytest.raises(hc.NotFoundError, match="other"):
        module.launch("other", 1, 1)
    with pytest.raises(hc.InvalidError, match="does not fit into `"):
        module.launch("say", 1, 1, 1 << 40)
    with pytest.raises(hc.InvalidError, match="one to three sizes"):
        module.launch("say", 0, 1, 1)
    with pytest.raises(hc.InvalidError, match="is a float"):
        module.launch("say", 1, 1, 1.5)
    attachment.detach()
    attachment.detach()
    assert not attachment.attached
