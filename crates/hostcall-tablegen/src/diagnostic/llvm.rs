//! Diagnostics as LLVM's tools print them. Editors, FileCheck tests and scripts look for `file:line:column: error:
//! message`.

use std::io::{self, Write};

use super::{Diagnostic, LONGEST_LINE, MOST_INCLUDES, Severity};
use crate::source::{SourceMap, Span};

/// Columns between the stops of a tab.
const TAB: usize = 8;

pub(super) fn emit(diagnostic: &Diagnostic, sources: &SourceMap, color: bool, out: &mut impl Write) -> io::Result<()> {
    let mut printer = Printer { sources, color, text: String::new() };
    if let Some(span) = diagnostic.span {
        printer.includes(span);
    }
    printer.message(diagnostic.span, diagnostic.severity, &diagnostic.message);
    for label in &diagnostic.labels {
        printer.message(Some(label.span), Severity::Note, &label.message);
    }
    for note in &diagnostic.notes {
        printer.line(diagnostic.span, Severity::Note, note);
    }
    out.write_all(printer.text.as_bytes())
}

struct Printer<'a> {
    sources: &'a SourceMap,
    color: bool,
    text: String,
}

impl Printer<'_> {
    /// The files that led to a place, the outermost first.
    fn includes(&mut self, span: Span) {
        let stack = self.sources.include_stack(span.file);
        for &at in stack.iter().rev().skip(stack.len().saturating_sub(MOST_INCLUDES)) {
            let at = self.sources.location(at);
            self.text.push_str(&format!("Included from {}:{}:\n", at.file, at.line));
        }
    }

    fn colored(&mut self, code: &str, text: &str) {
        if self.color {
            self.text.push_str(&format!("\x1b[{code}m{text}\x1b[0m"));
        } else {
            self.text.push_str(text);
        }
    }

    /// `place: severity: message`
    fn line(&mut self, span: Option<Span>, severity: Severity, message: &str) {
        if let Some(span) = span {
            self.colored("1", &format!("{}: ", self.sources.location(span)));
        }
        let code = match severity {
            Severity::Note => "0;1;30",
            Severity::Warning => "0;1;35",
            Severity::Error => "0;1;31",
        };
        self.colored(code, &format!("{}: ", severity.name()));
        self.colored("1", message);
        self.text.push('\n');
    }

    /// The same, with the line of the source and a caret.
    fn message(&mut self, span: Option<Span>, severity: Severity, message: &str) {
        self.line(span, severity, message);
        let Some(span) = span else { return };
        let line = self.sources.line_index(span.file, span.start as usize);
        let Some(range) = self.sources.line_range(span.file, line).filter(|range| range.len() <= LONGEST_LINE) else { return };
        let text = self.sources.text(span.file)[range.clone()].trim_end_matches(['\n', '\r']);
        let mut columns = 0;
        let mut caret = None;
        for (at, c) in text.char_indices() {
            if range.start + at >= span.start as usize {
                caret.get_or_insert(columns);
            }
            if c == '\t' {
                let blanks = TAB - columns % TAB;
                self.text.extend(std::iter::repeat_n(' ', blanks));
                columns += blanks;
            } else {
                self.text.push(c);
                columns += 1;
            }
        }
        self.text.push('\n');
        self.text.extend(std::iter::repeat_n(' ', caret.unwrap_or(columns)));
        self.colored("0;1;32", "^");
        self.text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use crate::{Format, Options, Style};

    fn told(text: &str, color: bool) -> String {
        let outcome = crate::parse_str("a.td", text, &Options::default());
        let mut out = Vec::new();
        for diagnostic in &outcome.diagnostics {
            crate::emit(diagnostic, &outcome.sources, Style { format: Format::Llvm, color }, &mut out).expect("written to memory");
        }
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn a_diagnostic_is_a_line_that_editors_read_then_the_source_and_a_caret() {
        assert_eq!(
            told("def A;\n\tdef B : C;\n", false),
            "a.td:2:10: error: there is no class 'C'\n        def B : C;\n                ^\n"
        );
        let twice = "a.td:2:5: error: there is a record 'A' already\ndef A;\n    ^\na.td:1:5: note: defined here before\ndef A;\n    ^\n";
        assert_eq!(told("def A;\ndef A;\n", false), twice);
    }

    #[test]
    fn colours_are_only_there_when_asked_for() {
        let text = "def A : C;\n";
        assert!(told(text, true).contains("\x1b[0;1;31merror: \x1b[0m"));
        assert_eq!(told(text, true).replace('\x1b', "").matches("[0m").count(), 4);
        assert!(!told(text, false).contains('\x1b'));
    }

    #[test]
    fn what_is_at_the_end_of_a_file_has_its_caret_behind_the_last_line() {
        assert_eq!(
            told("def A", false),
            "a.td:1:6: error: expected '{' before the body, or ';' for none, found end of file\ndef A\n     ^\n"
        );
    }
}
