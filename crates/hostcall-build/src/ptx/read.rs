//! Reads a module. It is exact about what instrumenting must know, and takes everything else as tokens up to the end
//! of the statement: an instruction that is newer than this is an instruction with operands. What is no PTX is refused
//! with its line.

use std::collections::HashMap;
use std::ops::Range;

use super::error::PtxError;
use super::module::{Body, Declaration, Function, Guard, Instruction, Loc, Module, Statement, What, bits_of, parse_number};
use super::token::{Kind, Token, tokens};

impl<'a> Module<'a> {
    pub(crate) fn read(text: &'a str) -> Result<Self, PtxError> {
        let tokens = tokens(text)?;
        let code: Vec<Token> = tokens.iter().copied().filter(|token| token.kind != Kind::Blank).collect();
        let none = Token { kind: Kind::Blank, start: 0, end: 0 };
        let mut module = Module {
            text,
            tokens,
            code,
            version: none,
            target: Vec::new(),
            head: 0,
            files: HashMap::new(),
            functions: Vec::new(),
            variables: HashMap::new(),
            names: HashMap::new(),
        };
        let mut reader = Reader { at: 0, module: &mut module };
        reader.module()?;
        Ok(module)
    }
}

struct Reader<'m, 'a> {
    at: usize,
    module: &'m mut Module<'a>,
}

const LINKAGE: [&str; 4] = [".extern", ".visible", ".weak", ".common"];
const LISTS: [&str; 3] = [".branchtargets", ".calltargets", ".callprototype"];

