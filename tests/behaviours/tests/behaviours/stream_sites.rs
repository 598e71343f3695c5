//! Messages that say where in the source they are from, and lines of logs whose text stays there.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use behaviours_services::{Numbered, Tiny};
use hostcall_stream::handlers::{CacheLines, Intervals, Logger};
use hostcall_stream::{Access, Interval, Level, Log, Streams, StreamsBuilder};
use hostcall_tests::{Bench, slow};
use offload::{Args, Launch};

use crate::listening::start;

const SOURCE: &str = include_str!("../../kernels/src/stream_sites.rs");

/// The line of the kernels' source that has this text.
fn line_of(text: &str) -> u32 {
    let mut lines = (1..).zip(SOURCE.lines()).filter(|(_, line)| line.contains(text));
    let (number, _) = lines.next().unwrap_or_else(|| panic!("no line has `{text}`"));
    assert!(lines.next().is_none(), "two lines have `{text}`");
    number
}

const LANES: u32 = 128;

fn run(bench: &Bench, streams: &Streams) {
    let values = bench.device.alloc::<u32>(LANES as usize).expect("memory");
    bench.launch("stream_sites", Launch::threads(LANES, 64), Args::new().slice(&values));
    bench.server.wait(&bench.queue).expect("the kernel ends");
    streams.wait(&bench.queue).expect("nothing is lost");
}

#[test]
fn messages_name_the_line_that_sent_them() {
    let bench = Bench::new(|builder| builder);
    // How many values came from each place.
    let seen: Arc<Mutex<BTreeMap<(&str, u32), u32>>> = Arc::default();
    let note = |name: &'static str| {
        let seen = seen.clone();
        move |site: u32| *seen.lock().unwrap().entry((name, site)).or_default() += 1
    };
    let (tiny, numbered, access, interval) = (note("Tiny"), note("Numbered"), note("Access"), note("Interval"));
    let streams = start(&bench, |builder| {
        builder
            .each::<Tiny>(move |origin, _| tiny(origin.site))
            .each::<Numbered>(move |origin, _| numbered(origin.site))
            .each::<Access>(move |origin, _| access(origin.site))
            .each::<Interval>(move |origin, _| interval(origin.site))
    });
    run(&bench, &streams);
    let waves = LANES / bench.device.info().wave_size;
    let mut seen: BTreeMap<(&str, u32, String), u32> = std::mem::take(&mut *seen.lock().unwrap())
        .into_iter()
        .map(|((name, number), count)| {
            let site = streams.sites().get(number);
            if let Some(site) = &site {
                assert!(site.file.ends_with("stream_sites.rs") && site.module.ends_with("stream_sites") && site.column > 1, "{site:?}");
            }
            let (line, text) = site.map_or_else(Default::default, |site| (site.line, site.text.clone()));
            ((name, line, text), count)
        })
        .collect();
    let at = |text: &str| line_of(text);
    for text in ["interval!(\"the whole", "interval!(\"a part"] {
        // Lanes that parted before may end it in several groups.
        let ends = seen.iter_mut().find(|((_, line, _), _)| *line == at(text)).map(|(_, count)| count).expect("an interval");
        assert!((waves..=LANES).contains(ends), "{ends} of {text}");
        *ends = waves;
    }
    let expected = BTreeMap::from([
        (("Tiny", at("send!(Tiny"), String::new()), LANES),
        (("Numbered", at("send_if!(lane"), String::new()), LANES / 2),
        (("Numbered", 0, String::new()), LANES),
        (("Access", at("access!(write"), String::new()), LANES),
        (("Interval", at("interval!(\"the whole"), "the whole kernel".into()), waves),
        (("Interval", at("interval!(\"a part"), "a part, {named} as it is".into()), waves),
    ]);
    assert_eq!(seen, expected);
}

#[test]
fn reports_name_places() {
    let bench = Bench::new(|builder| builder);
    let streams = start(&bench, |builder| builder.on::<Interval, _>(Intervals::default()).on::<Access, _>(CacheLines::default()));
    run(&bench, &streams);
    let reports: Vec<String> = streams.reports().iter().map(ToString::to_string).collect();
    let place = |text: &str| format!("stream_sites.rs:{}:", line_of(text));
    assert!(reports[0].contains("the whole kernel (") && reports[0].contains(&place("interval!(\"the whole")), "{}", reports[0]);
    assert!(reports[1].contains(&place("access!(write")), "{}", reports[1]);
}

