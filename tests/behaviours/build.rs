//! Builds the kernels of the tests.

fn main() {
    hostcall_build::program("kernels").emit();
}
