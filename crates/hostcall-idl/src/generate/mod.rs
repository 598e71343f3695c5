//! Bindings: what other languages need to call services, or to answer them.
//!
//! What is written depends on the definitions and on nothing else: it has no time and no path, so that it can be
//! compared with a file that is kept.

mod c;
mod c_units;
mod cpp_host;
mod cuda;
mod names;
mod namespace;
mod python;
mod writer;

#[cfg(test)]
mod tests;

use std::fmt;
use std::str::FromStr;

pub use namespace::{Namespace, NamespaceError};

use crate::model::Interface;

/// For whom bindings are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// Kernels in CUDA C++ and HIP: stubs over `hostcall.cuh`.
    Cuda,
    /// Hosts in C++17: typed definitions over `hostcall.hpp`.
    CppHost,
    /// Hosts in C99: definitions, structs and functions that read and write a lane's units, over `hostcall.h`.
    C,
    /// Python: definitions with the types of NumPy.
    Python,
}

/// A language that there is not.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("no bindings for `{name}`: there are {}", Language::ALL.map(Language::name).join(", "))]
pub struct UnknownLanguage {
    /// What was asked for.
    pub name: String,
}

hostcall_error::readable!(UnknownLanguage);

impl Language {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Cuda, Self::CppHost, Self::C, Self::Python];

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cuda => "cuda",
            Self::CppHost => "cpp-host",
            Self::C => "c",
            Self::Python => "python",
        }
    }

    /// Whether what is written can be put into a namespace.
    pub const fn has_namespaces(self) -> bool {
        matches!(self, Self::Cuda | Self::CppHost)
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Language {
    type Err = UnknownLanguage;

    fn from_str(name: &str) -> Result<Self, UnknownLanguage> {
        Self::ALL.into_iter().find(|language| language.name() == name).ok_or_else(|| UnknownLanguage { name: name.to_owned() })
    }
}

/// The text of the bindings. `namespace`: where C++ has them; other languages have none, and leave it out.
pub fn generate(interface: &Interface, language: Language, namespace: &Namespace) -> String {
    match language {
        Language::Cuda => cuda::generate(interface, namespace),
        Language::CppHost => cpp_host::generate(interface, namespace),
        Language::C => c::generate(interface),
        Language::Python => python::generate(interface),
    }
}

/// The first line of every file.
fn made_by(comment: &str, language: Language) -> String {
    format!("{comment} Made by `cargo hostcall bindgen --lang {language}`. Do not edit.")
}
