//! Parquet, in directories and stores.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use futures_core::stream::BoxStream;
use hostcall_sinks::object_store::memory::InMemory;
use hostcall_sinks::object_store::path::Path;
use hostcall_sinks::object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore, ObjectStoreExt, PutMultipartOptions,
    PutOptions, PutPayload, PutResult, Result,
};
use hostcall_sinks::{Codec, Full, Intake, OpenError, Parquet, ReadError, open};
use hostcall_stream::sink::Sink;
use proptest::prelude::*;

use crate::support::{All, Loss, OtherLoss, Sent, as_read, expected, files, give, losses, messages, places, read};

fn all() -> impl Strategy<Value = All> {
    let numbers = (any::<u64>(), any::<i64>(), -1e300..1e300f64, any::<u32>(), any::<i32>(), -1e30..1e30f32, any::<[u8; 6]>());
    let arrays = (any::<u16>(), any::<i16>(), any::<u8>(), any::<i8>(), any::<[i16; 3]>(), any::<[[u16; 2]; 2]>(), any::<[u8; 2]>());
    (numbers, arrays).prop_map(|((a, b, c, time, lane, f, bytes), (g, h, i, j, list, nested, last))| All {
        a,
        b,
        c,
        time,
        lane,
        f,
        g,
        h,
        i,
        j,
        bytes,
        list,
        nested,
        last,
    })
}

fn both<M: hostcall_stream::Message>(messages: &[Sent<M>]) -> Vec<(hostcall_stream::Origin, M)> {
    [0, 1].into_iter().flat_map(|device| expected(messages, device)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]
    #[test]
    fn values_of_all_types_come_back_with_their_origins(messages in messages(all()), together in 1..8usize, rows in 1..200usize) {
        let dir = tempfile::tempdir().expect("a directory");
        let sink = Parquet::to(dir.path()).intake(Intake::default().rows(rows).queue(1)).row_group(100).open().expect("it opens");
        give(&sink, &messages, together);
        sink.finish();
        let (sunk, expected) = (sink.sunk(), both(&messages));
        prop_assert_eq!((sunk.messages, sunk.values), (messages.len() as u64, expected.len() as u64));
        prop_assert_eq!((sunk.lost, sunk.shed, sunk.error), (0, 0, None));
        let read = read::<All>(dir.path());
        prop_assert_eq!(read.len(), expected.len());
        prop_assert!(read == expected, "values or origins differ");
    }
}

#[test]
fn files_are_rolled_by_size_and_named_by_stream_device_and_number() {
    let dir = tempfile::tempdir().expect("a directory");
    let intake = Intake::default().rows(1000).threads(1);
    let sink = Parquet::to(dir.path()).codec(Codec::None).intake(intake).roll_bytes(20_000).open().expect("it opens");
    let messages = losses(1000);
    give(&sink, &messages, 32);
    sink.finish();
    let files = files(dir.path());
    assert!(files.len() > 3, "{files:?}");
    for (number, file) in (1..).zip(&files) {
        assert_eq!(*file, format!("stream=Loss/device=0/part-{number:05}.parquet"));
    }
    assert!(read::<Loss>(dir.path()) == expected(&messages, 0));
    let bytes: u64 = files.iter().map(|file| dir.path().join(file).metadata().expect("a file").len()).sum();
    assert_eq!(sink.sunk().bytes, bytes);
}

#[test]
fn a_flush_makes_everything_readable_and_what_comes_later_is_another_file() {
    let dir = tempfile::tempdir().expect("a directory");
    let sink = Parquet::to(dir.path()).intake(Intake::default().threads(1)).open().expect("it opens");
    let messages = losses(6);
    for half in messages.chunks(3) {
        give(&sink, half, 2);
        sink.flush();
    }
    assert!(read::<Loss>(dir.path()) == expected(&messages, 0), "before the end");
    assert_eq!(files(dir.path()).len(), 2);
    sink.finish();
    assert_eq!(files(dir.path()).len(), 2, "no empty file");
}

