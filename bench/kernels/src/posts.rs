//! Calls that nobody waits for.

use bench_services::{Bench, question};
use hostcall::time::Instant;
use hostcall::{CallError, Port, kernel};

/// `posts` posts by one lane, after `warm` others. `out`: nanoseconds until the last was on its way, over a port that
/// the wave holds, and with one taken for each.
#[kernel]
pub fn post_issue(warm: u32, posts: u32, out: &mut [u64]) -> Result<(), CallError> {
    let mut start = Instant::now();
    let mut port = Port::hold()?;
    for i in 0..warm + posts {
        if i == warm {
            start = Instant::now();
        }
        Bench::note_on(&mut port, question(i))?;
    }
    out[0] = start.elapsed().as_nanos() as u64;
    drop(port);
    for i in 0..warm + posts {
        if i == warm {
            start = Instant::now();
        }
        Bench::note(question(i))?;
    }
    out[1] = start.elapsed().as_nanos() as u64;
    Ok(())
}

/// `posts` posts of one lane by each wave, which makes them together.
#[kernel]
pub fn post_rate(posts: u32) -> Result<(), CallError> {
    for i in 0..posts {
        Bench::note_together(question(i))?;
    }
    Ok(())
}
