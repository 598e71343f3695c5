//! The ways in which a service can be run, and in which it can end.

mod common;

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::time::{Duration, Instant};

use common::{eventually, serve};
use hostcall::test_utils::{definition, fixed_service, posted_service, turns};
use hostcall::{CallError, Completion, Failure, RegisterError, Server, ServerError, Service};
use hostcall_abi::Flags;

#[test]
fn a_sleeping_handler_delays_no_other_call() {
    let release = Arc::new(Barrier::new(65));
    let inside = release.clone();
    let sleep = fixed_service("sleep", move |x: u32| {
        inside.wait();
        x
    });
    let s = serve(Server::without_device().threads(1).service(sleep.blocking()).service(fixed_service("quick", |x: u32| x + 1)));
    std::thread::scope(|scope| {
        // Two whole waves block: 64 handlers that all must run at once for any of them to go on.
        let waves: Vec<_> =
            (0..2).map(|_| scope.spawn(|| s.device.run_wave(0xffff_ffff, |wave| wave.call_fixed::<u32, u32>(1, &wave.lane())))).collect();
        let start = Instant::now();
        let wave = s.device.wave(0);
        while start.elapsed() < Duration::from_millis(50) {
            assert_eq!(wave.call_fixed::<u32, u32>(2, &1), Ok(2));
        }
        release.wait();
        for wave in waves {
            assert_eq!(wave.join().unwrap(), (0..32).map(Ok).collect::<Vec<_>>());
        }
    });
}

#[test]
fn while_a_handler_keeps_the_watch_another_thread_watches() {
    let (begin, beginning) = mpsc::channel();
    let (go, gate) = mpsc::channel();
    let gate = Mutex::new(gate);
    let waiting = fixed_service("waiting", move |x: u32| {
        begin.send(()).unwrap();
        gate.lock().unwrap().recv().unwrap();
        x
    });
    let s = serve(Server::without_device().threads(2).service(waiting).service(fixed_service("quick", |x: u32| x)));
    // The kernel has been silent for so long that one thread watches the ports of both.
    eventually("one thread watches", || {
        let before = turns(&s.server);
        std::thread::sleep(Duration::from_millis(5));
        turns(&s.server).iter().zip(&before).filter(|(now, before)| now.turns > before.turns).count() == 1
    });
    std::thread::scope(|scope| {
        let kept = scope.spawn(|| s.device.wave(0).at_port(0).call(1, &[1]));
        beginning.recv().unwrap();
        // Ports from 16 on are of another share.
        assert_eq!(s.device.wave(1).at_port(20).call(2, &[2]), Ok(vec![2]));
        go.send(()).unwrap();
        assert_eq!(kept.join().unwrap(), Ok(vec![1]));
    });
}

#[test]
fn a_once_only_service_takes_one_call_of_one_lane() {
    let s = serve(Server::without_device().service(fixed_service("once", |x: u32| x).once()));
    let results = s.device.run_wave(0xff, |wave| wave.call_fixed::<u32, u32>(1, &wave.lane()));
    assert_eq!(results.iter().filter(|r| r.is_ok()).count(), 1);
    assert_eq!(results.iter().filter(|r| **r == Err(CallError::Finished)).count(), 7);
    assert_eq!(s.device.wave(0).call(1, &[1]), Err(CallError::Finished));
}

#[test]
fn a_service_can_be_finished_while_a_call_is_in_flight() {
    let (enter, entered) = mpsc::channel();
    let gate = Arc::new(Barrier::new(2));
    let inside = gate.clone();
    let slow = fixed_service("slow", move |x: u32| {
        enter.send(()).unwrap();
        inside.wait();
        x * 3
    });
    let s = serve(Server::without_device());
    let handle = s.server.register(slow.blocking()).unwrap();
    std::thread::scope(|scope| {
        let call = scope.spawn(|| s.device.wave(0).call_fixed::<u32, u32>(handle.number(), &5));
        entered.recv().unwrap();
        handle.finish();
        assert!(handle.is_finished());
        assert_eq!(s.device.wave(1).call(handle.number(), &[5]), Err(CallError::Finished));
        gate.wait();
        assert_eq!(call.join().unwrap(), Ok(15), "the call in flight ends as if nothing had happened");
    });
}

#[test]
fn a_service_can_be_stopped_after_one_more_call() {
    let s = serve(Server::without_device());
    let handle = s.server.register(fixed_service("some", |x: u32| x)).unwrap();
    let wave = s.device.wave(0);
    assert_eq!(wave.call(handle.number(), &[1]), Ok(vec![1]));
    handle.finish_after_next();
    assert!(!handle.is_finished());
    assert_eq!(wave.call(handle.number(), &[2]), Ok(vec![2]));
    assert!(handle.is_finished());
    assert_eq!(wave.call(handle.number(), &[3]), Err(CallError::Finished));
}

