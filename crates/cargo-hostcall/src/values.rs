//! Values as they are typed: numbers of bytes, shapes of launches, kernel parameters.

use std::ffi::OsString;
use std::time::Duration;

use offload::Args;

/// Why the arguments are not the kernel's.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ParamError {
    /// Too few.
    #[error("the kernel {kernel} has {expected} parameters, {given} are given: write them after its name (a slice takes two)")]
    Missing { kernel: String, expected: usize, given: usize },
    /// Not a number that fits.
    #[error("`{text}` is no number of {size} bytes for parameter {index} of the kernel {kernel}: write 3, -1, 2.5, 7u64 or 1f32")]
    Value { kernel: String, index: usize, size: u32, text: String },
    /// Parameters that cannot be typed.
    #[error("parameter {index} of the kernel {kernel} has {size} bytes: only numbers of 1, 2, 4, 8 and 16 bytes can be given here")]
    Size { kernel: String, index: usize, size: u32 },
}

/// The kernel's parameters from the first of `texts`, by its table of sizes, and the texts that are left. A kernel
/// without a table is taken to have none.
pub(crate) fn params<'a>(kernel: &str, sizes: Option<&[u32]>, texts: &'a [OsString]) -> Result<(Args, &'a [OsString]), ParamError> {
    let sizes = sizes.unwrap_or_default();
    let kernel = || kernel.to_owned();
    let (params, rest) = texts.split_at_checked(sizes.len()).ok_or_else(|| ParamError::Missing {
        kernel: kernel(),
        expected: sizes.len(),
        given: texts.len(),
    })?;
    let mut args = Args::new();
    for (index, (text, &size)) in params.iter().zip(sizes).enumerate() {
        if !matches!(size, 1 | 2 | 4 | 8 | 16) {
            return Err(ParamError::Size { kernel: kernel(), index, size });
        }
        let bad = || ParamError::Value { kernel: kernel(), index, size, text: text.display().to_string() };
        let bits = text.to_str().and_then(|text| number(text, size)).ok_or_else(bad)?;
        args = match size {
            1 => args.value(bits as u8),
            2 => args.value(bits as u16),
            4 => args.value(bits as u32),
            8 => args.value(bits as u64),
            _ => args.value(bits),
        };
    }
    Ok((args, rest))
}

/// The bits of a number of `size` bytes. The table knows no types, so what is written with a point, an exponent or
/// `f32`/`f64` is a float, all else an integer, which may be signed if its value fits so.
fn number(text: &str, size: u32) -> Option<u128> {
    let (digits, kind) = match text.find(['u', 'i', 'f']).filter(|&at| at > 0 && text.as_bytes()[at - 1].is_ascii_digit()) {
        Some(at) if !text.starts_with("0x") => text.split_at(at),
        _ => (text, ""),
    };
    let bits = 8 * size;
    if !kind.is_empty() && (kind[1..] != bits.to_string() && !(kind[1..] == *"size" && size == 8)) {
        return None;
    }
    let is_float = kind.starts_with('f') || (kind.is_empty() && !text.starts_with("0x") && text.contains(['.', 'e', 'E']));
    if is_float {
        return match size {
            4 => digits.parse::<f32>().ok().map(|value| value.to_bits().into()),
            8 => digits.parse::<f64>().ok().map(|value| value.to_bits().into()),
            _ => None,
        };
    }
    let unused = 128 - bits;
    if let Some(magnitude) = digits.strip_prefix('-').filter(|_| !kind.starts_with('u')) {
        let value = i128::try_from(integer(magnitude)?).ok()?.checked_neg()?;
        return (value << unused >> unused == value).then_some((value as u128) << unused >> unused);
    }
    let value = integer(digits)?;
    let used = if kind.starts_with('i') { bits - 1 } else { bits };
    (used == 128 || value >> used == 0).then_some(value)
}

fn integer(digits: &str) -> Option<u128> {
    match digits.strip_prefix("0x") {
        Some(hex) => u128::from_str_radix(hex, 16).ok(),
        None => digits.replace('_', "").parse().ok(),
    }
}

