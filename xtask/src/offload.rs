//! The part of the GPU bundle that tests the Offload API's C libraries: those of LLVM 23's and LLVM 24's API, C
//! programs, and images for every device.

use anyhow::{Context, Result};
use xshell::{Shell, cmd};

/// What clang makes PTX with. The oldest architecture that is served, so that the driver's compiler is tested too.
const PTX: [&str; 11] = [
    "--target=nvptx64-nvidia-cuda",
    "-march=sm_70",
    "--cuda-feature=+ptx63",
    "-nogpulib",
    "-ffreestanding",
    "-nostdlibinc",
    "-std=gnu11",
    "-O2",
    "-Wall",
    "-Werror",
    "-S",
];

/// What C programs are compiled with.
const STRICT: [&str; 6] = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-O1", "-pthread"];

/// Builds everything into `OUT/offload`.
pub(crate) fn bundle(sh: &Shell, out: &str) -> Result<()> {
    let to = format!("{out}/offload");
    sh.create_dir(&to)?;
    // At once: packages that are built apart may have other features, and would be compiled twice.
    let packages = ["--package", "hostcall-offload", "--package", "hostcall-offload24", "--package", "hostcall-offload-api"];
    cmd!(sh, "cargo build --release {packages...} --lib --bin bench-offload --bin offload-info").run()?;
    for file in ["libhostcall_offload.so", "libhostcall_offload24.so", "bench-offload", "offload-info"] {
        sh.copy_file(crate::target_directory().join("release").join(file), &to)?;
        cmd!(sh, "strip {to}/{file}").quiet().run().context("needs binutils")?;
    }
    let (tests, examples) = ("crates/hostcall-offload-api/tests", "examples/offload");
    let include = "-Icrates/hostcall-offload-api/include";
    let (fixture, ported) = (format!("{tests}/c/device_fixture.c"), format!("{tests}/c/with_contexts.h"));
    let programs: [(&str, u32, Vec<String>); 14] = [
        ("suite", 23, vec![format!("{tests}/c/suite.c")]),
        ("uses", 23, vec![format!("{tests}/c/uses.c")]),
        ("queues", 23, vec![format!("{tests}/c/queues.c")]),
        ("given_back", 23, vec![format!("{tests}/c/given_back.c")]),
        ("conformance", 23, vec![format!("{tests}/c/conformance.c"), fixture.clone()]),
        ("stress", 23, vec![format!("{tests}/c/stress.c")]),
        ("vector_add", 23, vec![format!("{examples}/vector_add.c")]),
        ("vector_add_cpp", 23, vec![format!("{examples}/vector_add.cpp")]),
        ("llvm_rpc_check", 23, vec![format!("{examples}/llvm_rpc_check.c")]),
        ("suite24", 24, vec![format!("{tests}/c/suite24.c")]),
        ("suite-ported", 24, vec!["-include".to_owned(), ported.clone(), format!("{tests}/c/suite.c")]),
        ("uses-ported", 24, vec!["-include".to_owned(), ported.clone(), format!("{tests}/c/uses.c")]),
        ("queues-ported", 24, vec!["-include".to_owned(), ported, format!("{tests}/c/queues.c")]),
        ("conformance24", 24, vec![format!("{tests}/c/conformance24.c"), fixture]),
    ];
    for (name, version, arguments) in programs {
        // C++'s library may be older there.
        let (compiler, standard, link) = if name.ends_with("_cpp") {
            ("c++", "-std=c++17", &["-static-libstdc++", "-static-libgcc"][..])
        } else {
            ("cc", "-std=c11", &[][..])
        };
        let (own, library) = if version == 24 {
            (Some("-Icrates/hostcall-offload-api/include/24"), "-lhostcall_offload24")
        } else {
            (None, "-lhostcall_offload")
        };
        cmd!(sh, "{compiler} {standard} {STRICT...} {own...} {include} {arguments...} -L{to} {library} {link...} -o {to}/{name}").run()?;
    }
    for source in [format!("{tests}/images/kernels.c"), format!("{examples}/vector_add_kernel.c")] {
        let name = std::path::Path::new(&source).file_stem().and_then(|name| name.to_str()).context("a name")?;
        cmd!(sh, "cc -std=c11 {STRICT...} -shared -fPIC {include} {source} -o {to}/{name}-sim.so").run()?;
        cmd!(sh, "cc -std=c11 {STRICT...} -shared -fPIC -DOFFLOAD_HOST_IMAGE {include} {source} -o {to}/{name}-host.so").run()?;
        let ptx = if name == "kernels" { format!("{to}/kernels.ptx") } else { format!("{to}/{name}-ptx") };
        cmd!(sh, "clang-22 {PTX...} {include} {source} -o {ptx}").run().context("needs clang-22: cargo xtask setup installs it")?;
    }
    // A client of LLVM's wire of either version.
    let flags = PTX.map(|flag| if flag == "-std=gnu11" { "-std=c++17" } else { flag });
    for (name, define) in [("llvm_rpc", "-DLLVM_RPC"), ("llvm_rpc_doorbell", "-DLLVM_RPC_DOORBELL")] {
        let source = format!("{examples}/llvm_rpc_check_kernel.cpp");
        cmd!(sh, "clang-22 {flags...} -fno-exceptions {define} {include} {source} -o {to}/{name}.ptx")
            .run()
            .context("needs clang-22: cargo xtask setup installs it")?;
    }
    match hostcall_build_ptxas() {
        Some(ptxas) => {
            for name in ["kernels", "llvm_rpc", "llvm_rpc_doorbell"] {
                cmd!(sh, "{ptxas} -arch=sm_90 {to}/{name}.ptx -o {to}/{name}.cubin").run()?;
            }
        }
        None => println!("no ptxas: the bundle has no cubins of the C and C++ kernels (cargo xtask setup installs it)"),
    }
    Ok(())
}

