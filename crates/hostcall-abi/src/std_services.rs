//! The table of the services that only programs with Rust's `std` call. System calls need them, and the library of
//! no_std kernels does not.
//!
//! They are built in as well, and the same rules hold. They have a table of their own, so that a kernel without `std`
//! does not carry their words.

/// As [`builtin_services`](crate::builtin_services).
#[macro_export]
macro_rules! std_services {
    ($service:meta) => {
        /// What a process has besides files.
        #[$service]
        pub trait StdSystem {
            /// Reads from standard input: how many bytes; 0 at the end. `EAGAIN` if there is nothing yet:
            /// `StdNet::poll` waits for it.
            fn stdin(into: &mut [u8]) -> Result<u32, u32>;
            /// Writes the lane's text to standard output (stream 1) or standard error (2), whole: how many bytes. It is
            /// accepted before it is written; an error may be that of an earlier text, and this one is not accepted
            /// then.
            fn write(stream: u32, text: &[u8]) -> Result<u32, u32>;
            /// Waits until all texts of the stream are written. An error is that of one of them.
            fn flush(stream: u32) -> Result<(), u32>;
            /// Fills with random bytes fit for secrets.
            fn entropy(into: &mut [u8]) -> Result<u32, u32>;
            /// A granted variable, as `NAME=VALUE`: its length, and as much of it as fits. `None` past the last.
            fn variable(index: u32, into: &mut [u8]) -> Option<u32>;
            /// What an error number means, in the host's words: their length, and as much of them as fits.
            fn error_text(errno: u32, into: &mut [u8]) -> u32;
            /// Whose files a program's files become: the user, the group and the umask of the host's process.
            fn identity() -> [u32; 3];
            /// The directory in which the program starts, where the host has relative paths begin: its length, and as
            /// much of it as fits.
            fn start(into: &mut [u8]) -> u32;
            /// Standard input as a file, if it is one: a handle with the cursor that whoever started the program
            /// shares. `ESPIPE` if it is none.
            fn input() -> Result<u64, u32>;
            /// What is known of standard input (0), output (1) or error (2): as `StdFiles::stat`.
            fn stream(number: u32) -> Result<[u64; 16], u32>;
            /// What of an argument (`list` 0) or of a granted variable (1) is behind its first bytes: its length, and
            /// as much of it as fits. `None` past the last.
            fn rest(list: u32, index: u32, from: u32, into: &mut [u8]) -> Option<u32>;
            /// Rows, columns, and width and height in pixels, of the terminal that standard input (0), output (1) or
            /// error (2) is; what it does not say is 0. `ENOTTY` if it is none.
            fn terminal(number: u32) -> Result<[u32; 4], u32>;
        }

        /// What POSIX knows of files and the device's own library does not ask.
        #[$service]
        pub trait StdFiles {
            /// All that is known of an open file: see `hostcall_abi::std_services::stat`.
            fn stat(handle: u64) -> Result<[u64; 16], u32>;
            /// As `stat`, of a path.
            fn stat_path(path: &[u8], follow: bool) -> Result<[u64; 16], u32>;
            /// Opens what is there, or creates a file: the handle, and what it is (`hostcall_abi::services::kind`).
            /// `options`: see `hostcall_abi::std_services::open`. `mode` has the permission bits of a file that is
            /// created, exactly: a umask is the caller's affair. No later call on the handle waits: where others would,
            /// `EAGAIN` is said, and `StdNet::poll` waits.
            fn open(path: &[u8], options: u32, mode: u32) -> Result<(u64, u32), u32>;
            /// The next entries of a directory, as many as fit: how many bytes; 0 at the end. They lie as in Linux's
            /// `getdents64`, without `.` and `..`. `EINVAL` if not even one fits.
            fn list(handle: u64, into: &mut [u8]) -> Result<u32, u32>;
            /// Begins the list of a directory anew.
            fn rewind(handle: u64) -> Result<(), u32>;
            /// Another handle for what `handle` stands for.
            fn duplicate(handle: u64) -> Result<u64, u32>;
            /// Creates a directory with these permission bits, exactly.
            fn make_dir(path: &[u8], mode: u32) -> Result<(), u32>;
            /// Creates a FIFO with these permission bits, exactly.
            fn make_fifo(path: &[u8], mode: u32) -> Result<(), u32>;
            /// Gives a file another name. If `old` is a symbolic link, the new name is the link's, or with `follow`
            /// that of what it leads to.
            fn link(old: &[u8], new: &[u8], follow: bool) -> Result<(), u32>;
            /// Makes a symbolic link at `new` with this text. It is followed in the program's own tree: an absolute one
            /// from the root of its paths.
            fn symlink(target: &[u8], new: &[u8]) -> Result<(), u32>;
            /// The text of a symbolic link: its length, and as much as fits.
            fn read_link(path: &[u8], into: &mut [u8]) -> Result<u32, u32>;
            /// Renames, with Linux's flags: `RENAME_NOREPLACE` (1) or `RENAME_EXCHANGE` (2).
            fn rename(from: &[u8], to: &[u8], flags: u32) -> Result<(), u32>;
            /// Sets the permission bits of what is open, in a directory that is granted for writing.
            fn set_mode(handle: u64, mode: u32) -> Result<(), u32>;
            /// As `set_mode`, of a path.
            fn set_mode_path(path: &[u8], mode: u32) -> Result<(), u32>;
            /// Sets user and group of what is open, as far as the host lets its process; `u32::MAX` leaves one as it
            /// is.
            fn set_owner(handle: u64, user: u32, group: u32) -> Result<(), u32>;
            /// As `set_owner`, of a path.
            fn set_owner_path(path: &[u8], follow: bool, user: u32, group: u32) -> Result<(), u32>;
            /// Sets when it was accessed and modified: seconds and nanoseconds of each. Nanoseconds may be
            /// `hostcall_abi::std_services::time`'s `NOW` or `OMIT`.
            fn set_times(handle: u64, times: [i64; 4]) -> Result<(), u32>;
            /// As `set_times`, of a path.
            fn set_times_path(path: &[u8], follow: bool, times: [i64; 4]) -> Result<(), u32>;
            /// Sets the length of a file.
            fn set_len_path(path: &[u8], len: u64) -> Result<(), u32>;
            /// Allocates, or with Linux's `FALLOC_FL_…` in `mode` frees, bytes of a file that is open for writing.
            fn allocate(handle: u64, mode: u32, offset: u64, len: u64) -> Result<(), u32>;
            /// Waits until the bytes written are on the disk, and what is needed to read them.
            fn sync_data(handle: u64) -> Result<(), u32>;
            /// Whether the host lets its process read (4), write (2) and execute (1) it; 0: whether it is there.
            fn access(path: &[u8], follow: bool, mode: u32) -> Result<(), u32>;
            /// What is known of the file system: see `hostcall_abi::std_services::space`.
            fn space(handle: u64) -> Result<[u64; 11], u32>;
            /// As `space`, of a path.
            fn space_path(path: &[u8]) -> Result<[u64; 11], u32>;
            /// `flock` with Linux's operation: 1 shared, 2 exclusive, 8 none; with 4 it does not wait, and says
            /// `EAGAIN`.
            fn lock(handle: u64, operation: u32) -> Result<(), u32>;
            /// Copies at most `len` bytes from file to file on the host: how many; 0 at the end. An offset is a place
            /// in the file, or -1 for its cursor, which then moves.
            fn copy(from: u64, from_offset: i64, to: u64, to_offset: i64, len: u64) -> Result<u64, u32>;
            /// The path without links, `.` and `..`, as the program sees it: its length, and as much as fits.
            fn canonicalize(path: &[u8], into: &mut [u8]) -> Result<u32, u32>;
            /// Opens an `inotify` of the host's kernel: a handle from which its notices are read. `ENOSYS` where that
            /// has none.
            fn watcher() -> Result<u64, u32>;
            /// Has it tell what Linux's `mask` says of a path: the number by which its notices name that.
            fn watch(watcher: u64, path: &[u8], mask: u32) -> Result<i32, u32>;
            /// Has it tell no more of what has that number.
            fn unwatch(watcher: u64, watch: i32) -> Result<(), u32>;
        }

        /// Sockets. No call but `resolve`, `poll` and `poll_any` waits: they say `EAGAIN`, and `wait` waits as the
        /// socket's mode and timeouts want. An address is `[4 or 6, port, address in four units as in the header, flow
        /// label, scope]`; all zero is none.
        #[$service]
        pub trait StdNet {
            /// A socket of family 4 or 6, for streams (1) or datagrams (2).
            fn socket(family: u32, kind: u32) -> Result<u64, u32>;
            /// Gives it an address.
            fn bind(handle: u64, address: [u32; 8]) -> Result<(), u32>;
            /// Lets others connect.
            fn listen(handle: u64, backlog: u32) -> Result<(), u32>;
            /// Begins to connect: `EINPROGRESS` if it is not done at once.
            fn connect(handle: u64, address: [u32; 8]) -> Result<(), u32>;
            /// A connection that somebody made.
            fn accept(handle: u64) -> Result<(u64, [u32; 8]), u32>;
            /// Receives, or with `peek` looks: how many bytes and from where. `EINTR`: to be called again at once.
            fn receive(handle: u64, peek: bool, into: &mut [u8]) -> Result<(u32, [u32; 8]), u32>;
            /// Sends: how many bytes. Without an address, to whom it is connected.
            fn send(handle: u64, address: [u32; 8], from: &[u8]) -> Result<u32, u32>;
            /// Its own address, or its peer's.
            fn name(handle: u64, peer: bool) -> Result<[u32; 8], u32>;
            /// Ends reading (0), writing (1) or both (2).
            fn shutdown(handle: u64, how: u32) -> Result<(), u32>;
            /// An option's value: see `hostcall_abi::std_services::option`.
            fn option(handle: u64, option: u32) -> Result<u64, u32>;
            /// Sets an option.
            fn set_option(handle: u64, option: u32, value: u64) -> Result<(), u32>;
            /// Joins or leaves the multicast group of an address; `interface` is an address in version 4, an index in
            /// version 6.
            fn membership(handle: u64, join: bool, group: [u32; 8], interface: u32) -> Result<(), u32>;
            /// Addresses of a name, four units and a family each: how many there are, of which as many as fit are
            /// copied.
            fn resolve(name: &str, into: &mut [[u32; 5]]) -> Result<u32, u32>;
            /// Waits until the socket can do what `events` (of `poll`) say, or its timeout is over: `EAGAIN`, as for a
            /// socket that does not block.
            fn wait(handle: u64, events: u32) -> Result<(), u32>;
            /// Waits for events of up to 16 handles (0 to 2: standard input, output and error), each `[handle,
            /// events]`, for so many nanoseconds (negative: for ever). Returns what happened, 16 bits of each. Regular
            /// files and directories are always ready.
            fn poll(handles: &[[u64; 2]], nanos: i64) -> Result<[u32; 8], u32>;
            /// As `poll`, for up to 1024 handles: to how many something happened, and not what, which `poll_now` says.
            fn poll_any(handles: &[[u64; 2]], nanos: i64) -> Result<u32, u32>;
            /// What has happened to each of up to 1024 handles, without waiting: to how many something did.
            fn poll_now(handles: &[[u64; 2]], events: &mut [u32]) -> Result<u32, u32>;
        }

        /// Waiting for what is on both sides: sets of handles, and alarms with which one lane ends another's wait on
        /// the host.
        #[$service]
        pub trait StdWatch {
            /// A new alarm: a handle that `StdNet::poll` and `wait` take. Rung, it is ready for reading, until a call
            /// that waited for it has said so.
            fn alarm() -> Result<u64, u32>;
            /// Rings an alarm.
            fn ring(alarm: u64);
            /// A new set of handles: an `epoll` of the host's kernel. `ENOSYS` where that has none. `StdNet::poll`
            /// takes it as a handle.
            fn set() -> Result<u64, u32>;
            /// `epoll_ctl`: puts a handle (0: standard input) into a set (`operation` 1), takes it out (2) or changes
            /// what is asked of it (3). `events` are Linux's, with its options; `data` comes back with them. Duplicates
            /// of a handle are one member.
            fn change(set: u64, operation: u32, handle: u64, events: u32, data: u64) -> Result<(), u32>;
            /// `epoll_wait`: what happened to up to `most` members, 6 at most: events and data of each, of which one
            /// without events is the end. Waits for it, or for the alarm (0: none), for so many nanoseconds (negative:
            /// for ever).
            fn wait(set: u64, alarm: u64, nanos: i64, most: u32) -> Result<[u64; 12], u32>;
        }
    };
}

