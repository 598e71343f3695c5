//! `cargo hostcall demo` on the simulator, or the device in `HOSTCALL_TEST_DEVICE`, against a plain word count.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use tempfile::TempDir;

/// The device that the environment names, or the simulator.
fn device() -> String {
    std::env::var("HOSTCALL_TEST_DEVICE").unwrap_or_else(|_| "sim".into())
}

fn demo(dir: &Path) -> Command {
    let mut command = hostcall_demo(dir);
    command.args(["--device", &device()]);
    command
}

/// No device is named.
fn hostcall_demo(dir: &Path) -> Command {
    let mut command = Command::cargo_bin("cargo-hostcall").expect("the binary is built for its tests");
    command.current_dir(dir).args(["hostcall", "demo"]);
    command
}

/// What the kernel writes for these bytes: what `tr`, `sort` and `uniq -c` give, without the padding.
fn count(bytes: &[u8]) -> String {
    let mut counts: HashMap<String, u64> = HashMap::new();
    for word in bytes.split(|byte| !byte.is_ascii_alphabetic()).filter(|word| !word.is_empty()) {
        *counts.entry(String::from_utf8_lossy(word).to_ascii_lowercase()).or_default() += 1;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by(|(a, m), (b, n)| n.cmp(m).then(a.cmp(b)));
    counts.iter().map(|(word, count)| format!("{count} {word}\n")).collect()
}

/// Numbers that look random (xorshift).
fn numbers(mut seed: u64) -> impl FnMut() -> u64 {
    move || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed
    }
}

/// Counts these bytes by the demo, and compares both outputs.
fn agrees(bytes: &[u8]) {
    agrees_with(bytes, &["--device", &device(), "text"]);
}

