//! A file system without room. In a process of its own, in which no file may become large (`RLIMIT_FSIZE`), which needs
//! no privileges; and on a small file system, where there is one.

use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;

use hostcall_sinks::{Arrow, Codec, Parquet, Perfetto};
use hostcall_stream::sink::{Sink, Sunk};

use crate::support::{files, give, losses};

/// Where the process of its own writes.
const CHILD: &str = "HOSTCALL_TEST_FULL_DISK_CHILD";
const MESSAGES: u64 = 20_000;

/// What every sink does where there is no room.
fn told(what: &str, sunk: Sunk, kind: ErrorKind) {
    assert_eq!((sunk.messages, sunk.lost), (0, MESSAGES), "{what}");
    let error = sunk.error.expect("an error");
    assert_eq!(error.kind, kind, "{what}: {error}");
    assert!(error.to_string().contains("make room, or write to another place"), "{what}: {error}");
}

/// Writes more than there is room for.
fn without_room(dir: &Path, kind: ErrorKind) {
    let run = |what: &str, sink: &dyn Sink| {
        give(sink, &losses(MESSAGES as u32), 32);
        sink.finish();
        told(what, sink.sunk(), kind);
    };
    let parquet = Parquet::to(dir.join("parquet")).codec(Codec::None).open().expect("it opens");
    run("Parquet", &parquet);
    run("Arrow", &Arrow::files(dir.join("arrow")).open().expect("it opens"));
    let trace = Perfetto::to(dir.join("run.perfetto-trace")).open().expect("it opens");
    run("Perfetto", &trace);
    let visible: Vec<_> = files(dir).into_iter().filter(|file| !file.contains('#')).collect();
    assert!(visible.is_empty(), "a file that is not whole has its name: {visible:?}");
}

#[test]
fn a_full_disk_is_told_as_such_and_no_half_written_file_is_visible() {
    if let Some(dir) = std::env::var_os(CHILD) {
        return without_room(Path::new(&dir), ErrorKind::FileTooLarge);
    }
    let dir = tempfile::tempdir().expect("a directory");
    let this = std::env::current_exe().expect("this program");
    // The shell sets the limit: 64 blocks of 512 bytes. Signals that it ignores stay ignored, so that writing is an
    // error and not the end.
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' XFSZ; ulimit -f 64; exec \"$0\" \"$@\" | cat"]).arg(this).env(CHILD, dir.path());
    let output =
        command.args(["--exact", "full::a_full_disk_is_told_as_such_and_no_half_written_file_is_visible"]).output().expect("a shell");
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("test result: ok. 1 passed"), "{said}");
}

#[test]
fn a_small_file_system_that_is_full_is_told_as_such() {
    let Some(full) = std::env::var_os("HOSTCALL_TEST_FULL_DISK") else {
        println!("not run: `HOSTCALL_TEST_FULL_DISK` names no directory on a small file system (`mount -t tmpfs -o size=256k`)");
        return;
    };
    let dir = tempfile::tempdir_in(full).expect("a directory");
    without_room(dir.path(), ErrorKind::StorageFull);
}
