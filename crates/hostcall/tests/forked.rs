//! A child that `fork` has made of a process with a server: it is refused, prints nothing, waits for nobody, and
//! disturbs nothing of its parent's.
#![cfg(unix)]

mod common;

use std::os::fd::AsRawFd as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::eventually;
use hostcall::__private::{Geometry, PortBuffer};
use hostcall::test_utils::{MockDevice, definition, fixed_service, posted_service};
use hostcall::{AttachError, Completion, Forked, RemoveError, Server, ServerError, Service, WaitError};
use hostcall_abi::Tag;
use offload::{Device, Error};

const SERVER: Forked = Forked { what: "server" };
const DEVICE: Forked = Forked { what: "device" };

/// Runs `child` in a child, which must return and print nothing. A child that hangs is ended by the system.
fn in_child(child: impl FnOnce()) {
    let (mut said, theirs) = std::io::pipe().unwrap();
    // SAFETY: what the child calls is what this file tests, and what the C library allows there; it ends without
    // running anything else.
    let pid = unsafe { libc::fork() };
    assert!(pid >= 0, "no process");
    if pid == 0 {
        // SAFETY: two descriptors that are open.
        unsafe {
            libc::alarm(60);
            libc::dup2(theirs.as_raw_fd(), 1);
            libc::dup2(theirs.as_raw_fd(), 2);
        }
        let returned = std::panic::catch_unwind(std::panic::AssertUnwindSafe(child)).is_ok();
        // SAFETY: ends the child.
        unsafe { libc::_exit(i32::from(!returned)) };
    }
    drop(theirs);
    let mut text = String::new();
    std::io::Read::read_to_string(&mut said, &mut text).unwrap();
    let mut status = 0;
    // SAFETY: the child just made, an out parameter.
    assert_eq!(unsafe { libc::waitpid(pid, &mut status, 0) }, pid);
    assert_eq!((status, &*text), (0, ""), "{SIGALRM} is that it hung", SIGALRM = libc::SIGALRM);
}

fn geometry() -> Geometry {
    Geometry { slots: 4, slot_bytes: 4096, ..Geometry::new(8, 32) }
}

#[test]
fn every_function_of_a_server_refuses_in_a_child_and_the_parent_goes_on() {
    let device = Device::open("sim").unwrap();
    let server = Server::builder(&device).service(fixed_service("double", |x: u32| 2 * x)).start().unwrap();
    let (queue, buffer) = (device.queue().unwrap(), server.add_buffer(PortBuffer::in_process(geometry()).unwrap()));
    let double = server.service_handle("double").unwrap();
    let mock = MockDevice::new(buffer.clone());
    let awake = server.keep_awake();
    assert_eq!(mock.wave(0).call(double.number(), &[4]), Ok(vec![8]));
    in_child(|| {
        assert!(matches!(server.wait(&queue), Err(WaitError::Forked(SERVER))));
        assert!(matches!(server.wait_timeout(&queue, Duration::from_secs(1)), Err(WaitError::Forked(SERVER))));
        assert!(matches!(server.register(posted_service("post", |_: u32| ())), Err(ServerError::Forked(SERVER))));
        assert!(matches!(server.register_unnamed(posted_service("post", |_: u32| ())), Err(ServerError::Forked(SERVER))));
        assert!(matches!(server.set_default_handler(None), Err(ServerError::Forked(SERVER))));
        assert!(matches!(server.allocate(&device), Err(AttachError::Forked(SERVER))));
        assert_eq!(server.remove_buffer(&buffer), Err(RemoveError::Forked(SERVER)));
        assert!(matches!(server.free_ports(), Err(Error::Forked(SERVER))));
        assert!(server.collect().is_success() && server.denials().is_empty() && server.stats().services.is_empty());
        assert!(server.service_handle("double").is_none());
        double.unregister();
        assert!(matches!(queue.synchronize(), Err(Error::Forked(DEVICE))));
        assert!(matches!(device.queue().map(drop), Err(Error::Forked(DEVICE))));
        assert!(matches!(device.alloc::<u32>(8).map(drop), Err(Error::Forked(DEVICE))));
    });
    assert_eq!(mock.wave(0).call(double.number(), &[5]), Ok(vec![10]), "the parent's service is registered");
    drop(awake);
    server.wait(&queue).unwrap();
    assert!(server.stop().is_success());
}

