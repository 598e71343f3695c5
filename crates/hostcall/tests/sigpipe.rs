//! A host in C or C++ has not said what SIGPIPE is to do, and what it does then is to end the process. Alone in its
//! process, whose disposition it sets.
#![cfg(target_os = "linux")]

mod common;

use std::io::PipeReader;
use std::os::fd::{AsRawFd, OwnedFd};

use hostcall::test_utils::MockDevice;
use hostcall::{Access, DirGrant, Server, Sink};
use hostcall_abi::Flags;
use hostcall_abi::codec::Fixed;
use hostcall_abi::std_services::open;

/// Arguments of a call, some of which are text.
#[derive(Default)]
struct Arguments {
    fixed: Vec<u32>,
    bytes: Vec<u32>,
}

impl Arguments {
    fn with<T: Fixed>(mut self, value: T) -> Self {
        let at = self.fixed.len();
        self.fixed.resize(at + T::DWORDS, 0);
        value.put(&mut self.fixed[at..]);
        self
    }

    fn text(mut self, text: &str) -> Self {
        self.fixed.push(text.len() as u32);
        let mut bytes = text.as_bytes().to_vec();
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        self.bytes.extend(bytes.chunks_exact(4).map(|unit| u32::from_ne_bytes(unit.try_into().unwrap())));
        self
    }

    /// With the head of those that have text.
    fn units(self) -> Vec<u32> {
        [vec![u32::MAX, self.bytes.len() as u32 * 4], self.fixed, self.bytes].concat()
    }
}

fn call<R: Fixed>(server: &Server, device: &MockDevice, service: &str, arguments: &[u32]) -> R {
    let number = server.service_handle(service).unwrap().number();
    R::get(&device.wave(0).call(number, arguments).unwrap()).unwrap()
}

#[test]
fn a_guest_that_writes_where_nobody_reads_gets_an_error_and_the_host_lives() {
    // SAFETY: a signal that exists, and its default: as in a program in C. No other test is in this process.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
    let dir = tempfile::tempdir().unwrap();
    let grant = DirGrant::new(dir.path(), "/", Access::ReadWrite).with_special_files();
    let (printed, prints) = std::io::pipe().unwrap();
    let sink = Sink::Writer(Box::new(prints));
    let server = Server::without_device().grant(&grant).unwrap().stdout(sink).start().unwrap();
    let device = MockDevice::new(server.add_buffer(hostcall::__private::PortBuffer::in_process(common::geometry(16, 32)).unwrap()));
    let _awake = server.keep_awake();

    // A FIFO whose reader the guest has closed.
    let made: Result<(), u32> = call(&server, &device, "StdFiles__make_fifo", &Arguments::default().text("/p").with(0o600u32).units());
    assert_eq!(made, Ok(()));
    let open = |bits: u32| {
        let arguments = Arguments::default().text("/p").with(bits).with(0u32).units();
        call::<Result<(u64, u32), u32>>(&server, &device, "StdFiles__open", &arguments).unwrap().0
    };
    let (reader, writer) = (open(open::READ), open(open::WRITE));
    let close = server.service_handle("Files__close").unwrap().number();
    let mut handle = [0; 2];
    reader.put(&mut handle);
    device.wave(0).post(close, Flags::default(), &handle).unwrap();
    let write = || call::<Result<u32, u32>>(&server, &device, "Files__write", &Arguments::default().with(writer).text("x").units());
    let mut last = Ok(1);
    common::eventually("the reader is closed", || {
        last = write();
        last.is_err()
    });
    assert_eq!(last, Err(libc::EPIPE as u32));

    // What kernels print, after who read it has gone.
    drop::<PipeReader>(printed);
    let text = Arguments::default().with(1u32).text("to nobody\n").units();
    let print = server.service_handle("Console__print").unwrap().number();
    let _ = device.wave(1).call(print, &text);
    let report = server.collect();
    assert!(report.to_string().contains("Broken pipe"), "{report}");

    // And what the host itself has to say.
    let (nobody, error) = std::io::pipe().unwrap();
    drop(nobody);
    let error: OwnedFd = error.into();
    // SAFETY: two descriptors that are open; what was standard error is put back.
    unsafe {
        let former = libc::dup(2);
        libc::dup2(error.as_raw_fd(), 2);
        offload::overdue::tell(&"nobody reads this");
        libc::dup2(former, 2);
        libc::close(former);
    }
}
