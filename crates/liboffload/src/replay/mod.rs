//! Recordings made again: on the devices that they were made on, on others, or on the processor.
//!
//! Calls are made one after the other, in the order in which they ended; one that never ended, because the program crashed in it, comes last. Handles
//! and addresses are those of the replay: each recorded handle stands for the one that the same call gave here, each region for memory of the
//! same size. What came of the calls is compared: their codes, what they copied to the program's memory, and the hashes of regions.
//!
//! Functions that queues called on the host are not in a recording; nothing is called in their place.

mod calls;
mod compare;
mod memory;
mod script;

use std::fmt;

use crate::Api;
use crate::recording::Entry;

use self::calls::Player;
use self::script::Call;

/// How a recording is replayed.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The platform whose first device takes the place of all recorded ones: `HOST`, `CUDA`.
    pub platform: Option<String>,
    /// Images that take the place of recorded ones, in the order of the calls of `olCreateProgram` and `olIsValidBinary`; the last one also of those after it.
    pub images: Vec<Vec<u8>>,
}

/// What came of a replay.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Calls that were made.
    pub calls: usize,
    /// Calls of the recording that cannot be made again, with the reason.
    pub left_out: Vec<String>,
    /// What was compared: codes, copies and regions.
    pub compared: usize,
    /// What was different.
    pub differences: Vec<String>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in &self.left_out {
            writeln!(f, "left out: {line}")?;
        }
        for line in &self.differences {
            writeln!(f, "different: {line}")?;
        }
        write!(f, "{} calls, {} results compared, {} different", self.calls, self.compared, self.differences.len())
    }
}

/// Why a recording cannot be replayed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReplayError {
    /// An entry is whole, and does not say what it has to.
    Entry {
        /// Which one, from 1.
        entry: usize,
        /// What is missing.
        what: String,
    },
    /// There is no such device here.
    Device {
        /// The platform.
        platform: String,
        /// The device's place there.
        ordinal: usize,
    },
    /// A call on whose result others rely failed here.
    Call {
        /// The call, and its number.
        call: String,
        /// What it said.
        error: String,
    },
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Entry { entry, what } => write!(f, "entry {entry} of the recording makes no sense: {what}"),
            Self::Device { platform, ordinal } => {
                write!(f, "there is no device {ordinal} of {platform} here: choose another one with --device HOST or --device CUDA")
            }
            Self::Call { call, error } => write!(f, "{call} succeeded when it was recorded and fails here, and others rely on it: {error}"),
        }
    }
}

impl std::error::Error for ReplayError {}

/// Makes the calls of a recording.
///
/// # Errors
/// [`ReplayError`]; a difference is none.
///
/// # Safety
/// The recorded program called the API rightly, and its kernels may run here with its data.
pub unsafe fn replay<A: Api>(entries: &[Entry], options: &Options) -> Result<Report, ReplayError> {
    let script = script::read(entries)?;
    let mut player = Player::<A>::new(options);
    let result = script.iter().try_for_each(|step| {
        // SAFETY: the caller's.
        unsafe { player.step(step) }
    });
    player.end();
    result.map(|()| player.report)
}

/// What a step does.
#[derive(Debug)]
enum Step<'a> {
    /// The program wrote into a region.
    Memory { entry: usize, region: u64, content: &'a [u8] },
    /// A call.
    Call(Call<'a>),
}
