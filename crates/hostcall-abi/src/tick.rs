//! How long a tick of a device's counter is, where the device does not count nanoseconds.

/// Name of the program's [`Tick`] global. Whoever loads the program on a device fills it in, before any kernel of it
/// runs. Programs for devices that count nanoseconds have none.
pub const TICK_SYMBOL: &str = "__hostcall_tick";

/// Nanoseconds of a tick, as a whole number and a fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Tick {
    /// Whole nanoseconds.
    pub nanos: u32,
    /// What is beyond them, in 2⁻³² nanoseconds.
    pub fraction: u32,
}

const _: () = assert!(size_of::<Tick>() == 8);

impl Tick {
    /// Of a counter of 100 MHz: what programs have until they are told.
    pub const DEFAULT: Tick = Tick { nanos: 10, fraction: 0 };

    /// Of a counter with so many ticks a second; `None` if it has none, or a tick is longer than four seconds.
    pub const fn of_rate(hz: u64) -> Option<Tick> {
        if hz == 0 {
            return None;
        }
        let scaled = (1_000_000_000u128 << 32) / hz as u128;
        if scaled > u64::MAX as u128 { None } else { Some(Tick { nanos: (scaled >> 32) as u32, fraction: scaled as u32 }) }
    }

    /// Nanoseconds of so many ticks: wrapping, as counters are; less than a millionth too few.
    #[inline(always)]
    pub const fn nanoseconds(self, ticks: u64) -> u64 {
        let (low, high, fraction) = (ticks & 0xffff_ffff, ticks >> 32, self.fraction as u64);
        let beyond = high.wrapping_mul(fraction).wrapping_add((low * fraction) >> 32);
        ticks.wrapping_mul(self.nanos as u64).wrapping_add(beyond)
    }

    /// The bytes of the global.
    pub const fn to_bytes(self) -> [u8; 8] {
        (self.nanos as u64 | (self.fraction as u64) << 32).to_le_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_of_the_rates_that_gpus_have_are_nanoseconds_even_after_years() {
        assert_eq!(Tick::of_rate(100_000_000), Some(Tick::DEFAULT));
        for hz in [1, 19_200_000, 25_000_000, 27_000_000, 48_000_000, 100_000_000, 1_000_000_000, 3_000_000_000] {
            let tick = Tick::of_rate(hz).unwrap();
            for seconds in [0, 1, 60, 3600, 400_000_000] {
                let ticks = hz * seconds;
                let (exact, got) = (seconds * 1_000_000_000, tick.nanoseconds(ticks));
                assert!(got <= exact && exact - got <= exact / 1_000_000, "{hz} Hz, {seconds} s: {got}");
            }
        }
        assert_eq!(Tick::of_rate(25_000_000).unwrap().nanoseconds(25), 1000);
    }

    #[test]
    fn counters_without_a_rate_have_no_tick_and_the_words_lie_in_order() {
        assert_eq!(Tick::of_rate(0), None);
        assert_eq!(Tick { nanos: 0x0403_0201, fraction: 0x0807_0605 }.to_bytes(), [1, 2, 3, 4, 5, 6, 7, 8]);
    }
}
