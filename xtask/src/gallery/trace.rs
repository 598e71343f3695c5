//! A trace for Perfetto, read back from its file and drawn: tracks one below another, slices as boxes, counters as
//! curves. Perfetto itself runs in no test, so the drawing shows what the file has, not what Perfetto makes of it.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, bail, ensure};

use super::svg::{Drawing, LETTER, LINE};

/// A track of the trace.
#[derive(Debug, Default, PartialEq)]
struct Track {
    name: String,
    parent: Option<u64>,
    /// Begin and end in nanoseconds, and the name.
    slices: Vec<(u64, u64, String)>,
    counts: Vec<(u64, f64)>,
}

/// A field of a protobuf message.
enum Field<'a> {
    Number(u64),
    Double(f64),
    Bytes(&'a [u8]),
}

/// The fields of a protobuf message with their numbers.
fn fields(mut message: &[u8]) -> Result<Vec<(u64, Field<'_>)>> {
    let mut found = Vec::new();
    while !message.is_empty() {
        let key = varint(&mut message)?;
        let field = match key & 7 {
            0 => Field::Number(varint(&mut message)?),
            1 => Field::Double(f64::from_le_bytes(taken(&mut message, 8)?.try_into()?)),
            2 => {
                let length = varint(&mut message)?;
                Field::Bytes(taken(&mut message, length.try_into()?)?)
            }
            kind => bail!("a field of kind {kind}, which traces of ours have not"),
        };
        found.push((key >> 3, field));
    }
    Ok(found)
}

fn varint(message: &mut &[u8]) -> Result<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let byte = taken(message, 1)?[0];
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok(number);
        }
    }
    bail!("a number of more than 64 bits")
}

fn taken<'a>(message: &mut &'a [u8], bytes: usize) -> Result<&'a [u8]> {
    let (taken, rest) = message.split_at_checked(bytes).context("the trace is cut off")?;
    *message = rest;
    Ok(taken)
}

/// The tracks of a trace, by their numbers: `Trace.packet`, its `TrackDescriptor`s and `TrackEvent`s.
fn tracks(trace: &[u8]) -> Result<BTreeMap<u64, Track>> {
    let mut tracks: BTreeMap<u64, Track> = BTreeMap::new();
    let mut open: BTreeMap<u64, Vec<(u64, String)>> = BTreeMap::new();
    for (_, packet) in fields(trace)? {
        let Field::Bytes(packet) = packet else { bail!("a packet that is none") };
        let (mut time, mut event) = (0, None);
        for (number, field) in fields(packet)? {
            match (number, field) {
                (8, Field::Number(at)) => time = at,
                (11, Field::Bytes(message)) => event = Some(message),
                (60, Field::Bytes(message)) => {
                    let (mut id, mut track) = (0, Track::default());
                    for (number, field) in fields(message)? {
                        match (number, field) {
                            (1, Field::Number(number)) => id = number,
                            (2, Field::Bytes(name)) => track.name = String::from_utf8_lossy(name).into_owned(),
                            (5, Field::Number(number)) => track.parent = Some(number),
                            _ => {}
                        }
                    }
                    tracks.insert(id, track);
                }
                _ => {}
            }
        }
        let Some(event) = event else { continue };
        let (mut kind, mut id, mut name, mut count) = (0, 0, String::new(), None);
        for (number, field) in fields(event)? {
            match (number, field) {
                (9, Field::Number(number)) => kind = number,
                (11, Field::Number(number)) => id = number,
                (23, Field::Bytes(text)) => name = String::from_utf8_lossy(text).into_owned(),
                (44, Field::Double(number)) => count = Some(number),
                _ => {}
            }
        }
        let track = tracks.get_mut(&id).context("an event of a track that was not described")?;
        match (kind, count) {
            (1, _) => open.entry(id).or_default().push((time, name)),
            (2, _) => {
                let (begin, name) = open.get_mut(&id).and_then(Vec::pop).context("an end without a beginning")?;
                track.slices.push((begin, time, name));
            }
            (4, Some(count)) => track.counts.push((time, count)),
            _ => {}
        }
    }
    Ok(tracks)
}

/// The most tracks that are drawn, unless there are more tracks above them.
const ROWS: usize = 24;
/// Where the plot begins and how wide it is.
const LEFT: f64 = 300.0;
const WIDTH: f64 = 700.0;

