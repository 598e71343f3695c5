//! A front end for TableGen, the language in which LLVM describes records.
//!
//! A TableGen file declares classes and definitions; evaluating it gives *records*: names with typed fields. This crate
//! reads such files and hands out the records. It knows nothing of what they mean.
//!
//! ```
//! let outcome = tablegen::parse_str("example.td", "class Named<string n> { string name = n; } def cat : Named<\"Tom\">;", &tablegen::Options::default());
//! let records = outcome.records.expect("no errors");
//! let cat = records.def("cat").expect("defined above");
//! assert_eq!(cat.string("name"), Ok("Tom"));
//! assert!(cat.is_a("Named"));
//! ```
//!
//! How it works: the [parser](parse_str) builds expressions as hash-consed nodes and evaluates what it can at once;
//! what refers to fields or arguments waits (*late binding*) until a definition is finished, when all its references
//! are replaced. Input is never trusted: whatever is wrong with it, or asks for too much (see [`Limits`]), becomes a
//! [`Diagnostic`].

mod context;
mod convert;
mod diagnostic;
mod fold;
mod instantiate;
mod json;
mod lexer;
mod node;
mod ops;
mod options;
mod order;
mod parser;
mod pattern;
mod print;
mod record;
mod records;
mod resolve;
mod source;
mod symbol;
mod text;
mod token;
pub mod tool;
mod ty;
mod value;

use std::path::{Path, PathBuf};

pub use diagnostic::{Diagnostic, Format, Label, Severity, Style, emit};
pub use json::dump_json;
pub use options::{Limits, Options};
pub use order::compare_names;
pub use print::print_records;
pub use records::{FieldError, FieldRef, Record, RecordId, Records};
pub use source::{FileId, Location, SourceMap, Span};
pub use value::{Dag, DagArg, Type, Value};

/// What reading a file gave.
#[derive(Debug)]
pub struct Outcome {
    /// The records; `None` if there was an error.
    pub records: Option<Records>,
    /// Errors, warnings and dumps, in the order in which they were found.
    pub diagnostics: Vec<Diagnostic>,
    /// The files that were read, for [`emit`]. Also in [`Records::sources`].
    pub sources: SourceMap,
    /// The files that were included, each once, in byte order.
    pub dependencies: Vec<PathBuf>,
}

/// Reads a file and what it includes.
#[must_use]
pub fn parse_file(path: &Path, options: &Options) -> Outcome {
    parser::run(parser::Input::File(path), options)
}

/// Reads a text as if it were a file of that name.
#[must_use]
pub fn parse_str(name: &str, text: &str, options: &Options) -> Outcome {
    parser::run(parser::Input::Text { name, text }, options)
}
