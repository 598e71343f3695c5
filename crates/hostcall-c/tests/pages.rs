//! What docs/guide/c.md and docs/guide/bindgen.md show in C and in C++ compiles, as it stands there.

mod common;

use std::path::Path;
use std::process::Command;

use common::{C, CPP, Compiler, bindings_of, folder, nvcc};
use hostcall_idl::generate::{Language, Namespace};
use hostcall_test_support::succeed;

/// The services of docs/guide/bindgen.md's examples.
const SERVICES: &str = "
#[derive(hostcall::Plain)]
#[repr(C)]
pub struct Refused {
    pub block: u32,
}

#[hostcall::service]
pub trait Host {
    fn add42(x: f32) -> f32;
    fn fill(block: u32, out: &mut [u8]) -> Result<u32, Refused>;
}
";

/// A page's blocks of a language, in order.
fn blocks(page: &str, language: &str) -> Vec<String> {
    let text = std::fs::read_to_string(folder().join("../../docs/guide").join(page)).expect("the page");
    let opened = format!("```{language}\n");
    text.split(&opened).skip(1).map(|rest| rest.split("```").next().expect("a block").to_owned()).collect()
}

/// A block as a file: from the line that begins with `statements` on it is the body of a function that has
/// `parameters`.
fn file(block: &str, statements: &str, before: &str, parameters: &str) -> String {
    let at = if block.starts_with(statements) { 0 } else { block.find(&format!("\n{statements}")).expect("the line") + 1 };
    let (global, body) = block.split_at(at);
    format!("{before}{global}\nvoid body({parameters});\nvoid body({parameters}) {{\n{body}}}\n")
}

/// Compiles a file with each compiler that there is. Warnings are errors, but for what the examples leave out: the use
/// of a handler's parameters.
fn compile(compilers: &[Compiler], include: &Path, name: &str, text: &str) {
    std::fs::write(include.join(name), text).expect("a source");
    for compiler in compilers.iter().filter(|compiler| compiler.is_usable()) {
        let mut command = Command::new(compiler.command);
        command.args([compiler.standard, "-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wno-unused-parameter"]);
        command.args(["-Wno-unused-variable", "-Wno-unused-function", "-I"]).arg(folder().join("include"));
        succeed(command.arg("-I").arg(include).arg(include.join(name)));
    }
}

#[test]
fn the_examples_of_the_page_about_hosts_compile() {
    let to = tempfile::tempdir().unwrap();
    let c = blocks("c.md", "c");
    assert_eq!(c.len(), 1);
    let before = "#include <hostcall.h>\n#include <string.h>\ntypedef struct CUfunc *CUfunction;\ntypedef struct CUstr *CUstream;\n\
        int cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **, void **);\n";
    let parameters = "hc_device *device, hc_server *server, hc_attachment *attachment, void *module, CUfunction function, CUstream stream, void **arguments";
    compile(&C, to.path(), "five_steps.c", &file(&c[0], "hc_device_from_cuda_context", before, parameters));
    // The first is lines of a program, which the tests of that program compare.
    let cpp = blocks("c.md", "cpp");
    assert_eq!(cpp.len(), 2);
    compile(&CPP, to.path(), "classes.cpp", &file(&cpp[1], "hostcall::host::device device", "#include <hostcall.hpp>\n", ""));
}

#[test]
fn the_examples_of_the_page_about_bindings_compile() {
    let to = tempfile::tempdir().unwrap();
    for (language, name) in [(Language::C, "services.h"), (Language::CppHost, "services.hpp"), (Language::Cuda, "services.cuh")] {
        std::fs::write(to.path().join(name), bindings_of(SERVICES, language, &Namespace::default())).unwrap();
    }
    let c = blocks("bindgen.md", "c");
    assert_eq!(c.len(), 1);
    compile(&C, to.path(), "host.c", &file(&c[0], "hc_register", "", "hc_server *server"));
    let cpp = blocks("bindgen.md", "cpp");
    let [kernel, host] = &cpp[..] else { panic!("{cpp:?}") };
    compile(&CPP, to.path(), "host.cpp", &file(host, "auto service", "", "hostcall::host::server &server"));
    let Some(nvcc) = nvcc() else { return };
    let source = to.path().join("kernel.cu");
    std::fs::write(&source, kernel).unwrap();
    let mut command = Command::new(nvcc);
    command.args(["-std=c++17", "-arch=sm_90", "-ptx", "-Werror=all-warnings", "-I"]).arg(folder().join("../../include"));
    succeed(command.arg(&source).arg("-o").arg(to.path().join("kernel.ptx")));
}
