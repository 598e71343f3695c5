//! From doorbells to ports.
//!
//! The doorbells are dense, so a sweep compares sixteen at a time with the values that they had when there was last
//! nothing to do. It looks once at each port whose doorbell differs, in order. A doorbell is only a hint:
//!
//! * *Early*: the message is not there yet. The difference stays, and the next sweep looks again.
//! * *Late*: the message was found already, and the doorbell lags behind the port's tag. The sweep remembers its value.
//! * *Lost*: two waves rang one after another, and the older ring arrived last. An audit looks at a few ports each
//!   sweep, whatever their doorbells show, and a drain looks at all.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, TryLockError};

use hostcall_abi::port::ServerPort;
use hostcall_abi::{Geometry, Tag};
use offload::host::{PutBack, Verdict};

use super::message::{Took, Worker};
use super::put_back;
use super::served::Served;
use super::turn::AtOnce;
use crate::record::stats::Padded;
use crate::wire::Doorbells;

/// Ports whose doorbells are compared at once; shares of a buffer are multiples of it.
pub(crate) const LOT: usize = Geometry::LOT as usize;
/// Messages of one port that one look takes, at most: the others wait for the next sweep.
const TURN: u32 = 32;

/// Doorbells from one look at that of the port that was served last to the next.
const SEGMENT: usize = 16 * LOT;
/// Ports of a share of which a heartbeat looks at the next message, whatever their doorbells show.
const HEARD: usize = 16;
/// How often memory may be put back while a drain is asked for.
const DISTURBED: u32 = 1;
/// Sweeps of which one audits a few ports.
const AUDIT_EVERY: u32 = 8;

/// How many ports a sweep audits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Audit {
    /// One, by one in [`AUDIT_EVERY`] sweeps: it is looked at on the way to the next message, and its first line is
    /// seldom in a cache.
    Few,
    /// These many.
    Many(u32),
}

/// A contiguous share of a buffer's ports.
#[derive(Debug)]
pub(crate) struct Share {
    /// Serving threads take this lock by `try_lock` only. Whoever finds it taken has nothing to do here for now, and
    /// looks again before it sleeps without end.
    ports: Padded<Mutex<Ports>>,
    /// The last turn of [`Served::drain`] in which all ports were looked at.
    drained: AtomicU64,
}

#[derive(Debug)]
struct Ports {
    first: u32,
    ports: Vec<ServerPort>,
    /// What each doorbell showed when there was nothing to do; padded to a whole lot.
    shadow: Vec<u32>,
    /// The port that is audited next.
    audit: usize,
    /// The port that was served last.
    last: usize,
    /// Sweeps since the last that audited.
    unaudited: u32,
    draining: Draining,
    /// The port at which the last turn ended before its time, if it did.
    resume: Option<usize>,
    at_once: AtOnce,
    put_back: PutBack,
    /// Sweeps that took something: the share's mark.
    turns: u32,
    /// How often marks were not as they were left, since a drain was asked for.
    disturbed: u32,
}

/// A drain that could not take everything at once. It ends at what each port held when it came to that port first,
/// whatever the device sends meanwhile; and it ends before the next one begins, however many are asked for.
#[derive(Debug, Default)]
struct Draining {
    turn: u64,
    /// The port that it comes to next; 0: it has come to all.
    next: usize,
    /// Ports that held posts for which there was no room, or no time.
    left: Vec<Held>,
}

impl Draining {
    fn is_under_way(&self) -> bool {
        self.next > 0 || !self.left.is_empty()
    }
}

/// What a port held when a drain came to it.
#[derive(Clone, Copy, Debug)]
struct Held {
    port: usize,
    /// The last message that was taken then, and how many were there behind it.
    from: Tag,
    messages: u16,
}

impl Share {
    /// Splits `ports` ports into `shares` shares, the first of them the larger.
    pub(crate) fn split(ports: u32, shares: usize, last: Tag) -> Box<[Self]> {
        let lots = (ports as usize).div_ceil(LOT);
        let mut first = 0;
        (0..shares)
            .map(|share| {
                let mine = (lots / shares + usize::from(share < lots % shares)) * LOT;
                let count = mine.min(ports as usize - first);
                let ports = Ports {
                    first: first as u32,
                    ports: vec![ServerPort::new(last); count],
                    shadow: vec![last.payload().into(); mine],
                    audit: 0,
                    last: 0,
                    unaudited: 0,
                    draining: Draining::default(),
                    resume: None,
                    at_once: AtOnce::default(),
                    put_back: PutBack::default(),
                    turns: 0,
                    disturbed: 0,
                };
                first += count;
                Self { ports: Padded(Mutex::new(ports)), drained: AtomicU64::new(0) }
            })
            .collect()
    }