/// The same with other arguments.
fn agrees_with(bytes: &[u8], arguments: &[&str]) {
    let dir = TempDir::new().expect("a directory");
    fs::write(dir.path().join("text"), bytes).expect("written");
    let output = hostcall_demo(dir.path()).args(arguments).output().expect("runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    let expected = count(bytes);
    let top: String = expected.lines().take(10).map(|line| line.to_owned() + "\n").collect();
    assert_eq!(String::from_utf8_lossy(&output.stdout), top, "{stderr}");
    let written = fs::read_to_string(dir.path().join("wordcount.txt")).expect("the kernel has written it");
    assert!(written == expected, "wordcount.txt differs in {} against {} bytes: {stderr}", written.len(), expected.len());
}

/// The demo must fail, with this text in its error.
fn fails(dir: &Path, arguments: &[&str], text: &str) {
    let output = demo(dir).args(arguments).output().expect("runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && output.stdout.is_empty() && stderr.contains(text), "{arguments:?}: {stderr}");
}

#[test]
fn without_a_file_the_apache_licence_is_counted() {
    let dir = TempDir::new().expect("a directory");
    let output = demo(dir.path()).output().expect("runs");
    let expected = count(include_bytes!("../../../LICENSE-APACHE"));
    assert!(expected.starts_with(&*String::from_utf8_lossy(&output.stdout)), "{output:?}");
    assert_eq!(fs::read_to_string(dir.path().join("wordcount.txt")).expect("written"), expected);
    let stderr = String::from_utf8_lossy(&output.stderr);
    let because = format!("because of --device {}", device());
    for part in ["device: ", &*because, "time: ", "Files__read_at", "Progress__read", "p99"] {
        assert!(stderr.contains(part), "no {part} in {stderr}");
    }
}

/// Words of many lengths, with what is no letter between them.
fn text(seed: u64, bytes: usize) -> Vec<u8> {
    let mut number = numbers(seed);
    let mut text = Vec::new();
    while text.len() < bytes {
        let word = number() % 3000;
        text.extend((0..1 + word % 13).map(|i| b"aeioubcdfgBCDFG"[((word >> i) % 15) as usize]));
        text.extend_from_slice([&b" "[..], b"\n", b"'", b", ", b"--"][(number() % 5) as usize]);
    }
    text
}

#[test]
fn words_that_straddle_slices_and_chunks_are_counted_whole() {
    agrees(&text(7, 700_000));
}

#[test]
fn several_devices_count_what_one_counts() {
    agrees_with(&text(5, 300_000), &["--devices", "sim*3", "text"]);
    agrees_with(&text(6, 20_000), &["--devices", "sim:lanes=64*2", "text"]);
    // One word for all of them, fewer bytes than devices, and nothing at all.
    agrees_with(&[b'w'; 200_000], &["--devices", "sim*4", "text"]);
    agrees_with(b"a b", &["--devices", "sim*7", "text"]);
    agrees_with(b"", &["--devices", "sim*2", "text"]);
}

#[test]
fn several_devices_are_told_apart_in_what_is_said() {
    let dir = TempDir::new().expect("a directory");
    let output = hostcall_demo(dir.path()).args(["--devices", "sim*2"]).output().expect("runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    assert_eq!(fs::read_to_string(dir.path().join("wordcount.txt")).expect("written"), count(include_bytes!("../../../LICENSE-APACHE")));
    assert_eq!(stderr.lines().filter(|line| line.starts_with("device: ")).count(), 2, "{stderr}");
    for part in ["because of --devices sim", "by the host", "0: sim", "1: sim", "Files__read_at"] {
        assert!(stderr.contains(part), "no {part} in {stderr}");
    }
    for (arguments, why) in [(&["--devices", "sim*0"][..], "1 to 1024"), (&["--devices", "sim", "--device", "sim"], "cannot be used with")]
    {
        let output = hostcall_demo(dir.path()).args(arguments).output().expect("runs");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && stderr.contains(why), "{arguments:?}: {stderr}");
    }
}

#[cfg(feature = "remote")]
mod remote {
    use std::process::{Child, Command, Stdio};

    use hostcall_test_support::Broker;

    use super::*;

    /// `demo --serve`, until it is dropped.
    struct Serving(Child);

    impl Serving {
        fn start(dir: &Path, place: &str, file: &str) -> Self {
            let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-hostcall"));
            command.current_dir(dir).args(["hostcall", "demo", file, "--serve", place]);
            Self(command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().expect("it starts"))
        }
    }

    impl Drop for Serving {
        fn drop(&mut self) {
            // It may have ended.
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    #[test]
    fn a_worker_of_this_process_reads_the_file() {
        agrees_with(&text(8, 100_000), &["--devices", "sim*2", "--remote", "local", "text"]);
        agrees_with(&text(9, 60_000), &["--device", "sim", "--remote", "local", "text"]);
        agrees_with(b"", &["--device", "sim", "--remote", "local", "text"]);
    }

    #[test]
    fn a_worker_of_another_process_reads_the_file() {
        let Some(broker) = Broker::start("", &[]) else { return };
        let (here, there) = (TempDir::new().expect("a directory"), TempDir::new().expect("a directory"));
        let text = text(10, 200_000);
        fs::write(there.path().join("book"), &text).expect("written");
        let _serving = Serving::start(there.path(), &broker.address(), "book");
        for devices in [["--devices", "sim*2"], ["--device", "sim"]] {
            let mut demo = hostcall_demo(here.path());
            // Where it was started: the address comes from the environment.
            let output = demo.args(devices).args(["--remote", "env"]).env("HOSTCALL_REMOTE", broker.address()).output().expect("runs");
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{devices:?}: {stderr}");
            let written = fs::read_to_string(here.path().join("wordcount.txt")).expect("written");
            assert!(written == count(&text), "{devices:?}: {stderr}");
            assert!(stderr.contains("Texts__read_at") && !stderr.contains("Files__read_at"), "{stderr}");
        }
        fails(here.path(), &["book", "--remote", &broker.address()], "--serve");
    }

    #[test]
    fn what_cannot_be_served_is_a_clear_error() {
        let dir = TempDir::new().expect("a directory");
        for (arguments, why) in [
            (&["missing", "--serve", "nats://127.0.0.1:1"][..], "cannot read missing"),
            (&["--serve", "local"], "use `--remote local`"),
            (&["--remote", "nats://127.0.0.1:1", "--device", "sim"], "nats-server"),
            (&["--serve", "local", "--device", "sim"], "cannot be used with"),
        ] {
            let output = hostcall_demo(dir.path()).args(arguments).output().expect("runs");
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert!(!output.status.success() && stderr.contains(why), "{arguments:?}: {stderr}");
        }
    }
}

#[test]
fn words_of_any_length_are_counted() {
    let mut text = Vec::new();
    for len in [1, 63, 64, 65, 4095, 4096, 4097, 8192, 300_000, 300_000, 300_001] {
        text.extend(std::iter::repeat_n(b'x', len));
        text.push(b' ');
    }
    agrees(&text);
    agrees(&vec![b'W'; 2_000_000]);
}

#[test]
fn binary_data_is_counted() {
    let mut number = numbers(11);
    agrees(&(0..400_000).map(|_| number() as u8).collect::<Vec<_>>());
}

#[test]
fn more_different_words_than_the_table_was_made_for_are_counted() {
    // Every word is new: 5 bytes each, where the first table has a slot for 64.
    let text: String = (0..26u32.pow(3)).map(|n| ["", "q"].map(|q| word_of(n) + q + " ").concat()).collect();
    agrees(text.as_bytes());
}

fn word_of(n: u32) -> String {
    (0..3).map(|place| char::from(b'a' + (n / 26u32.pow(place) % 26) as u8)).collect()
}

#[test]
fn files_without_words_give_no_lines() {
    agrees(b"");
    agrees(b"1234 \n\0");
    agrees(b"a");
}

#[test]
fn every_shape_of_device_counts_the_same() {
    let dir = TempDir::new().expect("a directory");
    let text = b"the cat and The dog and THE owl\n".repeat(500);
    fs::write(dir.path().join("text"), &text).expect("written");
    for device in ["sim:lanes=64", "sim:sms=1,waves=1", "sim:seed=5", "sim:sms=2,waves=2,threads"] {
        let output = demo(dir.path()).args(["--device", device, "text"]).output();
        let output = output.expect("runs");
        assert_eq!(String::from_utf8_lossy(&output.stdout), count(&text), "{device}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn what_cannot_be_counted_is_a_clear_error() {
    let dir = TempDir::new().expect("a directory");
    fails(dir.path(), &["missing"], "cannot read missing: No such file or directory");
    fails(dir.path(), &["."], "a directory, not a regular file");
    fails(dir.path(), &["/dev/null"], "not a regular file");
    fs::write(dir.path().join("wordcount.txt"), "precious words").expect("written");
    fails(dir.path(), &["wordcount.txt"], "would overwrite wordcount.txt");
    assert_eq!(fs::read(dir.path().join("wordcount.txt")).expect("still there"), b"precious words");
    fs::write(dir.path().join("text"), "a b c").expect("written");
    fails(dir.path(), &["text", "--output", "nowhere/x"], "cannot write nowhere/x");
    fails(dir.path(), &["text", "--device", "abacus"], "abacus");
}

#[test]
fn a_text_that_is_larger_than_the_device_is_a_clear_error() {
    let dir = TempDir::new().expect("a directory");
    let file = fs::File::create(dir.path().join("sparse")).expect("created");
    file.set_len(64 << 20).expect("sparse");
    fails(dir.path(), &["--device", "sim:memory=32m", "sparse"], "67108864 bytes asked");
}

#[cfg(unix)]
#[test]
fn a_file_without_permission_is_a_clear_error() {
    use std::os::unix::fs::PermissionsExt;
    let dir = TempDir::new().expect("a directory");
    let path: PathBuf = dir.path().join("secret");
    fs::write(&path, "a b c").expect("written");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).expect("changed");
    if fs::File::open(&path).is_ok() {
        eprintln!("skipped: this user may read everything (root)");
        return;
    }
    fails(dir.path(), &["secret"], "Permission denied");
}

#[cfg(unix)]
#[test]
fn a_symbolic_link_is_followed() {
    let dir = TempDir::new().expect("a directory");
    let other = TempDir::new().expect("a directory");
    fs::write(other.path().join("text"), "a b a").expect("written");
    std::os::unix::fs::symlink(other.path().join("text"), dir.path().join("link")).expect("linked");
    let output = demo(dir.path()).arg("link").output().expect("runs");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "2 a\n1 b\n");
}
