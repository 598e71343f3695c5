//! The system calls themselves, without `std` above them.

use std::io::Write;
use std::net::TcpListener;

use hostcall::{Access, Input};
use hostcall_std_tests::{Outcome, call};

/// The program checks itself, and ends with 0.
fn succeeds(outcome: &Outcome) {
    assert!(outcome.code == Some(0) && outcome.report.is_success(), "{outcome:?}");
}

#[test]
fn arguments_and_variables_are_there_and_the_exit_code_comes_out() {
    let long = "x".repeat(1000);
    let outcome = call("arguments").argument("ä ö").argument("").argument(&long).run_with(|server| server.env("A", "1").env("B", "=2="));
    assert_eq!(outcome.code, Some(7), "{outcome:?}");
    assert_eq!(outcome.text(), format!("[\"std-calls\", \"arguments\", \"ä ö\", \"\", \"{long}\"] [\"A=1\", \"B==2=\"]\n"));
}

#[test]
fn standard_input_is_copied_byte_for_byte() {
    let bytes: Vec<u8> = (0..200_000u32).map(|i| (i.wrapping_mul(i) >> 7) as u8).collect();
    let outcome = call("copy").stdin(Input::Bytes(bytes.clone())).run();
    succeeds(&outcome);
    assert!(outcome.stdout == bytes, "{} of {} bytes", outcome.stdout.len(), bytes.len());
}

#[test]
fn standard_input_that_was_not_given_is_at_its_end() {
    let outcome = call("copy").run();
    succeeds(&outcome);
    assert_eq!(outcome.stdout, b"");
}

#[test]
fn a_reader_of_standard_input_that_waits_gets_what_comes_later() {
    let (from, mut to) = std::io::pipe().expect("a pipe");
    let writer = std::thread::spawn(move || {
        for part in 0..5 {
            std::thread::sleep(std::time::Duration::from_millis(20));
            writeln!(to, "part {part}").expect("somebody reads");
        }
    });
    let outcome = call("copy").stdin(Input::Reader(Box::new(from))).run();
    writer.join().expect("the writer is done");
    succeeds(&outcome);
    assert_eq!(outcome.text(), "part 0\npart 1\npart 2\npart 3\npart 4\n");
}

#[test]
fn memory_is_aligned_grows_and_runs_out_as_null() {
    succeeds(&call("memory").run());
}

#[test]
fn clocks_entropy_and_standard_streams_are_what_they_should_be() {
    let before = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970");
    let outcome = call("clocks").run();
    succeeds(&outcome);
    let shown: u128 = outcome.text().trim().parse().expect("a number");
    assert!((before.as_nanos()..before.as_nanos() + 60_000_000_000).contains(&shown), "{shown}");
}

#[test]
fn a_panic_of_the_runtime_itself_is_reported_with_its_place() {
    let outcome = call("panic").run();
    let [panic] = &outcome.report.panics[..] else { panic!("{outcome:?}") };
    assert_eq!((&*panic.message, panic.file.ends_with("lib.rs")), ("a runtime's own panic", true));
}

#[test]
fn abort_ends_the_process_as_a_signal_would() {
    assert_eq!(call("abort").run().code, Some(134));
}

#[test]
fn a_program_without_a_heap_is_told_how_to_get_one() {
    let outcome = call("memory").heap(0).run();
    assert!(outcome.report.panics[0].message.contains("--heap BYTES"), "{outcome:?}");
}

#[test]
fn files_and_their_errors_are_those_of_the_system() {
    let host = tempfile::tempdir().expect("a directory");
    std::fs::create_dir(host.path().join("w")).expect("made");
    std::fs::create_dir(host.path().join("ro")).expect("made");
    std::fs::write(host.path().join("w/f"), "f").expect("written");
    std::fs::write(host.path().join("ro/f"), "f").expect("written");
    let outcome = call("files").run_with(|server| {
        let server = server.dir(host.path().join("w"), "w", Access::ReadWrite).expect("granted");
        server.dir(host.path().join("ro"), "ro", Access::ReadOnly).expect("granted")
    });
    succeeds(&outcome);
    let denied: Vec<String> = outcome.denials.iter().map(ToString::to_string).collect();
    assert!(denied.iter().any(|text| text.contains("/etc/passwd") && text.contains("--dir")), "{denied:?}");
    assert!(denied.iter().any(|text| text.contains("/ro")), "{denied:?}");
}

