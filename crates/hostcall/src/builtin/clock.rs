//! The wall clock.

use std::time::{SystemTime, UNIX_EPOCH};

use super::context::Context;
use super::define;
use crate::service::Service;

/// Seconds and nanoseconds since the start of 1970, the latter never negative.
pub(super) fn since_epoch(time: SystemTime) -> (i64, u32) {
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => (after.as_secs() as i64, after.subsec_nanos()),
        Err(before) => {
            let before = before.duration();
            match before.subsec_nanos() {
                0 => (-(before.as_secs() as i64), 0),
                nanos => (-(before.as_secs() as i64) - 1, 1_000_000_000 - nanos),
            }
        }
    }
}

pub(super) fn services(context: &Context) -> Vec<Service> {
    vec![context.inline(define::clock::definition::system_time(), |call| {
        call.reply(&since_epoch(SystemTime::now()), &[]);
        Ok(())
    })]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn times_before_1970_have_nanoseconds_that_count_up() {
        assert_eq!(since_epoch(UNIX_EPOCH - Duration::from_millis(1500)), (-2, 500_000_000));
        assert_eq!(since_epoch(UNIX_EPOCH - Duration::from_secs(2)), (-2, 0));
        assert_eq!(since_epoch(UNIX_EPOCH + Duration::from_millis(1500)), (1, 500_000_000));
    }
}
