//! What a server's builder refuses, and what it gives back.

mod common;

use common::serve;
use hostcall::test_utils::fixed_service;
use hostcall::{CallError, Server, ServerBuilder};
use offload::Device;

#[test]
fn sizes_that_no_program_could_be_attached_with_are_found_when_the_server_starts() {
    let device = Device::open("sim:memory=1g").unwrap();
    type Set = fn(ServerBuilder) -> ServerBuilder;
    let cases: [(Set, &str); 4] = [
        (|b| b.ports(0), "0 ports: give 1 to 1048576"),
        (|b| b.staging(4, 100), "4 staging slots of 100 bytes: a slot is a multiple of 4096 bytes"),
        (|b| b.heap(1 << 40), "has 1073741824 bytes of memory, and `.heap(1099511627776)` asks for more"),
        (|b| b.heap(usize::MAX), "asks for more"),
    ];
    for (set, told) in cases {
        let error = set(Server::builder(&device)).start().expect_err(told).to_string();
        assert!(error.contains(told), "{error}");
    }
    Server::builder(&device).ports(1).staging(0, 4096).heap(1 << 20).start().unwrap();
}

#[test]
fn a_service_of_the_builder_has_a_handle_by_its_name() {
    let s = serve(
        Server::without_device().service(fixed_service("Host__add", |x: u32| x + 1)).service(fixed_service("Host__other", |x: u32| x)),
    );
    assert!(s.server.service_handle("Host__sub").is_none());
    let handle = s.server.service_handle("Host__add").unwrap();
    assert_eq!(handle.number(), s.server.service_handle("Host::add").unwrap().number());
    assert_eq!(s.device.wave(0).call(handle.number(), &[1]), Ok(vec![2]));
    handle.finish();
    assert_eq!(s.device.wave(0).call(handle.number(), &[1]), Err(CallError::Finished));
    handle.unregister();
    assert!(s.server.service_handle("Host::add").is_none());
}

/// The processors that the calling thread may use, as Linux writes them.
#[cfg(target_os = "linux")]
fn allowed() -> String {
    let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
    status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap().trim().to_owned()
}

/// In a child process: the environment is the whole process's.
#[test]
#[cfg(target_os = "linux")]
fn the_environment_says_where_servers_run_that_were_not_told() {
    const CHILD: &str = "HOSTCALL_TEST_PLACEMENT";
    let start = |builder: ServerBuilder| serve(builder.service(fixed_service("Host__alone", |_: u32| u32::from(allowed() == "0"))));
    let alone = |builder| start(builder).device.wave(0).call(1, &[0]).unwrap() == [1];
    let builder = || Server::without_device().without_built_in();
    if std::env::var_os(CHILD).is_some() {
        match builder().start() {
            Ok(_) => println!("alone: {}, unless told: {}", alone(builder()), alone(builder().placement(hostcall::Placement::Anywhere))),
            Err(error) => println!("refused: {error}"),
        }
        return;
    }
    let said = |value: &str| {
        let mut child = common::this_program();
        child.args(["--exact", std::thread::current().name().unwrap(), "--nocapture"]);
        String::from_utf8(child.env(CHILD, "1").env("HOSTCALL_PLACEMENT", value).output().unwrap().stdout).unwrap()
    };
    assert!(said("far").contains("refused: HOSTCALL_PLACEMENT: `far` is no place for threads: write `anywhere`, `near`"));
    if allowed().starts_with("0-") {
        assert!(said("0").contains("alone: true, unless told: false"), "{}", said("0"));
    }
    assert!(said("").contains("alone: ") && said("near").contains("alone: "));
}
