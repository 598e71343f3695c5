//! What serving threads do while nobody calls, counted in turns over the ports and in rests. `bench` measures what it
//! costs.

mod common;

use std::time::Duration;

use common::{Setup, eventually, serve};
use hostcall::Server;
use hostcall::test_utils::{Turns, fixed_service, turns};

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
