//! Which launch a message is of, and so of which kernel.
//!
//! A message has the low 10 bits of its launch's number, and its ring says the device. The host knows the launches that it makes. A message that is being
//! read is of a launch that has *begun* (in the simulator: is not behind another in its queue) and is not *settled*: nobody can say yet that all of its
//! messages have been handed on. Of these launches the ones count whose numbers end in the message's bits. If there is one, it is this one: so it always
//! is while at most 1023 launches lie between the oldest that is not settled and the newest. If there are several, the number is unknown, and the kernel
//! too unless all of them are of one kernel. If there is none, the host did not make the launch.
//!
//! *When is a launch settled?* When [`Streams::wait`](crate::Streams::wait) has drained the rings after its end. Or earlier, if messages of
//! [`Policy::Latest`](hostcall_abi::stream::Policy::Latest), which may lie around for long, are not among them: let all launches below `below` have ended
//! while `newest` was the newest that may run, and later all up to `newest`. Every message of the former was stored by their ends, and what is missing before one in its
//! ring was reserved earlier, so by a launch up to `newest`, which has stored it, too. So a reader that then reads each ring until nothing is there has
//! handed on all messages of launches below `below`.
//!
//! *What the bits are.* In the simulator the low bits of the host's own number. On CUDA those of `%gridid`, "the temporal grid launch number for this
//! context" (PTX ISA), which an H200 counts by one for each kernel, over all streams (`docs/streams.md`). The host learns by how much it differs from its own numbers from messages that can be of one launch only, and believes it when a second
//! launch agrees; who launches in the context without [`Queue::track`](offload::Queue) shifts it, which the next such launch shows. Until it is
//! known, and on AMD GPUs, whose waves know no number, all launches that are not settled count.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use offload::{Device, DeviceKind, LaunchEvent, Watch};

/// The launch that a message is of, as far as the host can say it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Dispatch {
    /// Its number on its device, from 1 on, in the order in which the host made launches; `None`: unknown.
    pub number: Option<u64>,
    /// The name of its kernel; `None`: unknown, as of every launch that was made by other means than [`Queue::launch`](offload::Queue::launch).
    pub kernel: Option<&'static str>,
}

impl Dispatch {
    /// A launch with this number, of the kernel with this name. (The name is kept as long as the process. Beyond 65536 names it is unknown.)
    pub fn new(number: Option<u64>, kernel: Option<&str>) -> Self {
        Self { number, kernel: kernel.and_then(name) }
    }

    /// The name of its kernel, or `unknown`.
    pub fn kernel_name(&self) -> &'static str {
        self.kernel.unwrap_or("unknown")
    }
}

/// `train, launch 7`, with `unknown` for what is.
impl fmt::Display for Dispatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, launch ", self.kernel_name())?;
        match self.number {
            Some(number) => write!(f, "{number}"),
            None => f.write_str("unknown"),
        }
    }
}

/// Bits of a launch's number in a message.
const BITS: u64 = 0x3ff;
/// Launches of a device that are kept though they are not settled. Those before are forgotten, which is said as unknown.
const MOST: usize = 1 << 16;
/// Kernels whose names are kept.
const NAMES: usize = 1 << 16;

/// A kernel's name, which stays as long as the process: there are as many as its programs have kernels. `None`: there are too many, as a file may claim.
fn name(kernel: &str) -> Option<&'static str> {
    static ALL: Mutex<Option<HashSet<&'static str>>> = Mutex::new(None);
    let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
    let all = all.get_or_insert_default();
    if let Some(known) = all.get(kernel) {
        return Some(known);
    }
    (all.len() < NAMES).then(|| {
        let name: &'static str = Box::leak(kernel.into());
        all.insert(name);
        name
    })
}

/// What the bits of messages have to do with the host's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Numbering {
    Same,
    /// They differ by what is to be learnt.
    Shifted,
    None,
}

/// By how much a device's numbers are ahead of the host's.
#[derive(Clone, Copy, Debug)]
struct Shift {
    by: u64,
    /// The launch that showed it.
    of: u64,
    /// Another has shown it, too.
    confirmed: bool,
}