#[test]
fn files_are_rolled_by_time_although_nobody_waits_and_tables_are_not_full() {
    let dir = tempfile::tempdir().expect("a directory");
    let sink = Parquet::to(dir.path()).roll_time(Duration::from_millis(20)).open().expect("it opens");
    give(&sink, &losses(1), 1);
    while sink.sunk().messages == 0 {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(files(dir.path()).len() == 1 && read::<Loss>(dir.path()).len() == 32);
}

#[test]
fn a_directory_with_streams_is_refused_unless_parts_are_to_be_added() {
    let dir = tempfile::tempdir().expect("a directory");
    let write = |sink: std::result::Result<hostcall_sinks::ParquetSink, OpenError>| {
        let sink = sink.expect("it opens");
        give(&sink, &losses(2), 2);
        sink.finish();
    };
    write(Parquet::to(dir.path()).open());
    let error = Parquet::to(dir.path()).open().expect_err("there is something");
    assert!(matches!(&error, OpenError::NotEmpty { found, .. } if found == "stream=Loss"), "{error}");
    assert!(error.to_string().contains("give an empty directory, or add to it with `append`"), "{error}");
    write(Parquet::to(dir.path()).append().open());
    write(Parquet::to(dir.path()).append().open());
    assert_eq!(read::<Loss>(dir.path()).len(), 3 * 64);
}

#[test]
fn a_place_that_cannot_be_written_is_an_error_with_its_path_at_once() {
    let dir = tempfile::tempdir().expect("a directory");
    std::fs::write(dir.path().join("file"), "").expect("a file");
    for path in [dir.path().join("file"), "/proc/nowhere".into()] {
        let error = Parquet::to(&path).open().expect_err("no directory");
        assert!(matches!(&error, OpenError::Path { path: named, .. } if *named == path), "{error}");
        assert!(error.to_string().contains("give a path in a directory that can be written"), "{error}");
    }
    let error = Parquet::at("s3x://nowhere").open().expect_err("no such store");
    assert!(matches!(&error, OpenError::Url { .. }), "{error}");
}

#[test]
fn another_definition_or_no_such_stream_is_told_by_what_is_there() {
    let dir = tempfile::tempdir().expect("a directory");
    let sink = Parquet::to(dir.path()).open().expect("it opens");
    give(&sink, &losses(2), 2);
    sink.finish();
    let error = open::<OtherLoss>(dir.path()).expect_err("another definition");
    assert!(matches!(error, ReadError::Definition { .. }), "{error}");
    assert!(error.to_string().contains("`Loss { step: u32, value: f32 }` there, `Loss { step: u64, value: f64 }` here"), "{error}");
    let error = open::<All>(dir.path()).expect_err("no such stream");
    assert!(matches!(&error, ReadError::NoStream { names, .. } if names == &["Loss"]), "{error}");
}

#[test]
fn two_streams_of_one_name_are_kept_apart() {
    let dir = tempfile::tempdir().expect("a directory");
    let sink = Parquet::to(dir.path()).open().expect("it opens");
    give(&sink, &losses(2), 2);
    let other: Vec<_> = losses(1).iter().map(|one| Sent { head: one.head, values: vec![OtherLoss { step: 1, value: 2.0 }; 32] }).collect();
    give(&sink, &other, 1);
    sink.finish();
    let files = files(dir.path());
    assert_eq!(files, ["stream=Loss-000000000000000c/device=0/part-00001.parquet", "stream=Loss/device=0/part-00001.parquet"]);
    assert_eq!(read::<OtherLoss>(&dir.path().join("stream=Loss-000000000000000c")).len(), 32);
}

#[test]
fn a_sink_takes_only_the_streams_that_it_was_told_to() {
    let dir = tempfile::tempdir().expect("a directory");
    let sink = Parquet::to(dir.path()).intake(Intake::default().only(["Loss"])).open().expect("it opens");
    let schema = |name: &str| hostcall_stream::Schema { name: name.into(), ..hostcall_stream::Schema::of::<Loss>() };
    assert!(sink.takes(&schema("Loss")) && !sink.takes(&schema("Other")));
}

/// A store that fails so many times, or for ever, and works after that.
#[derive(Debug)]
struct Failing {
    inner: InMemory,
    failures: AtomicU32,
    why: Why,
}

/// Why it fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Why {
    Network,
    Denied,
    Full,
}

