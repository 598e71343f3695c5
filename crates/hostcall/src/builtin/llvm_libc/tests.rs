use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use hostcall_abi::Geometry;
use hostcall_abi::llvm_rpc::Layout;
use proptest::prelude::*;

use super::*;
use crate::test_utils::{RpcClient, RpcShape};
use crate::wire::PortBuffer;
use crate::{Access, Awake, BufferHandle, Limits, Server, ServerBuilder, Sink};

/// What was printed.
struct Printed(Arc<Mutex<Vec<u8>>>);

impl Printed {
    fn new() -> (Sink, Self) {
        let (sink, text) = Sink::buffer();
        (sink, Self(text))
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&lock(&self.0)).into_owned()
    }
}

struct Host {
    client: RpcClient,
    out: Printed,
    err: Printed,
    server: Server,
    buffer: BufferHandle,
    _awake: Awake,
}

/// A server with a client of so many ports, whose waves have so many lanes.
fn host_of(builder: ServerBuilder, shape: RpcShape) -> Host {
    let ((to_out, out), (to_err, err)) = (Printed::new(), Printed::new());
    let server = builder.threads(2).stdout(to_out).stderr(to_err).start().unwrap();
    let geometry = Geometry { slots: 0, slot_bytes: 0, ..Geometry::new(1, 32) };
    let buffer = server.add_buffer(PortBuffer::in_process(geometry).unwrap());
    let client = RpcClient::served(&server, &buffer, shape, 1 << 20);
    let awake = server.keep_awake();
    Host { client, out, err, server, buffer, _awake: awake }
}

/// The same of few ports, the client's inbox of which lies in a window.
fn host(builder: ServerBuilder, lanes: u32) -> Host {
    host_of(builder, RpcShape { layout: Layout::KNOWN[0], ports: 4, lanes, window: true })
}

/// Both layouts, with the client's inbox in host memory and in a window.
fn shapes(ports: u32, lanes: u32) -> impl Iterator<Item = RpcShape> {
    let shape = move |layout| [false, true].map(|window| RpcShape { layout, ports, lanes, window });
    Layout::KNOWN.into_iter().flat_map(shape)
}

fn all(lanes: u32) -> u64 {
    u64::MAX >> (64 - lanes)
}

/// Bytes sent, and a word that comes back.
fn sent(client: &RpcClient, opcode: u32, bytes: &[u8]) -> u64 {
    let mut port = client.open(opcode, 1);
    port.send_n(|_| bytes);
    port.recv_word()[0]
}

/// Words sent, and one that comes back.
fn asked<const N: usize>(client: &RpcClient, opcode: u32, words: [u64; N]) -> u64 {
    let mut port = client.open(opcode, 1);
    port.send_words(|_| words);
    port.recv_word()[0]
}

fn fopen(client: &RpcClient, path: &str, mode: &str) -> u64 {
    let mut port = client.open(LIBC_OPEN_FILE, 1);
    let path = format!("{path}\0");
    port.send_n(|_| path.as_bytes());
    let mut bytes = [0; 8];
    bytes[..mode.len()].copy_from_slice(mode.as_bytes());
    port.send_words(|_| [u64::from_ne_bytes(bytes)]);
    port.recv_word()[0]
}

fn fwrite(client: &RpcClient, stream: u64, bytes: &[u8]) -> u64 {
    let mut port = client.open(LIBC_WRITE_TO_STREAM, 1);
    port.send_words(|_| [stream]);
    port.send_n(|_| bytes);
    port.recv_word()[0]
}

fn fread(client: &RpcClient, stream: u64, size: u64) -> Vec<u8> {
    let mut port = client.open(LIBC_READ_FROM_STREAM, 1);
    port.send_words(|_| [size, stream]);
    let bytes = port.recv_n().remove(0);
    assert_eq!(port.recv_word()[0], bytes.len() as u64);
    bytes
}

fn fgets(client: &RpcClient, stream: u64, size: u64) -> Vec<u8> {
    let mut port = client.open(LIBC_READ_FGETS, 1);
    port.send_words(|_| [size, stream]);
    port.recv_n().remove(0)
}

