//! What a service's functions cannot be.

use hostcall_macros::service;

#[service(side = "host")]
pub trait Host {
    fn receiver(&self) -> u32;
    fn body(x: u32) -> u32 {
        x
    }
    async fn asynchronous(x: u32) -> u32;
    const fn constant(x: u32) -> u32;
    unsafe fn dangerous(x: u32) -> u32;
    extern "C" fn foreign(x: u32) -> u32;
    fn generic<T>(x: T) -> u32
    where
        T: Copy;
    fn all() -> u32;
    fn pattern((a, b): (u32, u32)) -> u32;
    fn mutable(mut x: u32) -> u32;
    fn attribute(#[allow(unused)] x: u32) -> u32;
}

fn main() {}
