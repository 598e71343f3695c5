//! Puts calls of hostcall's functions into PTX that another compiler made.
//!
//! Nothing of the text is written anew: what is added stands between pieces of it, so that all else is what it was,
//! byte for byte. The calls, the numbers in them and the words of places are those of the compiler's pass
//! (`probe/probe.cpp`), so that whoever listens cannot tell one from the other.
//!
//! Registers and parameters of a call are declared in braces around it. A call is `call.uni`, which says that all lanes
//! that run there make it, to one function: that is so of each call here, because none has a guard. Where the
//! instruction has one, the lanes that it leaves out jump over the call before: as a compiler writes `if (p) f();`, and
//! so that the assembler lets lanes meet again behind it (`bar.sync` and `mma.sync.aligned` want all of them).
//!
//! PTX wants a call's parameters to be stored just before it, with no other call between. An access that is there (LLVM
//! loads there what it stores) has its address kept, and is told of behind the call.

mod call;
mod function;
mod names;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;
use std::ops::Range;

use super::error::PtxError;
use super::library::{Library, changed, is_ours, target_number, version};
use super::module::{Function, Module, What};
use crate::Instrument;
use call::callee;
use function::Inserter;

/// A module with what was asked for.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Instrumented {
    /// Its text.
    pub ptx: String,
    /// What its `.target` says, as `sm_90a`.
    pub arch: String,
    /// The kernels that tell of themselves.
    pub kernels: Vec<String>,
    /// Accesses that are told of: calls that were added.
    pub accesses: usize,
    /// Beginnings of kernels, blocks and loops.
    pub steps: usize,
    /// Barriers.
    pub barriers: usize,
    /// Places in the source.
    pub sites: usize,
    /// Instructions that access memory and are not told of, by the first part of their names.
    pub untold: BTreeMap<String, usize>,
}

/// Which kernels are meant.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum Chosen<'a> {
    /// All of them.
    All,
    /// Those of which this says so. The second is what it is called in errors.
    Of(&'a dyn Fn(&str) -> bool, &'a str),
}

/// Instruments a module. `name` is what places are in that it says nothing of: its file, for people.
///
/// # Errors
///
/// [`PtxError`].
pub fn instrument(file: &[u8], name: &str, wanted: &Instrument, chosen: Chosen<'_>, library: &Library) -> Result<Instrumented, PtxError> {
    let text = super::file::text_of(file)?;
    let module = Module::read(text)?;
    check(&module, library)?;
    let kernels: Vec<&str> = module.functions.iter().filter(|f| f.is_entry && f.body.is_some()).map(|f| f.name).collect();
    let no_such = |wanted: &str| PtxError::NoSuchKernel {
        wanted: wanted.to_owned(),
        kernels: kernels.iter().map(|name| format!("`{name}`")).collect(),
    };
    for name in &wanted.kernels {
        if !kernels.contains(&name.as_str()) {
            return Err(no_such(&format!("`{name}`")));
        }
    }
    let is_meant = |name: &str| {
        let by_name = wanted.kernels.iter().any(|wanted| wanted == name);
        match chosen {
            Chosen::All => by_name || wanted.kernels.is_empty(),
            Chosen::Of(is, _) => by_name || is(name),
        }
    };
    let meant: HashSet<&str> = kernels.iter().copied().filter(|name| is_meant(name)).collect();
    if meant.is_empty() {
        return Err(no_such(if let Chosen::Of(_, said) = chosen { said } else { "at all" }));
    }
    let mut inserter = Inserter::new(&module, name, wanted);
    let mut changes: Vec<(Range<usize>, String)> = Vec::new();
    let mut declared = String::new();
    if meant.len() == kernels.len() {
        for function in &module.functions {
            changes.extend(inserter.function(function, None)?);
        }
    } else {
        // Others call the same functions, and are not to change by a byte: the chosen kernels get their own.
        let own = own_functions(&module, &meant);
        for function in &module.functions {
            if meant.contains(function.name) && function.is_entry {
                changes.extend(inserter.function(function, Some(&own))?);
            } else if let (Some(name), Some(body)) = (own.get(function.name), &function.body) {
                check_copy(function)?;
                let inside = inserter.function(function, Some(&own))?;
                let named = (function.name_at..function.name_at + function.name.len(), name.clone());
                let head = changed(text, function.kind_at..body.open, std::slice::from_ref(&named));
                let _ = writeln!(declared, "{}\n;", head.trim_end());
                let copy = changed(text, function.kind_at..function.span.end, &[vec![named], inside].concat());
                changes.push((function.span.end..function.span.end, format!("\n{copy}\n")));
            }
        }
    }
    let (theirs, ours) = (version(module.version.text(text)).unwrap_or_default(), library.version);
    if theirs < ours {
        changes.push((module.version.start..module.version.end, format!("{}.{}", ours.0, ours.1)));
    }
    let Inserter { sites, told, .. } = inserter;
    let front = format!("\n{}\n{}{declared}", library.text.trim(), sites.definitions());
    changes.push((module.head..module.head, front));
    changes.sort_by_key(|(range, _)| range.start);
    let mut kernels: Vec<String> = meant.into_iter().map(str::to_owned).collect();
    kernels.sort();
    Ok(Instrumented {
        ptx: changed(text, 0..text.len(), &changes),
        arch: module.target[0].to_owned(),
        kernels,
        accesses: told.accesses,
        steps: told.steps,
        barriers: told.barriers,
        sites: sites.count(),
        untold: told.untold,
    })
}