/// As LLVM's library prints: strings are sent when the host asks for them, by their numbers in `strings` from 1 on.
fn printf(client: &RpcClient, opcode: u32, stream: Option<u64>, format: &str, arguments: &[u8], strings: &[&str]) -> u64 {
    let mut port = client.open(opcode, 1);
    if let Some(stream) = stream {
        port.send_words(|_| [stream]);
    }
    let format = format!("{format}\0");
    port.send_n(|_| format.as_bytes());
    let size = port.recv_word()[0] as usize;
    port.send_n(|_| &arguments[..size.min(arguments.len())]);
    loop {
        let [result, address, ..] = port.recv()[0];
        if address == 0 {
            return result;
        }
        let text = format!("{}\0", strings[address as usize - 1]);
        port.send_n(|_| text.as_bytes());
    }
}

#[test]
fn lanes_of_waves_of_any_width_print_their_lines_whole() {
    for lanes in [1, 32, 64] {
        for shape in shapes(4, lanes) {
            let host = host_of(Server::without_device(), shape);
            let texts: Vec<String> = (0..lanes).map(|lane| format!("lane {lane} of {lanes}: {}", "x".repeat(lane as usize * 7))).collect();
            let mut port = host.client.open(LIBC_WRITE_TO_STDOUT_NEWLINE, all(lanes));
            port.send_n(|lane| texts[lane as usize].as_bytes());
            let done: Vec<u64> = texts.iter().map(|text| text.len() as u64 + 1).collect();
            assert_eq!(port.recv_word(), done);
            drop(port);
            assert_eq!(sent(&host.client, LIBC_WRITE_TO_STDERR, b"e"), 1);
            assert!(host.server.collect().is_success());
            assert_eq!(host.out.text().lines().collect::<Vec<_>>(), texts);
            assert_eq!(host.err.text(), "e");
        }
    }
}

#[test]
fn lanes_that_do_not_take_part_are_not_asked() {
    let host = host(Server::without_device(), 32);
    let mut port = host.client.open(LIBC_TEST_INCREMENT, 0b1010_0001);
    port.send_words(|lane| [u64::from(lane) * 10]);
    assert_eq!(port.recv_word(), [1, 51, 71]);
    assert!((0..32).filter(|lane| 0b1010_0001 >> lane & 1 == 0).all(|lane| host.client.packet(0, lane)[0].load(Ordering::Relaxed) == 0));
}

#[test]
fn threads_call_all_at_once_and_no_call_is_lost() {
    for shape in shapes(3, 32).chain(shapes(40, 32)) {
        let host = host_of(Server::without_device(), shape);
        let sum = AtomicU64::new(0);
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let (client, sum) = (&host.client, &sum);
                scope.spawn(move || {
                    for call in 0..300 {
                        let mut port = client.open(LIBC_TEST_INCREMENT, u64::from(u32::MAX));
                        port.send_words(|lane| [thread * 1_000_000 + call * 1000 + u64::from(lane)]);
                        for (lane, answer) in (0..).zip(port.recv_word()) {
                            assert_eq!(answer, thread * 1_000_000 + call * 1000 + lane + 1);
                            sum.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                });
            }
        });
        assert_eq!(sum.into_inner(), 8 * 300 * 32);
    }
}

#[test]
fn bytes_of_any_length_come_back_as_they_were_sent() {
    let hosts: Vec<_> = shapes(4, 64).map(|shape| host_of(Server::without_device(), shape)).collect();
    for (host, longest) in hosts.iter().flat_map(|host| [0usize, 1, 55, 56, 57, 119, 120, 121, 5000].map(|longest| (host, longest))) {
        let bytes: Vec<Vec<u8>> = (0..64).map(|lane| (0..longest.saturating_sub(lane)).map(|i| (i * 31 + lane) as u8).collect()).collect();
        let mut port = host.client.open(LIBC_TEST_STREAM, u64::MAX);
        port.send_n(|lane| &bytes[lane as usize]);
        assert_eq!(port.recv_n(), bytes, "{longest}");
    }
}

