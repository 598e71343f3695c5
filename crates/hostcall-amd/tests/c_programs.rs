//! C and C++ programs over the library, and what ends a process.

mod common;

use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::Command;

use common::{Language, command, folder, program};
use hostcall_test_support::{built, succeed, text};

fn source(name: &str) -> PathBuf {
    folder().join("tests/c").join(name)
}

const BOTH: [Language; 2] = [Language::C11, Language::Cpp17];

#[test]
fn c_and_cpp_programs_fill_packets_and_call_every_function_of_v1() {
    let folder = tempfile::tempdir().unwrap();
    for language in BOTH {
        let output = succeed(&mut command(&program(folder.path(), &source("suite.c"), language)));
        assert_eq!(text(&output.stdout), "passed\n");
        assert!(text(&output.stderr).starts_with("hostcall: a kernel asked to call 0x"), "{output:?}");
    }
}

/// What `v0.c` asks for in vain, as functions without a result tell it.
fn nothings() -> String {
    let null = "AMD_HOSTCALL_ERROR_NULLPTR: a pointer is null";
    let invalid = "AMD_HOSTCALL_ERROR_INVALID_REQUEST: no such consumer, or another consumer serves the buffer";
    let odd = "AMD_HOSTCALL_ERROR_INCORRECT_ALIGNMENT: the buffer's address is no multiple of 8";
    let told = [
        ("destroy_consumer", null),
        ("destroy_consumer", invalid),
        ("register_service", null),
        ("register_service", invalid),
        ("register_service", null),
        ("register_buffer", null),
        ("register_buffer", null),
        ("register_buffer", odd),
        ("register_buffer", invalid),
    ];
    told.map(|(function, why)| format!("hostcall: amd_hostcall_{function} of v0 did nothing: {why}\n")).concat()
}

#[test]
fn programs_of_v0_have_services_of_their_own_consumers() {
    let folder = tempfile::tempdir().unwrap();
    for language in BOTH {
        let v0 = program(folder.path(), &source("v0.c"), language);
        let output = succeed(&mut command(&v0));
        assert_eq!((text(&output.stdout), text(&output.stderr)), ("passed\n".into(), nothings()));
        // The other consumer has no default handler, and no error handler.
        let output = command(&v0).arg("end").output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        assert_eq!(text(&output.stderr), nothings() + "\nhostcall fatal error: no handler found for service 77\n");
        assert_eq!(text(&output.stdout), "");
    }
}

