//! The memory of a program's rings: what its waves write, and what they are told.

use std::cell::UnsafeCell;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use hostcall_abi::stream::header::MAX_GRANULES;
use hostcall_abi::stream::rings::{MAX_RINGS_LOG2, RingState, STRIDE};
use hostcall_abi::stream::unit::{PHASE, Position};
use hostcall_abi::stream::{Counters, Credit, GRANULE, Gate, MAX_RING_LOG2, MIN_RING_LOG2, RingMemory, Rings};
use offload::{Device, HostMemory, Line, LineStore, Memory, Queue, Window, WindowError};

/// Bytes of a granule.
const GRANULE_BYTES: usize = GRANULE as usize * 4;
/// Between the ends of rings, so that their first lines fall on different sets of a cache: an odd number of lines.
const GAP: usize = 17 * GRANULE_BYTES;

/// Bytes of rings from which on they lie on huge pages.
const HUGE_FROM: usize = 8 << 20;

/// How many rings, and how large they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sizes {
    pub(crate) rings_log2: u32,
    pub(crate) ring_log2: u32,
}

impl Sizes {
    /// Rings for a device with so many SMs, of so many bytes together (about: sizes are powers of two).
    pub(crate) fn new(bytes: usize, sms: u32) -> Self {
        let least = GRANULE_BYTES << MIN_RING_LOG2;
        // As many as there are SMs, if each is large enough.
        let rings_log2 = (bytes / least).max(1).ilog2().min(sms.max(1).ilog2()).min(MAX_RINGS_LOG2);
        let granules = ((bytes / GRANULE_BYTES) >> rings_log2).max(1);
        Self { rings_log2, ring_log2: granules.ilog2().clamp(MIN_RING_LOG2, MAX_RING_LOG2) }
    }

    pub(crate) fn rings(self) -> usize {
        1 << self.rings_log2
    }

    fn stride(self) -> usize {
        (GRANULE_BYTES << self.ring_log2) + GAP
    }
}

/// The rings of one program.
#[derive(Debug)]
pub(crate) struct RingSet {
    sizes: Sizes,
    wide: bool,
    device: Device,
    data: HostMemory<u32>,
    /// Control lines, where there is no window.
    control: HostMemory<u64>,
    window: Option<Window>,
    /// States, and behind them counters.
    states: Memory<u8>,
    /// Whether each ring has an area of the latest messages.
    has_latest: bool,
    /// How often somebody wanted what is in the areas.
    recalls: AtomicU64,
    streams: u32,
    /// The number of the first ring in a recording.
    first_ring: u32,
    /// Nobody reads them any more.
    closed: Arc<AtomicBool>,
    /// What readers publish of each ring.
    progress: Box<[Progress]>,
    /// Whether rings have ends.
    ending: AtomicBool,
    /// Whether the device is lost.
    lost: AtomicBool,
}

/// What the reader of a ring and those who wait for it tell one another.
#[derive(Debug, Default)]
#[repr(align(64))]
pub(crate) struct Progress {
    /// Granules whose messages have been handed on.
    done: AtomicU64,
    /// An [`End`]; 0: none.
    end: AtomicU64,
    /// The last recall of the ring's area that was answered.
    recalled: AtomicU64,
}

impl Progress {
    pub(crate) fn advance(&self, position: u64) {
        // Release pairs with the acquire in `has_reached`: who waits sees what handlers kept.
        self.done.store(position, Ordering::Release);
    }

    /// Whether everything before `head` (low 32 bits) has been handed on.
    pub(crate) fn has_reached(&self, head: u32) -> bool {
        // Pairs with `advance`.
        (self.done.load(Ordering::Acquire) as u32).wrapping_sub(head) as i32 >= 0
    }

    /// Says what will not come any more; `None`: a kernel may run again.
    fn set_end(&self, end: Option<End>) {
        let word = match end {
            None => 0,
            Some(End::Head(head)) => HEAD | u64::from(head),
            Some(End::Lost) => LOST,
            Some(End::Searched) => SEARCHED,
        };
        // Release pairs with the acquire in `end`: what kernels stored is seen.
        self.end.store(word, Ordering::Release);
    }

