//! Which launch a message is of, and so of which kernel.
//!
//! A message has the low 10 bits of its launch's number, and its ring says the device. The host knows the launches that
//! it makes. A message that is being read is of a launch that has *begun* (in the simulator: is not behind another in
//! its queue) and is not *settled*: nobody can say yet that all of its messages have been handed on. Of these launches
//! the ones count whose numbers end in the message's bits. If there is one, it is this one: so it always is while at
//! most 1023 launches lie between the oldest that is not settled and the newest. If there are several, the number is
//! unknown, and the kernel too unless all of them are of one kernel. If there is none, the host did not make the
//! launch.
//!
//! *When is a launch settled?* When [`Streams::wait`](crate::Streams::wait) has drained the rings after its end. Or
//! earlier, if messages of [`Policy::Latest`](hostcall_abi::stream::Policy::Latest), which may lie around for long, are
//! not among them: let all launches below `below` have ended while `newest` was the newest that may run, and later all
//! up to `newest`. Every message of the former was stored by their ends, and what is missing before one in its ring was
//! reserved earlier, so by a launch up to `newest`, which has stored it, too. So a reader that then reads each ring
//! until nothing is there has handed on all messages of launches below `below`.
//!
//! *What the bits are.* In the simulator the low bits of the host's own number. On CUDA those of `%gridid`, "the
//! temporal grid launch number for this context" (PTX ISA), which an H200 counts by one for each kernel, over all
//! streams (`docs/guide/streams.md`). By how much it differs from its own numbers the host asks the device ([`probe`])
//! when rings are attached, or learns it from messages that can be of one launch only, of which it believes two that
//! agree. A graph, a refused launch, and what was launched in [`Queue::track`](offload::Queue::track) begin another
//! *run* of launches, of which it is to be learnt again: [`Streams::wait`](crate::Streams::wait) asks the device if a
//! message's launch stayed unknown. Launches whose calls overlap may be in any order. Where nothing else is known, and
//! on AMD GPUs, whose waves know no number, all launches that are not settled count.

mod launches;
mod probe;
mod shape;

use std::collections::HashSet;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};

use offload::{Device, DeviceKind, Watch};

use crate::name::Name;
use crate::sites::Sites;
use launches::{Launches, Mark, Numbering};
use probe::Probe;
pub use shape::Shape;

/// The launch that a message is of, as far as the host can say it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Dispatch {
    /// Its number on its device, from 1 on, in the order in which the host made launches; `None`: unknown.
    pub number: Option<u64>,
    /// The name of its kernel; `None`: unknown, as of every launch that was made by other means than
    /// [`Queue::launch`](offload::Queue::launch).
    pub kernel: Option<&'static str>,
    /// The shape of its grid and of its workgroups; `None`: unknown, as above.
    pub shape: Option<Shape>,
}

impl Dispatch {
    /// A launch with this number, of the kernel with this name, whose shape is unknown. (The name, as a [`Name`] has
    /// it, is kept as long as the process. Beyond 65536 names, or 16 MiB of them, it is unknown.)
    pub fn new(number: Option<u64>, kernel: Option<&str>) -> Self {
        Self { number, kernel: kernel.and_then(name), shape: None }
    }

    /// The same with this shape.
    pub fn with_shape(self, shape: Option<Shape>) -> Self {
        Self { shape, ..self }
    }

