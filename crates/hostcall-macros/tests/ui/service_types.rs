//! What the tokens alone show cannot cross.

use hostcall_macros::service;

#[service(side = "host")]
pub trait Host {
    fn reference(x: &u32) -> u32;
    fn mutable_reference(x: &mut u32) -> u32;
    fn lifetime(x: &'static str) -> u32;
    fn mutable_string(x: &mut str) -> u32;
    fn inner_reference(x: Option<&str>) -> u32;
    fn inner_slice(x: &[&str]) -> u32;
    fn pointer(x: *const u8) -> u32;
    fn function(x: fn(u32) -> u32) -> u32;
    fn opaque(x: impl Copy) -> u32;
    fn object(x: Box<dyn Fn()>) -> u32;
    fn inferred(x: _) -> u32;
    fn unsized_string(x: str) -> u32;
    fn unsized_slice(x: [u8]) -> u32;
    fn relative(x: super::Thing) -> self::Thing;
    fn itself(x: Self) -> u32;
    fn borrowed_result(x: u32) -> &str;
    fn slice_result(x: u32) -> Result<&[u8], u32>;
    fn never(x: u32) -> !;
    fn posted_out(out: &mut [u8]);
}

fn main() {}
