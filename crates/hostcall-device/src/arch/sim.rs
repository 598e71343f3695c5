//! The CPU simulator. Its [`SimOps`] table has the operations of lanes, and device memory is the host's own memory.

#[path = "packet_words.rs"]
pub(crate) mod packet_words;

use super::ring::RingMachine;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering, fence};
use hostcall_abi::descriptor::Control;
use hostcall_abi::lanes::Lanes;
use hostcall_abi::port::Arch;
use hostcall_abi::sim::{FOR_WAVES, LaneInfo, SimOps};
use hostcall_abi::stream::{Rings, Space};
use hostcall_abi::{Descriptor, Tag, Word};

/// Filled by the simulator after it has loaded the image, before any kernel runs.
#[cfg(not(target_vendor = "hostcall"))]
#[unsafe(no_mangle)]
#[used]
static __hostcall_sim_ops: AtomicPtr<SimOps> = AtomicPtr::new(core::ptr::null_mut());
#[cfg(target_vendor = "hostcall")]
unsafe extern "C" {
    safe static __hostcall_sim_ops: AtomicPtr<SimOps>;
}

#[cfg(not(target_vendor = "hostcall"))]
#[unsafe(no_mangle)]
#[used]
static __hostcall_sim_version: u32 = hostcall_abi::sim::SIM_VERSION;

#[inline(always)]
fn ops() -> &'static SimOps {
    // Pairs with the simulator's store at load time; relaxed because the launch that runs this lane came
    // after it.
    let table = __hostcall_sim_ops.load(Ordering::Relaxed);
    // SAFETY: device code runs only inside a simulated lane, and the simulator stores the address of a
    // table that outlives the image before it starts one.
    unsafe { &*table }
}

#[inline(always)]
fn info() -> &'static LaneInfo {
    // SAFETY: called by a simulated lane; the answer lives as long as the lane.
    unsafe { &*(ops().lane_info)() }
}

#[inline(always)]
pub(crate) fn group_id() -> [u32; 3] {
    info().group
}
#[inline(always)]
pub(crate) fn group_count() -> [u32; 3] {
    info().groups
}
#[inline(always)]
pub(crate) fn local_id() -> [u32; 3] {
    info().local
}
#[inline(always)]
pub(crate) fn group_size() -> [u32; 3] {
    info().local_size
}

/// Whether lanes of one wave that have parted all make progress: each is a fiber or thread of its own.
pub(crate) const INDEPENDENT_LANES: bool = true;

/// Lanes of a wave.
#[inline(always)]
pub(crate) fn wave_size() -> u32 {
    info().wave_size
}

/// The simulated SM.
#[inline(always)]
pub(crate) fn sm() -> u32 {
    info().sm
}

/// Low bits of the launch's number.
#[inline(always)]
pub(crate) fn launch() -> u32 {
    info().launch
}

/// The wave's slot among all resident waves.
#[inline(always)]
pub(crate) fn resident_wave() -> u32 {
    info().wave
}

/// The lanes that reach the call at `site` together.
#[inline(always)]
pub(crate) fn converged_at(site: usize) -> u64 {
    // SAFETY: called by a simulated lane.
    unsafe { (ops().active_mask)(site) }
}

/// Waits for the whole workgroup.
#[inline(always)]
pub(crate) fn sync_group() {
    // SAFETY: called by a simulated lane.
    unsafe { (ops().sync_group)() }
}

/// 64 bytes shared by the workgroup.
#[inline(always)]
pub(crate) fn group_scratch() -> *mut u8 {
    // SAFETY: called by a simulated lane.
    unsafe { (ops().group_scratch)() }
}

/// Whether lanes that are in no hurry are woken.
pub(crate) const WAKES_PATIENT: bool = true;

/// Ends the waits of lanes that are in no hurry and wait for this.
#[inline(always)]
pub(crate) fn wake_patient(what: u32) {
    // SAFETY: called by a simulated lane.
    unsafe { (ops().wake_patient)(what) }
}

/// A word of the calling lane's own, 0 when it starts.
#[inline(always)]
pub(crate) fn lane_word() -> u64 {
    // SAFETY: called by a simulated lane; nobody else uses its word.
    unsafe { (ops().lane_word)().read() }
}

/// Sets the calling lane's word.
#[inline(always)]
pub(crate) fn set_lane_word(word: u64) {
    // SAFETY: as above.
    unsafe { (ops().lane_word)().write(word) };
}

/// Orders everything before it against everything after it.
#[inline(always)]
pub(crate) fn fence_system() {
    fence(Ordering::SeqCst);
}

