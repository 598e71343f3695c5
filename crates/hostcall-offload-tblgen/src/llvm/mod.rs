//! Back ends that write what LLVM's `offload-tblgen` writes, byte for byte.
//!
//! Whoever builds LLVM's offload library can put this program in the place of theirs. The fixed parts of the text are
//! therefore part of an interface, not a matter of taste, and so are its oddities: a blank after an empty macro, an
//! `if` on the same line as the check before it. What LLVM's tool does with a definition that is wrong is not imitated:
//! the lints report it.
//!
//! The text differs a little between versions of LLVM; [`Version`] says how.

mod api;
mod doc;
mod entry_points;
mod get_info;
mod misc;
mod print;

use crate::ir::{Api, Enum, Handle, Macro, Param};

/// The version of LLVM whose text is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Version {
    /// LLVM 22. Its print functions write pointer-typed properties, `void *` aside, as if they were values.
    V22,
    /// LLVM 23.
    #[default]
    V23,
    /// LLVM 24: `OL_NODISCARD`, and details as paragraphs instead of a list.
    V24,
}

macro_rules! actions {
    ($($(#[doc = $doc:literal])+ $variant:ident $name:literal $help:literal;)+) => {
        /// What can be generated.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Action { $($(#[doc = $doc])+ $variant,)+ }

        impl Action {
            /// All of them.
            pub const ALL: &[Action] = &[$(Action::$variant),+];

            /// Its name on the command line, without dashes.
            pub fn name(self) -> &'static str {
                match self { $(Action::$variant => $name,)+ }
            }

            /// What it writes, in a few words.
            pub fn help(self) -> &'static str {
                match self { $(Action::$variant => $help,)+ }
            }
        }
    };
}

actions! {
    /// The C header.
    Api "gen-api" "The C header";
    /// Documentation for Sphinx.
    Doc "gen-doc" "Documentation in reStructuredText";
    /// An X-macro list of functions.
    FuncNames "gen-func-names" "An X-macro list of the functions";
    /// Declarations of the functions behind the entry points.
    ImplFuncDecls "gen-impl-func-decls" "C++ declarations of the functions behind the entry points";
    /// The entry points.
    EntryPoints "gen-entry-points" "The entry points";
    /// A C++ header that prints values.
    PrintHeader "gen-print-header" "A C++ header that prints values";
    /// A linker's version script.
    Exports "gen-exports" "The linker's list of exported names";
    /// An X-macro list of error codes.
    Errcodes "gen-errcodes" "An X-macro list of the error codes";
    /// An X-macro list of device properties.
    Info "gen-info" "An X-macro list of the device properties";
    /// Typed C++ wrappers of the `olGet…Info` functions (LLVM 24).
    GetInfoWrappers "gen-get-info-wrappers" "C++ wrappers that return properties in their types";
}

/// Why text cannot be generated.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The back end is about an enumeration that is not there.
    #[error("the API has no enumeration `{name}`, whose enumerators this back end writes; define it")]
    MissingEnum {
        /// Its name.
        name: String,
    },
    /// A handle whose name does not say that it is one.
    #[error("the name of the handle `{name}` does not end with `_handle_t`; rename it")]
    HandleName {
        /// Its name.
        name: String,
    },
    /// A property without a type, where types are written.
    #[error("`{name}` belongs to a typed enumeration but has no type; use TaggedEtor")]
    UntypedEnumerator {
        /// Its name.
        name: String,
    },
    /// A function that reads like `olGet…Info` and is not of that form.
    #[error(
        "`{name}` is named like a function that tells properties, which have four parameters (object, property, size, value); it has {params}"
    )]
    NotGetInfo {
        /// Its name.
        name: String,
        /// How many parameters it has.
        params: usize,
    },
}

hostcall_error::readable!(Error);

