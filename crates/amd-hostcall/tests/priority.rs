//! `HOSTCALL_AMD_NICE`: the priority of the threads that serve. In a process of its own, which has the variable from its beginning.

mod common;

use std::ffi::{c_int, c_void};
use std::process::Command;

use common::{Buffer, Consumer, service};

/// Lower than a process has: that needs no privilege.
const NICE: i32 = 7;
const CHILD: &str = "HOSTCALL_TEST_CHILD";

/// The nice value of the calling thread.
fn nice() -> i32 {
    // SAFETY: reads two numbers; 0 is the calling thread.
    unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) }
}

#[test]
fn threads_that_serve_have_the_priority_that_was_asked_for_and_others_keep_theirs() {
    if std::env::var_os(CHILD).is_none() {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.arg("threads_that_serve_have_the_priority").env(CHILD, "1").env("HOSTCALL_AMD_NICE", NICE.to_string());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        return;
    }
    unsafe extern "C-unwind" fn tell(_: *mut c_void, _: u32, payload: *mut u64) -> c_int {
        // SAFETY: eight words.
        unsafe { *payload = nice() as u64 };
        0
    }
    let before = nice();
    assert!(before < NICE, "this process has {before}");
    service(140, tell);
    let buffer = Buffer::new(2);
    let consumer = Consumer::new(&[&buffer]);
    assert_eq!(buffer.call(140, [0; 8]).unwrap()[0], NICE as u64);
    assert_eq!(nice(), before);
    assert_eq!(consumer.destroy(), 0);
}
