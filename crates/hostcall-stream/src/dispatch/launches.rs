//! The launches of one device: which of them a message can be of.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use offload::LaunchEvent;

use super::probe::KERNEL;
use super::{Dispatch, Shape, name};

/// Bits of a launch's number in a message.
const BITS: u64 = 0x3ff;
/// Launches of a device that are kept though they are not settled. Those before are forgotten, which is said as
/// unknown.
const MOST: usize = 1 << 16;

/// What the bits of messages have to do with the host's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Numbering {
    Same,
    /// They differ by what is to be learnt.
    Shifted,
    None,
}

/// By how much a device's numbers are ahead of the host's in one run of launches.
#[derive(Clone, Copy, Debug)]
struct Shift {
    by: u64,
    /// The launch that showed it.
    of: u64,
    /// Another has shown it, too, or the device was asked.
    sure: bool,
}

/// Launches below `below` had ended when `newest` was the newest that may have run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    pub(super) below: u64,
    newest: u64,
    /// Those up to `newest` have ended as well: who has looked in this epoch has seen their messages.
    pub(super) passed: Option<u64>,
}

/// What is known of them.
#[derive(Debug)]
pub(super) struct Launches {
    numbering: Numbering,
    newest: u64,
    /// Begun, and not ended: of each queue.
    open: HashMap<u64, BTreeSet<u64>>,
    /// Those whose calls have not returned.
    making: BTreeSet<u64>,
    /// Begun, and not settled, in their order.
    begun: VecDeque<Begun>,
    /// Those up to here that are not settled have been forgotten.
    forgotten: u64,
    /// Those below are settled.
    settled: u64,
    pub(super) mark: Option<Mark>,
    /// The run of those that begin now: the newest launch before it.
    run: u64,
    shifts: BTreeMap<u64, Shift>,
    /// A message's launch is unknown because a shift is.
    missed: bool,
}

#[derive(Clone, Copy, Debug)]
struct Begun {
    number: u64,
    kernel: Option<&'static str>,
    shape: Option<Shape>,
    queue: u64,
    /// Its place in the device's order is one of those from here ...
    first: u64,
    /// ... to here; while it is being made, to the newest.
    last: u64,
    /// In which run; `None`: nobody knows by how much the device's number differs.
    run: Option<u64>,
}

impl Launches {
    pub(super) fn new(numbering: Numbering) -> Self {
        Self {
            numbering,
            newest: 0,
            open: HashMap::new(),
            making: BTreeSet::new(),
            begun: VecDeque::new(),
            forgotten: 0,
            settled: 0,
            mark: None,
            run: 0,
            shifts: BTreeMap::new(),
            missed: false,
        }
    }

    /// `epoch`: begins a new epoch, whose number it returns.
    pub(super) fn hear(&mut self, event: LaunchEvent<'_>, epoch: impl FnOnce() -> u64) {
        match event {
            LaunchEvent::Begun { number, kernel, launch, queue } => self.begin(number, kernel, launch.map(Shape::from), queue),
            LaunchEvent::Made { number, one } => self.made(number, one),
            LaunchEvent::Ended { number } => self.end(number, epoch),
        }
    }

    /// The number below which all launches have ended.
    pub(super) fn floor(&self) -> u64 {
        self.first_of_queues().min().unwrap_or(self.newest + 1)
    }

    /// Of each queue the first launch that has not ended.
    fn first_of_queues(&self) -> impl Iterator<Item = u64> {
        self.open.values().filter_map(|open| open.first().copied())
    }

    fn begin(&mut self, number: u64, kernel: Option<&str>, shape: Option<Shape>, queue: u64) {
        self.newest = number;
        self.open.entry(queue).or_default().insert(number);
        self.making.insert(number);
        let first = self.making.first().copied().unwrap_or(number);
        self.begun.push_back(Begun { number, kernel: kernel.and_then(name), shape, queue, first, last: u64::MAX, run: Some(self.run) });
        if self.begun.len() > MOST
            && let Some(Begun { number, .. }) = self.begun.pop_front()
        {
            self.forgotten = number;
        }
    }

    fn made(&mut self, number: u64, one: bool) {
        self.making.remove(&number);
        let Ok(at) = self.begun.binary_search_by_key(&number, |launch| launch.number) else {
            // Settled already, or forgotten: those that were made meanwhile are not looked for.
            return if !one {
                self.begin_run(0)
            };
        };
        self.begun[at].last = self.newest;
        if !one {
            self.begin_run(self.begun[at].first);
        }
    }

    /// By how much the device counted is unknown, for launches from `first` on, and for those to come.
    fn begin_run(&mut self, first: u64) {
        self.begun.iter_mut().rev().take_while(|launch| launch.number >= first).for_each(|launch| launch.run = None);
        self.run = self.newest;
    }