    pub(crate) fn end(&self) -> Option<End> {
        // Pairs with `set_end`.
        match self.end.load(Ordering::Acquire) {
            0 => None,
            LOST => Some(End::Lost),
            SEARCHED => Some(End::Searched),
            word => Some(End::Head(word as u32)),
        }
    }

    /// Says that what the ring's area held at this recall has been handed on.
    pub(crate) fn answer(&self, recall: u64) {
        // Release pairs with the acquire in `RingSet::is_recalled`: who waits sees what handlers kept.
        self.recalled.store(recall, Ordering::Release);
    }

    /// Says that the ring of a lost device has been searched, and what was found has been handed on.
    pub(crate) fn searched(&self) {
        self.set_end(Some(End::Searched));
    }
}

/// What will not come any more, because no kernel runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// So much had been reserved.
    Head(u32),
    /// The device is lost, and nobody knows what had been reserved: whole messages may be anywhere in the ring.
    Lost,
    /// They have been found.
    Searched,
}

/// [`End::Head`], with the head in the low bits.
const HEAD: u64 = 1 << 32;
const LOST: u64 = 2 << 32;
const SEARCHED: u64 = 3 << 32;

impl RingSet {
    /// Rings on a device, for so many streams. Control lines go into a window if the device has one and it is wanted; `huge`: rings lie on huge pages;
    /// `latest`: each has an area of the latest messages.
    pub(crate) fn new(device: &Device, sizes: Sizes, streams: u32, window: bool, huge: bool, latest: bool) -> Result<Self, offload::Error> {
        let window = if window { open_window(device, sizes.rings() * STRIDE) } else { None };
        let units = sizes.rings() * sizes.stride() / 4 * (1 + usize::from(latest));
        // Less than a few of them would mostly be waste.
        let huge = huge && 4 * units >= HUGE_FROM;
        let data = if huge { device.alloc_host_huge::<u32>(units)? } else { device.alloc_host::<u32>(units)? };
        let control = device.alloc_host::<u64>(sizes.rings() * STRIDE / 8)?;
        let streams = streams as usize;
        let counters = streams * sizes.rings() * size_of::<Counters>();
        // Gates first: they are aligned most.
        let states = device.alloc::<u8>(sizes.rings() * STRIDE + streams * size_of::<Gate>() + counters.max(1))?;
        let queue = device.queue()?;
        queue.fill(&states, 0)?;
        queue.synchronize()?;
        let progress = (0..sizes.rings()).map(|_| Progress::default()).collect();
        let wide = device.info().wave_size == 64;
        let set = Self {
            sizes,
            wide,
            device: device.clone(),
            data,
            control,
            window,
            states,
            has_latest: latest,
            recalls: AtomicU64::new(0),
            streams: streams as u32,
            first_ring: 0,
            closed: Arc::default(),
            progress,
            ending: AtomicBool::new(false),
            lost: AtomicBool::new(false),
        };
        (0..sizes.rings()).for_each(|ring| set.tell(ring, Credit::default()));
        Ok(set)
    }

    /// What the program must be told.
    pub(crate) fn descriptor(&self) -> Rings {
        let learnt = std::mem::offset_of!(RingState, credit) as u64;
        Rings {
            data: self.data.address(),
            stride: self.sizes.stride() as u64,
            states: self.states.address(),
            credit: self.window.as_ref().map_or(self.states.address() + learnt, |window| window.address()),
            control: if self.window.is_some() { 0 } else { self.control.address() },
            counters: self.states.address() + self.counters_at() as u64,
            ring_log2: self.sizes.ring_log2,
            rings_log2: self.sizes.rings_log2,
            gates: self.gates(),
        }
    }

    /// Where the first stream's gate is.
    fn gates(&self) -> u64 {
        self.states.address() + (self.sizes.rings() * STRIDE) as u64
    }

    /// Where counters begin in `states`.
    fn counters_at(&self) -> usize {
        self.sizes.rings() * STRIDE + self.streams as usize * size_of::<Gate>()
    }

