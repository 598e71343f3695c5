"""How servers begin and end, what stands in their way, and what they say."""

from __future__ import annotations

import ctypes
import logging
import os
import signal
import sys
import threading
import time

import numpy as np
import pytest

import hostcall as hc

from .conftest import Run

PREPARED = '''
import os, signal, sys, threading, time
import numpy as np
import hostcall as hc

@hc.service
def work(x: hc.u32) -> hc.u32:
    return x + 1

SOURCE = "HOSTCALL_KERNEL(k, unsigned* y) { auto i = hostcall::global_id(); y[i] = Host::work(y[i]).value_or(99); }"
'''


def waiting(server: hc.Server, release: threading.Event) -> np.ndarray:
    """Starts a kernel whose call is answered when the event is set."""

    @hc.service
    def work(x: hc.u32) -> hc.u32:
        release.wait()
        return x + 1

    server.register(work)
    module = hc.sim.Module("HOSTCALL_KERNEL(k, unsigned* y) { *y = Host::work(*y).value_or(99); }", [work])
    server.attach(module)
    y = np.ones(1, np.uint32)
    module.launch("k", 1, 1, y)
    return y


def test_a_wait_gives_up_after_its_time_and_names_the_open_calls(server: hc.Server) -> None:
    release = threading.Event()
    y = waiting(server, release)
    try:
        with pytest.raises(hc.WaitTimeout, match="Host::work"):
            server.wait(timeout=0.3)
    finally:
        release.set()
    server.wait()
    assert y.tolist() == [2]


def test_ctrl_c_ends_a_wait_and_not_the_server(server: hc.Server) -> None:
    release = threading.Event()
    y = waiting(server, release)
    threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    try:
        with pytest.raises(KeyboardInterrupt):
            server.wait()
    finally:
        release.set()
    server.wait()
    assert y.tolist() == [2]


def test_other_threads_run_while_one_waits(server: hc.Server) -> None:
    release = threading.Event()
    y = waiting(server, release)
    threading.Thread(target=release.set).start()
    server.wait()
    assert y.tolist() == [2]


def test_a_service_cannot_wait_for_itself(server: hc.Server) -> None:
    @hc.service
    def work(x: hc.u32) -> None:
        server.wait()

    server.register(work)
    module = hc.sim.Module("HOSTCALL_KERNEL(k) { Host::work(1); }", [work])
    server.attach(module)
    module.launch("k", 1, 1)
    with pytest.raises(hc.KernelFailed, match="it would wait for itself"):
        server.wait()


def test_what_nobody_waited_for_is_raised_at_the_end() -> None:
    @hc.service
    def work(x: hc.u32) -> None:
        raise ValueError("told at the end")

    module = hc.sim.Module("HOSTCALL_KERNEL(k) { Host::work(1); }", [work])
    started = threading.Event()
    with pytest.raises(hc.KernelFailed, match="told at the end"):
        with hc.Server("sim", stdout="nowhere") as server:
            server.register(work)
            server.attach(module)
            module.launch("k", 1, 1)
            for _ in range(1000):
                if server.stats()["Host::work"].calls:
                    break
                started.wait(0.01)
    assert not server.running and "stopped" in repr(server)
    server.stop()
    for action in (server.wait, server.stats, lambda: server.register(work), lambda: server.attach(module)):
        with pytest.raises(hc.StoppedError):
            action()