/// Launches below `below` had ended when `newest` was the newest that may have run.
#[derive(Clone, Copy, Debug)]
struct Mark {
    below: u64,
    newest: u64,
    /// Those up to `newest` have ended as well: who has looked in this epoch has seen their messages.
    passed: Option<u64>,
}

#[derive(Debug, Default)]
struct State {
    newest: u64,
    /// Begun, and not ended: of each queue.
    open: HashMap<u64, BTreeSet<u64>>,
    /// Begun, and not settled, in their order.
    begun: VecDeque<Begun>,
    /// Those up to here that are not settled have been forgotten.
    forgotten: u64,
    /// Those below are settled.
    settled: u64,
    mark: Option<Mark>,
    shift: Option<Shift>,
}

#[derive(Clone, Copy, Debug)]
struct Begun {
    number: u64,
    kernel: Option<&'static str>,
    queue: u64,
}

impl State {
    /// The number below which all launches have ended.
    fn floor(&self) -> u64 {
        self.first_of_queues().min().unwrap_or(self.newest + 1)
    }

    /// Of each queue the first launch that has not ended.
    fn first_of_queues(&self) -> impl Iterator<Item = u64> {
        self.open.values().filter_map(|open| open.first().copied())
    }

    fn begin(&mut self, number: u64, kernel: Option<&str>, queue: u64) {
        self.newest = number;
        self.open.entry(queue).or_default().insert(number);
        self.begun.push_back(Begun { number, kernel: kernel.and_then(name), queue });
        if self.begun.len() > MOST
            && let Some(Begun { number, .. }) = self.begun.pop_front()
        {
            self.forgotten = number;
        }
    }

    /// `epoch`: begins a new epoch, whose number it returns.
    fn end(&mut self, number: u64, numbering: Numbering, epoch: impl FnOnce() -> u64) {
        self.open.retain(|_, open| {
            open.remove(&number);
            !open.is_empty()
        });
        let floor = self.floor();
        // What may run: of the simulator it is known, because an end is told before the next launch of its queue starts.
        let newest = if numbering == Numbering::Same { self.first_of_queues().max().unwrap_or(number) } else { self.newest };
        let mark = self.mark.get_or_insert(Mark { below: floor, newest, passed: None });
        if mark.passed.is_none() && floor > mark.newest {
            mark.passed = Some(epoch());
        }
    }

    /// Whether a launch may have sent a message that is there.
    fn may_have_sent(&self, numbering: Numbering, launch: &Begun) -> bool {
        // See `end`.
        let first = self.open.get(&launch.queue).and_then(|open| open.first());
        numbering != Numbering::Same || first.is_none_or(|first| launch.number <= *first)
    }

    fn settle(&mut self, below: u64) {
        self.settled = self.settled.max(below);
        while self.begun.front().is_some_and(|launch| launch.number < self.settled) {
            self.begun.pop_front();
        }
    }

    fn resolve(&mut self, numbering: Numbering, bits: u64) -> Dispatch {
        let shift = match (numbering, self.shift) {
            (Numbering::Same, _) => Some(0),
            (Numbering::Shifted, Some(shift)) if shift.confirmed => Some(shift.by),
            _ => None,
        };
        let matches = |number: u64| shift.is_none_or(|by| number.wrapping_add(by) & BITS == bits);
        if (self.settled.max(1)..=self.forgotten).any(matches) {
            return Dispatch::default();
        }
        let candidates = || self.begun.iter().filter(|launch| matches(launch.number) && self.may_have_sent(numbering, launch));
        let mut two = candidates();
        match (two.next().copied(), two.next()) {
            (Some(Begun { number, kernel, .. }), None) => {
                self.learn(number, bits);
                Dispatch { number: Some(number), kernel }
            }
            (Some(Begun { kernel, .. }), Some(_)) => {
                Dispatch { number: None, kernel: kernel.filter(|_| candidates().all(|other| other.kernel == kernel)) }
            }
            (None, _) => {
                self.shift = None;
                Dispatch::default()
            }
        }
    }

