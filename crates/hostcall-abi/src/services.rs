//! The table of built-in services: what the device library's `print`, `fs`, `time`, ... call.
//!
//! The device stubs, the host's registration and the documentation come from this one table. Built-in services are
//! ordinary services: they have names, and get numbers when a program is attached. The host's policy decides what they
//! allow. Errors of files travel as Linux's errno numbers.

/// Expands to the traits of the built-in services under the attribute given, which is
/// `hostcall_macros::service` with the side that is wanted:
/// `hostcall_abi::builtin_services!(hostcall_macros::service(side = "device", krate = crate));`
#[macro_export]
macro_rules! builtin_services {
    ($service:meta) => {
        /// Standard output (stream 1) and standard error (stream 2).
        ///
        /// Calls, not posts: a lane goes on when the host has its text, so texts of one lane stay in order
        /// whichever ports they travel through, and nothing printed is lost when the kernel faults later.
        #[$service]
        pub trait Console {
            /// Writes the lane's text, whole.
            fn print(stream: u32, text: &[u8]) -> ();
            /// A piece of a text that does not fit into one call. The host joins the pieces with the same
            /// `key` and writes them, whole, with the `last`.
            fn print_piece(stream: u32, key: u64, last: bool, text: &[u8]) -> ();
            /// Writes what C's `printf` makes of a format and values, which the host puts together: how many bytes.
            /// `values` and texts: see `hostcall_abi::services::printf`.
            fn format(stream: u32, format: &[u8], values: &[u32], text0: &[u8], text1: &[u8], text2: &[u8], text3: &[u8]) -> u32;
        }

        /// Files and directories. A handle is a number that only the program it was given to can use; a path is bytes
        /// without a zero.
        #[$service]
        pub trait Files {
            /// Opens a file. `options`: see `hostcall_abi::services::open`.
            fn open(path: &[u8], options: u32) -> Result<u64, u32>;
            /// Closes a file or directory.
            fn close(handle: u64);
            /// Reads at the file's cursor: how many bytes; 0 at the end.
            fn read(handle: u64, into: &mut [u8]) -> Result<u32, u32>;
            /// Reads at `offset`.
            fn read_at(handle: u64, offset: u64, into: &mut [u8]) -> Result<u32, u32>;
            /// Writes at the file's cursor (appending files: at the end): how many bytes.
            fn write(handle: u64, from: &[u8]) -> Result<u32, u32>;
            /// Writes at `offset`.
            fn write_at(handle: u64, offset: u64, from: &[u8]) -> Result<u32, u32>;
            /// Moves the cursor. `whence`: 0 from the start, 1 from here, 2 from the end, 3 to data from an offset on,
            /// 4 to a hole from there on.
            fn seek(handle: u64, whence: u32, offset: i64) -> Result<u64, u32>;
            /// Sets the length.
            fn set_len(handle: u64, len: u64) -> Result<(), u32>;
            /// Waits until everything written is on the disk.
            fn sync(handle: u64) -> Result<(), u32>;
            /// `[length, kind (see hostcall_abi::services::kind), mode, modified: seconds, nanoseconds]`.
            fn stat(handle: u64) -> Result<[u64; 5], u32>;
            /// As `stat`, of a path.
            fn stat_path(path: &[u8], follow: bool) -> Result<[u64; 5], u32>;
            /// Removes a file.
            fn remove_file(path: &[u8]) -> Result<(), u32>;
            /// Removes an empty directory.
            fn remove_dir(path: &[u8]) -> Result<(), u32>;
            /// Renames a file or directory.
            fn rename(from: &[u8], to: &[u8]) -> Result<(), u32>;
            /// Creates a directory; with `all` its parents as well, and it may exist.
            fn create_dir(path: &[u8], all: bool) -> Result<(), u32>;
            /// Opens a directory for `next_entry`.
            fn open_dir(path: &[u8]) -> Result<u64, u32>;
            /// The next entry: `(bytes of its name, kind)`. `ERANGE`, and the entry stays next, if `name` is
            /// too small.
            fn next_entry(handle: u64, name: &mut [u8]) -> Result<Option<(u32, u32)>, u32>;
        }

        /// The host's wall clock.
        #[$service]
        pub trait Clock {
            /// Seconds and nanoseconds since the start of 1970.
            fn system_time() -> (i64, u32);
        }

        /// Arguments and variables that the host granted.
        #[$service]
        pub trait Environment {
            /// How many arguments there are.
            fn arg_count() -> u32;
            /// Bytes of an argument, as many as fit of which are put into `value`.
            fn arg(index: u32, value: &mut [u8]) -> Option<u32>;
            /// Bytes of a variable's value, as many as fit of which are put into `value`.
            fn var(name: &[u8], value: &mut [u8]) -> Option<u32>;
        }

        /// The end of kernels.
        #[$service]
        pub trait Process {
            /// Lanes of a wave panicked: workgroup, the first lane's thread in it, which lanes, `[line, column]`, file,
            /// message.
            fn panicked(block: [u32; 3], thread: [u32; 3], lanes: u64, place: [u32; 2], file: &[u8], message: &[u8]) -> ();
            /// Lanes of a wave end by a failure that the host puts into words, see `hostcall_abi::failure`: workgroup,
            /// the first lane's thread in it, which lanes, a `Cause` and its numbers, line, what failed, file.
            fn failed(
                block: [u32; 3],
                thread: [u32; 3],
                lanes: u64,
                cause: u32,
                numbers: [u64; 3],
                line: u32,
                what: [u8; 128],
                file: [u8; 96],
            );
            /// Lanes of a wave failed a check of a kernel in C++: `[workgroup (3), the first lane's thread in it (3),
            /// which lanes (2), line, what came along]`, see `hostcall_abi::services::check`; the file, the condition,
            /// the function; values and texts as of `format`, of a message that belongs to it. They end, or go on.
            fn asserted(
                place: [u32; 10],
                file: &[u8],
                condition: &[u8],
                values: &[u32],
                format: &[u8],
                text0: &[u8],
                text1: &[u8],
                function: &[u8],
            );
            /// A lane ends the kernel with an exit code.
            fn exit(code: i32) -> ();
            /// A lane ends the kernel at once.
            fn abort(block: [u32; 3], thread: [u32; 3]) -> ();
        }

        /// Sessions of programs that were compiled with `include/hostcall_rpc.h` in the place of LLVM's `rpc.h`: what a
        /// lane sends and gets is the row of packets that it is there, see `hostcall_abi::llvm_rpc`. A session that
        /// waits for the lane's next call has a number; 0 begins one, and says that it is over.
        #[$service]
        pub trait LlvmRpc {
            /// A packet of the lane's, and one for it: `(session, packet)`.
            fn packet(session: u32, opcode: u32, packet: [u64; 8]) -> (u32, [u64; 8]);
            /// The same for two of the lane's.
            fn pair(session: u32, opcode: u32, packets: [u64; 16]) -> (u32, [u64; 8]);
            /// Packets of the lane's, behind which bytes of a string go on; the last packet is filled up with zeros.
            /// First come bytes of a string for the lane, without the rest of their last packet, and behind it
            /// packets. `wants`: whether the lane needs one.
            fn exchange(
                session: u32,
                opcode: u32,
                wants: bool,
                packets: &[u8],
                string: &[u8],
                string_back: &mut [u8],
                packets_back: &mut [u8],
            ) -> u32;
            /// The last packets of the lane's, which closes its port.
            fn close(session: u32, opcode: u32, packets: &[u8]);
        }
    };
}

