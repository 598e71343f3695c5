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
