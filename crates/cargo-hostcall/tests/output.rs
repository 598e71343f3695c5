//! Standard output that nobody reads any more, or that is full: programs learn of it as they do on this machine. On the
//! simulator.

mod support;

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use support::package::{Package, command, succeeded};

const MAIN: &str = r#"
use std::io::{self, Write};

/// C's `struct pollfd`.
#[repr(C)]
struct PollFd {
    fd: i32,
    events: i16,
    revents: i16,
}

unsafe extern "C" {
    fn poll(fds: *mut PollFd, count: u64, millis: i32) -> i32;
}

fn main() -> io::Result<()> {
    let mut out = io::stdout();
    match std::env::args().nth(1).as_deref() {
        Some("println") => loop {
            println!("line");
        },
        Some("returns") => loop {
            writeln!(out, "line")?;
        },
        Some("blocks") => loop {
            out.write_all(&[b'\n'; 100_000])?;
        },
        Some("is quiet") => while writeln!(out, "line").is_ok() {},
        Some("flushes") => {
            write!(out, "part")?;
            out.flush()?;
        }
        Some("one") => println!("line"),
        Some("waits") => {
            println!("line");
            out.flush()?;
            let mut asked = PollFd { fd: 1, events: 0, revents: 0 };
            // SAFETY: one entry, and it lives.
            let count = unsafe { poll(&mut asked, 1, -1) };
            return Err(io::Error::other(format!("{count}: {:#x}", asked.revents)));
        }
        _ => {}
    }
    Ok(())
}
"#;

/// How it ended: the exit code, and what `main` returned or the panic said.
#[derive(Debug, PartialEq)]
struct Ended {
    code: Option<i32>,
    why: String,
}

impl Ended {
    fn of(child: Child) -> (Ended, String) {
        let output = child.wait_with_output().expect("it ends");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let why = said.lines().filter(|line| line.starts_with("Error: ") || line.starts_with("failed printing")).collect();
        (Ended { code: output.status.code(), why }, said)
    }
}

/// Ends reading after a line.
fn read_one_line(mut command: Command) -> (Ended, String) {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut line = String::new();
    BufReader::with_capacity(10, child.stdout.take().expect("piped")).read_line(&mut line).expect("a line");
    Ended::of(child)
}

fn into_full(mut command: Command) -> (Ended, String) {
    let full = File::options().write(true).open("/dev/full").expect("every Linux has it");
    Ended::of(command.stdout(full).stderr(Stdio::piped()).spawn().expect("it starts"))
}

/// The program on this machine, and everywhere else.
fn everywhere(package: &Package, here: &Path, mode: &str) -> (Command, Vec<Command>) {
    let mut native = Command::new(here);
    native.arg(mode);
    let image = package.image().display().to_string();
    let start = |arguments: &[&str]| command(package.path(), &[arguments, &[mode]].concat());
    let all = vec![
        start(&["run", "-q", "--device", "sim", "--"]),
        start(&["run", "-q", "--device", "sim:threads", "--"]),
        start(&["exec", "-q", "--device", "sim", "--", &image]),
        start(&["exec", "-q", "--device", "sim:threads", "--", &image]),
    ];
    (native, all)
}

fn package() -> Option<(Package, std::path::PathBuf)> {
    let package = Package::new("", &[("src/main.rs", MAIN)])?;
    succeeded(&package.hostcall(&["run", "-q", "--device", "sim"]));
    let here = package.here();
    Some((package, here))
}

#[test]
fn a_program_whose_output_nobody_reads_any_more_ends_as_it_does_on_this_machine() {
    let Some((package, here)) = package() else { return };
    for mode in ["println", "returns", "blocks", "is quiet", "waits"] {
        let (native, all) = everywhere(&package, &here, mode);
        let (expected, _) = read_one_line(native);
        for command in all {
            let shown = format!("{command:?}");
            let (ended, said) = read_one_line(command);
            assert_eq!(ended, expected, "{shown}: {said}");
            // It knows, and so nobody else has to.
            assert!(!said.contains("could not be written"), "{said}");
        }
    }
}

#[test]
fn a_program_whose_output_is_full_learns_of_it_at_a_later_write_or_at_a_flush() {
    let Some((package, here)) = package() else { return };
    for mode in ["println", "returns", "blocks", "is quiet", "flushes"] {
        let (native, all) = everywhere(&package, &here, mode);
        let (expected, _) = into_full(native);
        for command in all {
            let shown = format!("{command:?}");
            let (ended, said) = into_full(command);
            assert_eq!(ended, expected, "{shown}: {said}");
        }
    }
}

#[test]
fn output_that_was_lost_when_the_program_had_ended_is_told_and_no_success() {
    let Some((package, here)) = package() else { return };
    let (_, all) = everywhere(&package, &here, "one");
    for command in all {
        let (ended, said) = into_full(command);
        assert!(ended.code == Some(1) && said.contains("5 bytes that kernels printed to standard output could not be written"), "{said}");
    }
}
