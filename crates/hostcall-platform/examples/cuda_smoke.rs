//! What the CUDA plugin promises, checked on a real GPU: prints a PASS or FAIL line for each promise and exits with 1
//! if one failed. Without a GPU it checks what the plugin says of that. `cargo run --release -p hostcall-platform
//! --example cuda_smoke [--features cudarc]`

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use offload::cuda;
use offload::{Args, Device, Error, HostMemory, Image, ImageKind, Launch, Memory, Platform, Program, ProgramBundle, Queue};

type Outcome = Result<(), String>;

const PTX: &str = include_str!("cuda_smoke.ptx");
/// `HostMemory<u32>` words of `meet`: the kernel's, and the host's on another cache line.
const FROM_KERNEL: usize = 0;
const KNOB_SEEN: usize = 1;
const FROM_HOST: usize = 64;

fn main() -> ExitCode {
    let step = Arc::new(Mutex::new("start"));
    watchdog(step.clone(), Duration::from_secs(150));
    let mut failed = 0;
    let mut check = |name: &'static str, test: &dyn Fn() -> Outcome| {
        *step.lock().unwrap() = name;
        let start = Instant::now();
        let outcome = catch_unwind(AssertUnwindSafe(test)).unwrap_or_else(|_| Err("panicked".into()));
        let took = start.elapsed().as_secs_f64() * 1e3;
        match outcome {
            Ok(()) => println!("PASS {name} ({took:.1} ms)"),
            Err(why) => {
                failed += 1;
                println!("FAIL {name} ({took:.1} ms): {why}");
            }
        }
    };

    match Device::cuda(0) {
        Ok(device) => println!("device: {:?}\ncuda: {:?}", device.info(), cuda::info(&device)),
        Err(error) => {
            check("without a GPU the error is typed and says what to do", &|| match &error {
                Error::Unavailable { .. } => {
                    println!("     {error}");
                    Ok(())
                }
                other => Err(format!("{other:?}")),
            });
            return if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE };
        }
    }
    check("a device number that does not exist is named with the count", &wrong_ordinal);
    check("a vector sum is right", &vector_sum);
    check("kernels say their registers, and modules load eagerly", &kernel_info);
    check("PTX that does not compile is an error with the compiler's log", &jit_error);
    check("more memory than there is says asked and available bytes", &out_of_memory);
    check("a launch that cannot fit is refused and the device lives on", &bad_launches);
    check("64 KiB of dynamic shared memory work", &dynamic_shared);
    check("a running kernel writes pinned memory while the host reads it", &meet_the_host);
    check("globals are read and written beside a running kernel", &beside_a_kernel);
    check("what waits for a running kernel is told", &what_waits);
    check("memory dropped while a kernel runs is freed later, and dropping does not wait", &drop_while_running);
    check("kernels in flight are counted and subscribers told", &in_flight);
    check("synchronize sleeps while a long kernel runs", &sleeping_wait);
    check("copies and fills run in order", &copies_and_fills);
    check("events order queues and measure time", &events);
    check("completions are called, and cannot call the device", &completions);
    check("a captured graph runs once for each launch and is counted", &graphs);
    check("raw handles go out and come in", &raw_handles);
    check("limits can be set", &limits);
    check("several GPUs share pinned memory", &several_gpus);
    #[cfg(feature = "cudarc")]
    check("cudarc's context, stream and function are served, and take our memory", &with_cudarc);
    check("a reset is refused while host memory is in use", &reset_refused);
    check("after all that a vector sum is still right", &vector_sum);
    check("a trap loses the device and settles the count; reset brings it back or says to restart", &|| lose_and_reset("traps"));
    println!("{}", if failed == 0 { "all passed".into() } else { format!("{failed} failed") });
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn wrong_ordinal() -> Outcome {
    let error = Device::cuda(99).map(|_| ()).unwrap_err();
    ensure(matches!(error, Error::NoDevice { ordinal: 99, count: 1.., .. }), format!("{error:?}"))
}

fn vector_sum() -> Outcome {
    let (device, program, queue) = open()?;
    add_vectors(&device, &program, &queue)
}