    /// A message with these bits is of this launch.
    fn learn(&mut self, number: u64, bits: u64) {
        let by = bits.wrapping_sub(number) & BITS;
        self.shift = Some(match self.shift {
            Some(shift) if shift.by == by => Shift { confirmed: shift.confirmed || shift.of != number, ..shift },
            _ => Shift { by, of: number, confirmed: false },
        });
    }
}

/// The launches of one device.
#[derive(Debug)]
struct Launches {
    numbering: Numbering,
    /// Messages may lie around after looks that find nothing.
    lasting: AtomicBool,
    state: Mutex<State>,
}

impl Launches {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A device whose launches are known.
#[derive(Debug)]
struct Known {
    device: Device,
    launches: Arc<Launches>,
    _watch: Watch,
}

/// The launch of the message before, of one ring: mostly the next one is of it, too.
#[derive(Debug)]
pub(crate) struct Last {
    /// Whose launches its messages may be of.
    source: u16,
    /// What was asked for, and when.
    asked: Option<(u32, u64)>,
    dispatch: Dispatch,
}

impl Last {
    /// None yet, of this [source](Dispatches::source).
    pub(crate) fn of(source: u16) -> Self {
        Self { source, asked: None, dispatch: Dispatch::default() }
    }

    /// The launch that a message with these bits is of. Asked once for each message, when it is read: what recordings, sinks and handlers say of it
    /// is the same, though more may be known later.
    #[inline(always)]
    pub(crate) fn dispatch(&mut self, bits: u32, dispatches: &Dispatches) -> Dispatch {
        let asked = Some((bits, dispatches.version()));
        if self.asked != asked {
            self.dispatch = dispatches.resolve(self.source, bits);
            self.asked = asked;
        }
        self.dispatch
    }
}

/// What is known of launches, and how far threads that read have looked.
#[derive(Debug, Default)]
pub(crate) struct Dispatches {
    /// By source. None goes.
    devices: RwLock<Vec<Known>>,
    ahead: Arc<Ahead>,
    /// The last epoch that each thread [has seen](Look::has_seen).
    looked: Mutex<Vec<Arc<AtomicU64>>>,
}

/// Counts what makes a difference.
#[derive(Debug, Default)]
struct Ahead {
    /// When launches end that others waited for.
    epoch: AtomicU64,
    /// When anything happens.
    version: AtomicU64,
}

/// What a thread says of its looks at its rings.
#[derive(Debug, Default)]
pub(crate) struct Look(Arc<AtomicU64>);

impl Look {
    /// The last epoch that it has seen.
    #[inline(always)]
    pub(crate) fn seen(&self) -> u64 {
        // Relaxed: its own.
        self.0.load(Ordering::Relaxed)
    }

    /// Of each of its rings a look that began in this epoch or later has reached the place behind which nothing was, and all has been handed on.
    pub(crate) fn has_seen(&self, epoch: u64) {
        // Release pairs with the acquire in `Dispatches::settle`.
        self.0.store(epoch, Ordering::Release);
    }
}

impl Dispatches {
    /// The source that messages from a device have: its launches are known from now on. `lasting`: it has messages of `Policy::Latest`.
    pub(crate) fn source(&self, device: &Device, lasting: bool) -> u16 {
        let mut devices = self.devices.write().unwrap_or_else(PoisonError::into_inner);
        let at = devices.iter().position(|known| known.device.is_same(device)).unwrap_or_else(|| {
            let numbering = match device.info().kind {
                DeviceKind::Sim => Numbering::Same,
                DeviceKind::Cuda => Numbering::Shifted,
                _ => Numbering::None,
            };
            let launches = Arc::new(Launches { numbering, lasting: AtomicBool::new(false), state: Mutex::default() });
            let (theirs, ahead) = (launches.clone(), self.ahead.clone());
            let watch = device.watch_launches(Arc::new(move |event| {
                match event {
                    LaunchEvent::Begun { number, kernel, queue } => theirs.lock().begin(number, kernel, queue),
                    // Release pairs with the acquire in `epoch`: who looks in it sees what ended kernels stored.
                    LaunchEvent::Ended { number } => {
                        theirs.lock().end(number, theirs.numbering, || ahead.epoch.fetch_add(1, Ordering::Release) + 1);
                    }
                }
                // Relaxed: it orders nothing; a launch is made behind it.
                ahead.version.fetch_add(1, Ordering::Relaxed);
            }));
            devices.push(Known { device: device.clone(), launches, _watch: watch });
            devices.len() - 1
        });
        // Relaxed: before the first message.
        devices[at].launches.lasting.fetch_or(lasting, Ordering::Relaxed);
        at as u16
    }

