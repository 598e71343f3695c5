//! Stacks in memory that every thread can address.
//!
//! LLVM's NVIDIA back end puts what a function keeps in memory (`alloca`) into memory of the lane's own: at the same
//! address every other lane finds its own. But `thread::scope`, rayon, crossbeam and the like lend variables of one
//! thread's stack to others. So in programs with std every such variable moves to a stack in global memory here, after
//! optimisation, when the only ones left are those that registers cannot hold:
//!
//! * A thread's stack is a block of device memory. Where its last frame begins, and how far down it may come, are two
//!   words of shared memory for each lane. A function that has variables takes a frame where it begins, and puts the
//!   word back wherever it returns. What never returns puts nothing back.
//! * A frame that does not fit ends the program, with the limit in the message (`__hostcall_stack_overflow` in
//!   `hostcall-std`).
//! * What stays in the lane's own memory is return addresses and saved registers. They are little, but recursion
//!   exhausts them as well, and nothing would say so. So one function of each circle of calls ([`cycles`]) compares
//!   where it is with how far down that memory reaches, and goes on in the memory of another lane ([`further`]) or,
//!   where there is none, ends the program.
//! * A kernel's lane begins on a little of its own memory, and asks the runtime (`__hostcall_stack_begin`) where its
//!   stack is: for lanes that are threads in global memory, for those of other kernels, which have nobody to lend to,
//!   in the lane's own, where the hardware interleaves them.
//! * No frame is private any more, so nobody may believe that a function that has one does not touch memory: such
//!   attributes go.
//!
//! AMD's GPUs are alike, with three differences. LLVM has a type of its own for pointers to a lane's memory there,
//! which first becomes the usual one ([`generic`]). That memory is used upwards. And a lane's launch says how much of
//! it there is. Modules with kernels beside the entry stay as they are.
//!
//! What these words mean is in `stack.ll`, `nvptx.ll` and `amdgpu.ll`, as functions that are inlined; here the text
//! only changes so that it calls them.

mod cycles;
mod further;
mod generic;
mod layout;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::HashSet;

pub(crate) use self::cycles::{circles, mentions, unbounded};
use self::further::{Further, Signature};
pub(crate) use self::layout::Types;
use self::layout::name_len;
use crate::module::{definition, is_kernel, is_label};

/// The kernel whose workgroups are threads: the first lane of each. Others help it, without a stack.
const ENTRY: &str = "hostcall_std";
/// Bytes of the stack that a lane has until the runtime says where its own is: a thread's may have to be taken from the
/// heap.
const FIRST_BYTES: u64 = 2 << 10;
const LANE_FIRST_BYTES: u64 = 256;
/// What the host looks up to say where stacks are (`hostcall_abi::stacks`).
const STACKS_SYMBOL: &str = "__hostcall_stacks";
/// Lanes that a workgroup can have: a power of two.
const MOST_LANES: u32 = 1024;

/// Why a module's stacks stay where they are.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum StackError {
    /// A type whose size is not known here.
    #[error("`{function}` has a variable of a type that is not known (`{line}`)")]
    Type { function: String, line: String },
    /// A variable that is said to be the lane's own.
    #[error("`{function}` has a variable that cannot lie in memory that all lanes share (`{line}`)")]
    Own { function: String, line: String },
}

/// Whose GPUs a module is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Maker {
    Nvidia,
    Amd,
}

impl Maker {
    /// The calling convention of its kernels.
    fn convention(self) -> &'static str {
        match self {
            Maker::Nvidia => "ptx_kernel",
            Maker::Amd => "amdgpu_kernel",
        }
    }

    /// The functions that a module calls then, for workgroups of so many lanes with a stack.
    fn prelude(self, lanes: u32) -> String {
        let own = match self {
            Maker::Nvidia => include_str!("nvptx.ll"),
            Maker::Amd => include_str!("amdgpu.ll"),
        };
        [include_str!("stack.ll"), own].concat().replace("LANES", &lanes.to_string()).replace("BLOCK", &further::BLOCK.to_string())
    }
}