fn add_vectors(device: &Device, program: &Program, queue: &Queue) -> Outcome {
    const N: usize = 100_003;
    let (a, b, out) = (device.alloc::<f32>(N).s()?, device.alloc::<f32>(N).s()?, device.alloc::<f32>(N).s()?);
    let values: Vec<f32> = (0..N).map(|i| i as f32).collect();
    queue.copy_to(&a, 0, &values).s()?;
    queue.copy_to(&b, 0, &values).s()?;
    let args = Args::new().address(a.address()).address(b.address()).address(out.address()).value(N as u32);
    // SAFETY: the kernel's four parameters; `N` elements behind each address, alive until the copy below has waited.
    unsafe { queue.launch(&program.kernel("add").s()?, Launch::threads(N as u32, 256), args) }.s()?;
    let mut sums = vec![0.0f32; N];
    queue.copy_from(&mut sums, &out, 0).s()?;
    let wrong = sums.iter().enumerate().find(|&(i, &sum)| sum != 2.0 * i as f32);
    ensure(wrong.is_none(), format!("{wrong:?}"))
}

fn kernel_info() -> Outcome {
    let (_, program, _) = open()?;
    let info = *program.kernel("add").s()?.info();
    println!("     {info:?}");
    ensure(info.registers > 0 && info.max_group_size >= 256, "add")?;
    ensure(program.kernel("small").s()?.info().max_group_size == 64, "small is declared with 64 threads")?;
    ensure(matches!(program.kernel("absent"), Err(Error::NoKernel { .. })), "absent kernel")?;
    ensure(matches!(program.kernel("a\0b"), Err(Error::NoKernel { .. })), "kernel with a NUL")?;
    ensure(matches!(program.global("absent"), Err(Error::NoGlobal { .. })), "absent global")?;
    ensure(std::env::var("CUDA_MODULE_LOADING").as_deref() == Ok("EAGER"), "CUDA_MODULE_LOADING")
}

fn jit_error() -> Outcome {
    let device = Device::cuda(0).s()?;
    let broken = PTX.replace("add.f32 %f3", "add.f33 %f3");
    match device.load(&bundle(&broken)) {
        Err(Error::Load { reason, log: Some(log), .. }) => {
            println!("     {reason}\n     {}", log.lines().next().unwrap_or_default());
            ensure(log.contains("line") && reason.contains("INVALID_PTX"), format!("{reason}: {log}"))?;
        }
        other => return Err(format!("{other:?}")),
    }
    for bytes in ["", "no PTX at all", "\u{7f}ELF", ".version 99.9\n.target sm_70\n.address_size 64\n"] {
        ensure(matches!(device.load(&bundle(bytes)), Err(Error::Load { .. })), format!("{bytes:?} was not refused as it should"))?;
    }
    let mut cubin = bundle("these bytes are no cubin");
    cubin.images[0].kind = ImageKind::Cubin;
    cubin.images[0].arch = device.info().arch.clone().into();
    let refused = device.load(&cubin);
    ensure(matches!(refused, Err(Error::Load { .. })), format!("{refused:?}"))?;
    vector_sum()
}

fn out_of_memory() -> Outcome {
    let device = Device::cuda(0).s()?;
    match device.alloc::<u8>(1 << 46) {
        Err(Error::OutOfMemory { asked, available, .. }) => {
            println!("     {available} bytes available");
            ensure(asked == 1 << 46 && available > 0 && available <= device.info().memory_bytes, "figures")?;
        }
        other => return Err(format!("{other:?}")),
    }
    let refused = device.alloc_host::<u8>(1 << 52);
    ensure(matches!(refused, Err(Error::OutOfHostMemory { .. })), format!("{refused:?}"))?;
    vector_sum()
}

