//! What one served message costs the host, on one thread.
//!
//! `cargo run --release -p hostcall --features test-utils --example serve_rate [PORTS [NAME]]`
//!
//! Fills a buffer with requests, then sweeps once and takes the thread's processor time: sweep, poll, lookup, handler,
//! reply. (A GPU's writes arrive in another cache than this thread's own, so take the figures as a lower bound.)

use std::sync::{Arc, Mutex};
use std::time::Duration;

use hostcall::__private::{Geometry, PortBuffer};
use hostcall::test_utils::{Sweeper, fixed_service, posted_service};
use hostcall::{Batch, DeferredBatch, Definition, Service};
use hostcall_abi::{Flags, Header, Tag};
use rustix::time::{ClockId, clock_gettime};

fn cpu_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

fn main() {
    let ports: u32 = std::env::args().nth(1).map_or(8448 / 8, |n| n.parse().expect("a number of ports"));
    println!("{ports} ports, one thread, medians of 10001 sweeps");
    measure("scalar call, 1 lane", ports, 1, 2, Flags::REPLY);
    measure("64 B call, 1 lane", ports, 1, 16, Flags::REPLY);
    measure("64 B call, 32 lanes", ports, u64::from(u32::MAX), 16, Flags::REPLY);
    measure("the same, whole messages", ports, u64::from(u32::MAX), 16, Flags::REPLY);
    measure("the same, kept", ports, u64::from(u32::MAX), 16, Flags::REPLY);
    measure("scalar post, 1 lane", ports, 1, 2, Flags::default());
    measure("nothing (per port)", ports, 0, 0, Flags::default());
}

/// What a handler of whole messages does.
fn answer(batch: &mut Batch<'_>) {
    let x = batch.rows().column::<[u32; 16]>(0).expect("16 units");
    // As libhostcall tells a handler in C.
    std::hint::black_box((batch.mask(), batch.service(), batch.port()));
    batch.reply_all(|mut results| {
        let mut y = results.column(0).expect("3 units");
        x.iter().enumerate().for_each(|(i, x)| y.set(i, [x[0], x[5], x[10]]));
    });
}

/// Measures, unless the second argument asks for another one.
fn measure(name: &str, ports: u32, mask: u64, units: usize, flags: Flags) {
    if std::env::args().nth(2).is_some_and(|only| !name.contains(&only)) {
        return;
    }
    let define = |name| Definition::builder(name).argument("[u32; 16]").result("[u32; 3]").build().expect("a definition");
    let kept = Arc::new(Mutex::new(Vec::<DeferredBatch>::new()));
    let keep = kept.clone();
    let services = [
        fixed_service("scalar", |x: u64| x + 1),
        fixed_service("wide", |x: [u32; 16]| [x[0], x[5], x[10]]),
        posted_service("posted", |x: u64| _ = std::hint::black_box(x)),
        Service::batch(define("whole"), answer),
        Service::batch_deferred(define("kept"), move |message| keep.lock().expect("no panic").push(message)),
    ];
    let geometry = Geometry { slots: 1, slot_bytes: 4096, ..Geometry::new(ports, 32) };
    let mut server = Sweeper::new(PortBuffer::in_process(geometry).expect("a buffer"), services).expect("services");
    let raw = server.device().raw();
    let service = if !flags.has(Flags::REPLY) {
        3
    } else if name.contains("whole") {
        4
    } else if name.contains("kept") {
        5
    } else if units > 3 {
        2
    } else {
        1
    };
    let payload: Vec<u32> = (0..units as u32).collect();
    let need = 1 + mask.count_ones() * Header::words_for(units as u32, mask.count_ones());
    let mut base = 0;
    let mut times: Vec<f64> = (1..=10001)
        .map(|round| {
            let tag = Tag::new(round);
            if flags.has(Flags::REPLY) || base + need > geometry.request_words {
                base = 0;
            }
            for port in 0..ports {
                if mask != 0 {
                    raw.send(port, base, tag, service, flags, mask, &payload);
                    raw.ring(port, tag.payload().into());
                }
            }
            base += need;
            let start = cpu_time();
            let served = server.sweep();
            for mut message in kept.lock().expect("no panic").drain(..) {
                answer(&mut message.batch());
                message.finish();
            }
            let time = cpu_time() - start;
            assert!(mask == 0 || (served == ports && raw.answered(ports - 1, tag)), "{served} of {ports} served");
            time.as_nanos() as f64 / f64::from(ports)
        })
        .collect();
    times.sort_by(f64::total_cmp);
    let ns = times[times.len() / 2];
    println!("{name:24} {ns:8.1} ns {:8.2} M/s", 1e3 / ns);
}
