//! Builds kernel crates into device images: toolchain discovery, the bitcode pipeline, and the build.rs helper.
