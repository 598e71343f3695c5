//! What is wrong with the input, and where.
//!
//! A [`Diagnostic`] is data. [`emit`] prints it the way compilers do (file:line:column, the line, a caret), in one of
//! two [formats](Format): our own through `codespan-reporting`, with all places in one picture, or LLVM's, which
//! editors and scripts know how to read.

mod llvm;

use codespan_reporting::diagnostic as report;
use codespan_reporting::files;
use codespan_reporting::term;

use crate::source::{FileId, SourceMap, Span};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// Output of a `dump` statement.
    Note,
    /// Suspicious; records are still produced.
    Warning,
    /// No records are produced.
    Error,
}

impl Severity {
    fn name(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// A place that helps to understand a diagnostic, and why.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Label {
    /// Where.
    pub span: Span,
    /// What is to be seen there.
    pub message: String,
}

/// One error, warning or note.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// What it is, in lower case and without a full stop.
    pub message: String,
    /// Where. `None` if it concerns no place in a file (a file that cannot be opened).
    pub span: Option<Span>,
    /// Other places: earlier definitions, the instantiations that led here (nearest first).
    pub labels: Vec<Label>,
    /// Remedies and remarks.
    pub notes: Vec<String>,
}

impl Diagnostic {
    /// An error at a place.
    #[must_use]
    pub fn error(span: impl Into<Option<Span>>, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Error, message: message.into(), span: span.into(), labels: Vec::new(), notes: Vec::new() }
    }

    /// A warning at a place.
    #[must_use]
    pub fn warning(span: impl Into<Option<Span>>, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(span, message) }
    }

    /// Adds another place.
    #[must_use]
    pub fn with_label(mut self, span: Span, message: impl Into<String>) -> Diagnostic {
        self.labels.push(Label { span, message: message.into() });
        self
    }

    /// Adds a remark.
    #[must_use]
    pub fn with_note(mut self, note: impl Into<String>) -> Diagnostic {
        self.notes.push(note.into());
        self
    }

    /// `file:line:column: severity: message`, on one line.
    #[must_use]
    pub fn one_line(&self, sources: &SourceMap) -> String {
        let severity = self.severity.name();
        match self.span {
            Some(span) => format!("{}: {severity}: {}", sources.location(span), self.message),
            None => format!("{severity}: {}", self.message),
        }
    }

    fn to_report(&self, sources: &SourceMap) -> report::Diagnostic<FileId> {
        let severity = match self.severity {
            Severity::Note => report::Severity::Note,
            Severity::Warning => report::Severity::Warning,
            Severity::Error => report::Severity::Error,
        };
        let mut labels = Vec::new();
        let mut notes = Vec::new();
        if let Some(span) = self.span {
            labels.push(report::Label::primary(span.file, visible(sources, span)));
            let stack = sources.include_stack(span.file);
            notes.extend(stack.iter().take(MOST_INCLUDES).map(|&at| format!("included from {}", sources.location(at))));
            if stack.len() > MOST_INCLUDES {
                notes.push(format!("… through {} more files", stack.len() - MOST_INCLUDES));
            }
        }
        for label in &self.labels {
            labels.push(report::Label::secondary(label.span.file, visible(sources, label.span)).with_message(label.message.clone()));
        }
        notes.extend(self.notes.iter().cloned());
        report::Diagnostic::new(severity).with_message(self.message.clone()).with_labels(labels).with_notes(notes)
    }
}

/// More of the include stack is not shown.
const MOST_INCLUDES: usize = 8;

/// A span of at most one line and 200 bytes: a caret under a 10 MB line helps nobody.
fn visible(sources: &SourceMap, span: Span) -> std::ops::Range<usize> {
    let start = span.start as usize;
    let line = sources.line_index(span.file, start);
    let stop = sources.line_range(span.file, line).map_or(start, |range| range.end);
    let mut end = (span.end as usize).min(stop).min(start + 200).max(start);
    while !sources.text(span.file).is_char_boundary(end) {
        end -= 1;
    }
    start..end
}

/// How diagnostics look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// All places of a diagnostic in one picture.
    #[default]
    Rich,
    /// As LLVM's tools write them: `file:line:column: error: message`, the line, and a caret; other places as notes.
    Llvm,
}

/// A format, and whether colours are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// The format.
    pub format: Format,
    /// Whether the text has the escape sequences of terminals for colours.
    pub color: bool,
}

/// Prints a diagnostic with the source line and a caret.
///
/// # Errors
/// When the writer fails.
pub fn emit(diagnostic: &Diagnostic, sources: &SourceMap, style: Style, out: &mut impl std::io::Write) -> std::io::Result<()> {
    match style.format {
        Format::Rich => emit_rich(diagnostic, sources, style.color, out),
        Format::Llvm => llvm::emit(diagnostic, sources, style.color, out),
    }
}

fn emit_rich(diagnostic: &Diagnostic, sources: &SourceMap, color: bool, out: &mut impl std::io::Write) -> std::io::Result<()> {
    let report = diagnostic.to_report(sources);
    if fits(diagnostic, sources) {
        let mut text = Vec::new();
        let (config, files) = (term::Config::default(), Files(sources));
        let written = if color {
            term::emit_to_write_style(&mut term::termcolor::Ansi::new(&mut text), &config, &files, &report)
        } else {
            term::emit_to_io_write(&mut text, &config, &files, &report)
        };
        if written.is_ok() {
            return out.write_all(&text);
        }
    }
    let mut text = diagnostic.one_line(sources);
    for note in &report.notes {
        text.push_str("\n  = ");
        text.push_str(note);
    }
    text.push('\n');
    out.write_all(text.as_bytes())
}

/// Lines beyond this many bytes are not shown.
const LONGEST_LINE: usize = 4096;

fn fits(diagnostic: &Diagnostic, sources: &SourceMap) -> bool {
    diagnostic.span.iter().chain(diagnostic.labels.iter().map(|label| &label.span)).all(|span| {
        let line = sources.line_index(span.file, span.start as usize);
        sources.line_range(span.file, line).is_some_and(|range| range.len() <= LONGEST_LINE)
    })
}

/// Lets `codespan-reporting` read a [`SourceMap`].
struct Files<'a>(&'a SourceMap);

impl<'a> files::Files<'a> for Files<'a> {
    type FileId = FileId;
    type Name = &'a str;
    type Source = &'a str;

    fn name(&'a self, id: FileId) -> Result<&'a str, files::Error> {
        Ok(self.0.name(id))
    }

    fn source(&'a self, id: FileId) -> Result<&'a str, files::Error> {
        Ok(self.0.text(id))
    }

    fn line_index(&'a self, id: FileId, byte: usize) -> Result<usize, files::Error> {
        Ok(self.0.line_index(id, byte))
    }

    fn line_range(&'a self, id: FileId, line: usize) -> Result<std::ops::Range<usize>, files::Error> {
        self.0.line_range(id, line).ok_or(files::Error::LineTooLarge { given: line, max: 0 })
    }
}
