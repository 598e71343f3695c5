//! Which of musl's sources are compiled: C's library without the system.
//!
//! What the device has itself (`hostcall-std`: files, memory, threads, clocks, sockets) is not among them, and
//! neither is what `compiler_builtins` has under C's names (`memcpy` and its kind). What is there works on memory
//! alone, or asks the system by numbers, for which `sources/arch/syscall_arch.h` has the device's functions.

use std::fs;
use std::path::Path;

use crate::stdlib::machine::Machine;
use crate::symbols::QUADS;
use crate::{BuildError, sim};

/// Directories of which every source is taken.
const WHOLE: [&str; 12] =
    ["complex", "ctype", "locale", "math", "multibyte", "prng", "regex", "search", "stdio", "stdlib", "string", "temp"];

/// But for these: what the device has, and what needs other processes.
const NOT: [&str; 12] = [
    "stdio/pclose",
    "stdio/popen",
    "stdio/remove",
    "stdio/rename",
    "string/bcmp",
    "string/memcmp",
    "string/memcpy",
    "string/memmove",
    "string/memset",
    "string/strlen",
    "string/strerror_r",
    "string/strsignal",
];

/// Of other directories, these.
const MORE: [(&str, &str); 13] = [
    ("conf", "confstr fpathconf pathconf"),
    ("dirent", "alphasort scandir versionsort"),
    ("env", "secure_getenv"),
    ("errno", "strerror"),
    ("exit", "assert at_quick_exit quick_exit"),
    ("fenv", "__flt_rounds fegetexceptflag feholdexcept fenv fesetexceptflag fesetround feupdateenv"),
    ("internal", "floatscan intscan shgetc syscall_ret version"),
    ("legacy", "err ftw valloc"),
    ("misc", "a64l basename dirname ffs ffsl ffsll fmtmsg get_current_dir_name getopt getopt_long getsubopt nftw"),
    ("network", "htonl htons in6addr_any in6addr_loopback inet_addr inet_aton inet_legacy inet_ntoa inet_ntop inet_pton ntohl ntohs"),
    ("signal", "psignal"),
    (
        "thread",
        "__lock __timedwait __wait call_once pthread_attr_destroy pthread_attr_get pthread_attr_setdetachstate pthread_attr_setguardsize \
         pthread_attr_setschedparam pthread_attr_setscope pthread_attr_setstacksize pthread_barrier_destroy pthread_barrier_init \
         pthread_barrier_wait pthread_barrierattr_destroy pthread_barrierattr_init pthread_cleanup_push pthread_condattr_destroy \
         pthread_condattr_init pthread_condattr_setclock pthread_condattr_setpshared pthread_mutexattr_destroy pthread_mutexattr_init \
         pthread_mutexattr_setprotocol pthread_mutexattr_setpshared pthread_mutexattr_settype pthread_once pthread_rwlock_destroy \
         pthread_rwlock_init pthread_rwlock_rdlock pthread_rwlock_timedrdlock pthread_rwlock_timedwrlock pthread_rwlock_tryrdlock \
         pthread_rwlock_trywrlock pthread_rwlock_unlock pthread_rwlock_wrlock pthread_rwlockattr_destroy pthread_rwlockattr_init \
         pthread_setcancelstate pthread_spin_destroy pthread_spin_init pthread_spin_lock pthread_spin_trylock pthread_spin_unlock",
    ),
    (
        "time",
        "__map_file __month_to_secs __secs_to_tm __tm_to_secs __tz __year_to_secs asctime asctime_r clock ctime ctime_r difftime ftime \
         getdate gmtime gmtime_r localtime localtime_r mktime strftime strptime time timegm timespec_get wcsftime",
    ),
];

/// What clang does not compile for a GPU: variables whose length is computed.
const NOT_FOR_GPUS: [&str; 2] = ["locale/dcngettext", "search/lsearch"];

/// Functions of numbers that are a GPU's instructions, in `sources/instructions.c`, for all three kinds of numbers.
const INSTRUCTIONS: [&str; 11] = ["ceil", "copysign", "fabs", "floor", "fma", "fmax", "fmin", "nearbyint", "rint", "sqrt", "trunc"];

/// Assembly of the simulator's processor.
const FOR_THE_SIMULATOR: [&str; 2] = ["setjmp/x86_64/setjmp.s", "setjmp/x86_64/longjmp.s"];

