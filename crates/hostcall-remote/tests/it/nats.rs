//! Through a NATS server of Debian's, which is slow, killed and started again.
#![cfg(feature = "nats")]

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hostcall::Status;
use hostcall::detached::Message;
use hostcall_remote::{CallOptions, Connector, RemoteError, Worker, nats};

use crate::common;
use crate::support::{Caller, eventually, host, message, mixed, received, result};
use hostcall_test_support::Broker;

const LONG: Duration = Duration::from_secs(100);

fn with(settings: &str, test: impl FnOnce(&mut Broker, &Connector)) {
    if let Some(mut broker) = Broker::start(settings, &[]) {
        let place = nats(broker.address());
        test(&mut broker, &place);
    }
}

#[test]
fn every_way_to_run_a_handler() {
    with("", |_, place| common::every_way_to_run_a_handler(place));
}

#[test]
fn strings_slices_and_what_comes_back() {
    with("", |_, place| common::strings_and_slices(place));
}

#[test]
fn definitions_that_differ_never_meet() {
    with("", |_, place| common::definitions_that_differ_never_meet(place));
}

#[test]
fn without_a_worker_a_call_ends_or_waits() {
    with("", |_, place| common::without_a_worker(place));
}

#[test]
fn a_slow_worker_delays_calls_to_their_timeout_and_no_longer() {
    with("", |_, place| common::a_slow_worker(place));
}

#[test]
fn what_a_worker_has_no_time_for_is_sent_again() {
    with("", |_, place| common::a_worker_with_too_much_to_do(place));
}

#[test]
fn what_is_too_large_says_so() {
    with("", |_, place| common::what_is_too_large(place, 512 << 10));
}

#[test]
fn a_broker_that_takes_small_messages_gets_small_ones() {
    with("max_payload: 8192", |_, place| {
        common::what_is_too_large(place, 8192 - 512);
        common::strings_and_slices(place);
        // Many messages at once, which do not fit into one request.
        let _worker = Worker::on(place.clone()).service(host::mixed(mixed)).start().unwrap();
        let remote = place.clone().connect().unwrap();
        let caller = Caller::new(remote.service_with(host::definition::mixed(), CallOptions::new().timeout(LONG).in_flight(1)));
        let waiting: Vec<_> = (0..200).map(|i| caller.start(message(&[100 + i; 64]))).collect();
        for (i, waiting) in (0..).zip(&waiting) {
            assert_eq!(received(waiting).units[..2], [300 + 3 * i, 0]);
        }
    });
}

#[test]
fn posts_have_been_handled_when_they_are_done() {
    with("", |_, place| common::posts(place));
}

#[test]
fn a_million_calls_are_each_run_and_answered_once() {
    with("", |_, place| common::a_million_calls(place, 2));
}

#[test]
fn a_broker_that_is_killed_costs_calls_their_timeout_and_is_found_again() {
    with("", |broker, place| {
        let _worker = Worker::on(place.clone()).service(host::mixed(mixed)).start().unwrap();
        let remote = place.clone().connect().unwrap();
        let options = CallOptions::new().timeout(Duration::from_millis(400));
        let caller = Caller::new(remote.service_with(host::definition::mixed(), options));
        let patient = Caller::new(remote.service_with(host::definition::mixed(), CallOptions::new().timeout(LONG).worker_wait(LONG)));
        assert_eq!(caller.mixed(1), Ok(3));
        broker.kill();
        let during: Vec<_> = (0..20).map(|_| caller.mixed(1)).take(3).collect();
        assert_eq!(during, [Err(Status::TIMEOUT); 3]);
        assert!(remote.stats()[0].timeouts >= 3);
        // This one is sent when there is a way again.
        eventually("the client has seen it", || format!("{:?}", caller.mixed(1)).contains("TIMEOUT"));
        let waiting = patient.start(message(&[5]));
        broker.again();
        assert_eq!(result(&received(&waiting)), Ok(15));
        eventually("calls go on", || caller.mixed(2) == Ok(6));
    });
}

