//! Every way in which a call can fail comes back to its lane, and to no other.

mod common;

use common::serve;
use hostcall::test_utils::{definition, fixed_service};
use hostcall::{CallError, DevicePanic, Failure, HandlerError, Server, Service};
use hostcall_abi::Flags;

fn picky() -> Service {
    Service::new(definition::<u32>("picky", Some(1)), |call| {
        let x = call.fixed::<u32>()?;
        match x % 4 {
            1 => return Err(HandlerError::new(x, "not that one").into()),
            2 => panic!("lane {} gave {x}", call.lane()),
            3 => return Err(Failure::Refused { code: 13 }),
            _ => call.reply(&(x * 2), &[]),
        }
        Ok(())
    })
}

#[test]
fn a_lane_whose_handler_fails_or_panics_does_not_affect_the_others() {
    let s = serve(Server::without_device().service(picky()));
    let results = s.device.run_wave(0xff, |wave| wave.call_fixed::<u32, u32>(1, &wave.lane()));
    for (lane, result) in (0..).zip(results) {
        let expected = match lane % 4 {
            1 => Err(CallError::HandlerFailed { code: lane }),
            2 => Err(CallError::HandlerPanicked),
            3 => Err(CallError::Refused { code: 13 }),
            _ => Ok(lane * 2),
        };
        assert_eq!(result, expected, "lane {lane}");
    }
    assert_eq!(s.device.wave(0).call_fixed::<u32, u32>(1, &8), Ok(16), "the server lives");
}

#[test]
fn message_and_backtrace_of_a_handler_panic_are_kept_for_the_host() {
    let s = serve(Server::without_device().service(picky()));
    assert_eq!(s.device.wave(7).call_fixed::<u32, u32>(1, &2), Err(CallError::HandlerPanicked));
    assert_eq!(s.device.wave(7).call_fixed::<u32, u32>(1, &5), Err(CallError::HandlerFailed { code: 5 }));
    let report = s.server.collect();
    assert!(!report.is_success());
    let [panic] = &report.handler_panics[..] else { panic!("{report:?}") };
    assert!(panic.message.contains("lane 7 gave 2") && panic.message.contains("failures.rs"), "{}", panic.message);
    assert_eq!(panic.backtrace.status(), std::backtrace::BacktraceStatus::Captured);
    assert_eq!((panic.service.as_str(), report.handler_failures[0].code), ("picky", 5));
    assert!(report.to_string().contains("handler of picky failed with code 5: not that one"));
    assert!(s.server.collect().is_success(), "a report is handed out once");
}

#[test]
fn a_panic_in_a_blocking_handler_is_the_same() {
    let s = serve(Server::without_device().service(picky().blocking()));
    assert_eq!(s.device.wave(1).call_fixed::<u32, u32>(1, &2), Err(CallError::HandlerPanicked));
    assert_eq!(s.device.wave(1).call_fixed::<u32, u32>(1, &4), Ok(8));
    assert_eq!(s.server.collect().handler_panics.len(), 1);
}

#[test]
fn a_panic_payload_that_panics_itself_does_no_harm() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("and again");
        }
    }
    let s = serve(Server::without_device().service(fixed_service("bomb", |(): ()| -> () { std::panic::panic_any(Bomb) })));
    for _ in 0..3 {
        assert_eq!(s.device.wave(0).call(1, &[]), Err(CallError::HandlerPanicked));
    }
}

