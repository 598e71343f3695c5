//! NATS JetStream, with a server of Debian's.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use hostcall_sinks::nats::async_nats;
use hostcall_sinks::{Intake, Nats, OpenError, ReadError, decode};
use hostcall_stream::sink::Sink;
use hostcall_stream::{Origin, Sites};
use hostcall_test_support::{Broker, Kept};

use crate::support::{All, Loss, OtherLoss, Sent, expected, give, losses, place};

/// The values in the messages of a subject.
fn values<M: hostcall_stream::Message>(messages: &[Kept], subject: &str) -> Vec<(Origin, M)> {
    let of_it = messages.iter().filter(|message| message.subject == subject);
    of_it
        .flat_map(|message| {
            let rows = decode::<M>(&message.payload).expect("a table");
            rows.origins.into_iter().zip(rows.values).collect::<Vec<_>>()
        })
        .collect()
}

#[test]
fn every_value_is_in_a_message_of_its_streams_subject_with_the_places_before() {
    let Some(broker) = Broker::with_jetstream("") else { return };
    let sink = Nats::at(format!("{}/lab.run7", broker.address())).intake(Intake::default().rows(100)).open().expect("it opens");
    let sites = Arc::new(Sites::default());
    sites.insert(3, place("softmax"));
    sink.begin(&sites);
    let messages = losses(20);
    give(&sink, &messages, 3);
    let other: Vec<_> = losses(1).iter().map(|one| Sent { head: one.head, values: vec![OtherLoss { step: 1, value: 2.0 }; 32] }).collect();
    give(&sink, &other, 1);
    sink.flush();
    let sunk = sink.sunk();
    assert_eq!((sunk.messages, sunk.values, sunk.lost, sunk.error.clone()), (21, 672, 0, None), "{sunk}");
    let all = broker.kept("lab_run7");
    assert_eq!(all[0].subject, "lab.run7._sites");
    assert!(values::<Loss>(&all, "lab.run7.Loss") == expected(&messages, 0), "values or origins differ");
    assert_eq!(values::<OtherLoss>(&all, "lab.run7.Loss-000000000000000c").len(), 32);
    assert!(all.iter().filter(|message| message.subject == "lab.run7.Loss").count() > 3);
    let dir = tempfile::tempdir().expect("a directory");
    let table = dir.path().join("places.arrow");
    std::fs::write(&table, &all[0].payload).expect("written");
    assert_eq!(hostcall_sinks::sites(&table).expect("a table"), BTreeMap::from([(3, place("softmax"))]));
    // Those that are new come before what names them.
    sites.insert(4, place("matmul"));
    give(&sink, &messages, 3);
    sink.finish();
    let all = broker.kept("lab_run7");
    assert_eq!(all.iter().filter(|message| message.subject == "lab.run7._sites").count(), 2);
    let mut ids: Vec<&str> = all.iter().map(|message| message.id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all.len(), "each message has a number of its own");
    // And another run adds to the stream.
    let sink = Nats::at(format!("{}/lab.run7", broker.address())).open().expect("it opens");
    give(&sink, &messages, 3);
    sink.finish();
    assert_eq!(values::<Loss>(&broker.kept("lab_run7"), "lab.run7.Loss").len(), 3 * 640);
}

#[test]
fn a_server_that_is_killed_and_comes_back_has_every_message_once_and_in_order() {
    let Some(mut broker) = Broker::with_jetstream("") else { return };
    let sink = Nats::to(broker.address(), "run").intake(Intake::default().rows(64).queue(2)).open().expect("it opens");
    let messages = losses(3000);
    std::thread::scope(|scope| {
        let giving = scope.spawn(|| {
            give(&sink, &messages, 2);
            sink.flush();
        });
        for _ in 0..3 {
            let before = sink.sunk().messages;
            while sink.sunk().messages < before + 100 && !giving.is_finished() {
                std::thread::sleep(Duration::from_millis(1));
            }
            assert!(!giving.is_finished(), "it was killed while messages came");
            broker.kill();
            std::thread::sleep(Duration::from_millis(300));
            broker.again();
        }
        giving.join().expect("it is done");
    });
    let sunk = sink.sunk();
    assert_eq!((sunk.messages, sunk.values, sunk.lost, sunk.error.clone()), (3000, 96_000, 0, None), "{sunk}");
    assert!(values::<Loss>(&broker.kept("run"), "run.Loss") == expected(&messages, 0), "lost, doubled or in another order");
}

/// A way to a server that loses what the server says, when it is told to, and breaks when that was an acknowledgement.
struct Way {
    port: u16,
    deaf: Arc<AtomicBool>,
    lost: Arc<AtomicU32>,
}

