//! NVIDIA GPUs, sm_70 and later (independent thread scheduling, PTX ISA 8.4).
//!
//! Collectives are LLVM intrinsics, which LLVM knows to be convergent; `asm!` is used for plain memory
//! instructions only.

#[cfg(feature = "helpers")]
#[path = "nvptx/helpers.rs"]
pub(crate) mod helpers;
#[path = "nvptx/packet_words.rs"]
pub(crate) mod packet_words;
#[cfg(feature = "helpers")]
#[path = "nvptx/plain.rs"]
mod plain;
#[path = "nvptx/rings.rs"]
mod rings;

pub(crate) use rings::rings;

use core::arch::asm;
use hostcall_abi::descriptor::{Control, FirstPoll};
use hostcall_abi::lanes::Lanes;
use hostcall_abi::port::Arch;
use hostcall_abi::stream::Space;
use hostcall_abi::{Descriptor, Tag, Word};

#[allow(improper_ctypes, reason = "LLVM intrinsics, not C functions")]
unsafe extern "C" {
    #[link_name = "llvm.nvvm.read.ptx.sreg.laneid"]
    safe fn laneid() -> u32;
    #[link_name = "llvm.nvvm.activemask"]
    safe fn activemask() -> u32;
    #[link_name = "llvm.nvvm.vote.ballot.sync"]
    safe fn vote_ballot_sync(mask: u32, predicate: bool) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.idx.i32"]
    safe fn shfl_sync_idx(mask: u32, value: u32, lane: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.bar.warp.sync"]
    safe fn bar_warp_sync(mask: u32);
    #[link_name = "llvm.nvvm.barrier.cta.sync.aligned.all"]
    safe fn barrier(number: u32);
    #[link_name = "llvm.nvvm.nanosleep"]
    safe fn nanosleep(ns: u32);
    #[link_name = "llvm.nvvm.read.ptx.sreg.smid"]
    safe fn smid() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.warpid"]
    safe fn warpid() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.nwarpid"]
    safe fn nwarpid() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.globaltimer"]
    safe fn globaltimer() -> u64;
    #[link_name = "llvm.nvvm.read.ptx.sreg.clock"]
    safe fn clock() -> u32;
    #[link_name = "llvm.nvvm.exit"]
    safe fn exit();
}

macro_rules! coordinates {
    ($($name:ident: $x:literal $y:literal $z:literal),+) => { $(
        #[inline(always)]
        pub(crate) fn $name() -> [u32; 3] {
            unsafe extern "C" {
                #[link_name = $x]
                safe fn x() -> u32;
                #[link_name = $y]
                safe fn y() -> u32;
                #[link_name = $z]
                safe fn z() -> u32;
            }
            [x(), y(), z()]
        }
    )+ };
}
coordinates! {
    group_id: "llvm.nvvm.read.ptx.sreg.ctaid.x" "llvm.nvvm.read.ptx.sreg.ctaid.y" "llvm.nvvm.read.ptx.sreg.ctaid.z",
    group_count: "llvm.nvvm.read.ptx.sreg.nctaid.x" "llvm.nvvm.read.ptx.sreg.nctaid.y" "llvm.nvvm.read.ptx.sreg.nctaid.z",
    local_id: "llvm.nvvm.read.ptx.sreg.tid.x" "llvm.nvvm.read.ptx.sreg.tid.y" "llvm.nvvm.read.ptx.sreg.tid.z",
    group_size: "llvm.nvvm.read.ptx.sreg.ntid.x" "llvm.nvvm.read.ptx.sreg.ntid.y" "llvm.nvvm.read.ptx.sreg.ntid.z"
}

/// Whether lanes of one wave that have parted all make progress: since sm_70 each lane has a program counter of its
/// own.
pub(crate) const INDEPENDENT_LANES: bool = true;

/// Lanes of a wave.
#[inline(always)]
pub(crate) fn wave_size() -> u32 {
    32
}

/// The SM the wave runs on, for spreading. May change between two looks.
#[inline(always)]
pub(crate) fn sm() -> u32 {
    smid()
}

/// The wave's slot among all resident waves: dense, and unique at any one time.
#[inline(always)]
pub(crate) fn resident_wave() -> u32 {
    smid() * nwarpid() + warpid()
}

/// Low bits of the launch's number. A pass of a profiler is a launch; replays of a graph's node have the same number.
#[inline(always)]
pub(crate) fn launch() -> u32 {
    let grid: u32;
    // SAFETY: reads a special register, which is a constant of the launch.
    unsafe { asm!("mov.u32 {grid}, %gridid;", grid = out(reg32) grid, options(pure, nomem, nostack, preserves_flags)) };
    grid
}

/// The lanes converged at a call. The hardware knows; `_site` is for the simulator.
#[inline(always)]
pub(crate) fn converged_at(_site: usize) -> u64 {
    u64::from(activemask())
}

/// Waits for all lanes of the wave, from wherever they come, and makes what each did before visible to all.
#[cfg(feature = "helpers")]
#[inline(always)]
fn barrier_of_wave() {
    bar_warp_sync(u32::MAX);
}

/// Nobody is: a lane that waits costs little, and looks often.
pub(crate) const WAKES_PATIENT: bool = false;

/// Nothing to do: see [`WAKES_PATIENT`].
#[inline(always)]
pub(crate) fn wake_patient(_what: u32) {}

/// Waits for the whole workgroup.
#[inline(always)]
pub(crate) fn sync_group() {
    barrier(0);
}

/// 64 bytes of the workgroup's shared memory.
#[inline(never)]
pub(crate) fn group_scratch() -> *mut u8 {
    let address: u64;
    // SAFETY: declares 64 bytes of static shared memory and takes their generic address; this function
    // is never inlined, so there is one such variable in a program.
    unsafe {
        asm!(
            "{{ .shared .align 16 .b8 hostcall_group_scratch[64];",
            "mov.u64 {address}, hostcall_group_scratch;",
            "cvta.shared.u64 {address}, {address}; }}",
            address = out(reg64) address,
            options(pure, nomem, nostack)
        );
    }
    address as *mut u8
}

/// Where the lanes' words lie in the workgroup's shared memory: there is no memory of a lane's own at an address that
/// every function knows.
#[inline(never)]
fn lane_words() -> u32 {
    let address: u32;
    // SAFETY: declares a word for each lane that a workgroup can have, in static shared memory, and takes their
    // address; this function is never inlined, so there is one such variable in a program.
    unsafe {
        asm!(
            "{{ .shared .align 4 .b8 hostcall_lane_words[4096];",
            "mov.u32 {address}, hostcall_lane_words; }}",
            address = out(reg32) address,
            options(pure, nomem, nostack)
        );
    }
    address
}

/// Where the calling lane's word lies.
#[inline(always)]
fn lane_word_place() -> u32 {
    lane_words() + crate::wave::local_index() as u32 * 4
}

/// Copies a lane's word between its place and another's.
///
/// # Safety
/// Both are places of lanes of the calling one's wave. The one whose word is written waits, or is the calling one.
#[cfg(feature = "helpers")]
#[inline(always)]
unsafe fn copy_lane_word(from: u32, to: u32) {
    // SAFETY: the caller's.
    unsafe {
        asm!("{{ .reg .b32 w;", "ld.shared.u32 w, [{from}];", "st.shared.u32 [{to}], w; }}", from = in(reg32) from, to = in(reg32) to, options(nostack))
    };
}

/// Multiples of which a lane's word can be, counted from the heap's start.
const LANE_WORD_UNIT: u64 = 64;

/// The calling lane's word, which its kernel has set.
#[inline(always)]
pub(crate) fn lane_word() -> u64 {
    let place = lane_word_place();
    let packed: u32;
    // SAFETY: the lane's own word of shared memory.
    unsafe { asm!("ld.shared.u32 {packed}, [{place}];", packed = out(reg32) packed, place = in(reg32) place, options(readonly, nostack)) };
    match packed {
        0 => 0,
        u32::MAX => 1,
        _ => descriptor().heap + u64::from(packed - 1) * LANE_WORD_UNIT,
    }
}

/// Sets the calling lane's word: 0, 1, or an address in the first 256 GiB of the heap that is a multiple of 64.
#[inline(always)]
pub(crate) fn set_lane_word(word: u64) {
    let place = lane_word_place();
    let packed = match word {
        0 => 0,
        1 => u32::MAX,
        _ => ((word - descriptor().heap) / LANE_WORD_UNIT) as u32 + 1,
    };
    // SAFETY: the lane's own word of shared memory.
    unsafe { asm!("st.shared.u32 [{place}], {packed};", packed = in(reg32) packed, place = in(reg32) place, options(nostack)) };
}

/// Orders everything before it against everything after it, for the host as well.
#[inline(always)]
pub(crate) fn fence_system() {
    // SAFETY: a fence touches no memory of its own.
    unsafe { asm!("fence.acq_rel.sys;", options(nostack)) };
}

/// Orders memory accesses for the device.
#[inline(always)]
pub(crate) fn fence_device() {
    // SAFETY: as above.
    unsafe { asm!("fence.acq_rel.gpu;", options(nostack)) };
}

/// Whether an address is in the calling lane's own stack, where other lanes see theirs.
#[inline(always)]
pub(crate) fn is_private(address: *const u8) -> bool {
    let private: u32;
    // SAFETY: looks at the address only.
    unsafe {
        asm!("{{ .reg .pred p; isspacep.local p, {address}; selp.u32 {private}, 1, 0, p; }}",
            address = in(reg64) address, private = out(reg32) private, options(pure, nomem, nostack));
    }
    private != 0
}

/// Which memory an address is in.
#[inline(always)]
pub(crate) fn space(address: *const u8) -> Space {
    let space: u32;
    // SAFETY: looks at the address only.
    unsafe {
        asm!("{{ .reg .pred p;",
            "isspacep.global p, {address}; selp.u32 {space}, {global}, {flat}, p;",
            "isspacep.shared p, {address}; selp.u32 {space}, {shared}, {space}, p;",
            "isspacep.const p, {address}; selp.u32 {space}, {constant}, {space}, p;",
            "isspacep.local p, {address}; selp.u32 {space}, {private}, {space}, p; }}",
            address = in(reg64) address, space = out(reg32) space, flat = const Space::Flat as u32, global = const Space::Global as u32,
            shared = const Space::Shared as u32, constant = const Space::Constant as u32, private = const Space::Private as u32,
            options(pure, nomem, nostack));
    }
    Space::new(u64::from(space))
}

/// Whether an address is in memory that all lanes address alike: the device's or the host's, not a lane's, a
/// workgroup's or a launch's own.
#[cfg(feature = "helpers")]
#[inline(always)]
fn is_global(address: u64) -> bool {
    let global: u32;
    // SAFETY: looks at the address only.
    unsafe {
        asm!("{{ .reg .pred p; isspacep.global p, {address}; selp.u32 {global}, 1, 0, p; }}",
            address = in(reg64) address, global = out(reg32) global, options(pure, nomem, nostack));
    }
    global != 0
}

/// Ends the calling lane.
#[inline(always)]
pub(crate) fn exit_lane() -> ! {
    exit();
    // `exit` does not return; LLVM's declaration does not say so.
    loop {
        core::hint::spin_loop();
    }
}

/// Reads 16 bytes of host memory that the host wrote before a fence.
///
/// # Safety
/// `from` is 16-byte aligned and readable.
#[inline(always)]
pub(crate) unsafe fn load_bulk(from: *const [u32; 4]) -> [u32; 4] {
    let (a, b, c, d): (u32, u32, u32, u32);
    // SAFETY: the caller's. `volatile` keeps it from a line that a former owner of the slot left in L1.
    unsafe {
        asm!("ld.volatile.global.v4.u32 {{{a}, {b}, {c}, {d}}}, [{from}];", a = out(reg32) a, b = out(reg32) b, c = out(reg32) c, d = out(reg32) d,
            from = in(reg64) from, options(readonly, nostack, preserves_flags));
    }
    [a, b, c, d]
}

/// Writes 16 bytes of host memory.
///
/// # Safety
/// `to` is 16-byte aligned and writable.
#[inline(always)]
pub(crate) unsafe fn store_bulk(to: *mut [u32; 4], value: [u32; 4]) {
    // SAFETY: the caller's.
    unsafe {
        asm!("st.global.v4.u32 [{to}], {{{a}, {b}, {c}, {d}}};", a = in(reg32) value[0], b = in(reg32) value[1], c = in(reg32) value[2], d = in(reg32) value[3],
            to = in(reg64) to, options(nostack, preserves_flags));
    }
}

/// Sets a lock word in device memory to 1 and returns what it was.
///
/// # Safety
/// `word` is a word of device memory that is used as a lock only.
#[inline(always)]
pub(crate) unsafe fn lock_word(word: *mut u32) -> u32 {
    let old: u32;
    // SAFETY: the caller's.
    unsafe { asm!("atom.relaxed.gpu.global.exch.b32 {old}, [{word}], 1;", old = out(reg32) old, word = in(reg64) word, options(nostack)) };
    old
}

/// Sets a lock word to 0.
///
/// # Safety
/// As [`lock_word`]; the caller holds the lock.
#[inline(always)]
pub(crate) unsafe fn unlock_word(word: *mut u32) {
    // SAFETY: the caller's.
    unsafe { asm!("st.release.gpu.global.u32 [{word}], 0;", word = in(reg64) word, options(nostack)) };
}

// The descriptor lies in constant memory, written by the host while no kernel of the program runs: reading a
// field costs no trip to a cache that stores to host memory would have to share. Rust has no statics in that
// address space, so PTX declares it.
#[cfg(not(target_vendor = "hostcall"))]
core::arch::global_asm!(".visible .const .align 64 .b8 __hostcall_device[128];");

/// A field of the descriptor. The compiler may move, merge and drop the load as it likes.
macro_rules! field {
    ($($field:ident).+, reg64) => {{
        let value: u64;
        // SAFETY: reads 8 bytes of the descriptor, which does not change while the kernel runs.
        unsafe {
            asm!("ld.const.u64 {value}, [__hostcall_device+{offset}];", value = out(reg64) value,
                offset = const core::mem::offset_of!(Descriptor, $($field).+), options(pure, nomem, nostack, preserves_flags));
        }
        value
    }};
    ($($field:ident).+, reg32) => {{
        let value: u32;
        // SAFETY: reads 4 bytes of the descriptor, which does not change while the kernel runs.
        unsafe {
            asm!("ld.const.u32 {value}, [__hostcall_device+{offset}];", value = out(reg32) value,
                offset = const core::mem::offset_of!(Descriptor, $($field).+), options(pure, nomem, nostack, preserves_flags));
        }
        value
    }};
}

/// The descriptor as the host wrote it. Fields that are not used are not read.
#[inline(always)]
pub(crate) fn descriptor() -> Descriptor {
    Descriptor {
        states: field!(states, reg64),
        doorbells: field!(doorbells, reg64),
        requests: field!(requests, reg64),
        replies: field!(replies, reg64),
        ports: field!(ports, reg32),
        request_words: field!(request_words, reg32),
        reply_words: field!(reply_words, reg32),
        lone_stride: field!(lone_stride, reg32),
        control: field!(control, reg64),
        staging: field!(staging, reg64),
        slot_locks: field!(slot_locks, reg64),
        slots: field!(slots, reg32),
        slot_bytes: field!(slot_bytes, reg32),
        heap: field!(heap, reg64),
        heap_bytes: field!(heap_bytes, reg64),
        closed: field!(closed, reg64),
        seed: field!(seed, reg64),
        first_poll: FirstPoll { clocks: field!(first_poll.clocks, reg32), per_lane: field!(first_poll.per_lane, reg32) },
        window: field!(window, reg32),
        marks: field!(marks, reg32),
    }
}

/// A service's number, which the host writes while no kernel of the program runs.
///
/// # Safety
/// `word` is the address of a service's word in device memory.
#[inline(always)]
pub(crate) unsafe fn load_number(word: *const u32) -> u32 {
    let number: u32;
    // SAFETY: the caller's. The read-only path may serve it from a cache; a number that is written while a
    // kernel runs is seen by the next one.
    unsafe {
        asm!("ld.global.nc.u32 {number}, [{word}];", number = out(reg32) number, word = in(reg64) word, options(pure, nomem, nostack, preserves_flags))
    };
    number
}

/// Attempts after which a wait sleeps in between.
const EAGER: u32 = 16;
/// The same where a look is a load from a window, of about 0.3 µs.
const EAGER_WINDOW: u32 = 48;

/// Sleeps for the longer the larger `attempt` is, up to 8 µs, so that thousands of waves that wait for a disk leave bus
/// and memory to others.
#[cold]
#[inline(never)]
fn sleep(attempt: u32) {
    let (eager, first, doublings) = if Machine.has_window() { (EAGER_WINDOW, 32, 8) } else { (EAGER, 64, 7) };
    if attempt > eager {
        nanosleep(first << ((attempt - eager) >> 3).min(doublings));
    }
}

/// The program's port buffer.
#[derive(Clone, Copy)]
pub(crate) struct Machine;

impl Lanes for Machine {
    #[inline(always)]
    fn lane(self) -> u32 {
        laneid()
    }

    #[inline(always)]
    fn ballot(self, mask: u64, predicate: bool) -> u64 {
        u64::from(vote_ballot_sync(mask as u32, predicate))
    }

    #[inline(always)]
    fn broadcast(self, mask: u64, value: u32, from: u32) -> u32 {
        shfl_sync_idx(mask as u32, value, from, 31)
    }

    #[inline(always)]
    fn sync(self, mask: u64) {
        bar_warp_sync(mask as u32);
    }

    #[inline(always)]
    fn pause(self, attempt: u32) {
        // One trip over the bus takes about 1.3 µs: the first polls are paced by it.
        if attempt > EAGER {
            sleep(attempt);
        }
    }

    #[inline(always)]
    fn now_ns(self) -> u64 {
        globaltimer()
    }
}

impl Arch for Machine {
    #[inline(always)]
    fn before_first_poll(self, lanes: u32) {
        if self.has_window() {
            // A look is a load from the GPU's own memory: one that comes too early costs nobody anything.
            return;
        }
        // A poll takes a round trip of 1.2 to 1.4 µs and samples the word half-way. One that is sent right
        // behind the request always comes too early, and the next one 0.5 µs later than it could: so the
        // first waits about as long as the host needs to answer.
        let start = clock();
        let FirstPoll { clocks, per_lane } = descriptor().first_poll;
        let wait = clocks + lanes * per_lane;
        while clock().wrapping_sub(start) < wait {}
    }

    #[inline(always)]
    fn first_port(self) -> u32 {
        let wave = resident_wave();
        let ports = self.ports();
        if wave < ports { wave } else { wave % ports }
    }

    from_descriptor!();

    #[inline(always)]
    fn launch(self) -> u32 {
        launch()
    }

    #[inline(always)]
    fn lock_port(self, port: u32) -> u64 {
        let word = descriptor().states + u64::from(port) * 8;
        let old: u64;
        // SAFETY: the state word of a port of this buffer, in device memory. Relaxed at device scope: the
        // owners of a port are ordered by the data and control dependencies that `docs/reference/protocol.md` lists.
        unsafe {
            asm!("atom.relaxed.gpu.global.or.b64 {old}, [{word}], 1;", old = out(reg64) old, word = in(reg64) word, options(nostack))
        };
        old
    }

    #[inline(always)]
    fn unlock_port(self, port: u32, word: u64) {
        let at = descriptor().states + u64::from(port) * 8;
        // SAFETY: as above; the caller owns the port.
        unsafe { asm!("st.relaxed.gpu.global.u64 [{at}], {word};", at = in(reg64) at, word = in(reg64) word, options(nostack)) };
    }

    #[inline(always)]
    fn mark(self, port: u32) -> u32 {
        let at = descriptor().mark(port);
        let mark: u32;
        // SAFETY: a word of the host's memory. Pairs with the server's store of a mark.
        unsafe { asm!("ld.relaxed.sys.global.u32 {mark}, [{at}];", mark = out(reg32) mark, at = in(reg64) at, options(nostack)) };
        mark
    }

    #[inline(always)]
    fn store_request(self, port: u32, index: usize, word: Word) {
        let d = descriptor();
        let at = d.requests + (u64::from(port) * u64::from(d.request_words) + index as u64) * 16;
        let [x, y, z, w] = word.0;
        let (low, high) = (u64::from(x) | u64::from(y) << 32, u64::from(z) | u64::from(w) << 32);
        // SAFETY: a word of the request area of a port that the caller owns. Pairs with the server's
        // `load_request`: one 128-bit access, so that payload and tag are of the same write.
        unsafe {
            asm!("{{ .reg .b128 t; mov.b128 t, {{{low}, {high}}}; st.relaxed.sys.global.b128 [{at}], t; }}",
                low = in(reg64) low, high = in(reg64) high, at = in(reg64) at, options(nostack));
        }
    }

    #[inline(always)]
    fn load_reply(self, port: u32, index: usize) -> Word {
        let d = descriptor();
        let at = d.replies + (u64::from(port) * u64::from(d.reply_words) + index as u64) * 16;
        let (low, high): (u64, u64);
        // SAFETY: a word of the reply area. Pairs with the server's `store_reply`, one 128-bit access.
        unsafe {
            asm!("{{ .reg .b128 t; ld.relaxed.sys.global.b128 t, [{at}]; mov.b128 {{{low}, {high}}}, t; }}",
                low = out(reg64) low, high = out(reg64) high, at = in(reg64) at, options(nostack));
        }
        Word([low as u32, (low >> 32) as u32, high as u32, (high >> 32) as u32])
    }

    #[inline(always)]
    fn ring(self, port: u32, tag: Tag) {
        let tag = u32::from(tag.seq());
        let at = descriptor().doorbells + u64::from(port) * 4;
        // SAFETY: the doorbell of a port that the caller owns. Pairs with the server's sweep; a hint only.
        unsafe { asm!("st.relaxed.sys.global.u32 [{at}], {tag};", at = in(reg64) at, tag = in(reg32) tag, options(nostack)) };
    }

    #[inline(always)]
    fn closed(self) -> u32 {
        let at = descriptor().control + core::mem::offset_of!(Control, closed) as u64;
        let value: u32;
        // SAFETY: a word of the host's control line. Pairs with the server's store when it shuts down.
        unsafe { asm!("ld.relaxed.sys.global.u32 {value}, [{at}];", value = out(reg32) value, at = in(reg64) at, options(nostack)) };
        value
    }

    #[inline(always)]
    fn known_closed(self) -> u32 {
        let at = descriptor().closed;
        let value: u32;
        // SAFETY: a word of device memory. Pairs with `remember_closed`, or with a window, where it is the word of
        // `closed` itself, with the server's store when it shuts down (hence the scope); nothing depends on its order.
        unsafe { asm!("ld.relaxed.sys.global.u32 {value}, [{at}];", value = out(reg32) value, at = in(reg64) at, options(nostack)) };
        value
    }

    #[inline(always)]
    fn remember_closed(self, status: u32) {
        if self.has_window() {
            return;
        }
        let at = descriptor().closed;
        // SAFETY: as above; without a window it is the device's.
        unsafe { asm!("st.relaxed.gpu.global.u32 [{at}], {status};", at = in(reg64) at, status = in(reg32) status, options(nostack)) };
    }
}
