//! The part that all GPU targets share: from a kernel crate to optimised bitcode.
//!
//! Cargo builds the crate and its dependencies as a static library against the `core` and `alloc` of [`corelib`], with
//! link-time optimisation "on" (so that all of it ends as bitcode in one archive, allocator shim included) but with no
//! optimisation passes, and no linker is run. Then, outside rustc:
//!
//! 1. `llvm-link` makes one module of it. For NVIDIA, atomic instructions get the fences that the back end forgets
//!    ([`atomics`]). Calls of the most usual panics go to functions that need no text ([`panics`]).
//! 2. Every function is marked `convergent`, *before* any optimisation: without that LLVM may move a call that ends in
//!    a warp collective across a branch, and the lanes that arrive are others. What is rare or only writes text is
//!    marked to be kept small.
//! 3. All but kernels and the words that the host looks up becomes internal, and what they do not reach is dropped.
//!    Only then is the module optimised, for what is left is small.

use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};

use crate::cache::cached;
use crate::context::Context;
use crate::gpu::{Gpu, LAST_CRATE};
use crate::instrument;
use crate::module::{definition, is_kernel, symbol};
use crate::probe::Probe;
use crate::shared_stacks::StackError;
use crate::{BuildError, DeviceToolchain, atomics, constructors, corelib, flags, lanes, panics, recipe, shared_stacks, words};

/// Globals whose names begin so are looked up by the host.
const EXPORTED: [&str; 2] = ["__HOSTCALL_", "__hostcall_"];

/// Builds the crate for a GPU; the archive of unoptimised bitcode.
pub(crate) fn archive(context: &Context<'_>, gpu: &Gpu<'_>) -> Result<PathBuf, BuildError> {
    let mut all = flags::common();
    all.extend(gpu.flags());
    all.push(format!("--sysroot={}", corelib::sysroot(gpu, &context.source.target_dir)?.display()));
    context.source.remap(&mut all);
    if context.spec.instrument.is_some() {
        all.extend(instrument::flags());
    }
    let run = gpu
        .cargo(&context.source.dir, &context.target_dir(), &all)?
        .args(context.feature_arguments())
        .arg("--manifest-path")
        .arg(&context.source.manifest)
        .args(["--", LAST_CRATE, &format!("-Zcrate-attr=feature({})", flags::KERNEL_FEATURES)]);
    context.artifact(run, gpu.triple, ".a")
}

/// The crate as an image for a GPU, or as it was kept; `make` makes it of everything in one module, with a directory
/// for its own files.
pub(crate) fn image(
    context: &Context<'_>,
    gpu: &Gpu<'_>,
    probe: Option<&Probe>,
    make: impl FnOnce(&Path, &Path) -> Result<Vec<u8>, BuildError>,
) -> Result<Vec<u8>, BuildError> {
    let archive = archive(context, gpu)?;
    let bitcode = fs::read(&archive).map_err(BuildError::io("read", &archive))?;
    let identity = gpu.toolchain.identity();
    let probed = probe.map(Probe::identity).unwrap_or_default();
    let key: [&[u8]; 5] = [&bitcode, identity.as_bytes(), gpu.cpu.as_bytes(), recipe::images(), &probed];
    // (Without, the key has no such part.)
    let key = if probe.is_some() { &key[..] } else { &key[..4] };
    cached(&context.target_dir(), key, |dir| make(&link(gpu, &archive, dir)?, dir))
}

/// Everything in the archive as one module in `dir`; its path.
pub(crate) fn link(gpu: &Gpu<'_>, archive: &Path, dir: &Path) -> Result<PathBuf, BuildError> {
    let linked = dir.join("linked.bc");
    gpu.toolchain.llvm("llvm-link").arg("--ignore-non-bitcode").arg(archive).arg("-o").arg(&linked).output()?;
    Ok(linked)
}

/// What a module is, and so how it is optimised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// Kernels: speed of what is called often, and panics that are told in numbers.
    Kernels,
    /// A program with std, whose own panics go through std; much of what it brings runs once.
    Program,
}

/// A module, as text, and the names that must stay visible in it.
pub(crate) struct Prepared {
    pub(crate) text: String,
    exported: Vec<String>,
}

