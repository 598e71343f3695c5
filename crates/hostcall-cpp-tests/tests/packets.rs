//! Kernels that fill packets of AMD's form, by `hostcall_packets.cuh`, served by `libamd_hostcall`: on the simulator, or on the GPU that
//! `HOSTCALL_TEST_DEVICE` names.
#![allow(missing_docs, reason = "a test")]

use std::ffi::{c_int, c_void};
use std::mem::offset_of;
use std::path::Path;
use std::ptr::null_mut;
use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};

use amd_hostcall::api::*;
use amd_hostcall::layout::{BufferWords, Form, MailboxWords, size_in};
use hostcall::Server;
use hostcall_cpp_tests::{bundle, device_spec, on_simulator, packet_images};
use offload::cuda::flat::{Flat, Registration};
use offload::{Args, Device, DeviceKind, HostMemory, Launch, Memory, Program, Queue};

const SUM: u32 = 77;

/// The first word and as many of the six behind the second as that says; and how many they were.
unsafe extern "C-unwind" fn sum(_: *mut c_void, _: u32, payload: *mut u64) -> c_int {
    // SAFETY: eight words.
    let words = unsafe { std::slice::from_raw_parts_mut(payload, 8) };
    let count = words[1].min(6) as usize;
    words[0] = words[2..2 + count].iter().fold(words[0], |sum, word| sum.wrapping_add(*word));
    0
}

/// The kernels, attached to a server: the header has calls of hostcall's own too, which are served by one.
fn load(device: &Device, image: &Path) -> (Program, Server) {
    let program = device.load(&bundle(device, image)).expect("the kernels load");
    let server = Server::builder(device).start().expect("the server starts");
    server.attach(&program).expect("the kernels are attached");
    (program, server)
}

/// A device with the kernels, and a buffer that a consumer serves.
struct Bench {
    device: Device,
    queue: Queue,
    program: Program,
    _server: Server,
    consumer: *mut ConsumerHandle,
    buffer: HostMemory<u64>,
    mail: bool,
    /// Where waves claim packets, if that is the device's memory.
    _claims: Option<Memory<u32>>,
    /// The doorbell's page, which a GPU does not reach otherwise.
    _doorbell: Option<Registration>,
}

/// Pins the page of a doorbell, for as long as its consumer is there.
fn pin(device: &Device, doorbell: u64) -> Option<Registration> {
    let is_cuda = device.info().kind == DeviceKind::Cuda;
    is_cuda.then(|| Flat::new(device).and_then(|device| device.register(doorbell as usize, 4096)).expect("the page is pinned"))
}

impl Bench {
    fn new(device: &str, image: &Path, form: Form, packets: u32, claims_on_device: bool) -> Bench {
        static ONCE: Once = Once::new();
        // SAFETY: fit for any thread.
        ONCE.call_once(|| assert_eq!(unsafe { amd_hostcall_register_service(SUM, Some(sum), null_mut()) }, 0));
        let device = Device::open(device).unwrap_or_else(|error| panic!("{device}: {error}"));
        let queue = device.queue().expect("a queue");
        let (program, server) = load(&device, image);
        let buffer = device.alloc_host::<u64>(size_in(form, packets).div_ceil(8)).expect("memory of the host");
        let at = buffer.as_ptr().cast::<c_void>();
        let mut consumer = null_mut();
        // SAFETY: a place for a handle; as many bytes as the form says, which stay until the consumer is destroyed.
        unsafe {
            assert_eq!(amd_hostcall_create_consumer(&mut consumer), 0);
            assert_eq!(hostcall_amd_initialize_form(at, 8 * buffer.len(), packets, form as u32), 0);
        }
        let claims = claims_on_device.then(|| {
            let claims = device.alloc::<u32>(packets.div_ceil(32) as usize).expect("memory of the device");
            queue.copy_to(&claims, 0, &vec![0; claims.len()]).expect("no claims");
            queue.synchronize().expect("the copy ends");
            // SAFETY: the word of the buffer that says where claims are; nobody uses it yet.
            unsafe { buffer.as_ptr().add(2).write(claims.address()) };
            claims
        });
        // SAFETY: as above.
        unsafe { assert_eq!(hostcall_amd_register_form(consumer, at, form as u32), 0) };
        let doorbell = if form == Form::Mailboxes { offset_of!(MailboxWords, doorbell) } else { offset_of!(BufferWords, doorbell) };
        // SAFETY: a word of the buffer, which does not change as long as the buffer is registered.
        let doorbell = pin(&device, unsafe { buffer.as_ptr().add(doorbell / 8).read() });
        assert_eq!(amd_hostcall_launch_consumer(consumer), 0);
        Bench {
            device,
            queue,
            program,
            _server: server,
            consumer,
            buffer,
            mail: form == Form::Mailboxes,
            _claims: claims,
            _doorbell: doorbell,
        }
    }

