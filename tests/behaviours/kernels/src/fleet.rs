//! Several devices with the same services.

use crate::code;
use behaviours_services::Typed;
use hostcall::prelude::*;

/// What each lane is told of the device it runs on, and what a service says to that.
#[kernel]
pub fn ranks(results: &mut [u64]) {
    let i = global_id();
    if i < results.len() {
        let told = hostcall::env::rank().and_then(|rank| Ok((rank, hostcall::env::world_size()?)));
        results[i] = match told {
            Ok((rank, world)) => Typed::sum(rank.into(), u64::from(world) * 100).unwrap_or_else(code),
            Err(error) => code(error),
        };
    }
}
