//! Record batches for a function.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use hostcall_sinks::{Batches, Intake, arrow_schema};
use hostcall_stream::Schema;
use hostcall_stream::sink::Sink;

use crate::support::{Loss, give, losses};

#[test]
fn batches_come_with_every_value_and_of_about_as_many_rows_as_was_said() {
    let came = Arc::new(Mutex::new(Vec::new()));
    let takes = came.clone();
    let batches = Batches::default().intake(Intake::default().rows(100)).period(Duration::from_secs(3600));
    let sink = batches.open(move |stream, batch| takes.lock().unwrap().push((stream.name.clone(), batch))).expect("it opens");
    give(&sink, &losses(50), 7);
    sink.flush();
    let came = std::mem::take(&mut *came.lock().unwrap());
    assert!(came.iter().all(|(name, batch)| name == "Loss" && batch.schema() == arrow_schema(&Schema::of::<Loss>())));
    assert_eq!(came.iter().map(|(_, batch)| batch.num_rows()).sum::<usize>(), 1600);
    // Seven messages are of 224 rows; what is left at the end may be less.
    assert!(came.len() > 4 && came[..came.len() - 1].iter().all(|(_, batch)| batch.num_rows() >= 100));
    let sunk = sink.sunk();
    assert_eq!((sunk.messages, sunk.values, sunk.lost, sunk.error), (50, 1600, 0, None));
}

#[test]
fn what_does_not_fill_a_batch_comes_after_the_period() {
    let came = Arc::new(Mutex::new(0));
    let takes = came.clone();
    let batches = Batches::default().period(Duration::from_millis(5));
    let sink = batches.open(move |_, batch| *takes.lock().unwrap() += batch.num_rows()).expect("it opens");
    give(&sink, &losses(1), 1);
    let began = Instant::now();
    while *came.lock().unwrap() == 0 {
        assert!(began.elapsed() < Duration::from_secs(60), "nobody has flushed it");
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(*came.lock().unwrap(), 32);
}

#[test]
fn a_function_that_panics_ends_the_sink_and_what_it_did_not_take_is_counted() {
    let sink = Batches::default().open(|_, _| panic!("on purpose")).expect("it opens");
    give(&sink, &losses(5), 5);
    sink.flush();
    give(&sink, &losses(2), 2);
    sink.finish();
    let sunk = sink.sunk();
    assert_eq!((sunk.messages, sunk.lost), (0, 7));
    assert!(sunk.error.expect("an error").to_string().contains("panicked"));
}
