//! Compiles this package once more, for the device.

fn main() {
    hostcall_build::program(".").emit();
}
