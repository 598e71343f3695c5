//! Caps on what one program may use of the host.

use crate::tenant::{Claim, Tenant, Thing};

/// Caps on what each program may use of the built-in services: each attached program, and each port buffer that several
/// share, has all of this for itself. What exceeds a cap is refused; nothing waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Descriptors of the host that a program has at the same time, of whatever kind: files, directories, sockets,
    /// alarms, sets, watchers. `EMFILE` beyond. A directory that is being listed is two. A handle that was duplicated
    /// is one more.
    ///
    /// However much this is, a program has at most as many as are still free for others: descriptors are the process's,
    /// and some are left to the host and to programs that come later.
    pub open_files: usize,
    /// Instances of `inotify` that a program has at the same time: `EMFILE` beyond. The system gives a user few of them
    /// (mostly 128), so that all programs of the process together have half of those at most.
    pub watchers: usize,
    /// Things for which a program's calls wait at the same time, such as sockets and locks: `ENOBUFS` beyond.
    pub waits: usize,
    /// Bytes of file reads and writes that a program has under way at the same time: refused as `EDQUOT` beyond.
    pub bytes_in_flight: u64,
    /// Calls of built-in services that a program makes in all (but the reports of panics and exits): refused as
    /// `EDQUOT` beyond.
    pub calls: u64,
}

impl Default for Limits {
    fn default() -> Self {
        // Every lane that a GPU can run at once may wait for something.
        Self { open_files: 1 << 16, watchers: 16, waits: 1 << 19, bytes_in_flight: u64::MAX, calls: u64::MAX }
    }
}

impl Limits {
    /// With a cap on descriptors.
    #[must_use]
    pub fn open_files(self, open_files: usize) -> Self {
        Self { open_files, ..self }
    }

    /// With a cap on instances of `inotify`.
    #[must_use]
    pub fn watchers(self, watchers: usize) -> Self {
        Self { watchers, ..self }
    }

    /// With a cap on things that are waited for.
    #[must_use]
    pub fn waits(self, waits: usize) -> Self {
        Self { waits, ..self }
    }

    /// With a cap on bytes of reads and writes under way.
    #[must_use]
    pub fn bytes_in_flight(self, bytes_in_flight: u64) -> Self {
        Self { bytes_in_flight, ..self }
    }

    /// With a cap on calls.
    #[must_use]
    pub fn calls(self, calls: u64) -> Self {
        Self { calls, ..self }
    }

    /// Counts a call of a program; false if it is one too many.
    #[inline]
    pub(crate) fn call(&self, tenant: &Tenant) -> bool {
        // Nothing is counted that nobody limits: the word would travel between the serving threads.
        self.calls == u64::MAX || tenant.take(Thing::Call, 1, self.calls)
    }

    /// Takes `bytes` of what a program may have under way, until the claim is dropped. `None` if that is too much.
    #[expect(clippy::option_option, reason = "the outer one is the answer, the inner one whether anything is counted")]
    pub(crate) fn transfer<'a>(&self, tenant: &'a Tenant, bytes: usize) -> Option<Option<Claim<&'a Tenant>>> {
        if self.bytes_in_flight == u64::MAX {
            return Some(None);
        }
        Claim::of(tenant, Thing::Byte, bytes as u64, self.bytes_in_flight).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_beyond_the_cap_are_refused_to_the_program_that_made_them() {
        let (limits, tenant, other) = (Limits::default().calls(3), Tenant::new(), Tenant::new());
        assert_eq!((0..5).map(|_| limits.call(&tenant)).collect::<Vec<_>>(), [true, true, true, false, false]);
        assert!(limits.call(&other));
    }

    #[test]
    fn bytes_in_flight_are_given_back_when_a_transfer_ends() {
        let (limits, tenant, other) = (Limits::default().bytes_in_flight(100), Tenant::new(), Tenant::new());
        let first = limits.transfer(&tenant, 60);
        assert!(first.is_some() && limits.transfer(&tenant, 60).is_none() && limits.transfer(&tenant, 40).is_some());
        assert!(limits.transfer(&other, 100).is_some());
        drop(first);
        assert!(limits.transfer(&tenant, 100).is_some() && limits.transfer(&tenant, 101).is_none());
        assert!(limits.transfer(&tenant, usize::MAX).is_none());
    }
}
