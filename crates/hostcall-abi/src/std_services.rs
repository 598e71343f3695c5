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
            /// Reads from standard input: how many bytes; 0 at the end. `EAGAIN` if there is nothing yet: `StdNet::poll` waits for it.
            fn stdin(into: &mut [u8]) -> Result<u32, u32>;
            /// Writes the lane's text to standard output (stream 1) or standard error (2), whole: how many bytes. It is accepted before it is written; an
            /// error may be that of an earlier text, and this one is not accepted then.
            fn write(stream: u32, text: &[u8]) -> Result<u32, u32>;
            /// Waits until all texts of the stream are written. An error is that of one of them.
            fn flush(stream: u32) -> Result<(), u32>;
            /// Fills with random bytes fit for secrets.
            fn entropy(into: &mut [u8]) -> Result<u32, u32>;
            /// A granted variable, as `NAME=VALUE`: its length, and as much of it as fits. `None` past the last.
            fn variable(index: u32, into: &mut [u8]) -> Option<u32>;
            /// What an error number means, in the host's words: their length, and as much of them as fits.
            fn error_text(errno: u32, into: &mut [u8]) -> u32;
        }

        /// What POSIX knows of files and the device's own library does not ask.
        #[$service]
        pub trait StdFiles {
            /// All that is known of an open file: see `hostcall_abi::std_services::stat`.
            fn stat(handle: u64) -> Result<[u64; 13], u32>;
            /// As `stat`, of a path.
            fn stat_path(path: &[u8], follow: bool) -> Result<[u64; 13], u32>;
            /// The next entries of a directory, as many as fit: how many bytes; 0 at the end. They lie as in Linux's `getdents64`, without `.`
            /// and `..`. `EINVAL` if not even one fits.
            fn list(handle: u64, into: &mut [u8]) -> Result<u32, u32>;
            /// Another handle for what `handle` stands for.
            fn duplicate(handle: u64) -> Result<u64, u32>;
            /// Sets the permission bits of a file that is open for writing.
            fn set_mode(handle: u64, mode: u32) -> Result<(), u32>;
            /// As `set_mode`, of a path in a directory that is granted for writing.
            fn set_mode_path(path: &[u8], mode: u32) -> Result<(), u32>;
            /// The path without links, `.` and `..`, as the program sees it: its length, and as much as fits.
            fn canonicalize(path: &[u8], into: &mut [u8]) -> Result<u32, u32>;
        }

        /// Sockets. No call but `resolve` and `poll` waits: they say `EAGAIN`, and `wait` waits as the socket's mode and timeouts want.
        /// An address is `[4 or 6, port, address in four units as in the header, flow label, scope]`; all zero is none.
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
            /// Receives, or with `peek` looks: how many bytes and from where.
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
            /// Joins or leaves the multicast group of an address; `interface` is an address in version 4, an index in version 6.
            fn membership(handle: u64, join: bool, group: [u32; 8], interface: u32) -> Result<(), u32>;
            /// Addresses of a name, four units and a family each: how many there are, of which as many as fit are copied.
            fn resolve(name: &str, into: &mut [[u32; 5]]) -> Result<u32, u32>;
            /// Waits until the socket can do what `events` (of `poll`) say, or its timeout is over: `EAGAIN`, as for a socket that does not block.
            fn wait(handle: u64, events: u32) -> Result<(), u32>;
            /// Waits for events of up to 16 handles (0: standard input), each `[handle, events]`, for so many nanoseconds (negative: for
            /// ever). Returns what happened, 16 bits of each.
            fn poll(handles: &[[u64; 2]], nanos: i64) -> Result<[u32; 8], u32>;
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