    /// Writes the gate of a stream, now: kernels may run. Nothing is done for a stream that came after the rings.
    pub(crate) fn set_gate(&self, stream: u32, gate: &Gate) -> Result<(), offload::Error> {
        if stream > self.streams {
            return Ok(());
        }
        let words = gate.words().map(u32::to_ne_bytes);
        // SAFETY: the gate lies inside `states`, which lives as long as `self`; waves load it as words, any mixture of which is a gate to them.
        unsafe { self.device.backend().write(Rings::gate_of(self.gates(), stream), words.as_flattened()) }
    }

    pub(crate) fn device(&self) -> &Device {
        &self.device
    }

    pub(crate) fn sizes(&self) -> Sizes {
        self.sizes
    }

    /// Numbers its rings in a recording.
    pub(crate) fn number_rings(&mut self, first: u32) {
        self.first_ring = first;
    }

    /// The rings of a recording: areas of the latest messages are rings there.
    pub(crate) fn recorded_rings(&self) -> u32 {
        (self.sizes.rings() as u32) << u32::from(self.has_latest)
    }

    /// The number of its first ring in a recording.
    pub(crate) fn first_ring(&self) -> u32 {
        self.first_ring
    }

    /// The most granules of a ring that can be reserved and not read: all of it, and what every wave that can run waits for room with.
    pub(crate) fn most_reserved(&self) -> u32 {
        (1 << self.sizes.ring_log2) + self.device.info().resident_waves.saturating_mul(MAX_GRANULES)
    }

    pub(crate) fn is_wide(&self) -> bool {
        self.wide
    }

    pub(crate) fn progress(&self) -> &[Progress] {
        &self.progress
    }

    /// Says that no kernel runs, and what has been reserved in each ring; `None`: one may run again.
    pub(crate) fn set_ends(&self, heads: Option<&[u32]>) {
        for (ring, progress) in self.progress.iter().enumerate() {
            progress.set_end(heads.map(|heads| End::Head(heads[ring])));
        }
        // Release pairs with the acquire in `is_ending`: behind the ends.
        self.ending.store(heads.is_some(), Ordering::Release);
    }

    /// Says that the device is lost: the rings are searched.
    pub(crate) fn lose(&self) {
        self.progress.iter().for_each(|progress| progress.set_end(Some(End::Lost)));
        // Both release, behind the ends: pairs with `is_lost` and `is_ending`.
        self.lost.store(true, Ordering::Release);
        self.ending.store(true, Ordering::Release);
    }

    /// Whether the device is lost.
    pub(crate) fn is_lost(&self) -> bool {
        // Pairs with `lose`.
        self.lost.load(Ordering::Acquire)
    }

    /// Whether all rings of a lost device have been searched.
    pub(crate) fn is_searched(&self) -> bool {
        self.progress.iter().all(|progress| progress.end() == Some(End::Searched))
    }

    /// Wants what is in the areas of the latest messages; the number of this recall.
    pub(crate) fn recall(&self) -> u64 {
        // Release pairs with the acquire in `recalls`: what kernels stored is seen.
        self.recalls.fetch_add(1, Ordering::Release) + 1
    }

    /// The last recall; 0 if there are no areas.
    pub(crate) fn recalls(&self) -> u64 {
        // Pairs with `recall`.
        if self.has_latest { self.recalls.load(Ordering::Acquire) } else { 0 }
    }

    /// Whether a recall has been answered for all rings.
    pub(crate) fn is_recalled(&self, recall: u64) -> bool {
        // Pairs with `Progress::answer`.
        !self.has_latest || self.progress.iter().all(|progress| progress.recalled.load(Ordering::Acquire) >= recall)
    }

    /// Whether any ring has an [end](Progress::end).
    pub(crate) fn is_ending(&self) -> bool {
        // Pairs with `set_ends`.
        self.ending.load(Ordering::Acquire)
    }

    /// Where a message begins in a ring of which so many granules have been read.
    ///
    /// # Panics
    /// When there is no such ring.
    pub(crate) fn eye(&self, ring: usize, position: u64) -> Eye {
        let at = Position::new(position as u32, self.sizes.ring_log2);
        Eye { first: self.ring(ring).at(at.unit(0), 1), phase: at.phase(0) }
    }

