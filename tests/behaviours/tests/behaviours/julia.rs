//! What AMDGPU.jl's manual promises of hostcalls, where no other file here shows it. `docs/guide/from-julia.md` says
//! which test shows which promise.

use std::sync::mpsc;

use behaviours_services::{gate, tally, typed};
use hostcall::Status;
use hostcall_tests::{Bench, Counter, on_gpu, status};
use offload::{Args, Device, Launch};

#[test]
fn a_hostcall_is_asynchronous_the_host_goes_on_while_a_kernel_waits_for_its_answer() {
    // The handler waits for the thread that launched the kernel: were that one stopped by the launch, neither would go
    // on.
    let (work, done) = mpsc::channel::<u32>();
    let done = std::sync::Mutex::new(done);
    let bench = Bench::new(|b| b.service(gate::held_back(move |x| x + done.lock().unwrap().recv().unwrap()).blocking()));
    let memory = bench.device.alloc::<u64>(1).unwrap();
    bench.launch("held_backs", Launch::linear(1, 1), Args::new().slice(&memory));
    work.send((1..=100).sum()).unwrap();
    bench.server.wait(&bench.queue).unwrap();
    assert_eq!(bench.queue.read(&memory).unwrap(), [5050]);
}

#[test]
fn a_service_that_is_finished_while_nobody_calls_it_takes_no_call_at_all() {
    let calls = Counter::default();
    let count = calls.clone();
    let bench = Bench::new(|b| b);
    let service = tally::tick(move |_| {
        count.add(1);
        7
    });
    let handle = bench.server.register(service).unwrap();
    handle.finish();
    let results: Vec<u64> = bench.results("ticks", 64, 32, Args::new());
    assert!(results.iter().all(|r| status(*r) == Status::FINISHED), "{results:x?}");
    assert_eq!(calls.get(), 0);
}

#[test]
fn hostcalls_that_the_host_stops_when_it_synchronises_are_all_answered_and_none_is_afterwards() {
    let calls = Counter::default();
    let count = calls.clone();
    let bench = Bench::new(|b| b);
    let service = tally::tick(move |_| {
        count.add(1);
        7
    });
    let handle = bench.server.register(service).unwrap();
    // What `synchronize(; stop_hostcalls=true)` does: wait, then finish.
    assert_eq!(bench.results::<u64>("ticks", 100, 32, Args::new()), [7; 100]);
    handle.finish();
    assert_eq!(calls.get(), 100);
    let later: Vec<u64> = bench.results("ticks", 100, 32, Args::new());
    assert!(later.iter().all(|r| status(*r) == Status::FINISHED), "{later:x?}");
    assert_eq!(calls.get(), 100);
}

#[test]
fn freeing_a_hostcall_s_buffer_gives_its_memory_back() {
    if on_gpu() {
        println!("skipped on a GPU: what its driver keeps of freed memory, and for how long, is the driver's");
        return;
    }
    // A device with little memory, and a server whose heap takes less than half of it, and more than a fifth.
    let device = Device::open("sim:memory=64m").unwrap();
    let bench = Bench::on(&device, |b| b.heap(16 << 20).service(typed::sum(|a, b| a + b)).service(tally::tick(|_| 7)));
    let mut buffer = bench.buffer.clone();
    for _ in 0..8 {
        assert_eq!(bench.results::<u64>("ticks", 40, 20, Args::new()), [7; 40]);
        bench.server.remove_buffer(&buffer).unwrap();
        drop(buffer);
        // The program's words are those of the buffer that is gone until the next one is attached.
        buffer = (0..)
            .find_map(|attempt| match bench.server.attach(&bench.program) {
                // A serving thread may still be about to let go of it.
                Err(_) if attempt < 1000 => {
                    std::thread::sleep(std::time::Duration::from_millis(10));
                    None
                }
                attached => Some(attached.expect("what was freed is there again")),
            })
            .expect("a buffer");
    }
    // Kept, they do not fit: the device has less than eight of them.
    let mut kept = Vec::new();
    let refused = (0..8).find_map(|_| match bench.server.attach(&bench.device.load(&hostcall_tests::bundle()).unwrap()) {
        Ok(buffer) => {
            kept.push(buffer);
            None
        }
        Err(error) => Some(error),
    });
    assert!(refused.is_some(), "eight buffers took more memory than there is");
}
