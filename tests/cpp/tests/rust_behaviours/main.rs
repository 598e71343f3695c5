//! Tests of `tests/behaviours`, over kernels in C++ of the same names: `cpp/twins.cu`.
//!
//! `tests/twins.rs` runs this program, with each image in turn in `HOSTCALL_TEST_KERNELS`. `cargo test` leaves it out,
//! because without an image the kernels would be those in Rust.

#[path = "../../../behaviours/tests/behaviours/lifecycle.rs"]
mod lifecycle;
#[path = "../../../behaviours/tests/behaviours/print.rs"]
mod print;
#[path = "../../../behaviours/tests/behaviours/transport.rs"]
mod transport;
#[path = "../../../behaviours/tests/behaviours/typed.rs"]
mod typed;

#[test]
fn the_kernels_are_those_in_cpp() {
    let image = std::env::var_os("HOSTCALL_TEST_KERNELS").expect("HOSTCALL_TEST_KERNELS names an image of cpp/twins.cu");
    let image = std::fs::read(image).expect("the image");
    assert!(hostcall_tests::bundle().images.iter().all(|found| found.bytes[..] == image[..]));
}
