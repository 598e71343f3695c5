//! How fast one thread reads messages from a ring that is full, of several sizes: the whole way from the ring to a handler that sums up.
//!
//! `cargo run --release --example read_rate`

use hostcall_abi::Plain;
use hostcall_stream::measure::read_full_ring;
use hostcall_stream::{Batch, Flow, Handler, Message, Policy, Report};

/// A message of `N` units.
#[derive(Clone, Copy)]
#[repr(C)]
struct Of<const N: usize>([u32; N]);

// SAFETY: numbers without padding.
unsafe impl<const N: usize> Plain for Of<N> {}

impl<const N: usize> Message for Of<N> {
    const NAME: &'static str = "Of";
    const SIGNATURE: u64 = N as u64;
    const FIELDS: &'static [hostcall_abi::stream::Field] = &[];
    const POLICY: Policy = Policy::Block;
}

struct Sum;

impl<const N: usize> Handler<Of<N>> for Sum {
    type State = u64;
    fn fold(&self, sum: &mut u64, batch: &Batch<'_, Of<N>>) -> Flow {
        *sum = batch.values().iter().flat_map(|value| value.0).fold(*sum, |sum, unit| sum.wrapping_add(u64::from(unit)));
        Flow::Next
    }
    fn merge(&self, into: &mut u64, from: &u64) {
        *into = into.wrapping_add(*from);
    }
    fn report(&self, _: &u64) -> Report {
        Report::default()
    }
}

fn measure<const N: usize>(lanes: u32) -> Result<(), offload::Error> {
    let mut best: Option<(f64, f64)> = None;
    for _ in 0..5 {
        let (took, messages, bytes) =
            read_full_ring::<Of<N>>(Sum, 20, lanes, |lane, i| (0..N as u32).map(|k| (lane ^ i).wrapping_mul(0x9e37_79b9) ^ k).collect())?;
        let (ns, gb_s) = (took.as_nanos() as f64 / messages as f64, bytes as f64 / took.as_nanos() as f64);
        if best.is_none_or(|(known, _)| ns < known) {
            best = Some((ns, gb_s));
        }
    }
    let (ns, gb_s) = best.unwrap_or_default();
    println!("{lanes:2} lanes of {:2} B: {ns:6.1} ns a message, {gb_s:5.2} GB/s of the ring", N * 4);
    Ok(())
}

fn main() -> Result<(), offload::Error> {
    measure::<1>(32)?;
    measure::<2>(32)?;
    measure::<4>(32)?;
    measure::<7>(32)?;
    measure::<16>(32)?;
    measure::<31>(32)?;
    measure::<4>(5)?;
    measure::<4>(1)
}