    fn end(&mut self, number: u64, epoch: impl FnOnce() -> u64) {
        self.open.retain(|_, open| {
            open.remove(&number);
            !open.is_empty()
        });
        let floor = self.floor();
        // What may run: of the simulator it is known, because an end is told before the next launch of its queue
        // starts.
        let same = self.numbering == Numbering::Same;
        let newest = if same { self.first_of_queues().max().unwrap_or(number) } else { self.newest };
        let mark = self.mark.get_or_insert(Mark { below: floor, newest, passed: None });
        if mark.passed.is_none() && floor > mark.newest {
            mark.passed = Some(epoch());
        }
    }

    pub(super) fn settle(&mut self, below: u64) {
        self.settled = self.settled.max(below);
        while self.begun.front().is_some_and(|launch| launch.number < self.settled) {
            self.begun.pop_front();
        }
        let oldest = self.begun.iter().find_map(|launch| launch.run).unwrap_or(self.run);
        self.shifts = self.shifts.split_off(&oldest);
    }

    /// Whether a launch may have sent a message that is there.
    fn may_have_sent(&self, launch: &Begun) -> bool {
        // See `end`.
        let first = self.open.get(&launch.queue).and_then(|open| open.first());
        self.numbering != Numbering::Same || first.is_none_or(|first| launch.number <= *first)
    }

    /// The run of a launch, and what its place is from and to, if no launch that is still being made can change them.
    fn place(&self, launch: &Begun) -> Option<(u64, u64, u64)> {
        let last = launch.last.min(self.newest);
        let alone = self.making.range(launch.first..=last).all(|making| *making == launch.number);
        launch.run.filter(|_| alone).map(|run| (run, launch.first, last))
    }

    /// Whether a message with these bits can be of this launch.
    fn matches(&self, launch: &Begun, bits: u64) -> bool {
        match self.numbering {
            Numbering::Same => launch.number & BITS == bits,
            Numbering::None => true,
            Numbering::Shifted => self.place(launch).is_none_or(|(run, first, last)| {
                let shift = self.shifts.get(&run).filter(|shift| shift.sure);
                shift.is_none_or(|shift| bits.wrapping_sub(first.wrapping_add(shift.by)) & BITS <= last - first)
            }),
        }
    }

    pub(super) fn resolve(&mut self, bits: u64) -> Dispatch {
        if self.forgotten >= self.settled.max(1) {
            return Dispatch::default();
        }
        // What was launched to ask for numbers has sent nothing.
        let candidates = || {
            let others = self.begun.iter().filter(|launch| launch.kernel != Some(KERNEL));
            others.filter(|launch| self.matches(launch, bits) && self.may_have_sent(launch))
        };
        let mut two = candidates();
        match (two.next().copied(), two.next()) {
            (Some(launch), None) => {
                self.learn(&launch, bits);
                Dispatch { number: Some(launch.number), kernel: launch.kernel, shape: launch.shape }
            }
            (Some(Begun { kernel, shape, .. }), Some(_)) => {
                let kernel = kernel.filter(|_| candidates().all(|other| other.kernel == kernel));
                let shape = shape.filter(|_| candidates().all(|other| other.shape == shape));
                self.missed |= !self.knows_shift();
                Dispatch { number: None, kernel, shape }
            }
            (None, _) => {
                // Somebody launches behind the host's back.
                self.shifts.clear();
                Dispatch::default()
            }
        }
    }

    /// A message with these bits is of this launch.
    fn learn(&mut self, launch: &Begun, bits: u64) {
        let Some((run, ..)) = self.place(launch).filter(|(_, first, last)| first == last) else { return };
        let by = bits.wrapping_sub(launch.number) & BITS;
        let known = self.shifts.get(&run).filter(|shift| shift.by == by);
        let sure = known.is_some_and(|shift| shift.sure || shift.of != launch.number);
        self.shifts.insert(run, Shift { by, of: known.map_or(launch.number, |shift| shift.of), sure });
    }

    /// The device gave the last launch of this queue a number with these bits.
    pub(super) fn told(&mut self, queue: u64, bits: u64) {
        let Some(launch) = self.begun.iter().rev().find(|launch| launch.queue == queue) else { return };
        if let Some((run, number, last)) = self.place(launch)
            && number == last
        {
            self.shifts.insert(run, Shift { by: bits.wrapping_sub(number) & BITS, of: number, sure: true });
        }
    }

    fn knows_shift(&self) -> bool {
        self.numbering != Numbering::Shifted || self.shifts.get(&self.run).is_some_and(|shift| shift.sure)
    }

