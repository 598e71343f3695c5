//! What is so within a process and through a broker alike.

use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hostcall::detached::Message;
use hostcall::{Service, Status};
use hostcall_remote::{CallOptions, Connector, Worker};

use crate::support::{Caller, echo, eventually, host, message, mixed, other_mixed, received};

const LONG: Duration = Duration::from_secs(100);

fn ways() -> Vec<(&'static str, Service)> {
    let deferred = host::mixed_deferred(|x, done| {
        std::thread::spawn(move || done.reply(mixed(x)));
    });
    vec![
        ("inline", host::mixed(mixed)),
        ("blocking", host::mixed(mixed).blocking()),
        ("deferred", deferred),
        ("async", host::mixed_async(|x| async move { mixed(x) })),
        ("batch", host::mixed_batch(|calls| calls.answer(|(x,)| mixed(x)))),
    ]
}

/// Every kind of service of a worker, each lane's own result, and what failed in the report of the kernel's host.
pub(crate) fn every_way_to_run_a_handler(place: &Connector) {
    let remote = place.clone().connect().unwrap();
    for (mode, service) in ways() {
        let worker = Worker::on(place.clone()).service(service).name(format!("w-{mode}")).start().unwrap();
        assert!(worker.to_string().contains("Host__mixed"), "{worker}");
        // Replies are told with what failed, as a server's report would be.
        let caller = Caller::new(remote.service_with(host::definition::mixed(), CallOptions::new().timeout(LONG)));
        let all: Vec<u32> = (0..64).collect();
        let replies = caller.call(message(&all));
        let mut units = replies.units.iter();
        for (lane, head) in (0u64..).zip(&replies.heads) {
            let status = match lane {
                7 => Status::HANDLER_FAILED,
                11 => Status::HANDLER_PANICKED,
                _ if mode == "batch" && lane > 11 => Status::HANDLER_PANICKED,
                _ => Status::OK,
            };
            // Who drops a completion on a thread that panics says so; one that was moved there is dropped after it.
            assert!(head.status == status || (mode == "deferred" && lane == 11), "{mode}, lane {lane}: {head:?}");
            let payload: Vec<u32> = units.by_ref().take(usize::from(head.dwords)).copied().collect();
            match (head.status, lane) {
                (Status::OK, lane) => assert_eq!(payload, [3 * lane as u32, 0], "{mode}"),
                (Status::HANDLER_FAILED, 7) => assert_eq!(payload, [70], "{mode}"),
                _ => {}
            }
        }
        let told = |what: &str| replies.notes.iter().any(|note| note.message.contains(what));
        assert!(told("seven is not wanted"), "{mode}: {:?}", replies.notes);
        assert!(told("eleven is too much") || mode == "deferred", "{mode}: {:?}", replies.notes);
        assert_eq!((worker.stats()[0].requests, worker.stats()[0].calls), (1, 64));
        assert!(worker.stop(LONG));
        let stats = remote.stats().pop().unwrap();
        assert_eq!((stats.requests, stats.messages, stats.calls, stats.timeouts), (1, 1, 64, 0));
        assert!(stats.latency.is_some() && stats.bytes_in > 0 && stats.bytes_out >= 64 * 4);
    }
}

/// A message with strings, slices, and what comes back: as it is without a staging area, and as an image of one.
pub(crate) fn strings_and_slices(place: &Connector) {
    let worker = Worker::on(place.clone()).service(echo()).start().unwrap();
    let remote = place.clone().connect().unwrap();
    let caller = Caller::new(remote.service_with(host::definition::echo(), CallOptions::new().timeout(LONG)));
    // Two lanes: "ab" and two numbers, of which one comes back; "" and no numbers, of which none comes back.
    let mut bytes = b"ab\0\0".to_vec();
    bytes.extend([5u32, 6].iter().flat_map(|n| n.to_ne_bytes()));
    let units = vec![0, 12, 2, 8, 4, 0, 0, 0, 0, 0];
    let message = Message { mask: 0b101, units, bytes, ends: vec![12, 12], room: 8, ..Message::default() };
    let replies = caller.call(message.clone());
    // The result, the length of what comes back, and it.
    assert_eq!(replies.units, [2, 4, 6, 0, 0]);
    assert_eq!(replies.heads.iter().map(|head| (head.status, head.dwords)).collect::<Vec<_>>(), [(Status::OK, 3), (Status::OK, 2)]);
    drop(worker);
}

