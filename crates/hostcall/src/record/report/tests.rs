//! What is kept, what is counted, and what a flood costs.

use std::sync::atomic::AtomicUsize;

use super::*;

fn panic_at(line: u32) -> DevicePanic {
    DevicePanic {
        program: String::new(),
        message: "no".into(),
        file: "src/lib.rs".into(),
        line,
        block: [1, 0, 0],
        thread: [2, 0, 0],
        lanes: 1,
    }
}

#[test]
fn a_report_ends_the_buffer_until_it_is_taken() {
    let report = Report::default();
    report.exited(0);
    assert!(report.is_ended());
    let taken = report.take();
    assert!(taken.is_success() && taken.exit_code() == Some(0) && !report.is_ended());
}

#[test]
fn too_many_different_entries_are_counted_not_kept() {
    let report = Report::default();
    (0..100).for_each(|i| report.handler_failed("s", i, "no"));
    (0..100).for_each(|line| report.device_panicked(panic_at(line)));
    (0..100).for_each(|code| report.exited(code));
    let taken = report.take();
    assert_eq!((taken.handler_failures.len(), taken.panics.len(), taken.exits.len()), (64, 64, 64));
    assert_eq!((taken.omitted, taken.is_success()), (3 * 36, false));
    report.exited(7);
    assert_eq!((report.take().exits, report.take().omitted), (vec![7], 0), "there is room again");
}

#[test]
fn failures_that_are_alike_are_one_entry_with_the_number_of_lanes() {
    let report = Report::default();
    (0..1000).for_each(|i| report.handler_failed("reader", 5, if i % 4 == 0 { "no such book" } else { "no light" }));
    (0..3).for_each(|_| report.handler_panicked("reader", "out of tea (at shop.rs:3:1)", || Arc::new(Backtrace::disabled())));
    let taken = report.take();
    let told = "handler of reader panicked in 3 lanes: out of tea (at shop.rs:3:1)\nhandler of reader failed in 250 lanes with code 5: no such \
                book\nhandler of reader failed in 750 lanes with code 5: no light";
    assert_eq!(taken.to_string(), told);
    assert_eq!((taken.handler_failures.len(), taken.handler_failures[1].lanes, taken.omitted), (2, 750, 0));
}

#[test]
fn failures_that_differ_by_their_codes_are_one_line() {
    let report = Report::default();
    (0..32).for_each(|i| report.handler_failed("picky", 10 + i, "odd"));
    assert_eq!(report.take().to_string(), "handler of picky failed in 32 lanes with codes 10, 11, 12, 13 and 28 others: odd");
    (0..2).for_each(|i| report.handler_failed("picky", i, "odd"));
    assert_eq!(report.take().to_string(), "handler of picky failed in 2 lanes with codes 0 and 1: odd");
    report.handler_failed("picky", 3, "odd");
    assert_eq!(report.take().to_string(), "handler of picky failed with code 3: odd");
    assert_eq!(report.take().to_string(), "nothing to report");
}

/// A text that counts how often somebody wants it in memory of its own. (Hashing formats it too, but into a hasher.)
struct Costly<'a>(&'a AtomicUsize, usize);

impl fmt::Display for Costly<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fetch_add(1, Ordering::Relaxed);
        write!(f, "message {}", self.1)
    }
}

#[test]
fn a_flood_of_failures_waits_for_no_lock_and_makes_no_entries() {
    let report = Report::default();
    (0..KEEP).for_each(|i| report.handler_failed("s", 0, Costly(&AtomicUsize::new(0), i)));
    (0..KEEP as u32).for_each(|i| report.device_panicked(panic_at(i)));
    (0..KEEP as i32).for_each(|i| report.exited(i));
    (0..KEEP).for_each(|i| report.handler_panicked("s", &i.to_string(), || Arc::new(Backtrace::disabled())));
    let formatted = AtomicUsize::new(0);
    {
        // Whoever wanted the lock now would wait for ever.
        let _held = report.lock();
        for i in 0..1000 {
            report.handler_failed("s", 0, Costly(&formatted, i));
            report.handler_panicked("s", &i.to_string(), || unreachable!("no backtrace is asked for"));
            report.device_panicked_with(|| unreachable!("no panic is put together"));
            report.exited(1);
            report.malformed();
        }
    }
    assert_eq!(formatted.load(Ordering::Relaxed), 1000, "hashed once each, and never kept");
    let taken = report.take();
    assert_eq!(taken.malformed, 1000);
    let failed: u64 = taken.handler_failures.iter().map(|failure| failure.lanes).sum();
    let panicked: u64 = taken.handler_panics.iter().map(|panic| panic.lanes).sum();
    assert_eq!((failed, panicked), (2 * KEEP as u64, 2 * KEEP as u64), "what was known is counted");
    assert_eq!(taken.omitted, 2 * (1000 - KEEP as u64) + 2000);
}