    /// The tags of the last messages that were consumed, in the order of the ports.
    pub(crate) fn tags(&self) -> Vec<Tag> {
        let ports = self.ports.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        ports.ports.iter().map(ServerPort::tag).collect()
    }

    /// See [`Sweeper`](crate::test_utils::Sweeper).
    #[cfg(feature = "test-utils")]
    pub(crate) fn forget_what_was_found(&self) {
        let mut ports = self.ports.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        // Who leaves a message copies it again.
        ports.ports.iter_mut().for_each(ServerPort::leave);
    }

    /// See [`Sweeper`](crate::test_utils::Sweeper).
    #[cfg(feature = "test-utils")]
    pub(crate) fn is_marked(&self, served: &Served) -> bool {
        let ports = self.ports.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        (ports.first..).zip(&ports.ports).all(|(port, state)| !put_back::is_put_back(served, port, state))
    }

    /// The last turn in which all ports were looked at.
    pub(crate) fn drained(&self) -> u64 {
        // Pairs with the store in `sweep`: what was handled in that turn is visible.
        self.drained.load(Ordering::Acquire)
    }

    /// Whether a port seems to hold a message: by the doorbells, or among a few ports whose next message is looked at.
    /// Takes nothing. Who finds the lock taken knows that somebody sweeps.
    pub(crate) fn has_news(&self, served: &Served) -> bool {
        match self.ports.0.try_lock() {
            Ok(mut ports) => ports.has_news(served),
            Err(TryLockError::WouldBlock) => false,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner().has_news(served),
        }
    }

    /// Serves every port that rang, once, and audits.
    pub(crate) fn sweep(&self, served: &Arc<Served>, worker: &mut Worker, audit: Audit) -> Swept {
        let mut ports = match self.ports.0.try_lock() {
            Ok(ports) => ports,
            Err(TryLockError::WouldBlock) => return Swept { taken: 0, left: false, busy: true },
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        };
        // Pairs as below.
        let asked = served.drain.load(Ordering::Acquire) != self.drained.load(Ordering::Relaxed);
        if !asked {
            ports.disturbed = 0;
        }
        if !ports.is_put_back(served) {
            ports.put_back.end();
        } else if !ports.follow(served, asked) {
            return Swept { taken: 0, left: true, busy: false };
        }
        let turn = match &ports.draining {
            draining if draining.is_under_way() => draining.turn,
            // Pairs with the increment in `Core::drain`: messages of kernels that ended before are visible.
            _ => served.drain.load(Ordering::Acquire),
        };
        let drain = turn != self.drained.load(Ordering::Relaxed);
        ports.draining.turn = turn;
        // Handlers are guarded one by one. What else is the user's (a subscriber of `tracing`, say) may panic as well,
        // and lanes wait all the same. Unwind safety: a port's state changes only when its message has been put where
        // `recover` finds it.
        let swept = catch_unwind(AssertUnwindSafe(|| ports.sweep(served, worker, audit, drain)));
        let whole = swept.is_ok();
        let swept = swept.unwrap_or_else(|_| {
            ports.mark_taken(served, worker);
            while catch_unwind(AssertUnwindSafe(|| worker.recover(served))).is_err() {}
            // Nobody knows what was not looked at.
            Swept { taken: 1, left: true, busy: false }
        });
        if swept.taken > 0 && !ports.ports.is_empty() {
            ports.mark_turn(served);
        }
        if swept.taken > 0 {
            served.memory.words().before_handing_over();
        }
        if drain && whole && !ports.draining.is_under_way() {
            // Pairs with the load in `drained`.
            self.drained.store(turn, Ordering::Release);
        }
        swept
    }
}

/// What a sweep found.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Swept {
    /// Messages taken.
    pub(crate) taken: u32,
    /// Whether posts were left that have to wait until others have been handled.
    pub(crate) left: bool,
    /// Whether somebody else was at the ports, who may not have seen what this sweep was to look for.
    pub(crate) busy: bool,
}

