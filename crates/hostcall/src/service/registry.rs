//! Services by number: a dense table that serving threads read through a snapshot of their own.
//!
//! A serving thread keeps an `Arc` of the table it last saw, and compares one version word per look at a port. It
//! takes the lock only when a service was registered or unregistered in between. Nothing but the table is ever touched
//! under that lock. A name keeps its number for the server's life. So programs patched with the number stay right when
//! the service is unregistered and comes back.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use hostcall_abi::{CallError, Callee};
use hostcall_error::Origin;

use super::call::blank_replies;
use super::definition::{Definition, Shape};
use super::failure::Failure;
use super::handler::Run;
use super::{After, Brief, Service};
use crate::record::stats::{Counters, Stats};

/// Why a service was not registered.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegisterError {
    /// The name is taken.
    #[error("service `{name}` is already registered: unregister it first")]
    Taken {
        /// The name.
        name: String,
    },
    /// All numbers are taken.
    #[error("cannot register service `{name}`: a server numbers at most 65535 names")]
    TooMany {
        /// The name.
        name: String,
    },
}

hostcall_error::readable!(RegisterError);

const OPEN: u32 = 0;
const LAST: u32 = 1;
// States at or above `FINISHED` accept no more calls.
const FINISHED: u32 = 2;
const UNREGISTERED: u32 = 3;

/// A registered service.
pub(crate) struct Registered {
    pub(crate) number: u16,
    pub(crate) definition: Definition,
    /// The definition's.
    name: Arc<str>,
    pub(crate) shape: Shape,
    /// Units of a reply's stream, the head included, if all replies are equally long: there are no `&mut [T]`. One unit
    /// at least is for what a failure says of itself.
    pub(crate) reply_stride: Option<usize>,
    /// For handlers of whole messages: [`blank_replies`].
    pub(crate) blank: Box<[u32]>,
    pub(crate) run: Run,
    pub(crate) brief: Brief,
    pub(crate) after: Option<After>,
    /// Whether calls come the [direct](super::direct) way, if nothing is special about them.
    direct: bool,
    state: AtomicU32,
    pub(crate) counters: Counters,
}

impl Registered {
    pub(crate) fn new(number: u16, service: Service, threads: usize, histograms: bool) -> Self {
        let alike = service.definition.reply_dwords.filter(|_| number != 0 && !service.definition.takes_var);
        let direct = matches!(&service.run, Run::Inline(handler) if handler.is_direct());
        Self {
            number,
            direct: direct && number != 0 && !service.definition.takes_var && service.after.is_none(),
            shape: service.definition.shape(),
            reply_stride: alike.map(|units| 1 + units.max(1)),
            blank: alike.filter(|_| service.run.is_whole()).map_or_else(Box::default, blank_replies),
            name: service.definition.name.as_ref().into(),
            definition: service.definition,
            run: service.run,
            brief: service.brief,
            after: service.after,
            state: AtomicU32::new(if service.once { LAST } else { OPEN }),
            counters: Counters::new(threads, histograms),
        }
    }

    pub(crate) fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// Whether messages of full waves may come the [direct](super::direct) way, if each lane has room for so many units
    /// of reply.
    #[inline(always)]
    pub(crate) fn is_direct(&self, room: usize) -> bool {
        self.direct && self.reply_stride.is_none_or(|stride| stride <= room)
    }

    /// Units of a stream of replies on the direct way.
    #[inline(always)]
    pub(crate) fn direct_stride(&self) -> usize {
        self.reply_stride.unwrap_or(1)
    }

    /// Whether a message that waits for answers, or one that does not, is of this service: it must be as the definition
    /// says. The default handler has no definition of the caller's.
    #[inline(always)]
    pub(crate) fn agrees(&self, post: bool) -> bool {
        self.number == 0 || self.definition.reply_dwords.is_none() == post
    }

