//! A training in small, which samples its loss: launched by `cargo run -p hostcall-examples --example training`.
#![no_std]

use hostcall::prelude::*;

/// How a wave is getting on.
#[hostcall::stream]
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Loss {
    /// Steps so far.
    pub step: u32,
    /// The mean of the squared errors since the last sample.
    pub value: f32,
    /// The first lane's slope, which is to become 3.
    pub slope: f32,
}

/// Noise from -0.5 to 0.5: xorshift.
fn noise(state: &mut u32) -> f32 {
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    (*state >> 8) as f32 / (1 << 24) as f32 - 0.5
}

/// Each lane fits a line to points of `y = 3 x - 1` and noise, by gradient descent over `steps` points from number
/// `first` on. Every `every` points its wave says how large the errors are. `lines` has slope and height of each lane's
/// line.
#[kernel]
pub fn train(lines: &mut [f32], first: u32, steps: u32, every: u32) {
    let lane = global_id();
    let (mut slope, mut height) = (lines[2 * lane], lines[2 * lane + 1]);
    let mut random = (lane as u32 ^ first).wrapping_mul(0x9e37_79b9) | 1;
    let rate = 0.5 / (50.0 + first as f32 / 100.0);
    let mut sum = 0.0;
    for step in first..first + steps {
        let x = 2.0 * noise(&mut random);
        let error = slope * x + height - (3.0 * x - 1.0 + 0.2 * noise(&mut random));
        slope -= rate * error * x;
        height -= rate * error;
        sum += error * error;
        if (step + 1) % every == 0 {
            let value = sum / every as f32;
            sum = 0.0;
            Loss::once_per_wave(|| Loss { step: step + 1, value, slope });
        }
    }
    lines[2 * lane] = slope;
    lines[2 * lane + 1] = height;
}
