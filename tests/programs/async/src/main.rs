//! `async tokio DIRECTORY`, `async smol`: a client and a server each, and what runtimes are used for; `async serve
//! ADDRESS`: an HTTP server, until somebody asks for `/end`.

mod serving;
mod with_smol;
mod with_tokio;

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["tokio", directory] => with_tokio::run(directory)?,
        ["smol"] => with_smol::run()?,
        ["serve", address] => return Ok(serving::run(address)?),
        _ => return Err("usage: async tokio DIRECTORY|smol|serve ADDRESS".into()),
    }
    println!("all as it should be");
    Ok(())
}
