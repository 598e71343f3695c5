//! How much stack handlers have, wherever they run, and what is said when it was not enough.
#![cfg(target_os = "linux")]

mod common;

use common::serve;
use hostcall::test_utils::fixed_service;
use hostcall::{Server, ServerBuilder, Service};

/// Uses so many KiB of the calling thread's stack.
#[inline(never)]
fn deep(kib: u32) -> u32 {
    let page = std::hint::black_box([1u8; 16 << 10]);
    if kib <= 16 { u32::from(page[0]) } else { u32::from(page[7]) + deep(kib - 16) }
}

fn pages(builder: ServerBuilder, refine: fn(Service) -> Service, kib: u32) -> Option<u32> {
    let s = serve(builder.service(refine(fixed_service("Deep__down", deep))));
    s.device.wave(0).call(1, &[kib]).ok().map(|units| units[0])
}

const EACH: [fn(Service) -> Service; 3] = [|inline| inline, Service::blocking, Service::blocking_if_needed];

#[test]
fn handlers_have_as_much_stack_as_a_main_thread() {
    for refine in EACH {
        assert_eq!(pages(Server::without_device(), refine, 7 << 10), Some((7 << 10) / 16));
    }
}

#[test]
fn handlers_have_as_much_stack_as_the_builder_says() {
    for refine in EACH {
        assert_eq!(pages(Server::without_device().handler_stack(40 << 20), refine, 36 << 10), Some((36 << 10) / 16));
    }
}

/// Set for the child process, which does not come back.
const CHILD: &str = "HOSTCALL_TEST_OVERFLOWS";

#[test]
fn an_overflow_names_the_service_whose_handler_it_was() {
    for (kind, refine) in ["inline", "blocking"].into_iter().zip(EACH) {
        if std::env::var(CHILD).as_deref() == Ok(kind) {
            // As a host in C has it, which has no handler of Rust's.
            // SAFETY: a signal that exists, and its default.
            unsafe { libc::signal(libc::SIGSEGV, libc::SIG_DFL) };
            pages(Server::without_device(), refine, u32::MAX);
            unreachable!("there is not so much memory");
        }
        let test = std::thread::current().name().unwrap().to_owned();
        let child = common::this_program().args(["--exact", &test, "--nocapture"]).env(CHILD, kind).output().unwrap();
        let text = String::from_utf8_lossy(&child.stderr);
        assert!(!child.status.success());
        assert!(text.contains("the handler of service `Deep__down` needs more stack"), "{kind}: {text}");
    }
}

/// Sources of this crate in which a thread is made without `offload::host`, and what runs there: nothing of the
/// application's.
const OTHERS: [(&str, &str); 2] =
    [("src/builtin/standard/reactor/mod.rs", "waits for descriptors"), ("src/record/trace.rs", "writes spans to a file")];

#[test]
fn threads_that_run_code_of_the_application_are_made_by_one_function() {
    fn sources(dir: &std::path::Path, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                sources(&path, found);
            } else if std::fs::read_to_string(&path).is_ok_and(|text| text.contains("thread::Builder::new()")) {
                found.push(path.display().to_string());
            }
        }
    }
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/");
    let mut found = Vec::new();
    sources(&std::path::Path::new(root).join("src"), &mut found);
    found.sort();
    let known: Vec<_> = OTHERS.iter().map(|(file, _)| format!("{root}{file}")).collect();
    assert_eq!(found, known);
}
