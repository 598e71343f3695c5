//! Types that only the compiler can judge.
#![allow(dead_code, unused_imports, unused_macros, missing_docs, reason = "stand-ins")]

#[path = "../mock/device.rs"]
mod device;
#[path = "../mock/host.rs"]
mod host_face;

mod on_the_device {
    #[hostcall_macros::service(krate = crate::device)]
    pub trait Host {
        fn string(x: String) -> u32;
    }
}

mod on_the_host {
    #[hostcall_macros::service(krate = crate::host_face)]
    pub trait Host {
        fn list(x: u32) -> Vec<u8>;
    }
}

fn main() {}