impl std::ops::AddAssign for Swept {
    fn add_assign(&mut self, other: Self) {
        self.taken += other.taken;
        self.left |= other.left;
        self.busy |= other.busy;
    }
}

impl Ports {
    #[inline(always)]
    fn sweep(&mut self, served: &Arc<Served>, worker: &mut Worker, audit: Audit, drain: bool) -> Swept {
        if self.ports.is_empty() {
            return Swept::default();
        }
        worker.begin_turn(served, self.at_once);
        let bells = served.memory.doorbells();
        let mut swept = Swept::default();
        if drain {
            // First: what comes meanwhile does not keep it from its end.
            self.drain(served, worker, bells, &mut swept);
            self.handle(served, worker);
        }
        let resume = self.resume.take();
        let first = resume.unwrap_or(0);
        for ports in [first..self.ports.len(), 0..first] {
            self.look_at_rung(served, worker, bells, ports, resume.is_none(), &mut swept);
        }
        if !drain {
            self.look_at_some(served, worker, bells, audit, &mut swept);
        }
        self.at_once = worker.end_turn();
        swept
    }

    /// Whether the memory is not as this share has left it.
    #[inline(always)]
    fn is_put_back(&self, served: &Served) -> bool {
        let last = |state: &ServerPort| put_back::is_put_back(served, self.first + self.last as u32, state);
        self.ports.get(self.last).is_some_and(last)
    }

    /// Follows memory that is put back, and serves what comes from there on, as soon as nobody writes it any more:
    /// whether that is so.
    ///
    /// A drain that was `asked` for is kept waiting by it [so often](DISTURBED) and no more: a device that writes marks
    /// keeps nobody waiting for ever.
    #[cold]
    fn follow(&mut self, served: &Served, asked: bool) -> bool {
        // Relaxed: as marks of ports.
        let whole = served.memory.words().turn(self.first).load(Ordering::Relaxed) != self.turns;
        let verdict = if asked && self.disturbed >= DISTURBED { Verdict::Restore } else { self.put_back.look(whole) };
        if verdict == Verdict::Wait {
            return false;
        }
        self.disturbed = self.disturbed.saturating_add(1);
        for (port, (state, shadow)) in (self.first..).zip(self.ports.iter_mut().zip(&mut self.shadow)) {
            if verdict == Verdict::Follow && put_back::follow(served, port, state) {
                *shadow = state.tag().payload().into();
            }
            put_back::mark(served, port, state);
        }
        self.mark_turn(served);
        if verdict == Verdict::Follow {
            // A pass that has ended by an exit or a panic ends no other.
            served.report.begin_again();
            // What each port held is another matter now.
            (self.draining.next, self.draining.left) = (0, Vec::new());
        }
        true
    }

    /// Leaves the share's mark, behind those of its ports.
    #[inline(always)]
    fn mark_turn(&mut self, served: &Served) {
        self.turns = self.turns.wrapping_add(1);
        // Relaxed: as marks of ports.
        served.memory.words().turn(self.first).store(self.turns, Ordering::Relaxed);
    }

    fn has_news(&mut self, served: &Served) -> bool {
        if self.is_put_back(served) {
            return true;
        }
        let bells = served.memory.doorbells();
        let mut from = 0;
        while let Some((lot, rung)) = next_rung(bells, self.first, &self.shadow, from) {
            if rung & self.within(lot) != 0 {
                return true;
            }
            from = lot + LOT;
        }
        let (words, geometry) = (served.memory.words(), served.memory.geometry());
        (0..HEARD.min(self.ports.len())).any(|_| {
            let i = self.audit_next();
            let (port, state) = (self.first + i as u32, &self.ports[i]);
            !served.is_open(port) && state.held(words, geometry, port) != state.tag()
        })
    }

    /// Which of a lot's ports there are.
    #[inline(always)]
    fn within(&self, lot: usize) -> u16 {
        u16::MAX >> (lot + LOT).saturating_sub(self.ports.len())
    }

    /// The port that is audited next.
    fn audit_next(&mut self) -> usize {
        self.audit = if self.audit + 1 < self.ports.len() { self.audit + 1 } else { 0 };
        self.audit
    }

