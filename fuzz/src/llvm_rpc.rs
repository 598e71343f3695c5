//! A client of LLVM's wire that writes whatever it likes into the memory that it shares with its host.
//!
//! The input is a list of commands: store any word, flip any mailbox, write a header with any opcode, fill a packet
//! with a size that is none, make a call that is almost right. Beside it are honest callers: one on ports of the same
//! client that nobody else writes, and one that is another program. What must hold, whatever the input is:
//!
//! * *Progress*: every honest call is answered.
//! * *Results*: they are the right ones. The other program's file holds what it held.
//! * *Memory*: what is kept for the hostile client is bounded.
//! * *Ends*: the hostile client is taken off, and so is the server, whatever is open there.

use std::sync::atomic::Ordering;

use hostcall::__private::{Geometry, PortBuffer};
use hostcall::test_utils::{RpcClient, RpcPort, RpcShape};
use hostcall::{Access, Awake, BufferHandle, Limits, Server, Sink};
use hostcall_abi::llvm_rpc::opcode::{
    LIBC_CLOSE_FILE, LIBC_OPEN_FILE, LIBC_PRINTF_TO_STDERR, LIBC_READ_FROM_STREAM, LIBC_TEST_INCREMENT, LIBC_TEST_STREAM,
};
use hostcall_abi::llvm_rpc::{HEADER_BYTES, Layout, PACKET_BYTES};

use crate::Input;

/// What the other program's file holds.
const HELD: &[u8] = b"SECRET\n";
/// Ports of the hostile client, and behind them those of an honest caller.
const HOSTILE: u32 = 6;
const HONEST: u32 = 2;
/// Bytes that one program's messages may take at a time.
const IN_FLIGHT: u64 = 1 << 20;
/// Commands of one input, so that it has an end soon.
const COMMANDS: u32 = 400;
/// Commands between two rounds of honest calls, at most.
const PATIENCE: u32 = 16;

/// A server with both programs.
struct Host {
    server: Server,
    hostile: (BufferHandle, RpcClient),
    other: (BufferHandle, RpcClient),
    _awake: Awake,
    _folder: tempfile::TempDir,
}

impl Host {
    fn new(layout: Layout, lanes: u32, window: bool) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("held"), HELD).expect("a file");
        let builder = Server::without_device().threads(2).blocking_threads(8).stdout(Sink::Null).stderr(Sink::Null);
        let builder = builder.limits(Limits::default().bytes_in_flight(IN_FLIGHT));
        let server = builder.dir(folder.path(), "/data", Access::ReadOnly).expect("a grant").start().expect("a server");
        let client = |ports| {
            let geometry = Geometry { slots: 0, slot_bytes: 0, ..Geometry::new(1, 32) };
            let buffer = server.add_buffer(PortBuffer::in_process(geometry).expect("a buffer"));
            let client = RpcClient::served(&server, &buffer, RpcShape { layout, ports, lanes, window }, 1 << 16);
            (buffer, client)
        };
        let (hostile, other) = (client(HOSTILE + HONEST), client(2));
        (0..HOSTILE).for_each(|port| hostile.1.occupy(port));
        let awake = server.keep_awake();
        Self { server, hostile, other, _awake: awake, _folder: folder }
    }

    /// Calls of the honest ones.
    fn check(&self, round: u32) {
        let kept = RpcClient::bytes_kept(&self.hostile.0);
        assert!(kept <= IN_FLIGHT, "{kept} bytes are kept");
        let [here, there] = [&self.hostile.1, &self.other.1];
        for client in [here, there] {
            let mut port = client.open(LIBC_TEST_INCREMENT, 1);
            port.send_words(|_| [round.into()]);
            assert_eq!(port.recv_word(), [u64::from(round) + 1], "a call has another result");
        }
        let bytes: Vec<u8> = (0..round % 300).map(|at| (at ^ round) as u8).collect();
        let mut port = here.open(LIBC_TEST_STREAM, 1);
        port.send_n(|_| &bytes);
        // The hostile ports may have taken all that the program has.
        let back = port.recv_n().remove(0);
        assert!(back == bytes || (back.is_empty() && bytes.len() > PACKET_BYTES - 8), "other bytes come back");
        drop(port);
        let stream = {
            let mut port = there.open(LIBC_OPEN_FILE, 1);
            port.send_n(|_| b"/data/held\0");
            port.send_words(|_| [u64::from(b'r')]);
            port.recv_word()[0]
        };
        let mut port = there.open(LIBC_READ_FROM_STREAM, 1);
        port.send_words(|_| [100, stream]);
        assert_eq!(port.recv_n(), [HELD], "the other program's file");
        assert_eq!(port.recv_word(), [HELD.len() as u64]);
        drop(port);
        assert_eq!(print(there.open(LIBC_PRINTF_TO_STDERR, 1)), 8, "the other program's text");
        let mut port = there.open(LIBC_CLOSE_FILE, 1);
        port.send_words(|_| [stream]);
        assert_eq!(port.recv_word(), [0]);
    }
}

