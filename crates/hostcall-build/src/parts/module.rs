//! A module's text, symbol by symbol, and written anew as a part of it.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

use offload_image::Sha256;

use crate::module::definition;
use crate::shared_stacks::Types;
use crate::symbols::EXPORTED;

/// What a module defines and declares.
pub(super) struct Module<'t> {
    pub(super) symbols: Vec<Symbol<'t>>,
    /// Of each symbol what it mentions.
    pub(super) uses: Vec<Vec<usize>>,
    /// What every part begins with: the target, and types that have names.
    head: String,
    /// Lines of PTX: statics that the host looks for.
    assembly: Vec<&'t str>,
    /// Groups of attributes and metadata, by number; metadata that has a name.
    groups: HashMap<&'t str, &'t str>,
    metadata: HashMap<&'t str, &'t str>,
    named: Vec<&'t str>,
    types: Types<'t>,
    /// New names of constants that may be in several parts, by their own.
    constants: HashMap<&'t str, String>,
    /// Constants that say a place in the source ([`file_of`]), and the line of each.
    places: HashMap<&'t str, &'t str>,
}

pub(super) enum Symbol<'t> {
    Static {
        name: &'t str,
        line: &'t str,
    },
    Function {
        name: &'t str,
        head: &'t str,
        body: Vec<&'t str>,
    },
    /// What no part defines: LLVM's own functions, above all.
    Declared {
        name: &'t str,
        line: &'t str,
    },
}

impl<'t> Symbol<'t> {
    pub(super) fn name(&self) -> &'t str {
        match self {
            Symbol::Static { name, .. } | Symbol::Function { name, .. } | Symbol::Declared { name, .. } => name,
        }
    }

    /// Whether there may be only one of it. Of a constant whose address means nothing, and which only this module sees,
    /// there may be many.
    pub(super) fn is_owned_static(&self) -> bool {
        let Symbol::Static { line, .. } = self else { return false };
        let about = about(line);
        !(about.contains(&"constant") && about.contains(&"unnamed_addr") && about.iter().any(|word| LOCAL.contains(word)))
    }

    /// Whether the host looks for it, or launches it.
    pub(super) fn is_root(&self) -> bool {
        match self {
            Symbol::Function { name, head, .. } => is_looked_up(name) || head.contains(" ptx_kernel "),
            Symbol::Static { name, .. } => is_looked_up(name),
            Symbol::Declared { .. } => false,
        }
    }

    /// Whether only this module sees a function.
    pub(super) fn is_local(&self) -> bool {
        let Symbol::Function { head, .. } = self else { return false };
        head.strip_prefix("define ").is_some_and(|rest| LOCAL.iter().any(|word| rest.starts_with(word)))
    }

    pub(super) fn lines(&self) -> impl Iterator<Item = &'t str> {
        let (first, rest) = match self {
            Symbol::Static { line, .. } | Symbol::Declared { line, .. } => (*line, [].as_slice()),
            Symbol::Function { head, body, .. } => (*head, body.as_slice()),
        };
        std::iter::once(first).chain(rest.iter().copied())
    }
}

fn is_looked_up(name: &str) -> bool {
    EXPORTED.iter().any(|prefix| name.starts_with(prefix))
}

/// Whether a line of a module is none of a symbol's: the target, attributes, metadata, lists of what is used.
pub(super) fn is_about_all(line: &str) -> bool {
    let begins = ["target ", "%", "$", "module asm ", "attributes #", "!", "@llvm.used ", "@llvm.compiler.used "];
    begins.iter().any(|begin| line.starts_with(begin))
}

/// What says that only this module sees it.
const LOCAL: [&str; 2] = ["private", "internal"];

/// What the contents of a constant that is as a place in the source mention: where a file's name is (how long it is,
/// line and column follow; `core::panic::Location`).
fn file_of(line: &str) -> Option<&str> {
    let rest = line.split_once(" = ")?.1.strip_prefix("private unnamed_addr constant <{ ptr, [16 x i8] }> <{ ptr @")?;
    Some(name_of(rest))
}

/// The words between a static's name and its type.
fn about(line: &str) -> Vec<&str> {
    let Some((_, rest)) = line.split_once(" = ") else { return Vec::new() };
    let end = ["global ", "constant "].iter().filter_map(|word| Some(rest.find(word)? + word.len())).min().unwrap_or(0);
    rest[..end].split_whitespace().collect()
}

