//! How long things took, and what ran when.

use std::collections::BTreeMap;

use hostcall_stream::Sites;

use super::{Figure, Section, Table, place};
use crate::digest::{SMS, Span, Spans};
use crate::draw::{self, Chart, Gantt, Heat, Scale, Spread, Unit, count, number};

/// Lines that are drawn one by one, rows and columns of the heat map otherwise, and labels of a plot.
const LINES: usize = 64;
const ROWS: usize = 66;
const COLUMNS: i64 = 128;
const LABELS: usize = 16;

pub(super) fn section(spans: &Spans, places: &Sites) -> Section {
    let mut section = Section { id: "time", title: "Time".into(), ..Section::default() };
    let (times, mut report) = spans.times();
    report.name_sites(places);
    let blocks = spans.blocks();
    section.lines = blocks.lines.clone();
    let mut rows = times.rows();
    rows.sort_by_key(|(_, _, measured)| std::cmp::Reverse(measured.times.sum()));
    let all: u64 = rows.iter().map(|(_, _, measured)| measured.times.count()).sum();
    let quantile = |share: f64| match rows.as_slice() {
        [(_, _, only)] => only.times.quantile(share).map_or("–".into(), |time| number(time as f64, Unit::Nanoseconds)),
        _ => String::new(),
    };
    section.figures.push(Figure::new("intervals", &number(all as f64, Unit::Count), format!("{} labels and places", rows.len())));
    if rows.len() == 1 {
        section.figures.push(Figure::new("median", &quantile(0.5), "half of them took less"));
        section.figures.push(Figure::new("p99", &quantile(0.99), "one of a hundred took longer"));
    }
    if times.backwards() > 0 {
        section
            .figures
            .push(Figure { bad: true, ..Figure::new("backwards", &count(times.backwards()), "end before they begin: not shown") });
    }
    section.charts.extend(
        timeline(spans, places)
            .map(|chart| Chart { table: blocks.tables.iter().find(|table| table.title == "placement").map(Table::from), ..chart }),
    );
    if !rows.is_empty() {
        let spread = |(label, site, measured): &(u32, u32, &hostcall_stream::handlers::Measured)| {
            let times = &measured.times;
            let at = |share: f64| times.quantile(share).unwrap_or(0) as f64;
            Spread {
                name: called(*label, *site, places),
                at: [times.min().unwrap_or(0) as f64, at(0.5), at(0.9), at(0.99), times.max().unwrap_or(0) as f64],
            }
        };
        let spreads: Vec<_> = rows.iter().take(LABELS).map(spread).collect();
        let least = spreads.iter().map(|spread| spread.at[0]).fold(f64::INFINITY, f64::min).max(1.0);
        let most = spreads.iter().map(|spread| spread.at[4]).fold(1.0, f64::max);
        let scale =
            if most > 20.0 * least { Scale::logarithmic(least, most, Unit::Nanoseconds) } else { Scale::up_to(most, Unit::Nanoseconds) };
        let mut chart = draw::spreads(&spreads, scale);
        chart.title = "How long they took".into();
        chart.note =
            "a line from the shortest to the longest; a bar up to the 90th percentile, lighter up to the 99th; the mark is the median"
                .into();
        (chart.x_label, chart.wide) = ("time of an interval".into(), true);
        chart.table = report.tables.first().map(Table::from);
        section.charts.push(chart);
    }
    section.tables.extend(blocks.tables.iter().filter(|table| table.title != "placement").map(Table::from));
    section
}

/// What intervals of a label from a place are called. Those that `interval!` measures have no label, but their place
/// has their name.
fn called(label: u32, site: u32, places: &Sites) -> String {
    match (label, site) {
        (label, 0) => format!("label {label}"),
        (0, site) => place(places, site),
        (label, site) => format!("label {label}, {}", place(places, site)),
    }
}

/// What ran when on each SM: each interval, or how many at once.
fn timeline(spans: &Spans, places: &Sites) -> Option<Chart> {
    let mut chart = match spans.all().and_then(|spans| each(spans, places)) {
        Some(chart) => chart,
        None => at_once(spans)?,
    };
    (chart.title, chart.x_label, chart.y_label) = ("What ran when".into(), "time since the first interval".into(), "SM".into());
    Some(chart)
}

