//! Pages of recordings: what is on them, and what never is.

mod support;

use hostcall_abi::stream::Header;
use hostcall_stream::file::{Device, Program, Writer};
use hostcall_stream::{Interval, Policy, Schema, Site};
use proptest::prelude::*;
use support::{field, header, page, run, schema};

#[test]
fn a_page_has_a_plot_with_a_table_of_everything_that_was_recorded() {
    let page = page(&run(256));
    for title in [
        "Rates",
        "Accesses by address and time",
        "Cache-line use by place",
        "Bank conflicts by place",
        "What ran when",
        "How long they took",
        "Loss.value over step",
        "Distribution of Loss.norm",
        "Distribution of Latency.nanoseconds",
        "Messages by place",
    ] {
        assert_eq!(page.matches(&format!("<h3><bdi>{title}</bdi></h3>")).count(), 1, "{title}");
    }
    let figures = page.matches("<figure").count();
    assert_eq!(page.matches("<details><summary>Table</summary>").count(), figures, "each plot has its table");
    assert!(page.contains("Silent") && !page.contains("Distribution of Silent"));
    // 256 waves: 12 accesses of 32 lanes, 3 intervals, 32 losses and a latency each.
    assert!(page.contains("<b>4.35</b><span class=\"unit\">k</span>") && page.contains("12 dropped"), "messages and losses");
    assert!(!page.contains("This recording is not whole"));
    assert!(page.len() < 1 << 20, "{} bytes", page.len());
}

#[test]
fn figures_are_those_of_the_ready_handlers() {
    let page = page(&run(64));
    // Rows need every byte of the sectors that they touch, columns 4 of 32.
    assert!(page.contains("<bdi>site 3</bdi>") && page.contains("<bdi>12.5</bdi>") && page.contains("<bdi>100</bdi>"));
    // A column of 32 words: 31 cycles too many.
    assert!(page.contains("site 10, read\\n1\u{202f}984 cycles too many in 64 accesses\\nat worst 32 cycles at once"), "{page}");
}

#[test]
fn a_stream_of_one_message_has_a_rate_over_the_whole_time_or_none() {
    let streams = || vec![(1, schema("Often", &[("value", "u32", 4)])), (2, schema("Once", &[("value", "u32", 4)]))];
    let recording = |often: u64| {
        let mut writer = Writer::new(Vec::new()).expect("memory");
        let ring = writer.program(Program::new("p", Device::new(0, "d", "sim"), 1, streams())).expect("memory");
        (0..often).for_each(|i| writer.message(ring, header(1, Some(1000 * i)), &[0; 128]).expect("memory"));
        writer.message(ring, header(2, Some(500_000)), &[0; 128]).expect("memory");
        page(&writer.end().expect("memory"))
    };
    // 32 values in each of 1000 microseconds, and once 32: nothing is a billion a second.
    let both = recording(1000);
    assert!(both.contains("<bdi>Rates</bdi>") && !both.contains("\u{202f}G"), "{both}");
    assert!(!recording(0).contains("<bdi>Rates</bdi>"), "one message has no rate");
}

#[test]
fn intervals_without_labels_are_called_by_their_places_in_every_plot() {
    let mut program = Program::new("p", Device::new(0, "d", "sim"), 1, vec![(1, Schema::of::<Interval>())]);
    let site = |text: &str| Site {
        file: "a.rs".into(),
        line: 7,
        column: 9,
        module: "a".into(),
        level: None,
        text: text.into(),
        kernel: "".into(),
    };
    program.sites = vec![(1, site("load")), (2, site("compute"))];
    let mut writer = Writer::new(Vec::new()).expect("memory");
    let ring = writer.program(program).expect("memory");
    for i in 0..20u64 {
        let interval = Interval { start: 1000 * i, end: 1000 * i + 700, label: 0, detail: 0 };
        let one = Header { mask: 1, site: 1 + (i % 2) as u32, ..header(1, Some(interval.end)) };
        writer.message(ring, one, hostcall_abi::codec::bytes(&[interval])).expect("memory");
    }
    let page = page(&writer.end().expect("memory"));
    assert!(page.contains("What ran when") && !page.contains("label 0"), "{page}");
    assert!(page.contains("load (a.rs:7:9): 700"), "a part of the timeline: {page}");
}

