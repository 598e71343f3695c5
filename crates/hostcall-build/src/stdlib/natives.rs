//! Libraries in C whose functions the runtime has itself (`hostcall-std`, `allocators`).
//!
//! A package that links a library names it (`links`), and its build script finds or compiles the library. Cargo's
//! settings can say what the script would have said; then it is not run. So nothing is compiled for the host that a GPU
//! could not run.

use std::fmt;

use super::machine::Machine;

/// The library, as packages name it, and what else its package is compiled with.
const NATIVES: [(&str, &[&str]); 2] = [("jemalloc", &["prefixed"]), ("mimalloc", &[])];

/// One of cargo's settings. As a text it is what cargo's `--config` takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The table: `target.MACHINE.jemalloc`.
    pub table: String,
    /// The key in it.
    pub key: &'static str,
    /// The value, in TOML.
    pub value: String,
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}={}", self.table, self.key, self.value)
    }
}

/// The settings that stand for the build scripts.
pub(crate) fn settings(machine: &Machine) -> Vec<Setting> {
    let setting = |(library, flags): (&str, &[&str])| Setting {
        table: format!("target.{}.{library}", machine.name()),
        key: "rustc-cfg",
        value: format!("{flags:?}"),
    };
    NATIVES.into_iter().map(setting).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_is_what_cargo_reads() {
        let all: Vec<String> = settings(&Machine::Nvptx).iter().map(Setting::to_string).collect();
        assert_eq!(
            all,
            ["target.nvptx64-hostcall-cuda.jemalloc.rustc-cfg=[\"prefixed\"]", "target.nvptx64-hostcall-cuda.mimalloc.rustc-cfg=[]"]
        );
    }
}