impl Way {
    fn to(address: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let (deaf, lost, address) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU32::new(0)), address.replace("nats://", ""));
        let way = Self { port, deaf: deaf.clone(), lost: lost.clone() };
        // They end with the process.
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let (mut client, Ok(mut server)) = (client.expect("a connection"), TcpStream::connect(&address)) else { continue };
                let (mut from, mut to) = (client.try_clone().expect("the same"), server.try_clone().expect("the same"));
                std::thread::spawn(move || std::io::copy(&mut from, &mut to));
                let (deaf, lost) = (deaf.clone(), lost.clone());
                std::thread::spawn(move || {
                    let mut bytes = [0; 1 << 16];
                    while let Ok(count @ 1..) = server.read(&mut bytes) {
                        // Relaxed: flags of a test, which is told of them by what it reads.
                        if !deaf.load(Ordering::Relaxed) {
                            client.write_all(&bytes[..count]).expect("it reads");
                        } else if bytes[..count].windows(6).any(|six| six == b"\"seq\":") {
                            deaf.store(false, Ordering::Relaxed);
                            lost.fetch_add(1, Ordering::Relaxed);
                            break;
                        }
                    }
                    // Either may be gone.
                    let _ = (client.shutdown(Shutdown::Both), server.shutdown(Shutdown::Both));
                });
            }
        });
        way
    }
}

#[test]
fn a_message_whose_acknowledgement_is_lost_is_offered_again_and_stored_once() {
    let Some(broker) = Broker::with_jetstream("") else { return };
    let way = Way::to(&broker.address());
    let options = async_nats::ConnectOptions::new().ignore_discovered_servers();
    let sink = Nats::at(format!("nats://127.0.0.1:{}/run", way.port)).options(options).open().expect("it opens");
    let messages = losses(20);
    for (half, lost) in messages.chunks(10).zip(1..) {
        way.deaf.store(true, Ordering::Relaxed);
        give(&sink, half, 10);
        sink.flush();
        assert_eq!(way.lost.load(Ordering::Relaxed), lost, "an acknowledgement was lost");
    }
    let sunk = sink.sunk();
    assert_eq!((sunk.messages, sunk.values, sunk.lost, sunk.error.clone()), (20, 640, 0, None), "{sunk}");
    let all = broker.kept("run");
    assert_eq!(all.len(), 2);
    assert!(values::<Loss>(&all, "run.Loss") == expected(&messages, 0), "lost, doubled or in another order");
}

#[test]
fn a_server_that_stays_away_is_named_and_what_it_did_not_acknowledge_is_counted() {
    let Some(mut broker) = Broker::with_jetstream("") else { return };
    let intake = Intake::default().rows(64).queue(1);
    let sink = Nats::to(broker.address(), "run").retry(Duration::from_millis(400)).intake(intake).open().expect("it opens");
    let messages = losses(40);
    give(&sink, &messages, 2);
    sink.flush();
    let before = sink.sunk();
    assert_eq!((before.messages, before.lost), (40, 0));
    broker.kill();
    give(&sink, &messages, 2);
    sink.flush();
    // Nobody waits any more.
    give(&sink, &losses(100), 2);
    sink.finish();
    let sunk = sink.sunk();
    assert_eq!((sunk.messages, sunk.lost, sunk.shed), (40, 140, 0), "{sunk}");
    let error = sunk.error.expect("an error").to_string();
    assert!(error.contains("cannot write to `run.>` of NATS at 127.0.0.1:") && error.contains("(tried for "), "{error}");
    assert!(error.contains("give it longer with `retry`"), "{error}");
    broker.again();
    assert!(values::<Loss>(&broker.kept("run"), "run.Loss") == expected(&messages, 0));
}

#[test]
fn tables_larger_than_the_server_takes_are_cut_and_a_server_that_takes_no_value_is_told() {
    let Some(broker) = Broker::with_jetstream("max_payload: 8192") else { return };
    let sink = Nats::to(broker.address(), "run").intake(Intake::default().rows(10_000)).open().expect("it opens");
    let messages = losses(300);
    give(&sink, &messages, 50);
    sink.finish();
    let sunk = sink.sunk();
    assert_eq!((sunk.messages, sunk.values, sunk.lost, sunk.error.clone()), (300, 9600, 0, None), "{sunk}");
    let all = broker.kept("run");
    assert!(all.len() > 30 && all.iter().all(|message| message.payload.len() <= 8192), "{} messages", all.len());
    assert!(values::<Loss>(&all, "run.Loss") == expected(&messages, 0));
    assert_eq!(sunk.bytes, all.iter().map(|message| message.payload.len() as u64).sum::<u64>());

    let Some(broker) = Broker::with_jetstream("max_payload: 1024") else { return };
    let sink = Nats::to(broker.address(), "run").open().expect("it opens");
    give(&sink, &messages, 50);
    sink.finish();
    let sunk = sink.sunk();
    assert_eq!((sunk.messages, sunk.lost), (0, 300));
    let error = sunk.error.expect("an error").to_string();
    assert!(error.contains("a value of `Loss` takes ") && error.contains("`max_payload`"), "{error}");
}

