//! What serving threads do while nobody calls, counted in turns over the ports and in rests. `bench` measures what it
//! costs.

mod common;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::{Setup, eventually, serve};
use hostcall::__private::PortBuffer;
use hostcall::Server;
use hostcall::test_utils::{MockDevice, Turns, fixed_service, posted_service, turns};
use hostcall_abi::{Flags, Tag};

fn four_threads() -> Setup {
    let s = serve(Server::without_device().threads(4).service(fixed_service("quick", |x: u32| x)));
    assert_eq!(s.device.wave(0).call(1, &[3]), Ok(vec![3]));
    s
}

/// What each thread does while this one sleeps.
fn meanwhile(server: &Server, time: Duration) -> Vec<Turns> {
    let before = turns(server);
    std::thread::sleep(time);
    let since = |(now, before): (Turns, &Turns)| Turns { turns: now.turns - before.turns, rests: now.rests - before.rests };
    turns(server).into_iter().zip(&before).map(since).collect()
}

const MOMENT: Duration = Duration::from_millis(20);

#[test]
fn with_no_kernel_in_flight_every_thread_parks() {
    let s = four_threads();
    drop(s.awake);
    eventually("no thread looks at anything", || meanwhile(&s.server, MOMENT).iter().all(|thread| thread.turns == 0));
    // A wake-up from before may have been on its way to each of them. Threads that nap instead would rest ten thousand
    // times.
    let later = meanwhile(&s.server, Duration::from_millis(500));
    assert!(later.iter().all(|thread| thread.rests <= 2), "{later:?}");
    let awake = s.server.keep_awake();
    assert_eq!(s.device.wave(0).call(1, &[4]), Ok(vec![4]), "they wake up again");
    drop(awake);
}

#[test]
fn posts_whose_doorbells_were_lost_are_all_handled_before_a_thread_rests() {
    let device: Arc<Mutex<Option<MockDevice>>> = Arc::default();
    let send = |device: &Mutex<Option<MockDevice>>, port: u64| {
        let raw = device.lock().unwrap().as_ref().unwrap().raw();
        raw.send(port as u32, 0, Tag::new(1), 1, Flags::default(), 1, &[port as u32, 0]);
    };
    // Each is in the port before the one at which the thread is: a look at all of them comes to one.
    let (last, theirs) = (Arc::new(AtomicU64::new(u64::MAX)), device.clone());
    let handled = last.clone();
    let down = posted_service("down", move |port: u64| {
        handled.store(port, Ordering::Relaxed);
        if port > 0 {
            send(&theirs, port - 1);
        }
    });
    let server = Server::without_device().without_built_in().threads(1).service(down).start().unwrap();
    // So many that what is looked at by the way does not come to many of them.
    let buffer = |ports| server.add_buffer(PortBuffer::in_process(common::geometry(ports, 32)).unwrap());
    *device.lock().unwrap() = Some(MockDevice::new(buffer(256)));
    eventually("the thread parks", || meanwhile(&server, MOMENT).iter().all(|thread| thread.turns == 0));
    send(&device, 255);
    // It is woken.
    let other = buffer(1);
    eventually("all posts are handled", || last.load(Ordering::Relaxed) == 0);
    drop((device.lock().unwrap().take(), other));
}

#[test]
fn while_a_kernel_is_silent_one_thread_watches_and_rests_after_each_turn() {
    let s = four_threads();
    eventually("one thread alone takes turns, and rests after each", || {
        let threads = meanwhile(&s.server, MOMENT);
        let mut moving = threads.iter().filter(|thread| thread.turns > 0);
        let watch = moving.next();
        watch.is_some_and(|watch| watch.turns <= watch.rests + 1) && moving.next().is_none()
    });
    assert_eq!(s.device.wave(20).call(1, &[4]), Ok(vec![4]), "the watch finds calls in everybody's ports");
}
