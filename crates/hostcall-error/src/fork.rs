//! What `fork` leaves: a child has the memory of its parent, and none of its threads.
//!
//! A lock that another thread held when the process was forked is never released in the child, and a thread that is
//! waited for never comes. So whatever has threads or locks keeps its [`Origin`], and asks before it waits, locks or
//! drops. A child that only starts another program asks nothing.

use std::fmt;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};

/// The process in which something was made.
///
/// A child that `fork` has made is another process than its parent, also for those who compare the process's number and
/// get that of an ancestor which has ended. A child of `vfork`, `posix_spawn` or a bare `clone` is not told from its
/// parent: it may call nothing of this library before it starts another program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin(u64);

impl Origin {
    /// This process.
    pub fn here() -> Self {
        generation::count_children();
        Self(generation::now())
    }

    /// Whether this is the process. One load.
    #[inline]
    pub fn is_here(self) -> bool {
        self.0 == generation::now()
    }

    /// Refuses in a child; `what` is what was made, as people call it: "server".
    ///
    /// # Errors
    /// When this process is a child of the one in which it was made.
    #[inline]
    pub fn check(self, what: &'static str) -> Result<(), Forked> {
        if self.is_here() { Ok(()) } else { Err(Forked { what }) }
    }
}

/// A value that is dropped in the process in which it was made, and in no child of it: what it owns is the parent's.
#[derive(Debug)]
#[repr(C)]
pub struct Local<T> {
    /// First: a pointer to the whole is one to the value.
    value: ManuallyDrop<T>,
    origin: Origin,
}

impl<T> Local<T> {
    /// A value of this process.
    pub fn new(value: T) -> Self {
        Self { value: ManuallyDrop::new(value), origin: Origin::here() }
    }

    /// Where it was made.
    #[inline]
    pub fn origin(&self) -> Origin {
        self.origin
    }
}

impl<T> Deref for Local<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for Local<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}

impl<T> Drop for Local<T> {
    fn drop(&mut self) {
        if self.origin.is_here() {
            // SAFETY: dropped this once, and not used any more.
            unsafe { ManuallyDrop::drop(&mut self.value) };
        }
    }
}

/// Something was used in a process that was forked from the one in which it was made. Nothing is done then.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Forked {
    /// What was used, as people call it: "server".
    pub what: &'static str,
}

impl fmt::Display for Forked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "this {} belongs to the process that this one was forked from, and its threads are not here: open devices and start servers after \
             the fork, or start processes that execute a program of their own (in Python by the method `spawn`)",
            self.what
        )
    }
}

impl fmt::Debug for Forked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Forked {}

#[cfg(unix)]
mod generation {
    use std::alloc::{Layout, handle_alloc_error};
    use std::sync::Once;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// How many times a process was forked between the first that counted and this one, and 1: never 0.
    static GENERATION: AtomicU64 = AtomicU64::new(1);

    #[inline]
    pub(super) fn now() -> u64 {
        // Pairs with nothing: it changes while a child has one thread, before that returns from `fork`.
        GENERATION.load(Ordering::Relaxed)
    }

    extern "C" fn in_child() {
        // As in `now`. Nothing else is done here: no child is disturbed.
        GENERATION.fetch_add(1, Ordering::Relaxed);
    }

    /// From now on children count.
    pub(super) fn count_children() {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            // SAFETY: the function adds to an atomic, which is allowed in any child, and stays as long as this library,
            // whose end takes it off.
            let refused = unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
            if refused != 0 {
                // The one reason that there is: no memory for an entry of a list.
                handle_alloc_error(Layout::new::<[usize; 4]>());
            }
        });
    }
}

#[cfg(not(unix))]
mod generation {
    pub(super) fn now() -> u64 {
        1
    }

    pub(super) fn count_children() {}
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// What a child says, which ends at once.
    fn in_child(so: impl FnOnce() -> bool) -> bool {
        // SAFETY: the child computes, and ends without running anything else.
        let child = unsafe { libc::fork() };
        assert!(child >= 0, "no process");
        if child == 0 {
            let so = so();
            // SAFETY: ends the child.
            unsafe { libc::_exit(i32::from(!so)) };
        }
        let mut status = 0;
        // SAFETY: the child just made, an out parameter.
        assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
        libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0
    }

    #[test]
    fn what_was_made_before_a_fork_is_not_of_the_child_and_what_the_child_makes_is() {
        let origin = Origin::here();
        let refused = || {
            let own = Origin::here();
            let of_its_child = || in_child(|| !origin.is_here() && !own.is_here());
            !origin.is_here() && origin.check("thing") == Err(Forked { what: "thing" }) && own.is_here() && of_its_child()
        };
        assert!(in_child(refused));
        assert!(origin.is_here() && origin.check("thing") == Ok(()), "the parent goes on");
    }

    #[test]
    fn values_are_dropped_in_their_own_process_only() {
        struct Counts<'a>(&'a std::cell::Cell<u32>);
        impl Drop for Counts<'_> {
            fn drop(&mut self) {
                self.0.set(self.0.get() + 1);
            }
        }
        let dropped = std::cell::Cell::new(0);
        let (here, there) = (Local::new(Counts(&dropped)), Local::new(Counts(&dropped)));
        drop(here);
        assert_eq!(dropped.get(), 1);
        let mut there = Some(there);
        let leaks = || {
            drop(there.take());
            drop(Local::new(Counts(&dropped)));
            dropped.get() == 2
        };
        assert!(in_child(leaks), "the child drops its own, and not its parent's");
        drop(there);
        assert_eq!(dropped.get(), 2);
    }

    #[test]
    fn the_refusal_says_what_to_do() {
        let text = Forked { what: "server" }.to_string();
        assert!(text.starts_with("this server belongs to the process that this one was forked from") && text.contains("after the fork"));
    }
}
