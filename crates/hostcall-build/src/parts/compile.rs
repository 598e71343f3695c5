//! The parts of a program, compiled: as many at once as there are processors, and each only if it was not compiled
//! before.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use super::{Facts, LIBRARY, Part, split};
use crate::bitcode::{self, Style};
use crate::cache::{cache_directory, cached};
use crate::gpu::Gpu;
use crate::module::{definition, function};
use crate::stdlib::shorten;
use crate::{BuildError, at_once, copies, nvptx, progress, recipe, shared_stacks, statics};

/// What all parts of a program have in common.
struct Whole {
    /// Lanes of a workgroup that may have a stack.
    lanes: u32,
    /// Whether the runtime copies.
    serves: bool,
}

/// PTX of a program (a module as text, of which all is reached), compiled in parts; `None` if it cannot be cut. `own`
/// are the symbols of the program's objects, `libraries` the names of the crates that std is made of.
pub(crate) fn ptx(
    package: &str,
    gpu: &Gpu<'_>,
    module: &str,
    own: &HashSet<&str>,
    libraries: &HashSet<&str>,
) -> Result<Option<Vec<u8>>, BuildError> {
    let module = bitcode::prepared(package, gpu, Style::Program, module)?.text;
    let module = statics::opened(&module).unwrap_or(module);
    let circles = shared_stacks::circles(&module);
    let Some(parts) = split(&module, &Facts { own, libraries }, &circles) else { return Ok(None) };
    let whole = Whole { lanes: shared_stacks::lanes(&module), serves: copies::serves(&module) };
    let cache = cache_directory("parts")?;
    let done = progress::Parts::of(parts.len());
    let compiled = at_once::each(
        &parts,
        |part| part.text.len(),
        |part| {
            let text = kept(package, gpu, part, &whole, &cache)?;
            done.one();
            Ok((part.name.clone(), text))
        },
    )?;
    // What is not understood comes back empty.
    if compiled.iter().any(|(_, text)| text.is_empty()) {
        return Ok(None);
    }
    Ok(shorten::merged(&compiled).map(String::into_bytes))
}

/// A part's PTX, as it was kept or compiled now.
fn kept(package: &str, gpu: &Gpu<'_>, part: &Part, whole: &Whole, cache: &Path) -> Result<String, BuildError> {
    let facts = format!("{} {} {} {:?}", part.name, whole.lanes, whole.serves, part.checked);
    let identity = gpu.toolchain.identity();
    let recipe = recipe::parts();
    let key: [&[u8]; 6] =
        [part.text.as_bytes(), facts.as_bytes(), identity.as_bytes(), gpu.cpu.as_bytes(), recipe::images(), recipe.as_bytes()];
    let ptx = cached(cache, &key, |dir| {
        let ptx = compile(package, gpu, part, whole, dir)?;
        Ok(shorten::shorten_part(&ptx, &part.name).unwrap_or_default().into_bytes())
    })?;
    String::from_utf8(ptx)
        .map_err(|_| BuildError::Unexpected { command: format!("compiling {}", part.name), problem: "PTX is UTF-8".into() })
}

fn compile(package: &str, gpu: &Gpu<'_>, part: &Part, whole: &Whole, dir: &Path) -> Result<String, BuildError> {
    let [text, about] = ["part.ll", "about.csv"].map(|name| dir.join(name));
    fs::write(&text, &part.text).map_err(BuildError::io("write", &text))?;
    let mut attributes = bitcode::attributes(gpu, Style::Program, &part.text) + &convergent(&part.text);
    // Of equal functions one stays: none that looks instead of one that does not, nor the other way round.
    attributes.extend(part.checked.iter().map(|name| format!("{name},hostcall-checked=yes\n")));
    fs::write(&about, attributes).map_err(BuildError::io("write", &about))?;
    // One step where a whole program takes three: a process takes longer to start than many a part to be optimised.
    let opt = gpu.toolchain.llvm("opt").arg("-passes=forceattrs,globaldce,mergefunc,default<O2>,mergefunc,globaldce");
    let opt = opt.arg(format!("-forceattrs-csv-path={}", about.display())).args(bitcode::inlining(gpu, Style::Program));
    let module = opt.arg(&text).args(["-S", "-o", "-"]).text()?;
    let module = if whole.serves { copies::served_elsewhere(&module) } else { module };
    // What the optimiser has made of a function under another name looks, too.
    let unchecked: HashSet<&str> =
        part.text.lines().filter_map(definition).map(|(_, name)| name).filter(|name| !part.checked.contains(*name)).collect();
    let shared = shared_stacks::share_part(&module, whole.lanes, part.name == LIBRARY, |name| !unchecked.contains(name));
    nvptx::code(gpu, &bitcode::with_stacks(package, gpu, shared, dir)?, dir)
}

/// For `opt`: all functions are convergent but LLVM's own, of which it knows. A part has no names that would be in
/// quotes.
fn convergent(module: &str) -> String {
    let functions = module.lines().filter_map(function).filter(|name| !name.starts_with("llvm."));
    functions.map(|name| format!("{name},convergent\n")).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::{DeviceToolchain, NVPTX_ARCH};

    #[test]
    fn of_equal_functions_one_stays_unless_only_one_looks_at_the_end_of_the_stack() {
        let toolchain = match DeviceToolchain::find() {
            Ok(toolchain) => toolchain,
            Err(error) => return println!("not run: {error}"),
        };
        let function = |name: &str| {
            let steps: String =
                (1..9).map(|n| format!("  %v{n} = mul i32 %v{}, 12345{n}\n  store volatile i32 %v{n}, ptr %at\n", n - 1)).collect();
            format!("define void @{name}(ptr %at, i32 %v0) {{\n{steps}  ret void\n}}\n")
        };
        let text = format!("target triple = \"nvptx64-nvidia-cuda\"\n{}{}", function("first"), function("second"));
        let bodies = |checked: &[&str]| {
            let checked: BTreeSet<String> = checked.iter().map(ToString::to_string).collect();
            let part = Part { name: "user".into(), text: text.clone(), checked };
            let dir = tempfile::tempdir().expect("a directory");
            let whole = Whole { lanes: 1, serves: false };
            let ptx = compile("user", &Gpu::nvidia(&toolchain, NVPTX_ARCH), &part, &whole, dir.path()).expect("it compiles");
            ptx.lines().filter(|line| line.trim_start().starts_with("st.volatile")).count() / 8
        };
        assert_eq!(bodies(&[]), 1);
        assert_eq!(bodies(&["first", "second"]), 1);
        assert_eq!(bodies(&["first"]), 2);
    }
}
