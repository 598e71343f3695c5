//! What there is not on a device: other processes, signals, users, terminals, libraries that are loaded later. Programs
//! name these functions, and few call them: those that do get the answer that a system without such a thing gives.

use crate::abi::errno::{ECHILD, ENOSYS, ENOTTY, EOPNOTSUPP, EPERM};
use crate::error::{Errno, returned};
use crate::lane;
use core::ffi::{c_char, c_void};
use core::ptr::null_mut;

/// Functions that fail with an error number; parameters are not looked at.
macro_rules! fail {
    ($($(#[$doc:meta])+ $name:ident($($parameter:ty),*): $error:ident;)+) => { $(
        $(#[$doc])+
        #[unsafe(no_mangle)]
        pub extern "C" fn $name($(_: $parameter),*) -> i32 {
            returned(Err(Errno($error)))
        }
    )+ };
}

type Pointer = *mut c_void;
type Text = *const c_char;

fail! {
    /// There is one process.
    libc_fork(): ENOSYS;
    /// There is one program.
    libc_execve(Text, Pointer, Pointer): ENOSYS;
    /// There is one program.
    libc_execvp(Text, Pointer): ENOSYS;
    /// There is one program.
    libc_execv(Text, Pointer): ENOSYS;
    /// There is one process.
    libc_pclose(Pointer): ECHILD;
    /// There is one process.
    libc_wait(Pointer): ECHILD;
    /// There is one process.
    libc_waitpid(i32, Pointer, i32): ECHILD;
    /// There is one process.
    libc_waitid(i32, u32, Pointer, i32): ECHILD;
    /// There are no signals.
    libc_kill(i32, i32): EPERM;
    /// There are no signals.
    libc_killpg(i32, i32): EPERM;
    /// There are no signals.
    libc_raise(i32): EPERM;
    /// There are no users.
    libc_setuid(u32): EPERM;
    /// There are no groups.
    libc_setgid(u32): EPERM;
    /// There are no groups.
    libc_setgroups(usize, Pointer): EPERM;
    /// There are no sessions.
    libc_setsid(): EPERM;
    /// There are no groups of processes.
    libc_setpgid(i32, i32): EPERM;
    /// The tree of grants has one root.
    libc_chroot(Text): EPERM;
    /// There are no terminals.
    libc_cfsetispeed(Pointer, u32): ENOTTY;
    /// There are no terminals.
    libc_cfsetospeed(Pointer, u32): ENOTTY;
    /// There are no users.
    libc_getgrouplist(Text, u32, Pointer, Pointer): EPERM;
    /// There are no terminals.
    libc_tcgetattr(i32, Pointer): ENOTTY;
    /// There are no terminals.
    libc_tcsetattr(i32, i32, Pointer): ENOTTY;
    /// There is one process, and nothing before which it could go.
    libc_setpriority(i32, u32, i32): EPERM;
    /// The clock is the host's.
    libc_clock_settime(i32, Pointer): EPERM;
    /// The host's load and memory are its own affair.
    libc_sysinfo(Pointer): ENOSYS;
    /// Files have no more attributes.
    libc_setxattr(Text, Text, Pointer, usize, i32): EOPNOTSUPP;
    /// Files have no more attributes.
    libc_lsetxattr(Text, Text, Pointer, usize, i32): EOPNOTSUPP;
    /// Files have no more attributes.
    libc_fsetxattr(i32, Text, Pointer, usize, i32): EOPNOTSUPP;
    /// Files have no more attributes.
    libc_removexattr(Text, Text): EOPNOTSUPP;
    /// Files have no more attributes.
    libc_lremovexattr(Text, Text): EOPNOTSUPP;
    /// Files have no more attributes.
    libc_fremovexattr(i32, Text): EOPNOTSUPP;
    /// There is no debugger.
    libc_prctl(i32, crate::variadic::More): ENOSYS;
}

/// Functions that would say how many bytes; they fail as those above.
macro_rules! fail_for_bytes {
    ($($(#[$doc:meta])+ $name:ident($($parameter:ty),*): $error:ident;)+) => { $(
        $(#[$doc])+
        #[unsafe(no_mangle)]
        pub extern "C" fn $name($(_: $parameter),*) -> isize {
            returned(Err(Errno($error)))
        }
    )+ };
}

fail_for_bytes! {
    /// Files have no more attributes.
    libc_getxattr(Text, Text, Pointer, usize): EOPNOTSUPP;
    /// Files have no more attributes.
    libc_lgetxattr(Text, Text, Pointer, usize): EOPNOTSUPP;
    /// Files have no more attributes.
    libc_fgetxattr(i32, Text, Pointer, usize): EOPNOTSUPP;
    /// Files have no more attributes.
    libc_listxattr(Text, Pointer, usize): EOPNOTSUPP;
    /// Files have no more attributes.
    libc_llistxattr(Text, Pointer, usize): EOPNOTSUPP;
    /// Files have no more attributes.
    libc_flistxattr(i32, Pointer, usize): EOPNOTSUPP;
}

/// Functions that fail with an error number that they return; parameters are not looked at.
macro_rules! return_error {
    ($($(#[$doc:meta])+ $name:ident($($parameter:ty),*): $error:expr;)+) => { $(
        $(#[$doc])+
        #[unsafe(no_mangle)]
        pub extern "C" fn $name($(_: $parameter),*) -> i32 {
            $error
        }
    )+ };
}

return_error! {
    /// There is one process.
    libc_posix_spawn(Pointer, Text, Pointer, Pointer, Pointer, Pointer): ENOSYS;
    /// There is one process.
    libc_posix_spawnp(Pointer, Text, Pointer, Pointer, Pointer, Pointer): ENOSYS;
    /// Nothing is started with them.
    libc_posix_spawnattr_init(Pointer): 0;
    /// Nothing is started with them.
    libc_posix_spawnattr_destroy(Pointer): 0;
    /// Nothing is started with them.
    libc_posix_spawnattr_setflags(Pointer, i16): 0;
    /// Nothing is started with them.
    libc_posix_spawnattr_setpgroup(Pointer, i32): 0;
    /// Nothing is started with them.
    libc_posix_spawnattr_setsigdefault(Pointer, Pointer): 0;
    /// Nothing is started with them.
    libc_posix_spawnattr_setsigmask(Pointer, Pointer): 0;
    /// Nothing is started with them.
    libc_posix_spawn_file_actions_init(Pointer): 0;
    /// Nothing is started with them.
    libc_posix_spawn_file_actions_destroy(Pointer): 0;
    /// Nothing is started with them.
    libc_posix_spawn_file_actions_adddup2(Pointer, i32, i32): 0;
    /// Nothing is started with them.
    libc_posix_spawn_file_actions_addchdir_np(Pointer, Text): 0;
    /// No signal comes, not at a time either.
    libc_alarm(u32): 0;
    /// No library is loaded later, and so none is let go.
    libc_dlclose(Pointer): -1;
    /// No signal comes.
    libc_sigismember(Pointer, i32): 0;
    /// No signal comes.
    libc_sigaltstack(Pointer, Pointer): 0;
    /// No signal comes.
    libc_sigemptyset(Pointer): 0;
    /// No signal comes.
    libc_sigfillset(Pointer): 0;
    /// No signal comes.
    libc_sigaddset(Pointer, i32): 0;
    /// No signal comes.
    libc_sigdelset(Pointer, i32): 0;
    /// No signal comes.
    libc_sigprocmask(i32, Pointer, Pointer): 0;
    /// No signal comes.
    libc_pthread_sigmask(i32, Pointer, Pointer): 0;
    /// The first signal of a program's own, as musl has it. None comes.
    libc___libc_current_sigrtmin(): 35;
    /// The last one.
    libc___libc_current_sigrtmax(): 64;
    /// There are no terminals.
    libc_ttyname_r(i32, Pointer, usize): ENOTTY;
    /// There is one process, before and behind nobody.
    libc_getpriority(i32, u32): 0;
    /// There is one process, and nothing forks it.
    libc_pthread_atfork(Pointer, Pointer, Pointer): 0;
    /// Where a thread's stack is, nobody is told.
    libc_pthread_getattr_np(usize, Pointer): ENOSYS;
    /// Threads' stacks are the launch's.
    libc_pthread_attr_init(Pointer): ENOSYS;
    /// Where a thread's stack is, nobody is told.
    libc_pthread_attr_getstack(Pointer, Pointer, Pointer): ENOSYS;
    /// There is nothing in it.
    libc_pthread_attr_destroy(Pointer): 0;
}

/// A terminal's settings as C has them on Linux, as far as they are changed here.
#[repr(C)]
pub struct Termios {
    /// Of input, output, the line and the terminal itself: bits.
    modes: [u32; 4],
    _line: u8,
    characters: [u8; 32],
}

/// Changes settings to those of a raw terminal. Programs do this to settings before they find that there is no
/// terminal.
///
/// # Safety
/// `settings` is valid for reads and writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_cfmakeraw(settings: *mut Termios) {
    /// `IGNBRK | BRKINT | PARMRK | ISTRIP | INLCR | IGNCR | ICRNL | IXON`; `OPOST`; `CSIZE | PARENB`; `ECHO | ECHONL |
    /// ICANON | ISIG | IEXTEN`.
    const CLEARED: [u32; 4] = [0x5eb, 0x1, 0x130, 0x804b];
    const CS8: u32 = 0x30;
    const VTIME: usize = 5;
    const VMIN: usize = 6;
    // SAFETY: the caller's.
    let settings = unsafe { &mut *settings };
    for (modes, cleared) in settings.modes.iter_mut().zip(CLEARED) {
        *modes &= !cleared;
    }
    settings.modes[2] |= CS8;
    settings.characters[VMIN] = 1;
    settings.characters[VTIME] = 0;
}

/// Functions that say who runs the program: who runs the host, whose files a program's files are.
macro_rules! user {
    ($($name:ident: $which:literal),+) => { $(
        /// The user, or group, that runs the program.
        #[unsafe(no_mangle)]
        pub extern "C" fn $name() -> u32 {
            crate::place::owner()[$which]
        }
    )+ };
}
user!(libc_getuid: 0, libc_geteuid: 0, libc_getgid: 1, libc_getegid: 1);

/// The process that started this one: none.
#[unsafe(no_mangle)]
pub extern "C" fn libc_getppid() -> i32 {
    0
}

/// The groups that a user is in besides the one that runs the program: none.
#[unsafe(no_mangle)]
pub extern "C" fn libc_getgroups(_room: i32, _into: Pointer) -> i32 {
    0
}

/// Who has logged in: nobody.
#[unsafe(no_mangle)]
pub extern "C" fn libc_getlogin() -> *mut c_char {
    null_mut()
}

/// The group of processes: the one process.
#[unsafe(no_mangle)]
pub extern "C" fn libc_getpgid(_process: i32) -> i32 {
    1
}

/// The session: the one process.
#[unsafe(no_mangle)]
pub extern "C" fn libc_getsid(_process: i32) -> i32 {
    1
}

/// The user's entry in a table that is not there: 0, and no entry.
///
/// # Safety
/// `result` is valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_getpwuid_r(_user: u32, _entry: Pointer, _into: *mut c_char, _len: usize, result: *mut Pointer) -> i32 {
    // SAFETY: the caller's.
    unsafe { result.write(null_mut()) };
    0
}

/// As [`libc_getpwuid_r`], by name.
///
/// # Safety
/// As [`libc_getpwuid_r`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_getpwnam_r(_user: Text, entry: Pointer, into: *mut c_char, len: usize, result: *mut Pointer) -> i32 {
    // SAFETY: the caller's.
    unsafe { libc_getpwuid_r(0, entry, into, len, result) }
}

/// As [`libc_getpwuid_r`], of groups.
///
/// # Safety
/// As [`libc_getpwuid_r`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_getgrgid_r(group: u32, entry: Pointer, into: *mut c_char, len: usize, result: *mut Pointer) -> i32 {
    // SAFETY: the caller's.
    unsafe { libc_getpwuid_r(group, entry, into, len, result) }
}

/// As [`libc_getpwuid_r`], of groups by name.
///
/// # Safety
/// As [`libc_getpwuid_r`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_getgrnam_r(_group: Text, entry: Pointer, into: *mut c_char, len: usize, result: *mut Pointer) -> i32 {
    // SAFETY: the caller's.
    unsafe { libc_getpwuid_r(0, entry, into, len, result) }
}

/// Functions that find an entry of a table that is not there.
macro_rules! no_entry {
    ($($name:ident($parameter:ty)),+) => { $(
        /// No entry.
        #[unsafe(no_mangle)]
        pub extern "C" fn $name(_: $parameter) -> Pointer {
            null_mut()
        }
    )+ };
}
no_entry!(libc_getpwuid(u32), libc_getpwnam(Text), libc_getgrgid(u32), libc_getgrnam(Text));

/// Runs a command in a shell, which there is none of: 0 where that is asked, else −1.
#[unsafe(no_mangle)]
pub extern "C" fn libc_system(command: Text) -> i32 {
    if command.is_null() { 0 } else { returned(Err(Errno(ENOSYS))) }
}

/// A stream from or to another process: there is none.
#[unsafe(no_mangle)]
pub extern "C" fn libc_popen(_command: Text, _mode: Text) -> Pointer {
    lane::here().set_errno(ENOSYS);
    null_mut()
}

/// A library that is loaded later: none is.
#[unsafe(no_mangle)]
pub extern "C" fn libc_dlopen(_file: Text, _how: i32) -> Pointer {
    null_mut()
}

/// Why a library was not loaded.
#[unsafe(no_mangle)]
pub extern "C" fn libc_dlerror() -> Text {
    c"a device loads no libraries".as_ptr()
}

/// A symbol of a library that is loaded later: none is.
#[unsafe(no_mangle)]
pub extern "C" fn libc_dlsym(_library: Pointer, _symbol: Text) -> Pointer {
    null_mut()
}

/// What the kernel tells a process at its start: nothing.
#[unsafe(no_mangle)]
pub extern "C" fn libc_getauxval(_key: usize) -> usize {
    0
}