/// Places in what `StdFiles::stat` returns.
pub mod stat {
    /// Device.
    pub const DEV: usize = 0;
    /// Inode.
    pub const INO: usize = 1;
    /// Links.
    pub const LINKS: usize = 2;
    /// Type and permissions, as Linux has them.
    pub const MODE: usize = 3;
    /// Owner, and group in the upper half.
    pub const OWNER: usize = 4;
    /// Bytes.
    pub const SIZE: usize = 5;
    /// Bytes of a block, and blocks of 512 bytes in the upper half.
    pub const BLOCKS: usize = 6;
    /// Seconds and nanoseconds of the last access.
    pub const ACCESSED: usize = 7;
    /// Seconds and nanoseconds of the last change.
    pub const MODIFIED: usize = 9;
    /// Seconds and nanoseconds of the creation; both 0 if the file system does not say.
    pub const CREATED: usize = 11;
    /// Seconds and nanoseconds of the last change of the status.
    pub const CHANGED: usize = 13;
    /// What device it is, if it is one.
    pub const RDEV: usize = 15;
}

/// Bits of the `options` of `StdFiles::open`: those of [`services::open`](crate::services::open), and these.
pub mod open {
    pub use crate::services::open::{APPEND, CREATE, CREATE_NEW, READ, TRUNCATE, WRITE};
    /// `ELOOP` for a symbolic link, or with [`DIRECTORY`] `ENOTDIR`; with [`PATH`] the link itself.
    pub const NO_FOLLOW: u32 = 64;
    /// `ENOTDIR` for anything but a directory.
    pub const DIRECTORY: u32 = 128;
    /// Only its place: the handle can be asked what it is, and nothing else. Of the other bits only [`NO_FOLLOW`] and
    /// [`DIRECTORY`] count.
    pub const PATH: u32 = 256;
    /// Every write waits until it is on the disk.
    pub const SYNC: u32 = 512;
    /// As [`SYNC`], for the bytes and what is needed to read them.
    pub const DATA_SYNC: u32 = 1024;
    /// A file without a name: refused with `ENOTSUP`.
    pub const UNNAMED: u32 = 2048;
    /// All bits that mean something.
    pub const KNOWN: u32 = 4095;
}

