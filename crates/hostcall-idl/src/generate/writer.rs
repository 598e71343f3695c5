//! Lines of a text, indented.

/// Lines of a text, indented.
#[derive(Default)]
pub(super) struct Writer {
    text: String,
    depth: usize,
}

impl Writer {
    /// A line; an empty one has no spaces.
    pub(super) fn line(&mut self, line: impl AsRef<str>) {
        let line = line.as_ref();
        if !line.is_empty() {
            self.text.extend(std::iter::repeat_n("    ", self.depth));
            self.text += line;
        }
        self.text.push('\n');
    }

    /// An empty line, unless the text begins here or one is there.
    pub(super) fn gap(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    /// Two empty lines, as Python has them between definitions.
    pub(super) fn gap_of_two(&mut self) {
        self.trim_gap();
        self.text += "\n\n";
    }

    /// No empty line at the end.
    pub(super) fn trim_gap(&mut self) {
        while self.text.ends_with("\n\n") {
            self.text.pop();
        }
    }

    /// A comment for each line of a documentation.
    pub(super) fn doc<S: AsRef<str>>(&mut self, comment: &str, lines: impl IntoIterator<Item = S>) {
        for line in lines {
            let line = in_comment(line.as_ref());
            self.line(format!("{comment} {line}").trim_end());
        }
    }

    /// A line, further lines indented, and a last one.
    pub(super) fn block(&mut self, first: impl AsRef<str>, last: impl AsRef<str>, inner: impl FnOnce(&mut Self)) {
        self.line(first);
        self.depth += 1;
        inner(self);
        self.depth -= 1;
        self.line(last);
    }

    /// The text, which ends with a line break.
    pub(super) fn finish(self) -> String {
        self.text
    }
}

/// A line as the rest of a comment: without what ends or continues lines in C.
fn in_comment(line: &str) -> String {
    let mut line: String = line.chars().map(|c| if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') { ' ' } else { c }).collect();
    loop {
        let end = line.trim_end().len();
        line.truncate(end);
        // `??/` is a backslash in C99.
        if line.ends_with('\\') {
            line.pop();
        } else if line.ends_with("??/") {
            line.truncate(end - 3);
        } else {
            return line;
        }
    }
}

/// A string of C, of C++ or of Python, with its quotes. Names and types have no `?`, with which trigraphs of C99 begin.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        if matches!(c, '"' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out.push('"');
    out
}