impl<'t> Module<'t> {
    /// `None` if there is something in it that parts could not have: names of names, statics or functions without a
    /// name, lists that are not LLVM's of what is used.
    pub(super) fn read(text: &'t str) -> Option<Module<'t>> {
        let (mut symbols, mut head, mut assembly) = (Vec::new(), String::new(), Vec::new());
        let (mut groups, mut metadata, mut named) = (HashMap::new(), HashMap::new(), Vec::new());
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            if let Some((_, name)) = definition(line) {
                let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "}").collect();
                if body.iter().any(|line| has_quoted(line)) {
                    return None;
                }
                symbols.push(Symbol::Function { name: known(line, name)?, head: line, body });
            } else if let Some(rest) = line.strip_prefix('@') {
                let name = known(line, name_of(rest))?;
                let about = about(line);
                match name {
                    // What is listed there is visible anyway.
                    "llvm.used" | "llvm.compiler.used" => {}
                    _ if name.starts_with("llvm.") || about.is_empty() => return None,
                    _ if about.contains(&"external") => symbols.push(Symbol::Declared { name, line }),
                    _ => symbols.push(Symbol::Static { name, line }),
                }
            } else if line.starts_with("declare ") {
                let (_, rest) = line.split_once('@')?;
                symbols.push(Symbol::Declared { name: known(line, name_of(rest))?, line });
            } else if let Some((number, group)) = line.strip_prefix("attributes #").and_then(|rest| rest.split_once(" = ")) {
                groups.insert(number, group);
            } else if let Some((number, node)) = line.strip_prefix('!').and_then(|rest| rest.split_once(" = ")) {
                if number.bytes().all(|byte| byte.is_ascii_digit()) {
                    metadata.insert(number, node);
                } else if number == "llvm.module.flags" {
                    named.push(line);
                } else if number.starts_with("nvvm.annotations") {
                    return None;
                }
            } else if line.starts_with("module asm \".visible ") && line.ends_with(";\"") {
                assembly.push(line);
            } else if line.starts_with("target ") || line.starts_with('%') || line.starts_with('$') {
                head.extend([line, "\n"]);
            } else if !(line.is_empty() || line.starts_with(';') || line.starts_with("source_filename")) {
                return None;
            }
        }
        let constants = named_by_content(&symbols);
        let place = |symbol: &Symbol<'t>| match *symbol {
            Symbol::Static { name, line } if file_of(line).is_some_and(|file| constants.contains_key(file)) => Some((name, line)),
            _ => None,
        };
        let places = symbols.iter().filter_map(place).collect();
        let numbers: HashMap<&str, usize> = symbols.iter().enumerate().map(|(number, symbol)| (symbol.name(), number)).collect();
        let uses = symbols.iter().enumerate().map(|(own, symbol)| {
            let mut used: Vec<usize> = symbol.lines().flat_map(names).filter_map(|name| numbers.get(name).copied()).collect();
            used.sort_unstable();
            used.dedup();
            used.retain(|used| *used != own);
            used
        });
        let uses = uses.collect();
        Some(Module { symbols, uses, head, assembly, groups, metadata, named, types: Types::of(text), constants, places })
    }

    /// Whether one symbol is a function and the other a place in the source, which functions have elsewhere
    /// ([`Writer::places`]).
    pub(super) fn is_place_of(&self, user: usize, used: usize) -> bool {
        matches!(self.symbols[user], Symbol::Function { .. }) && self.places.contains_key(self.symbols[used].name())
    }

    /// What a symbol is called in parts.
    pub(super) fn name(&self, name: &'t str) -> Cow<'_, str> {
        self.constants.get(name).map_or_else(|| plain(name), |constant| constant.into())
    }

    /// What a part begins with. What is assembly is defined in the `first`.
    pub(super) fn head(&self, part: &str, first: bool) -> String {
        let assembly = self.assembly.iter().map(|line| line.replacen(".visible ", if first { ".visible " } else { ".extern " }, 1) + "\n");
        format!("source_filename = \"{part}\"\n{}{}", self.head, assembly.collect::<String>())
    }

    pub(super) fn writer(&self) -> Writer<'_, 't> {
        Writer { module: self, groups: Numbers::default(), metadata: Numbers::default(), function: None, places: BTreeMap::new() }
    }
}

/// Names for the constants of which there may be many, made of what is in them: rustc numbers those of an object, so
/// that all get other numbers if one is added.
fn named_by_content<'t>(symbols: &[Symbol<'t>]) -> HashMap<&'t str, String> {
    let contents = |symbol: &Symbol<'t>| match *symbol {
        Symbol::Static { name, line } if !symbol.is_owned_static() => Some((name, line.split_once(" = ")?.1)),
        _ => None,
    };
    let constants: HashMap<&str, &str> = symbols.iter().filter_map(contents).collect();
    let (mut named, mut begun) = (HashMap::<&str, String>::new(), HashSet::new());
    for (first, _) in symbols.iter().filter_map(contents) {
        let mut open = vec![first];
        while let Some(&name) = open.last() {
            let contents = constants[name];
            if begun.insert(name) {
                // What it mentions comes first; if that mentions it in turn, it is named for its own name there.
                open.extend(names(contents).filter(|used| constants.contains_key(used) && !begun.contains(used)));
                continue;
            }
            open.pop();
            if !named.contains_key(name) {
                let digits = digits(&with_names(contents, &|name| named.get(name).map_or(name, String::as_str)));
                named.insert(name, format!("{}_$_{digits}", name.split('.').next().unwrap_or(name)));
            }
        }
    }
    named
}