fn bad_launches() -> Outcome {
    let (_, program, queue) = open()?;
    let small = program.kernel("small").s()?;
    for launch in [Launch::linear(1, 128), Launch::linear(1, 64).dynamic_shared(u32::MAX), Launch::linear(0, 1), Launch::linear(1, 1 << 20)]
    {
        // SAFETY: a kernel without parameters.
        let refused = unsafe { queue.launch(&small, launch, Args::new()) };
        ensure(matches!(refused, Err(Error::Launch { .. })), format!("{launch:?}: {refused:?}"))?;
    }
    ensure(queue.device().in_flight() == 0, "a refused launch stays counted")?;
    // SAFETY: as above.
    unsafe { queue.launch(&small, Launch::linear(1, 64), Args::new()) }.s()?;
    queue.synchronize().s()
}

fn dynamic_shared() -> Outcome {
    let (device, program, queue) = open()?;
    let out = device.alloc::<u32>(1).s()?;
    let bytes = 64 << 10;
    let args = Args::new().address(out.address()).value(bytes);
    // SAFETY: the kernel's two parameters.
    unsafe { queue.launch(&program.kernel("shared").s()?, Launch::linear(1, 1).dynamic_shared(bytes), args) }.s()?;
    let mut value = [0];
    queue.copy_from(&mut value, &out, 0).s()?;
    ensure(value == [42], format!("{value:?}"))
}

/// A running `meet`, waiting for the host.
struct Meeting {
    words: HostMemory<u32>,
    queue: Queue,
    program: Program,
}

impl Meeting {
    fn start() -> Result<Meeting, String> {
        let (device, program, queue) = open()?;
        let words = device.alloc_host::<u32>(128).s()?;
        ensure((0..128).all(|i| word(&words, i).load(Ordering::Relaxed) == 0), "host memory is zeroed")?;
        // SAFETY: the kernel's one parameter; the words live in the meeting, which waits for the kernel.
        unsafe { queue.launch(&program.kernel("meet").s()?, Launch::linear(1, 1), Args::new().address(words.address())) }.s()?;
        let meeting = Meeting { words, queue, program };
        meeting.await_word(1)?;
        Ok(meeting)
    }

    fn await_word(&self, value: u32) -> Outcome {
        let start = Instant::now();
        while word(&self.words, FROM_KERNEL).load(Ordering::Acquire) != value {
            ensure(start.elapsed() < Duration::from_secs(5), format!("the kernel did not write {value}"))?;
            std::hint::spin_loop();
        }
        Ok(())
    }

    fn release(&self) {
        word(&self.words, FROM_HOST).store(1, Ordering::Release);
    }

    /// Lets the kernel end; what it saw in `knob`.
    fn end(&self) -> Result<u32, String> {
        self.release();
        self.await_word(2)?;
        self.queue.synchronize().s()?;
        Ok(word(&self.words, KNOB_SEEN).load(Ordering::Relaxed))
    }
}

impl Drop for Meeting {
    fn drop(&mut self) {
        self.release();
        let _ = self.queue.synchronize();
    }
}

fn word(words: &HostMemory<u32>, index: usize) -> &AtomicU32 {
    assert!(index < words.len());
    // SAFETY: in range, aligned, alive as long as `words`, and touched by atomic accesses only, on both sides.
    unsafe { AtomicU32::from_ptr(words.as_ptr().add(index)) }
}

fn meet_the_host() -> Outcome {
    let meeting = Meeting::start()?;
    ensure(!meeting.queue.is_idle().s()?, "idle while a kernel runs")?;
    let knob = meeting.end()?;
    ensure(knob == 7, format!("knob {knob}"))
}

fn beside_a_kernel() -> Outcome {
    let meeting = Meeting::start()?;
    let start = Instant::now();
    let knob = meeting.program.global("knob").s()?;
    let mut before = [0; 4];
    knob.read(&mut before).s()?;
    ensure(u32::from_le_bytes(before) == 7 && knob.size() == 4, format!("{before:?}"))?;
    knob.write(&99u32.to_le_bytes()).s()?;
    println!("     {:?} to read and write a global, while the kernel waited", start.elapsed());
    ensure(word(&meeting.words, FROM_KERNEL).load(Ordering::Relaxed) == 1, "the kernel ended meanwhile: something waited for it")?;
    let seen = meeting.end()?;
    ensure(seen == 99, format!("the kernel saw {seen}"))
}