#[test]
fn a_child_drops_its_copies_of_everything_without_waiting() {
    let device = Device::open("sim").unwrap();
    let memory = device.alloc::<u32>(1000).unwrap();
    let (release, held) = std::sync::mpsc::channel::<()>();
    let queue = device.queue().unwrap();
    // The queue's thread is in it while the process forks.
    queue.on_complete(Box::new(move || _ = held.recv())).unwrap();
    let server = Server::builder(&device).start().unwrap();
    let buffer = server.allocate(&device).unwrap();
    let all = Mutex::new(Some((server, buffer, queue, memory, device)));
    in_child(|| drop(all.lock().unwrap().take()));
    release.send(()).unwrap();
    let (server, buffer, queue, memory, device) = all.into_inner().unwrap().unwrap();
    queue.fill(&memory, 7).unwrap();
    server.wait(&queue).unwrap();
    assert_eq!(queue.read(&memory).unwrap()[999], 0x0707_0707);
    server.remove_buffer(&buffer).unwrap();
    drop((server, queue, memory, device));
}

#[test]
fn a_child_stops_its_copy_of_a_server_and_nothing_is_stopped() {
    let server = Server::without_device().without_built_in().service(fixed_service("double", |x: u32| 2 * x)).start().unwrap();
    let mock = MockDevice::new(server.add_buffer(PortBuffer::in_process(geometry()).unwrap()));
    let server = Mutex::new(Some(server));
    in_child(|| assert!(server.lock().unwrap().take().unwrap().stop().is_success()));
    let server = server.into_inner().unwrap().unwrap();
    let _awake = server.keep_awake();
    assert_eq!(mock.wave(0).call(1, &[4]), Ok(vec![8]));
}

#[test]
fn a_child_answers_no_call_that_came_to_its_parent() {
    let kept: Arc<Mutex<Vec<Completion>>> = Arc::default();
    let theirs = kept.clone();
    let service = Service::deferred(definition::<u32>("later", Some(1)), move |_, completion| theirs.lock().unwrap().push(completion));
    let server = Server::without_device().without_built_in().service(service).start().unwrap();
    let mock = MockDevice::new(server.add_buffer(PortBuffer::in_process(geometry()).unwrap()));
    let _awake = server.keep_awake();
    let raw = mock.raw();
    let kernel = std::thread::spawn(move || mock.wave(0).at_port(0).call(1, &[4]));
    eventually("the call has come", || kept.lock().unwrap().len() == 1);
    let completions = Mutex::new(std::mem::take(&mut *kept.lock().unwrap()));
    // The buffer is memory of this process's own, so only the child sees what it would write there; it must not wait
    // either.
    in_child(|| {
        completions.lock().unwrap().clear();
        assert!(!raw.answered(0, Tag::new(1)));
    });
    for completion in completions.into_inner().unwrap() {
        completion.reply(&7u32);
    }
    assert_eq!(kernel.join().unwrap(), Ok(vec![7]));
}

#[test]
fn a_child_has_servers_of_its_own() {
    let server = Server::without_device().start().unwrap();
    in_child(|| {
        let own = Server::without_device().without_built_in().service(fixed_service("double", |x: u32| 2 * x)).start().unwrap();
        let mock = MockDevice::new(own.add_buffer(PortBuffer::in_process(geometry()).unwrap()));
        let awake = own.keep_awake();
        assert_eq!(mock.wave(0).call(1, &[4]), Ok(vec![8]));
        drop(awake);
        assert!(own.stop().is_success());
    });
    assert!(server.stop().is_success());
}

#[test]
fn a_child_that_executes_another_program_is_not_disturbed() {
    let server = Server::without_device().start().unwrap();
    for _ in 0..20 {
        let said = std::process::Command::new("sh").args(["-c", "echo fine"]).output().unwrap();
        assert_eq!((said.status.success(), &*said.stdout, &*said.stderr), (true, &b"fine\n"[..], &b""[..]));
    }
    assert!(server.stop().is_success());
}