/// What stands for a text in a name.
fn digits(text: &str) -> String {
    Sha256::of(text.as_bytes()).0.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// A line with other names.
fn with_names<'t>(line: &'t str, new: &impl Fn(&'t str) -> &str) -> String {
    let mut out = String::with_capacity(line.len());
    for (number, part) in line.split('"').enumerate() {
        if number > 0 {
            out.push('"');
        }
        if number % 2 == 1 {
            out.push_str(part);
            continue;
        }
        for (number, piece) in part.split('@').enumerate() {
            let name = if number > 0 { name_of(piece) } else { "" };
            out.extend([if number > 0 { "@" } else { "" }, if name.is_empty() { "" } else { new(name) }, &piece[name.len()..]]);
        }
    }
    out
}

/// The name, if it is one that needs no quotes and is not a number, and if the line mentions no other.
fn known<'t>(line: &str, name: &'t str) -> Option<&'t str> {
    (!name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit()) && !has_quoted(line)).then_some(name)
}

/// Whether there is a name in quotes, outside of texts.
fn has_quoted(line: &str) -> bool {
    line.contains("@\"") && line.split('"').step_by(2).any(|code| code.ends_with('@'))
}

/// The name that `text` begins with.
fn name_of(text: &str) -> &str {
    &text[..text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || b"_$.-".contains(byte)).count()]
}

/// The names in a line, outside of texts.
fn names(line: &str) -> impl Iterator<Item = &str> {
    line.split('"').step_by(2).flat_map(|code| code.split('@').skip(1)).map(name_of)
}

/// A name as PTX can have it: LLVM changes those of what only one module sees itself, in the same way.
pub(super) fn plain(name: &str) -> Cow<'_, str> {
    if name.contains('.') && !name.starts_with("llvm.") { name.replace('.', "_$_").into() } else { name.into() }
}

/// New numbers, in the order of first use.
#[derive(Default)]
struct Numbers<'t> {
    known: HashMap<&'t str, usize>,
    order: Vec<&'t str>,
}

impl<'t> Numbers<'t> {
    fn of(&mut self, number: &'t str) -> usize {
        let order = &mut self.order;
        *self.known.entry(number).or_insert_with(|| {
            order.push(number);
            order.len() - 1
        })
    }
}

/// Writes symbols of a module as a module of its own.
pub(super) struct Writer<'m, 't> {
    module: &'m Module<'t>,
    groups: Numbers<'t>,
    metadata: Numbers<'t>,
    /// The function that is written, and the places in the source that it has mentioned so far.
    function: Option<(&'t str, Vec<&'t str>)>,
    /// The places that the part's functions mention, by new names, which are made of the function's and say which of
    /// its places it is. They are in a part of their own: a line more in a file moves those behind it, and would change
    /// the parts of all functions there.
    pub(super) places: BTreeMap<String, &'t str>,
}