#[test]
fn lanes_of_many_threads_are_each_counted_once_while_the_report_is_taken() {
    let report = Report::default();
    let (threads, lanes) = (4, 5_000);
    let mut total = KernelReport::default();
    std::thread::scope(|scope| {
        let flooding: Vec<_> =
            (0..threads).map(|_| scope.spawn(|| (0..lanes).for_each(|i| report.handler_failed("s", i % 3, "no")))).collect();
        while flooding.iter().any(|thread| !thread.is_finished()) {
            total.absorb(report.take());
        }
    });
    total.absorb(report.take());
    let counted: u64 = total.handler_failures.iter().map(|failure| failure.lanes).sum();
    assert_eq!((total.handler_failures.len(), counted, total.omitted), (3, u64::from(threads * lanes), 0));
}

#[test]
fn a_panic_names_the_program_that_uses_the_buffer() {
    let report = Report::default();
    report.used_by("add42");
    report.device_panicked(panic_at(88));
    report.used_by("add42");
    report.used_by("wordcount");
    report.device_panicked(panic_at(89));
    let told = report.take().to_string();
    let [one, two] = ["`add42` panicked at src/lib.rs:88", "`add42` or `wordcount` panicked at src/lib.rs:89"]
        .map(|text| format!("kernel of program {text} in block (1, 0, 0) thread (2, 0, 0): no"));
    assert_eq!(told, format!("{one}\n{two}"));
}

#[test]
fn reports_of_several_buffers_are_joined_and_stay_bounded() {
    let mut all = KernelReport::default();
    for i in 0..2 * KEEP_OF_ALL as u32 / KEEP as u32 {
        let report = Report::default();
        (0..KEEP as u32).for_each(|j| report.handler_failed("s", i * KEEP as u32 + j, "no"));
        report.handler_failed("common", 1, "no");
        all.absorb(report.take());
    }
    assert_eq!(all.handler_failures.len(), KEEP_OF_ALL);
    assert!(all.omitted >= KEEP_OF_ALL as u64);
}

#[test]
fn what_devices_and_handlers_say_steers_no_terminal() {
    let (title, steers) = ("\x1b]0;mine\x07", "one\n  two\t\u{202e}\x1b[2J");
    let mut report = KernelReport::nothing();
    report.panics.push(DevicePanic { program: title.into(), message: steers.into(), file: title.into(), ..panic_at(1) });
    report.handler_failures.push(HandlerFailure { service: title.into(), code: 1, message: steers.into(), lanes: 1 });
    let backtrace = Arc::new(Backtrace::disabled());
    report.handler_panics.push(HandlerPanic { service: title.into(), message: steers.into(), backtrace, lanes: 1 });
    report.unknown_services.push(UnknownService { service: title.into(), calls: 1, posts: 0 });
    let told = report.to_string();
    assert!(!told.contains(|c: char| c != '\n' && c != '\t' && (c.is_control() || c == '\u{202e}')), "{told:?}");
    assert_eq!((told.matches("\\u{1b}]0;mine\\u{7}").count(), told.matches("one\n  two\t\\u{202e}\\u{1b}[2J").count()), (5, 3), "{told}");
}

#[test]
fn checks_that_fail_are_one_entry_for_each_place_with_the_lanes_of_all_and_end_nothing() {
    let report = Report::default();
    report.used_by("lookup");
    for wave in 0..100u32 {
        let panic = || DevicePanic { block: [wave, 0, 0], message: format!("assertion failed in wave {wave}"), ..panic_at(7) };
        report.asserted(("a.cu", 7, "i < n"), 32, panic);
    }
    report.asserted(("a.cu", 7, "i > 0"), 3, || panic_at(7));
    assert!(!report.is_ended(), "other lanes' calls are served");
    let taken = report.take();
    let told: Vec<_> = taken.panics.iter().map(|panic| (panic.block[0], panic.lanes, &*panic.program)).collect();
    assert_eq!(told, [(0, 3200, "lookup"), (1, 3, "lookup")]);
    assert!(taken.to_string().starts_with(
        "kernel of program `lookup` panicked at src/lib.rs:7 in block (0, 0, 0) thread (2, 0, 0) and 3199 more lanes: assertion failed in wave 0\n"
    ));
    assert!(!taken.is_success());
    (0..=KEEP as u32).for_each(|line| report.asserted(("a.cu", line, ""), 8, || panic_at(line)));
    let taken = report.take();
    assert_eq!((taken.panics.len(), taken.omitted), (KEEP, 8), "what is not kept is counted by lanes");
}
