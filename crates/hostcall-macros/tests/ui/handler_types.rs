//! A handler that does not fit its definition.
#![allow(dead_code, unused_imports, unused_macros, missing_docs, reason = "stand-ins")]

#[path = "../mock/host.rs"]
mod face;

#[hostcall_macros::service(krate = crate::face)]
pub trait Host {
    fn add42(x: f32) -> f32;
}

fn main() {
    host::add42(|x| x as u64);
    host::add42(|x, y| x + y);
}