    /// The memory of a ring.
    ///
    /// # Panics
    /// When there is no such ring.
    pub(crate) fn ring(&self, ring: usize) -> RingView<'_> {
        assert!(ring < self.sizes.rings());
        self.view(ring)
    }

    /// The memory of a ring's area of the latest messages, if it has one.
    ///
    /// # Panics
    /// When there is no such ring.
    pub(crate) fn latest(&self, ring: usize) -> Option<RingView<'_>> {
        assert!(ring < self.sizes.rings());
        // The areas lie behind the last ring.
        self.has_latest.then(|| self.view(self.sizes.rings() + ring))
    }

    /// The memory of a ring, or of an area, that there is.
    fn view(&self, ring: usize) -> RingView<'_> {
        let units = &self.data;
        // SAFETY: the callers'; it lies inside the memory, which has room for all of them.
        let first = unsafe { NonNull::new_unchecked(units.as_ptr().add(ring * self.sizes.stride() / 4)) };
        RingView { first, units: (GRANULE as usize) << self.sizes.ring_log2, _memory: units }
    }

    /// Tells the waves of a ring what has been read.
    ///
    /// # Panics
    /// When there is no such ring.
    pub(crate) fn tell(&self, ring: usize, credit: Credit) {
        assert!(ring < self.sizes.rings());
        let word = u64::from(credit.freed) | u64::from(credit.closed) << 32;
        let Some(window) = &self.window else {
            // SAFETY: the control line of this ring, inside memory that lives as long as `self`, which both sides access as an atomic.
            let control = unsafe { AtomicU64::from_ptr(self.control.as_ptr().add(ring * STRIDE / 8)) };
            // Release, so that what was read is read before its room is used again. Pairs with `RingMachine::load_credit`.
            return control.store(word, Ordering::Release);
        };
        let mut line = Line::default();
        (line.0[0], line.0[1]) = (credit.freed, credit.closed);
        let store: LineStore = window.line_store();
        // Before: loads from the ring are done. After: the line leaves the processor.
        store.order();
        // SAFETY: the control line of this ring, inside the window; the window has found out that the processor has these instructions.
        unsafe { store.store(window.as_ptr().as_ptr().add(ring * STRIDE), &line) };
        store.fence();
    }

    /// Whether [`RingSet::close`] has been called.
    pub(crate) fn closed(&self) -> &Arc<AtomicBool> {
        &self.closed
    }

    /// Tells all waves that nobody reads any more.
    pub(crate) fn close(&self) {
        // Release pairs with the acquire of who asks.
        self.closed.store(true, Ordering::Release);
        for (ring, progress) in self.progress.iter().enumerate() {
            // Relaxed: the readers have ended.
            self.tell(ring, Credit { freed: progress.done.load(Ordering::Relaxed) as u32, closed: 1 });
        }
    }

    /// What has been reserved in each ring, low 32 bits, and what was counted for each stream.
    pub(crate) fn read_device(&self, queue: &Queue) -> Result<(Vec<u32>, Vec<Counters>), offload::Error> {
        let bytes = queue.read(&self.states)?;
        let word = |at: usize| u64::from_ne_bytes(*bytes[at..].first_chunk().expect("inside the memory"));
        let heads = (0..self.sizes.rings()).map(|ring| word(ring * STRIDE) as u32).collect();
        let behind = self.counters_at();
        let of_stream = |stream: u32| {
            let mut sum = Counters::default();
            for ring in 0..self.sizes.rings() as u32 {
                let at = behind + Rings::counters_of(self.sizes.rings_log2, stream, ring) as usize * size_of::<Counters>();
                sum.dropped += word(at);
                sum.waited += word(at + 8);
                sum.filtered += word(at + 16);
                sum.sent += word(at + 24);
            }
            sum
        };
        Ok((heads, (1..=self.streams).map(of_stream).collect()))
    }
}

/// A window of so many bytes, if there is any way to one. It needs no test for torn words: credit is read 8 bytes at a time.
fn open_window(device: &Device, bytes: usize) -> Option<Window> {
    match device.window(bytes) {
        Ok(window) => Some(window),
        Err(why @ (WindowError::Off | WindowError::NoLineStore { .. } | WindowError::NoProvider { .. })) => {
            tracing::debug!(%why, "no window for rings");
            None
        }
        Err(why) => {
            tracing::warn!(%why, "the rings have no window");
            None
        }
    }
}

