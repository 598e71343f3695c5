//! Nothing: the package is its dependencies, which `cargo check` compiles for a device.
