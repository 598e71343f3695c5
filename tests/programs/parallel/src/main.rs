//! Sorting and summing with rayon, and crossbeam's queues and channels.

use crossbeam::queue::ArrayQueue;
use rayon::prelude::*;

fn main() {
    let n: usize = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(100_000);
    let mut numbers: Vec<u64> = (0..n as u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
    let expected = numbers.iter().fold(0u64, |sum, n| sum.wrapping_add(*n));
    numbers.par_sort_unstable();
    assert!(numbers.is_sorted());
    let sum = numbers.par_iter().copied().reduce(|| 0, u64::wrapping_add);
    assert_eq!(sum, expected);
    let evens = numbers.par_iter().filter(|n| *n % 2 == 0).count();
    println!("{} threads, {n} numbers, {evens} even", rayon::current_num_threads());

    let queue = ArrayQueue::new(64);
    let (send, receive) = crossbeam::channel::bounded(16);
    let total: usize = crossbeam::thread::scope(|scope| {
        for producer in 0..2 {
            let (queue, send) = (&queue, send.clone());
            scope.spawn(move |_| {
                for i in 0..500 {
                    while queue.push(producer * 500 + i).is_err() {
                        std::thread::yield_now();
                    }
                    send.send(()).expect("somebody receives");
                }
            });
        }
        drop(send);
        receive.iter().map(|()| queue.pop().expect("one was pushed for each message")).sum()
    })
    .expect("nobody panics");
    assert_eq!(total, 999 * 1000 / 2);
    println!("all as it should be");
}