    /// How many of the next `lanes` calls may be handled, from the first on; [`refusal`](Registered::refusal) says how
    /// the others end.
    #[inline(always)]
    pub(crate) fn admit(&self, lanes: u32) -> u32 {
        // Pairs with `close` and `finish_after_next`. Relaxed: the word orders nothing but itself.
        match self.state.load(Ordering::Relaxed) {
            OPEN => lanes,
            LAST if lanes > 0 => u32::from(self.state.compare_exchange(LAST, FINISHED, Ordering::Relaxed, Ordering::Relaxed).is_ok()),
            _ => 0,
        }
    }

    /// Whether all calls may be handled, as nearly always.
    #[inline(always)]
    pub(crate) fn admits_all(&self) -> bool {
        // As in `admit`.
        self.state.load(Ordering::Relaxed) == OPEN
    }

    /// How a call ends that was not admitted. A thread whose snapshot is old may have asked a slot that is
    /// unregistered.
    #[cold]
    pub(crate) fn refusal(&self) -> CallError {
        // Pairs with `close`. Relaxed, as in `admit`.
        if self.state.load(Ordering::Relaxed) == UNREGISTERED { CallError::UnknownService } else { CallError::Finished }
    }

    /// Whether a call that failed so is handled again where it may block.
    pub(crate) fn goes_on_elsewhere(&self, failure: &Failure) -> bool {
        matches!((failure, &self.run), (Failure::WouldBlock, Run::Adaptive(_)))
    }

    /// Takes no more calls. What is unregistered stays so.
    fn close(&self, state: u32) {
        // Pairs with `admit`.
        self.state.fetch_max(state, Ordering::Relaxed);
    }

    fn is_finished(&self) -> bool {
        // Pairs with `close` and `admit`.
        self.state.load(Ordering::Relaxed) >= FINISHED
    }
}

impl std::fmt::Debug for Registered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Registered").field("number", &self.number).field("definition", &self.definition).finish_non_exhaustive()
    }
}

/// Services that are copied when one of them changes.
const LOT: usize = 256;

/// Services with numbers that follow one another.
type Slots = [Option<Arc<Registered>>; LOT];

/// Some, or none.
type Lot = Option<Arc<Slots>>;

/// What is registered: never changed, but replaced by another. In lots, of which two tables share all but those in
/// which they differ: one more service is as many steps, however many there are.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    /// The first lot, where nearly all services are: one step less.
    first: Lot,
    rest: Vec<Lot>,
    default: Option<Arc<Registered>>,
}

impl Table {
    /// The service of this number (which came from a device), or the default handler.
    #[inline(always)]
    pub(crate) fn get(&self, number: u16) -> Option<&Arc<Registered>> {
        let number = usize::from(number);
        let lot = match number.checked_sub(LOT) {
            None => &self.first,
            Some(behind) => self.rest.get(behind / LOT).unwrap_or(&None),
        };
        match lot.as_ref().map(|slots| &slots[number % LOT]) {
            Some(Some(slot)) => Some(slot),
            _ => self.default.as_ref(),
        }
    }

    /// The service of this number, and no other.
    fn own(&self, number: u16) -> Option<&Arc<Registered>> {
        self.get(number).filter(|slot| slot.number == number)
    }

    /// What the service of this number is called, for people.
    pub(crate) fn name(&self, number: u16) -> String {
        self.get(number).map_or_else(|| "(unknown service)".to_owned(), |slot| slot.name().to_string())
    }

