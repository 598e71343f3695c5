//! The back ends of our own dialect: each turns an [`Api`] into one file.
//!
//! | back end | action | writes |
//! |---|---|---|
//! | [`Backend::Header`] | `gen-api` | the C header, valid C11 and C++17 |
//! | [`Backend::PrintCpp`] | `gen-print-header` | `operator<<` for `std::ostream` |
//! | [`Backend::RustSys`] | `gen-rust-sys` | Rust types and declarations, laid out as in C |
//! | [`Backend::RustPrint`] | `gen-rust-print` | `Display` for them |
//! | [`Backend::RustTrait`] | `gen-impl-trait` | the trait that an implementation fills |
//! | [`Backend::RustEntry`] | `gen-entry-points` | the entry points: checks, trace, and a call of the trait |
//! | [`Backend::RustReplay`] | `gen-rust-replay` | calls of the entry points by name, with arguments as machine words |
//! | [`Backend::RustSafe`] | `gen-rust-safe` | safe wrappers |
//! | [`Backend::Mock`] | `gen-mock` | an implementation of the trait with hooks |
//! | [`Backend::Tests`] | `gen-tests` | skeletons of conformance tests, in C |
//! | [`Backend::DocMd`], [`Backend::DocRst`] | `gen-doc-md`, `gen-doc` | documentation |
//! | [`Backend::Exports`] | `gen-exports` | the linker's list of exported names |
//! | [`Backend::Json`], [`Backend::JsonSchema`] | `gen-json`, `gen-json-schema` | the API as data, and the schema of that data |
//! | [`Backend::AbiLock`] | `gen-abi-lock` | a record of the ABI, for [`abi_lock::compare`] |
//!
//! Anything else is a [template] over the same data.

pub mod abi_lock;
mod conformance;
mod docs;
mod exports;
mod header;
mod json;
mod layout;
mod mock;
mod order;
mod print_cpp;
mod rust;
mod rust_entry;
mod rust_expr;
mod rust_print;
mod rust_record;
mod rust_replay;
mod rust_safe;
mod rust_sys;
mod rust_trait;
pub mod template;
mod text;

use crate::ir::Api;

/// Why a file cannot be generated.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum GenError {
    /// The definitions say something that this back end cannot express.
    #[error("{place}: {reason}")]
    Unsupported {
        /// Object, or part of one.
        place: String,
        /// What is wrong.
        reason: String,
    },
    /// The API lacks something that generated code needs.
    #[error("the API has no `{name}`, which {needed_by}; define it")]
    Missing {
        /// What is missing.
        name: String,
        /// Who needs it.
        needed_by: &'static str,
    },
    /// `rustfmt` is not there, or refused the text (which would be a fault of this program).
    #[error("cannot format generated Rust with rustfmt: {reason}; install it with `rustup component add rustfmt`")]
    Rustfmt {
        /// What happened.
        reason: String,
    },
    /// Data cannot be written as JSON.
    #[error("cannot write JSON: {reason}")]
    Json {
        /// What happened.
        reason: String,
    },
    /// A template cannot be read or rendered.
    #[error("template {name}: {reason}")]
    Template {
        /// Its name.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// An ABI lock that this program did not write.
    #[error("this is not an ABI lock: {reason}")]
    Lock {
        /// What is wrong.
        reason: String,
    },
}

hostcall_error::readable!(GenError);

macro_rules! backends {
    ($($(#[doc = $doc:literal])+ $name:ident $action:literal $run:path;)+) => {
        /// A back end.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Backend { $($(#[doc = $doc])+ $name,)+ }

        impl Backend {
            /// All of them.
            pub const ALL: &[Backend] = &[$(Backend::$name),+];

            /// Name of its action on the command line, without dashes.
            pub fn action(self) -> &'static str {
                match self { $(Backend::$name => $action,)+ }
            }

            /// What it writes, in a few words.
            pub fn help(self) -> &'static str {
                match self { $(Backend::$name => concat!($($doc),+).trim_ascii(),)+ }
            }

            /// The text of the file that it makes of an API.
            ///
            /// # Errors
            ///
            /// Definitions that it cannot express. Lints find most of them earlier and say where.
            pub fn generate(self, api: &Api) -> Result<String, GenError> {
                match self { $(Backend::$name => $run(api),)+ }
            }
        }
    };
}

backends! {
    /// The C header, valid C11 and C++17.
    Header "gen-api" header::generate;
    /// `operator<<` for `std::ostream`, without LLVM's headers.
    PrintCpp "gen-print-header" print_cpp::generate;
    /// The linker's list of exported names.
    Exports "gen-exports" exports::generate;
    /// Rust types and declarations, laid out as in C.
    RustSys "gen-rust-sys" rust_sys::generate;
    /// `Display` for the types of the API.
    RustPrint "gen-rust-print" rust_print::generate;
    /// The trait that an implementation fills.
    RustTrait "gen-impl-trait" rust_trait::generate;
    /// The entry points: checks, the implementation, and a trace.
    RustEntry "gen-entry-points" rust_entry::generate;
    /// Calls of the entry points by name, with arguments as machine words.
    RustReplay "gen-rust-replay" rust_replay::generate;
    /// An implementation of the trait for tests, with hooks and faults.
    Mock "gen-mock" mock::generate;
    /// Safe wrappers for Rust programs, with typed properties.
    RustSafe "gen-rust-safe" rust_safe::generate;
    /// Skeletons of conformance tests, in C.
    Tests "gen-tests" conformance::generate;
    /// Documentation in Markdown.
    DocMd "gen-doc-md" docs::markdown;
    /// Documentation in reStructuredText.
    DocRst "gen-doc" docs::rst;
    /// The API as data.
    Json "gen-json" json::generate;
    /// The schema of that data.
    JsonSchema "gen-json-schema" json::schema;
    /// A record of the ABI.
    AbiLock "gen-abi-lock" abi_lock::generate;
}

/// The sentence that every generated file begins with.
fn made_from(api: &Api, backend: Backend) -> String {
    let version = api.llvm.map(|version| format!(" (LLVM {version})")).unwrap_or_default();
    format!("Made from {}{version} by offload-tblgen --{}; change that, not this file.", api.source, backend.action())
}
