//! The plain loop over the wire: its words, and nothing else of ours.
//!
//! No client, no port that is taken, no status, no table of services. A wave's port is its number; it stores a request,
//! rings, and polls the reply. `crates/cargo-hostcall/src/bench/plain.rs` answers. What this pair needs is what a call
//! over this wire can cost on a machine, so that a slow machine is told from slow code.
//!
//! A wave whose reply does not come within [`PATIENCE`] gives up for good and says so: a host that fails must not leave
//! a kernel behind.

use bench_services::{answer, question};
use core::time::Duration;
use hostcall::kernel;
use hostcall::time::{Instant, sleep};
use hostcall::wave::{Converged, lane_id, wave_index};
use hostcall_abi::header::pack_lone;
use hostcall_abi::word::pack;
use hostcall_abi::{Flags, Header, ReplyHead, Status, Tag, Word};

use crate::clock::{REPLIED, Ticks};

/// How long one reply is waited for.
const PATIENCE: Duration = Duration::from_secs(3);
/// Looks at a reply between two at the clock.
const LOOKS: u32 = 1 << 12;
/// What `out` has for a wave that gave up, instead of nanoseconds.
const GAVE_UP: u64 = u64::MAX;

/// Words of a lone lane's request, its header included.
const LONE_WORDS: u32 = 1 + Header::words_for(16, 1);
/// Words of each of many lanes.
const LANE_WORDS: u32 = Header::words_for(16, 32);
/// Words of a lane's reply: its head and 16 bytes.
const REPLY_WORDS: u32 = ReplyHead::words(4);

const _: () = assert!(LONE_WORDS == 5 && LANE_WORDS == 5 && REPLY_WORDS == 2);

/// One word by one access.
mod memory {
    use hostcall_abi::Word;

    #[cfg(any(target_arch = "nvptx64", target_arch = "x86_64", target_arch = "aarch64"))]
    use core::arch::asm;

