//! What a server costs that knows of no kernel: `cargo run --release -p hostcall --features test-utils --example
//! heartbeat_cost`. Processor time of the whole process while nothing calls, with programs that others may launch, and
//! without.

use std::time::{Duration, Instant};

use hostcall::__private::{Geometry, PortBuffer};
use hostcall::test_utils::{MockDevice, fixed_service, is_armed, turns};
use hostcall::{BufferHandle, Server};
use rustix::time::{ClockId, clock_gettime};

const SILENCE: Duration = Duration::from_secs(5);

fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// Prints what is taken in silence, and how long the first call after it takes.
fn measure(what: &str, server: &Server, buffer: &BufferHandle, launched_elsewhere: bool) {
    let looks = || turns(server).iter().map(|thread| thread.turns).sum::<u64>();
    while is_armed(server) {
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(200));
    let (before, looked, begun) = (processor_time(), looks(), Instant::now());
    std::thread::sleep(SILENCE);
    let (taken, elapsed) = ((processor_time() - before).as_secs_f64(), begun.elapsed().as_secs_f64());
    let looked = looks() - looked;
    print!("{what:28} {:6.3} % of a processor, {:6.0} looks/s", 100.0 * taken / elapsed, looked as f64 / elapsed);
    if launched_elsewhere {
        let device = MockDevice::new(buffer.clone());
        let mut calls: Vec<Duration> = (0..50)
            .map(|call| {
                while is_armed(server) {
                    std::thread::sleep(Duration::from_millis(1));
                }
                std::thread::sleep(Duration::from_micros(300 * call));
                let begun = Instant::now();
                assert_eq!(device.wave(0).call(1, &[7]), Ok(vec![7]));
                begun.elapsed()
            })
            .collect();
        calls.sort_unstable();
        print!(", first call after silence: median {:.1?}, longest {:.1?}", calls[25], calls[49]);
    }
    println!();
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for ports in [128, 8192] {
        for launched_elsewhere in [false, true] {
            let server = Server::without_device().threads(4).without_built_in().service(fixed_service("echo", |x: u32| x)).start()?;
            let geometry = Geometry { slots: 16, slot_bytes: 4096, ..Geometry::new(ports, 32) };
            let buffer = server.add_buffer(PortBuffer::in_process(geometry)?);
            if launched_elsewhere {
                let _ = buffer.descriptor();
            }
            let launched = if launched_elsewhere { "launched by others" } else { "launched here" };
            measure(&format!("{ports} ports, {launched}"), &server, &buffer, launched_elsewhere);
        }
    }
    Ok(())
}
