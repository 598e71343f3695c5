//! Floating-point numbers as C writes them.

/// A number that is not negative, by a small letter of C's conversions: what stands before the zeros that fill it up,
/// and the rest.
pub(super) fn body(number: f64, letter: u8, precision: Option<usize>, alternate: bool) -> (&'static str, String) {
    if !number.is_finite() {
        return ("", if number.is_nan() { "nan" } else { "inf" }.to_owned());
    }
    match letter {
        b'f' => ("", with_point(format!("{number:.*}", precision.unwrap_or(6)), alternate)),
        b'e' => ("", exponential(number, precision.unwrap_or(6), alternate)),
        b'g' => ("", general(number, precision.unwrap_or(6).max(1), alternate)),
        _ => ("0x", hexadecimal(number, precision, alternate)),
    }
}

/// `#`: a point even where nothing is behind it.
fn with_point(mut digits: String, wanted: bool) -> String {
    if wanted && !digits.contains('.') {
        digits.push('.');
    }
    digits
}

/// Digits and exponent, both as Rust writes them (which rounds as C does: to even, by the exact value).
fn scientific(number: f64, precision: usize) -> (String, i32) {
    let text = format!("{number:.precision$e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    (digits.to_owned(), exponent.parse().unwrap_or(0))
}

fn with_exponent(digits: &str, exponent: i32) -> String {
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.unsigned_abs())
}

fn exponential(number: f64, precision: usize, alternate: bool) -> String {
    let (digits, exponent) = scientific(number, precision);
    with_exponent(&with_point(digits, alternate), exponent)
}

/// `%g`: the shorter of both, without zeros at the end unless they are asked for.
fn general(number: f64, precision: usize, alternate: bool) -> String {
    let (digits, exponent) = scientific(number, precision - 1);
    let trimmed = |digits: String| match digits.contains('.') && !alternate {
        true => digits.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => with_point(digits, alternate),
    };
    if exponent < -4 || exponent >= i32::try_from(precision).unwrap_or(i32::MAX) {
        return with_exponent(&trimmed(digits), exponent);
    }
    let behind = (precision as i64 - 1 - i64::from(exponent)).max(0) as usize;
    trimmed(format!("{number:.behind$}"))
}

/// `%a`, behind its `0x`.
fn hexadecimal(number: f64, precision: Option<usize>, alternate: bool) -> String {
    /// Hexadecimal digits of a fraction.
    const DIGITS: usize = 13;
    const FRACTION: u64 = (1 << 52) - 1;
    let bits = number.to_bits();
    let (raw, mut fraction) = ((bits >> 52) as i32, bits & FRACTION);
    let (mut lead, exponent) = match (raw, fraction) {
        (0, 0) => (0u64, 0),
        (0, _) => (0, -1022),
        _ => (1, raw - 1023),
    };
    let digits = match precision {
        None => format!("{fraction:013x}").trim_end_matches('0').to_owned(),
        Some(precision) if precision >= DIGITS => format!("{fraction:013x}{:0<1$}", "", precision - DIGITS),
        Some(precision) => {
            let cut = 4 * (DIGITS - precision);
            let (whole, rest, half) = ((lead << 52 | fraction) >> cut, fraction & ((1 << cut) - 1), 1u64 << (cut - 1));
            // To even.
            let rounded = whole + u64::from(rest > half || rest == half && whole & 1 == 1);
            (lead, fraction) = (rounded >> (4 * precision), rounded & ((1u64 << (4 * precision)) - 1));
            if precision == 0 { String::new() } else { format!("{fraction:0precision$x}") }
        }
    };
    let point = if digits.is_empty() && !alternate { "" } else { "." };
    format!("{lead}{point}{digits}p{exponent:+}")
}
