//! What developers of this repository run.
fn main() {}