#[test]
fn after_a_device_panic_or_exit_calls_end_until_the_report_is_taken() {
    let end = Service::new(definition::<u32>("end", Some(0)), |call| {
        match call.fixed::<u32>()? {
            0 => call.report().exited(3),
            _ => call.report().device_panicked(DevicePanic {
                program: String::new(),
                message: "index out of bounds".into(),
                file: "kernel.rs".into(),
                line: 12,
                block: [1, 0, 0],
                thread: [5, 0, 0],
                lanes: 1,
            }),
        }
        Ok(())
    });
    let s = serve(Server::without_device().service(fixed_service("ok", |x: u32| x)).service(end));
    let wave = s.device.wave(0);
    for how in [0, 1] {
        assert_eq!(wave.call_fixed::<u32, u32>(1, &1), Ok(1));
        wave.call(2, &[how]).unwrap();
        let ended = wave.call_fixed::<u32, u32>(1, &1).unwrap_err();
        assert_eq!(ended.to_status().0, hostcall::Status::KERNEL_ENDED);
        let report = s.server.collect();
        if how == 0 {
            assert_eq!(report.exit_code(), Some(3));
        } else {
            assert_eq!(
                report.panics[0].to_string(),
                "kernel panicked at kernel.rs:12 in block (1, 0, 0) thread (5, 0, 0): index out of bounds"
            );
        }
        assert!(!report.is_success());
    }
    assert_eq!(wave.call_fixed::<u32, u32>(1, &1), Ok(1), "the next kernel is served");
}

#[test]
fn a_reply_that_does_not_fit_is_an_error_that_says_how_much_does() {
    let s = serve(Server::without_device().service(fixed_service("wide", |(): ()| [7u32; 200])));
    assert_eq!(s.device.wave(0).call_fixed::<(), [u32; 200]>(1, &()), Ok([7; 200]), "a lane alone has the whole reply area");
    for result in s.device.run_wave(0xf, |wave| wave.call(1, &[])) {
        // 196 reply words for 4 lanes: 49 each, 686 bytes, of which one unit is the head.
        assert_eq!(result, Err(CallError::TooLarge { max: (686 / 4 - 1) * 4 }));
    }
}

#[test]
fn arguments_that_are_no_values_of_their_type_are_malformed() {
    let s = serve(Server::without_device().service(fixed_service("choose", |x: (bool, char)| x.0)));
    assert_eq!(s.device.wave(0).call(1, &[1, 65]), Ok(vec![1]));
    assert_eq!(s.device.wave(0).call(1, &[2, 65]), Err(CallError::Malformed));
    assert_eq!(s.device.wave(0).call(1, &[1, 0xd800]), Err(CallError::Malformed));
    let none = s.device.run_wave(3, |wave| wave.call(1, &[]));
    assert_eq!(none, [Err(CallError::Malformed), Err(CallError::Malformed)], "no payload at all");
}

#[test]
fn a_post_that_comes_to_nothing_is_reported_to_the_host() {
    let grumbling = Service::new(definition::<u32>("grumbling", None), |_| Err(HandlerError::new(3, "no").into()));
    let s = serve(Server::without_device().service(grumbling));
    s.device.wave(0).post(999, Flags::default(), &[1]).unwrap();
    s.device.wave(0).post(1, Flags::default(), &[3]).unwrap();
    let report = s.server.collect();
    assert_eq!(report.handler_failures.len(), 1, "{report}");
    assert!(report.to_string().contains("service number 999 is not registered with the server: 1 posts came to nothing"), "{report}");
    assert!(!report.is_success());
}

#[test]
fn calls_of_a_service_that_was_unregistered_are_told_by_its_name_and_lanes_know() {
    let s = serve(Server::without_device().service(fixed_service("Host__gone", |x: u32| x)));
    s.server.service_handle("Host::gone").expect("the builder registered it").unregister();
    let results = s.device.run_wave(0xff, |wave| wave.call(1, &[1]));
    assert!(results.iter().all(|result| *result == Err(CallError::UnknownService)), "{results:?}");
    let report = s.server.collect();
    assert_eq!(report.to_string(), "service Host__gone is not registered with the server: 8 calls came to nothing");
    assert!(report.is_success(), "every lane was told");
    assert!(s.server.collect().unknown_services.is_empty(), "it is told once");
    // A kernel that makes up numbers fills no memory.
    for number in 1000..1200 {
        s.device.wave(0).call(number, &[]).unwrap_err();
    }
    let report = s.server.collect();
    assert_eq!((report.unknown_services.len(), report.omitted), (64, 136));
}

