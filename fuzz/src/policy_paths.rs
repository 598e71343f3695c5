//! Paths from a guest, against a granted directory with a secret beside it.
//!
//! The granted directory has files, a subdirectory, and symbolic links out of it, to itself and to nowhere. Whatever a
//! guest does with its paths, what lies beside the granted directory is neither read nor changed.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use hostcall::__private::{Geometry, PortBuffer};
use hostcall::test_utils::{MockDevice, MockWave};
use hostcall::{Access, Builtins, CallError, Console, DirGrant, Policy, Server, Sink};

use crate::Input;

/// What lies beside the granted directory.
pub const SECRET: &[u8] = b"what no guest may see";

/// Plays one input.
pub fn run(data: &[u8]) {
    play(data, b"a file");
}

/// Plays one input with this content in the granted `/data/file`.
///
/// # Panics
/// When a guest reads the secret, or changes anything beside the granted directory.
pub fn play(data: &[u8], file: &[u8]) {
    let base = tempfile::tempdir().expect("a directory for the test");
    let granted = base.path().join("granted");
    populate(base.path(), &granted);
    fs::write(granted.join("file"), file).expect("a fresh directory");

    let mut policy = Policy::new();
    policy.dir(&DirGrant::new(&granted, "/data", Access::ReadWrite)).expect("the directory exists");
    policy.dir(&DirGrant::new(granted.join("sub"), "/ro/deep", Access::ReadOnly)).expect("the directory exists");
    let builtins = Builtins::new(policy, Console::new(Sink::Null, Sink::Null));
    let services = builtins.services();
    let number = |name: &str| 1 + services.iter().position(|service| service.name() == name).expect("a built-in service") as u16;
    let numbers = Numbers {
        open: number("Files__open"),
        read: number("Files__read"),
        stat: number("Files__stat_path"),
        remove_file: number("Files__remove_file"),
        remove_dir: number("Files__remove_dir"),
        rename: number("Files__rename"),
        create_dir: number("Files__create_dir"),
        open_dir: number("Files__open_dir"),
    };
    let geometry = Geometry { slots: 0, slot_bytes: 0, ..Geometry::new(1, 32) };
    let buffer = PortBuffer::in_process(geometry).expect("a good geometry");
    let server = Server::without_device().threads(1).blocking_threads(1).services(services).start().expect("each name once");
    let _awake = server.keep_awake();
    let guest = Guest(MockDevice::new(server.add_buffer(buffer)).wave(0));

    let mut input = Input::new(data);
    while !input.is_empty() {
        guest.act(&numbers, &mut input);
    }

    drop(server);
    assert_eq!(fs::read(base.path().join("secret.txt")).expect("the secret is still there"), SECRET);
    let mut beside: Vec<_> = fs::read_dir(base.path()).expect("a directory").map(|entry| entry.expect("an entry").file_name()).collect();
    beside.sort();
    assert_eq!(beside, ["granted", "outside", "secret.txt"], "something changed beside the granted directory");
    assert_eq!(fs::read_dir(base.path().join("outside")).expect("a directory").count(), 0);
}

fn populate(base: &Path, granted: &Path) {
    fs::create_dir(base.join("outside")).expect("a fresh directory");
    fs::create_dir_all(granted.join("sub/deeper")).expect("a fresh directory");
    fs::write(base.join("secret.txt"), SECRET).expect("a fresh directory");
    fs::write(granted.join("sub/file"), b"another").expect("a fresh directory");
    for (target, name) in [
        ("../secret.txt", "out"),
        ("../outside", "outdir"),
        ("..", "up"),
        ("loop", "loop"),
        ("missing", "dangling"),
        ("sub", "inside"),
        ("../../secret.txt", "sub/out"),
    ] {
        symlink(target, granted.join(name)).expect("a fresh directory");
    }
    // Not to the machine's root: should a path lead out, it is the test's own files that go.
    symlink(base, granted.join("root")).expect("a fresh directory");
    symlink(base.join("secret.txt"), granted.join("absolute")).expect("a fresh directory");
}

struct Numbers {
    open: u16,
    read: u16,
    stat: u16,
    remove_file: u16,
    remove_dir: u16,
    rename: u16,
    create_dir: u16,
    open_dir: u16,
}

struct Guest(MockWave);

impl Guest {
    fn act(&self, numbers: &Numbers, input: &mut Input<'_>) {
        match input.byte() % 8 {
            0 | 1 => {
                let options = u32::from(input.byte());
                let path = path(input);
                let reply = self.call(numbers.open, &[path.len() as u32, options], &path);
                // `Ok(handle)`: see what is in it.
                if let [0, low, high, ..] = reply[..] {
                    let units = self.call(numbers.read, &[low, high, 64], &[]);
                    let read: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
                    assert!(!read.windows(SECRET.len()).any(|window| window == SECRET), "the secret was read through {path:?}");
                }
            }
            2 => self.one(numbers.stat, input, &[1]),
            3 => self.one(numbers.remove_file, input, &[]),
            4 => self.one(numbers.remove_dir, input, &[]),
            5 => {
                let (from, to) = (path(input), path(input));
                let bytes = [padded(&from), padded(&to)].concat();
                self.call(numbers.rename, &[from.len() as u32, to.len() as u32], &bytes);
            }
            6 => self.one(numbers.create_dir, input, &[1]),
            _ => self.one(numbers.open_dir, input, &[]),
        }
    }

    /// A call with one path, and fixed arguments behind it.
    fn one(&self, service: u16, input: &mut Input<'_>, rest: &[u32]) {
        let path = path(input);
        let mut fixed = vec![path.len() as u32];
        fixed.extend(rest);
        self.call(service, &fixed, &path);
    }

    /// The reply's payload; empty when the call failed as a whole.
    fn call(&self, service: u16, fixed: &[u32], bytes: &[u8]) -> Vec<u32> {
        match self.0.call_var(service, fixed, &padded(bytes)) {
            Ok(units) => units,
            Err(CallError::Malformed) => Vec::new(),
            Err(error) => panic!("service {service}: {error}"),
        }
    }
}

/// Each variable part takes whole units.
fn padded(bytes: &[u8]) -> Vec<u8> {
    let mut padded = bytes.to_vec();
    padded.resize(bytes.len().next_multiple_of(4), 0);
    padded
}

/// A path: pieces that matter, or bytes of the input.
fn path(input: &mut Input<'_>) -> Vec<u8> {
    const PIECES: [&str; 24] = [
        "/",
        "..",
        ".",
        "data",
        "ro",
        "deep",
        "sub",
        "file",
        "out",
        "up",
        "root",
        "loop",
        "dangling",
        "inside",
        "outdir",
        "absolute",
        "secret.txt",
        "deeper",
        "granted",
        "//",
        "new",
        "../",
        "/data/",
        "outside",
    ];
    let mut path = Vec::new();
    for _ in 0..input.byte() % 12 {
        let choice = usize::from(input.byte());
        match PIECES.get(choice % 32) {
            Some(piece) => path.extend(piece.as_bytes()),
            None => path.extend(input.bytes(1 + choice % 5)),
        }
    }
    path
}
