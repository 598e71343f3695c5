//! Programs take turns: what one of them posts, calls and waits for is bounded, and ends with it.

use super::*;

/// A service that is answered at once.
fn quick() -> Service {
    fixed_service("quick", |x: u32| x)
}

#[test]
fn a_program_whose_posts_keep_64_mib_posts_no_more_before_some_are_handled_and_another_one_does() {
    let _alone = alone();
    const SLOT: usize = 1 << 16;
    let gate = Arc::new(Gate::default());
    let at_gate = gate.clone();
    let keeps = Service::new(Definition { reply_dwords: None, ..var_definition("keeps", 1) }, move |call| {
        assert_eq!(call.slice::<u8>()?.len(), SLOT);
        at_gate.pass();
        Ok(())
    });
    let world = World::new(|builder| builder.threads(1).blocking_threads(1).service(quick()).service(keeps.blocking()));
    let (hostile, honest) = (world.program(4), world.program(4));
    let post = |program: &Program<'_>, nth| {
        program.send_next(0, nth, "keeps", Flags::STAGED, 1, &[0, SLOT as u32, SLOT as u32]);
        program.sweep();
        program.device.raw().answered(0, Tag::new(nth))
    };
    // Of small ones four times as many may wait.
    let taken = (1..=1025).take_while(|&nth| post(&hostile, nth)).count();
    assert_eq!(taken, 1024, "posts of 64 KiB");
    assert!(post(&honest, 1), "it has room of its own");
    gate.open();
    eventually("there is room again", || hostile.device.raw().answered(0, Tag::new(1025)));
    eventually("all are handled", || gate.come() == 1026);
}

#[test]
fn a_port_whose_call_waits_is_not_looked_at_whatever_else_its_program_writes_there() {
    let _alone = alone();
    let gate = Arc::new(Gate::default());
    let world = World::new(|builder| builder.threads(1).service(quick()).service(held(&gate).blocking()));
    let hostile = world.program(4);
    let raw = hostile.device.raw();
    for (port, later) in [(0, "quick"), (1, "held")] {
        hostile.send_next(port, 1, "held", Flags::REPLY, 1, &[7]);
        eventually("its handler runs", || gate.come() == port as usize + 1);
        hostile.send_next(port, 2, later, Flags::REPLY, 1, &[8]);
    }
    hostile.sweep();
    assert!((0..2).all(|port| !raw.answered(port, Tag::new(2))), "answers come in the order of the calls");
    assert_eq!(gate.come(), 2, "so a program has no more open calls than ports");
    gate.open();
    for port in 0..2 {
        eventually("the later one is answered", || raw.answered(port, Tag::new(2)));
        assert_eq!(hostile.status(port), Status::OK);
    }
}

#[test]
fn calls_of_a_kernel_that_has_ended_are_not_handled_although_they_are_queued() {
    let _alone = alone();
    let gate = Arc::new(Gate::default());
    let world = World::new(|builder| builder.blocking_threads(1).service(held(&gate).blocking()));
    let (hostile, honest) = (world.program(4), world.program(4));
    hostile.call_without_waiting(0, "held", &args().with(1u32));
    eventually("one of its lanes holds the thread", || gate.come() == 1);
    hostile.exit();
    gate.open();
    eventually("all of them end", || hostile.is_answered(0));
    assert_eq!(gate.come(), 1, "no handler has begun since");
    assert_eq!(honest.call::<u32>("held", &args().with(5u32)), Ok(5));
}

#[test]
fn calls_that_wait_for_a_descriptor_end_with_their_kernel_their_program_or_the_server_and_no_others_do() {
    let _alone = alone();
    let world = World::new(|builder| builder);
    let programs = [(); 3].map(|()| world.program(4));
    let wait = |program: &Program<'_>| {
        let (socket, port) = program.socket();
        for at in 0..2 {
            program.call_without_waiting(at, "StdNet__wait", &args().with(socket).with(event::IN));
        }
        (socket, port)
    };
    let [exits, leaves, stays] = &programs;
    let registered = registrations();
    wait(exits);
    let (_, port) = wait(stays);
    // The bell of the thread, and of each program its own set and its socket.
    eventually("they wait", || registrations() == registered + 5);
    let before = descriptors();
    wait(leaves);
    eventually("this one, too", || registrations() == registered + 7);
    let ended = |program: &Program<'_>| (0..2).all(|port| program.is_answered(port));
    exits.exit();
    eventually("the waits of a kernel that ended end", || ended(exits));
    assert_eq!([0, 1].map(|port| exits.status(port)), [Status::KERNEL_ENDED; 2]);
    leaves.remove();
    eventually("those of a program that left end", || ended(leaves));
    assert_eq!([0, 1].map(|port| leaves.status(port)), [Status::DETACHED; 2]);
    eventually("nothing is left of it", || descriptors() <= before);
    assert!(!ended(stays));
    tell(port);
    eventually("another one's are answered", || ended(stays));
    assert_eq!([0, 1].map(|port| stays.status(port)), [Status::OK; 2]);

    let last = world.program(4);
    wait(&last);
    let device = last.device.clone();
    let World { server, _awake: awake, _host: _kept } = world;
    drop(awake);
    drop(server);
    let raw = device.raw();
    for port in 0..2 {
        eventually("those of a server that ends end", || raw.answered(port, Tag::new(1)));
        assert_eq!(ReplyHead::decode(raw.load(port, 0).0[0]).status, Status::SERVER_GONE);
    }
}

