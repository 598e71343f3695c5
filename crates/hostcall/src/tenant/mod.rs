//! A program, as its server knows it: the owner of one port buffer, and a stranger to every other program.
//!
//! * It has a [`Number`], which no other program of this process has, had or will have. Whatever a server keeps for a
//!   program is kept under this number. An address or an index would be somebody else's after the program's end.
//! * It has *budgets* of its own: what it has of each kind of [`Thing`] is counted here, by [`Claim`]s. Nothing that
//!   one program uses counts against another one.
//! * It has one *end*, [`Tenant::end`]. Then every [`Keeper`] lets go of what it kept for the program, and what comes
//!   later is refused: an open that was under way, a call that would begin to wait, a job.
//!
//! The end and a late arrival exclude each other without a lock of their own. `end` says that the program is over, and
//! then enters the lock of each keeper. Whoever keeps something asks [`Tenant::lives`] under the same lock. Either he
//! came first, and the keeper lets go of what he left; or he came later, and is refused.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// What tells programs apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Number(u64);

impl Number {
    /// As bits that are never 0.
    pub(crate) fn to_bits(self) -> u64 {
        self.0
    }

    /// The number that these bits are of.
    pub(crate) fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    fn next() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        // Pairs with nothing: a counter orders only itself. At a million programs a second it lasts for half a million
        // years.
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// What programs have of the host, as far as it is counted for each of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Thing {
    /// Calls of built-in services, ever.
    Call,
    /// Bytes that are read or written now.
    Byte,
    /// Descriptors of the system.
    Descriptor,
    /// Instances of `inotify`.
    Watcher,
    /// Things for which calls wait: a call that waits for three handles has three.
    Wait,
    /// Bytes that were printed and are not written.
    Printed,
}

impl Thing {
    const COUNT: usize = Self::Printed as usize + 1;
}

/// A program.
#[derive(Debug)]
pub(crate) struct Tenant {
    number: Number,
    used: [AtomicU64; Thing::COUNT],
    ended: AtomicBool,
}

/// The program has ended: nothing is kept for it any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ended;

/// Keeps things for programs.
pub(crate) trait Keeper {
    /// Lets go of all that it keeps for a program that has ended. It enters the lock under which it asks
    /// [`Tenant::lives`].
    fn let_go(&self, tenant: &Tenant);
}

impl Tenant {
    /// A new program.
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self { number: Number::next(), used: Default::default(), ended: AtomicBool::new(false) })
    }

    pub(crate) fn number(&self) -> Number {
        self.number
    }

    /// Ends the program. The keepers are all who may keep something for it.
    pub(crate) fn end(&self, keepers: &[&dyn Keeper]) {
        // Pairs with the load in `lives`. Relaxed: the keeper's lock, which is entered next, orders the two.
        self.ended.store(true, Ordering::Relaxed);
        for keeper in keepers {
            keeper.let_go(self);
        }
    }

    /// Whether something may be kept for the program. To be asked under the lock of what is to keep it.
    ///
    /// # Errors
    /// [`Ended`]: it may not.
    pub(crate) fn lives(&self) -> Result<(), Ended> {
        // Pairs with the store in `end`.
        if self.ended.load(Ordering::Relaxed) { Err(Ended) } else { Ok(()) }
    }

    /// What it has of one kind.
    pub(crate) fn has(&self, thing: Thing) -> u64 {
        // Pairs with the changes in `take` and in the drop of a claim. Relaxed, as they: numbers, which order nothing.
        self.used[thing as usize].load(Ordering::Relaxed)
    }

    /// Counts `amount` more of one kind, for ever; false, and nothing is counted, if it then had more than `most`.
    pub(crate) fn take(&self, thing: Thing, amount: u64, most: u64) -> bool {
        let used = &self.used[thing as usize];
        // Pairs with itself, and with `has`.
        used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| used.checked_add(amount).filter(|sum| *sum <= most)).is_ok()
    }
}

/// Something that a program has, and that is counted until this is dropped.
#[derive(Debug)]
pub(crate) struct Claim<T: Deref<Target = Tenant> = Arc<Tenant>> {
    tenant: T,
    thing: Thing,
    amount: u64,
}

