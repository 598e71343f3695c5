//! One ring as its thread has it: walking it in order.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use hostcall_abi::stream::{Credit, Found, Reader, Rows};

use crate::batch::Head;
use crate::consumer::{Shared, Slots};
use crate::dispatch::Last;
use crate::file::Turn;
use crate::memory::{End, RingSet};
use crate::view::{Eye, RingView};

/// Messages that are taken from a ring before the next ring has its turn.
const TURN: usize = 128;

/// One ring.
pub(crate) struct Owned {
    set: Arc<RingSet>,
    ring: usize,
    /// Number of its device.
    device: u32,
    last: Last,
    reader: Box<Reader>,
    /// Room for the longest message of bytes, from the first one on.
    long: Vec<u32>,
    /// The device says that more has been reserved than can be. What it stores is no longer looked at; this is how far
    /// it is skipped.
    spoiled: Option<u64>,
    /// What was just read belongs to a message that is counted as torn, and whose length nobody knows.
    torn: bool,
    /// The device is lost.
    search: Option<Search>,
    /// The last time it was read there was nothing behind what was read.
    dry: bool,
    /// The last epoch in which a look at it reached its end, see [`Look`](crate::dispatch::Look).
    seen: u64,
    /// What its marks are, unless its memory was put back.
    marked: u64,
    /// Granules that were read and put back since. In a recording positions go on behind them.
    again: u64,
}

/// In a ring's marks while it is read: memory that is put back meanwhile takes this back, too.
const READING: u64 = 1 << 63;

/// The search of a ring for messages behind what will never be whole, where nobody knows what had been reserved: all of
/// the ring is looked at once.
struct Search {
    /// Granule up to which messages may begin.
    until: u64,
    /// Whether messages are missing that were begun, since the last whole one.
    begun: bool,
    /// Whether anything is missing since the last whole one.
    hole: bool,
    over: bool,
}

impl Owned {
    pub(crate) fn new(set: Arc<RingSet>, ring: usize) -> Self {
        let reader = Box::new(Reader::new(set.sizes().ring_log2, set.is_wide()));
        let (device, last) = (set.device().info().ordinal, Last::of(set.source()));
        let mut owned = Self {
            ring,
            device,
            last,
            reader,
            long: Vec::new(),
            spoiled: None,
            torn: false,
            search: None,
            dry: false,
            seen: 0,
            marked: 0,
            again: 0,
            set,
        };
        // Another thread may have read it before.
        owned.mark();
        owned
    }

    /// Granules that have been read.
    pub(crate) fn position(&self) -> u64 {
        self.reader.position()
    }

    /// Granules that it holds.
    pub(crate) fn granules(&self) -> u64 {
        1 << self.set.sizes().ring_log2
    }

    /// Whether the last look at it reached its end.
    pub(crate) fn is_dry(&self) -> bool {
        self.dry
    }

    /// A look that began in this epoch has reached its end.
    pub(crate) fn see(&mut self, epoch: u64) {
        self.seen = epoch;
    }

    /// The last epoch that was [seen](Owned::see).
    pub(crate) fn seen(&self) -> u64 {
        self.seen
    }

    /// Where its next message begins.
    pub(crate) fn eye(&self) -> Eye {
        self.set.eye(self.ring, self.reader.position())
    }

    /// It is going to be read.
    pub(crate) fn begin(&mut self) {
        self.leave_marks(self.reader.position() | READING);
    }

    /// Leaves its marks, unless they were put back: then they stay, and are others than those that it knows.
    fn leave_marks(&mut self, mark: u64) {
        // Exchanges: rings are looked at while no kernel runs, too, and memory is put back then. A store that came
        // behind that would leave a mark that says the contrary. Pairs with nothing: this thread alone reads them.
        for was in self.set.marks(self.ring) {
            let _ = was.compare_exchange(self.marked, mark, Ordering::Relaxed, Ordering::Relaxed);
        }
        self.marked = mark;
    }

    /// Writes its marks, whatever they are.
    pub(crate) fn mark(&mut self) {
        self.marked = self.reader.position();
        // As in `leave_marks`.
        self.set.marks(self.ring).into_iter().for_each(|mark| mark.store(self.marked, Ordering::Relaxed));
    }

