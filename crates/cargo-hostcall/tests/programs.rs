//! The programs of `tests/programs/`, run by `cargo hostcall run`, and where it says something by `cargo run` on this
//! machine for comparison. Where, and with what: [`support`].

mod support;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::process::Stdio;

use support::{command, hostcall, needs_toolchain, on_this_machine, output, programs, run};

#[test]
fn hello_says_hello() {
    needs_toolchain!();
    assert_eq!(run(&[], "hello", &[], b"").succeeded().text(), "Hello, world!\n");
}

#[test]
fn cat_copies_every_byte() {
    needs_toolchain!();
    let bytes: Vec<u8> = (0..300_000u32).map(|i| (i.wrapping_mul(i) >> 9) as u8).collect();
    let ran = run(&[], "cat", &[], &bytes).succeeded();
    assert!(ran.stdout == bytes, "{} of {} bytes: {}", ran.stdout.len(), bytes.len(), ran.stderr);
    assert_eq!(run(&[], "cat", &[], b"").succeeded().stdout, b"");
}

#[test]
fn wordcount_counts_what_this_machine_counts() {
    needs_toolchain!();
    let docs = support::pages();
    let ran = run(&["--dir", &format!("{}::text:ro", docs.display())], "wordcount", &["text"], b"").succeeded();
    assert_eq!(ran.text(), on_this_machine(&docs, "wordcount", &["."], b"").text());
}

#[test]
fn what_is_not_granted_is_denied_and_the_flag_is_named() {
    needs_toolchain!();
    let ran = run(&[], "wordcount", &["text"], b"");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("PermissionDenied") && ran.stderr.contains("`--dir HOST::/`"), "{}", ran.stderr);
    let ran = run(&[], "net", &["client", "127.0.0.1:1"], b"");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("PermissionDenied") && ran.stderr.contains("--net"), "{}", ran.stderr);
}

/// What is said to whoever runs a program is done, word by word: a file named alone, a file in a directory, and too
/// little granted.
#[test]
fn the_flag_that_is_named_for_a_refused_path_is_accepted_and_enough() {
    needs_toolchain!();
    let dir = tempfile::tempdir().expect("a directory");
    std::fs::create_dir(dir.path().join("w")).expect("made");
    std::fs::write(dir.path().join("w/x.txt"), "one two").expect("written");
    let named = |ran: &support::Ran, before: &str| {
        let (_, flag) = ran.stderr.split_once(&format!("{before}`--dir ")).unwrap_or_else(|| panic!("{ran:?}"));
        flag.split('`').next().expect("it ends").to_owned()
    };
    for (asked, host) in [("x.txt", dir.path().join("w")), ("w/x.txt", dir.path().join("w"))] {
        let refused = run(&[], "search", &["two", asked], b"");
        assert_ne!(refused.code, Some(0), "{refused:?}");
        let flag = named(&refused, ": ").replacen("HOST", host.to_str().expect("text"), 1);
        let ran = run(&["--dir", &flag], "search", &["two", asked], b"").succeeded();
        assert!(ran.text().contains("one two"), "{ran:?}");
    }
    let grant = format!("{}::w:ro", dir.path().join("w").display());
    let mut refused = run(&["--dir", &grant], "unixfs", &["w"], b"");
    refused.stderr = refused.stderr.lines().filter(|line| line.contains("to write below /w,")).collect();
    assert_eq!(named(&refused, " instead of "), grant);
    run(&["--dir", &named(&refused, ": ")], "unixfs", &["w"], b"").succeeded();
}

#[test]
fn files_are_made_copied_renamed_and_removed_with_every_error_of_its_kind() {
    needs_toolchain!();
    let dir = tempfile::tempdir().expect("a directory");
    let ran = run(&["--dir", &format!("{}::w", dir.path().display())], "fsops", &["w"], b"").succeeded();
    assert_eq!(ran.text(), "all as it should be\n");
    assert_eq!(std::fs::read_dir(dir.path()).expect("it is there").count(), 0);
}

