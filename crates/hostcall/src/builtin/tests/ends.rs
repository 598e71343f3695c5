//! The ends of lanes and of kernels.

use super::*;

#[test]
fn a_panic_is_reported_with_its_place_and_ends_the_kernel() {
    let world = World::new();
    let panicked = args().with([1u32, 2, 3]).with([4u32, 5, 6]).with(7u64).with([11u32, 5]).text("src/lib.rs").text("boom");
    world.call::<()>("Process__panicked", &panicked);
    let report = world.report.take();
    let panic = &report.panics[0];
    assert_eq!((panic.file.as_str(), panic.line, panic.block, panic.thread), ("src/lib.rs", 11, [1, 2, 3], [4, 5, 6]));
    assert_eq!((panic.message.as_str(), panic.lanes), ("boom", 3));
    let site = hostcall_abi::failure::FailureSite::new("kernel `demo` failed", std::panic::Location::caller());
    let failed = args().with([1u32, 2, 3]).with([4u32, 5, 6]).with(1u64).with(0u32).with([4u64, 0, 0]).with(site.units);
    world.call_out::<()>("Process__failed", &failed, false).unwrap();
    let report = world.report.take();
    let panic = &report.panics[0];
    assert_eq!((panic.file.as_str(), panic.line, panic.block, panic.thread), (file!(), site.units[0], [1, 2, 3], [4, 5, 6]));
    assert_eq!(panic.message, format!("kernel `demo` failed: {}", CallError::HandlerPanicked));
    world.call::<()>("Process__exit", &args().with(-3i32));
    assert_eq!(world.report.take().exit_code(), Some(-3));
    world.call::<()>("Process__abort", &args().with([0u32; 3]).with([0u32; 3]));
    assert!(!world.report.take().is_success());
}

#[test]
fn a_check_that_failed_is_told_with_its_lanes_and_ends_nothing_else() {
    let world = World::new();
    let place = [1u32, 2, 3, 4, 5, 6, 0xf0, 1, 12, 0];
    let asserted = args().with(place).text("a.cu").text("ok").text("").text("row %d").text("").text("").text("f");
    for _ in 0..2 {
        world.call_out::<()>("Process__asserted", &asserted, false).unwrap();
    }
    assert!(!world.report.is_ended());
    let report = world.report.take();
    let [panic] = &report.panics[..] else { panic!("{report}") };
    assert_eq!((panic.file.as_str(), panic.line, panic.block, panic.thread, panic.lanes), ("a.cu", 12, [1, 2, 3], [4, 5, 6], 10));
    assert!(panic.message.starts_with("assertion `ok` failed: row %d (printf: there is no value for `%d`"), "{report}");
}