impl std::fmt::Display for Failing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a failing store")
    }
}

#[async_trait::async_trait]
impl ObjectStore for Failing {
    async fn put_opts(&self, location: &Path, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        // Relaxed: a count of one's own.
        if self.failures.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok() {
            let source = "the network is down".into();
            return Err(match self.why {
                Why::Denied => Error::PermissionDenied { path: location.to_string(), source },
                Why::Network => Error::Generic { store: "failing", source },
                // As the store of directories has it.
                Why::Full => {
                    let source = Box::new(std::io::Error::new(std::io::ErrorKind::StorageFull, "the network is down, and the disk full"));
                    Error::Generic { store: "failing", source }
                }
            });
        }
        self.inner.put_opts(location, payload, options).await
    }

    async fn put_multipart_opts(&self, location: &Path, options: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        self.inner.put_multipart_opts(location, options).await
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        self.inner.get_opts(location, options).await
    }

    fn delete_stream(&self, locations: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        self.inner.delete_stream(locations)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.inner.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.inner.copy_opts(from, to, options).await
    }
}

fn failing(failures: u32, why: Why) -> Arc<Failing> {
    Arc::new(Failing { inner: InMemory::new(), failures: AtomicU32::new(failures), why })
}

/// Rows of the file under a name.
fn rows_of(store: &Failing, key: &str) -> i64 {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let bytes = runtime.block_on(async { store.inner.get(&key.into()).await.expect("the file").bytes().await.expect("its bytes") });
    let reader = ::parquet::file::serialized_reader::SerializedFileReader::new(bytes).expect("a whole file");
    ::parquet::file::reader::FileReader::metadata(&reader).file_metadata().num_rows()
}

#[test]
fn a_store_that_fails_and_comes_back_gets_every_message_once() {
    let store = failing(3, Why::Network);
    let sink = Parquet::in_store(store.clone(), "a/run").intake(Intake::default().threads(1)).open().expect("it opens");
    give(&sink, &losses(10), 3);
    sink.flush();
    let sunk = sink.sunk();
    assert_eq!((sunk.messages, sunk.values, sunk.lost, sunk.error), (10, 320, 0, None));
    assert_eq!(store.failures.load(Ordering::Relaxed), 0, "it failed before");
    assert_eq!(rows_of(&store, "a/run/stream=Loss/device=0/part-00001.parquet"), 320);
}

#[test]
fn a_store_that_fails_for_good_is_named_and_what_is_lost_is_counted_exactly() {
    use std::io::ErrorKind;
    for (why, kind, time, fix) in [
        (Why::Network, ErrorKind::Other, Duration::from_millis(120), "give it longer with `retry`"),
        (Why::Denied, ErrorKind::PermissionDenied, Duration::MAX, "allow it"),
        (Why::Full, ErrorKind::StorageFull, Duration::MAX, "make room, or write to another place"),
    ] {
        let store = failing(u32::MAX, why);
        let sink = Parquet::in_store(store, "run").retry(time).intake(Intake::default().rows(64).queue(1)).open().expect("it opens");
        give(&sink, &losses(10), 3);
        sink.flush();
        // Nobody waits any more.
        give(&sink, &losses(100), 3);
        sink.finish();
        let sunk = sink.sunk();
        assert_eq!((sunk.messages, sunk.lost, sunk.shed), (0, 110, 0));
        let error = sunk.error.expect("an error");
        assert_eq!(error.kind, kind);
        let error = error.to_string();
        assert!(error.contains("cannot write to `run` of a failing store") && error.contains("the network is down"), "{error}");
        assert!(error.contains(fix) && error.contains("part-0000"), "{error}");
    }
}