#[test]
fn kept_posts_outlive_the_broker_and_wait_for_a_worker() {
    with("jetstream { store_dir: store }", |broker, place| {
        let remote = place.clone().connect().unwrap();
        let caller = Caller::new(remote.service_with(host::definition::log(), CallOptions::new().timeout(LONG).kept()));
        let post = |line: u32| Message { mask: 1, units: vec![line, 0], post: true, ..Message::default() };
        for line in 0..20 {
            assert_eq!(caller.call(post(line)).heads[0].status, Status::OK);
        }
        broker.kill();
        // Offered until the broker is back.
        let waiting = caller.start(post(20));
        broker.again();
        let ended = received(&waiting);
        assert_eq!(ended.heads[0].status, Status::OK, "{ended:?}");
        let lines = Arc::new(Mutex::new(Vec::new()));
        for _ in 0..2 {
            let theirs = lines.clone();
            let log = host::log(move |line| theirs.lock().unwrap().push(line));
            let worker = Worker::on(place.clone()).service(log).kept().start().unwrap();
            eventually("all are handled", || lines.lock().unwrap().len() >= 21);
            assert!(worker.stop(LONG), "what was handled is told to the broker");
        }
        let mut lines = std::mem::take(&mut *lines.lock().unwrap());
        lines.sort_unstable();
        assert_eq!(lines, (0..21).collect::<Vec<u64>>(), "each once, as no worker was lost");
    });
}

#[test]
fn without_jetstream_kept_posts_time_out_and_say_so() {
    with("", |_, place| {
        let remote = place.clone().connect().unwrap();
        let options = CallOptions::new().timeout(Duration::from_millis(300)).kept();
        let caller = Caller::new(remote.service_with(host::definition::log(), options));
        let replies = caller.call(Message { mask: 1, units: vec![1, 0], post: true, ..Message::default() });
        assert_eq!(replies.notes.len(), 1, "{replies:?}");
        let worker = Worker::on(place.clone()).service(host::log(|_| ())).kept().start();
        let error = worker.unwrap_err().to_string();
        assert!(error.contains("--jetstream"), "{error}");
    });
}

/// A server that wants TLS and a password, and the files for it.
fn guarded() -> Option<Broker> {
    let certified = rcgen::generate_simple_self_signed(["localhost".to_owned(), "127.0.0.1".to_owned()]).unwrap();
    let (certificate, key) = (certified.cert.pem(), certified.signing_key.serialize_pem());
    let settings = "tls { cert_file: server.pem, key_file: server.key }
        authorization { users: [{ user: kernel, password: s3cret-word }] }";
    Broker::start(
        settings,
        &[("server.pem", &certificate), ("server.key", &key), ("password", "kernel:s3cret-word\n"), ("wrong", "kernel:other-w0rd")],
    )
}

#[test]
fn credentials_and_certificates_come_from_files_and_are_never_shown() {
    let Some(broker) = guarded() else { return };
    let place = nats(format!("tls://127.0.0.1:{}", broker.port()))
        .root_certificates(broker.file("server.pem"))
        .password_file(broker.file("password"));
    let worker = Worker::on(place.clone()).service(host::mixed(mixed)).start().unwrap();
    let remote = place.clone().connect().unwrap();
    assert_eq!(Caller::new(remote.service(host::definition::mixed())).mixed(6), Ok(18));
    let shown = format!("{place:?} {remote:?} {worker:?} {worker}");
    assert!(!shown.contains("s3cret"), "{shown}");

    let wrong = place.clone().password_file(broker.file("wrong")).connect().unwrap_err();
    let told = format!("{wrong} {wrong:?}");
    assert!(matches!(wrong, RemoteError::Broker { .. }) && !told.contains("w0rd") && told.contains("127.0.0.1"), "{told}");
    let nobody = nats(format!("tls://kernel:s3cret-word@127.0.0.1:{}", broker.port())).connect().unwrap_err();
    let told = format!("{nobody} {nobody:?}");
    assert!(matches!(nobody, RemoteError::Broker { .. }) && !told.contains("s3cret"), "unknown signer: {told}");
    let missing = place.clone().password_file(broker.file("nowhere")).connect().unwrap_err();
    assert!(matches!(&missing, RemoteError::File { path, .. } if path.ends_with("nowhere")), "{missing}");
    let none = place.credentials_file(broker.file("password")).connect().unwrap_err();
    assert!(matches!(none, RemoteError::Credentials { .. }) && !none.to_string().contains("s3cret"), "{none}");
}

