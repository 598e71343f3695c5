//! The rows: what was measured, against what, and how it is shown.

use std::fmt::Write as _;
use std::path::Path;

use offload::{DeviceInfo, DeviceKind, WindowProvider};
use serde_json::{Value as Json, json};

use super::error::Error;
use super::target::Target;

/// Every row, in the order of the table.
pub(super) const NAMES: [&str; 111] = [
    "call.scalar.held",
    "call.scalar.held.no_window",
    "call.scalar",
    "call.scalar.no_window",
    "call.wide64",
    "call.wide64.no_window",
    "call.scalar.device",
    "call.scalar.device.no_window",
    "call.wide64.device",
    "call.wide64.device.no_window",
    "call.scalar.busy.p999",
    "throughput.scalar.1",
    "throughput.scalar.1.no_window",
    "throughput.scalar",
    "throughput.scalar.no_window",
    "throughput.wide64",
    "throughput.wide64.no_window",
    "throughput.wide64.12",
    "throughput.wide64.12.no_window",
    "post.issue",
    "post.rate",
    "post.rate.no_window",
    "bulk.to_host",
    "bulk.to_kernel",
    "file.read",
    "malloc",
    "idle.none",
    "idle.no_server",
    "idle.quiet",
    "wake",
    "closed.call",
    "closed.learn",
    "stream.rate16",
    "stream.rate16.no_window",
    "stream.rate16.4",
    "stream.rate16.4.no_window",
    "stream.rate64",
    "stream.rate64.no_window",
    "stream.rate8",
    "stream.rate8.no_window",
    "stream.rate4",
    "stream.rate4.no_window",
    "stream.once",
    "stream.once.no_window",
    "stream.alone",
    "stream.alone.no_window",
    "stream.issue",
    "stream.issue.no_window",
    "stream.drop",
    "stream.gate.open",
    "stream.gate.shut",
    "stream.parts",
    "stream.latency",
    "stream.cost",
    "stream.cost.no_window",
    "stream.cost.drop",
    "stream.off",
    "stream.dh_comms",
    "stream.reader",
    "stream.sweep",
    "stream.arrow",
    "stream.parquet",
    "cpp.call.scalar.held",
    "cpp.call.scalar",
    "cpp.call.wide64",
    "cpp.throughput.scalar",
    "cpp.throughput.wide64",
    "cpp.post.rate",
    "cpp.post.issue",
    "cpp.bulk.to_host",
    "cpp.bulk.to_kernel",
    "c.handler",
    "python.batched",
    "python.call",
    "fleet.throughput.scalar",
    "fleet.throughput.wide64",
    "fleet.throughput.scalar.8",
    "fleet.throughput.wide64.8",
    "fleet.call.scalar",
    "std.write",
    "std.file_read",
    "std.mutex",
    "std.vec_push",
    "std.alloc",
    "std.hashmap",
    "std.line",
    "std.create",
    "std.entry",
    "std.println",
    "plain.pingpong",
    "plain.pingpong.no_window",
    "plain.scalar",
    "plain.scalar.no_window",
    "plain.scalar.taken",
    "plain.scalar.taken.no_window",
    "plain.wide64",
    "plain.wide64.no_window",
    "plain.wide64.taken",
    "plain.wide64.taken.no_window",
    "plain.scalar.device",
    "plain.scalar.device.no_window",
    "plain.wide64.device",
    "plain.wide64.device.no_window",
    "plain.throughput.scalar.1",
    "plain.throughput.scalar.1.no_window",
    "plain.throughput.scalar",
    "plain.throughput.scalar.no_window",
    "plain.throughput.wide64",
    "plain.throughput.wide64.no_window",
    "plain.throughput.wide64.12",
    "plain.throughput.wide64.12.no_window",
];

/// The row of the plain loop that does what a row does, in the same run.
fn plain_of(name: &str) -> Option<String> {
    let (name, suffix) = name.strip_suffix(".no_window").map_or((name, ""), |name| (name, ".no_window"));
    Some(match name {
        "call.scalar.held" => format!("plain.scalar{suffix}"),
        "call.scalar" | "call.wide64" => format!("plain.{}.taken{suffix}", &name["call.".len()..]),
        "call.scalar.device" | "call.wide64.device" => format!("plain{}{suffix}", &name["call".len()..]),
        _ if name.starts_with("throughput.") => format!("plain.{name}{suffix}"),
        _ => return None,
    })
}

