//! Writes the page of a recording: `cargo run -p hostcall-report --example page -- run.hcs run.html`.

use std::error::Error;

use hostcall_report::Digest;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(recording), Some(page)) = (arguments.next(), arguments.next()) else {
        return Err("give a recording and the page to write".into());
    };
    let digest = Digest::read(hostcall_stream::open(&recording)?);
    std::fs::write(page, digest.to_html(&recording))?;
    Ok(())
}
