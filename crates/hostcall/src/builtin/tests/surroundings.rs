//! What a process has around it: its streams, random bytes, notices of files, copies of what says that it is empty.

use std::os::unix::fs::{MetadataExt as _, symlink};

use hostcall_abi::std_services::{event, stat};

use super::*;
use crate::builtin::standard::reactor::FEW;

#[test]
fn streams_that_are_nobodys_are_a_device_and_pipes_and_no_terminal_is_among_them() {
    let world = World::new();
    let known = |number: u32| world.call::<Result<[u64; 16], u32>>("StdSystem__stream", &args().with(number));
    let terminal = |number: u32| world.call::<Result<[u32; 4], u32>>("StdSystem__terminal", &args().with(number));
    let mut expected = [0; 16];
    (expected[stat::LINKS], expected[stat::BLOCKS]) = (1, 4096);
    for (number, mode) in [(0, 0o020_600), (1, 0o010_600), (2, 0o010_600)] {
        expected[stat::MODE] = mode;
        assert_eq!((known(number), terminal(number)), (Ok(expected), Err(errno::ENOTTY)), "{number}");
    }
    assert_eq!((known(3), terminal(3)), (Err(errno::EBADF), Err(errno::EBADF)));
}

#[test]
fn random_bytes_are_never_the_same() {
    let world = World::new();
    let random = || world.call_out::<Result<u32, u32>>("StdSystem__entropy", &args().room(32), false).unwrap();
    let [one, other] = [random(), random()];
    assert_eq!((one.0, other.0, one.1.len()), (Ok(32), Ok(32), 32));
    assert_ne!(one.1, other.1);
}

#[test]
fn metadata_are_those_of_the_system() {
    let world = World::new();
    fs::write(world.granted().join("f"), vec![7; 100_000]).unwrap();
    // Another group than the user's number, where that may be given away.
    let _ = std::os::unix::fs::chown(world.granted().join("f"), None, Some(12));
    let known = world.call::<Result<[u64; 16], u32>>("StdFiles__stat_path", &args().text("/data/f").with(true)).unwrap();
    let metadata = fs::metadata(world.granted().join("f")).unwrap();
    assert_eq!(known[stat::OWNER] as u32, metadata.uid());
    assert_eq!((known[stat::OWNER] >> 32) as u32, metadata.gid());
    assert_eq!(known[stat::BLOCKS] as u32 as u64, metadata.blksize());
    assert_eq!(known[stat::BLOCKS] >> 32, metadata.blocks());
    assert!(metadata.blocks() > 0 && metadata.blksize() > 0);
}

#[test]
fn a_file_that_says_that_it_is_empty_is_copied_whole() {
    let host = tempfile::tempdir().unwrap();
    let mut policy = Policy::new();
    policy.dir(&DirGrant::new("/proc/self", "/proc", Access::ReadOnly)).unwrap();
    policy.dir(&DirGrant::new(host.path(), "/data", Access::ReadWrite)).unwrap();
    let world = World::of_policy(host, policy);
    let from = world.open("/proc/comm", open::READ).unwrap();
    let to = world.open("/data/copy", open::WRITE | open::CREATE).unwrap();
    let copy = |len: u64| world.call::<Result<u64, u32>>("StdFiles__copy", &args().with(from).with(0i64).with(to).with(0i64).with(len));
    assert_eq!(copy(0), Ok(0));
    let copied = copy(100).unwrap();
    assert!(copied > 0);
    assert_eq!(fs::read(world.host.path().join("copy")).unwrap().len() as u64, copied);
}

#[test]
fn a_part_of_a_file_is_not_copied_over_itself() {
    let world = World::new();
    fs::write(world.granted().join("f"), "0123456789").unwrap();
    let handle = world.open("/data/f", open::READ | open::WRITE).unwrap();
    let copy = |from: i64, to: i64, len: u64| {
        world.call::<Result<u64, u32>>("StdFiles__copy", &args().with(handle).with(from).with(handle).with(to).with(len))
    };
    assert_eq!(copy(0, 2, 4), Err(errno::EINVAL));
    assert_eq!(fs::read(world.granted().join("f")).unwrap(), b"0123456789");
    assert_eq!(copy(0, 6, 4), Ok(4));
    assert_eq!(fs::read(world.granted().join("f")).unwrap(), b"0123450123");
}

#[test]
fn a_link_leads_somewhere() {
    let world = World::new();
    let link = |text: &[u8]| world.call::<Result<(), u32>>("StdFiles__symlink", &args().text(text).text("/data/link"));
    assert_eq!([link(b""), link(b"a\0b"), link(&[b'a'; 4096])], [Err(errno::ENOENT), Err(errno::EINVAL), Err(errno::ENAMETOOLONG)]);
    assert_eq!(link(b"f"), Ok(()));
}