    /// Says how far it has been read, and that what was read has been handed on.
    pub(crate) fn advance(&mut self) {
        self.leave_marks(self.reader.position());
        let progress = &self.set.progress()[self.ring];
        progress.advance(self.spoiled.unwrap_or(self.reader.position()));
        if self.search.as_ref().is_some_and(|search| search.over) {
            progress.searched();
        }
    }

    /// The marks before and behind it.
    fn marks(&self) -> [u64; 2] {
        // As in `leave_marks`.
        self.set.marks(self.ring).map(|mark| mark.load(Ordering::Relaxed))
    }

    /// Whether the mark behind it is not the one that was left: the memory is put back.
    pub(crate) fn is_put_back(&self) -> bool {
        self.marks()[1] != self.marked
    }

    /// The same of both marks.
    pub(crate) fn is_all_put_back(&self) -> bool {
        !self.marks().contains(&self.marked)
    }

    /// Goes back to the marks, if others were left. One that lies ahead is the device's doing.
    pub(crate) fn follow(&mut self) {
        let [before, behind] = self.marks().map(|mark| mark & !READING);
        if before == behind && before < self.reader.position() {
            self.again += self.reader.position() - before;
            *self.reader = Reader::behind(before, self.set.sizes().ring_log2, self.set.is_wide());
            (self.spoiled, self.torn, self.dry) = (None, false, false);
            // It may have been told less at that time.
            self.set.tell(self.ring, Credit { freed: before as u32, closed: 0 });
        }
    }