#[test]
fn services_come_and_go_while_kernels_run() {
    let s = serve(Server::without_device().service(fixed_service("base", |x: u32| x)));
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let wave = s.device.wave(0);
            while !stop.load(Ordering::Relaxed) {
                assert_eq!(wave.call_fixed::<u32, u32>(1, &9), Ok(9));
            }
        });
        for round in 0..50u32 {
            let state = Arc::new(());
            let captured = state.clone();
            let handle = s
                .server
                .register(fixed_service("guest", move |x: u32| {
                    let _captured = &captured;
                    x + round
                }))
                .unwrap();
            let wave = s.device.wave(1);
            assert_eq!(wave.call_fixed::<u32, u32>(handle.number(), &1), Ok(1 + round), "the name keeps its number");
            handle.unregister();
            eventually("unregistered services end calls", || wave.call(handle.number(), &[1]) == Err(CallError::UnknownService));
            eventually("what the handler captured is dropped", || Arc::strong_count(&state) == 1);
        }
        stop.store(true, Ordering::Relaxed);
    });
}

#[test]
fn what_a_handler_captured_is_dropped_when_no_kernel_runs_either() {
    let server = Server::without_device().start().unwrap();
    let state = Arc::new(());
    let captured = state.clone();
    let handle = server.register(fixed_service("s", move |(): ()| Arc::strong_count(&captured) as u32)).unwrap();
    std::thread::sleep(Duration::from_millis(20));
    handle.unregister();
    eventually("the state is dropped", || Arc::strong_count(&state) == 1);
}

#[test]
fn a_name_can_be_taken_once() {
    let server = Server::without_device().service(fixed_service("twin", |x: u32| x)).start().unwrap();
    let again = server.register(fixed_service("twin", |x: u32| x));
    assert!(matches!(again, Err(ServerError::Register(RegisterError::Taken { name })) if name == "twin"));
}

#[test]
fn a_default_handler_takes_the_calls_that_no_service_takes() {
    let default = Service::new(definition::<()>("default", Some(1)), |call| {
        let sum: u32 = call.payload().iter().sum();
        call.reply(&sum, &[]);
        Ok(())
    });
    let s = serve(Server::without_device().service(fixed_service("known", |x: u32| x)).default_handler(default));
    assert_eq!(s.device.wave(0).call(1, &[7]), Ok(vec![7]));
    assert_eq!(s.device.wave(0).call(0, &[1, 2, 3, 4]), Ok(vec![10]));
    assert_eq!(s.device.wave(0).call(999, &[5, 6]), Ok(vec![11]));
    s.server.set_default_handler(None).unwrap();
    eventually("no default, no answer", || s.device.wave(0).call(999, &[5]) == Err(CallError::UnknownService));
}

#[test]
fn a_default_handler_sees_the_number_that_was_called_and_may_reply_any_number_of_units() {
    let default = Service::new(definition::<()>("default", Some(1)), |call| {
        let mut units = vec![call.service().into()];
        units.extend_from_slice(call.payload());
        assert!(call.reply_capacity() >= 8);
        call.reply_units(&units);
        Ok(())
    });
    let s = serve(Server::without_device().service(fixed_service("known", |x: u32| x)).default_handler(default));
    assert_eq!(s.device.wave(0).call(1, &[7]), Ok(vec![7]));
    // (The payload is all of the message's words, the last of them filled up with zeros.)
    let reply = s.device.wave(0).call(999, &[5, 6, 7]).unwrap();
    assert_eq!(reply.split_at(4), (&[999, 5, 6, 7][..], &vec![0; reply.len() - 4][..]));
    assert_eq!(s.device.wave(0).call(60_000, &[]).unwrap()[0], 60_000);
}

#[test]
fn a_default_handler_that_replies_more_than_there_is_room_for_fails_the_call() {
    let default = Service::new(definition::<()>("default", Some(1)), |call| {
        let most = call.reply_capacity();
        call.reply_units(&vec![1; most + call.payload()[0] as usize]);
        Ok(())
    });
    let s = serve(Server::without_device().default_handler(default));
    assert!(s.device.wave(0).call(7, &[0]).is_ok());
    assert!(matches!(s.device.wave(0).call(7, &[1]), Err(CallError::TooLarge { .. })));
}

