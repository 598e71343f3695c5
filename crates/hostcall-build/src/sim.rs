//! The simulator's image: the kernel crate as a shared library of the machine that the host program is built for, by
//! the stable toolchain.

use std::{env, fs};

use object::{Object, ObjectSymbol};
use offload_image::{Image, ImageKind};

use crate::cache::cached;
use crate::command::Run;
use crate::context::Context;
use crate::instrument;
use crate::probe::Probe;
use crate::symbols::EXPORTED;
use crate::{BuildError, DeviceToolchain, Instrument, bitcode, cargo, constructors, flags, recipe};

/// Functions that the image may leave to the process that loads it: what the compiler itself calls and every C library
/// has, and the unwinder's entry, which the prebuilt `alloc` mentions and which an aborting panic never reaches.
const PROVIDED: [&str; 7] = ["memcpy", "memmove", "memset", "memcmp", "bcmp", "strlen", "_Unwind_Resume"];
/// One more on AArch64: when the image is loaded, `compiler_builtins` asks which atomic instructions the processor has.
const PROVIDED_ON_AARCH64: &str = "getauxval";

pub(crate) fn build(context: &Context<'_>) -> Result<Image, BuildError> {
    let triple = triple(&context.host.triple, |name| env::var(name).ok());
    let bytes = match &context.spec.instrument {
        Some(wanted) => instrumented(context, wanted, &triple)?,
        None => plain(context, &triple)?,
    };
    let symbols = undefined_symbols(&context.source.package, &bytes)?;
    if !symbols.is_empty() {
        return Err(BuildError::UndefinedSymbols { package: context.source.package.clone(), symbols });
    }
    let unexpected = || BuildError::Unexpected { command: "linking the simulator's image".into(), problem: "it is no library".into() };
    constructors::refuse(&context.source.package, constructors::of_library(&bytes).ok_or_else(unexpected)?)?;
    Ok(Image::new(ImageKind::Sim, triple, bytes))
}

/// By the host's own toolchain.
fn plain(context: &Context<'_>, triple: &str) -> Result<Vec<u8>, BuildError> {
    let mut all = flags::common();
    context.source.remap(&mut all);
    // Its build id is a hash over bytes that strip changes; the bundle has a better one.
    all.push("-Clink-arg=-Wl,--build-id=none".into());
    let run = context
        .host_cargo()
        .env("CARGO_TARGET_DIR", &context.source.target_dir)
        .env("CARGO_ENCODED_RUSTFLAGS", all.join("\u{1f}"))
        .env("CARGO_PROFILE_RELEASE_PANIC", "abort")
        .env("CARGO_PROFILE_RELEASE_STRIP", "debuginfo")
        .args(["rustc", "--release", "--lib", "--crate-type", "cdylib", "--target", triple])
        .args(context.feature_arguments())
        .arg("--manifest-path")
        .arg(&context.source.manifest)
        .arg(cargo::MESSAGES);
    let library = context.artifact(run, "the simulator", std::env::consts::DLL_SUFFIX)?;
    fs::read(&library).map_err(BuildError::io("read", &library))
}

