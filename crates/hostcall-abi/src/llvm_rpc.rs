//! The wire of LLVM's `rpc.h`: where its words lie, and what its opcodes are called.
//!
//! Programs that are linked with LLVM's libc for GPUs have an object of the type `rpc::Client` under the name
//! [`CLIENT_SYMBOL`]. It says where five arrays lie that the device shares with its host: a *mailbox* of each port in
//! each direction, which is a word that is 0 or 1; a *header* of each port, with a mask of lanes and an opcode; and a
//! *packet* of 64 bytes for each lane of each port. The packets are the client's while its two mailboxes are the same,
//! and the host's while they differ: whoever has them gives them to the other by flipping the mailbox that it writes.
//!
//! The facts are those of LLVM's sources: `libc/shared/rpc.h` (the client of 552 bytes as of commit
//! `039da685da75caecdf1d51872b1f6f3a0fd72eb9`, that of 2096 bytes as of the development of LLVM 24),
//! `libc/shared/rpc_opcodes.h` (commit `845d195ca40845ee5150603a717d676c5999e67b`) and
//! `offload/include/Shared/RPCOpcodes.h`. The object does not say which version it is of: its size does.

/// The name of the client in a program.
pub const CLIENT_SYMBOL: &str = "__llvm_rpc_client";

/// Bytes of the object that a client has which was recompiled over our own wire (`include/hostcall_rpc.h`): it shares
/// no memory, and nothing is written into it.
pub const RECOMPILED_CLIENT_BYTES: usize = 8;

/// Bytes of a packet: of one lane, in one exchange.
pub const PACKET_BYTES: usize = 64;
/// 64-bit words of a packet.
pub const PACKET_WORDS: usize = PACKET_BYTES / 8;
/// Bytes of a header: a mask of 64 bits, an opcode of 32 behind it.
pub const HEADER_BYTES: usize = 16;
/// Bytes of a doorbell: two addresses and a number, aligned to a line.
const DOORBELL_BYTES: usize = 64;

/// How the words of one version lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Bytes of the client.
    pub client_bytes: usize,
    /// The most ports that it has locks for: a bit for each.
    pub most_ports: u32,
    /// Whether the shared memory begins with a doorbell. One whose first address is null is not rung.
    pub has_doorbell: bool,
}

/// Where the parts of the shared memory begin, in bytes from its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Areas {
    /// Mailboxes that the host writes: the client's inbox.
    pub to_client: usize,
    /// Mailboxes that the client writes: its outbox.
    pub to_host: usize,
    /// Headers.
    pub headers: usize,
    /// Packets, those of a port one after another.
    pub packets: usize,
    /// All of it.
    pub bytes: usize,
}

/// Where the device sees the parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addresses {
    /// The doorbell, if the layout has one.
    pub doorbell: u64,
    /// Mailboxes that the other side writes.
    pub inbox: u64,
    /// Mailboxes that the object's own side writes.
    pub outbox: u64,
    /// Headers.
    pub headers: u64,
    /// Packets.
    pub packets: u64,
}

impl Areas {
    /// The client's addresses of memory that begins at `start`.
    pub const fn at(&self, start: u64) -> Addresses {
        let Self { to_client, to_host, headers, packets, .. } = *self;
        Addresses {
            doorbell: start,
            inbox: start + to_client as u64,
            outbox: start + to_host as u64,
            headers: start + headers as u64,
            packets: start + packets as u64,
        }
    }
}

impl Layout {
    /// Those that are known.
    pub const KNOWN: [Self; 2] = [
        Self { client_bytes: 552, most_ports: 4096, has_doorbell: false },
        Self { client_bytes: 2096, most_ports: 16384, has_doorbell: true },
    ];

    /// The layout of a client of so many bytes.
    pub fn of_client(bytes: usize) -> Option<Self> {
        Self::KNOWN.into_iter().find(|layout| layout.client_bytes == bytes)
    }

    /// Where the locks begin in the client: behind the number of ports and the addresses.
    pub const fn locks_at(&self) -> usize {
        8 + 8 * (4 + self.has_doorbell as usize)
    }

    /// Where everything lies for so many ports, each with packets for so many lanes.
    pub const fn areas(&self, ports: u32, lanes: u32) -> Areas {
        let ports = ports as usize;
        let to_client = if self.has_doorbell { DOORBELL_BYTES } else { 0 };
        let to_host = to_client + 4 * ports;
        let headers = (to_host + 4 * ports).next_multiple_of(8);
        let packets = headers + HEADER_BYTES * ports;
        Areas { to_client, to_host, headers, packets, bytes: packets + PACKET_BYTES * lanes as usize * ports }
    }

