//! What instrumented kernels tell, made into findings: for each kernel and line of its source, as text.
//!
//! Instrumented kernels (`docs/guide/instrument.md`) send [`Access`]es, [`Step`]s and [`Interval`]s. The ready handlers
//! of [`crate::handlers`] listen, each by kernel. What is recorded besides has all that they have, for
//! `cargo hostcall stream report`.

use std::cmp::Reverse;
use std::fmt::Write as _;

use hostcall_abi::Shown;
use hostcall_abi::stream::builtin::{OF_BARRIER, OF_KERNEL};

use crate::handlers::{BankConflicts, Banks, Blocks, ByKernel, CacheLines, Heat, HeatMap, Intervals, Kernels, Steps};
use crate::{Access, Handler, Interval, Policy, Sites, Space, Step, Streams, StreamsBuilder};

/// Bytes of a page of the heat map, and how many are named.
const PAGE: u64 = 4096;
const PAGES: usize = 4;
/// Lines of a kernel that are named for each kind of finding.
const LINES: usize = 16;

/// Which of their messages are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Probes {
    /// [`Access`]es: a heat map, the use of cache lines, conflicts of banks.
    pub accesses: bool,
    /// [`Step`]s: how often blocks of instructions begin, and with how many lanes.
    pub steps: bool,
    /// [`Interval`]s: when kernels' waves ran, and how long they waited at barriers.
    pub intervals: bool,
}

impl Probes {
    /// Adds their handlers. With `policy`, their streams have it, and not the handlers' own.
    pub fn listen(self, mut builder: StreamsBuilder, policy: Option<Policy>) -> StreamsBuilder {
        if self.accesses {
            let heat = HeatMap::pages(PAGE).only(&[Space::Flat, Space::Global, Space::Region, Space::Constant]);
            builder = builder
                .on::<Access, _>(ByKernel(heat))
                .on::<Access, _>(ByKernel(CacheLines::default()))
                .on::<Access, _>(ByKernel(BankConflicts::of(Banks::nvidia())));
            if let Some(policy) = policy {
                builder = builder.policy::<Access>(policy);
            }
        }
        if self.steps {
            builder = builder.on::<Step, _>(ByKernel(Steps));
            if let Some(policy) = policy {
                builder = builder.policy::<Step>(policy);
            }
        }
        if self.intervals {
            let named = Intervals::default().named(OF_KERNEL, "kernel").named(OF_BARRIER, "barrier").limit(4096);
            builder = builder.on::<Interval, _>(ByKernel(named)).on::<Interval, _>(ByKernel(Blocks::default().only(OF_KERNEL)));
        }
        builder
    }

