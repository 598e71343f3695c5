//! Drawings of text and boxes, readable on any page: each has a ground of its own, and colours for light and for dark.

use std::fmt::{Display, Write as _};

/// The width of a letter and the height of a line, in the size of text that drawings have.
pub(super) const LETTER: f64 = 7.2;
pub(super) const LINE: f64 = 18.0;

/// The colours: of the ground, of words, of lines, and of boxes, whose words are those of the ground.
const STYLE: &str = "\
  .ground { fill: #fff; stroke: #d0d7de }
  text { fill: #1f2328; white-space: pre }
  .soft { fill: #57606a }
  .line { stroke: #d0d7de; fill: none }
  .curve { stroke: #0969da; fill: none; stroke-width: 1.5 }
  .box0 { fill: #0969da } .box1 { fill: #1a7f37 } .box2 { fill: #9a6700 } .box3 { fill: #8250df }
  @media (prefers-color-scheme: dark) {
    .ground { fill: #0d1117; stroke: #30363d }
    text { fill: #e6edf3 }
    .soft { fill: #9da7b1 }
    .line { stroke: #30363d }
    .curve { stroke: #58a6ff }
    .box0 { fill: #58a6ff } .box1 { fill: #3fb950 } .box2 { fill: #d29922 } .box3 { fill: #bc8cff }
  }
";

/// A drawing that is being made.
pub(super) struct Drawing {
    width: f64,
    height: f64,
    inside: String,
}

/// The text with HTML's names for its marks.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

impl Drawing {
    pub(super) fn new(width: f64, height: f64) -> Self {
        Self { width, height, inside: String::new() }
    }

    /// Writes text with its left end at `x` and its line at `y`.
    pub(super) fn text(&mut self, x: f64, y: f64, class: &str, text: &str) {
        // Letters of every font take the same room.
        let length = text.chars().count() as f64 * LETTER;
        let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
        let _ = writeln!(
            self.inside,
            "<text x=\"{x:.0}\" y=\"{y:.0}\" textLength=\"{length:.0}\" lengthAdjust=\"spacingAndGlyphs\"{class}>{}</text>",
            escaped(text)
        );
    }

    pub(super) fn rectangle(&mut self, class: &str, [x, y, width, height]: [f64; 4]) {
        let _ = writeln!(self.inside, "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\"/>");
    }

    /// Draws a line through these points.
    pub(super) fn line(&mut self, class: &str, points: impl IntoIterator<Item = (f64, f64)>) {
        let points: Vec<String> = points.into_iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let _ = writeln!(self.inside, "<polyline class=\"{class}\" points=\"{}\"/>", points.join(" "));
    }

    /// The file.
    pub(super) fn finish(self, title: &str) -> String {
        let Self { width, height, inside } = self;
        let size = |edge: f64| edge - 1.0;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" height=\"{height:.0}\" \
             role=\"img\" font-family=\"ui-monospace, 'Liberation Mono', monospace\" font-size=\"12\">\n<title>{}</title>\n<style>\n{STYLE}</style>\n\
             <rect class=\"ground\" x=\"0.5\" y=\"0.5\" width=\"{:.0}\" height=\"{:.0}\" rx=\"6\"/>\n{inside}</svg>\n",
            escaped(title),
            size(width),
            size(height)
        )
    }
}

/// What a terminal shows, as a drawing.
pub(super) fn terminal(title: &str, command: &str, said: impl Display) -> String {
    let said = format!("$ {command}\n{said}");
    let lines: Vec<&str> = said.trim_end().lines().collect();
    let columns = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
    let mut drawing = Drawing::new(columns as f64 * LETTER + 32.0, lines.len() as f64 * LINE + 28.0);
    for (row, line) in lines.iter().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        drawing.text(16.0, row as f64 * LINE + 28.0, if row == 0 { "soft" } else { "" }, line);
    }
    drawing.finish(title)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_is_as_large_as_what_it_shows_and_shows_marks() {
        let drawing = terminal("t", "x", "a<b & c\n\n  last line");
        assert_eq!(drawing.matches("<text ").count(), 3, "{drawing}");
        assert!(drawing.contains(">a&lt;b &amp; c</text>") && drawing.contains(">  last line</text>"), "{drawing}");
        assert!(drawing.contains("viewBox=\"0 0 111 100\""), "{drawing}");
    }
}
