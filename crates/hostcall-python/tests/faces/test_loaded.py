"""Programs that packages load by themselves, with servers that only remember what is attached to them."""

import pytest

from hostcall import _attach, _driver, _loaded


class Attachment:
    def __init__(self, server, pointer):
        self.server, self.pointer = server, pointer
        server.attached.append(pointer)

    def detach(self):
        self.server.attached.remove(self.pointer)


class Server:
    def __init__(self, context):
        self.device, self.attached, self.running = {"context": context}, [], True
        _attach.started(self)

    def attach_cuda_module(self, pointer, name):
        return Attachment(self, pointer)

    attach_cuda_library = attach_cuda_module

    def stop(self):
        _attach.stopping(self)
        self.running = False


@pytest.fixture(autouse=True)
def context(monkeypatch):
    monkeypatch.setattr(_loaded, "_programs", {})
    monkeypatch.setattr(_attach, "_running", [])
    current = [7]
    monkeypatch.setattr(_driver, "current_context", lambda: current[0])
    return current


def test_a_program_goes_to_the_server_of_its_context_that_started_last():
    others, first, second, simulator = Server(8), Server(7), Server(7), Server(None)
    _loaded.loaded("module", 100, "a kernel")
    assert [server.attached for server in (others, first, second, simulator)] == [[], [], [100], []]
    _loaded.loaded("module", 100, "a kernel")
    assert second.attached == [100]
    _loaded.unloaded("module", 100)
    assert second.attached == []


def test_a_program_that_is_refused_is_asked_for_again():
    server = Server(7)
    server.attach_cuda_module = lambda pointer, name: 1 / 0
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            _loaded.loaded("module", 100, "a kernel")
    del server.attach_cuda_module
    _loaded.loaded("module", 100, "a kernel")
    assert server.attached == [100]


def test_what_was_loaded_before_is_attached_when_a_server_starts():
    with pytest.warns(RuntimeWarning, match="a kernel calls the host, and no server runs"):
        _loaded.loaded("library", 100, "a kernel")
    assert Server(8).attached == []
    server = Server(7)
    assert server.attached == [100]
    assert Server(7).attached == []


def test_after_a_server_has_ended_the_next_one_has_its_programs():
    first = Server(7)
    _loaded.loaded("library", 100, "a kernel")
    first.stop()
    assert Server(7).attached == [100]


def test_a_program_of_a_server_that_has_ended_is_not_detached():
    first = Server(7)
    _loaded.loaded("library", 100, "a kernel")
    first.stop()
    _loaded.unloaded("library", 100)
    assert first.attached == [100]
    assert Server(7).attached == []
