//! The priority of the threads that serve, which they ask for, or `HOSTCALL_AMD_NICE` does. In a process of its own,
//! which has the variable, or has not, from its beginning.

mod common;

use std::ffi::{c_int, c_void};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use common::{Buffer, Consumer, service, until};

const CHILD: &str = "HOSTCALL_TEST_CHILD";

/// The nice value of the calling thread.
fn nice() -> i32 {
    // SAFETY: reads two numbers; 0 is the calling thread.
    unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) }
}

/// Gives the calling thread a nice value; whether the system does that.
fn set_nice(value: i32) -> bool {
    // SAFETY: reads three numbers; 0 is the calling thread.
    unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, value) == 0 }
}

/// Whether the system gives a thread more than others have.
fn may_raise() -> bool {
    thread::spawn(|| set_nice(-10)).join().unwrap()
}

/// Runs a test of this program in a process of its own; `true` in that process.
fn in_child(test: &str, wanted: Option<&str>) -> bool {
    if std::env::var_os(CHILD).is_some() {
        return true;
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]).env(CHILD, "1").env_remove("HOSTCALL_AMD_NICE");
    if let Some(wanted) = wanted {
        command.env("HOSTCALL_AMD_NICE", wanted);
    }
    let output = command.output().unwrap();
    print!("{}", String::from_utf8_lossy(&output.stdout));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    false
}

unsafe extern "C-unwind" fn tell(_: *mut c_void, _: u32, payload: *mut u64) -> c_int {
    // SAFETY: eight words.
    unsafe { *payload = nice() as u64 };
    0
}

/// Tells what a thread has that a handler starts.
unsafe extern "C-unwind" fn starts(_: *mut c_void, _: u32, payload: *mut u64) -> c_int {
    let started = thread::spawn(nice).join().unwrap();
    // SAFETY: eight words.
    unsafe { *payload = started as u64 };
    0
}

#[test]
fn threads_that_serve_have_the_priority_that_was_asked_for_and_others_keep_theirs() {
    // Lower than a process has: that needs no privilege.
    if !in_child("threads_that_serve_have_the_priority_that_was_asked_for_and_others_keep_theirs", Some("17")) {
        return;
    }
    let before = nice();
    assert!(before < 17, "this process has {before}");
    service(140, tell);
    let buffer = Buffer::new(2);
    let consumer = Consumer::new(&[&buffer]);
    assert_eq!(buffer.call(140, [0; 8]).unwrap()[0], 17);
    assert_eq!(nice(), before);
    assert_eq!(consumer.destroy(), 0);
}

#[test]
fn threads_that_serve_keep_the_process_s_priority_if_that_is_asked_for() {
    if !in_child("threads_that_serve_keep_the_process_s_priority_if_that_is_asked_for", Some("0")) {
        return;
    }
    if !set_nice(0) {
        println!("skipped: this process has the nice value {}, and the system gives it no lower one", nice());
        return;
    }
    service(140, tell);
    let buffer = Buffer::new(2);
    let consumer = Consumer::new(&[&buffer]);
    assert_eq!(buffer.call(140, [0; 8]).unwrap()[0], 0);
    assert_eq!(consumer.destroy(), 0);
}

#[test]
fn a_thread_that_leads_has_more_than_others_until_its_handler_takes_long() {
    static DONE: AtomicBool = AtomicBool::new(false);
    /// Ends when its thread is as others are, and another has served meanwhile.
    unsafe extern "C-unwind" fn takes_long(_: *mut c_void, _: u32, payload: *mut u64) -> c_int {
        // SAFETY: eight words.
        unsafe { *payload = nice() as u64 };
        until("the loss of what the thread had", || nice() == 0);
        until("another's packet", || DONE.load(Ordering::SeqCst));
        0
    }
    if !in_child("a_thread_that_leads_has_more_than_others_until_its_handler_takes_long", None) {
        return;
    }
    if !set_nice(0) {
        println!("skipped: this process has the nice value {}, and the system gives it no lower one", nice());
        return;
    }
    service(140, tell);
    service(141, takes_long);
    service(142, starts);
    let raised = if may_raise() {
        -10
    } else {
        println!("the system raises no priority here: threads must go on as they are");
        0
    };
    let buffer = Buffer::new(4);
    let consumer = Consumer::new(&[&buffer]);
    assert_eq!(buffer.call(140, [0; 8]).unwrap()[0] as i64, raised);
    assert_eq!(buffer.call(142, [0; 8]).unwrap()[0], 0, "a thread that a handler starts is as others are");
    thread::scope(|scope| {
        let long = scope.spawn(|| buffer.call(141, [0; 8]).unwrap()[0] as i64);
        // Whoever serves after the long one is another thread, and leads.
        for _ in 0..50 {
            assert_eq!(buffer.call(140, [0; 8]).unwrap()[0] as i64, raised);
        }
        DONE.store(true, Ordering::SeqCst);
        assert_eq!(long.join().unwrap(), raised, "when it began");
    });
    assert_eq!(nice(), 0, "the caller's is its own");
    assert_eq!(consumer.destroy(), 0);
}
