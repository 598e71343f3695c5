//! How fast one thread reads messages from rings that are full, of several sizes: the whole way from the ring to a
//! handler that sums up.
//!
//! `cargo run --release --example read_rate`

use hostcall_abi::Plain;
use hostcall_stream::measure::FullRings;
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
        // Of 32 bits, which every processor adds four at a time: to sum up is not to take longer than to read.
        // SAFETY: an `Of` is `N` units.
        let units = unsafe { std::slice::from_raw_parts(batch.values().as_ptr().cast::<u32>(), N * batch.values().len()) };
        *sum = sum.wrapping_add(units.iter().fold(0u32, |sum, unit| sum.wrapping_add(*unit)).into());
        Flow::Next
    }
    fn merge(&self, into: &mut u64, from: &u64) {
        *into = into.wrapping_add(*from);
    }
    fn report(&self, _: &u64) -> Report {
        Report::default()
    }
}

fn measure<const N: usize>(lanes: u32, sizes: (u32, u32), huge: bool, times: u32) -> Result<(), offload::Error> {
    let rings = FullRings::new::<Of<N>>(Sum, sizes, huge, lanes, |lane, i| {
        (0..N as u32).map(|k| (lane ^ i).wrapping_mul(0x9e37_79b9) ^ k).collect()
    })?;
    let took = (0..times).map(|_| rings.read()).min().unwrap_or_default();
    let (ns, gb_s) = (took.as_nanos() as f64 / rings.messages() as f64, rings.bytes() as f64 / took.as_nanos() as f64);
    println!("{lanes:2} lanes of {:3} B: {ns:6.1} ns a message, {gb_s:5.2} GB/s of the ring", N * 4);
    Ok(())
}

fn main() -> Result<(), offload::Error> {
    let all = |sizes, huge, times| {
        measure::<1>(32, sizes, huge, times)?;
        measure::<2>(32, sizes, huge, times)?;
        measure::<4>(32, sizes, huge, times)?;
        measure::<7>(32, sizes, huge, times)?;
        measure::<16>(32, sizes, huge, times)?;
        measure::<31>(32, sizes, huge, times)?;
        measure::<4>(5, sizes, huge, times)?;
        measure::<4>(1, sizes, huge, times)
    };
    match std::env::args().nth(1).as_deref() {
        Some("one") => return measure::<4>(32, (0, 13), false, 20),
        Some("lone") => return measure::<4>(1, (0, 13), false, 20),
        _ => {}
    }
    println!("one ring of 512 KiB, in a cache:");
    all((0, 13), false, 500)?;
    println!("128 rings of 512 KiB, from memory:");
    all((7, 13), false, 7)?;
    println!("the same on huge pages, if the system gives them:");
    all((7, 13), true, 7)?;
    let rings = FullRings::new::<Of<4>>(Sum, (7, 13), true, 32, |_, _| vec![0; 4])?;
    let took = (0..20).map(|_| rings.look_in_vain(2000)).min().unwrap_or_default();
    println!("a look at 128 rings in which there is nothing: {:.2} us", took.as_nanos() as f64 / 1e3);
    Ok(())
}
