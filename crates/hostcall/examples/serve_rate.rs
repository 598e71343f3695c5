//! What one served message costs the host: fills a buffer with requests again and again, and takes the time until all are answered.
//!
//! `cargo run --release -p hostcall --features test-utils --example serve_rate [PORTS]`
//!
//! One serving thread. Filling and checking happen on the main thread while the server rests, so the figure is the server's own: sweep, poll,
//! lookup, handler, reply. (A GPU's writes come from another place than this cache, so take it as a lower bound.)

use std::time::{Duration, Instant};

use hostcall::test_utils::{MockDevice, fixed_service};
use hostcall::{Geometry, PortBuffer, Server};
use hostcall_abi::{Flags, Tag};

fn main() {
    let ports: u32 = std::env::args().nth(1).map_or(8448 / 8, |n| n.parse().expect("a number of ports"));
    println!("{ports} ports, one thread, medians of 25 rounds");
    measure("scalar call, 1 lane", ports, 1, 2, Flags::REPLY);
    measure("64 B call, 1 lane", ports, 1, 16, Flags::REPLY);
    measure("64 B call, 32 lanes", ports, u64::from(u32::MAX), 16, Flags::REPLY);
    measure("scalar post, 1 lane", ports, 1, 2, Flags::default());
}

fn measure(name: &str, ports: u32, mask: u64, units: usize, flags: Flags) {
    let server = Server::without_device()
        .threads(1)
        .service(fixed_service("scalar", |x: u64| x + 1))
        .service(fixed_service("wide", |x: [u32; 16]| [x[0], x[5], x[10]]))
        .start()
        .expect("a server");
    let geometry = Geometry { slots: 1, slot_bytes: 4096, word_form: PortBuffer::word_form(), ..Geometry::new(ports, 32) };
    let device = MockDevice::new(server.add_buffer(PortBuffer::in_process(geometry).expect("a buffer")));
    let raw = device.raw();
    let service = if units > 3 { 2 } else { 1 };
    let payload: Vec<u32> = (0..units as u32).collect();
    let mut times: Vec<f64> = (1..=25)
        .map(|round| {
            let tag = Tag::new(round);
            // The doorbells ring, but nobody is awake to hear.
            for port in 0..ports {
                raw.send(port, 0, tag, service, flags, mask, &payload);
                raw.ring(port, tag.payload());
            }
            std::thread::sleep(Duration::from_millis(3));
            let awake = server.keep_awake();
            let before = server.stats().services[usize::from(service) - 1].messages;
            let start = Instant::now();
            while !(0..ports).rev().all(|port| raw.answered(port, tag)) {
                std::hint::spin_loop();
            }
            let time = start.elapsed();
            let served = server.stats().services[usize::from(service) - 1].messages - before;
            drop(awake);
            // The server parks again before the next round fills the buffer.
            std::thread::sleep(Duration::from_millis(3));
            time.as_nanos() as f64 / served.max(1) as f64
        })
        .collect();
    times.sort_by(f64::total_cmp);
    let ns = times[times.len() / 2];
    println!("{name:24} {ns:8.1} ns/message {:8.2} M/s", 1e3 / ns);
}