    /// Looks at those of some ports that rang, until the turn is over; if there is `time`, at the one that was served
    /// last before all others.
    #[inline(always)]
    fn look_at_rung(
        &mut self,
        served: &Arc<Served>,
        worker: &mut Worker,
        bells: Doorbells,
        Range { start: first, end: stop }: Range<usize>,
        time: bool,
        swept: &mut Swept,
    ) {
        let stop = stop.next_multiple_of(LOT);
        let (mut from, mut end) = (first - first % LOT, first - first % LOT);
        while end < stop && !worker.is_turn_over() {
            // A wave that calls alone, one call after another, need not wait for a whole sweep: while nothing else has
            // rung, its port is looked at between the segments.
            if time && swept.taken == 0 && bells.load(self.first + self.last as u32) != self.shadow[self.last] {
                self.expect(served, self.last);
                self.look(served, worker, self.last, bells, TURN, swept);
                self.handle(served, worker);
            }
            end = (end + SEGMENT).min(stop);
            while let Some((lot, rung)) = next_rung(bells, self.first, &self.shadow[..end], from) {
                from = lot + LOT;
                let rung = rung & self.within(lot) & u16::MAX << first.saturating_sub(lot);
                for i in bits(rung) {
                    self.expect(served, lot + i);
                }
                for i in bits(rung) {
                    if worker.is_turn_over() {
                        self.resume = Some(lot + i);
                        return self.handle(served, worker);
                    }
                    self.look(served, worker, lot + i, bells, TURN, swept);
                }
            }
            // What is left: a full inbox has been handled on the way.
            self.handle(served, worker);
            from = end;
        }
        if worker.is_turn_over() && self.resume.is_none() {
            self.resume = Some(if from < self.ports.len() { from } else { 0 });
        }
    }

    /// Audits some ports.
    fn look_at_some(&mut self, served: &Arc<Served>, worker: &mut Worker, bells: Doorbells, audit: Audit, swept: &mut Swept) {
        let audits = match audit {
            Audit::Many(n) => n as usize,
            Audit::Few => {
                self.unaudited = (self.unaudited + 1) % AUDIT_EVERY;
                usize::from(self.unaudited == 0)
            }
        };
        if audits == 0 {
            return;
        }
        for _ in 0..audits.min(self.ports.len()) {
            if worker.is_turn_over() {
                break;
            }
            let audited = self.audit_next();
            self.look(served, worker, audited, bells, TURN, swept);
        }
        self.handle(served, worker);
    }

    /// Takes what every port holds; or, if a look at all of them has left some of it, more of what they held then. When
    /// the turn is over, the rest is left to the next one.
    fn drain(&mut self, served: &Arc<Served>, worker: &mut Worker, bells: Doorbells, swept: &mut Swept) {
        let geometry = served.memory.geometry();
        let mut left = std::mem::take(&mut self.draining.left);
        if left.is_empty() || self.draining.next > 0 {
            for port in std::mem::take(&mut self.draining.next)..self.ports.len() {
                if worker.is_turn_over() {
                    self.draining.next = port;
                    break;
                }
                // A port may hold as many posts as its request area has words.
                let took = self.look(served, worker, port, bells, geometry.request_words, swept);
                if took == Took::Waits || worker.is_turn_over() {
                    let from = self.ports[port].tag();
                    let last = self.ports[port].held(served.memory.words(), geometry, self.first + port as u32);
                    let messages = last.since(from);
                    left.extend((messages > 0).then_some(Held { port, from, messages }));
                }
            }
        } else {
            left.retain(|&Held { port, from, messages }| {
                // (What comes behind is looked at as always, but nobody waits for it. And a device that takes back what
                // it has sent is not waited for.)
                let rest = |state: &ServerPort| messages.checked_sub(state.tag().since(from)).filter(|&rest| rest > 0);
                let Some(most) = rest(&self.ports[port]) else { return false };
                if worker.is_turn_over() {
                    return true;
                }
                let took = self.look(served, worker, port, bells, most.into(), swept);
                (took == Took::Waits || worker.is_turn_over()) && rest(&self.ports[port]).is_some()
            });
        }
        self.draining.left = left;
    }

    /// Handles what has been taken. Its marks come first: a kernel whose calls are answered may end.
    #[inline(always)]
    fn handle(&self, served: &Arc<Served>, worker: &mut Worker) {
        self.mark_taken(served, worker);
        worker.handle(served);
    }