/// A library under a sanitizer: of which LLVM's API, and what its programs are compiled with besides.
struct Sanitized {
    version: u32,
    packages: [&'static str; 2],
    library: &'static str,
    replay: &'static str,
    /// Of programs that were written for LLVM 23's API.
    ported: &'static [&'static str],
    /// The suite of what only this version has.
    own_suite: Option<&'static str>,
}

const SANITIZED: [Sanitized; 2] = [
    Sanitized {
        version: 23,
        packages: ["hostcall-offload", "hostcall-offload-api"],
        library: "hostcall_offload",
        replay: "offload-replay",
        ported: &[],
        own_suite: None,
    },
    Sanitized {
        version: 24,
        packages: ["hostcall-offload24", "hostcall-offload-api24"],
        library: "hostcall_offload24",
        replay: "offload-replay24",
        ported: &["-Icrates/hostcall-offload-api/include/24", "-include", "crates/hostcall-offload-api/tests/c/with_contexts.h"],
        own_suite: Some("suite24"),
    },
];

/// The test of a hundred threads, and the suites, under the sanitizers of addresses and of threads, on the processor,
/// for both versions of the API; both are recorded as well, and a recording is replayed. The standard library is built
/// with the sanitizer, too: otherwise what it orders would be taken for a race.
///
/// The C programs are compiled by clang and linked with the sanitizer's runtime that comes with nightly: a process has
/// one runtime, and that of another compiler does not know what rustc's LLVM writes.
pub(crate) fn sanitize(sh: &Shell, only: Option<&str>) -> Result<()> {
    for (kind, runtime) in [("address", "asan"), ("thread", "tsan")] {
        if only.is_none_or(|only| only == kind) {
            for sanitized in &SANITIZED {
                sanitize_one(sh, kind, runtime, sanitized)?;
            }
        }
    }
    Ok(())
}

