//! S3, by a server that stands for it (moto).

use std::sync::Arc;
use std::time::Duration;

use hostcall_sinks::object_store::aws::AmazonS3Builder;
use hostcall_sinks::object_store::path::Path;
use hostcall_sinks::object_store::{ClientOptions, ObjectStore, ObjectStoreExt, RetryConfig};
use hostcall_sinks::{Intake, OpenError, Parquet};
use hostcall_stream::sink::Sink;

use crate::bucket::Bucket;
use crate::support::{Loss, expected, give, losses, read};

/// The store of a bucket, which tells errors at once, so that it is the sink that offers again.
fn store(server: &Bucket) -> Arc<dyn ObjectStore> {
    let builder = AmazonS3Builder::new().with_endpoint(server.address()).with_allow_http(true).with_bucket_name("runs");
    let builder = builder.with_region("us-east-1").with_access_key_id("key").with_secret_access_key("secret");
    let builder = builder.with_client_options(ClientOptions::new().with_allow_http(true).with_timeout(Duration::from_secs(20)));
    Arc::new(builder.with_retry(RetryConfig { max_retries: 0, ..RetryConfig::default() }).build().expect("a store"))
}

/// Copies all files below a path of the bucket into a directory; their names.
fn fetch(store: &dyn ObjectStore, dir: &std::path::Path) -> Vec<String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let mut names = Vec::new();
    let mut waiting = vec![Path::from("a")];
    while let Some(path) = waiting.pop() {
        let list = runtime.block_on(store.list_with_delimiter(Some(&path))).expect("a list");
        waiting.extend(list.common_prefixes);
        for object in list.objects {
            let bytes = runtime.block_on(async { store.get(&object.location).await.expect("a file").bytes().await.expect("its bytes") });
            let to = dir.join(object.location.as_ref());
            std::fs::create_dir_all(to.parent().expect("a directory")).expect("made");
            std::fs::write(to, bytes).expect("written");
            names.push(object.location.to_string());
        }
    }
    names.sort();
    names
}

#[test]
fn parts_in_s3_are_whole_and_hold_every_value() {
    let Some(server) = Bucket::start("runs") else { return };
    let store = store(&server);
    let intake = Intake::default().rows(1000).threads(1);
    let sink = Parquet::in_store(store.clone(), "a/run").intake(intake).roll_bytes(20_000).open().expect("it opens");
    let messages = losses(1000);
    // Whatever is there at any time can be read.
    for (quarter, sent) in messages.chunks(250).zip(1..) {
        give(&sink, quarter, 32);
        sink.flush();
        let dir = tempfile::tempdir().expect("a directory");
        fetch(&*store, dir.path());
        assert!(read::<Loss>(dir.path()) == expected(&messages[..250 * sent], 0), "{sent}");
    }
    sink.finish();
    let dir = tempfile::tempdir().expect("a directory");
    let names = fetch(&*store, dir.path());
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
    let Some(mut server) = Bucket::start("runs") else { return };
    let store = store(&server);
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
        server.make("runs");
        waiting.join().expect("it is done");
    });
    let sunk = sink.sunk();
    assert_eq!((sunk.messages, sunk.values, sunk.lost, sunk.error), (50, 1600, 0, None));
    let dir = tempfile::tempdir().expect("a directory");
    assert_eq!(fetch(&*store, dir.path()), ["a/run/stream=Loss/device=0/part-00001.parquet"]);
    assert!(read::<Loss>(dir.path()) == expected(&messages, 0));
}

#[test]
fn a_bucket_that_stays_away_is_named_and_what_is_lost_is_counted() {
    let Some(mut server) = Bucket::start("runs") else { return };
    let sink = Parquet::in_store(store(&server), "a/run").retry(Duration::from_millis(300)).open().expect("it opens");
    server.kill();
    give(&sink, &losses(50), 5);
    sink.finish();
    let sunk = sink.sunk();
    assert_eq!((sunk.messages, sunk.lost), (0, 50));
    let error = sunk.error.expect("an error").to_string();
    assert!(error.contains("AmazonS3(runs)") && error.contains("(tried for ") && error.contains("give it longer with `retry`"), "{error}");
    let error = Parquet::in_store(store(&server), "a/run").open().expect_err("nobody listens");
    assert!(matches!(&error, OpenError::Store { .. }) && error.to_string().contains("check its address and credentials"), "{error}");
}
