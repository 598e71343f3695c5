//! Programs that call the host by the wire of LLVM's libc for GPUs, loaded by `olCreateProgram`, in the simulator.

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::{command, example, liboffload, program, program_of};
use hostcall_test_support::{has, succeed, text};

const ITEMS: usize = 64;

/// The kernels as an image, by a compiler.
fn image(folder: &Path, compiler: &str, define: &str) -> PathBuf {
    image_of(folder, "llvm_rpc_kernel", compiler, define)
}

fn image_of(folder: &Path, name: &str, compiler: &str, define: &str) -> PathBuf {
    let image = folder.join(name).with_extension("so");
    let mut compile = Command::new(compiler);
    compile.args(["-std=c++17", "-Wall", "-Wextra", "-Werror", "-O2", "-shared", "-fPIC", define, "-I"]);
    succeed(compile.arg(liboffload().join("include")).arg(example(&format!("{name}.cpp"))).arg("-o").arg(&image));
    image
}

/// Runs kernels: what is printed.
fn run(folder: &Path, image: &Path, define: &str, kernels: &[&str], grant: &str) -> String {
    let program = program_of(folder, "llvm_rpc", &[example("llvm_rpc.c")], false, &[define]);
    text(&succeed(command(&program).arg(image).args(kernels).env("OFFLOAD_GRANT", grant)).stdout)
}

/// What a kernel's items left.
fn results(output: &str, kernel: &str) -> Vec<u64> {
    let line = output.lines().find_map(|line| line.strip_prefix(&format!("{kernel}: "))).unwrap_or_else(|| panic!("{kernel}: {output}"));
    line.split(' ').map(|number| number.parse().unwrap_or_else(|_| panic!("{output}"))).collect()
}

/// Compiles the kernels and runs all of them.
fn all_kernels(folder: &Path, compiler: &str, define: &str) {
    let image = &image(folder, compiler, define);
    let data = folder.join("data");
    std::fs::create_dir_all(&data).unwrap();
    let kernels = ["hello", "files", "count", "memory", "own", "+callback", "own", "address", "leave"];
    let output = run(folder, image, define, &kernels, &format!("dir={}::/data", data.display()));
    for item in 0..ITEMS {
        let half = item as f64 / 2.0;
        let line = format!("hello from item {item}, half of which is {half:.1}: it is {}", if item % 2 == 0 { "even" } else { "odd" });
        assert_eq!(output.lines().filter(|known| *known == line).count(), 1, "{line}: {output}");
        assert_eq!(results(&output, "hello")[item], line.len() as u64 + 1);
    }
    let written = "7 2.50 a text that is longer than one packet, so that it takes more than one exchange\n";
    assert_eq!(std::fs::read_to_string(data.join("written.txt")).unwrap(), written);
    assert_eq!(results(&output, "files")[..8], [1, written.len() as u64, 0, 4, 4, 1, 0, 0], "{output}");
    assert!(output.contains("a file is written\n"), "{output}");
    assert_eq!(results(&output, "count"), [100; ITEMS]);
    assert_eq!(results(&output, "memory"), [999 * 500; ITEMS]);
    // Without a callback, and with one.
    let own: Vec<_> = output.lines().filter(|line| line.starts_with("own: ")).collect();
    assert!(own[0].starts_with("own: 0 0 0 ") && own[1].starts_with("own: error ") && own[1].contains("0x78000001"), "{output}");
    let twice: Vec<u64> = (0..ITEMS as u64).map(|item| 2 * (item + 20)).collect();
    assert_eq!(results(&format!("{}\n", own[2]), "own"), twice);
    assert!(output.contains("address: error ") && output.contains("LIBC_HOST_CALL"), "{output}");
    assert!(output.contains("leave: 1 ") && output.contains("leave: error "), "{output}");
}

#[test]
fn clang_s_programs_with_either_layout_of_the_client_are_served() {
    if !has("clang++-22", "clang-22") {
        return;
    }
    for define in ["-DLLVM_RPC", "-DLLVM_RPC_DOORBELL"] {
        let folder = tempfile::tempdir().unwrap();
        all_kernels(folder.path(), "clang++-22", define);
    }
}

#[test]
fn the_system_s_compiler_makes_such_programs_as_well() {
    let folder = tempfile::tempdir().unwrap();
    all_kernels(folder.path(), &common::compiler(true), "-DLLVM_RPC");
}

#[test]
fn the_program_that_checks_the_wire_finds_all_right_with_a_window_and_without() {
    let folder = tempfile::tempdir().unwrap();
    let program = program(folder.path(), "llvm_rpc_check", &[example("llvm_rpc_check.c")]);
    for define in ["-DLLVM_RPC", "-DLLVM_RPC_DOORBELL"] {
        let image = image_of(folder.path(), "llvm_rpc_check_kernel", &common::compiler(true), define);
        for (window, place) in [("simulator", "a window into device memory"), ("off", "host memory")] {
            let output = text(&succeed(command(&program).arg(&image).arg("small").env("HOSTCALL_WINDOW", window)).stdout);
            assert!(output.contains(&format!("64 ports, inbox in {place}")), "{output}");
            let tried = output.lines().filter(|line| line.starts_with("ok   ")).count();
            assert!(tried > 10 && output.ends_with("ok   the end: 0 of the above are wrong\n"), "{output}");
        }
    }
}

#[test]
fn a_client_of_another_size_is_refused_with_its_size() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("other.c");
    std::fs::write(
        &source,
        "#include <OffloadKernel.h>\nchar __llvm_rpc_client[560];\nOFFLOAD_KERNEL1(hello, uint64_t *, out) { *out = 1; }\n",
    )
    .unwrap();
    let image = common::image(folder.path(), &source, false);
    let program = program(folder.path(), "llvm_rpc", &[example("llvm_rpc.c")]);
    let output = command(&program).arg(image).output().unwrap();
    let said = text(&output.stderr);
    assert!(!output.status.success() && said.contains("`__llvm_rpc_client` of 560 bytes") && said.contains("552 and 2096"), "{said}");
}

#[test]
fn such_programs_compile_for_gpus() {
    if !has("clang++-22", "clang-22") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let targets: [&[&str]; 2] = [
        &["--target=nvptx64-nvidia-cuda", "-march=sm_70", "--cuda-feature=+ptx63", "-S"],
        &["--target=amdgcn-amd-amdhsa", "-mcpu=gfx942", "-c"],
    ];
    for target in targets {
        let mut compile = Command::new("clang++-22");
        compile.args(target).args([
            "-nogpulib",
            "-fno-exceptions",
            "-ffreestanding",
            "-nostdlibinc",
            "-std=c++17",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-O2",
            "-I",
        ]);
        let out = folder.path().join("device");
        succeed(compile.arg(liboffload().join("include")).arg(example("llvm_rpc_kernel.cpp")).arg("-o").arg(&out));
        let code = std::fs::read(&out).unwrap();
        let has = |name: &str| code.windows(name.len()).any(|window| window == name.as_bytes());
        assert!(has("__llvm_rpc_client") && has("hello"), "{target:?}");
        if target.contains(&"-S") {
            // The client's size is what the host knows it by.
            assert!(has("__llvm_rpc_client[552]"), "{}", String::from_utf8_lossy(&code));
        }
    }
}
