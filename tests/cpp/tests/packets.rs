//! Kernels that fill packets of AMD's form, in C++ by `hostcall_packets.cuh` and in Rust by `hostcall::packets`, served
//! by `libamd_hostcall`: on the simulator, or on the device that `HOSTCALL_TEST_DEVICE` names.
#![allow(missing_docs, reason = "a test")]

use std::ffi::{c_int, c_void};
use std::mem::offset_of;
use std::path::PathBuf;
use std::ptr::null_mut;
use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use amd_hostcall::api::*;
use amd_hostcall::layout::{BufferWords, Form, MailboxWords, size_in};
use amd_hostcall::memory::Map;
use amd_hostcall::stacks;
use hostcall::{CallError, Server};
use hostcall_cpp_tests::{bundle, device_spec, on_simulator, packet_images};
use offload::cuda::flat::{Flat, Registration};
use offload::{Args, Device, DeviceKind, HostMemory, Launch, Memory, Program, Queue};

/// A service, and another that does the same.
const SUM: u32 = 77;
const SUM_TOO: u32 = SUM + 1;
/// A service whose handler panics.
const FAILS: u32 = 79;

/// The first word and as many of the six behind the second as that says; and how many they were.
unsafe extern "C-unwind" fn sum(_: *mut c_void, _: u32, payload: *mut u64) -> c_int {
    // SAFETY: eight words.
    let words = unsafe { std::slice::from_raw_parts_mut(payload, 8) };
    let count = words[1].min(6) as usize;
    words[0] = words[2..2 + count].iter().fold(words[0], |sum, word| sum.wrapping_add(*word));
    0
}

unsafe extern "C-unwind" fn fails(_: *mut c_void, _: u32, _: *mut u64) -> c_int {
    panic!("the test asks for it")
}

/// Registers the services, once for the process.
fn with_services() {
    static ONCE: Once = Once::new();
    // SAFETY: fit for any thread.
    let register = |service, handler| assert_eq!(unsafe { amd_hostcall_register_service(service, Some(handler), null_mut()) }, 0);
    ONCE.call_once(|| {
        register(SUM, sum as _);
        register(SUM_TOO, sum as _);
        register(FAILS, fails as _);
    });
}

/// The kernels: an image of those in C++, or those in Rust.
enum Kernels {
    Cpp { compiler: String, image: PathBuf },
    Rust,
}

impl Kernels {
    fn in_cpp() -> Vec<Kernels> {
        packet_images().into_iter().map(|(compiler, image)| Kernels::Cpp { compiler, image }).collect()
    }

    fn in_rust() -> Vec<Kernels> {
        vec![Kernels::Rust]
    }

    fn compiler(&self) -> &str {
        match self {
            Kernels::Cpp { compiler, .. } => compiler,
            Kernels::Rust => "rustc",
        }
    }
}

/// How the kernels call a form.
fn number(form: Form) -> u32 {
    match form {
        Form::Stacks => 0,
        Form::Mailboxes => 1,
        Form::MaskedStacks => 2,
    }
}

/// The kernels, attached to a server: they could make calls of hostcall's own too, which are served by one.
fn load(device: &Device, kernels: &Kernels) -> (Program, Server) {
    let bundle = match kernels {
        Kernels::Cpp { image, .. } => bundle(device, image),
        Kernels::Rust => offload::include_program!("packets"),
    };
    let program = device.load(&bundle).expect("the kernels load");
    let server = Server::builder(device).start().expect("the server starts");
    server.attach(&program).expect("the kernels are attached");
    (program, server)
}

