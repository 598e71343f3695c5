"""A notebook's kernel, driven as a notebook drives it: what is printed belongs to the cell that runs."""

from __future__ import annotations

import collections
import sys
from collections.abc import Iterator
from typing import Any

import pytest

WHY = "a notebook's kernel and its client are missing: pip install ipykernel jupyter_client"
pytest.importorskip("ipykernel", reason=WHY)
jupyter_client = pytest.importorskip("jupyter_client", reason=WHY)

#: The cells. The kernel prints, waits for a service that prints, and prints again.
PREPARE = r'''
import sys, threading, time
import numpy as np
import hostcall as hc

@hc.service
def say(x: hc.u32) -> hc.u32:
    print("the service says", x)
    time.sleep(0.2)
    return x

@hc.service
async def later(x: hc.u32) -> hc.u32:
    print("the loop says", x)
    return x

SOURCE = """
HOSTCALL_KERNEL(talk, unsigned number) {
    hostcall::printf("the kernel begins %u\\n", number);
    Host::say(number);
    Host::later(number);
    hostcall::printf("the kernel ends %u\\n", number);
    hostcall::print_error("to the other stream\\n");
}
"""
server = hc.Server("sim")
server.register(say, later)
module = hc.sim.Module(SOURCE, [say, later])
server.attach(module)
'''
RUN = 'module.launch("talk", 1, 1, np.uint32({number})); server.wait()'
# : The lines of what a kernel with this number, and what it calls, say. In what order a kernel's and a service's come
# is not promised.
SAID = {
    "stdout": ["the kernel begins {number}", "the kernel ends {number}", "the loop says {number}", "the service says {number}"],
    "stderr": ["to the other stream"],
}


class Notebook:
    """A client of a kernel that has just been started."""

    def __init__(self, client: Any) -> None:
        self.client = client
        #: What each cell has been shown so far, by the identity of the message that ran it and by stream.
        self.shown: dict[str, dict[str, str]] = collections.defaultdict(lambda: collections.defaultdict(str))

    def run(self, code: str) -> str:
        """Runs a cell to its end, and gives the identity of the message that ran it."""
        cell = str(self.client.execute(code))
        while True:
            message = self.client.get_iopub_msg(timeout=120)
            kind, parent, content = message["msg_type"], message["parent_header"].get("msg_id", "nobody"), message["content"]
            if kind == "stream":
                self.shown[parent][content["name"]] += content["text"]
            assert not (kind == "error" and parent == cell), "\n".join(content["traceback"])
            if kind == "status" and content["execution_state"] == "idle" and parent == cell:
                return cell


@pytest.fixture
def notebook() -> Iterator[Notebook]:
    manager = jupyter_client.KernelManager()
    # This interpreter, whatever kernels are installed beside it.
    command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    manager._kernel_spec = jupyter_client.kernelspec.KernelSpec(argv=command, display_name="tests", language="python")
    manager.start_kernel()
    client = manager.client()
    try:
        client.start_channels()
        client.wait_for_ready(timeout=120)
        yield Notebook(client)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def test_what_is_printed_is_shown_by_the_cell_that_runs(notebook: Notebook) -> None:
    cells = [notebook.run(PREPARE)]
    cells += [notebook.run(RUN.format(number=number)) for number in (1, 2)]
    last = notebook.run("server.stop()")
    shown = [{stream: sorted(text.splitlines()) for stream, text in notebook.shown[cell].items()} for cell in (*cells, last)]
    said = [{stream: [line.format(number=number) for line in lines] for stream, lines in SAID.items()} for number in (1, 2)]
    assert shown == [{}, *said, {}]
