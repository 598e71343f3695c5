//! The built-in services, called as a server calls them.

use std::fs;
use std::path::Path;
use std::ptr::NonNull;

use hostcall_abi::codec::{Fixed, VarHead, bytes, bytes_mut};
use hostcall_abi::services::{kind, open};
use hostcall_abi::{CallError, ReplyHead, Status};

use super::*;
use crate::policy::{Access, DirGrant, Limits};
use crate::record::Report;
use crate::service::Run;
use crate::service::call::{Scratch, Thread};
use crate::service::closing::Closing;
use crate::service::lanes::{Answers, Copies, Facts, LaneCalls, Payload, Progress};
use crate::service::out::OutsIn;
use crate::service::registry::Registered;
use crate::wire::{StagedRegion, Staging};

mod ends;
mod exchanged;
mod mounts;
mod options;
#[cfg(target_os = "linux")]
mod printing;
mod sockets;
mod surroundings;
mod unix;
mod waits;

/// The services with a directory to play in, and a program's report.
struct World {
    host: tempfile::TempDir,
    builtins: Builtins,
    services: Vec<Service>,
    tenant: Arc<Tenant>,
    report: Report,
    out: std::sync::Arc<std::sync::Mutex<Vec<u8>>>,
}

/// A call as a stub would encode it.
#[derive(Clone, Default)]
struct Args {
    units: Vec<u32>,
    ins: Vec<u8>,
    out: usize,
}

impl Args {
    fn with<T: Fixed>(mut self, value: T) -> Self {
        let at = self.units.len();
        self.units.resize(at + T::DWORDS, 0);
        value.put(&mut self.units[at..]);
        self
    }
    fn text(mut self, text: impl AsRef<[u8]>) -> Self {
        let text = text.as_ref();
        self.ins.extend_from_slice(text);
        self.ins.resize(self.ins.len().next_multiple_of(4), 0);
        self.with(text.len() as u32)
    }
    fn room(mut self, out: usize) -> Self {
        self.out = out;
        self.with(out as u32)
    }
}

fn args() -> Args {
    Args::default()
}

impl World {
    fn with(access: Access, limits: Limits) -> Self {
        let host = tempfile::tempdir().unwrap();
        fs::create_dir(host.path().join("granted")).unwrap();
        fs::write(host.path().join("secret"), "secret").unwrap();
        let grant = DirGrant::new(host.path().join("granted"), "/data", access);
        Self::in_host(host, &grant, limits)
    }

    /// With another grant of the same directory.
    fn granting(self, grant: impl FnOnce(DirGrant) -> DirGrant) -> Self {
        let grant = grant(DirGrant::new(self.granted(), "/data", Access::ReadWrite));
        Self::in_host(self.host, &grant, Limits::default())
    }

    /// With this grant.
    fn of(grant: &DirGrant) -> Self {
        Self::in_host(tempfile::tempdir().unwrap(), grant, Limits::default())
    }

    fn in_host(host: tempfile::TempDir, grant: &DirGrant, limits: Limits) -> Self {
        let mut policy = Policy::new();
        policy.dir(grant).unwrap();
        policy.env("LANG", "C").arg("first").arg("zweites Argument").limits(limits);
        Self::of_policy(host, policy)
    }

    /// With this policy.
    fn of_policy(host: tempfile::TempDir, policy: Policy) -> Self {
        let (sink, out) = Sink::buffer();
        Self { out, ..Self::of_builtins(host, Builtins::new(policy, Console::new(sink, Sink::Null))) }
    }

    /// With these services.
    fn of_builtins(host: tempfile::TempDir, builtins: Builtins) -> Self {
        let services = builtins.services();
        Self { host, builtins, services, tenant: Tenant::new(), report: Report::default(), out: Arc::default() }
    }

    fn new() -> Self {
        Self::with(Access::ReadWrite, Limits::default())
    }

    fn granted(&self) -> std::path::PathBuf {
        self.host.path().join("granted")
    }

