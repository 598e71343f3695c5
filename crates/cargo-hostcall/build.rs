//! Builds the demo's program.

fn main() {
    hostcall_build::program("../../kernels/wordcount").emit();
}