#[test]
fn what_unix_has_of_files_is_as_on_this_machine() {
    needs_toolchain!();
    let (there, here) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    let ran = run(&["--dir", &format!("{}::w:special", there.path().display())], "unixfs", &["w", "fifo"], b"").succeeded();
    std::fs::create_dir(here.path().join("w")).expect("it is made");
    let expected = on_this_machine(here.path(), "unixfs", &["w", "fifo"], b"").text();
    assert!(expected.ends_with("0 left\n"), "{expected}");
    assert_eq!(ran.text(), expected);
}

#[test]
fn csv_becomes_the_json_that_this_machine_makes() {
    needs_toolchain!();
    let mut csv = String::from("name,year,weight\n\"Lovelace, Ada\",1815,\nß,65535,-0.125\n");
    (0..50).for_each(|i| csv.push_str(&format!("n{i},{},{}\n", 1900 + i, f64::from(i) / 3.0)));
    let ran = run(&[], "csv2json", &[], csv.as_bytes()).succeeded();
    assert_eq!(ran.text(), on_this_machine(&programs(), "csv2json", &[], csv.as_bytes()).text());
    let ran = run(&[], "csv2json", &[], b"name,year,weight\nx,y,z\n");
    assert!(ran.code == Some(1) && ran.stderr.contains("InvalidDigit"), "{ran:?}");
}

#[test]
fn a_regular_expression_finds_what_it_finds_on_this_machine() {
    needs_toolchain!();
    let docs = support::pages();
    let pattern = r"(?i)\b(gpu|wave|lane)s?\b[^.]*\bthe (\w+)";
    let ran = run(&["--dir", &format!("{}::d:ro", docs.display())], "search", &[pattern, "d/protocol.md"], b"").succeeded();
    let here = on_this_machine(&docs, "search", &[pattern, "protocol.md"], b"").text();
    assert!(here.lines().count() > 3, "{here}");
    assert_eq!(ran.text(), here);
}

#[test]
fn digests_and_deflated_sizes_are_those_of_this_machine() {
    needs_toolchain!();
    let text: String = (0..3000).map(|i| format!("{i} {}\n", i * i % 97)).collect();
    let ran = run(&[], "checksum", &[], text.as_bytes()).succeeded();
    assert_eq!(ran.text(), on_this_machine(&programs(), "checksum", &[], text.as_bytes()).text());
    let abc = run(&[], "checksum", &[], b"abc").succeeded().text();
    assert!(abc.starts_with("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad 3 "), "{abc}");
}

#[test]
fn copies_fills_and_zeroed_memory_are_right_at_every_length_and_alignment() {
    needs_toolchain!();
    let ran = run(&[], "copies", &[], b"").succeeded();
    assert_eq!(ran.text(), "1507 right, 0 wrong\n", "{ran:?}");
}

#[test]
fn blocks_of_memory_are_only_their_owners_and_a_heap_that_was_full_is_whole_again() {
    needs_toolchain!();
    let ran = run(&["--threads", "6"], "blocks", &[], b"").succeeded();
    assert_eq!(ran.text(), "12000 blocks were only their owners'\n", "{ran:?}");
    let ran = run(&["--heap", "8m"], "blocks", &["full"], b"").succeeded();
    assert_eq!(ran.text(), "half of it in one piece\n".repeat(2), "{ran:?}");
}

#[test]
fn mathematical_functions_give_what_they_give_on_this_machine() {
    needs_toolchain!();
    let (ran, here) = (run(&[], "numbers", &[], b"").succeeded().text(), on_this_machine(&programs(), "numbers", &[], b"").text());
    assert_eq!(here.lines().count(), 47, "{here}");
    for (ran, here) in ran.lines().zip(here.lines()) {
        assert_eq!(ran, here);
    }
    assert_eq!(ran.lines().count(), 47, "{ran}");
}

