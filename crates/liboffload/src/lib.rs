//! The Offload API as a C library.
//!
//! `api/OffloadAPI.td` defines the API; `offload-tblgen` writes from it what is in this crate besides.