    /// Reads as long as messages are there, or its turn is over. Whether one was.
    pub(crate) fn read(&mut self, shared: &Shared, slots: &mut Slots<'_>, recording: Option<&mut Turn<'_>>) -> bool {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::is_x86_feature_detected as has;
            /// The same code with more of the processor's instructions.
            #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
            fn with_avx2(owned: &mut Owned, shared: &Shared, slots: &mut Slots<'_>, recording: Option<&mut Turn<'_>>) -> bool {
                owned.read_with(shared, slots, recording)
            }
            /// And with more still.
            #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi1,bmi2,lzcnt,popcnt")]
            fn with_avx512(owned: &mut Owned, shared: &Shared, slots: &mut Slots<'_>, recording: Option<&mut Turn<'_>>) -> bool {
                owned.read_with(shared, slots, recording)
            }
            if has!("avx2") && has!("bmi1") && has!("bmi2") && has!("lzcnt") && has!("popcnt") {
                if has!("avx512f") && has!("avx512bw") && has!("avx512dq") && has!("avx512vl") {
                    // SAFETY: the processor has these instructions.
                    return unsafe { with_avx512(self, shared, slots, recording) };
                }
                // SAFETY: as above.
                return unsafe { with_avx2(self, shared, slots, recording) };
            }
        }
        self.read_with(shared, slots, recording)
    }

    #[inline(always)]
    fn read_with(&mut self, shared: &Shared, slots: &mut Slots<'_>, mut recording: Option<&mut Turn<'_>>) -> bool {
        let Self { set, ring, device, last, reader, long, spoiled, torn, search, dry, again, .. } = self;
        let progress = &set.progress()[*ring];
        if let Some(skipped) = spoiled {
            return match progress.end() {
                Some(End::Head(head)) => skip(skipped, head),
                // Nothing is looked for where a device kept no rule.
                Some(End::Lost) => {
                    *search = Some(Search { until: 0, begun: false, hole: false, over: true });
                    true
                }
                None | Some(End::Searched) => false,
            };
        }
        let view = set.ring(*ring);
        let before = reader.position();
        // What was said to be the end before the last message was looked for.
        let mut known = progress.end();
        let mut left = TURN;
        while left > 0 {
            left -= 1;
            if recording.is_none()
                && let Some(taken) = reader.take(&view, slots)
            {
                *torn = false;
                if let Some(search) = search {
                    search.found(shared);
                }
                let head = Head::raw(taken.header, *device, taken.after_gap);
                let header = head.header();
                let dispatch = last.dispatch(header.from.launch, header.site, &shared.dispatches, &shared.sites);
                slots.of(taken.stream).push(head, dispatch, taken.values, taken.units as usize, shared);
            } else {
                let position = reader.position();
                let found = match reader.next(&view, |stream| slots.units(stream)) {
                    Found::Long(_) => {
                        long.resize(reader.longest(), 0);
                        reader.next_long(&view, long, |stream| slots.units(stream))
                    }
                    found => found,
                };
                match found {
                    Found::Packet(packet) => {
                        *torn = false;
                        if let Some(search) = search {
                            search.found(shared);
                        }
                        let dispatch = last.dispatch(packet.header.from.launch, packet.header.site, &shared.dispatches, &shared.sites);
                        if let Some(recording) = &mut recording {
                            recording.push(set.first_ring() + *ring as u32, *again + position, &packet, dispatch);
                        }
                        slots.of(packet.header.stream).take(&packet, *device, dispatch, shared);
                    }
                    Found::Malformed => match search {
                        // A part of something that will never be whole.
                        Some(search) => (search.begun, search.hole) = (true, true),
                        // The same, where the device has said how far it has got.
                        None if *torn => {}
                        // Relaxed: counted before `advance`.
                        None => drop(shared.malformed.fetch_add(1, Ordering::Relaxed)),
                    },
                    // What was not there may have come since, before that was said.
                    Found::Absent | Found::Partial | Found::Long(_) if progress.end() != known => {
                        known = progress.end();
                        continue;
                    }
                    // No kernel runs, so it will never be whole. (A message of bytes has been looked for.)
                    Found::Absent | Found::Partial | Found::Long(_) => match known {
                        Some(End::Head(head)) if head != reader.position() as u32 => {
                            let spoils = head.wrapping_sub(reader.position() as u32) > set.most_reserved();
                            let whole = !spoils && reader.give_up(&view, head, |stream| slots.units(stream)).whole;
                            // Granules of which nobody knows whose they are are one message's, or more.
                            if whole || !std::mem::replace(torn, true) {
                                // Relaxed: as above.
                                shared.torn.fetch_add(1, Ordering::Relaxed);
                            }
                            *torn &= !whole;
                            if spoils {
                                return skip(spoiled.insert(reader.position()), head);
                            }
                        }
                        Some(End::Lost) => {
                            let granules = 1 << set.sizes().ring_log2;
                            let search = search.get_or_insert_with(|| Search {
                                until: reader.position() + granules,
                                begun: false,
                                hole: false,
                                over: false,
                            });
                            if search.skip(reader, &view, slots, shared) {
                                // So that what was found is handed on, and `advance` says so.
                                return true;
                            }
                        }
                        Some(End::Head(_) | End::Searched) | None => {
                            *torn = false;
                            break;
                        }
                    },
                }
            }
            // (A lost device needs none.)
            if let Some(credit) = reader.credit(false).filter(|_| search.is_none()) {
                set.tell(*ring, Credit { freed: credit as u32, closed: 0 });
            }
        }
        *dry = left > 0;
        reader.position() != before
    }
}

impl Search {
    /// Goes on behind what is not whole. Whether the search is over.
    fn skip(&mut self, reader: &mut Reader, view: &RingView<'_>, slots: &Slots<'_>, shared: &Shared) -> bool {
        if reader.position() < self.until {
            self.begun |= reader.give_up(view, self.until as u32, |stream| slots.units(stream)).any;
            self.hole = true;
            return false;
        }
        // Behind the last message there is nothing, unless something was begun there.
        if self.begun {
            self.found(shared);
        }
        self.over = true;
        true
    }

    /// A whole message was found; or there is none any more, and something was begun. What is missing before it is one
    /// torn message, or more.
    fn found(&mut self, shared: &Shared) {
        if std::mem::take(&mut self.hole) {
            // Relaxed: counted before `advance`.
            shared.torn.fetch_add(1, Ordering::Relaxed);
        }
        self.begun = false;
    }
}

/// Goes on in a ring that is no longer read to what the device says has been reserved. Whether that is any further.
fn skip(skipped: &mut u64, head: u32) -> bool {
    let by = head.wrapping_sub(*skipped as u32);
    *skipped += u64::from(by);
    by > 0
}
