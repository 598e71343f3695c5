//! From text to tokens, through included files.

mod preprocess;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::context::Context;
use crate::diagnostic::Diagnostic;
use crate::source::{self, FileId, ReadError, Span};
use crate::symbol::Symbol;
use crate::token::{Bang, Tok, Token};

use preprocess::Condition;

/// A file being read.
struct Buffer {
    file: FileId,
    text: Arc<str>,
    pos: usize,
    /// `#ifdef`s that are open.
    conditions: Vec<Condition>,
}

pub(crate) struct Lexer {
    /// The file being read, and below it those that include it.
    stack: Vec<Buffer>,
    macros: FxHashSet<Symbol>,
    texts: FxHashMap<PathBuf, Arc<str>>,
    pub(crate) dependencies: BTreeSet<PathBuf>,
}

fn starts_identifier(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

fn continues_identifier(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// A token's kind, text, number and width.
type Lexed = (Tok, Symbol, i64, u32);

fn plain(kind: Tok) -> Lexed {
    (kind, Symbol::EMPTY, 0, 0)
}

impl Lexer {
    pub(crate) fn new(file: FileId, context: &mut Context) -> Lexer {
        let text = context.sources.shared_text(file);
        let mut lexer = Lexer {
            stack: vec![Buffer { file, text, pos: 0, conditions: Vec::new() }],
            macros: FxHashSet::default(),
            texts: FxHashMap::default(),
            dependencies: BTreeSet::new(),
        };
        for name in context.options.defines.clone() {
            let bytes = name.as_bytes();
            if bytes.first().is_some_and(|&b| starts_identifier(b)) && bytes.iter().all(|&b| continues_identifier(b)) {
                lexer.macros.insert(context.intern(&name));
            } else {
                context.error(None, format!("'{name}' cannot be the name of a macro; names are letters, digits and '_'"));
            }
        }
        lexer
    }

    fn top(&mut self) -> &mut Buffer {
        let top = self.stack.len() - 1;
        &mut self.stack[top]
    }

    /// The byte `ahead` of the current one; 0 at the end.
    fn peek(&self, ahead: usize) -> u8 {
        let buffer = &self.stack[self.stack.len() - 1];
        buffer.text.as_bytes().get(buffer.pos + ahead).copied().unwrap_or(0)
    }

    fn pos(&self) -> usize {
        self.stack[self.stack.len() - 1].pos
    }

    fn advance(&mut self, bytes: usize) {
        self.top().pos += bytes;
    }

    fn at_end(&self) -> bool {
        let buffer = &self.stack[self.stack.len() - 1];
        buffer.pos >= buffer.text.len()
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span { file: self.stack[self.stack.len() - 1].file, start: start as u32, end: end as u32 }
    }

    fn fail(&mut self, context: &mut Context, start: usize, message: impl Into<String>) -> Lexed {
        let span = self.span(start, self.pos().max(start));
        context.error(span, message);
        plain(Tok::Error)
    }

    /// Moves forward while bytes are as wanted.
    fn skip_while(&mut self, mut wanted: impl FnMut(u8) -> bool) {
        let buffer = self.top();
        let rest = &buffer.text.as_bytes()[buffer.pos..];
        buffer.pos += rest.iter().position(|&b| !wanted(b)).unwrap_or(rest.len());
    }

    /// The text from `start` to here.
    fn text_from(&self, start: usize) -> &str {
        let buffer = &self.stack[self.stack.len() - 1];
        buffer.text.get(start..buffer.pos).unwrap_or("")
    }

    fn skip_line(&mut self) {
        self.skip_while(|b| b != b'\n' && b != b'\r');
    }

    /// The next token.
    pub(crate) fn next(&mut self, context: &mut Context) -> Token {
        let mut line_start = self.pos() == 0;
        loop {
            if context.stopped {
                return self.token(self.pos(), plain(Tok::Eof));
            }
            let start = self.pos();
            if self.at_end() {
                if self.leave_file(context) {
                    line_start = false;
                    continue;
                }
                return self.token(start, plain(Tok::Eof));
            }
            let lexed = match self.peek(0) {
                b' ' | b'\t' => {
                    self.skip_while(|b| b == b' ' || b == b'\t');
                    continue;
                }
                b'\n' | b'\r' => {
                    self.advance(1);
                    line_start = true;
                    continue;
                }
                b'/' if self.peek(1) == b'/' => {
                    self.skip_line();
                    continue;
                }
                b'/' if self.peek(1) == b'*' => {
                    if self.skip_comment(context) {
                        continue;
                    }
                    plain(Tok::Error)
                }
                b'#' if line_start && self.directive().is_some() => {
                    if self.preprocess(context) {
                        // A directive ends at its line's end, and so does what it skips.
                        line_start = true;
                        continue;
                    }
                    plain(Tok::Error)
                }
                0 => {
                    self.advance(1);
                    context.error(self.span(start, start + 1), "NUL byte in source");
                    continue;
                }
                first => self.lex(context, first, start),
            };
            if lexed.0 == Tok::Include {
                if self.enter_include(context) {
                    line_start = true;
                    continue;
                }
                return self.token(start, plain(Tok::Error));
            }
            return self.token(start, lexed);
        }
    }

    fn token(&self, start: usize, (kind, symbol, int, width): Lexed) -> Token {
        Token { kind, span: self.span(start, self.pos().max(start)), symbol, int, width }
    }

    fn lex(&mut self, context: &mut Context, first: u8, start: usize) -> Lexed {
        let single = match first {
            b':' => Tok::Colon,
            b';' => Tok::Semicolon,
            b',' => Tok::Comma,
            b'<' => Tok::Less,
            b'>' => Tok::Greater,
            b']' => Tok::RightSquare,
            b'{' => Tok::LeftBrace,
            b'}' => Tok::RightBrace,
            b'(' => Tok::LeftParen,
            b')' => Tok::RightParen,
            b'=' => Tok::Equal,
            b'?' => Tok::Question,
            b'#' => Tok::Paste,
            b'.' => return self.lex_dots(context, start),
            b'"' => return self.lex_string(context, start),
            b'$' => return self.lex_var_name(context, start),
            b'[' if self.peek(1) == b'{' => return self.lex_code(context, start),
            b'[' => Tok::LeftSquare,
            b'!' => return self.lex_bang(context, start),
            b'-' | b'+' | b'0'..=b'9' => return self.lex_number_or_identifier(context, first, start),
            _ if starts_identifier(first) => return self.lex_identifier(context, start),
            _ => {
                let step = self.stack[self.stack.len() - 1].text[start..].chars().next().map_or(1, char::len_utf8);
                self.advance(step);
                let found = self.text_from(start).escape_debug().to_string();
                return self.fail(context, start, format!("unexpected character '{found}'"));
            }
        };
        self.advance(1);
        plain(single)
    }

    fn lex_dots(&mut self, context: &mut Context, start: usize) -> Lexed {
        if self.peek(1) != b'.' {
            self.advance(1);
            return plain(Tok::Dot);
        }
        if self.peek(2) != b'.' {
            self.advance(2);
            return self.fail(context, start, "'..' is neither '.' nor '...'");
        }
        self.advance(3);
        plain(Tok::Ellipsis)
    }

    fn lex_identifier(&mut self, context: &mut Context, start: usize) -> Lexed {
        self.skip_while(continues_identifier);
        let text = self.text_from(start);
        match Tok::keyword(text) {
            Some(keyword) => plain(keyword),
            None => (Tok::Identifier, context.symbols.intern(text), 0, 0),
        }
    }

    fn lex_var_name(&mut self, context: &mut Context, start: usize) -> Lexed {
        self.advance(1);
        if !starts_identifier(self.peek(0)) {
            return self.fail(context, start, "no name after '$'");
        }
        self.skip_while(continues_identifier);
        (Tok::VarName, context.symbols.intern(self.text_from(start + 1)), 0, 0)
    }

    fn lex_bang(&mut self, context: &mut Context, start: usize) -> Lexed {
        self.advance(1);
        self.skip_while(|b| b.is_ascii_alphabetic());
        match Bang::named(self.text_from(start + 1)) {
            Some(bang) => plain(Tok::Bang(bang)),
            None => {
                let message = format!("there is no operator '{}'", self.text_from(start));
                self.fail(context, start, message)
            }
        }
    }

    fn lex_string(&mut self, context: &mut Context, start: usize) -> Lexed {
        self.advance(1);
        self.skip_while(|b| !matches!(b, b'"' | b'\\' | b'\n' | b'\r'));
        if self.peek(0) == b'"' {
            let symbol = context.intern(self.text_from(start + 1));
            self.advance(1);
            return (Tok::String, symbol, 0, 0);
        }
        let mut text = self.text_from(start + 1).to_owned();
        loop {
            match self.peek(0) {
                b'"' => {
                    self.advance(1);
                    return (Tok::String, context.intern(&text), 0, 0);
                }
                b'\\' => {
                    let escape = self.pos();
                    text.push(match self.peek(1) {
                        c @ (b'\\' | b'\'' | b'"') => c as char,
                        b't' => '\t',
                        b'n' => '\n',
                        _ => {
                            self.skip_line();
                            return self.fail(context, escape, "unknown escape in string; known are \\\\ \\' \\\" \\t \\n");
                        }
                    });
                    self.advance(2);
                }
                b'\n' | b'\r' => return self.fail(context, start, "string is not closed on its line"),
                _ if self.at_end() => return self.fail(context, start, "string is not closed"),
                _ => {
                    let from = self.pos();
                    self.advance(1);
                    self.skip_while(|b| !matches!(b, b'"' | b'\\' | b'\n' | b'\r'));
                    text.push_str(self.text_from(from));
                }
            }
        }
    }

    fn lex_code(&mut self, context: &mut Context, start: usize) -> Lexed {
        self.advance(2);
        loop {
            self.skip_while(|b| b != b'}');
            if self.at_end() {
                return self.fail(context, start, "code block is not closed by '}]'");
            }
            self.advance(1);
            if self.peek(0) == b']' {
                let buffer = &self.stack[self.stack.len() - 1];
                let symbol = context.intern(&buffer.text[start + 2..buffer.pos - 1]);
                self.advance(1);
                return (Tok::CodeBlock, symbol, 0, 0);
            }
            // What follows a '}' is passed over, even if it is another '}': the language is like that.
            if !self.at_end() {
                self.advance(1);
            }
        }
    }

    fn lex_number_or_identifier(&mut self, context: &mut Context, first: u8, start: usize) -> Lexed {
        if first.is_ascii_digit() {
            let mut digits = 1;
            while self.peek(digits).is_ascii_digit() {
                digits += 1;
            }
            let next = self.peek(digits);
            let after = self.peek(digits + 1);
            let prefixed = match next {
                b'x' => after.is_ascii_hexdigit(),
                b'b' => after == b'0' || after == b'1',
                _ => false,
            };
            // `8i` is an identifier: names are pasted together from such parts.
            if !prefixed && starts_identifier(next) {
                return self.lex_identifier(context, start);
            }
        }
        self.lex_number(context, first, start)
    }

    fn lex_number(&mut self, context: &mut Context, first: u8, start: usize) -> Lexed {
        let radix = match (first, self.peek(1)) {
            (b'0', b'x') => 16,
            (b'0', b'b') => 2,
            _ => 10,
        };
        if radix != 10 {
            self.advance(2);
            self.skip_while(|b| (b as char).is_digit(radix));
            let digits = self.text_from(start + 2);
            let width = digits.len() as u32;
            return match u64::from_str_radix(digits, radix) {
                Ok(value) if radix == 2 => (Tok::BinaryInt, Symbol::EMPTY, value as i64, width),
                Ok(value) => (Tok::Int, Symbol::EMPTY, value as i64, 0),
                Err(_) => self.fail(context, start, "number does not fit in 64 bits"),
            };
        }
        self.advance(1);
        if !first.is_ascii_digit() && !self.peek(0).is_ascii_digit() {
            return plain(if first == b'-' { Tok::Minus } else { Tok::Plus });
        }
        self.skip_while(|b| b.is_ascii_digit());
        let text = self.text_from(start);
        let value = if first == b'-' { text.parse::<i64>().ok() } else { text.parse::<u64>().ok().map(|value| value as i64) };
        match value {
            Some(value) => (Tok::Int, Symbol::EMPTY, value, 0),
            None => self.fail(context, start, "number does not fit in 64 bits"),
        }
    }

    /// Skips `/* … */`, which may be nested. `false` if it is not closed.
    fn skip_comment(&mut self, context: &mut Context) -> bool {
        let start = self.pos();
        self.advance(2);
        let mut depth = 1;
        loop {
            self.skip_while(|b| b != b'*' && b != b'/');
            match (self.peek(0), self.peek(1)) {
                (b'*', b'/') => {
                    self.advance(2);
                    depth -= 1;
                    if depth == 0 {
                        return true;
                    }
                }
                (b'/', b'*') => {
                    self.advance(2);
                    depth += 1;
                }
                _ if self.at_end() => {
                    context.error(self.span(start, start + 2), "comment is not closed");
                    return false;
                }
                _ => self.advance(1),
            }
        }
    }

    /// After `include`: reads the file's name and goes on in the file.
    fn enter_include(&mut self, context: &mut Context) -> bool {
        let name = self.next(context);
        if name.kind != Tok::String {
            if name.kind != Tok::Error {
                context.error(name.span, format!("expected the name of a file after 'include', found {}", name.kind.describe()));
            }
            return false;
        }
        let text = context.symbols.shown(name.symbol).into_owned();
        let Some(path) = source::find_include(&text, &context.options.include_dirs) else {
            let dirs: Vec<String> = context.options.include_dirs.iter().map(|dir| dir.display().to_string()).collect();
            let note = if dirs.is_empty() {
                "no include directories are given (-I)".to_owned()
            } else {
                format!("looked in the current directory, then in {}", dirs.join(", "))
            };
            context.report(Diagnostic::error(name.span, format!("cannot find the file '{text}'")).with_note(note));
            return false;
        };
        if self.stack.len() > context.options.limits.includes {
            context.here = Some(name.span);
            context.over_limit("files include one another too deeply: does one include itself?", context.options.limits.includes);
            return false;
        }
        let Some(text) = self.read(context, &path, name.span) else { return false };
        let file = context.sources.add(path.display().to_string(), text.clone(), Some(name.span));
        self.dependencies.insert(path);
        self.stack.push(Buffer { file, text, pos: 0, conditions: Vec::new() });
        true
    }

    fn read(&mut self, context: &mut Context, path: &Path, span: Span) -> Option<Arc<str>> {
        if let Some(text) = self.texts.get(path) {
            return Some(text.clone());
        }
        match source::read(path) {
            Ok(text) => {
                self.texts.insert(path.to_owned(), text.clone());
                Some(text)
            }
            Err(error) => {
                report_read_error(context, path, Some(span), error);
                None
            }
        }
    }

    /// Goes back to the including file. `false` at the end of the first one.
    fn leave_file(&mut self, context: &mut Context) -> bool {
        if let Some(open) = self.top().conditions.pop() {
            self.top().conditions.clear();
            let end = self.pos();
            context.report(Diagnostic::error(self.span(end, end), "file ends before '#endif'").with_label(open.span, "this is open"));
        }
        if self.stack.len() == 1 {
            return false;
        }
        self.stack.pop();
        true
    }
}

/// Reports why a file cannot be used.
pub(crate) fn report_read_error(context: &mut Context, path: &Path, span: Option<Span>, error: ReadError) {
    let name = path.display().to_string();
    let diagnostic = match error {
        ReadError::Io(error) => Diagnostic::error(span, format!("cannot read '{name}': {error}")),
        ReadError::TooLong { bytes } => Diagnostic::error(span, format!("'{name}' has {bytes} bytes; at most 4 GiB can be read")),
        ReadError::Utf8 { valid } => {
            let at = valid.len() as u32;
            let file = context.sources.add(name.clone(), valid.into(), span);
            let here = Span { file, start: at, end: at };
            let diagnostic = Diagnostic::error(here, format!("'{name}' is not UTF-8 from byte {at} on"));
            match span {
                Some(span) => diagnostic.with_label(span, "included here"),
                None => diagnostic,
            }
        }
    };
    context.report(diagnostic);
}
