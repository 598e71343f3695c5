//! What one thread of the host does with messages in memory: the device has no part in it.

use bench_services::{Message16, units};
use hostcall_stream::measure::FullRings;

use super::Sum;
use crate::error::Error;
use crate::report::{Against, Figure, Row};
use crate::rig::Rig;

/// 128 rings of 512 KiB on a GPU's host; less where tests are small.
fn rings(rig: &Rig) -> Result<(FullRings, u32), Error> {
    let rings_log2 = if rig.scale.samples < 5 { 2 } else { 7 };
    let full = FullRings::new::<Message16>(Sum, (rings_log2, 13), true, 32, |lane, i| units::<4>(lane, i).to_vec())?;
    Ok((full, 1 << rings_log2))
}

/// The row of a thread that reads full rings.
pub(crate) fn reader(rig: &Rig, name: &'static str) -> Result<Row, Error> {
    let (rings, count) = rings(rig)?;
    let took = (0..5 * rig.scale.samples).map(|_| rings.read()).min().unwrap_or_default();
    let ns = took.as_nanos() as f64 / rings.messages() as f64;
    let note = format!(
        "one thread, best of {}: {count} rings of 512 KiB in memory, {ns:.1} ns for a message of 32 x 16 B, 576 bytes of a ring",
        5 * rig.scale.samples
    );
    Ok(Row { name, figure: Figure::GbS(rings.bytes() as f64 / took.as_nanos() as f64), ratio: 1.0, against: Against::Itself, note })
}

/// The row of a thread that looks at rings in which there is nothing.
pub(crate) fn sweep(rig: &Rig, name: &'static str) -> Result<Row, Error> {
    let (rings, count) = rings(rig)?;
    let took = (0..4 * rig.scale.samples).map(|_| rings.look_in_vain(2000)).min().unwrap_or_default();
    let note = format!("one thread, best of {} x 2000 looks at {count} rings", 4 * rig.scale.samples);
    Ok(Row { name, figure: Figure::Us(took.as_nanos() as f64 / 1e3), ratio: 1.0, against: Against::Itself, note })
}

/// The rows of sinks: one thread that turns messages in memory into tables, or into a Parquet file in memory.
#[cfg(feature = "sinks")]
pub(crate) fn sinks(rig: &Rig, name: &'static str) -> Result<Row, Error> {
    use hostcall_sinks::Codec;
    use hostcall_sinks::measure::{Rate, arrow, parquet};

    let megabytes = if rig.scale.samples < 5 { 1 } else { 512 };
    let gb_s = |rate: &Rate| rate.values as f64 / 1e9 / rate.took.as_secs_f64();
    let of = |measure: &dyn Fn() -> Rate| (0..3).map(|_| gb_s(&measure())).fold(0.0, f64::max);
    let what = "GB/s of values (32 x 16 B), processor time of one thread, best of 3";
    let (best, note) = if name == "stream.arrow" {
        (of(&|| arrow(megabytes)), format!("{what}: tables in memory"))
    } else {
        let codecs = [("none", Codec::None), ("lz4", Codec::Lz4), ("snappy", Codec::Snappy), ("zstd 1", Codec::Zstd(1))];
        let all = codecs.map(|(codec, of_codec)| (codec, of(&|| parquet(megabytes, of_codec))));
        let shown = all.map(|(codec, rate)| format!("{codec} {rate:.2}")).join(", ");
        (all.into_iter().map(|(_, rate)| rate).fold(0.0, f64::max), format!("{what}: files in memory; {shown}"))
    };
    Ok(Row { name, figure: Figure::GbS(best), ratio: 1.0, against: Against::Itself, note })
}

/// Not here.
#[cfg(not(feature = "sinks"))]
pub(crate) fn sinks(_: &Rig, _: &'static str) -> Result<Row, Error> {
    Err(Error::NotHere("the benchmark was built without its feature `sinks`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_memory_is_read_looked_at_and_kept() {
        let rig = crate::rig::tests::small();
        assert!(reader(&rig, "stream.reader").unwrap().figure.number() > 0.0);
        assert!(sweep(&rig, "stream.sweep").unwrap().figure.number() > 0.0);
        for name in ["stream.arrow", "stream.parquet"] {
            match sinks(&rig, name) {
                Ok(row) => assert!(row.figure.number() > 0.0),
                Err(error) => assert!(cfg!(not(feature = "sinks")) && matches!(error, Error::NotHere(_)), "{error}"),
            }
        }
    }
}
