//! Arguments of the attributes.

use hostcall_macros::{kernel, service};

#[service(on_failure = "panic")]
pub trait Unknown {}

#[service(on_error = "ignore")]
pub trait Value {}

#[service(side = "both")]
pub trait Side {}

#[service(side = "host", side = "device")]
pub trait Twice {}

#[service(krate = super::hostcall)]
pub trait Relative {}

#[kernel(side = "device")]
pub fn kernel() {}

fn main() {}