/// Notices come to whoever watches, do not keep who looks for them, and end with the watch.
#[cfg(target_os = "linux")]
#[test]
fn what_happens_to_a_file_is_told_to_who_watches_it() {
    const MODIFIED: u32 = 2;
    const NO_FOLLOW: u32 = 0x0200_0000;
    let world = World::new();
    fs::write(world.granted().join("f"), "").unwrap();
    fs::write(world.granted().join("g"), "").unwrap();
    symlink("f", world.granted().join("link")).unwrap();
    let watcher = world.call::<Result<u64, u32>>("StdFiles__watcher", &args()).unwrap();
    let watch = |path: &str, mask: u32| world.call::<Result<i32, u32>>("StdFiles__watch", &args().with(watcher).text(path).with(mask));
    let unwatch = |number: i32| world.call::<Result<(), u32>>("StdFiles__unwatch", &args().with(watcher).with(number));
    // The watch of each notice: a header of four units, then a name.
    let notices = || -> Result<Vec<i32>, u32> {
        let (read, bytes) = world.call_out::<Result<u32, u32>>("Files__read", &args().with(watcher).room(256), false).unwrap();
        read.map(|_| bytes.chunks(16).map(|notice| i32::from_ne_bytes(notice[..4].try_into().unwrap())).collect())
    };
    assert_eq!(notices(), Err(errno::EAGAIN));
    let (first, second) = (watch("/data/link", MODIFIED).unwrap(), watch("/data/g", MODIFIED).unwrap());
    // The link itself, which nobody modifies.
    let third = watch("/data/link", MODIFIED | NO_FOLLOW).unwrap();
    assert!(first != second && second != third && first != third, "{first} {second} {third}");
    fs::write(world.granted().join("f"), "new").unwrap();
    let told = notices().unwrap();
    assert!(!told.is_empty() && told.iter().all(|watch| *watch == first), "{told:?}");
    assert_eq!(unwatch(first), Ok(()));
    assert_eq!(unwatch(first), Err(errno::EINVAL));
    // What it says of the end of the watch itself.
    let _ = notices();
    fs::write(world.granted().join("f"), "newer").unwrap();
    fs::write(world.granted().join("g"), "new").unwrap();
    let told = notices().unwrap();
    assert!(!told.is_empty() && told.iter().all(|watch| *watch == second), "{told:?}");
}

#[test]
fn input_is_ready_when_something_has_come() {
    let (reader, mut writer) = std::io::pipe().unwrap();
    let console = Console::new(Sink::Null, Sink::Null);
    let builtins = Builtins::new(Policy::new(), console).stdin(Input::Reader(Box::new(reader))).unwrap();
    let world = World::of_builtins(tempfile::tempdir().unwrap(), builtins);
    let asked: Vec<u8> = [0, u64::from(event::IN)].into_iter().flat_map(u64::to_ne_bytes).collect();
    let ready = || world.call::<Result<u32, u32>>("StdNet__poll_now", &args().text(&asked).room(4));
    assert_eq!(ready(), Ok(0));
    std::io::Write::write_all(&mut writer, b"text").unwrap();
    let begun = std::time::Instant::now();
    while ready() != Ok(1) {
        assert!(begun.elapsed().as_secs() < 60, "it has come");
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

#[test]
fn what_is_known_of_handles_is_said_at_once_of_a_few_on_a_serving_thread() {
    let world = World::new();
    let asked = |handle: u64, events: u32, times: usize| {
        let units: Vec<u8> = std::iter::repeat_n([handle, u64::from(events)], times).flatten().flat_map(u64::to_ne_bytes).collect();
        args().text(units).room(4 * times)
    };
    let poll = |args: &Args, may_block: bool| {
        let happened = world.attempt::<Result<u32, u32>>(&world.tenant, "StdNet__poll_now", args, may_block, false);
        happened.map(|(count, bytes)| (count, bytes.chunks(4).map(|unit| u32::from_ne_bytes(unit.try_into().unwrap())).collect::<Vec<_>>()))
    };
    // Input that is at its end can be read to that end, and nobody will write there any more.
    assert_eq!(poll(&asked(0, event::IN | event::OUT, 1), false), Ok((Ok(1), vec![event::IN | event::HANG_UP])));
    assert_eq!(poll(&asked(0, 0, 1), false), Ok((Ok(1), vec![event::HANG_UP])));
    assert_eq!(poll(&asked(1, event::IN | event::OUT, 1), false), Ok((Ok(1), vec![event::OUT])));
    assert_eq!(poll(&asked(1, event::IN, 1), false), Ok((Ok(0), vec![0])));
    assert_eq!(poll(&asked(999, event::IN, 1), false), Ok((Ok(1), vec![event::INVALID])));
    for (times, may_block) in [(FEW, false), (FEW, true), (FEW + 1, true), (1, true)] {
        assert_eq!(poll(&asked(1, event::OUT, times), may_block), Ok((Ok(times as u32), vec![event::OUT; times])), "{times}");
    }
    assert_eq!(poll(&asked(1, event::OUT, FEW + 1), false), Err(None));
}