/// Whether all kernels of a module are the one whose workgroups are threads.
fn only_threads(module: &str, maker: Maker) -> bool {
    module.lines().filter_map(definition).filter(|(before, _)| is_kernel(before, maker.convention())).all(|(_, name)| name == ENTRY)
}

/// The optimised module of a program for NVIDIA GPUs, as text, with its stacks in memory. What is added is to be
/// inlined.
pub(crate) fn share(module: &str) -> Result<String, StackError> {
    // A word for each lane takes memory that other workgroups could use: a thread's has one lane with a stack.
    Ok(rewrite(module, Maker::Nvidia)? + &Maker::Nvidia.prelude(lanes(module)))
}

/// How many lanes of a workgroup of the program may have a stack.
pub(crate) fn lanes(module: &str) -> u32 {
    if only_threads(module, Maker::Nvidia) { 1 } else { MOST_LANES }
}

/// As [`share`], of one part of a program ([`crate::parts`]), of which others are not seen: `checked` are the functions
/// that look for the end of the lane's own memory. The words about stacks are in the `first` part, for all others to
/// see.
pub(crate) fn share_part(module: &str, lanes: u32, first: bool, checked: impl Fn(&str) -> bool) -> Result<String, StackError> {
    let mut text = rewrite_with(module, Maker::Nvidia, checked)?;
    for (result, name, parameters) in RUNTIME {
        if !module.contains(&format!("@{name}(")) {
            text += &format!("declare {result} @{name}({parameters}) convergent\n");
        }
    }
    let mut skipping = false;
    for line in Maker::Nvidia.prelude(lanes).lines() {
        // What is inlined every part has; the words, and functions that are not inlined, there are once.
        let shared = line.contains("internal ") && (line.starts_with('@') || line.contains(" noinline "));
        if skipping {
            skipping = line != "}";
            continue;
        }
        let line = match (shared, first) {
            (false, _) => Cow::Borrowed(line),
            (true, true) => line.replacen("internal ", "", 1).into(),
            (true, false) if line.starts_with('@') => line.replacen("internal ", "external ", 1).replace(" undef", "").into(),
            (true, false) => {
                skipping = true;
                line.replacen("define internal ", "declare ", 1).replace(" {", "").into()
            }
        };
        text.extend([&*line, "\n"]);
    }
    Ok(text)
}

/// Functions of the runtime that are called here: result, name and parameters.
const RUNTIME: [(&str, &str, &str); 4] = [
    ("void", "__hostcall_stack_overflow", "i32, ptr"),
    ("void", "__hostcall_stack_begin", "ptr, i64, i64, i64, i32"),
    ("void", "__hostcall_thread_begin", ""),
    ("i32", "__hostcall_stack_go_on", "ptr, ptr"),
];

/// As [`share`], for AMD GPUs, whose launches of threads have one lane in each workgroup. If there are other kernels,
/// their stacks stay the lanes' own, and with them those of threads: then the host finds no words about stacks.
pub(crate) fn share_amd(module: &str) -> Result<String, StackError> {
    if !only_threads(module, Maker::Amd) {
        return Ok(module.replace(&format!("@{STACKS_SYMBOL} "), "@hostcall_no_stacks "));
    }
    Ok(rewrite(&generic::pointers(module)?, Maker::Amd)? + &Maker::Amd.prelude(1))
}

/// The module with calls of the prelude, and without it.
fn rewrite(module: &str, maker: Maker) -> Result<String, StackError> {
    let breakers: HashSet<&str> = cycles::breakers(module).into_iter().collect();
    rewrite_with(module, maker, |name| breakers.contains(name))
}