/// Where the next message of a ring begins: all that a look at a ring needs in which there is nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Eye {
    first: *const u32,
    phase: u32,
}

// SAFETY: an address, which only `see` follows; what that asks for goes for any thread.
unsafe impl Send for Eye {}

impl Eye {
    /// Which of as many as 64 see the first unit of a message: a bit for each.
    ///
    /// # Safety
    /// The [`RingSet`]s of all of them are there.
    #[inline(always)]
    pub(crate) unsafe fn see(eyes: &[Self]) -> u64 {
        eyes.iter().enumerate().fold(0, |seen, (at, eye)| {
            // SAFETY: a unit inside a ring that is there, aligned. Volatile, because a device writes it.
            let unit = unsafe { eye.first.read_volatile() };
            seen | u64::from((unit ^ eye.phase) & PHASE == 0) << at
        })
    }
}

/// The units of one ring.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RingView<'a> {
    first: NonNull<u32>,
    units: usize,
    _memory: &'a HostMemory<u32>,
}

impl RingView<'_> {
    #[inline(always)]
    fn at(&self, unit: u32, count: usize) -> *const u32 {
        assert!(unit as usize + count <= self.units, "inside the ring");
        // SAFETY: as just checked.
        unsafe { self.first.as_ptr().add(unit as usize) }
    }
}

impl RingMemory for RingView<'_> {
    #[inline(always)]
    fn load_four(&self, unit: u32) -> [u32; 4] {
        // SAFETY: inside the ring, and aligned: the ring is aligned to a line, and `unit` a multiple of four.
        unsafe { load(self.at(unit, 4)) }
    }

    #[inline(always)]
    fn load_eight(&self, unit: u32) -> [u32; 8] {
        // SAFETY: as above, a multiple of eight.
        unsafe { load_eight(self.at(unit, 8)) }
    }

    #[inline(always)]
    fn load_eights(&self, unit: u32, count: u32) -> impl Iterator<Item = [u32; 8]> {
        let from = self.at(unit, 8 * count as usize);
        // SAFETY: the range was checked, and lives as long as `self`. It may change at any time, which a cell may.
        let eights = unsafe { std::slice::from_raw_parts(from.cast::<UnsafeCell<Eight>>(), count as usize) };
        // SAFETY: as in `load_eight`.
        eights.iter().map(|eight| unsafe { load_eight(eight.get().cast()) })
    }

    #[inline(always)]
    fn copy(&self, unit: u32, phase: u32, out: &mut [u32]) -> bool {
        let from = self.at(unit, out.len());
        // SAFETY: the range was checked; see `load_four` for the rest.
        unsafe { copy(from, phase, out) }
    }

    #[inline(always)]
    fn prefetch(&self, unit: u32) {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            // SAFETY: a hint, for any address.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(self.first.as_ptr().wrapping_add(unit as usize).cast()) };
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = unit;
    }

    fn repair(&self, unit: u32, value: u32) {
        // SAFETY: inside the ring; no kernel writes it any more. Relaxed: this thread reads it next.
        unsafe { AtomicU32::from_ptr(self.at(unit, 1).cast_mut()) }.store(value, Ordering::Relaxed);
    }
}

/// What the processor loads at once.
#[cfg(target_arch = "x86_64")]
type Quad = std::arch::x86_64::__m128i;
#[cfg(not(target_arch = "x86_64"))]
type Quad = [u32; 4];

/// What the best of processors load at once.
#[cfg(target_arch = "x86_64")]
type Eight = std::arch::x86_64::__m256i;
#[cfg(not(target_arch = "x86_64"))]
type Eight = [u32; 8];

/// Loads eight units.
///
/// # Safety
/// As [`load`], of eight units, aligned to 32.
#[inline(always)]
unsafe fn load_eight(from: *const u32) -> [u32; 8] {
    // SAFETY: the caller's; as in `load`. Where processors do not load 32 bytes at once it is two loads.
    let eight = unsafe { from.cast::<Eight>().read_volatile() };
    // SAFETY: both are 32 bytes, of which any are eight numbers.
    unsafe { std::mem::transmute::<Eight, [u32; 8]>(eight) }
}