/// The driver may let these wait for a running kernel (580.159 does): told, not judged. It is why programs are attached
/// before kernels run.
fn what_waits() -> Outcome {
    let meeting = Meeting::start()?;
    let device = meeting.queue.device().clone();
    let running = || word(&meeting.words, FROM_KERNEL).load(Ordering::Relaxed) == 1;
    let told = |what: &str, start: Instant| {
        println!("     {what}: {:?}{}", start.elapsed(), if running() { "" } else { ": it waited for the kernel" });
        running()
    };
    let start = Instant::now();
    let _device_memory = device.alloc::<u8>(64 << 20).s()?;
    if !told("device memory", start) {
        return Ok(());
    }
    let start = Instant::now();
    let _pinned = device.alloc_host::<u8>(1 << 20).s()?;
    if !told("pinned memory", start) {
        return Ok(());
    }
    let start = Instant::now();
    let _program = device.load(&bundle(PTX)).s()?;
    if !told("loading a program", start) {
        return Ok(());
    }
    meeting.end().map(|_| ())
}

fn drop_while_running() -> Outcome {
    let device = Device::cuda(0).s()?;
    let (a, b) = (device.alloc::<u8>(1 << 20).s()?, device.alloc_host::<u8>(1 << 20).s()?);
    let program = device.load(&bundle(PTX)).s()?;
    let meeting = Meeting::start()?;
    let start = Instant::now();
    drop((a, b, program));
    ensure(start.elapsed() < Duration::from_secs(2), "dropping waited for the kernel")?;
    ensure(word(&meeting.words, FROM_KERNEL).load(Ordering::Relaxed) == 1, "the kernel ended meanwhile")?;
    meeting.end().map(|_| ())
}

fn in_flight() -> Outcome {
    let told = Arc::new(Mutex::new(Vec::new()));
    let meeting = Meeting::start()?;
    let device = meeting.queue.device().clone();
    let _subscription = device.subscribe({
        let told = told.clone();
        Arc::new(move |busy| told.lock().unwrap().push(busy))
    });
    ensure(device.in_flight() == 1, format!("{} in flight, one running", device.in_flight()))?;
    let small = meeting.program.kernel("small").s()?;
    let queue = device.queue().s()?;
    // SAFETY: a kernel without parameters.
    unsafe { queue.launch(&small, Launch::linear(1, 1), Args::new()) }.s()?;
    queue.synchronize().s()?;
    ensure(device.in_flight() == 1, format!("{} in flight after the second ended", device.in_flight()))?;
    meeting.end()?;
    ensure(device.in_flight() == 0, format!("{} in flight at the end", device.in_flight()))?;
    for _ in 0..1000 {
        // SAFETY: as above.
        unsafe { queue.launch(&small, Launch::linear(1, 1), Args::new()) }.s()?;
    }
    queue.synchronize().s()?;
    let told = told.lock().unwrap().clone();
    ensure(device.in_flight() == 0 && told.last() == Some(&false) && told.windows(2).all(|w| w[0] != w[1]), format!("{told:?}"))
}

fn sleeping_wait() -> Outcome {
    let meeting = Arc::new(Meeting::start()?);
    let releaser = thread::spawn({
        let meeting = meeting.clone();
        move || {
            thread::sleep(Duration::from_millis(500));
            meeting.release();
        }
    });
    let (before, start) = (thread_cpu(), Instant::now());
    meeting.queue.synchronize().s()?;
    let (cpu, took) = (thread_cpu().zip(before).map(|(after, before)| after - before), start.elapsed());
    releaser.join().map_err(|_| "releaser")?;
    println!("     {cpu:?} of processor time in {took:?}");
    ensure(took > Duration::from_millis(400), "did not wait")?;
    ensure(cpu.is_none_or(|cpu| cpu < Duration::from_millis(100)), "burnt a core")
}

/// Processor time of this thread, where the system tells.
fn thread_cpu() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(Duration::from_nanos(text.split(' ').next()?.parse().ok()?))
}

