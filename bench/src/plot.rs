//! The plots: how latencies spread, and what throughput does as waves are added.

use std::path::Path;

use plotters::prelude::*;

use super::error::Error;

/// Calls a second over waves, for one kind of call.
pub(super) struct Curve {
    pub(super) label: String,
    pub(super) points: Vec<(u32, f64)>,
}

const SIZE: (u32, u32) = (960, 540);
const FONT: (&str, u32) = ("sans-serif", 22);
const COLOURS: [RGBColor; 3] = [RGBColor(31, 119, 180), RGBColor(214, 39, 40), RGBColor(44, 160, 44)];

/// Draws with `draw` to a file.
fn draw(path: &Path, draw: impl FnOnce(&DrawingArea<SVGBackend<'_>, plotters::coord::Shift>) -> Result<(), String>) -> Result<(), Error> {
    let area = SVGBackend::new(path, SIZE).into_drawing_area();
    let failed = |reason: String| Error::Plot { path: path.into(), reason };
    area.fill(&WHITE).map_err(|error| failed(error.to_string()))?;
    draw(&area).map_err(failed)?;
    area.present().map_err(|error| failed(error.to_string()))
}

/// Counts of samples in `bins` bins of equal width from `low` to `high`; what is beyond is left out.
fn bins(samples: &[f64], low: f64, high: f64, bins: usize) -> Vec<(f64, f64, u32)> {
    let width = (high - low) / bins as f64;
    let mut counts = vec![0u32; bins];
    for sample in samples {
        let bin = (sample - low) / width;
        if bin >= 0.0 && bin < bins as f64 {
            counts[bin as usize] += 1;
        }
    }
    counts.into_iter().enumerate().map(|(i, count)| (low + i as f64 * width, low + (i + 1) as f64 * width, count)).collect()
}

/// The value below which `part` of the sorted samples lie.
fn quantile(sorted: &[f64], part: f64) -> f64 {
    sorted.get(((sorted.len() as f64 * part) as usize).min(sorted.len().saturating_sub(1))).copied().unwrap_or(0.0)
}

/// A histogram of the latencies of one kind of call, with the floor as a line. Up to the 99.5th percentile.
pub(super) fn histogram(path: &Path, title: &str, mut samples: Vec<f64>, floor_us: f64) -> Result<(), Error> {
    samples.sort_by(f64::total_cmp);
    let [p50, p99, p999] = [0.5, 0.99, 0.999].map(|part| quantile(&samples, part));
    let low = (floor_us.min(quantile(&samples, 0.0)) * 0.95).max(0.0);
    let high = (quantile(&samples, 0.995) * 1.05).max(low + 1e-3);
    let bins = bins(&samples, low, high, 120);
    let most = bins.iter().map(|bin| bin.2).max().unwrap_or(1).max(1);
    draw(path, |area| {
        let text = |error: DrawingAreaErrorKind<std::io::Error>| error.to_string();
        let title = format!("{title}: p50 {p50:.2}, p99 {p99:.2}, p99.9 {p999:.2} us (floor {floor_us:.2})");
        let mut chart = ChartBuilder::on(area)
            .caption(title, FONT)
            .margin(12)
            .x_label_area_size(44)
            .y_label_area_size(64)
            .build_cartesian_2d(low..high, 0..most + most / 20 + 1)
            .map_err(text)?;
        chart.configure_mesh().x_desc("microseconds").y_desc("calls").disable_x_mesh().draw().map_err(text)?;
        let bars = bins.iter().map(|&(from, to, count)| Rectangle::new([(from, 0), (to, count)], COLOURS[0].filled()));
        chart.draw_series(bars).map_err(text)?;
        chart.draw_series([PathElement::new(vec![(floor_us, 0), (floor_us, most)], COLOURS[1].stroke_width(2))]).map_err(text)?;
        Ok(())
    })
}

/// Throughput over waves, both axes logarithmic.
pub(super) fn throughput(path: &Path, title: &str, curves: &[Curve]) -> Result<(), Error> {
    let rates = || curves.iter().flat_map(|curve| curve.points.iter().map(|point| point.1));
    let (low, high) = (rates().fold(f64::MAX, f64::min), rates().fold(0.0, f64::max));
    let waves = curves.iter().flat_map(|curve| curve.points.iter().map(|point| point.0)).max().unwrap_or(1).max(2);
    draw(path, |area| {
        let text = |error: DrawingAreaErrorKind<std::io::Error>| error.to_string();
        let mut chart = ChartBuilder::on(area)
            .caption(title, FONT)
            .margin(12)
            .x_label_area_size(44)
            .y_label_area_size(84)
            .build_cartesian_2d((1f64..f64::from(waves)).log_scale(), (low * 0.8..high * 1.25).log_scale())
            .map_err(text)?;
        let mut mesh = chart.configure_mesh();
        mesh.x_desc("waves").y_desc("calls a second").x_label_formatter(&|x| format!("{x:.0}")).y_label_formatter(&|y| format!("{y:.1e}"));
        mesh.draw().map_err(text)?;
        for (curve, colour) in curves.iter().zip(COLOURS.iter().cycle().copied()) {
            let points = || curve.points.iter().map(|&(waves, rate)| (f64::from(waves), rate));
            let line = chart.draw_series(LineSeries::new(points(), colour.stroke_width(2))).map_err(text)?;
            line.label(&curve.label).legend(move |(x, y)| PathElement::new([(x, y), (x + 24, y)], colour.stroke_width(2)));
            chart.draw_series(points().map(|point| Circle::new(point, 4, colour.filled()))).map_err(text)?;
        }
        chart
            .configure_series_labels()
            .background_style(WHITE.mix(0.9))
            .border_style(BLACK)
            .position(SeriesLabelPosition::LowerRight)
            .draw()
            .map_err(text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_cover_their_range_and_leave_out_what_is_beyond() {
        let bins = bins(&[0.0, 0.9, 1.0, 3.9, 4.0, -1.0], 0.0, 4.0, 4);
        assert_eq!(bins.iter().map(|bin| bin.2).collect::<Vec<_>>(), [2, 1, 0, 1]);
        assert_eq!((bins[0].0, bins[3].1), (0.0, 4.0));
    }

    #[test]
    fn quantiles_of_few_samples_exist() {
        assert_eq!(quantile(&[], 0.5), 0.0);
        assert_eq!(quantile(&[7.0], 0.999), 7.0);
        assert_eq!(quantile(&[1.0, 2.0, 3.0, 4.0], 0.5), 3.0);
    }

    #[test]
    fn plots_are_written_as_svg() {
        let dir = std::env::temp_dir().join(format!("hostcall-plot-{}", std::process::id()));
        std::fs::create_dir_all(&dir).expect("a directory");
        let (one, two) = (dir.join("a.svg"), dir.join("b.svg"));
        histogram(&one, "call", vec![1.0, 1.1, 1.2, 5.0], 0.5).expect("a histogram");
        throughput(&two, "calls", &[Curve { label: "scalar".into(), points: vec![(1, 1e5), (64, 1e6)] }]).expect("a curve");
        for path in [one, two] {
            let text = std::fs::read_to_string(&path).expect("a file");
            assert!(text.starts_with("<svg") && text.trim_end().ends_with("</svg>"), "{text}");
        }
        std::fs::remove_dir_all(&dir).expect("removed");
    }
}
