//! What compilers for GPUs make of the headers. Nothing of it is run: there need be no GPU.
#![allow(missing_docs, reason = "a test")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use hostcall_build::Ptxas;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository is there")
}

/// The sources that everything has to compile.
const SOURCES: [&str; 4] = ["examples/cuda/add42.cu", "examples/cuda/behaviours.cu", "tests/cpp/cpp/twins.cu", "tests/cpp/cpp/llvm_rpc.cu"];

/// A kernel with one call, for what it weighs.
const SCALAR: &str = "#include \"services.cuh\"
extern \"C\" HC_ENTRY void scalar(float* y) { const auto i = hostcall::global_id(); y[i] = Host::add42(y[i]).value_or(-1); }
";

/// Stubs that give values instead of answers.
const ABORTING: &str = "#define HOSTCALL_ON_ERROR_ABORT
#include \"services.cuh\"
HOSTCALL_KERNEL(aborting, float* y) { y[0] = Host::add42(y[0]); Host::nothing(); Host::log(\"text\"); Host::note(1); }
";

/// Whether a source takes a compiler seconds: it is compiled for some architectures, the others for all.
fn is_large(source: &Path) -> bool {
    ["behaviours.cu", "twins.cu", "llvm_rpc.cu"].iter().any(|large| source.ends_with(large))
}

fn clang() -> Option<&'static str> {
    let found =
        ["clang++-22", "clang++"].into_iter().find(|name| Command::new(name).arg("--version").output().is_ok_and(|o| o.status.success()));
    if found.is_none() {
        println!("skipped: there is no clang++");
    }
    found
}

fn ptxas() -> Option<Ptxas> {
    Ptxas::find().map_err(|error| println!("skipped: {error}")).ok()
}

/// What has `ptxas` optimise little, which takes most of its time. Large sources are assembled so, but for one
/// architecture by nvcc (and for debuggers, which is without optimising).
const LITTLE: &str = "--Ofast-compile=max";

/// An assembler that knows an architecture: CUDA 13's knows no sm_70.
fn assembler(arch: &str) -> Option<PathBuf> {
    if arch != "sm_70" {
        return Some(ptxas()?.path);
    }
    let old = root().join("target/cuda-12.4/nvidia/cuda_nvcc/bin/ptxas");
    if !old.is_file() {
        println!("skipped: there is no {}; `cargo xtask setup` installs it", old.display());
        return None;
    }
    Some(old)
}

/// `nvcc` as `cargo xtask setup` installs it, or the machine's own.
fn toolkit() -> Option<PathBuf> {
    let places = [root().join("target/cuda/nvidia/cu13"), PathBuf::from("/usr/local/cuda")];
    let found = places.into_iter().find(|place| place.join("bin/nvcc").is_file());
    if found.is_none() {
        println!("skipped: there is no nvcc; `cargo xtask setup` installs one");
    }
    found
}

fn run(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(
        output.status.success(),
        "{command:?}:\n{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

/// A directory for what is compiled, with the small sources in it; and all sources.
fn sources() -> (tempfile::TempDir, Vec<PathBuf>) {
    let dir = tempfile::tempdir().expect("a directory");
    let mut all: Vec<PathBuf> = SOURCES.iter().map(|source| root().join(source)).collect();
    for (name, text) in [("scalar.cu", SCALAR), ("aborting.cu", ABORTING)] {
        let file = dir.path().join(name);
        std::fs::write(&file, text).expect("a source");
        all.push(file);
    }
    (dir, all)
}

/// A compiler that is to find the headers, and to be strict.
fn strict(compiler: impl AsRef<std::ffi::OsStr>, standard: &str) -> Command {
    let mut command = Command::new(compiler);
    command.arg(format!("-std={standard}")).arg("-I").arg(root().join("include")).arg("-I").arg(root().join("examples/cuda"));
    command
}

/// By clang, without CUDA's headers.
fn clang_ptx(clang: &str, standard: &str, arch: &str, ptx: u32, source: &Path, to: &Path) -> String {
    let mut command = strict(clang, standard);
    command.args(["-x", "cuda", "--cuda-device-only", "-nocudainc", "-nocudalib", "-O3", "-Wall", "-Wextra", "-Werror", "-S"]);
    command.arg(format!("--cuda-gpu-arch={arch}")).arg(format!("--cuda-feature=+ptx{ptx}")).arg(source).arg("-o").arg(to);
    run(&mut command);
    std::fs::read_to_string(to).expect("PTX")
}

#[test]
fn clang_makes_ptx_that_assembles_for_every_architecture() {
    let Some(clang) = clang() else { return };
    let (dir, sources) = sources();
    // The least version of PTX that has 16-byte atomic accesses, or the architecture.
    for (arch, ptx) in [("sm_70", 84), ("sm_75", 84), ("sm_80", 84), ("sm_90", 84), ("sm_100", 86), ("sm_120", 87)] {
        let standard = if arch == "sm_90" { "c++20" } else { "c++17" };
        let ptxas = assembler(arch);
        for source in sources.iter().filter(|source| ["sm_70", "sm_90"].contains(&arch) || !is_large(source)) {
            let text = clang_ptx(clang, standard, arch, ptx, source, &dir.path().join("image.ptx"));
            assert!(text.contains("st.relaxed.sys.global.b128") && text.contains("ld.relaxed.sys.global.b128"), "{}", source.display());
            assert!(text.contains(".const .align 64 .b8 __hostcall_device[128]"), "the descriptor lies in constant memory");
            if let Some(ptxas) = &ptxas {
                let mut command = Command::new(ptxas);
                command.arg(format!("-arch={arch}")).arg("-Werror").arg(dir.path().join("image.ptx"));
                if is_large(source) {
                    // CUDA 12.4's has one flag for that, and later ones a better one.
                    command.arg(if arch == "sm_70" { "-O1" } else { LITTLE });
                }
                run(command.arg("-o").arg(dir.path().join("image.cubin")));
            }
        }
    }
}

/// Registers of the only kernel in what `ptxas -v` says, which must not use a stack.
fn registers(said: &str) -> u32 {
    assert!(said.contains("0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads"), "{said}");
    assert!(!said.contains("cumulative stack"), "{said}");
    said.split("Used ").nth(1).and_then(|rest| rest.split(' ').next()?.parse().ok()).unwrap_or_else(|| panic!("{said}"))
}

#[test]
fn a_kernel_with_a_scalar_call_takes_few_registers_and_no_stack() {
    let (dir, _) = sources();
    let source = dir.path().join("scalar.cu");
    if let (Some(clang), Some(ptxas)) = (clang(), ptxas()) {
        let image = dir.path().join("scalar.ptx");
        clang_ptx(clang, "c++17", "sm_90", 84, &source, &image);
        let mut command = Command::new(&ptxas.path);
        command.args(["-v", "-arch=sm_90"]).arg(&image).arg("-o").arg(dir.path().join("scalar.cubin"));
        let said = String::from_utf8(run(&mut command).stderr).expect("text");
        assert!(registers(&said) <= 40, "{said}");
    }
    if let Some(toolkit) = toolkit() {
        let mut command = strict(toolkit.join("bin/nvcc"), "c++17");
        command.args(["-arch=sm_90", "-O3", "-Xptxas", "-v", "-cubin"]).arg(&source).arg("-o").arg(dir.path().join("scalar.cubin"));
        let said = String::from_utf8(run(&mut command).stderr).expect("text");
        assert!(registers(&said) <= 40, "{said}");
    }
}

#[test]
fn nvcc_compiles_both_passes_without_a_warning() {
    let Some(toolkit) = toolkit() else { return };
    let (dir, sources) = sources();
    let ways: [(&str, &str, &[&str]); 6] = [
        ("c++17", "sm_75", &[]),
        ("c++17", "sm_90", &["-rdc=true"]),
        ("c++17", "sm_90", &["-G"]),
        ("c++20", "sm_90", &["-lineinfo", "-Xptxas", LITTLE]),
        ("c++20", "sm_100", &[]),
        ("c++17", "sm_120", &[]),
    ];
    for (i, (standard, arch, options)) in ways.into_iter().enumerate() {
        // Those that change what is made of a source, with the one that has every kind of call.
        let all_calls = ["-G", "-lineinfo"].iter().any(|option| options.contains(option));
        let is_tried = |source: &Path| i == 0 || source.ends_with("add42.cu") || all_calls && source.ends_with("behaviours.cu");
        for source in sources.iter().filter(|source| is_tried(source)) {
            let mut command = strict(toolkit.join("bin/nvcc"), standard);
            command.args(["-c", "-Werror=all-warnings", "-Xcompiler", "-Wall,-Wextra,-Werror"]).arg(format!("-arch={arch}")).args(options);
            run(command.arg(source).arg("-o").arg(dir.path().join("image.o")));
        }
    }
}

/// The program at the start of a section of docs/guide/llvm-rpc.md, with one of the two lines that name a header.
#[test]
fn the_program_of_the_guide_compiles_with_the_line_that_it_changes() {
    let page = std::fs::read_to_string(root().join("docs/guide/llvm-rpc.md")).expect("the page");
    let section = page.split("## Recompiled: one exchange").nth(1).expect("the section");
    let program = section.split("```cpp").nth(1).and_then(|rest| rest.split("```").next()).expect("a program");
    assert!(program.contains("#include \"shared/rpc.h\"") && program.contains("#include \"hostcall_rpc.h\""), "{program}");
    let program: String = program.lines().filter(|line| !line.contains("shared/rpc.h")).map(|line| format!("{line}\n")).collect();
    let (dir, Some(toolkit)) = (tempfile::tempdir().expect("a directory"), toolkit()) else { return };
    let source = dir.path().join("sum.cu");
    std::fs::write(&source, program).expect("a source");
    let mut command = strict(toolkit.join("bin/nvcc"), "c++17");
    command.args(["-arch=sm_90", "-O3", "-cubin", "-Werror=all-warnings"]);
    run(command.arg(&source).arg("-o").arg(dir.path().join("image.cubin")));
}

#[test]
fn two_translation_units_of_nvcc_link_as_one_program() {
    let Some(toolkit) = toolkit() else { return };
    let (dir, _) = sources();
    let objects: Vec<PathBuf> = SOURCES[..2]
        .iter()
        .enumerate()
        .map(|(i, source)| {
            let object = dir.path().join(format!("{i}.o"));
            let mut command = strict(toolkit.join("bin/nvcc"), "c++17");
            run(command.args(["-dc", "-arch=sm_90", "-Werror=all-warnings"]).arg(root().join(source)).arg("-o").arg(&object));
            object
        })
        .collect();
    let mut link = Command::new(toolkit.join("bin/nvcc"));
    run(link.args(["-arch=sm_90", "-dlink", "-cubin"]).args(&objects).arg("-o").arg(dir.path().join("program.cubin")));
    let cubin = std::fs::read(dir.path().join("program.cubin")).expect("a cubin");
    let text = String::from_utf8_lossy(&cubin);
    for symbol in ["__hostcall_device", "__hostcall_abi", "__HOSTCALL__Host__add42", "__HOSTCALL_SIGNATURE__Host__add42", "add42", "shapes"]
    {
        assert!(text.contains(symbol), "{symbol}");
    }
}

#[test]
fn clang_compiles_for_amd_with_accesses_of_16_bytes() {
    let Some(clang) = clang() else { return };
    let (dir, sources) = sources();
    for (arch, store, load) in [
        ("gfx90a", "global_store_dwordx4", "global_load_dwordx4"),
        ("gfx942", "global_store_dwordx4", "global_load_dwordx4"),
        ("gfx1100", "global_store_b128", "global_load_b128"),
    ] {
        let standard = if arch == "gfx942" { "c++20" } else { "c++17" };
        for source in sources.iter().filter(|source| arch != "gfx90a" || !is_large(source)) {
            let image = dir.path().join("image.s");
            let mut command = strict(clang, standard);
            command.args(["-x", "hip", "--cuda-device-only", "-nogpulib", "-nogpuinc", "-O3", "-Wall", "-Wextra", "-Werror", "-S"]);
            run(command.arg(format!("--offload-arch={arch}")).arg(source).arg("-o").arg(&image));
            let text = std::fs::read_to_string(&image).expect("assembly");
            assert!(text.contains(store) && text.contains(load), "{arch}, {}", source.display());
        }
    }
}

/// Kernels that assert and print.
const ASSERTS: &str = "tests/cpp/cpp/asserts.cu";

/// A compiler that is to find the headers whose macros are replaced, too.
fn asserting(compiler: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(compiler);
    command.arg("-std=c++17").arg("-I").arg(root().join("include/asserts")).arg("-I").arg(root().join("include"));
    command
}

#[test]
fn asserts_and_prints_compile_for_gpus_and_the_hosts_own_stay() {
    let (dir, source) = (tempfile::tempdir().expect("a directory"), root().join(ASSERTS));
    // A function of the host's beside the kernels: all names are C's there.
    let mixed = dir.path().join("mixed.cu");
    let host = "int host(int value) { assert(value == 1); std::FILE* to = value ? stderr : stdout;
  return printf(\"%d\", value) + std::fprintf(to, \"x\") + fprintf(stderr, \"e\"); }\n";
    std::fs::write(&mixed, format!("#include {source:?}\n{host}")).expect("a source");
    if let Some(clang) = clang() {
        for arch in ["gfx90a", "gfx942", "gfx1100"] {
            let mut command = asserting(clang);
            command.args(["-x", "hip", "--cuda-device-only", "-nogpulib", "-nogpuinc", "-O3", "-Wall", "-Wextra", "-Werror", "-S"]);
            run(command.arg(format!("--offload-arch={arch}")).arg(&mixed).arg("-o").arg(dir.path().join("image.s")));
        }
        let mut command = asserting(clang);
        command.args(["-x", "cuda", "--cuda-device-only", "-nocudainc", "-nocudalib", "-O3", "-Wall", "-Wextra", "-Werror", "-S"]);
        command.args(["--cuda-gpu-arch=sm_90", "--cuda-feature=+ptx84"]).arg(&mixed).arg("-o").arg(dir.path().join("image.ptx"));
        run(&mut command);
        let text = std::fs::read_to_string(dir.path().join("image.ptx")).expect("PTX");
        assert!(!text.contains("vprintf") && !text.contains("__assert_fail"), "nothing of CUDA's own is called");
    }
    if let Some(toolkit) = toolkit() {
        // What only asserts use is used by nobody then.
        let none = ["-DNDEBUG", "-diag-suppress=177,550", "-Xcompiler", "-Wno-unused"];
        for (arch, options) in [("sm_75", &[][..]), ("sm_90", &["-rdc=true"]), ("sm_120", &none[..])] {
            let mut command = asserting(toolkit.join("bin/nvcc"));
            command.args(["-c", "-Werror=all-warnings", "-Xcompiler", "-Wall,-Wextra,-Werror"]).arg(format!("-arch={arch}")).args(options);
            run(command.arg(&mixed).arg("-o").arg(dir.path().join("image.o")));
            // What the host's own functions call is libc's.
            let symbols = run(Command::new("nm").arg("-u").arg(dir.path().join("image.o")));
            let symbols = String::from_utf8(symbols.stdout).expect("text");
            assert_eq!(symbols.contains("__assert_fail"), !options.contains(&"-DNDEBUG"), "{symbols}");
            assert!(symbols.contains("fprintf") || symbols.contains("__fprintf_chk"), "{symbols}");
        }
        let mut command = asserting(toolkit.join("bin/nvcc"));
        run(command.args(["-arch=sm_90", "-ptx"]).arg(&mixed).arg("-o").arg(dir.path().join("image.ptx")));
        let text = std::fs::read_to_string(dir.path().join("image.ptx")).expect("PTX");
        assert!(!text.contains("vprintf") && !text.contains("__assertfail"), "nothing of CUDA's own is called");
    }
}

#[test]
fn pytorchs_macros_are_taken_over_behind_its_own_header() {
    let (dir, Some(toolkit)) = (tempfile::tempdir().expect("a directory"), toolkit()) else { return };
    // As PyTorch's says it.
    let theirs = "#pragma once
extern \"C\" __host__ __device__ void __assert_fail(const char*, const char*, unsigned int, const char*) noexcept;
#define CUDA_KERNEL_ASSERT(cond) if (!(cond)) { __assert_fail(#cond, __FILE__, (unsigned)__LINE__, __func__); }
#define CUDA_KERNEL_ASSERT_MSG(cond, msg) if (!(cond)) { __assert_fail(msg, __FILE__, (unsigned)__LINE__, __func__); }
";
    let kernel = "#include <c10/macros/Macros.h>
__global__ void kernel(const long* index, long rows) {
  CUDA_KERNEL_ASSERT(index[threadIdx.x] < rows);
  CUDA_KERNEL_ASSERT_MSG(index[0] >= 0, \"negative\");
}\n";
    for header in ["c10/macros/Macros.h", "torch/headeronly/macros/Macros.h"] {
        let at = dir.path().join(header);
        std::fs::create_dir_all(at.parent().expect("a folder")).expect("a folder");
        std::fs::write(&at, theirs).expect("a header");
        let source = dir.path().join("kernel.cu");
        std::fs::write(&source, kernel.replace("c10/macros/Macros.h", header)).expect("a source");
        for (ours, expected, options) in [(true, false, &[][..]), (true, false, &["-include", "hostcall_assert.cuh"]), (false, true, &[])] {
            let compile = |kind: &str, to: &str| {
                let mut command = if ours { asserting(toolkit.join("bin/nvcc")) } else { strict(toolkit.join("bin/nvcc"), "c++17") };
                command
                    .args(["-arch=sm_90", kind, "-Werror=all-warnings", "-Xcompiler", "-Werror"])
                    .args(options)
                    .arg("-I")
                    .arg(dir.path());
                run(command.arg(&source).arg("-o").arg(dir.path().join(to)));
            };
            compile("-c", "image.o");
            compile("-ptx", "image.ptx");
            let text = std::fs::read_to_string(dir.path().join("image.ptx")).expect("PTX");
            assert_eq!(text.contains("__assertfail") || text.contains("__assert_fail"), expected, "{header}");
            assert_eq!(text.contains("__HOSTCALL__Process__asserted"), ours, "{header}");
        }
    }
}

/// As PyTorch's `indexSelectLargeIndex`: three tensors of two dimensions with strides, and indices of 32 bits.
const INDEX_SELECT: &str = r#"
#if defined(CHECKED)
#include "hostcall_assert.cuh"
#else
#define CUDA_KERNEL_ASSERT(...)
#endif
template <class T> struct info { T* data; unsigned sizes[25], strides[25]; int dims; };
template <class T> __attribute__((device)) inline unsigned offset(unsigned linear, const info<T>& t) {
  return linear % t.sizes[1] * t.strides[1] + linear / t.sizes[1] * t.strides[0];
}
#define READ(name, ptx) unsigned name; asm("mov.u32 %0, %%" ptx ";" : "=r"(name))
extern "C" __attribute__((global)) void index_select(info<float> dst, info<const float> src, info<const long> indices, int dst_dim,
                                                     int src_dim, unsigned total, unsigned inner, long rows) {
  READ(block, "ctaid.x"); READ(thread, "tid.x"); READ(threads, "ntid.x"); READ(blocks, "nctaid.x");
  for (unsigned linear = block * threads + thread; linear < total; linear += blocks * threads) {
    const unsigned index = linear / inner, element = linear % inner;
    const long row = indices.data[offset(index, indices)];
    CUDA_KERNEL_ASSERT(row < rows);
    dst.data[offset(element, dst) + index * dst.strides[dst_dim]] = src.data[offset(element, src) + (unsigned)row * src.strides[src_dim]];
  }
}
"#;

#[test]
fn a_check_adds_few_registers_to_a_kernel_that_selects_by_an_index() {
    let dir = tempfile::tempdir().expect("a directory");
    let [source, ptx, cubin] = ["select.cu", "select.ptx", "select.cubin"].map(|name| dir.path().join(name));
    std::fs::write(&source, INDEX_SELECT).expect("a source");
    let used = |said: &[u8]| -> u32 {
        let said = String::from_utf8_lossy(said);
        said.split("Used ").nth(1).and_then(|rest| rest.split(' ').next()?.parse().ok()).unwrap_or_else(|| panic!("{said}"))
    };
    let mut all = Vec::new();
    if let (Some(clang), Some(ptxas)) = (clang(), ptxas()) {
        all.push(["-DPLAIN", "-DCHECKED"].map(|define| {
            let mut command = asserting(clang);
            command.args(["-x", "cuda", "--cuda-device-only", "-nocudainc", "-nocudalib", "-O3", "-S", define]);
            run(command.args(["--cuda-gpu-arch=sm_90", "--cuda-feature=+ptx84"]).arg(&source).arg("-o").arg(&ptx));
            used(&run(Command::new(&ptxas.path).args(["-v", "-arch=sm_90"]).arg(&ptx).arg("-o").arg(&cubin)).stderr)
        }));
    }
    if let Some(toolkit) = toolkit() {
        all.push(["-DPLAIN", "-DCHECKED"].map(|define| {
            let mut command = asserting(toolkit.join("bin/nvcc"));
            command.args(["-arch=sm_90", "-O3", "-Xptxas", "-v", "-cubin", define]);
            used(&run(command.arg(&source).arg("-o").arg(&cubin)).stderr)
        }));
    }
    println!("registers without a check and with one: {all:?}");
    // With 33 a kernel of small blocks had fewer threads resident, and took 1 % longer (`bench/asserts`).
    if toolkit().is_some() {
        assert!(all.last().is_some_and(|[_, with]| *with <= 32), "{all:?}");
    }
    assert!(all.iter().all(|[without, with]| *with <= without + 8), "{all:?}");
}

/// Kernels that fill packets of AMD's form.
const PACKETS: &str = "tests/cpp/cpp/packets.cu";

#[test]
fn packets_compile_for_every_architecture_with_accesses_that_the_host_sees() {
    let (dir, source) = (tempfile::tempdir().expect("a directory"), root().join(PACKETS));
    let image = dir.path().join("image");
    if let Some(clang) = clang() {
        for (arch, ptx) in [("sm_70", 84), ("sm_75", 84), ("sm_80", 84), ("sm_90", 84), ("sm_100", 86), ("sm_120", 87)] {
            let text = clang_ptx(clang, "c++17", arch, ptx, &source, &image);
            for access in [
                "atom.acq_rel.sys.global.cas.b64",
                "st.release.sys.global.u32",
                "ld.acquire.sys.global.u32",
                "atom.acquire.gpu.global.or.b32",
            ] {
                assert!(text.contains(access), "{arch}: {access}");
            }
            if let Some(ptxas) = assembler(arch) {
                run(Command::new(ptxas).arg(format!("-arch={arch}")).arg(&image).arg("-o").arg(dir.path().join("image.cubin")));
            }
        }
        for arch in ["gfx90a", "gfx942", "gfx1100", "gfx1200"] {
            let mut command = strict(clang, "c++17");
            command.args(["-x", "hip", "--cuda-device-only", "-nogpulib", "-nogpuinc", "-O3", "-Wall", "-Wextra", "-Werror", "-S"]);
            run(command.arg(format!("--offload-arch={arch}")).arg(&source).arg("-o").arg(&image));
            let text = std::fs::read_to_string(&image).expect("assembly");
            assert!(text.contains("cmpswap_x2") || text.contains("cmpswap_b64"), "{arch}: waves push packets by a 64-bit exchange");
            assert!(text.contains("s_sendmsg"), "{arch}: waves raise the signal's interrupt");
        }
    }
    if let Some(toolkit) = toolkit() {
        for arch in ["sm_75", "sm_90", "sm_120"] {
            let mut command = strict(toolkit.join("bin/nvcc"), "c++17");
            command.args(["-c", "-Werror=all-warnings", "-Xcompiler", "-Wall,-Wextra,-Werror"]).arg(format!("-arch={arch}"));
            run(command.arg(&source).arg("-o").arg(dir.path().join("image.o")));
        }
    }
}

/// Debian's, as `cargo xtask setup` unpacks it, with the compiler and the libraries that it needs; `None`: not there,
/// which is printed.
fn hipcc() -> Option<Command> {
    let usr = root().join("target/debian/usr");
    let (script, clang) = (usr.join("bin/hipcc.pl"), usr.join("lib/llvm-15/bin"));
    if !script.is_file() || !clang.join("clang").exists() {
        println!("skipped: there is no {} with clang 15; `cargo xtask setup` unpacks it (Debian: hipcc, clang-15)", script.display());
        return None;
    }
    let libraries = usr.join("lib/x86_64-linux-gnu");
    let mut command = Command::new("perl");
    command.arg(script).env("LD_LIBRARY_PATH", format!("{}:{}", libraries.display(), usr.join("lib/llvm-15/lib").display()));
    command.env("HIP_PATH", &usr).env("ROCM_PATH", &usr).env("HIP_CLANG_PATH", clang).env("HIP_PLATFORM", "amd");
    command.env("HIP_COMPILER", "clang").env("HIP_RUNTIME", "rocclr").env("DEVICE_LIB_PATH", libraries.join("amdgcn/bitcode"));
    Some(command)
}

#[test]
fn hipcc_5_2_compiles_both_passes_for_gfx90a() {
    if hipcc().is_none() {
        return;
    }
    let (dir, sources) = sources();
    let image = dir.path().join("image.s");
    let standards = |source: &'_ Path| if source.ends_with("twins.cu") { &["-std=c++17"][..] } else { &["-std=c++17", "-std=c++20"] };
    let ways = sources.iter().flat_map(|source| standards(source).iter().map(move |standard| (source, *standard)));
    for (pass, (source, standard)) in ways.flat_map(|way| ["--cuda-device-only", "--cuda-host-only"].map(|pass| (pass, way))) {
        let Some(mut command) = hipcc() else { return };
        command.args([standard, "--offload-arch=gfx90a", "-S", pass, "-Wall", "-Wextra", "-Werror", "-include", "hip/hip_runtime.h"]);
        // It names libraries to a compiler that links nothing. And clang 15 cannot clear more of a stack at once than
        // this.
        command.args(["-Wno-unused-command-line-argument", "-mllvm", "-amdgpu-mem-intrinsic-expand-size=64"]);
        command.arg("-I").arg(root().join("include")).arg("-I").arg(root().join("examples/cuda"));
        run(command.args(["-x", "hip"]).arg(source).arg("-o").arg(&image));
        let text = std::fs::read_to_string(&image).expect("assembly");
        let accesses = text.contains("global_store_dwordx4") && text.contains("global_load_dwordx4");
        assert_eq!(accesses, pass == "--cuda-device-only", "{pass}, {standard}, {}", source.display());
    }
}
