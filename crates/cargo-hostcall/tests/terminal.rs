//! What the standard streams are reaches the program: terminals, their size, and whether they have colours. On a
//! pseudo-terminal.

mod support;

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, ExitStatus, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use support::package::{Package, command, hostcall, succeeded};

const MAIN: &str = r#"
use std::io::IsTerminal;

unsafe extern "C" {
    fn ioctl(fd: i32, request: i32, ...) -> i32;
}

fn size(fd: i32) -> Option<[u16; 2]> {
    let mut size = [0u16; 4];
    // SAFETY: TIOCGWINSZ writes four such numbers.
    (unsafe { ioctl(fd, 0x5413, size.as_mut_ptr()) } == 0).then_some([size[0], size[1]])
}

fn main() {
    let file = std::fs::File::open("/dev/null").unwrap();
    println!("in {} {:?}", std::io::stdin().is_terminal(), size(0));
    println!("out {} {:?}", std::io::stdout().is_terminal(), size(1));
    println!("err {} {:?}", std::io::stderr().is_terminal(), size(2));
    println!("file {}", file.is_terminal());
    println!("term {:?} {:?}", std::env::var("TERM"), std::env::var("NO_COLOR"));
}
"#;

/// A pseudo-terminal: the side of whoever sits before it, and that of the program.
fn terminal() -> (File, File) {
    let person = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("the system has pseudo-terminals");
    grantpt(&person).expect("it is ours");
    unlockpt(&person).expect("it is ours");
    let name = ptsname(&person, Vec::new()).expect("it has a name");
    let program = OpenOptions::new().read(true).write(true).open(std::ffi::OsStr::from_bytes(name.as_bytes())).expect("it is unlocked");
    tcsetwinsize(&program, Winsize { ws_row: 33, ws_col: 101, ws_xpixel: 0, ws_ypixel: 0 }).expect("it is a terminal");
    (File::from(person), program)
}

/// What somebody sees who starts this at a terminal and types nothing. `piped`: standard input comes from elsewhere.
fn seen(mut command: Command, piped: bool) -> (String, ExitStatus) {
    let (mut person, program) = terminal();
    let stream = || Stdio::from(program.try_clone().expect("there are descriptors"));
    command.stdin(if piped { Stdio::null() } else { stream() }).stdout(stream()).stderr(stream());
    command.env("TERM", "xterm-256color").env_remove("NO_COLOR");
    let mut child = command.spawn().expect("it starts");
    // The program has the last ones: when it ends, so does the text.
    drop((command, program));
    let mut text = Vec::new();
    // Linux says `EIO` when nobody has the other side any more.
    let _ = person.read_to_end(&mut text);
    (String::from_utf8_lossy(&text).replace("\r\n", "\n"), child.wait().expect("it ends"))
}

#[test]
fn what_the_standard_streams_are_reaches_the_program() {
    let Some(package) = Package::new("", &[("src/main.rs", MAIN)]) else { return };
    succeeded(&package.hostcall(&["build", "--for", "sim"]));
    let exec = || {
        let mut exec = Command::new("timeout");
        exec.args(["--foreground", "-s", "KILL", "60", env!("CARGO_BIN_EXE_cargo-hostcall"), "hostcall", "exec", "-q", "--device", "sim"]);
        exec.arg(package.image());
        exec
    };
    let all = "in true Some([33, 101])\nout true Some([33, 101])\nerr true Some([33, 101])\nfile false\nterm Ok(\"xterm-256color\") Err(NotPresent)\n";
    assert_eq!(seen(exec(), false).0, all);
    let (text, status) = seen(exec(), true);
    assert!(status.success() && text == all.replacen("in true Some([33, 101])", "in false None", 1), "{text}");
    let apart = exec().stdin(Stdio::null()).output().expect("it starts");
    let nothing = "in false None\nout false None\nerr false None\nfile false\nterm Err(NotPresent) Err(NotPresent)\n";
    assert_eq!(String::from_utf8_lossy(&apart.stdout), nothing);
}

#[test]
fn a_new_program_that_is_run_at_a_terminal_does_not_wait_for_input() {
    if !support::package::can_build() {
        return;
    }
    let room = tempfile::tempdir().expect("a directory");
    succeeded(&hostcall(room.path(), &["new", "fresh"]));
    let dir = room.path().join("fresh");
    succeeded(&hostcall(&dir, &["build", "--for", "sim"]));
    let (text, status) = seen(command(&dir, &["run", "-q", "--device", "sim"]), false);
    assert!(status.signal().is_none() && status.success() && text.contains("pipe something in"), "{text}");
}
