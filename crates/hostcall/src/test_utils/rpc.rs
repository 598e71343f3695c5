//! A client of LLVM's wire on the processor: for tests, and for devices that do not keep to the protocol.
//!
//! One thread does what all lanes of a wave do together. The protocol is that of `rpc.h`: a port is locked, its packets
//! are the client's while its mailboxes are the same, and each `send` and `recv` gives them away and waits for them.

use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, fence};
use std::time::{Duration, Instant};

use hostcall_abi::llvm_rpc::{Areas, HEADER_BYTES, Layout, PACKET_BYTES, PACKET_WORDS};

use crate::builtin::llvm_libc::Libc;
use crate::rpc::{Extent, Memory, Packet, Rpc, Shape, lanes};
use crate::server::{BufferHandle, Server};
use crate::tenant::Thing;
use crate::wire::RawWindow;

/// After so long nobody answers any more: the test has failed.
const PATIENCE: Duration = Duration::from_secs(60);

/// A short sleep: to yield a processor would give it away for milliseconds where there is other work.
fn pause() {
    std::thread::sleep(Duration::from_micros(10));
}

/// A client of LLVM's wire, with the memory that it shares with its host. Clones are the same.
#[derive(Clone, Debug)]
pub struct RpcClient(Arc<Shared>);

/// What a client is of.
#[derive(Clone, Copy, Debug)]
pub struct RpcShape {
    /// The layout.
    pub layout: Layout,
    /// Its ports.
    pub ports: u32,
    /// Lanes of a wave.
    pub lanes: u32,
    /// Whether the mailboxes that the host writes lie in a window.
    pub window: bool,
}

#[derive(Debug)]
struct Shared {
    words: Arc<[AtomicU64]>,
    /// The window: 0 words where there is none.
    window: Arc<[AtomicU64]>,
    areas: Areas,
    extent: Extent,
    shape: Shape,
    locks: Box<[AtomicBool]>,
}

impl RpcClient {
    /// A client whose port buffer is served: with so many bytes of memory (that is none) at 1 MiB for `malloc`.
    ///
    /// # Panics
    /// When the buffer serves another client.
    pub fn served(server: &Server, buffer: &BufferHandle, RpcShape { layout, ports, lanes, window }: RpcShape, heap: u64) -> Self {
        let shares = server.parts.core.threads();
        let shape = Shape { ports, lanes, shares: shares as u32 };
        let (areas, extent) = (layout.areas(ports, lanes), Extent::of(&layout, shape));
        let words = |bytes: usize| -> Arc<[AtomicU64]> { (0..bytes.div_ceil(8)).map(|_| AtomicU64::new(0)).collect() };
        let start = |words: &[AtomicU64]| NonNull::new(words.as_ptr().cast_mut().cast()).expect("words have an address");
        let (words, window) = (words(extent.bytes), words(if window { 4 * ports as usize } else { 0 }));
        let raw = RawWindow { host: start(&window), address: window.as_ptr().addr() as u64, store: offload::LineStore::detect_cached() };
        let raw = (!window.is_empty()).then_some(raw);
        // SAFETY: zeroed atomics, at least as many as the layout and the window have bytes, kept with the memory.
        let memory = unsafe { Memory::new(start(&words), &layout, shape, raw, Box::new((words.clone(), window.clone()))) };
        server.parts.core.pool.warm_up().expect("a thread");
        let libc = Libc::new(&server.parts.builtins, &buffer.0, (1 << 20, heap), shares);
        assert!(buffer.0.serve_rpc(Rpc::new(memory, libc)), "another client is served");
        Self(Arc::new(Shared { words, window, areas, extent, shape, locks: (0..ports).map(|_| AtomicBool::new(false)).collect() }))
    }

    /// Bytes of clients' messages that are kept for the program of a port buffer.
    pub fn bytes_kept(buffer: &BufferHandle) -> u64 {
        buffer.0.tenant.has(Thing::Byte)
    }

    /// Words of what the client knows of, the window behind the rest: for those who write there what they like.
    pub fn places(&self) -> usize {
        self.0.areas.bytes.div_ceil(8) + self.0.window.len()
    }

    /// One of them.
    pub fn place(&self, place: usize) -> &AtomicU64 {
        match place.checked_sub(self.0.areas.bytes.div_ceil(8)) {
            None => &self.0.words[self.0.extent.areas / 8 + place],
            Some(place) => &self.0.window[place],
        }
    }