#[test]
fn the_network_works_between_threads_of_a_program() {
    needs_toolchain!();
    assert!(run(&["--net-allow", "127.0.0.1:*"], "net", &["self"], b"").succeeded().text().ends_with("all as it should be\n"));
}

#[test]
fn a_program_serves_a_client_of_this_machine() {
    needs_toolchain!();
    let mut child = command(&["--net"], "net", &["echo", "127.0.0.1:0"]);
    let mut child = child.current_dir(programs()).stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().expect("it starts");
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().expect("it was piped")).read_line(&mut line).expect("it says where");
    let address = line.trim().strip_prefix("listening on ").unwrap_or_else(|| panic!("{line}"));
    let mut stream = TcpStream::connect(address).expect("it listens");
    stream.write_all(b"there and back").expect("sent");
    stream.shutdown(std::net::Shutdown::Write).expect("shut");
    let mut back = String::new();
    stream.read_to_string(&mut back).expect("received");
    assert_eq!(back, "there and back");
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}

#[test]
fn a_program_fetches_a_page_and_asks_a_server_of_datagrams() {
    needs_toolchain!();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("it has one").port();
    let page = "x".repeat(100_000);
    let body = page.clone();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("somebody asks");
        // All of it, in however many pieces it comes: whoever closes before has not listened.
        let lines: Vec<String> =
            BufReader::new(&mut stream).lines().map(|line| line.expect("a line")).take_while(|line| !line.is_empty()).collect();
        assert_eq!(lines[0], "GET /page HTTP/1.1");
        write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len()).expect("sent");
    });
    let ran = run(&["--net-allow", &format!("localhost:{port}")], "net", &["get", &format!("localhost:{port}"), "/page"], b"").succeeded();
    server.join().expect("it served");
    assert_eq!(ran.text(), format!("HTTP/1.1 200 OK\r\n{page}"));

    let socket = UdpSocket::bind("127.0.0.1:0").expect("a port");
    let address = socket.local_addr().expect("it has one");
    let server = std::thread::spawn(move || {
        let mut asked = [0; 10];
        let (n, from) = socket.recv_from(&mut asked).expect("somebody asks");
        assert_eq!(&asked[..n], b"ping");
        socket.send_to(b"pong", from).expect("sent");
    });
    let ran = run(&["--net-allow", &address.to_string()], "net", &["udp", &address.to_string()], b"").succeeded();
    server.join().expect("it served");
    assert_eq!(ran.text(), format!("pong from {address}\n"));
}

#[test]
fn sixty_four_threads_pass_work_through_channels() {
    needs_toolchain!();
    let ran = run(&["--threads", "80"], "pipeline", &["64"], b"").succeeded();
    assert!(ran.text().starts_with("[2, 3, 5, 7, 11,") && ran.text().ends_with(" 307]\n"), "{}", ran.text());
}

#[test]
fn rayon_and_crossbeam_run_as_they_are() {
    needs_toolchain!();
    let ran = run(&["--threads", "17"], "parallel", &["20000"], b"").succeeded();
    assert_eq!(ran.text(), "8 threads, 20000 numbers, 10000 even\nall as it should be\n");
}

