//! From tokens to records.
//!
//! Statements are carried out as they are read. After an error, reading goes on at the next item of the body or the
//! next statement that begins a line, so that one run reports several errors.

mod arguments;
mod binders;
mod bodies;
mod cases;
mod control;
mod multiclass;
mod operators;
mod scope;
mod slices;
mod statements;
mod types;
mod values;

use std::path::Path;

use rustc_hash::FxHashMap;

use crate::Outcome;
use crate::context::{Attempt, Context, Reported};
use crate::diagnostic::Diagnostic;
use crate::lexer::{Lexer, report_read_error};
use crate::node::Node;
use crate::options::Options;
use crate::record::{Check, RecId, Record, RecordKind};
use crate::records::Records;
use crate::source::{self, FileId, ReadError, Span};
use crate::symbol::Symbol;
use crate::token::{Tok, Token};
use crate::ty::Ty;

use scope::Scope;

/// What to read.
pub(crate) enum Input<'a> {
    File(&'a Path),
    Text { name: &'a str, text: &'a str },
}

/// Stack for parsing and evaluating, both of which recurse up to their limits. Only what is used is ever backed by
/// memory.
const STACK_BYTES: usize = 1 << 28;

/// Reads an input on a thread with a stack that is large enough for every [`crate::Limits`] by default.
pub(crate) fn run(input: Input<'_>, options: &Options) -> Outcome {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("tablegen".to_owned()).stack_size(STACK_BYTES);
        match thread.spawn_scoped(scope, || parse(&input, options)) {
            Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(error) => Outcome {
                records: None,
                diagnostics: vec![Diagnostic::error(None, format!("cannot start a thread with {STACK_BYTES} bytes of stack: {error}"))],
                sources: source::SourceMap::default(),
                dependencies: Vec::new(),
            },
        }
    })
}

fn open(input: &Input<'_>, context: &mut Context) -> Option<FileId> {
    let (name, text) = match input {
        Input::Text { name, text } if u32::try_from(text.len()).is_ok() => ((*name).to_owned(), (*text).into()),
        Input::Text { name, text } => {
            report_read_error(context, Path::new(name), None, ReadError::TooLong { bytes: text.len() as u64 });
            return None;
        }
        Input::File(path) => match source::read(path) {
            Ok(text) => (path.display().to_string(), text),
            Err(error) => {
                report_read_error(context, path, None, error);
                return None;
            }
        },
    };
    Some(context.sources.add(name, text, None))
}

fn parse(input: &Input<'_>, options: &Options) -> Outcome {
    let mut context = Context::new(options.clone());
    let mut dependencies = Vec::new();
    if let Some(file) = open(input, &mut context) {
        let lexer = Lexer::new(file, &mut context);
        let mut parser = Parser::new(context, lexer, file);
        parser.parse_file();
        dependencies = parser.lexer.dependencies.into_iter().collect();
        context = parser.cx;
    }
    let diagnostics = std::mem::take(&mut context.diagnostics);
    let sources = context.sources.clone();
    let records = (context.errors == 0 && !context.stopped).then(|| Records::new(context));
    Outcome { records, diagnostics, sources, dependencies }
}

/// How an identifier that names nothing is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// It is an error.
    Value,
    /// It is part of a record's name.
    Name,
}

/// A statement of a multiclass or of a loop, to be carried out later, perhaps many times.
enum Entry {
    Record(RecId),
    Loop(Loop),
    Check(Check),
}

/// `foreach`; `if` is one over a list of none or one, without a variable.
struct Loop {
    span: Span,
    variable: Option<Node>,
    list: Node,
    entries: Vec<Entry>,
}

struct MultiClass {
    /// Holds the template arguments.
    record: RecId,
    entries: Vec<Entry>,
}

/// One assignment of a `let … in`.
#[derive(Clone)]
struct Let {
    name: Node,
    span: Span,
    bits: Vec<u32>,
    value: Node,
    how: Setting,
}

/// How a `let` sets a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Setting {
    /// In place of what it was.
    Replace,
    /// Behind it: `let append`.
    Append,
    /// Before it: `let prepend`.
    Prepend,
}

/// A `defset` being filled.
struct Defset {
    span: Span,
    element: Ty,
    items: Vec<Node>,
}

