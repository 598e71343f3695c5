//! How fast one thread turns messages into tables and Parquet files: `cargo run --release -p hostcall-sinks --example
//! sink_rate`.

use hostcall_sinks::Codec;
use hostcall_sinks::measure::{self, Rate};

fn main() {
    let show = |what: &str, rate: Rate| {
        let seconds = rate.took.as_secs_f64();
        let (values, rings) = (rate.values as f64 / 1e9 / seconds, rate.rings as f64 / 1e9 / seconds);
        println!(
            "{what:<14} {values:6.3} GB/s of values, {rings:6.3} GB/s of rings, file / values {:.3}",
            rate.file as f64 / rate.values as f64
        );
    };
    for _ in 0..2 {
        show("arrow", measure::arrow(512));
        for (what, codec) in
            [("none", Codec::None), ("lz4", Codec::Lz4), ("snappy", Codec::Snappy), ("zstd 1", Codec::Zstd(1)), ("zstd 3", Codec::Zstd(3))]
        {
            show(&format!("parquet {what}"), measure::parquet(512, codec));
        }
    }
}
