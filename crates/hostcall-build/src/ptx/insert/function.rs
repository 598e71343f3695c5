//! What is put into a function.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::ops::Range;

use hostcall_abi::stream::builtin::{OF_BARRIER, OF_KERNEL};
use hostcall_abi::stream::{Access as Told, AccessKind, StepKind};

use super::call::{begin, call, callee, of_calls};
use super::names::{Named, Names, Scope};
use crate::Instrument;
use crate::ptx::access::{Access, Bytes, Touches, Window, touches};
use crate::ptx::error::PtxError;
use crate::ptx::flow::blocks;
use crate::ptx::module::{Function, Guard, Instruction, Loc, Module, Statement, What, parse_number};
use crate::ptx::sites::{Place, Sites};
use crate::ptx::token::Kind;

#[derive(Default)]
pub(super) struct Counts {
    pub(super) accesses: usize,
    pub(super) steps: usize,
    pub(super) barriers: usize,
    pub(super) untold: BTreeMap<String, usize>,
}

/// An access, where it stands.
struct Met<'s, 'a> {
    names: &'s Names<'a>,
    instruction: &'s Instruction<'a>,
    access: &'s Access,
    /// The variable of its place in the source.
    site: String,
    /// Where its statement begins.
    at: usize,
}

/// An access whose address is kept until a call is over.
struct Kept {
    register: String,
    call: Call,
}

/// What is told, but for the address.
struct Call {
    kind: AccessKind,
    window: Window,
    bytes: u32,
    site: String,
}

pub(super) struct Inserter<'m, 'a> {
    module: &'m Module<'a>,
    name: &'m str,
    wanted: &'m Instrument,
    pub(super) sites: Sites,
    calls: u32,
    pub(super) told: Counts,
}

/// The register with the time at which a kernel's wave began.
const START: &str = "%__hostcall_start";

impl<'m, 'a> Inserter<'m, 'a> {
    pub(super) fn new(module: &'m Module<'a>, name: &'m str, wanted: &'m Instrument) -> Self {
        Self { module, name, wanted, sites: Sites::of(module.text), calls: 0, told: Counts::default() }
    }

