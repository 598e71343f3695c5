//! The priority of the threads that serve.
//!
//! A scheduler that is fair gives a thousand threads that poll a thousandth each, and the one that serves them no more. Then it is ready for
//! seconds and does not run. Only the system can mend that: `HOSTCALL_AMD_NICE` asks it to.

use std::io::Write;
use std::sync::Once;

/// The nice value that serving threads are to have.
fn wanted() -> Option<i32> {
    parse(&std::env::var("HOSTCALL_AMD_NICE").ok()?)
}

/// A nice value as text; `None` if it is none.
fn parse(text: &str) -> Option<i32> {
    text.trim().parse().ok().filter(|nice| (-20..=19).contains(nice))
}

/// Gives the calling thread the priority that is wanted. Says once that the system refuses it.
pub(crate) fn set() {
    let Some(nice) = wanted() else { return };
    // SAFETY: the call reads its three numbers. 0 is the calling thread, of which Linux has a priority for each.
    let refused = unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, nice) } != 0;
    static TOLD: Once = Once::new();
    if refused {
        TOLD.call_once(|| {
            // Nobody can be told that standard error is closed.
            let _ = writeln!(
                std::io::stderr(),
                "hostcall: HOSTCALL_AMD_NICE={nice} is refused by the system, which gives that to root, to CAP_SYS_NICE, or by `ulimit -e`"
            );
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nice_value_is_a_number_that_the_system_knows() {
        assert_eq!(["-20", " 19 ", "0", "-21", "20", "", "high"].map(parse), [Some(-20), Some(19), Some(0), None, None, None, None]);
    }
}
