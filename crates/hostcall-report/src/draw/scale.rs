//! Numbers as people read them, and where an axis has its marks.

use serde::Serialize;

/// A mark of an axis.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Tick {
    /// Where it is, in percent of the axis.
    pub(crate) at: f64,
    pub(crate) text: String,
}

/// What a number measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Nothing: a number of its own.
    Plain,
    /// A count.
    Count,
    /// Nanoseconds.
    Nanoseconds,
    /// Bytes.
    Bytes,
    /// Things in a second; of what, the axis says.
    PerSecond,
}

/// A factor and its sign.
type Step = (f64, &'static str);

const DECIMAL: [Step; 6] = [(1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, "")];
const BINARY: [Step; 6] =
    [(1125899906842624.0, "PiB"), (1099511627776.0, "TiB"), (1073741824.0, "GiB"), (1048576.0, "MiB"), (1024.0, "KiB"), (1.0, "B")];
const TIME: [Step; 6] = [(86_400e9, "d"), (3600e9, "h"), (1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")];

impl Unit {
    fn steps(self) -> &'static [Step] {
        match self {
            Self::Plain => &[],
            Self::Count | Self::PerSecond => &DECIMAL,
            Self::Nanoseconds => &TIME,
            Self::Bytes => &BINARY,
        }
    }

    /// The step in which a number is written.
    fn step(self, number: f64) -> Step {
        let size = number.abs();
        let steps = self.steps();
        steps.iter().copied().find(|(factor, _)| size >= *factor).or(steps.last().copied()).unwrap_or((1.0, ""))
    }
}

/// A number with up to three digits behind its first, without zeros at the end.
fn digits(number: f64) -> String {
    let size = number.abs();
    if size != 0.0 && !(1e-4..1e7).contains(&size) {
        return format!("{number:.3e}").replace("e", "·10^").replace(".000·", "·");
    }
    let places = if size >= 1000.0 || size == 0.0 { 0 } else { (3 - size.log10().floor() as i32 - 1).clamp(0, 7) as usize };
    let text = format!("{number:.places$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').into() } else { text }
}

/// `1.23 M`, `4 KiB`, `17 µs`.
pub(crate) fn number(number: f64, unit: Unit) -> String {
    if !number.is_finite() {
        return number.to_string();
    }
    let (factor, sign) = unit.step(number);
    let text = digits(number / factor);
    if sign.is_empty() { text } else { format!("{text}\u{202f}{sign}") }
}

/// A count with a narrow space between each three digits.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

/// A straight or logarithmic axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scale {
    pub(crate) from: f64,
    pub(crate) to: f64,
    pub(crate) logarithmic: bool,
    pub(crate) unit: Unit,
}

impl Scale {
    /// From one number to another; one that is nothing becomes something.
    pub(crate) fn new(from: f64, to: f64, unit: Unit) -> Self {
        let to = if to > from { to } else { from + if from == 0.0 { 1.0 } else { from.abs() * 0.1 } };
        Self { from, to, logarithmic: false, unit }
    }

    /// The same with equal steps for equal factors. Both ends are positive.
    pub(crate) fn logarithmic(from: f64, to: f64, unit: Unit) -> Self {
        let from = from.max(f64::MIN_POSITIVE);
        Self { from, to: if to > from { to } else { from * 2.0 }, logarithmic: true, unit }
    }

    /// From 0 to a round number above the largest.
    pub(crate) fn up_to(largest: f64, unit: Unit) -> Self {
        let scale = Self::new(0.0, largest, unit);
        let step = scale.step(4);
        Self { to: (scale.to / step).ceil() * step, ..scale }
    }

    /// Where a number is: 0 to 1 inside.
    pub(crate) fn place(&self, number: f64) -> f64 {
        // By halves: the difference of two numbers may be infinite.
        let part = |from: f64, to: f64, number: f64| (number / 2.0 - from / 2.0) / (to / 2.0 - from / 2.0);
        let place = if self.logarithmic {
            part(self.from.log2(), self.to.log2(), number.max(self.from).log2())
        } else {
            part(self.from, self.to, number)
        };
        if place.is_finite() { place.clamp(0.0, 1.0) } else { 0.0 }
    }

    /// A round step: 1, 2 or 5 of the unit that the axis is written in, about so many.
    fn step(&self, parts: u32) -> f64 {
        let (factor, _) = self.unit.step(self.to.abs().max(self.from.abs()));
        let step = (self.to / f64::from(parts) - self.from / f64::from(parts)) / factor;
        if self.unit == Unit::Bytes {
            return factor * 2f64.powf(step.log2().ceil());
        }
        let power = 10f64.powf(step.log10().floor());
        let round = [1.0, 2.0, 5.0, 10.0].into_iter().find(|round| round * power >= step * 0.8).unwrap_or(10.0);
        factor * round * power
    }

    /// About so many marks.
    pub(crate) fn ticks(&self, parts: u32) -> Vec<Tick> {
        if self.logarithmic {
            return self.powers(parts);
        }
        let step = self.step(parts);
        let first = (self.from / step).ceil();
        let (factor, sign) = self.unit.step(self.to.abs().max(self.from.abs()));
        let tick = |i: u32| {
            let value = (first + f64::from(i)) * step;
            let text = digits(if (value / factor).abs() < step / factor / 1e6 { 0.0 } else { value / factor });
            Tick {
                at: 100.0 * self.place(value),
                text: if sign.is_empty() || value == 0.0 { text } else { format!("{text}\u{202f}{sign}") },
            }
        };
        (0..=parts + 2).take_while(|i| (first + f64::from(*i)) * step <= self.to + step * 1e-6).map(tick).collect()
    }

    /// Marks at powers of ten (of two, of bytes), or at some of them.
    fn powers(&self, parts: u32) -> Vec<Tick> {
        let base: f64 = if self.unit == Unit::Bytes { 2.0 } else { 10.0 };
        // Logarithms of powers are not quite whole.
        let (first, last) = ((self.from.log(base) - 1e-9).ceil() as i32, (self.to.log(base) + 1e-9).floor() as i32);
        if last - first < 1 {
            // Not one whole power: as on a straight axis, at their own places.
            let straight = Self { logarithmic: false, ..*self };
            let step = straight.step(parts);
            let value = |i: u32| ((self.from / step).ceil() + f64::from(i)) * step;
            let tick = |value: f64| Tick { at: 100.0 * self.place(value), text: number(value, self.unit) };
            return (0..=parts).map(value).take_while(|value| *value <= self.to).map(tick).collect();
        }
        let every = ((last - first) as u32).div_ceil(parts.max(1)).max(1);
        let tick = |power: i32| {
            let value = base.powi(power);
            Tick { at: 100.0 * self.place(value), text: number(value, self.unit) }
        };
        (first..=last).step_by(every as usize).map(tick).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_have_the_units_that_people_say() {
        let said = |value, unit| number(value, unit).replace('\u{202f}', " ");
        assert_eq!(said(0.0, Unit::Nanoseconds), "0 ns");
        assert_eq!(said(1_234_567.0, Unit::Nanoseconds), "1.23 ms");
        assert_eq!(said(65536.0, Unit::Bytes), "64 KiB");
        assert_eq!(said(2.83e9, Unit::PerSecond), "2.83 G");
        assert_eq!(said(999.0, Unit::Count), "999");
        assert_eq!(
            (said(0.1, Unit::Plain), said(-12.5, Unit::Plain), said(1e12, Unit::Plain)),
            ("0.1".into(), "-12.5".into(), "1·10^12".into())
        );
        assert_eq!(said(f64::NAN, Unit::Plain), "NaN");
        assert_eq!(count(1_234_567).replace('\u{202f}', " "), "1 234 567");
    }

    proptest! {
        #[test]
        fn marks_lie_on_the_axis_in_order_and_are_few(
            one in any::<f64>().prop_filter("finite", |number| number.is_finite()),
            size in prop_oneof![1e-300..1e300f64, 1e-3..1e6f64],
            parts in 2..8u32, logarithmic: bool
        ) {
            for unit in [Unit::Plain, Unit::Count, Unit::Nanoseconds, Unit::Bytes] {
                let scale = if logarithmic { Scale::logarithmic(one.abs(), one.abs() + size, unit) } else { Scale::new(one, one + size, unit) };
                let ticks = scale.ticks(parts);
                prop_assert!(ticks.len() <= parts as usize + 4, "{:?}", ticks);
                prop_assert!(ticks.iter().all(|tick| (0.0..=100.0).contains(&tick.at)), "{:?}", ticks);
                prop_assert!(ticks.is_sorted_by(|one, two| one.at <= two.at), "{:?}", ticks);
            }
        }
    }

    #[test]
    fn axes_have_round_marks() {
        let texts = |scale: Scale, parts| scale.ticks(parts).into_iter().map(|tick| tick.text.replace('\u{202f}', " ")).collect::<Vec<_>>();
        assert_eq!(texts(Scale::up_to(37.0, Unit::Count), 4), ["0", "10", "20", "30", "40"]);
        assert_eq!(texts(Scale::new(0.0, 2_500_000.0, Unit::Nanoseconds), 5), ["0", "0.5 ms", "1 ms", "1.5 ms", "2 ms", "2.5 ms"]);
        assert_eq!(texts(Scale::logarithmic(10.0, 1e6, Unit::Count), 8), ["10", "100", "1 k", "10 k", "100 k", "1 M"]);
    }
}
