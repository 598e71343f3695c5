//! The memory that a client of LLVM's wire shares with its host, and what the host knows of its ports.
//!
//! Each word is read once, relaxed, into a copy on which everything is decided. The mailboxes that the host writes lie
//! where the device can write them, too: so the host remembers what it has written, and does not read them, other than
//! to [follow](Memory::follow) memory that was put back.
//!
//! Those mailboxes lie before the others in host memory, or in a [window](Memory::tell) into the device's memory. With
//! a window, the host leaves what it has written in host memory as well: where a tool puts memory back, that says what
//! the host knew then. Before and behind all of it each share of the ports has a *mark*, which goes on with what is
//! taken there ([`super::put_back`]).

use std::any::Any;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

use hostcall_abi::llvm_rpc::{Addresses, Areas, HEADER_BYTES, Layout, PACKET_BYTES, PACKET_WORDS};

use super::inbox::Inbox;
use super::scan::{self, LOT};
use crate::wire::RawWindow;

/// What one lane sends or gets in one exchange.
pub(crate) type Packet = [u64; PACKET_WORDS];

/// Ports, packets of each of them, and in how many shares they are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) ports: u32,
    pub(crate) lanes: u32,
    pub(crate) shares: u32,
}

/// Bytes of a share's mark: one thread writes it.
const MARK_BYTES: usize = 64;

/// Where the parts of a client's memory begin, in bytes from its start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    /// What the client knows of.
    pub(crate) areas: usize,
    /// The marks behind that. Those before it are at the start.
    behind: usize,
    /// All of it.
    pub(crate) bytes: usize,
}

impl Extent {
    pub(crate) fn of(layout: &Layout, shape: Shape) -> Self {
        let marks = MARK_BYTES * shape.shares as usize;
        let behind = (marks + layout.areas(shape.ports, shape.lanes).bytes).next_multiple_of(MARK_BYTES);
        Self { areas: marks, behind, bytes: behind + marks }
    }
}

/// The shared memory of one client.
pub(crate) struct Memory {
    /// The areas.
    base: NonNull<u8>,
    extent: Extent,
    layout: Layout,
    areas: Areas,
    shape: Shape,
    /// What the host last wrote into each port's mailbox, or is about to write: 0 or 1. As many as whole lots have.
    told: Box<[AtomicU32]>,
    /// Where the mailboxes lie that the host writes, if not in host memory.
    inbox: Option<Inbox>,
    _keep: Box<dyn Any + Send + Sync>,
}

/// What ports of a share have in common. The sessions of one share count those who have it, and no other thread does.
pub(super) struct Home {
    pub(super) memory: Arc<Memory>,
    pub(super) share: usize,
}