#[test]
fn a_stream_that_is_full_takes_no_more_and_has_what_was_counted_as_kept() {
    let Some(broker) = Broker::with_jetstream("") else { return };
    let intake = Intake::default().rows(64).queue(1);
    let sink =
        Nats::to(broker.address(), "run").max_bytes(60_000).retry(Duration::from_millis(200)).intake(intake).open().expect("it opens");
    let messages = losses(400);
    give(&sink, &messages, 2);
    sink.finish();
    let sunk = sink.sunk();
    assert!(sunk.messages > 0 && sunk.lost > 0, "{sunk}");
    assert_eq!(sunk.messages + sunk.lost, 400);
    let error = sunk.error.as_ref().expect("an error");
    assert_eq!(error.kind, std::io::ErrorKind::StorageFull, "{error}");
    assert!(error.to_string().contains("let the stream be larger (`max_bytes`)"), "{error}");
    let all = values::<Loss>(&broker.kept("run"), "run.Loss");
    assert_eq!(all.len() as u64, sunk.values);
    assert!(all == expected(&messages, 0)[..all.len()]);
}

#[test]
fn what_cannot_be_used_is_told_when_it_is_opened() {
    for (url, prefix) in [
        ("nats://127.0.0.1:1", ""),
        ("nats://127.0.0.1:1/", ""),
        ("nats://h/a b", "a b"),
        ("nats://h/a..b", "a..b"),
        ("nats://h/>", ">"),
        ("nats://h/a/b", "a/b"),
    ] {
        let error = Nats::at(url).open().expect_err(url);
        assert!(matches!(&error, OpenError::Subject { prefix: told } if told == prefix), "{url}: {error}");
    }
    // Nobody listens there.
    let port = std::net::TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port").port();
    let error = Nats::at(format!("nats://me:secret@127.0.0.1:{port}/run")).open().expect_err("no server").to_string();
    assert!(
        error.contains(&format!("cannot use `run.>` of NATS at 127.0.0.1:{port}: ")) && error.contains("check that it runs"),
        "{error}"
    );
    assert!(!error.contains("secret"), "{error}");

    let Some(broker) = Broker::start("", &[]) else { return };
    let error = Nats::to(broker.address(), "run").open().expect_err("no JetStream").to_string();
    assert!(error.contains("start it with `--jetstream`"), "{error}");

    let Some(broker) = Broker::with_jetstream("") else { return };
    Nats::to(broker.address(), "one").jetstream("S").open().expect("it opens");
    let error = Nats::to(broker.address(), "two").jetstream("S").open().expect_err("other subjects").to_string();
    assert!(error.contains("its stream `S` takes `one.>`") && error.contains("choose another stream"), "{error}");
    let error = Nats::to(broker.address(), "one").jetstream("S").retry(Duration::from_secs(600)).open().expect_err("too long");
    let OpenError::Doubles { stream, window, longest, .. } = &error else { panic!("{error}") };
    assert_eq!((stream.as_str(), window.as_secs(), longest.as_secs()), ("S", 120, 90), "{error}");
    // A stream that is made knows messages long enough.
    Nats::to(broker.address(), "long").retry(Duration::from_secs(600)).open().expect("it opens");
}

#[test]
fn a_table_of_another_stream_or_definition_or_none_is_no_values() {
    let Some(broker) = Broker::with_jetstream("") else { return };
    let sink = Nats::to(broker.address(), "run").open().expect("it opens");
    give(&sink, &losses(1), 1);
    sink.finish();
    let table = &broker.kept("run")[0].payload;
    assert!(matches!(decode::<All>(table), Err(ReadError::NoStream { names, .. }) if names == ["Loss"]));
    assert!(matches!(decode::<OtherLoss>(table), Err(ReadError::Definition { .. })));
    for end in 0..table.len() {
        match decode::<Loss>(&table[..end]) {
            Ok(rows) => assert!(rows.values.is_empty() || rows.values.len() == 32, "{end}"),
            Err(error) => assert!(matches!(error, ReadError::Content { .. }), "{error}"),
        }
    }
}
