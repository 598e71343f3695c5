//! The part of the GPU bundle that tests and measures kernels in C++ and hosts in C.

use anyhow::{Context, Result};
use hostcall_idl::files::{Source, parse};
use hostcall_idl::generate::{Language, Namespace, generate};
use xshell::{Shell, cmd};

/// Sources of kernels, and where their cubins go.
const KERNELS: [(&str, &str); 5] = [
    ("examples/cuda/behaviours.cu", "behaviours"),
    ("tests/cpp/cpp/twins.cu", "twins"),
    ("bench/kernels/bench.cu", "bench"),
    ("tests/cpp/cpp/packets.cu", "packets"),
    ("tests/cpp/cpp/llvm_rpc.cu", "rpc"),
];

/// Their tests.
const TESTS: [&str; 5] = ["cpp_behaviours", "cpp_streams", "packets", "rust_behaviours", "llvm_rpc"];

/// Kernels compiled by nvcc and by clang; their tests; the C library, and sources of hosts, which the machine's own
/// compilers take.
pub(crate) fn bundle(sh: &Shell, out: &str) -> Result<()> {
    let to = format!("{out}/cpp");
    for (source, kind) in KERNELS {
        cubins(sh, source, &format!("{to}/{kind}"))?;
    }
    let names = TESTS.map(|name| format!("--test={name}"));
    let rate = "llvm_rpc_rate";
    let package = ["--package=hostcall-cpp-tests", "--example", rate];
    let json = cmd!(sh, "cargo build --release --message-format=json-render-diagnostics {package...} {names...}").read()?;
    for name in TESTS {
        let tests = super::bundle::executable(&json, name).with_context(|| format!("cargo built no {name}"))?;
        // A folder has the kernels of that name.
        let test = if name == "packets" { "cpp_packets" } else { name };
        sh.copy_file(tests, format!("{to}/{test}"))?;
        cmd!(sh, "strip {to}/{test}").quiet().run().context("needs binutils")?;
    }
    sh.copy_file(crate::target_directory().join("release/examples").join(rate), &to)?;
    cmd!(sh, "strip {to}/{rate}").quiet().run()?;
    packet_rates(sh, &to)?;
    hosts(sh, &to)
}

/// What measures packets, in C: on processors, and filled by the GPU.
fn packet_rates(sh: &Shell, to: &str) -> Result<()> {
    cmd!(sh, "cargo build --release --package hostcall-amd --lib").run()?;
    let (library, bench) = (crate::target_directory().join("release/libamd_hostcall.a"), "bench/amd-packets");
    for (source, name) in [("bench", "packet_rate"), ("gpu", "packet_rate_gpu")] {
        let options = ["-std=gnu11", "-O2", "-s", "-pthread", "-Icrates/hostcall-amd/include", "-o"];
        cmd!(sh, "gcc {options...} {to}/{name} {bench}/{source}.c {library} -ldl -lm").run().context("needs gcc")?;
    }
    Ok(())
}

fn cubins(sh: &Shell, source: &str, to: &str) -> Result<()> {
    sh.create_dir(to)?;
    let nvcc = super::root().join("target/cuda/nvidia/cu13/bin/nvcc");
    cmd!(sh, "{nvcc} -std=c++17 -arch=sm_90 -O3 -cubin -Werror=all-warnings -Iinclude {source} -o {to}/nvcc.cubin")
        .run()
        .context("`cargo xtask setup` installs nvcc")?;
    let ptxas = hostcall_build::Ptxas::find()?.path;
    let options = ["-std=c++17", "-O3", "-x", "cuda", "--cuda-device-only", "-nocudainc", "-nocudalib", "-S"];
    let arch = ["--cuda-gpu-arch=sm_90", "--cuda-feature=+ptx84"];
    cmd!(sh, "clang++-22 {options...} {arch...} -Iinclude {source} -o {to}/clang.ptx")
        .run()
        .context("`cargo xtask setup` installs clang")?;
    cmd!(sh, "{ptxas} -arch=sm_90 {to}/clang.ptx -o {to}/clang.cubin").run()?;
    Ok(sh.remove_path(format!("{to}/clang.ptx"))?)
}