impl<'t> Writer<'_, 't> {
    /// A definition, for all parts to see if it is `shared`.
    pub(super) fn define(&mut self, symbol: &Symbol<'t>, shared: bool, text: &mut String) -> Option<()> {
        match symbol {
            Symbol::Declared { line, .. } => self.line(line, text),
            Symbol::Static { line, .. } if shared => {
                let (name, rest) = line.split_once(" = ")?;
                self.line(name, text);
                text.pop();
                text.push_str(" = ");
                self.line(LOCAL.iter().find_map(|word| rest.strip_prefix(word)).unwrap_or(rest).trim_start(), text);
            }
            Symbol::Static { line, .. } => self.line(line, text),
            Symbol::Function { name, head, body } => {
                self.function = Some((name, Vec::new()));
                let local = LOCAL.iter().find_map(|word| head.strip_prefix("define ")?.strip_prefix(word));
                match local.filter(|_| shared) {
                    Some(rest) => {
                        text.push_str("define");
                        self.line(rest, text);
                    }
                    None => self.line(head, text),
                }
                for line in body {
                    self.line(line, text);
                }
                text.push_str("}\n");
                self.function = None;
            }
        }
        Some(())
    }

    /// Defines a place in the source under a new name, for all parts to see.
    pub(super) fn define_place(&mut self, name: &str, place: &'t str, text: &mut String) -> Option<()> {
        let (_, rest) = self.module.places.get(place)?.split_once(" = private ")?;
        text.extend(["@", name, " = "]);
        self.line(rest, text);
        Some(())
    }

    /// What says that another part has it.
    pub(super) fn declare(&mut self, symbol: &Symbol<'t>, text: &mut String) -> Option<()> {
        match symbol {
            Symbol::Declared { line, .. } => self.line(line, text),
            Symbol::Static { name, line } => {
                let about = about(line);
                let kept = about
                    .iter()
                    .filter(|word| word.starts_with("addrspace(") || ["global", "constant", "externally_initialized"].contains(word));
                text.extend(["@", &plain(name), " = external "]);
                for word in kept {
                    text.extend([word, " "]);
                }
                let (_, rest) = line.split_once(&format!("{} ", about.last()?))?;
                let (kind, _) = self.module.types.split(rest)?;
                let align = line.rfind(", align ").map_or("", |at| &line[at..]);
                text.extend([kind, align.split(", !").next()?, "\n"]);
            }
            Symbol::Function { head, .. } => {
                let rest = head.strip_prefix("define ")?;
                let rest = LOCAL.iter().find_map(|word| rest.strip_prefix(word)).unwrap_or(rest).trim_start();
                let end = parameters_end(rest)?;
                let group = rest[end..].split_whitespace().find(|word| word.starts_with('#')).unwrap_or_default();
                text.push_str("declare ");
                self.line(&rest[..end], text);
                text.pop();
                if !group.is_empty() {
                    text.push_str(&format!(" #{}", self.groups.of(&group[1..])));
                }
                text.push('\n');
            }
        }
        Some(())
    }

    /// The groups of attributes and the metadata that the part mentions.
    pub(super) fn finish(&mut self, text: &mut String) -> Option<()> {
        for name in self.places.keys() {
            text.extend(["@", name, " = external constant <{ ptr, [16 x i8] }>, align 8\n"]);
        }
        for line in self.module.named.clone() {
            self.line(line, text);
        }
        let mut at = 0;
        while let Some(&number) = self.metadata.order.get(at) {
            text.push_str(&format!("!{at} = "));
            self.line(self.module.metadata.get(number)?, text);
            at += 1;
        }
        for (new, number) in self.groups.order.iter().enumerate() {
            text.push_str(&format!("attributes #{new} = {}\n", self.module.groups.get(number)?));
        }
        Some(())
    }

    /// The new name of a place in the source that the function mentions.
    fn place(&mut self, word: &'t str) -> Option<String> {
        let (function, known) = self.function.as_mut()?;
        self.module.places.get(word)?;
        let number = known.iter().position(|place| *place == word).unwrap_or_else(|| {
            known.push(word);
            known.len() - 1
        });
        let name = format!("at_$_{}", digits(&format!("{number} {function}")));
        self.places.insert(name.clone(), word);
        Some(name)
    }

    /// A line with new numbers and with names that PTX can have.
    fn line(&mut self, line: &'t str, text: &mut String) {
        for (number, part) in line.split('"').enumerate() {
            if number > 0 {
                text.push('"');
            }
            if number % 2 == 1 {
                text.push_str(part);
                continue;
            }
            let mut rest = part;
            while let Some(at) = rest.find(['@', '#', '!']) {
                text.push_str(&rest[..=at]);
                let (sign, after) = (rest.as_bytes()[at], &rest[at + 1..]);
                let length = match sign {
                    b'@' => name_of(after).len(),
                    _ => after.bytes().take_while(u8::is_ascii_digit).count(),
                };
                let (word, after) = after.split_at(length);
                match sign {
                    b'@' => match self.place(word) {
                        Some(name) => text.push_str(&name),
                        None => text.push_str(&self.module.name(word)),
                    },
                    _ if word.is_empty() => {}
                    b'#' => text.push_str(&self.groups.of(word).to_string()),
                    _ => text.push_str(&self.metadata.of(word).to_string()),
                }
                rest = after;
            }
            text.push_str(rest);
        }
        text.push('\n');
    }
}

/// Where a function's parameters end, of what begins before its name.
fn parameters_end(text: &str) -> Option<usize> {
    let name = text.find('@')?;
    let open = name + text[name..].find('(')?;
    let mut depth = 0;
    for (at, byte) in text.bytes().enumerate().skip(open) {
        match byte {
            b'(' => depth += 1,
            b')' if depth == 1 => return Some(at + 1),
            b')' => depth -= 1,
            _ => {}
        }
    }
    None
}