/// Prints `a text 7`.
fn print(mut port: RpcPort<'_>) -> u64 {
    port.send_n(|_| b"%s %d\0");
    assert_eq!(port.recv_word(), [12]);
    port.send_n(|_| &[1, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0]);
    assert_eq!(port.recv()[0][1], 1);
    port.send_n(|_| b"a text\0");
    port.recv_word()[0]
}

/// An opcode, mostly one that there is.
fn opcode(input: &mut Input<'_>) -> u32 {
    match input.byte() {
        number @ 0..=31 => u32::from(b'c') << 24 | u32::from(number),
        number @ 32..=63 => u32::from(b'c') << 24 | 0x8000 | u32::from(number & 3),
        64..=79 => u32::from(b'o') << 24,
        _ => input.word(),
    }
}

/// A word, often one that somebody may take for a size or an address.
fn word(input: &mut Input<'_>) -> u64 {
    match input.byte() % 8 {
        0 => 0,
        1 => 1,
        2 => 1 << 63,
        3 => u64::MAX,
        4 => u64::from(input.byte()),
        5 => 1 << 32 | u64::from(input.byte()) << 2,
        _ => u64::from(input.word()) << 32 | u64::from(input.word()),
    }
}

/// The body of the target.
///
/// # Panics
/// When something does not hold.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let layout = Layout::KNOWN[usize::from(input.byte()) % Layout::KNOWN.len()];
    // Three widths, each with the client's inbox in host memory and in a window.
    let choice = usize::from(input.byte()) % 6;
    let lanes = [1, 32, 64][choice % 3];
    let host = Host::new(layout, lanes, choice >= 3);
    let client = &host.hostile.1;
    let areas = layout.areas(HOSTILE + HONEST, lanes);
    // Two mailboxes in each word of memory, so that no word is of both.
    let of_honest = |at: usize, each: usize| (at + each * HOSTILE as usize) / 8..(at + each * (HOSTILE + HONEST) as usize) / 8;
    let kept_back = [
        of_honest(client.inbox_at(), 4),
        of_honest(areas.to_host, 4),
        of_honest(areas.headers, HEADER_BYTES),
        of_honest(areas.packets, PACKET_BYTES * lanes as usize),
    ];
    let (mut commands, mut round, mut unchecked) = (0, 0, 0);
    while !input.is_empty() && commands < COMMANDS {
        commands += 1;
        unchecked += 1;
        let command = input.byte();
        let port = u32::from(input.byte()) % HOSTILE;
        match command % 8 {
            0 => {
                let place = input.word() as usize % client.places();
                if !kept_back.iter().any(|words| words.contains(&place)) {
                    client.place(place).store(word(&mut input), Ordering::Relaxed);
                }
            }
            1 => client.write_header(port, word(&mut input), opcode(&mut input)),
            2 => drop(client.outbox(port).fetch_xor(1, Ordering::Relaxed)),
            3 => client.outbox(port).store(input.word(), Ordering::Relaxed),
            4 => {
                let lane = u32::from(input.byte()) % lanes;
                client.packet(port, lane).iter().take(2).for_each(|place| place.store(word(&mut input), Ordering::Relaxed));
            }
            5 => {
                let bytes = input.bytes(PACKET_BYTES);
                for (place, bytes) in client.packet(port, 0)[1..].iter().zip(bytes.chunks_exact(8)) {
                    place.store(u64::from_le_bytes(bytes.try_into().expect("eight")), Ordering::Relaxed);
                }
            }
            6 => {
                // A call that is almost right: whenever the host has answered, on with the next packet.
                let (mask, opcode, packets) = (word(&mut input) | 1, opcode(&mut input), input.byte() % 16);
                client.write_header(port, mask, opcode);
                for _ in 0..packets {
                    client.packet(port, 0)[0].store(word(&mut input), Ordering::Relaxed);
                    client.outbox(port).fetch_xor(1, Ordering::Relaxed);
                    std::thread::sleep(std::time::Duration::from_micros(10));
                }
            }
            _ => unchecked = PATIENCE,
        }
        if unchecked >= PATIENCE {
            (round, unchecked) = (round + 1, 0);
            host.check(round);
        }
    }
    host.check(round + 1);
    host.server.remove_buffer(&host.hostile.0).expect("no handler asks for it");
    let _ = host.other.0;
    let _ = host.server.stop();
}
