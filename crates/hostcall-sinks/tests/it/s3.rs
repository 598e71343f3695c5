//! S3, by a server that stands for it.

use std::time::Duration;

use hostcall_sinks::{Intake, OpenError, Parquet};
use hostcall_stream::sink::Sink;
use hostcall_test_support::Bucket;

use crate::support::{Loss, expected, give, losses, read};

#[test]
fn parts_in_s3_are_whole_and_hold_every_value() {
    let server = Bucket::start();
    let store = server.store();
    let intake = Intake::default().rows(1000).threads(1);
    let sink = Parquet::in_store(store.clone(), "a/run").intake(intake).roll_bytes(20_000).open().expect("it opens");
    let messages = losses(1000);
    // Whatever is there at any time can be read.
    for (quarter, sent) in messages.chunks(250).zip(1..) {
        give(&sink, quarter, 32);
        sink.flush();
        let dir = tempfile::tempdir().expect("a directory");
        server.fetch("a", dir.path());
        assert!(read::<Loss>(dir.path()) == expected(&messages[..250 * sent], 0), "{sent}");
    }
    sink.finish();
    let dir = tempfile::tempdir().expect("a directory");
    let names = server.fetch("a", dir.path());
    for (number, name) in (1..).zip(&names) {
        assert_eq!(*name, format!("a/run/stream=Loss/device=0/part-{number:05}.parquet"));
    }
    assert!(names.len() > 3, "{names:?}");
    assert_eq!((sink.sunk().messages, sink.sunk().lost), (1000, 0));
    let error = Parquet::in_store(store.clone(), "a/run").open().expect_err("there is something");
    assert!(matches!(&error, OpenError::NotEmpty { found, .. } if found == "stream=Loss"), "{error}");
}

#[test]
fn what_s3_does_not_take_is_offered_again_until_it_does() {
    let mut server = Bucket::start();
    let store = server.store();
    let sink = Parquet::in_store(store.clone(), "a/run").intake(Intake::default().threads(1)).open().expect("it opens");
    let messages = losses(50);
    server.kill();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            give(&sink, &messages, 5);
            sink.flush();
        });
        // Nobody listens; then there is no such bucket.
        std::thread::sleep(Duration::from_millis(200));
        server.again();
        std::thread::sleep(Duration::from_millis(400));
        assert!(!waiting.is_finished() && sink.sunk().messages == 0, "{}", sink.sunk());
        server.make();
        waiting.join().expect("it is done");
    });
    let sunk = sink.sunk();
    assert_eq!((sunk.messages, sunk.values, sunk.lost, sunk.error), (50, 1600, 0, None));
    let dir = tempfile::tempdir().expect("a directory");
    assert_eq!(server.fetch("a", dir.path()), ["a/run/stream=Loss/device=0/part-00001.parquet"]);
    assert!(read::<Loss>(dir.path()) == expected(&messages, 0));
}

#[test]
fn a_bucket_that_stays_away_is_named_and_what_is_lost_is_counted() {
    let mut server = Bucket::start();
    let sink = Parquet::in_store(server.store(), "a/run").retry(Duration::from_millis(300)).open().expect("it opens");
    server.kill();
    give(&sink, &losses(50), 5);
    sink.finish();
    let sunk = sink.sunk();
    assert_eq!((sunk.messages, sunk.lost), (0, 50));
    let error = sunk.error.expect("an error").to_string();
    assert!(error.contains("AmazonS3(runs)") && error.contains("(tried for ") && error.contains("give it longer with `retry`"), "{error}");
    let error = Parquet::in_store(server.store(), "a/run").open().expect_err("nobody listens");
    assert!(matches!(&error, OpenError::Store { .. }) && error.to_string().contains("check its address and credentials"), "{error}");
}
