//! Standard input to standard output, byte for byte.

use std::io::{self, Write};

fn main() -> io::Result<()> {
    let mut out = io::stdout().lock();
    io::copy(&mut io::stdin().lock(), &mut out)?;
    out.flush()
}
