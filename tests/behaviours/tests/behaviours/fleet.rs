//! Several devices of one process: the same services, a server for each, and one wait.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use behaviours_services::{gate, typed};
use hostcall::fleet::FleetError;
use hostcall::{Fleet, Placement, Service, WaitError};
use hostcall_tests::{Counter, bundle, device, in_child, is_child};
use offload::{Args, Device, DeviceKind, Error, Launch, Memory, Program, Queue, SimConfig};

/// Two devices: two GPUs where there are as many, else twice the same.
fn two() -> Vec<Device> {
    vec![device(), another_gpu().unwrap_or_else(device)]
}

/// A GPU beside the one that tests run on, if there is one.
fn another_gpu() -> Option<Device> {
    let first = device();
    let kind = match first.info().kind {
        DeviceKind::Sim => return None,
        kind => kind.to_string().to_lowercase(),
    };
    Device::open_all(&kind).unwrap().into_iter().find(|other| other.info().ordinal != first.info().ordinal)
}

/// What the kernels of these tests call.
fn callable() -> [Service; 3] {
    [typed::sum(|a, b| a + b), gate::here(|_| ()), gate::held_back(|x| x)]
}

/// A fleet with its programs, and results for each.
struct Rig {
    fleet: Fleet,
    programs: Vec<Program>,
    queues: Vec<Queue>,
    results: Vec<Memory<u64>>,
}

const LANES: u32 = 80;

impl Rig {
    fn of(fleet: Fleet) -> Self {
        let load = |member: &hostcall::fleet::Member| {
            let program = member.device().load(&bundle()).unwrap();
            member.server().attach(&program).unwrap();
            program
        };
        let programs = fleet.members().map(load).collect();
        let results = fleet.members().map(|member| member.device().alloc::<u64>(LANES as usize).unwrap()).collect();
        Self { queues: fleet.queues().unwrap(), programs, results, fleet }
    }

    fn launch(&self, rank: usize, kernel: &str) {
        let kernel = self.programs[rank].kernel(kernel).unwrap();
        // SAFETY: the kernels write a word for each lane, and there are as many.
        unsafe { self.queues[rank].launch(&kernel, Launch::threads(LANES, 40), Args::new().slice(&self.results[rank])) }.unwrap();
    }

    /// Launches a kernel that writes where no memory is.
    fn trap(&self, rank: usize) {
        let traps = self.programs[rank].kernel("traps").unwrap();
        // SAFETY: the address is bad: that is what the tests are about; the kernel has no other argument.
        unsafe { self.queues[rank].launch(&traps, Launch::linear(1, 1), Args::new().address(8)) }.unwrap();
    }

    fn read(&self, rank: usize) -> Vec<u64> {
        self.queues[rank].read(&self.results[rank]).unwrap()
    }
}

#[test]
fn the_same_services_answer_kernels_of_all_devices_which_know_their_ranks() {
    let calls = Counter::default();
    let counted = calls.clone();
    let sum = typed::sum(move |a, b| {
        counted.add(1);
        a + b
    });
    let fleet = Fleet::builder(two()).service(sum).threads(2).start().unwrap();
    let rig = Rig::of(fleet);
    (0..2).for_each(|rank| rig.launch(rank, "ranks"));
    rig.fleet.wait(&rig.queues).unwrap();
    for rank in 0..2 {
        assert_eq!(rig.read(rank), [200 + rank as u64; LANES as usize]);
    }
    assert_eq!(calls.get(), 2 * u64::from(LANES));
    let stats = rig.fleet.stats();
    let of = |calls: u64, rank: usize| (stats.devices[rank].1.service("Typed__sum").unwrap().calls, calls);
    assert!((0..2).map(|rank| of(u64::from(LANES), rank)).all(|(a, b)| a == b), "{stats}");
    assert_eq!(stats.service("Typed__sum").unwrap().calls, 2 * u64::from(LANES));
    let table = stats.called().to_string();
    let rows: Vec<&str> = table.lines().collect();
    assert!(rows[0].starts_with("device"), "{table}");
    for rank in 0..2 {
        assert!(rows.iter().any(|row| row.starts_with(&format!("{rank}: ")) && row.contains("Typed__sum")), "{table}");
    }
    // Every row is as wide as the heading.
    assert_eq!(rows.iter().map(|row| row.len()).collect::<HashSet<_>>().len(), 1, "{table}");
}

