//! The memory of a program's rings: what its waves write, and what they are told.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use hostcall_abi::stream::header::MAX_GRANULES;
use hostcall_abi::stream::rings::{MAX_RINGS_LOG2, RingState, STRIDE};
use hostcall_abi::stream::unit::Position;
use hostcall_abi::stream::{Bounds, Counters, Credit, GRANULE, Gate, MAX_RING_LOG2, MIN_RING_LOG2, Rings};
use offload::{Device, HostMemory, Line, LineStore, Memory, Queue, Window, WindowError};

use crate::filter::Filter;
use crate::view::{Eye, RingView};

/// Bytes of a granule.
/// Bytes of what the host says of a stream.
const GATE: usize = size_of::<Gate>() + size_of::<Bounds>();
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

    fn ring_bytes(self) -> usize {
        GRANULE_BYTES << self.ring_log2
    }

    fn stride(self) -> usize {
        self.ring_bytes() + GAP
    }

    /// Where a ring begins: there is a gap before the first, too.
    fn at(self, ring: usize) -> usize {
        GAP + ring * self.stride()
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
    /// Of its device, as `dispatch` numbers them.
    source: u16,
    /// Nobody reads them any more.
    closed: Arc<AtomicBool>,
    /// What readers publish of each ring.
    progress: Box<[Progress]>,
    /// Whether rings have ends.
    ending: AtomicBool,
    /// Whether the device is lost.
    lost: AtomicBool,
    /// Whether the program may be launched by others, of which nobody tells.
    elsewhere: AtomicBool,
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
    /// Rings on a device, for so many streams. Control lines go into a window if the device has one and it is wanted;
    /// `huge`: rings lie on huge pages; `latest`: each has an area of the latest messages.
    pub(crate) fn new(device: &Device, sizes: Sizes, streams: u32, window: bool, huge: bool, latest: bool) -> Result<Self, offload::Error> {
        let window = if window { open_window(device, sizes.rings() * STRIDE) } else { None };
        let units = sizes.at(sizes.rings() * (1 + usize::from(latest))) / 4;
        // Less than a few of them would mostly be waste.
        let huge = huge && 4 * units >= HUGE_FROM;
        let data = if huge { device.alloc_host_huge::<u32>(units)? } else { device.alloc_host::<u32>(units)? };
        let control = device.alloc_host::<u64>(sizes.rings() * STRIDE / 8)?;
        let streams = streams as usize;
        let counters = streams * sizes.rings() * size_of::<Counters>();
        // Bounds and gates first: they are aligned most.
        let states = device.alloc::<u8>(sizes.rings() * STRIDE + streams * GATE + counters.max(1))?;
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
            source: u16::MAX,
            closed: Arc::default(),
            progress,
            ending: AtomicBool::new(false),
            lost: AtomicBool::new(false),
            elsewhere: AtomicBool::new(false),
        };
        (0..sizes.rings()).for_each(|ring| set.tell(ring, Credit::default()));
        Ok(set)
    }

    /// What the program must be told.
    pub(crate) fn descriptor(&self) -> Rings {
        let learnt = std::mem::offset_of!(RingState, credit) as u64;
        Rings {
            data: self.data.address() + self.sizes.at(0) as u64,
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
        self.states.address() + (self.sizes.rings() * STRIDE + self.streams as usize * size_of::<Bounds>()) as u64
    }

    /// Where counters begin in `states`.
    fn counters_at(&self) -> usize {
        self.sizes.rings() * STRIDE + self.streams as usize * GATE
    }

    /// Writes gate and bounds of a stream, now: kernels may run. Nothing is done for a stream that came after the
    /// rings.
    pub(crate) fn set_filter(&self, stream: u32, filter: &Filter) -> Result<(), offload::Error> {
        if stream > self.streams {
            return Ok(());
        }
        let write = |at, words: [u32; 8]| {
            let words = words.map(u32::to_ne_bytes);
            // SAFETY: both lie inside `states`, which lives as long as `self`; waves load them as words, any mixture of
            // which is a gate or bounds to them.
            unsafe { self.device.backend().write(at, words.as_flattened()) }
        };
        write(Rings::bounds_of(self.gates(), stream), filter.bounds().words())?;
        write(Rings::gate_of(self.gates(), stream), filter.gate().words())
    }

    pub(crate) fn device(&self) -> &Device {
        &self.device
    }

    pub(crate) fn sizes(&self) -> Sizes {
        self.sizes
    }

    /// Says whose launches its messages are of.
    pub(crate) fn set_source(&mut self, source: u16) {
        self.source = source;
    }

    /// Whose launches its messages are of.
    pub(crate) fn source(&self) -> u16 {
        self.source
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

    /// The most granules of a ring that can be reserved and not read: all of it, and what every wave that can run waits
    /// for room with.
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

    /// The program may be launched by others, of which nobody tells. The threads are woken afterwards.
    pub(crate) fn set_launched_elsewhere(&self) {
        // Pairs with `is_launched_elsewhere`.
        self.elsewhere.store(true, Ordering::Release);
    }

    /// Whether the program may be launched by others, of which nobody tells.
    pub(crate) fn is_launched_elsewhere(&self) -> bool {
        // Pairs with `set_launched_elsewhere`.
        self.elsewhere.load(Ordering::Acquire)
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
        self.ring(ring).eye(Position::new(position as u32, self.sizes.ring_log2))
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
        RingView::new(&self.data, self.sizes.at(ring) / 4, (GRANULE as usize) << self.sizes.ring_log2)
    }

    /// Tells the waves of a ring what has been read.
    ///
    /// # Panics
    /// When there is no such ring.
    pub(crate) fn tell(&self, ring: usize, credit: Credit) {
        assert!(ring < self.sizes.rings());
        let word = u64::from(credit.freed) | u64::from(credit.closed) << 32;
        let Some(window) = &self.window else {
            // SAFETY: the control line of this ring, inside memory that lives as long as `self`, which both sides
            // access as an atomic.
            let control = unsafe { AtomicU64::from_ptr(self.control.as_ptr().add(ring * STRIDE / 8)) };
            // Release, so that what was read is read before its room is used again. Pairs with
            // `RingMachine::load_credit`.
            return control.store(word, Ordering::Release);
        };
        let mut line = Line::default();
        (line.0[0], line.0[1]) = (credit.freed, credit.closed);
        let store: LineStore = window.line_store();
        // Before: loads from the ring are done. After: the line leaves the processor.
        store.order();
        // SAFETY: the control line of this ring, inside the window; the window has found out that the processor has
        // these instructions.
        unsafe { store.store(window.as_ptr().as_ptr().add(ring * STRIDE), &line) };
        store.fence();
    }

    /// The marks of a ring, in the gaps before and behind it: how far its reader has come, where that is put back with
    /// what the device can reach.
    ///
    /// # Panics
    /// When there is no such ring.
    pub(crate) fn marks(&self, ring: usize) -> [&AtomicU64; 2] {
        assert!(ring < self.sizes.rings());
        let start = self.sizes.at(ring);
        // SAFETY: a word each of the last line of the gap before and of the first line of the gap behind the ring,
        // inside memory that lives as long as `self`; all accesses are atomic.
        [start - GRANULE_BYTES, start + self.sizes.ring_bytes()]
            .map(|at| unsafe { AtomicU64::from_ptr(self.data.as_ptr().byte_add(at).cast()) })
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

    /// What its host memory holds.
    #[cfg(test)]
    pub(crate) fn memory_now(&self) -> (Vec<u32>, Vec<u64>) {
        let (mut data, mut control) = (vec![0; self.data.len()], vec![0; self.control.len()]);
        self.data.read(0, &mut data).expect("host memory");
        self.control.read(0, &mut control).expect("host memory");
        (data, control)
    }

    /// Puts it back.
    #[cfg(test)]
    pub(crate) fn put_back(&self, (data, control): &(Vec<u32>, Vec<u64>)) {
        self.data.write(0, data).expect("host memory");
        self.control.write(0, control).expect("host memory");
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

/// A window of so many bytes, if there is any way to one. It needs no test for torn words: credit is read 8 bytes at a
/// time.
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