    /// One attempt: as on a serving thread, or where it may block; with its bytes in the message, or staged.
    fn attempt<R: Fixed>(
        &self,
        tenant: &Arc<Tenant>,
        name: &str,
        args: &Args,
        may_block: bool,
        staged: bool,
    ) -> Result<(R, Vec<u8>), Option<CallError>> {
        let service = self.services.iter().find(|service| service.name() == name).unwrap();
        let (Run::Inline(handler) | Run::Blocking(handler) | Run::Adaptive(handler)) = &service.run else { panic!("{name} is deferred") };
        let mut units = args.units.clone();
        let takes_var = service.definition().takes_var;
        let mut area = vec![0u8; (args.ins.len().max(args.out) + 64).next_multiple_of(16)];
        area[..args.ins.len()].copy_from_slice(&args.ins);
        // SAFETY: `area` outlives the call, which alone touches it.
        let region = unsafe { StagedRegion::new(NonNull::new(area.as_mut_ptr()).unwrap(), area.len()) };
        if takes_var {
            units.splice(0..0, [if staged { 0 } else { VarHead::INLINE }, args.ins.len() as u32]);
        }
        assert_eq!(units.len(), service.definition().units, "arguments of {name}");
        if takes_var && !staged {
            units.resize(units.len() + args.ins.len().div_ceil(4), 0);
            bytes_mut(&mut units[service.definition().units..])[..args.ins.len()].copy_from_slice(&args.ins);
        }
        let registered = Registered::new(1, service.clone(), 1, false);
        let staged_in = (takes_var && staged).then(|| Staging::new(region, area.len()));
        let payload = Payload { units: &units, stride: units.len(), lane_units: units.len(), staged: staged_in };
        let closing = Closing::default();
        let facts = Facts {
            service: &registered,
            number: 1,
            tenant,
            report: &self.report,
            closing: &closing,
            port: 0,
            mask: 1,
            lanes: 1,
            post: false,
            payload,
            copies: Copies::default(),
            outs: OutsIn::Reply,
        };
        let (mut streams, mut scratch, mut progress) = (vec![0; 4097], Scratch::default(), Progress::of(1));
        let stride = streams.len();
        let thread = if may_block { Thread::Pool } else { Thread::Serving };
        let answers = Answers { facts, progress: &mut progress, streams: &mut streams, first: 0, stride, thread };
        handler.serve(&mut LaneCalls { answers, scratch: &mut scratch });
        if progress.late != 0 {
            return Err(None);
        }
        let ReplyHead { status, dwords } = ReplyHead::decode(streams[0]);
        let reply = streams[1..=usize::from(dwords)].to_vec();
        if status != Status::OK {
            return Err(Some(CallError::from_status(status, reply[0])));
        }
        let value = if R::DWORDS == 0 && reply.is_empty() { R::get(&[]) } else { R::get(&reply) }.unwrap();
        let returned = reply.get(R::DWORDS).map_or(0, |len| *len as usize);
        let out =
            if staged { area[..returned].to_vec() } else { bytes(reply.get(R::DWORDS + 1..).unwrap_or_default())[..returned].to_vec() };
        Ok((value, out))
    }

    /// A call as a server makes it: on a serving thread, and if that would block, again.
    fn call_out<R: Fixed>(&self, name: &str, args: &Args, staged: bool) -> Result<(R, Vec<u8>), CallError> {
        let blocking = self.services.iter().any(|service| service.name() == name && matches!(service.run, Run::Blocking(_)));
        let first = self.attempt(&self.tenant, name, args, blocking, staged);
        if let Some(after) = self.services.iter().find(|service| service.name() == name).and_then(|service| service.after.as_ref()) {
            after(&self.tenant);
        }
        first
            .or_else(|error| error.map_or_else(|| self.attempt(&self.tenant, name, args, true, staged), |error| Err(Some(error))))
            .map_err(Option::unwrap)
    }

    fn call<R: Fixed>(&self, name: &str, args: &Args) -> R {
        self.call_out(name, args, false).unwrap().0
    }

    fn open(&self, path: &str, bits: u32) -> Result<u64, u32> {
        self.call("Files__open", &args().text(path).with(bits))
    }

    fn read_at(&self, handle: u64, offset: u64, len: usize, staged: bool) -> Result<Vec<u8>, u32> {
        let (read, out) = self.call_out::<Result<u32, u32>>("Files__read_at", &args().with(handle).with(offset).room(len), staged).unwrap();
        read.map(|read| {
            assert_eq!(read as usize, out.len());
            out
        })
    }