#[test]
fn words_of_a_recording_never_become_markup() {
    let hostile = [
        "<script>alert(1)</script>",
        "\"><img src=x onerror=alert(1)>",
        "' onmouseover='alert(1)",
        "</script><script>alert(1)</script>",
        "</title></style><svg onload=alert(1)>",
        "{{ 7 * 7 }}{% include \"x\" %}",
        "&lt;b&gt;",
        "javascript:alert(1)",
        "<!--",
        "]]>",
    ];
    for text in hostile {
        let fields = vec![field(text, "u32", 0, 4), field("b", text, 4, 4), field("step", "u32", 8, 4)];
        let schema = Schema { name: text.into(), signature: 1, bytes: 12, policy: Policy::Block, fields };
        let mut writer = Writer::new(Vec::new()).expect("memory");
        let ring = writer.program(Program::new(text, Device::new(0, text, text), 1, vec![(1, schema)])).expect("memory");
        for step in 0..9u32 {
            let values: Vec<u8> = (0..32u32).flat_map(|lane| [lane, 1, step].map(u32::to_le_bytes).concat()).collect();
            let one = hostcall_abi::stream::Header { site: 3, ..header(1, Some(u64::from(step) * 100)) };
            writer.message(ring, one, &values).expect("memory");
        }
        let bytes = writer.end().expect("memory");
        let plain = page(&bytes);
        let reader = hostcall_stream::file::Reader::new(&bytes[..]).expect("a recording");
        let titled = hostcall_report::Digest::read(reader).to_html(text);
        for page in [plain, titled] {
            let mut rest = page.as_str();
            // The page's own: one style, one script, none of whose text comes from the recording.
            assert_eq!(
                (page.matches("<script").count(), page.matches("</script").count(), page.matches("<style").count()),
                (1, 1, 1),
                "{text}"
            );
            while let Some(at) = rest.find('<') {
                rest = &rest[at + 1..];
                let tag: String = rest.chars().take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '/' | '!')).collect();
                const TAGS: &[&str] = &[
                    "a",
                    "b",
                    "bdi",
                    "body",
                    "code",
                    "dd",
                    "details",
                    "div",
                    "dl",
                    "dt",
                    "fieldset",
                    "figcaption",
                    "figure",
                    "footer",
                    "g",
                    "h1",
                    "h2",
                    "h3",
                    "head",
                    "header",
                    "html",
                    "i",
                    "input",
                    "label",
                    "legend",
                    "li",
                    "link",
                    "main",
                    "meta",
                    "nav",
                    "p",
                    "path",
                    "rect",
                    "script",
                    "section",
                    "small",
                    "span",
                    "strong",
                    "style",
                    "summary",
                    "svg",
                    "table",
                    "tbody",
                    "td",
                    "th",
                    "thead",
                    "title",
                    "tr",
                    "ul",
                    "!doctype",
                ];
                let code = rest.starts_with(' ') || rest.starts_with('=') || rest.starts_with('4') || tag.is_empty();
                assert!(code || TAGS.contains(&tag.trim_start_matches('/')), "<{tag} of {text}");
            }
            assert!(!page.contains("49") || !text.contains("7 * 7") || !page.contains("<bdi>49</bdi>"), "a template in a name is run");
        }
    }
}

#[test]
fn an_empty_recording_is_a_page_that_says_so() {
    let bytes = Writer::new(Vec::new()).and_then(Writer::end).expect("memory");
    let page = page(&bytes);
    assert!(page.contains("There are no messages in this recording.") && !page.contains("This recording is not whole"));
}

#[test]
fn a_recording_that_is_cut_or_damaged_is_a_page_of_what_is_there_with_the_reason() {
    let whole = run(128);
    let cut = page(&whole[..whole.len() * 2 / 3]);
    assert!(
        cut.contains("This recording is not whole") && cut.contains("it is cut off behind byte") && cut.contains("Loss.value over step")
    );
    let mut damaged = whole.clone();
    let at = whole.len() * 2 / 3;
    damaged[at] ^= 0xff;
    let damaged = page(&damaged);
    assert!(
        damaged.contains("This recording is not whole")
            && damaged.contains("the recording is damaged")
            && damaged.contains("Loss.value over step")
    );
    assert!(page(b"GIF89a").contains("not a recording"));
    assert!(page(&[]).contains("This recording is not whole"));
}

#[test]
fn many_streams_and_fields_with_long_names_are_a_page_of_bounded_size() {
    let long = "n".repeat(20_000);
    let fields: Vec<_> = (0..31).map(|i| field(&format!("{i}{long}"), "f32", 4 * i, 4)).collect();
    let schema =
        |i: u32| Schema { name: format!("{i}{long}").into(), signature: 1, bytes: 124, policy: Policy::Block, fields: fields.clone() };
    let streams: Vec<_> = (1..=4).map(|i| (i, schema(i))).collect();
    let mut writer = Writer::new(Vec::new()).expect("memory");
    let ring = writer.program(Program::new(long.clone(), Device::new(0, long.clone(), "sim"), 1, streams)).expect("memory");
    let mut random = support::Random(1);
    for i in 0..2000 {
        let values: Vec<u8> = (0..31 * 32).flat_map(|_| (random.next() as u32).to_le_bytes()).collect();
        writer.message(ring, header(1 + i % 4, Some(random.below(1 << 57))), &values).expect("memory");
    }
    let page = page(&writer.end().expect("memory"));
    assert!(page.len() < 5 << 20, "{} bytes", page.len());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_values_at_any_time_are_a_page(
        rows in prop::collection::vec((any::<u64>(), any::<[u32; 6]>(), 1..4u32, any::<u32>(), any::<bool>()), 0..40)
    ) {
        let mut writer = Writer::new(Vec::new()).expect("memory");
        let mut streams = support::streams();
        streams[2].1 = schema("Any", &[("step", "u64", 8), ("one", "f64", 8), ("two", "[i16; 4]", 8)]);
        let ring = writer.program(Program::new("p", Device::new(0, "d", "sim"), 1, streams)).expect("memory");
        for (time, words, stream, place, timed) in rows {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            let value = &bytes[..if stream == 1 { 8 } else { 24 }];
            let from = hostcall_abi::stream::From { group: time, wave: place & 31, sm: place & 0x3ff, launch: place & 0x3ff };
            let time = timed.then_some(time >> 7);
            let one = hostcall_abi::stream::Header { mask: 2, site: place & 0xffff, from, ..header(stream, time) };
            writer.message(ring, one, value).expect("memory");
        }
        let page = page(&writer.end().expect("memory"));
        prop_assert!(page.ends_with("</html>") || page.ends_with("</html>\n"));
        for word in ["NaN", "inf", "-0 "] {
            prop_assert!(!page.split("<svg").skip(1).any(|svg| svg.split("</svg>").next().is_some_and(|svg| svg.contains(word))), "{}", word);
        }
    }
}
