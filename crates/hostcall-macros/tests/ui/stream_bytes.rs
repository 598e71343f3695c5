//! What cannot be a stream of bytes or of text.

use hostcall_macros::stream;

#[stream(krate = hostcall_abi, bytes)]
struct Private;

#[stream(krate = hostcall_abi, bytes)]
pub struct Fields {
    value: u32,
}

#[stream(krate = hostcall_abi, text)]
pub struct Tuple(u32);

#[stream(krate = hostcall_abi, text)]
pub struct Generic<T>;

#[stream(krate = hostcall_abi, bytes, text)]
pub struct Both;

#[stream(krate = hostcall_abi, bytes, bytes)]
pub struct Twice;

#[stream(krate = hostcall_abi, bytes = "yes")]
pub struct Valued;

#[stream(krate = hostcall_abi, lines)]
pub struct Lines;

#[stream(krate = hostcall_abi, bytes)]
pub enum Choice {
    One,
}

#[stream(krate = hostcall_abi, bytes, policy = "latest")]
pub struct Flown;

fn main() {}
