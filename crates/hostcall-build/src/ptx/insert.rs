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

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;
use std::ops::Range;

use hostcall_abi::stream::builtin::{OF_BARRIER, OF_KERNEL};
use hostcall_abi::stream::{Access as Told, AccessKind, StepKind};

use super::access::{Access, Bytes, Touches, Window, touches};
use super::error::PtxError;
use super::flow::blocks;
use super::library::{Library, changed, is_ours, target_number, version};
use super::read::{Declaration, Function, Guard, Instruction, Loc, Module, What, parse_number};
use super::sites::{Place, Sites};
use super::token::Kind;
use crate::Instrument;

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
    let text = super::text_of(file)?;
    let module = Module::read(text)?;
    check(&module, library)?;
    let kernels: Vec<&str> = module.functions.iter().filter(|f| f.is_entry && f.body.is_some()).map(|f| f.name).collect();
    let no_such = |wanted: &str| PtxError::NoSuchKernel { wanted: wanted.to_owned(), kernels: kernels.iter().map(|name| format!("`{name}`")).collect() };
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
    let mut inserter = Inserter { module: &module, name, wanted, sites: Sites::of(text), calls: 0, told: Counts::default() };
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
            let Some(called) = callee(module, instruction).and_then(|(_, name)| with_body.get(name)).filter(|called| !called.is_entry) else {
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

/// Where an instruction has the name of the function that it calls, and the name.
fn callee<'a>(module: &Module<'a>, instruction: &Instruction<'_>) -> Option<(Range<usize>, &'a str)> {
    if !instruction.is("call") {
        return None;
    }
    // `call (r), f, (p)`, or without either.
    let operand = instruction.operands.iter().find(|operand| module.word(operand.start) != "(")?;
    let (at, name) = (module.place(operand.start), module.between(operand));
    Some((at..at + name.len(), name))
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

#[derive(Default)]
struct Counts {
    accesses: usize,
    steps: usize,
    barriers: usize,
    untold: BTreeMap<String, usize>,
}

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Named<'a> {
    /// A register of so many bits.
    Register(u32),
    /// A variable in this space.
    Variable(&'a str),
}

/// What is declared where an instruction stands: scopes, the innermost last.
#[derive(Default)]
struct Names<'a>(Vec<Scope<'a>>);

#[derive(Default)]
struct Scope<'a> {
    named: HashMap<&'a str, Named<'a>>,
    /// Numbered registers, by what they begin with.
    numbered: HashMap<&'a str, (u32, u32)>,
}

impl<'a> Names<'a> {
    fn declare(&mut self, declaration: &Declaration<'a>) {
        let Some(scope) = self.0.last_mut() else { return };
        for (name, count) in &declaration.names {
            match count {
                Some(count) => drop(scope.numbered.insert(name, (*count, declaration.bits))),
                None if declaration.space == ".reg" => drop(scope.named.insert(name, Named::Register(declaration.bits))),
                None => drop(scope.named.insert(name, Named::Variable(declaration.space))),
            }
        }
    }

    fn find(&self, name: &str) -> Option<Named<'a>> {
        self.0.iter().rev().find_map(|scope| {
            let least = name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
            // (`a1<3>` has `a10`.)
            let numbered = |end: usize| {
                let number: u32 = name[end..].parse().ok()?;
                scope.numbered.get(&name[..end]).filter(|(count, _)| number < *count).map(|(_, bits)| Named::Register(*bits))
            };
            scope.named.get(name).copied().or_else(|| (least..name.len()).find_map(numbered))
        })
    }
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

struct Inserter<'m, 'a> {
    module: &'m Module<'a>,
    name: &'m str,
    wanted: &'m Instrument,
    sites: Sites,
    calls: u32,
    told: Counts,
}

/// The register with the time at which a kernel's wave began.
const START: &str = "%__hostcall_start";