#[test]
fn programs_end_as_they_do_elsewhere() {
    needs_toolchain!();
    let ending = |arguments: &[&str]| run(&["--threads", "4", "--heap", "16m"], "endings", arguments, b"");
    assert_eq!(ending(&["code", "7"]).code, Some(7));
    assert_eq!(ending(&["exit", "0"]).code, Some(0));
    let ran = ending(&["main-panics"]);
    assert_eq!((ran.code, ran.text().as_str()), (Some(101), "before "));
    assert!(
        ran.stderr.contains("thread 'main'") && ran.stderr.contains("main.rs:") && ran.stderr.contains("the len is 0 but the index is 1"),
        "{ran:?}"
    );
    assert!(!ran.stderr.contains("join"), "nobody joins `main`: {ran:?}");
    let ran = ending(&["thread-panics"]);
    assert_eq!((ran.code, ran.text().as_str()), (Some(101), ""));
    assert!(ran.stderr.contains("thread 'worker'") && ran.stderr.contains("a thread's own"), "{ran:?}");
    // Whoever joins it waits for nothing, and is told why.
    assert_eq!(ran.stderr.matches("no `join` and no `catch_unwind` gets it").count(), 1, "{ran:?}");
    let ran = ending(&["error"]);
    assert!(ran.code == Some(1) && ran.stderr.contains("Error: Unhappy(3)"), "{ran:?}");
    assert_eq!(ending(&["abort"]).code, Some(134));
    assert_eq!(ending(&["destructors"]).succeeded().text(), "dropped\njoined\n");
    let ran = ending(&["memory"]);
    assert!(
        ran.code == Some(134) && ran.stderr.contains("memory allocation of 1048576 bytes failed") && ran.stderr.contains("--heap"),
        "{ran:?}"
    );
    for (argument, thread) in [("stack", "'main'"), ("thread-stack", "'worker'")] {
        let ran = ending(&[argument]);
        assert!(ran.stderr.matches("--stack").count() == 1, "{ran:?}");
        // AMD's runtime says only that the device is lost.
        let is_lost = support::device().starts_with("hsa");
        assert_eq!(ran.code, Some(if is_lost { 139 } else { 134 }), "{ran:?}");
        assert!(is_lost || ran.stderr.contains(&format!("stack overflow: thread {thread} ")), "{ran:?}");
    }
    let ran = ending(&["spawn-many"]).succeeded();
    assert!(ran.text().starts_with("3 threads, then WouldBlock:") && ran.text().contains("--threads"), "{ran:?}");
}

#[test]
fn a_fault_ends_the_program_and_is_told_with_thread_and_address() {
    needs_toolchain!();
    for (argument, thread) in [("null", "'main'"), ("thread-null", "'worker'")] {
        let ran = run(&["--threads", "4", "--heap", "16m"], "endings", &[argument], b"");
        assert_eq!(ran.code, Some(139), "{ran:?}");
        let told = if support::device().starts_with("sim") {
            format!("error: a fault ended the program: thread {thread} in `endings::")
        } else {
            // A GPU tells neither.
            "error: a fault ended the program: ".into()
        };
        assert!(ran.stderr.contains(&told), "{ran:?}");
        if support::device().starts_with("sim") {
            assert!(ran.stderr.contains(": access to address 0x8, where there is no memory: a null pointer\n"), "{ran:?}");
        }
    }
}

#[test]
fn calls_within_calls_go_as_deep_as_the_stack() {
    needs_toolchain!();
    let recursion = |arguments: &[&str]| run(&["--threads", "4", "--stack", "32m"], "recursion", arguments, b"");
    let deep = |arguments: &[&str]| recursion(arguments).succeeded().text();
    assert_eq!(deep(&["direct", "20000"]), "at the bottom of main\n(200010000, 5, 2535301200456458802993406410766)\n");
    assert_eq!(deep(&["pointers", "20000"]), "at the bottom of main\n20000\n20000 dropped\n");
    assert_eq!(deep(&["threads", "5000"]), "at the bottom of a thread\n".repeat(3) + "[12502501, 12507502, 12512504]\n");
    let ran = recursion(&["exit", "20000"]);
    assert_eq!((ran.code, &*ran.text()), (Some(7), "the end, deep down\n"), "{ran:?}");
    let ran = recursion(&["endless"]);
    // AMD's runtime says only that the device is lost.
    let code = if support::device().starts_with("hsa") { 139 } else { 134 };
    assert!(ran.code == Some(code) && ran.stderr.contains("stack overflow") && ran.stderr.contains("--stack"), "{ran:?}");
}

