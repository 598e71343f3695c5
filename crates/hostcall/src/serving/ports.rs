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
use crate::wire::{Block, Doorbells, Lines};

/// Ports whose doorbells are compared at once; shares of a buffer are multiples of it.
pub(crate) const LOT: usize = Geometry::LOT as usize;
/// Messages of one port that one look takes, at most: the others wait for the next sweep.
const TURN: u32 = 32;

/// Doorbells from one look at that of the port that was served last to the next.
const SEGMENT: usize = 4 * Block::PORTS;
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
    /// Room for replies.
    lines: Box<Lines>,
    /// The port that is audited next.
    audit: usize,
    /// The port that was served last.
    last: usize,
    /// A port whose mark was put back before it could be left, or any.
    doubtful: usize,
    /// Sweeps since the last that audited.
    unaudited: u32,
    draining: Draining,
    /// The port at which the last turn ended before its time, if it did.
    resume: Option<usize>,
    at_once: AtOnce,
    put_back: PutBack,
    /// Sweeps that may have taken something: the share's mark.
    turns: u32,
    /// Whether the present sweep is one of them.
    turned: bool,
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
                    lines: Box::default(),
                    audit: 0,
                    last: 0,
                    doubtful: 0,
                    unaudited: 0,
                    draining: Draining::default(),
                    resume: None,
                    at_once: AtOnce::default(),
                    put_back: PutBack::default(),
                    turns: 0,
                    turned: false,
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
            while catch_unwind(AssertUnwindSafe(|| worker.recover(served))).is_err() {}
            // Nobody knows what was not looked at.
            Swept { taken: 1, left: true, busy: false }
        });
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
        self.turned = false;
        let bells = served.memory.doorbells();
        let mut swept = Swept::default();
        if drain {
            // First: what comes meanwhile does not keep it from its end.
            self.drain(served, worker, bells, &mut swept);
            worker.handle(served);
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
        let is_put_back = |i: usize| {
            let state = self.ports.get(i);
            state.is_some_and(|state| put_back::is_put_back(served, self.first + i as u32, state))
        };
        is_put_back(self.last) || is_put_back(self.doubtful)
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

    /// A message may be taken. Once in each sweep, and before, the share's mark goes on: so memory that is put back
    /// while messages are handled takes it back. Unless it went back already.
    #[inline(always)]
    fn begin(&mut self, served: &Served) {
        if self.turned {
            return;
        }
        self.turned = true;
        // An exchange: looks at ports that hold nothing come here, too, as long as nobody calls, and memory is put back
        // then. A store that came behind that would leave a mark that says the contrary, and nobody would follow.
        // Relaxed: as marks of ports.
        let (turn, next) = (served.memory.words().turn(self.first), self.turns.wrapping_add(1));
        if turn.compare_exchange(self.turns, next, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            self.turns = next;
        }
    }

    /// Leaves the share's next mark.
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
        while let Some((block, rung)) = next_rung(bells, self.first, &self.shadow, from) {
            if rung & self.within(block) != 0 {
                return true;
            }
            from = block + Block::PORTS;
        }
        let (words, geometry) = (served.memory.words(), served.memory.geometry());
        (0..HEARD.min(self.ports.len())).any(|_| {
            let i = self.audit_next();
            let (port, state) = (self.first + i as u32, &self.ports[i]);
            !served.is_open(port) && state.held(words, geometry, port) != state.tag()
        })
    }

    /// Which of a block's ports there are.
    #[inline(always)]
    fn within(&self, block: usize) -> u64 {
        let ports = self.ports.len().saturating_sub(block);
        if ports < Block::PORTS { !(u64::MAX << ports) } else { u64::MAX }
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
        let (mut from, mut end) = (first - first % Block::PORTS, first - first % Block::PORTS);
        while end < stop && !worker.is_turn_over() {
            // A wave that calls alone, one call after another, need not wait for a whole sweep: while nothing else has
            // rung, its port is looked at between the segments.
            if time && swept.taken == 0 && bells.load(self.first + self.last as u32) != self.shadow[self.last] {
                let block = self.last - self.last % Block::PORTS;
                if self.direct(served, worker, block, 1 << (self.last % Block::PORTS), swept) != 0 {
                    self.look(served, worker, self.last, bells, TURN, swept);
                    worker.handle(served);
                }
            }
            end = (end + SEGMENT).min(stop);
            while let Some((block, rung)) = next_rung(bells, self.first, &self.shadow[..end], from) {
                from = block + Block::PORTS;
                let mut rung = rung & self.within(block) & u64::MAX << first.saturating_sub(block);
                if !worker.is_turn_over() {
                    rung = self.direct(served, worker, block, rung, swept);
                }
                for i in bits(rung) {
                    self.expect(served, block + i);
                }
                for i in bits(rung) {
                    if worker.is_turn_over() {
                        self.resume = Some(block + i);
                        return worker.handle(served);
                    }
                    self.look(served, worker, block + i, bells, TURN, swept);
                }
            }
            // What is left: a full inbox has been handled on the way.
            worker.handle(served);
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
        worker.handle(served);
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

    /// Serves what may go the direct way of the ports of a block that rang; the others are left.
    #[inline(always)]
    fn direct(&mut self, served: &Arc<Served>, worker: &mut Worker, at: usize, mut rung: u64, swept: &mut Swept) -> u64 {
        let first = self.first + at as u32;
        if served.has_open_calls() {
            rung = bits(rung).filter(|&i| !served.is_open(first + i as u32)).fold(0, |rung, i| rung | 1 << i);
        }
        self.begin(served);
        let ports = at..self.ports.len().min(at + Block::PORTS);
        let shadow = at..self.shadow.len().min(at + Block::PORTS);
        let (states, shadow) = (&mut self.ports[ports], &mut self.shadow[shadow]);
        let mut block = Block::new(&served.memory, first, states, shadow, &mut self.lines, rung);
        worker.direct(served, &mut block);
        let (taken, last) = block.taken();
        let left = block.left();
        let doubtful = block.doubtful();
        if taken > 0 {
            swept.taken += taken;
            self.served_last(served, at + last);
        }
        if let Some(i) = doubtful {
            self.doubtful = at + i;
        }
        left
    }

    /// A port was served, the last one so far. The one before may have been put back while its handler ran, which is
    /// not to be forgotten.
    #[inline(always)]
    fn served_last(&mut self, served: &Served, i: usize) {
        let before = std::mem::replace(&mut self.last, i);
        if before != i && put_back::is_put_back(served, self.first + before as u32, &self.ports[before]) {
            self.doubtful = before;
        }
    }

    /// Asks for the first two lines of a port's next message, and for the line of its reply.
    #[inline(always)]
    fn expect(&self, served: &Served, i: usize) {
        served.memory.words().expect(self.first + i as u32, self.ports[i].position());
    }

    /// Takes the messages of one port, `turn` of them at most. What the last look for one gave.
    #[inline(never)]
    fn look(&mut self, served: &Arc<Served>, worker: &mut Worker, i: usize, bells: Doorbells, turn: u32, swept: &mut Swept) -> Took {
        let port = self.first + i as u32;
        if served.has_open_calls() && served.is_open(port) {
            return Took::Nothing;
        }
        self.begin(served);
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
            self.served_last(served, i);
            if put_back::is_put_back(served, port, &self.ports[i]) {
                self.doubtful = i;
            }
            self.shadow[i] = self.ports[i].tag().payload().into();
            if worker.is_full() {
                worker.handle(served);
            }
            if took == Took::Call || worker.is_turn_over() {
                return took;
            }
        }
        Took::Post
    }
}

