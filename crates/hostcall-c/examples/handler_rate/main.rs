//! What a handler costs that is called through C, beside a closure in Rust.
//!
//! `Bench::exchange` (64 bytes there and 16 back by every lane) is answered by a closure, by an `hc_handler`, and by
//! the closure again, in rounds of short launches by all waves of a device. One server has all of them: each is
//! registered under the same name before its launches, so that memory, threads, kernel and number are the same. Each
//! round has its own order. What is compared are the launches of one round, and the closure with itself tells what
//! cannot be seen. Then the same without a device: one thread serves messages that lie ready. The last line is the row
//! of `cargo hostcall bench --rows`.
//!
//! `cargo run --release -p hostcall-c --example kernels -- bench/kernels bench.program`, then
//! `cargo run --release -p hostcall-c --example handler_rate -- sim bench.program [ROUNDS [MILLISECONDS]]`

mod ratios;
mod sweeps;

use std::error::Error;
use std::ffi::{CStr, c_void};
use std::time::{Duration, Instant};

use bench_services::{answer, bench};
use hostcall::{Server, Service};
use hostcall_c::in_rust::{CCall, CDefinition, Lanes, service_of};
use offload::{Args, Device, Kernel, Launch, Memory, ProgramBundle, Queue};

use ratios::Rounds;

/// Server threads.
const THREADS: usize = 8;

unsafe extern "C" fn exchange(_: *mut c_void, lanes: *const Lanes, _: *mut CCall) {
    // SAFETY: the library's, until the handler returns. Copied, because to a C compiler results are of another type
    // than these fields, so that it loads them once, and Rust's does not know that of pointers.
    let Lanes { count, arguments, argument_stride, results, result_stride, .. } = unsafe { *lanes };
    for i in 0..count as usize {
        // SAFETY: row `i` of the arguments has 16 units, and that of the results four.
        unsafe {
            let block = arguments.add(i * argument_stride).cast::<[u32; 16]>().read_unaligned();
            results.add(i * result_stride).cast::<[u64; 2]>().write_unaligned(answer(&block));
        }
    }
}

/// By a closure.
fn in_rust() -> Service {
    bench::exchange(|block| answer(&block))
}

/// Through C, as `hc_register` makes it.
fn in_c(name: &'static CStr) -> Result<Service, String> {
    const INLINE: u32 = 1;
    let definition = CDefinition::new(name, c"fn([u32; 16]) -> [u64; 2]");
    // SAFETY: the handler keeps to the definition, and takes no `user`.
    unsafe { service_of(&raw const definition, INLINE, Some(exchange), std::ptr::null_mut(), None) }
}

/// All waves that can be resident, and what they launch.
struct Load {
    server: Server,
    queue: Queue,
    kernel: Kernel,
    right: Memory<u64>,
    groups: u32,
    group_size: u32,
}

impl Load {
    fn new(device: &Device, bundle: &ProgramBundle) -> Result<Self, Box<dyn Error>> {
        let info = device.info();
        let (groups, group_size) = (info.resident_waves / 8, info.wave_size * 8);
        let server = Server::builder(device).threads(THREADS).start()?;
        // A number for the name, which the program is given when it is attached.
        let first = server.register(in_rust())?;
        let program = device.load(bundle)?;
        server.attach(&program)?;
        first.unregister();
        let right = device.alloc(groups as usize * group_size as usize)?;
        Ok(Self { server, queue: device.queue()?, kernel: program.kernel("throughput_wide")?, right, groups, group_size })
    }

    /// How long `calls` calls of each lane take, answered by this service.
    fn launch(&self, service: Service, calls: u32) -> Result<Duration, Box<dyn Error>> {
        let registered = self.server.register(service)?;
        let launch = Launch::linear(self.groups, self.group_size);
        let start = Instant::now();
        // SAFETY: the kernel takes a number and a slice of a word for each lane.
        unsafe { self.queue.launch(&self.kernel, launch, Args::new().value(calls).slice(&self.right)) }?;
        self.server.wait(&self.queue)?;
        let took = start.elapsed();
        registered.unregister();
        let expected = self.right.len() as u64 * u64::from(calls);
        assert_eq!(self.queue.read(&self.right)?.iter().sum::<u64>(), expected, "right answers");
        Ok(took)
    }

    /// How many calls of each lane take about so long. Launches before are for the caches.
    fn calls_in(&self, goal: Duration) -> Result<u32, Box<dyn Error>> {
        let mut calls = 8;
        for _ in 0..5 {
            let took = self.launch(in_rust(), calls)?;
            let factor = (goal.as_secs_f64() / took.as_secs_f64()).min(8.0);
            calls = ((f64::from(calls) * factor) as u32).max(1);
        }
        Ok(calls)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |i: usize, default: usize| arguments.get(i).map_or(Ok(default), |number| number.parse());
    let (Some(which), Some(file)) = (arguments.first(), arguments.get(1)) else {
        return Err("usage: handler_rate DEVICE bench.program [ROUNDS [MILLISECONDS]]".into());
    };
    let (rounds, goal) = (number(2, 300)?, Duration::from_millis(number(3, 20)? as u64));
    let device = Device::open(which)?;
    let load = Load::new(&device, &ProgramBundle::from_bytes(&std::fs::read(file)?)?)?;
    let calls = load.calls_in(goal)?;
    let mut times = Rounds::default();
    for _ in 0..rounds {
        times.round(|who| Ok(load.launch(if who.is_c() { in_c(c"Bench__exchange")? } else { in_rust() }, calls)?.as_secs_f64()))?;
    }
    let messages = load.right.len() as f64 / f64::from(device.info().wave_size) * f64::from(calls);
    let name = &device.info().name;
    println!(
        "{name}: {} waves, {THREADS} server threads, launches of {calls} calls of each wave",
        load.groups * load.group_size / device.info().wave_size
    );
    let times = times.scaled(THREADS as f64 * 1e9 / messages);
    println!("{times:.3}, for each message and thread");
    println!("the host alone, one thread, {} messages of 32 lanes in a sweep", sweeps::PORTS);
    println!("{:.1}, for each message", sweeps::measure(rounds * 10)?);
    println!("{}", times.row(&format!("a message of a wave with 64 B a lane, time of each of {THREADS} server threads")));
    Ok(())
}
