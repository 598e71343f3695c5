//! What NVRTC makes of the headers, of the newest CUDA and of the oldest that is served, with the headers given by
//! their names. Nothing of it is run.
#![allow(missing_docs, reason = "a test")]

use std::ffi::{CString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::process::Command;

use libloading::Library;

type Create =
    unsafe extern "C" fn(*mut *mut c_void, *const c_char, *const c_char, c_int, *const *const c_char, *const *const c_char) -> c_int;
type Compile = unsafe extern "C" fn(*mut c_void, c_int, *const *const c_char) -> c_int;
type Size = unsafe extern "C" fn(*mut c_void, *mut usize) -> c_int;
type Text = unsafe extern "C" fn(*mut c_void, *mut c_char) -> c_int;
type Destroy = unsafe extern "C" fn(*mut *mut c_void) -> c_int;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository is there")
}

fn c(text: impl Into<Vec<u8>>) -> CString {
    CString::new(text).expect("text without a zero")
}

fn read(path: PathBuf) -> Vec<u8> {
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// What `cargo xtask setup` installs, if it has.
fn installed(file: &str) -> Option<PathBuf> {
    let path = root().join("target").join(file);
    if !path.is_file() {
        println!("skipped: there is no {}; `cargo xtask setup` installs it", path.display());
        return None;
    }
    Some(path)
}

/// The parts of the header, and the stubs: names, and what is in them.
fn headers() -> (Vec<CString>, Vec<CString>) {
    let include = root().join("include");
    let mut names = ["hostcall.cuh", "hostcall_abi.h", "hostcall_assert.cuh", "hostcall_rpc.h"].map(str::to_owned).to_vec();
    let parts = std::fs::read_dir(include.join("hostcall")).expect("the parts of the header");
    names.extend(parts.map(|part| format!("hostcall/{}", part.expect("a part").file_name().display())));
    let mut texts: Vec<CString> = names.iter().map(|name| c(read(include.join(name)))).collect();
    names.push("services.cuh".to_owned());
    texts.push(c(read(root().join("examples/cuda/services.cuh"))));
    names.push("llvm_rpc_body.h".to_owned());
    texts.push(c(read(root().join("tests/cpp/cpp/llvm_rpc_body.h"))));
    names.push("embedding.cuh".to_owned());
    texts.push(c(read(root().join("examples/asserts/embedding.cuh"))));
    (names.into_iter().map(c).collect(), texts)
}

/// A kernel that asserts and prints by names of C's.
const ASSERTS: &str = r#"
#include "hostcall_assert.cuh"
#include "embedding.cuh"
extern "C" __global__ void embedding(float* out, const float* table, const long long* index, unsigned count, unsigned width, long long rows) {
    embed(out, table, index, count, width, rows, blockIdx.x * blockDim.x + threadIdx.x);
    printf("block %u: %s\n", blockIdx.x, "done");
}
"#;

/// Compiles an example; the PTX. Nothing may be said about it.
fn ptx(nvrtc: &Library, source: &str, options: &[&str]) -> String {
    let (names, texts) = headers();
    let text = match source {
        "asserts.cu" => c(ASSERTS),
        "llvm_rpc.cu" => c(read(root().join("tests/cpp/cpp").join(source))),
        _ => c(read(root().join("examples/cuda").join(source))),
    };
    let options: Vec<CString> = options.iter().map(|option| c(*option)).collect();
    let pointers = |all: &[CString]| all.iter().map(|text| text.as_ptr()).collect::<Vec<_>>();
    // SAFETY: the functions of `nvrtc.h`, with its types; every array has as many elements as is said, and lives until
    // the call has ended.
    unsafe {
        let create = nvrtc.get::<Create>(b"nvrtcCreateProgram").expect("a function");
        let compile = nvrtc.get::<Compile>(b"nvrtcCompileProgram").expect("a function");
        let destroy = nvrtc.get::<Destroy>(b"nvrtcDestroyProgram").expect("a function");
        let mut program = std::ptr::null_mut();
        let (h, n) = (pointers(&texts), pointers(&names));
        assert_eq!(create(&raw mut program, text.as_ptr(), c"kernels.cu".as_ptr(), h.len() as c_int, h.as_ptr(), n.as_ptr()), 0);
        let result = compile(program, options.len() as c_int, pointers(&options).as_ptr());
        let returned = |size: &[u8], get: &[u8]| {
            let (size, get) = (nvrtc.get::<Size>(size).expect("a function"), nvrtc.get::<Text>(get).expect("a function"));
            let mut bytes = 0;
            assert_eq!(size(program, &raw mut bytes), 0);
            let mut said = vec![0u8; bytes];
            assert_eq!(get(program, said.as_mut_ptr().cast()), 0);
            assert_eq!(said.pop(), Some(0), "a text of C");
            String::from_utf8(said).expect("text")
        };
        let log = returned(b"nvrtcGetProgramLogSize", b"nvrtcGetProgramLog");
        assert!(result == 0 && log.is_empty(), "{source}, {options:?}: {result}: {log}");
        let ptx = returned(b"nvrtcGetPTXSize", b"nvrtcGetPTX");
        destroy(&raw mut program);
        ptx
    }
}

fn load(library: &Path) -> Library {
    // SAFETY: NVIDIA's library, whose initialisers do nothing that concerns this process.
    unsafe { Library::new(library) }.expect("NVRTC loads")
}

#[test]
fn the_newest_compiles_headers_that_are_given_by_name() {
    let Some(library) = installed("cuda/nvidia/cu13/lib/libnvrtc.so.13") else { return };
    let nvrtc = load(&library);
    ptx(&nvrtc, "add42.cu", &["--std=c++17", "--gpu-architecture=compute_90"]);
    ptx(&nvrtc, "asserts.cu", &["--std=c++17", "--gpu-architecture=compute_90"]);
    ptx(&nvrtc, "behaviours.cu", &["--std=c++20", "--gpu-architecture=compute_90"]);
    ptx(&nvrtc, "llvm_rpc.cu", &["--std=c++17", "--gpu-architecture=compute_90"]);
}

#[test]
fn the_newest_compiles_for_debuggers_and_with_lines() {
    let Some(library) = installed("cuda/nvidia/cu13/lib/libnvrtc.so.13") else { return };
    let nvrtc = load(&library);
    for (option, section) in [("--device-debug", ".section\t.debug_info"), ("-lineinfo", "\t.loc\t")] {
        for source in ["add42.cu", "behaviours.cu"] {
            let text = ptx(&nvrtc, source, &["--std=c++17", "--gpu-architecture=compute_90", option]);
            assert!(text.contains(section), "{source}, {option}");
        }
    }
}

#[test]
fn that_of_cuda_12_4_compiles_and_its_assembler_assembles() {
    let Some(library) = installed("cuda-12.4/nvidia/cuda_nvrtc/lib/libnvrtc.so.12") else { return };
    let Some(ptxas) = installed("cuda-12.4/nvidia/cuda_nvcc/bin/ptxas") else { return };
    let nvrtc = load(&library);
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("kernels.ptx");
    for (source, standard, arch) in
        [("add42.cu", "17", "70"), ("add42.cu", "20", "90"), ("behaviours.cu", "17", "90"), ("asserts.cu", "17", "90")]
    {
        let options = [format!("--std=c++{standard}"), format!("--gpu-architecture=compute_{arch}")];
        let text = ptx(&nvrtc, source, &options.each_ref().map(String::as_str));
        assert!(text.contains(".version 8.4"), "the version of PTX of CUDA 12.4");
        assert!(text.contains("st.relaxed.sys.global.b128") && text.contains("ld.relaxed.sys.global.b128"), "{source}");
        std::fs::write(&file, text).expect("written");
        let mut command = Command::new(&ptxas);
        command.arg(format!("-arch=sm_{arch}")).arg("-Werror").arg(&file).arg("-o").arg(dir.path().join("kernels.cubin"));
        let output = command.output().expect("ptxas runs");
        assert!(
            output.status.success(),
            "{command:?}: {}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
    }
}