    /// Whether to ask the device for its numbers would help.
    pub(super) fn wants_to_ask(&mut self, first: bool) -> bool {
        (std::mem::take(&mut self.missed) || first) && !self.knows_shift()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn empty(numbering: Numbering) -> Launches {
        Launches::new(numbering)
    }

    impl Launches {
        pub(in super::super) fn settled(&self) -> u64 {
            self.settled
        }

        /// One alone, in a queue of its number.
        fn launch(&mut self, number: u64, kernel: &str) {
            self.begin(number, Some(kernel), None, number);
            self.made(number, true);
        }
    }

    /// Launches that have begun, of kernels `a` and `b` in turns from number 1 on, each in a queue of its own.
    fn begun(numbering: Numbering, count: u64) -> Launches {
        let mut launches = empty(numbering);
        (1..=count).for_each(|number| launches.launch(number, if number % 2 == 1 { "a" } else { "b" }));
        launches
    }

    fn of(number: u64, kernel: &'static str) -> Dispatch {
        Dispatch { number: Some(number), kernel: Some(kernel), shape: None }
    }

    const UNKNOWN: Dispatch = Dispatch { number: None, kernel: None, shape: None };

    #[test]
    fn of_1024_launches_each_is_known_by_its_bits_and_of_more_only_what_they_share() {
        let mut launches = begun(Numbering::Same, 1024);
        for number in 1..=1024 {
            let kernel = if number % 2 == 1 { "a" } else { "b" };
            assert_eq!(launches.resolve(number & BITS), of(number, kernel));
        }
        launches.launch(1025, "a");
        launches.launch(1026, "c");
        assert_eq!(launches.resolve(1), Dispatch { number: None, kernel: Some("a"), shape: None }, "1 or 1025");
        assert_eq!(launches.resolve(2), UNKNOWN, "2 or 1026, and these are not one kernel");
        launches.settle(3);
        assert_eq!(launches.resolve(1), of(1025, "a"));
        assert_eq!(launches.resolve(2), of(1026, "c"));
    }

    #[test]
    fn what_the_device_is_asked_by_has_sent_nothing() {
        let mut launches = empty(Numbering::Shifted);
        launches.begin(1, Some(KERNEL), None, 1);
        launches.made(1, true);
        assert_eq!(launches.resolve(7), UNKNOWN, "somebody else has launched what sent it");
        launches.launch(2, "a");
        assert_eq!(launches.resolve(7), of(2, "a"));
    }

    #[test]
    fn a_launch_that_waits_for_another_of_its_queue_has_sent_nothing() {
        let mut launches = empty(Numbering::Same);
        (1..=3000).for_each(|number| launches.begin(number, Some("a"), None, 7));
        assert_eq!(launches.resolve(1), of(1, "a"));
        assert_eq!(launches.resolve(2), UNKNOWN, "nobody can have sent it");
        launches.end(1, || 1);
        assert_eq!(launches.resolve(1), of(1, "a"), "what it sent may not have been handed on");
        assert_eq!(launches.resolve(2), of(2, "a"));
    }

    #[test]
    fn what_nobody_launched_or_without_a_name_or_long_ago_is_unknown() {
        let mut launches = begun(Numbering::Same, 3);
        launches.begin(4, None, None, 4);
        assert_eq!(launches.resolve(5), UNKNOWN);
        assert_eq!(launches.resolve(4), Dispatch { number: Some(4), kernel: None, shape: None });
        assert_eq!(launches.resolve(4).to_string(), "unknown, launch 4");
        launches.settle(5);
        assert_eq!(launches.resolve(3), UNKNOWN);
        let mut launches = begun(Numbering::Same, MOST as u64 + 1);
        assert_eq!(launches.resolve(1), UNKNOWN, "number 1 is forgotten, and not settled");
    }

    #[test]
    fn the_shift_of_a_device_is_believed_when_a_second_launch_shows_it() {
        let mut launches = empty(Numbering::Shifted);
        let alone = |launches: &mut Launches, number, kernel: &str, bits| {
            launches.launch(number, kernel);
            let dispatch = launches.resolve(bits);
            launches.settle(number + 1);
            dispatch
        };
        assert_eq!(alone(&mut launches, 1, "a", 101), of(1, "a"));
        launches.launch(2, "a");
        launches.launch(3, "b");
        assert_eq!(launches.resolve(102), UNKNOWN, "one launch alone may have been shifted by others since");
        assert!(launches.wants_to_ask(false) && !launches.wants_to_ask(false), "once for each that is missed");
        launches.settle(4);
        assert_eq!(alone(&mut launches, 4, "b", 104), of(4, "b"));
        launches.launch(5, "a");
        launches.launch(6, "b");
        assert_eq!((launches.resolve(105), launches.resolve(106)), (of(5, "a"), of(6, "b")));
        assert!(!launches.wants_to_ask(true));
        assert_eq!(launches.resolve(108), UNKNOWN, "somebody else has launched");
        assert_eq!(launches.resolve(105), UNKNOWN, "so nothing is believed until it is shown again");
    }

    #[test]
    fn where_waves_know_no_number_only_what_all_share_is_known() {
        let mut launches = empty(Numbering::None);
        launches.launch(1, "a");
        launches.launch(2, "b");
        assert_eq!(launches.resolve(0), UNKNOWN);
        assert!(!launches.wants_to_ask(true));
        launches.settle(2);
        assert_eq!(launches.resolve(0), of(2, "b"), "nothing else can have sent it");
    }

    /// Launches of `a` and `b` on a device that was asked when it gave launch 1 the number 1.
    fn asked(count: u64) -> Launches {
        let mut launches = begun(Numbering::Shifted, count);
        assert!(launches.wants_to_ask(true));
        launches.told(1, 1);
        assert!(!launches.wants_to_ask(true));
        launches
    }

    #[test]
    fn who_asks_the_device_knows_launches_none_of_which_was_ever_alone() {
        let mut launches = asked(4);
        assert_eq!([2, 3, 4].map(|bits| launches.resolve(bits)), [of(2, "b"), of(3, "a"), of(4, "b")]);
    }

    #[test]
    fn launches_whose_calls_overlap_may_be_in_any_order() {
        let mut launches = asked(2);
        launches.begin(3, Some("a"), None, 3);
        assert_eq!(launches.resolve(3), of(3, "a"), "no other is being made");
        launches.begin(4, Some("b"), None, 4);
        assert_eq!(launches.resolve(3), UNKNOWN, "4 may have come first");
        launches.made(4, true);
        launches.begin(5, Some("c"), None, 5);
        launches.made(3, true);
        launches.made(5, true);
        launches.launch(6, "d");
        assert_eq!([3, 4, 5].map(|bits| launches.resolve(bits)), [UNKNOWN; 3], "4 may be before 3, and 5 as well");
        assert_eq!([2, 6].map(|bits| launches.resolve(bits)), [of(2, "b"), of(6, "d")]);
        launches.settle(5);
        assert_eq!([3, 4, 5].map(|bits| launches.resolve(bits)), [of(5, "c"); 3], "wherever it is");
    }

    #[test]
    fn how_much_a_graph_or_a_refused_launch_counts_is_not_guessed() {
        for kernel in [None, Some("refused")] {
            let mut launches = asked(2);
            launches.begin(3, Some("a"), None, 3);
            launches.begin(4, kernel, None, 4);
            launches.made(3, true);
            launches.made(4, false);
            launches.launch(5, "a");
            launches.launch(6, "b");
            assert_eq!([1, 2].map(|bits| launches.resolve(bits)), [UNKNOWN; 2], "it may be one of those that cannot be told");
            launches.settle(5);
            assert_eq!([4, 5].map(|bits| launches.resolve(bits)), [UNKNOWN; 2]);
            assert!(launches.wants_to_ask(false));
            launches.launch(7, "ask");
            launches.told(7, 6);
            assert_eq!([4, 5].map(|bits| launches.resolve(bits)), [of(5, "a"), of(6, "b")]);
        }
    }

    #[test]
    fn shifts_are_kept_no_longer_than_their_launches() {
        let mut launches = empty(Numbering::Shifted);
        for number in 1..1000 {
            launches.begin(2 * number, Some("a"), None, 7);
            launches.made(2 * number, true);
            launches.told(7, number);
            launches.begin(2 * number + 1, None, None, 0);
            launches.made(2 * number + 1, false);
            launches.settle(2 * number);
            assert!(launches.shifts.len() <= 2, "{}", launches.shifts.len());
        }
    }

    #[test]
    fn a_shape_is_known_if_all_that_can_have_sent_a_message_have_it() {
        let shape = |x| Some(Shape { groups: [x, 2, 1], group_size: [32, 1, 1] });
        let mut launches = empty(Numbering::None);
        launches.begin(1, Some("a"), shape(3), 1);
        assert_eq!(launches.resolve(0), Dispatch { shape: shape(3), ..of(1, "a") });
        launches.begin(2, Some("b"), shape(3), 2);
        assert_eq!(launches.resolve(0), Dispatch { shape: shape(3), ..UNKNOWN });
        launches.begin(3, Some("b"), shape(4), 3);
        assert_eq!(launches.resolve(0), UNKNOWN);
    }
}