    fn write_at(&self, handle: u64, offset: u64, text: &[u8], staged: bool) -> Result<u32, u32> {
        self.call_out::<Result<u32, u32>>("Files__write_at", &args().with(handle).with(offset).text(text), staged).unwrap().0
    }

    fn on_path(&self, name: &str, path: &str) -> Result<(), u32> {
        self.call(name, &args().text(path))
    }
}

#[test]
fn what_was_written_is_read_back_inline_and_staged() {
    let world = World::new();
    let handle = world.open("/data/new", open::READ | open::WRITE | open::CREATE).unwrap();
    assert_eq!(world.write_at(handle, 0, b"hello ", false), Ok(6));
    assert_eq!(world.write_at(handle, 6, b"world", true), Ok(5));
    for staged in [false, true] {
        assert_eq!(world.read_at(handle, 0, 100, staged).unwrap(), b"hello world");
        assert_eq!(world.read_at(handle, 6, 3, staged).unwrap(), b"wor");
        assert_eq!(world.read_at(handle, 11, 8, staged).unwrap(), b"");
        assert_eq!(world.read_at(handle, 0, 0, staged).unwrap(), b"");
    }
    assert_eq!(world.read_at(handle, u64::MAX, 8, false), Err(errno::EINVAL));
    assert_eq!(fs::read(world.granted().join("new")).unwrap(), b"hello world");
}

#[test]
fn the_cursor_moves_with_reads_writes_and_seeks() {
    let world = World::new();
    fs::write(world.granted().join("f"), "0123456789").unwrap();
    let handle = world.open("data/f", open::READ | open::WRITE).unwrap();
    let read = |len| world.call_out::<Result<u32, u32>>("Files__read", &args().with(handle).room(len), false).unwrap().1;
    let seek = |whence: u32, offset: i64| world.call::<Result<u64, u32>>("Files__seek", &args().with(handle).with(whence).with(offset));
    assert_eq!(read(4), b"0123");
    assert_eq!(seek(1, 2), Ok(6));
    assert_eq!(read(9), b"6789");
    assert_eq!(seek(2, -1), Ok(9));
    assert_eq!(world.call::<Result<u32, u32>>("Files__write", &args().with(handle).text("xyz")), Ok(3));
    assert_eq!(seek(0, 0), Ok(0));
    assert_eq!(read(99), b"012345678xyz");
    assert_eq!(seek(0, -1), Err(errno::EINVAL));
    assert_eq!(seek(7, 0), Err(errno::EINVAL));
    // All of it is data, and its end a hole, on whatever file system.
    assert_eq!(
        [seek(3, 5), seek(4, 5), seek(3, 12), seek(4, 13), seek(3, -1)],
        [Ok(5), Ok(12), Err(errno::ENXIO), Err(errno::ENXIO), Err(errno::ENXIO)]
    );
}

#[test]
fn files_are_described_cut_renamed_and_removed() {
    let world = World::new();
    fs::write(world.granted().join("f"), "0123456789").unwrap();
    let handle = world.open("/data/f", open::WRITE).unwrap();
    assert_eq!(world.call::<Result<(), u32>>("Files__set_len", &args().with(handle).with(3u64)), Ok(()));
    let stat = world.call::<Result<[u64; 5], u32>>("Files__stat", &args().with(handle)).unwrap();
    assert_eq!((stat[0], stat[1]), (3, u64::from(kind::FILE)));
    assert!(stat[3] > 1_500_000_000);
    assert_eq!(world.call::<Result<(), u32>>("Files__sync", &args().with(handle)), Ok(()));
    assert_eq!(world.call::<Result<(), u32>>("Files__rename", &args().text("/data/f").text("/data/g")), Ok(()));
    assert_eq!(world.call::<Result<[u64; 5], u32>>("Files__stat_path", &args().text("/data/f").with(true)), Err(errno::ENOENT));
    assert_eq!(world.call::<Result<(), u32>>("Files__create_dir", &args().text("/data/a/b").with(false)), Err(errno::ENOENT));
    assert_eq!(world.call::<Result<(), u32>>("Files__create_dir", &args().text("/data/a/b").with(true)), Ok(()));
    assert_eq!(world.on_path("Files__remove_dir", "/data/a"), Err(errno::ENOTEMPTY));
    assert_eq!(world.on_path("Files__remove_dir", "/data/a/b"), Ok(()));
    assert_eq!(world.on_path("Files__remove_file", "/data/g"), Ok(()));
    assert_eq!(world.on_path("Files__remove_file", "/data/g"), Err(errno::ENOENT));
}