def test_a_block_that_does_not_wait_ends_when_its_kernels_have() -> None:
    @hc.service
    def work(x: hc.u32) -> hc.u32:
        time.sleep(0.001)
        return 1000 // x

    module = hc.sim.Module("HOSTCALL_KERNEL(k, unsigned* y) { auto i = hostcall::global_id(); y[i] = Host::work(y[i]).value_or(0); }", [work])
    for _ in range(5):
        y = np.arange(1, 65, dtype=np.uint32)
        with hc.Server("sim") as server:
            server.register(work)
            server.attach(module)
            module.launch("k", 2, 32, y)
        assert y.tolist() == [1000 // x for x in range(1, 65)]
    with pytest.raises(hc.KernelFailed, match="ZeroDivisionError"), hc.Server("sim") as server:
        server.register(work)
        server.attach(module)
        module.launch("k", 1, 32, np.zeros(32, np.uint32))


def test_who_has_stopped_says_so_before_anything_is_launched() -> None:
    @hc.service
    def work(x: hc.u32) -> hc.u32:
        return x + 1

    module = hc.sim.Module("HOSTCALL_KERNEL(k, unsigned* y) { *y = Host::work(*y).value_or(99); }", [work])
    with hc.Server("sim") as server:
        server.register(work)
        server.attach(module)
    y = np.zeros(1, np.uint32)
    with pytest.raises(hc.StoppedError, match="make a new `hostcall.Server`, and attach"):
        module.launch("k", 1, 1, y)
    with pytest.raises(hc.StoppedError, match="make a new `hostcall.Server`"), server:
        pass
    assert y.tolist() == [0]


def test_a_service_of_a_module_s_that_nobody_has_registered_is_told_at_the_launch(server: hc.Server) -> None:
    @hc.service
    def work(x: hc.u32) -> hc.u32:
        return x + 1

    module = hc.sim.Module("HOSTCALL_KERNEL(k, unsigned* y) { *y = Host::work(*y).value_or(99); }", [work])
    server.attach(module)
    y = np.zeros(1, np.uint32)
    with pytest.warns(RuntimeWarning, match="nobody has registered Host::work"):
        module.launch("k", 1, 1, y)
    server.wait()
    assert y.tolist() == [99]


@pytest.mark.parametrize(
    "source, hint",
    [
        ("HOSTCALL_KERNEL(k, unsigned* y) { *y = Host::work(*y).value_or(99); }", "pass the services whose stubs it calls"),
        ("__global__ void k(unsigned* y) { *y = 1; }", "a kernel is written `HOSTCALL_KERNEL"),
        ("HOSTCALL_KERNEL(k, unsigned* y) { y[threadIdx.x] = 1; }", "`hostcall::local_id()`"),
    ],
)
def test_what_people_write_who_know_cuda_is_told_in_words_of_the_simulator_s(source: str, hint: str) -> None:
    with pytest.raises(hc.CompileError) as error:
        hc.sim.Module(source)
    assert hint in str(error.value).splitlines()[-1]


def test_what_is_no_service_and_what_was_not_imported_is_said() -> None:
    with pytest.raises(hc.InvalidError, match="is no service and no stream: decorate it by `@hostcall.service`"):
        hc.sim.Module("", [len])
    with pytest.raises(AttributeError, match="has no attribute 'nothing'$"):
        hc.nothing  # type: ignore[attr-defined]  # noqa: B018


def test_an_error_in_the_block_is_not_hidden_by_the_report_at_its_end(caplog: pytest.LogCaptureFixture) -> None:
    @hc.service
    def work(x: hc.u32) -> None:
        raise ValueError("of the service")

    module = hc.sim.Module("HOSTCALL_KERNEL(k) { Host::work(1); }", [work])
    with pytest.raises(LookupError, match="of the block"), hc.Server("sim", stdout="nowhere") as server:
        server.register(work)
        server.attach(module)
        module.launch("k", 1, 1)
        while not server.stats()["Host::work"].calls:
            time.sleep(0.01)
        raise LookupError("of the block")
    assert "of the service" in caplog.text


def test_a_kernel_that_waits_is_told_when_the_server_stops() -> None:
    release = threading.Event()
    server = hc.Server("sim", stdout="nowhere")
    y = waiting(server, release)
    while not server.stats()["Host::work"].calls:
        time.sleep(0.01)
    release.set()
    server.stop()
    # Answered, or told that the server goes: not left as it was. (The kernel goes on for a moment behind its answer.)
    while y.tolist() == [1]:
        time.sleep(0.01)
    assert y.tolist() in ([2], [99])


def test_there_is_no_device_of_that_name() -> None:
    with pytest.raises(hc.DeviceError):
        hc.Server("abacus")
    with pytest.raises(hc.InvalidError, match="spin"):
        hc.Server("sim", spin=-1.0)
    with pytest.raises(hc.InvalidError, match="places to print to"):
        hc.Server("sim", stdout=7)  # type: ignore[arg-type]


def test_without_a_gpu_the_simulator_is_named() -> None:
    try:
        hc.Server().stop()
    except hc.UnavailableError as error:
        assert 'hostcall.Server("sim")' in str(error)
    else:
        pytest.skip("skipped: there is a GPU")


def test_what_a_server_does_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    @hc.service
    def work(x: hc.u32) -> None: ...

    with caplog.at_level(logging.DEBUG, "hostcall"), hc.Server("sim") as server:
        server.register(work)
    assert "serving simulator" in caplog.text and "Host::work" in caplog.text and "stopped" in caplog.text


def test_statistics_are_a_table(server: hc.Server) -> None:
    assert repr(server.stats()) == "<hostcall.Stats: nothing was called>"
    release = threading.Event()
    release.set()
    waiting(server, release)
    server.wait()
    stats = server.stats()
    assert stats["Host::work"].calls == 1 and stats["Host__work"].failed == 0
    assert "Host::work" in repr(stats) and "<table>" in stats._repr_html_()
    with pytest.raises(KeyError):
        stats["Host::nothing"]


# In a process of their own.


def test_a_held_lock_is_noticed_and_explained(python: Run) -> None:
    done = python(
        PREPARED
        + '''
import ctypes
with hc.Server("sim") as server:
    server.register(work)
    module = hc.sim.Module(SOURCE, [work])
    server.attach(module)
    y = np.ones(1, np.uint32)
    # `PyDLL` holds the lock while it is called.
    sleep = ctypes.PyDLL(None).usleep
    module.launch("k", 1, 1, y)
    sleep(4_000_000)
    server.wait()
    print(y.tolist())
'''
    )
    assert done.returncode == 0 and done.stdout == "[2]\n", done.stderr
    assert "holds the interpreter lock" in done.stderr and "server.wait()" in done.stderr


def test_a_slow_service_is_no_held_lock(python: Run) -> None:
    done = python(
        PREPARED.replace("return x + 1", "time.sleep(4); return x + 1")
        + '''
with hc.Server("sim") as server:
    server.register(work)
    module = hc.sim.Module(SOURCE, [work])
    server.attach(module)
    y = np.ones(1, np.uint32)
    module.launch("k", 1, 1, y)
    server.wait()
    print(y.tolist())
'''
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "[2]\n", "")


def test_a_server_that_nobody_stopped_ends_with_the_interpreter(python: Run) -> None:
    done = python(
        PREPARED
        + '''
server = hc.Server("sim")
server.register(work)
module = hc.sim.Module(SOURCE + 'HOSTCALL_KERNEL(p) { hostcall::print("printed late\\\\n"); }', [work])
server.attach(module)
y = np.ones(1, np.uint32)
module.launch("k", 1, 1, y)
module.launch("p", 1, 1)
server.wait()
other = hc.Server("sim")
del other
print(y.tolist())
'''
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "printed late\n[2]\n", "")


def test_after_fork_every_call_raises_and_the_child_ends(python: Run) -> None:
    done = python(
        PREPARED
        + '''
server = hc.Server("sim")
server.register(work)
child = os.fork()
if child == 0:
    said = []
    for action in (server.wait, server.stats, server.stop, lambda: server.register(work)):
        try:
            action()
            said.append("nothing")
        except hc.StoppedError as error:
            said.append("forked" if "forked" in str(error) else str(error))
    os.write(1, (" ".join(said) + "\\n").encode())
    sys.exit(3)
_, status = os.waitpid(child, 0)
module = hc.sim.Module(SOURCE, [work])
server.attach(module)
y = np.ones(1, np.uint32)
module.launch("k", 1, 1, y)
server.wait()
server.stop()
print(os.waitstatus_to_exitcode(status), y.tolist())
'''
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].split().count("forked") == 4 and lines[1] == "3 [2]", (done.stdout, done.stderr)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="CPython 3.10 lets a second interpreter load it: nothing there can refuse")
def test_a_second_interpreter_is_refused(python: Run) -> None:
    done = python(
        '''
import hostcall
try:
    import _xxsubinterpreters as interpreters
except ImportError:
    import _interpreters as interpreters
one = interpreters.create()
failed = None
try:
    failed = interpreters.run_string(one, "import hostcall")
except Exception as error:
    failed = error
print("refused" if failed is not None else "loaded")
'''
    )
    assert done.stdout == "refused\n", (done.stdout, done.stderr)