#[test]
fn a_completion_answers_later_from_any_thread_and_in_any_order() {
    let parked: Arc<Mutex<Vec<(u32, Completion)>>> = Arc::default();
    let inbox = parked.clone();
    let later = Service::deferred(definition::<u32>("later", Some(1)), move |call, done| match call.fixed::<u32>() {
        Ok(x) => inbox.lock().unwrap().push((x, done)),
        Err(error) => done.fail(error),
    });
    let s = serve(Server::without_device().service(later).service(fixed_service("quick", |x: u32| x)));
    std::thread::scope(|scope| {
        let wave = scope.spawn(|| s.device.run_wave(0xff, |wave| wave.call_fixed::<u32, u32>(1, &wave.lane())));
        eventually("all lanes arrive", || parked.lock().unwrap().len() == 8);
        assert_eq!(s.device.wave(0).call(2, &[1]), Ok(vec![1]), "other ports go on");
        let mut all = std::mem::take(&mut *parked.lock().unwrap());
        all.reverse();
        for (x, done) in all {
            match x {
                3 => drop(done),
                4 => done.fail(Failure::Refused { code: 1 }),
                _ => done.reply(&(x + 100)),
            }
        }
        let results = wave.join().unwrap();
        for (lane, result) in (0..).zip(results) {
            let expected = match lane {
                3 => Err(CallError::HandlerFailed { code: 0 }),
                4 => Err(CallError::Refused { code: 1 }),
                _ => Ok(lane + 100),
            };
            assert_eq!(result, expected);
        }
    });
    assert!(s.server.collect().to_string().contains("dropped its completion unanswered"));
}

#[test]
fn a_deferred_handler_that_panics_says_so_to_its_lane() {
    let s = serve(Server::without_device().service(Service::deferred(definition::<u32>("p", Some(0)), |_, _done| panic!("no"))));
    assert_eq!(s.device.wave(0).call(1, &[1]), Err(CallError::HandlerPanicked));
}

#[cfg(feature = "tokio")]
#[test]
fn async_handlers_run_side_by_side_on_one_runtime() {
    // None goes on before all have begun.
    let all = Arc::new(tokio::sync::Barrier::new(32));
    let meet = Service::new_async(definition::<u32>("meet", Some(1)), move |call| {
        let x = call.fixed::<u32>()?;
        let all = all.clone();
        Ok(async move {
            all.wait().await;
            match x {
                13 => panic!("unlucky"),
                14 => Err(Failure::Refused { code: 2 }),
                _ => Ok(x + 1),
            }
        })
    });
    let s = serve(Server::without_device().threads(1).service(meet));
    let results = s.device.run_wave(0xffff_ffff, |wave| wave.call_fixed::<u32, u32>(1, &wave.lane()));
    for (lane, result) in (0..).zip(results) {
        let expected = match lane {
            13 => Err(CallError::HandlerPanicked),
            14 => Err(CallError::Refused { code: 2 }),
            _ => Ok(lane + 1),
        };
        assert_eq!(result, expected);
    }
    assert!(s.server.collect().handler_panics[0].message.contains("unlucky"));
}

#[cfg(feature = "tokio")]
#[test]
fn a_future_that_never_ends_is_dropped_with_its_server() {
    let (begun, begins) = mpsc::channel();
    let held = Arc::new(());
    let here = Arc::downgrade(&held);
    let never = Service::new_async(definition::<u32>("never", Some(1)), move |_| {
        let (held, begun) = (held.clone(), begun.clone());
        Ok(async move {
            begun.send(()).unwrap();
            std::future::pending::<()>().await;
            drop(held);
            Ok(0u32)
        })
    });
    let s = serve(Server::without_device().service(never));
    let device = s.device.clone();
    let call = std::thread::spawn(move || device.wave(0).call_fixed::<u32, u32>(1, &1));
    begins.recv().unwrap();
    drop(s);
    assert_eq!(call.join().unwrap(), Err(CallError::ServerGone));
    eventually("the future is dropped", || here.upgrade().is_none());
}

#[cfg(feature = "tokio")]
#[test]
fn a_server_with_a_runtime_of_its_own_may_end_within_another_one() {
    let never = Service::new_async(definition::<u32>("never", Some(1)), |_| {
        Ok(async {
            std::future::pending::<()>().await;
            Ok(0u32)
        })
    });
    let other = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    other.block_on(async { drop(serve(Server::without_device().service(never))) });
}

#[test]
fn every_post_is_handled_before_the_wait_returns() {
    let count = Arc::new(AtomicU32::new(0));
    let [inline, blocking, deferred] = [0; 3].map(|_| count.clone());
    let later = Service::deferred(definition::<u32>("deferred", None), move |_, done| {
        let count = deferred.clone();
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(30));
            count.fetch_add(1, Ordering::Relaxed);
            done.reply(&());
        });
    });
    let builder = Server::without_device()
        .service(posted_service("inline", move |_: u32| {
            inline.fetch_add(1, Ordering::Relaxed);
        }))
        .service(
            posted_service("blocking", move |_: u32| {
                std::thread::sleep(Duration::from_millis(20));
                blocking.fetch_add(1, Ordering::Relaxed);
            })
            .blocking(),
        )
        .service(later);
    let s = serve(builder);
    for round in 1..=3 {
        for w in 0..20 {
            let wave = s.device.wave(w);
            for service in 1..=3 {
                wave.post(service, Flags::default(), &[w]).unwrap();
            }
        }
        assert!(s.server.collect().is_success());
        assert_eq!(count.load(Ordering::Relaxed), round * 60);
    }
}