fn copies_and_fills() -> Outcome {
    let (device, _, queue) = open()?;
    let (a, b) = (device.alloc::<u8>(1 << 20).s()?, device.alloc::<u8>(1 << 20).s()?);
    queue.fill(&a, 0xA5).s()?;
    queue.copy_to(&a, 100, &[1, 2, 3]).s()?;
    let between = device.alloc_host::<u8>(1 << 20).s()?;
    queue.copy_out(&between, 0, &a, 0, 1 << 20).s()?;
    queue.copy_in(&b, 0, &between, 0, 1 << 20).s()?;
    drop((a, between));
    let mut out = vec![0u8; 1 << 20];
    queue.copy_from(&mut out, &b, 0).s()?;
    ensure(out[99..104] == [0xA5, 1, 2, 3, 0xA5] && out[(1 << 20) - 1] == 0xA5, format!("{:?}", &out[99..104]))
}

fn events() -> Outcome {
    let (device, program, queue) = open()?;
    let (start, end) = (device.event().s()?, device.event().s()?);
    ensure(end.since(&start).s()?.is_none(), "time between events never recorded")?;
    let word = counter(&device, &queue)?;
    let other = device.queue().s()?;
    queue.record(&start).s()?;
    launch_count(&queue, &program, &word, 1 << 16)?;
    queue.record(&end).s()?;
    other.wait(&end).s()?;
    launch_count(&other, &program, &word, 1)?;
    other.synchronize().s()?;
    ensure(end.is_complete().s()?, "not complete")?;
    let took = end.since(&start).s()?.ok_or("no time")?;
    println!("     {took:?}");
    ensure(took > Duration::ZERO && took < Duration::from_secs(1), format!("{took:?}"))
}

fn counter(device: &Device, queue: &Queue) -> Result<Memory<u32>, String> {
    let word = device.alloc::<u32>(1).s()?;
    queue.fill(&word, 0).s()?;
    queue.synchronize().s()?;
    Ok(word)
}

fn launch_count(queue: &Queue, program: &Program, word: &Memory<u32>, groups: u32) -> Outcome {
    // SAFETY: the kernel's one parameter, of memory that the callers keep until they have waited.
    unsafe { queue.launch(&program.kernel("count").s()?, Launch::linear(groups, 32), Args::new().address(word.address())) }.s()
}

fn completions() -> Outcome {
    let (device, _, queue) = open()?;
    let (sender, receiver) = mpsc::channel();
    let inside = device.clone();
    queue.on_complete(Box::new(move || drop(sender.send(inside.alloc::<u8>(1).map(|_| ()).map_err(|e| e.to_string()))))).s()?;
    queue.synchronize().s()?;
    let said = receiver.recv_timeout(Duration::from_secs(5)).map_err(|e| e.to_string())?;
    ensure(said.as_ref().is_err_and(|text| text.contains("this thread, which runs a function of a queue")), format!("{said:?}"))
}

fn graphs() -> Outcome {
    let (device, program, queue) = open()?;
    let word = counter(&device, &queue)?;
    queue.begin_capture().s()?;
    ensure(matches!(queue.begin_capture(), Err(Error::Capture(_))), "capture within a capture")?;
    ensure(matches!(queue.synchronize(), Err(Error::Capture(_))), "waiting within a capture")?;
    launch_count(&queue, &program, &word, 2)?;
    launch_count(&queue, &program, &word, 1)?;
    let graph = queue.end_capture().s()?;
    ensure(matches!(queue.end_capture(), Err(Error::Capture(_))), "end without begin")?;
    ensure(device.in_flight() == 0, "recorded launches are counted")?;
    for _ in 0..10 {
        // SAFETY: the memory it was recorded with is alive, and is waited for below.
        unsafe { queue.launch_graph(&graph) }.s()?;
    }
    ensure(device.in_flight() <= 10, "too many counted")?;
    let mut value = [0];
    queue.copy_from(&mut value, &word, 0).s()?;
    ensure(value == [10 * 3 * 32] && device.in_flight() == 0, format!("{value:?}, {} in flight", device.in_flight()))
}