#[test]
fn packets_go_either_way_in_the_order_of_llvm_s_test() {
    let hosts: Vec<_> = shapes(4, 1).map(|shape| host_of(Server::without_device(), shape)).collect();
    for (host, ends_with_receive) in hosts.iter().flat_map(|host| [false, true].map(|ends| (host, ends))) {
        let mut port = host.client.open(LIBC_TEST_INTERFACE, 1);
        port.send_words(|_| [ends_with_receive.into()]);
        port.send_words(|_| [10]);
        assert_eq!(port.recv_word(), [11]);
        port.send_words(|_| [20]);
        assert_eq!(port.recv_word(), [21]);
        port.send_words(|_| [30]);
        port.send_words(|_| [40]);
        assert_eq!(port.recv_word(), [41]);
        assert_eq!(port.recv_word(), [42]);
        if ends_with_receive {
            port.send_words(|_| [50]);
        } else {
            assert_eq!(port.recv_word(), [43]);
        }
        drop(port);
        assert_eq!(asked(&host.client, LIBC_TEST_INCREMENT, [1]), 2);
    }
}

#[test]
fn files_are_written_and_read_as_streams_of_c() {
    let folder = tempfile::tempdir().unwrap();
    let host = host(Server::without_device().dir(folder.path(), "/data", Access::ReadWrite).unwrap(), 1);
    let client = &host.client;
    let file = fopen(client, "/data/a", "w+");
    assert!(file != 0 && file & 3 == 0);
    assert_eq!(fwrite(client, file, b"first line\nsecond\nno newline"), 28);
    assert_eq!(asked(client, LIBC_FTELL, [file]), 28);
    assert_eq!(asked(client, LIBC_FSEEK, [file, 0, 0]), 0);
    assert_eq!(fgets(client, file, 100), b"first line\n\0");
    assert_eq!(asked(client, LIBC_FTELL, [file]), 11);
    assert_eq!(fgets(client, file, 4), b"sec\0");
    assert_eq!(asked(client, LIBC_UNGETC, [u64::from(b'C'), file]), u64::from(b'C'));
    assert_eq!(asked(client, LIBC_FTELL, [file]), 13);
    assert_eq!(fread(client, file, 5), b"Cond\n");
    assert_eq!(asked(client, LIBC_FEOF, [file]), 0);
    assert_eq!(fread(client, file, 1000), b"no newline");
    assert_eq!([LIBC_FEOF, LIBC_FERROR].map(|opcode| asked(client, opcode, [file])), [1, 0]);
    asked(client, LIBC_CLEARERR, [file]);
    assert_eq!(asked(client, LIBC_FEOF, [file]), 0);
    // From the end, and over what was read ahead.
    assert_eq!(asked(client, LIBC_FSEEK, [file, (-10i64) as u64, 2]), 0);
    assert_eq!(fgets(client, file, 3), b"no\0");
    assert_eq!(fwrite(client, file, b"!"), 1);
    assert_eq!([LIBC_FFLUSH, LIBC_CLOSE_FILE, LIBC_CLOSE_FILE].map(|opcode| asked(client, opcode, [file])), [0, 0, FAILED]);
    assert_eq!(std::fs::read(folder.path().join("a")).unwrap(), b"first line\nsecond\nno!newline");
    assert_eq!((fread(client, file, 10), fwrite(client, file, b"x")), (Vec::new(), 0));
    // Names.
    let mut port = client.open(LIBC_RENAME, 1);
    port.send_n(|_| b"/data/a\0");
    port.send_n(|_| b"/data/b\0");
    assert_eq!(port.recv_word(), [0]);
    drop(port);
    assert_eq!([&b"/data/a\0"[..], b"/data/b\0"].map(|path| sent(client, LIBC_REMOVE, path)), [FAILED, 0]);
    std::fs::create_dir(folder.path().join("d")).unwrap();
    assert_eq!(sent(client, LIBC_REMOVE, b"/data/d\0"), 0);
    assert!(host.server.collect().is_success());
}

#[test]
fn what_a_program_has_open_is_closed_when_it_ends() {
    let folder = tempfile::tempdir().unwrap();
    let host = host(Server::without_device().dir(folder.path(), "/data", Access::ReadWrite).unwrap(), 1);
    let files = [0; 3].map(|_| fopen(&host.client, "/data/a", "a"));
    assert!(!files.contains(&0));
    assert_eq!(host.buffer.0.tenant.has(Thing::Descriptor), 3);
    host.server.remove_buffer(&host.buffer).unwrap();
    assert_eq!(host.buffer.0.tenant.has(Thing::Descriptor), 0);
}