#[test]
fn a_slow_sink_sheds_what_it_has_no_room_for_and_says_how_much() {
    let store = failing(u32::MAX, Why::Network);
    let intake = Intake::default().rows(32).queue(1).threads(1).when_full(Full::Shed);
    let sink = Parquet::in_store(store.clone(), "run").intake(intake).roll_bytes(1).open().expect("it opens");
    give(&sink, &losses(500), 1);
    store.failures.store(0, Ordering::Relaxed);
    sink.finish();
    let sunk = sink.sunk();
    assert!(sunk.shed > 0 && sunk.messages > 0, "{sunk}");
    assert_eq!((sunk.messages + sunk.shed, sunk.lost, sunk.error.clone()), (500, 0, None));
    assert!(sunk.to_string().contains("messages were shed because it was too slow"), "{sunk}");
}

#[test]
fn places_are_there_before_what_names_them_and_again_when_there_are_more() {
    let dir = tempfile::tempdir().expect("a directory");
    let sink = Parquet::to(dir.path()).intake(Intake::default().threads(2)).open().expect("it opens");
    let sites = places();
    sink.begin(&sites);
    assert!(files(dir.path()).is_empty(), "nobody named one");
    give(&sink, &losses(3), 2);
    sink.flush();
    assert_eq!(files(dir.path()), ["_sites.parquet", "stream=Loss/device=0/part-00001.parquet"]);
    assert_eq!(hostcall_sinks::sites(dir.path()).expect("a table"), as_read(&sites));
    sites.insert(10, crate::support::place("matmul"));
    give(&sink, &losses(3), 2);
    sink.finish();
    assert_eq!(hostcall_sinks::sites(dir.path().join("_sites.parquet")).expect("a table"), as_read(&sites));
    assert_eq!(as_read(&sites).len(), 3);
    // It is no stream.
    assert_eq!(read::<Loss>(dir.path()).len(), 192);
    // Another run has numbers of its own.
    let more = Parquet::to(dir.path()).append().open().expect("it opens");
    more.begin(&places());
    give(&more, &losses(3), 2);
    more.finish();
    let tables: Vec<_> = files(dir.path()).into_iter().filter(|file| file.starts_with("_sites")).collect();
    let [first, second] = &tables[..] else { panic!("{tables:?}") };
    let (run, whole) = (if first == "_sites.parquet" { second } else { first }, "_sites.parquet");
    assert!(run.starts_with("_sites-") && tables.contains(&whole.to_owned()), "{tables:?}");
    assert_eq!(hostcall_sinks::sites(dir.path().join(run)).expect("a table").len(), 2);
    assert_eq!(hostcall_sinks::sites(dir.path().join(whole)).expect("a table").len(), 3);
    let error = hostcall_sinks::sites(dir.path().join("stream=Loss")).expect_err("no table there");
    assert!(matches!(&error, ReadError::Io { path, .. } if path.ends_with("_sites.parquet")), "{error}");
    let other = dir.path().join("stream=Loss/device=0/part-00001.parquet");
    let error = hostcall_sinks::sites(other).expect_err("another table");
    assert!(matches!(&error, ReadError::Content { reason, .. } if reason == "column `line` is missing"), "{error}");
}

#[test]
fn a_store_that_does_not_take_the_places_gets_no_messages_that_name_them() {
    let store = failing(2, Why::Network);
    let sink = Parquet::in_store(store.clone(), "run").intake(Intake::default().threads(1)).open().expect("it opens");
    sink.begin(&places());
    give(&sink, &losses(10), 3);
    sink.flush();
    assert_eq!((sink.sunk().messages, rows_of(&store, "run/_sites.parquet")), (10, 2));
    let store = failing(u32::MAX, Why::Denied);
    let sink = Parquet::in_store(store, "run").open().expect("it opens");
    sink.begin(&places());
    give(&sink, &losses(10), 3);
    sink.finish();
    let sunk = sink.sunk();
    assert_eq!((sunk.messages, sunk.lost), (0, 10));
    assert!(sunk.error.expect("an error").to_string().contains("_sites.parquet"));
}