    /// What is changed in a function: in order, none within another. `own` says which functions are called instead of
    /// others.
    pub(super) fn function(
        &mut self,
        function: &Function<'a>,
        own: Option<&HashMap<&str, String>>,
    ) -> Result<Vec<(Range<usize>, String)>, PtxError> {
        let Some(body) = &function.body else { return Ok(Vec::new()) };
        let module = self.module;
        let mut changes: Vec<(Range<usize>, String)> = Vec::new();
        let mut names = Names(vec![Scope::default()]);
        for (name, space) in &module.variables {
            names.0[0].named.insert(name, Named::Variable(space));
        }
        names.0.push(Scope::default());
        function.parameters.iter().for_each(|parameter| names.declare(parameter));
        let steps: HashMap<usize, (u32, StepKind)> = if self.wanted.blocks || self.wanted.loops {
            let all = blocks(module, body).into_iter();
            let all = all.map(|begin| (begin.statement, if begin.is_loop { StepKind::Loop } else { StepKind::Block }));
            all.filter(|(_, kind)| self.wanted.blocks || *kind == StepKind::Loop)
                .zip(1..)
                .map(|((at, kind), number)| (at, (number, kind)))
                .collect()
        } else {
            HashMap::new()
        };
        let is_timed = function.is_entry && (self.wanted.blocks || self.wanted.loops);
        let calls = of_calls(module, function);
        let mut own_registers = String::new();
        let (mut kept, mut kept_count): (Vec<Kept>, usize) = (Vec::new(), 0);
        let (mut loc, mut begun) = (None, false);
        for (at, statement) in body.statements.iter().enumerate() {
            let (mut before, mut behind) = (String::new(), String::new());
            let begins = matches!(statement.what, What::Label(_) | What::Open | What::Instruction(_));
            if begins && !std::mem::replace(&mut begun, true) && is_timed {
                let first = body.statements.iter().find_map(|statement| known(&statement.what));
                let site = self.site(function, first, function.name_at);
                self.step(&mut before, StepKind::Kernel, 0, &site);
                let _ = write!(own_registers, "\n.reg .b64 {START};");
                before += &begin(START);
            }
            match &statement.what {
                What::Open => names.0.push(Scope::default()),
                What::Close => _ = names.0.pop(),
                What::Declaration(declaration) => names.declare(declaration),
                What::Loc(_) => loc = known(&statement.what).or(loc),
                What::Instruction(instruction) => {
                    let site = |inserter: &mut Self| inserter.site(function, loc, statement.start);
                    if let Some((number, kind)) =
                        steps.get(&at).filter(|(number, kind)| !(is_timed && *number == 1 && *kind == StepKind::Block))
                    {
                        let site = site(self);
                        self.step(&mut before, *kind, *number, &site);
                    }
                    if self.wanted.accesses {
                        match touches(instruction) {
                            Touches::Untold => self.untold(instruction),
                            Touches::All(all) => {
                                for access in all {
                                    let site = site(self);
                                    let met = Met { names: &names, instruction, access: &access, site, at: statement.start };
                                    match calls[at] {
                                        None => before += &self.access(met)?,
                                        Some(_) => match self.keep(met, kept_count)? {
                                            Some((text, one)) => {
                                                kept_count += 1;
                                                before += &text;
                                                kept.push(one);
                                            }
                                            None => self.untold(instruction),
                                        },
                                    }
                                }
                            }
                        }
                    }
                    if is_timed && (instruction.is("ret") || instruction.is("exit")) {
                        let site = site(self);
                        let end = self.end(START, OF_KERNEL, &site);
                        before += &self.guarded(instruction.guard, &[], end);
                    }
                    if self.wanted.barriers && waits(instruction) {
                        let site = site(self);
                        self.barrier(&mut before, &mut behind, instruction.guard, &site);
                    }
                    if let Some((range, name)) =
                        own.and_then(|own| callee(module, instruction).and_then(|(range, name)| Some((range, own.get(name)?))))
                    {
                        changes.push((range, name.clone()));
                    }
                }
                What::Label(_) | What::Directive { .. } => {}
            }
            if !kept.is_empty() && calls.get(at + 1).is_none_or(|next| *next != calls[at]) {
                for one in kept.drain(..) {
                    behind += &self.tell_kept(&one);
                }
            }
            if !before.is_empty() {
                changes.push((statement.start..statement.start, before));
            }
            if !behind.is_empty() {
                changes.push((statement.end..statement.end, behind));
            }
        }
        if is_timed && !body.statements.iter().rev().find_map(of_instruction).is_some_and(Instruction::ends_always) {
            let site = self.site(function, loc, body.close);
            let end = self.end(START, OF_KERNEL, &site);
            changes.push((body.close..body.close, end));
        }
        for number in 0..kept_count {
            let _ = write!(own_registers, "\n.reg .b64 {};", kept_register(number));
        }
        if !own_registers.is_empty() {
            changes.push((body.open + 1..body.open + 1, own_registers));
        }
        changes.sort_by_key(|(range, _)| range.start);
        Ok(changes)
    }

    fn untold(&mut self, instruction: &Instruction<'_>) {
        let first = instruction.opcode.split('.').next().unwrap_or_default();
        *self.told.untold.entry(first.to_owned()).or_default() += 1;
    }

    /// The number of a call, above what it is.
    fn next_call(&mut self) -> u32 {
        let call = self.calls & 0xffff;
        self.calls += 1;
        call << 16
    }

    /// The variable of a place: what the debug information says, or else the line of the PTX.
    fn site(&mut self, function: &Function<'_>, loc: Option<Loc<'_>>, at: usize) -> String {
        let module = self.module;
        let known = loc.and_then(|loc| Some((loc, module.files.get(&loc.file)?)));
        // Its name as the host's launches have it.
        let kernel = if function.is_entry { function.name.to_owned() } else { String::new() };
        self.sites.name(match known {
            Some((loc, file)) => {
                let inlined = loc.function.and_then(|(label, offset)| module.names.get(label)?.get(offset as usize..)?.split('\0').next());
                let name = inlined.filter(|name| !name.is_empty()).unwrap_or(function.name);
                Place { file: file.clone(), function: readable(name), line: loc.line, column: loc.column, kernel }
            }
            None => Place { file: self.name.to_owned(), function: readable(function.name), line: module.line(at), column: 1, kernel },
        })
    }

    /// A piece that only the lanes run that the instruction's guard lets through, and of which no predicate of `unless`
    /// is true.
    fn guarded(&mut self, guard: Option<Guard<'_>>, unless: &[String], text: String) -> String {
        if guard.is_none() && unless.is_empty() {
            return text;
        }
        let label = format!("__hostcall_past_{}", self.next_label());
        let mut out = String::new();
        if let Some(Guard { negated, register }) = guard {
            let _ = writeln!(out, "@{}{register} bra {label};", if negated { "" } else { "!" });
        }
        for predicate in unless {
            let _ = writeln!(out, "@{predicate} bra {label};");
        }
        out + &text + &label + ":\n"
    }

    fn next_label(&mut self) -> u32 {
        self.calls += 1;
        self.calls
    }

