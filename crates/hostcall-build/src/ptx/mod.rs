//! PTX: what others compiled, with hostcall's calls in it ([`instrument`]); and reading it for tests.
//!
//! [`Ptx`] is for tests that check what a kernel was compiled to ("no `membar`", "two ballots, one on each side of the
//! branch"). It reads what LLVM writes, and inline assembly in it; it is not a PTX assembler and accepts what is not
//! PTX. What instruments has a reader of its own, which is exact, and which tests compare with this one.
//!
//! ```
//! let ptx = hostcall_build::ptx::Ptx::parse(".version 8.4\n.target sm_70\n.visible .entry f()\n{\n  ret;\n}\n");
//! let f = ptx.function("f").unwrap();
//! assert!(f.is_entry && f.matching("ret").count() == 1);
//! ```

mod access;
mod error;
mod file;
mod flow;
mod insert;
mod library;
mod module;
mod ours;
mod preloaded;
mod read;
mod sites;
mod token;

pub use error::PtxError;
pub use file::reads_as_it_is;
pub use insert::{Chosen, Instrumented, instrument};
pub use library::Library;
pub use preloaded::preloaded;

/// A PTX module.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Ptx {
    /// What `.version` says.
    pub version: String,
    /// What `.target` says.
    pub target: String,
    /// The functions that have a body.
    pub functions: Vec<Function>,
}

/// A function with a body.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Whether it is a kernel.
    pub is_entry: bool,
    /// What it does.
    pub body: Vec<Item>,
}

/// A line of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Item {
    /// `name:`
    Label(String),
    /// An instruction.
    Instruction(Instruction),
}

/// An instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Instruction {
    /// The guard, like `@%p1` or `@!%p1`.
    pub guard: Option<String>,
    /// The whole dotted name, like `st.relaxed.sys.global.b128`.
    pub opcode: String,
    /// The rest, up to the semicolon.
    pub operands: String,
}

impl Ptx {
    /// Reads a module.
    pub fn parse(text: &str) -> Ptx {
        let mut ptx = Ptx::default();
        let text = without_lines(&without_comments(text));
        let directive = |name: &str| {
            text.lines().find_map(|line| line.trim().strip_prefix(name)).map(|rest| rest.trim().to_owned()).unwrap_or_default()
        };
        ptx.version = directive(".version ");
        ptx.target = directive(".target ");
        let mut rest = text.as_str();
        while let Some((header, body, after)) = next_function(rest) {
            let is_entry = header.split_whitespace().any(|word| word == ".entry");
            if let Some(name) = function_name(header) {
                ptx.functions.push(Function { name, is_entry, body: items(body) });
            }
            rest = after;
        }
        ptx
    }

    /// The function of that name.
    pub fn function(&self, name: &str) -> Option<&Function> {
        self.functions.iter().find(|function| function.name == name)
    }

    /// The kernels.
    pub fn entries(&self) -> impl Iterator<Item = &Function> {
        self.functions.iter().filter(|function| function.is_entry)
    }

    /// Every instruction of every function, with the function.
    pub fn instructions(&self) -> impl Iterator<Item = (&Function, &Instruction)> {
        self.functions.iter().flat_map(|function| function.instructions().map(move |instruction| (function, instruction)))
    }

    /// Names of the functions that `name` calls, directly or through others, and itself. Calls through pointers are not
    /// followed.
    pub fn reachable(&self, name: &str) -> Vec<&Function> {
        let mut found: Vec<&Function> = self.function(name).into_iter().collect();
        let mut next = 0;
        while let Some(function) = found.get(next) {
            let called: Vec<&Function> = function.calls().filter_map(|name| self.function(name)).collect();
            for function in called {
                if !found.iter().any(|known| known.name == function.name) {
                    found.push(function);
                }
            }
            next += 1;
        }
        found
    }
}

impl Function {
    /// Its instructions in order.
    pub fn instructions(&self) -> impl Iterator<Item = &Instruction> {
        self.body.iter().filter_map(|item| match item {
            Item::Instruction(instruction) => Some(instruction),
            Item::Label(_) => None,
        })
    }

    /// Its instructions of that name: `st.relaxed` matches `st.relaxed.sys.global.b128` and not `st.relaxedly`.
    pub fn matching<'a>(&'a self, opcode: &'a str) -> impl Iterator<Item = &'a Instruction> {
        self.instructions().filter(move |instruction| instruction.is(opcode))
    }

    /// Names of the functions that it calls by name.
    pub fn calls(&self) -> impl Iterator<Item = &str> {
        self.matching("call").filter_map(|call| {
            // `call.uni (retval0), name, (params)` or `call.uni name, (params)`.
            let operands =
                call.operands.strip_prefix('(').and_then(|rest| rest.split_once("),")).map_or(call.operands.as_str(), |(_, rest)| rest);
            operands.split(',').next().map(str::trim).filter(|name| !name.starts_with('%'))
        })
    }