/// A module (as text) as it is marked and optimised; `package` is for errors.
pub(crate) fn prepared(package: &str, gpu: &Gpu<'_>, style: Style, module: &str) -> Result<Prepared, BuildError> {
    if style == Style::Kernels {
        constructors::refuse(package, constructors::of_module(module))?;
    }
    // AMD's back end keeps the orderings.
    let module = if gpu.triple.starts_with("nvptx") { atomics::fence(module) } else { Cow::Borrowed(module) };
    let module = if style == Style::Program { Cow::Owned(words::without_unused(&module)) } else { module };
    let names = exported_names(&module, gpu.convention);
    if !names.any_kernel {
        return Err(BuildError::NoKernel { package: package.to_owned() });
    }
    let text = match style {
        Style::Kernels => panics::replace(&module),
        // A program's entry is a kernel.
        Style::Program if kernel_attributes(&module, gpu.convention).lines().count() > 1 => module.into_owned(),
        Style::Program => lanes::none(&module),
    };
    Ok(Prepared { text, exported: names.all })
}

/// The module in `file`, of which this is the text, with its functions marked; the path of what is made.
fn marked(gpu: &Gpu<'_>, style: Style, text: &str, file: &Path, dir: &Path) -> Result<PathBuf, BuildError> {
    let [about, marked] = ["about.csv", "marked.bc"].map(|name| dir.join(name));
    fs::write(&about, attributes(gpu, style, text)).map_err(BuildError::io("write", &about))?;
    // A step of its own: reading bitcode gives intrinsics their own attributes back, and so undoes the marking of those
    // that are not convergent, like memcpy's.
    let opt = gpu.toolchain.llvm("opt").args(["-passes=forceattrs", "-force-attribute=convergent"]);
    opt.arg(format!("-forceattrs-csv-path={}", about.display())).arg(file).arg("-o").arg(&marked).output()?;
    Ok(marked)
}

/// What functions of the module (as text) are besides convergent, for `opt`'s `forceattrs`: a line for each attribute.
pub(crate) fn attributes(gpu: &Gpu<'_>, style: Style, text: &str) -> String {
    small_attributes(text, style, gpu.triple.starts_with("nvptx")) + &kernel_attributes(text, gpu.convention)
}

/// What `opt` is told of how large a function may be to be inlined.
pub(crate) fn inlining(gpu: &Gpu<'_>, style: Style) -> Vec<String> {
    match style {
        Style::Kernels => vec![format!("-inline-threshold={INLINE_THRESHOLD}")],
        Style::Program => {
            // Not `-inline-threshold`, which would also be that of code that is to be small.
            let mut all = vec![format!("-inlinedefault-threshold={PROGRAM_INLINE_THRESHOLD}")];
            if gpu.triple.starts_with("amdgcn") {
                // For AMD's GPUs LLVM adds 4000 to the threshold of a function that is passed the address of a
                // variable, so that the variable may become registers: most functions of a program go into all their
                // callers then. (`tests/programs/search`: 189 MB of module, and more than ten minutes; 27 MB and one
                // with this.)
                all.push("-amdgpu-inline-arg-alloca-cost=0".into());
            }
            all
        }
    }
}

/// The module `linked` to an optimised one in `dir`, with what `probe` puts into it; its path. `package` is for errors.
pub(crate) fn optimise(
    package: &str,
    gpu: &Gpu<'_>,
    style: Style,
    probe: Option<&Probe>,
    linked: &Path,
    dir: &Path,
) -> Result<PathBuf, BuildError> {
    let [replaced, exports, optimised] = ["replaced.ll", "exports", "optimised.bc"].map(|name| dir.join(name));
    let module = gpu.toolchain.llvm("llvm-dis").arg(linked).args(["-o", "-"]).text()?;
    let Prepared { text, exported } = prepared(package, gpu, style, &module)?;
    fs::write(&replaced, &text).map_err(BuildError::io("write", &replaced))?;
    fs::write(&exports, exported.join("\n")).map_err(BuildError::io("write", &exports))?;
    let marked = marked(gpu, style, &text, &replaced, dir)?;
    // The runtime's `core` and the program's have much in common. (Of equal functions the lines of one would stay.)
    let merge = if style == Style::Program && probe.is_none() { "mergefunc," } else { "" };
    gpu.toolchain
        .llvm("opt")
        .arg(format!("-passes=internalize,globaldce,default<O2>,{merge}globaldce"))
        .args(inlining(gpu, style))
        .arg(format!("-internalize-public-api-file={}", exports.display()))
        .arg(&marked)
        .arg("-o")
        .arg(&optimised)
        .output()?;
    probe.map_or(Ok(optimised.clone()), |probe| probe.run(&optimised, dir))
}