/// Another definition of the same name is another service.
pub(crate) fn definitions_that_differ_never_meet(place: &Connector) {
    let worker = Worker::on(place.clone()).service(host::mixed(mixed)).start().unwrap();
    let remote = place.clone().connect().unwrap();
    let right = Caller::new(remote.service(host::definition::mixed()));
    let wrong = Caller::new(remote.service(other_mixed()));
    assert_eq!(right.mixed(5), Ok(15));
    let replies = wrong.call(Message { mask: 1, units: vec![5, 0], room: 2, ..Message::default() });
    assert_eq!(replies.heads[0].status, Status::UNKNOWN_SERVICE);
    assert_eq!(remote.stats()[1].nobody, 1);
    assert_eq!(worker.stats()[0].requests, 1);
}

/// Without a worker a call ends at once, or waits for one.
pub(crate) fn without_a_worker(place: &Connector) {
    let remote = place.clone().connect().unwrap();
    let hasty = Caller::new(remote.service(host::definition::mixed()));
    assert_eq!(hasty.mixed(1), Err(Status::UNKNOWN_SERVICE));
    let patient = Caller::new(remote.service_with(host::definition::mixed(), CallOptions::new().timeout(LONG).worker_wait(LONG)));
    let waiting = patient.start(message(&[2]));
    let short = Caller::new(remote.service_with(host::definition::mixed(), CallOptions::new().worker_wait(Duration::from_millis(50))));
    assert_eq!(short.mixed(2), Err(Status::UNKNOWN_SERVICE));
    let _worker = Worker::on(place.clone()).service(host::mixed(mixed)).start().unwrap();
    assert_eq!(received(&waiting).units, [6, 0]);
    // Of a post no lane learns it: it is told.
    let log = Caller::new(remote.service(host::definition::log()));
    let replies = log.call(Message { mask: 1, units: vec![1, 0], post: true, ..Message::default() });
    assert_eq!(replies.notes.len(), 1, "{replies:?}");
}

/// An answer that comes too late is nobody's.
pub(crate) fn a_slow_worker(place: &Connector) {
    let (go, wait) = mpsc::channel::<()>();
    let wait = Mutex::new(wait);
    let slow = host::mixed(move |x| {
        if x == 1 {
            let _ = wait.lock().unwrap().recv();
        }
        mixed(x)
    });
    let worker = Worker::on(place.clone()).service(slow.blocking()).start().unwrap();
    let remote = place.clone().connect().unwrap();
    let options = CallOptions::new().timeout(Duration::from_millis(300)).in_flight(1);
    let caller = Caller::new(remote.service_with(host::definition::mixed(), options));
    let first = caller.start(message(&[1]));
    eventually("the first is under way", || worker.stats()[0].requests == 1);
    // These wait for their turn, which the first one takes from them.
    let others: Vec<_> = (2..6).map(|x| caller.start(message(&[x]))).collect();
    assert_eq!(received(&first).heads[0].status, Status::TIMEOUT);
    let ended: Vec<_> = others.iter().map(|other| received(other).heads[0].status).collect();
    drop(go);
    // Every one ended; those whose time was up before their turn came ended as timeouts.
    assert!(ended.iter().all(|&status| status == Status::OK || status == Status::TIMEOUT), "{ended:?}");
    eventually("the worker has answered, too late", || worker.stats()[0].bytes_out > 0);
    eventually("the service lives on", || caller.mixed(20) == Ok(60));
    assert!(remote.stats()[0].timeouts >= 1);
}

/// What a worker has no time for is sent again, and nothing of it has been run before.
pub(crate) fn a_worker_with_too_much_to_do(place: &Connector) {
    let (runs, ran) = (Arc::new(AtomicU32::new(0)), 40);
    let count = runs.clone();
    let service = host::mixed(move |x| {
        count.fetch_add(1, Ordering::Relaxed);
        std::thread::sleep(Duration::from_millis(5));
        u64::from(x)
    });
    let worker = Worker::on(place.clone()).service(service.blocking()).at_once(2, 1 << 20).start().unwrap();
    let remote = place.clone().connect().unwrap();
    let callers: Vec<_> = (0..8)
        .map(|_| Caller::new(remote.service_with(host::definition::mixed(), CallOptions::new().timeout(LONG).in_flight(4))))
        .collect();
    let waiting: Vec<_> = (0..ran).map(|x| callers[x as usize % 8].start(message(&[x]))).collect();
    for (x, waiting) in (0..).zip(&waiting) {
        assert_eq!(received(waiting).units, [x, 0]);
    }
    assert_eq!(runs.load(Ordering::Relaxed), ran, "each ran once");
    let refused: u64 = worker.stats()[0].refused;
    assert!(refused > 0);
    assert_eq!(remote.stats().iter().map(|stats| stats.busy).sum::<u64>(), refused);
}

