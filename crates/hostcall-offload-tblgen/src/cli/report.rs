//! What is said about a run, on the standard error output.

use std::path::Path;

use tablegen::{Diagnostic, Severity, SourceMap, Span, Style};

use crate::generate::abi_lock::Change;
use crate::ir;
use crate::lint::Finding;

/// Collected diagnostics; printed at the end, so that what is said is not torn by what others write, and when it is
/// known for which dialect.
#[derive(Default)]
pub(super) struct Report {
    sources: SourceMap,
    diagnostics: Vec<Diagnostic>,
}

impl Report {
    /// The files that diagnostics are about.
    pub(super) fn sources(&mut self, sources: SourceMap) {
        self.sources = sources;
    }

    pub(super) fn diagnostic(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// Notes an error that concerns no place in a file. Always `None`, for the caller to return.
    pub(super) fn fail<T>(&mut self, message: String) -> Option<T> {
        self.diagnostic(Diagnostic::error(None, message));
        None
    }

    pub(super) fn finding(&mut self, finding: &Finding, is_error: bool) {
        let span = finding.span.as_ref().and_then(|span| self.locate(span));
        let message = format!("[{}] {}", finding.lint.code(), finding.message);
        let diagnostic = if is_error { Diagnostic::error(span, message) } else { Diagnostic::warning(span, message) };
        self.diagnostic(diagnostic.with_note(format!("help: {}", finding.fix)).with_note(format!("lint: {}", finding.lint.name())));
    }

    /// Notes what has changed since an ABI was recorded. `None` if programs break.
    pub(super) fn changes(&mut self, lock: &Path, changes: &[Change]) -> Option<()> {
        for change in changes {
            let severity = if change.is_break() { Severity::Error } else { Severity::Note };
            self.diagnostic(Diagnostic { severity, ..Diagnostic::error(None, change.to_string()) });
        }
        let breaks = changes.iter().filter(|change| change.is_break()).count();
        if breaks == 0 {
            return Some(());
        }
        self.fail(format!(
            "the ABI is not that of `{}` any more, in {breaks} places; undo the changes, or record the new one with --gen-abi-lock",
            lock.display()
        ))
    }

    /// A place in the files that were read, with the word that stands there.
    fn locate(&self, span: &ir::Span) -> Option<Span> {
        let sources = &self.sources;
        let file = sources.files().find(|file| sources.name(*file) == span.file)?;
        let text = sources.text(file);
        let line = text.split_inclusive('\n').take(usize::try_from(span.line.checked_sub(1)?).ok()?).map(str::len).sum::<usize>();
        let start = line + usize::try_from(span.column.checked_sub(1)?).ok()?;
        let word = text.get(start..)?.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or_default();
        Some(Span { file, start: u32::try_from(start).ok()?, end: u32::try_from(start + word.max(1)).ok()? })
    }

    pub(super) fn print(&self, style: Style) {
        use std::io::Write as _;
        let mut text = Vec::new();
        for diagnostic in &self.diagnostics {
            // Writing to memory does not fail.
            let _infallible = tablegen::emit(diagnostic, &self.sources, style, &mut text);
        }
        // There is nobody to tell that nobody can be told.
        let _unreported = std::io::stderr().lock().write_all(&text);
    }
}
