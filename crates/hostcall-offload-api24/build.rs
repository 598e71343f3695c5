//! Which version of the API `liboffload`'s sources are built for.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cfg=llvm24");
}
