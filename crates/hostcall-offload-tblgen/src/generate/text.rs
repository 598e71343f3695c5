//! Writing indented text.

use std::fmt;

/// Text that knows how far it is indented.
#[derive(Debug, Default)]
pub(super) struct Text {
    out: String,
    indent: usize,
}

impl Text {
    /// Adds a line. An empty one is not indented.
    pub(super) fn line(&mut self, line: impl fmt::Display) {
        let line = line.to_string();
        for line in line.split('\n') {
            let line = line.trim_end();
            if !line.is_empty() {
                self.out.extend(std::iter::repeat_n("    ", self.indent));
                self.out.push_str(line);
            }
            self.out.push('\n');
        }
    }

    /// Adds an empty line.
    pub(super) fn blank(&mut self) {
        self.out.push('\n');
    }

    /// Adds `open`, what `inner` adds, one step further in, and `close`.
    pub(super) fn block<E>(
        &mut self,
        open: impl fmt::Display,
        close: &str,
        inner: impl FnOnce(&mut Text) -> Result<(), E>,
    ) -> Result<(), E> {
        self.line(open);
        self.indent += 1;
        let result = inner(self);
        self.indent -= 1;
        self.line(close);
        result
    }

    /// Adds text in lines of at most `width` characters, each with `prefix` in front.
    pub(super) fn wrapped(&mut self, prefix: &str, width: usize, text: &str) {
        for line in wrap(text, width.saturating_sub(prefix.len() + 4 * self.indent)) {
            self.line(format_args!("{prefix}{line}"));
        }
    }

    /// All of it.
    pub(super) fn finish(self) -> String {
        self.out
    }
}

/// Splits text into lines of at most `width` characters, where it has spaces.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut length = 0;
    for word in text.split_whitespace() {
        let word_length = word.chars().count();
        if length > 0 && length + 1 + word_length > width {
            lines.push(std::mem::take(&mut line));
            length = 0;
        }
        if length > 0 {
            line.push(' ');
            length += 1;
        }
        line.push_str(word);
        length += word_length;
    }
    if length > 0 || lines.is_empty() {
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_wrapped_at_spaces_and_long_words_stand_alone() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("extraordinarily long", 4), ["extraordinarily", "long"]);
        assert_eq!(wrap("  ", 4), [""]);
    }
}
