//! With the feature `spans` what a handler does is within a span of its call: what it logs names the call.

mod common;

use std::io;
use std::sync::{Arc, Mutex};

use common::serve;
use hostcall::Server;
use hostcall::test_utils::fixed_service;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::format::FmtSpan;

/// A log in memory.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

#[test]
fn what_handlers_log_is_within_their_calls_and_each_call_is_a_span() {
    let log = Log::default();
    // Serving threads and the pool's are others: for all of this program.
    let subscriber = tracing_subscriber::fmt().with_ansi(false).with_span_events(FmtSpan::CLOSE).with_writer(log.clone());
    tracing::subscriber::set_global_default(subscriber.finish()).unwrap();
    let answer = |name| {
        fixed_service(name, |x: u32| {
            tracing::info!(x, "asked");
            x + 1
        })
    };
    let builder = Server::without_device().threads(1).service(answer("Host__now")).service(answer("Host__wait").blocking());
    let s = serve(builder.service(answer("bare")));
    for service in 1..=3 {
        assert_eq!(s.device.wave(0).call(service, &[service.into()]), Ok(vec![u32::from(service) + 1]));
    }
    drop(s);
    let text = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    for (call, x) in [
        (r#"rpc.service="Host" rpc.method="now""#, 1),
        (r#"rpc.service="Host" rpc.method="wait""#, 2),
        (r#"rpc.service="" rpc.method="bare""#, 3),
    ] {
        let lines: Vec<&str> = text.lines().filter(|line| line.contains(call)).collect();
        let [asked, closed] = lines[..] else { panic!("{call}: {text}") };
        assert!(asked.contains("lanes=1") && asked.ends_with(&format!("asked x={x}")), "{asked}");
        assert!(closed.contains("hostcall::call: close time.busy="), "{closed}");
    }
}
