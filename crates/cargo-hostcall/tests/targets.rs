//! `cargo hostcall run --stream` on the simulator, with a kernel of `fixtures/ends` whose lanes send numbers: which
//! messages are wanted, and where they go. What is behind features of the command line is tested in builds with them
//! (`cargo xtask test`).

use std::path::Path;
use std::process::{Command, Output};

const ENDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/ends");

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn hostcall() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-hostcall"));
    command.arg("hostcall");
    command
}

/// 16 workgroups of two waves, whose lanes send so many numbers each.
fn sends(options: &[&str], numbers: u32) -> Command {
    let mut command = hostcall();
    command.args(["run", "--device", "sim", "--grid", "16", "--block", "64"]).args(options).args([ENDS, "sends"]).arg(numbers.to_string());
    command
}

#[track_caller]
fn succeeded(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{}\n{}", text(&output.stdout), text(&output.stderr));
    text(&output.stderr)
}

#[test]
fn a_run_that_is_ended_says_what_has_come() {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("run.hcs");
    let mut ended = hostcall();
    ended.args(["run", "--device", "sim", "--block", "4", "--timeout", "3", "--stream"]).arg(&file).args([ENDS, "sends_and_hangs"]);
    let output = ended.output().expect("it starts");
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(124), "{said}");
    assert!(said.contains(" messages of 4 values"), "{said}");
    assert!(said.contains("is unknown: the device was lost, or a kernel was ended"), "{said}");
}

/// The values of a recording of numbers, as JSON; and what the run said.
fn recorded(filters: &[&str], numbers: u32) -> (Vec<serde_json::Value>, String) {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("run.hcs");
    let file = file.to_str().expect("text");
    let mut options = vec!["--stream", file];
    filters.iter().for_each(|filter| options.extend(["--stream-filter", filter]));
    let said = succeeded(&sends(&options, numbers).output().expect("it starts"));
    let output = hostcall().args(["stream", "cat", "--format", "json", file]).output().expect("it starts");
    succeeded(&output);
    (text(&output.stdout).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect(), said)
}

fn of<'a>(values: &'a [serde_json::Value], stream: &str) -> Vec<&'a serde_json::Value> {
    values.iter().filter(|value| value["stream"] == stream).collect()
}

fn number(value: &serde_json::Value, key: &str) -> u64 {
    value[key].as_u64().unwrap_or_else(|| panic!("no {key} in {value}"))
}

#[test]
fn only_workgroups_and_lanes_that_are_wanted_send() {
    let (values, _) = recorded(&["Sample: groups=0..8, lanes=0xff"], 3);
    let samples = of(&values, "Sample");
    assert_eq!(samples.len(), 8 * 2 * 8 * 3);
    assert!(samples.iter().all(|value| number(value, "group") < 8 && number(value, "lane") < 8), "{samples:?}");
    // Other streams are whole.
    assert!(of(&values, "Interval").len() >= 32 && of(&values, "Log").len() == 1, "{values:?}");
}

#[test]
fn a_stream_of_which_nothing_is_wanted_sends_nothing_and_others_do() {
    let (values, said) = recorded(&["Sample: none", "Interval: lanes=0"], 3);
    assert_eq!((of(&values, "Sample").len(), of(&values, "Interval").len(), of(&values, "Log").len()), (0, 32, 1), "{said}");
}

#[test]
fn of_messages_one_is_sent_that_stands_for_as_many_as_was_said_and_the_others_are_counted() {
    let (values, said) = recorded(&["Sample: rate=1/4"], 100);
    let samples = of(&values, "Sample");
    assert!(samples.iter().all(|value| number(value, "weight") == 4), "{said}");
    let (messages, all) = (samples.len() / 32, 16 * 2 * 100);
    assert!(messages > 0 && messages < all, "{messages} of {all}");
    assert!(said.contains(&format!("Sample: {messages} messages of {} values, {} filtered", samples.len(), all - messages)), "{said}");
}

#[test]
fn a_filter_of_a_stream_that_the_program_has_not_is_refused_with_those_that_it_has() {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("run.hcs");
    let output = sends(&["--stream", file.to_str().expect("text"), "--stream-filter", "Sampel: none"], 1).output().expect("it starts");
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    assert!(said.contains("error: --stream-filter Sampel: none: the program has no stream `Sampel`; its streams are: "), "{said}");
    assert!(["Interval", "Log", "Sample"].iter().all(|name| said.contains(name)) && !file.exists(), "{said}");
}