/// As [`fence_system`]: device and host memory are one.
#[inline(always)]
pub(crate) fn fence_device() {
    fence(Ordering::SeqCst);
}

/// Whether an address is in the calling lane's own stack, where other lanes see theirs: there is one memory.
#[inline(always)]
pub(crate) fn is_private(_: *const u8) -> bool {
    false
}

/// Which memory an address is in.
#[inline(always)]
pub(crate) fn space(address: *const u8) -> Space {
    // SAFETY: called by a simulated lane.
    Space::new(u64::from(unsafe { (ops().space)(address as usize) }))
}

/// Ends the calling lane.
#[inline(always)]
pub(crate) fn exit_lane() -> ! {
    // SAFETY: called by a simulated lane.
    unsafe { (ops().exit_lane)() }
}

/// Reads 16 bytes of staging.
///
/// # Safety
/// `from` is 16-byte aligned and readable, and the host has handed the slot over.
#[inline(always)]
pub(crate) unsafe fn load_bulk(from: *const [u32; 4]) -> [u32; 4] {
    // SAFETY: the caller's.
    unsafe { from.read() }
}

/// Writes 16 bytes of staging.
///
/// # Safety
/// `to` is 16-byte aligned and writable, and the caller owns the slot.
#[inline(always)]
pub(crate) unsafe fn store_bulk(to: *mut [u32; 4], value: [u32; 4]) {
    // SAFETY: the caller's.
    unsafe { to.write(value) }
}

/// Sets a lock word to 1 and returns what it was.
///
/// # Safety
/// `word` is a valid word that is used as a lock only.
#[inline(always)]
pub(crate) unsafe fn lock_word(word: *mut u32) -> u32 {
    // SAFETY: the caller's. Acquire pairs with the release in `unlock_word`.
    unsafe { AtomicU32::from_ptr(word) }.swap(1, Ordering::Acquire)
}

/// Sets a lock word to 0.
///
/// # Safety
/// As [`lock_word`]; the caller holds the lock.
#[inline(always)]
pub(crate) unsafe fn unlock_word(word: *mut u32) {
    // SAFETY: the caller's. Release pairs with the acquire in `lock_word`.
    unsafe { AtomicU32::from_ptr(word) }.store(0, Ordering::Release);
}

/// Wakes nobody: a consumer looks at its signals by itself.
///
/// # Safety
/// None is needed. Elsewhere there is.
#[inline(always)]
unsafe fn wake(_signal: u64) {}

/// One word by one 16-byte access.
#[cfg(target_arch = "x86_64")]
mod wide {
    use core::arch::asm;
    use core::arch::x86_64::__m128i;
    use hostcall_abi::Word;

    #[inline(always)]
    pub(super) unsafe fn load(at: *const Word) -> Word {
        let value: __m128i;
        // SAFETY: the caller's: a 16-byte aligned word of the buffer. `movdqa` is one access on every
        // processor with AVX, which the host checked before it opened the simulator.
        unsafe {
            asm!("movdqa {value}, [{at}]", value = out(xmm_reg) value, at = in(reg) at, options(readonly, nostack, preserves_flags));
            core::mem::transmute::<__m128i, Word>(value)
        }
    }

    #[inline(always)]
    pub(super) unsafe fn store(at: *mut Word, word: Word) {
        // SAFETY: as in `load`.
        unsafe {
            let value = core::mem::transmute::<Word, __m128i>(word);
            asm!("movdqa [{at}], {value}", value = in(xmm_reg) value, at = in(reg) at, options(nostack, preserves_flags));
        }
    }
}

/// One word by one 16-byte access.
#[cfg(target_arch = "aarch64")]
mod wide {
    use core::arch::asm;
    use hostcall_abi::Word;

    #[inline(always)]
    pub(super) unsafe fn load(at: *const Word) -> Word {
        let (low, high): (u64, u64);
        // SAFETY: the caller's: a 16-byte aligned word of the buffer. `ldp` of an aligned pair is one access
        // with FEAT_LSE2, which the host checked before it opened the simulator.
        unsafe {
            asm!("ldp {low}, {high}, [{at}]", low = out(reg) low, high = out(reg) high, at = in(reg) at, options(readonly, nostack, preserves_flags))
        };
        Word([low as u32, (low >> 32) as u32, high as u32, (high >> 32) as u32])
    }

