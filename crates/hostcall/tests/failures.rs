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
    let end = Service::new(definition::<u32>("end", None), |call| {
        match call.fixed::<u32>()? {
            0 => call.report().exited(3),
            _ => call.report().device_panicked(DevicePanic {
                message: "index out of bounds".into(),
                file: "kernel.rs".into(),
                line: 12,
                block: [1, 0, 0],
                thread: [5, 0, 0],
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
        // 196 reply words for 4 lanes: 49 each, of which one unit is the head.
        assert_eq!(result, Err(CallError::TooLarge { max: (49 * 3 - 1) * 4 }));
    }
}

#[test]
fn arguments_that_are_no_values_of_their_type_are_malformed() {
    let s = serve(Server::without_device().service(fixed_service("choose", |x: (bool, char)| x.0)));
    assert_eq!(s.device.wave(0).call(1, &[1, 65]), Ok(vec![1]));
    assert_eq!(s.device.wave(0).call(1, &[2, 65]), Err(CallError::Malformed));
    assert_eq!(s.device.wave(0).call(1, &[1, 0xd800]), Err(CallError::Malformed));
    assert_eq!(s.device.wave(0).call(1, &[]), Err(CallError::Malformed), "no payload at all");
}

#[test]
fn a_post_that_comes_to_nothing_is_reported_to_the_host() {
    let s = serve(Server::without_device().service(picky()));
    s.device.wave(0).post(999, Flags::default(), &[1]).unwrap();
    s.device.wave(0).post(1, Flags::default(), &[3]).unwrap();
    let report = s.server.collect();
    assert_eq!(report.handler_failures.len(), 2, "{report}");
    assert!(report.to_string().contains("service number 999, which nobody registered"));
}
