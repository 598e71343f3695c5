//! The page: sections of figures, plots and tables.

mod fields;
mod memory;
mod overview;
mod table;
mod time;

use base64::Engine as _;
use hostcall_stream::Sites;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, context};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::digest::Digest;
use crate::draw::Chart;
pub(crate) use table::Table;

/// The template, and what it takes in.
const PAGE: &str = include_str!("../assets/page.html");
const STYLE: &str = include_str!("../assets/style.css");
const SCRIPT: &str = include_str!("../assets/script.js");

/// A part of the page with a heading.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Section {
    /// In addresses: `#memory`.
    pub(crate) id: &'static str,
    pub(crate) title: String,
    /// Sentences below the heading.
    pub(crate) lines: Vec<String>,
    pub(crate) figures: Vec<Figure>,
    pub(crate) charts: Vec<Chart>,
    pub(crate) tables: Vec<Table>,
}

/// A number that is shown large.
#[derive(Debug, Serialize)]
pub(crate) struct Figure {
    pub(crate) name: &'static str,
    pub(crate) value: String,
    pub(crate) unit: String,
    /// A few words below it.
    pub(crate) note: String,
    /// Whether it is bad news.
    pub(crate) bad: bool,
}

impl Figure {
    /// `text` is a number and, behind a narrow space, its unit.
    fn new(name: &'static str, text: &str, note: impl Into<String>) -> Self {
        let (value, unit) =
            text.rsplit_once('\u{202f}').filter(|(_, unit)| !unit.starts_with(|c: char| c.is_ascii_digit())).unwrap_or((text, ""));
        Self { name, value: value.into(), unit: unit.into(), note: note.into(), bad: false }
    }
}

/// The longest name that is shown.
const NAME: usize = 80;

/// The longest reason why a recording is not whole.
const PROBLEM: usize = 600;

/// Words out of a recording, in one line of bounded length.
fn cut(text: &str, most: usize) -> String {
    // Controls, and what turns the direction of the text around, would change words that are not the name's.
    let hidden = |c: char| c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let mut shown: String = text.chars().take(most).map(|c| if hidden(c) { '\u{fffd}' } else { c }).collect();
    if text.chars().nth(most).is_some() {
        shown.push('…');
    }
    shown
}

/// A name out of a recording.
pub(crate) fn name(text: &str) -> String {
    if text.is_empty() { "(no name)".into() } else { cut(text, NAME) }
}

/// What a place in the source is called in plots and tables.
pub(crate) fn place(places: &Sites, site: u32) -> String {
    if site == 0 { "unknown place".into() } else { name(&places.name(site)) }
}

impl Digest {
    /// The page. `title` is what it is called: the recording's name.
    pub fn to_html(&self, title: &str) -> String {
        let sections: Vec<Section> = [
            Some(overview::section(self)),
            self.memory.as_ref().map(|memory| memory::section(memory, &self.places)),
            self.spans.as_ref().map(|spans| time::section(spans, &self.places)),
            fields::section(self),
            overview::sites(self),
        ]
        .into_iter()
        .flatten()
        .collect();
        let mut environment = Environment::new();
        environment.set_auto_escape_callback(|_| AutoEscape::Html);
        let template = environment.template_from_str(PAGE).expect("the page's template is one");
        let hash = base64::engine::general_purpose::STANDARD.encode(Sha256::digest(SCRIPT));
        let page = template.render(context! {
            title => name(title),
            hostcall => name(&self.hostcall),
            problem => self.problem.as_deref().map(|problem| cut(problem, PROBLEM)),
            sections => Serde(&sections),
            style => STYLE,
            script => SCRIPT,
            hash,
        });
        page.expect("the template names only what it is given")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_and_of_one_line() {
        assert_eq!(name("Loss"), "Loss");
        assert_eq!(name("a\nb\u{202e}c"), "a\u{fffd}b\u{fffd}c");
        assert_eq!(name(&"x".repeat(100_000)).chars().count(), NAME + 1);
        assert_eq!(name(""), "(no name)");
    }

    #[test]
    fn a_figure_has_its_unit_apart() {
        let figure = Figure::new("time", "1.5\u{202f}ms", "");
        assert_eq!((figure.value.as_str(), figure.unit.as_str()), ("1.5", "ms"));
        let figure = Figure::new("count", "1\u{202f}234", "");
        assert_eq!((figure.value.as_str(), figure.unit.as_str()), ("1\u{202f}234", ""));
    }
}
