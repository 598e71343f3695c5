//! `search PATTERN FILE`: lines of a file that match a regular expression, with their numbers and what matched.

use std::error::Error;
use std::fs::File;
use std::io::{BufRead, BufReader};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(pattern), Some(path)) = (arguments.next(), arguments.next()) else { return Err("usage: search PATTERN FILE".into()) };
    let pattern = regex::Regex::new(&pattern)?;
    for (number, line) in BufReader::new(File::open(&path)?).lines().enumerate() {
        let line = line?;
        if let Some(found) = pattern.find(&line) {
            println!("{}:{}..{}:{line}", number + 1, found.start(), found.end());
        }
    }
    Ok(())
}