    #[inline(always)]
    pub(super) unsafe fn store(at: *mut Word, word: Word) {
        let [a, b, c, d] = word.0;
        let (low, high) = (u64::from(a) | u64::from(b) << 32, u64::from(c) | u64::from(d) << 32);
        // SAFETY: as in `load`.
        unsafe {
            asm!("stp {low}, {high}, [{at}]", low = in(reg) low, high = in(reg) high, at = in(reg) at, options(nostack, preserves_flags))
        };
    }
}

/// Written by the host while no kernel of the program runs.
#[repr(transparent)]
struct HostWritten<T>(core::cell::UnsafeCell<T>);

// SAFETY: lanes only read it; the host writes it between kernels.
unsafe impl<T> Sync for HostWritten<T> {}

#[cfg(not(target_vendor = "hostcall"))]
#[unsafe(no_mangle)]
#[used]
static __hostcall_device: HostWritten<Descriptor> = HostWritten(core::cell::UnsafeCell::new(Descriptor::DETACHED));
#[cfg(not(target_vendor = "hostcall"))]
#[unsafe(no_mangle)]
#[used]
static __hostcall_rings: HostWritten<Rings> = HostWritten(core::cell::UnsafeCell::new(Rings::DETACHED));
#[cfg(target_vendor = "hostcall")]
unsafe extern "C" {
    safe static __hostcall_device: HostWritten<Descriptor>;
    safe static __hostcall_rings: HostWritten<Rings>;
}

/// The descriptor as the host wrote it.
#[inline(always)]
pub(crate) fn descriptor() -> &'static Descriptor {
    // SAFETY: nobody writes it while a lane runs.
    unsafe { &*__hostcall_device.0.get() }
}

/// The rings as the host wrote them.
#[inline(always)]
pub(crate) fn rings() -> &'static Rings {
    // SAFETY: nobody writes it while a lane runs.
    unsafe { &*__hostcall_rings.0.get() }
}

/// A service's number, which the host writes while no kernel of the program runs.
///
/// # Safety
/// `word` is the address of a service's word.
#[inline(always)]
pub(crate) unsafe fn load_number(word: *const u32) -> u32 {
    // SAFETY: the caller's. Volatile: a host that registers a service late may write it while lanes run.
    unsafe { word.read_volatile() }
}

/// The program's port buffer.
#[derive(Clone, Copy)]
pub(crate) struct Machine;

impl Machine {
    #[inline(always)]
    fn state(self, port: u32) -> &'static AtomicU64 {
        // SAFETY: the word of a port of this buffer; only atomics touch it.
        unsafe { AtomicU64::from_ptr((descriptor().states + u64::from(port) * 8) as *mut u64) }
    }

    #[inline(always)]
    fn word32(at: u64) -> &'static AtomicU32 {
        // SAFETY: callers pass the address of a 32-bit word of the buffer, which both sides treat as an atomic.
        unsafe { AtomicU32::from_ptr(at as *mut u32) }
    }
}

impl Lanes for Machine {
    #[inline(always)]
    fn lane(self) -> u32 {
        info().lane
    }

    #[inline(always)]
    fn ballot(self, mask: u64, predicate: bool) -> u64 {
        if mask.is_power_of_two() {
            return if predicate { mask } else { 0 };
        }
        // SAFETY: called by a simulated lane, which is one of `mask`.
        unsafe { (ops().ballot)(mask, u32::from(predicate)) }
    }

    #[inline(always)]
    fn broadcast(self, mask: u64, value: u32, from: u32) -> u32 {
        if mask.is_power_of_two() {
            return value;
        }
        // SAFETY: as above.
        unsafe { (ops().shuffle)(mask, u64::from(value), from) as u32 }
    }

    #[inline(always)]
    fn sync(self, mask: u64) {
        if !mask.is_power_of_two() {
            // SAFETY: as above.
            unsafe { (ops().sync_wave)(mask) }
        }
    }

    #[inline(always)]
    fn pause(self, attempt: u32) {
        // SAFETY: called by a simulated lane.
        unsafe { (ops().pause)(attempt) }
    }

    #[inline(always)]
    fn pause_for_waves(self, attempt: u32) {
        self.pause(attempt.min(FOR_WAVES - 1) | FOR_WAVES);
    }

    #[inline(always)]
    fn now_ns(self) -> u64 {
        // SAFETY: called by a simulated lane.
        unsafe { (ops().clock_ns)() }
    }
}

impl Arch for Machine {
    #[inline(always)]
    fn first_port(self) -> u32 {
        resident_wave() % self.ports()
    }

    from_descriptor!();

    #[inline(always)]
    fn launch(self) -> u32 {
        launch()
    }