/// `libhostcall` as it is installed, and the hosts that are compiled there.
fn hosts(sh: &Shell, to: &str) -> Result<()> {
    cmd!(sh, "cargo build --release --package hostcall-c --lib --example handler_rate --example kernels").run()?;
    let target = crate::target_directory().join("release");
    cmd!(sh, "crates/hostcall-c/packaging/install.sh --prefix {to}/prefix --from {target}").quiet().run()?;
    // The archive is larger than all the rest, and nothing here links it.
    sh.remove_path(format!("{to}/prefix/lib/libhostcall.a"))?;
    cmd!(sh, "strip {to}/prefix/lib/libhostcall.so.0.1.0").quiet().run()?;
    sh.copy_file(target.join("examples/handler_rate"), to)?;
    cmd!(sh, "strip {to}/handler_rate").quiet().run()?;
    cmd!(sh, "{target}/examples/kernels --targets cubin:sm_90 bench/kernels {to}/bench.program").run()?;
    for file in ["tests/c/driver.c", "tests/c/launches.cu", "tests/c/checkpoint.cu", "tests/c/check.h"] {
        sh.copy_file(format!("crates/hostcall-c/{file}"), to)?;
    }
    sh.create_dir(format!("{to}/asserts"))?;
    for file in ["main.cu", "plain.cu", "bare.cu", "cuda.cu", "hostcall.cu", "select.cuh"] {
        sh.copy_file(format!("bench/asserts/{file}"), format!("{to}/asserts"))?;
    }
    for file in ["before.cu", "existing.cu", "host_services.cuh", "host_services.hpp"] {
        sh.copy_file(format!("examples/existing/{file}"), to)?;
    }
    programs(sh, to)
}

/// Hosts in C and C++ that launch the kernels of the behaviours: the tests of `crates/hostcall-c`.
fn programs(sh: &Shell, to: &str) -> Result<()> {
    let (tests, hosts) = ("crates/hostcall-c/tests/c", format!("{to}/hosts"));
    sh.create_dir(&hosts)?;
    let services = sh.read_file("tests/behaviours/services/src/lib.rs")?;
    let interface = parse(&[Source { name: "lib.rs", text: &services }]).map_err(|errors| anyhow::anyhow!("{errors}"))?;
    let version = hostcall_abi::ABI_VERSION;
    sh.write_file(format!("{hosts}/behaviours.h"), generate(&interface, Language::C, &Namespace::default()))?;
    sh.write_file(format!("{hosts}/behaviours.hpp"), generate(&interface, Language::CppHost, &"services".parse()?))?;
    sh.write_file(format!("{hosts}/definitions.h"), format!("#include \"behaviours.h\"\nenum {{ ABI_VERSION = {version} }};\n"))?;
    let flags = ["-O1", "-s", "-pthread"];
    let library = &[format!("-L{to}/prefix/lib"), "-lhostcall".into(), "-Wl,-rpath,$ORIGIN/../prefix/lib".into()];
    let include = &["-Icrates/hostcall-c/include".to_owned(), format!("-I{hosts}")];
    for name in ["calls", "lives", "generated"] {
        cmd!(sh, "gcc -std=c99 {flags...} {include...} {tests}/{name}.c {library...} -o {hosts}/{name}").run().context("needs gcc")?;
    }
    cmd!(sh, "g++ -std=c++17 {flags...} {include...} {tests}/suite.cpp {library...} -o {hosts}/suite").run().context("needs g++")?;
    let flags = ["-std=gnu99", "-O1", "-s", "-DCHECK_WITHOUT_LIBRARY"];
    cmd!(sh, "gcc {flags...} {include...} {tests}/opened.c -ldl -o {hosts}/opened").run()?;
    let kernels = crate::target_directory().join("release/examples/kernels");
    // For a GPU, and for the simulator, on which the programs can be tried.
    cmd!(sh, "{kernels} --targets sim,cubin:sm_90 tests/behaviours/kernels {to}/behaviours.program").run()?;
    Ok(())
}