#[test]
fn what_a_path_leads_to_has_its_kind() {
    let world = World::new();
    fs::write(world.granted().join("file"), "").unwrap();
    fs::create_dir(world.granted().join("dir")).unwrap();
    std::os::unix::fs::symlink("file", world.granted().join("link")).unwrap();
    fifo(&world, "fifo");
    for (name, kind) in [("file", kind::FILE), ("dir", kind::DIR), ("link", kind::SYMLINK), ("fifo", kind::OTHER)] {
        let stat = world.call::<Result<[u64; 5], u32>>("Files__stat_path", &args().text(format!("/data/{name}")).with(false));
        assert_eq!(stat.unwrap()[1], u64::from(kind), "{name}");
    }
}

#[test]
fn a_file_is_emptied_only_when_that_is_asked_for() {
    let world = World::new();
    fs::write(world.granted().join("f"), "text").unwrap();
    for (bits, text) in
        [(open::WRITE | open::CREATE, "text"), (open::WRITE | open::TRUNCATE, ""), (open::WRITE | open::CREATE_NEW | open::TRUNCATE, "")]
    {
        let path = if bits & open::CREATE_NEW == 0 { "f" } else { "new" };
        world.open(&format!("/data/{path}"), bits).unwrap();
        assert_eq!(fs::read_to_string(world.granted().join(path)).unwrap(), text, "{bits:#b}");
    }
}

#[test]
fn directories_above_are_made_with_their_whole_names_and_no_others() {
    let world = World::new();
    for _ in 0..2 {
        let made = world.call::<Result<(), u32>>("Files__create_dir", &args().text("/data/first//second/third/").with(true));
        assert_eq!(made, Ok(()));
    }
    for (path, name) in [("", "first"), ("first", "second"), ("first/second", "third")] {
        let names = fs::read_dir(world.granted().join(path)).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        assert_eq!(names.collect::<Vec<_>>(), [name]);
    }
    fs::write(world.granted().join("first/file"), "").unwrap();
    let behind_a_file = world.call::<Result<(), u32>>("Files__create_dir", &args().text("/data/first/file/dir").with(true));
    assert_eq!(behind_a_file, Err(errno::ENOTDIR));
}

#[test]
fn directories_are_listed_to_the_end_and_long_names_are_not_lost() {
    let world = World::new();
    let long = "n".repeat(200);
    for name in ["a", "b", &long] {
        fs::write(world.granted().join(name), "").unwrap();
    }
    fs::create_dir(world.granted().join("sub")).unwrap();
    let handle = world.call::<Result<u64, u32>>("Files__open_dir", &args().text("/data")).unwrap();
    let next = |room| {
        let (entry, name) =
            world.call_out::<Result<Option<(u32, u32)>, u32>>("Files__next_entry", &args().with(handle).room(room), false).unwrap();
        entry.map(|entry| entry.map(|(_, kind)| (String::from_utf8(name).unwrap(), kind)))
    };
    let mut seen = Vec::new();
    loop {
        match next(8) {
            Ok(None) => break,
            Ok(Some(entry)) => seen.push(entry),
            Err(error) => {
                assert_eq!(error, errno::ERANGE);
                seen.push(next(255).unwrap().unwrap());
            }
        }
    }
    seen.sort();
    assert_eq!(seen, [("a".into(), kind::FILE), ("b".into(), kind::FILE), (long, kind::FILE), ("sub".into(), kind::DIR)]);
    assert_eq!(world.read_at(handle, 0, 8, false), Err(errno::EISDIR));
}