    fn lots(&self) -> impl Iterator<Item = &Lot> {
        std::iter::once(&self.first).chain(&self.rest)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<Registered>> {
        self.lots().flatten().flat_map(|slots| slots.iter()).flatten().chain(&self.default)
    }

    /// The same but for one number.
    fn with(&self, number: u16, slot: Option<Arc<Registered>>) -> Self {
        let (lot, place) = (usize::from(number) / LOT, usize::from(number) % LOT);
        let mut table = self.clone();
        if lot > table.rest.len() {
            table.rest.resize(lot, None);
        }
        let lot = if lot == 0 { &mut table.first } else { &mut table.rest[lot - 1] };
        let slots = lot.get_or_insert_with(|| Arc::new([const { None }; LOT]));
        Arc::make_mut(slots)[place] = slot;
        table
    }

    /// The services that nobody but this table knows.
    fn into_last(self) -> Vec<Registered> {
        // What is in a lot that another table has, that table knows.
        let lots = std::iter::once(self.first).chain(self.rest).flatten().filter_map(Arc::into_inner);
        lots.flatten().flatten().chain(self.default).filter_map(Arc::into_inner).collect()
    }
}

#[derive(Default)]
struct State {
    table: Arc<Table>,
    numbers: HashMap<Arc<str>, u16>,
    /// How many numbers were given out, from 1 on.
    numbered: u16,
    /// Numbers of services without a name that are unregistered, the oldest first: given out again only when there are
    /// no others, so that a kernel which still has one finds nobody.
    free: VecDeque<u16>,
}

impl State {
    /// A number that nobody has.
    fn number(&mut self) -> Option<u16> {
        if let Some(next) = self.numbered.checked_add(1) {
            self.numbered = next;
            return Some(next);
        }
        self.free.pop_front()
    }
}

/// Everything registered with one server.
pub(crate) struct Registry {
    state: Mutex<State>,
    version: AtomicU64,
    threads: usize,
    histograms: bool,
    origin: Origin,
}

impl Registry {
    pub(crate) fn new(threads: usize, histograms: bool) -> Self {
        Self { state: Mutex::default(), version: AtomicU64::new(0), threads, histograms, origin: Origin::here() }
    }

    /// Held for changes of the table only.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was called how often, and how long it took.
    pub(crate) fn stats(&self) -> Stats {
        let row = |slot: &Arc<Registered>| slot.counters.row(slot.name(), slot.number);
        Stats { services: self.table().iter().map(row).collect() }
    }

    /// Numbers a service; a name that was registered before gets its number again.
    pub(crate) fn register(&self, service: Service) -> Result<Arc<Registered>, RegisterError> {
        let name: Arc<str> = service.definition.name.as_ref().into();
        let mut state = self.lock();
        let number = match state.numbers.get(&*name) {
            Some(&number) => {
                if state.table.own(number).is_some_and(|slot| !slot.is_finished()) {
                    return Err(RegisterError::Taken { name: name.to_string() });
                }
                number
            }
            None => state.number().ok_or_else(|| RegisterError::TooMany { name: name.to_string() })?,
        };
        state.numbers.insert(name, number);
        Ok(self.put(state, number, service))
    }

    /// Numbers a service that only kernels call which are given its number.
    pub(crate) fn register_unnamed(&self, service: Service) -> Result<Arc<Registered>, RegisterError> {
        let mut state = self.lock();
        let number = state.number().ok_or_else(|| RegisterError::TooMany { name: service.definition.name.to_string() })?;
        Ok(self.put(state, number, service))
    }

    fn put(&self, state: MutexGuard<'_, State>, number: u16, service: Service) -> Arc<Registered> {
        let slot = Arc::new(Registered::new(number, service, self.threads, self.histograms));
        let table = state.table.with(number, Some(slot.clone()));
        self.publish(state, table);
        slot
    }

    /// The number of a name that nobody has registered, for programs that call it all the same; `None` if it is
    /// registered, or numbers are out.
    pub(crate) fn reserve(&self, name: &str) -> Option<u16> {
        let mut state = self.lock();
        if let Some(&number) = state.numbers.get(name) {
            return state.table.own(number).is_none().then_some(number);
        }
        let number = state.number()?;
        state.numbers.insert(name.into(), number);
        Some(number)
    }

    /// The service that is registered under this name.
    pub(crate) fn named(&self, name: &str) -> Option<Arc<Registered>> {
        let state = self.lock();
        state.numbers.get(name).and_then(|&number| state.table.own(number)).cloned()
    }

    /// The name that has this number, registered or not.
    #[cold]
    pub(crate) fn name_of(&self, number: u16) -> Option<Arc<str>> {
        self.lock().numbers.iter().find(|(_, known)| **known == number).map(|(name, _)| name.clone())
    }

