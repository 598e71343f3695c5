//! What C's own `printf` prints is what ours prints.

use std::ffi::{CString, c_char, c_int, c_uint, c_ulonglong};

use proptest::prelude::*;

use super::{FormatError, LONGEST, Value, printf, values, wire};

/// A value as C takes it.
#[derive(Clone, Debug)]
enum Given {
    Int(c_int),
    Long(i64),
    Unsigned(c_uint),
    UnsignedLong(u64),
    Double(f64),
    Text(Vec<u8>),
}

/// What C's library makes of a format with up to two stars and a value.
fn c(format: &str, stars: &[c_int], value: &Given) -> Vec<u8> {
    let format = CString::new(format).unwrap();
    let text = CString::new(if let Given::Text(text) = value { text.clone() } else { Vec::new() }).unwrap();
    let mut buffer = vec![0u8; 16 << 10];
    let (to, room, format) = (buffer.as_mut_ptr().cast::<c_char>(), buffer.len(), format.as_ptr());
    macro_rules! print {
        ($value:expr) => {
            // SAFETY: the format has the conversions for these values, and what is printed is cut at the buffer's end.
            unsafe {
                match *stars {
                    [] => libc::snprintf(to, room, format, $value),
                    [one] => libc::snprintf(to, room, format, one, $value),
                    [one, other, ..] => libc::snprintf(to, room, format, one, other, $value),
                }
            }
        };
    }
    let len = match value {
        Given::Int(value) => print!(*value),
        Given::Long(value) => print!(*value),
        Given::Unsigned(value) => print!(*value),
        Given::UnsignedLong(value) => print!(*value as c_ulonglong),
        Given::Double(value) => print!(*value),
        Given::Text(_) => print!(text.as_ptr()),
    };
    buffer.truncate(usize::try_from(len).unwrap());
    buffer
}

fn ours(format: &str, stars: &[c_int], value: &Given) -> Result<Vec<u8>, FormatError> {
    let mut all: Vec<Value<'_>> = stars.iter().map(|star| Value::Signed((*star).into(), 4)).collect();
    all.push(match value {
        Given::Int(value) => Value::Signed((*value).into(), 4),
        Given::Long(value) => Value::Signed(*value, 8),
        Given::Unsigned(value) => Value::Unsigned((*value).into(), 4),
        Given::UnsignedLong(value) => Value::Unsigned(*value, 8),
        Given::Double(value) => Value::Float(*value),
        Given::Text(text) => Value::Text(Some(text)),
    });
    printf(format.as_bytes(), &all)
}

/// Numbers near what makes a difference, and any.
fn doubles() -> impl Strategy<Value = f64> {
    let special = [
        0.0,
        -0.0,
        0.5,
        1.5,
        2.5,
        9.5,
        99.5,
        0.1,
        9.999_999_5,
        1e-5,
        1e-4,
        123_456.5,
        1e15,
        1e16,
        1e300,
        5e-324,
        f64::MAX,
        f64::MIN_POSITIVE,
    ];
    let special = special.into_iter().chain([f64::INFINITY, f64::NEG_INFINITY, f64::NAN]).collect::<Vec<_>>();
    prop_oneof![prop::sample::select(special), any::<f64>(), (-1e6..1e6f64), (-4000..4000i32).prop_map(|n| f64::from(n) / 8.0)]
}