/// Loads four units.
///
/// # Safety
/// `from` is valid for reads of four units and aligned to 16. A device may write them meanwhile.
#[inline(always)]
unsafe fn load(from: *const u32) -> [u32; 4] {
    // SAFETY: the caller's. Volatile, because a device writes; it stores units of 4 bytes, and processors load those of an aligned quad whole.
    let quad = unsafe { from.cast::<Quad>().read_volatile() };
    // SAFETY: both are 16 bytes, of which any are four numbers.
    unsafe { std::mem::transmute::<Quad, [u32; 4]>(quad) }
}

/// Copies units, a multiple of four of them, and says whether all have the phase.
///
/// # Safety
/// As [`load`], of as many units.
#[inline(always)]
unsafe fn copy(from: *const u32, phase: u32, out: &mut [u32]) -> bool {
    let mut differ = [0; 8];
    let (eights, rest) = out.as_chunks_mut::<8>();
    let done = eights.len() * 8;
    for (i, out) in eights.iter_mut().enumerate() {
        // SAFETY: the caller's.
        let (low, high) = unsafe { (load(from.add(8 * i)), load(from.add(8 * i + 4))) };
        for k in 0..4 {
            differ[k] |= low[k] ^ phase;
            differ[k + 4] |= high[k] ^ phase;
        }
        out[..4].copy_from_slice(&low);
        out[4..].copy_from_slice(&high);
    }
    for (i, out) in rest.as_chunks_mut::<4>().0.iter_mut().enumerate() {
        // SAFETY: the caller's.
        let quad = unsafe { load(from.add(done + 4 * i)) };
        for k in 0..4 {
            differ[k] |= quad[k] ^ phase;
        }
        *out = quad;
    }
    differ.iter().fold(0, |all, one| all | one) & PHASE == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rings_are_as_many_as_processors_and_share_the_memory() {
        assert_eq!(Sizes::new(64 << 20, 132), Sizes { rings_log2: 7, ring_log2: 13 }, "128 rings of 512 KiB");
        assert_eq!(Sizes::new(1 << 20, 132), Sizes { rings_log2: 4, ring_log2: 10 }, "16 of the least size");
        assert_eq!(Sizes::new(0, 4), Sizes { rings_log2: 0, ring_log2: 10 });
        assert_eq!(Sizes::new(usize::MAX, 4), Sizes { rings_log2: 2, ring_log2: 20 });
    }

    #[test]
    fn a_ring_is_read_as_it_was_written_and_units_of_another_phase_are_seen() {
        let device = Device::sim(offload::SimConfig::default()).expect("a simulator");
        let set = RingSet::new(&device, Sizes { rings_log2: 1, ring_log2: 10 }, 1, false, false, false).expect("rings");
        let ring = set.ring(1);
        for unit in 0..64 {
            ring.repair(unit, unit | PHASE);
        }
        let mut units = [0; 64];
        assert!(ring.copy(0, PHASE, &mut units));
        assert!(units.iter().enumerate().all(|(i, unit)| *unit == i as u32 | PHASE));
        assert_eq!(ring.load_four(8), [8, 9, 10, 11].map(|unit| unit | PHASE));
        ring.repair(37, 37);
        assert!(!ring.copy(0, PHASE, &mut units) && ring.copy(0, PHASE, &mut units[..36]));
        assert!(set.ring(0).load_four(0) == [0; 4], "the other ring is another's");
    }

    #[test]
    fn progress_goes_on_where_its_low_bits_wrap() {
        let progress = Progress::default();
        progress.advance((1 << 32) - 2);
        assert!(progress.has_reached(u32::MAX - 1) && !progress.has_reached(3));
        progress.advance((1 << 32) + 3);
        assert!(progress.has_reached(3) && !progress.has_reached(4));
        assert_eq!(progress.end(), None);
        for end in [None, Some(End::Head(0)), Some(End::Head(u32::MAX)), Some(End::Lost), Some(End::Searched)] {
            progress.set_end(end);
            assert_eq!(progress.end(), end);
        }
    }
}