#[test]
fn tests_run_on_the_device_and_one_that_fails_ends_no_other() {
    needs_toolchain!();
    let all_pass = output(hostcall("test", &[], "tested", &[]), b"").succeeded().text();
    assert!(all_pass.contains("3 passed; 0 failed; 4 ignored"), "{all_pass}");
    let ran = output(hostcall("test", &["--timeout", "20"], "tested", &["--include-ignored", "--skip", "hangs"]), b"");
    let text = ran.text();
    assert_eq!(ran.code, Some(101), "{ran:?}");
    for failed in ["fails", "aborts", "panics_with_other_words"] {
        assert!(text.contains(&format!("\n    tests::{failed}\n")), "{failed}: {text}");
    }
    assert!(text.contains("3 passed; 3 failed; 0 ignored; 0 measured; 1 filtered out"), "{text}");
    assert!(text.contains("arithmetic") && !text.contains("seen only when asked for"), "{text}");
    let ran = output(hostcall("test", &["--timeout", "2"], "tested", &["--ignored", "hangs"]), b"");
    assert!(ran.code == Some(101) && ran.text().contains("timed out after 2s"), "{ran:?}");
}

#[test]
fn a_program_that_does_not_end_is_ended() {
    needs_toolchain!();
    // Built before, so that the time is the program's.
    run(&[], "endings", &["code", "0"], b"").succeeded();
    let ran = run(&["--timeout", "1"], "endings", &["forever"], b"");
    assert_eq!(ran.code, Some(124), "{ran:?}");
}

#[test]
fn a_program_sees_its_arguments_the_variables_it_was_given_and_the_time() {
    needs_toolchain!();
    let ran = run(&["--env", "B=2", "--env", "A=ä = 1", "--threads", "9"], "surroundings", &["x", "", "y z"], b"").succeeded();
    let text = ran.text();
    assert!(
        text.starts_with("arguments [\"x\", \"\", \"y z\"]\nvariables [(\"A\", \"ä = 1\"), (\"B\", \"2\")]\nmissing Err(NotPresent)\n"),
        "{text}"
    );
    assert!(text.ends_with("parallelism 4\n"), "{text}");
    let seconds: u64 = text.lines().find_map(|line| line.strip_prefix("seconds ")).and_then(|n| n.parse().ok()).expect("the time");
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970").as_secs();
    assert!((now - 600..=now).contains(&seconds), "{seconds}");
}

#[test]
fn arguments_and_variables_may_be_longer_than_what_a_call_carries() {
    needs_toolchain!();
    let long = "long ".repeat(20_000);
    let ran = run(&["--env", &format!("LONG={long}"), "--env", "Z=z"], "surroundings", &[&long, "after"], b"").succeeded();
    let expected = format!("arguments [{long:?}, \"after\"]\nvariables [(\"LONG\", {long:?}), (\"Z\", \"z\")]\n");
    assert!(ran.text().starts_with(&expected), "{} bytes", ran.text().len());
}

#[test]
fn what_c_prints_is_what_it_prints_on_this_machine() {
    needs_toolchain!();
    let here = on_this_machine(std::path::Path::new("."), "printed", &[], b"");
    assert_eq!(run(&[], "printed", &[], b"").succeeded().text(), here.text());
}