#[test]
fn a_program_whose_inline_handlers_take_long_keeps_a_serving_thread_for_a_turn_and_not_until_it_is_through() {
    const HONEST: u32 = 1000;
    let (gate, order) = (Arc::new(Gate::default()), Arc::new(Mutex::new(Vec::new())));
    let (at_gate, slow_order, quick_order) = (gate.clone(), order.clone(), order.clone());
    let slow = fixed_service("slow", move |x: u32| {
        slow_order.lock().unwrap().push(x);
        if x == 0 {
            at_gate.pass();
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
        x
    });
    let quick = fixed_service("quick", move |x: u32| {
        quick_order.lock().unwrap().push(x);
        x
    });
    let world = World::new(|builder| builder.threads(1).service(slow).service(quick));
    let hostile = world.program(256);
    let call = |program: &Program<'_>, port, service, x: u32| program.send_next(port, 1, service, Flags::REPLY, 1, &[x]);
    call(&hostile, 0, "slow", 0);
    eventually("the thread is in a handler", || gate.come() == 1);
    // It comes while the other one is the only program, and has its turn.
    let honest = world.program(4);
    (1..256).for_each(|port| call(&hostile, port, "slow", port));
    call(&honest, 0, "quick", HONEST);
    gate.open();
    eventually("all are answered", || (0..256).all(|port| hostile.is_answered(port)) && honest.is_answered(0));
    let order = order.lock().unwrap();
    let place = order.iter().position(|x| *x == HONEST).unwrap();
    assert!(place < 32, "{place} calls of the other program were handled before");
    let mut all = order.clone();
    all.sort_unstable();
    assert_eq!(all, (0..256).chain([HONEST]).collect::<Vec<_>>(), "each once");
}

#[test]
fn a_program_that_goes_with_much_to_do_is_drained_in_turns_and_none_of_its_posts_is_lost() {
    const POSTS: u16 = 100;
    const HONEST: u32 = 1000;
    let (busy, gate, order) = (Arc::new(Gate::default()), Arc::new(Gate::default()), Arc::new(Mutex::new(Vec::new())));
    let (at_gate, slow_order, quick_order) = (gate.clone(), order.clone(), order.clone());
    let slow = posted_service("slow", move |x: u32| {
        slow_order.lock().unwrap().push(x);
        if slow_order.lock().unwrap().len() == 1 {
            at_gate.pass();
        }
        std::thread::sleep(std::time::Duration::from_micros(150));
    });
    let quick = fixed_service("quick", move |x: u32| {
        quick_order.lock().unwrap().push(x);
        x
    });
    let world = World::new(|builder| builder.threads(1).service(slow).service(quick).service(held(&busy)));
    let (hostile, honest) = (world.program(8), world.program(4));
    honest.send(0, "held", Flags::REPLY, &[7]);
    eventually("the thread looks at nothing", || busy.come() > 0);
    let (raw, slow) = (hostile.device.raw(), hostile.number("slow"));
    for port in 0..8 {
        // Nobody rings for them: it is the drain that finds them.
        (0..POSTS)
            .for_each(|i| raw.send(port, i.into(), Tag::new(1 + i), slow, Flags::default(), 1, &[port * u32::from(POSTS) + u32::from(i)]));
    }
    std::thread::scope(|scope| {
        let removed = scope.spawn(|| hostile.remove());
        // An audit that comes before the drain finds a post, too, and the test shows less then: no code fails by it.
        std::thread::sleep(std::time::Duration::from_millis(100));
        busy.open();
        eventually("a post is handled", || gate.come() == 1);
        honest.send(1, "quick", Flags::REPLY, &[HONEST]);
        gate.open();
        eventually("the other program is answered", || honest.is_answered(1));
        removed.join().unwrap();
    });
    let mut order = order.lock().unwrap().clone();
    let place = order.iter().position(|x| *x == HONEST).unwrap();
    assert!(place < 32, "{place} posts of the program that goes were handled before");
    order.sort_unstable();
    order.dedup();
    let posts: Vec<u32> = (0..8 * u32::from(POSTS)).collect();
    assert_eq!(order[..posts.len()], posts, "each post is handled");
    assert_eq!(order[posts.len()..], [HONEST]);
}
