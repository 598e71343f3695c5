//! What was recorded: programs, streams, counts, losses, rates.

use std::collections::BTreeMap;

use super::{Figure, Section, Table, name, place};
use crate::digest::bins::{Bins, Sum as _};
use crate::digest::{Digest, Load};
use crate::draw::{self, Chart, Line, Scale, Unit, count, number};

/// Places along a line, and lines of a plot.
const POINTS: usize = 160;

pub(super) fn section(digest: &Digest) -> Section {
    let mut section = Section { id: "overview", title: "Overview".into(), ..Section::default() };
    section.figures = figures(digest);
    if digest.streams.values().all(|stream| stream.load.messages == 0) {
        section.lines.push("There are no messages in this recording.".into());
    }
    section.charts = rates(digest);
    section.tables = vec![streams(digest), programs(digest)];
    section
}

/// Nanoseconds from a stream's first message to the last one of any, by the clock of one device at least.
fn span(digest: &Digest) -> Option<f64> {
    let longest = digest.streams.values().filter_map(|stream| stream.times).map(|(first, last)| (last - first) as f64).fold(None, greater);
    if digest.rates.keys().map(|(device, _)| device).collect::<std::collections::BTreeSet<_>>().len() > 1 {
        return longest;
    }
    // Streams of one device share its clock.
    let times = || digest.streams.values().filter_map(|stream| stream.times);
    Some((times().map(|(_, last)| last).max()? - times().map(|(first, _)| first).min()?) as f64)
}

fn greater(most: Option<f64>, next: f64) -> Option<f64> {
    Some(most.map_or(next, |most| most.max(next)))
}

fn figures(digest: &Digest) -> Vec<Figure> {
    let mut all = Load::default();
    digest.streams.values().for_each(|stream| all.merge(&stream.load));
    let span = span(digest).filter(|span| *span > 0.0);
    let rate = |number_of: u64| span.map_or(String::new(), |span| format!("{}/s", number(number_of as f64 / span * 1e9, Unit::PerSecond)));
    let mut figures = vec![
        Figure::new("duration", &span.map_or("–".into(), |span| number(span, Unit::Nanoseconds)), "first to last message, device's clock"),
        Figure::new("messages", &number(all.messages as f64, Unit::Count), rate(all.messages)),
        Figure::new("values", &number(all.values as f64, Unit::Count), rate(all.values)),
        Figure::new(
            "ring bytes",
            &number(all.bytes as f64, Unit::Bytes),
            span.map_or(String::new(), |span| format!("{}/s", number(all.bytes as f64 / span * 1e9, Unit::Bytes))),
        ),
    ];
    let mut losses = Figure::new("lost", "0", "nothing dropped, torn or malformed");
    match &digest.counters {
        None => losses = Figure { bad: false, ..Figure::new("lost", "?", "the recording has no counters") },
        Some(counted) => {
            let dropped = counted.streams.iter().fold(0u64, |all, stream| all.saturating_add(stream.dropped));
            let parts = [(dropped, "dropped"), (counted.torn, "torn"), (counted.malformed, "malformed granules")];
            let lost = parts.iter().fold(0u64, |all, (count, _)| all.saturating_add(*count));
            if lost > 0 {
                let words: Vec<_> =
                    parts.iter().filter(|(count, _)| *count > 0).map(|(number, what)| format!("{} {what}", count(*number))).collect();
                losses = Figure { bad: true, ..Figure::new("lost", &number(lost as f64, Unit::Count), words.join(", ")) };
            }
            if counted.end_unknown {
                losses = Figure { bad: true, ..Figure::new("lost", "?", "the device was lost, and with it its counters") };
            }
        }
    }
    figures.push(losses);
    figures.push(Figure::new("file", &number(digest.bytes as f64, Unit::Bytes), format!("{} frames", count(digest.frames))));
    figures
}

