//! Descriptors of the host that programs have, each counted for its program as long as it is open.
//!
//! Descriptors belong to the whole process. A program that opened all there are would leave none to other programs, nor
//! to the host itself. So whatever a program opens begins with a [`Room`] and ends as a [`Counted`], and two rules
//! hold:
//!
//! * A program has at most [`Limits::open_files`](crate::Limits) of them, what is being opened included.
//! * It has at most as many as are *free* for others, and a part of the process's is never a program's. One program
//!   alone gets half of what may be used, a second one half of the rest, and so on. Whoever comes next finds some.
//!
//! How many are free is told by a new descriptor's own number: the system gives the lowest that is free, so all below
//! it are used, by whomever.

use std::ops::Deref;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::errno;
use crate::tenant::{Claim, Tenant, Thing};

/// Room for one more descriptor of a program.
#[derive(Debug)]
#[must_use = "it is for a descriptor"]
pub(super) struct Room {
    claim: Claim,
    /// How many the program may have.
    most: usize,
}

/// A descriptor of a program.
#[derive(Debug)]
pub(super) struct Counted<F> {
    // Closed before it is counted no more.
    descriptor: F,
    room: Room,
}

/// The most of the process's descriptors that are left to the host.
const RESERVE: u64 = 4096;

/// What programs may use of a process's `limit` descriptors: all but a quarter.
fn usable(limit: u64) -> u64 {
    limit - (limit / 4).min(RESERVE)
}

/// Whether a program with `mine` descriptors may have one with this number, of `limit` that the process may have.
fn is_fair(number: u64, mine: u64, limit: u64) -> bool {
    number.saturating_add(mine) <= usable(limit)
}

impl Room {
    /// For one more descriptor, if the program then has `most` at most: to be asked for before it is opened.
    pub(super) fn of(tenant: &Arc<Tenant>, most: usize) -> Result<Self, u32> {
        tenant.lives().map_err(|_| errno::EBADF)?;
        let claim = Claim::of(tenant.clone(), Thing::Descriptor, 1, most as u64).ok_or(errno::EMFILE)?;
        Ok(Self { claim, most })
    }

    /// What was opened, if the process has enough left for others.
    pub(super) fn take<F: AsFd>(self, descriptor: F) -> Result<Counted<F>, u32> {
        let limit = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        let number = descriptor.as_fd().as_raw_fd();
        let mine = self.claim.tenant().has(Thing::Descriptor);
        if u64::try_from(number).is_ok_and(|number| is_fair(number, mine, limit)) {
            return Ok(Counted { descriptor, room: self });
        }
        Err(errno::EMFILE)
    }
}

impl<F> Counted<F> {
    /// Room for another one of the same program.
    pub(super) fn room_for_another(&self) -> Result<Room, u32> {
        Room::of(self.room.claim.tenant(), self.room.most)
    }

    /// The same descriptor, as something else.
    pub(super) fn try_map<G, E>(self, map: impl FnOnce(F) -> Result<G, E>) -> Result<Counted<G>, E> {
        let Self { descriptor, room } = self;
        map(descriptor).map(|descriptor| Counted { descriptor, room })
    }

    pub(super) fn get_mut(&mut self) -> &mut F {
        &mut self.descriptor
    }
}

impl<F> Deref for Counted<F> {
    type Target = F;

    fn deref(&self) -> &F {
        &self.descriptor
    }
}

impl<F: AsFd> AsFd for Counted<F> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

/// One instance of `inotify` of a program, counted for the program and for the process.
#[derive(Debug)]
pub(super) struct Instance {
    _claim: Claim,
}

/// Those of all programs of this process.
static INSTANCES: AtomicU64 = AtomicU64::new(0);

/// The most of them: half of what the system gives a user, who has other programs.
fn most_instances() -> u64 {
    static MOST: OnceLock<u64> = OnceLock::new();
    *MOST.get_or_init(|| {
        let told = std::fs::read_to_string("/proc/sys/fs/inotify/max_user_instances");
        told.ok().and_then(|told| told.trim().parse::<u64>().ok()).unwrap_or(128) / 2
    })
}

impl Instance {
    /// One more, if the program then has `most` at most, and no more than are left for others.
    pub(super) fn of(tenant: &Arc<Tenant>, most: usize) -> Result<Self, u32> {
        // Pairs with the drop. Relaxed: a number, which orders nothing.
        let before = INSTANCES.fetch_add(1, Ordering::Relaxed);
        let left = most_instances().saturating_sub(before);
        match Claim::of(tenant.clone(), Thing::Watcher, 1, left.min(most as u64)) {
            Some(claim) => Ok(Self { _claim: claim }),
            None => {
                INSTANCES.fetch_sub(1, Ordering::Relaxed);
                Err(errno::EMFILE)
            }
        }
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // Pairs with `of`.
        INSTANCES.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Lets this process open as many files as the system allows it: thousands of waves may each open one, and the usual
/// limit of 1024 is for the sake of programs that use `select`.
pub(super) fn raise_file_limit() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current != maximum {
        // If it cannot be raised, files that are one too many say `EMFILE`.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many descriptors each of so many programs gets one after another, of a process that has `limit` and uses
    /// `own` itself.
    fn taken(programs: usize, own: u64, limit: u64) -> Vec<u64> {
        let mut used = own;
        let all = |used: &mut u64| {
            let mine = (1..).take_while(|&mine| is_fair(*used + mine - 1, mine, limit)).count() as u64;
            *used += mine;
            mine
        };
        (0..programs).map(|_| all(&mut used)).collect()
    }

    #[test]
    fn whoever_takes_all_descriptors_leaves_some_to_the_host_and_to_whoever_comes_later() {
        assert_eq!(taken(5, 8, 1024), [380, 190, 95, 48, 24]);
        for (own, limit) in [(3, 64), (20, 256), (600, 1024), (20, 1 << 20)] {
            let taken = taken(4, own, limit);
            assert!(taken.iter().all(|&mine| mine > 0) && own + taken.iter().sum::<u64>() <= usable(limit), "{limit}: {taken:?}");
        }
        assert!(!is_fair(u64::MAX, u64::MAX, u64::MAX) && is_fair(20, 65_536, u64::MAX));
    }

    #[test]
    fn programs_that_take_all_watchers_have_half_of_what_the_system_gives_and_leave_some_to_each_other() {
        let mut all = Vec::new();
        let mut taken = || {
            let tenant = Tenant::new();
            let before = all.len();
            all.extend(std::iter::from_fn(|| Instance::of(&tenant, usize::MAX).ok()));
            all.len() - before
        };
        let (first, second) = (taken(), taken());
        assert!(first >= second && second > 0, "{first}, {second}");
        assert!(all.len() as u64 <= most_instances());
        let told = std::fs::read_to_string("/proc/sys/fs/inotify/max_user_instances").ok().and_then(|told| told.trim().parse::<u64>().ok());
        assert!(told.is_none_or(|told| 2 * most_instances() <= told), "{told:?}");
        all.clear();
        let mut taken = || {
            let tenant = Tenant::new();
            all.extend(std::iter::from_fn(|| Instance::of(&tenant, usize::MAX).ok()));
            all.len()
        };
        assert!(taken() > second, "what is closed is free again");
    }
}