/// What is changed in a source before it is compiled: its name, what is there, and what is put in its place.
const EDITS: [(&str, &str, &str); 4] = [
    // The standard streams are locked from the beginning: nobody tells them of the first thread.
    ("stdio/stderr.c", "\t.lock = -1,\n", ""),
    ("stdio/stdin.c", "\t.lock = -1,\n", ""),
    ("stdio/stdout.c", "\t.lock = -1,\n", ""),
    // What is in a buffer leaves before the process does.
    (
        "stdio/__towrite.c",
        "{\n\tf->mode |= f->mode-1;",
        "{\n\tvoid hostcall_c_writes(void);\n\thostcall_c_writes();\n\tf->mode |= f->mode-1;",
    ),
];

/// The sources that are compiled for a machine, as paths below musl's `src`, in a fixed order.
pub(super) fn listed(musl: &Path, machine: &Machine) -> Result<Vec<String>, BuildError> {
    let mut files = Vec::new();
    for dir in WHOLE {
        let path = musl.join("src").join(dir);
        for entry in fs::read_dir(&path).map_err(BuildError::io("read", &path))? {
            let name = entry.map_err(BuildError::io("read", &path))?.file_name();
            files.extend(name.to_str().and_then(|name| name.strip_suffix(".c")).map(|name| format!("{dir}/{name}")));
        }
    }
    files.extend(MORE.iter().flat_map(|(dir, names)| names.split_whitespace().map(move |name| format!("{dir}/{name}"))));
    files.retain(|file| !NOT.contains(&file.as_str()) && is_for(machine, file));
    files.iter_mut().for_each(|file| file.push_str(".c"));
    files.sort();
    if *machine == Machine::Sim {
        files.extend(FOR_THE_SIMULATOR.map(String::from));
    }
    Ok(files)
}

/// Whether a source, without `.c`, is compiled for a machine.
fn is_for(machine: &Machine, file: &str) -> bool {
    if machine.is_gpu() {
        let name = file.strip_prefix("math/").unwrap_or_default();
        let is_instruction =
            INSTRUCTIONS.contains(&name.strip_suffix(['f', 'l']).filter(|base| INSTRUCTIONS.contains(base)).unwrap_or(name));
        return !is_instruction && !NOT_FOR_GPUS.contains(&file);
    }
    // The simulator has the functions that the process brings which loads its images, those of `long double` included
    // that `prelude.h` names otherwise.
    let Some(name) = file.strip_prefix("math/") else { return true };
    !sim::is_math(name) && !name.strip_suffix('l').is_some_and(|name| QUADS.contains(&name))
}

/// A source as it is compiled.
///
/// # Errors
///
/// [`BuildError::Unexpected`] if an edit has no place in it: it is another release of musl's.
pub(super) fn edited(file: &str, text: String) -> Result<String, BuildError> {
    let Some((_, from, to)) = EDITS.iter().find(|(name, ..)| *name == file) else { return Ok(text) };
    if text.matches(from).count() != 1 {
        return Err(BuildError::Unexpected {
            command: format!("reading musl's {file}"),
            problem: format!("{from:?} is not there once: it is of another release than 1.2.3 to 1.2.5"),
        });
    }
    Ok(text.replacen(from, to, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_machine_has_what_it_can_have() {
        assert!(!is_for(&Machine::Nvptx, "search/lsearch") && is_for(&Machine::Sim, "search/lsearch"));
        assert!(is_for(&Machine::Nvptx, "math/sin") && !is_for(&Machine::Sim, "math/sin"));
        assert!(!is_for(&Machine::Nvptx, "math/sqrtf") && !is_for(&Machine::Nvptx, "math/ceil") && is_for(&Machine::Nvptx, "math/ceilxf"));
        assert!(!is_for(&Machine::Sim, "math/ceill") && is_for(&Machine::Sim, "math/frexpl"));
    }

    #[test]
    fn an_edit_that_has_no_place_is_an_error() {
        assert_eq!(edited("stdio/fopen.c", "x".into()).expect("it has no edit"), "x");
        assert_eq!(edited("stdio/stdin.c", "a\t.lock = -1,\nb".into()).expect("it is there"), "ab");
        assert!(edited("stdio/stdin.c", "other".into()).expect_err("it is not").to_string().contains("stdin.c"));
    }
}