#[test]
fn standard_streams_are_what_whoever_started_the_program_made_them() {
    use std::fs::File;
    use std::process::Stdio;
    needs_toolchain!();
    let dir = tempfile::tempdir().expect("a directory");
    let (input, left) = (dir.path().join("input"), dir.path().join("left"));
    let text = "some text of a file\n".repeat(5000);
    std::fs::write(&input, &text).expect("written");
    on_this_machine(dir.path(), "streams", &["look"], b"");
    let native = || {
        let built = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| support::programs().join("target"), Into::into).join("debug");
        let here = support::bundle().map_or(built, |bundle| bundle.join("programs/here"));
        std::process::Command::new(here.join("streams"))
    };
    let device = |options: &[&str]| {
        let mut command = hostcall("run", options, "streams", &[]);
        command.current_dir(support::programs());
        command
    };
    device(&[]).arg("look").output().expect("built");
    // A file, a pipe, and nothing.
    let inputs: [fn(&std::path::Path) -> Stdio; 2] = [|input| File::open(input).expect("it is there").into(), |_| Stdio::null()];
    for stdin in inputs {
        let [here, there] = [native(), device(&[])].map(|mut command| {
            let output = command.arg("look").stdin(stdin(&input)).output().expect("it starts");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8_lossy(&output.stdout).into_owned()
        });
        assert_eq!(there, here);
    }
    assert_eq!(run(&[], "streams", &["look"], b"by a pipe").succeeded().text(), "a pipe, a pipe, a pipe\n\"by a pipe\"\n");
    // The cursor is shared with whoever started the program, output may be the input, and a copy goes from file to
    // file.
    let mut file = File::open(&input).expect("it is there");
    let mut command = device(&["--dir", &format!("{}::/", dir.path().display())]);
    let output = command.args(["copy", "left"]).stdin(file.try_clone().expect("a second")).output().expect("it starts");
    assert_eq!(String::from_utf8_lossy(&output.stdout), format!("{} bytes\n", text.len()), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(std::fs::read_to_string(&left).expect("copied"), text);
    assert_eq!(std::io::Seek::stream_position(&mut file).expect("it has a place"), text.len() as u64);
    // What is copied to standard output comes, whether that is a file or a pipe.
    let shown = dir.path().join("shown");
    let grant = format!("{}::/", dir.path().display());
    let status = device(&["--dir", &grant]).args(["show", "left"]).stdout(File::create(&shown).expect("made")).status();
    assert!(status.expect("it starts").success());
    assert_eq!(std::fs::read_to_string(&shown).expect("read"), text);
    assert_eq!(run(&["--dir", &grant], "streams", &["show", "left"], b"").succeeded().text(), text);
    let both = || File::options().read(true).append(true).open(&input).expect("it is there");
    device(&[]).arg("look").stdin(both()).stdout(both()).status().expect("it starts");
    let added = std::fs::read_to_string(&input).expect("read").split_off(text.len());
    assert!(added.starts_with("a file, a file, ") && added.contains("output is the input: true"), "{added}");
    assert_eq!(run(&["--timeout", "60"], "streams", &["room"], b"").succeeded().text(), "all came\n");
    // Nobody reads: as by SIGPIPE, which the program has asked for.
    let mut child = device(&[]).arg("pipe").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).contains("Broken pipe")), (Some(141), false), "{output:?}");
}

#[test]
fn a_program_has_the_name_that_it_was_given() {
    needs_toolchain!();
    let ran = run(&["--argv0", "busy/box"], "surroundings", &["x"], b"").succeeded();
    assert!(ran.text().contains("\nname \"busy/box\"\n"), "{}", ran.text());
}

#[test]
fn a_program_starts_in_the_directory_that_it_was_told() {
    needs_toolchain!();
    let directory = |options: &[&str]| {
        let ran = run(options, "surroundings", &[], b"").succeeded();
        ran.text().lines().find(|line| line.starts_with("directory ")).map(str::to_owned)
    };
    assert_eq!(directory(&[]).as_deref(), Some("directory Ok(\"/\")"));
    assert_eq!(directory(&["--cwd", "a/./b/"]).as_deref(), Some("directory Ok(\"/a/b\")"));
    // Its relative paths begin there, and those of a program that goes on from there as well.
    let (there, here) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    for dir in [&there, &here] {
        std::fs::create_dir(dir.path().join("w")).expect("made");
    }
    let grant = format!("{}::/deep/w", there.path().join("w").display());
    let ran = run(&["--dir", &grant, "--cwd", "/deep"], "unixfs", &["w"], b"").succeeded();
    assert_eq!(ran.text(), on_this_machine(here.path(), "unixfs", &["w"], b"").text());
}