/// As [`rewrite`]. Functions that are `checked` look for the end of the lane's own memory.
fn rewrite_with(module: &str, maker: Maker, checked: impl Fn(&str) -> bool) -> Result<String, StackError> {
    let types = Types::of(module);
    let machine_groups = machine_groups(module);
    let mut out = String::with_capacity(module.len() + module.len() / 16);
    let mut function: Option<Function<'_>> = None;
    let mut signatures: Vec<Signature> = Vec::new();
    for line in module.lines() {
        if let Some((before, name)) = definition(line) {
            function = Some(Function {
                types: &types,
                name,
                head: line,
                maker,
                kernel: is_kernel(before, maker.convention()),
                checked: checked(name),
                body: Vec::new(),
            });
        } else if line == "}" {
            if let Some(function) = function.take() {
                function.write(&mut signatures, &mut out)?;
            }
        } else if let Some(function) = &mut function {
            function.body.push(line);
        } else if let Some(group) = line.strip_prefix("attributes #").and_then(|rest| rest.split(' ').next()) {
            out.extend([&*if machine_groups.contains(group) { line.to_owned() } else { without_promises(line) }, "\n"]);
        } else {
            out.extend([line, "\n"]);
        }
    }
    for (number, signature) in signatures.iter().enumerate() {
        signature.write(number, &mut out);
    }
    Ok(out)
}

/// Numbers of the groups of attributes that only the machine's own instructions and LLVM's functions have.
fn machine_groups(module: &str) -> HashSet<&str> {
    let (mut machine, mut ours) = (HashSet::new(), HashSet::new());
    for line in module.lines().filter(|line| !line.starts_with("attributes ") && !line.starts_with('!')) {
        let code = line.rsplit('"').next().unwrap_or(line);
        let of_machine = line.contains("@llvm.") || line.contains(" asm ");
        let groups = code
            .match_indices(" #")
            .map(|(at, _)| &code[at + 2..])
            .map(|rest| &rest[..rest.bytes().take_while(u8::is_ascii_digit).count()]);
        if of_machine { machine.extend(groups) } else { ours.extend(groups) }
    }
    machine.retain(|group| !ours.contains(group));
    machine
}

/// A group of attributes without those that say that a function leaves memory alone, or always returns.
fn without_promises(line: &str) -> String {
    let mut text = line.to_owned();
    while let Some(at) = text.find(" memory(") {
        let end = text[at..].find(')').map_or(text.len(), |end| at + end + 1);
        text.replace_range(at..end, "");
    }
    for word in [" speculatable ", " willreturn ", " nosync ", " readnone ", " readonly ", " writeonly ", " argmemonly "] {
        while let Some(at) = text.find(word) {
            text.replace_range(at..at + word.len() - 1, "");
        }
    }
    text
}

struct Function<'a> {
    types: &'a Types<'a>,
    name: &'a str,
    head: &'a str,
    body: Vec<&'a str>,
    maker: Maker,
    kernel: bool,
    /// Whether it looks for the end of the lane's own memory.
    checked: bool,
}

/// A variable.
struct Variable<'a> {
    name: &'a str,
    /// Bytes of one, and how many as type and value if that is not known before it runs.
    bytes: u64,
    count: Option<(&'a str, &'a str)>,
    align: u64,
}

