//! AMD GPUs: gfx90a, gfx942, gfx1100. Compiled, linked and disassembled; never run on hardware.
//!
//! The lanes of a wave run in lockstep under an execution mask, so collectives need no explicit mask. A lane that
//! reads from another lane must be active together with it, and the client's structure ensures this. Volatile accesses
//! bypass the caches at system scope (LLVM's AMDGPU memory model). A volatile access of a vector of 16 bytes is one
//! instruction; LLVM splits one of a 128-bit integer.

#[path = "packet_words.rs"]
pub(crate) mod packet_words;

use super::ring::RingMachine;
use core::arch::amdgpu as isa;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
use hostcall_abi::descriptor::Control;
use hostcall_abi::lanes::Lanes;
use hostcall_abi::port::Arch;
use hostcall_abi::stream::{Rings, Space};
use hostcall_abi::tick::Tick;
use hostcall_abi::{Descriptor, Tag, Word};

unsafe extern "C" {
    /// `s_memrealtime`, or what gfx11 has instead.
    #[link_name = "llvm.readsteadycounter"]
    safe fn steady_counter() -> u64;
}

/// 8 bytes that are stored by one instruction.
#[repr(simd)]
#[derive(Clone, Copy)]
struct Pair([u32; 2]);

/// 16 bytes that are loaded and stored by one instruction.
#[repr(simd)]
#[derive(Clone, Copy)]
struct Quad([u32; 4]);

/// The start of `hsa_kernel_dispatch_packet_t` (HSA runtime specification 1.2, §2.9.6).
#[repr(C)]
struct DispatchPacket {
    header: u16,
    setup: u16,
    workgroup_size: [u16; 3],
    reserved: u16,
    grid_size: [u32; 3],
}

#[inline(always)]
fn packet() -> &'static DispatchPacket {
    // SAFETY: the packet of the running dispatch, read-only for the kernel's life.
    unsafe { &*core::intrinsics::gpu::amdgpu_dispatch_ptr().cast::<DispatchPacket>() }
}

#[inline(always)]
pub(crate) fn group_id() -> [u32; 3] {
    [isa::workgroup_id_x(), isa::workgroup_id_y(), isa::workgroup_id_z()]
}
#[inline(always)]
pub(crate) fn group_count() -> [u32; 3] {
    let p = packet();
    core::array::from_fn(|i| p.grid_size[i].div_ceil(u32::from(p.workgroup_size[i]).max(1)))
}
#[inline(always)]
pub(crate) fn local_id() -> [u32; 3] {
    [isa::workitem_id_x(), isa::workitem_id_y(), isa::workitem_id_z()]
}
#[inline(always)]
pub(crate) fn group_size() -> [u32; 3] {
    packet().workgroup_size.map(u32::from)
}

/// Whether lanes of one wave that have parted all make progress: a lane that waits in a loop keeps those behind the
/// loop from running.
pub(crate) const INDEPENDENT_LANES: bool = false;

/// Lanes of a wave: 64 on CDNA, 32 on RDNA as the compiler builds for it.
#[inline(always)]
pub(crate) fn wave_size() -> u32 {
    isa::wavefrontsize()
}

/// For spreading only: waves of neighbouring workgroups run on different compute units.
#[inline(always)]
pub(crate) fn sm() -> u32 {
    isa::workgroup_id_x()
}

/// A number by which waves spread: the wave's number in the grid, hashed by nothing, since consecutive
/// waves are those that are resident together.
#[inline(always)]
pub(crate) fn resident_wave() -> u32 {
    let [x, y, z] = group_id();
    let [nx, ny, _] = group_count();
    let [lx, ly, lz] = local_id();
    let [sx, sy, sz] = group_size();
    let group = (z * ny + y) * nx + x;
    let waves = (sx * sy * sz).div_ceil(wave_size());
    group * waves + ((lz * sy + ly) * sx + lx) / wave_size()
}

/// Low bits of the number of the launch's packet in its queue.
#[inline(always)]
pub(crate) fn launch() -> u32 {
    #[allow(improper_ctypes, reason = "an LLVM intrinsic, not a C function")]
    unsafe extern "C" {
        #[link_name = "llvm.amdgcn.dispatch.id"]
        safe fn dispatch_id() -> u64;
    }
    dispatch_id() as u32
}

/// The active lanes.
#[inline(always)]
pub(crate) fn converged_at(_site: usize) -> u64 {
    isa::ballot(true)
}

/// Nobody is: a lane that waits costs little, and looks often.
pub(crate) const WAKES_PATIENT: bool = false;