/// `cargo hostcall run --stream FILE` of `losses`, and what `stream stats` says of its `Loss`.
fn recorded(options: &[&str], values: &str, threads: &str) -> (support::Ran, serde_json::Value) {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("run.hcs");
    let file = file.to_str().expect("text");
    let ran = run(&[&["--stream", file], options].concat(), "losses", &[values, threads], b"").succeeded();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_cargo-hostcall"));
    if let Some(dir) = support::bundle() {
        command = std::process::Command::new(dir.join("cargo-hostcall"));
    }
    command.args(["hostcall", "stream", "stats", "--json", file]);
    let stats: serde_json::Value = serde_json::from_slice(&output(command, b"").succeeded().stdout).expect("JSON");
    (ran, stats)
}

fn row<'a>(stats: &'a serde_json::Value, table: &str, column: &str, name: &str) -> &'a serde_json::Value {
    let rows = stats["tables"][table].as_array().expect("rows");
    rows.iter().find(|row| row["stream"] == "Loss" && row[column] == name).unwrap_or_else(|| panic!("no {name} in {stats}"))
}

#[test]
fn a_million_messages_of_a_programs_threads_are_recorded_each_once() {
    needs_toolchain!();
    let (ran, stats) = recorded(&[], "1000003", "3");
    assert_eq!(ran.text(), "1000003 values sent by 4 threads\n");
    assert_eq!(row(&stats, "streams", "stream", "Loss")["values"], 1_000_003, "{stats}");
    // Steps of each thread from 0 on, each once: their sum, by the mean, and the greatest.
    let step = row(&stats, "fields", "field", "step");
    assert_eq!((&step["numbers"], &step["least"], &step["greatest"]), (&1_000_003.into(), &0.0.into(), &250_000.0.into()));
    let sum: u64 = [250_001u64, 250_001, 250_001, 250_000].iter().map(|count| count * (count - 1) / 2).sum();
    let mean = step["mean"].as_f64().expect("a number");
    assert!((mean * 1_000_003.0 / sum as f64 - 1.0).abs() < 1e-9, "{step}");
    assert_eq!(
        (&row(&stats, "fields", "field", "thread")["least"], &row(&stats, "fields", "field", "thread")["greatest"]),
        (&0.0.into(), &3.0.into())
    );
}

#[test]
fn a_programs_messages_are_dropped_where_that_is_wanted_and_counted() {
    needs_toolchain!();
    let (ran, stats) = recorded(&["--stream-policy", "drop", "--stream-memory", "64k"], "100000", "3");
    // A thread stops at the first that is dropped.
    let sent: u64 = ran.text().split_whitespace().next().and_then(|word| word.parse().ok()).expect("a count");
    assert_eq!(row(&stats, "streams", "stream", "Loss")["values"].as_u64(), Some(sent), "{stats}");
}

#[test]
fn a_program_without_a_recording_sends_nothing_and_a_policy_without_one_is_refused() {
    needs_toolchain!();
    assert_eq!(run(&[], "losses", &["1000", "1"], b"").succeeded().text(), "0 values sent by 2 threads\n");
    let ran = run(&["--stream-policy", "drop"], "losses", &[], b"");
    assert!(ran.code == Some(2) && ran.stderr.contains("--stream <TARGET>"), "{ran:?}");
    let dir = tempfile::tempdir().expect("a directory");
    let nowhere = dir.path().join("not/there.hcs");
    let ran = run(&["--stream", nowhere.to_str().expect("text")], "losses", &[], b"");
    assert!(ran.code == Some(1) && ran.stderr.contains("there.hcs"), "{ran:?}");
}
