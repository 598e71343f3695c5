//! Hosts in Rust, each an example of this package: `cargo run --release -p hostcall-examples --example add42`.
