//! From TableGen records to the [intermediate representation](crate::ir).
//!
//! The classes and their fields are those of the Offload API's definition language; a class that a file does not have
//! describes nothing. What is not set and can be done without (a description) is empty here, and the lints report it;
//! what is of a wrong kind is an error with its place.

mod functions;
mod types;

use tablegen::{Diagnostic, FieldError, Record, Records, Value};

use crate::ir::{Api, FORMAT, Span};
use crate::llvm::Version;

/// Which text is meant where two back ends have the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// That of LLVM's `offload-tblgen`.
    Llvm,
    /// Our own.
    Hostcall,
}

impl Dialect {
    /// Its name on the command line and in definitions.
    pub fn name(self) -> &'static str {
        match self {
            Dialect::Llvm => "llvm",
            Dialect::Hostcall => "hostcall",
        }
    }

    /// The dialect of that name.
    pub fn find(name: &str) -> Option<Dialect> {
        [Dialect::Llvm, Dialect::Hostcall].into_iter().find(|dialect| dialect.name() == name)
    }
}

/// Reads an API. `source` is the file name (without folders) of the definitions.
///
/// # Errors
///
/// Fields that are missing or hold something else than their class says, all of them.
pub fn load(records: &Records, source: &str) -> Result<Api, Vec<Diagnostic>> {
    let mut loader = Loader { records, errors: Vec::new() };
    let llvm = loader.llvm();
    let mut api = Api {
        format: FORMAT,
        source: source.to_owned(),
        llvm,
        prefix: records.globals().get("PREFIX").and_then(Value::as_str).unwrap_or("OL").to_owned(),
        macros: loader.each("Macro", types::macro_),
        handles: loader.each("Handle", types::handle),
        enums: loader.each("Enum", types::enum_),
        typedefs: loader.each("Typedef", types::typedef),
        callbacks: loader.each("FptrTypedef", functions::callback),
        structs: loader.each("Struct", types::struct_),
        functions: loader.each("Function", functions::function),
    };
    // What no name stands for is left to the lints, which say more about it.
    let _unknown = api.link();
    if loader.errors.is_empty() { Ok(api) } else { Err(loader.errors) }
}

/// The dialect that definitions say they are for: a record of the class `ApiSettings` has it in its field `dialect`.
///
/// # Errors
///
/// A dialect that there is not.
pub fn dialect(records: &Records) -> Result<Option<Dialect>, Box<Diagnostic>> {
    let Some(settings) = records.derived_from("ApiSettings").next() else { return Ok(None) };
    let name = settings.optional_string("dialect").map_err(|error| Box::new(diagnostic(&error)))?;
    let Some(name) = name else { return Ok(None) };
    match Dialect::find(name) {
        Some(dialect) => Ok(Some(dialect)),
        None => Err(Box::new(
            Diagnostic::error(settings.span(), format!("there is no dialect `{name}`")).with_note("dialects are `llvm` and `hostcall`"),
        )),
    }
}

/// The version of LLVM that definitions are of, as far as they say it: since 24, functions say whether their result may
/// be dropped, and since 23, `olInit` has a parameter. `None` for definitions that say neither.
pub fn llvm_version(records: &Records) -> Option<Version> {
    if records.class("Function").and_then(|class| class.field("nodiscard")).is_some() {
        return Some(Version::V24);
    }
    let has_params = !records.def("olInit")?.list("params").ok()?.is_empty();
    Some(if has_params { Version::V23 } else { Version::V22 })
}

/// What LLVM's tool refuses to write a header or documentation of: objects, and parts of objects, whose description is
/// not set.
pub fn undescribed(records: &Records) -> Vec<Diagnostic> {
    let mut found: Vec<Record<'_>> = Vec::new();
    for object in records.derived_from("APIObject") {
        let parts = ["etors", "all_members", "params"].into_iter().filter_map(|field| object.record_list(field).ok()).flatten();
        found.extend([object].into_iter().chain(parts).filter(|record| record.get("desc") == Some(&Value::Unset)));
    }
    let name = |record: &Record<'_>| record.string("name").unwrap_or(record.name()).to_owned();
    found
        .iter()
        .map(|record| {
            let message = format!("`{}` has no description, without which LLVM's tool writes no header and no documentation", name(record));
            Diagnostic::error(record.span(), message).with_note("help: set `desc`; it may be an empty text")
        })
        .collect()
}

struct Loader<'a> {
    records: &'a Records,
    errors: Vec<Diagnostic>,
}

impl<'a> Loader<'a> {
    /// The version of LLVM that the settings name. 0 is none.
    fn llvm(&mut self) -> Option<u32> {
        let settings = self.records.derived_from("ApiSettings").next().filter(|settings| settings.get("llvm").is_some())?;
        match settings.int("llvm") {
            Ok(version) => u32::try_from(version).ok().filter(|version| *version > 0),
            Err(error) => {
                self.errors.push(diagnostic(&error));
                None
            }
        }
    }

    fn each<T>(&mut self, class: &str, load: impl Fn(Record<'a>) -> Result<T, FieldError>) -> Vec<T> {
        let mut loaded = Vec::new();
        for record in self.records.derived_from(class) {
            match load(record) {
                Ok(object) => loaded.push(object),
                Err(error) => self.errors.push(diagnostic(&error)),
            }
        }
        loaded
    }
}

fn diagnostic(error: &FieldError) -> Diagnostic {
    let diagnostic = Diagnostic::error(error.span(), error.to_string());
    match error {
        FieldError::Missing { .. } => diagnostic.with_note("the classes of the definition language are in APIDefs.td"),
        _ => diagnostic,
    }
}

fn span(record: Record<'_>) -> Option<Span> {
    let location = record.records().sources().location(record.span());
    let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    Some(Span { file: location.file.to_owned(), line: number(location.line), column: number(location.column) })
}

/// A text that may be left out.
fn prose(record: Record<'_>, field: &str) -> Result<String, FieldError> {
    Ok(record.optional_string(field)?.unwrap_or_default().to_owned())
}

fn text(record: Record<'_>, field: &str) -> Result<String, FieldError> {
    record.string(field).map(str::to_owned)
}

/// A text that says nothing when it is empty.
fn some_text(record: Record<'_>, field: &str) -> Result<Option<String>, FieldError> {
    Ok(record.optional_string(field)?.filter(|text| !text.is_empty()).map(str::to_owned))
}

/// A bit that older definitions do not have.
fn flag(record: Record<'_>, field: &str) -> Result<bool, FieldError> {
    if record.field(field).is_some() { record.bit(field) } else { Ok(false) }
}
