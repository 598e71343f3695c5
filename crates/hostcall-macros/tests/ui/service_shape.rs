//! What a service's trait cannot be.

use hostcall_macros::service;

#[service(side = "host")]
pub trait Generic<T>: Send
where
    T: Copy,
{
    const LIMIT: u32;
    type Item;
    fn f(x: u32) -> u32;
}

#[service(side = "host")]
trait Private {
    fn f(x: u32) -> u32;
}

#[service(side = "host")]
pub unsafe trait Unsafe {
    fn f(x: u32) -> u32;
}

#[service(side = "host")]
pub trait snake_case {
    fn f(x: u32) -> u32;
}

#[service(side = "host")]
pub trait Crate {
    fn f(x: u32) -> u32;
}

#[service]
pub struct Structure;

#[service]
impl Host for () {}

#[service(side = "host")]
#[must_use]
pub trait Attributes {
    #[cfg(feature = "x")]
    fn f(x: u32) -> u32;
}

fn main() {}
