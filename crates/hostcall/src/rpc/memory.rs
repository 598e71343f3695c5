//! The memory that a client of LLVM's wire shares with its host, and what the host knows of its ports.
//!
//! Each word is read once, relaxed, into a copy on which everything is decided. The mailboxes that the host writes lie
//! where the device can write them, too: so the host never reads them, and remembers what it has written.

use std::any::Any;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

use hostcall_abi::llvm_rpc::{Areas, HEADER_BYTES, Layout, PACKET_BYTES, PACKET_WORDS};

/// What one lane sends or gets in one exchange.
pub(crate) type Packet = [u64; PACKET_WORDS];

/// Ports, and packets of each of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) ports: u32,
    pub(crate) lanes: u32,
}

/// The shared memory of one client.
pub(crate) struct Memory {
    base: NonNull<u8>,
    layout: Layout,
    areas: Areas,
    shape: Shape,
    /// What the host last wrote into each port's mailbox: 0 or 1.
    told: Box<[AtomicU32]>,
    _keep: Box<dyn Any + Send + Sync>,
}

// SAFETY: the address is of shared memory that lives as long as `_keep` and is accessed atomically only.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Memory {
    /// # Safety
    /// `base` is aligned to 8 bytes and valid for reads and writes of [`Areas::bytes`] of this layout and shape as long
    /// as `keep` lives; it is zeroed, and all accesses of others to it are as if by atomics.
    ///
    /// # Panics
    /// When there are more lanes than a mask has bits.
    pub(crate) unsafe fn new(base: NonNull<u8>, layout: &Layout, shape: Shape, keep: Box<dyn Any + Send + Sync>) -> Self {
        assert!(shape.lanes <= 64 && base.cast::<u64>().is_aligned(), "lanes of a mask, and words that are whole");
        let told = (0..shape.ports).map(|_| AtomicU32::new(0)).collect();
        Self { base, layout: *layout, areas: layout.areas(shape.ports, shape.lanes), shape, told, _keep: keep }
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

    /// The ports from `from` to `to` whose packets are the host's, as far as they seem to be.
    #[inline]
    pub(crate) fn first_of_hosts(&self, from: u32, to: u32) -> Option<u32> {
        assert!(from <= to && to <= self.shape.ports, "there are no such ports");
        let said = self.base.as_ptr().wrapping_add(self.areas.to_host).cast::<u32>();
        let differs = |port: u32| {
            // SAFETY: as in `word32`: the port is one of those that are there.
            let said = unsafe { AtomicU32::from_ptr(said.add(port as usize)) }.load(Ordering::Relaxed);
            said ^ self.told[port as usize].load(Ordering::Relaxed)
        };
        // Most of them say nothing: one branch for several.
        (from..to).step_by(8).find_map(|first| {
            let ports = first..to.min(first + 8);
            let any = ports.clone().fold(0, |any, port| any | differs(port));
            if any == 0 { None } else { ports.into_iter().find(|&port| differs(port) == 1) }
        })
    }

    /// Before the first look at packets that have become the host's.
    pub(crate) fn acquire(&self) {
        // Pairs with the client's fence before it flips its mailbox.
        fence(Ordering::Acquire);
    }

    /// Gives a port's packets to the client.
    pub(crate) fn give(&self, port: u32) {
        let told = &self.told[port as usize];
        // Only who has the port's packets writes it.
        let now = told.load(Ordering::Relaxed) ^ 1;
        told.store(now, Ordering::Relaxed);
        // Pairs with the client's fence behind its wait.
        fence(Ordering::Release);
        self.word32(self.areas.to_client, port, 4).store(now, Ordering::Relaxed);
    }

    /// The mask and the opcode that a port has now; the mask as far as there are lanes.
    pub(crate) fn header(&self, port: u32) -> (u64, u32) {
        let at = self.areas.headers;
        let [low, high, opcode] = [0, 4, 8].map(|part| self.word32(at + part, port, HEADER_BYTES).load(Ordering::Relaxed));
        let lanes = u64::MAX >> (64 - self.shape.lanes.max(1));
        ((u64::from(high) << 32 | u64::from(low)) & lanes, opcode)
    }

    /// LLVM's own object of the host's side, `rpc::Process<true>`, over this memory.
    pub(crate) fn server_object(&self) -> Vec<u64> {
        // It is the client's with its mailboxes exchanged.
        let Areas { to_client, to_host, .. } = self.areas;
        let exchanged = Areas { to_client: to_host, to_host: to_client, ..self.areas };
        let mut bytes = vec![0; self.layout.client_bytes];
        self.layout.write_client(self.shape.ports, self.base.as_ptr().expose_provenance() as u64, &exchanged, &mut bytes);
        let (words, []) = bytes.as_chunks::<8>() else { unreachable!("a client is whole words") };
        words.iter().map(|word| u64::from_ne_bytes(*word)).collect()
    }

    /// What the host last wrote into a port's mailbox.
    pub(crate) fn told(&self, port: u32) -> u32 {
        // Only who has the port asks.
        self.told[port as usize].load(Ordering::Relaxed)
    }

    /// Somebody else has written the host's mailbox of a port: this was the last.
    pub(crate) fn was_told(&self, port: u32, last: u32) {
        self.told[port as usize].store(last & 1, Ordering::Relaxed);
    }

    /// A copy of a lane's packet.
    pub(crate) fn load(&self, port: u32, lane: u32) -> Packet {
        let words = self.packet(port, lane);
        std::array::from_fn(|i| words[i].load(Ordering::Relaxed))
    }

    /// Writes a lane's packet.
    pub(crate) fn store(&self, port: u32, lane: u32, packet: &Packet) {
        let words = self.packet(port, lane).iter().zip(packet);
        words.for_each(|(word, &value)| word.store(value, Ordering::Relaxed));
    }
}