/// Makes the cells of a device's streams equally wide, and at least so wide that [`POINTS`] of them reach from the
/// first message to the last: a rate is over a time that is long against the whole, however few messages a stream has.
/// Whether there is a rate: all messages may be of one time.
fn alike(streams: &mut [(u32, Bins<Load>)]) -> bool {
    let cells = || streams.iter().flat_map(|(_, bins)| bins.cells().next().into_iter().chain(bins.cells().next_back()));
    let begin = cells().map(|cell| cell.from).fold(f64::INFINITY, f64::min);
    let last = cells().map(|cell| cell.from).fold(f64::NEG_INFINITY, f64::max);
    let widest = streams.iter().map(|(_, bins)| bins.width()).fold((last - begin) / POINTS as f64, f64::max);
    for (_, bins) in streams.iter_mut() {
        while bins.width() < widest {
            bins.coarsen();
        }
    }
    last > begin
}

/// A plot of the rates of each device's streams.
fn rates(digest: &Digest) -> Vec<Chart> {
    let mut devices = BTreeMap::<u32, Vec<(u32, Bins<Load>)>>::new();
    for ((device, stream), bins) in &digest.rates {
        devices.entry(*device).or_default().push((*stream, bins.at_most(POINTS)));
    }
    let several = devices.len() > 1;
    devices
        .into_iter()
        .filter_map(|(device, mut streams)| alike(&mut streams).then_some((device, streams)))
        .take(8)
        .map(|(device, mut streams)| {
            let values = |bins: &Bins<Load>| bins.cells().fold(0u64, |all, cell| all.saturating_add(cell.sum.values));
            streams.sort_by_key(|(_, bins)| std::cmp::Reverse(values(bins)));
            let left_out = streams.len().saturating_sub(draw::COLOURS);
            streams.truncate(draw::COLOURS);
            let begin = streams.iter().filter_map(|(_, bins)| bins.cells().next()).map(|cell| cell.from).fold(f64::INFINITY, f64::min);
            let end = streams.iter().filter_map(|(_, bins)| bins.cells().next_back()).map(|cell| cell.to).fold(0.0, f64::max);
            let rate = |bins: &Bins<Load>, load: &Load| load.values as f64 / bins.width() * 1e9;
            let line = |(colour, (stream, bins)): (usize, &(u32, Bins<Load>))| {
                let mut points: Vec<_> = bins.cells().map(|cell| (cell.from - begin, rate(bins, cell.sum))).collect();
                // Up to where the last cell ends.
                points.extend(bins.cells().next_back().map(|cell| (cell.to - begin, rate(bins, cell.sum))));
                let points = points.into_iter().map(|(at, value)| (at, value, value, value)).collect();
                let its = digest.streams.get(stream).map_or(String::new(), |stream| name(&stream.schema.name));
                Line { name: its, colour, points, steps: true }
            };
            let lines: Vec<Line> = streams.iter().enumerate().map(line).collect();
            let most = lines.iter().flat_map(|line| &line.points).map(|point| point.3).fold(0.0, f64::max);
            let x = Scale::new(0.0, end - begin, Unit::Nanoseconds);
            let tip = |line: &Line, i: usize| {
                let (at, value, ..) = line.points[i];
                format!("{}: {}/s at {}", line.name, number(value, Unit::PerSecond), number(at, Unit::Nanoseconds))
            };
            let mut chart = draw::lines(&lines, x, Scale::up_to(most, Unit::PerSecond), tip);
            chart.title = if several { format!("Rates on device {device}") } else { "Rates".into() };
            chart.note =
                if left_out > 0 { format!("the {} busiest streams; {left_out} are left out", draw::COLOURS) } else { String::new() };
            (chart.wide, chart.x_label, chart.y_label) = (true, "time since the first message".into(), "values per second".into());
            let mut table = Table::new("rates", &["stream", "#from", "#to", "#values", "#values/s", "#ring bytes/s"]).closed();
            for ((_, bins), line) in streams.iter().zip(&lines) {
                let few = bins.at_most(12);
                for cell in few.cells() {
                    let per_second = |sum: u64| sum as f64 / few.width() * 1e9;
                    let time = |at: f64| number(at - begin, Unit::Nanoseconds);
                    let rates = [number(per_second(cell.sum.values), Unit::PerSecond), number(per_second(cell.sum.bytes), Unit::Bytes)];
                    let [values, bytes] = rates;
                    table.row([line.name.clone(), time(cell.from), time(cell.to), count(cell.sum.values), values, bytes]);
                }
            }
            chart.table = Some(table);
            chart
        })
        .collect()
}