/// Draws a trace.
pub(super) fn drawn(trace: &[u8], title: &str) -> Result<String> {
    let tracks = tracks(trace)?;
    let name = |track: &Track| {
        let above = track.parent.and_then(|parent| tracks.get(&parent)).map(|parent| format!("{} / ", parent.name));
        above.unwrap_or_default() + &track.name
    };
    let mut rows: Vec<(String, &Track)> =
        tracks.values().filter(|track| !track.slices.is_empty() || !track.counts.is_empty()).map(|track| (name(track), track)).collect();
    // What ran on the same processor stands together, in order.
    rows.sort_by_key(|(name, track)| (track.slices.is_empty(), numbers(name), name.clone()));
    let mut labels: Vec<&str> = rows.iter().flat_map(|(_, track)| track.slices.iter().map(|slice| slice.2.as_str())).collect();
    labels.sort_unstable();
    labels.dedup();
    // Of each track above others the last ones, so that the boxes are not too small to be seen.
    let parents: BTreeSet<Option<u64>> = rows.iter().map(|(_, track)| track.parent).collect();
    let (all, most) = (rows.len(), (ROWS / parents.len().max(1)).max(1));
    let mut seen: BTreeMap<Option<u64>, usize> = BTreeMap::new();
    rows.reverse();
    rows.retain(|(_, track)| {
        let seen = seen.entry(track.parent).or_default();
        *seen += 1;
        *seen <= most
    });
    rows.reverse();
    let left_out = all - rows.len();
    let times = || {
        rows.iter()
            .flat_map(|(_, track)| track.slices.iter().flat_map(|slice| [slice.0, slice.1]).chain(track.counts.iter().map(|count| count.0)))
    };
    let (begin, end) = (times().min().context("nothing is in the trace")?, times().max().unwrap_or(0));
    ensure!(end > begin, "all of the trace is at one time");

    let x = |time: u64| LEFT + (time - begin) as f64 / (end - begin) as f64 * WIDTH;
    let height = rows.len() as f64 * LINE;
    let mut drawing = Drawing::new(LEFT + WIDTH + 20.0, height + 100.0);
    drawing.text(16.0, 26.0, "", title);
    let mut at = 16.0;
    for (number, label) in labels.iter().enumerate() {
        drawing.rectangle(&format!("box{}", number % 4), [at, 40.0, 10.0, 10.0]);
        drawing.text(at + 16.0, 49.0, "", label);
        at += 40.0 + label.chars().count() as f64 * LETTER;
    }
    let top = 62.0;
    for (row, (name, track)) in rows.iter().enumerate() {
        let y = top + row as f64 * LINE;
        drawing.text(16.0, y + 13.0, "soft", &name.chars().take(39).collect::<String>());
        drawing.line("line", [(LEFT, y + LINE), (LEFT + WIDTH, y + LINE)]);
        for (begin, end, label) in &track.slices {
            let kind = labels.iter().position(|known| known == label).unwrap_or(0) % 4;
            drawing.rectangle(&format!("box{kind}"), [x(*begin), y + 3.0, (x(*end) - x(*begin)).max(0.7), LINE - 5.0]);
        }
        let (least, most) =
            track.counts.iter().fold((f64::MAX, f64::MIN), |(least, most), (_, count)| (least.min(*count), most.max(*count)));
        let place = |count: f64| y + LINE - 2.0 - (count - least) / (most - least).max(f64::MIN_POSITIVE) * (LINE - 4.0);
        if !track.counts.is_empty() {
            drawing.line("curve", track.counts.iter().map(|(time, count)| (x(*time), place(*count))));
        }
    }
    let more = if left_out > 0 { format!("; {left_out} more tracks are in the file") } else { String::new() };
    drawing.text(LEFT, top + height + 20.0, "soft", &format!("{:.3} ms from left to right{more}", (end - begin) as f64 / 1e6));
    Ok(drawing.finish(title))
}

/// The numbers in a name, so that 10 stands behind 9.
fn numbers(name: &str) -> Vec<u64> {
    name.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(field: u8, number: u8) -> Vec<u8> {
        vec![field << 3, number]
    }

    fn bytes(field: u16, bytes: &[u8]) -> Vec<u8> {
        let key = field << 3 | 2;
        let mut message = if key < 128 { vec![key as u8] } else { vec![key as u8 | 128, (key >> 7) as u8] };
        message.push(bytes.len() as u8);
        message.extend(bytes);
        message
    }

    fn packet(time: u8, field: u16, message: &[Vec<u8>]) -> Vec<u8> {
        bytes(1, &[number(8, time), bytes(field, &message.concat())].concat())
    }

    /// A slice of a wave below its SM, and a counter.
    fn trace() -> Vec<u8> {
        [
            packet(0, 60, &[number(1, 7), bytes(2, b"SM 0")]),
            packet(0, 60, &[number(1, 8), bytes(2, b"wave 3"), number(5, 7)]),
            packet(10, 11, &[number(9, 1), number(11, 8), bytes(23, b"read")]),
            packet(30, 11, &[number(9, 2), number(11, 8)]),
            packet(0, 60, &[number(1, 9), bytes(2, b"loss")]),
            packet(20, 11, &[number(9, 4), number(11, 9), [vec![0xe1, 2], 1.5_f64.to_le_bytes().to_vec()].concat()]),
        ]
        .concat()
    }

    #[test]
    fn slices_and_counters_are_read_from_a_trace() {
        let tracks = tracks(&trace()).unwrap();
        assert_eq!(tracks[&8], Track { name: "wave 3".into(), parent: Some(7), slices: vec![(10, 30, "read".into())], counts: vec![] });
        assert_eq!(tracks[&9].counts, [(20, 1.5)]);
        let drawing = drawn(&trace(), "a trace").unwrap();
        assert!(drawing.contains(">SM 0 / wave 3</text>") && drawing.matches("class=\"box0\"").count() == 2, "{drawing}");
        assert!(drawing.contains("0.000 ms from left to right<"), "{drawing}");
    }

    #[test]
    fn a_trace_that_is_cut_off_is_an_error() {
        let trace = trace();
        assert!(tracks(&trace[..trace.len() - 1]).is_err());
        assert!(drawn(&[], "nothing").is_err());
        assert!(numbers("SM 10 / wave 3") > numbers("SM 9 / wave 30"));
    }
}