#[test]
fn nothing_outside_the_grant_can_be_reached() {
    let world = World::new();
    let link = |to: &Path, name: &str| std::os::unix::fs::symlink(to, world.granted().join(name)).unwrap();
    link(&world.host.path().join("secret"), "absolute");
    link(Path::new("../secret"), "relative");
    link(Path::new(".."), "up");
    link(Path::new("absolute"), "twice");
    let host = world.host.path().join("secret");
    let outside = [
        "/data/../secret",
        "/data/./../secret",
        "/data/x/../../secret",
        "/data/absolute",
        "/data/relative",
        "/data/up/secret",
        "/data/twice",
        "/secret",
        "../secret",
        "/etc/passwd",
        "/proc/self/environ",
        host.to_str().unwrap(),
    ];
    fs::create_dir(world.granted().join("x")).unwrap();
    for path in outside {
        let refused = if path.starts_with("/proc") { errno::ENOENT } else { errno::EACCES };
        assert_eq!(world.open(path, open::READ), Err(refused), "open {path}");
        assert_eq!(world.open(path, open::WRITE | open::TRUNCATE), Err(refused), "write {path}");
        let stat = world.call::<Result<[u64; 5], u32>>("Files__stat_path", &args().text(path).with(true));
        assert_eq!(stat, Err(refused), "stat {path}");
        assert_eq!(world.call::<Result<u64, u32>>("Files__open_dir", &args().text(path)).map(drop), Err(refused), "list {path}");
        let rename = world.call::<Result<(), u32>>("Files__rename", &args().text("/data/x").text(path));
        assert!(rename.is_err() || path.ends_with("absolute") || path.ends_with("relative") || path.ends_with("twice"), "rename to {path}");
        let _ = fs::create_dir(world.granted().join("x"));
    }
    assert_eq!(fs::read(world.host.path().join("secret")).unwrap(), b"secret");
    // What is above the grant is a directory, in which nothing can be made or changed.
    let made = world.call::<Result<(), u32>>("Files__create_dir", &args().text("/new").with(false));
    assert_eq!(made, Err(errno::EACCES));
    for path in ["/", "/data/..", "/data/up"] {
        assert!(world.call::<Result<u64, u32>>("Files__open_dir", &args().text(path)).is_ok(), "list {path}");
        assert_eq!(world.open(path, open::WRITE), Err(errno::EACCES), "write {path}");
        let rename = world.call::<Result<(), u32>>("Files__rename", &args().text("/data/x").text(path));
        assert!(rename.is_err(), "rename to {path}: {rename:?}");
        let rename = world.call::<Result<(), u32>>("Files__rename", &args().text(path).text("/data/y"));
        assert!(rename.is_err() || path == "/data/up", "rename {path}: {rename:?}");
        assert!(path == "/data/up" || world.on_path("Files__remove_dir", path).is_err(), "remove {path}");
    }
    assert!(world.granted().join("x").is_dir());
}

#[test]
fn a_read_only_grant_can_only_be_read() {
    let world = World::with(Access::ReadOnly, Limits::default());
    fs::write(world.granted().join("f"), "x").unwrap();
    let handle = world.open("/data/f", open::READ).unwrap();
    assert_eq!(world.read_at(handle, 0, 4, false).unwrap(), b"x");
    assert_eq!(world.write_at(handle, 0, b"y", false), Err(errno::EBADF));
    assert_eq!(world.call::<Result<(), u32>>("Files__set_len", &args().with(handle).with(0u64)), Err(errno::EBADF));
    for bits in [open::WRITE, open::READ | open::WRITE, open::APPEND, open::WRITE | open::CREATE, open::WRITE | open::TRUNCATE] {
        assert_eq!(world.open("/data/f", bits), Err(errno::EACCES), "{bits:#b}");
    }
    assert_eq!(world.on_path("Files__remove_file", "/data/f"), Err(errno::EACCES));
    assert_eq!(world.call::<Result<(), u32>>("Files__create_dir", &args().text("/data/d").with(true)), Err(errno::EACCES));
    assert_eq!(world.call::<Result<(), u32>>("Files__rename", &args().text("/data/f").text("/data/g")), Err(errno::EACCES));
    assert_eq!(fs::read(world.granted().join("f")).unwrap(), b"x");
}

#[test]
fn options_that_make_no_sense_are_invalid() {
    let world = World::new();
    for bits in [
        0,
        open::CREATE,
        open::READ | open::TRUNCATE,
        open::READ | open::CREATE_NEW,
        open::APPEND | open::TRUNCATE,
        64 | open::READ,
        u32::MAX,
    ] {
        assert_eq!(world.open("/data/f", bits), Err(errno::EINVAL), "{bits:#b}");
    }
}

