//! Where text came from: every file read in a run, and positions in them.
//!
//! A [`Span`] is three numbers; the [`SourceMap`] turns it into file, line and column, and knows which `include`
//! led to a file.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file of a [`SourceMap`], by the order in which files were opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(pub(crate) u32);

/// A range of bytes of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The smallest span that holds `self` and `other`; `self` if they are in different files.
    #[must_use]
    pub fn to(self, other: Span) -> Span {
        if self.file == other.file {
            Span { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
        } else {
            self
        }
    }
}

/// A position as people read it: lines and columns count from one, columns in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location<'a> {
    /// The file's name as it was opened.
    pub file: &'a str,
    /// Line, from one.
    pub line: usize,
    /// Column in bytes, from one.
    pub column: usize,
}

impl std::fmt::Display for Location<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// One file.
#[derive(Debug)]
struct Source {
    name: String,
    text: Arc<str>,
    /// Byte offset at which each line begins.
    lines: Vec<u32>,
    /// Where the file was included.
    included_at: Option<Span>,
}

/// The files of one run.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: Vec<Arc<Source>>,
}

impl SourceMap {
    /// Adds a file. Offsets are 32 bits wide: the caller refuses longer texts.
    pub(crate) fn add(&mut self, name: String, text: Arc<str>, included_at: Option<Span>) -> FileId {
        let mut lines = vec![0];
        lines.extend(text.bytes().enumerate().filter(|&(_, b)| b == b'\n').map(|(i, _)| i as u32 + 1));
        self.files.push(Arc::new(Source { name, text, lines, included_at }));
        FileId(self.files.len() as u32 - 1)
    }

    pub(crate) fn shared_text(&self, file: FileId) -> Arc<str> {
        self.files[file.0 as usize].text.clone()
    }

    /// All files, in the order in which they were opened: an included file once for each time.
    pub fn files(&self) -> impl Iterator<Item = FileId> + use<> {
        (0..self.files.len() as u32).map(FileId)
    }

    /// The file's name as it was opened: an included file has its include directory in front.
    #[must_use]
    pub fn name(&self, file: FileId) -> &str {
        &self.files[file.0 as usize].name
    }

    /// The whole text of a file.
    #[must_use]
    pub fn text(&self, file: FileId) -> &str {
        &self.files[file.0 as usize].text
    }

    /// The text that a span covers.
    #[must_use]
    pub fn snippet(&self, span: Span) -> &str {
        self.text(span.file).get(span.start as usize..span.end as usize).unwrap_or("")
    }

    /// File, line and column of a span's first byte.
    #[must_use]
    pub fn location(&self, span: Span) -> Location<'_> {
        let source = &self.files[span.file.0 as usize];
        let line = source.line_of(span.start);
        Location { file: &source.name, line: line + 1, column: (span.start - source.lines[line]) as usize + 1 }
    }

    /// The `include`s that led to a file, the nearest first.
    #[must_use]
    pub fn include_stack(&self, file: FileId) -> Vec<Span> {
        std::iter::successors(self.files[file.0 as usize].included_at, |at| self.files[at.file.0 as usize].included_at).collect()
    }

    pub(crate) fn line_index(&self, file: FileId, byte: usize) -> usize {
        self.files[file.0 as usize].line_of(byte as u32)
    }

    pub(crate) fn line_range(&self, file: FileId, line: usize) -> Option<Range<usize>> {
        let source = &self.files[file.0 as usize];
        let start = *source.lines.get(line)? as usize;
        let end = source.lines.get(line + 1).map_or(source.text.len(), |&next| next as usize);
        Some(start..end)
    }
}

impl Source {
    fn line_of(&self, byte: u32) -> usize {
        self.lines.partition_point(|&start| start <= byte).saturating_sub(1)
    }
}

/// Why a file could not be used.
#[derive(Debug)]
pub(crate) enum ReadError {
    Io(std::io::Error),
    /// The byte at which the text stops being UTF-8, and the text before it.
    Utf8 {
        valid: String,
    },
    TooLong {
        bytes: u64,
    },
}

/// Reads a file as UTF-8 of at most 4 GiB.
pub(crate) fn read(path: &Path) -> Result<Arc<str>, ReadError> {
    let bytes = std::fs::read(path).map_err(ReadError::Io)?;
    if u32::try_from(bytes.len()).is_err() {
        return Err(ReadError::TooLong { bytes: bytes.len() as u64 });
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text.into()),
        Err(e) => {
            let upto = e.utf8_error().valid_up_to();
            let mut bytes = e.into_bytes();
            bytes.truncate(upto);
            Err(ReadError::Utf8 { valid: String::from_utf8(bytes).unwrap_or_default() })
        }
    }
}

/// Finds an included file: as named, then below each include directory in turn.
pub(crate) fn find_include(name: &str, dirs: &[PathBuf]) -> Option<PathBuf> {
    let plain = PathBuf::from(name);
    if plain.is_file() {
        return Some(plain);
    }
    // The separator is always `/`: the path is shown in dependency files and dumps.
    dirs.iter().map(|dir| PathBuf::from(format!("{}/{name}", dir.display()))).find(|path| path.is_file())
}