// SAFETY: the address is of shared memory that lives as long as `_keep` and is accessed atomically only.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Memory {
    /// With the mailboxes that the host writes in the window, if there is one.
    ///
    /// # Safety
    /// * `start` is aligned to 8 bytes and valid for reads and writes of the [`Extent`] of this layout and shape as
    ///   long as `keep` lives; it is zeroed, and all accesses of others to it are as if by atomics.
    /// * The window is zeroed, and valid for writes of a word of 4 bytes for each port as long as `keep` lives; nobody
    ///   else in this process accesses it but by atomics.
    ///
    /// # Panics
    /// When there are more lanes than a mask has bits.
    pub(crate) unsafe fn new(
        start: NonNull<u8>,
        layout: &Layout,
        shape: Shape,
        window: Option<RawWindow>,
        keep: Box<dyn Any + Send + Sync>,
    ) -> Self {
        assert!((1..=64).contains(&shape.lanes) && shape.ports > 0, "there are ports, and lanes of a mask");
        assert!(start.cast::<u64>().is_aligned(), "words are whole");
        let (areas, extent) = (layout.areas(shape.ports, shape.lanes), Extent::of(layout, shape));
        // SAFETY: inside the memory.
        let base = unsafe { start.add(extent.areas) };
        // Whoever looks at the last lot of mailboxes may read so far.
        assert!(areas.to_host + scan::bytes(shape.ports) <= areas.bytes, "behind the mailboxes lie the headers and packets");
        let told = (0..shape.ports.next_multiple_of(LOT)).map(|_| AtomicU32::new(0)).collect();
        // SAFETY: the caller's window has a word for each port.
        let inbox = window.map(|window| unsafe { Inbox::new(window, shape.ports) });
        Self { base, extent, layout: *layout, areas, shape, told, inbox, _keep: keep }
    }

    pub(crate) fn shape(&self) -> Shape {
        self.shape
    }

    /// A word of 32 bits of a port, in an array that begins at `at`.
    #[inline]
    fn word32(&self, at: usize, port: u32, apart: usize) -> &AtomicU32 {
        assert!(port < self.shape.ports, "there is no port {port}");
        // SAFETY: inside the memory, as the port is; aligned, as the arrays and their elements are; all accesses are
        // atomic.
        unsafe { AtomicU32::from_ptr(self.base.add(at + port as usize * apart).as_ptr().cast()) }
    }

    /// The words of a lane's packet.
    #[inline]
    fn packet(&self, port: u32, lane: u32) -> &[AtomicU64; PACKET_WORDS] {
        assert!(port < self.shape.ports && lane < self.shape.lanes, "there is no packet {lane} of port {port}");
        let index = port as usize * self.shape.lanes as usize + lane as usize;
        // SAFETY: inside the packets, as port and lane are, and aligned to a word, as the packets are; all accesses are
        // atomic.
        unsafe { self.base.add(self.areas.packets + index * PACKET_BYTES).cast().as_ref() }
    }

    /// Whether a port's packets are the host's: its mailboxes differ. A word that is neither 0 nor 1 says nothing.
    #[inline]
    pub(crate) fn is_hosts(&self, port: u32) -> bool {
        // Relaxed, both: `acquire` comes before what the device has written is read. Of `told`, whoever looks at the
        // port's packets knows the last value; whoever does not may be told wrong, and looks again.
        let said = self.word32(self.areas.to_host, port, 4).load(Ordering::Relaxed);
        said ^ 1 == self.told[port as usize].load(Ordering::Relaxed)
    }

    /// Of every `apart`th lot from `lot` on, the first that has ports whose packets seem to be the host's, and a bit
    /// for each of those.
    #[inline]
    pub(crate) fn next_of_hosts(&self, lot: u32, apart: u32) -> Option<(u32, u32)> {
        let said = self.base.as_ptr().wrapping_add(self.areas.to_host).cast::<u32>();
        // SAFETY: the mailboxes, behind which as much can be read as the constructor has asserted.
        let (lot, of_hosts) = unsafe { scan::next(said, &self.told, lot, apart) }?;
        // What lies behind the last mailbox is none.
        let there = self.shape.ports - lot * LOT;
        Some((lot, if there < LOT { of_hosts & !(u32::MAX << there) } else { of_hosts }))
    }

    /// Has the processor fetch what a port's lanes have most likely sent: its header, and the first lane's packet.
    #[inline]
    pub(crate) fn expect(&self, port: u32) {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            let header = self.word32(self.areas.headers, port, HEADER_BYTES).as_ptr();
            let packet = self.packet(port, 0).as_ptr();
            #[allow(unused_unsafe, reason = "these are unsafe in the oldest compiler served, and safe in newer ones")]
            // SAFETY: SSE is part of x86-64, and a prefetch reads nothing that anybody sees.
            unsafe {
                _mm_prefetch::<_MM_HINT_T0>(header.cast());
                _mm_prefetch::<_MM_HINT_T0>(packet.cast());
                // A packet that is not aligned to a line has two.
                _mm_prefetch::<_MM_HINT_T0>(packet.cast::<i8>().wrapping_add(PACKET_BYTES - 1));
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = port;
    }

    /// Before the first look at packets that have become the host's.
    pub(crate) fn acquire(&self) {
        // Pairs with the client's fence before it flips its mailbox.
        fence(Ordering::Acquire);
    }

    /// Gives a port's packets to the client. With a window, the client learns it when it is [told](Self::tell).
    pub(crate) fn give(&self, port: u32) {
        let told = &self.told[port as usize];
        // Only who has the port's packets writes it.
        let now = told.load(Ordering::Relaxed) ^ 1;
        told.store(now, Ordering::Relaxed);
        // Pairs with the client's fence behind its wait. (With a window, this is what is left for `follow`.)
        fence(Ordering::Release);
        self.word32(self.areas.to_client, port, 4).store(now, Ordering::Relaxed);
    }

    /// Tells the client of ports whose packets were given to it: of each the value that its mailbox has now. All was
    /// written by this thread, or this thread has seen it.
    pub(crate) fn tell(&self, ports: &[(u32, u32)]) {
        if let Some(inbox) = &self.inbox {
            inbox.tell(ports);
        }
    }

    /// Whether the client has to be told apart.
    pub(crate) fn has_window(&self) -> bool {
        self.inbox.is_some()
    }

    /// The mask and the opcode that a port has now; the mask as far as there are lanes.
    pub(crate) fn header(&self, port: u32) -> (u64, u32) {
        let at = self.areas.headers;
        let [low, high, opcode] = [0, 4, 8].map(|part| self.word32(at + part, port, HEADER_BYTES).load(Ordering::Relaxed));
        let lanes = u64::MAX >> (64 - self.shape.lanes);
        ((u64::from(high) << 32 | u64::from(low)) & lanes, opcode)
    }

    /// Has LLVM's own code serve a port, by an object of the host's side, `rpc::Process<true>`, over this memory. What
    /// it writes into the port's mailbox goes on into the window, if there is one, as long as `serve` runs.
    pub(crate) fn lend<T>(&self, port: u32, serve: impl FnOnce(&mut [u64]) -> T) -> T {
        let start = self.base.as_ptr().expose_provenance() as u64;
        // The client's, with its mailboxes exchanged.
        let Addresses { inbox, outbox, .. } = self.areas.at(start);
        let mut object = Addresses { inbox: outbox, outbox: inbox, ..self.areas.at(start) };
        let _lent = self.inbox.as_ref().map(|inbox| {
            object.outbox = inbox.written_elsewhere();
            inbox.lend(port, self.told(port))
        });
        let mut bytes = vec![0; self.layout.client_bytes];
        self.layout.write_client(self.shape.ports, &object, &mut bytes);
        let (words, []) = bytes.as_chunks::<8>() else { unreachable!("a client is whole words") };
        let mut words: Vec<_> = words.iter().map(|word| u64::from_ne_bytes(*word)).collect();
        serve(&mut words)
    }

    /// Passes on what LLVM's own code has written into the mailboxes of ports that it serves.
    #[inline]
    pub(crate) fn pass_on(&self) {
        if let Some(inbox) = &self.inbox {
            inbox.pass_on();
        }
    }

    /// What the host last wrote into a port's mailbox.
    pub(crate) fn told(&self, port: u32) -> u32 {
        // Only who has the port asks.
        self.told[port as usize].load(Ordering::Relaxed)
    }

    /// Somebody else has written the host's mailbox of a port: this was the last.
    pub(crate) fn was_told(&self, port: u32, last: u32) {
        self.told[port as usize].store(last & 1, Ordering::Relaxed);
        if self.inbox.is_some() {
            // As in `give`.
            self.word32(self.areas.to_client, port, 4).store(last & 1, Ordering::Relaxed);
        }
    }

    /// Goes back to what the host had last written into a port's mailbox when the memory was as it is now. Nobody has
    /// the port. The device can write that, too: it is one of two values, and the port is the device's own.
    pub(super) fn follow(&self, port: u32) {
        let then = self.word32(self.areas.to_client, port, 4).load(Ordering::Relaxed);
        self.told[port as usize].store(then & 1, Ordering::Relaxed);
    }

    /// The marks of a share: before the areas, and behind them.
    #[inline]
    pub(super) fn marks(&self, share: usize) -> [&AtomicU32; 2] {
        assert!(share < self.shape.shares as usize, "there is no share {share}");
        let at = |part: usize| {
            let from_areas = (part + MARK_BYTES * share).wrapping_sub(self.extent.areas);
            self.base.as_ptr().wrapping_add(from_areas).cast()
        };
        // SAFETY: inside the memory, whose start is that of the marks before the areas; aligned, as the start is; all
        // accesses are atomic.
        [0, self.extent.behind].map(|part| unsafe { AtomicU32::from_ptr(at(part)) })
    }

    /// A copy of a lane's packet.
    #[inline]
    pub(crate) fn load(&self, port: u32, lane: u32) -> Packet {
        let words = self.packet(port, lane);
        std::array::from_fn(|i| words[i].load(Ordering::Relaxed))
    }

    /// Writes a lane's packet.
    #[inline]
    pub(crate) fn store(&self, port: u32, lane: u32, packet: &Packet) {
        let words = self.packet(port, lane).iter().zip(packet);
        words.for_each(|(word, &value)| word.store(value, Ordering::Relaxed));
    }
}
