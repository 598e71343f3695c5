//! A small use of each crate. `crates DIR` prints a line for each, `NAME: RESULT`, the same on every machine; DIR is a
//! directory that may be written to.

mod data;
mod system;
mod text;

/// What a use came to. An error is a result, too, and differs from this machine's.
type Outcome = Result<String, Box<dyn std::error::Error>>;
type Use = (&'static str, fn() -> Outcome);

fn main() {
    for (name, a_use) in data::USES.iter().chain(text::USES).chain(system::USES) {
        match a_use() {
            Ok(result) => println!("{name}: {result}"),
            Err(error) => println!("{name}: error: {error}"),
        }
    }
}