fn raw_handles() -> Outcome {
    let (device, program, queue) = open()?;
    let context = device.raw_cuda_context().ok_or("no context")?;
    let (stream, module) = (queue.raw_stream().ok_or("no stream")?, program.raw_module().ok_or("no module")?);
    // SAFETY: the handles' owners live to the end of this function.
    let same = unsafe { Device::from_raw_cuda_context(context) }.s()?;
    ensure(same.info() == device.info(), "another device")?;
    // SAFETY: as above.
    let borrowed = unsafe { Queue::from_raw_stream(&same, stream) }.s()?;
    // SAFETY: as above.
    let loaded = unsafe { Program::from_raw_module(&same, "borrowed", module) }.s()?;
    add_vectors(&same, &loaded, &borrowed)?;
    let word = counter(&same, &borrowed)?;
    let counted = borrowed.track(|| same.in_flight()).s()?;
    ensure(counted == 1, format!("{counted} in flight while tracked"))?;
    launch_count(&borrowed, &loaded, &word, 1)?;
    borrowed.synchronize().s()?;
    ensure(same.in_flight() == 0, "tracked work stays counted")?;
    drop((borrowed, loaded, word));
    ensure(matches!(same.reset(), Err(Error::Reset { .. })), "a borrowed context was reset")?;
    add_vectors(&device, &program, &queue)
}

fn limits() -> Outcome {
    let device = Device::cuda(0).s()?;
    cuda::set_limit(&device, cuda::Limit::StackBytes, 8 << 10).s()?;
    cuda::set_limit(&device, cuda::Limit::StackBytes, 1 << 10).s()?;
    vector_sum()
}

fn several_gpus() -> Outcome {
    let platform = Platform::all().into_iter().find(|p| p.kind() == offload::DeviceKind::Cuda).ok_or("no platform")?;
    let devices = platform.devices().s()?;
    println!("     {} GPUs", devices.len());
    for device in &devices {
        add_vectors(device, &device.load(&bundle(PTX)).s()?, &device.queue().s()?)?;
    }
    if let [first, second, ..] = &devices[..] {
        let words = first.alloc_host::<u32>(1).s()?;
        let queue = second.queue().s()?;
        let program = second.load(&bundle(PTX)).s()?;
        // SAFETY: the kernel's one parameter. Pinned memory is portable: the same address on every device.
        unsafe { queue.launch(&program.kernel("count").s()?, Launch::linear(1, 1), Args::new().address(words.address())) }.s()?;
        queue.synchronize().s()?;
        ensure(word(&words, 0).load(Ordering::Acquire) == 1, "the second GPU did not write the first's pinned memory")?;
        ensure(matches!(first.queue().s()?.record(&second.event().s()?), Err(Error::WrongDevice { .. })), "a foreign event was taken")?;
    }
    Ok(())
}

#[cfg(feature = "cudarc")]
fn with_cudarc() -> Outcome {
    use cudarc::driver::{CudaContext, LaunchConfig, PushKernelArg};
    use cudarc::nvrtc::Ptx;
    let context = CudaContext::new(0).s()?;
    let stream = context.new_stream().s()?;
    let module = context.load_module(Ptx::from_src(PTX)).s()?;
    let function = module.load_function("count").s()?;
    let device = Device::from_cudarc(&context).s()?;
    let queue = Queue::from_cudarc(&device, &stream).s()?;
    let program = Program::from_cudarc(&device, "cudarc's", &function).s()?;
    drop((module, context));
    ensure(program.global("knob").s()?.size() == 4, "knob")?;
    let (word, host) = (counter(&device, &queue)?, device.alloc_host::<u32>(1).s()?);
    let config = LaunchConfig { grid_dim: (2, 1, 1), block_dim: (32, 1, 1), shared_mem_bytes: 0 };
    // SAFETY: the kernel's one parameter, alive until the wait below.
    queue.track(|| unsafe { stream.launch_builder(&function).arg(&word).launch(config) }).s()?.s()?;
    // SAFETY: as above.
    queue.track(|| unsafe { stream.launch_builder(&function).arg(&host).launch(config) }).s()?.s()?;
    queue.synchronize().s()?;
    let (mut value, mut pinned) = ([0], [0]);
    queue.copy_from(&mut value, &word, 0).s()?;
    host.read(0, &mut pinned).s()?;
    ensure(value == [64] && pinned == [64] && device.in_flight() == 0, format!("{value:?} {pinned:?} {}", device.in_flight()))
}