    fn step(&mut self, out: &mut String, kind: StepKind, number: u32, site: &str) {
        let what = kind as u32 | self.next_call();
        out.push_str(&call("__hostcall_probe_step", &[("b32", &what.to_string()), ("b32", &number.to_string()), ("site", site)]));
        self.told.steps += 1;
    }

    /// What has begun at `start` ends.
    fn end(&mut self, start: &str, label: u32, site: &str) -> String {
        let what = label | self.next_call();
        call("__hostcall_probe_end", &[("b64", start), ("b32", &what.to_string()), ("site", site)])
    }

    /// Around a barrier. The instruction may write its own guard.
    fn barrier(&mut self, before: &mut String, behind: &mut String, guard: Option<Guard<'_>>, site: &str) {
        const WAITS: &str = "%__hostcall_waits";
        let _ = writeln!(before, "{{\n.reg .b64 {WAITS};\nmov.u64 {WAITS}, 0;");
        *before += &self.guarded(guard, &[], begin(WAITS));
        // (Which sends nothing of what has not begun.)
        *behind = format!("\n{}}}", self.end(WAITS, OF_BARRIER, site));
        self.told.barriers += 1;
    }

    /// The call before an access.
    fn access(&mut self, Met { names, instruction, access, site, at }: Met<'_, '_>) -> Result<String, PtxError> {
        const ADDRESS: &str = "%__hostcall_address";
        let mut bytes = access.bytes.clone();
        let mut unless = Vec::new();
        if let Some(fewer) = &access.fewer {
            match names.find(self.module.between(fewer)) {
                Some(Named::Register(1)) => unless.push(self.module.between(fewer).to_owned()),
                _ => bytes = Bytes::Say(fewer.clone()),
            }
        }
        let mut text = format!("{{\n.reg .b64 {ADDRESS};\n");
        text += &self.address(names, access, ADDRESS, at)?;
        let what = access.kind as u32 | (access.window.space() as u32) << 2 | self.next_call();
        let constant = match &bytes {
            Bytes::Are(bytes) => Some(*bytes),
            Bytes::Say(range) => {
                parse_number(self.module.between(range)).filter(|bytes| *bytes <= Told::MAX_BYTES && bytes.is_power_of_two())
            }
        };
        match (constant, &bytes) {
            (Some(bytes), _) => {
                let what = (what | bytes.min(0x7ff) << 5).to_string();
                text += &call("__hostcall_probe_access", &[("b64", ADDRESS), ("b32", &what), ("site", &site)]);
            }
            (None, Bytes::Say(range)) => {
                const LENGTH: &str = "%__hostcall_length";
                let said = self.module.between(range);
                let _ = match names.find(said) {
                    Some(Named::Register(32)) => writeln!(text, ".reg .b64 {LENGTH};\ncvt.u64.u32 {LENGTH}, {said};"),
                    _ => writeln!(text, ".reg .b64 {LENGTH};\nmov.u64 {LENGTH}, {said};"),
                };
                text += &call("__hostcall_probe_range", &[("b64", ADDRESS), ("b64", LENGTH), ("b32", &what.to_string()), ("site", &site)]);
            }
            (None, Bytes::Are(_)) => {}
        }
        text += "}\n";
        if let Some(lanes) = access.lanes {
            const OTHERS: &str = "%__hostcall_others";
            const LANE: &str = "%__hostcall_lane";
            let inside = self.guarded(None, &[OTHERS.to_owned()], text);
            text = format!(
                "{{\n.reg .pred {OTHERS};\n.reg .b32 {LANE};\nmov.u32 {LANE}, %laneid;\nsetp.ge.u32 {OTHERS}, {LANE}, {lanes};\n{inside}}}\n"
            );
        }
        self.told.accesses += 1;
        Ok(self.guarded(instruction.guard, &unless, text))
    }

    /// An access between a call's parameters: its address is kept, or 0. `None`: it cannot be.
    fn keep(
        &mut self,
        Met { names, instruction, access, site, at }: Met<'_, '_>,
        number: usize,
    ) -> Result<Option<(String, Kept)>, PtxError> {
        let Access { kind, window, bytes: Bytes::Are(bytes), fewer: None, lanes: None, .. } = *access else { return Ok(None) };
        let register = kept_register(number);
        let mut text = String::new();
        match instruction.guard {
            // (No jump, either: that of the call is in one piece with its parameters.)
            Some(Guard { negated, register: guard }) => {
                const ADDRESS: &str = "%__hostcall_address";
                let _ = write!(text, "{{\n.reg .b64 {ADDRESS};\n{}", self.address(names, access, ADDRESS, at)?);
                let (one, other) = if negated { ("0", ADDRESS) } else { (ADDRESS, "0") };
                let _ = write!(text, "selp.b64 {register}, {one}, {other}, {guard};\n}}\n");
            }
            None => text += &self.address(names, access, &register, at)?,
        }
        self.told.accesses += 1;
        Ok(Some((text, Kept { register, call: Call { kind, window, bytes, site } })))
    }