def test_progress_is_told_while_a_wait_lasts(server: hc.Server) -> None:
    release = threading.Event()
    y = waiting(server, release)
    told: list[hc.Progress] = []

    def progress(now: hc.Progress) -> None:
        told.append(now)
        release.set()

    server.wait(progress=progress)
    assert y.tolist() == [2] and told[0].seconds > 0 and told[0].calls in (0, 1) and "calls" in str(told[0])


#: A kernel that never ends, whatever becomes of its calls.
FOR_EVER = PREPARED + '''
SOURCE = "HOSTCALL_KERNEL(k) { for (;;) (void)Host::work(1); }"

def begin():
    server = hc.Server("sim")
    server.register(work)
    module = hc.sim.Module(SOURCE, [work])
    server.attach(module)
    module.launch("k", 1, 32)
    while not server.stats()["Host::work"].calls:
        time.sleep(0.001)
    try:
        server.wait(timeout=0.05)
    except hc.WaitTimeout:
        print("gave up", flush=True)
    return server, module
'''


@pytest.mark.parametrize(
    "end",
    [
        "server.stop(); del module",
        "server.stop(); del server; del module",
        "with server: pass",
        # The rest is left to the interpreter's end.
        "pass",
        "del server",
        "server.stop()",
    ],
)
def test_a_program_whose_kernel_never_ends_ends_itself_whatever_it_gives_back_first(python: Run, end: str) -> None:
    ran = python(f"{FOR_EVER}\nserver, module = begin()\n{end}\nprint('ended', flush=True)")
    assert (ran.returncode, ran.stdout) == (0, "gave up\nended\n"), ran.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="asks the C library of Linux")