/// A figure with its unit.
#[derive(Clone, Copy, Debug)]
pub(super) enum Figure {
    /// Nanoseconds.
    Ns(f64),
    /// Microseconds.
    Us(f64),
    /// So many a second.
    PerS(f64),
    /// 10⁹ bytes a second.
    GbS(f64),
}

impl Figure {
    /// The number without its unit.
    pub(super) fn number(self) -> f64 {
        let (Self::Ns(number) | Self::Us(number) | Self::PerS(number) | Self::GbS(number)) = self;
        number
    }

    pub(super) fn shown(self) -> String {
        match self {
            Self::Ns(ns) => format!("{ns:.1} ns"),
            Self::Us(us) if us >= 1000.0 => format!("{:.2} ms", us / 1e3),
            Self::Us(us) => format!("{us:.3} us"),
            Self::PerS(n) if n >= 1e6 => format!("{:.2} M/s", n / 1e6),
            Self::PerS(n) => format!("{:.1} k/s", n / 1e3),
            Self::GbS(gb) => format!("{gb:.2} GB/s"),
        }
    }
}

/// What a row's ratio is to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Against {
    /// The floor: how many times as long.
    Floor,
    /// The floor: how many of them in the time of one.
    PerFloor,
    /// The bus, as plain loads and stores reach it.
    Bus,
    /// `pread` and a copy.
    Pread,
    /// The other allocator.
    Malloc,
    /// One core.
    Core,
    /// A bare call with as many bytes.
    Call,
    /// One atomic operation of the device.
    Atomic,
    /// The same work on one core of the host: so many times as fast.
    OneCore,
    /// The same kernel that sends nothing: so many times as long.
    Silent,
    /// The form of dh_comms: ours is so many times as fast.
    DhComms,
    /// The same kernel in Rust.
    Rust,
    /// The same handler as a closure in Rust: so many times as long.
    Closure,
    /// One of the devices alone.
    OneDevice,
    /// The same while the other device rests.
    Unloaded,
    /// Nothing: the figure is the target.
    Itself,
}

impl Against {
    pub(super) fn shown(self, ratio: f64) -> String {
        match self {
            Self::Floor => format!("{ratio:.2}x the floor"),
            Self::PerFloor => format!("{ratio:.3} per floor"),
            Self::Bus => format!("{ratio:.2}x the bus"),
            Self::Pread => format!("{ratio:.2}x pread+copy"),
            Self::Malloc => format!("{ratio:.2}x malloc"),
            Self::Core => format!("{:.1} % of a core", ratio * 100.0),
            Self::Call => format!("{ratio:.2}x a bare call"),
            Self::Atomic => format!("{ratio:.2}x an atomic"),
            Self::OneCore => format!("{ratio:.4}x one core"),
            Self::Silent => format!("{ratio:.4}x as long as silent"),
            Self::DhComms => format!("ours {ratio:.1}x"),
            Self::Rust => format!("{ratio:.3}x Rust"),
            Self::Closure => format!("{ratio:.3}x a closure"),
            Self::OneDevice => format!("{ratio:.2}x one device"),
            Self::Unloaded => format!("{ratio:.3}x unloaded"),
            Self::Itself => "-".into(),
        }
    }
}

/// A row of the table.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) figure: Figure,
    pub(super) ratio: f64,
    pub(super) against: Against,
    /// How it was come by: waves, threads, what it is compared with.
    pub(super) note: String,
}

/// Everything that was found out.
#[derive(Debug)]
pub(super) struct Report {
    pub(super) device: DeviceInfo,
    /// The host's processor.
    pub(super) processor: String,
    /// Who gives windows, if anybody does.
    pub(super) window: Option<WindowProvider>,
    pub(super) commit: &'static str,
    pub(super) floor_us: f64,
    pub(super) rows: Vec<Row>,
    /// Rows without a figure, and why.
    pub(super) skipped: Vec<(&'static str, String)>,
    /// Lines on the cost of calls that a kernel contains but never makes.
    pub(super) unused: Vec<String>,
}

impl Report {
    /// Puts the rows into the order of the table, whatever they were measured in.
    pub(super) fn sort(&mut self) {
        self.rows.sort_by_key(|row| NAMES.iter().position(|name| *name == row.name));
    }