    /// Sets the handler of calls that no other service takes.
    pub(crate) fn set_default(&self, service: Option<Service>) {
        let default = service.map(|service| Arc::new(Registered::new(0, service, self.threads, self.histograms)));
        let state = self.lock();
        let table = Table { default, ..Table::clone(&state.table) };
        self.publish(state, table);
    }

    pub(crate) fn unregister(&self, slot: &Registered) {
        slot.close(UNREGISTERED);
        let mut state = self.lock();
        if state.table.own(slot.number).is_some_and(|current| std::ptr::eq(&**current, slot)) {
            if state.numbers.get(slot.name()) != Some(&slot.number) {
                state.free.push_back(slot.number);
            }
            let table = state.table.with(slot.number, None);
            self.publish(state, table);
        }
    }

    fn publish(&self, mut state: MutexGuard<'_, State>, table: Table) {
        let old = std::mem::replace(&mut state.table, Arc::new(table));
        // Pairs with the load in `refresh`. Release, with the lock: whoever sees the version finds the table.
        self.version.fetch_add(1, Ordering::Release);
        drop(state);
        // Last, and with no lock: what a service owned is the user's to drop, and may panic.
        drop(old);
    }

    /// The table as it is now.
    pub(crate) fn table(&self) -> Arc<Table> {
        self.lock().table.clone()
    }

    /// Brings a thread's snapshot up to date, and gives back the old one if it was not.
    #[inline(always)]
    pub(crate) fn refresh(&self, snapshot: &mut Snapshot) -> Option<Snapshot> {
        // Pairs with `publish`.
        let version = self.version.load(Ordering::Acquire);
        if version == snapshot.version { None } else { Some(std::mem::replace(snapshot, Snapshot { table: self.table(), version })) }
    }
}

/// The table as one thread last saw it.
#[derive(Debug)]
pub(crate) struct Snapshot {
    pub(crate) table: Arc<Table>,
    version: u64,
}

impl Snapshot {
    /// The services that nobody else knows.
    pub(crate) fn into_last(self) -> Vec<Registered> {
        Arc::into_inner(self.table).map_or_else(Vec::new, Table::into_last)
    }
}

impl Default for Snapshot {
    /// Nothing: out of date by its version.
    fn default() -> Self {
        Self { table: Arc::default(), version: u64::MAX }
    }
}

/// A hold on a registered service. Dropping it changes nothing.
#[derive(Clone)]
pub struct ServiceHandle {
    slot: Weak<Registered>,
    registry: Weak<Registry>,
    name: Arc<str>,
    callee: Callee,
    number: u16,
}

impl std::fmt::Debug for ServiceHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServiceHandle").field("name", &self.name).field("finished", &self.is_finished()).finish()
    }
}

impl ServiceHandle {
    pub(crate) fn new(slot: &Arc<Registered>, registry: &Arc<Registry>) -> Self {
        Self {
            slot: Arc::downgrade(slot),
            registry: Arc::downgrade(registry),
            name: slot.name().clone(),
            callee: Callee::new(slot.number, slot.definition.signature),
            number: slot.number,
        }
    }

    /// The service's name on the wire.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The number under which programs know it, for the server's life.
    pub fn number(&self) -> u16 {
        self.number
    }

    /// The service as an argument of a kernel, which calls it by the function whose name ends in `_by`:
    /// `Args::new().value(handle.callee())` for a parameter `callee: Callee`.
    pub fn callee(&self) -> Callee {
        self.callee
    }

    /// Takes no more calls: they end as [`CallError::Finished`](crate::CallError::Finished). Calls in flight go on.
    pub fn finish(&self) {
        if let Some(slot) = self.slot.upgrade() {
            slot.close(FINISHED);
        }
    }

    /// Takes one more call (of one lane), then is finished.
    pub fn finish_after_next(&self) {
        if let Some(slot) = self.slot.upgrade() {
            // Pairs with `admit`. A finished service stays finished.
            let _ = slot.state.compare_exchange(OPEN, LAST, Ordering::Relaxed, Ordering::Relaxed);
        }
    }