#[test]
fn directories_are_listed_whole_however_many_entries_they_have() {
    for count in [0, 1, 3000] {
        let host = tempfile::tempdir().expect("a directory");
        for i in 0..count {
            let path = host.path().join(format!("entry-{i:05}"));
            if i == 0 { std::fs::create_dir(path) } else { std::fs::write(path, "") }.expect("made");
        }
        let outcome = call("directory")
            .argument(count.to_string())
            .run_with(|server| server.dir(host.path(), "w", Access::ReadOnly).expect("granted"));
        succeeds(&outcome);
        let expected = ["entry-00000:4 ", "entry-00001:8 ", "entry-00002:8 "];
        assert_eq!(outcome.text(), expected[..count.min(3)].concat());
    }
}

#[test]
fn threads_run_on_other_waves_and_are_joined() {
    let outcome = call("threads").threads(7).run();
    succeeds(&outcome);
    assert_eq!(outcome.text(), "7 at a time\n");
}

#[test]
fn one_thread_more_than_waves_is_refused_until_one_has_ended() {
    succeeds(&call("exhaust").threads(5).run());
}

#[test]
fn a_mutex_made_of_a_futex_protects_what_it_should() {
    succeeds(&call("mutex").run());
}

#[test]
fn a_wait_ends_by_its_time_or_by_exactly_one_wake() {
    succeeds(&call("timed-wait").run());
}

#[test]
fn each_thread_has_its_own_values_whose_destructors_run() {
    succeeds(&call("values").run());
}

#[test]
fn any_thread_can_end_the_process() {
    assert_eq!(call("exit-elsewhere").run().code, Some(3));
}

#[test]
fn streams_carry_what_several_clients_send_and_waiting_stalls_nobody() {
    succeeds(&call("echo").run_with(|server| server.net_allow("127.0.0.1:*".parse().expect("a grant"))));
}

#[test]
fn datagrams_arrive_whole_or_cut() {
    succeeds(&call("datagrams").run_with(|server| server.net()));
}

#[test]
fn timeouts_and_sockets_that_do_not_wait_say_that_they_would() {
    succeeds(&call("timeouts").run_with(|server| server.net()));
}

#[test]
fn a_place_that_is_not_granted_cannot_be_reached_and_the_flag_is_named() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("it has one").port();
    let outcome = call("connect").argument(port.to_string()).run();
    assert_eq!(outcome.text(), "socket -13\n");
    assert!(outcome.denials[0].flag.contains("--net"), "{outcome:?}");

    let outcome = call("connect").argument(port.to_string()).run_with(|server| server.net_allow("127.0.0.1:1".parse().expect("a grant")));
    assert!(outcome.text().starts_with("connect -13\n"), "{outcome:?}");
    assert_eq!(outcome.denials[0].flag, format!("--net-allow 127.0.0.1:{port}"));

    let greeter = std::thread::spawn(move || listener.accept().expect("somebody connects").0.write_all(b"welcome").expect("sent"));
    let outcome = call("connect")
        .argument(port.to_string())
        .run_with(|server| server.net_allow(format!("127.0.0.1:{port}").parse().expect("a grant")));
    greeter.join().expect("greeted");
    assert_eq!(outcome.text(), "connect 0\nwelcome");
    assert!(outcome.denials.is_empty());
}

#[test]
fn nobody_at_the_other_side_is_a_connection_refused() {
    let port = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("it has one").port();
    let outcome = call("connect").argument(port.to_string()).run_with(|server| server.net());
    assert!(outcome.text().starts_with("connect -111\n"), "{outcome:?}");
}

#[test]
fn names_are_resolved_if_they_are_granted() {
    let outcome = call("resolve").argument("localhost").run_with(|server| server.net_allow("localhost:80".parse().expect("a grant")));
    assert!(outcome.text().contains("2 [127, 0, 0, 1]"), "{outcome:?}");
    let outcome = call("resolve").argument("localhost").run();
    assert_eq!(outcome.text(), "failed -11 13\n");
    assert_eq!(outcome.denials[0].flag, "--net-allow localhost:*");
    let outcome = call("resolve").argument("no-such-name.invalid").run_with(|server| server.net());
    assert!(outcome.text().starts_with("failed -2 ") || outcome.text().starts_with("failed -3 "), "{outcome:?}");
}

#[test]
fn a_thread_that_waits_for_the_network_does_not_keep_the_process_alive() {
    succeeds(&call("blocked-at-exit").run_with(|server| server.net()));
}