#[test]
fn lanes_that_fail_alike_are_one_entry_of_the_report() {
    let moody = |x: u32| -> Result<u32, HandlerError> { if x < 3 { Err(HandlerError::new(x, "not today")) } else { panic!("too much") } };
    let service = Service::new(definition::<u32>("moody", Some(1)), move |call| {
        let x = moody(call.fixed()?)?;
        call.reply(&x, &[]);
        Ok(())
    });
    let s = serve(Server::without_device().service(service));
    for _ in 0..10 {
        s.device.run_wave(u64::from(u32::MAX), |wave| wave.call_fixed::<u32, u32>(1, &(wave.lane() % 4)).unwrap_err());
    }
    let report = s.server.collect();
    let failed: Vec<_> = report.handler_failures.iter().map(|failure| (failure.code, failure.lanes)).collect();
    assert_eq!(failed, [(0, 80), (1, 80), (2, 80)]);
    let [panic] = &report.handler_panics[..] else { panic!("{report}") };
    assert_eq!((panic.lanes, report.omitted), (80, 0));
    assert_eq!(report.to_string().lines().count(), 2, "{report}");
    assert!(report.to_string().contains("handler of moody failed in 240 lanes with codes 0, 1 and 2: not today"), "{report}");
}

#[test]
fn what_a_removed_buffer_reported_is_collected_later() {
    let s = serve(Server::without_device().service(picky()));
    let buffer = s.server.add_buffer(hostcall::__private::PortBuffer::in_process(common::geometry(1, 32)).unwrap());
    let device = hostcall::test_utils::MockDevice::new(buffer.clone());
    assert_eq!(device.wave(0).call_fixed::<u32, u32>(1, &1), Err(CallError::HandlerFailed { code: 1 }));
    s.server.remove_buffer(&buffer).unwrap();
    assert_eq!(s.server.collect().handler_failures.len(), 1);
    assert!(s.server.collect().is_success());
}

/// Lets a handler fail, and drops the server without asking it.
fn end_without_waiting() {
    let s = serve(Server::without_device().service(picky()));
    assert_eq!(s.device.wave(0).call_fixed::<u32, u32>(1, &5), Err(CallError::HandlerFailed { code: 5 }));
    drop((s.awake, s.server));
}

/// Keeps the errors that are logged.
struct Log(std::sync::Arc<std::sync::Mutex<Vec<String>>>);

impl tracing::Subscriber for Log {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        *metadata.level() == tracing::Level::ERROR
    }
    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }
    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}
    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
    fn event(&self, event: &tracing::Event<'_>) {
        struct Text(String);
        impl tracing::field::Visit for Text {
            fn record_debug(&mut self, _: &tracing::field::Field, value: &dyn std::fmt::Debug) {
                self.0 += &format!("{value:?}");
            }
        }
        let mut text = Text(String::new());
        event.record(&mut text);
        self.0.lock().unwrap().push(text.0);
    }
    fn enter(&self, _: &tracing::span::Id) {}
    fn exit(&self, _: &tracing::span::Id) {}
}

#[test]
fn a_report_that_nobody_collects_is_logged_when_the_server_goes() {
    let logged = std::sync::Arc::default();
    tracing::subscriber::with_default(Log(std::sync::Arc::clone(&logged)), || {
        end_without_waiting();
        let collected = serve(Server::without_device().service(picky()));
        collected.device.wave(0).call_fixed::<u32, u32>(1, &5).unwrap_err();
        collected.server.collect();
    });
    let logged = logged.lock().unwrap();
    let [one] = &logged[..] else { panic!("{logged:?}") };
    assert!(one.contains("nobody has waited for") && one.contains("handler of picky failed with code 5: not that one"), "{one}");
}

#[test]
fn a_report_that_nobody_collects_is_on_standard_error_if_nothing_listens_to_the_log() {
    const CHILD: &str = "HOSTCALL_TEST_END_WITHOUT_WAITING";
    if std::env::var_os(CHILD).is_some() {
        return end_without_waiting();
    }
    let name = "a_report_that_nobody_collects_is_on_standard_error_if_nothing_listens_to_the_log";
    let child = common::this_program().args([name, "--exact", "--nocapture"]).env(CHILD, "1").output().unwrap();
    let told = String::from_utf8_lossy(&child.stderr);
    assert!(child.status.success(), "{told}");
    assert_eq!(told.matches("handler of picky failed with code 5: not that one").count(), 1, "{told}");
}