fn streams(digest: &Digest) -> Table {
    let columns =
        ["stream", "#messages", "#values", "#ring bytes", "#payload", "#values/s", "#dropped", "#waited", "#behind a gap", "values are"];
    let mut table = Table::new("Streams", &columns);
    let mut streams: Vec<_> = digest.streams.values().collect();
    streams.sort_by_key(|stream| std::cmp::Reverse(stream.load.messages));
    for stream in streams {
        let counted = digest.counters.as_ref().and_then(|counted| counted.stream(&stream.schema.name));
        let counter = |number: Option<u64>| number.map_or("–".into(), count);
        let span = stream.times.map(|(first, last)| (last - first) as f64).filter(|span| *span > 0.0);
        let Load { messages, values, bytes } = stream.load;
        let share = if bytes > 0 { format!("{:.0} %", 100.0 * stream.payload as f64 / bytes as f64) } else { "–".into() };
        table.row([
            name(&stream.schema.name),
            count(messages),
            count(values),
            number(bytes as f64, Unit::Bytes),
            share,
            span.map_or("–".into(), |span| number(values as f64 / span * 1e9, Unit::PerSecond)),
            counter(counted.map(|counted| counted.dropped)),
            counter(counted.map(|counted| counted.waited)),
            count(stream.after_gap),
            name(&fields(&stream.schema)),
        ]);
    }
    table
}

/// The fields of a stream, as the source has them.
fn fields(schema: &hostcall_stream::Schema) -> String {
    let fields: Vec<_> = schema.fields.iter().take(12).map(|field| format!("{}: {}", field.name, field.ty)).collect();
    fields.join(", ")
}

fn programs(digest: &Digest) -> Table {
    let mut table = Table::new("Programs", &["program", "device", "kind", "#number", "#lanes", "#rings", "#streams"]);
    for program in &digest.programs {
        table.row([
            name(&program.name),
            name(&program.device.name),
            name(&program.device.kind),
            program.device.number.to_string(),
            program.wave_size.to_string(),
            count(program.rings.into()),
            count(program.streams.len() as u64),
        ]);
    }
    table
}

/// Messages by place in the source, where programs name any.
pub(super) fn sites(digest: &Digest) -> Option<Section> {
    if digest.sites.is_empty() {
        return None;
    }
    let mut section = Section { id: "places", title: "Places in the source".into(), ..Section::default() };
    let mut sites: Vec<_> = digest.sites.iter().collect();
    sites.sort_by_key(|(_, load)| std::cmp::Reverse(load.messages));
    let stream = |number: &u32| digest.streams.get(number).map_or(String::new(), |stream| name(&stream.schema.name));
    let rows: Vec<_> = sites
        .iter()
        .take(20)
        .map(|((number, site), load)| (format!("{}, {}", stream(number), place(&digest.places, *site)), load.messages as f64))
        .collect();
    let most = rows.iter().map(|row| row.1).fold(0.0, f64::max);
    let mut chart = draw::bars(&rows, Scale::up_to(most, Unit::Count), |i| format!("{}\n{} messages", rows[i].0, count(rows[i].1 as u64)));
    (chart.title, chart.x_label, chart.wide) = ("Messages by place".into(), "messages".into(), true);
    let mut table = Table::new("places", &["place", "stream", "#messages", "#values", "#ring bytes"]).closed();
    for ((number, site), load) in &sites {
        let bytes = draw::number(load.bytes as f64, Unit::Bytes);
        table.row([place(&digest.places, *site), stream(number), count(load.messages), count(load.values), bytes]);
    }
    chart.table = Some(table);
    section.charts.push(chart);
    if digest.more_sites > 0 {
        section.lines.push(format!("{} messages came from further places.", count(digest.more_sites)));
    }
    Some(section)
}