/// By the device toolchain, whose LLVM can be given a pass: crates are compiled to bitcode, and instrumented when they
/// are one module. Its own `core` comes as machine code.
fn instrumented(context: &Context<'_>, wanted: &Instrument, triple: &str) -> Result<Vec<u8>, BuildError> {
    let toolchain = DeviceToolchain::find()?;
    let probe = Probe::new(wanted, &toolchain)?;
    let mut all = flags::common();
    context.source.remap(&mut all);
    all.extend(instrument::flags().chain(instrument::AS_BITCODE.map(String::from)));
    let target_dir = context.target_dir();
    let run = Run::new(&toolchain.cargo)
        .without_outer_cargo()
        .dir(&context.source.dir)
        .env("RUSTC", &toolchain.rustc)
        .env("CARGO_TARGET_DIR", target_dir.join("sim"))
        .env("CARGO_ENCODED_RUSTFLAGS", all.join("\u{1f}"))
        .env("CARGO_PROFILE_RELEASE_PANIC", "abort")
        .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "3")
        .env("RUSTC_BOOTSTRAP", "1")
        .args(["rustc", "--release", "--lib", "--crate-type", "staticlib", "--target", triple])
        .args(context.feature_arguments())
        .arg("--manifest-path")
        .arg(&context.source.manifest)
        .arg(cargo::MESSAGES);
    let archive = context.artifact(run, "the simulator", ".a")?;
    let bitcode = fs::read(&archive).map_err(BuildError::io("read", &archive))?;
    let (identity, probed) = (toolchain.identity(), probe.identity());
    cached(&target_dir, &[&bitcode, identity.as_bytes(), &probed, recipe::images(), include_bytes!("sim.rs")], |dir| {
        let [linked, library, script] = ["linked.bc", "image.so", "exports"].map(|name| dir.join(name));
        toolchain.llvm("llvm-link").arg("--ignore-non-bitcode").arg(&archive).arg("-o").arg(&linked).output()?;
        let object = bitcode::for_processor(&toolchain, &probe, &linked, dir)?;
        let exported: String = EXPORTED.iter().map(|prefix| format!("{prefix}*; ")).collect();
        fs::write(&script, format!("{{ global: {exported}local: *; }};\n")).map_err(BuildError::io("write", &script))?;
        let ld = toolchain.ld()?.args(["-shared", "-Bsymbolic", "--gc-sections", "--build-id=none", "--strip-debug"]);
        // The archive for what is machine code in it: all that was bitcode is in the object.
        ld.arg("--version-script").arg(&script).arg(&object).arg(&archive).arg("-o").arg(&library).output()?;
        fs::read(&library).map_err(BuildError::io("read", &library))
    })
}

/// Where the simulator will run: where the program runs whose build script we are in, if cargo says so; else on the
/// machine `own`.
fn triple(own: &str, variable: impl Fn(&str) -> Option<String>) -> String {
    let is_script = variable("HOST").is_some_and(|host| host == own) && variable("OUT_DIR").is_some();
    variable("TARGET").filter(|_| is_script).unwrap_or_else(|| own.to_owned())
}

/// The functions that an image would fail without, when it is loaded or later.
pub(crate) fn undefined_symbols(package: &str, library: &[u8]) -> Result<Vec<String>, BuildError> {
    let unexpected = |problem: String| BuildError::Unexpected { command: format!("linking the simulator image of {package}"), problem };
    let file = object::File::parse(library).map_err(|error| unexpected(error.to_string()))?;
    let more = (file.architecture() == object::Architecture::Aarch64).then_some(PROVIDED_ON_AARCH64);
    let mut symbols = Vec::new();
    for symbol in file.dynamic_symbols().filter(|symbol| symbol.is_undefined() && !symbol.is_weak()) {
        let name = symbol.name().map_err(|error| unexpected(error.to_string()))?;
        if !name.is_empty() && !PROVIDED.contains(&name) && more != Some(name) && !is_math(name) {
            symbols.push(name.to_owned());
        }
    }
    Ok(symbols)
}

/// The functions of the C mathematics library that Rust's float methods and LLVM's intrinsics call.
pub(crate) fn is_math(name: &str) -> bool {
    const MATH: [&str; 35] = [
        "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil", "copysign", "cos", "cosh", "erf", "exp", "exp2",
        "expm1", "fabs", "fdim", "floor", "fma", "fmax", "fmin", "fmod", "hypot", "log", "log10", "log1p", "log2", "pow", "rint", "round",
        "sin", "sinh", "sqrt", "tan",
    ];
    const MORE: [&str; 5] = ["tanh", "trunc", "roundeven", "nearbyint", "ldexp"];
    let base = name.strip_suffix('f').unwrap_or(name);
    [name, base].iter().any(|name| MATH.contains(name) || MORE.contains(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_script_says_where_the_simulator_will_run() {
        let own = "x86_64-unknown-linux-gnu";
        let of = |variables: &[(&str, &str)]| {
            triple(own, |name| variables.iter().find(|(own, _)| *own == name).map(|(_, value)| (*value).to_owned()))
        };
        let [host, target, out] = [("HOST", own), ("TARGET", "aarch64-unknown-linux-gnu"), ("OUT_DIR", "/out")];
        assert_eq!(of(&[host, target, out]), "aarch64-unknown-linux-gnu");
        // A variable of that name that somebody else has set says nothing.
        for some in [&[target][..], &[target, out], &[target, host], &[host, out], &[]] {
            assert_eq!(of(some), own);
        }
    }
}