fn given() -> impl Strategy<Value = (Given, &'static str, &'static str)> {
    let integers = ["d", "i", "u", "o", "x", "X"];
    let of = move |strategy: BoxedStrategy<Given>, lengths: &'static [&'static str]| {
        (strategy, prop::sample::select(lengths.to_vec()), prop::sample::select(integers.to_vec()))
    };
    let int = prop_oneof![any::<i32>(), -300..300i32].prop_map(Given::Int).boxed();
    let unsigned = prop_oneof![any::<u32>(), 0..300u32].prop_map(Given::Unsigned).boxed();
    let long = prop_oneof![any::<i64>(), -300..300i64].prop_map(Given::Long).boxed();
    let unsigned_long = prop_oneof![any::<u64>(), 0..300u64].prop_map(Given::UnsignedLong).boxed();
    let letters = vec!["f", "F", "e", "E", "g", "G", "a", "A"];
    let double = || (doubles().prop_map(Given::Double), Just(""), prop::sample::select(letters.clone()));
    let text = (prop::collection::vec(1..=255u8, 0..20).prop_map(Given::Text), Just(""), Just("s"));
    let character = ((1..=255i32).prop_map(Given::Int), Just(""), Just("c"));
    prop_oneof![
        of(int, &["", "h", "hh"]),
        of(unsigned, &["", "h", "hh"]),
        of(long, &["l", "ll", "j", "z", "t"]),
        of(unsigned_long, &["l", "ll", "j", "z"]),
        double(),
        double(),
        text,
        character
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, ..ProptestConfig::default() })]

    #[test]
    fn what_c_prints_is_printed(
        (value, length, letter) in given(),
        flags in "[-+ #0]{0,3}",
        width in prop::option::of(0..40i32),
        precision in prop::option::of(-1..25i32),
        starred in any::<[bool; 2]>(),
    ) {
        // C says nothing of some flags of `%c` and `%s`.
        let flags: String = flags.chars().filter(|flag| !"cs".contains(letter) || *flag == '-').collect();
        // Of `%#.2g` and 99.5 glibc 2.36 makes 1.e+02, which C says is 1.0e+02.
        let flags: String = flags.chars().filter(|flag| !(*flag == '#' && "gG".contains(letter))).collect();
        let precision = precision.filter(|_| letter != "c");
        let mut stars = Vec::new();
        let mut number = |prefix: &str, number: Option<i32>, starred: bool| match number {
            None => String::new(),
            Some(number) if starred => { stars.push(number); format!("{prefix}*") }
            Some(number) => format!("{prefix}{}", number.max(0)),
        };
        let (width, precision) = (number("", width, starred[0]), number(".", precision, starred[1]));
        // A width of 0 that is written out is a flag.
        let format = format!("<%{flags}{width}{precision}{length}{letter}>");
        let (c, ours) = (c(&format, &stars, &value), ours(&format, &stars, &value));
        prop_assert_eq!(ours.map(|text| String::from_utf8_lossy(&text).into_owned()), Ok(String::from_utf8_lossy(&c).into_owned()), "{} of {:?} and {:?}", format, stars, value);
    }

    #[test]
    fn no_format_and_no_values_panic(format in prop::collection::vec(any::<u8>(), 0..60), units in prop::collection::vec(any::<u32>(), 0..30), tail in "[%*.0-9a-zA-Z#+-]{0,30}") {
        let mut format = format;
        format.extend_from_slice(tail.as_bytes());
        let texts: [&[u8]; 2] = [b"one", b""];
        if let Ok(values) = values(&units, &texts) {
            let _ = printf(&format, &values);
        }
        let each = [Value::Signed(-1, 4), Value::Float(0.5), Value::Text(None), Value::Pointer(16), Value::Char(0x1f600), Value::Unsigned(7, 1)];
        for value in each {
            let _ = printf(&format, &[value, value, value]);
        }
    }
}

