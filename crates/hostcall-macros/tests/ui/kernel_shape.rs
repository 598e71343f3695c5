//! What a kernel cannot be.

use hostcall_macros::kernel;

#[kernel]
fn private() {}

#[kernel]
pub async fn asynchronous() {}

#[kernel]
pub const fn constant() {}

#[kernel]
pub unsafe fn dangerous() {}

#[kernel]
pub extern "C" fn foreign() {}

#[kernel]
pub fn generic<T: Copy>(x: T)
where
    T: Send,
{
}

#[kernel]
pub fn returning(x: u32) -> (u32, u32) {
    (x, x)
}

#[kernel]
pub fn parameters(a: &u32, b: &mut f32, c: &str, d: &'static [u8], e: (u32, u32), f: fn()) {}

#[kernel]
pub fn many(
    a: &[u8], b: &[u8], c: &[u8], d: &[u8], e: &[u8], f: &[u8], g: &[u8], h: &[u8],
    i: &[u8], j: &[u8], k: &[u8], l: &[u8], m: &[u8], n: &[u8], o: &[u8], p: &[u8],
) {
}

#[kernel]
pub struct Structure;

#[kernel(max_registers = 8)]
pub fn starved() {}

pub struct Owner;
impl Owner {
    #[kernel]
    pub fn method(&self) {}
}

fn main() {}
