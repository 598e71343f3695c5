//! `cargo hostcall stream`, over the recording that the first version wrote (`hostcall-stream`'s `tests/files/v1.hcs`):
//! six messages of two values of `Loss`, and one of `Access` behind a gap.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../hostcall-stream/tests/files/v1.hcs")
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-hostcall"));
    command.args(["hostcall", "stream"]).args(arguments);
    command
}

fn stream(arguments: &[&str], file: &Path, more: &[&str]) -> Output {
    command(arguments).arg(file).args(more).output().expect("it starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[track_caller]
fn succeeded(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{}\n{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

/// The recording with something done to its bytes.
fn changed(dir: &TempDir, change: impl FnOnce(&mut Vec<u8>)) -> PathBuf {
    let mut bytes = fs::read(file()).expect("the recording");
    change(&mut bytes);
    let path = dir.path().join("changed.hcs");
    fs::write(&path, bytes).expect("written");
    path
}

#[test]
fn info_names_programs_and_streams_with_their_counts() {
    let said = succeeded(&stream(&["info"], &file(), &[]));
    assert!(said.lines().next().is_some_and(|line| line.contains(", complete; written by hostcall ")), "{said}");
    let line =
        |begins: &str| said.lines().find(|line| line.trim_start().starts_with(begins)).unwrap_or_else(|| panic!("no {begins} in {said}"));
    let words = |begins: &str| line(begins).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(words("p "), "p invented sim 3 32 2");
    assert_eq!(words("1 "), "1 Loss 8 6 12 Loss { step: u32, value: f32 }");
    assert_eq!(words("2 "), "2 Access 16 1 1 Access { address: u64, sizes: [u16; 2], kind: Kind }");
    assert_eq!(words("3 "), "3 Silent 4 0 0 Silent { never: u32 }");
    assert_eq!(words("Loss:"), "Loss: 6 messages of 12 values");
}

#[test]
fn cat_prints_values_and_head_the_first_of_them() {
    let all = succeeded(&stream(&["cat"], &file(), &[]));
    assert_eq!(all.lines().count(), 13, "{all}");
    assert!(
        all.contains("Loss launch 1023 kernel unknown group 1099511627781 wave 7 lane 3 sm 99 time 1000000 ns site 4: step=0 value=0.5\n"),
        "{all}"
    );
    let access = "Access launch 1023 kernel unknown group 1099511627781 wave 7 lane 31 sm 99 after a gap: address=18446603338368684032 sizes=[4, 8] kind=0xdeadbeef\n";
    assert!(all.contains(access), "{all}");
    let first = succeeded(&stream(&["head", "-n", "3"], &file(), &[]));
    assert_eq!(first.lines().count(), 3);
    assert!(all.starts_with(&first), "{first}");
    assert_eq!(succeeded(&stream(&["head", "-n", "0"], &file(), &[])), "");
    assert_eq!(succeeded(&stream(&["cat", "--stream", "Access"], &file(), &[])), access);
    assert_eq!(succeeded(&stream(&["cat", "--stream", "Silent"], &file(), &[])), "");
}

/// A recording of one launch of 2x3x1 workgroups of 8x4x1 lanes, whose lanes each send their number; and of one whose
/// shape nobody knows.
fn shaped(dir: &TempDir) -> PathBuf {
    use hostcall_stream::file::{Device, Program, Writer};
    use hostcall_stream::{Dispatch, Field, Header, Policy, Schema, Shape};
    let field = Field { name: "lane".into(), ty: "u32".into(), offset: 0, bytes: 4 };
    let schema = Schema { name: "Lane".into(), signature: 1, bytes: 4, policy: Policy::Block, fields: vec![field] };
    let mut writer = Writer::new(Vec::new()).expect("memory");
    let ring = writer.program(Program::new("p", Device::new(0, "invented", "sim"), 1, vec![(1, schema)])).expect("memory");
    let shape = Some(Shape { groups: [2, 3, 1], group_size: [8, 4, 1] });
    writer.dispatch(ring, 1, Dispatch::new(Some(1), Some("k")).with_shape(shape)).expect("memory");
    for (launch, groups) in [(1, 6), (2, 1)] {
        for group in 0..groups {
            let mut header = Header::decode([1 | 1 << 12, 0x7fff_ffff, 1 << 16 | launch << 21, 0, 0, 0, group, 0]).expect("a header");
            header.granules = 0;
            let values: Vec<u8> = (32 * group..32 * (group + 1)).flat_map(u32::to_le_bytes).collect();
            writer.message(ring, header, &values).expect("memory");
        }
    }
    let path = dir.path().join("shaped.hcs");
    fs::write(&path, writer.end().expect("memory")).expect("written");
    path
}

#[test]
fn the_shape_of_launches_is_said_and_by_it_lanes_are_chosen_by_their_places() {
    let dir = tempfile::tempdir().expect("a directory");
    let file = shaped(&dir);
    let said = succeeded(&stream(&["info"], &file, &[]));
    let rows: Vec<String> = said.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    assert!(
        rows.contains(&"Lane 0 k 2x3x1 8x4x1 6 192 1 1".into()) && rows.contains(&"Lane 0 unknown unknown unknown 1 32 - -".into()),
        "{said}"
    );

    // Row 2 of workgroup (1, 2), which is number 5.
    let filter = ["--filter", "Lane: group.x=1, group.y=2.., lane.y=2, lane.x=..4"];
    let output = stream(&["cat", "--format", "json"], &file, &filter);
    let lanes = |text: &str| -> Vec<u64> {
        let value =
            |line: &str| serde_json::from_str::<serde_json::Value>(line).expect("JSON")["value"]["lane"].as_u64().expect("a number");
        text.lines().map(value).collect()
    };
    assert_eq!(lanes(&succeeded(&output)), [176, 177, 178, 179]);
    let note = "1 messages are left out: the shape of their launch is unknown";
    assert!(text(&output.stderr).contains(note), "{}", text(&output.stderr));

    let stats: serde_json::Value = serde_json::from_str(&succeeded(&stream(&["stats", "--json"], &file, &filter))).expect("JSON");
    let field = &stats["tables"]["fields"][0];
    assert_eq!((&field["numbers"], &field["least"], &field["greatest"]), (&4.into(), &176.0.into(), &179.0.into()), "{stats}");
    let first = succeeded(&stream(&["head", "-n", "1", "--format", "json"], &file, &["--filter", "Lane: groups=3, lanes=0x80"]));
    assert_eq!(lanes(&first), [103]);

    let out = dir.path().join("lanes.ndjson");
    succeeded(&stream(&["convert"], &file, &[&[out.to_str().expect("text")], &filter[..]].concat()));
    assert_eq!(lanes(&fs::read_to_string(&out).expect("written")), [176, 177, 178, 179]);
    let page = dir.path().join("page.html");
    let output = stream(&["report"], &file, &[&["-o", page.to_str().expect("text")], &filter[..]].concat());
    succeeded(&output);
    let said = text(&output.stderr);
    assert!(said.contains(note) && said.contains("4 values on "), "{said}");
    assert!(fs::read_to_string(&page).expect("written").contains("group.x=1, group.y=2.."), "the page says what it is of");
}

#[test]
fn filters_that_cannot_be_kept_are_errors_that_say_what_to_write() {
    for (filter, code, says) in [
        ("Loss: rate=1/2", 1, "takes messages by chance, and a recording has what was sent: leave `rate=` out"),
        ("Lost: groups=1", 1, "there is no stream `Lost` in the recording; its streams are: Loss, Access, Silent"),
        ("Loss: group.w=1", 2, "`group.w=1` is no part of a filter: there are groups=0..8, group.x=0..8"),
        ("Loss", 2, "has no colon behind the name of a stream"),
    ] {
        for command in ["cat", "stats"] {
            let output = stream(&[command], &file(), &["--filter", filter]);
            assert_eq!(output.status.code(), Some(code), "{command} {filter}");
            assert!(text(&output.stderr).contains(says), "{command} {filter}: {}", text(&output.stderr));
        }
    }
    // Its shapes are unknown: it was written before they were.
    let output = stream(&["cat", "--stream", "Loss"], &file(), &["--filter", "Loss: lane.x=1"]);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(0), String::new()));
    assert!(text(&output.stderr).contains("6 messages are left out: the shape of their launch is unknown"), "{}", text(&output.stderr));
    assert_eq!(succeeded(&stream(&["cat", "--stream", "Loss"], &file(), &["--filter", "Loss: waves=7, lanes=0x8"])).lines().count(), 6);
}

#[test]
fn a_stream_that_is_not_there_is_an_error_with_those_that_are() {
    let output = stream(&["cat", "--stream", "Lost"], &file(), &[]);
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    assert!(said.contains("no stream `Lost`") && said.contains("Loss, Access, Silent"), "{said}");
}

#[test]
fn values_are_json_objects_a_line_each() {
    let said = succeeded(&stream(&["cat", "--format", "json"], &file(), &[]));
    let objects: Vec<serde_json::Value> = said.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(objects.len(), 13);
    let loss = objects.iter().find(|object| object["value"]["step"] == 2 && object["lane"] == 3).expect("the value");
    assert_eq!(loss["value"]["value"], 1.5);
    assert_eq!((&loss["time"], &loss["weight"], &loss["device"], &loss["program"]), (&1_001_000.into(), &4.into(), &3.into(), &"p".into()));
    let access = objects.iter().find(|object| object["stream"] == "Access").expect("the value");
    assert_eq!(access["value"], serde_json::json!({"address": 0xffff_8000_8000_1000u64, "sizes": [4, 8], "kind": "0xdeadbeef"}));
    assert_eq!((&access["time"], &access["after_gap"]), (&serde_json::Value::Null, &true.into()));
}

#[test]
fn a_table_is_of_one_stream_and_arrays_have_a_column_for_each_element() {
    let both = stream(&["cat", "--format", "csv"], &file(), &[]);
    assert_eq!(both.status.code(), Some(1));
    let said = text(&both.stderr);
    assert!(said.contains("values of `Loss` and of `Access`") && said.contains("--stream Loss"), "{said}");
    let said = succeeded(&stream(&["cat", "--format", "csv", "--stream", "Access"], &file(), &[]));
    let names = "program,device,launch,dispatch,kernel,group,wave,lane,sm,time,site,weight,after_gap,position,value.address,value.sizes.0,value.sizes.1,value.kind";
    let lines: Vec<_> = said.split_terminator("\r\n").collect();
    assert_eq!(lines[0], names);
    assert!(lines[1].ends_with(",true,4,18446603338368684032,4,8,0xdeadbeef") && lines.len() == 2, "{said}");
}

#[test]
fn statistics_are_those_of_the_values() {
    let said = succeeded(&stream(&["stats", "--json"], &file(), &[]));
    let all: serde_json::Value = serde_json::from_str(&said).expect("JSON");
    let (streams, fields) = (&all["tables"]["streams"], &all["tables"]["fields"]);
    let loss = &streams[0];
    assert_eq!((&loss["stream"], &loss["messages"], &loss["values"]), (&"Loss".into(), &6.into(), &12.into()));
    assert_eq!((&loss["ring [bytes]"], &loss["values [bytes]"], &loss["span [ms]"]), (&384.into(), &96.into(), &0.0025.into()));
    // Six in 2.5 µs.
    assert_eq!(loss["messages per second"], 2_400_000.0);
    assert_eq!(streams[1]["messages per second"], serde_json::Value::Null);
    let value = fields.as_array().expect("rows").iter().find(|row| row["field"] == "value").expect("the field");
    assert_eq!((&value["numbers"], &value["least"], &value["greatest"]), (&12.into(), &0.0.into(), &3.0.into()));
    assert!((value["mean"].as_f64().expect("a number") - 1.5).abs() < 1e-12, "{value}");
    let kind = fields.as_array().expect("rows").iter().find(|row| row["field"] == "kind").expect("the field");
    assert_eq!((&kind["numbers"], &kind["others"], &kind["mean"]), (&0.into(), &1.into(), &serde_json::Value::Null));
    let said = succeeded(&stream(&["stats"], &file(), &[]));
    assert!(said.contains("streams\n") && said.contains("fields\n") && said.contains("Silent"), "{said}");
}

#[test]
fn check_tells_a_whole_file_from_one_that_is_cut_or_damaged() {
    let dir = TempDir::new().expect("a directory");
    let said = succeeded(&stream(&["check"], &file(), &[]));
    assert!(said.contains(": whole; 7 messages in "), "{said}");
    let cut = stream(&["check"], &changed(&dir, |bytes| bytes.truncate(bytes.len() - 1)), &[]);
    assert_eq!(cut.status.code(), Some(1));
    assert!(text(&cut.stdout).contains(": not whole; 7 messages") && text(&cut.stderr).contains("cut off behind byte"), "{cut:?}");
    let damaged = changed(&dir, |bytes| {
        let middle = bytes.len() / 2;
        bytes[middle] ^= 4;
    });
    for verb in ["check", "cat", "info", "stats"] {
        let output = stream(&[verb], &damaged, &[]);
        assert_eq!(output.status.code(), Some(1), "{verb}");
        assert!(text(&output.stderr).contains("has another checksum"), "{verb}: {}", text(&output.stderr));
    }
    let none = stream(&["check"], Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml").as_path(), &[]);
    assert_eq!(none.status.code(), Some(1));
    assert!(text(&none.stderr).contains("not a recording"), "{}", text(&none.stderr));
    let nothing = stream(&["check"], &dir.path().join("nothing.hcs"), &[]);
    assert!(text(&nothing.stderr).contains("nothing.hcs") && nothing.status.code() == Some(1));
}

#[test]
fn a_file_that_is_cut_is_shown_as_far_as_it_goes() {
    let dir = TempDir::new().expect("a directory");
    let cut = changed(&dir, |bytes| bytes.truncate(bytes.len() - 40));
    let output = stream(&["cat"], &cut, &[]);
    assert_eq!(succeeded(&output).lines().count(), 13);
    assert!(
        text(&output.stderr).starts_with("note: ") && text(&output.stderr).contains("is cut off behind byte"),
        "{}",
        text(&output.stderr)
    );
    assert!(succeeded(&stream(&["info"], &cut, &[])).contains(", cut off; "));
}

#[test]
fn convert_writes_what_cat_prints_and_leaves_no_half_file() {
    let dir = TempDir::new().expect("a directory");
    let out = |name: &str| dir.path().join(name);
    let path = |path: &Path| path.to_str().expect("UTF-8").to_owned();
    let converted = stream(&["convert"], &file(), &[&path(&out("a.ndjson"))]);
    succeeded(&converted);
    assert!(text(&converted.stderr).starts_with("13 values written to "), "{}", text(&converted.stderr));
    let json = succeeded(&stream(&["cat", "--format", "json"], &file(), &[]));
    assert_eq!(fs::read_to_string(out("a.ndjson")).expect("written"), json);
    succeeded(&stream(&["convert"], &file(), &[&path(&out("a.csv")), "--stream", "Loss"]));
    let csv = succeeded(&stream(&["cat", "--format", "csv", "--stream", "Loss"], &file(), &[]));
    assert_eq!(fs::read_to_string(out("a.csv")).expect("written"), csv);
    // Two streams are no table, another format is none, and a directory that is not there has no files.
    for (name, says) in [("b.csv", "--stream Loss"), ("b.txt", "name it .ndjson, .csv, .parquet"), ("no/b.csv", "cannot write")] {
        let output = stream(&["convert"], &file(), &[&path(&out(name))]);
        assert_eq!(output.status.code(), Some(1), "{name}");
        assert!(text(&output.stderr).contains(says), "{name}: {}", text(&output.stderr));
    }
    let mut names: Vec<_> = fs::read_dir(dir.path()).expect("listed").map(|entry| entry.expect("an entry").file_name()).collect();
    names.sort();
    assert_eq!(names, ["a.csv", "a.ndjson"]);
}

#[cfg(unix)]
#[test]
fn output_that_is_closed_ends_quietly_and_a_full_disk_does_not() {
    for verb in
        [&["cat"][..], &["cat", "--format", "json"], &["cat", "--format", "csv", "--stream", "Loss"], &["info"], &["stats"], &["check"]]
    {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let output = command(verb).arg(file()).stdout(writer).stderr(Stdio::piped()).output().expect("it starts");
        assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(0), ""), "{verb:?}");
        let Ok(full) = fs::File::options().write(true).open("/dev/full") else {
            println!("not run: there is no /dev/full");
            continue;
        };
        let output = command(verb).arg(file()).stdout(full).stderr(Stdio::piped()).output().expect("it starts");
        assert_eq!(output.status.code(), Some(1), "{verb:?}");
        assert!(text(&output.stderr).contains("No space left on device"), "{verb:?}: {}", text(&output.stderr));
    }
}

#[test]
fn a_report_is_a_page_beside_the_recording_or_where_it_is_wanted() {
    let dir = tempfile::tempdir().expect("a directory");
    let page = dir.path().join("page.html");
    let written = stream(&["report"], &file(), &["-o", page.to_str().expect("text")]);
    assert_eq!(written.status.code(), Some(0), "{}", text(&written.stderr));
    let html = fs::read_to_string(&page).expect("the page");
    assert!(html.starts_with("<!doctype html>") && html.contains("Loss.value over step") && html.contains("v1.hcs"), "{html}");
    let copy = changed(&dir, |_| {});
    assert_eq!(stream(&["report"], &copy, &[]).status.code(), Some(0));
    assert!(copy.with_extension("html").is_file());
    let same = stream(&["report"], &copy, &["-o", copy.to_str().expect("text")]);
    assert_eq!((same.status.code(), fs::read(&copy).expect("still there")), (Some(1), fs::read(file()).expect("the recording")));
    assert!(text(&same.stderr).contains("would replace the recording"), "{}", text(&same.stderr));
}

#[test]
fn a_report_of_a_damaged_recording_shows_what_is_there_and_fails() {
    let dir = tempfile::tempdir().expect("a directory");
    let damaged = changed(&dir, |bytes| *bytes.last_mut().expect("bytes") ^= 1);
    let written = stream(&["report"], &damaged, &[]);
    assert_eq!(written.status.code(), Some(1));
    let html = fs::read_to_string(damaged.with_extension("html")).expect("the page");
    assert!(html.contains("This recording is not whole") && html.contains("Loss.value over step"), "{html}");
    let cut = changed(&dir, |bytes| bytes.truncate(bytes.len() - 40));
    let written = stream(&["report"], &cut, &[]);
    assert_eq!(written.status.code(), Some(0), "{}", text(&written.stderr));
    assert!(text(&written.stderr).contains("cut off"), "{}", text(&written.stderr));
    let other = dir.path().join("other");
    fs::write(&other, "something else").expect("written");
    let refused = stream(&["report"], &other, &[]);
    assert_eq!((refused.status.code(), other.with_extension("html").exists()), (Some(1), false));
}

#[test]
fn a_live_view_of_a_complete_recording_says_all_of_it_and_ends() {
    let said = succeeded(&stream(&["live", "--format", "json"], &file(), &[]));
    let lines: Vec<serde_json::Value> = said.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let last = |name: &str| lines.iter().rfind(|line| line["stream"] == name).unwrap_or_else(|| panic!("no {name} in {said}"));
    let loss = last("Loss");
    assert_eq!((&loss["messages"], &loss["values"], &loss["bytes"]), (&6.into(), &12.into(), &384.into()));
    assert_eq!((&loss["dropped"], &loss["last"]), (&0.into(), &"workgroup 1099511627781 wave 7 lane 0 step=0 value=0.0".into()));
    assert_eq!(last("Silent")["values"], 0);
    // Without a terminal it is lines.
    let said = succeeded(&stream(&["live"], &file(), &[]));
    assert!(said.lines().any(|line| line.contains("Loss: ") && line.contains(" 12 values; workgroup ")), "{said}");
}

#[test]
fn a_recording_that_is_written_meanwhile_is_followed_to_its_end() {
    let whole = fs::read(file()).expect("the recording");
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("run.hcs");
    let mut follower = command(&["live", "--format", "json", "--every", "0.02"])
        .arg(&path)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    // It waits for the file, then for its head, then for each frame.
    let mut file = fs::File::create(&path).expect("a file");
    for piece in whole.chunks(101) {
        std::io::Write::write_all(&mut file, piece).expect("written");
        std::thread::sleep(std::time::Duration::from_millis(10));
        if piece.len() == 101 {
            assert!(follower.try_wait().expect("its state").is_none(), "it ends before the recording does");
        }
    }
    let output = follower.wait_with_output().expect("it ends");
    let said = succeeded(&output);
    let values: Vec<u64> = said
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"))
        .filter(|line| line["stream"] == "Loss")
        .map(|line| line["values"].as_u64().expect("a count"))
        .collect();
    assert!(values.is_sorted() && values.last() == Some(&12), "{values:?}");
}

#[test]
fn a_live_view_of_a_damaged_recording_says_where_and_fails() {
    let dir = tempfile::tempdir().expect("a directory");
    let damaged = changed(&dir, |bytes| {
        let at = bytes.len() - 100;
        bytes[at] ^= 1;
    });
    let output = stream(&["live"], &damaged, &[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("damaged"), "{}", text(&output.stderr));
}

/// What a terminal is sent while the live view runs on it, by `script` of util-linux; `None`: there is none.
fn on_a_terminal(before: &str, keys: &str) -> Option<String> {
    let line =
        format!("stty cols 100 rows 30; {before} {} hostcall stream live {}", env!("CARGO_BIN_EXE_cargo-hostcall"), file().display());
    let mut command = Command::new("script");
    command.args(["-qec", &line, "/dev/null"]).env("TERM", "xterm-256color").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            println!("skipped: no `script`, which is a terminal for others: {error}");
            return None;
        }
    };
    let mut input = child.stdin.take().expect("it was piped");
    let keys = keys.to_owned();
    // The terminal stays open, whoever reads keys from it.
    let typing = std::thread::spawn(move || {
        std::io::Write::write_all(&mut input, keys.as_bytes()).expect("typed");
        input
    });
    let output = child.wait_with_output().expect("it ends");
    drop(typing.join());
    Some(text(&output.stdout))
}

#[test]
fn the_terminal_is_given_back_after_a_key_and_after_a_signal() {
    for (before, keys) in [("", "q"), ("timeout --foreground -s TERM 1", "")] {
        let Some(sent) = on_a_terminal(before, keys) else { return };
        let (taken, given) = (sent.find("\x1b[?1049h"), sent.rfind("\x1b[?1049l"));
        assert!(taken.is_some() && given > taken, "{before}: {sent:?}");
        assert!(sent.contains("streams") && sent.contains("Loss"), "{sent:?}");
    }
}