fn bits(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = mask.trailing_zeros();
        mask &= mask.wrapping_sub(1);
        (bit < u64::BITS).then_some(bit as usize)
    })
}

/// The first block from `from` on, where one begins, that has doorbells which differ from their shadow, and which of
/// its.
///
/// The lots of a share are whole, and doorbells are padded to a page, so nothing past their end is read.
#[inline(always)]
fn next_rung(bells: Doorbells, first: u32, shadow: &[u32], from: usize) -> Option<(usize, u64)> {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2; the doorbells from `first` on are at least as many as `shadow`'s whole lots.
        return unsafe { next_rung_avx2(bells.0.as_ptr().add(first as usize), shadow, from) };
    }
    next_rung_portable(bells, first, shadow, from)
}

fn next_rung_portable(bells: Doorbells, first: u32, shadow: &[u32], from: usize) -> Option<(usize, u64)> {
    shadow.get(from..)?.chunks(Block::PORTS).enumerate().find_map(|(n, block)| {
        let start = from + n * Block::PORTS;
        let differs = |(i, &seen): (usize, &u32)| u64::from(bells.load(first + (start + i) as u32) != seen) << i;
        let mask = block.iter().enumerate().map(differs).sum();
        (mask != 0).then_some((start, mask))
    })
}

/// # Safety
/// The processor has AVX2, and `bells` is valid for reads of `shadow.len()` (a multiple of [`LOT`]) words.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn next_rung_avx2(bells: *const u32, shadow: &[u32], from: usize) -> Option<(usize, u64)> {
    use std::arch::x86_64::{__m256i, _mm256_castsi256_ps, _mm256_cmpeq_epi32, _mm256_loadu_si256, _mm256_movemask_ps};
    // Else the last lot would reach behind both.
    assert!(from.is_multiple_of(LOT) && shadow.len().is_multiple_of(LOT), "lots are whole");
    let mut start = from;
    while start < shadow.len() {
        let mut mask = 0;
        for lot in (start..shadow.len().min(start + Block::PORTS)).step_by(LOT) {
            let half = |at: usize| {
                let rung: __m256i;
                // SAFETY: `at + 8` words are inside the doorbells. An unaligned load in assembly: the device writes
                // these words meanwhile, and each aligned 4-byte lane of the vector is read in one piece; that is all a
                // hint needs.
                unsafe {
                    std::arch::asm!("vmovdqu {x}, [{p}]", x = out(ymm_reg) rung, p = in(reg) bells.add(at), options(nostack, preserves_flags, readonly))
                };
                // SAFETY: `at + 8` words are inside the shadow.
                let seen = unsafe { _mm256_loadu_si256(shadow.as_ptr().add(at).cast()) };
                _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(rung, seen))) as u8
            };
            let same = u64::from(half(lot)) | u64::from(half(lot + 8)) << 8;
            mask |= (same ^ 0xffff) << (lot - start);
        }
        if mask != 0 {
            return Some((start, mask));
        }
        start += Block::PORTS;
    }
    None
}

#[cfg(test)]
mod tests;
