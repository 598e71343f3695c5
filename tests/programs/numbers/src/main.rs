//! Every mathematical function of `f32` and `f64`, for many numbers. Prints a line for each: its name, and results with
//! so many digits as every library gives alike (9 of a `f64`, 5 of a `f32`), at the sign, zeros, infinities and what is
//! no number exactly.
//!
//! `numbers`: no arguments.

use std::hint::black_box;
use std::ops::Rem;

/// Numbers from the middle of the range, and the edges.
const WIDE: [f64; 14] =
    [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1e-9, 3.75, -7.25, 12.0, 1e300, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
const NARROW: [f32; 14] =
    [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1e-5, 3.75, -7.25, 12.0, 1e30, f32::INFINITY, f32::NEG_INFINITY, f32::NAN];

fn main() {
    macro_rules! one {
        ($($name:ident)*) => { $(
            line(stringify!($name), WIDE.map(|x| black_box(x).$name()), NARROW.map(|x| black_box(x).$name()));
        )* };
    }
    macro_rules! two {
        ($($name:ident: $wide:expr, $narrow:expr;)*) => { $(
            line(stringify!($name), WIDE.map(|x| black_box(x).$name(black_box($wide))), NARROW.map(|x| black_box(x).$name(black_box($narrow))));
        )* };
    }
    one!(sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp exp2 exp_m1 ln ln_1p log2 log10 sqrt cbrt);
    one!(floor ceil round round_ties_even trunc fract abs signum to_degrees to_radians recip);
    two!(rem: 3.5, 3.5; powf: 2.3, 2.3; powi: -3, -3; log: 7.0, 7.0; atan2: -2.5, -2.5; hypot: 4.25, 4.25; copysign: -1.0, -1.0;
        rem_euclid: 3.5, 3.5; div_euclid: 3.5, 3.5; max: 0.25, 0.25; min: 0.25, 0.25;);
    line("mul_add", WIDE.map(|x| black_box(x).mul_add(3.0, 0.125)), NARROW.map(|x| black_box(x).mul_add(3.0, 0.125)));
    // What a sum of many makes of the last digits.
    let many = (1..=1000).map(|i| (f64::from(black_box(i)) * 0.37).sin() * f64::from(i).ln() + f64::from(i).powf(0.3)).sum::<f64>();
    println!("sum {many:.6e}");
    println!("u128 {:?} {:?} {} {}", WIDE.map(|x| black_box(x * 1e30) as u128), NARROW.map(|x| black_box(x) as u128), u128::MAX as f64, u128::MAX as f32);
    println!("i128 {:?} {:?} {} {}", WIDE.map(|x| black_box(x * 1e30) as i128), NARROW.map(|x| black_box(x) as i128), i128::MIN as f64, i128::MIN as f32);
}

fn line(name: &str, wide: [f64; 14], narrow: [f32; 14]) {
    let wide = wide.map(|x| format!("{x:.8e}")).join(" ");
    let narrow = narrow.map(|x| format!("{x:.4e}")).join(" ");
    println!("{name} {wide} {narrow}");
}