fn sm_name(sm: u64, several: bool) -> String {
    if several { format!("{}/{}", sm / SMS, sm % SMS) } else { (sm % SMS).to_string() }
}

/// Nanoseconds between two times, however far apart.
fn difference(to: i64, from: i64) -> f64 {
    (i128::from(to) - i128::from(from)) as f64
}

fn each(spans: &[Span], places: &Sites) -> Option<Chart> {
    let mut sms = BTreeMap::<u64, Vec<&Span>>::new();
    for span in spans {
        sms.entry(u64::from(span.device) * SMS + u64::from(span.sm)).or_default().push(span);
    }
    let several = sms.keys().any(|sm| sm / SMS != u64::from(spans[0].device));
    let begin = spans.iter().map(|span| span.from).min()?;
    let end = spans.iter().map(|span| span.to).max()?;
    let mut labels: Vec<(u32, u32)> = spans.iter().map(|span| (span.label, span.site)).collect();
    labels.sort_unstable();
    labels.dedup();
    let colour = |label: (u32, u32)| labels.iter().position(|its| *its == label).unwrap_or(0).min(draw::COLOURS - 1);
    let mut gantt = Gantt::default();
    let mut before = 0;
    for (sm, mut its) in sms {
        its.sort_by_key(|span| (span.from, span.to));
        // Each goes to the first line that is free.
        let mut free: Vec<i64> = Vec::new();
        for span in its {
            let line = free.iter().position(|end| *end <= span.from).unwrap_or_else(|| {
                free.push(i64::MIN);
                free.len() - 1
            });
            free[line] = span.to.max(span.from.saturating_add(1));
            let since = |time: i64| difference(time, begin);
            let (from, to) = (since(span.from), since(span.to));
            let words = format!(
                "{}: {}\nworkgroup {}, wave {}, SM {}\nfrom {} to {}",
                called(span.label, span.site, places),
                number(to - from, Unit::Nanoseconds),
                span.group,
                span.wave,
                sm_name(sm, several),
                number(from, Unit::Nanoseconds),
                number(to, Unit::Nanoseconds)
            );
            gantt.spans.push((before + line, from, to, colour((span.label, span.site)), words));
        }
        before += free.len();
        gantt.rows.push((sm_name(sm, several), free.len()));
        if before > LINES {
            return None;
        }
    }
    let last = labels.len().saturating_sub(draw::COLOURS);
    let name = |(label, site): &(u32, u32)| called(*label, *site, places);
    gantt.colours = labels.iter().take(draw::COLOURS).map(name).enumerate().collect();
    if let Some((_, name)) = gantt.colours.last_mut().filter(|_| last > 0) {
        *name = format!("{name} and {last} more");
    }
    let mut chart = draw::gantt(&gantt, Scale::new(0.0, difference(end, begin), Unit::Nanoseconds));
    chart.note = "each interval of a wave; those of one SM that run at once are below one another".into();
    Some(chart)
}

fn at_once(spans: &Spans) -> Option<Chart> {
    let grid = spans.grid().at_most(ROWS, COLUMNS);
    let (begin, end) = grid.span()?;
    let sms: Vec<u64> = grid.rows().collect();
    let several = sms.iter().any(|sm| sm / SMS != sms[0] / SMS);
    let group = grid.row_size();
    let name = |sm: &u64| if group > 1 { format!("{}…{}", sm_name(*sm, several), (sm + group - 1) % SMS) } else { sm_name(*sm, several) };
    let width = grid.column_size();
    let sums = grid.sums().into_iter().map(|row| row.into_iter().map(|time| time as f64 / width).collect()).collect();
    let heat = Heat {
        sums,
        rows: sms.iter().map(name).collect(),
        gaps: Vec::new(),
        x: Scale::new(0.0, end - begin, Unit::Nanoseconds),
        of: "at once",
    };
    let mut chart = draw::heat(&heat);
    chart.note = format!("how many intervals run at once on average, in columns of {}", number(width, Unit::Nanoseconds));
    Some(chart)
}
