//! Settings of a simulated device, and their text form.

use std::str::FromStr;

use crate::error::Error;

/// How lanes are run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LaneMode {
    /// Lanes of a wave are fibers on one thread. Fast.
    #[default]
    Fibers,
    /// Each lane is a thread: the operating system interleaves lanes at any instruction. Slow; finds races.
    Threads,
}

/// Settings of a simulated device.
///
/// As text (`"lanes=64,seed=7,sms=4,threads"`): `lanes` (32 or 64), `sms`, `waves` (per SM), `memory` and `stack`
/// (bytes, with `k`, `m` or `g`), `seed`, `lose` (operations after which the device is lost), and the words `threads`
/// and `fibers`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SimConfig {
    /// SMs: 1 to 1024. A workgroup runs on one.
    pub sms: u32,
    /// Resident waves of each SM: 1 to 64. A workgroup has at most this many waves.
    pub waves_per_sm: u32,
    /// Lanes of a wave: 32 or 64.
    pub wave_size: u32,
    /// How lanes are run.
    pub lanes: LaneMode,
    /// With a seed, one thread runs all waves of a kernel, and the seed decides at every suspension point which lane
    /// goes on. See [`crate::sim`] for what is reproducible.
    pub seed: Option<u64>,
    /// Bytes of device memory.
    pub memory_bytes: u64,
    /// Bytes of stack of a lane: at least 32 KiB.
    pub stack_bytes: usize,
    /// For tests of those who must live with it: when lanes have called so many operations of the simulator
    /// (collectives, pauses, clocks) the device is [lost](crate::Error::DeviceLost), as a CUDA device is after a trap.
    /// Its lanes end wherever they are. A device of [`reset`](crate::Device::reset) is not lost again.
    pub lose_after: Option<u64>,
}

impl Default for SimConfig {
    /// 4 SMs of 16 waves of 32 lanes as fibers, 4 GiB of memory (reserved, not committed), 256 KiB of stack per lane;
    /// never lost.
    fn default() -> Self {
        Self {
            sms: 4,
            waves_per_sm: 16,
            wave_size: 32,
            lanes: LaneMode::Fibers,
            seed: None,
            memory_bytes: 4 << 30,
            stack_bytes: 256 << 10,
            lose_after: None,
        }
    }
}

impl SimConfig {
    /// Checks every setting.
    ///
    /// # Errors
    /// [`Error::Config`] for the first that cannot work.
    pub fn validate(&self) -> Result<(), Error> {
        let bad = |setting, reason: &str| Err(Error::Config { setting, reason: reason.to_owned() });
        if !(1..=1024).contains(&self.sms) {
            return bad("sms", &format!("{} SMs: give 1 to 1024", self.sms));
        }
        if !(1..=64).contains(&self.waves_per_sm) {
            return bad("waves", &format!("{} waves per SM: give 1 to 64", self.waves_per_sm));
        }
        if self.wave_size != 32 && self.wave_size != 64 {
            return bad("lanes", &format!("waves of {} lanes: only 32 and 64 are supported", self.wave_size));
        }
        if !(1 << 20..=1 << 44).contains(&self.memory_bytes) {
            return bad("memory", &format!("{} bytes: give 1m to 16384g", self.memory_bytes));
        }
        if !(32 << 10..=1 << 30).contains(&self.stack_bytes) {
            return bad("stack", &format!("{} bytes: give 32k to 1g", self.stack_bytes));
        }
        if self.seed.is_some() && self.lanes == LaneMode::Threads {
            return bad("seed", "a seeded schedule runs all lanes on one thread: leave out `threads`");
        }
        Ok(())
    }
}

impl FromStr for SimConfig {
    type Err = Error;

    /// Parses `"lanes=64,seed=7,sms=4,threads"`; an empty text is the default.
    fn from_str(text: &str) -> Result<Self, Error> {
        let mut config = Self::default();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (key, value) = part.split_once('=').map_or((part, None), |(key, value)| (key, Some(value)));
            match (key, value) {
                ("threads", None) => config.lanes = LaneMode::Threads,
                ("fibers", None) => config.lanes = LaneMode::Fibers,
                ("lanes", Some(v)) => config.wave_size = number("lanes", v)?,
                ("sms", Some(v)) => config.sms = number("sms", v)?,
                ("waves", Some(v)) => config.waves_per_sm = number("waves", v)?,
                ("seed", Some(v)) => config.seed = Some(number("seed", v)?),
                ("lose", Some(v)) => config.lose_after = Some(number("lose", v)?),
                ("memory", Some(v)) => config.memory_bytes = bytes("memory", v)?,
                ("stack", Some(v)) => config.stack_bytes = number("stack", &bytes("stack", v)?.to_string())?,
                _ => {
                    let reason = format!("`{part}` is none of lanes=, sms=, waves=, seed=, memory=, stack=, lose=, threads, fibers");
                    return Err(Error::Config { setting: "text", reason });
                }
            }
        }
        config.validate()?;
        Ok(config)
    }
}

fn number<N: FromStr>(setting: &'static str, text: &str) -> Result<N, Error> {
    text.parse().map_err(|_| Error::Config { setting, reason: format!("`{text}` is no number, or too large") })
}

fn bytes(setting: &'static str, text: &str) -> Result<u64, Error> {
    let (digits, shift) = match text.bytes().last() {
        Some(b'k' | b'K') => (&text[..text.len() - 1], 10),
        Some(b'm' | b'M') => (&text[..text.len() - 1], 20),
        Some(b'g' | b'G') => (&text[..text.len() - 1], 30),
        _ => (text, 0),
    };
    let too_large = || Error::Config { setting, reason: format!("`{text}` bytes are too many") };
    number::<u64>(setting, digits)?.checked_mul(1 << shift).ok_or_else(too_large)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_from_text() {
        let config: SimConfig = "lanes=64, seed=7,sms=4,waves=8,memory=16m,stack=64k,lose=99".parse().unwrap();
        let expected = SimConfig {
            sms: 4,
            waves_per_sm: 8,
            wave_size: 64,
            lanes: LaneMode::Fibers,
            seed: Some(7),
            memory_bytes: 16 << 20,
            stack_bytes: 64 << 10,
            lose_after: Some(99),
        };
        assert_eq!(config, expected);
        assert_eq!("".parse::<SimConfig>().unwrap(), SimConfig::default());
        assert_eq!("threads".parse::<SimConfig>().unwrap().lanes, LaneMode::Threads);
    }

    #[test]
    fn settings_that_cannot_work_are_named() {
        for (text, part) in [
            ("lanes=16", "waves of 16 lanes"),
            ("sms=0", "0 SMs"),
            ("waves=65", "65 waves"),
            ("seed=x", "`x` is no number"),
            ("threads,seed=1", "leave out `threads`"),
            ("memory=99999999999g", "too many"),
            ("memory=1k", "1024 bytes"),
            ("stack=1", "1 bytes"),
            ("speed=1", "`speed=1` is none of"),
            ("lanes", "`lanes` is none of"),
        ] {
            let error = text.parse::<SimConfig>().unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
