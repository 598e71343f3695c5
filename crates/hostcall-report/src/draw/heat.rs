//! Heat maps: numbers by row and column, as shades.

use std::fmt::Write as _;

use super::{AREA, Chart, SHADES, Scale, Tick, Tips, Unit, number, short};

/// What a heat map shows.
pub(crate) struct Heat {
    /// By row, from the top; each has the same columns.
    pub(crate) sums: Vec<Vec<f64>>,
    /// The name of each row.
    pub(crate) rows: Vec<String>,
    /// Rows after which there is a gap.
    pub(crate) gaps: Vec<usize>,
    pub(crate) x: Scale,
    /// What the numbers are.
    pub(crate) of: &'static str,
}

/// Pixels of a row's name.
const NAME: u32 = 16;

/// Draws shades. They stand for powers if half of the numbers are less than a fiftieth of the greatest.
pub(crate) fn heat(heat: &Heat) -> Chart {
    let Heat { sums, rows, gaps, x, of } = heat;
    let columns = sums.first().map_or(0, Vec::len).max(1);
    let filled = || sums.iter().flatten().copied().filter(|sum| *sum > 0.0);
    let (least, greatest) = (filled().fold(f64::INFINITY, f64::min), filled().fold(0.0, f64::max));
    let low = filled().filter(|sum| *sum < greatest / 50.0).count();
    let scale =
        if 2 * low > filled().count() { Scale::logarithmic(least, greatest, Unit::Count) } else { Scale::new(0.0, greatest, Unit::Count) };
    let (width, height) = (AREA / columns as f64, AREA / sums.len().max(1) as f64);
    let mut paths = vec![String::new(); SHADES];
    for (row, sums) in sums.iter().enumerate() {
        let top = row as f64 * height;
        let mut column = 0;
        while column < sums.len() {
            let shade = |sum: f64| (sum > 0.0).then(|| ((scale.place(sum) * SHADES as f64) as usize).min(SHADES - 1));
            let Some(its) = shade(sums[column]) else {
                column += 1;
                continue;
            };
            // Neighbours of one shade are one rectangle.
            let end = (column..sums.len()).find(|next| shade(sums[*next]) != Some(its)).unwrap_or(sums.len());
            // A little larger than they are: else hair lines shine through between them.
            let (left, wide) = (column as f64 * width, (end - column) as f64 * width + 0.4);
            let _ = write!(paths[its], "M{left:.1} {top:.1}h{wide:.1}v{:.1}h-{wide:.1}z", height + 0.4);
            column = end;
        }
    }
    let mut svg = String::new();
    for (shade, path) in paths.iter().enumerate().filter(|(_, path)| !path.is_empty()) {
        let _ = write!(svg, r#"<path class="h{shade}" d="{path}"/>"#);
    }
    for gap in gaps {
        let _ = write!(svg, r#"<path class="gap" d="M0 {:.1}H1000"/>"#, (*gap + 1) as f64 * height);
    }
    let middle = |row: usize| 100.0 - 100.0 * (row as f64 + 0.5) / sums.len().max(1) as f64;
    let pixels = (sums.len() as u32 * 9).max(NAME * sums.len().min(12) as u32).clamp(64, 420);
    let every = rows.len().div_ceil((pixels / NAME) as usize).max(1);
    let named = rows.iter().enumerate().step_by(every).map(|(row, name)| Tick { at: middle(row), text: name.clone() });
    let names: Vec<String> = (0..columns).map(|column| number(x.from + (x.to - x.from) * column as f64 / columns as f64, x.unit)).collect();
    let cells: Vec<f64> = sums.iter().flatten().map(|sum| short(*sum)).collect();
    let mark = |i: usize| {
        let part = i as f64 / 4.0;
        let value = if scale.logarithmic { scale.from * (scale.to / scale.from).powf(part) } else { scale.to * part };
        number(value, Unit::Count)
    };
    Chart {
        wide: true,
        height: pixels,
        x: x.ticks(6),
        y: named.collect(),
        named: true,
        colours: (0..=4).map(mark).collect(),
        tips: Tips::Cells { rows, columns: &names, unit: of, cells: &cells }.json(),
        svg,
        ..Chart::default()
    }
}
