//! What rows should reach.

use offload::{DeviceInfo, DeviceKind};

use super::report::{Figure, Row};

/// What a row should reach.
#[derive(Clone, Copy, Debug)]
pub(super) enum Target {
    RatioAtMost(f64),
    RatioAtLeast(f64),
    AtMost(f64),
    AtLeast(f64),
}

impl Target {
    /// The targets were set for an NVIDIA H200 (16 cores of a Xeon with `movdir64b`), and one for the simulator.
    pub(super) fn of(device: &DeviceInfo, name: &str) -> Option<Self> {
        use Target::*;
        match device.kind {
            DeviceKind::Sim => (name == "call.scalar.no_window").then_some(RatioAtMost(3.0)),
            DeviceKind::Cuda if device.name.contains("H200") => Some(match name {
                "call.scalar.held" => RatioAtMost(0.72),
                "call.scalar.held.no_window" => RatioAtMost(0.95),
                "call.scalar" => RatioAtMost(0.88),
                "call.scalar.no_window" => RatioAtMost(1.10),
                "call.wide64" => RatioAtMost(1.05),
                "call.wide64.no_window" => RatioAtMost(1.25),
                "call.scalar.busy.p999" => AtMost(20.0),
                "throughput.scalar.1" => AtLeast(35e6),
                "throughput.scalar.1.no_window" => AtLeast(20e6),
                "throughput.scalar" | "post.rate" => AtLeast(150e6),
                "throughput.scalar.no_window" => AtLeast(110e6),
                "throughput.wide64" | "throughput.wide64.12.no_window" => AtLeast(12e6),
                "throughput.wide64.no_window" => AtLeast(9.5e6),
                "throughput.wide64.12" => AtLeast(15e6),
                "post.rate.no_window" => AtLeast(120e6),
                "post.issue" => AtMost(0.5),
                "bulk.to_host" | "bulk.to_kernel" => RatioAtLeast(0.92),
                "file.read" => RatioAtLeast(0.8),
                "stream.rate16" => RatioAtLeast(0.93),
                "stream.rate16.4" => RatioAtLeast(0.80),
                "stream.once" => AtLeast(350e6),
                "stream.issue" => AtMost(0.55),
                "stream.drop" => AtMost(0.4),
                // 90 cycles of an H200.
                "stream.gate.open" | "stream.gate.shut" => AtMost(46.0),
                "stream.latency" => RatioAtMost(1.0),
                "stream.cost" => RatioAtMost(1.03),
                "stream.off" => RatioAtMost(1.005),
                "stream.reader" => AtLeast(9.0),
                "stream.sweep" => AtMost(1.0),
                "stream.arrow" => AtLeast(10.0),
                "stream.parquet" => AtLeast(1.0),
                "malloc" => RatioAtLeast(20.0),
                // What a sleeping process takes is not nothing to the clock that measures it.
                "idle.none" => RatioAtMost(0.001),
                "idle.quiet" => RatioAtMost(0.3),
                "wake" | "closed.learn" => AtMost(100.0),
                "closed.call" => AtMost(1000.0),
                "cpp.call.scalar.held" | "cpp.call.scalar" | "cpp.call.wide64" | "cpp.post.issue" => RatioAtMost(1.05),
                "c.handler" => RatioAtMost(1.02),
                "python.batched" => AtLeast(20e6),
                "python.call" => AtMost(15.0),
                _ if name.starts_with("fleet.throughput.") => RatioAtLeast(1.9),
                "fleet.call.scalar" => RatioAtMost(1.05),
                _ if name.starts_with("cpp.") => RatioAtLeast(0.95),
                "std.write" => RatioAtMost(1.2),
                "std.file_read" => RatioAtLeast(0.7),
                "std.mutex" => RatioAtMost(2.5),
                "std.println" => AtLeast(5e6),
                _ => return None,
            }),
            _ => None,
        }
    }

    pub(super) fn met(self, row: &Row) -> bool {
        let figure = row.figure.number();
        match self {
            Self::RatioAtMost(limit) => row.ratio <= limit,
            Self::RatioAtLeast(limit) => row.ratio >= limit,
            Self::AtMost(limit) => figure <= limit,
            Self::AtLeast(limit) => figure >= limit,
        }
    }

    pub(super) fn shown(self, row: &Row) -> String {
        let figure = |limit| match row.figure {
            Figure::Ns(_) => Figure::Ns(limit).shown(),
            Figure::Us(_) => Figure::Us(limit).shown(),
            Figure::PerS(_) => Figure::PerS(limit).shown(),
            Figure::GbS(_) => Figure::GbS(limit).shown(),
        };
        match self {
            Self::RatioAtMost(limit) => format!("<= {}", row.against.shown(limit)),
            Self::RatioAtLeast(limit) => format!(">= {}", row.against.shown(limit)),
            Self::AtMost(limit) => format!("<= {}", figure(limit)),
            Self::AtLeast(limit) => format!(">= {}", figure(limit)),
        }
    }
}