/// Nanoseconds of `StdFiles::set_times` that are none: Linux's numbers.
pub mod time {
    /// The host's time now.
    pub const NOW: i64 = 0x3fff_ffff;
    /// As it is.
    pub const OMIT: i64 = 0x3fff_fffe;
}

/// Places in what `StdFiles::space` returns.
pub mod space {
    /// Bytes of a block.
    pub const BLOCK: usize = 0;
    /// Bytes of a fragment, the unit of the counts of blocks.
    pub const FRAGMENT: usize = 1;
    /// Blocks.
    pub const BLOCKS: usize = 2;
    /// Free blocks.
    pub const FREE: usize = 3;
    /// Free blocks for whoever is not privileged.
    pub const AVAILABLE: usize = 4;
    /// Files there can be.
    pub const FILES: usize = 5;
    /// Files there still can be.
    pub const FILES_FREE: usize = 6;
    /// Bytes of the longest name.
    pub const NAME: usize = 7;
    /// Which file system it is, as Linux numbers them.
    pub const TYPE: usize = 8;
    /// Flags of the mount, `ST_…`. A grant for reading is [`ST_RDONLY`](READ_ONLY).
    pub const FLAGS: usize = 9;
    /// Which one it is: the first half of Linux's `fsid` in the lower half.
    pub const ID: usize = 10;
    /// `ST_RDONLY`.
    pub const READ_ONLY: u64 = 1;
}

