//! A process that was asked to show itself (`HOSTCALL_TOP`) shows its servers to whoever connects, and goes on.
#![cfg(unix)]

mod common;

use std::io::Read;
use std::process::{Child, Stdio};

use common::{eventually, geometry};
use hostcall::__private::PortBuffer;
use hostcall::Server;
use hostcall::test_utils::{MockDevice, fixed_service};
use hostcall_top::{AskError, View, Watched};

/// Set for the child process, which is looked at.
const CHILD: &str = "HOSTCALL_TEST_TOP";
/// Calls that the child has answered before one waits.
const CALLS: u64 = 40;

/// Answers calls, and then one of a service that waits until standard input ends.
fn child() {
    let hold = |x: u32| {
        let mut rest = Vec::new();
        std::io::stdin().read_to_end(&mut rest).unwrap();
        x + rest.len() as u32
    };
    let services = [fixed_service("Host__double", |x: u32| 2 * x), fixed_service("Host__hold", hold).blocking()];
    let server = Server::without_device().without_built_in().threads(2).services(services).start().unwrap();
    let _awake = server.keep_awake();
    let device = MockDevice::new(server.add_buffer(PortBuffer::in_process(geometry(5, 32)).unwrap()));
    for x in 0..CALLS as u32 {
        assert_eq!(device.wave(0).call(1, &[x]), Ok(vec![2 * x]));
    }
    assert_eq!(device.wave(0).call(2, &[7]), Ok(vec![7 + 4]), "what waited goes on");
}

fn start(variable: &std::path::Path) -> Child {
    let test = std::thread::current().name().unwrap().to_owned();
    let mut command = common::this_program();
    command.args(["--exact", &test, "--nocapture"]).env(CHILD, "1").env(hostcall_top::VARIABLE, variable);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap()
}

fn connect(path: &std::path::Path) -> Watched {
    let mut watched = None;
    eventually("the process shows itself", || {
        watched = Watched::at(path).ok();
        watched.is_some()
    });
    watched.unwrap()
}

fn until(watched: &mut Watched, what: &str, so: impl Fn(&View) -> bool) -> View {
    let mut view = View::default();
    eventually(what, || {
        view = watched.view().unwrap();
        so(&view)
    });
    view
}

#[test]
fn services_programs_and_who_waits_are_shown_while_a_process_runs() {
    if std::env::var_os(CHILD).is_some() {
        return child();
    }
    let here = tempfile::tempdir().unwrap();
    let path = here.path().join("top.sock");
    let mut child = start(&path);
    let mut watched = connect(&path);
    // A look finds a call before its handler runs, and calls before they are counted.
    let view = until(&mut watched, "a call waits, and the others are over", |view| {
        let counted =
            |server: &hostcall_top::view::Server| server.services.iter().map(|service| service.times.count()).sum::<u64>() == CALLS;
        let waits = |server: &hostcall_top::view::Server| server.waiting.len() == 1 && server.pool.running == 1 && server.pool.queued == 0;
        view.servers.iter().any(|server| waits(server) && counted(server) && server.programs.iter().any(|program| program.open == 1))
    });
    assert_eq!(view.pid, child.id());
    let [server] = &view.servers[..] else { panic!("one server: {view:?}") };
    assert_eq!((server.threads, server.programs.len()), (2, 1));
    assert_eq!((server.programs[0].ports, server.programs[0].open), (5, 1));
    assert_eq!((server.pool.running, server.pool.queued), (1, 0));
    let [double, hold] = &server.services[..] else { panic!("two services: {server:?}") };
    assert_eq!((&*double.name, double.calls, double.failed, double.times.count()), ("Host__double", CALLS, 0, CALLS));
    assert!(double.times.quantile(0.999).is_some_and(|time| !time.is_zero()));
    assert_eq!((&*hold.name, hold.times.count()), ("Host__hold", 0));
    let [waiting] = &server.waiting[..] else { panic!("one call: {server:?}") };
    assert_eq!((&*waiting.service, waiting.lanes), ("Host__hold", 1));
    // It goes on waiting, and others may look as well, but not without end.
    let longer =
        until(&mut watched, "time passes", |view| view.servers[0].waiting.first().is_some_and(|call| call.seconds > waiting.seconds));
    assert!(longer.seconds > view.seconds);
    let mut others: Vec<Watched> = (0..15).map(|_| connect(&path)).collect();
    for other in &mut others {
        assert_eq!(other.view().unwrap().servers[0].services[0].calls, CALLS);
    }
    let one_more = connect(&path).view();
    assert!(matches!(one_more, Err(AskError::Lost { .. })), "{one_more:?}");
    // Whoever goes makes room.
    drop(others);
    eventually("there is room again", || Watched::at(&path).is_ok_and(|mut watched| watched.view().is_ok()));
    // What waited ends, and with it the process.
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"abcd").unwrap();
    assert!(child.wait().unwrap().success());
    let mut ended = None;
    eventually("the end is seen", || {
        ended = watched.view().err();
        ended.is_some()
    });
    assert!(ended.unwrap().is_end());
    assert!(matches!(Watched::at(&path), Err(AskError::Nobody { .. })));
}

#[test]
fn a_process_that_cannot_show_itself_goes_on_and_says_why() {
    if std::env::var_os(CHILD).is_some() {
        return child();
    }
    let here = tempfile::tempdir().unwrap();
    let path = here.path().join("no/such/directory/top.sock");
    let test = std::thread::current().name().unwrap().to_owned();
    let mut command = common::this_program();
    command.args(["--exact", &test, "--nocapture"]).env(CHILD, "1").env(hostcall_top::VARIABLE, &path);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"abcd").unwrap();
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("HOSTCALL_TOP: this process cannot show itself at ") && text.contains("no/such/directory/top.sock"), "{text}");
}