    /// One more thread that looks.
    pub(crate) fn look(&self) -> Look {
        let look = Look::default();
        self.looked.lock().unwrap_or_else(PoisonError::into_inner).push(look.0.clone());
        look
    }

    /// The epoch in which a look begins.
    #[inline(always)]
    pub(crate) fn epoch(&self) -> u64 {
        // Pairs with the addition when a launch ends.
        self.ahead.epoch.load(Ordering::Acquire)
    }

    /// What has been resolved may be something else when this has changed.
    #[inline(always)]
    pub(crate) fn version(&self) -> u64 {
        // Relaxed: of a message that is there the launch had begun.
        self.ahead.version.load(Ordering::Relaxed)
    }

    /// Of each device the number below which all launches have ended.
    pub(crate) fn ended(&self) -> Vec<u64> {
        let devices = self.devices.read().unwrap_or_else(PoisonError::into_inner);
        devices.iter().map(|known| known.launches.lock().floor()).collect()
    }

    /// All messages of launches that had [`ended`](Dispatches::ended) have been handed on.
    pub(crate) fn drained(&self, ended: &[u64]) {
        let devices = self.devices.read().unwrap_or_else(PoisonError::into_inner);
        for (known, below) in devices.iter().zip(ended) {
            known.launches.lock().settle(*below);
        }
        // Relaxed: see `version`.
        self.ahead.version.fetch_add(1, Ordering::Relaxed);
    }