#[test]
fn places_from_which_nothing_is_wanted_send_nothing() {
    let bench = Bench::new(|builder| builder);
    let count = Arc::new(Mutex::new([0; 2]));
    let (tiny, numbered) = (count.clone(), count.clone());
    let line = line_of("send!(Tiny");
    let streams = start(&bench, |builder| {
        builder
            .sites(move |site| site.line != line)
            .each::<Tiny>(move |_, _| tiny.lock().unwrap()[0] += 1)
            .each::<Numbered>(move |_, _| numbered.lock().unwrap()[1] += 1)
    });
    run(&bench, &streams);
    assert_eq!(*count.lock().unwrap(), [0, LANES + LANES / 2]);
}

/// The lines of each lane: level, line of the source, text.
type Lines = BTreeMap<u64, Vec<(Level, u32, String)>>;

/// The lines that each lane logged, in its order, and how many there were of each level.
fn logged(set_up: impl FnOnce(StreamsBuilder) -> StreamsBuilder, least: Level) -> (Lines, [u64; 5]) {
    let bench = Bench::new(|builder| builder);
    let lines: Arc<Mutex<Lines>> = Arc::default();
    let to = lines.clone();
    let wave = u64::from(bench.device.info().wave_size);
    let logger = Logger::new(move |line| {
        let lane = line.origin.group * 64 + u64::from(line.origin.wave) * wave + u64::from(line.origin.lane);
        to.lock().unwrap().entry(lane).or_default().push((line.level, line.site.line, line.text.clone()));
    });
    let streams = start(&bench, |builder| set_up(builder).on::<Log, _>(logger.least(least)));
    bench.launch("stream_log", Launch::threads(LANES, 64), Args::new().value(rounds()));
    bench.server.wait(&bench.queue).expect("the kernel ends");
    streams.wait(&bench.queue).expect("nothing is lost");
    let state = streams.state::<Log, Logger>().expect("the logger's state");
    assert_eq!(state.malformed, 0);
    (std::mem::take(&mut *lines.lock().unwrap()), state.lines)
}

fn rounds() -> u32 {
    if slow() { 3 } else { 20 }
}

#[test]
fn lines_of_a_log_are_formatted_on_the_host_as_format_would() {
    let (lines, counts) = logged(|builder| builder, Level::Trace);
    assert_eq!(lines.len() as u32, LANES);
    for (lane, lines) in lines {
        let (third, negative) = (lane as f32 / 3.0, -(lane as i64));
        let mut expected = Vec::new();
        for round in 0..rounds() {
            let line = format!("lane {lane} in round {round}: {third:.2}, {:>+6}, {0:#x}", negative);
            expected.push((Level::Info, line_of("log!(Info"), line));
            expected.push((Level::Debug, line_of("log!(Debug"), format!("{{only}} for who looks: {even}", even = lane.is_multiple_of(2))));
        }
        if lane == 3 {
            let pointer = 16 as *const u32;
            expected.push((Level::Error, line_of("log!(Error"), format!("{:?} {:e} {} {:#p}", 'x', 1234.5f64, u64::MAX, pointer)));
            expected.push((Level::Warn, line_of("log!(Warn"), "no argument".into()));
            expected.push((Level::Trace, line_of("log!(Trace"), "1 2 3 4 -5 -6 7 true".into()));
        }
        assert_eq!(lines, expected, "lane {lane}");
    }
    let each = u64::from(LANES * rounds());
    assert_eq!(counts, [1, 1, each, each, 1]);
}

#[test]
fn lines_that_are_not_important_enough_are_not_handed_on_or_not_sent() {
    let (lines, counts) = logged(|builder| builder, Level::Warn);
    assert_eq!((lines.values().map(Vec::len).sum::<usize>(), counts[3]), (2, u64::from(LANES * rounds())));
    let (lines, counts) = logged(|builder| builder.sites(|site| site.level.is_none_or(|level| level <= Level::Warn)), Level::Trace);
    assert_eq!((lines.values().map(Vec::len).sum::<usize>(), counts), (2, [1, 1, 0, 0, 0]));
}