fn text(format: &str, values: &[Value<'_>]) -> Result<String, String> {
    printf(format.as_bytes(), values).map(|text| String::from_utf8(text).unwrap()).map_err(|error| error.to_string())
}

#[test]
fn lengths_of_integers_are_those_of_their_types() {
    assert_eq!(
        text("%d %u %x", &[Value::Signed(-1 << 40, 8), Value::Unsigned(1 << 40, 8), Value::Signed(-1, 2)]).unwrap(),
        "-1099511627776 1099511627776 ffffffff"
    );
    assert_eq!(
        text("%p %p %c%c", &[Value::Pointer(0x7f00), Value::Pointer(0), Value::Char(0xdf), Value::Char(0xd800)]).unwrap(),
        "0x7f00 (nil) \u{df}\u{fffd}"
    );
    assert_eq!(
        text("100%% %s|%.3s|%8.6s", &[Value::Text(Some(b"of")), Value::Text(None), Value::Text(None)]).unwrap(),
        "100% of||  (null)"
    );
}

#[test]
fn zeros_at_the_end_stay_where_they_are_asked_for() {
    let all = [99.5, 0.5, 100_000.0, 1e-5].map(Value::Float);
    assert_eq!(text("%#.2g %#g %#G %#.0g", &all).unwrap(), "1.0e+02 0.500000 100000. 1.e-05");
}

#[test]
fn what_is_wrong_is_named() {
    for (format, values, says) in [
        ("%5.2d", &[Value::Float(1.0)][..], "`%5.2d` is given a floating-point number: write %f"),
        ("%f", &[Value::Signed(1, 4)], "`%f` is given an integer: write %d"),
        ("%s", &[Value::Pointer(1)], "`%s` is given a pointer: write %p"),
        ("%d", &[Value::Text(None)], "`%d` is given a text: write %s"),
        ("%*d", &[Value::Float(1.0), Value::Signed(1, 4)], "`%*` is given a floating-point number"),
        ("%d %d", &[Value::Signed(1, 4)], "no value for `%d`: 1 are given"),
        ("%d", &[Value::Signed(1, 4), Value::Signed(1, 4)], "2 values are given, and the format has conversions for 1"),
        ("%n", &[Value::Pointer(8)], "%n writes to memory"),
        ("%", &[], "`%` is no conversion"),
        ("%ll", &[], "`%ll` is no conversion"),
        ("%99999d", &[Value::Signed(1, 4)], "wider than 4096"),
        ("%.99999999999999999999f", &[Value::Float(1.0)], "wider than 4096"),
    ] {
        let error = text(format, values).unwrap_err();
        assert!(error.contains(says), "{format}: {error}");
    }
}

#[test]
fn a_text_has_a_length_that_it_does_not_exceed() {
    let many = vec![Value::Signed(1, 4); 300];
    let long = |conversions: usize, behind: usize| {
        let format = "%4096d".repeat(conversions) + &"x".repeat(behind);
        text(&format, &many[..conversions]).map(|text| text.len())
    };
    assert_eq!([long(256, 0), long(0, LONGEST), long(1, LONGEST - 4096)], [const { Ok(LONGEST) }; 3]);
    for (conversions, behind) in [(300, 0), (256, 1), (0, LONGEST + 1), (1, LONGEST - 4095)] {
        assert!(long(conversions, behind).unwrap_err().contains("longer than"), "{conversions}, {behind}");
    }
}

#[test]
fn zero_has_as_many_digits_as_are_asked_for() {
    for flags in ["", "#", "+", "5", "#5"] {
        for precision in ["", ".", ".0", ".1", ".3"] {
            for letter in ["d", "u", "o", "x", "X"].into_iter().filter(|letter| !(flags.contains('#') && "du".contains(letter))) {
                for value in [0, 7] {
                    // Of numbers without a sign C says nothing of `+`.
                    let (format, value) = (
                        format!("<%{}{precision}{letter}>", if letter == "d" { flags } else { flags.trim_matches('+') }),
                        Given::Int(value),
                    );
                    assert_eq!(ours(&format, &[], &value), Ok(c(&format, &[], &value)), "{format} of {value:?}");
                }
            }
        }
    }
}

#[test]
fn a_negative_width_puts_the_value_to_the_left_and_a_negative_precision_is_none() {
    let number = |number: i64| Value::Signed(number, 4);
    let all = [number(-5), number(42), number(5), number(42), number(0), number(42), number(-1), number(42)];
    assert_eq!(text("%*d|%*d|%*d|%.*d", &all).unwrap(), "42   |   42|42|42");
}

#[test]
fn values_of_a_device_are_checked() {
    let texts: [&[u8]; 1] = [b"text"];
    let sized = |kind: u32, bytes: u32| kind | bytes << wire::SIZE_SHIFT;
    let good = [sized(wire::SIGNED, 4), u32::MAX, u32::MAX, wire::TEXT, 0, 0, wire::TEXT, wire::NULL, 0, wire::FLOAT, 0, 0x3ff0_0000];
    let read = values(&good, &texts).unwrap();
    assert_eq!(read, [Value::Signed(-1, 4), Value::Text(Some(b"text")), Value::Text(None), Value::Float(1.0)]);
    let more = [sized(wire::UNSIGNED, 8), 7, 1, wire::POINTER, 16, 1, wire::CHAR, 0x41, 0];
    let read = values(&more, &texts).unwrap();
    assert_eq!(read, [Value::Unsigned(1 << 32 | 7, 8), Value::Pointer(1 << 32 | 16), Value::Char(0x41)]);
    for bad in [
        &[1][..],
        &[sized(wire::SIGNED, 3), 0, 0],
        &[sized(wire::UNSIGNED, 3), 0, 0],
        &[wire::TEXT, 1, 0],
        &[99, 0, 0],
        &[wire::SIGNED, 0, 0],
    ] {
        assert!(matches!(values(bad, &texts), Err(FormatError::Values(_))), "{bad:?}");
    }
}