    /// Leaves the marks of what has been taken and is not handled.
    #[inline(always)]
    fn mark_taken(&self, served: &Served, worker: &Worker) {
        for port in worker.taken() {
            if let Some(state) = self.ports.get(port.wrapping_sub(self.first) as usize) {
                put_back::mark(served, port, state);
            }
        }
    }

    /// Asks for the first two lines of a port's next message, and for the line of its reply.
    #[inline(always)]
    fn expect(&self, served: &Served, i: usize) {
        served.memory.words().expect(self.first + i as u32, self.ports[i].position());
    }

    /// Takes the messages of one port, `turn` of them at most. What the last look for one gave.
    #[inline(always)]
    fn look(&mut self, served: &Arc<Served>, worker: &mut Worker, i: usize, bells: Doorbells, turn: u32, swept: &mut Swept) -> Took {
        let port = self.first + i as u32;
        if served.has_open_calls() && served.is_open(port) {
            return Took::Nothing;
        }
        for _ in 0..turn {
            let took = worker.take(served, port, &mut self.ports[i]);
            if matches!(took, Took::Nothing | Took::Waits) {
                swept.left |= took == Took::Waits;
                let (bell, tag) = (bells.load(port), self.ports[i].tag());
                // Half a lap behind the tag: late. Otherwise it announces a message that is on its way.
                if took == Took::Nothing && tag.since(Tag::new(bell as u16)) < Tag::SCRUB_PERIOD {
                    self.shadow[i] = bell;
                }
                return took;
            }
            swept.taken += 1;
            self.last = i;
            self.shadow[i] = self.ports[i].tag().payload().into();
            if worker.is_full() {
                self.handle(served, worker);
            }
            if took == Took::Call || worker.is_turn_over() {
                return took;
            }
        }
        Took::Post
    }
}

fn bits(mut mask: u16) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = mask.trailing_zeros();
        mask &= mask.wrapping_sub(1);
        (bit < 16).then_some(bit as usize)
    })
}

/// The first lot from `from` on that has doorbells which differ from their shadow, and which of its.
///
/// The lots of a share are whole, and doorbells are padded to a page, so nothing past their end is read.
#[inline(always)]
fn next_rung(bells: Doorbells, first: u32, shadow: &[u32], from: usize) -> Option<(usize, u16)> {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2; the doorbells from `first` on are at least as many as `shadow`'s whole lots.
        return unsafe { next_rung_avx2(bells.0.as_ptr().add(first as usize), shadow, from) };
    }
    next_rung_portable(bells, first, shadow, from)
}

fn next_rung_portable(bells: Doorbells, first: u32, shadow: &[u32], from: usize) -> Option<(usize, u16)> {
    shadow.get(from..)?.chunks_exact(LOT).enumerate().find_map(|(n, lot)| {
        let lot_start = from + n * LOT;
        let mut mask = 0;
        for (i, &seen) in lot.iter().enumerate() {
            mask |= u16::from(bells.load(first + (lot_start + i) as u32) != seen) << i;
        }
        (mask != 0).then_some((lot_start, mask))
    })
}

/// # Safety
/// The processor has AVX2, and `bells` is valid for reads of `shadow.len()` (a multiple of [`LOT`]) words.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn next_rung_avx2(bells: *const u32, shadow: &[u32], from: usize) -> Option<(usize, u16)> {
    use std::arch::x86_64::{__m256i, _mm256_castsi256_ps, _mm256_cmpeq_epi32, _mm256_loadu_si256, _mm256_movemask_ps};
    let mut lot = from;
    while lot + LOT <= shadow.len() {
        let half = |at: usize| {
            let rung: __m256i;
            // SAFETY: `at + 8` words are inside the doorbells. An unaligned load in assembly: the device writes these
            // words meanwhile, and each aligned 4-byte lane of the vector is read in one piece; that is all a hint
            // needs.
            unsafe {
                std::arch::asm!("vmovdqu {x}, [{p}]", x = out(ymm_reg) rung, p = in(reg) bells.add(at), options(nostack, preserves_flags, readonly))
            };
            // SAFETY: `at + 8` words are inside the shadow.
            let seen = unsafe { _mm256_loadu_si256(shadow.as_ptr().add(at).cast()) };
            _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(rung, seen))) as u8
        };
        let same = u16::from(half(lot)) | u16::from(half(lot + 8)) << 8;
        if same != u16::MAX {
            return Some((lot, !same));
        }
        lot += LOT;
    }
    None
}