/// The values of `Console::format`: three units each. The first is the type ([`KIND`](printf::KIND)) and, of integers,
/// the bytes ([`SIZE_SHIFT`](printf::SIZE_SHIFT)) from which they were extended to 64 bits by their sign; then the
/// value, low half first.
pub mod printf {
    /// The bits of the type.
    pub const KIND: u32 = 0xff;
    /// Where an integer's size in bytes is: 1, 2, 4 or 8.
    pub const SIZE_SHIFT: u32 = 8;
    /// An integer with a sign.
    pub const SIGNED: u32 = 1;
    /// An integer without one.
    pub const UNSIGNED: u32 = 2;
    /// A floating-point number of 64 bits.
    pub const FLOAT: u32 = 3;
    /// An address.
    pub const POINTER: u32 = 4;
    /// One of the texts, by its number; or [`NULL`].
    pub const TEXT: u32 = 5;
    /// A code point.
    pub const CHAR: u32 = 6;
    /// The number of the text that a null pointer is.
    pub const NULL: u32 = u32::MAX;
    /// Texts of one call.
    pub const TEXTS: usize = 4;
}

/// What came along with `Process::asserted`, in bits. Values are those of [`printf`], and the two of the comparison
/// know types more.
pub mod check {
    /// The first two values are what was compared.
    pub const SIDES: u32 = 1;
    /// It is the first comparison of a condition that has more.
    pub const FIRST_OF: u32 = 2;
    /// The lanes go on.
    pub const GOES_ON: u32 = 4;
    /// The type of a value of which there is no text.
    pub const OTHER: u32 = 0;
    /// The type of a truth value.
    pub const BOOL: u32 = 7;
    /// Texts of a message.
    pub const TEXTS: usize = 2;
}

