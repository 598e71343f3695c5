//! Paths from a guest, against a granted directory with a secret beside it.
//!
//! The granted directory has files, a subdirectory, and symbolic links out of it, to itself and to nowhere. Whatever a guest does with
//! its paths, what lies beside the granted directory is neither read nor changed.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use hostcall::test_utils::{RawPorts, Sweeper, var_units};
use hostcall::{Access, Builtins, Console, DirGrant, Geometry, Policy, PortBuffer, Sink, Status};
use hostcall_abi::codec::VarHead;
use hostcall_abi::{Flags, ReplyHead, Tag};

use crate::Input;

const SECRET: &[u8] = b"what no guest may see";

/// Plays one input.
pub fn run(data: &[u8]) {
    let base = tempfile::tempdir().expect("a directory for the test");
    let granted = base.path().join("granted");
    populate(base.path(), &granted);

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
    let mut server = Sweeper::new(buffer, services).expect("each name once");
    let ports = server.device().raw();
    let mut guest = Guest { server: &mut server, ports, tag: Tag::new(0) };

    let mut input = Input::new(data);
    while !input.is_empty() {
        guest.act(&numbers, &mut input);
    }

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
    fs::write(granted.join("file"), b"a file").expect("a fresh directory");
    fs::write(granted.join("sub/file"), b"another").expect("a fresh directory");
    for (target, name) in [
        ("../secret.txt", "out"),
        ("../outside", "outdir"),
        ("..", "up"),
        ("/", "root"),
        ("loop", "loop"),
        ("missing", "dangling"),
        ("sub", "inside"),
        ("../../secret.txt", "sub/out"),
    ] {
        symlink(target, granted.join(name)).expect("a fresh directory");
    }
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

struct Guest<'a> {
    server: &'a mut Sweeper,
    ports: RawPorts,
    tag: Tag,
}

impl Guest<'_> {
    fn act(&mut self, numbers: &Numbers, input: &mut Input<'_>) {
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
                let mut bytes = from.clone();
                bytes.resize(from.len().next_multiple_of(4), 0);
                bytes.extend(&to);
                self.call(numbers.rename, &[from.len() as u32, to.len() as u32], &bytes);
            }
            6 => self.one(numbers.create_dir, input, &[1]),
            _ => self.one(numbers.open_dir, input, &[]),
        }
    }

    /// A call with one path, and fixed arguments behind it.
    fn one(&mut self, service: u16, input: &mut Input<'_>, rest: &[u32]) {
        let path = path(input);
        let mut fixed = vec![path.len() as u32];
        fixed.extend(rest);
        self.call(service, &fixed, &path);
    }

    /// The reply's payload; empty when the call failed as a whole.
    fn call(&mut self, service: u16, fixed: &[u32], bytes: &[u8]) -> Vec<u32> {
        self.tag = self.tag.next();
        let mut padded = bytes.to_vec();
        padded.resize(bytes.len().next_multiple_of(4), 0);
        let units = var_units(VarHead::INLINE, fixed, &padded);
        self.ports.send(0, 0, self.tag, service, Flags::REPLY, 1, &units);
        self.ports.ring(0, self.tag.payload());
        // A handler that may block gives its call to a pool that a sweeper has not: then there is nothing to see.
        self.server.sweep_all();
        assert!(self.ports.answered(0, self.tag), "service {service} did not answer");
        let head = ReplyHead::decode(self.ports.load(0, 0).data[0]);
        if head.status != Status::OK {
            return Vec::new();
        }
        let words = ReplyHead::words(u32::from(head.dwords));
        let units: Vec<u32> = (0..words).flat_map(|word| self.ports.load(0, word * ReplyHead::stride(1)).data).collect();
        units[1..=usize::from(head.dwords)].to_vec()
    }
}

/// A path: pieces that matter, or bytes of the input.
fn path(input: &mut Input<'_>) -> Vec<u8> {
    const PIECES: [&str; 24] = [
        "/", "..", ".", "data", "ro", "deep", "sub", "file", "out", "up", "root", "loop", "dangling", "inside", "outdir", "absolute",
        "secret.txt", "deeper", "granted", "//", "new", "../", "/data/", "outside",
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