#[test]
fn what_is_not_granted_is_refused_as_c_refuses_and_told() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a"), "text").unwrap();
    let host = host(Server::without_device().dir(folder.path(), "/data", Access::ReadOnly).unwrap(), 1);
    let client = &host.client;
    assert_eq!(["/etc/passwd", "/data/../../etc/passwd", "/data/none"].map(|path| fopen(client, path, "r")), [0; 3]);
    assert_eq!(["w", "a", "r+", "q"].map(|mode| fopen(client, "/data/a", mode)), [0; 4]);
    assert_eq!(sent(client, LIBC_REMOVE, b"/data/a\0"), FAILED);
    let file = fopen(client, "/data/a", "r");
    assert_eq!((fwrite(client, file, b"x"), asked(client, LIBC_FERROR, [file])), (0, 1));
    assert_eq!(fread(client, file, 9), b"text");
    // A stream is a handle: no address, and nothing that another number would be.
    for invented in [0, 4, 8, file + 4, file ^ 1 << 32, 0x7fff_0000_1230, u64::MAX << 2] {
        assert_eq!((fwrite(client, invented, b"x"), fread(client, invented, 1)), (0, Vec::new()), "{invented:#x}");
        assert_eq!([LIBC_FTELL, LIBC_CLOSE_FILE].map(|opcode| asked(client, opcode, [invented])), [FAILED; 2], "{invented:#x}");
    }
    assert_eq!(sent(client, LIBC_SYSTEM, b"true\0"), FAILED);
    let denials: Vec<_> = host.server.denials().into_iter().map(|denial| denial.to_string()).collect();
    assert!(denials.iter().any(|denial| denial.contains("to run the command `true`") && denial.contains("--commands")), "{denials:?}");
    assert!(denials.iter().any(|denial| denial.contains("/etc/passwd")), "{denials:?}");
}

#[test]
fn commands_run_if_they_are_granted() {
    let folder = tempfile::tempdir().unwrap();
    let host = host(Server::without_device().commands(), 1);
    let command = format!("echo it ran > {}; exit 3\0", folder.path().join("out").display());
    assert_eq!(sent(&host.client, LIBC_SYSTEM, command.as_bytes()), 3 << 8);
    assert_eq!(std::fs::read_to_string(folder.path().join("out")).unwrap(), "it ran\n");
}

#[test]
fn standard_input_is_read_and_ends() {
    let host = host(Server::without_device().stdin(crate::Input::Bytes(b"one\ntwo\nthree".to_vec())), 1);
    let stdin = 0x7000_0000 | 1;
    assert_eq!(fgets(&host.client, stdin, 64), b"one\n\0");
    assert_eq!(asked(&host.client, LIBC_UNGETC, [u64::from(b'T'), stdin]), u64::from(b'T'));
    assert_eq!(fread(&host.client, stdin, 3), b"Ttw");
    assert_eq!(fread(&host.client, stdin, 100), b"o\nthree");
    assert_eq!(asked(&host.client, LIBC_FEOF, [stdin]), 1);
    assert_eq!((fgets(&host.client, stdin, 64), fread(&host.client, stdin, 1)), (Vec::new(), Vec::new()));
}

#[test]
fn formats_are_printed_with_their_strings() {
    let folder = tempfile::tempdir().unwrap();
    let host = host(Server::without_device().dir(folder.path(), "/data", Access::ReadWrite).unwrap(), 1);
    let client = &host.client;
    let mut arguments = Vec::new();
    arguments.extend((-3i32).to_le_bytes());
    arguments.extend([0; 4]);
    for word in [1, 0, 2, 0.5f64.to_bits(), u64::MAX] {
        arguments.extend(u64::to_le_bytes(word));
    }
    let format = "%04d [%6s] %s [%-4.2s] %.2f %lx\n";
    let long = "long ".repeat(40);
    let text = format!("-003 [{long}] (null) [lo  ] 0.50 ffffffffffffffff\n");
    let strings = [&*long, "longer"];
    assert_eq!(printf(client, LIBC_PRINTF_TO_STDOUT, None, format, &arguments, &strings), text.len() as u64);
    let packed: Vec<u8> = arguments[..4].iter().chain(&arguments[8..]).copied().collect();
    assert_eq!(printf(client, LIBC_PRINTF_TO_STDERR_PACKED, None, format, &packed, &strings), text.len() as u64);
    let file = fopen(client, "/data/printed", "w");
    assert_eq!(printf(client, LIBC_PRINTF_TO_STREAM, Some(file), format, &arguments, &strings), text.len() as u64);
    assert!(host.server.collect().is_success());
    assert_eq!((host.out.text(), host.err.text()), (text.clone(), text.clone()));
    assert_eq!(std::fs::read_to_string(folder.path().join("printed")).unwrap(), text);
}

