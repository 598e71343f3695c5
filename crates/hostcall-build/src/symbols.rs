//! The symbols of a module of bitcode, as `llvm-nm` lists them.

use std::path::Path;

use crate::{BuildError, DeviceToolchain};

/// Symbols that a program's std, or the host, looks for. The first is before C's names, and goes away when the runtime
/// is made; the second is std's.
pub(crate) const VISIBLE: [&str; 4] = [C_PREFIX, "sys_", "__HOSTCALL_", "__hostcall_"];

/// Those of them that the host looks for.
pub(crate) const EXPORTED: [&str; 2] = ["__HOSTCALL_", "__hostcall_"];

/// Before the names of C's functions in the runtime's sources.
pub(crate) const C_PREFIX: &str = "libc_";

/// C's variadic functions. On GPUs they keep that prefix: what calls them by C's name has not been lowered yet
/// (`stdlib/variadic.rs`).
pub(crate) const VARIADIC: [&str; 9] = ["open", "open64", "openat", "fcntl", "ioctl", "syscall", "prctl", "mremap", "printf"];

/// Functions of `f128`s that code generation calls, and C's of `long double`s, both besides an `l`.
pub(crate) const QUADS: [&str; 11] = ["ceil", "floor", "fma", "fmax", "fmin", "fmod", "rint", "round", "roundeven", "sqrt", "trunc"];

/// Functions that C's library has itself, where a program has one: its own streams, time zones and locales, and more
/// than the runtime says of threads' attributes.
pub(crate) const OF_C: [&str; 9] =
    ["printf", "puts", "putchar", "localtime_r", "tzset", "setlocale", "nl_langinfo", "pthread_attr_init", "pthread_attr_destroy"];

/// The name under which a program is linked with a function of the runtime's, on a GPU.
pub(crate) fn linked_name(name: &str) -> &str {
    name.strip_prefix(C_PREFIX).filter(|name| !VARIADIC.contains(name)).unwrap_or(name)
}

/// What the tables of kernels are called: this and the kernel's name.
const KERNEL_TABLE: &str = "__HOSTCALL_KERNEL__";

/// Names of what a module defines, and of what it needs.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Symbols {
    pub(crate) defined: Vec<String>,
    pub(crate) undefined: Vec<String>,
}

/// The symbols of the module in `file`.
pub(crate) fn of_module(toolchain: &DeviceToolchain, file: &Path) -> Result<Symbols, BuildError> {
    Ok(parse(&toolchain.llvm("llvm-nm").args(["--format=posix", "--no-sort"]).arg(file).text()?))
}

/// POSIX's format: `name type [value size]`.
fn parse(text: &str) -> Symbols {
    let mut symbols = Symbols::default();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        match (words.next(), words.next()) {
            (Some(name), Some("U")) => symbols.undefined.push(name.into()),
            // Lower case: not visible outside; `w` is a weak reference.
            (Some(name), Some(kind)) if kind != "w" => symbols.defined.push(name.into()),
            _ => {}
        }
    }
    symbols
}

impl Symbols {
    /// Defined names with one of the prefixes, and those of kernels.
    pub(crate) fn exported<'a>(&'a self, prefixes: &'a [&'a str]) -> impl Iterator<Item = &'a str> {
        let kernels = self.defined.iter().filter_map(|name| name.strip_prefix(KERNEL_TABLE));
        self.defined.iter().map(String::as_str).filter(|name| prefixes.iter().any(|prefix| name.starts_with(prefix))).chain(kernels)
    }

    /// What nothing provides: LLVM's own are no functions.
    pub(crate) fn missing(&self) -> impl Iterator<Item = &str> {
        self.undefined.iter().map(String::as_str).filter(|name| !name.starts_with("llvm."))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_into_what_is_there_and_what_is_not() {
        let symbols =
            parse("__HOSTCALL_KERNEL__demo D 0 8\ndemo T 0 0\nsys_write T 0\nhelper t 0\nmain U\nllvm.assume U\n__hostcall_x B 0\n");
        assert_eq!(
            symbols.exported(&["sys_", "__HOSTCALL_", "__hostcall_"]).collect::<Vec<_>>(),
            ["__HOSTCALL_KERNEL__demo", "sys_write", "__hostcall_x", "demo"]
        );
        assert_eq!(symbols.missing().collect::<Vec<_>>(), ["main"]);
    }
}
