//! Plots.
//!
//! The area of a plot is an SVG that is stretched to the width there is; its lines keep their width. All words stand
//! outside of it, in HTML, at places in percent, so they keep their size on every screen. An SVG has numbers and class
//! names only: what comes from a recording passes the template.

mod heat;
mod lines;
mod rows;
mod scale;

use std::fmt::Write as _;

use serde::Serialize;

pub(crate) use heat::{Heat, heat};
pub(crate) use lines::{Line, histogram, lines};
pub(crate) use rows::{Gantt, Spread, bars, gantt, spreads};
pub(crate) use scale::{Scale, Tick, Unit, count, number};

/// A plot, as the template takes it.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Chart {
    pub(crate) title: String,
    /// A line of words below the title.
    pub(crate) note: String,
    /// Whether it takes the whole width of a wide screen.
    pub(crate) wide: bool,
    /// Pixels.
    pub(crate) height: u32,
    /// What is inside of the `svg`: numbers and class names.
    pub(crate) svg: String,
    pub(crate) x: Vec<Tick>,
    pub(crate) y: Vec<Tick>,
    /// Whether marks at the left are names of rows.
    pub(crate) named: bool,
    pub(crate) x_label: String,
    pub(crate) y_label: String,
    pub(crate) legend: Vec<Legend>,
    /// The colours of a heat map: marks from the least to the greatest.
    pub(crate) colours: Vec<String>,
    /// What the script shows below the pointer: JSON.
    pub(crate) tips: String,
    pub(crate) table: Option<super::page::Table>,
}

/// A name and the class of its colour.
#[derive(Debug, Serialize)]
pub(crate) struct Legend {
    pub(crate) class: String,
    pub(crate) name: String,
}

/// Colours of the palette.
pub(crate) const COLOURS: usize = 8;
/// Shades of heat maps.
const SHADES: usize = 9;

/// The size of the areas' coordinates.
const AREA: f64 = 1000.0;

/// A number of an SVG.
fn coordinate(place: f64) -> f64 {
    (place * AREA * 10.0).round() / 10.0
}

/// Lines across at the marks of an axis.
fn grid_lines(svg: &mut String, y: &[Tick]) {
    for tick in y {
        let y = coordinate(1.0 - tick.at / 100.0);
        let _ = write!(svg, r#"<path class="grid" d="M0 {y}H1000"/>"#);
    }
}

/// What the script shows where the pointer is.
#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Tips<'a> {
    /// That of the nearest place along the x axis.
    Nearest { at: Vec<f64>, text: Vec<String> },
    /// That of the cell: the row's name, the column's, and the number, unless that is 0.
    Cells { rows: &'a [String], columns: &'a [String], unit: &'a str, cells: &'a [f64] },
    /// That of the shape with the number.
    Shapes { text: Vec<String> },
}

impl Tips<'_> {
    fn json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// A rounded number for tips.
fn short(number: f64) -> f64 {
    if number.abs() < 1000.0 { (number * 1000.0).round() / 1000.0 } else { number.round() }
}