#[test]
fn a_handle_is_good_for_its_program_until_it_is_closed() {
    let world = World::new();
    fs::write(world.granted().join("f"), "x").unwrap();
    let handle = world.open("/data/f", open::READ).unwrap();
    let other = Tenant::new();
    let read = args().with(handle).with(0u64).room(4);
    let stolen = world.attempt::<Result<u32, u32>>(&other, "Files__read_at", &read, true, false).unwrap();
    assert_eq!(stolen.0, Err(errno::EBADF));
    world.attempt::<()>(&other, "Files__close", &args().with(handle), true, false).unwrap();
    assert_eq!(world.read_at(handle, 0, 4, true).unwrap(), b"x");
    world.call::<()>("Files__close", &args().with(handle));
    assert_eq!(world.read_at(handle, 0, 4, true), Err(errno::EBADF));
    world.call::<()>("Files__close", &args().with(handle));
    for hostile in [0, u64::MAX, handle + 1, handle + (1 << 32)] {
        assert_eq!(world.read_at(hostile, 0, 4, false), Err(errno::EBADF));
        assert_eq!(world.write_at(hostile, 0, b"x", true), Err(errno::EBADF));
    }
    let handle = world.open("/data/f", open::READ).unwrap();
    world.tenant.end(&[&world.builtins]);
    assert_eq!(world.read_at(handle, 0, 4, false), Err(errno::EBADF));
}

#[test]
fn caps_on_files_bytes_and_calls_are_kept() {
    let world = World::with(Access::ReadWrite, Limits::default().open_files(2).bytes_in_flight(100).calls(8));
    fs::write(world.granted().join("f"), vec![7; 300]).unwrap();
    let first = world.open("/data/f", open::READ).unwrap();
    world.open("/data/f", open::READ).unwrap();
    assert_eq!(world.open("/data/f", open::READ), Err(errno::EMFILE));
    world.call::<()>("Files__close", &args().with(first));
    let handle = world.open("/data/f", open::READ).unwrap();
    assert_eq!(world.read_at(handle, 0, 100, false).unwrap().len(), 100);
    let too_much = world.call_out::<Result<u32, u32>>("Files__read_at", &args().with(handle).with(0u64).room(101), true);
    assert_eq!(too_much.unwrap_err(), CallError::Refused { code: errno::EDQUOT });
    assert_eq!(world.read_at(handle, 0, 100, false).unwrap().len(), 100);
    let ninth = world.call_out::<Result<u64, u32>>("Files__open", &args().text("/data/f").with(open::READ), false);
    assert!(world.call_out::<(i64, u32)>("Clock__system_time", &args(), false).is_err());
    assert!(matches!(ninth, Ok(_) | Err(CallError::Refused { code: errno::EDQUOT })));
    // Ending is always allowed.
    world.call::<()>("Process__exit", &args().with(3i32));
    assert!(world.report.is_ended());
}

#[test]
fn what_may_take_long_is_where_programs_take_turns() {
    let world = World::new();
    for name in
        ["StdNet__resolve", "Files__sync", "StdFiles__sync_data", "StdFiles__allocate", "StdFiles__copy", "Files__open", "StdFiles__open"]
    {
        let service = world.services.iter().find(|service| service.name() == name).unwrap();
        assert!(matches!(service.run, Run::Blocking(_)), "{name} is {}", service.run.name());
    }
}

#[test]
fn an_empty_pipe_never_stalls_a_serving_thread() {
    let world = World::new().granting(DirGrant::with_special_files);
    fifo(&world, "fifo");
    // Open for both, so that opening waits for nobody.
    let handle = world.open("/data/fifo", open::READ | open::WRITE).unwrap();
    let read = args().with(handle).room(4);
    assert!(matches!(world.attempt::<Result<u32, u32>>(&world.tenant, "Files__read", &read, false, false), Err(None)));
    world.call::<Result<u32, u32>>("Files__write", &args().with(handle).text("abcd")).unwrap();
    assert_eq!(world.call_out::<Result<u32, u32>>("Files__read", &read, true).unwrap(), (Ok(4), b"abcd".to_vec()));
    assert_eq!(world.read_at(handle, 0, 4, false), Err(errno::ESPIPE));
    // Nor any other thread.
    assert_eq!(world.call_out::<Result<u32, u32>>("Files__read", &read, true).unwrap().0, Err(errno::EAGAIN));
}