/// A run of `faults.c`: its code, and what it wrote.
fn fault(what: &str, environment: &[(&str, &str)]) -> (Option<i32>, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let faults = program(folder.path(), &source("faults.c"), Language::C11);
    let output = command(&faults).arg(what).envs(environment.iter().copied()).output().unwrap();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

const UNKNOWN: &str = "\nhostcall fatal error: no handler found for service 4711\n";
const FAILURE: &str = "\nhostcall fatal error: handler for service 60 returned failure\nAMD_HOSTCALL_ERROR_UNKNOWN(-7)\n";

#[test]
fn a_service_without_a_handler_ends_the_process_with_amd_s_message() {
    assert_eq!(fault("unknown", &[]), (Some(1), String::new(), UNKNOWN.into()));
    let (code, told, message) = fault("unknown, told", &[]);
    assert_eq!((code, &*told, &*message), (Some(1), "told: 5 with its state\n", UNKNOWN));
}

#[test]
fn a_handler_that_fails_ends_the_process_with_amd_s_message() {
    assert_eq!(fault("fails", &[]), (Some(1), String::new(), FAILURE.into()));
    assert_eq!(fault("fails, told", &[]), (Some(1), "told: -7 with its state\n".into(), FAILURE.into()));
}

#[test]
fn a_user_who_wants_to_go_on_gets_refused_calls_instead() {
    let on = [("HOSTCALL_AMD_NO_HALT", "1")];
    assert_eq!(fault("unknown", &on), (Some(0), "refused: 1\n".into(), UNKNOWN.into()));
    assert_eq!(fault("fails", &on), (Some(0), "refused: 1\n".into(), FAILURE.into()));
}

#[test]
fn unchecked_function_calls_are_amd_s_and_only_by_wish() {
    let (code, output, message) = fault("unchecked", &[]);
    assert_eq!((code, output.starts_with("refused: 1")), (Some(0), true), "{output}{message}");
    assert_eq!(fault("unchecked", &[("HOSTCALL_AMD_UNCHECKED", "1")]).1, "refused: 0, result 9\n");
    assert!(fault("unchecked", &[("HOSTCALL_AMD_UNCHECKED", "0")]).1.starts_with("refused: 1"));
}

#[test]
fn a_handler_that_never_ends_is_reported_and_its_wave_goes_on() {
    let (code, output, message) = fault("for ever", &[("HOSTCALL_AMD_DRAIN_MS", "50")]);
    assert_eq!((code, &*output), (Some(0), "its wave was refused\n"), "{message}");
}

#[test]
fn a_buffer_under_a_handler_that_never_ends_can_be_deregistered_and_others_are_served() {
    let (code, output, message) = fault("deregister", &[("HOSTCALL_AMD_DRAIN_MS", "50")]);
    assert_eq!((code, &*output), (Some(0), "its wave was refused, and the consumer goes on\n"), "{message}");
}

/// A run of `stack.c`: its exit code, its signal, and what it wrote.
fn stack(arguments: &[&str]) -> (Option<i32>, Option<i32>, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let stack = program(folder.path(), &source("stack.c"), Language::C11);
    let output = command(&stack).args(arguments).output().unwrap();
    (output.status.code(), output.status.signal(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn a_handler_may_use_as_much_stack_as_the_main_thread_whatever_the_program_s_variables_of_threads_take() {
    assert_eq!(stack(&["deep"]), (Some(0), None, "42\n".into(), String::new()));
}

#[test]
fn a_handler_that_uses_up_its_stack_is_named_and_the_process_ends_as_it_would() {
    for how in ["over", "leap"] {
        let (code, signal, output, message) = stack(&[how]);
        assert_eq!((code, signal, &*output), (None, Some(libc::SIGSEGV), ""), "{how}: {message}");
        assert!(message.starts_with("hostcall: the handler of service 77 has used up its stack of "), "{how}: {message}");
        assert!(message.ends_with(" KiB; `ulimit -s` or HOSTCALL_AMD_STACK_KB=KIB gives it more\n"), "{how}: {message}");
        // What the program does with the signal comes behind.
        let (code, _, _, message) = stack(&[how, "own"]);
        assert!(code == Some(7) && message.ends_with("more\nthe program's own handler\n"), "{how}: {message}");
    }
}

#[test]
fn a_fault_that_is_no_handler_s_is_the_program_s_alone() {
    assert_eq!(stack(&["null"]), (None, Some(libc::SIGSEGV), String::new(), String::new()));
    assert_eq!(stack(&["null", "own"]), (Some(7), None, String::new(), "the program's own handler\n".into()));
}

#[test]
fn texts_memory_and_reports_of_rocm_s_device_libraries_have_ready_handlers() {
    let folder = tempfile::tempdir().unwrap();
    let rocm = program(folder.path(), &source("rocm.c"), Language::C11);
    let dropped =
        "hostcall: a text of a kernel's printf is dropped: it has more than 64 KiB, or it was never begun, or too many never end\n";
    let report = "hostcall: address sanitizer of a kernel: invalid write of 4 bytes at 0xabc, workgroup (1, 2, 3)\n\
                  hostcall:   address 0x1000 in lane 0 of wave 9\nhostcall:   address 0x1001 in lane 1 of wave 9\n";
    let texts = "before\na lane has 42 and 0.50, in a format that takes more than one call to send\nafter\n";
    let output = succeed(&mut command(&rocm));
    assert_eq!(text(&output.stdout), format!("{texts}passed\n"));
    assert_eq!(text(&output.stderr), format!("on standard error\n{dropped}{report}"));
    // A kernel that was not compiled to recover.
    let output = command(&rocm).arg("end").output().unwrap();
    let failure = "\nhostcall fatal error: handler for service 4 returned failure\nAMD_HOSTCALL_INTERNAL_ERROR(8)\n";
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&output.stderr), format!("on standard error\n{dropped}{report}{failure}"));
    assert!(text(&output.stdout).starts_with("before\na lane has 42"), "what a kernel has said is there: {output:?}");
}

/// What a program said, unless it said why it skipped.
fn said<'a>(output: &'a str, expected: &str) -> Option<&'a str> {
    if output.starts_with("skipped: ") {
        println!("{}", output.trim());
        return None;
    }
    assert_eq!(output.trim_end(), expected);
    Some(output)
}

