//! The smallest program.

fn main() {
    println!("Hello, world!");
}