def test_services_have_as_much_stack_as_the_main_thread_or_as_the_option_says() -> None:
    libc = ctypes.CDLL(None)
    libc.pthread_self.restype = ctypes.c_void_p

    def stack() -> int:
        attributes, base, size = (ctypes.c_char * 256)(), ctypes.c_void_p(), ctypes.c_size_t()
        assert libc.pthread_getattr_np(ctypes.c_void_p(libc.pthread_self()), attributes) == 0
        assert libc.pthread_attr_getstack(attributes, ctypes.byref(base), ctypes.byref(size)) == 0
        libc.pthread_attr_destroy(attributes)
        return size.value

    sizes: list[int] = []

    @hc.service
    def here(x: hc.u32) -> hc.u32:
        sizes.append(stack())
        return x

    @hc.service
    async def later(x: hc.u32) -> hc.u32:
        sizes.append(stack())
        return x

    module = hc.sim.Module("HOSTCALL_KERNEL(k) { (void)Host::here(1); (void)Host::later(1); }", [here, later])
    usual = threading.stack_size()
    for option, least in [(None, 8 << 20), (40 << 20, 40 << 20)]:
        sizes.clear()
        with hc.Server("sim", stdout="nowhere", handler_stack=option) as server:
            server.register(here, later)
            with server.attach(module):
                module.launch("k", 1, 1)
                server.wait()
        assert len(sizes) == 2 and min(sizes) >= least, (option, sizes)
    assert threading.stack_size() == usual, "other threads have what they had"
