//! hostcall's own functions, as they are put into a module of others.

use std::collections::HashMap;
use std::ops::Range;

use super::error::PtxError;
use super::module::Module;

/// What names begin with that the host looks up, and those of ours that code is added with. A module of others has no
/// such name, or is refused: so nothing of both can have one name.
pub(crate) const OURS: [&str; 2] = ["__hostcall_", "__HOSTCALL_"];

/// Whether a name is the host's or ours.
pub(crate) fn is_ours(name: &str) -> bool {
    OURS.iter().any(|start| name.trim_start_matches('%').starts_with(start))
}

/// hostcall's functions that are called, and all that they need: `hostcall-device` as PTX, ready to stand before what
/// others compiled.
#[derive(Clone, Debug)]
pub struct Library {
    /// Without a head.
    pub(crate) text: String,
    pub(crate) version: (u32, u32),
    /// The number of the architecture.
    pub(crate) target: u32,
}

/// `8.4`
pub(crate) fn version(text: &str) -> Option<(u32, u32)> {
    let (major, minor) = text.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// The number in `sm_90a`.
pub(crate) fn target_number(arch: &str) -> Option<u32> {
    let rest = arch.strip_prefix("sm_")?;
    rest.trim_end_matches(|c: char| c.is_ascii_alphabetic()).parse().ok()
}

impl Library {
    /// From the PTX of a kernel crate that has these functions.
    ///
    /// # Errors
    ///
    /// [`PtxError`] if it is none.
    pub fn new(ptx: &str) -> Result<Library, PtxError> {
        let module = Module::read(ptx)?;
        let bad = |problem: &str| PtxError::Syntax { line: 1, problem: problem.to_owned() };
        let version = version(module.version.text(ptx)).ok_or_else(|| bad("`.version` is no version"))?;
        let target = module.target.first().and_then(|arch| target_number(arch)).ok_or_else(|| bad("`.target` is no architecture"))?;
        // Short names, which no module of others has.
        let mut names: HashMap<&str, String> = HashMap::new();
        let functions = module.functions.iter().filter(|function| !function.is_entry);
        let all = functions.map(|function| function.name).chain(module.variables.keys().copied());
        let mut all: Vec<&str> = all.filter(|name| !is_ours(name)).collect();
        all.sort_unstable();
        all.dedup();
        for (number, name) in all.into_iter().enumerate() {
            names.insert(name, format!("__hostcall_own_{number}"));
        }
        let mut changes: Vec<(Range<usize>, String)> = module
            .words()
            .filter_map(|token| names.get(token.text(ptx)).map(|name| (token.start..token.end, name.clone())))
            // They are the module's own, not for others to link to.
            .chain(module.functions.iter().filter(|f| !f.is_entry).map(|f| (f.span.start..f.kind_at, String::new())))
            .collect();
        // A module has a kernel, and this has none of others.
        for entry in module.functions.iter().filter(|function| function.is_entry) {
            changes.retain(|(range, _)| range.end <= entry.span.start || range.start >= entry.span.end);
            changes.push((entry.span.clone(), String::new()));
        }
        changes.sort_by_key(|(range, _)| range.start);
        Ok(Library { text: changed(ptx, module.head..ptx.len(), &changes), version, target })
    }
}

/// A piece of a text with changes, which are in order and none within another.
pub(crate) fn changed(text: &str, piece: Range<usize>, changes: &[(Range<usize>, String)]) -> String {
    let more: usize = changes.iter().map(|(_, with)| with.len()).sum();
    let mut out = String::with_capacity(piece.len() + more);
    let mut at = piece.start;
    for (range, with) in changes.iter().filter(|(range, _)| range.start >= piece.start && range.end <= piece.end) {
        out.push_str(&text[at..range.start]);
        out.push_str(with);
        at = range.end;
    }
    out + &text[at..piece.end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_ours_get_names_that_nobody_else_has() {
        let ptx = "// x\n.version 8.4\n.target sm_70\n.address_size 64\n.func helper\n(.param .b32 helper_param_0)\n;\n\
                   .visible .const .align 64 .b8 __hostcall_device[128];\n.global .align 1 .b8 anon[2] = {1, 2};\n\
                   .visible .func __hostcall_probe_access(.param .b64 p)\n{\nmov.b64 %rd1, anon;\ncall.uni helper, (q);\n}\n.func helper(.param .b32 helper_param_0)\n{ ret; }\n\
                   .visible .entry nothing()\n{ call.uni helper, (q); }\n";
        let library = Library::new(ptx).expect("PTX");
        assert_eq!((library.version, library.target), ((8, 4), 70));
        assert_eq!(
            library.text,
            "\n.func __hostcall_own_1\n(.param .b32 helper_param_0)\n;\n.visible .const .align 64 .b8 __hostcall_device[128];\n\
             .global .align 1 .b8 __hostcall_own_0[2] = {1, 2};\n.func __hostcall_probe_access(.param .b64 p)\n{\nmov.b64 %rd1, __hostcall_own_0;\n\
             call.uni __hostcall_own_1, (q);\n}\n.func __hostcall_own_1(.param .b32 helper_param_0)\n{ ret; }\n\n"
        );
    }

    #[test]
    fn versions_and_architectures_are_numbers() {
        assert_eq!((version("8.4"), version("12.0"), version("x")), (Some((8, 4)), Some((12, 0)), None));
        assert_eq!((target_number("sm_90a"), target_number("sm_120f"), target_number("compute_90")), (Some(90), Some(120), None));
    }
}