    /// # Safety
    /// `at` is a word of a request, aligned to 16, that no other lane writes.
    #[inline(always)]
    pub(super) unsafe fn store(at: *mut Word, word: Word) {
        let [a, b, c, d] = word.0;
        let (low, high) = (u64::from(a) | u64::from(b) << 32, u64::from(c) | u64::from(d) << 32);
        // SAFETY: the caller's. Pairs with the host's `load16`.
        #[cfg(target_arch = "nvptx64")]
        unsafe {
            asm!("{{ .reg .b128 t; mov.b128 t, {{{low}, {high}}}; st.relaxed.sys.global.b128 [{at}], t; }}",
                low = in(reg64) low, high = in(reg64) high, at = in(reg64) at, options(nostack));
        }
        // SAFETY: as above; one access on processors with AVX, which the host has checked.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            let value = core::arch::x86_64::_mm_set_epi64x(high as i64, low as i64);
            asm!("movdqa [{at}], {value}", value = in(xmm_reg) value, at = in(reg) at, options(nostack, preserves_flags));
        }
        // SAFETY: as above; one access with FEAT_LSE2, which the host has checked.
        #[cfg(target_arch = "aarch64")]
        unsafe {
            asm!("stp {low}, {high}, [{at}]", low = in(reg) low, high = in(reg) high, at = in(reg) at, options(nostack, preserves_flags));
        }
        // SAFETY: as above; one instruction of four units on such a device.
        #[cfg(not(any(target_arch = "nvptx64", target_arch = "x86_64", target_arch = "aarch64")))]
        unsafe {
            at.cast::<u128>().write_volatile(u128::from(low) | u128::from(high) << 64);
        }
    }

    /// # Safety
    /// `at` is a word of a reply, aligned to 16.
    #[inline(always)]
    pub(super) unsafe fn load(at: *const Word) -> Word {
        let (low, high): (u64, u64);
        // SAFETY: the caller's. Pairs with the host's store of the line.
        #[cfg(target_arch = "nvptx64")]
        unsafe {
            asm!("{{ .reg .b128 t; ld.relaxed.sys.global.b128 t, [{at}]; mov.b128 {{{low}, {high}}}, t; }}",
                low = out(reg64) low, high = out(reg64) high, at = in(reg64) at, options(nostack));
        }
        // SAFETY: as in `store`.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            let value: core::arch::x86_64::__m128i;
            asm!("movdqa {value}, [{at}]", value = out(xmm_reg) value, at = in(reg) at, options(readonly, nostack, preserves_flags));
            [low, high] = core::mem::transmute::<core::arch::x86_64::__m128i, [u64; 2]>(value);
        }
        // SAFETY: as in `store`.
        #[cfg(target_arch = "aarch64")]
        unsafe {
            asm!("ldp {low}, {high}, [{at}]", low = out(reg) low, high = out(reg) high, at = in(reg) at, options(readonly, nostack, preserves_flags));
        }
        // SAFETY: as in `store`.
        #[cfg(not(any(target_arch = "nvptx64", target_arch = "x86_64", target_arch = "aarch64")))]
        unsafe {
            let both = at.cast::<u128>().read_volatile();
            (low, high) = (both as u64, (both >> 64) as u64);
        }
        Word([low as u32, (low >> 32) as u32, high as u32, (high >> 32) as u32])
    }

    /// Takes what a word of the device's memory stands for, as a port is taken: by one atomic access, whose result is
    /// the last message's tag.
    ///
    /// # Safety
    /// `at` is a word of device memory that is accessed by this and by [`give_back`] only.
    #[inline(always)]
    pub(super) unsafe fn take(at: *mut u32) -> u32 {
        // SAFETY: the caller's. Relaxed: nobody else takes it.
        #[cfg(target_arch = "nvptx64")]
        unsafe {
            let old: u32;
            asm!("atom.relaxed.gpu.global.or.b32 {old}, [{at}], 1;", old = out(reg32) old, at = in(reg64) at, options(nostack));
            old >> 1
        }
        // SAFETY: as above.
        #[cfg(not(target_arch = "nvptx64"))]
        unsafe {
            core::sync::atomic::AtomicU32::from_ptr(at).fetch_or(1, core::sync::atomic::Ordering::Relaxed) >> 1
        }
    }

    /// Gives back what was taken, with the tag of the last message.
    ///
    /// # Safety
    /// As for [`take`].
    #[inline(always)]
    pub(super) unsafe fn give_back(at: *mut u32, tag: u32) {
        // SAFETY: the caller's. Relaxed, as above.
        #[cfg(target_arch = "nvptx64")]
        unsafe {
            asm!("st.relaxed.gpu.global.u32 [{at}], {state};", at = in(reg64) at, state = in(reg32) tag << 1, options(nostack));
        }
        // SAFETY: as above.
        #[cfg(not(target_arch = "nvptx64"))]
        unsafe {
            core::sync::atomic::AtomicU32::from_ptr(at).store(tag << 1, core::sync::atomic::Ordering::Relaxed);
        }
    }

    /// # Safety
    /// `at` is a doorbell that no other lane writes.
    #[inline(always)]
    pub(super) unsafe fn ring(at: *mut u32, value: u32) {
        // SAFETY: the caller's. Pairs with the host's sweep.
        #[cfg(target_arch = "nvptx64")]
        unsafe {
            asm!("st.relaxed.sys.global.u32 [{at}], {value};", at = in(reg64) at, value = in(reg32) value, options(nostack));
        }
        // SAFETY: as above.
        #[cfg(not(target_arch = "nvptx64"))]
        unsafe {
            core::sync::atomic::AtomicU32::from_ptr(at).store(value, core::sync::atomic::Ordering::Relaxed);
        }
    }
}

/// Bounds a wait.
struct Wait {
    looks: u32,
    begun: Option<Instant>,
}

impl Wait {
    #[inline(always)]
    fn new() -> Self {
        Self { looks: 0, begun: None }
    }

