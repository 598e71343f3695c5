//! A worker in a process of its own, which is killed; and a kernel that knows nothing of all this.
#![cfg(feature = "nats")]

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hostcall::{Server, Sink, Status};
use hostcall_build::{ProgramSpec, Target, build_program};
use hostcall_remote::{CallOptions, Worker, nats};
use offload::{Args, Device, Launch, SimConfig};

use crate::support::{Caller, eventually, host, message, received, result};
use hostcall_test_support::Broker;

const LONG: Duration = Duration::from_secs(100);
const PLACE: &str = "HOSTCALL_TEST_WORKER";
const MARK: &str = "HOSTCALL_TEST_MARK";

/// Not a test: what the process of a worker does. Its `mixed` never answers 1, and leaves a mark.
#[test]
fn the_process_of_a_worker() {
    let Ok(place) = std::env::var(PLACE) else { return };
    let mark = std::env::var_os(MARK);
    let mixed = host::mixed(move |x| {
        if x == 1 {
            if let Some(mark) = &mark {
                std::fs::write(mark, "it has begun").expect("a mark");
            }
            loop {
                std::thread::park();
            }
        }
        crate::support::mixed(x)
    });
    let add42 = add42_services::host::add42(|x| x + 42.0);
    Worker::nats(place).service(mixed.blocking()).service(add42).start().expect("a worker").run();
}

struct Process(Child);

impl Process {
    fn start(place: &str, mark: &Path) -> Self {
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        command.args(["process::the_process_of_a_worker", "--exact", "--nocapture"]).env(PLACE, place).env(MARK, mark);
        Self(command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().expect("it starts"))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn calls_of_a_worker_that_is_killed_time_out_and_others_go_to_the_second_one() {
    let Some(broker) = Broker::start("", &[]) else { return };
    let mark = broker.file("mark");
    let process = Process::start(&broker.address(), &mark);
    let remote = nats(broker.address()).connect().unwrap();
    let once = CallOptions::new().timeout(Duration::from_secs(3)).worker_wait(LONG);
    let warm = Caller::new(remote.service_with(host::definition::mixed(), once.clone().timeout(LONG)));
    assert_eq!(warm.mixed(2), Ok(6), "the process serves");
    let once = Caller::new(remote.service_with(host::definition::mixed(), once));
    let again = CallOptions::new().timeout(LONG).worker_wait(LONG).idempotent(Duration::from_millis(200));
    let again = Caller::new(remote.service_with(host::definition::mixed(), again));
    let (lost, saved) = (once.start(message(&[1])), again.start(message(&[1])));
    eventually("the worker has begun", || mark.exists());
    drop(process);
    // The second worker answers 1.
    let worker = Worker::nats(broker.address()).service(host::mixed(crate::support::mixed)).start().unwrap();
    assert_eq!(result(&received(&saved)), Ok(3), "what is idempotent is asked for again");
    assert_eq!(result(&received(&lost)), Err(Status::TIMEOUT), "what is not may have been run");
    assert_eq!(once.mixed(4), Ok(12));
    let stats = remote.stats();
    assert_eq!((stats[1].timeouts, stats[1].retries), (1, 0));
    assert!(stats[2].retries >= 1 && stats[2].timeouts == 0);
    assert!(worker.stats()[0].calls >= 2);
}

#[test]
fn a_kernel_written_for_local_services_runs_unchanged_with_a_worker_in_another_process() {
    let Some(broker) = Broker::start("", &[]) else { return };
    let process = Process::start(&broker.address(), &broker.file("mark"));
    let remote = nats(broker.address()).connect().unwrap();
    let options = CallOptions::new().timeout(LONG).worker_wait(LONG);

    let kernels = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/add42/kernel");
    let built = build_program(&ProgramSpec { targets: vec![Target::Sim], ..ProgramSpec::new(kernels) }).unwrap();
    let device = Device::sim(SimConfig::default()).unwrap();
    let lines = Arc::new(Mutex::new(Vec::new()));
    let theirs = lines.clone();
    let server = Server::builder(&device)
        .stdout(Sink::Null)
        .service(remote.service_with(add42_services::host::definition::add42(), options))
        // A local one beside it.
        .service(add42_services::host::log(move |line: &str| theirs.lock().unwrap().push(line.to_owned())))
        .start()
        .unwrap();
    let program = device.load(&built.bundle).unwrap();
    server.attach(&program).unwrap();
    let queue = device.queue().unwrap();
    let n = 1000;
    let y = device.alloc::<f32>(n).unwrap();
    let x: Vec<f32> = (0..n).map(|i| i as f32).collect();
    queue.copy_to(&y, 0, &x).unwrap();
    // SAFETY: the kernel takes one slice of `f32`; `y` is one and outlives the launch, which `wait` waits for.
    unsafe { queue.launch(&program.kernel("demo").unwrap(), Launch::threads(n as u32, 64), Args::new().slice(&y)).unwrap() };
    server.wait(&queue).unwrap();
    let expected: Vec<f32> = x.iter().map(|x| x + 42.0).collect();
    assert_eq!(queue.read(&y).unwrap(), expected);
    assert_eq!(*lines.lock().unwrap(), ["the first lane is done"]);
    assert_eq!(remote.stats()[0].calls, n as u64);
    drop(process);
}