fn sanitize_one(sh: &Shell, kind: &str, runtime: &str, sanitized: &Sanitized) -> Result<()> {
    let (tests, include) = ("crates/hostcall-offload-api/tests", "-Icrates/hostcall-offload-api/include");
    let machine = cmd!(sh, "rustc --print host-tuple").read()?;
    let sysroot =
        cmd!(sh, "rustc +nightly --print sysroot").read().context("needs a nightly toolchain: rustup toolchain install nightly")?;
    let to = crate::target_directory().join(format!("sanitize-{kind}"));
    let library = to.join(&machine).join("debug");
    let Sanitized { version, packages: [shared, tool], library: name, replay, ported, own_suite } = *sanitized;
    cmd!(
        sh,
        "cargo +nightly build -Zbuild-std --target {machine} --target-dir {to} --package {shared} --lib --package {tool} --bin {replay}"
    )
    .env("RUSTFLAGS", format!("-Zsanitizer={kind}"))
    .run()
    .context("needs nightly's sources: rustup component add rust-src --toolchain nightly")?;
    for (name, host) in [("sim", None), ("host", Some("-DOFFLOAD_HOST_IMAGE"))] {
        cmd!(sh, "cc -std=c11 {STRICT...} -shared -fPIC {host...} {include} {tests}/images/kernels.c -o {to}/kernels-{name}.so").run()?;
    }
    let path = library.display().to_string();
    let runtime = format!("{sysroot}/lib/rustlib/{machine}/lib/librustc-nightly_rt.{runtime}.a");
    let programs = ["stress", "suite", "uses", "recorded", "queues", "given_back"].map(|program| (program, ported));
    for (program, flags) in programs.into_iter().chain(own_suite.map(|suite| (suite, &ported[..1]))) {
        let to = to.join(format!("{program}-{version}"));
        cmd!(sh, "clang-22 -std=c11 {STRICT...} -g -fsanitize={kind} {flags...} {include} -c {tests}/c/{program}.c -o {to}.o")
            .run()
            .context("needs clang-22: cargo xtask setup installs it")?;
        // All of the runtime, and visible to the library, which brings none. The library's place counts for more than
        // LD_LIBRARY_PATH, in which cargo has that of another build.
        let runtime = ["-Wl,--whole-archive", &runtime, "-Wl,--no-whole-archive", "-rdynamic", "-Wl,--disable-new-dtags"];
        let system = ["-lpthread", "-ldl", "-lm", "-lrt", "-lresolv"];
        cmd!(sh, "clang-22 {to}.o {runtime...} -L{path} -Wl,-rpath,{path} -l{name} {system...} -o {to}").run()?;
    }
    let _host = sh.push_env("OFFLOAD_PLATFORMS", "host");
    let program = |program: &str| to.join(format!("{program}-{version}"));
    let recording = |program: &str| to.join(format!("{program}-{version}.rec"));
    let stress = program("stress");
    cmd!(sh, "{stress} {to}/kernels-host.so 100 400 1").run()?;
    cmd!(sh, "{stress} {to}/kernels-host.so 20 200 1").env("OFFLOAD_RECORD", recording("stress")).run()?;
    let (queues, given_back) = (program("queues"), program("given_back"));
    cmd!(sh, "{queues} 1000 1 {to}/kernels-host.so").run()?;
    cmd!(sh, "{given_back} {to}/kernels-host.so").run()?;
    // The simulator's kernels run on stacks of their own, of which the sanitizer of threads is not told.
    if kind == "address" {
        for suite in ["suite", "uses"].into_iter().chain(own_suite) {
            let run = program(suite);
            cmd!(sh, "{run} {to}/kernels-sim.so {to}/kernels-host.so").run()?;
            cmd!(sh, "{run} {to}/kernels-sim.so {to}/kernels-host.so").env("OFFLOAD_RECORD", recording(suite)).run()?;
        }
        // Without the simulator: the sanitizer takes the stacks of its lanes for overflows now and then.
        let (recorded, file) = (program("recorded"), recording("recorded"));
        cmd!(sh, "{recorded} {to}/kernels-host.so").env("OFFLOAD_RECORD", &file).run()?;
        cmd!(sh, "{library}/{replay} --quiet {file}").run()?;
    }
    Ok(())
}

/// `ptxas`, where `cargo xtask setup` puts it or on the path.
fn hostcall_build_ptxas() -> Option<std::path::PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(std::path::PathBuf::from);
    let cache = cache.or_else(|| Some(std::path::PathBuf::from(std::env::var_os("HOME")?).join(".cache")))?;
    let installed = cache.join("hostcall/cuda/nvidia/cuda_nvcc/bin/ptxas");
    let on_path = || std::env::split_paths(&std::env::var_os("PATH")?).map(|folder| folder.join("ptxas")).find(|file| file.is_file());
    if installed.is_file() { Some(installed) } else { on_path() }
}
