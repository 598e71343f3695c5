//! Calls that nobody waits for.

use bench_services::{Bench, question};
use hostcall::time::Instant;
use hostcall::wave::lane_id;
use hostcall::{CallError, kernel};

/// `posts` posts by one lane, after `warm` others. `out`: nanoseconds until the last was on its way.
#[kernel]
pub fn post_issue(warm: u32, posts: u32, out: &mut [u64]) -> Result<(), CallError> {
    let mut start = Instant::now();
    for i in 0..warm + posts {
        if i == warm {
            start = Instant::now();
        }
        Bench::note(question(i))?;
    }
    out[0] = start.elapsed().as_nanos() as u64;
    Ok(())
}

/// `posts` posts by one lane of each wave.
#[kernel]
pub fn post_rate(posts: u32) -> Result<(), CallError> {
    if lane_id() == 0 {
        for i in 0..posts {
            Bench::note(question(i))?;
        }
    }
    Ok(())
}