impl<'a> Inserter<'_, 'a> {
    /// What is changed in a function: in order, none within another. `own` says which functions are called instead of
    /// others.
    fn function(&mut self, function: &Function<'a>, own: Option<&HashMap<&str, String>>) -> Result<Vec<(Range<usize>, String)>, PtxError> {
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
            all.filter(|(_, kind)| self.wanted.blocks || *kind == StepKind::Loop).zip(1..).map(|((at, kind), number)| (at, (number, kind))).collect()
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
                What::Close => drop(names.0.pop()),
                What::Declaration(declaration) => names.declare(declaration),
                What::Loc(_) => loc = known(&statement.what).or(loc),
                What::Instruction(instruction) => {
                    let site = |inserter: &mut Self| inserter.site(function, loc, statement.start);
                    if let Some((number, kind)) = steps.get(&at).filter(|(number, kind)| !(is_timed && *number == 1 && *kind == StepKind::Block)) {
                        let site = site(self);
                        self.step(&mut before, *kind, *number, &site);
                    }
                    if self.wanted.accesses {
                        match touches(instruction) {
                            Touches::Untold => self.untold(instruction),
                            Touches::All(all) => {
                                for access in all {
                                    let site = site(self);
                                    match calls[at] {
                                        None => before += &self.access(&names, instruction, &access, site, statement.start)?,
                                        Some(_) => match self.keep(&names, instruction, &access, site, statement.start, kept_count)? {
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
                    if let Some((range, name)) = own.and_then(|own| callee(module, instruction).and_then(|(range, name)| Some((range, own.get(name)?)))) {
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
        self.sites.name(match known {
            Some((loc, file)) => {
                let inlined = loc.function.and_then(|(label, offset)| module.names.get(label)?.get(offset as usize..)?.split('\0').next());
                let name = inlined.filter(|name| !name.is_empty()).unwrap_or(function.name);
                Place { file: file.clone(), function: readable(name), line: loc.line, column: loc.column }
            }
            None => Place { file: self.name.to_owned(), function: readable(function.name), line: module.line(at), column: 1 },
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
    fn access(&mut self, names: &Names<'_>, instruction: &Instruction<'_>, access: &Access, site: String, at: usize) -> Result<String, PtxError> {
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
            Bytes::Say(range) => parse_number(self.module.between(range)).filter(|bytes| *bytes <= Told::MAX_BYTES && bytes.is_power_of_two()),
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
            text = format!("{{\n.reg .pred {OTHERS};\n.reg .b32 {LANE};\nmov.u32 {LANE}, %laneid;\nsetp.ge.u32 {OTHERS}, {LANE}, {lanes};\n{inside}}}\n");
        }
        self.told.accesses += 1;
        Ok(self.guarded(instruction.guard, &unless, text))
    }

    /// An access between a call's parameters: its address is kept, or 0. `None`: it cannot be.
    fn keep(
        &mut self,
        names: &Names<'_>,
        instruction: &Instruction<'_>,
        access: &Access,
        site: String,
        at: usize,
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

fn of_instruction<'s, 'a>(statement: &'s super::read::Statement<'a>) -> Option<&'s Instruction<'a>> {
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

/// A call by itself: parameters are a register or number with its type, or `site` with a variable.
fn call(function: &str, parameters: &[(&str, &str)]) -> String {
    const SITE: &str = "%__hostcall_site";
    let mut text = format!("{{\n.reg .b64 {SITE};\n");
    let mut names = Vec::new();
    let mut stores = String::new();
    for (number, (kind, value)) in parameters.iter().enumerate() {
        let (bits, value) = match *kind {
            "site" => {
                let _ = writeln!(text, "mov.u64 {SITE}, {value};\ncvta.global.u64 {SITE}, {SITE};");
                ("b64", SITE)
            }
            bits => (bits, *value),
        };
        let name = format!("__hostcall_in_{number}");
        let _ = writeln!(stores, ".param .{bits} {name};\nst.param.{bits} [{name}], {value};");
        names.push(name);
    }
    let _ = write!(text, "{stores}call.uni {function}, ({});\n}}\n", names.join(", "));
    text
}

/// The time, into a register.
fn begin(to: &str) -> String {
    format!("{{\n.param .b64 __hostcall_out;\ncall.uni (__hostcall_out), __hostcall_probe_begin, ();\nld.param.b64 {to}, [__hostcall_out];\n}}\n")
}

/// For each statement the call whose parameters or results are stored or loaded around it, if one's are: the number of
/// its first statement.
fn of_calls(module: &Module<'_>, function: &Function<'_>) -> Vec<Option<usize>> {
    let Some(body) = &function.body else { return Vec::new() };
    let is_own = |name: &str| function.parameters.iter().flat_map(|parameter| &parameter.names).any(|(own, _)| *own == name);
    // A parameter of a call, and not of the function itself.
    let of_call = |instruction: &Instruction<'_>, which: &str, operand: usize| {
        instruction.is(which) && instruction.operands.get(operand).is_some_and(|operand| !is_own(module.word(operand.start + 1)))
    };
    let stores = |instruction: &Instruction<'_>| of_call(instruction, "st.param", 0) || of_call(instruction, "st.param::func", 0);
    let loads = |instruction: &Instruction<'_>| of_call(instruction, "ld.param", 1) || of_call(instruction, "ld.param::func", 1);
    let mut all = vec![None; body.statements.len()];
    let (mut open, mut at) = (None, 0);
    while let Some(statement) = body.statements.get(at) {
        let mut last = at;
        match &statement.what {
            What::Instruction(instruction) if instruction.is("call") => {
                let first = open.take().unwrap_or(at);
                for (next, statement) in body.statements.iter().enumerate().skip(at + 1) {
                    match &statement.what {
                        What::Instruction(next) if stores(next) || next.is("call") || next.ends() => break,
                        What::Instruction(loaded) if loads(loaded) => last = next,
                        What::Label(_) => break,
                        _ => {}
                    }
                }
                all[first..=last].fill(Some(first));
            }
            What::Instruction(instruction) if stores(instruction) => open = open.or(Some(at)),
            _ => {}
        }
        at = last + 1;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use hostcall_abi::stream::site::SiteText;

    const OURS: &str = ".version 8.4\n.target sm_70\n.address_size 64\n.visible .const .align 64 .b8 __hostcall_device[128];\n.global .b8 own;\n";

    fn library() -> Library {
        Library::new(OURS).expect("a library")
    }

    fn made(text: &str, asked: &str, chosen: Chosen<'_>) -> Result<Instrumented, PtxError> {
        instrument(text.as_bytes(), "k.ptx", &asked.parse().expect("a list"), chosen, &library())
    }

    const TWO: &str = "\
// made by hand
.version 7.0
.target sm_80 // for these
.address_size 64
.func (.param .b32 r) shared_one(.param .b64 p) // }
;
.visible .func (.param .b32 r) shared_one(.param .b64 p) // of both
{
\t.reg .b64 %rd<2>; .reg .b32 %r<2>; .shared .b32 own;
\tld.param.b64 %rd1, [p];
\tld.global.b32 %r1, [%rd1];
\tst.param.b32 [r], %r1;
\tret;
}
.visible .entry first(.param .b64 p)
{
\t.reg .b64 %rd<2>; .reg .b32 %r<2>;
\t{ .param .b64 a; .param .b32 b;
\tst.param.b64 [a], %rd1;
\tcall.uni (b), shared_one, (a);
\tld.param.b32 %r1, [b]; }
\tst.global.b32 [%rd1], %r1;
\tret;
}
.visible .entry second(.param .b64 p)
{
\t.reg .b64 %rd<2>; .reg .b32 %r<2>;
\tatom.global.add.u32 %r1, [%rd1+4], 1;
\tret;
}
";

    /// Lines of all places, and the rest of each.
    fn places(ptx: &str) -> Vec<(u32, String)> {
        let definitions = ptx.lines().filter(|line| line.starts_with(".visible .global .align 4 .b8 __HOSTCALL_SITE__"));
        definitions
            .map(|line| {
                let values = line.split_once("= {").expect("values").1.trim_end_matches("};");
                let bytes: Vec<u8> = values.split(',').map(|byte| byte.parse().expect("a byte")).collect();
                let text = SiteText::parse(&bytes).expect("a place");
                (text.line, format!("{}:{} {}", text.file, text.column, text.module))
            })
            .collect()
    }

    #[test]
    fn what_is_added_stands_between_pieces_of_the_text_and_nothing_else_changes() {
        let made = made(TWO, "access,blocks", Chosen::All).expect("it is instrumented");
        assert_eq!((made.kernels.join(" ").as_str(), made.accesses, made.steps), ("first second", 3, 3));
        // All of it is there, in its order, but for the version.
        let mut rest = made.ptx.as_str();
        for line in TWO.lines().filter(|line| !line.starts_with(".version")) {
            let statement = line.trim();
            let at = rest.find(statement).unwrap_or_else(|| panic!("`{statement}` is not behind what was before it"));
            rest = &rest[at + statement.len()..];
        }
        assert!(made.ptx.starts_with("// made by hand\n.version 8.4\n.target sm_80 // for these\n.address_size 64\n.visible .const"), "{}", made.ptx);
    }

    #[test]
    fn kernels_that_are_not_meant_are_the_same_to_the_byte_and_others_get_functions_of_their_own() {
        let is_first = |name: &str| name == "first";
        let made = made(TWO, "access", Chosen::Of(&is_first, "that `first` finds")).expect("it is instrumented");
        assert_eq!((made.kernels.join(" ").as_str(), made.accesses), ("first", 2));
        let piece = |text: &str, from: &str| {
            let at = text.find(from).expect("it is there");
            text[at..][..text[at..].find("\n}\n").expect("its end") + 3].to_owned()
        };
        for function in [".visible .entry second", ".visible .func (.param .b32 r) shared_one"] {
            assert_eq!(piece(&made.ptx, function), piece(TWO, function));
        }
        let first = piece(&made.ptx, ".visible .entry first");
        assert!(first.contains("call.uni (b), __hostcall_probed_0, (a);") && !first.contains("shared_one"), "{first}");
        let own = piece(&made.ptx, "\n.func (.param .b32 r) __hostcall_probed_0(.param .b64 p) // of both\n{");
        assert!(own.contains("call.uni __hostcall_probe_access"), "{own}");
        assert!(made.ptx.contains("\n.func (.param .b32 r) __hostcall_probed_0(.param .b64 p) // of both\n;\n"), "{}", made.ptx);
        // The whole text is there besides.
        let by_name = self::made(TWO, "access,kernel=second", Chosen::All).expect("it is instrumented");
        assert_eq!((by_name.kernels.join(" ").as_str(), by_name.accesses), ("second", 1));
        assert_eq!(piece(&by_name.ptx, ".visible .entry first"), piece(TWO, ".visible .entry first"));
    }

    #[test]
    fn a_kernel_that_is_not_there_is_told_with_those_that_are() {
        let none = |_: &str| false;
        let error = |result: Result<Instrumented, PtxError>| result.expect_err("there is none").to_string();
        assert_eq!(error(made(TWO, "access,kernel=x", Chosen::All)), "there is no kernel `x` to instrument; there are `first`, `second`");
        assert_eq!(
            error(made(TWO, "access", Chosen::Of(&none, "that `^z` finds"))),
            "there is no kernel that `^z` finds to instrument; there are `first`, `second`"
        );
    }

    #[test]
    fn what_cannot_be_served_is_told_by_name() {
        let error = |from: &str, to: &str| made(&TWO.replace(from, to), "access", Chosen::All).expect_err(to).to_string();
        assert!(error("sm_80", "sm_60").starts_with("this is PTX for sm_60, and what is added to it needs sm_70"));
        assert!(error(".address_size 64", ".address_size 32").starts_with("this PTX has addresses of 32 bits"));
        assert!(error("shared_one", "__hostcall_work").starts_with("this PTX has `__hostcall_work`"));
        assert!(error("[%rd1+4]", "[%rd2+4]").starts_with("line 28: the address `[%rd2+4]` is of no register"));
        assert!(error("7.0", "x").ends_with("line 2: `.version` without a number"));
        let old = TWO.replace("7.0", "6.0").replace("\tatom", "\tshfl.idx.b32 %r1, %r1, 0, 31;\n\tatom");
        assert!(made(&old, "access", Chosen::All).expect_err("old").to_string().starts_with("line 28: `shfl.idx.b32` is not in PTX 8.4"));
        let fixed = TWO.replace(".shared .b32 own", ".global .b32 own");
        let error = made(&fixed, "access,kernel=first", Chosen::All).expect_err("there can be only one");
        assert_eq!(error, PtxError::Static { function: "shared_one".into(), variable: "own".into() });
    }

    #[test]
    fn a_place_is_the_line_of_the_source_and_without_one_that_of_the_ptx() {
        let text = ".version 8.4\n.target sm_90\n.entry k()\n{\n.reg .b64 a; .reg .b32 b;\nld.global.b32 b, [a];\n\
                    .loc 1 7 3\nld.global.b32 b, [a+4]; ld.global.b32 b, [a+8];\n.loc 1 20 5\n.loc 2 9 1, function_name $s+2, inlined_at 1 20 5\nst.global.b32 [a], b;\n\
                    .loc 1 0 0\nst.global.b32 [a], b;\nret;\n}\n.file 1 \"a.cu\"\n.file 2 \"/x/b.cuh\", 1, 2\n.section .debug_str\n{\n$s:\n.b8 97\n.b8 0, 105, 110, 0\n}\n";
        let made = made(text, "access", Chosen::All).expect("it is instrumented");
        let expected = [(6, "k.ptx:1 k"), (7, "a.cu:3 k"), (9, "/x/b.cuh:1 in")];
        assert_eq!(places(&made.ptx), expected.map(|(line, rest)| (line, rest.to_owned())));
        assert_eq!((made.accesses, made.sites), (5, 3));
    }

    #[test]
    fn an_access_between_a_calls_parameters_is_told_of_behind_the_call() {
        let text = ".version 8.4\n.target sm_90\n.func f(.param .b32 x, .param .b32 y)\n{ ret; }\n.entry k()\n{\n.reg .b64 a; .reg .b32 b; .reg .pred p;\n{\n.param .b32 x; .param .b32 y;\n\
                    st.param.b32 [x], b;\n@!p ld.global.b32 b, [a+4];\nst.param.b32 [y], b;\ncall.uni f, (x, y);\n}\nret;\n}\n";
        let made = made(text, "access", Chosen::All).expect("it is instrumented");
        let lines: Vec<&str> = made.ptx.lines().collect();
        let at = |start: &str| lines.iter().position(|line| line.trim().starts_with(start)).unwrap_or_else(|| panic!("no {start} in {}", made.ptx));
        assert!(at("selp.b64 %__hostcall_kept_0, 0, %__hostcall_address, p;") < at("@!p ld.global.b32"));
        assert!(at("call.uni f,") < at("call.uni __hostcall_probe_access"), "{}", made.ptx);
        assert_eq!(made.accesses, 1);
    }

    #[test]
    fn bytes_that_are_no_ptx_are_an_error_and_no_panic() {
        let whole = TWO.replace("7.0", "8.4");
        for end in 0..whole.len() {
            let _ = made(&whole[..end], "access,blocks,barriers", Chosen::All);
            let mut torn = whole.clone();
            torn.remove(end);
            let _ = made(&torn, "access,blocks,barriers", Chosen::All);
        }
    }
}