#[test]
fn a_consumer_for_which_the_system_has_no_thread_is_not_launched_and_may_try_again() {
    let (code, output, message) = fault("no threads", &[]);
    assert_eq!((code, &*message), (Some(0), ""), "{output}");
    said(&output, "no thread, then served");
}

#[test]
fn a_process_has_1024_doorbells_and_the_next_consumer_is_an_error() {
    let (code, output, message) = fault("many consumers", &[]);
    let told = "hostcall: amd_hostcall_create_consumer of v0 did nothing: AMD_HOSTCALL_INTERNAL_ERROR: a handler goes on, or no doorbell can be \
                had: a process has 1024\n";
    assert_eq!((code, &*output, &*message), (Some(0), "1024, and no more\n", told));
}

#[test]
fn a_priority_that_the_system_refuses_is_told_once_and_the_packets_are_served() {
    let (code, output, message) = fault("nice", &[("HOSTCALL_AMD_NICE", "-20")]);
    assert_eq!(code, Some(0), "{output}{message}");
    if said(&output, "").is_some() {
        let told =
            "hostcall: HOSTCALL_AMD_NICE=-20 is refused by the system, which gives that to root, to CAP_SYS_NICE, or by `ulimit -e`\n";
        assert_eq!(message, told);
    }
}

#[test]
fn an_exception_that_leaves_a_handler_in_cpp_ends_the_process() {
    let folder = tempfile::tempdir().unwrap();
    let throws = program(folder.path(), &source("throws.cpp"), Language::Cpp17);
    let output = command(&throws).output().unwrap();
    assert_eq!(text(&output.stdout), "one that is caught inside: 1\n");
    assert_eq!(output.status.signal(), Some(libc::SIGABRT), "{output:?}");
    assert!(text(&output.stderr).contains("Rust cannot catch foreign exceptions"), "{output:?}");
}

#[test]
fn debug_messages_tell_each_packet() {
    let (code, output, message) = fault("debug", &[]);
    assert_eq!((code, &*message), (Some(0), ""));
    assert_eq!(output.lines().collect::<Vec<_>>(), ["hostcall: packet 7: service 61, lanes 0x0000000000000001"]);
    assert_eq!(fault("", &[]).1, "");
}

#[test]
fn a_forked_child_has_no_consumers_of_its_parent_and_may_have_its_own() {
    let (code, output, message) = fault("fork", &[]);
    assert_eq!((code, &*output), (Some(0), "passed\n"), "{message}");
}

#[test]
fn the_example_prints_what_the_page_says() {
    let to = tempfile::tempdir().unwrap();
    let example = program(to.path(), &folder().join("../../examples/amd-packets/add_one.c"), Language::C11);
    assert_eq!(text(&succeed(&mut command(&example)).stdout), "42\n");
}

/// Where `hsa-on-sim` was built, built here if it was not.
fn stand_in() -> PathBuf {
    let files = built("hsa-on-sim", &["--lib"]);
    files.into_iter().find(|file| file.extension().is_some_and(|found| found == "so")).expect("a shared library")
}

#[test]
fn signals_of_amd_s_runtime_are_the_doorbells_where_it_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let suite = program(folder.path(), &source("suite.c"), Language::C11);
    let mut run = command(&suite);
    run.env_remove("HOSTCALL_AMD_DOORBELL").env("HOSTCALL_HSA_LIBRARY", stand_in());
    assert_eq!(text(&succeed(&mut run).stdout), "passed\n");
}

#[test]
fn a_program_that_rings_by_hsa_itself_is_served() {
    let folder = tempfile::tempdir().unwrap();
    let stand_in = stand_in();
    let rings = folder.path().join("rings");
    let mut compile = Command::new(std::env::var("CC").unwrap_or_else(|_| "cc".into()));
    compile.args(["-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O1", "-pthread", "-I"]);
    compile.arg(common::folder().join("include")).arg(source("rings.c")).arg(common::shared()).arg(&stand_in);
    for library in [common::shared(), &stand_in] {
        compile.arg(format!("-Wl,-rpath,{}", library.parent().unwrap().display()));
    }
    succeed(compile.arg("-o").arg(&rings));
    // The runtime is in the process: nothing tells the library where it is.
    let mut run = command(&rings);
    run.env_remove("HOSTCALL_AMD_DOORBELL");
    assert_eq!(text(&succeed(&mut run).stdout), "passed\n");
}