    /// The same, if the message came from a place that says its kernel. A launch of another one is not it: others may
    /// have launched.
    fn from(self, said: Option<&'static str>) -> Self {
        if said.is_none() || said == self.kernel { self } else { Self { number: None, kernel: said, shape: None } }
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

/// Kernels whose names are kept, and bytes of all of them.
const NAMES: (usize, usize) = (1 << 16, 16 << 20);

/// A kernel's name, which stays as long as the process: there are as many as its programs have kernels. `None`: there
/// are too many, as a file may claim.
pub(crate) fn name(kernel: &str) -> Option<&'static str> {
    static ALL: Mutex<Option<(HashSet<&'static str>, usize)>> = Mutex::new(None);
    let mut all = lock(&ALL);
    let (all, bytes) = all.get_or_insert_default();
    if let Some(known) = all.get(kernel) {
        return Some(known);
    }
    let kernel = Name::from(kernel);
    if let Some(known) = all.get(kernel.as_str()) {
        return Some(known);
    }
    let kept = *bytes + kernel.len();
    (all.len() < NAMES.0 && kept <= NAMES.1).then(|| {
        *bytes = kept;
        let name: &'static str = String::from(kernel).leak();
        all.insert(name);
        name
    })
}

/// The launches of a device, for threads that read and threads that launch.
#[derive(Debug)]
struct Heard {
    /// Messages may lie around after looks that find nothing.
    lasting: AtomicBool,
    launches: Mutex<Launches>,
}

impl Heard {
    fn new(numbering: Numbering) -> Arc<Self> {
        Arc::new(Self { lasting: AtomicBool::new(false), launches: Mutex::new(Launches::new(numbering)) })
    }

    fn lock(&self) -> MutexGuard<'_, Launches> {
        lock(&self.launches)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A device whose launches are known.
#[derive(Debug)]
struct Known {
    device: Device,
    heard: Arc<Heard>,
    probe: Mutex<Option<Probe>>,
    _watch: Watch,
}

impl Known {
    /// Asks the device for its numbers if that would help, and no kernel is in flight.
    fn ask(&self, first: bool) {
        let mut probe = lock(&self.probe);
        if self.device.in_flight() > 0 || !self.heard.lock().wants_to_ask(first) {
            return;
        }
        let asked = match probe.take() {
            Some(probe) => Ok(probe),
            None => Probe::new(&self.device),
        };
        let asked = asked.and_then(|made| {
            let made = probe.insert(made);
            Ok((made.queue(), made.ask()?))
        });
        match asked {
            Ok((queue, Some(number))) => self.heard.lock().told(queue, number),
            Ok((_, None)) => tracing::debug!("the device did not say in time which number it gives to a launch"),
            Err(error) => tracing::debug!(%error, "the device cannot be asked for its numbers of launches"),
        }
    }
}

/// The launch of the message before, of one ring: mostly the next one is of it, too.
#[derive(Debug)]
pub(crate) struct Last {
    /// Whose launches its messages may be of.
    source: u16,
    /// What was asked for, and when.
    asked: Option<(u32, u32, u64)>,
    dispatch: Dispatch,
}

impl Last {
    /// None yet, of this [source](Dispatches::source).
    pub(crate) fn of(source: u16) -> Self {
        Self { source, asked: None, dispatch: Dispatch::default() }
    }

    /// The launch that a message with these bits from this place is of. Asked once for each message, when it is read:
    /// what recordings, sinks and handlers say of it is the same, though more may be known later.
    #[inline(always)]
    pub(crate) fn dispatch(&mut self, bits: u32, site: u32, dispatches: &Dispatches, sites: &Sites) -> Dispatch {
        let site = if sites.say_kernels() { site } else { 0 };
        let asked = Some((bits, site, dispatches.version()));
        if self.asked != asked {
            self.dispatch = dispatches.resolve(self.source, bits).from(sites.kernel(site));
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

    /// Of each of its rings a look that began in this epoch or later has reached the place behind which nothing was,
    /// and all has been handed on.
    pub(crate) fn has_seen(&self, epoch: u64) {
        // Release pairs with the acquire in `Dispatches::settle`.
        self.0.store(epoch, Ordering::Release);
    }
}

impl Dispatches {
    /// The source that messages from a device have: its launches are known from now on. `lasting`: it has messages of
    /// `Policy::Latest`.
    pub(crate) fn source(&self, device: &Device, lasting: bool) -> u16 {
        let mut devices = self.devices.write().unwrap_or_else(PoisonError::into_inner);
        let known = devices.len();
        let at = devices.iter().position(|known| known.device.is_same(device)).unwrap_or_else(|| {
            let numbering = match device.info().kind {
                DeviceKind::Sim => Numbering::Same,
                DeviceKind::Cuda => Numbering::Shifted,
                _ => Numbering::None,
            };
            let heard = Heard::new(numbering);
            let (theirs, ahead) = (heard.clone(), self.ahead.clone());
            let watch = device.watch_launches(Arc::new(move |event| {
                // Release pairs with the acquire in `epoch`: who looks in it sees what ended kernels stored.
                theirs.lock().hear(event, || ahead.epoch.fetch_add(1, Ordering::Release) + 1);
                // Relaxed: it orders nothing; a launch is made behind it.
                ahead.version.fetch_add(1, Ordering::Relaxed);
            }));
            devices.push(Known { device: device.clone(), heard, probe: Mutex::default(), _watch: watch });
            devices.len() - 1
        });
        // Relaxed: before the first message.
        devices[at].heard.lasting.fetch_or(lasting, Ordering::Relaxed);
        drop(devices);
        if at == known {
            self.devices()[at].ask(true);
        }
        at as u16
    }

    /// One more thread that looks.
    pub(crate) fn look(&self) -> Look {
        let look = Look::default();
        lock(&self.looked).push(look.0.clone());
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
        self.devices().iter().map(|known| known.heard.lock().floor()).collect()
    }

    /// All messages of launches that had [`ended`](Dispatches::ended) have been handed on.
    pub(crate) fn drained(&self, ended: &[u64]) {
        for (known, below) in self.devices().iter().zip(ended) {
            known.heard.lock().settle(*below);
            known.ask(false);
        }
        // Relaxed: see `version`.
        self.ahead.version.fetch_add(1, Ordering::Relaxed);
    }

    fn devices(&self) -> RwLockReadGuard<'_, Vec<Known>> {
        self.devices.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Settles what threads have looked at.
    fn settle(&self, heard: &Heard, launches: &mut Launches) {
        let Some(Mark { below, passed: Some(epoch), .. }) = launches.mark else { return };
        // Relaxed: it was said before the first message.
        if heard.lasting.load(Ordering::Relaxed) {
            return;
        }
        // Pairs with `Look::has_seen`.
        if lock(&self.looked).iter().all(|looked| looked.load(Ordering::Acquire) >= epoch) {
            launches.settle(below);
            launches.mark = None;
        }
    }

    #[cold]
    fn resolve(&self, source: u16, bits: u32) -> Dispatch {
        let devices = self.devices();
        let Some(Known { heard, .. }) = devices.get(usize::from(source)) else { return Dispatch::default() };
        let launches = &mut *heard.lock();
        self.settle(heard, launches);
        launches.resolve(u64::from(bits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use offload::LaunchEvent;

    #[test]
    fn a_place_that_says_its_kernel_is_believed_more_than_launches_that_the_host_made() {
        let (dispatches, sites) = (Dispatches::default(), Sites::default());
        let mut last = Last::of(0);
        let site = |line, kernel: &str| crate::Site {
            file: "a.cu".into(),
            line,
            column: 1,
            module: "k".into(),
            level: None,
            text: String::new(),
            kernel: kernel.into(),
        };
        let plain = sites.number(site(1, ""));
        assert_eq!((sites.say_kernels(), last.dispatch(7, plain, &dispatches, &sites)), (false, Dispatch::default()));
        let said = sites.number(site(2, "rows"));
        assert_eq!(last.dispatch(7, said, &dispatches, &sites), Dispatch::new(None, Some("rows")));
        assert_eq!(last.dispatch(7, plain, &dispatches, &sites), Dispatch::default());
        // Of a launch of that kernel more is known; of another one nothing.
        let shape = Some(Shape { groups: [1; 3], group_size: [32, 1, 1] });
        let launch = |kernel| Dispatch::new(Some(3), Some(kernel)).with_shape(shape);
        assert_eq!(launch("rows").from(Some(name("rows").expect("a name"))), launch("rows"));
        assert_eq!(launch("other").from(name("rows")), Dispatch::new(None, Some("rows")));
        assert_eq!(launch("other").from(None), launch("other"));
    }

    #[test]
    fn a_launch_is_settled_when_every_thread_has_looked_after_all_that_ran_with_it() {
        let dispatches = Dispatches::default();
        let looks = [dispatches.look(), dispatches.look()];
        let heard = Heard::new(Numbering::Same);
        let hear = |event| heard.lock().hear(event, || dispatches.ahead.epoch.fetch_add(1, Ordering::Release) + 1);
        let settled = || {
            let launches = &mut *heard.lock();
            dispatches.settle(&heard, launches);
            launches.settled()
        };
        for number in 1..=2 {
            hear(LaunchEvent::Begun { number, kernel: None, launch: None, queue: number });
            hear(LaunchEvent::Made { number, one: true });
        }
        hear(LaunchEvent::Ended { number: 1 });
        looks.iter().for_each(|look| look.has_seen(dispatches.epoch()));
        assert_eq!(settled(), 0, "2 ran with it, and may keep back what it sent");
        hear(LaunchEvent::Ended { number: 2 });
        assert_eq!(settled(), 0, "nobody has looked since");
        looks[0].has_seen(dispatches.epoch());
        assert_eq!(settled(), 0);
        looks[1].has_seen(dispatches.epoch());
        assert_eq!(settled(), 2);
    }
}