/// A buffer that a consumer serves.
struct Served {
    consumer: *mut ConsumerHandle,
    memory: HostMemory<u64>,
    form: Form,
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

impl Served {
    fn new(device: &Device, queue: &Queue, form: Form, packets: u32, claims_on_device: bool) -> Served {
        with_services();
        let memory = device.alloc_host::<u64>(size_in(form, packets).div_ceil(8)).expect("memory of the host");
        let at = memory.as_ptr().cast::<c_void>();
        let mut consumer = null_mut();
        // SAFETY: a place for a handle; as many bytes as the form says, which stay until the consumer is destroyed.
        unsafe {
            assert_eq!(amd_hostcall_create_consumer(&mut consumer), 0);
            assert_eq!(hostcall_amd_initialize_form(at, 8 * memory.len(), packets, form as u32), 0);
        }
        let claims = claims_on_device.then(|| {
            let claims = device.alloc::<u32>(packets.div_ceil(32) as usize).expect("memory of the device");
            queue.copy_to(&claims, 0, &vec![0; claims.len()]).expect("no claims");
            queue.synchronize().expect("the copy ends");
            // SAFETY: the word of the buffer that says where claims are; nobody uses it yet.
            unsafe { memory.as_ptr().add(2).write(claims.address()) };
            claims
        });
        // SAFETY: as above.
        unsafe { assert_eq!(hostcall_amd_register_form(consumer, at, form as u32), 0) };
        let doorbell = if form == Form::Mailboxes { offset_of!(MailboxWords, doorbell) } else { offset_of!(BufferWords, doorbell) };
        // SAFETY: a word of the buffer, which does not change as long as the buffer is registered.
        let doorbell = pin(device, unsafe { memory.as_ptr().add(doorbell / 8).read() });
        assert_eq!(amd_hostcall_launch_consumer(consumer), 0);
        Served { consumer, memory, form, _claims: claims, _doorbell: doorbell }
    }

    /// The parts of stacks of so many packets.
    fn stacks(&self, packets: u32) -> Map {
        // SAFETY: initialised, and it stays.
        unsafe { Map::find(self.memory.as_ptr().cast(), self.form, Some(packets)) }.expect("initialised")
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        assert_eq!(amd_hostcall_destroy_consumer(self.consumer), 0);
    }
}

/// A device with the kernels.
struct Bench {
    device: Device,
    queue: Queue,
    program: Program,
    _server: Server,
}

impl Bench {
    fn new(device: &str, kernels: &Kernels) -> Bench {
        let device = Device::open(device).unwrap_or_else(|error| panic!("{device}: {error}"));
        let queue = device.queue().expect("a queue");
        let (program, server) = load(&device, kernels);
        Bench { device, queue, program, _server: server }
    }

    fn serve(&self, form: Form, packets: u32, claims_on_device: bool) -> Served {
        Served::new(&self.device, &self.queue, form, packets, claims_on_device)
    }

    /// Launches a kernel whose last parameter is a word for each lane.
    fn launch(&self, kernel: &str, lanes: u32, group: u32, args: Args) -> Memory<u32> {
        let words = self.device.alloc::<u32>(lanes as usize).expect("memory for the results");
        let kernel = self.program.kernel(kernel).expect("the kernel is there");
        let args = args.address(words.address()).value(u64::from(lanes));
        // SAFETY: the kernel writes a word for each lane, and packets of buffers that stay.
        unsafe { self.queue.launch(&kernel, Launch::threads(lanes, group), args) }.expect("the launch");
        words
    }

    /// Waits for a kernel, and reads what it wrote.
    fn read(&self, words: &Memory<u32>) -> Vec<u32> {
        self.queue.synchronize().expect("the kernel ends");
        self.queue.read(words).expect("results are read")
    }

    /// How many of each lane's calls ended as they should.
    fn exchanges(&self, served: &Served, lanes: u32, group: u32, calls: u32) -> Vec<u32> {
        let args = Args::new().value(served.memory.address()).value(number(served.form)).value(SUM).value(calls);
        self.read(&self.launch("exchanges", lanes, group, args))
    }