/// Nothing to do: see [`WAKES_PATIENT`].
#[inline(always)]
pub(crate) fn wake_patient(_what: u32) {}

/// Waits for the whole workgroup.
#[inline(always)]
pub(crate) fn sync_group() {
    fence(Ordering::AcqRel);
    isa::s_barrier();
    fence(Ordering::AcqRel);
}

/// 64 bytes per workgroup. Statics in local memory cannot be written in Rust yet, so they lie in device
/// memory, one slot for each of the workgroups that can be resident together and more.
#[inline(always)]
pub(crate) fn group_scratch() -> *mut u8 {
    const SLOTS: usize = 1 << 14;
    #[repr(align(64))]
    struct Scratch(core::cell::UnsafeCell<[[u8; 64]; SLOTS]>);
    // SAFETY: a slot is used by one resident workgroup, whose barriers order its lanes.
    unsafe impl Sync for Scratch {}
    static SCRATCH: Scratch = Scratch(core::cell::UnsafeCell::new([[0; 64]; SLOTS]));
    let [x, y, z] = group_id();
    let [nx, ny, _] = group_count();
    let slot = ((z * ny + y) * nx + x) as usize % SLOTS;
    // SAFETY: `slot` is below `SLOTS`.
    unsafe { SCRATCH.0.get().cast::<[u8; 64]>().add(slot).cast() }
}

/// Words of lanes. They lie in device memory for the reason that `group_scratch` gives: one for each lane of the grid,
/// up to a million.
static LANE_WORDS: [core::sync::atomic::AtomicU64; 1 << 20] = [const { core::sync::atomic::AtomicU64::new(0) }; 1 << 20];

/// The calling lane's word, which its kernel has set.
#[inline(always)]
pub(crate) fn lane_word() -> u64 {
    // Relaxed: the lane's own.
    LANE_WORDS[crate::wave::global_id() % LANE_WORDS.len()].load(Ordering::Relaxed)
}

/// Sets the calling lane's word.
#[inline(always)]
pub(crate) fn set_lane_word(word: u64) {
    // As above.
    LANE_WORDS[crate::wave::global_id() % LANE_WORDS.len()].store(word, Ordering::Relaxed);
}

/// Orders everything before it against everything after it, for the host as well.
#[inline(always)]
pub(crate) fn fence_system() {
    fence(Ordering::SeqCst);
}

/// Orders memory accesses for the device.
#[inline(always)]
pub(crate) fn fence_device() {
    fence(Ordering::AcqRel);
}

/// Whether an address is in the calling lane's own stack, where other lanes see theirs.
#[inline(always)]
pub(crate) fn is_private(address: *const u8) -> bool {
    #[allow(improper_ctypes, reason = "an LLVM intrinsic, not a C function")]
    unsafe extern "C" {
        #[link_name = "llvm.amdgcn.is.private"]
        safe fn is_private(address: *const u8) -> bool;
    }
    is_private(address)
}

/// Which memory an address is in. What is neither the lane's nor the workgroup's is everybody's.
#[inline(always)]
pub(crate) fn space(address: *const u8) -> Space {
    #[allow(improper_ctypes, reason = "an LLVM intrinsic, not a C function")]
    unsafe extern "C" {
        #[link_name = "llvm.amdgcn.is.shared"]
        safe fn is_shared(address: *const u8) -> bool;
    }
    if is_private(address) {
        Space::Private
    } else if is_shared(address) {
        Space::Shared
    } else {
        Space::Global
    }
}

/// Ends the wave. Lanes of a wave cannot end one by one: the others come to their own end or to this one.
#[inline(always)]
pub(crate) fn exit_lane() -> ! {
    isa::endpgm()
}

/// Reads 16 bytes of host memory that the host wrote before a fence.
///
/// # Safety
/// `from` is 16-byte aligned and readable.
#[inline(always)]
pub(crate) unsafe fn load_bulk(from: *const [u32; 4]) -> [u32; 4] {
    // SAFETY: the caller's.
    let value = unsafe { from.cast::<Quad>().read_volatile() };
    // SAFETY: the same 16 bytes; fields of vectors cannot be named.
    unsafe { core::mem::transmute(value) }
}

/// Writes 16 bytes of host memory.
///
/// # Safety
/// `to` is 16-byte aligned and writable.
#[inline(always)]
pub(crate) unsafe fn store_bulk(to: *mut [u32; 4], value: [u32; 4]) {
    // SAFETY: the caller's.
    unsafe { to.write(value) };
}

/// Sets a lock word in device memory to 1 and returns what it was.
///
/// # Safety
/// `word` is a word of device memory that is used as a lock only.
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

