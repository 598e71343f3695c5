//! CSV on standard input to JSON on standard output, by typed records.

use std::error::Error;
use std::io;

#[derive(serde::Deserialize, serde::Serialize)]
struct Record {
    name: String,
    year: u16,
    weight: Option<f64>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let records: Vec<Record> = csv::Reader::from_reader(io::stdin()).deserialize().collect::<Result<_, _>>()?;
    serde_json::to_writer_pretty(io::stdout(), &records)?;
    println!();
    Ok(())
}