    fn tell_kept(&mut self, Kept { register, call: told }: &Kept) -> String {
        const NOT: &str = "%__hostcall_not";
        let what = told.kind as u32 | (told.window.space() as u32) << 2 | told.bytes.min(0x7ff) << 5 | self.next_call();
        let text = call("__hostcall_probe_access", &[("b64", register), ("b32", &what.to_string()), ("site", &told.site)]);
        let inside = self.guarded(None, &[NOT.to_owned()], text);
        format!("\n{{\n.reg .pred {NOT};\nsetp.eq.u64 {NOT}, {register}, 0;\n{inside}}}")
    }

    /// The generic address of an access, into a register of 64 bits.
    fn address(&self, names: &Names<'_>, access: &Access, to: &str, at: usize) -> Result<String, PtxError> {
        let module = self.module;
        let undeclared = || PtxError::Undeclared { line: module.line(at), address: module.between(&access.address).to_owned() };
        // `[…]`, perhaps with something behind it, or a variable's element.
        let bracketed = module.word(access.address.start) == "[";
        let inside = if bracketed {
            let close = access.address.clone().rev().find(|at| module.word(*at) == "]").ok_or_else(undeclared)?;
            access.address.start + 1..close
        } else {
            access.address.clone()
        };
        let base = module.word(inside.start);
        let offset = module.between(&(inside.start + 1..inside.end));
        let offset = if bracketed { offset.strip_prefix('+').unwrap_or(offset).trim() } else { "" };
        let mut window = access.window;
        let mut text = String::new();
        let _ = match (module.kind(inside.start), names.find(base)) {
            (Some(Kind::Word), Some(Named::Register(64))) if offset.is_empty() => writeln!(text, "mov.b64 {to}, {base};"),
            (Some(Kind::Word), Some(Named::Register(64))) => writeln!(text, "add.s64 {to}, {base}, {offset};"),
            (Some(Kind::Word), Some(Named::Register(32))) => {
                const NARROW: &str = "%__hostcall_narrow";
                let offset = if offset.is_empty() { "0" } else { offset };
                writeln!(text, "{{\n.reg .b32 {NARROW};\nadd.s32 {NARROW}, {base}, {offset};\ncvt.u64.u32 {to}, {NARROW};\n}}")
            }
            (Some(Kind::Word), Some(Named::Variable(space))) => {
                if window == Window::Generic {
                    window = match space {
                        ".shared" => Window::Shared,
                        _ => Window::Global,
                    };
                }
                writeln!(text, "mov.u64 {to}, {};", module.between(&inside))
            }
            (Some(Kind::Number), _) | (Some(Kind::Sign), _) => writeln!(text, "mov.u64 {to}, {};", module.between(&inside)),
            _ => return Err(undeclared()),
        };
        let convert = match window {
            Window::Generic => return Ok(text),
            Window::Global => "cvta.global.u64",
            Window::Shared => "cvta.shared.u64",
            Window::Cluster => "cvta.shared::cluster.u64",
        };
        let _ = writeln!(text, "{convert} {to}, {to};");
        Ok(text)
    }
}

/// A function's name as in its source, if that was Rust's.
fn readable(name: &str) -> String {
    format!("{:#}", rustc_demangle::demangle(name))
}

fn kept_register(number: usize) -> String {
    format!("%__hostcall_kept_{number}")
}

fn of_instruction<'s, 'a>(statement: &'s Statement<'a>) -> Option<&'s Instruction<'a>> {
    if let What::Instruction(instruction) = &statement.what { Some(instruction) } else { None }
}

/// A place that is one: line 0 is the compiler's own.
fn known<'a>(what: &What<'a>) -> Option<Loc<'a>> {
    if let What::Loc(loc) = what { Some(*loc).filter(|loc| loc.line != 0) } else { None }
}

/// Whether an instruction waits for the workgroup, or for those of the cluster.
fn waits(instruction: &Instruction<'_>) -> bool {
    let parts: Vec<&str> = instruction.opcode.split('.').collect();
    let is_barrier = ["bar", "barrier"].contains(&parts[0]) && !parts.contains(&"warp");
    is_barrier && ["sync", "red", "wait"].iter().any(|waits| parts.contains(waits))
}
