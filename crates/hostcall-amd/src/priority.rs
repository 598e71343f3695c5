//! The priority of the threads that serve.
//!
//! A scheduler that is fair gives a thousand threads that poll a thousandth each, and the one that serves them no more.
//! Then it is ready for seconds and does not run. Only the system can mend that. So threads that serve ask it for more
//! than others have, and go on as they are where it refuses. They need little time. A handler that takes long is
//! another matter: the thread it runs on gives its lead to another one then, and what it asked for with it. What a
//! handler starts, threads and processes, has nothing of it.
//!
//! `HOSTCALL_AMD_NICE` is a wish for all of their time, and a refusal of that is told.

use std::io::Write;
use std::sync::Once;

/// The nice value that threads ask for while they lead or watch.
const RAISED: i32 = -10;

/// A nice value, and whether it was asked for by the variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Wish {
    nice: i32,
    told: bool,
}

/// What a thread that serves wants, where threads of this process have the value `normal`; `None`: nothing.
fn wish(variable: Option<&str>, serial: bool, normal: i32) -> Option<Wish> {
    if let Some(text) = variable {
        return parse(text).map(|nice| Wish { nice, told: true });
    }
    // A process that was made nice is meant to be so. And where handlers are serial, no other thread takes over from
    // one that takes long.
    (!serial && (RAISED + 1..=0).contains(&normal)).then_some(Wish { nice: RAISED, told: false })
}

/// A nice value as text; `None` if it is none.
fn parse(text: &str) -> Option<i32> {
    text.trim().parse().ok().filter(|nice| (-20..=19).contains(nice))
}

fn wanted(normal: i32) -> Option<Wish> {
    wish(std::env::var("HOSTCALL_AMD_NICE").ok().as_deref(), crate::services::serial(), normal)
}

/// The nice value of the calling thread.
pub(crate) fn of_this_thread() -> i32 {
    // SAFETY: the call reads its two numbers. 0 is the calling thread, of which Linux has a priority for each.
    unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) }
}

/// Sees to it that what handlers start does not inherit a raised priority; whether that was done. A thread whose owner
/// has chosen a policy for it is left alone.
fn keep_to_itself(role: Role) -> bool {
    let parameters = libc::sched_param { sched_priority: 0 };
    // SAFETY: reads a number; 0 is the calling thread.
    let policy = unsafe { libc::sched_getscheduler(0) } & !libc::SCHED_RESET_ON_FORK;
    let alone = libc::SCHED_OTHER | libc::SCHED_RESET_ON_FORK;
    // SAFETY: the call reads numbers and the parameters behind the reference; 0 is the calling thread.
    policy == libc::SCHED_OTHER && (role == Role::Watches || unsafe { libc::sched_setscheduler(0, alone, &parameters) } == 0)
}

/// What a thread is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// It leads, or waits for its turn: it calls handlers.
    Serves,
    /// It starts threads that serve, and nothing else. They are to begin with what it has: without it they might not
    /// run for long.
    Watches,
}

/// The calling thread gets the priority that such threads want, in a process in which others have the nice value
/// `normal`. Says once that the system refuses what the variable asks for.
pub(crate) fn raise(role: Role, normal: i32) {
    let Some(Wish { nice, told }) = wanted(normal) else { return };
    if !told && !keep_to_itself(role) {
        return;
    }
    // SAFETY: the call reads its three numbers; 0 is the calling thread.
    let refused = unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, nice) } != 0;
    static TOLD: Once = Once::new();
    if refused && told {
        TOLD.call_once(|| {
            // Nobody can be told that standard error is closed.
            let _ = writeln!(
                std::io::stderr(),
                "hostcall: HOSTCALL_AMD_NICE={nice} is refused by the system, which gives that to root, to CAP_SYS_NICE, or by `ulimit -e`"
            );
        });
    }
}

/// A thread has been in one handler for long, and leads no more: it is as others are, unless the variable asks for
/// something.
pub(crate) fn lower(thread: i32, normal: i32) {
    if wanted(normal).is_some_and(|wish| !wish.told) {
        // SAFETY: the call reads its three numbers. The thread lives: it has not given its place in the crew back. Less
        // priority is never refused to a thread's own process.
        unsafe { libc::setpriority(libc::PRIO_PROCESS, thread as libc::id_t, normal) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nice_value_is_a_number_that_the_system_knows() {
        assert_eq!(["-20", " 19 ", "0", "-21", "20", "", "high"].map(parse), [Some(-20), Some(19), Some(0), None, None, None, None]);
    }

    #[test]
    fn the_variable_decides_and_a_process_that_is_nice_or_serial_stays_as_it_is() {
        let raised = Some(Wish { nice: RAISED, told: false });
        assert_eq!([0, -9, -10, -20, 1, 19].map(|normal| wish(None, false, normal)), [raised, raised, None, None, None, None]);
        assert_eq!(wish(None, true, 0), None);
        for (text, nice) in [("0", 0), ("7", 7), ("-20", -20)] {
            assert_eq!(wish(Some(text), true, 5), Some(Wish { nice, told: true }));
        }
        assert_eq!(wish(Some("high"), false, 0), None, "what is no number is no wish");
    }
}