/// Raises the interrupt of a signal that has one.
///
/// # Safety
/// `signal` is the handle of an HSA signal, or of what is laid out as one.
#[inline(always)]
unsafe fn wake(signal: u64) {
    unsafe extern "C" {
        #[link_name = "llvm.amdgcn.s.sendmsg"]
        safe fn s_sendmsg(message: u32, value: u32);
    }
    /// Of a wave to the driver.
    const INTERRUPT: u32 = 1;
    // SAFETY: the caller's: `amd_signal_t` has the mailbox's address at 16 and the event's number at 24. They do not
    // change.
    let (mailbox, event) = unsafe { (*((signal + 16) as *const u64), *((signal + 24) as *const u32)) };
    if mailbox != 0 {
        // SAFETY: the mailbox that the runtime gave the signal. Release: pairs with the driver's look once it is
        // interrupted.
        unsafe { AtomicU64::from_ptr(mailbox as *mut u64) }.store(event.into(), Ordering::Release);
        s_sendmsg(INTERRUPT, isa::readfirstlane_u32(event & 0xff_ffff));
    }
}

/// Written by the host while no kernel of the program runs.
#[repr(transparent)]
struct HostWritten<T>(core::cell::UnsafeCell<T>);

// SAFETY: lanes only read it; the host writes it between kernels.
unsafe impl<T> Sync for HostWritten<T> {}

#[cfg(not(target_vendor = "hostcall"))]
#[unsafe(no_mangle)]
static __hostcall_device: HostWritten<Descriptor> = HostWritten(core::cell::UnsafeCell::new(Descriptor::DETACHED));
#[cfg(not(target_vendor = "hostcall"))]
#[unsafe(no_mangle)]
static __hostcall_tick: HostWritten<Tick> = HostWritten(core::cell::UnsafeCell::new(Tick::DEFAULT));
#[cfg(not(target_vendor = "hostcall"))]
#[unsafe(no_mangle)]
static __hostcall_rings: HostWritten<Rings> = HostWritten(core::cell::UnsafeCell::new(Rings::DETACHED));
#[cfg(target_vendor = "hostcall")]
unsafe extern "C" {
    safe static __hostcall_device: HostWritten<Descriptor>;
    safe static __hostcall_rings: HostWritten<Rings>;
    safe static __hostcall_tick: HostWritten<Tick>;
}

/// How long a tick of the constant-rate counter is, as the host wrote it when it loaded the program.
#[inline(always)]
fn tick() -> Tick {
    // SAFETY: nobody writes it while a lane runs.
    unsafe { *__hostcall_tick.0.get() }
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
}

impl Lanes for Machine {
    #[inline(always)]
    fn lane(self) -> u32 {
        isa::mbcnt_hi(u32::MAX, isa::mbcnt_lo(u32::MAX, 0))
    }

    #[inline(always)]
    fn ballot(self, mask: u64, predicate: bool) -> u64 {
        isa::ballot(predicate) & mask
    }

    #[inline(always)]
    fn broadcast(self, _mask: u64, value: u32, from: u32) -> u32 {
        // SAFETY: `from` is an active lane of the wave; the lane index of `ds_bpermute` is in bytes.
        unsafe { isa::ds_bpermute(from * 4, value) }
    }

    #[inline(always)]
    fn sync(self, _mask: u64) {
        isa::wave_barrier();
        fence(Ordering::AcqRel);
    }

    #[inline(always)]
    fn pause(self, attempt: u32) {
        // As on NVIDIA: polls of a window pace themselves for longer.
        let eager = if self.has_window() { 48 } else { 16 };
        if attempt > eager {
            // 64 clocks each.
            for _ in 0..1u32 << ((attempt - eager) >> 3).min(7) {
                isa::s_sleep::<1>();
            }
        }
    }

    #[inline(always)]
    fn now_ns(self) -> u64 {
        // The rate of the counter is a matter of the part.
        tick().nanoseconds(steady_counter())
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
        // SAFETY: a word of the host's memory. Pairs with the server's store of a mark.
        unsafe { AtomicU32::from_ptr(descriptor().mark(port) as *mut u32) }.load(Ordering::Relaxed)
    }

    #[inline(always)]
    fn store_request(self, port: u32, index: usize, word: Word) {
        let d = descriptor();
        let at = d.requests + (u64::from(port) * u64::from(d.request_words) + index as u64) * 16;
        // SAFETY: a word of the request area of a port that the caller owns. One 16-byte store; pairs with the
        // server's `load_request`.
        unsafe { (at as *mut Quad).write_volatile(Quad(word.0)) };
    }

