//! Programs in C and C++ against the library, on the simulator.

mod common;

use std::path::Path;
use std::process::Command;

use behaviours_services::{gate, typed};
use common::{C, CPP, Compiler, kernels, program, write_definitions};
use hostcall::Definition;
use hostcall_test_support::{succeed, text};

/// Compiles a program with each compiler that is there, and runs each.
fn with_each(compilers: &[Compiler], source: &str, run: impl Fn(&Path, &Path)) {
    let folder = tempfile::tempdir().unwrap();
    write_definitions(folder.path());
    let kernels = kernels(folder.path());
    for compiler in compilers {
        if compiler.is_usable() {
            run(&program(folder.path(), source, *compiler), &kernels);
        }
    }
}

/// All parts of a program say that they are right.
fn all_right(program: &Path, kernels: &Path, parts: usize) {
    let output = succeed(Command::new("timeout").arg("200").arg(program).arg(kernels));
    let said = text(&output.stdout);
    assert_eq!(said.lines().filter(|line| line.starts_with("ok ")).count(), parts, "{program:?}: {said}");
    assert_eq!(text(&output.stderr), "", "nothing prints");
}

#[test]
fn a_host_in_c() {
    with_each(&C, "calls.c", |program, kernels| all_right(program, kernels, 2 * 12));
    with_each(&C, "lives.c", |program, kernels| all_right(program, kernels, 2 * 8));
}

#[test]
fn a_host_in_cpp() {
    with_each(&CPP, "suite.cpp", |program, kernels| all_right(program, kernels, 9));
}

#[test]
fn a_host_in_c_by_generated_functions() {
    with_each(&C, "generated.c", |program, kernels| all_right(program, kernels, 2 * 3));
}

/// Runs a host whose kernel calls for as long as it is answered, with what it does then; what it said on its standard
/// error. The limit only ends a test that would hang.
fn ends(program: &Path, kernels: &Path, order: &str, said: &str) {
    let output = Command::new("timeout").arg("100").args([program, kernels]).arg(order).output().unwrap();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!((output.status.code(), &*out), (Some(0), said), "{program:?} {order}: {err}");
}

/// In which order handles go: detach, server, program, memory, device, and some of them never.
#[test]
fn a_host_in_c_whose_kernel_goes_on_calling_ends_whatever_it_gives_back_first() {
    with_each(&C, "endings.c", |program, kernels| {
        for order in ["", "s", "asd", "asdpm", "sad", "dasmp", "das", "d"] {
            ends(program, kernels, order, &format!("{order} ended\n"));
        }
    });
}

#[test]
fn a_host_in_cpp_whose_kernel_goes_on_calling_ends() {
    with_each(&CPP, "endings.cpp", |program, kernels| {
        ["leave", "stop"].into_iter().for_each(|order| ends(program, kernels, order, "ended\n"));
    });
}

#[test]
fn a_forked_child_of_a_host_in_c_is_refused_and_its_parent_goes_on() {
    with_each(&C, "forked.c", |program, kernels| all_right(program, kernels, 2 * 4));
}

/// The text is all that `HC_DEFINITION` has.
#[test]
fn the_text_of_a_definition_says_the_whole_of_it() {
    for definition in [
        typed::definition::add42(),
        typed::definition::large(),
        typed::definition::measure(),
        typed::definition::fill(),
        typed::definition::echo(),
        typed::definition::log(),
        gate::definition::held_back(),
    ] {
        let builder = Definition::builder(definition.name.as_ref()).structure("Large", 128).structure("Refused", 4);
        let builder = builder.function(&definition.text).expect("a definition says its function");
        assert_eq!(builder.build().as_ref(), Ok(&definition));
    }
}

#[test]
fn every_function_with_null_with_ended_handles_and_with_small_sizes_from_eight_threads() {
    with_each(&C, "faults.c", |program, kernels| all_right(program, kernels, 4));
}

/// AddressSanitizer in the program: it takes the place of `malloc` for the library too, so what handles own and nobody
/// gives back is found. (The library's own accesses are not looked at.)
#[test]
fn a_host_in_c_leaks_nothing() {
    const FLAG: &str = "-fsanitize=address";
    if common::sanitizer().is_some() {
        println!("skipped: the library's own sanitizer takes malloc's place");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("empty.c");
    std::fs::write(&empty, "int main(void) { return 0; }\n").unwrap();
    let links = Command::new(C[0].command).arg(FLAG).arg(&empty).arg("-o").arg(folder.path().join("empty")).output();
    if !links.is_ok_and(|output| output.status.success()) {
        println!("skipped: {} has no AddressSanitizer (Debian: libasan)", C[0].command);
        return;
    }
    write_definitions(folder.path());
    let kernels = kernels(folder.path());
    for (source, parts) in [("calls.c", 2 * 12), ("lives.c", 2 * 8), ("faults.c", 4), ("generated.c", 2 * 3)] {
        all_right(&common::program_with(folder.path(), source, C[0], &[FLAG]), &kernels, parts);
    }
}

/// The CUDA functions of a host with a context of its own. A kernel is a thread that calls as a lane does: there is no
/// GPU behind this driver. Nobody announces its launch, and launches wait for its end, or the host does.
#[test]
fn a_host_with_a_cuda_context_on_a_driver_without_a_gpu() {
    let folder = tempfile::tempdir().unwrap();
    write_definitions(folder.path());
    let Some(compiler) = C.into_iter().find(|compiler| compiler.is_usable()) else { return };
    let driver = folder.path().join("libcuda.so.1");
    let mut compile = Command::new(compiler.command);
    compile.args(["-std=c11", "-shared", "-fPIC", "-O1", "-Wl,-soname,libcuda.so.1"]);
    succeed(compile.arg(common::folder().join("tests/c/fake_cuda.c")).arg("-o").arg(&driver));
    let (driver, beside) = (driver.display().to_string(), format!("-Wl,-rpath,{}", folder.path().display()));
    let program = common::program_with(folder.path(), "cuda.c", compiler, &[&driver, &beside]);
    let output = succeed(Command::new("timeout").arg("60").arg(&program).env("LD_LIBRARY_PATH", folder.path()));
    assert_eq!(text(&output.stdout), "ok cuda\n");
}
