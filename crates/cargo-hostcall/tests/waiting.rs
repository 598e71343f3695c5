//! Programs that wait for many things at a time: `tests/programs/events` and `tests/programs/async`, run by `cargo
//! hostcall run` and, to compare, by `cargo run` on this machine.

mod support;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Stdio;

use support::{command, needs_toolchain, on_this_machine, programs, run};

/// What the program's own sockets need.
const LOOPBACK: [&str; 2] = ["--net-allow", "127.0.0.1:*"];

#[test]
fn pipes_counters_pairs_and_epolls_do_what_they_do_on_this_machine() {
    needs_toolchain!();
    let ran = run(&LOOPBACK, "events", &["low"], b"").succeeded().text();
    assert_eq!(ran, on_this_machine(&programs(), "events", &["low"], b"").text());
}

#[test]
fn notices_of_files_come_as_they_do_here() {
    needs_toolchain!();
    let [there, here] = [(); 2].map(|()| tempfile::tempdir().expect("a directory"));
    let grant = format!("{}::/w", there.path().display());
    let ran = run(&["--dir", &grant, "--threads", "8", "--timeout", "60"], "events", &["notices", "/w"], b"").succeeded().text();
    assert_eq!(ran, on_this_machine(here.path(), "events", &["notices", "."], b"").text());
}

#[test]
fn event_loops_of_mio_and_polling_serve_and_are_woken() {
    needs_toolchain!();
    for how in ["mio", "polling"] {
        let ran = run(&LOOPBACK, "events", &[how], b"").succeeded().text();
        assert_eq!(ran, on_this_machine(&programs(), "events", &[how], b"").text());
    }
}

#[test]
fn tokio_runs_tasks_timers_files_and_sockets_on_several_threads() {
    needs_toolchain!();
    let dir = tempfile::tempdir().expect("a directory");
    let place = dir.path().display().to_string();
    let ran = run(&["--dir", &format!("{place}::w"), LOOPBACK[0], LOOPBACK[1]], "async", &["tokio", "w"], b"").succeeded().text();
    assert_eq!(ran, on_this_machine(&programs(), "async", &["tokio", &place], b"").text());
}

#[test]
fn smol_runs_a_client_and_a_server() {
    needs_toolchain!();
    let ran = run(&LOOPBACK, "async", &["smol"], b"").succeeded().text();
    assert_eq!(ran, on_this_machine(&programs(), "async", &["smol"], b"").text());
}

/// A request on a connection that stays open: the body of its answer.
fn ask(stream: &mut BufReader<TcpStream>, method: &str, path: &str, body: &str) -> String {
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.get_mut().write_all(request.as_bytes()).expect("sent");
    let mut line = String::new();
    stream.read_line(&mut line).expect("an answer");
    assert!(line.starts_with("HTTP/1.1 200 "), "{path}: {line}");
    let mut len = 0;
    loop {
        line.clear();
        stream.read_line(&mut line).expect("a header");
        if line == "\r\n" {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            len = value.trim().parse().expect("a number");
        }
    }
    let mut body = vec![0; len];
    stream.read_exact(&mut body).expect("the body");
    String::from_utf8(body).expect("text")
}

#[test]
fn a_server_of_axum_answers_clients_of_this_machine_and_ends_when_it_is_told() {
    needs_toolchain!();
    let mut child = command(&["--net"], "async", &["serve", "127.0.0.1:0"]);
    let mut child = child.current_dir(programs()).stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().expect("it starts");
    let mut output = BufReader::new(child.stdout.take().expect("it was piped"));
    let mut line = String::new();
    output.read_line(&mut line).expect("it says where");
    let address = line.trim().strip_prefix("listening on ").unwrap_or_else(|| panic!("{line}")).to_owned();
    let connect = move || BufReader::new(TcpStream::connect(&address).expect("it listens"));
    let clients: Vec<_> = (1..=4u64)
        .map(|client| {
            let mut stream = connect();
            std::thread::spawn(move || {
                for i in 0..20 {
                    let number = client * 100 + i;
                    assert_eq!(ask(&mut stream, "GET", &format!("/square/{number}"), ""), (number * number).to_string());
                }
                assert_eq!(ask(&mut stream, "POST", "/sum", "[1, 2, 3, 4000]"), "4006");
                assert_eq!(ask(&mut stream, "GET", "/", ""), "hello\n");
            })
        })
        .collect();
    clients.into_iter().for_each(|client| client.join().expect("it was answered"));
    assert_eq!(ask(&mut connect(), "GET", "/end", ""), "bye\n");
    line.clear();
    output.read_line(&mut line).expect("it says that it ends");
    assert_eq!((line.as_str(), child.wait().expect("it ends").code()), ("over\n", Some(0)));
}