/// Options of sockets. Times are nanoseconds, 0 for none; truth values are 0 and 1.
pub mod option {
    /// Whether calls do not wait.
    pub const NONBLOCKING: u32 = 1;
    /// How long receiving waits.
    pub const RECEIVE_TIMEOUT: u32 = 2;
    /// How long sending waits.
    pub const SEND_TIMEOUT: u32 = 3;
    /// The pending error, which is then forgotten.
    pub const ERROR: u32 = 4;
    /// `TCP_NODELAY`.
    pub const NODELAY: u32 = 5;
    /// `IP_TTL`.
    pub const TTL: u32 = 6;
    /// `SO_BROADCAST`.
    pub const BROADCAST: u32 = 7;
    /// `SO_REUSEADDR`.
    pub const REUSE_ADDRESS: u32 = 8;
    /// `SO_KEEPALIVE`.
    pub const KEEP_ALIVE: u32 = 9;
    /// `SO_LINGER`: seconds plus 1, 0 for off.
    pub const LINGER: u32 = 10;
    /// `IPV6_V6ONLY`.
    pub const ONLY_V6: u32 = 11;
    /// `IP_MULTICAST_LOOP`.
    pub const MULTICAST_LOOP_V4: u32 = 12;
    /// `IP_MULTICAST_TTL`.
    pub const MULTICAST_TTL_V4: u32 = 13;
    /// `IPV6_MULTICAST_LOOP`.
    pub const MULTICAST_LOOP_V6: u32 = 14;
    /// `SO_SNDBUF`.
    pub const SEND_BUFFER: u32 = 15;
    /// `SO_RCVBUF`.
    pub const RECEIVE_BUFFER: u32 = 16;
}

/// Events of `StdNet::wait` and `StdNet::poll`: Linux's numbers.
pub mod event {
    /// Something can be read.
    pub const IN: u32 = 1;
    /// Something urgent can be read.
    pub const PRIORITY: u32 = 2;
    /// Something can be written.
    pub const OUT: u32 = 4;
    /// An error. Always looked for.
    pub const ERROR: u32 = 8;
    /// The other side is gone. Always looked for.
    pub const HANG_UP: u32 = 16;
    /// No such handle.
    pub const INVALID: u32 = 32;
    /// All that can be asked for.
    pub const ASKED: u32 = IN | PRIORITY | OUT;
}