impl<'a> Function<'a> {
    fn write(&self, signatures: &mut Vec<Signature>, out: &mut String) -> Result<(), StackError> {
        let (label, body) = match self.body.split_first() {
            Some((first, rest)) if is_label(first) => (Some(first), rest),
            _ => (None, &*self.body),
        };
        let entry = body.iter().position(|line| is_label(line)).unwrap_or(body.len());
        let copies = self.copies()?;
        let has_variables = !copies.is_empty() || body.iter().any(|line| line.contains(" = alloca "));
        let (mut text, mut frame) = (String::new(), Frame::default());
        for copy in &copies {
            frame.place(copy.bytes, copy.align);
        }
        let mut after_tail_call = false;
        for (number, line) in body.iter().enumerate() {
            let line = copies.iter().fold(Cow::Borrowed(*line), |line, copy| copy.renamed(line));
            let is_tail_call = line.contains("musttail call ");
            if is_call_of(&line, "@llvm.lifetime.") {
                continue;
            } else if let Some(variable) = self.variable(&line)? {
                match variable {
                    Variable { name, bytes, count: None, align } if number < entry => {
                        let at = frame.place(bytes, align);
                        text += &format!("  {name} = getelementptr inbounds i8, ptr %hostcall.frame, i64 {at}\n");
                    }
                    variable => variable.take(&mut text),
                }
                continue;
            } else if let Some((value, _)) = line.split_once(" = ").filter(|_| is_call_of(&line, "@llvm.stacksave")) {
                text.extend([value, " = call ptr @hostcall_stack_top()\n"]);
                continue;
            } else if let Some((_, value)) = line.split_once("(ptr ").filter(|_| is_call_of(&line, "@llvm.stackrestore")) {
                text.extend(["  call void @hostcall_stack_restore(ptr ", value, "\n"]);
                continue;
            } else if has_variables && (is_tail_call || (!after_tail_call && (line.starts_with("  ret ") || line.starts_with("  resume "))))
            {
                // Between a tail call that must be one and the return nothing may be.
                text += "  call void @hostcall_stack_restore(ptr %hostcall.top)\n";
            }
            after_tail_call = is_tail_call;
            text.extend([&*line, "\n"]);
        }
        out.extend([&*self.head_text(), "\n"]);
        let further = Further::of(self.head, self.types).filter(|_| self.checked && !self.kernel && self.maker == Maker::Nvidia);
        if let Some(further) = &further {
            out.push_str(&first_block(further, label.copied()));
        }
        if let Some(label) = label {
            out.extend([label, "\n"]);
        }
        if self.checked && !self.kernel && further.is_none() {
            out.push_str("  call void @hostcall_stack_check()\n");
        }
        out.extend([&*self.beginning(has_variables, &frame, &copies), &text]);
        if let Some(further) = further {
            let number = signatures.iter().position(|known| *known == further.signature).unwrap_or(signatures.len());
            let name = self.head.find('@').map_or("", |at| &self.head[at..at + name_len(&self.head[at..])]);
            out.push_str(&further.end(name, number));
            if number == signatures.len() {
                signatures.push(further.signature);
            }
        }
        out.push_str("}\n");
        Ok(())
    }

    /// The first line, for a program's entry with the most lanes that a workgroup of it has.
    fn head_text(&self) -> String {
        let at = self.head.rfind(" #").or_else(|| self.head.rfind(" {"));
        match at.filter(|_| self.maker == Maker::Nvidia && self.kernel && self.name == ENTRY) {
            Some(at) => format!("{} \"nvvm.maxntid\"=\"32,1,1\"{}", &self.head[..at], &self.head[at..]),
            None => self.head.to_owned(),
        }
    }