struct Parser {
    cx: Context,
    lexer: Lexer,
    tok: Token,
    scopes: Vec<Scope>,
    loops: Vec<Loop>,
    lets: Vec<Vec<Let>>,
    defsets: Vec<Defset>,
    multiclasses: Vec<MultiClass>,
    multiclass_names: FxHashMap<Symbol, usize>,
    /// The multiclass being defined.
    multiclass: Option<usize>,
    aliases: FxHashMap<Symbol, Ty>,
    /// Names bound by operators around the current expression.
    bound: Vec<Node>,
    /// Stands for the record where an operator binds names outside of one.
    nowhere: RecId,
    nesting: u32,
}

impl Parser {
    fn new(mut cx: Context, lexer: Lexer, file: FileId) -> Parser {
        let start = Span { file, start: 0, end: 0 };
        let name = cx.string(".parse");
        let mut nowhere = Record::new(name, RecordKind::Def, start);
        nowhere.spans.clear();
        let nowhere = cx.add_record(nowhere);
        Parser {
            cx,
            lexer,
            tok: Token { kind: Tok::Eof, span: start, symbol: Symbol::EMPTY, int: 0, width: 0 },
            scopes: Vec::new(),
            loops: Vec::new(),
            lets: Vec::new(),
            defsets: Vec::new(),
            multiclasses: Vec::new(),
            multiclass_names: FxHashMap::default(),
            multiclass: None,
            aliases: FxHashMap::default(),
            bound: Vec::new(),
            nowhere,
            nesting: 0,
        }
    }

    // ---- Tokens ----

    fn advance(&mut self) {
        self.tok = self.lexer.next(&mut self.cx);
    }

    fn at(&self, kind: Tok) -> bool {
        self.tok.kind == kind
    }

    fn eat(&mut self, kind: Tok) -> bool {
        let found = self.at(kind);
        if found {
            self.advance();
        }
        found
    }

    fn expect(&mut self, kind: Tok, place: &str) -> Attempt<Span> {
        let span = self.tok.span;
        if self.eat(kind) { Ok(span) } else { Err(self.unexpected(&format!("{} {place}", kind.describe()))) }
    }

    fn expect_identifier(&mut self, what: &str) -> Attempt<(Symbol, Span)> {
        if !self.at(Tok::Identifier) {
            return Err(self.unexpected(what));
        }
        let found = (self.tok.symbol, self.tok.span);
        self.advance();
        Ok(found)
    }

    /// Closes a bracket that was opened at `open`.
    fn expect_close(&mut self, kind: Tok, open: Span, what: &str) -> Attempt<()> {
        if self.eat(kind) {
            return Ok(());
        }
        if self.at(Tok::Error) {
            return Err(Reported);
        }
        let message = format!("expected {} at the end of {what}, found {}", kind.describe(), self.tok.kind.describe());
        Err(self.cx.report(Diagnostic::error(self.tok.span, message).with_label(open, "to match this")))
    }

    /// Reports that something else should stand here.
    fn unexpected(&mut self, wanted: &str) -> Reported {
        if self.at(Tok::Error) {
            return Reported;
        }
        let message = format!("expected {wanted}, found {}", self.tok.kind.describe());
        self.cx.error(self.tok.span, message)
    }

    /// One level deeper in the text; [`Parser::ascend`] follows.
    fn descend(&mut self) -> Attempt<()> {
        if self.nesting >= self.cx.options.limits.nesting {
            self.cx.here = Some(self.tok.span);
            return Err(self.cx.over_limit("text is nested too deeply", self.cx.options.limits.nesting));
        }
        self.nesting += 1;
        Ok(())
    }

    fn ascend(&mut self) {
        self.nesting -= 1;
    }

    // ---- Files ----

    fn parse_file(&mut self) {
        self.advance();
        self.scopes.push(Scope::local());
        while !self.at(Tok::Eof) && !self.cx.stopped {
            let result = if self.tok.kind.starts_statement() {
                self.parse_statement()
            } else {
                Err(self
                    .unexpected("a statement (assert, class, def, defm, defset, deftype, defvar, dump, foreach, if, let or multiclass)"))
            };
            if result.is_err() {
                self.recover();
            }
        }
    }

    /// Forgets what was begun, and goes to the next statement that begins a line.
    fn recover(&mut self) {
        self.scopes.truncate(1);
        self.loops.clear();
        self.lets.clear();
        self.defsets.clear();
        self.bound.clear();
        self.multiclass = None;
        self.nesting = 0;
        loop {
            self.advance();
            let at_margin = self.cx.sources.location(self.tok.span).column == 1;
            if self.at(Tok::Eof) || (at_margin && self.tok.kind.starts_statement()) {
                return;
            }
        }
    }
}