#[test]
fn a_filter_that_is_none_is_refused_with_its_bad_part_and_one_without_a_place_too() {
    let output = sends(&["--stream", "run.hcs", "--stream-filter", "Sample: groups=0..8, lane=3"], 1).output().expect("it starts");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("`lane=3` is no part of a filter: there are groups="), "{}", text(&output.stderr));
    let output = sends(&["--stream-filter", "Sample: none"], 1).output().expect("it starts");
    assert!(output.status.code() == Some(2) && text(&output.stderr).contains("--stream <TARGET>"), "{}", text(&output.stderr));
}

#[test]
fn two_recordings_of_one_run_and_an_unknown_place_are_refused() {
    let output = sends(&["--stream", "one.hcs", "--stream", "two.hcs"], 1).output().expect("it starts");
    assert!(output.status.code() == Some(1) && text(&output.stderr).contains("two.hcs` are two recordings"), "{}", text(&output.stderr));
    let output = sends(&["--stream", "kafka://host/topic"], 1).output().expect("it starts");
    assert!(output.status.code() == Some(2) && text(&output.stderr).contains("nobody writes to `kafka://`"), "{}", text(&output.stderr));
}

#[cfg(not(feature = "sinks"))]
#[test]
fn a_command_line_without_sinks_says_how_to_get_one_with_them() {
    for (url, feature) in [("parquet://run", "sinks"), ("s3://bucket/run", "s3"), ("nats://host/run", "nats")] {
        let output = sends(&["--stream", url], 1).output().expect("it starts");
        assert_eq!(output.status.code(), Some(2));
        let said = text(&output.stderr);
        assert!(
            said.contains(&format!("cannot write to `{url}`: install it with `cargo install cargo-hostcall --features {feature}`")),
            "{said}"
        );
        let recording = Path::new(env!("CARGO_MANIFEST_DIR")).join("../hostcall-stream/tests/files/v1.hcs");
        let output = hostcall().args(["stream", "convert"]).arg(recording).arg(url).output().expect("it starts");
        assert!(
            output.status.code() == Some(1) && text(&output.stderr).contains(&format!("--features {feature}`")),
            "{}",
            text(&output.stderr)
        );
    }
}

#[cfg(feature = "sinks")]
mod sinks {
    use super::*;

    /// As the kernel's source has it.
    #[hostcall::stream]
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[repr(C)]
    pub(crate) struct Sample {
        number: u32,
        lane: u32,
    }

    /// That each lane's numbers are there once, and in order.
    fn check(mut values: Vec<Sample>, numbers: u32) {
        values.sort_by_key(|value| value.lane);
        let expected = (0..16 * 64).flat_map(|lane| (0..numbers).map(move |number| Sample { number, lane })).collect::<Vec<_>>();
        assert!(values == expected, "{} values", values.len());
    }

    fn kept(path: &Path, numbers: u32) {
        let rows = hostcall_sinks::open::<Sample>(path).expect("files of the stream");
        check(rows.flat_map(|rows| rows.expect("they are whole").values).collect(), numbers);
        let places = hostcall_sinks::sites(path).expect("their places");
        let texts: Vec<_> = places.values().map(|site| site.text.as_str()).filter(|text| !text.is_empty()).collect();
        assert!(texts.contains(&"sending") && texts.contains(&"{0:} numbers sent"), "{texts:?}");
        assert!(places.values().all(|site| site.file.ends_with("streams.rs")), "{places:?}");
    }

    #[test]
    fn messages_go_to_several_places_at_once_and_all_is_said_that_is_kept() {
        let dir = tempfile::tempdir().expect("a directory");
        let at = |name: &str| dir.path().join(name);
        let [parquet, arrow, trace, file, hcs] =
            ["p", "a", "run.pftrace", "f", "run.hcs"].map(|name| at(name).to_str().expect("text").to_owned());
        let targets = [
            format!("parquet://{parquet}"),
            format!("arrow://{arrow}"),
            format!("perfetto://{trace}"),
            format!("file://{file}"),
            hcs.clone(),
        ];
        let options: Vec<&str> = targets.iter().flat_map(|target| ["--stream", target]).collect();
        let said = succeeded(&sends(&options, 5).output().expect("it starts"));
        for dir in ["p", "a", "f"] {
            kept(&at(dir), 5);
        }
        // Of `Sample`, `Log` and `Interval`: of these a wave sends one, or several if its lanes have parted.
        let counts = [&parquet, &arrow, &trace].map(|place| {
            let line =
                said.lines().find(|line| line.contains(&format!("values in `{place}`"))).unwrap_or_else(|| panic!("no {place} in {said}"));
            line.split(' ').next().and_then(|word| word.parse::<u32>().ok()).unwrap_or_else(|| panic!("no count in {line}"))
        });
        assert!(counts[0] >= 32 * 5 + 1 + 32 && counts == [counts[0]; 3], "{said}");
        let names = String::from_utf8_lossy(&std::fs::read(&trace).expect("a trace")).into_owned();
        assert!(names.contains("sending") && names.contains("5 numbers sent") && names.contains("streams.rs"));
        // What was recorded becomes the same.
        for (url, name) in [(format!("parquet://{}", at("p2").display()), "p2"), (format!("arrow://{}", at("a2").display()), "a2")] {
            let output = hostcall().args(["stream", "convert", &hcs, &url]).output().expect("it starts");
            succeeded(&output);
            kept(&at(name), 5);
        }
        // There is something now.
        let output = sends(&["--stream", &targets[0]], 1).output().expect("it starts");
        assert!(output.status.code() == Some(1) && text(&output.stderr).contains("there is `stream="), "{}", text(&output.stderr));
        let output = sends(&["--stream", &targets[0], "--stream", &targets[0]], 1).output().expect("it starts");
        assert!(output.status.code() == Some(1) && text(&output.stderr).contains("was given twice"), "{}", text(&output.stderr));
    }