    #[inline(always)]
    fn load_reply(self, port: u32, index: usize) -> Word {
        let d = descriptor();
        let at = d.replies + (u64::from(port) * u64::from(d.reply_words) + index as u64) * 16;
        // SAFETY: a word of the reply area. One 16-byte load; pairs with the server's `store_reply`.
        Word(unsafe { load_bulk(at as *const [u32; 4]) })
    }

    #[inline(always)]
    fn ring(self, port: u32, tag: Tag) {
        let at = descriptor().doorbells + u64::from(port) * 4;
        // SAFETY: the doorbell of a port that the caller owns. Pairs with the server's sweep; a hint only.
        unsafe { (at as *mut u32).write_volatile(u32::from(tag.seq())) };
    }

    #[inline(always)]
    fn closed(self) -> u32 {
        let at = descriptor().control + core::mem::offset_of!(Control, closed) as u64;
        // SAFETY: a word of the host's control line. Pairs with the server's store when it shuts down.
        unsafe { (at as *const u32).read_volatile() }
    }

    #[inline(always)]
    fn known_closed(self) -> u32 {
        // SAFETY: a word of device memory. Pairs with `remember_closed`, or with a window, where it is the word of
        // `closed` itself, with the server's store when it shuts down (a relaxed load has system scope); nothing
        // depends on its order.
        unsafe { AtomicU32::from_ptr(descriptor().closed as *mut u32) }.load(Ordering::Relaxed)
    }

    #[inline(always)]
    fn remember_closed(self, status: u32) {
        if !self.has_window() {
            // SAFETY: as above; without a window it is the device's.
            unsafe { AtomicU32::from_ptr(descriptor().closed as *mut u32) }.store(status, Ordering::Relaxed);
        }
    }
}

impl RingMachine for Machine {
    #[inline(always)]
    fn load_credit(self, at: u64) -> u64 {
        // SAFETY: callers pass the address of a `Credit`, in device or host memory. One 8-byte load at system scope;
        // pairs with the reader's store.
        unsafe { AtomicU64::from_ptr(at as *mut u64) }.load(Ordering::Relaxed)
    }

    #[inline(always)]
    fn store_credit(self, at: u64, credit: u64) {
        // SAFETY: as above, in device memory. Pairs with `load_credit` of another wave.
        unsafe { AtomicU64::from_ptr(at as *mut u64) }.store(credit, Ordering::Relaxed);
    }

    #[inline(always)]
    fn load_head(self, at: u64) -> u32 {
        // SAFETY: callers pass the address of a ring's head, in device memory. Relaxed: it hands out room, and orders
        // nothing.
        unsafe { AtomicU32::from_ptr(at as *mut u32) }.load(Ordering::Relaxed)
    }

    #[inline(always)]
    fn add_head(self, at: u64, granules: u32) -> u32 {
        // SAFETY: as above.
        unsafe { AtomicU32::from_ptr(at as *mut u32) }.fetch_add(granules, Ordering::Relaxed)
    }

    #[inline(always)]
    fn load_gate(self, at: u64) -> [u32; 8] {
        // SAFETY: callers pass the address of a gate, 8 words in device memory. Relaxed: any mixture of two gates will
        // do, and lanes agree by a ballot.
        core::array::from_fn(|i| unsafe { AtomicU32::from_ptr((at + 4 * i as u64) as *mut u32) }.load(Ordering::Relaxed))
    }

    #[inline(always)]
    fn dice(self) -> u32 {
        steady_counter() as u32
    }

    #[inline(always)]
    fn add_count(self, at: u64) {
        // SAFETY: callers pass the address of a counter. Relaxed: it is read when the kernel has ended.
        unsafe { AtomicU64::from_ptr(at as *mut u64) }.fetch_add(1, Ordering::Relaxed);
    }

    #[inline(always)]
    fn store_units<const N: usize>(self, at: u64, values: [u32; N]) {
        // Volatile accesses are those of system scope, and one of a vector is one instruction. Pairs with the reader's
        // loads, by the phases.
        match values[..] {
            // SAFETY: callers pass the address of 1, 2 or 4 units of the wave's ring, aligned to their size together.
            [a, b, c, d] => unsafe { (at as *mut Quad).write_volatile(Quad([a, b, c, d])) },
            // SAFETY: as above.
            [a, b] => unsafe { (at as *mut Pair).write_volatile(Pair([a, b])) },
            // SAFETY: as above.
            _ => unsafe { (at as *mut [u32; N]).write_volatile(values) },
        }
    }
}
