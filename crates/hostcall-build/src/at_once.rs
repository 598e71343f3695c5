//! Doing the same for many things, as many at once as there are processors.

use std::cmp::Reverse;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The results, in the order of the things; an error, once those that were under way have ended. Large things come
/// first, by `size`: the last ones to end are small, so that no processor waits long for another.
pub(crate) fn each<T: Sync, R: Send, E: Send>(
    things: &[T],
    size: impl Fn(&T) -> usize,
    make: impl Fn(&T) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let order = largest_first(things, size);
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<Result<R, E>>>> = things.iter().map(|_| Mutex::new(None)).collect();
    std::thread::scope(|scope| {
        for _ in 0..processors.min(things.len()) {
            scope.spawn(|| {
                // Relaxed: each number is taken once; results are published by their locks and the end of the scope.
                while let Some(&at) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let result = make(&things[at]);
                    if result.is_err() {
                        next.store(things.len(), Ordering::Relaxed);
                    }
                    *results[at].lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
                }
            });
        }
    });
    // If some were not begun, there is an error.
    results.into_iter().filter_map(|result| result.into_inner().unwrap_or_else(PoisonError::into_inner)).collect()
}

fn largest_first<T>(things: &[T], size: impl Fn(&T) -> usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..things.len()).collect();
    order.sort_by_key(|at| Reverse(size(&things[*at])));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_keep_their_order_and_an_error_ends_the_work() {
        let numbers: Vec<u32> = (0..100).collect();
        let size = |number: &u32| *number as usize;
        assert_eq!(each(&numbers, size, |number| Ok::<u32, ()>(number * 2)).expect("no error"), (0..200).step_by(2).collect::<Vec<u32>>());
        let result = each(&numbers, size, |number| if *number == 3 { Err("three") } else { Ok(()) });
        assert_eq!(result, Err("three"));
        assert_eq!(each(&[] as &[u32], size, |_| Ok::<(), ()>(())), Ok(Vec::new()));
    }

    #[test]
    fn large_things_come_first() {
        assert_eq!(largest_first(&["aa", "b", "cccc", "dd"], |text| text.len()), [2, 0, 3, 1]);
    }
}