#[test]
fn an_nkey_in_a_file_opens_the_door() {
    // The pair of keys that NATS's documentation shows.
    const PUBLIC: &str = "UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4";
    const SEED: &str = "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY";
    let settings = format!("authorization {{ users: [{{ nkey: {PUBLIC} }}] }}");
    let Some(broker) = Broker::start(&settings, &[("seed", &format!("{SEED}\n"))]) else { return };
    assert!(nats(broker.address()).connect().is_err());
    let place = nats(broker.address()).nkey_file(broker.file("seed"));
    let _worker = Worker::on(place.clone()).service(host::mixed(mixed)).start().unwrap();
    let remote = place.connect().unwrap();
    assert_eq!(Caller::new(remote.service(host::definition::mixed())).mixed(2), Ok(6));
}

#[test]
fn no_broker_is_an_error_that_says_where() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let error = nats(format!("nats://user:s3cret@{free}")).connect().unwrap_err().to_string();
    assert!(error.contains(&free.to_string()) && error.contains("nats-server") && !error.contains("s3cret"), "{error}");
}

#[test]
fn what_is_no_request_is_refused_and_the_worker_goes_on() {
    with("", |broker, place| {
        let runs = Arc::new(AtomicU32::new(0));
        let count = runs.clone();
        let service = host::mixed(move |x| {
            count.fetch_add(1, Ordering::Relaxed);
            mixed(x)
        });
        let worker = Worker::on(place.clone()).service(service).start().unwrap();
        let definition = host::definition::mixed();
        let subject = format!("hostcall.{}.{:016x}", definition.name, definition.signature);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let client = async_nats::connect(broker.address()).await.unwrap();
            for body in [&b""[..], b"HCQ1", b"nonsense", &[0xff; 4000], b"HCQ1\xff\xff\xff\xff\0\0\0\0\0\0\0\0"] {
                let answer = client.request(subject.clone(), body.to_vec().into()).await.unwrap();
                let (_, answer) = hostcall_remote::wire::read_answer(&answer.payload).unwrap();
                assert!(matches!(answer, hostcall_remote::wire::Answer::Invalid(_)), "{answer:?}");
            }
        });
        assert_eq!((worker.stats()[0].invalid, runs.load(Ordering::Relaxed)), (5, 0));
        let remote = place.clone().connect().unwrap();
        assert_eq!(Caller::new(remote.service(definition)).mixed(2), Ok(6));
    });
}

#[test]
fn a_worker_that_lies_fails_the_calls_that_it_was_given() {
    with("", |broker, place| {
        let definition = host::definition::mixed();
        let subject = format!("hostcall.{}.{:016x}", definition.name, definition.signature);
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let ok = |units: Vec<u32>| {
            let head = hostcall::detached::ReplyHead { status: Status::OK, dwords: units.len() as u16 };
            hostcall::detached::Replies { heads: vec![head], units, notes: vec![] }
        };
        let lies = [
            b"nonsense".to_vec(),
            hostcall_remote::wire::answers("liar", &[(0, ok(vec![1]))], 1000)[0].to_vec(),
            // Another message's, then twice, then the true one: the first counts.
            hostcall_remote::wire::answers("liar", &[(9, ok(vec![1, 1])), (0, ok(vec![8, 0])), (0, ok(vec![9, 0]))], 1000)[0].to_vec(),
        ];
        let address = broker.address();
        runtime.block_on(async {
            let client = async_nats::connect(address).await.unwrap();
            let mut requests = client.subscribe(subject).await.unwrap();
            client.flush().await.unwrap();
            tokio::spawn(async move {
                let mut lies = lies.into_iter().cycle();
                while let Some(request) = futures_util::StreamExt::next(&mut requests).await {
                    let lie = lies.next().unwrap();
                    client.publish(request.reply.unwrap(), lie.into()).await.unwrap();
                }
            });
        });
        let remote = place.clone().connect().unwrap();
        let caller = Caller::new(remote.service_with(definition, CallOptions::new().timeout(LONG)));
        let first = caller.call(message(&[1]));
        assert_eq!(first.heads[0].status, Status::HANDLER_FAILED);
        assert!(first.notes[0].message.contains("answer is none"), "{first:?}");
        assert_eq!(caller.mixed(1), Err(Status::MALFORMED));
        assert_eq!(caller.mixed(1), Ok(8));
    });
}