/// An instrumented module for this machine's processor as an object file in `dir`. No loop is vectorised, as on a GPU:
/// accesses are those that the source has.
pub(crate) fn for_processor(toolchain: &DeviceToolchain, probe: &Probe, linked: &Path, dir: &Path) -> Result<PathBuf, BuildError> {
    let [optimised, object] = ["optimised.bc", "instrumented.o"].map(|name| dir.join(name));
    let opt = toolchain.llvm("opt").args(["-passes=default<O2>", "-vectorize-loops=false", "-vectorize-slp=false"]);
    opt.arg(linked).arg("-o").arg(&optimised).output()?;
    let probed = probe.run(&optimised, dir)?;
    let llc = toolchain.llvm("llc").args(["-O2", "-filetype=obj", "-relocation-model=pic", "-function-sections", "-data-sections"]);
    llc.arg(&probed).arg("-o").arg(&object).output()?;
    Ok(object)
}

/// How large a function may be to be inlined unasked, in LLVM's units. Its default is 225, of which the NVIDIA back end
/// makes eleven times as much: a kernel with a few calls then holds the whole device library several times, and the
/// driver compiles all of it when the program is loaded. What must be inlined says so. (The kernels of the behaviour
/// tests: 5.4 MB of PTX at the default, 3.4 MB with this.)
const INLINE_THRESHOLD: u32 = 25;

/// That of programs with std: hello is 1.26 MB of PTX at 25, 1.17 MB with this.
const PROGRAM_INLINE_THRESHOLD: u32 = 5;

/// Code that is rare, or there to write text, above all about a panic: small is better than fast, for every kernel has
/// a copy of it, and the driver compiles all of them when the program is loaded. (`println!` of one float: 1.0 MB of
/// PTX and 6.9 s in `ptxas` without this, 0.74 MB and 3.3 s with it.) Parts of mangled paths, and whether to spare
/// nothing for it: what has loops over a call's units is larger by that.
const SMALL: [(&str, bool); 10] = [
    ("4core3fmt", true),
    ("7flt2dec", true),
    ("4core9panicking", true),
    ("5alloc3fmt", true),
    ("15hostcall_device5panic", true),
    ("12hostcall_abi4port6client", true),
    ("15hostcall_device7outcome6failed", true),
    ("15hostcall_device7staging", false),
    ("15hostcall_device7failure", false),
    ("12hostcall_abi7failure", false),
];

/// Of programs with std, also what runs once, or when something has gone wrong.
const SMALL_IN_PROGRAMS: [&str; 17] = [
    "3std9panicking",
    "3std3sys3env",
    "3std2rt",
    "3std2io5error",
    "3std2io5stdio",
    "3std5alloc",
    "3std6thread7current",
    "3std4hash6random",
    "3std4sync4once",
    "12hostcall_std5entry",
    "12hostcall_std7process",
    "12hostcall_std3net",
    "12hostcall_std4poll",
    "3std3sys5stdio",
    "3std2io8buffered",
    "3std3sys3pal4unix",
    "3std9backtrace",
];

/// Whether a function of that name is to be small; if so, whether at any price.
pub(crate) fn is_small(name: &str) -> Option<bool> {
    SMALL.iter().find(|(part, _)| name.contains(part)).map(|(_, all)| *all)
}

/// For `opt`: a line `name,attribute` for each attribute of each function that is to be small; some of them
/// `at_any_price`. (Not on AMD GPUs: for such functions LLVM 22 leaves a division by a constant as it is, and then
/// selects no instruction for one of 16 bits.)
fn small_attributes(module: &str, style: Style, at_any_price: bool) -> String {
    let mut lines = String::new();
    let in_program = |name: &str| style == Style::Program && SMALL_IN_PROGRAMS.iter().any(|part| name.contains(part));
    for (_, name) in module.lines().filter_map(definition) {
        let Some(all) = is_small(name).or_else(|| in_program(name).then_some(true)) else { continue };
        lines.extend([name, ",optsize\n"]);
        if all && at_any_price {
            lines.extend([name, ",minsize\n"]);
        }
    }
    lines
}

/// For `opt`: what makes each kernel unlike all others. Equal functions are merged into one that the other calls, and
/// nothing can call a kernel.
fn kernel_attributes(module: &str, convention: &str) -> String {
    let kernels = module.lines().filter_map(definition).filter(|(before, _)| is_kernel(before, convention));
    kernels.map(|(_, name)| format!("{name},hostcall-kernel={name}\n")).collect()
}

#[derive(Debug, Default, PartialEq, Eq)]
struct ExportedNames {
    all: Vec<String>,
    any_kernel: bool,
}