#[test]
fn lanes_print_with_formats_of_their_own() {
    let host = host(Server::without_device(), 32);
    let mut port = host.client.open(LIBC_PRINTF_TO_STDOUT, 0b111);
    let formats = [&b"none\n\0"[..], b"one %s\n\0", b"two %s %s\n\0"];
    port.send_n(|lane| formats[lane as usize]);
    assert_eq!(port.recv_word(), [0, 8, 16]);
    let arguments: Vec<u8> = [1u64, 2].iter().flat_map(|word| word.to_le_bytes()).collect();
    port.send_n(|lane| &arguments[..8 * lane as usize]);
    let mut rounds = 0;
    let results = loop {
        let packets = port.recv();
        if packets.iter().all(|packet| packet[1] == 0) {
            break packets;
        }
        rounds += 1;
        let addresses: Vec<u64> = packets.iter().map(|packet| packet[1]).collect();
        port.send_n(|lane| match addresses[lane as usize] {
            0 => b"",
            1 => b"first\0",
            _ => b"second\0",
        });
    };
    assert_eq!(rounds, 2);
    assert_eq!(results.iter().map(|packet| packet[0]).collect::<Vec<_>>(), [5, 10, 17]);
    drop(port);
    assert!(host.server.collect().is_success());
    assert_eq!(host.out.text(), "none\none first\ntwo first second\n");
}

#[test]
fn formats_that_would_write_or_fill_the_memory_print_nothing_and_are_told() {
    let host = host(Server::without_device(), 1);
    for format in ["%n", "%2000000000d", "%.2000000000f", "%-*d"] {
        let arguments = [i32::MAX.to_le_bytes(), [0; 4]].concat();
        assert_eq!(printf(&host.client, LIBC_PRINTF_TO_STDOUT, None, format, &arguments, &[]), FAILED, "{format}");
    }
    let report = host.server.collect();
    assert_eq!(report.handler_failures.len(), 4, "{report}");
    assert!(report.to_string().contains("%n writes to memory"), "{report}");
    assert_eq!(host.out.text(), "");
}

#[test]
fn memory_is_given_out_and_taken_back() {
    let host = host(Server::without_device(), 32);
    let mut port = host.client.open(LIBC_MALLOC, all(32));
    port.send_words(|lane| [u64::from(lane) * 100]);
    let mut addresses = port.recv_word();
    drop(port);
    assert!(addresses.iter().all(|address| (1 << 20..2 << 20).contains(address)));
    let mut port = host.client.open(LIBC_FREE, all(32));
    port.send_words(|lane| [addresses[lane as usize]]);
    drop(port);
    // Nobody waits for an answer to it.
    assert!(host.server.collect().is_success());
    addresses.sort_unstable();
    addresses.dedup();
    assert_eq!(addresses.len(), 32);
    assert_eq!(asked(&host.client, LIBC_MALLOC, [1 << 20]), 1 << 20, "all of it is there again");
    assert_eq!(asked(&host.client, LIBC_MALLOC, [u64::MAX]), 0);
    assert!(host.server.collect().is_success());
    host.client.open(LIBC_FREE, 1).send_words(|_| [77]);
    assert!(host.server.collect().to_string().contains("`malloc` has not returned"));
}

#[test]
fn an_exit_and_an_abort_are_in_the_report() {
    let host = host(Server::without_device(), 32);
    let mut port = host.client.open(LIBC_EXIT, all(32));
    port.send_words(|_| [0]);
    port.recv();
    port.send_words(|_| [0xdead_0000_0000_0007]);
    drop(port);
    assert_eq!(host.server.collect().exit_code(), Some(7));
    let mut port = host.client.open(LIBC_ABORT, 0b11);
    port.send_words(|_| [0]);
    port.recv();
    port.send_words(|_| [0]);
    drop(port);
    let report = host.server.collect();
    assert_eq!((report.panics.len(), &*report.panics[0].message, report.panics[0].lanes), (1, "aborted", 2));
    assert_eq!(asked(&host.client, LIBC_TEST_INCREMENT, [1]), 2, "others go on");
}

