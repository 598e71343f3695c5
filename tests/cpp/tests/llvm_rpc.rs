//! Kernels in the names of LLVM's `rpc.h`: with `hostcall_rpc.h`, over our own wire, they do what the same text does
//! over LLVM's wire.
#![allow(missing_docs, reason = "a test")]

use std::path::Path;

use hostcall::{Access, RpcSession, Server, ServerBuilder, Sink, WaitError};
use hostcall_cpp_tests::{bundle, device_spec, on_simulator, rpc_images, rpc_wire_images};
use offload::{Args, Device, Launch, Program, Queue};

/// Items of a launch: of blocks of 96, whose last waves of 64 lanes are not full.
const ITEMS: usize = 192;
const WORDS: usize = 16;
/// As in `llvm_rpc_body.h`.
const SCRATCH: usize = 256 * 16384 + 2 * ((1 << 20) + 64);
/// Opcodes of the test's.
const SUM: u32 = 0x7800_0001;
const TALK: u32 = 0x7800_0002;

/// The sum of what each lane sends.
async fn sum(mut session: RpcSession) {
    session.recv().await;
    let sums: Vec<u64> = (0..64).map(|lane| session.packet(lane).iter().sum()).collect();
    session.send(|lane| [sums[lane as usize], 0, 0, 0, 0, 0, 0, 0]).await;
}

/// Sends texts until the client wants no more of them, which depends on the client; then how many there were.
async fn talk(mut session: RpcSession) {
    session.recv().await;
    let lanes: Vec<u32> = session.lanes().collect();
    let first: Vec<u64> = (0..64).map(|lane| session.packet(lane)[0]).collect();
    let mut rounds = 0;
    loop {
        rounds += 1;
        let text = |lane: usize| vec![b'a' + (first[lane] % 26) as u8; (first[lane] * 37 + rounds * 50) as usize % 300];
        session.send_n(&(0..64).map(text).collect::<Vec<_>>()).await;
        session.recv().await;
        if session.packet(lanes[0])[0] == 0 {
            break;
        }
        if rounds == 2 {
            session.may_block().await;
        }
    }
    session.send(|_| [rounds, 0, 0, 0, 0, 0, 0, 0]).await;
    session.recv().await;
}

struct Bench {
    queue: Queue,
    program: Program,
    server: Server,
    device: Device,
    text: std::sync::Arc<std::sync::Mutex<Vec<u8>>>,
}

impl Bench {
    fn new(device: &str, image: &Path, more: impl FnOnce(ServerBuilder) -> ServerBuilder) -> Self {
        let device = Device::open(device).unwrap();
        let (sink, text) = Sink::buffer();
        let builder = Server::builder(&device).rpc(SUM, sum).rpc(TALK, talk).heap(1 << 20).stdout(sink);
        let server = more(builder).start().unwrap();
        let program = device.load(&bundle(&device, image)).unwrap();
        server.attach(&program).unwrap();
        Self { queue: device.queue().unwrap(), program, server, device, text }
    }

    /// What a kernel's items leave.
    fn run(&self, kernel: &str, items: usize) -> Result<Vec<[u64; WORDS]>, WaitError> {
        let (out, scratch) = (self.device.alloc::<u64>(ITEMS * WORDS).unwrap(), self.device.alloc::<u8>(SCRATCH).unwrap());
        self.queue.copy_to(&out, 0, &[0; ITEMS * WORDS]).unwrap();
        let args = Args::new().address(out.address()).address(scratch.address());
        let launch = Launch::threads(items as u32, (items as u32).min(96));
        // SAFETY: the kernels write to `out`, WORDS for each item, and to `scratch` as far as its size says.
        unsafe { self.queue.launch(&self.program.kernel(kernel).unwrap(), launch, args) }.unwrap();
        self.server.wait(&self.queue)?;
        Ok(self.queue.read(&out).unwrap().as_chunks().0[..items].to_vec())
    }
}

/// A folder that is granted, with nothing in it.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// What the kernels leave that succeed, the file that they write, and what they print.
fn all(device: &str, image: &Path) -> (Vec<Vec<[u64; WORDS]>>, Vec<u8>, Vec<u8>) {
    let folder = folder();
    let bench = Bench::new(device, image, |builder| builder.dir(folder.path(), "/data", Access::ReadWrite).unwrap());
    let kernels = ["echoes", "counts", "interfaces", "own", "parted", "files", "memory"];
    let all = kernels.map(|kernel| bench.run(kernel, ITEMS).unwrap_or_else(|error| panic!("{device}, {kernel}: {error}"))).to_vec();
    let unknown = bench.run("unknown", 3).unwrap_err().to_string();
    assert!(unknown.contains("0x79000001 is not served"), "{unknown}");
    let left = bench.run("leave", ITEMS).unwrap_err();
    assert_eq!(left.report().exits, [3], "{left}");
    let printed = bench.text.lock().unwrap().clone();
    (all, std::fs::read(folder.path().join("written.txt")).unwrap(), printed)
}