    /// Where among them the mailboxes lie that the host writes, in bytes.
    pub fn inbox_at(&self) -> usize {
        if self.0.window.is_empty() { self.0.areas.to_client } else { self.0.areas.bytes.next_multiple_of(8) }
    }

    /// All of the memory, as it lies for who puts it back: that of the host, the window.
    fn all(&self) -> impl DoubleEndedIterator<Item = &AtomicU64> {
        self.0.words.iter().chain(&*self.0.window)
    }

    /// What the memory holds, while no kernel runs.
    pub fn image(&self) -> Vec<u64> {
        // Relaxed, as in `put_back`: pairs with nothing.
        self.all().map(|word| word.load(Ordering::Relaxed)).collect()
    }

    /// Puts the memory back to what it was, while no kernel runs: from its start, or `from_behind`, and rests in the
    /// middle.
    pub fn put_back(&self, image: &[u64], from_behind: bool) {
        let write = |(n, (word, &value)): (usize, (&AtomicU64, &u64))| {
            word.store(value, Ordering::Relaxed);
            if n.is_multiple_of(image.len() / 8) {
                std::thread::sleep(Duration::from_millis(1));
            }
        };
        if from_behind {
            self.all().rev().zip(image.iter().rev()).enumerate().for_each(write);
        } else {
            self.all().zip(image).enumerate().for_each(write);
        }
    }

    /// Writes the first share's mark before the rest of the memory, as a device can that does not mind its business.
    pub fn write_mark(&self, mark: u64) {
        self.0.words[0].store(mark, Ordering::Relaxed);
    }

    /// A word of 32 bits, so many bytes from the start.
    fn word(&self, at: usize) -> &AtomicU32 {
        let word = self.place(at / 8);
        // SAFETY: one half of a word that lives as long; all accesses to it are atomic.
        unsafe { AtomicU32::from_ptr(word.as_ptr().cast::<u32>().add(at / 4 % 2)) }
    }

    /// The mailbox that the host writes, of a port.
    pub fn inbox(&self, port: u32) -> &AtomicU32 {
        self.word(self.inbox_at() + 4 * port as usize)
    }

    /// The mailbox that the client writes.
    pub fn outbox(&self, port: u32) -> &AtomicU32 {
        self.word(self.0.areas.to_host + 4 * port as usize)
    }

    /// Writes a port's header.
    pub fn write_header(&self, port: u32, mask: u64, opcode: u32) {
        let at = self.0.areas.headers + HEADER_BYTES * port as usize;
        self.word(at).store(mask as u32, Ordering::Relaxed);
        self.word(at + 4).store((mask >> 32) as u32, Ordering::Relaxed);
        self.word(at + 8).store(opcode, Ordering::Relaxed);
    }

    /// The packet of a lane.
    pub fn packet(&self, port: u32, lane: u32) -> &[AtomicU64] {
        let at = self.0.areas.packets + PACKET_BYTES * (port * self.0.shape.lanes + lane) as usize;
        let at = (self.0.extent.areas + at) / 8;
        &self.0.words[at..at + PACKET_WORDS]
    }

    /// Keeps a port from being opened.
    pub fn occupy(&self, port: u32) {
        self.0.locks[port as usize].store(true, Ordering::Relaxed);
    }

    /// Opens a port for these lanes.
    ///
    /// # Panics
    /// When there is none for a minute.
    pub fn open(&self, opcode: u32, mask: u64) -> RpcPort<'_> {
        let began = Instant::now();
        loop {
            for (index, lock) in (0..).zip(&self.0.locks) {
                // Pairs with the release in the port's drop.
                if lock.swap(true, Ordering::Acquire) {
                    continue;
                }
                let out = self.outbox(index).load(Ordering::Relaxed);
                if self.inbox(index).load(Ordering::Relaxed) == out {
                    fence(Ordering::Acquire);
                    self.write_header(index, mask, opcode);
                    return RpcPort { client: self, index, mask, out, received: false, owns: true };
                }
                lock.store(false, Ordering::Release);
            }
            assert!(began.elapsed() < PATIENCE, "no port becomes free");
            pause();
        }
    }
}

/// A port that lanes have opened.
#[derive(Debug)]
pub struct RpcPort<'a> {
    client: &'a RpcClient,
    index: u32,
    mask: u64,
    out: u32,
    received: bool,
    owns: bool,
}