    #[inline(always)]
    fn lock_port(self, port: u32) -> u64 {
        // Acquire pairs with the release in `unlock_port` of the former owner.
        self.state(port).fetch_or(1, Ordering::Acquire)
    }

    #[inline(always)]
    fn unlock_port(self, port: u32, word: u64) {
        // Release pairs with the acquire in `lock_port` of the next owner.
        self.state(port).store(word, Ordering::Release);
    }

    #[inline(always)]
    fn mark(self, port: u32) -> u32 {
        // Pairs with the server's store of a mark.
        Self::word32(descriptor().mark(port)).load(Ordering::Relaxed)
    }

    #[inline(always)]
    fn store_request(self, port: u32, index: usize, word: Word) {
        let d = descriptor();
        let index = u64::from(port) * u64::from(d.request_words) + index as u64;
        // SAFETY: a word of the request area of a port that the caller owns. Pairs with the server's `load_request`.
        unsafe { wide::store((d.requests + index * 16) as *mut Word, word) };
    }

    #[inline(always)]
    fn load_reply(self, port: u32, index: usize) -> Word {
        let d = descriptor();
        let index = u64::from(port) * u64::from(d.reply_words) + index as u64;
        // SAFETY: a word of the reply area. Pairs with the server's `store_reply`.
        unsafe { wide::load((d.replies + index * 16) as *const Word) }
    }

    #[inline(always)]
    fn ring(self, port: u32, tag: Tag) {
        // Pairs with the server's sweep; a hint only.
        Self::word32(descriptor().doorbells + u64::from(port) * 4).store(u32::from(tag.seq()), Ordering::Relaxed);
    }

    #[inline(always)]
    fn closed(self) -> u32 {
        // Pairs with the server's release store when it shuts down: the answers it gave before are seen.
        Self::word32(descriptor().control + core::mem::offset_of!(Control, closed) as u64).load(Ordering::Acquire)
    }

    #[inline(always)]
    fn known_closed(self) -> u32 {
        // Pairs with `remember_closed`, or with a window, where it is the word of `closed` itself, with the server's
        // store when it shuts down; nothing depends on its order.
        Self::word32(descriptor().closed).load(Ordering::Relaxed)
    }

    #[inline(always)]
    fn remember_closed(self, status: u32) {
        if !self.has_window() {
            Self::word32(descriptor().closed).store(status, Ordering::Relaxed);
        }
    }
}

impl RingMachine for Machine {
    #[inline(always)]
    fn load_credit(self, at: u64) -> u64 {
        // SAFETY: callers pass the address of a `Credit`, in device or host memory. Pairs with the reader's store of
        // credit: acquire, because what is stored into the ring next must not be seen before what was read there.
        unsafe { AtomicU64::from_ptr(at as *mut u64) }.load(Ordering::Acquire)
    }

    #[inline(always)]
    fn store_credit(self, at: u64, credit: u64) {
        // SAFETY: as above, in device memory. Release pairs with `load_credit` of another wave.
        unsafe { AtomicU64::from_ptr(at as *mut u64) }.store(credit, Ordering::Release);
    }

    #[inline(always)]
    fn load_head(self, at: u64) -> u32 {
        // Relaxed: it hands out room, and orders nothing.
        Self::word32(at).load(Ordering::Relaxed)
    }

    #[inline(always)]
    fn add_head(self, at: u64, granules: u32) -> u32 {
        // Relaxed: as above.
        Self::word32(at).fetch_add(granules, Ordering::Relaxed)
    }

    #[inline(always)]
    fn load_gate(self, at: u64) -> [u32; 8] {
        // Relaxed: pairs with the host's copy, and any mixture of two gates will do.
        core::array::from_fn(|i| Self::word32(at + 4 * i as u64).load(Ordering::Relaxed))
    }

    #[inline(always)]
    fn dice(self) -> u32 {
        // Steps of the simulated clock, which a seed decides.
        (hostcall_abi::lanes::Lanes::now_ns(self) as u32).wrapping_mul(0x85eb_ca6b)
    }

    #[inline(always)]
    fn add_count(self, at: u64) {
        // SAFETY: callers pass the address of a counter. Relaxed: it is read when the kernel has ended.
        unsafe { AtomicU64::from_ptr(at as *mut u64) }.fetch_add(1, Ordering::Relaxed);
    }

    #[inline(always)]
    fn store_units<const N: usize>(self, at: u64, values: [u32; N]) {
        for (i, value) in values.into_iter().enumerate() {
            // Relaxed: each unit's phase says all of it. Pairs with the reader's loads.
            Self::word32(at + 4 * i as u64).store(value, Ordering::Relaxed);
        }
    }
}