#[test]
fn addresses_of_functions_are_never_called() {
    let host = host(Server::without_device(), 1);
    for opcode in [LIBC_HOST_CALL, OFFLOAD_HOST_CALL] {
        let mut port = host.client.open(opcode, 1);
        port.send_n(|_| b"arguments");
        port.send_words(|_| [addresses_of_functions_are_never_called as *const () as u64]);
        assert_eq!(port.recv_word(), [0]);
    }
    let report = host.server.collect();
    assert_eq!(
        report.handler_failures.iter().map(|failure| &*failure.service).collect::<Vec<_>>(),
        ["LIBC_HOST_CALL", "OFFLOAD_HOST_CALL"]
    );
}

#[test]
fn an_opcode_that_nobody_knows_is_answered_by_zeros_and_named() {
    let host = host(Server::without_device(), 32);
    let mut port = host.client.open(0x7a00_0005, 0b101);
    // A conversation of some length, none of which makes sense to the host.
    port.send_n(|_| &[0xff; 200]);
    assert_eq!(port.recv_n(), [b"", b""]);
    assert_eq!(port.recv_word(), [0, 0]);
    drop(port);
    assert_eq!(asked(&host.client, LIBC_TEST_INCREMENT, [41]), 42);
    let report = host.server.collect();
    assert!(report.to_string().contains("opcode 0x7a000005 is not served"), "{report}");
}

#[test]
fn calls_beyond_the_cap_fail_and_the_end_can_still_be_told() {
    let host = host(Server::without_device().limits(Limits::default().calls(2)), 1);
    assert_eq!([0; 3].map(|_| sent(&host.client, LIBC_WRITE_TO_STDOUT, b"text")), [4, 4, 0]);
    assert_eq!(printf(&host.client, LIBC_PRINTF_TO_STDOUT, None, "x", &[], &[]), FAILED);
    assert_eq!(
        (fopen(&host.client, "/x", "r"), asked(&host.client, LIBC_FEOF, [1]), asked(&host.client, LIBC_MALLOC, [1])),
        (0, FAILED, 0)
    );
    let mut port = host.client.open(LIBC_EXIT, 1);
    port.send_words(|_| [0]);
    port.recv();
    port.send_words(|_| [9]);
    drop(port);
    assert_eq!(host.server.collect().exit_code(), Some(9));
}

#[test]
fn bytes_that_a_program_may_not_have_are_not_kept() {
    let host = host(Server::without_device().limits(Limits::default().bytes_in_flight(1000)), 1);
    assert_eq!(sent(&host.client, LIBC_WRITE_TO_STDOUT, &[b'x'; 900]), 900);
    assert_eq!(sent(&host.client, LIBC_WRITE_TO_STDOUT, &[b'y'; 5000]), 0);
    assert_eq!(sent(&host.client, LIBC_WRITE_TO_STDOUT, &[b'z'; 900]), 900, "they came back");
    assert!(host.server.collect().to_string().contains("1000 bytes"));
    assert_eq!(host.out.text().len(), 1800);
    assert_eq!(host.buffer.0.tenant.has(Thing::Byte), 0);
}

#[test]
fn a_size_that_is_no_size_takes_no_memory_and_keeps_nobody_waiting() {
    let host = host(Server::without_device(), 1);
    for size in [1 << 63, u64::MAX, u64::MAX - 7] {
        let mut port = host.client.open(LIBC_TEST_STREAM, 1);
        port.send_n_as(|_| size, |_| &[1; 1000]);
        // It goes on for ever, as far as the host knows: the port is lost, and no other.
        std::mem::forget(port);
        assert_eq!(asked(&host.client, LIBC_TEST_INCREMENT, [size & 0xff]), (size & 0xff) + 1);
    }
    assert!(host.buffer.0.tenant.has(Thing::Byte) < 16 << 10);
    host.server.remove_buffer(&host.buffer).unwrap();
    assert_eq!(host.buffer.0.tenant.has(Thing::Byte), 0, "sessions that were not finished keep nothing");
}

