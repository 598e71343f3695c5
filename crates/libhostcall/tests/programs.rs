//! Programs in C and C++ against the library, on the simulator.

mod common;

use std::path::Path;
use std::process::Command;

use common::{C, CPP, Compiler, kernels, program, write_definitions};
use hostcall_test_support::{has, succeed, text};

/// Compiles a program with each compiler that is there, and runs each.
fn with_each(compilers: &[Compiler], source: &str, run: impl Fn(&Path, &Path)) {
    let folder = tempfile::tempdir().unwrap();
    write_definitions(folder.path());
    let kernels = kernels(folder.path());
    for compiler in compilers {
        if has(compiler.command, compiler.package) {
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
    with_each(&C, "calls.c", |program, kernels| all_right(program, kernels, 2 * 10));
    with_each(&C, "lives.c", |program, kernels| all_right(program, kernels, 2 * 8));
}

#[test]
fn a_host_in_cpp() {
    with_each(&CPP, "suite.cpp", |program, kernels| all_right(program, kernels, 7));
}

#[test]
fn every_function_with_null_with_ended_handles_and_with_small_sizes_from_eight_threads() {
    with_each(&C, "faults.c", |program, kernels| all_right(program, kernels, 4));
}

/// AddressSanitizer in the program: it takes the place of `malloc` for the library too, so what handles own and nobody gives back is found. (The library's
/// own accesses are not looked at.)
#[test]
fn a_host_in_c_leaks_nothing() {
    const FLAG: &str = "-fsanitize=address";
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
    for (source, parts) in [("calls.c", 2 * 10), ("lives.c", 2 * 8), ("faults.c", 4)] {
        all_right(&common::program_with(folder.path(), source, C[0], &[FLAG]), &kernels, parts);
    }
}

/// The CUDA functions of a host with a context of its own. Nothing is launched: there is no GPU behind this driver.
#[test]
fn a_host_with_a_cuda_context_on_a_driver_without_a_gpu() {
    let folder = tempfile::tempdir().unwrap();
    write_definitions(folder.path());
    let (sources, [gcc, _]) = (common::folder().join("tests/c"), C);
    let driver = folder.path().join("libcuda.so.1");
    let mut compile = Command::new(gcc.command);
    compile.args(["-std=c11", "-shared", "-fPIC", "-O1", "-Wl,-soname,libcuda.so.1"]);
    succeed(compile.arg(sources.join("fake_cuda.c")).arg("-o").arg(&driver));
    let program = folder.path().join("cuda");
    let library = common::shared().parent().expect("a file is in a folder");
    let mut compile = Command::new(gcc.command);
    compile.args([gcc.standard, "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O1", "-g", "-I"]).arg(common::folder().join("include"));
    compile.arg("-I").arg(folder.path()).arg(sources.join("cuda.c")).arg(&driver).arg("-o").arg(&program);
    compile.arg("-L").arg(library).arg("-lhostcall_c").arg(format!("-Wl,-rpath,{}:{}", library.display(), folder.path().display()));
    succeed(&mut compile);
    let output = succeed(Command::new("timeout").arg("60").arg(&program).env("LD_LIBRARY_PATH", folder.path()));
    assert_eq!(text(&output.stdout), "ok cuda\n");
}