    /// After a look that found nothing: whether there is time for another one.
    #[inline(always)]
    fn goes_on(&mut self) -> bool {
        // A simulated wave gives its processor to the host's thread, which may be waiting for it.
        #[cfg(not(target_arch = "nvptx64"))]
        hostcall::time::sleep(Duration::from_micros(1));
        self.looks += 1;
        if self.looks < LOOKS {
            return true;
        }
        self.looks = 0;
        match self.begun {
            Some(begun) => begun.elapsed() < PATIENCE,
            None => {
                self.begun = Some(Instant::now());
                true
            }
        }
    }
}

/// Unit `k` of the block that asks number `i`.
#[inline(always)]
fn unit(i: u32, k: u32) -> u32 {
    if k == 0 { i } else { i ^ k }
}

/// Word `j` of the right reply to block `i`.
#[inline(always)]
fn expected(i: u32, j: u32, tag: Tag) -> Word {
    let [a, b] = answer(&question(i));
    let head = ReplyHead { status: Status::OK, dwords: 4 }.encode();
    let units = [head, a as u32, (a >> 32) as u32, b as u32, (b >> 32) as u32];
    // (Selected, not indexed: `j` differs from lane to lane, and an array would lie in memory.)
    let word = |j| pack(j, |k| if k < 5 { units[k as usize] } else { 0 });
    let (first, second) = (word(0), word(1));
    Word::new(if j == 0 { first } else { second }, tag.payload())
}

/// A word there and back, `trips` times after `warm` others. `out`: nanoseconds of the last `trips`, and how many they
/// were.
#[kernel]
pub fn plain_pingpong(ping: *mut u32, pong: *mut Word, warm: u32, trips: u32, out: &mut [[u64; 2]]) {
    let mut start = Instant::now();
    for i in 1..=warm + trips {
        // SAFETY: the host passes a word for each direction, which nobody else writes.
        unsafe { memory::ring(ping, i) };
        let mut wait = Wait::new();
        // SAFETY: as above, the first of a line.
        while unsafe { memory::load(pong) }.0[0] != i {
            if !wait.goes_on() {
                out[0] = [GAVE_UP, u64::from(i)];
                return;
            }
        }
        if i == warm {
            start = Instant::now();
        }
    }
    out[0] = [start.elapsed().as_nanos() as u64, u64::from(trips)];
}

/// The words that the host passes: an area for each wave, in which its port has its wave's number.
#[derive(Clone, Copy)]
struct Area {
    bells: *mut u32,
    requests: *mut Word,
    request_words: u32,
    replies: *mut Word,
    reply_words: u32,
}

impl Area {
    /// The doorbell, the request and the reply of a port.
    ///
    /// # Safety
    /// The areas have this port.
    #[inline(always)]
    unsafe fn of(self, port: usize) -> (*mut u32, *mut Word, *mut Word) {
        // SAFETY: the caller's.
        unsafe {
            (
                self.bells.add(port),
                self.requests.add(port * self.request_words as usize),
                self.replies.add(port * self.reply_words as usize),
            )
        }
    }
}

/// What is measured: the whole time of the calls, or (`DEVICE`) that of the device's own part of them, for which every
/// reply is there before it is looked for.
struct Meter<const DEVICE: bool> {
    clock: Ticks,
    start: Instant,
    first: u64,
    since: u64,
    ticks: u64,
}

impl<const DEVICE: bool> Meter<DEVICE> {
    #[inline(always)]
    fn start() -> Self {
        let clock = Ticks::start();
        let first = if DEVICE { clock.now() } else { 0 };
        Self { clock, start: Instant::now(), first, since: first, ticks: 0 }
    }

    /// A call begins.
    #[inline(always)]
    fn begins(&mut self) {
        if DEVICE {
            self.since = self.clock.now();
        }
    }

    /// Its request has been sent.
    #[inline(always)]
    fn sent(&mut self) {
        if DEVICE {
            self.ends();
            sleep(REPLIED);
            self.begins();
        }
    }

    /// It has been answered.
    #[inline(always)]
    fn ends(&mut self) {
        if DEVICE {
            self.ticks += self.clock.now() - self.since;
        }
    }