    /// Whether it takes no more calls.
    pub fn is_finished(&self) -> bool {
        self.slot.upgrade().is_none_or(|slot| slot.is_finished())
    }

    /// Unregisters the service: calls end as [`CallError::UnknownService`](crate::CallError::UnknownService) from now
    /// on, and what its handler captured is dropped as soon as no call uses it. The name may be registered again. In a
    /// forked child of the server's process it does nothing.
    pub fn unregister(&self) {
        if let (Some(slot), Some(registry)) = (self.slot.upgrade(), self.registry.upgrade())
            && registry.origin.is_here()
        {
            registry.unregister(&slot);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Services `from..to`, named by their numbers.
    fn register(registry: &Registry, numbers: std::ops::RangeInclusive<u32>) -> Result<(), RegisterError> {
        for number in numbers {
            let definition = Definition { name: number.to_string().into(), ..crate::test_utils::definition::<u32>("", Some(0)) };
            let slot = registry.register(Service::new(definition, |_| Ok(())))?;
            assert_eq!(u32::from(slot.number), number);
        }
        Ok(())
    }

    #[test]
    fn each_of_very_many_registrations_copies_one_lot() {
        let registry = Registry::new(0, false);
        let address = |lot: &Lot| lot.as_ref().map(Arc::as_ptr);
        let mut copied = 0;
        let (mut before, mut number) = (registry.table(), 1);
        while number <= 65_535 {
            // One by one at the ends of lots, and now and then.
            let to = if number % 251 < 3 { number } else { (number / 251 * 251 + 250).min(65_535) };
            register(&registry, number..=to).unwrap();
            let now = registry.table();
            if to == number {
                let unlike =
                    now.lots().enumerate().filter(|&(i, lot)| before.lots().nth(i).is_none_or(|other| address(lot) != address(other)));
                copied = copied.max(unlike.map(|(_, lot)| lot.as_ref().map_or(0, |slots| slots.len())).sum());
            }
            (before, number) = (now, to + 1);
        }
        assert_eq!(copied, LOT);
        assert_eq!(before.iter().count(), 65_535);
        for number in [1, 255, 256, 257, 511, 512, 65_535] {
            assert_eq!(before.get(number).map(|slot| slot.number), Some(number));
        }
        assert!(before.get(0).is_none());
        assert!(matches!(register(&registry, 65_536..=65_536), Err(RegisterError::TooMany { .. })));
    }

    #[test]
    fn the_last_table_that_knows_a_service_gives_it_back() {
        let registry = Registry::new(0, false);
        register(&registry, 1..=300).unwrap();
        let mut snapshots = [Snapshot::default(), Snapshot::default()];
        for snapshot in &mut snapshots {
            registry.refresh(snapshot);
        }
        for number in [7, 299] {
            let slot = registry.table().own(number).unwrap().clone();
            registry.unregister(&slot);
        }
        let [one, other] = snapshots;
        assert!(one.into_last().is_empty(), "the other snapshot knows them");
        let mut last: Vec<u16> = other.into_last().into_iter().map(|slot| slot.number).collect();
        last.sort_unstable();
        assert_eq!(last, [7, 299]);
    }

    #[test]
    fn a_call_that_meets_an_unregistered_service_in_an_old_snapshot_is_of_an_unknown_service() {
        let registry = Registry::new(1, false);
        let service = || crate::test_utils::fixed_service("quick", |x: u32| x);
        let gone = registry.register(service()).unwrap();
        let mut old = Snapshot::default();
        registry.refresh(&mut old);
        registry.unregister(&gone);
        let seen = old.table.get(gone.number).expect("the snapshot is from before");
        assert_eq!(seen.admit(32), 0);
        assert_eq!(seen.refusal(), CallError::UnknownService);
        seen.close(FINISHED);
        assert_eq!(seen.refusal(), CallError::UnknownService, "it stays unregistered");
        let finished = registry.register(service()).unwrap();
        finished.close(FINISHED);
        assert_eq!(finished.admit(1), 0);
        assert_eq!(finished.refusal(), CallError::Finished);
    }
}