    /// What the handlers have found out by now, as text: a paragraph for each kernel. Empty if nothing was told.
    pub fn findings(self, streams: &Streams) -> String {
        let mut all = Paragraphs::default();
        let sites = streams.sites();
        if self.accesses {
            if let Some(heat) = streams.state::<Access, ByKernel<HeatMap>>() {
                heat_map(&heat, &mut all);
            }
            if let Some(lines) = streams.state::<Access, ByKernel<CacheLines>>() {
                for (kernel, lines) in lines.all() {
                    let mut rows = lines.rows();
                    rows.sort_by_key(|(_, _, used)| (Reverse(used.sectors - used.least_sectors), Reverse(used.sectors)));
                    all.rows(
                        kernel,
                        rows.len(),
                        rows.iter().map(|(site, kind, used)| {
                            format!("{}: {} {}, {}", place(sites, *site), count(used.accesses, kind.name()), "by waves", used.in_words())
                        }),
                    );
                }
            }
            if let Some(conflicts) = streams.state::<Access, ByKernel<BankConflicts>>() {
                for (kernel, conflicts) in conflicts.all() {
                    let mut rows = conflicts.rows();
                    rows.sort_by_key(|(_, _, used)| (Reverse(used.extra), Reverse(used.cycles)));
                    all.rows(
                        kernel,
                        rows.len(),
                        rows.iter().map(|(site, kind, used)| {
                            format!(
                                "{}: {} of the workgroup's memory, {}",
                                place(sites, *site),
                                count(used.accesses, kind.name()),
                                used.in_words()
                            )
                        }),
                    );
                }
            }
        }
        if let Some(times) = streams.state::<Interval, ByKernel<Intervals>>() {
            for (kernel, times) in times.all() {
                let rows = times.rows();
                all.rows(
                    kernel,
                    rows.len(),
                    rows.iter().map(|(label, site, measured)| {
                        let what = if *label == OF_BARRIER { "waits at the barrier" } else { "runs of waves" };
                        let mean = measured.times.sum() / u128::from(measured.times.count().max(1));
                        let most = measured.times.max().unwrap_or(0);
                        format!("{}: {} {what}, {mean} ns each, {most} ns at most", place(sites, *site), measured.times.count())
                    }),
                );
            }
        }
        if let Some(steps) = streams.state::<Step, ByKernel<Steps>>() {
            for (kernel, steps) in steps.all() {
                let mut rows = steps.rows();
                rows.sort_by_key(|((site, kind, block), used)| (Reverse(used.steps), *site, *kind, *block));
                all.rows(
                    kernel,
                    rows.len(),
                    rows.iter().map(|((site, kind, _), used)| {
                        let mean = used.mean_lanes().unwrap_or(0.0);
                        format!("{}: {} begins {} times, with {mean:.1} lanes", place(sites, *site), kind.name(), used.steps)
                    }),
                );
            }
        }
        if let Some(blocks) = streams.state::<Interval, ByKernel<Blocks>>() {
            for (kernel, timeline) in blocks.all() {
                let lines = Blocks::default().only(OF_KERNEL).report(timeline).lines;
                all.rows(kernel, lines.len(), lines.into_iter());
            }
        }
        all.to_string()
    }
}

/// What is accessed, and the hottest pages.
fn heat_map(heat: &Kernels<Heat>, all: &mut Paragraphs) {
    for (kernel, heat) in heat.all() {
        let traffic = heat.all();
        if traffic.accesses == 0 {
            continue;
        }
        let mut pages = heat.pages();
        pages.sort_by_key(|(address, traffic)| (Reverse(traffic.accesses), *address));
        let hottest: Vec<String> =
            pages.iter().take(PAGES).map(|(address, traffic)| format!("{address:#x} ({})", traffic.accesses)).collect();
        let line = format!(
            "{} accesses of lanes to {} bytes in {} pages of {PAGE} bytes, most to {}",
            traffic.accesses,
            traffic.bytes,
            pages.len(),
            hottest.join(", ")
        );
        all.rows(kernel, 1, std::iter::once(line));
    }
}

/// `41 reads`.
fn count(count: u64, kind: &str) -> String {
    let many = match kind {
        "read" => "reads",
        "write" => "writes",
        "atomic" => "atomic operations",
        other => other,
    };
    format!("{count} {many}")
}

/// `src/lib.rs:41:9 in crate::function`: files of several crates may have one name.
fn place(sites: &Sites, site: u32) -> String {
    match sites.get(site) {
        Some(site) if site.module.is_empty() => Shown(&site.to_string()).to_string(),
        Some(site) => Shown(&format!("{site} in {}", site.module)).to_string(),
        None => "somewhere".into(),
    }
}

/// Lines of each kernel, in the order of their names.
#[derive(Default)]
struct Paragraphs(std::collections::BTreeMap<Option<&'static str>, Vec<String>>);

impl Paragraphs {
    fn rows(&mut self, kernel: Option<&'static str>, count: usize, rows: impl Iterator<Item = String>) {
        let lines = self.0.entry(kernel).or_default();
        lines.extend(rows.take(LINES));
        if count > LINES {
            lines.push(format!("and {} lines more: `--stream run.hcs`, and `cargo hostcall stream report run.hcs`", count - LINES));
        }
    }
}

impl std::fmt::Display for Paragraphs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (kernel, lines) in self.0.iter().filter(|(_, lines)| !lines.is_empty()) {
            f.write_char('\n')?;
            f.write_str(&Shown(kernel.unwrap_or("unknown kernel")).to_string())?;
            f.write_char('\n')?;
            lines.iter().try_for_each(|line| writeln!(f, "  {line}"))?;
        }
        Ok(())
    }
}