/// Runs all kernels on a device, and looks at what they leave.
fn right(device: &str, image: &Path) -> (Vec<Vec<[u64; WORDS]>>, Vec<u8>, Vec<u8>) {
    let (mut left, file, printed) = all(device, image);
    let [echoes, counts, interfaces, own, parted, files, memory] = &left[..] else { panic!("seven kernels") };
    for item in 0..ITEMS {
        let at = item as u64;
        assert_eq!(echoes[item][..8], [1, 1, 1, 1, 1, 1, 12, u64::from(item == 5)], "{device}, item {item}");
        assert_eq!(counts[item][..4], [at + 20, at * 10 + 1, at * 10 + 1, at * 10 + 2], "{device}, item {item}");
        assert_eq!(counts[item][9], 0x6300_8000);
        assert_eq!(interfaces[item][..2], [9, 9], "{device}, item {item}");
        assert_eq!((own[item][0], own[item][1] % 1000), (at + 320, 4 + at % 4), "{device}, item {item}");
        assert_eq!(memory[item][..2], [1, 4950], "{device}, item {item}");
        for (round, &left) in parted[item][..6].iter().enumerate() {
            match (item + round) % 3 {
                0 => assert_eq!(left, at * 100 + round as u64 + 1),
                1 => assert_eq!(left, 1),
                _ => assert!(left > 1000),
            }
        }
    }
    let text = String::from_utf8_lossy(&file);
    assert!(text.starts_with("7 one: a text that is longer") && text.ends_with("two hundred and forty-eight\n"), "{text}");
    let size = file.len() as u64;
    let sum = file.iter().fold(0u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(*byte)));
    // Open, written, sought, read, the bytes, at the end, closed, closed again, and two files that are not there.
    assert_eq!(files[0][..11], [1, size, 0, size, size, sum, 1, 0, u64::MAX, 0, 0], "{device}");
    assert_eq!(printed, b"a file is written\n");
    // Lanes share nothing here but the heap, whose addresses differ.
    left.pop();
    (left, file, printed)
}

fn every_result_is_right(device: &str) {
    for (compiler, image) in rpc_images() {
        println!("{compiler}, {device}");
        right(device, &image);
    }
}

#[test]
fn recompiled_kernels_do_what_they_do_over_llvm_s_wire() {
    if !on_simulator() {
        // There the other client needs LLVM's headers for GPUs. What results are right is known.
        return every_result_is_right(&device_spec());
    }
    // By one compiler: over there a MiB takes 33 thousand exchanges.
    if let (Some((compiler, here)), Some((_, there))) = (rpc_images().pop(), rpc_wire_images().pop()) {
        println!("{compiler}");
        assert_eq!(right("sim", &here), right("sim", &there));
    }
}

#[test]
fn lanes_of_waves_of_64_have_their_own_sessions() {
    if on_simulator() {
        every_result_is_right("sim:lanes=64");
    }
}

#[test]
fn lanes_that_are_threads_have_their_own_sessions() {
    if !on_simulator() {
        return;
    }
    for (_, image) in rpc_images() {
        let bench = Bench::new("sim:threads,lanes=64", &image, |builder| builder);
        // A wave that is not full: they are threads, and wake one another all the time.
        let (own, parted) = (bench.run("own", 20).unwrap(), bench.run("parted", 20).unwrap());
        for item in 0..20 {
            assert_eq!((own[item][0], own[item][1] % 1000), (item as u64 + 320, 4 + item as u64 % 4));
            assert_eq!(parted[item][(3 - item % 3) % 3], (item * 100 + (3 - item % 3) % 3 + 1) as u64);
        }
    }
}

#[test]
fn few_ports_and_few_slots_are_enough() {
    if !on_simulator() {
        return;
    }
    for (_, image) in rpc_images() {
        for (ports, slots) in [(1, 2), (3, 8)] {
            let bench = Bench::new("sim", &image, |builder| builder.ports(ports).staging(slots, 64 << 10));
            let left = bench.run("echoes", ITEMS).unwrap();
            assert!(left.iter().all(|words| words[..7] == [1, 1, 1, 1, 1, 1, 12]) && left[5][7] == 1);
            assert_eq!(bench.run("parted", ITEMS).unwrap()[3][0], 301);
        }
    }
}

#[test]
fn strings_that_are_longer_than_slots_go_in_pieces() {
    for (_, image) in rpc_images() {
        let bench = Bench::new(&device_spec(), &image, |builder| builder.staging(8, 4096));
        let left = bench.run("echoes", 32).unwrap();
        assert!(left.iter().all(|words| words[..7] == [1, 1, 1, 1, 1, 1, 12]) && left[5][7] == 1);
    }
}

#[test]
fn what_nobody_serves_gives_zeros_and_is_reported() {
    for (_, image) in rpc_images() {
        let bench = Bench::new(&device_spec(), &image, |builder| builder);
        let error = bench.run("unknown", 40).unwrap_err();
        assert!(error.to_string().contains("0x79000001 is not served"), "{error}");
    }
}

#[test]
fn a_host_without_these_services_ends_the_lanes_with_an_error() {
    for (_, image) in rpc_images() {
        for kernel in ["counts", "echoes", "own"] {
            let bench = Bench::new(&device_spec(), &image, ServerBuilder::without_built_in);
            let error = bench.run(kernel, 40).unwrap_err();
            assert!(error.to_string().contains("LlvmRpc__"), "{error}");
        }
    }
}

#[test]
fn a_client_that_waits_for_what_no_session_sends_is_ended_with_a_report() {
    for (_, image) in rpc_images() {
        let bench = Bench::new(&device_spec(), &image, |builder| builder);
        let error = bench.run("over", 2).unwrap_err().to_string();
        assert!(error.contains("LIBC_TEST_INCREMENT: the client waits for an answer"), "{error}");
    }
}
