//! The host's part alone: a buffer full of messages is served by one sweep, on this thread.

use std::error::Error;
use std::time::Instant;

use hostcall::__private::{Geometry, PortBuffer};
use hostcall::test_utils::Sweeper;
use hostcall_abi::{Flags, Header, Tag};

use crate::ratios::Rounds;

/// An H200's 8448 waves, divided among eight threads.
pub(crate) const PORTS: u32 = 8448 / 8;

/// Nanoseconds for each message, by who answers.
pub(crate) fn measure(rounds: usize) -> Result<Rounds, Box<dyn Error>> {
    const ALL: u64 = u32::MAX as u64;
    let geometry = Geometry { slots: 1, slot_bytes: 4096, ..Geometry::new(PORTS, 32) };
    let services = [crate::in_rust(), crate::in_c(c"C__exchange")?];
    let mut server = Sweeper::new(PortBuffer::in_process(geometry)?, services)?;
    let raw = server.device().raw();
    let payload: [u32; 16] = bench_services::question(1);
    let (mut base, mut sequence) = (0, 0);
    let need = 1 + 32 * Header::words_for(16, 32);
    let mut times = Rounds::default();
    for _ in 0..rounds {
        times.round(|who| {
            sequence += 1;
            let tag = Tag::new(sequence);
            if base + need > geometry.request_words {
                base = 0;
            }
            for port in 0..PORTS {
                raw.send(port, base, tag, 1 + u16::from(who.is_c()), Flags::REPLY, ALL, &payload);
                raw.ring(port, tag.payload().into());
            }
            base += need;
            let start = Instant::now();
            let served = server.sweep();
            let took = start.elapsed();
            assert!(served == PORTS && raw.answered(PORTS - 1, tag), "{served} of {PORTS} served");
            Ok(took.as_secs_f64() * 1e9 / f64::from(PORTS))
        })?;
    }
    Ok(times)
}