/// The symbols that must stay visible, from a module as text: kernels, by their calling convention, and the host's
/// words.
fn exported_names(module: &str, convention: &str) -> ExportedNames {
    let mut names = ExportedNames::default();
    let looked_up = |name: &str| EXPORTED.iter().any(|prefix| name.starts_with(prefix));
    for line in module.lines() {
        if let Some((before, name)) = definition(line) {
            let kernel = is_kernel(before, convention);
            names.any_kernel |= kernel;
            if kernel || looked_up(name) {
                names.all.push(name.to_owned());
            }
        } else if let Some(name) = line.strip_prefix('@').map(symbol).filter(|name| looked_up(name)) {
            names.all.push(name.to_owned());
        }
    }
    names
}

/// What [`shared_stacks`](crate::shared_stacks) has added to a module, inlined; its path.
pub(crate) fn with_stacks(package: &str, gpu: &Gpu<'_>, shared: Result<String, StackError>, dir: &Path) -> Result<PathBuf, BuildError> {
    let [rewritten, inlined] = ["stacks.ll", "stacks.bc"].map(|name| dir.join(name));
    let shared = shared
        .map_err(|problem| BuildError::Unexpected { command: format!("moving the stacks of {package}"), problem: problem.to_string() })?;
    fs::write(&rewritten, shared).map_err(BuildError::io("write", &rewritten))?;
    let opt = gpu.toolchain.llvm("opt").arg("-passes=verify,always-inline,function(early-cse,instsimplify),globaldce");
    opt.arg(&rewritten).arg("-o").arg(&inlined).output()?;
    Ok(inlined)
}

/// The optimised module with a word beside each kernel whose stack has no known bound; its path.
pub(crate) fn with_stack_words(gpu: &Gpu<'_>, module: &Path, dir: &Path) -> Result<PathBuf, BuildError> {
    let mut text = gpu.toolchain.llvm("llvm-dis").arg(module).args(["-o", "-"]).text()?;
    text += &stack_words(&text, gpu.convention);
    let worded = dir.join("worded.ll");
    fs::write(&worded, text).map_err(BuildError::io("write", &worded))?;
    Ok(worded)
}

/// Definitions of these words, which `hostcall_abi::STACK_PREFIX` names.
fn stack_words(module: &str, convention: &str) -> String {
    let kernels = shared_stacks::unbounded(module, convention).into_iter();
    kernels.map(|kernel| format!("@__HOSTCALL_STACK__{kernel} = protected addrspace(1) constant i32 1, align 4\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_kernels_whose_stack_has_no_known_bound_get_a_word() {
        let module = "define amdgpu_kernel void @leaf() {\n  ret void\n}\ndefine amdgpu_kernel void @deep() {\n  call void @again()\n  ret void\n}\n\
            define void @again() {\n  call void @again()\n  ret void\n}\n";
        let words = stack_words(module, "amdgpu_kernel");
        assert_eq!(words, "@__HOSTCALL_STACK__deep = protected addrspace(1) constant i32 1, align 4\n");
    }

    #[test]
    fn kernels_and_the_hosts_words_stay_visible_and_nothing_else() {
        let module = "@__HOSTCALL__Host__add42 = global i32 0\n@__hostcall_device = global [128 x i8] zeroinitializer\n@other = global i32 0\n\
            define protected amdgpu_kernel void @demo(ptr noundef %0) unnamed_addr #0 {\n  call void @__hostcall_x()\n}\n\
            define ptx_kernel void @\"odd name\"() {\ndefine internal void @_RNv3foo(ptr %0) {\n";
        let names = exported_names(module, "amdgpu_kernel");
        assert_eq!(names.all, ["__HOSTCALL__Host__add42", "__hostcall_device", "demo"]);
        assert!(names.any_kernel);
        assert!(!exported_names(module, "spir_kernel").any_kernel);
    }

    #[test]
    fn no_kernel_is_like_another() {
        let module = "define ptx_kernel void @a() {\n}\ndefine dso_local ptx_kernel void @b() {\n}\ndefine void @c() {\n}\n";
        assert_eq!(kernel_attributes(module, "ptx_kernel"), "a,hostcall-kernel=a\nb,hostcall-kernel=b\n");
    }

    #[test]
    fn code_that_writes_text_is_marked_small_and_other_code_is_not() {
        let module = "define internal void @_RNvNtNtCs8Y_4core3fmt5float3foo(ptr %0) {\ndefine void @_RNvCs8Y_4user4work() {\n";
        assert_eq!(
            small_attributes(module, Style::Kernels, true),
            "_RNvNtNtCs8Y_4core3fmt5float3foo,optsize\n_RNvNtNtCs8Y_4core3fmt5float3foo,minsize\n"
        );
        assert_eq!(small_attributes(module, Style::Kernels, false), "_RNvNtNtCs8Y_4core3fmt5float3foo,optsize\n");
    }
}