#[test]
fn mailboxes_that_are_neither_0_nor_1_say_nothing() {
    let host = host(Server::without_device(), 1);
    for word in [2, 3, u32::MAX, 1 << 31] {
        host.client.occupy(0);
        host.client.write_header(0, 1, LIBC_EXIT);
        host.client.outbox(0).store(word, Ordering::Relaxed);
        assert_eq!(asked(&host.client, LIBC_TEST_INCREMENT, [5]), 6);
        assert_eq!(host.client.inbox(0).load(Ordering::Relaxed), 0);
    }
    assert!(host.server.collect().is_success());
}

#[test]
fn clients_of_buffers_that_are_removed_are_not_left_in_the_middle() {
    for shape in shapes(4, 1) {
        let host = host_of(Server::without_device(), shape);
        let mut port = host.client.open(LIBC_TEST_INTERFACE, 1);
        port.send_words(|_| [0]);
        port.send_words(|_| [1]);
        host.server.remove_buffer(&host.buffer).unwrap();
        // What had come was answered.
        assert_eq!(port.recv_word(), [2]);
    }
}

/// LLVM's objects of the host's side, as far as the callback below uses them.
#[repr(C)]
struct LlvmProcess {
    ports: u64,
    inbox: *const AtomicU32,
    outbox: *const AtomicU32,
    headers: u64,
    packets: *const AtomicU64,
}

#[repr(C)]
struct LlvmPort {
    process: *const LlvmProcess,
    mask: u64,
    lanes: u32,
    index: u32,
    out: u32,
    receive: bool,
    owns: bool,
}

