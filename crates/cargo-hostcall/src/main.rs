//! The command line: demo, run, bench, doctor, setup.
fn main() {}
