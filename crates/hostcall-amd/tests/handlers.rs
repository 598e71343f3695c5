//! What handlers are told, and what becomes of those that panic or block. Most run in a process of their own, because
//! services, texts and variables are the process's.

mod common;

use std::ffi::{c_int, c_void};
use std::process::{Command, Output};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use amd_hostcall::Error::*;
use amd_hostcall::api::*;
use common::{ADD_ONE, Buffer, Consumer, service, with_add_one};

const CHILD: &str = "HOSTCALL_TEST_CHILD";

/// Whether this process is the one in which a test's body runs.
fn is_child() -> bool {
    std::env::var_os(CHILD).is_some()
}

/// Runs one test of this program in a process of its own, with some variables.
fn child(test: &str, environment: &[(&str, &str)]) -> Output {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]).env(CHILD, "1").envs(environment.iter().copied());
    command.output().unwrap()
}

fn child_succeeds(test: &str, environment: &[(&str, &str)]) -> String {
    let output = child(test, environment);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn the_default_handler_of_v1_gets_the_number_that_was_asked_for() {
    if !is_child() {
        child_succeeds("the_default_handler_of_v1_gets_the_number_that_was_asked_for", &[]);
        return;
    }
    unsafe extern "C-unwind" fn tell(state: *mut c_void, service: u32, payload: *mut u64) -> c_int {
        // SAFETY: eight words.
        unsafe {
            *payload = u64::from(service);
            *payload.add(1) = state.addr() as u64;
        }
        0
    }
    with_add_one();
    // SAFETY: fit for any thread, and its state is not dereferenced.
    assert_eq!(unsafe { amd_hostcall_register_service(0, Some(tell), 0x66 as *mut c_void) }, 0);
    // SAFETY: as above.
    assert_eq!(unsafe { amd_hostcall_register_service(0, Some(tell), null_mut()) }, InvalidRequest as c_int, "once");
    let buffer = Buffer::new(1);
    let _consumer = Consumer::new(&[&buffer]);
    for asked in [0, 2, 4711, u32::MAX] {
        assert_eq!(buffer.call(asked, [9; 8]), Ok([u64::from(asked), 0x66]));
    }
    assert_eq!(buffer.call(ADD_ONE, [9; 8]), Ok([10, 9]), "a service of its own is not the default one's");
}

/// Handlers that run at once, and the most of them so far.
static INSIDE: AtomicU64 = AtomicU64::new(0);
static MOST: AtomicU64 = AtomicU64::new(0);

/// Stays for much longer than the two milliseconds after which another thread would serve, or until another handler
/// runs too.
unsafe extern "C-unwind" fn lingers(_: *mut c_void, _: u32, _: *mut u64) -> c_int {
    MOST.fetch_max(INSIDE.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
    // Where handlers may run at once this ends as soon as two do; elsewhere it tries for a while.
    for _ in 0..(if std::env::var_os("HOSTCALL_AMD_SERIAL").is_some() { 30 } else { 60_000 }) {
        if MOST.load(Ordering::SeqCst) > 1 {
            break;
        }
        thread::sleep(Duration::from_millis(1));
    }
    INSIDE.fetch_sub(1, Ordering::SeqCst);
    0
}

#[test]
fn handlers_of_a_consumer_run_at_once_if_one_blocks_unless_they_are_to_be_serial() {
    const NAME: &str = "handlers_of_a_consumer_run_at_once_if_one_blocks_unless_they_are_to_be_serial";
    if !is_child() {
        child_succeeds(NAME, &[]);
        child_succeeds(NAME, &[("HOSTCALL_AMD_SERIAL", "1")]);
        return;
    }
    let serial = std::env::var_os("HOSTCALL_AMD_SERIAL").is_some();
    /// Calls through the buffer whose address it gets.
    unsafe extern "C-unwind" fn calls_back(_: *mut c_void, _: u32, payload: *mut u64) -> c_int {
        let mut inner = [[1; 8]];
        // SAFETY: eight words, and the caller sent its buffer's address; one lane.
        unsafe {
            let buffer = std::ptr::with_exposed_provenance_mut(*payload as usize);
            *payload = hostcall_amd_call(buffer, ADD_ONE, 1, inner.as_mut_ptr()) as u64;
        }
        0
    }
    service(150, lingers);
    service(151, calls_back);
    with_add_one();
    let buffer = Buffer::new(8);
    let consumer = Consumer::new(&[&buffer]);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(buffer.call(150, [3; 8]), Ok([3, 3])));
        }
    });
    assert_eq!(MOST.load(Ordering::SeqCst) > 1, !serial);
    let address = buffer.pointer().expose_provenance() as u64;
    let code = if serial { ConsumerActive } else { Success };
    assert_eq!(buffer.call(151, [address; 8]).unwrap()[0], code as u64);
    assert_eq!(consumer.destroy(), 0);
}

