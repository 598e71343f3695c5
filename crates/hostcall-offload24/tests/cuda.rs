//! The CUDA platform without a GPU, over the driver of `libhostcall`'s tests, which counts what it is asked.

#[path = "../../hostcall-offload/tests/common/mod.rs"]
mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::{command, compiler, liboffload, program_of, source};
use hostcall_build::Ptxas;
use hostcall_test_support::{succeed, text};

/// Kernels and variables as clang and `nvcc` write them, and what is neither.
const PTX: &str = "\
.version 6.3
.target sm_70
.address_size 64
.extern .func (.param .b32 result) vprintf (.param .b64 format, .param .b64 arguments);
.extern .shared .align 16 .b8 dynamic[];
.visible .global .align 16 .b8 table[64] = {1, 2, 3};
.visible .const .align 4 .u32 limit = 7;
.visible .global .align 8 .u64 zeroed;
.shared .align 4 .b8 tile[128];
.visible .func helper() { ret; }
.visible .entry add(.param .u64 add_param_0)
{
\t.reg .b64 %rd<3>;
\t.reg .b32 %r<3>;
\tld.param.u64 \t%rd1, [add_param_0];
\tld.global.u32 \t%r1, [table];
\tld.const.u32 \t%r2, [limit];
\tst.shared.u32 \t[tile], %r1;
\tst.global.u32 \t[%rd1], %r2;
\tst.global.u64 \t[zeroed], %rd1;
\tcall.uni helper;
\tret;
}
.visible .entry nothing() { ret; }
";

/// The driver.
fn driver(folder: &Path) -> PathBuf {
    let path = folder.join("libcuda.so.1");
    let mut compile = Command::new(compiler(false));
    compile.args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-O1", "-Wl,-soname,libcuda.so.1"]);
    compile.arg(source("fake_cuda_modules.c")).arg(liboffload().join("../hostcall-c/tests/c/fake_cuda.c"));
    succeed(compile.arg("-o").arg(&path));
    path
}

/// What the program says of an image.
fn said(folder: &Path, image: &Path) -> String {
    said_with(folder, image, "limit,table,zeroed")
}

/// The same of a driver whose modules have these variables.
fn said_with(folder: &Path, image: &Path, variables: &str) -> String {
    let driver = driver(folder).display().to_string();
    // Before the sources, so it is to be linked whether something has asked for it yet or not.
    let program = program_of(folder, "cuda24", &[source("cuda24.c")], true, &["-Wl,--no-as-needed", &driver]);
    let mut run = command(&program);
    run.arg(image).env("LD_LIBRARY_PATH", folder).env("OFFLOAD_PLATFORMS", "cuda");
    run.env("FAKE_CUDA_KERNELS", "add,nothing").env("FAKE_CUDA_VARIABLES", variables);
    text(&succeed(&mut run).stdout)
}

/// Each symbol is asked for once and as what it is: anything else is an error of this driver. Launches leave the
/// context current, and work whatever is current. Fills wait for nothing unless their patterns are long.
const EXPECTED: &str = "\
a lane's stack: 1024 bytes, 1024 once the program is loaded
kernels: add nothing
variables: limit table zeroed
questions besides: 0
launches: 10, changes of the current context in the last nine: 0
launches with another context or none: 4, the other one is current
fills of the GPU's memory: 0 bytes wrong, 0 too early; copies from the host: 0, of patterns of more than 64 bytes some
fills of the host's memory: 0 bytes wrong, 0 too early; copies from the host: 0, of patterns of more than 64 bytes some
destroyed while threads launched: 0 modules and 0 streams are left
";

#[test]
fn the_driver_is_asked_for_each_symbol_of_ptx_as_what_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let image = folder.path().join("image.ptx");
    std::fs::write(&image, PTX).unwrap();
    assert_eq!(said(folder.path(), &image), EXPECTED);
}

/// Opening a device changes no stack, nor does a program whose kernels the driver can tell what they need.
#[test]
fn stacks_grow_for_a_program_with_a_kernel_of_whose_stack_nobody_knows_the_bound() {
    let folder = tempfile::tempdir().unwrap();
    let image = folder.path().join("image.ptx");
    std::fs::write(&image, PTX).unwrap();
    let said = said_with(folder.path(), &image, "limit,table,zeroed,__HOSTCALL_STACK__nothing");
    assert!(said.contains("a lane's stack: 1024 bytes, 8192 once the program is loaded\n"), "{said}");
}

#[test]
fn the_driver_lists_the_kernels_of_a_fatbin_and_nobody_its_variables() {
    let folder = tempfile::tempdir().unwrap();
    let image = folder.path().join("image.fatbin");
    // Magic, version, size of the header, size of what follows; what that is the driver knows.
    let head = [&0xba55_ed50_u32.to_le_bytes()[..], &1u16.to_le_bytes(), &16u16.to_le_bytes(), &64u64.to_le_bytes()].concat();
    std::fs::write(&image, [head, vec![0; 64]].concat()).unwrap();
    assert_eq!(said(folder.path(), &image), EXPECTED.replace("variables: limit table zeroed", "variables: unsupported"));
}

#[test]
fn the_driver_is_asked_for_each_symbol_of_a_cubin_as_what_it_is() {
    let ptxas = match Ptxas::find() {
        Ok(ptxas) => ptxas,
        Err(error) => {
            assert!(std::env::var_os("CI").is_none(), "CI has to run this test: {error}");
            println!("skipped: {error}");
            return;
        }
    };
    let folder = tempfile::tempdir().unwrap();
    let (source, image) = (folder.path().join("image.ptx"), folder.path().join("image.cubin"));
    std::fs::write(&source, PTX).unwrap();
    succeed(Command::new(&ptxas.path).arg("-arch=sm_90").arg(&source).arg("-o").arg(&image));
    assert_eq!(said(folder.path(), &image), EXPECTED);
}