    /// Nanoseconds.
    #[inline(always)]
    fn total(&self) -> u64 {
        if DEVICE { self.clock.nanoseconds(self.ticks, self.first, self.start) } else { self.start.elapsed().as_nanos() as u64 }
    }
}

/// The word that a wave takes for each call (`TAKEN`), or keeps: what it measures is written over it in the end.
struct Lock<const TAKEN: bool>(*mut u32);

impl<const TAKEN: bool> Lock<TAKEN> {
    #[inline(always)]
    fn new(lanes: &Converged, out: &mut [u64; 2], last: u32) -> Self {
        let lock = Self(core::ptr::from_mut(out).cast());
        lock.give_back(lanes, Tag::new(last as u16));
        lock
    }

    /// The tag of call `i`.
    #[inline(always)]
    fn take(&self, lanes: &Converged, last: u32, i: u32) -> Tag {
        if !TAKEN {
            return Tag::new((last + 1 + i) as u16);
        }
        // SAFETY: the wave's own word.
        let before = if lanes.leads() { unsafe { memory::take(self.0) } } else { 0 };
        Tag::new(lanes.broadcast(before) as u16).next()
    }

    #[inline(always)]
    fn give_back(&self, lanes: &Converged, tag: Tag) {
        if TAKEN {
            lanes.sync();
            if lanes.leads() {
                // SAFETY: the wave's own word.
                unsafe { memory::give_back(self.0, tag.seq().into()) };
            }
        }
    }
}

/// Calls of one lane. The other lanes help: the request leaves by one store.
#[inline(always)]
fn scalar<const DEVICE: bool, const TAKEN: bool>(area: Area, last: u32, warm: u32, calls: u32, out: &mut [[u64; 2]]) {
    let (lanes, lane, port) = (Converged::here(), lane_id(), wave_index());
    let lock = Lock::<TAKEN>::new(&lanes, &mut out[port], last);
    // SAFETY: the host passes areas for every wave; this port is this wave's.
    let (bell, request, reply) = unsafe { area.of(port) };
    let (mut meter, mut right) = (Meter::<DEVICE>::start(), 0);
    for i in 0..warm + calls {
        if i == warm {
            (meter, right) = (Meter::start(), 0);
        }
        meter.begins();
        let tag = lock.take(&lanes, last, i);
        let header = Header { service: 1, words: LONE_WORDS as u8 - 1, flags: Flags::REPLY, mask: 1 };
        let payload = Word::new(pack_lone(lane.wrapping_sub(1) & 3, |k| unit(i, k)), tag.payload());
        let word = if lane == 0 { header.encode_lone(0, [unit(i, 0), unit(i, 1)], tag) } else { payload };
        // Words differ by more than numbers, so lanes may have parted. One store of all is one transaction.
        lanes.sync();
        if lane < LONE_WORDS {
            // SAFETY: a word of the port's request.
            unsafe { memory::store(request.add(lane as usize), word) };
        }
        if lane == 0 {
            // SAFETY: the port's doorbell.
            unsafe { memory::ring(bell, u32::from(tag.seq())) };
        }
        meter.sent();
        let (mut arrived, mut is_right) = (true, true);
        if lane < REPLY_WORDS {
            let mut wait = Wait::new();
            loop {
                // SAFETY: a word of the port's reply.
                let word = unsafe { memory::load(reply.add(lane as usize)) };
                if word.tag() == tag.payload() {
                    is_right = word == expected(i, lane, tag);
                    break;
                }
                arrived = wait.goes_on();
                if !arrived {
                    break;
                }
            }
        }
        let failed = lanes.ballot(!(arrived && is_right));
        lock.give_back(&lanes, tag);
        meter.ends();
        if failed == 0 {
            right += 1;
        } else if lanes.ballot(!arrived) != 0 {
            if lane == 0 {
                out[port] = [GAVE_UP, right];
            }
            return;
        }
    }
    if lane == 0 {
        out[port] = [meter.total(), right];
    }
}

