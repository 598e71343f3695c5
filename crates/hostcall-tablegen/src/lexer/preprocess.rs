//! `#define`, `#ifdef`, `#ifndef`, `#else`, `#endif`.
//!
//! A directive is the first thing on its line; only comments may follow it there.

use super::{Lexer, continues_identifier, starts_identifier};
use crate::context::Context;
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::symbol::Symbol;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Directive {
    Define,
    Ifdef,
    Ifndef,
    Else,
    Endif,
}

/// An open `#ifdef`, or its `#else`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Condition {
    is_else: bool,
    /// Whether what follows is read, as far as this condition goes.
    live: bool,
    pub(super) span: Span,
}

const DIRECTIVES: [(&str, Directive); 5] = [
    ("define", Directive::Define),
    ("ifdef", Directive::Ifdef),
    ("ifndef", Directive::Ifndef),
    ("else", Directive::Else),
    ("endif", Directive::Endif),
];

impl Lexer {
    /// The directive at the current `#`, and the length of its name.
    fn directive_here(&self) -> Option<(Directive, usize)> {
        let buffer = &self.stack[self.stack.len() - 1];
        let rest = &buffer.text.as_bytes()[buffer.pos + 1..];
        let (word, directive) = DIRECTIVES.into_iter().find(|(word, _)| {
            rest.strip_prefix(word.as_bytes())
                .is_some_and(|after| matches!(after, [] | [b' ' | b'\t' | b'\n' | b'\r', ..] | [b'/', b'/' | b'*', ..]))
        })?;
        Some((directive, word.len()))
    }

    pub(super) fn directive(&self) -> Option<()> {
        self.directive_here().map(|_| ())
    }

    fn is_live(&mut self) -> bool {
        self.top().conditions.iter().all(|condition| condition.live)
    }

    /// Carries out the directive at the current `#`, and skips what it turns off. `false` after an error.
    pub(super) fn preprocess(&mut self, context: &mut Context) -> bool {
        self.one_directive(context) && (self.is_live() || self.skip_region(context))
    }

    fn one_directive(&mut self, context: &mut Context) -> bool {
        let Some((directive, length)) = self.directive_here() else { return false };
        let start = self.pos();
        self.advance(1 + length);
        let span = self.span(start, self.pos());
        match directive {
            Directive::Ifdef | Directive::Ifndef => {
                let Some(name) = self.macro_name(context, span) else { return false };
                let live = self.macros.contains(&name) == (directive == Directive::Ifdef);
                self.top().conditions.push(Condition { is_else: false, live, span });
            }
            Directive::Else => match self.top().conditions.last_mut() {
                None => {
                    context.error(span, "'#else' without '#ifdef' or '#ifndef'");
                    return false;
                }
                Some(condition) if condition.is_else => {
                    let earlier = condition.span;
                    context.report(Diagnostic::error(span, "second '#else' of one '#ifdef'").with_label(earlier, "the first is here"));
                    return false;
                }
                Some(condition) => *condition = Condition { is_else: true, live: !condition.live, span },
            },
            Directive::Endif => {
                if self.top().conditions.pop().is_none() {
                    context.error(span, "'#endif' without '#ifdef' or '#ifndef'");
                    return false;
                }
            }
            Directive::Define => {
                let Some(name) = self.macro_name(context, span) else { return false };
                if !self.macros.insert(name) {
                    let message = format!("macro '{}' is defined already", context.symbols.shown(name));
                    context.report(Diagnostic::warning(span, message));
                }
            }
        }
        self.end_of_directive(context)
    }

    fn macro_name(&mut self, context: &mut Context, span: Span) -> Option<Symbol> {
        self.skip_while(|b| b == b' ' || b == b'\t');
        let start = self.pos();
        if !starts_identifier(self.peek(0)) {
            let directive = context.sources.snippet(span).to_owned();
            context.error(span, format!("expected the name of a macro after '{directive}'"));
            return None;
        }
        self.skip_while(continues_identifier);
        Some(context.intern(self.text_from(start)))
    }

    /// Only blanks and comments may follow a directive on its line.
    fn end_of_directive(&mut self, context: &mut Context) -> bool {
        loop {
            match (self.peek(0), self.peek(1)) {
                (b' ' | b'\t', _) => self.advance(1),
                (b'\n' | b'\r', _) => return true,
                _ if self.at_end() => return true,
                (b'/', b'/') => self.skip_line(),
                (b'/', b'*') => {
                    if !self.skip_comment(context) {
                        return false;
                    }
                }
                _ => {
                    let start = self.pos();
                    self.skip_line();
                    context.error(self.span(start, self.pos()), "only a comment may follow a directive on its line");
                    return false;
                }
            }
        }
    }

    /// Skips lines up to the directive that turns reading on again.
    fn skip_region(&mut self, context: &mut Context) -> bool {
        loop {
            self.skip_while(|b| b != b'\n');
            // The first thing on the next line that has anything on it.
            loop {
                self.skip_while(|b| matches!(b, b' ' | b'\t' | b'\n' | b'\r'));
                if (self.peek(0), self.peek(1)) != (b'/', b'*') {
                    break;
                }
                if !self.skip_comment(context) {
                    return false;
                }
            }
            if self.at_end() {
                // Reported by whoever sees the end of the file.
                return true;
            }
            if self.peek(0) != b'#' {
                continue;
            }
            match self.directive_here() {
                None | Some((Directive::Define, _)) => {}
                Some(_) => {
                    if !self.one_directive(context) {
                        return false;
                    }
                    if self.is_live() {
                        return true;
                    }
                }
            }
        }
    }
}