    /// How many of each lane's calls ended as they should.
    fn exchanges(&self, lanes: u32, group: u32, calls: u32) -> Vec<u32> {
        let right = self.device.alloc::<u32>(lanes as usize).expect("memory for the results");
        let kernel = self.program.kernel("exchanges").expect("the kernel is there");
        let args = Args::new().value(self.buffer.address()).value(u32::from(self.mail)).value(SUM).value(calls);
        let args = args.address(right.address()).value(u64::from(lanes));
        // SAFETY: the kernel writes a word for each lane, and packets of the buffer.
        unsafe { self.queue.launch(&kernel, Launch::threads(lanes, group), args) }.expect("the launch");
        self.queue.synchronize().expect("the kernel ends");
        self.queue.read(&right).expect("results are read")
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        assert_eq!(amd_hostcall_destroy_consumer(self.consumer), 0);
    }
}

/// Whether atomic operations of the device and of the host on one word of the host's are atomic for each other. Stacks need that.
fn atomics_reach_the_host(device: &str, image: &Path) -> bool {
    let device = Device::open(device).expect("it opened before");
    let queue = device.queue().expect("a queue");
    let (program, _server) = load(&device, image);
    let word = device.alloc_host::<u64>(1).expect("memory of the host");
    // SAFETY: a word that stays, and that others use atomically.
    let shared = unsafe { AtomicU64::from_ptr(word.as_ptr()) };
    shared.store(0, Ordering::SeqCst);
    let (lanes, times, ours) = (64u32, 500u32, 200_000u64);
    let args = Args::new().address(word.address()).value(times).value(u64::from(lanes));
    // SAFETY: the kernel changes that word.
    unsafe { queue.launch(&program.kernel("additions").expect("the kernel is there"), Launch::threads(lanes, 32), args) }
        .expect("the launch");
    for _ in 0..ours {
        shared.fetch_add(1, Ordering::SeqCst);
    }
    queue.synchronize().expect("the kernel ends");
    let sum = shared.load(Ordering::SeqCst);
    let all = u64::from(lanes) * u64::from(times) + ours;
    if sum != all {
        println!("of {all} additions of the device and of the host to one word, {sum} arrived");
    }
    sum == all
}

/// The devices of a test: lanes as fibers, in another wave size, and as threads; or the GPU. Of many waves there are only fibers.
fn devices(lanes: u32) -> Vec<String> {
    let all = ["sim", "sim:lanes=64", "sim:seed=3", "sim:threads"].map(str::to_owned);
    match (on_simulator(), lanes) {
        (false, _) => vec![device_spec()],
        (true, ..1000) => all.into(),
        (true, _) => all[..1].to_vec(),
    }
}

fn every_call_is_answered(form: Form, packets: u32, claims_on_device: bool, lanes: u32, group: u32, calls: u32) {
    for (compiler, image) in packet_images() {
        if form != Form::Mailboxes && !atomics_reach_the_host(&device_spec(), &image) {
            println!("skipped: stacks need atomic operations that the device and the host share, which this device has not");
            continue;
        }
        for device in devices(lanes) {
            println!("{compiler}, {device}");
            let bench = Bench::new(&device, &image, form, packets, claims_on_device);
            let right = bench.exchanges(lanes, group, calls);
            assert_eq!(right.iter().position(|count| *count != calls), None, "{compiler}, {device}: every call of every lane is right");
        }
    }
}

#[test]
fn lanes_of_partial_waves_get_their_own_answers_through_mailboxes() {
    every_call_is_answered(Form::Mailboxes, 40, false, 333, 96, 7);
}

#[test]
fn lanes_of_partial_waves_get_their_own_answers_through_stacks() {
    every_call_is_answered(Form::Stacks, 40, false, 333, 96, 7);
}

#[test]
fn fewer_mailboxes_than_waves_are_taken_in_turns() {
    every_call_is_answered(Form::Mailboxes, 3, true, 500, 64, 5);
}

#[test]
fn a_thousand_waves_make_ten_calls_each_through_mailboxes() {
    every_call_is_answered(Form::Mailboxes, 1000, true, 32_000, 128, 10);
}

#[test]
fn a_thousand_waves_make_ten_calls_each_through_stacks() {
    every_call_is_answered(Form::Stacks, 1000, false, 32_000, 128, 10);
}
