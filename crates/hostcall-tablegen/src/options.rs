//! How to read a file.

use std::path::PathBuf;

/// Where includes are found, what is defined, and how much the input may ask for.
#[derive(Clone, Debug)]
pub struct Options {
    /// Directories searched for included files, in order, after the current directory.
    pub include_dirs: Vec<PathBuf>,
    /// Macros that are defined from the start, as `-D` does.
    pub defines: Vec<String>,
    /// Stop after this many errors.
    pub max_errors: usize,
    /// Warn of template arguments that nothing uses.
    pub warn_unused_template_args: bool,
    /// Bounds on what the input may ask for.
    pub limits: Limits,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            include_dirs: Vec::new(),
            defines: Vec::new(),
            max_errors: 20,
            warn_unused_template_args: true,
            limits: Limits::default(),
        }
    }
}

/// Bounds beyond which input is refused with a diagnostic, so that none can crash or hang its reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Values and statements within one another in the text.
    pub nesting: u32,
    /// Levels of an expression or value. Who prints or drops a value, or goes down into it, needs stack for each: the
    /// default fits 2 MiB without optimisation.
    pub expression: u32,
    /// Levels of evaluations within evaluations.
    pub depth: u32,
    /// Anonymous instances that instantiate one another.
    pub instantiations: u32,
    /// Files included within one another.
    pub includes: usize,
    /// Elements of one list, and bits of one `bits`.
    pub list: usize,
    /// Bytes of one text that is put together.
    pub string: usize,
    /// Bytes of all distinct texts together.
    pub text: usize,
    /// Distinct expressions and references between them.
    pub nodes: usize,
    /// Records, counting copies made on the way.
    pub records: usize,
    /// Fields of all records together.
    pub fields: usize,
    /// Steps of evaluation.
    pub steps: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            nesting: 2000,
            expression: 500,
            depth: 10_000,
            instantiations: 2000,
            includes: 200,
            list: 1 << 24,
            string: 1 << 26,
            text: 1 << 29,
            nodes: 1 << 28,
            records: 1 << 21,
            fields: 1 << 27,
            steps: 1 << 31,
        }
    }
}