    /// Settles what threads have looked at.
    fn settle(&self, launches: &Launches, state: &mut State) {
        let Some(Mark { below, passed: Some(epoch), .. }) = state.mark else { return };
        // Relaxed: it was said before the first message.
        if launches.lasting.load(Ordering::Relaxed) {
            return;
        }
        let looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        // Pairs with `Look::has_seen`.
        if looked.iter().all(|looked| looked.load(Ordering::Acquire) >= epoch) {
            state.settle(below);
            state.mark = None;
        }
    }
}

impl Dispatches {
    #[cold]
    fn resolve(&self, source: u16, bits: u32) -> Dispatch {
        let devices = self.devices.read().unwrap_or_else(PoisonError::into_inner);
        let Some(Known { launches, .. }) = devices.get(usize::from(source)) else { return Dispatch::default() };
        let state = &mut *launches.lock();
        self.settle(launches, state);
        state.resolve(launches.numbering, u64::from(bits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Launches that have begun, of kernels `a` and `b` in turns from number 1 on, each in a queue of its own.
    fn begun(count: u64) -> State {
        let mut state = State::default();
        (1..=count).for_each(|number| state.begin(number, Some(if number % 2 == 1 { "a" } else { "b" }), number));
        state
    }

    fn of(number: u64, kernel: &'static str) -> Dispatch {
        Dispatch { number: Some(number), kernel: Some(kernel) }
    }

    #[test]
    fn of_1024_launches_each_is_known_by_its_bits_and_of_more_only_what_they_share() {
        let mut state = begun(1024);
        for number in 1..=1024 {
            let kernel = if number % 2 == 1 { "a" } else { "b" };
            assert_eq!(state.resolve(Numbering::Same, number & BITS), of(number, kernel));
        }
        state.begin(1025, Some("a"), 1025);
        state.begin(1026, Some("c"), 1026);
        assert_eq!(state.resolve(Numbering::Same, 1), Dispatch { number: None, kernel: Some("a") }, "1 or 1025");
        assert_eq!(state.resolve(Numbering::Same, 2), Dispatch::default(), "2 or 1026, and these are not one kernel");
        state.settle(3);
        assert_eq!(state.resolve(Numbering::Same, 1), of(1025, "a"));
        assert_eq!(state.resolve(Numbering::Same, 2), of(1026, "c"));
    }

    #[test]
    fn a_launch_that_waits_for_another_of_its_queue_has_sent_nothing() {
        let mut state = State::default();
        (1..=3000).for_each(|number| state.begin(number, Some("a"), 7));
        assert_eq!(state.resolve(Numbering::Same, 1), of(1, "a"));
        assert_eq!(state.resolve(Numbering::Same, 2), Dispatch::default(), "nobody can have sent it");
        state.end(1, Numbering::Same, || 1);
        assert_eq!(state.resolve(Numbering::Same, 1), of(1, "a"), "what it sent may not have been handed on");
        assert_eq!(state.resolve(Numbering::Same, 2), of(2, "a"));
    }

    #[test]
    fn what_nobody_launched_or_without_a_name_or_long_ago_is_unknown() {
        let mut state = begun(3);
        state.begin(4, None, 4);
        assert_eq!(state.resolve(Numbering::Same, 5), Dispatch::default());
        assert_eq!(state.resolve(Numbering::Same, 4), Dispatch { number: Some(4), kernel: None });
        assert_eq!(state.resolve(Numbering::Same, 4).to_string(), "unknown, launch 4");
        state.settle(5);
        assert_eq!(state.resolve(Numbering::Same, 3), Dispatch::default());
        let mut state = begun(MOST as u64 + 1);
        assert_eq!(state.resolve(Numbering::Same, 1), Dispatch::default(), "number 1 is forgotten, and not settled");
    }

    #[test]
    fn the_shift_of_a_device_is_believed_when_a_second_launch_shows_it() {
        let (mut state, shifted) = (State::default(), Numbering::Shifted);
        let alone = |state: &mut State, number, kernel: &str, bits| {
            state.begin(number, Some(kernel), 0);
            let dispatch = state.resolve(shifted, bits);
            state.settle(number + 1);
            dispatch
        };
        assert_eq!(alone(&mut state, 1, "a", 101), of(1, "a"));
        state.begin(2, Some("a"), 0);
        state.begin(3, Some("b"), 0);
        assert_eq!(state.resolve(shifted, 102), Dispatch::default(), "one launch alone may have been shifted by others since");
        state.settle(4);
        assert_eq!(alone(&mut state, 4, "b", 104), of(4, "b"));
        state.begin(5, Some("a"), 0);
        state.begin(6, Some("b"), 0);
        assert_eq!((state.resolve(shifted, 105), state.resolve(shifted, 106)), (of(5, "a"), of(6, "b")));
        assert_eq!(state.resolve(shifted, 108), Dispatch::default(), "somebody else has launched");
        assert_eq!(state.resolve(shifted, 105), Dispatch::default(), "so nothing is believed until it is shown again");
        assert_eq!(state.resolve(Numbering::None, 0), Dispatch::default());
        state.settle(6);
        assert_eq!(state.resolve(Numbering::None, 0), of(6, "b"), "nothing else can have sent it");
    }

    #[test]
    fn a_launch_is_settled_when_every_thread_has_looked_after_all_that_ran_with_it() {
        let dispatches = Dispatches::default();
        let looks = [dispatches.look(), dispatches.look()];
        let launches = Launches { numbering: Numbering::Same, lasting: AtomicBool::new(false), state: Mutex::new(begun(2)) };
        let epoch = || dispatches.ahead.epoch.fetch_add(1, Ordering::Release) + 1;
        let settled = || {
            let state = &mut *launches.lock();
            dispatches.settle(&launches, state);
            state.settled
        };
        launches.lock().end(1, Numbering::Same, epoch);
        looks.iter().for_each(|look| look.has_seen(dispatches.epoch()));
        assert_eq!(settled(), 0, "2 ran with it, and may keep back what it sent");
        launches.lock().end(2, Numbering::Same, epoch);
        assert_eq!(settled(), 0, "nobody has looked since");
        looks[0].has_seen(dispatches.epoch());
        assert_eq!(settled(), 0);
        looks[1].has_seen(dispatches.epoch());
        assert_eq!(settled(), 2);
    }
}
