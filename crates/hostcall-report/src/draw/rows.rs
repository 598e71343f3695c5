//! Plots with a name for each row: bars, spreads of numbers, and what ran when.

use std::fmt::Write as _;

use super::{Chart, Legend, Scale, Tick, Tips, coordinate, number};

/// Names at the left, in the middle of their rows.
fn names(rows: impl ExactSizeIterator<Item = String>) -> Vec<Tick> {
    let all = rows.len().max(1) as f64;
    rows.enumerate().map(|(row, text)| Tick { at: 100.0 - 100.0 * (row as f64 + 0.5) / all, text }).collect()
}

/// Lines down at the marks of an axis.
fn grid(svg: &mut String, x: &[Tick]) {
    for tick in x {
        let x = coordinate(tick.at / 100.0);
        let _ = write!(svg, r#"<path class="grid" d="M{x} 0V1000"/>"#);
    }
}

/// Draws a bar for each name.
pub(crate) fn bars(rows: &[(String, f64)], x: Scale, tip: impl Fn(usize) -> String) -> Chart {
    let ticks = x.ticks(4);
    let mut svg = String::new();
    grid(&mut svg, &ticks);
    let height = 1.0 / rows.len().max(1) as f64;
    for (row, (_, value)) in rows.iter().enumerate() {
        let (top, high) = (coordinate((row as f64 + 0.18) * height), coordinate(0.64 * height));
        let width = coordinate(x.place(*value)).max(1.0);
        let _ = write!(svg, r#"<rect class="bar c0" data-i="{row}" x="0" y="{top}" width="{width}" height="{high}"/>"#);
    }
    Chart {
        height: (rows.len() as u32 * 28).max(56),
        y: names(rows.iter().map(|(name, _)| name.clone())),
        named: true,
        x: ticks,
        tips: Tips::Shapes { text: (0..rows.len()).map(tip).collect() }.json(),
        svg,
        ..Chart::default()
    }
}

/// How numbers of one name spread.
pub(crate) struct Spread {
    pub(crate) name: String,
    /// Least, median, 90th and 99th percentile, greatest.
    pub(crate) at: [f64; 5],
}

/// Draws a line from the least to the greatest of each, a bar up to the 90th percentile, a lighter one up to the 99th,
/// and the median as a mark.
pub(crate) fn spreads(rows: &[Spread], x: Scale) -> Chart {
    let ticks = x.ticks(5);
    let mut svg = String::new();
    grid(&mut svg, &ticks);
    let height = 1.0 / rows.len().max(1) as f64;
    for (row, Spread { at, .. }) in rows.iter().enumerate() {
        let y = |part: f64| coordinate((row as f64 + part) * height);
        let [least, median, p90, p99, greatest] = at.map(|value| coordinate(x.place(value)));
        let (top, high) = (y(0.25), coordinate(0.5 * height));
        let _ = write!(
            svg,
            r#"<g data-i="{row}"><path class="hair" d="M{least} {0}H{greatest}"/><rect class="bar faint c0" x="{least}" y="{top}" width="{1:.1}" height="{high}"/><rect class="bar c0" x="{least}" y="{top}" width="{2:.1}" height="{high}"/><path class="mark" d="M{median} {3}V{4}"/></g>"#,
            y(0.5),
            (p99 - least).max(1.0),
            (p90 - least).max(1.0),
            y(0.12),
            y(0.88)
        );
    }
    let tip = |Spread { name, at }: &Spread| {
        let names = ["min", "p50", "p90", "p99", "max"];
        let lines = names.iter().zip(at).map(|(name, value)| format!("\n{name}  {}", number(*value, x.unit)));
        lines.fold(name.clone(), |text, line| text + &line)
    };
    Chart {
        height: (rows.len() as u32 * 30).max(60),
        y: names(rows.iter().map(|row| row.name.clone())),
        named: true,
        x: ticks,
        tips: Tips::Shapes { text: rows.iter().map(tip).collect() }.json(),
        svg,
        ..Chart::default()
    }
}

/// What ran when: rows of a name, some of several lines.
#[derive(Default)]
pub(crate) struct Gantt {
    /// Name of each row, and how many lines it has.
    pub(crate) rows: Vec<(String, usize)>,
    /// Line (counted through all rows), beginning, end, colour, words.
    pub(crate) spans: Vec<(usize, f64, f64, usize, String)>,
    pub(crate) colours: Vec<(usize, String)>,
}

/// Draws a rectangle for each span.
pub(crate) fn gantt(gantt: &Gantt, x: Scale) -> Chart {
    let lines = gantt.rows.iter().map(|(_, lines)| lines).sum::<usize>().max(1);
    let ticks = x.ticks(6);
    let mut svg = String::new();
    grid(&mut svg, &ticks);
    let height = 1.0 / lines as f64;
    let mut y = Vec::new();
    let mut before = 0;
    for (i, (name, its)) in gantt.rows.iter().enumerate() {
        if i > 0 {
            let _ = write!(svg, r#"<path class="grid" d="M0 {}H1000"/>"#, coordinate(before as f64 * height));
        }
        y.push(Tick { at: 100.0 - 100.0 * (before as f64 + *its as f64 / 2.0) * height, text: name.clone() });
        before += its;
    }
    for (i, (line, from, to, colour, _)) in gantt.spans.iter().enumerate() {
        let (left, right) = (coordinate(x.place(*from)), coordinate(x.place(*to)));
        let (top, high) = (coordinate((*line as f64 + 0.1) * height), coordinate(0.8 * height));
        let width = (right - left).max(1.0);
        let _ = write!(svg, r#"<rect class="bar c{colour}" data-i="{i}" x="{left}" y="{top}" width="{width:.1}" height="{high}"/>"#);
    }
    let every = y.len().div_ceil(24).max(1);
    let legend = gantt.colours.iter().map(|(colour, name)| Legend { class: format!("c{colour}"), name: name.clone() });
    Chart {
        wide: true,
        height: (lines as u32 * 14).clamp(64, 640),
        y: y.into_iter().step_by(every).collect(),
        named: true,
        x: ticks,
        legend: legend.collect(),
        tips: Tips::Shapes { text: gantt.spans.iter().map(|span| span.4.clone()).collect() }.json(),
        svg,
        ..Chart::default()
    }
}