    /// Launches one call of each lane, which keeps its status.
    fn ask(&self, buffer: &HostMemory<u64>, form: Form, service: u32, lanes: u32) -> Memory<u32> {
        self.launch("status", lanes, lanes, Args::new().value(buffer.address()).value(number(form)).value(service))
    }
}

/// Whether atomic operations of the device and of the host on one word of the host's are atomic for each other. Stacks
/// need that.
fn atomics_reach_the_host(kernels: &Kernels) -> bool {
    let Bench { device, queue, program, _server } = Bench::new(&device_spec(), kernels);
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

/// Whether the device can fill buffers of a form; says why not.
fn can_fill(kernels: &Kernels, form: Form) -> bool {
    let can = form == Form::Mailboxes || atomics_reach_the_host(kernels);
    if !can {
        println!("skipped: stacks need atomic operations that the device and the host share, which this device has not");
    }
    can
}

/// The devices of a test: lanes as fibers, in another wave size, and as threads; or the GPU. Of many waves there are
/// only fibers.
fn devices(lanes: u32) -> Vec<String> {
    let all = ["sim", "sim:lanes=64", "sim:seed=3", "sim:threads"].map(str::to_owned);
    match (on_simulator(), lanes) {
        (false, _) => vec![device_spec()],
        (true, ..1000) => all.into(),
        (true, _) => all[..2].to_vec(),
    }
}

fn every_call_is_answered(all: Vec<Kernels>, form: Form, packets: u32, claims_on_device: bool, lanes: u32, group: u32, calls: u32) {
    for kernels in all {
        if !can_fill(&kernels, form) {
            continue;
        }
        for device in devices(lanes) {
            println!("{}, {device}", kernels.compiler());
            let bench = Bench::new(&device, &kernels);
            let served = bench.serve(form, packets, claims_on_device);
            let right = bench.exchanges(&served, lanes, group, calls);
            let wrong = right.iter().position(|count| *count != calls);
            assert_eq!(wrong, None, "{}, {device}: every call of every lane is right", kernels.compiler());
        }
    }
}

/// Tests of kernels in one language.
macro_rules! tests {
    ($kernels:ident) => {
        use super::*;

        #[test]
        fn lanes_of_partial_waves_get_their_own_answers_through_mailboxes() {
            every_call_is_answered(Kernels::$kernels(), Form::Mailboxes, 40, false, 333, 96, 7);
        }

        #[test]
        fn lanes_of_partial_waves_get_their_own_answers_through_stacks() {
            every_call_is_answered(Kernels::$kernels(), Form::Stacks, 40, false, 333, 96, 7);
        }

        #[test]
        fn fewer_mailboxes_than_waves_are_taken_in_turns() {
            every_call_is_answered(Kernels::$kernels(), Form::Mailboxes, 3, true, 500, 64, 5);
        }

        #[test]
        fn fewer_packets_of_stacks_than_waves_are_taken_in_turns() {
            every_call_is_answered(Kernels::$kernels(), Form::Stacks, 3, false, 500, 64, 5);
        }

        #[test]
        fn a_thousand_waves_make_ten_calls_each_through_mailboxes() {
            every_call_is_answered(Kernels::$kernels(), Form::Mailboxes, 1000, true, 32_000, 128, 10);
        }

        #[test]
        fn a_thousand_waves_make_ten_calls_each_through_stacks() {
            every_call_is_answered(Kernels::$kernels(), Form::Stacks, 1000, false, 32_000, 128, 10);
        }
    };
}

mod cpp {
    tests!(in_cpp);
}

mod rust {
    tests!(in_rust);

    #[test]
    fn lanes_of_partial_waves_get_their_own_answers_through_masked_stacks() {
        every_call_is_answered(Kernels::in_rust(), Form::MaskedStacks, 40, false, 333, 96, 7);
    }

    #[test]
    fn fewer_packets_of_masked_stacks_than_waves_are_taken_in_turns() {
        every_call_is_answered(Kernels::in_rust(), Form::MaskedStacks, 3, false, 500, 64, 5);
    }

    #[test]
    fn a_thousand_waves_make_ten_calls_each_through_masked_stacks() {
        every_call_is_answered(Kernels::in_rust(), Form::MaskedStacks, 1000, false, 32_000, 128, 10);
    }

    /// The forms that the device can fill, and the devices.
    fn settings() -> impl Iterator<Item = (Form, String)> {
        let forms = [Form::Stacks, Form::MaskedStacks, Form::Mailboxes].into_iter().filter(|form| can_fill(&Kernels::Rust, *form));
        forms.flat_map(|form| devices(1).into_iter().map(move |device| (form, device)))
    }

    #[test]
    fn lanes_of_a_wave_that_run_together_call_different_services_through_different_buffers() {
        for (form, device) in settings() {
            let bench = Bench::new(&device, &Kernels::Rust);
            // One packet each: of four groups in a wave two wait for others.
            let [one, other] = [1, 1].map(|packets| bench.serve(form, packets, false));
            let args = Args::new().value(one.memory.address()).value(other.memory.address()).value(number(form)).value(SUM).value(5u32);
            let right = bench.read(&bench.launch("apart", 128, 64, args));
            assert_eq!(right, [5; 128], "{form:?}, {device}");
        }
    }

    #[test]
    fn the_example_of_the_page_is_a_kernel_here_and_runs() {
        let [page, kernels] = [include_str!("../../../docs/reference/amd-packets.md"), include_str!("../kernels/src/lib.rs")];
        let example = page.split("```rust\n").nth(1).and_then(|rest| rest.split("```").next()).expect("an example in Rust");
        let kernel = example.split_once("\n\n").expect("lines of `use`, and the kernel").1;
        assert!(kernel.contains("fn ask") && kernels.contains(kernel), "{example}");
        for device in devices(1) {
            let bench = Bench::new(&device, &Kernels::Rust);
            let served = bench.serve(Form::Mailboxes, 4, false);
            let out = bench.device.alloc::<u64>(8).expect("memory for the results");
            let args = Args::new().value(served.memory.address()).slice(&out);
            // SAFETY: the kernel takes the buffer of mailboxes and a slice of `u64`, which stay.
            unsafe { bench.queue.launch(&bench.program.kernel("ask").expect("the kernel is there"), Launch::threads(8, 8), args) }
                .expect("the launch");
            bench.queue.synchronize().expect("the kernel ends");
            assert_eq!(bench.queue.read(&out).expect("results are read"), [42, 43, 44, 45, 46, 47, 48, 49], "{device}");
        }
    }

    #[test]
    fn a_buffer_that_nobody_laid_out_is_an_error_and_is_left_as_it_is() {
        for (form, device) in settings() {
            let bench = Bench::new(&device, &Kernels::Rust);
            let memory = bench.device.alloc_host::<u64>(size_in(form, 1).div_ceil(8)).expect("memory of the host");
            // SAFETY: nobody else uses it yet.
            unsafe { memory.as_ptr().write_bytes(0, memory.len()) };
            let codes = bench.read(&bench.ask(&memory, form, SUM, 40));
            let detached = CallError::Detached.to_status().0.0;
            assert_eq!(codes, [u32::from(detached); 40], "{form:?}, {device}");
            // SAFETY: as many words, and the kernel has ended.
            let words = unsafe { std::slice::from_raw_parts(memory.as_ptr(), memory.len()) };
            assert!(words.iter().all(|word| *word == 0), "{form:?}, {device}: the memory is as it was");
        }
    }

    #[test]
    fn a_packet_whose_handler_panics_is_refused_but_in_a_mailbox() {
        for (form, device) in settings() {
            let bench = Bench::new(&device, &Kernels::Rust);
            let served = bench.serve(form, 4, false);
            let codes = bench.read(&bench.ask(&served.memory, form, FAILS, 40));
            let refused = if form == Form::Mailboxes { 0 } else { CallError::Refused { code: 0 }.to_status().0.0.into() };
            assert_eq!(codes, [refused; 40], "{form:?}, {device}");
        }
    }

    #[test]
    fn waves_wait_for_an_empty_free_stack_and_leave_packet_zero_alone() {
        const PACKETS: u32 = 2;
        for (form, device) in settings().filter(|(form, _)| *form != Form::Mailboxes) {
            let bench = Bench::new(&device, &Kernels::Rust);
            let served = bench.serve(form, PACKETS, false);
            let map = served.stacks(PACKETS);
            let held: Vec<_> = std::iter::from_fn(|| stacks::pop_free(&map, || {})).collect();
            assert_eq!(held.len() as u32, PACKETS);
            let codes = bench.ask(&served.memory, form, SUM, 40);
            // For waves that take what is not there; it asserts nothing.
            std::thread::sleep(Duration::from_millis(20));
            let zero = map.header(0).expect("a packet");
            assert_eq!(zero.active_mask.load(Ordering::SeqCst), 0, "{form:?}, {device}: nobody filled the packet that the test holds");
            held.into_iter().for_each(|held| stacks::give_back(&map, held, || {}));
            assert_eq!(bench.read(&codes), [0; 40], "{form:?}, {device}");
            let mut free: Vec<_> = std::iter::from_fn(|| stacks::pop_free(&map, || {})).map(|held| held.index(&map)).collect();
            free.sort_unstable();
            assert_eq!(free, [0, 1], "{form:?}, {device}: every packet came back once");
        }
    }
}