    /// Its straight pieces: instructions between labels and branches, in order. Two collectives in one block run under
    /// the same mask; in different blocks they may not.
    pub fn blocks(&self) -> Vec<Vec<&Instruction>> {
        let mut blocks = vec![Vec::new()];
        for item in &self.body {
            match item {
                Item::Label(_) => blocks.push(Vec::new()),
                Item::Instruction(instruction) => {
                    if let Some(block) = blocks.last_mut() {
                        block.push(instruction);
                    }
                    if ["bra", "brx", "ret", "exit", "trap"].iter().any(|end| instruction.is(end)) {
                        blocks.push(Vec::new());
                    }
                }
            }
        }
        blocks.retain(|block| !block.is_empty());
        blocks
    }
}

impl Instruction {
    /// Whether its name is `opcode` or begins with it at a dot.
    pub fn is(&self, opcode: &str) -> bool {
        self.opcode.strip_prefix(opcode).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    }

    /// Whether one part of its dotted name is `part`, like `sys`.
    pub fn has(&self, part: &str) -> bool {
        self.opcode.split('.').any(|found| found == part)
    }
}

fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('/') {
        out.push_str(&rest[..start]);
        let comment = &rest[start..];
        rest = if comment.starts_with("//") {
            comment.find('\n').map_or("", |end| &comment[end..])
        } else if let Some(inside) = comment.strip_prefix("/*") {
            inside.split_once("*/").map_or("", |(_, after)| after)
        } else {
            out.push('/');
            &comment[1..]
        };
    }
    out + rest
}

/// Without what says of which line of a source something is: it ends with its own line, and not with a semicolon.
fn without_lines(text: &str) -> String {
    let says = |line: &&str| ![".loc", ".file"].iter().any(|directive| line.trim_start().starts_with(directive));
    text.split_inclusive('\n').filter(says).collect()
}

/// The next function with a body: its header from the directive on, what is between its braces, and what follows.
fn next_function(text: &str) -> Option<(&str, &str, &str)> {
    let mut from = 0;
    loop {
        let rest = &text[from..];
        let start = [".entry", ".func"].iter().filter_map(|word| rest.find(word)).min()?;
        let rest = &rest[start..];
        // A declaration ends with a semicolon before any brace.
        let brace = rest.find('{')?;
        if let Some(end) = rest[..brace].find(';') {
            from += start + end;
            continue;
        }
        let mut depth = 0;
        for (at, c) in rest.char_indices().skip_while(|(at, _)| *at < brace) {
            match c {
                '{' => depth += 1,
                '}' if depth == 1 => return Some((&rest[..brace], &rest[brace + 1..at], &rest[at + 1..])),
                '}' => depth -= 1,
                _ => {}
            }
        }
        return None;
    }
}

/// The name in `.entry name(…)`, `.func name(…)` or `.func (.param .b64 r) name(…)`.
fn function_name(header: &str) -> Option<String> {
    let rest = header.strip_prefix(".entry").or_else(|| header.strip_prefix(".func"))?.trim_start();
    let rest = if rest.starts_with('(') { rest.split_once(')')?.1.trim_start() } else { rest };
    let name: String = rest.chars().take_while(|c| c.is_ascii_alphanumeric() || "_$%".contains(*c)).collect();
    (!name.is_empty()).then_some(name)
}

fn items(body: &str) -> Vec<Item> {
    let mut items = Vec::new();
    for statement in statements(body) {
        let mut rest = statement.as_str();
        while let Some((label, after)) = rest.split_once(':').filter(|(label, after)| is_name(label.trim()) && !after.starts_with(':')) {
            items.push(Item::Label(label.trim().to_owned()));
            rest = after.trim_start();
        }
        let (guard, rest) = match rest.strip_prefix('@').and_then(|rest| rest.split_once(char::is_whitespace)) {
            Some((guard, rest)) => (Some(format!("@{guard}")), rest.trim_start()),
            None => (None, rest),
        };
        // What begins with a dot is a directive: `.reg`, `.loc`, `.pragma`, `.local`.
        if rest.is_empty() || rest.starts_with('.') {
            continue;
        }
        // Programs' text has no spaces that need not be there: `st.shared.b64[a],%d1`.
        let end = rest.find(|c: char| c.is_whitespace() || "[{(".contains(c)).unwrap_or(rest.len());
        let (opcode, operands) = rest.split_at(end);
        items.push(Item::Instruction(Instruction { guard, opcode: opcode.to_owned(), operands: operands.trim().to_owned() }));
    }
    items
}

