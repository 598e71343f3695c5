//! From definitions of an API, written once in TableGen, to everything that follows from them.
//!
//! The definitions say what a C API consists of: handles, enumerations, structures, functions, and for each function
//! its parameters and the errors it returns and when. That is enough to write its header, the checks at its entry
//! points, a trace of its calls, bindings for other languages, a mock of it, its documentation, and a record of its ABI
//! that notices when a change breaks it. A *back end* writes one of these.
//!
//! All back ends of our own dialect read the [intermediate representation](ir) and nothing else; it is also written as
//! JSON, for back ends that are not part of this program.

pub mod cli;
pub mod condition;
pub mod generate;
pub mod ir;
pub mod lint;
pub mod llvm;
pub mod model;
