//! Numbers of streams: over steps or time, and how they are distributed.

use super::{Section, Table, name};
use crate::digest::Digest;
use crate::digest::fields::{Along, Field};
use crate::draw::{self, Chart, Line, Scale, Unit, count, number};

/// Places along a line, and bars of a histogram.
const POINTS: usize = 240;
const BARS: usize = 64;

pub(super) fn section(digest: &Digest) -> Option<Section> {
    let mut section = Section { id: "values", title: "Values".into(), ..Section::default() };
    let columns = ["stream", "field", "type", "#numbers", "#least", "#p50 about", "#mean", "#p99 about", "#greatest", "#others"];
    let mut table = Table::new("Fields", &columns);
    let mut colour = 0;
    for stream in digest.streams.values() {
        let Some(fields) = &stream.fields else { continue };
        let its = name(&stream.schema.name);
        for (index, field) in fields.fields.iter().enumerate().filter_map(|(index, field)| Some((index, field.as_ref()?))) {
            let of = format!("{its}.{}", name(&field.name));
            let plain = |value: f64| number(value, Unit::Plain);
            let all = &field.all;
            let some = |text: String| if all.count > 0 { text } else { "–".into() };
            let quantile =
                |share: f64| field.values.quantile(share).map_or("–".into(), |value| plain(value.clamp(all.least, all.greatest)));
            table.row([
                its.clone(),
                name(&field.name),
                name(&field.ty),
                count(all.count),
                some(plain(all.least)),
                quantile(0.5),
                some(plain(all.mean)),
                quantile(0.99),
                some(plain(all.greatest)),
                count(field.others),
            ]);
            // Steps only say how long it ran.
            if all.count == 0 || matches!(fields.along, Along::Field(step, _) if step == index) {
                continue;
            }
            section.charts.extend(course(field, &fields.along, &of, colour));
            section.charts.push(histogram(field, &of, colour));
            colour = (colour + 1) % draw::COLOURS;
        }
    }
    section.tables.push(table);
    (!section.tables[0].rows.is_empty()).then_some(section)
}

/// What becomes of a number.
fn course(field: &Field, along: &Along, of: &str, colour: usize) -> Option<Chart> {
    let bins = field.course.at_most(POINTS);
    if bins.cells().len() < 2 {
        return None;
    }
    let begin = bins.cells().next()?.from;
    let (origin, unit, label) = match along {
        Along::Field(_, field) => (0.0, Unit::Plain, name(field)),
        Along::Time => (begin, Unit::Nanoseconds, "time since the first message".into()),
        Along::Order => (0.0, Unit::Count, "number of the value in the recording".into()),
    };
    let filled = || bins.cells().filter(|cell| cell.sum.count > 0);
    let points: Vec<_> = filled().map(|cell| (cell.from - origin, cell.sum.least, cell.sum.mean, cell.sum.greatest)).collect();
    let x = Scale::new(points.first()?.0, points.last()?.0, unit);
    let y = Scale::new(field.all.least, field.all.greatest, Unit::Plain);
    let y = if field.is_skewed() { Scale::logarithmic(field.all.least, field.all.greatest, Unit::Plain) } else { y };
    let line = Line { name: of.into(), colour, points, steps: false };
    let counts: Vec<u64> = filled().map(|cell| cell.sum.count).collect();
    let plain = |value: f64| number(value, Unit::Plain);
    let tip = |line: &Line, i: usize| {
        let (at, least, mean, greatest) = line.points[i];
        let range =
            if counts[i] > 1 { format!("\n{} to {}, {} values", plain(least), plain(greatest), count(counts[i])) } else { String::new() };
        format!("{} {}: {}{range}", label, number(at, unit), plain(mean))
    };
    let mut chart = draw::lines(std::slice::from_ref(&line), x, y, tip);
    chart.title = format!("{of} over {}", if *along == Along::Time { "time" } else { &label });
    chart.note = if counts.iter().any(|count| *count > 1) { "mean, and the range from least to greatest".into() } else { String::new() };
    chart.x_label = label.clone();
    let mut table = Table::new(&label, &["#from", "#values", "#least", "#mean", "#greatest"]).closed();
    for cell in field.course.at_most(32).cells().filter(|cell| cell.sum.count > 0) {
        let sum = cell.sum;
        table.row([number(cell.from - origin, unit), count(sum.count), plain(sum.least), plain(sum.mean), plain(sum.greatest)]);
    }
    chart.table = Some(table);
    Some(chart)
}

/// How a number is distributed.
fn histogram(field: &Field, of: &str, colour: usize) -> Chart {
    let skewed = field.is_skewed();
    let bins = if skewed { &field.logs } else { &field.values }.at_most(BARS);
    let edge = |at: f64| if skewed { at.exp2() } else { at };
    let bars: Vec<_> = bins.cells().map(|cell| (edge(cell.from), edge(cell.to), *cell.sum)).collect();
    let (from, to) = (bars.first().map_or(0.0, |bar| bar.0), bars.last().map_or(1.0, |bar| bar.1));
    let x = if skewed { Scale::logarithmic(from, to, Unit::Plain) } else { Scale::new(from, to, Unit::Plain) };
    let most = bars.iter().map(|bar| bar.2).max().unwrap_or(0);
    let range = |(from, to, _): (f64, f64, u64)| (number(from, Unit::Plain), number(to, Unit::Plain));
    let tip = |i: usize| {
        let (from, to) = range(bars[i]);
        format!("{from} to {to}\n{} values", count(bars[i].2))
    };
    let mut chart = draw::histogram(&bars, colour, x, Scale::up_to(most as f64, Unit::Count), tip);
    chart.title = format!("Distribution of {of}");
    chart.note = if skewed { "the axis is logarithmic".into() } else { String::new() };
    (chart.x_label, chart.y_label) = (format!("{of}, {}", name(&field.ty)), "values".into());
    let mut table = Table::new(of, &["#from", "#to", "#values", "#share [%]"]).closed();
    for bar in bars.iter().filter(|bar| bar.2 > 0) {
        let (from, to) = range(*bar);
        table.row([from, to, count(bar.2), format!("{:.1}", 100.0 * bar.2 as f64 / field.all.count as f64)]);
    }
    chart.table = Some(table);
    chart
}