/// Splits at semicolons, and at the braces of blocks (but not those of vector operands, `{%r1, %r2}`).
fn statements(body: &str) -> Vec<String> {
    let mut statements = Vec::new();
    let mut current = String::new();
    let mut vector = false;
    for c in body.chars() {
        match c {
            '{' if !current.trim_end().is_empty() && !current.trim_end().ends_with(':') => {
                vector = true;
                current.push(c);
            }
            '}' if vector => {
                vector = false;
                current.push(c);
            }
            ';' | '{' | '}' => statements.push(std::mem::take(&mut current).trim().to_owned()),
            _ => current.push(c),
        }
    }
    statements.push(current.trim().to_owned());
    statements.retain(|statement| !statement.is_empty());
    statements
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "_$%".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
//
// Generated by LLVM NVPTX Back-End
//
.version 8.4
.target sm_70
.address_size 64
.func  (.param .b32 func_retval0) helper
(
	.param .b64 helper_param_0
)
;
.visible .global .align 8 .b8 __hostcall_device[128];
.visible .entry demo(
	.param .u64 .ptr .align 1 demo_param_0
)
{
	.reg .pred 	%p<2>;
	ld.param.b64 	%rd1, [demo_param_0]; /* a
	comment; */
	@%p1 bra 	$L__BB0_2;
	bra.uni 	$L__BB0_1;
$L__BB0_2:                              // =>This
	// begin inline asm
	{ .reg .b128 t; mov.b128 t, {%rd1, %rd2}; st.relaxed.sys.global.b128 [%rd3], t; }
	// end inline asm
	{ // callseq 2, 0
	.param .b32 	retval0;
	call.uni (retval0), helper, (param0);
	} // callseq 2
$L__BB0_1:
	ret;
                                        // -- End function
}
.func  (.param .b32 func_retval0) helper(
	.param .b64 helper_param_0
)
{
	vote.sync.ballot.b32 	%r1, 1, -1;
	ret;
}
"#;

    #[test]
    fn functions_are_found_and_declarations_are_not() {
        let ptx = Ptx::parse(TEXT);
        assert_eq!((ptx.version.as_str(), ptx.target.as_str()), ("8.4", "sm_70"));
        let names: Vec<_> = ptx.functions.iter().map(|function| (function.name.as_str(), function.is_entry)).collect();
        assert_eq!(names, [("demo", true), ("helper", false)]);
        assert_eq!(ptx.entries().count(), 1);
    }

    #[test]
    fn instructions_of_inline_assembly_and_guards_are_read() {
        let ptx = Ptx::parse(TEXT);
        let demo = ptx.function("demo").expect("it is there");
        let opcodes: Vec<_> = demo.instructions().map(|instruction| instruction.opcode.as_str()).collect();
        assert_eq!(opcodes, ["ld.param.b64", "bra", "bra.uni", "mov.b128", "st.relaxed.sys.global.b128", "call.uni", "ret"]);
        assert_eq!(demo.instructions().nth(1).expect("the branch").guard.as_deref(), Some("@%p1"));
        assert_eq!(demo.matching("mov").next().expect("one").operands, "t, {%rd1, %rd2}");
        let store = demo.matching("st.relaxed").next().expect("one");
        assert!(store.has("sys") && !store.has("gpu") && !store.is("st.rel"));
    }

    #[test]
    fn calls_are_followed_and_blocks_end_at_labels_and_branches() {
        let ptx = Ptx::parse(TEXT);
        let demo = ptx.function("demo").expect("it is there");
        assert_eq!(demo.calls().collect::<Vec<_>>(), ["helper"]);
        assert_eq!(ptx.reachable("demo").len(), 2);
        assert_eq!(demo.blocks().iter().map(Vec::len).collect::<Vec<_>>(), [2, 1, 3, 1]);
    }

    #[test]
    fn lines_of_a_source_hide_no_instruction() {
        let ptx = Ptx::parse(
            ".entry f()\n{\n.loc 1 7 3\n\tld.global.u32 %r1, [%rd1];\n\t.loc 1 8 3, function_name $x, inlined_at 1 7 3\n$L:\n\t.loc\t1 9 1\n\t{ // callseq\n\t.reg .b32 x; ret;\n}\n}\n",
        );
        let opcodes: Vec<_> = ptx.functions[0].instructions().map(|instruction| instruction.opcode.as_str()).collect();
        assert_eq!(opcodes, ["ld.global.u32", "ret"]);
    }

    #[test]
    fn text_that_is_cut_or_is_no_ptx_gives_fewer_functions_and_no_panic() {
        for end in (0..TEXT.len()).filter(|end| TEXT.is_char_boundary(*end)) {
            assert!(Ptx::parse(&TEXT[..end]).functions.len() <= 2);
        }
        assert!(Ptx::parse("}{;.entry é{ @").functions.is_empty());
    }
}