#[test]
fn each_server_is_set_up_for_its_device_and_what_fails_names_it() {
    let mut seen = Vec::new();
    let fleet = Fleet::builder(two()).placement(Placement::Anywhere).each(|rank, builder| {
        seen.push((rank.rank, rank.world));
        Ok(builder.env("HOSTCALL_RANK", (7 + rank.rank).to_string()))
    });
    let rig = Rig::of(fleet.service(typed::sum(|a, b| a + b)).start().unwrap());
    assert_eq!(seen, [(0, 2), (1, 2)]);
    (0..2).for_each(|rank| rig.launch(rank, "ranks"));
    rig.fleet.wait(&rig.queues).unwrap();
    assert_eq!((rig.read(0)[0], rig.read(1)[0]), (207, 208));

    let refused = Fleet::builder(two()).each(|rank, builder| if rank.rank == 1 { Err("no".into()) } else { Ok(builder) }).start();
    assert!(matches!(&refused, Err(FleetError::Setup { rank: 1, source, .. }) if source.to_string() == "no"), "{refused:?}");
    let twice = || typed::sum(|a, b| a + b);
    let refused = Fleet::builder(two()).services([twice(), twice()]).start();
    assert!(matches!(&refused, Err(FleetError::Server { rank: 0, .. })), "{refused:?}");
    assert!(matches!(Fleet::builder([]).start(), Err(FleetError::Empty)));
    let nowhere = Fleet::builder(two()).placement(Placement::Processors(vec![usize::MAX])).start();
    assert!(matches!(&nowhere, Err(FleetError::Server { .. })), "{nowhere:?}");
}

#[test]
fn a_kernel_that_fails_is_reported_for_its_device_and_the_others_are_whole() {
    let fleet = Fleet::builder(two()).service(typed::sum(|a, b| if a == 1 { panic!("not for {a}") } else { a + b })).start().unwrap();
    let rig = Rig::of(fleet);
    (0..2).for_each(|rank| rig.launch(rank, "ranks"));
    let failed = rig.fleet.wait(&rig.queues).unwrap_err();
    let [failure] = &failed.failures[..] else { panic!("{failed}") };
    assert_eq!(failure.rank, 1);
    assert!(matches!(&failure.error, WaitError::Kernel(report) if report.handler_panics[0].lanes == u64::from(LANES)), "{failed}");
    assert!(failed.to_string().starts_with("device 1: "), "{failed}");
    assert_eq!(rig.read(0), [200; LANES as usize]);
    // Both go on.
    rig.launch(0, "ranks");
    rig.fleet.wait(&rig.queues).unwrap();
}

#[test]
fn a_failure_is_told_while_other_devices_still_run() {
    let (release, released) = std::sync::mpsc::channel::<()>();
    let released = Mutex::new(released);
    let sum = typed::sum(move |a, b| match a {
        1 => panic!("not for {a}"),
        // Until the failure of the other one is told; the limit only ends a test that would hang.
        _ => {
            released.lock().unwrap().recv_timeout(Duration::from_secs(120)).expect("the failure is told before this kernel ends");
            a + b
        }
    });
    let fleet = Fleet::builder(two()).service(sum.blocking()).threads(2).start().unwrap();
    let rig = Rig::of(fleet);
    (0..2).for_each(|rank| rig.launch(rank, "ranks"));
    let mut told = Vec::new();
    let failed = rig.fleet.wait_each(&rig.queues, |member, result| {
        told.push((member.rank().rank, result.is_err()));
        if result.is_err() {
            // One for each lane that waits.
            (0..LANES).for_each(|_| release.send(()).unwrap());
        }
    });
    assert_eq!(told, [(1, true), (0, false)]);
    assert_eq!(failed.unwrap_err().failures.iter().map(|failure| failure.rank).collect::<Vec<_>>(), [1]);
}

#[test]
fn a_device_that_is_lost_leaves_the_others_running() {
    if device().info().kind != DeviceKind::Sim {
        println!("not run: a GPU that is lost takes the others of its process with it where the driver has but one context for both");
        return;
    }
    for lose_after in (200..3000).step_by(400) {
        let config = SimConfig { lose_after: Some(lose_after), seed: Some(lose_after), ..SimConfig::default() };
        let devices = [Device::sim(config).unwrap(), device()];
        let rig = Rig::of(Fleet::builder(devices).service(typed::sum(|a, b| a + b)).start().unwrap());
        for _ in 0..20 {
            rig.launch(1, "ranks");
        }
        let kernel = rig.programs[0].kernel("ranks").unwrap();
        // A launch may find the device lost already, and so may the wait.
        // SAFETY: as in `Rig::launch`.
        let launched = (0..20)
            .try_for_each(|_| unsafe { rig.queues[0].launch(&kernel, Launch::threads(LANES, 40), Args::new().slice(&rig.results[0])) });
        let waited = rig.fleet.wait(&rig.queues);
        let failures = waited.as_ref().err().map_or(&[][..], |error| &error.failures);
        assert!(launched.is_err() || failures.iter().any(|failure| failure.rank == 0), "{lose_after}: it was not lost");
        assert!(failures.iter().all(|failure| failure.rank == 0 && matches!(failure.error, WaitError::Device { .. })), "{failures:?}");
        assert_eq!(rig.read(1), [201; LANES as usize], "{lose_after}");
    }
}