fn fifo(world: &World, name: &str) {
    assert!(std::process::Command::new("mkfifo").arg(world.granted().join(name)).status().unwrap().success());
}

#[test]
fn a_fifo_that_nobody_uses_holds_no_thread() {
    // If one of these waited, it would wait for ever.
    let world = World::new();
    fifo(&world, "fifo");
    std::os::unix::fs::symlink("fifo", world.granted().join("link")).unwrap();
    for path in ["/data/fifo", "/data/link"] {
        for bits in [open::READ, open::WRITE, open::READ | open::WRITE, open::WRITE | open::CREATE | open::TRUNCATE, open::APPEND] {
            assert_eq!(world.open(path, bits), Err(errno::EACCES), "{path} {bits:#b}");
        }
        assert_eq!(world.call::<Result<(), u32>>("StdFiles__set_mode_path", &args().text(path).with(0o600u32)), Err(errno::EACCES));
        assert_eq!(world.call::<Result<u64, u32>>("Files__open_dir", &args().text(path)), Err(errno::ENOTDIR));
        assert!(world.call::<Result<[u64; 5], u32>>("Files__stat_path", &args().text(path).with(true)).is_ok());
    }
    let [denial] = &world.builtins.denials()[..] else { panic!("one denial") };
    assert_eq!(denial.flag, format!("--dir {}::/data:special", world.granted().display()));

    let world = World::new().granting(DirGrant::with_special_files);
    fifo(&world, "fifo");
    assert_eq!(world.open("/data/fifo", open::WRITE), Err(libc::ENXIO.cast_unsigned()), "nobody reads");
    let handle = world.open("/data/fifo", open::READ).unwrap();
    let read = world.call_out::<Result<u32, u32>>("Files__read", &args().with(handle).room(4), false).unwrap();
    assert_eq!(read.0, Ok(0), "nobody writes");
}

#[test]
fn devices_are_opened_under_a_grant_that_says_so_and_sockets_under_none() {
    let world = World::new();
    let _listener = std::os::unix::net::UnixListener::bind(world.granted().join("socket")).unwrap();
    assert_eq!(world.open("/data/socket", open::READ), Err(errno::EACCES));

    for (special, opened) in [(false, Err(errno::EACCES)), (true, Ok(()))] {
        let dev = DirGrant { special, ..DirGrant::new("/dev", "/data", Access::ReadWrite) };
        let world = World::of(&dev);
        let handle = world.open("/data/null", open::READ | open::WRITE);
        assert_eq!(handle.map(drop), opened);
        if let Ok(handle) = handle {
            let write = args().with(handle).text("gone");
            assert_eq!(world.call::<Result<u32, u32>>("Files__write", &write), Ok(4));
            assert_eq!(world.call_out::<Result<u32, u32>>("Files__read", &args().with(handle).room(4), true).unwrap().0, Ok(0));
        }
    }
}

#[test]
fn modes_are_set_on_files_that_cannot_be_opened() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let world = World::new();
    let file = world.granted().join("f");
    fs::write(&file, "x").unwrap();
    symlink("f", world.granted().join("link")).unwrap();
    symlink(world.host.path().join("secret"), world.granted().join("out")).unwrap();
    let set = |path: &str, mode: u32| world.call::<Result<(), u32>>("StdFiles__set_mode_path", &args().text(path).with(mode));
    for (path, mode) in [("/data/f", 0o000), ("/data/link", 0o640), ("/data/f", 0o4755)] {
        assert_eq!(set(path, mode), Ok(()));
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o7777, mode & 0o777);
    }
    assert_eq!(set("/data/out", 0o777), Err(errno::EACCES));
    assert_eq!(set("/data/missing", 0o777), Err(errno::ENOENT));
}

