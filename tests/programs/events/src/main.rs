//! `events low`: with C's functions; `events mio`, `events polling`: with these crates; `events notices DIR`: of files.
//! What is printed is the same wherever it runs.

mod low;
mod notices;
mod with_mio;
mod with_polling;

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    match std::env::args().nth(1).as_deref() {
        Some("low") => low::run()?,
        Some("mio") => with_mio::run()?,
        Some("polling") => with_polling::run()?,
        Some("notices") => notices::run(&std::env::args().nth(2).ok_or("usage: events notices DIR")?)?,
        _ => return Err("usage: events low|mio|polling|notices".into()),
    }
    println!("all as it should be");
    Ok(())
}