    fn row(&self, name: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.name == name)
    }

    /// The row's figure as a multiple of the plain loop's.
    fn of_plain(&self, row: &Row) -> Option<f64> {
        Some(row.figure.number() / self.row(&plain_of(row.name)?)?.figure.number())
    }

    /// Rows that miss their targets: name, figure, ratio, target.
    fn missed(&self) -> Vec<String> {
        let line = |row: &Row| {
            let target = Target::of(&self.device, row.name).filter(|target| !target.met(row))?;
            let plain = self.of_plain(row).map_or_else(String::new, |ratio| format!(", {ratio:.2}x the plain loop"));
            Some(format!("{}: {}, {}{plain}; target {}", row.name, row.figure.shown(), row.against.shown(row.ratio), target.shown(row)))
        };
        self.rows.iter().filter_map(line).collect()
    }

    /// The table's cells: name, figure, ratio, target, whether it is met, ratio to the plain loop, how.
    fn cells(&self) -> Vec<[String; 7]> {
        let line = |name: &'static str| {
            if let Some(row) = self.row(name) {
                let target = Target::of(&self.device, name);
                return Some([
                    name.into(),
                    row.figure.shown(),
                    row.against.shown(row.ratio),
                    target.map_or_else(String::new, |target| target.shown(row)),
                    target.map_or("", |target| if target.met(row) { "met" } else { "MISSED" }).into(),
                    self.of_plain(row).map_or_else(String::new, |ratio| format!("{ratio:.2}x")),
                    row.note.clone(),
                ]);
            }
            let (_, why) = self.skipped.iter().find(|(skipped, _)| *skipped == name)?;
            Some([name.into(), "-".into(), "-".into(), String::new(), String::new(), String::new(), format!("not measured: {why}")])
        };
        NAMES.into_iter().filter_map(line).collect()
    }

    /// What makes the figures worthless, if anything does.
    fn doubt(&self) -> &'static str {
        // On a GPU it can: the floor's polls follow the request at once, a call's first poll waits for the right
        // moment.
        let faster = |row: &Row| row.name.starts_with("call.") && row.ratio < 0.95;
        if self.device.kind == DeviceKind::Sim && self.rows.iter().any(faster) {
            "A call cannot be faster than the floor: this machine was busy with something else, and no ratio to the floor means anything.\n\n"
        } else {
            ""
        }
    }

    /// What it was measured on.
    fn place(&self) -> String {
        let DeviceInfo { name, driver, sms, resident_waves, .. } = &self.device;
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        let window = self.window.map_or_else(|| "no window".to_owned(), |provider| format!("windows by {provider}"));
        let Self { processor, commit, .. } = self;
        format!(
            "{name}, {driver}; {sms} SMs, {resident_waves} resident waves; {window}; host with {cores} cores, {processor}; commit {commit}"
        )
    }

    /// The table, for people.
    pub(super) fn table(&self) -> String {
        let mut lines = vec![["", "figure", "ratio", "target", "", "of plain", "how"].map(String::from)];
        lines.extend(self.cells());
        let widths: [usize; 7] = std::array::from_fn(|i| lines.iter().map(|line| line[i].chars().count()).max().unwrap_or(0));
        let mut text = format!("{}\nfloor (one word there, one word back): {:.3} us\n\n{}", self.place(), self.floor_us, self.doubt());
        for line in &lines {
            let mut shown = String::new();
            for (i, (cell, width)) in line.iter().zip(widths).enumerate() {
                let _ = if matches!(i, 1 | 2 | 5) { write!(shown, "{cell:>width$}  ") } else { write!(shown, "{cell:<width$}  ") };
            }
            let _ = writeln!(text, "{}", shown.trim_end());
        }
        let missed = self.missed();
        if !missed.is_empty() {
            text.push_str("\nMissed targets:\n");
        }
        for line in missed {
            let _ = writeln!(text, "  {line}");
        }
        text.push_str("\nCost of calls that a kernel contains but never makes:\n");
        for line in &self.unused {
            let _ = writeln!(text, "  {line}");
        }
        text
    }

    /// The same in Markdown, with the command that made it.
    fn markdown(&self, command: &str) -> String {
        let mut text = format!("{}.\n\n```text\n{command}\n```\n\nFloor: {:.3} us.\n\n{}", self.place(), self.floor_us, self.doubt());
        text.push_str("| row | figure | ratio | target | | of the plain loop | how |\n|---|--:|--:|---|---|--:|---|\n");
        for cells in self.cells() {
            let _ = writeln!(text, "| {} |", cells.join(" | "));
        }
        text.push_str("\nCost of calls that a kernel contains but never makes:\n\n");
        for line in &self.unused {
            let _ = writeln!(text, "* {line}");
        }
        text
    }

    /// Writes the table in Markdown to a file.
    pub(super) fn write_markdown(&self, path: &Path) -> Result<(), Error> {
        // The program's own path, and where files lie, say something of this machine only.
        let name = |argument: String| match Path::new(&argument) {
            path if path.is_absolute() => path.file_name().map_or(argument.clone(), |name| name.to_string_lossy().into_owned()),
            _ => argument,
        };
        let arguments = std::env::args().skip(1).map(name);
        let command = std::iter::once("cargo hostcall bench".to_owned()).chain(arguments).collect::<Vec<_>>().join(" ");
        write(path, &self.markdown(&command))
    }

    /// The figures, for programs.
    pub(super) fn json(&self) -> Json {
        let row = |row: &Row| {
            let (unit, figure) = match row.figure {
                Figure::Ns(figure) => ("ns", figure),
                Figure::Us(figure) => ("us", figure),
                Figure::PerS(figure) => ("per_s", figure),
                Figure::GbS(figure) => ("gb_s", figure),
            };
            let mut json = json!({ "name": row.name, unit: figure, "ratio": row.ratio, "how": row.note });
            if let Some(ratio) = self.of_plain(row) {
                json["of_plain"] = ratio.into();
            }
            if let Some(target) = Target::of(&self.device, row.name) {
                json["met"] = target.met(row).into();
            }
            json
        };
        json!({
            "device": self.device.name,
            "driver": self.device.driver,
            "processor": self.processor,
            "window": self.window.map(WindowProvider::name),
            "commit": self.commit,
            "floor_us": self.floor_us,
            "rows": self.rows.iter().map(row).collect::<Vec<_>>(),
        })
    }

    /// Writes [`Report::json`] to a file.
    pub(super) fn write_json(&self, path: &Path) -> Result<(), Error> {
        write(path, &format!("{:#}\n", self.json()))
    }
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    std::fs::write(path, text).map_err(|source| Error::File { doing: "cannot write", path: path.into(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(kind: DeviceKind, name: &str, rows: Vec<Row>) -> Report {
        let device = DeviceInfo {
            pci_bus_id: None,
            kind,
            ordinal: 0,
            name: name.into(),
            driver: "driver 1".into(),
            arch: "sm_90".into(),
            wave_size: 32,
            sms: 132,
            resident_waves: 8448,
            memory_bytes: 1 << 30,
            max_group_size: 1024,
        };
        let (processor, window) = ("processor 1".into(), Some(WindowProvider::Vulkan));
        Report {
            device,
            processor,
            window,
            commit: "abc",
            floor_us: 2.5,
            rows,
            skipped: vec![("malloc", "no allocator".into())],
            unused: Vec::new(),
        }
    }

    fn row(name: &'static str, figure: Figure, ratio: f64, against: Against) -> Row {
        Row { name, figure, ratio, against, note: "how".into() }
    }

    #[test]
    fn each_row_of_the_json_has_its_unit_and_ratio_and_rows_without_a_figure_are_left_out() {
        let rows = vec![
            row("call.scalar", Figure::Us(2.75), 1.1, Against::Floor),
            row("post.rate", Figure::PerS(7e7), 175.0, Against::PerFloor),
            row("bulk.to_host", Figure::GbS(45.0), 0.9, Against::Bus),
            row("closed.call", Figure::Ns(50.0), 0.02, Against::Floor),
            row("plain.scalar.taken", Figure::Us(2.5), 1.0, Against::Floor),
        ];
        let json = report(DeviceKind::Cuda, "NVIDIA H200", rows).json();
        let expected = json!({
            "device": "NVIDIA H200", "driver": "driver 1", "processor": "processor 1", "window": "vulkan", "commit": "abc", "floor_us": 2.5,
            "rows": [
                { "name": "call.scalar", "us": 2.75, "ratio": 1.1, "how": "how", "of_plain": 1.1, "met": false },
                { "name": "post.rate", "per_s": 7e7, "ratio": 175.0, "how": "how", "met": false },
                { "name": "bulk.to_host", "gb_s": 45.0, "ratio": 0.9, "how": "how", "met": false },
                { "name": "closed.call", "ns": 50.0, "ratio": 0.02, "how": "how", "met": true },
                { "name": "plain.scalar.taken", "us": 2.5, "ratio": 1.0, "how": "how" },
            ],
        });
        assert_eq!(json, expected);
    }

    #[test]
    fn the_table_says_which_targets_were_missed_and_what_was_not_measured() {
        let rows = vec![
            row("call.scalar", Figure::Us(3.0), 1.2, Against::Floor),
            row("post.rate", Figure::PerS(1.6e8), 400.0, Against::PerFloor),
            row("plain.scalar.taken", Figure::Us(2.0), 0.8, Against::Floor),
            row("wake", Figure::Us(99.0), 40.0, Against::Floor),
        ];
        let table = report(DeviceKind::Cuda, "NVIDIA H200", rows.clone()).table();
        let line = |name: &str| table.lines().find(|line| line.starts_with(name)).unwrap_or_default().to_owned();
        assert!(line("call.scalar").contains("<= 0.88x the floor") && line("call.scalar").ends_with("MISSED     1.50x  how"), "{table}");
        assert!(
            table
                .contains("\nMissed targets:\n  call.scalar: 3.000 us, 1.20x the floor, 1.50x the plain loop; target <= 0.88x the floor\n"),
            "{table}"
        );
        assert!(line("post.rate").contains(">= 150.00 M/s") && line("post.rate").contains("met"), "{table}");
        assert!(line("wake").contains("met"), "{table}");
        assert!(line("malloc").contains("not measured: no allocator"), "{table}");
        assert!(!report(DeviceKind::Cuda, "another GPU", rows).table().contains("met"));
    }

    #[test]
    fn the_markdown_table_has_a_line_for_each_row_and_the_command() {
        let rows = vec![row("call.scalar.no_window", Figure::Us(1.0), 4.5, Against::Floor)];
        let text = report(DeviceKind::Sim, "simulator", rows).markdown("cargo hostcall bench --device sim");
        assert!(text.contains("cargo hostcall bench --device sim\n```"), "{text}");
        assert!(
            text.contains("| call.scalar.no_window | 1.000 us | 4.50x the floor | <= 3.00x the floor | MISSED |  | how |\n| malloc | - |"),
            "{text}"
        );
    }

    #[test]
    fn a_call_faster_than_the_floor_is_doubted() {
        let text = |ratio| report(DeviceKind::Sim, "simulator", vec![row("call.scalar", Figure::Us(1.0), ratio, Against::Floor)]).table();
        assert!(text(0.5).contains("no ratio to the floor means anything"));
        assert!(!text(1.0).contains("no ratio to the floor means anything"));
    }

    #[test]
    fn the_simulator_has_one_target() {
        let rows = vec![
            row("call.scalar.no_window", Figure::Us(1.0), 4.5, Against::Floor),
            row("call.wide64", Figure::Us(9.0), 40.0, Against::Floor),
        ];
        let table = report(DeviceKind::Sim, "simulator", rows).table();
        assert_eq!(table.matches("MISSED").count(), 1, "{table}");
    }

    #[test]
    fn every_row_has_a_name_of_the_table_and_every_row_to_compare_with_exists() {
        let known = |name: &str| NAMES.contains(&name);
        for name in NAMES.into_iter().filter_map(plain_of) {
            assert!(known(&name), "{name}");
        }
        for name in super::super::quick_rows() {
            assert!(known(name), "{name}");
        }
    }
}