#[test]
fn paths_that_are_no_paths_are_errors() {
    let world = World::new();
    assert_eq!(world.open("", open::READ), Err(errno::ENOENT));
    assert_eq!(world.open("/data/a\0b", open::READ), Err(errno::EINVAL));
    assert_eq!(world.open(&format!("/data/{}", "x".repeat(300)), open::READ), Err(errno::ENAMETOOLONG));
    assert_eq!(world.open("/data/missing", open::READ), Err(errno::ENOENT));
    fs::write(world.granted().join("f"), "").unwrap();
    assert_eq!(world.open("/data/f/x", open::READ), Err(errno::ENOTDIR));
    assert_eq!(world.open("/data/f", open::WRITE | open::CREATE_NEW), Err(errno::EEXIST));
    let not_utf8 = args().text(b"/data/\xff\xfe").with(open::WRITE | open::CREATE);
    assert!(world.call::<Result<u64, u32>>("Files__open", &not_utf8).is_ok(), "paths are bytes");
    fs::create_dir(world.granted().join("d")).unwrap();
    let dir = world.open("/data/d", open::READ).unwrap();
    assert_eq!(world.read_at(dir, 0, 4, false), Err(errno::EISDIR));
    assert_eq!(world.open("/data/d", open::WRITE), Err(errno::EISDIR));
}

#[test]
fn only_granted_arguments_and_variables_are_seen() {
    let world = World::new();
    assert_eq!(world.call::<u32>("Environment__arg_count", &args()), 2);
    let arg = |index: u32, room| world.call_out::<Option<u32>>("Environment__arg", &args().with(index).room(room), false).unwrap();
    assert_eq!(arg(0, 64), (Some(5), b"first".to_vec()));
    assert_eq!(arg(1, 4), (Some(16), b"zwei".to_vec()));
    assert_eq!(arg(2, 64), (None, Vec::new()));
    let var = |name| world.call_out::<Option<u32>>("Environment__var", &args().text(name).room(64), true).unwrap();
    assert_eq!(var("LANG"), (Some(1), b"C".to_vec()));
    assert_eq!(var("PATH"), (None, Vec::new()));
    let nth = |index: u32, room| world.call_out::<Option<u32>>("StdSystem__variable", &args().with(index).room(room), false).unwrap();
    assert_eq!(nth(0, 64), (Some(6), b"LANG=C".to_vec()));
    assert_eq!(nth(0, 4), (Some(6), b"LANG".to_vec()));
    assert_eq!(nth(1, 64), (None, Vec::new()));
    let rest = |list: u32, index: u32, from: u32| {
        world.call_out::<Option<u32>>("StdSystem__rest", &args().with(list).with(index).with(from).room(64), false).unwrap()
    };
    assert_eq!(rest(0, 1, 4), (Some(12), b"tes Argument".to_vec()));
    assert_eq!(rest(1, 0, 5), (Some(1), b"C".to_vec()));
    assert_eq!(rest(1, 0, 7), (Some(0), Vec::new()));
    assert_eq!([rest(0, 2, 0), rest(1, 1, 0), rest(2, 0, 0)], [(None, Vec::new()), (None, Vec::new()), (None, Vec::new())]);
}

#[test]
fn what_is_printed_comes_out_and_streams_are_checked() {
    let world = World::new();
    world.call::<()>("Console__print", &args().with(1u32).text("one\n"));
    world.call::<()>("Console__print_piece", &args().with(1u32).with(5u64).with(false).text("two "));
    world.call::<()>("Console__print", &args().with(2u32).text("error\n"));
    world.call::<()>("Console__print", &args().with(1u32).text("three\n"));
    for stream in [1u32, 2] {
        world.call::<()>("Console__print_piece", &args().with(stream).with(4u64).with(false).text("another "));
    }
    world.call::<()>("Console__print_piece", &args().with(1u32).with(5u64).with(true).text("halves\n"));
    world.call::<()>("Console__print_piece", &args().with(1u32).with(4u64).with(true).text("text\n"));
    assert!(world.call_out::<()>("Console__print", &args().with(3u32).text("x"), false).is_err());
    world.builtins.flush().unwrap();
    assert_eq!(String::from_utf8(world.out.lock().unwrap().clone()).unwrap(), "one\nthree\ntwo halves\nanother text\n");
}

#[test]
fn every_service_of_the_table_is_registered_once() {
    let world = World::new();
    let mut names: Vec<&str> = world.services.iter().map(|service| service.name()).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!((names.len(), count), (97, 97), "{names:?}");
}