/// Calls of all lanes.
#[inline(always)]
fn wide<const DEVICE: bool, const TAKEN: bool>(area: Area, last: u32, warm: u32, calls: u32, out: &mut [[u64; 2]]) {
    let (lanes, lane, port) = (Converged::here(), lane_id(), wave_index());
    let lock = Lock::<TAKEN>::new(&lanes, &mut out[port], last);
    let count = lanes.count();
    // SAFETY: as in `scalar`.
    let (bell, request, reply) = unsafe { area.of(port) };
    let (mut meter, mut right) = (Meter::<DEVICE>::start(), 0);
    for i in 0..warm + calls {
        if i == warm {
            (meter, right) = (Meter::start(), 0);
        }
        meter.begins();
        let tag = lock.take(&lanes, last, i);
        if lane == 0 {
            let header = Header { service: 1, words: LANE_WORDS as u8, flags: Flags::REPLY, mask: lanes.mask() };
            // SAFETY: the port's first word.
            unsafe { memory::store(request, header.encode(tag)) };
        }
        let block = question(i);
        macro_rules! send {
            ($($j:literal)+) => { $(
                let word = Word::new(pack($j, |k| if k < 16 { block[k as usize] } else { 0 }), tag.payload());
                // SAFETY: a word of the port's request, this lane's.
                unsafe { memory::store(request.add((1 + $j * count + lane) as usize), word) };
            )+ };
        }
        send!(0 1 2 3 4);
        if lane == 0 {
            // SAFETY: the port's doorbell.
            unsafe { memory::ring(bell, u32::from(tag.seq())) };
        }
        meter.sent();
        let mut wait = Wait::new();
        let is_right = loop {
            // SAFETY: two words of the port's reply.
            let words = unsafe { (memory::load(reply.add(lane as usize)), memory::load(reply.add((count + lane) as usize))) };
            let arrived = words.0.tag() == tag.payload() && words.1.tag() == tag.payload();
            if lanes.ballot(!arrived) == 0 {
                break words == (expected(i, 0, tag), expected(i, 1, tag));
            }
            let goes_on = wait.goes_on();
            if lanes.ballot(goes_on) != lanes.mask() {
                if lane == 0 {
                    out[port] = [GAVE_UP, right];
                }
                return;
            }
        };
        right += u64::from(lanes.ballot(!is_right) == 0);
        lock.give_back(&lanes, tag);
        meter.ends();
    }
    if lane == 0 {
        out[port] = [meter.total(), right];
    }
}

/// Kernels over the same parameters.
macro_rules! kernels {
    ($($(#[$doc:meta])+ $(@$limit:tt)? $name:ident = $run:path;)+) => { $(
        $(#[$doc])+
        #[kernel$($limit)?]
        pub fn $name(
            bells: *mut u32,
            requests: *mut Word,
            request_words: u32,
            replies: *mut Word,
            reply_words: u32,
            last: u32,
            warm: u32,
            calls: u32,
            out: &mut [[u64; 2]],
        ) {
            let area = Area { bells, requests, request_words, replies, reply_words };
            $run(area, last, warm, calls, out);
        }
    )+ };
}

kernels! {
    /// `calls` calls of one lane of each wave, after `warm` others, the first of them with the tag behind `last`.
    /// `out`, for each wave: nanoseconds, right answers.
    plain_scalar = scalar::<false, false>;
    /// The same with so few registers that all waves are resident at once: with more, a part of them begins when the
    /// others have ended.
    @(max_registers = 32) plain_scalar_all = scalar::<false, false>;
    /// `plain_scalar` with a word that is taken for each call, as ports are.
    plain_scalar_taken = scalar::<false, true>;
    /// `plain_scalar` in nanoseconds of the device's own part.
    plain_scalar_device = scalar::<true, false>;
    /// As `plain_scalar`, with all lanes of each wave calling.
    plain_wide = wide::<false, false>;
    /// The same with so few registers that all waves are resident at once.
    @(max_registers = 32) plain_wide_all = wide::<false, false>;
    /// `plain_wide` with a word that is taken for each call, as ports are.
    plain_wide_taken = wide::<false, true>;
    /// `plain_wide` in nanoseconds of the device's own part.
    plain_wide_device = wide::<true, false>;
}