fn lose_and_reset(kernel: &str) -> Outcome {
    let (device, program, queue) = open()?;
    let memory = device.alloc::<u32>(1).s()?;
    let (sender, receiver) = mpsc::channel::<()>();
    // SAFETY: a kernel without parameters, which is meant to fail.
    unsafe { queue.launch(&program.kernel(kernel).s()?, Launch::linear(1, 32), Args::new()) }.s()?;
    // The context may be lost already.
    let _ = queue.on_complete(Box::new(move || drop(sender)));
    let error = queue.synchronize().map_err(|e| {
        println!("     {e}");
        e
    });
    ensure(matches!(error, Err(Error::DeviceLost { .. })), format!("{error:?}"))?;
    ensure(device.in_flight() == 0, format!("{} in flight in a lost device", device.in_flight()))?;
    ensure(receiver.recv_timeout(Duration::from_secs(2)) == Err(mpsc::RecvTimeoutError::Disconnected), "a completion is kept for ever")?;
    ensure(matches!(device.alloc::<u8>(1), Err(Error::DeviceLost { .. })), "a lost device allocates")?;
    // NVIDIA promises no more than that a new process can go on, and driver 580.159 holds it to that.
    let fresh = match device.reset() {
        Err(error @ Error::DeviceLost { .. }) if error.to_string().contains("restart the process") => {
            println!("     {error}");
            return Ok(());
        }
        reset => reset.s()?,
    };
    ensure(matches!(queue.synchronize(), Err(Error::DeviceLost { .. })), "a queue survived the reset")?;
    ensure(matches!(program.kernel("add"), Err(Error::DeviceLost { .. })), "a program survived the reset")?;
    ensure(matches!(device.reset(), Err(Error::DeviceLost { .. })), "a device was reset twice")?;
    drop((memory, program, queue, device));
    add_vectors(&fresh, &fresh.load(&bundle(PTX)).s()?, &fresh.queue().s()?)
}

fn reset_refused() -> Outcome {
    let device = Device::cuda(0).s()?;
    // Of another `Device` for the same GPU, which shares the context.
    let memory = Device::cuda(0).s()?.alloc_host::<u8>(1).s()?;
    let refused = device.reset();
    ensure(matches!(refused, Err(Error::Reset { .. })), format!("{refused:?}"))?;
    drop(memory);
    // SAFETY: dropped before its owner.
    let lent = unsafe { Device::from_raw_cuda_context(device.raw_cuda_context().ok_or("no context")?) }.s()?;
    ensure(matches!(device.reset(), Err(Error::Reset { .. })), "a reset under a borrowed context")?;
    drop(lent);
    let fresh = device.reset().s()?;
    add_vectors(&fresh, &fresh.load(&bundle(PTX)).s()?, &fresh.queue().s()?)
}

fn open() -> Result<(Device, Program, Queue), String> {
    let device = Device::cuda(0).s()?;
    let program = device.load(&bundle(PTX)).s()?;
    let queue = device.queue().s()?;
    Ok((device, program, queue))
}

fn bundle(ptx: &str) -> ProgramBundle {
    ProgramBundle::new("smoke", vec![Image::new(ImageKind::Ptx, "sm_70", ptx.as_bytes().to_vec())])
}

fn ensure(holds: bool, otherwise: impl Into<String>) -> Outcome {
    if holds { Ok(()) } else { Err(otherwise.into()) }
}

/// Errors as text.
trait Say<T> {
    fn s(self) -> Result<T, String>;
}

impl<T, E: std::fmt::Display> Say<T> for Result<T, E> {
    fn s(self) -> Result<T, String> {
        self.map_err(|error| error.to_string())
    }
}

/// Ends the process if it hangs, and says where.
fn watchdog(step: Arc<Mutex<&'static str>>, limit: Duration) {
    thread::spawn(move || {
        thread::sleep(limit);
        println!("FAIL {}: still running after {limit:?}", step.lock().unwrap());
        std::process::exit(2);
    });
}