unsafe extern "C-unwind" fn deep(_: *mut c_void, _: u32, payload: *mut u64) -> c_int {
    /// Uses so many KiB of the calling thread's stack.
    #[inline(never)]
    fn down(kib: u64) -> u64 {
        let page = std::hint::black_box([1u8; 16 << 10]);
        if kib <= 16 { u64::from(page[0]) } else { u64::from(page[7]) + down(kib - 16) }
    }
    // SAFETY: eight words, of one lane.
    unsafe { *payload = down(*payload) };
    0
}

#[test]
fn a_handler_has_as_much_stack_as_a_main_thread() {
    service(159, deep);
    let buffer = Buffer::new(1);
    let consumer = Consumer::new(&[&buffer]);
    assert_eq!(buffer.call(159, [7 << 10; 8]).unwrap()[0], (7 << 10) / 16);
    assert_eq!(consumer.destroy(), 0);
}

/// What a handler leaves in a variable of its thread: the thread takes a while to end.
struct Left;

static GONE: AtomicU64 = AtomicU64::new(0);

impl Drop for Left {
    fn drop(&mut self) {
        thread::sleep(Duration::from_millis(50));
        GONE.fetch_add(1, Ordering::SeqCst);
    }
}

unsafe extern "C-unwind" fn leaves(_: *mut c_void, _: u32, _: *mut u64) -> c_int {
    thread_local! {
        static LEFT: Left = const { Left };
    }
    LEFT.with(|_| 0)
}

#[test]
fn what_a_handler_has_left_in_its_thread_is_gone_when_the_consumer_is_destroyed() {
    service(153, leaves);
    let buffer = Buffer::new(1);
    let consumer = Consumer::new(&[&buffer]);
    assert_eq!(buffer.call(153, [1; 8]), Ok([1, 1]));
    assert_eq!(GONE.load(Ordering::SeqCst), 0);
    assert_eq!(consumer.destroy(), 0);
    assert_eq!(GONE.load(Ordering::SeqCst), 1);
}

unsafe extern "C-unwind" fn panics(_: *mut c_void, _: u32, payload: *mut u64) -> c_int {
    // SAFETY: eight words.
    assert_ne!(unsafe { *payload }, 13, "a handler's bad day");
    0
}

#[test]
fn a_handler_that_panics_is_named_on_standard_error() {
    if !is_child() {
        let message = child_succeeds("a_handler_that_panics_is_named_on_standard_error", &[]);
        assert!(
            message.lines().any(|line| line == "hostcall: a handler for service 152 panicked; the wave's call is refused"),
            "{message}"
        );
        return;
    }
    service(152, panics);
    let buffer = Buffer::new(1);
    let consumer = Consumer::new(&[&buffer]);
    assert_eq!(buffer.call(152, [13; 8]), Err(InvalidRequest as c_int));
    assert_eq!(buffer.call(152, [12; 8]), Ok([12, 12]));
    assert_eq!(consumer.destroy(), 0);
}

#[test]
fn an_error_handler_that_panics_is_told_of_and_the_process_ends_all_the_same() {
    const NAME: &str = "an_error_handler_that_panics_is_told_of_and_the_process_ends_all_the_same";
    if !is_child() {
        let told = "hostcall: the error handler panicked";
        let output = child(NAME, &[]);
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert!(message.contains("hostcall fatal error: no handler found for service 4711\n"), "{message}");
        assert!(message.lines().any(|line| line == told), "{message}");
        // Where the process goes on, so does the consumer.
        let message = child_succeeds(NAME, &[("HOSTCALL_AMD_NO_HALT", "1")]);
        assert!(message.lines().any(|line| line == told), "{message}");
        return;
    }
    unsafe extern "C-unwind" fn panics_at(_: *mut c_void, code: c_int) {
        panic!("an error handler's bad day: {code}");
    }
    // SAFETY: fit for any thread, and it has no state.
    assert_eq!(unsafe { amd_hostcall_on_error(Some(panics_at), null_mut()) }, 0);
    with_add_one();
    let buffer = Buffer::new(1);
    let consumer = Consumer::new(&[&buffer]);
    assert_eq!(buffer.call(4711, [1; 8]), Err(InvalidRequest as c_int));
    assert!(std::env::var_os("HOSTCALL_AMD_NO_HALT").is_some(), "without it the process has ended");
    assert_eq!(buffer.call(ADD_ONE, [1; 8]), Ok([2, 1]));
    assert_eq!(consumer.destroy(), 0);
}