impl RpcPort<'_> {
    fn own(&mut self) {
        let began = Instant::now();
        while !self.owns {
            self.owns = self.client.inbox(self.index).load(Ordering::Relaxed) == self.out;
            assert!(began.elapsed() < PATIENCE, "nobody answers at port {}", self.index);
            pause();
        }
        fence(Ordering::Acquire);
    }

    fn give(&mut self) {
        self.out ^= 1;
        fence(Ordering::Release);
        self.client.outbox(self.index).store(self.out, Ordering::Relaxed);
        self.owns = false;
    }

    /// Sends a packet of each lane.
    pub fn send(&mut self, mut packet: impl FnMut(u32) -> Packet) {
        self.own();
        for lane in lanes(self.mask) {
            let words = self.client.packet(self.index, lane).iter().zip(packet(lane));
            words.for_each(|(word, value)| word.store(value, Ordering::Relaxed));
        }
        self.give();
        self.received = false;
    }

    /// Sends a packet of each lane that begins with these words.
    pub fn send_words<const N: usize>(&mut self, mut words: impl FnMut(u32) -> [u64; N]) {
        self.send(|lane| {
            let mut packet = [0; PACKET_WORDS];
            packet[..N].copy_from_slice(&words(lane));
            packet
        });
    }

    /// Receives a packet for each lane, in their order.
    pub fn recv(&mut self) -> Vec<Packet> {
        if self.received {
            self.give();
        }
        self.own();
        self.received = true;
        let packet = |lane| self.client.packet(self.index, lane);
        lanes(self.mask).map(|lane| std::array::from_fn(|i| packet(lane)[i].load(Ordering::Relaxed))).collect()
    }

    /// Receives the first word of each lane's packet.
    pub fn recv_word(&mut self) -> Vec<u64> {
        self.recv().into_iter().map(|packet| packet[0]).collect()
    }

    /// Sends bytes of each lane, which say `size` of themselves.
    pub fn send_n_as<'b>(&mut self, size: impl Fn(u32) -> u64, bytes: impl Fn(u32) -> &'b [u8]) {
        self.send(|lane| {
            let mut packet = packed(bytes(lane), 0, PACKET_BYTES - 8);
            packet.rotate_right(1);
            packet[0] = size(lane);
            packet
        });
        let longest = lanes(self.mask).map(|lane| bytes(lane).len()).max().unwrap_or(0);
        for at in (PACKET_BYTES - 8..longest).step_by(PACKET_BYTES) {
            self.send(|lane| packed(bytes(lane), at, PACKET_BYTES));
        }
    }

    /// Sends bytes of each lane.
    pub fn send_n<'b>(&mut self, bytes: impl Fn(u32) -> &'b [u8]) {
        self.send_n_as(|lane| bytes(lane).len() as u64, &bytes);
    }

    /// Receives bytes for each lane, in their order.
    pub fn recv_n(&mut self) -> Vec<Vec<u8>> {
        let bytes = |words: &[u64]| words.iter().flat_map(|word| word.to_ne_bytes()).collect::<Vec<_>>();
        let first = self.recv();
        let sizes: Vec<usize> = first.iter().map(|packet| packet[0] as usize).collect();
        let mut all: Vec<Vec<u8>> = first.iter().map(|packet| bytes(&packet[1..])).collect();
        let longest = sizes.iter().copied().max().unwrap_or(0);
        for _ in (PACKET_BYTES - 8..longest).step_by(PACKET_BYTES) {
            all.iter_mut().zip(self.recv()).for_each(|(all, packet)| all.extend(bytes(&packet)));
        }
        all.iter_mut().zip(sizes).for_each(|(all, size)| all.truncate(size));
        all
    }
}

impl Drop for RpcPort<'_> {
    fn drop(&mut self) {
        // Pairs with the acquire in `open`.
        self.client.0.locks[self.index as usize].store(false, Ordering::Release);
    }
}

/// So many bytes from `at` on, as words.
fn packed(bytes: &[u8], at: usize, most: usize) -> Packet {
    let bytes = bytes.get(at..).unwrap_or(&[]);
    let mut all = [0; PACKET_BYTES];
    let size = bytes.len().min(most);
    all[..size].copy_from_slice(&bytes[..size]);
    std::array::from_fn(|i| u64::from_ne_bytes(std::array::from_fn(|byte| all[8 * i + byte])))
}
