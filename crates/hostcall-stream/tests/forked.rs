//! A child that `fork` has made of a process whose threads read streams.
#![cfg(unix)]

use hostcall_error::Forked;
use hostcall_stream::{Streams, WaitError};
use offload::Device;

const REFUSED: Forked = Forked { what: "`Streams`" };

#[test]
fn a_child_knows_nothing_waits_for_nothing_and_the_parent_goes_on() {
    let device = Device::open("sim").unwrap();
    let queue = device.queue().unwrap();
    let streams = std::sync::Mutex::new(Some(Streams::builder().start(&device).unwrap()));
    // SAFETY: the child calls what this test is about, and ends without running anything else.
    let child = unsafe { libc::fork() };
    assert!(child >= 0);
    if child == 0 {
        // SAFETY: a child that hangs is ended by the system.
        unsafe { libc::alarm(60) };
        let said = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let streams = streams.lock().unwrap().take().unwrap();
            assert!(matches!(streams.wait(&queue), Err(WaitError::Forked(REFUSED))));
            assert!(streams.snapshot().end_unknown && streams.summary().end_unknown);
            assert!(streams.schemas().is_empty() && streams.reports().is_empty());
            streams.clear();
            assert!(streams.end().end_unknown);
        }));
        // SAFETY: ends the child.
        unsafe { libc::_exit(i32::from(said.is_err())) };
    }
    let mut status = 0;
    // SAFETY: the child just made, an out parameter.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    assert_eq!(status, 0);
    let streams = streams.into_inner().unwrap().unwrap();
    assert!(streams.wait(&queue).unwrap().is_complete());
}