    /// What a function does first.
    fn beginning(&self, has_variables: bool, frame: &Frame, copies: &[Copy<'_>]) -> String {
        let mut text = String::new();
        if self.kernel {
            let (bytes, thread) = if self.name == ENTRY { (FIRST_BYTES, 1) } else { (LANE_FIRST_BYTES, 0) };
            text += &match self.maker {
                Maker::Nvidia => format!("  %hostcall.own = alloca [{bytes} x i8], align 16\n"),
                Maker::Amd => format!(
                    "  %hostcall.private = alloca [{bytes} x i8], align 16, addrspace(5)\n\
                     \x20 %hostcall.own = addrspacecast ptr addrspace(5) %hostcall.private to ptr\n"
                ),
            };
            if thread == 1 && self.maker == Maker::Nvidia {
                text += "  call void @__hostcall_thread_begin()\n";
            }
            text += &format!("  call void @hostcall_stack_begin(ptr %hostcall.own, i64 {bytes}, i32 {thread})\n");
        }
        if has_variables {
            text += "  %hostcall.top = call ptr @hostcall_stack_top()\n";
        }
        let Frame { bytes, align } = *frame;
        if align > 16 {
            text += &format!("  %hostcall.frame = call ptr @hostcall_stack_take_aligned(ptr %hostcall.top, i64 {bytes}, i64 {align})\n");
        } else if align > 0 {
            text += &format!("  %hostcall.frame = call ptr @hostcall_stack_take(ptr %hostcall.top, i64 {bytes})\n");
        }
        let mut place = Frame::default();
        for Copy { parameter, bytes, align } in copies {
            let (to, at) = (Copy::name(parameter), place.place(*bytes, *align));
            text += &format!("  {to} = getelementptr inbounds i8, ptr %hostcall.frame, i64 {at}\n");
            text += &format!(
                "  call void @llvm.memcpy.p0.p0.i64(ptr align {align} {to}, ptr align {align} {parameter}, i64 {bytes}, i1 false)\n"
            );
        }
        text
    }

    fn type_error(&self, line: &str) -> StackError {
        StackError::Type { function: self.name.to_owned(), line: line.trim().to_owned() }
    }

    /// `%1 = alloca [16 x i8], align 8`
    fn variable<'l>(&self, line: &'l str) -> Result<Option<Variable<'l>>, StackError> {
        let Some((name, rest)) = line.strip_prefix("  %").and_then(|rest| rest.split_once(" = alloca ")) else { return Ok(None) };
        let name = &line[2..3 + name.len()];
        let mut parts = split(rest).into_iter();
        let kind = parts.next().unwrap_or_default();
        let (mut count, mut align) = (None, 1);
        for part in parts {
            if let Some(number) = part.strip_prefix("align ") {
                align = number.parse().map_err(|_| self.type_error(line))?;
            } else if part.starts_with("addrspace(") {
                return Err(StackError::Own { function: self.name.to_owned(), line: line.trim().to_owned() });
            } else if !part.starts_with('!') {
                count = Some(part.split_once(' ').ok_or_else(|| self.type_error(line))?);
            }
        }
        let mut bytes = self.types.size(kind).ok_or_else(|| self.type_error(line))?;
        if let Some(number) = count.and_then(|(_, count)| count.parse::<u64>().ok()) {
            bytes = bytes.checked_mul(number).ok_or_else(|| self.type_error(line))?;
            count = None;
        }
        Ok(Some(Variable { name, bytes, count, align }))
    }

    /// Parameters that are passed in memory: the back end gives the callee a copy of its own, at the lane's own
    /// address.
    fn copies(&self) -> Result<Vec<Copy<'a>>, StackError> {
        if self.kernel {
            return Ok(Vec::new());
        }
        let parameters = self.head.split_once('@').and_then(|(_, rest)| rest.split_once('(')).map_or("", |(_, rest)| rest);
        let copied = split(parameters).into_iter().filter_map(|parameter| Some((parameter, parameter.split_once(" byval(")?.1)));
        copied
            .map(|(parameter, kind)| {
                let error = || self.type_error(parameter);
                let close = closing(kind).ok_or_else(error)?;
                let bytes = self.types.size(&kind[..close]).ok_or_else(error)?;
                let align = kind.split_once(" align ").and_then(|(_, rest)| rest.split(' ').next()?.parse().ok()).unwrap_or(1);
                let name = &parameter[parameter.rfind(" %").ok_or_else(error)? + 1..];
                Ok(Copy { parameter: &name[..name_len(name)], bytes, align })
            })
            .collect()
    }
}

/// How a function's variables lie in its frame.
#[derive(Default)]
struct Frame {
    bytes: u64,
    /// 0: there is nothing in it.
    align: u64,
}

impl Frame {
    fn place(&mut self, bytes: u64, align: u64) -> u64 {
        self.align = self.align.max(align).max(1);
        let at = self.bytes.next_multiple_of(align.max(1));
        self.bytes = at + bytes;
        at
    }
}

/// A parameter that is copied into the frame.
struct Copy<'a> {
    parameter: &'a str,
    bytes: u64,
    align: u64,
}

