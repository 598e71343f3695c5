//! What a server tells of itself: statistics, a trace.

mod common;

use std::time::Duration;

use common::serve;
use hostcall::Server;
use hostcall::test_utils::{definition, fixed_service};

fn nap() -> hostcall::Service {
    fixed_service("nap", |ms: u32| std::thread::sleep(Duration::from_millis(u64::from(ms))))
}

#[test]
fn statistics_count_calls_bytes_failures_and_time() {
    let s = serve(Server::without_device().stats(true).service(fixed_service("add", |x: u64| x + 1)).service(nap().blocking()));
    s.device.run_wave(0xf, |wave| wave.call_fixed::<u64, u64>(1, &1).unwrap());
    s.device.run_wave(0x3, |wave| wave.call(1, &[]).unwrap_err());
    s.device.wave(0).call(2, &[20]).unwrap();
    s.device.run_wave(0x3, |wave| wave.call(2, &[20]).unwrap());
    let stats = s.server.stats();
    let nap = stats.service("nap").unwrap();
    // A lone lane's payload is two units, and of two lanes each sent three.
    assert_eq!((nap.messages, nap.calls, nap.failed, nap.bytes_in), (2, 3, 0, 32), "as of handlers that answer at once");
    let add = stats.service("add").unwrap();
    assert_eq!((add.messages, add.calls, add.failed), (2, 6, 2));
    // Four lanes sent one word each, three whole units; four replies of 8 bytes, and two units of detail.
    assert_eq!((add.bytes_in, add.bytes_out), (48, 40));
    let latency = stats.service("nap").unwrap().latency.unwrap();
    assert!(latency.p50 >= Duration::from_millis(19) && latency.max >= latency.p50, "{latency:?}");
    let table = stats.to_string();
    assert!(table.lines().next().unwrap().contains("p99.9") && table.contains("nap"), "{table}");
}

#[test]
fn calls_that_are_answered_later_are_counted_as_those_that_are_answered_at_once() {
    let add = |name: &'static str| fixed_service(name, |x: u64| x + 1);
    let later = hostcall::Service::batch_deferred(definition::<u64>("later", Some(2)), |mut message| {
        message.batch().reply_all(|_| ());
        message.finish();
    });
    let s = serve(Server::without_device().service(add("now")).service(add("pool").blocking()).service(later));
    for service in 1..=3 {
        s.device.run_wave(0xf, |wave| wave.call_fixed::<u64, u64>(service, &1).unwrap());
    }
    let counts = |name: &str| {
        let stats = s.server.stats();
        let stats = stats.service(name).unwrap();
        (stats.messages, stats.calls, stats.failed, stats.bytes_in, stats.bytes_out)
    };
    assert_eq!([counts("now"), counts("pool"), counts("later")], [(1, 4, 0, 48, 32); 3]);
    for service in 1..=2 {
        s.device.run_wave(0x3, |wave| wave.call(service, &[]).unwrap_err());
    }
    assert_eq!(counts("pool"), counts("now"));
    assert_eq!((counts("now").2, counts("now").4), (2, 40), "with two units of detail");
}

#[test]
fn without_statistics_calls_are_counted_all_the_same() {
    let s = serve(Server::without_device().service(nap()));
    s.device.wave(0).call(1, &[0]).unwrap();
    let stats = s.server.stats();
    assert_eq!((stats.service("nap").unwrap().calls, stats.service("nap").unwrap().latency), (1, None));
}

#[test]
fn a_trace_has_a_span_for_every_call() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let s = serve(Server::without_device().trace(file.path()).service(fixed_service("add", |x: u64| x + 1)).service(nap().blocking()));
    s.device.run_wave(0x3, |wave| wave.call_fixed::<u64, u64>(1, &1).unwrap());
    s.device.wave(0).call(2, &[20]).unwrap();
    drop((s.awake, s.server));
    let events: Vec<serde_json::Value> = serde_json::from_reader(std::fs::File::open(file.path()).unwrap()).unwrap();
    let add = events.iter().find(|e| e["name"] == "add").unwrap();
    assert_eq!((add["ph"].as_str(), add["args"]["lanes"].as_u64(), add["args"]["bytes"].as_u64()), (Some("X"), Some(2), Some(40)));
    let nap = events.iter().find(|e| e["name"] == "nap").unwrap();
    assert!(nap["dur"].as_f64().unwrap() >= 19_000.0 && nap["args"]["handled_us"].as_f64().unwrap() >= 19_000.0);
    assert!(nap["args"]["queued_us"].as_f64().unwrap() >= 0.0);
}