/// A message of all lanes of a wave, each of which brings nothing and says that its reply may be as long as any can be.
fn asks_for_much() -> Message {
    Message { mask: u64::MAX, units: vec![0; 64 * 5], ends: vec![0; 64], room: u16::MAX, ..Message::default() }
}

/// Room for replies is counted before it is taken: messages that ask for much are few at once, however small they are.
pub(crate) fn messages_that_ask_for_much(place: &Connector) {
    let (now, most) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let (running, highest) = (now.clone(), most.clone());
    let service = host::echo(move |_, _, _| {
        highest.fetch_max(running.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
        std::thread::sleep(Duration::from_millis(20));
        running.fetch_sub(1, Ordering::Relaxed);
        0
    });
    // Room for two of them.
    let worker = Worker::on(place.clone()).service(service.blocking()).at_once(1024, 36 << 20).start().unwrap();
    let remote = place.clone().connect().unwrap();
    let one_each = CallOptions::new().timeout(LONG).in_flight(1);
    let callers: Vec<_> = (0..6).map(|_| Caller::new(remote.service_with(host::definition::echo(), one_each.clone()))).collect();
    let waiting: Vec<_> = callers.iter().map(|caller| caller.start(asks_for_much())).collect();
    for waiting in &waiting {
        assert!(received(waiting).heads.iter().all(|head| head.status == Status::OK));
    }
    assert!(most.load(Ordering::Relaxed) <= 2 * 64, "{most:?} handlers at once");
    assert_eq!((worker.stats()[0].messages, worker.stats()[0].invalid), (6, 0));
}

/// A message that asks for more than the worker has at all fails, and says what helps.
pub(crate) fn a_message_that_asks_for_too_much(place: &Connector) {
    let worker = Worker::on(place.clone()).service(echo()).at_once(16, 1 << 20).start().unwrap();
    let remote = place.clone().connect().unwrap();
    let caller = Caller::new(remote.service_with(host::definition::echo(), CallOptions::new().timeout(LONG)));
    let replies = caller.call(asks_for_much());
    assert!(replies.heads.iter().all(|head| head.status == Status::HANDLER_FAILED));
    assert!(replies.notes.iter().any(|note| note.message.contains("and this worker has 1048576")), "{:?}", replies.notes);
    assert!(replies.notes.iter().any(|note| note.message.contains("`WorkerBuilder::at_once`")), "{:?}", replies.notes);
    let few = caller.call(Message { mask: 1, units: vec![0; 5], ends: vec![0], room: 8, ..Message::default() });
    assert_eq!((few.heads[0].status, worker.stats()[0].invalid), (Status::OK, 1));
}

/// A call that the broker cannot carry, and an answer that it cannot.
pub(crate) fn what_is_too_large(place: &Connector, most: u32) {
    let worker = Worker::on(place.clone()).service(echo()).start().unwrap();
    let remote = place.clone().connect().unwrap();
    let caller = Caller::new(remote.service_with(host::definition::echo(), CallOptions::new().timeout(LONG)));
    let of = |lanes: u32, numbers: u32, back: u32| Message {
        mask: u64::MAX >> (64 - lanes),
        units: (0..lanes).flat_map(|_| [0, numbers, 0, numbers, back]).collect(),
        bytes: vec![1; (lanes * numbers) as usize],
        ends: (1..=lanes).map(|lane| lane * numbers).collect(),
        room: u16::MAX,
        ..Message::default()
    };
    let fits = caller.call(of(1, most - 200, 4));
    assert_eq!(fits.heads[0].status, Status::OK);
    for (lanes, numbers, back) in [(1, most.next_multiple_of(4), 4), (8, 4, most / 4)] {
        let replies = caller.call(of(lanes, numbers, back));
        assert!(replies.heads.iter().all(|head| head.status == Status::TOO_LARGE), "{:?}", replies.heads);
        assert!(replies.units.iter().all(|&max| max <= most && max > most / 2), "{:?}", replies.units);
    }
    assert_eq!(remote.stats()[0].too_large, 1);
    assert_eq!(worker.stats()[0].invalid, 0);
}

/// Posts have been handled when they count as done, and failures are told.
pub(crate) fn posts(place: &Connector) {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let theirs = lines.clone();
    let log = host::log(move |line| {
        theirs.lock().unwrap().push(line);
    });
    let say = host::say(|text| if text.is_empty() { Err(hostcall::HandlerError::new(9, "nothing to say")) } else { Ok(()) });
    let _worker = Worker::on(place.clone()).service(log.blocking()).service(say).start().unwrap();
    let remote = place.clone().connect().unwrap();
    let caller = Caller::new(remote.service_with(host::definition::log(), CallOptions::new().timeout(LONG)));
    let waiting: Vec<_> =
        (0..100).map(|line| caller.start(Message { mask: 1, units: vec![line, 0], post: true, ..Message::default() })).collect();
    for waiting in &waiting {
        assert!(received(waiting).heads.iter().all(|head| head.status == Status::OK));
    }
    let mut lines = std::mem::take(&mut *lines.lock().unwrap());
    lines.sort_unstable();
    assert_eq!(lines, (0..100).collect::<Vec<u64>>());
    let caller = Caller::new(remote.service_with(host::definition::say(), CallOptions::new().timeout(LONG)));
    let replies = caller.call(Message { mask: 1, units: vec![0, 0, 0], ends: vec![0], post: true, ..Message::default() });
    assert!(replies.notes.iter().any(|note| note.message.contains("nothing to say")), "{replies:?}");
}

/// A million calls: each is run once, and each is answered once, with its own answer.
pub(crate) fn a_million_calls(place: &Connector, workers: usize) {
    const LANES: u32 = 64;
    const MESSAGES: u32 = 15_625;
    // More than that wait for no kernel.
    const AT_ONCE: u32 = 512;
    let runs: Arc<Vec<AtomicU8>> = Arc::new((0..LANES * MESSAGES).map(|_| AtomicU8::new(0)).collect());
    let workers: Vec<_> = (0..workers)
        .map(|_| {
            let runs = runs.clone();
            let service = host::mixed(move |x| {
                runs[x as usize].fetch_add(1, Ordering::Relaxed);
                u64::from(x) << 7
            });
            Worker::on(place.clone()).service(service).start().unwrap()
        })
        .collect();
    let remote = place.clone().connect().unwrap();
    let caller = Caller::new(remote.service_with(host::definition::mixed(), CallOptions::new().timeout(LONG)));
    let (give, answers) = mpsc::channel();
    let (mut started, mut ended) = (0, 0);
    let mut answered = vec![0u8; MESSAGES as usize];
    while ended < MESSAGES {
        while started < MESSAGES && started - ended < AT_ONCE {
            let (first, give, number) = (started * LANES, give.clone(), started);
            let arguments: Vec<u32> = (first..first + LANES).collect();
            caller.start_with(message(&arguments), move |replies| _ = give.send((number, replies)));
            started += 1;
        }
        let (number, replies) = answers.recv_timeout(Duration::from_secs(120)).expect("every call ends");
        answered[number as usize] += 1;
        ended += 1;
        assert!(replies.heads.iter().all(|head| (head.status, head.dwords) == (Status::OK, 2)), "{:?}", replies.heads);
        for (x, result) in (number * LANES..).zip(replies.units.chunks_exact(2)) {
            assert_eq!(u64::from(result[0]) | u64::from(result[1]) << 32, u64::from(x) << 7);
        }
    }
    assert!(answers.try_recv().is_err(), "no answer came twice");
    assert!(answered.iter().all(|&times| times == 1), "each message was answered once");
    assert!(runs.iter().all(|times| times.load(Ordering::Relaxed) == 1), "each call was run once");
    let stats = &remote.stats()[0];
    assert_eq!((stats.calls, stats.messages, stats.retries), (1_000_000, u64::from(MESSAGES), 0));
    assert!(stats.requests < stats.messages, "messages were gathered: {stats:?}");
    assert_eq!(workers.iter().map(|worker| worker.stats()[0].calls).sum::<u64>(), 1_000_000);
}