impl<T: Deref<Target = Tenant>> Claim<T> {
    /// `amount` more of one kind, if the program then has `most` at most.
    pub(crate) fn of(tenant: T, thing: Thing, amount: u64, most: u64) -> Option<Self> {
        // Made only if it was counted: its drop counts it no more.
        tenant.take(thing, amount, most).then(|| Self { tenant, thing, amount })
    }

    /// None of one kind yet.
    pub(crate) fn none(tenant: T, thing: Thing) -> Self {
        Self { tenant, thing, amount: 0 }
    }

    /// So many more, however many the program has: whoever adds them has asked before whether there is room.
    pub(crate) fn add(&mut self, amount: u64) {
        // Pairs with `take` and `has`.
        self.tenant.used[self.thing as usize].fetch_add(amount, Ordering::Relaxed);
        self.amount += amount;
    }

    /// So many less, of those that it has.
    pub(crate) fn give_back(&mut self, amount: u64) {
        let amount = amount.min(self.amount);
        // Pairs with `take` and `has`.
        self.tenant.used[self.thing as usize].fetch_sub(amount, Ordering::Relaxed);
        self.amount -= amount;
    }

    /// Whose it is.
    pub(crate) fn tenant(&self) -> &T {
        &self.tenant
    }
}

impl<T: Deref<Target = Tenant>> Drop for Claim<T> {
    fn drop(&mut self) {
        // Pairs with `take` and `has`.
        self.tenant.used[self.thing as usize].fetch_sub(self.amount, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, PoisonError};

    use super::*;

    #[test]
    fn no_two_programs_have_one_number_however_many_have_ended() {
        let mut seen = std::collections::HashSet::new();
        // Each is where the one before was.
        assert!((0..1000).all(|_| seen.insert(Tenant::new().number())));
    }

    #[test]
    fn a_claim_counts_until_it_is_dropped_and_never_beyond_the_most() {
        let (tenant, other) = (Tenant::new(), Tenant::new());
        let first = Claim::of(&*tenant, Thing::Byte, 60, 100);
        assert!(first.is_some() && Claim::of(&*tenant, Thing::Byte, 41, 100).is_none());
        assert!(Claim::of(&*tenant, Thing::Byte, u64::MAX, u64::MAX).is_none(), "a sum that is no number");
        assert!(Claim::of(&*other, Thing::Byte, 100, 100).is_some() && Claim::of(&*tenant, Thing::Wait, 100, 100).is_some());
        assert_eq!((tenant.has(Thing::Byte), other.has(Thing::Byte)), (60, 0));
        drop(first);
        assert_eq!(tenant.has(Thing::Byte), 0);
    }

    #[test]
    fn what_is_added_to_a_claim_can_be_given_back_and_no_more_than_that() {
        let tenant = Tenant::new();
        let other = Claim::of(&*tenant, Thing::Byte, 7, 100).unwrap();
        let mut claim = Claim::none(&*tenant, Thing::Byte);
        claim.add(60);
        claim.give_back(20);
        assert_eq!(tenant.has(Thing::Byte), 47);
        claim.give_back(50);
        assert_eq!(tenant.has(Thing::Byte), 7, "it had 40");
        claim.add(5);
        drop(claim);
        assert_eq!(tenant.has(Thing::Byte), 7);
        drop(other);
        assert_eq!(tenant.has(Thing::Byte), 0);
    }

    /// Counts what it keeps.
    #[derive(Default)]
    struct Counting(Mutex<usize>);

    impl Counting {
        fn keep(&self, tenant: &Tenant) -> Result<(), Ended> {
            let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            tenant.lives()?;
            *kept += 1;
            Ok(())
        }
    }

    impl Keeper for Counting {
        fn let_go(&self, _: &Tenant) {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = 0;
        }
    }

    #[test]
    fn nothing_is_kept_for_a_program_whose_end_it_races() {
        for round in 0..100 {
            let (tenant, keeper) = (Tenant::new(), Counting::default());
            std::thread::scope(|scope| {
                for _ in 0..2 {
                    scope.spawn(|| (0..50 * round).all(|_| keeper.keep(&tenant).is_ok()));
                }
                tenant.end(&[&keeper]);
            });
            assert_eq!(keeper.keep(&tenant), Err(Ended));
            assert_eq!(*keeper.0.lock().unwrap(), 0);
        }
    }
}