/// Adds 1 to what comes, three times, as code does that is written with LLVM's header: it waits for the client itself.
fn adds_three_times(port: *mut std::ffi::c_void, lanes: u32) -> u32 {
    // SAFETY: the port and its process as the server makes them, for the length of the call; its arrays have a word for
    // each port, and a packet for each lane of it. All of them are accessed atomically.
    unsafe {
        let port = &mut *port.cast::<LlvmPort>();
        let process = &*port.process;
        assert_eq!((lanes, port.lanes, port.owns, port.receive), (1, 1, true, false));
        let (inbox, outbox) = (&*process.inbox.add(port.index as usize), &*process.outbox.add(port.index as usize));
        let word = &*process.packets.add(8 * port.index as usize);
        for round in 0..3 {
            while round > 0 && inbox.load(Ordering::Relaxed) == port.out {
                std::thread::sleep(std::time::Duration::from_micros(10));
            }
            std::sync::atomic::fence(Ordering::Acquire);
            word.store(word.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
            port.out ^= 1;
            std::sync::atomic::fence(Ordering::Release);
            outbox.store(port.out, Ordering::Relaxed);
        }
        port.owns = false;
    }
    0
}

#[test]
fn a_callback_waits_for_its_client_by_llvm_s_own_code_and_others_go_on() {
    for window in [false, true] {
        let shape = RpcShape { layout: Layout::KNOWN[0], ports: 20, lanes: 1, window };
        let host = host_of(Server::without_device().rpc_callback(adds_three_times), shape);
        std::thread::scope(|scope| {
            for first in [10, 1000, 100_000] {
                let client = &host.client;
                scope.spawn(move || {
                    for call in 0..20 {
                        let mut port = client.open(0x7a00_0001, 1);
                        let mut value = first + call;
                        for _ in 0..3 {
                            port.send_words(|_| [value]);
                            assert_eq!(port.recv_word(), [value + 1]);
                            value += 10;
                        }
                        drop(port);
                        assert_eq!(asked(client, LIBC_TEST_INCREMENT, [call]), call + 1);
                    }
                });
            }
        });
        assert!(host.server.collect().is_success());
    }
}

/// A kernel, as one pass of a profiler runs it: calls on several ports, with odd and even numbers of exchanges.
fn pass(client: &RpcClient, file: u64) {
    std::thread::scope(|scope| {
        let held: Vec<_> = (0..5).map(|n| (n, client.open(LIBC_TEST_INCREMENT, 1))).collect();
        for (n, mut port) in held {
            scope.spawn(move || {
                port.send_words(|_| [n]);
                assert_eq!(port.recv_word(), [n + 1]);
            });
        }
    });
    assert_eq!(sent(client, LIBC_WRITE_TO_STDOUT_NEWLINE, b"once in each pass"), 18);
    assert_eq!(fwrite(client, file, b"x"), 1);
}

#[test]
fn kernels_that_a_profiler_runs_again_are_served_as_the_first_time() {
    for shape in shapes(40, 1) {
        let folder = tempfile::tempdir().unwrap();
        let host = host_of(Server::without_device().dir(folder.path(), "/data", Access::ReadWrite).unwrap(), shape);
        let file = fopen(&host.client, "/data/a", "w");
        pass(&host.client, file);
        let image = host.client.image();
        for from_behind in [false, true, false] {
            pass(&host.client, file);
            host.client.put_back(&image, from_behind);
        }
        pass(&host.client, file);
        assert!(host.server.collect().is_success());
        assert_eq!(host.out.text(), "once in each pass\n".repeat(5));
        assert_eq!(std::fs::read(folder.path().join("a")).unwrap(), b"xxxxx");
    }
}

#[test]
fn a_device_that_writes_marks_keeps_nobody_waiting_for_ever() {
    let host = host(Server::without_device(), 1);
    assert_eq!(asked(&host.client, LIBC_TEST_INCREMENT, [1]), 2);
    host.client.write_mark(77);
    // The mark behind stays: nobody puts memory back.
    assert_eq!(asked(&host.client, LIBC_TEST_INCREMENT, [2]), 3);
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // With a port that has always something new, too.
            let write = |mark| {
                host.client.write_mark(mark);
                host.client.outbox(3).store(host.client.inbox(3).load(Ordering::Relaxed) ^ 1, Ordering::Relaxed);
            };
            (0..).take_while(|_| !stop.load(Ordering::Relaxed)).for_each(write);
        });
        host.server.remove_buffer(&host.buffer).unwrap();
        stop.store(true, Ordering::Relaxed);
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(80))]
    /// Words anywhere in the memory, among them plausible ones, and an honest client on a port that nobody else writes.
    #[test]
    fn a_client_that_writes_what_it_likes_keeps_no_other_from_being_served(
        writes in proptest::collection::vec((any::<u16>(), prop_oneof![
            Just(0), Just(1), Just(1u64 << 32), Just(1 << 63), Just(u64::MAX), (0u64..30).prop_map(|n| 0x6300_0000 | n), any::<u64>(),
        ], any::<bool>()), 1..200),
        window in any::<bool>(),
    ) {
        let host = host_of(Server::without_device(), RpcShape { layout: Layout::KNOWN[0], ports: 4, lanes: 1, window });
        (0..3).for_each(|port| host.client.occupy(port));
        let areas = Layout::KNOWN[0].areas(4, 1);
        let honest = [host.client.inbox_at() + 12, areas.to_host + 12].map(|at| at / 8);
        let header = (areas.headers + 48) / 8..(areas.headers + 64) / 8;
        let packet = (areas.packets + 192) / 8..(areas.packets + 256) / 8;
        for (n, (place, value, flips)) in writes.into_iter().enumerate() {
            let place = usize::from(place) % host.client.places();
            if honest.contains(&place) {
                // Half of it is another port's.
                host.client.outbox(2).store(value as u32, Ordering::Relaxed);
            } else if !header.contains(&place) && !packet.contains(&place) {
                host.client.place(place).store(value, Ordering::Relaxed);
            }
            if flips {
                host.client.outbox(n as u32 % 3).fetch_xor(1, Ordering::Relaxed);
            }
            if n % 8 == 0 {
                prop_assert_eq!(asked(&host.client, LIBC_TEST_INCREMENT, [n as u64]), n as u64 + 1);
            }
        }
        let line = format!("{}\n", "x".repeat(100));
        prop_assert_eq!(sent(&host.client, LIBC_WRITE_TO_STDERR, line.as_bytes()), 101);
        let _ = host.server.collect();
        prop_assert!(host.err.text().contains(&line));
        prop_assert!(host.buffer.0.tenant.has(Thing::Byte) < 64 << 10);
    }
}