impl Copy<'_> {
    fn name(parameter: &str) -> String {
        format!("%hostcall.copy.{}", parameter[1..].trim_matches('"'))
    }

    /// The line with the copy for the parameter.
    fn renamed<'l>(&self, line: Cow<'l, str>) -> Cow<'l, str> {
        if !line.contains(self.parameter) {
            return line;
        }
        let (mut rest, mut text) = (&*line, String::with_capacity(line.len() + 32));
        while let Some(at) = rest.find('%') {
            let (before, from) = rest.split_at(at);
            let (name, after) = from.split_at(name_len(from));
            text.push_str(before);
            text.push_str(&if name == self.parameter { Copy::name(name) } else { name.to_owned() });
            rest = after;
        }
        text.push_str(rest);
        text.into()
    }
}

impl Variable<'_> {
    /// Where its place is known only when it comes to be.
    fn take(&self, out: &mut String) {
        let Variable { name, bytes, count, align } = self;
        let own = format!("%hostcall.{}", name[1..].trim_matches('"'));
        *out += &format!("  {own}.top = call ptr @hostcall_stack_top()\n");
        let size = match count {
            None => bytes.to_string(),
            Some((kind, count)) => {
                let wide = if *kind == "i64" { (*count).to_owned() } else { format!("{own}.count") };
                if *kind != "i64" {
                    *out += &format!("  {own}.count = zext {kind} {count} to i64\n");
                }
                // What would be too large for a number must not come out small: as large as can be, it does not fit.
                *out += &format!(
                    "  {own}.all = call {{ i64, i1 }} @llvm.umul.with.overflow.i64(i64 {wide}, i64 {bytes})\n\
                     \x20 {own}.low = extractvalue {{ i64, i1 }} {own}.all, 0\n\
                     \x20 {own}.lost = extractvalue {{ i64, i1 }} {own}.all, 1\n\
                     \x20 {own}.bytes = select i1 {own}.lost, i64 {}, i64 {own}.low\n",
                    i64::MAX
                );
                format!("{own}.bytes")
            }
        };
        *out += &match align {
            0..=16 => format!("  {name} = call ptr @hostcall_stack_take(ptr {own}.top, i64 {size})\n"),
            _ => format!("  {name} = call ptr @hostcall_stack_take_aligned(ptr {own}.top, i64 {size}, i64 {align})\n"),
        };
    }
}

/// What comes before the first block of a function that can go on elsewhere.
fn first_block(further: &Further<'_>, label: Option<&str>) -> String {
    match label {
        Some(label) => Further::beginning(label.split(':').next().unwrap_or_default()),
        // LLVM counts what has no name: the parameters, and then the first block.
        None => {
            let first = further.names().filter(|name| name[1..].starts_with(|c: char| c.is_ascii_digit())).count().to_string();
            Further::beginning(&first) + &first + ":\n"
        }
    }
}

fn is_call_of(line: &str, callee: &str) -> bool {
    line.split_once("call ").is_some_and(|(before, after)| !before.contains('"') && after.contains(callee) && !after.contains('"'))
}

/// Where the parenthesis closes that was opened before `text`.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 1;
    text.bytes().position(|byte| {
        depth += i32::from(matches!(byte, b'(' | b'[' | b'{' | b'<')) - i32::from(matches!(byte, b')' | b']' | b'}' | b'>'));
        depth == 0
    })
}

/// The parts between commas that no bracket encloses, until a bracket closes that was not opened.
fn split(text: &str) -> Vec<&str> {
    let text = &text[..closing(text).unwrap_or(text.len())];
    let (mut depth, mut start, mut parts) = (0, 0, Vec::new());
    for (at, byte) in text.bytes().enumerate() {
        depth += i32::from(matches!(byte, b'(' | b'[' | b'{' | b'<')) - i32::from(matches!(byte, b')' | b']' | b'}' | b'>'));
        if byte == b',' && depth == 0 {
            parts.push(text[start..at].trim());
            start = at + 1;
        }
    }
    parts.push(text[start..].trim());
    parts
}