/// Bits of the `options` of `Files::open`.
pub mod open {
    /// For reading.
    pub const READ: u32 = 1;
    /// For writing.
    pub const WRITE: u32 = 2;
    /// Every write goes to the end.
    pub const APPEND: u32 = 4;
    /// Cut to length 0.
    pub const TRUNCATE: u32 = 8;
    /// Create it if it does not exist.
    pub const CREATE: u32 = 16;
    /// Create it, and fail if it exists.
    pub const CREATE_NEW: u32 = 32;
    /// All bits that mean something.
    pub const KNOWN: u32 = 63;
}

/// Kinds of directory entries.
pub mod kind {
    /// A regular file.
    pub const FILE: u32 = 1;
    /// A directory.
    pub const DIR: u32 = 2;
    /// A symbolic link.
    pub const SYMLINK: u32 = 3;
    /// Anything else.
    pub const OTHER: u32 = 4;
}

/// Linux's errno numbers, as far as they cross the wire by name. Others pass through as numbers.
pub mod errno {
    /// Operation not permitted.
    pub const EPERM: u32 = 1;
    /// No such file or directory.
    pub const ENOENT: u32 = 2;
    /// Interrupted.
    pub const EINTR: u32 = 4;
    /// Input or output error.
    pub const EIO: u32 = 5;
    /// No such handle.
    pub const EBADF: u32 = 9;
    /// Would block.
    pub const EAGAIN: u32 = 11;
    /// Out of memory.
    pub const ENOMEM: u32 = 12;
    /// Permission denied.
    pub const EACCES: u32 = 13;
    /// Exists already.
    pub const EEXIST: u32 = 17;
    /// Crosses devices (or grants).
    pub const EXDEV: u32 = 18;
    /// Not a directory.
    pub const ENOTDIR: u32 = 20;
    /// Is a directory.
    pub const EISDIR: u32 = 21;
    /// Invalid argument.
    pub const EINVAL: u32 = 22;
    /// Too many open files.
    pub const EMFILE: u32 = 24;
    /// File too large.
    pub const EFBIG: u32 = 27;
    /// No space left.
    pub const ENOSPC: u32 = 28;
    /// Cannot seek.
    pub const ESPIPE: u32 = 29;
    /// Read-only file system.
    pub const EROFS: u32 = 30;
    /// Broken pipe.
    pub const EPIPE: u32 = 32;
    /// Result does not fit.
    pub const ERANGE: u32 = 34;
    /// Name too long.
    pub const ENAMETOOLONG: u32 = 36;
    /// Not supported here.
    pub const ENOSYS: u32 = 38;
    /// Directory not empty.
    pub const ENOTEMPTY: u32 = 39;
    /// Too many symbolic links.
    pub const ELOOP: u32 = 40;
    /// Timed out.
    pub const ETIMEDOUT: u32 = 110;
    /// A cap of the host's policy.
    pub const EDQUOT: u32 = 122;
    /// Not a socket.
    pub const ENOTSOCK: u32 = 88;
    /// Not supported.
    pub const ENOTSUP: u32 = 95;
    /// No such family of addresses.
    pub const EAFNOSUPPORT: u32 = 97;
    /// Not connected.
    pub const ENOTCONN: u32 = 107;
}