    /// The client's bytes: of so many ports, with the parts of the shared memory at these addresses. No port is locked.
    ///
    /// # Panics
    /// When `client` has not [`client_bytes`](Self::client_bytes).
    pub fn write_client(&self, ports: u32, at: &Addresses, client: &mut [u8]) {
        assert_eq!(client.len(), self.client_bytes, "the client's bytes");
        client.fill(0);
        client[..4].copy_from_slice(&ports.to_ne_bytes());
        let doorbell = self.has_doorbell.then_some(at.doorbell);
        let parts = [doorbell, Some(at.inbox), Some(at.outbox), Some(at.headers), Some(at.packets)];
        for (place, part) in client[8..].chunks_exact_mut(8).zip(parts.into_iter().flatten()) {
            place.copy_from_slice(&part.to_ne_bytes());
        }
    }
}

/// Defines opcodes with their names.
macro_rules! opcodes {
    ($($(#[$doc:meta])* $name:ident = $base:literal, $number:literal;)*) => {
        $($(#[$doc])* pub const $name: u32 = ($base as u32) << 24 | $number;)*

        /// LLVM's name of an opcode, if it has one.
        pub const fn name(opcode: u32) -> Option<&'static str> {
            match opcode {
                $($name => Some(stringify!($name)),)*
                _ => None,
            }
        }
    };
}

/// What a client asks for.
pub mod opcode {
    opcodes! {
        /// One packet, and no answer.
        LIBC_NOOP = b'c', 0;
        /// A packet and its echo, then one with the status.
        LIBC_EXIT = b'c', 1;
        /// Bytes; their number comes back.
        LIBC_WRITE_TO_STDOUT = b'c', 2;
        /// As above.
        LIBC_WRITE_TO_STDERR = b'c', 3;
        /// A stream, then bytes; their number comes back.
        LIBC_WRITE_TO_STREAM = b'c', 4;
        /// As `LIBC_WRITE_TO_STDOUT`, with a newline behind the bytes.
        LIBC_WRITE_TO_STDOUT_NEWLINE = b'c', 5;
        /// How many bytes and which stream; bytes come back, then their number.
        LIBC_READ_FROM_STREAM = b'c', 6;
        /// The same for a line; it comes back with its zero.
        LIBC_READ_FGETS = b'c', 7;
        /// The path as bytes, then a packet with the mode; the stream comes back.
        LIBC_OPEN_FILE = b'c', 8;
        /// A stream; 0 or -1 comes back, as for all below that say nothing else.
        LIBC_CLOSE_FILE = b'c', 9;
        /// Bytes wanted; an address comes back.
        LIBC_MALLOC = b'c', 10;
        /// An address, and no answer.
        LIBC_FREE = b'c', 11;
        /// Bytes, then the address of a function; its result comes back.
        LIBC_HOST_CALL = b'c', 12;
        /// A packet and its echo, then one more.
        LIBC_ABORT = b'c', 13;
        /// A stream.
        LIBC_FEOF = b'c', 14;
        /// A stream.
        LIBC_FERROR = b'c', 15;
        /// A stream.
        LIBC_CLEARERR = b'c', 16;
        /// A stream, an offset, from where.
        LIBC_FSEEK = b'c', 17;
        /// A stream; the place comes back.
        LIBC_FTELL = b'c', 18;
        /// A stream.
        LIBC_FFLUSH = b'c', 19;
        /// A character, a stream; the character comes back.
        LIBC_UNGETC = b'c', 20;
        /// The format as bytes; how many bytes its arguments are comes back. Those, and then a string for each address
        /// that comes back in the second word, until it is null with the result in the first.
        LIBC_PRINTF_TO_STDOUT = b'c', 21;
        /// As above.
        LIBC_PRINTF_TO_STDERR = b'c', 22;
        /// As above, behind a packet with the stream.
        LIBC_PRINTF_TO_STREAM = b'c', 23;
        /// As above, with arguments that are not aligned: AMD's.
        LIBC_PRINTF_TO_STDOUT_PACKED = b'c', 24;
        /// As above.
        LIBC_PRINTF_TO_STDERR_PACKED = b'c', 25;
        /// As above.
        LIBC_PRINTF_TO_STREAM_PACKED = b'c', 26;
        /// A path as bytes.
        LIBC_REMOVE = b'c', 27;
        /// Two paths as bytes.
        LIBC_RENAME = b'c', 28;
        /// A command as bytes; its status comes back.
        LIBC_SYSTEM = b'c', 29;
        /// A number; the next one comes back. For LLVM's tests, as the two below.
        LIBC_TEST_INCREMENT = b'c', 0x8000;
        /// Packets in either direction, in an order of the test's.
        LIBC_TEST_INTERFACE = b'c', 0x8001;
        /// Bytes; they come back.
        LIBC_TEST_STREAM = b'c', 0x8002;
        /// OpenMP's: as `LIBC_HOST_CALL`.
        OFFLOAD_HOST_CALL = b'o', 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `rpc::Client` in C: an array of one `Process<false>`.
    #[repr(C)]
    struct Client<const LOCKS: usize> {
        ports: u32,
        inbox: u64,
        outbox: u64,
        headers: u64,
        packets: u64,
        locks: [u32; LOCKS],
    }

    #[repr(C)]
    struct ClientWithDoorbell<const LOCKS: usize> {
        ports: u32,
        doorbell: u64,
        inbox: u64,
        outbox: u64,
        headers: u64,
        packets: u64,
        locks: [u32; LOCKS],
    }

    #[repr(C)]
    struct Header {
        mask: u64,
        opcode: u32,
    }

    #[test]
    fn clients_have_the_sizes_that_a_compiler_of_c_gives_them() {
        let [plain, rung] = Layout::KNOWN;
        assert_eq!(size_of::<Client<{ 4096 / 32 }>>(), plain.client_bytes);
        assert_eq!(size_of::<ClientWithDoorbell<{ 16384 / 32 }>>(), rung.client_bytes);
        assert_eq!(core::mem::offset_of!(Client<128>, locks), plain.locks_at());
        assert_eq!(core::mem::offset_of!(ClientWithDoorbell<512>, locks), rung.locks_at());
        assert_eq!(size_of::<Header>(), HEADER_BYTES);
        for layout in Layout::KNOWN {
            assert_eq!(layout.locks_at() + layout.most_ports as usize / 8, layout.client_bytes);
            assert_eq!(Layout::of_client(layout.client_bytes), Some(layout));
        }
        assert_eq!(Layout::of_client(560), None);
    }

    #[test]
    fn the_parts_of_the_shared_memory_follow_one_another() {
        let [plain, rung] = Layout::KNOWN;
        // By hand: 3 mailboxes are 12 bytes, two times 24; headers are aligned to 8.
        let areas = plain.areas(3, 32);
        assert_eq!(areas, Areas { to_client: 0, to_host: 12, headers: 24, packets: 72, bytes: 72 + 3 * 32 * 64 });
        let areas = rung.areas(3, 64);
        assert_eq!(areas, Areas { to_client: 64, to_host: 76, headers: 88, packets: 136, bytes: 136 + 3 * 64 * 64 });
        assert_eq!(plain.areas(1, 1).headers, 8);
    }

    #[test]
    fn a_client_says_where_the_parts_lie_and_has_no_locks_set() {
        for layout in Layout::KNOWN {
            let areas = layout.areas(64, 32);
            let mut client = [0xff; 2096];
            let client = &mut client[..layout.client_bytes];
            layout.write_client(64, &Addresses { inbox: 0x9_0000, ..areas.at(0x1000) }, client);
            let word = |at: usize| u64::from_ne_bytes(client[at..at + 8].try_into().unwrap());
            assert_eq!(word(0), 64);
            let first = if layout.has_doorbell { 16 } else { 8 };
            assert_eq!((word(first), areas.at(0x1000).inbox), (0x9_0000, 0x1000 + areas.to_client as u64));
            assert!(!layout.has_doorbell || word(8) == 0x1000);
            assert_eq!([word(first + 8), word(first + 16)], [0x1000 + areas.to_host as u64, 0x1000 + areas.headers as u64]);
            assert_eq!(word(first + 24), 0x1000 + areas.packets as u64);
            assert!(client[layout.locks_at()..].iter().all(|&byte| byte == 0));
        }
    }

    #[test]
    fn opcodes_have_llvm_s_numbers_and_names() {
        assert_eq!((opcode::LIBC_EXIT, opcode::OFFLOAD_HOST_CALL), (0x6300_0001, 0x6f00_0000));
        assert_eq!(opcode::name(0x6300_001d), Some("LIBC_SYSTEM"));
        assert_eq!((opcode::name(0x6300_001e), opcode::name(1)), (None, None));
    }
}