/// A number of bytes: `4096`, `64k`, `16m`, `2g`.
pub(crate) fn size(text: &str) -> Result<usize, String> {
    let (digits, shift) = match text.char_indices().last() {
        Some((at, 'k' | 'K')) => (&text[..at], 10),
        Some((at, 'm' | 'M')) => (&text[..at], 20),
        Some((at, 'g' | 'G')) => (&text[..at], 30),
        _ => (text, 0),
    };
    let size = digits.parse::<usize>().map_err(|_| "a number of bytes, as 4096, 64k, 16m or 2g")?;
    size.checked_mul(1 << shift).ok_or_else(|| "more than the address space".into())
}

/// Up to three dimensions: `64`, `8,8`, `4,4,2`.
pub(crate) fn shape(text: &str) -> Result<[u32; 3], String> {
    let mut shape = [1; 3];
    let parts: Vec<&str> = text.split(',').collect();
    if parts.len() > 3 {
        return Err("at most three numbers, as X,Y,Z".into());
    }
    for (dimension, part) in shape.iter_mut().zip(parts) {
        *dimension = part.trim().parse().ok().filter(|&n| n > 0).ok_or("numbers from 1 on, as X,Y,Z")?;
    }
    Ok(shape)
}

/// A time: `5`, `0.25`.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().map_err(|_| "a number of seconds")?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_become_the_bits_of_their_type() {
        assert_eq!(number("3", 4), Some(3));
        assert_eq!(number("-1", 4), Some(0xffff_ffff));
        assert_eq!(number("-1", 16), Some(u128::MAX));
        assert_eq!(number("255", 1), Some(255));
        assert_eq!(number("-128i8", 1), Some(128));
        assert_eq!(number("0xffu8", 1), None, "a hexadecimal number has no type: `f` and digits would be ambiguous");
        assert_eq!(number("0xff", 1), Some(255));
        assert_eq!(number("1_000u64", 8), Some(1000));
        assert_eq!(number("7usize", 8), Some(7));
        assert_eq!(number("1.5", 4), Some(1.5f32.to_bits().into()));
        assert_eq!(number("1f64", 8), Some(1f64.to_bits().into()));
        assert_eq!(number("-2e3", 8), Some((-2e3f64).to_bits().into()));
    }

    #[test]
    fn numbers_that_do_not_fit_are_refused() {
        for (text, size) in [
            ("256", 1),
            ("128i8", 1),
            ("-129", 1),
            ("-1u8", 1),
            ("1f32", 8),
            ("3u32", 8),
            ("1.5", 2),
            ("x", 4),
            ("", 4),
            ("-", 4),
            ("u8", 1),
            ("é", 8),
        ] {
            assert_eq!(number(text, size), None, "{text} in {size} bytes");
        }
    }

    #[test]
    fn parameters_are_taken_from_the_front_and_the_rest_is_left() {
        let texts = ["1", "2.5", "name"].map(OsString::from);
        let (args, rest) = params("k", Some(&[4, 8]), &texts).expect("two numbers");
        assert_eq!((args.len(), rest), (2, &texts[2..]));
        assert!(matches!(params("k", Some(&[4; 4]), &texts), Err(ParamError::Missing { expected: 4, given: 3, .. })));
        assert!(matches!(params("k", Some(&[4, 8, 4]), &texts), Err(ParamError::Value { index: 2, .. })));
        assert!(matches!(params("k", Some(&[12]), &texts), Err(ParamError::Size { size: 12, .. })));
    }

    #[test]
    fn sizes_shapes_and_times_are_read_and_nonsense_is_refused() {
        assert_eq!(["0", "4096", "64k", "2G"].map(|text| size(text).expect(text)), [0, 4096, 64 << 10, 2 << 30]);
        assert_eq!(shape("4, 2").expect("two"), [4, 2, 1]);
        assert_eq!(seconds("0.25").expect("a time"), Duration::from_millis(250));
        assert!(["", "k", "-1", "99999999999999999999", "18446744073709551615g"].iter().all(|text| size(text).is_err()));
        assert!(["", "0", "1,0", "1,1,1,1", "x"].iter().all(|text| shape(text).is_err()));
        assert!(["", "-1", "nan", "1e99"].iter().all(|text| seconds(text).is_err()));
    }
}