/// Writes the text of `action`.
///
/// # Errors
///
/// The API lacks what the back end is about.
pub fn generate(api: &Api, action: Action, version: Version) -> Result<String, Error> {
    if matches!(action, Action::Api | Action::Doc | Action::PrintHeader | Action::GetInfoWrappers) {
        all_typed(api)?;
    }
    let mut out = String::new();
    match action {
        Action::Api => api::header(&mut out, api, version)?,
        Action::Doc => doc::document(&mut out, api, version),
        Action::FuncNames => misc::func_names(&mut out, api),
        Action::ImplFuncDecls => misc::impl_func_decls(&mut out, api),
        Action::EntryPoints => entry_points::entry_points(&mut out, api),
        Action::PrintHeader => print::print_header(&mut out, api, version),
        Action::Exports => misc::exports(&mut out, api),
        Action::Errcodes => misc::errcodes(&mut out, api)?,
        Action::Info => misc::info(&mut out, api)?,
        Action::GetInfoWrappers => get_info::wrappers(&mut out, api)?,
    }
    Ok(out)
}

/// Whether each property has a type.
fn all_typed(api: &Api) -> Result<(), Error> {
    let mut properties = api.enums.iter().filter(|object| object.is_typed).flat_map(|object| &object.etors);
    match properties.find(|etor| etor.tagged_type.is_none()) {
        Some(etor) => Err(Error::UntypedEnumerator { name: etor.c_name.clone() }),
        None => Ok(()),
    }
}

/// `write!` to a string, which cannot fail.
macro_rules! put {
    ($out:expr, $($arg:tt)*) => {{
        use std::fmt::Write as _;
        let _infallible = write!($out, $($arg)*);
    }};
}
use put;

/// What every generated source file but the documentation begins with.
const GENERIC_HEADER: &str = "\
//===- Auto-generated file, part of the LLVM/Offload project --------------===//
//
// Part of the LLVM Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
";

/// A rule of slashes on a line of its own.
const RULE: &str = "///////////////////////////////////////////////////////////////////////////////\n";

const PREFIX: &str = "OL";
const PREFIX_LOWER: &str = "ol";

/// Name of the structure that a handle points to.
fn impl_name(handle: &Handle) -> Result<String, Error> {
    if !handle.name.ends_with("_handle_t") {
        return Err(Error::HandleName { name: handle.name.clone() });
    }
    Ok(impl_name_of_any(handle))
}

/// The same for a handle of any name, of which the last nine characters go whatever they are, or none if there are not
/// so many.
fn impl_name_of_any(handle: &Handle) -> String {
    let cut = handle.name.len().checked_sub("_handle_t".len());
    let stem = cut.and_then(|cut| handle.name.get(..cut)).unwrap_or(&handle.name);
    format!("{stem}_impl_t")
}

/// A macro's name without its parameters.
fn bare_name(object: &Macro) -> &str {
    object.name.split('(').next().unwrap_or_default()
}

/// `type name, type name`.
fn param_list(params: &[Param]) -> String {
    joined(params, ", ", |param| format!("{} {}", param.ty.text, param.name))
}

/// `name, name`.
fn argument_list(params: &[Param]) -> String {
    joined(params, ", ", |param| param.name.clone())
}

fn joined(params: &[Param], separator: &str, f: impl Fn(&Param) -> String) -> String {
    params.iter().map(f).collect::<Vec<_>>().join(separator)
}

fn find_enum<'a>(api: &'a Api, name: &str) -> Result<&'a Enum, Error> {
    api.enums.iter().find(|object| object.name == name).ok_or_else(|| Error::MissingEnum { name: name.to_owned() })
}

/// The lines of a function's details as LLVM 24 sets them: paragraphs with an empty line between them, except between
/// the items of a list.
fn paragraphs(details: &[String]) -> Vec<&str> {
    let is_item = |text: &str| text.starts_with("- ");
    let mut lines: Vec<&str> = Vec::new();
    for detail in details {
        if lines.last().is_some_and(|last| !(is_item(last) && is_item(detail))) {
            lines.push("");
        }
        lines.extend(detail.lines());
    }
    lines
}

/// The structure of pointers to a function's parameters.
fn params_struct(function: &str) -> String {
    format!("{}_params_t", crate::ir::snake_case(function))
}

#[cfg(test)]
mod tests {
    #[test]
    fn details_are_paragraphs_and_lists() {
        let details = ["One.", "Two:", "- a", "- b", "Three\nlines."].map(String::from);
        assert_eq!(super::paragraphs(&details), ["One.", "", "Two:", "", "- a", "- b", "", "Three", "lines."]);
        assert!(super::paragraphs(&[]).is_empty());
    }
}