#[test]
fn a_gpu_that_traps_leaves_what_the_other_one_did_whole() {
    let Some(other) = another_gpu() else {
        return println!("skipped: there are no two GPUs here");
    };
    in_child("fleet::a_gpu_that_traps_leaves_what_the_other_one_did_whole", || {
        let rig = Rig::of(Fleet::builder([device(), other]).services(callable()).start().unwrap());
        for _ in 0..100 {
            rig.launch(0, "ranks");
        }
        rig.fleet.server(0).wait(&rig.queues[0]).unwrap();
        assert_eq!(rig.read(0), [200; LANES as usize]);
        rig.trap(1);
        let failed = rig.fleet.wait(&rig.queues).unwrap_err();
        let failure = failed.failures.iter().find(|failure| failure.rank == 1).expect("the one that trapped");
        assert!(matches!(failure.error, WaitError::Device { .. }), "{failed}");
        assert_eq!(rig.fleet.stats().devices[0].1.service("Typed__sum").unwrap().calls, 100 * u64::from(LANES));
        match rig.queues[0].read(&rig.results[0]) {
            // CUDA takes a fault on one GPU for one of the whole process.
            Err(error) if rig.fleet.members().as_slice()[0].device().info().kind == DeviceKind::Cuda => {
                assert!(matches!(&error, Error::DeviceLost { .. }) && error.to_string().contains("all GPUs of its process"), "{error}");
            }
            read => assert_eq!(read.unwrap(), [200; LANES as usize]),
        }
    });
}

#[test]
fn a_gpu_that_traps_in_a_process_of_its_own_leaves_the_other_one_running() {
    const NAME: &str = "fleet::a_gpu_that_traps_in_a_process_of_its_own_leaves_the_other_one_running";
    let Some(other) = another_gpu() else {
        return println!("skipped: there are no two GPUs here");
    };
    let child = move || {
        in_child(NAME, || {
            let rig = Rig::of(Fleet::builder([other]).services(callable()).start().unwrap());
            rig.trap(0);
            let failed = rig.fleet.wait(&rig.queues).unwrap_err();
            assert!(matches!(failed.failures[0].error, WaitError::Device { .. }), "{failed}");
        })
    };
    if is_child(NAME) {
        child();
        return;
    }
    let rig = Rig::of(Fleet::builder([device()]).services(callable()).start().unwrap());
    let child = std::thread::spawn(child);
    let mut launches = 0;
    // Before, while and after the other one traps.
    loop {
        let ended = child.is_finished();
        rig.launch(0, "ranks");
        rig.fleet.wait(&rig.queues).unwrap();
        launches += 1;
        if ended {
            break;
        }
    }
    child.join().expect("it trapped, and was told so");
    // It is the only one of its fleet.
    assert_eq!(rig.read(0), [100; LANES as usize]);
    assert_eq!(rig.fleet.stats().devices[0].1.service("Typed__sum").unwrap().calls, launches * u64::from(LANES));
}

#[test]
fn a_time_to_wait_is_one_for_all_devices() {
    let (enter, leave) = std::sync::mpsc::channel::<()>();
    let leave = Arc::new(Mutex::new(leave));
    let held = typed::sum(move |a, b| {
        // Until the test lets go of its end.
        let _ = leave.lock().unwrap().recv();
        a + b
    });
    let rig = Rig::of(Fleet::builder(two()).service(held.blocking()).start().unwrap());
    (0..2).for_each(|rank| rig.launch(rank, "ranks"));
    let late = rig.fleet.wait_timeout(&rig.queues, Duration::from_millis(100)).unwrap_err();
    assert_eq!(late.failures.iter().map(|failure| failure.rank).collect::<Vec<_>>(), [0, 1]);
    assert!(late.failures.iter().all(|failure| matches!(failure.error, WaitError::Timeout { .. })), "{late}");
    drop(enter);
    rig.fleet.wait_timeout(&rig.queues, Duration::from_secs(60)).unwrap();
    assert_eq!((rig.read(0)[5], rig.read(1)[5]), (200, 201));
}

#[test]
fn lists_of_devices_are_opened_as_they_are_written() {
    let count = |spec: &str| Device::open_all(spec).unwrap().len();
    assert_eq!((count("sim*3"), count("sim:lanes=64\u{d7}2"), count("sim")), (3, 2, 1));
    assert!(Device::open_all("sim:lanes=64*2").unwrap().iter().all(|device| device.info().wave_size == 64));
    assert!(!Device::open_all("all").unwrap().is_empty());
    assert_eq!(Device::list("cuda:0,2").unwrap(), ["cuda:0", "cuda:2"]);
    for wrong in ["sim*0", "sim*many", "sim*5000", "cuda:1,1", "tpu"] {
        let error = Device::open_all(wrong).unwrap_err();
        assert!(error.to_string().contains(wrong), "{error}");
    }
}

#[test]
fn handlers_of_all_devices_share_what_they_captured() {
    let seen = Arc::new(Mutex::new(HashSet::new()));
    let keep = seen.clone();
    let sum = typed::sum(move |a, b| {
        keep.lock().unwrap().insert(a);
        a + b
    });
    let rig = Rig::of(Fleet::builder(two()).service(sum).start().unwrap());
    (0..2).for_each(|rank| rig.launch(rank, "ranks"));
    rig.fleet.wait(&rig.queues).unwrap();
    assert_eq!(*seen.lock().unwrap(), HashSet::from([0, 1]));
}