#[cfg(test)]
mod tests {
    use std::ptr::NonNull;

    use hostcall_abi::Flags;

    use super::*;
    use crate::server::BufferHandle;
    use crate::serving::PostBounds;
    use crate::test_utils::MockDevice;
    use crate::wire::PortBuffer;

    #[test]
    fn both_comparisons_find_the_same_doorbells() {
        let mut bells: Vec<u32> = (0..96).collect();
        let shadow = bells.clone();
        bells[17] = 1000;
        bells[31] = 1001;
        bells[95] = 1002;
        let bells = Doorbells(NonNull::from(&mut bells[..]).cast());
        for from in [0, 16, 32, 80, 96] {
            let expected = match from {
                0 | 16 => Some((16, 1 << 1 | 1 << 15)),
                96 => None,
                _ => Some((80, 1 << 15)),
            };
            assert_eq!(next_rung_portable(bells, 0, &shadow, from), expected);
            assert_eq!(next_rung(bells, 0, &shadow, from), expected);
        }
    }

    #[test]
    fn a_thread_that_finds_its_ports_taken_looks_again_before_it_sleeps() {
        let server = crate::Server::without_device().threads(1).without_built_in().start().unwrap();
        let served = server.add_buffer(PortBuffer::in_process(Geometry { slots: 0, slot_bytes: 0, ..Geometry::new(16, 32) }).unwrap()).0;
        let held = served.shares[0].ports.0.lock().unwrap();
        let limit = std::time::Duration::from_secs(60);
        let drained = std::thread::scope(|scope| {
            let drained = scope.spawn(|| server.parts.core.drain_by(&served, Some(std::time::Instant::now() + limit)));
            // The thread is woken for it, and has nothing else to do.
            std::thread::sleep(std::time::Duration::from_millis(100));
            drop(held);
            drained.join().unwrap()
        });
        assert!(drained, "the thread sleeps");
    }

    #[test]
    fn a_port_holds_posts_up_to_the_first_call_and_no_more_than_its_area() {
        let geometry = Geometry { slots: 1, slot_bytes: 4096, ..Geometry::new(3, 32) };
        let served = Served::new(PortBuffer::in_process(geometry).unwrap(), 1, PostBounds::default());
        let raw = MockDevice::new(BufferHandle(served.clone())).raw();
        let fresh = ServerPort::new(served.memory.first_tag());
        let held = |port| fresh.held(served.memory.words(), &geometry, port).since(fresh.tag());
        let send = |port, at: u32, flags| raw.send(port, at, Tag::new(at as u16 + 1), 1, flags, 1, &[7]);
        assert_eq!(held(0), 0);
        (0..3).for_each(|at| send(0, at, Flags::default()));
        assert_eq!(held(0), 3);
        send(0, 3, Flags::REPLY);
        send(0, 4, Flags::default());
        assert_eq!(held(0), 4, "what comes behind a call is sent when it is answered");
        // As many as there are words, each of which a device may make a message.
        (0..geometry.request_words).for_each(|at| send(1, at, Flags::default()));
        assert_eq!(u32::from(held(1)), geometry.request_words);
        // The whole area again and again: the one at 0 is not behind the last.
        raw.send(1, 0, Tag::new(geometry.request_words as u16 + 1), 1, Flags::default(), 1, &[7]);
        assert_eq!(held(1), 0, "what was next is gone");
        // A header of which nothing makes sense is the last.
        send(2, 0, Flags::default());
        send(2, 1, Flags(0x40));
        send(2, 2, Flags::default());
        assert_eq!(held(2), 2);
    }

    #[test]
    fn shares_cover_every_port_once_in_whole_lots() {
        for (ports, shares) in [(1, 4), (16, 1), (17, 2), (100, 3), (8448, 8), (33, 8)] {
            let split = Share::split(ports, shares, Tag::new(0));
            assert_eq!(split.len(), shares);
            let mut next = 0;
            for share in &split {
                let share = share.ports.0.lock().unwrap();
                if !share.ports.is_empty() {
                    assert_eq!((share.first, share.first % LOT as u32), (next, 0));
                }
                assert!(share.shadow.len() % LOT == 0 && share.shadow.len() >= share.ports.len());
                next += share.ports.len() as u32;
            }
            assert_eq!(next, ports);
        }
    }
}
