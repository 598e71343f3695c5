//! Doing the same for many things, as many at once as there are processors.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The results, in the order of the things; the first error, once those that were under way have ended.
pub(crate) fn each<T: Sync, R: Send, E: Send>(things: &[T], make: impl Fn(&T) -> Result<R, E> + Sync) -> Result<Vec<R>, E> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<Result<R, E>>>> = things.iter().map(|_| Mutex::new(None)).collect();
    std::thread::scope(|scope| {
        for _ in 0..processors.min(things.len()) {
            scope.spawn(|| {
                // Relaxed: each number is taken once; results are published by their locks and the end of the scope.
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(thing) = things.get(at) else { break };
                    let result = make(thing);
                    if result.is_err() {
                        next.store(things.len(), Ordering::Relaxed);
                    }
                    *results[at].lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
                }
            });
        }
    });
    // Those that were not begun are behind the error.
    results.into_iter().filter_map(|result| result.into_inner().unwrap_or_else(PoisonError::into_inner)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_keep_their_order_and_an_error_ends_the_work() {
        let numbers: Vec<u32> = (0..100).collect();
        assert_eq!(each(&numbers, |number| Ok::<u32, ()>(number * 2)).expect("no error"), (0..200).step_by(2).collect::<Vec<u32>>());
        let result = each(&numbers, |number| if *number == 3 { Err("three") } else { Ok(()) });
        assert_eq!(result, Err("three"));
        assert_eq!(each(&[] as &[u32], |_| Ok::<(), ()>(())), Ok(Vec::new()));
    }
}
