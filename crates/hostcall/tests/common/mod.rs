//! A server over one mock device.
#![allow(dead_code, reason = "each test file uses its part")]

use hostcall::__private::{Geometry, PortBuffer};
use hostcall::test_utils::MockDevice;
use hostcall::{Awake, Server, ServerBuilder};

/// This program once more, by what runs it where an emulator does (`cargo xtask arm`).
pub(crate) fn this_program() -> std::process::Command {
    let program = std::env::current_exe().unwrap();
    let Ok(runner) = std::env::var("HOSTCALL_TEST_RUNNER") else { return std::process::Command::new(program) };
    let mut words = runner.split(' ');
    let mut command = std::process::Command::new(words.next().unwrap());
    command.args(words).arg(program);
    command
}

/// A small buffer of this many ports and lanes.
pub(crate) fn geometry(ports: u32, lanes: u32) -> Geometry {
    Geometry { slots: 16, slot_bytes: 4096, ..Geometry::new(ports, lanes) }
}

/// The same, with replies in a window.
pub(crate) fn with_window(geometry: Geometry) -> Geometry {
    Geometry { window: true, ..geometry }
}

/// A running server and its device.
pub(crate) struct Setup {
    pub(crate) device: MockDevice,
    pub(crate) awake: Awake,
    pub(crate) server: Server,
}

/// Starts a server over one buffer of 32 ports.
pub(crate) fn serve(builder: ServerBuilder) -> Setup {
    serve_over(builder, PortBuffer::in_process(geometry(32, 32)).unwrap())
}

/// Starts a server over a buffer.
pub(crate) fn serve_over(builder: ServerBuilder, buffer: PortBuffer) -> Setup {
    // Without built-in services, so that numbers are those in the order of registration.
    let server = builder.without_built_in().start().unwrap();
    let device = MockDevice::new(server.add_buffer(buffer));
    Setup { device, awake: server.keep_awake(), server }
}

/// Waits until something is so. The limit only ends a test that would hang.
pub(crate) fn eventually(what: &str, mut so: impl FnMut() -> bool) {
    let start = std::time::Instant::now();
    while !so() {
        assert!(start.elapsed() < std::time::Duration::from_secs(120), "in vain: {what}");
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}