/// Registers that a kernel may have more than without calls: what sends a message wants some seventy. With more, fewer
/// waves run at once.
const MORE: u32 = 32;
/// The most that there are, and the fewest with which sending has been measured.
const REGISTERS: (u32, u32) = (40, 255);

impl Instrumented {
    /// The same, in which no kernel takes more than 32 registers more than the `own` of it when it has no calls; `None`:
    /// that is not known. What sends messages keeps values in memory then. Kernels that say themselves how many
    /// registers they have, or how many groups are to run at once, are left as they are.
    ///
    /// # Errors
    ///
    /// None, but that the text is read once more.
    pub fn limited(self, own: impl Fn(&str) -> Option<u32>) -> Result<Self, PtxError> {
        let module = Module::read(&self.ptx)?;
        let mut changes: Vec<(Range<usize>, String)> = Vec::new();
        for function in module.functions.iter().filter(|function| self.kernels.iter().any(|name| name == function.name)) {
            let Some(body) = &function.body else { continue };
            let head = &self.ptx[function.kind_at..body.open];
            let says = [".maxnreg", ".minnctapersm", ".maxnctapersm"].iter().any(|word| head.contains(word));
            if let Some(own) = own(function.name).filter(|_| !says) {
                let most = (own.saturating_add(MORE) & !7).clamp(REGISTERS.0, REGISTERS.1);
                changes.push((body.open..body.open, format!(".maxnreg {most}\n")));
            }
        }
        changes.sort_by_key(|(range, _)| range.start);
        let ptx = changed(&self.ptx, 0..self.ptx.len(), &changes);
        Ok(Self { ptx, ..self })
    }
}

/// Whether our functions can stand in the module.
fn check(module: &Module<'_>, library: &Library) -> Result<(), PtxError> {
    if let Some(ours) = module.words().map(|token| token.text(module.text)).find(|word| is_ours(word)) {
        return Err(PtxError::HasHostcall { name: ours.to_owned() });
    }
    let target = module.target[0];
    match target_number(target) {
        Some(number) if number >= library.target => {}
        _ => return Err(PtxError::Target { target: target.to_owned(), needed: format!("sm_{}", library.target) }),
    }
    // Since 6.4 GPUs whose lanes run by themselves have these only with a mask.
    let Some(theirs) = version(module.version.text(module.text)) else {
        return Err(PtxError::syntax(module.text, module.version.start, "`.version` is no version"));
    };
    if theirs < (6, 4) {
        for token in module.words() {
            let word = token.text(module.text);
            if (word.starts_with("shfl.") || word.starts_with("vote.")) && !word.contains(".sync") {
                return Err(PtxError::Outdated {
                    line: module.line(token.start),
                    instruction: word.to_owned(),
                    version: format!("{}.{}", library.version.0, library.version.1),
                });
            }
        }
    }
    Ok(())
}

/// Names of copies of the functions that these kernels call, directly or through others.
fn own_functions<'a>(module: &Module<'a>, kernels: &HashSet<&str>) -> HashMap<&'a str, String> {
    let with_body: HashMap<&str, &Function<'a>> =
        module.functions.iter().filter(|function| function.body.is_some()).map(|function| (function.name, function)).collect();
    let mut own = HashMap::new();
    let mut open: Vec<&Function<'a>> = kernels.iter().filter_map(|name| with_body.get(name).copied()).collect();
    while let Some(function) = open.pop() {
        for statement in function.body.iter().flat_map(|body| &body.statements) {
            let What::Instruction(instruction) = &statement.what else { continue };
            let Some(called) = callee(module, instruction).and_then(|(_, name)| with_body.get(name)).filter(|called| !called.is_entry)
            else {
                continue;
            };
            let number = own.len();
            own.entry(called.name).or_insert_with(|| {
                open.push(called);
                format!("__hostcall_probed_{number}")
            });
        }
    }
    own
}

/// Whether there can be two of a function.
fn check_copy(function: &Function<'_>) -> Result<(), PtxError> {
    for statement in function.body.iter().flat_map(|body| &body.statements) {
        if let What::Declaration(declaration) = &statement.what
            && [".global", ".const"].contains(&declaration.space)
        {
            let variable = declaration.names.first().map_or("", |(name, _)| name);
            return Err(PtxError::Static { function: function.name.to_owned(), variable: variable.to_owned() });
        }
    }
    Ok(())
}
