//! Definitions that no message can carry.
#![allow(dead_code, unused_imports, unused_macros, missing_docs, reason = "stand-ins")]

#[path = "../mock/device.rs"]
mod device;
#[path = "../mock/host.rs"]
mod host_face;

mod on_the_device {
    #[hostcall_macros::service(krate = crate::device)]
    pub trait Host {
        fn at_most(x: [u32; 894]) -> [u32; 894];
        fn too_large(x: u32, y: [u8; 8000]);
    }
}

mod on_the_host {
    #[hostcall_macros::service(krate = crate::host_face)]
    pub trait Host {
        fn too_large() -> [u8; 8000];
        fn too_large_beside_a_slice(x: &[u8]) -> [u32; 65];
    }
}

fn main() {}
