//! Lines over a number, and histograms.

use std::fmt::Write as _;

use super::{Chart, Legend, Scale, Tips, coordinate, grid_lines};

/// A line with a name.
pub(crate) struct Line {
    pub(crate) name: String,
    /// The palette's colour.
    pub(crate) colour: usize,
    /// Place, least, mean and greatest, by rising place; the first and the last are drawn as a band.
    pub(crate) points: Vec<(f64, f64, f64, f64)>,
    /// Whether the line keeps its height from one place to the next.
    pub(crate) steps: bool,
}

/// Draws lines. `tip` says what stands at a place.
pub(crate) fn lines(lines: &[Line], x: Scale, y: Scale, tip: impl Fn(&Line, usize) -> String) -> Chart {
    let mut chart = Chart { height: 220, x: x.ticks(6), y: y.ticks(4), ..Chart::default() };
    let mut svg = String::new();
    grid_lines(&mut svg, &chart.y);
    let place = |along: f64, value: f64| (coordinate(x.place(along)), coordinate(1.0 - y.place(value)));
    let mut tips: Vec<(f64, String)> = Vec::new();
    for line in lines {
        let colour = line.colour;
        if line.points.iter().any(|(_, least, _, greatest)| least < greatest) {
            let mut path = String::new();
            let there = line.points.iter().map(|(along, _, _, greatest)| (along, greatest));
            let back = line.points.iter().rev().map(|(along, least, ..)| (along, least));
            for (i, (along, value)) in there.chain(back).enumerate() {
                let (x, y) = place(*along, *value);
                let _ = write!(path, "{}{x} {y}", if i == 0 { "M" } else { "L" });
            }
            let _ = write!(svg, r#"<path class="band c{colour}" d="{path}Z"/>"#);
        }
        let mut path = String::new();
        for (i, (along, _, value, _)) in line.points.iter().enumerate() {
            let (x, y) = place(*along, *value);
            let _ = match (i, line.steps) {
                (0, _) => write!(path, "M{x} {y}"),
                (_, true) => write!(path, "H{x}V{y}"),
                (_, false) => write!(path, "L{x} {y}"),
            };
        }
        if line.points.len() == 1 {
            path += "h1";
        }
        let _ = write!(svg, r#"<path class="line c{colour}" d="{path}"/>"#);
        tips.extend(line.points.iter().enumerate().map(|(i, (along, ..))| (x.place(*along), tip(line, i))));
    }
    tips.sort_by(|one, two| one.0.total_cmp(&two.0));
    // Lines that have a point at the same place are told of together.
    let (mut at, mut text): (Vec<f64>, Vec<String>) = (Vec::new(), Vec::new());
    for (place, tip) in tips {
        let place = (place * 1e4).round() / 1e4;
        match text.last_mut().filter(|_| at.last() == Some(&place)) {
            Some(last) => *last += &format!("\n{tip}"),
            None => {
                at.push(place);
                text.push(tip);
            }
        }
    }
    chart.svg = svg;
    chart.tips = Tips::Nearest { at, text }.json();
    if lines.len() > 1 {
        chart.legend = lines.iter().map(|line| Legend { class: format!("c{}", line.colour), name: line.name.clone() }).collect();
    }
    chart
}

/// Draws bars from one place to another.
pub(crate) fn histogram(bars: &[(f64, f64, u64)], colour: usize, x: Scale, y: Scale, tip: impl Fn(usize) -> String) -> Chart {
    let mut chart = Chart { height: 220, x: x.ticks(6), y: y.ticks(3), ..Chart::default() };
    let mut svg = String::new();
    grid_lines(&mut svg, &chart.y);
    let (mut at, mut text, mut path) = (Vec::new(), Vec::new(), String::new());
    for (i, (from, to, count)) in bars.iter().enumerate().filter(|(_, (.., count))| *count > 0) {
        let (left, right) = (coordinate(x.place(*from)), coordinate(x.place(*to)));
        let top = coordinate(1.0 - y.place(*count as f64)).min(995.0);
        let width = ((right - left) * 0.92).max(1.0);
        let _ = write!(path, "M{left} 1000V{top}h{width:.1}V1000Z");
        at.push(((left + right) / 2.0).round() / 1000.0);
        text.push(tip(i));
    }
    let _ = write!(svg, r#"<path class="bar c{colour}" d="{path}"/>"#);
    chart.svg = svg;
    chart.tips = Tips::Nearest { at, text }.json();
    chart
}
