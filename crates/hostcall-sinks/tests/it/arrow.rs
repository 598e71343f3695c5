//! Arrow's files.

use hostcall_abi::codec::bytes;
use hostcall_abi::stream::From;
use hostcall_sinks::{Arrow, Intake};
use hostcall_stream::sink::{RawBatch, Sink};
use hostcall_stream::{Log, Schema};

use crate::support::{Loss, as_read, expected, files, give, losses, places, read, sent};

#[test]
fn a_file_appears_when_it_is_whole_and_has_every_value() {
    let dir = tempfile::tempdir().expect("a directory");
    let sink = Arrow::files(dir.path()).intake(Intake::default().rows(100)).open().expect("it opens");
    let messages = losses(50);
    give(&sink, &messages, 7);
    sink.flush();
    let path = dir.path().join("Loss.arrow");
    assert!(!path.exists(), "before the end");
    sink.finish();
    assert!(read::<Loss>(&path) == expected(&messages, 0));
    let sunk = sink.sunk();
    assert_eq!((sunk.messages, sunk.values, sunk.lost, sunk.error), (50, 1600, 0, None));
    assert_eq!(sunk.bytes, path.metadata().expect("the file").len());
}

#[test]
fn a_stream_can_be_read_as_far_as_it_was_flushed() {
    let dir = tempfile::tempdir().expect("a directory");
    let sink = Arrow::streams(dir.path()).open().expect("it opens");
    let messages = losses(20);
    for (half, count) in messages.chunks(10).zip([10, 20]) {
        give(&sink, half, 3);
        sink.flush();
        assert_eq!((sink.sunk().messages, read::<Loss>(dir.path()).len()), (count, 32 * count as usize));
    }
    sink.finish();
    assert!(read::<Loss>(&dir.path().join("Loss.arrows")) == expected(&messages, 0));
    assert_eq!(sink.sunk().messages, 20);
}

#[test]
fn a_device_that_is_full_is_told_and_every_message_is_counted_as_lost() {
    let full = std::path::Path::new("/dev/full");
    if !full.exists() || !cfg!(target_os = "linux") {
        println!("not run: there is no /dev/full");
        return;
    }
    let dir = tempfile::tempdir().expect("a directory");
    std::os::unix::fs::symlink(full, dir.path().join("Loss.arrows")).expect("a link");
    let sink = Arrow::streams(dir.path()).intake(Intake::default().rows(32)).open().expect("it opens");
    give(&sink, &losses(50), 7);
    sink.flush();
    give(&sink, &losses(5), 7);
    sink.finish();
    let sunk = sink.sunk();
    assert_eq!((sunk.messages, sunk.lost), (0, 55));
    let error = sunk.error.expect("an error");
    assert_eq!(error.kind, std::io::ErrorKind::StorageFull);
    assert!(error.to_string().contains("make room, or write to another place"), "{error}");
}

#[test]
fn places_are_in_a_file_beside_whole_files_and_streams() {
    for (sink, name) in [(Arrow::files as fn(_) -> _, "Loss.arrow"), (Arrow::streams, "Loss.arrows")] {
        let dir = tempfile::tempdir().expect("a directory");
        let sink = sink(dir.path().to_owned()).open().expect("it opens");
        let sites = places();
        sink.begin(&sites);
        give(&sink, &losses(3), 2);
        sink.flush();
        assert_eq!(hostcall_sinks::sites(dir.path()).expect("a table"), as_read(&sites));
        sites.insert(10, crate::support::place("matmul"));
        sink.finish();
        assert_eq!(files(dir.path()), [name, "_sites.arrow"]);
        assert_eq!(hostcall_sinks::sites(dir.path()).expect("a table"), as_read(&sites));
        assert_eq!(read::<Loss>(dir.path()).len(), 96);
    }
}

/// Streams of names that are paths, of names that a sink has for itself, and of names of which one word is left.
#[test]
fn a_stream_s_name_leads_nowhere() {
    let outside = tempfile::tempdir().expect("a directory");
    let dir = outside.path().join("inside");
    let sink = Arrow::files(&dir).open().expect("it opens");
    let absolute = outside.path().join("absolute").display().to_string();
    let long = "x".repeat(400);
    let names = ["../x", "..", ".", "", "a/b", "a_b", "_sites", "C:\\x", "nul\0", &long, &absolute];
    for (signature, name) in (1..).zip(names) {
        let schema = Schema { name: name.into(), signature, ..Schema::of::<Loss>() };
        let mut inlet = sink.inlet(&schema);
        for message in losses(1) {
            inlet.take(&RawBatch::new(&[message.head], bytes(&message.values), schema.bytes));
        }
    }
    sink.finish();
    let sunk = sink.sunk();
    assert_eq!((sunk.messages, sunk.lost, sunk.error), (names.len() as u64, 0, None));
    let all = files(outside.path());
    let streams: Vec<&String> = all.iter().filter(|file| !file.ends_with("/_sites.arrow")).collect();
    assert_eq!(streams.len(), names.len(), "{all:?}");
    assert!(streams.iter().all(|file| file.starts_with("inside/") && file.matches('/').count() == 1), "{all:?}");
    for name in ["___x", "a_b", "a_b-0000000000000006", "_sites-0000000000000007", "nul_u_0_"] {
        assert!(streams.contains(&&format!("inside/{name}.arrow")), "{name} of {all:?}");
    }
}

#[test]
fn a_line_of_a_log_has_its_text_beside_the_units_that_it_is_made_of() {
    use arrow_array::{Array as _, cast::AsArray as _};
    let dir = tempfile::tempdir().expect("a directory");
    let sink = Arrow::files(dir.path()).open().expect("it opens");
    sink.begin(&places());
    // Site 9 is "step {0:}"; an unsigned argument of each of two lanes. Site 8 is not known.
    let mut units = (0..).map(|unit| Log {
        unit: if unit % 3 == 0 {
            1
        } else if unit % 3 == 1 {
            40 + unit / 3
        } else {
            0
        },
    });
    let lines = [9, 8].map(|site| sent(0b101, 3, From::default(), None, site, || units.next().expect("endless")));
    give(&sink, &lines, 2);
    sink.finish();
    let file = std::fs::File::open(dir.path().join("Log.arrow")).expect("a file");
    let tables = arrow_ipc::reader::FileReader::try_new(file, None).expect("Arrow");
    let texts: Vec<Option<String>> = tables
        .flat_map(|table| {
            let table = table.expect("a table");
            let texts = table.column_by_name("text").expect("the column").as_string::<i32>().clone();
            (0..texts.len()).map(|row| texts.is_valid(row).then(|| texts.value(row).to_owned())).collect::<Vec<_>>()
        })
        .collect();
    let mut expected = vec![None; 12];
    (expected[0], expected[3]) = (Some("step 40".into()), Some("step 41".into()));
    assert_eq!(texts, expected);
}