    #[test]
    fn a_sink_that_is_not_whole_at_the_end_fails_the_run() {
        let dir = tempfile::tempdir().expect("a directory");
        // Nothing can have this name at the end.
        std::fs::create_dir_all(dir.path().join("Sample.arrow/taken")).expect("a directory");
        let target = format!("arrow://{}", dir.path().display());
        let output = sends(&["--stream", &target], 5).output().expect("it starts");
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("messages are lost to it: cannot write to `") && said.contains("write to another place"), "{said}");
        // A run that was ended keeps what has come, and says so.
        let target = format!("parquet://{}", dir.path().join("parquet").display());
        let mut ended = hostcall();
        ended.args(["run", "--device", "sim", "--timeout", "0.5", "--stream", &target, ENDS, "hangs"]);
        let output = ended.output().expect("it starts");
        assert_eq!(output.status.code(), Some(124), "{}", text(&output.stderr));
        assert!(text(&output.stderr).contains("0 messages of 0 values in `"), "{}", text(&output.stderr));
    }

    #[cfg(feature = "nats")]
    #[test]
    fn messages_go_to_a_server_of_nats_while_it_runs_and_from_a_recording() {
        use hostcall_sinks::nats::async_nats;
        let Some(broker) = hostcall_test_support::Broker::with_jetstream("") else { return };
        let dir = tempfile::tempdir().expect("a directory");
        let hcs = dir.path().join("run.hcs");
        let hcs = hcs.to_str().expect("text");
        let said =
            succeeded(&sends(&["--stream", &format!("{}/lab.live", broker.address()), "--stream", hcs], 5).output().expect("it starts"));
        assert!(said.contains("values in `lab.live.>` of NATS at 127.0.0.1:"), "{said}");
        let output = hostcall().args(["stream", "convert", hcs, &format!("{}/lab_later", broker.address())]).output().expect("it starts");
        succeeded(&output);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        for (stream, subject) in [("lab_live", "lab.live.Sample"), ("lab_later", "lab_later.Sample")] {
            let values = runtime.block_on(async {
                let client = async_nats::connect(broker.address()).await.expect("a connection");
                let mut stream = async_nats::jetstream::new(client).get_stream(stream).await.expect("the stream");
                let last = stream.info().await.expect("what it has").state.last_sequence;
                let mut values = Vec::new();
                for sequence in 1..=last {
                    let message = stream.get_raw_message(sequence).await.expect("a message");
                    if message.subject.as_str() == subject {
                        values.extend(hostcall_sinks::decode::<Sample>(&message.payload).expect("a table").values);
                    }
                }
                values
            });
            check(values, 5);
        }
        let output = sends(&["--stream", "nats://127.0.0.1:1/run"], 1).output().expect("it starts");
        assert!(output.status.code() == Some(1) && text(&output.stderr).contains("of NATS at 127.0.0.1:1: "), "{}", text(&output.stderr));
    }

    #[cfg(feature = "s3")]
    #[test]
    fn messages_go_to_s3_by_the_credentials_of_the_environment() {
        let bucket = hostcall_test_support::Bucket::start();
        let run = |numbers| {
            let mut command = sends(&["--stream", "s3://runs/a/b"], numbers);
            command.envs(bucket.environment()).output().expect("it starts")
        };
        let said = succeeded(&run(5));
        assert!(said.contains("values in `s3://runs/a/b`"), "{said}");
        let dir = tempfile::tempdir().expect("a directory");
        bucket.fetch("a/b", dir.path());
        kept(&dir.path().join("a/b"), 5);
        let again = run(5);
        assert!(again.status.code() == Some(1) && text(&again.stderr).contains("there is `stream="), "{}", text(&again.stderr));
    }
}