impl<'a> Reader<'_, 'a> {
    fn text(&self) -> &'a str {
        self.module.word(self.at)
    }

    fn kind(&self) -> Option<Kind> {
        self.module.kind(self.at)
    }

    fn start(&self) -> usize {
        self.module.place(self.at)
    }

    fn fail<T>(&self, problem: impl Into<String>) -> Result<T, PtxError> {
        Err(PtxError::syntax(self.module.text, self.start(), problem))
    }

    fn take(&mut self) -> &'a str {
        let text = self.text();
        self.at += 1;
        text
    }

    fn takes(&mut self, sign: &str) -> bool {
        let is = self.text() == sign && self.kind().is_some();
        self.at += usize::from(is);
        is
    }

    fn expect(&mut self, sign: &str) -> Result<(), PtxError> {
        if self.takes(sign) { Ok(()) } else { self.fail(format!("`{sign}` is missing before `{}`", self.text())) }
    }

    fn expect_word(&mut self) -> Result<&'a str, PtxError> {
        if self.kind() == Some(Kind::Word) { Ok(self.take()) } else { self.fail(format!("`{}` is no name", self.text())) }
    }

    fn number(&mut self) -> Result<u32, PtxError> {
        let number = (self.kind() == Some(Kind::Number)).then(|| parse_number(self.text())).flatten();
        match number {
            Some(number) => {
                self.at += 1;
                Ok(number)
            }
            None => self.fail(format!("`{}` is no number", self.text())),
        }
    }

    /// The end of what is between these signs and those of the same kinds within; behind it.
    fn balanced(&mut self) -> Result<Range<usize>, PtxError> {
        let start = self.at;
        let mut depth = 0usize;
        loop {
            match (self.kind(), self.text()) {
                (None, _) => return self.fail("a brace or bracket that is not closed"),
                (Some(Kind::Sign), "{" | "(" | "[") => depth += 1,
                (Some(Kind::Sign), "}" | ")" | "]") => depth = depth.saturating_sub(1),
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return Ok(start..self.at);
            }
        }
    }

    /// Up to a semicolon; behind it. The tokens before it.
    fn statement_end(&mut self) -> Result<Range<usize>, PtxError> {
        let start = self.at;
        loop {
            match (self.kind(), self.text()) {
                (None, _) => return self.fail("a statement without `;`"),
                (Some(Kind::Sign), ";") => {
                    self.at += 1;
                    return Ok(start..self.at - 1);
                }
                (Some(Kind::Sign), "{" | "(" | "[") => _ = self.balanced()?,
                (Some(Kind::Sign), "}" | ")" | "]") => return self.fail(format!("`{}` within a statement", self.text())),
                _ => self.at += 1,
            }
        }
    }

    fn module(&mut self) -> Result<(), PtxError> {
        while let Some(kind) = self.kind() {
            let word = self.text();
            if kind != Kind::Word {
                if self.takes(";") {
                    continue;
                }
                return self.fail(format!("`{word}` outside of functions"));
            }
            match word {
                ".version" => {
                    self.at += 1;
                    let Some(token) = self.module.code.get(self.at).copied().filter(|token| token.kind == Kind::Number) else {
                        return self.fail("`.version` without a number");
                    };
                    self.module.version = token;
                    self.at += 1;
                    self.heads();
                }
                ".target" => {
                    self.at += 1;
                    loop {
                        let word = self.expect_word()?;
                        self.module.target.push(word);
                        if !self.takes(",") {
                            break;
                        }
                    }
                    self.heads();
                }
                ".address_size" => {
                    self.at += 1;
                    if self.text() != "64" {
                        return Err(PtxError::AddressSize { bits: self.text().into() });
                    }
                    self.at += 1;
                    self.heads();
                }
                ".file" => self.file()?,
                ".loc" => _ = self.loc()?,
                ".section" => self.section()?,
                ".pragma" | ".alias" => _ = self.statement_end()?,
                _ => self.item()?,
            }
        }
        if self.module.version.kind == Kind::Blank || self.module.target.is_empty() {
            return self.fail("`.version` and `.target` are missing");
        }
        Ok(())
    }

    /// What was read so far is the module's head.
    fn heads(&mut self) {
        if self.module.functions.is_empty() && self.module.variables.is_empty() {
            self.module.head = self.module.code[self.at - 1].end;
        }
    }

    /// `.file 1 "name", 0, 0`
    fn file(&mut self) -> Result<(), PtxError> {
        self.at += 1;
        let number = self.number()?;
        if self.kind() != Some(Kind::Text) {
            return self.fail("`.file` without a name");
        }
        let name = self.take().trim_matches('"').to_owned();
        self.module.files.insert(number, name);
        while self.takes(",") {
            self.at += 1;
        }
        Ok(())
    }

    /// `.loc 1 2 3, function_name label+4, inlined_at 1 5 6`
    fn loc(&mut self) -> Result<Loc<'a>, PtxError> {
        self.at += 1;
        let mut loc = Loc { file: self.number()?, line: self.number()?, column: self.number()?, function: None };
        while self.takes(",") {
            match self.take() {
                "function_name" => {
                    let label = self.expect_word()?;
                    let offset = if self.takes("+") { self.number()? } else { 0 };
                    loc.function = Some((label, offset));
                }
                "inlined_at" => {
                    for _ in 0..3 {
                        self.number()?;
                    }
                }
                other => return self.fail(format!("`{other}` in `.loc`")),
            }
        }
        Ok(loc)
    }

    /// Debug information. The names in it are kept: `.loc` says those of functions so.
    fn section(&mut self) -> Result<(), PtxError> {
        self.at += 1;
        let is_names = self.expect_word()? == ".debug_str";
        if self.text() != "{" {
            return self.fail("`.section` without `{`");
        }
        let inside = self.balanced()?;
        if is_names {
            let mut label: Option<&'a str> = None;
            let mut bytes = Vec::new();
            for at in inside {
                let (word, next) = (self.module.word(at), self.module.word(at + 1));
                if self.module.kind(at) == Some(Kind::Number) {
                    bytes.extend(parse_number(word).map(|byte| byte as u8));
                } else if next == ":" {
                    self.name(label.replace(word), std::mem::take(&mut bytes));
                }
            }
            self.name(label, bytes);
        }
        Ok(())
    }

    /// A label of names, and the bytes behind it: several names, if others are said by what is added to the label.
    fn name(&mut self, label: Option<&'a str>, bytes: Vec<u8>) {
        if let Some(label) = label {
            self.module.names.insert(label, String::from_utf8_lossy(&bytes).into_owned());
        }
    }

    /// A variable or a function.
    fn item(&mut self) -> Result<(), PtxError> {
        let start = self.start();
        let from = self.at;
        while LINKAGE.contains(&self.text()) {
            self.at += 1;
        }
        match self.text() {
            ".entry" | ".func" => self.function(start),
            _ if self.text().starts_with('.') => {
                self.at = from;
                let declaration = self.declaration()?;
                for (name, _) in declaration.names {
                    self.module.variables.insert(name, declaration.space);
                }
                Ok(())
            }
            other => self.fail(format!("`{other}` outside of functions")),
        }
    }

    fn function(&mut self, start: usize) -> Result<(), PtxError> {
        let kind_at = self.start();
        let is_entry = self.take() == ".entry";
        while self.text() == ".attribute" {
            self.at += 1;
            self.balanced()?;
        }
        let mut parameters = if self.text() == "(" { self.parameters()? } else { Vec::new() };
        let name_at = self.start();
        let name = self.expect_word()?;
        if name.starts_with('.') {
            return self.fail(format!("`{name}` is no name of a function"));
        }
        if self.text() == "(" {
            parameters.extend(self.parameters()?);
        }
        // `.maxntid 128, 1, 1`, `.noreturn`, `.pragma "x";`
        let body = loop {
            match (self.kind(), self.text()) {
                (None, _) => return self.fail(format!("the function `{name}` has neither `;` nor a body")),
                (_, ".pragma") => _ = self.statement_end()?,
                (_, ";") => {
                    self.at += 1;
                    break None;
                }
                (_, "{") => break Some(self.body()?),
                (_, "(") => _ = self.balanced()?,
                (_, "}" | ")" | "]" | "[") => return self.fail(format!("`{}` before the body of `{name}`", self.text())),
                _ => self.at += 1,
            }
        };
        let end = self.module.code[self.at - 1].end;
        self.module.functions.push(Function { name, is_entry, span: start..end, kind_at, name_at, parameters, body });
        Ok(())
    }

    fn parameters(&mut self) -> Result<Vec<Declaration<'a>>, PtxError> {
        let range = self.balanced()?;
        Ok(self.split(range.start + 1..range.end - 1).into_iter().map(|range| self.declared(range)).collect())
    }

    /// Operands, or whatever commas part.
    fn split(&self, range: Range<usize>) -> Vec<Range<usize>> {
        let mut all = Vec::new();
        let (mut start, mut depth) = (range.start, 0usize);
        for at in range.clone() {
            match self.module.word(at) {
                "{" | "(" | "[" => depth += 1,
                "}" | ")" | "]" => depth = depth.saturating_sub(1),
                "," if depth == 0 => {
                    all.push(start..at);
                    start = at + 1;
                }
                _ => {}
            }
        }
        if start < range.end {
            all.push(start..range.end);
        }
        all
    }

    /// `.reg .b32 %r<5>, x;`
    fn declaration(&mut self) -> Result<Declaration<'a>, PtxError> {
        let range = self.statement_end()?;
        Ok(self.declared(range))
    }

    fn declared(&self, range: Range<usize>) -> Declaration<'a> {
        let mut declaration = Declaration { space: "", bits: 0, names: Vec::new() };
        for (number, part) in self.split(range).into_iter().enumerate() {
            let mut name = None;
            for at in part.clone() {
                let word = self.module.word(at);
                match self.module.kind(at) {
                    Some(Kind::Word) if !word.starts_with('.') => {
                        name = Some(at);
                        break;
                    }
                    Some(Kind::Word) if number == 0 && LINKAGE.contains(&word) => {}
                    Some(Kind::Word) if number == 0 => match bits_of(word) {
                        Some(bits) => declaration.bits = bits,
                        None if declaration.space.is_empty() => declaration.space = word,
                        None => {}
                    },
                    // `.attribute(.managed)`, `.align 4`
                    _ => {}
                }
            }
            if let Some(at) = name {
                let count = (self.module.word(at + 1) == "<").then(|| parse_number(self.module.word(at + 2))).flatten();
                declaration.names.push((self.module.word(at), count));
            }
        }
        declaration
    }

    fn body(&mut self) -> Result<Body<'a>, PtxError> {
        let open = self.start();
        self.expect("{")?;
        let mut depth = 0usize;
        let mut statements = Vec::new();
        loop {
            let start = self.start();
            let what = match (self.kind(), self.text()) {
                (None, _) => return self.fail("a function whose body has no end"),
                (Some(Kind::Sign), ";") => {
                    self.at += 1;
                    continue;
                }
                (Some(Kind::Sign), "{") => {
                    self.at += 1;
                    depth += 1;
                    What::Open
                }
                (Some(Kind::Sign), "}") => {
                    self.at += 1;
                    if depth == 0 {
                        return Ok(Body { open, close: start, statements });
                    }
                    depth -= 1;
                    What::Close
                }
                _ => match self.statement()? {
                    Some(what) => what,
                    None => continue,
                },
            };
            let end = self.module.code[self.at - 1].end;
            statements.push(Statement { start, end, what });
        }
    }

    fn statement(&mut self) -> Result<Option<What<'a>>, PtxError> {
        let label = (self.kind() == Some(Kind::Word) && self.module.word(self.at + 1) == ":").then(|| {
            let label = self.text();
            self.at += 2;
            label
        });
        let word = self.text();
        if label.is_some() && !LISTS.contains(&word) {
            return Ok(label.map(What::Label));
        }
        Ok(Some(match word {
            ".loc" => What::Loc(self.loc()?),
            ".file" => {
                self.file()?;
                return Ok(None);
            }
            ".section" => {
                self.section()?;
                return Ok(None);
            }
            ".pragma" => {
                _ = self.statement_end()?;
                What::Directive { label, words: vec![word] }
            }
            _ if LISTS.contains(&word) => {
                let range = self.statement_end()?;
                let words = range.filter(|at| self.module.kind(*at) == Some(Kind::Word)).map(|at| self.module.word(at)).collect();
                What::Directive { label, words }
            }
            _ if word.starts_with('.') && self.kind() == Some(Kind::Word) => What::Declaration(self.declaration()?),
            _ => What::Instruction(self.instruction()?),
        }))
    }

    fn instruction(&mut self) -> Result<Instruction<'a>, PtxError> {
        let guard = if self.takes("@") {
            let negated = self.takes("!");
            Some(Guard { negated, register: self.expect_word()? })
        } else {
            None
        };
        let opcode = self.expect_word()?;
        let range = self.statement_end()?;
        Ok(Instruction { guard, opcode, operands: self.split(range) })
    }
}
