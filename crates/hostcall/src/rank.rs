//! Which of several processes this is: its rank, as launchers (`mpirun`, `srun`, `torchrun`, …) tell it by variables.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};

pub use hostcall_abi::rank::{RANK, WORLD_SIZE};

use crate::ServerBuilder;

/// One process, or one device, of several that run the same program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rank {
    /// Its number, from 0 on.
    pub rank: u32,
    /// How many there are.
    pub world: u32,
    /// Its number among those on this machine.
    pub local: u32,
}

/// The variable with the rank on this machine.
const LOCAL_RANK: &str = "HOSTCALL_LOCAL_RANK";

/// Variables of launchers: its name, the rank, how many there are, and the rank on this machine. The first whose rank
/// is set counts.
const LAUNCHERS: [(&str, &str, &[&str], &[&str]); 7] = [
    ("hostcall", RANK, &[WORLD_SIZE], &[LOCAL_RANK, "LOCAL_RANK"]),
    ("Slurm", "SLURM_PROCID", &["SLURM_NTASKS", "SLURM_NPROCS"], &["SLURM_LOCALID"]),
    ("Open MPI", "OMPI_COMM_WORLD_RANK", &["OMPI_COMM_WORLD_SIZE"], &["OMPI_COMM_WORLD_LOCAL_RANK"]),
    // MPICH and Intel MPI.
    ("PMI", "PMI_RANK", &["PMI_SIZE"], &["MPI_LOCALRANKID", "PMI_LOCAL_RANK"]),
    ("Flux", "FLUX_TASK_RANK", &["FLUX_JOB_SIZE"], &["FLUX_TASK_LOCAL_ID"]),
    ("PMIx", "PMIX_RANK", &["PMIX_SIZE"], &["PMIX_LOCAL_RANK"]),
    ("torchrun", "RANK", &["WORLD_SIZE"], &["LOCAL_RANK"]),
];

/// Why variables say no rank.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RankError {
    /// No launcher's variables are set.
    #[error("no rank: none of {} is set; start with mpirun, srun or torchrun, or set {RANK} and {WORLD_SIZE}", names())]
    NoLauncher,
    /// One variable is set, and another that belongs to it is not.
    #[error("{launcher} set {set} and none of {missing}: set {RANK}, {WORLD_SIZE} and {LOCAL_RANK}, which come first")]
    Missing {
        /// Whose variables.
        launcher: &'static str,
        /// The one that is set.
        set: &'static str,
        /// The ones of which one is needed.
        missing: String,
    },
    /// A variable is no number.
    #[error("{variable} is {value:?}, which is no number of a rank")]
    NotANumber {
        /// The variable.
        variable: &'static str,
        /// What it is.
        value: String,
    },
    /// The rank is not below the number of ranks.
    #[error("{variable} is {rank}, and there are {world} ranks, from 0 on")]
    OutOfRange {
        /// The variable with the rank.
        variable: &'static str,
        /// The rank.
        rank: u32,
        /// How many there are.
        world: u32,
    },
}

hostcall_error::readable!(RankError);

fn names() -> String {
    LAUNCHERS.map(|(_, rank, ..)| rank).join(", ")
}

impl Rank {
    /// The only one.
    pub const ALONE: Self = Self { rank: 0, world: 1, local: 0 };

    /// What the launcher of this process says.
    ///
    /// # Errors
    /// When none started it, or its variables make no sense.
    pub fn from_env() -> Result<Self, RankError> {
        Self::from_variables(|name| std::env::var_os(name).map(|value| value.to_string_lossy().into_owned()))
    }

    /// The variables by which [`Rank::from_env`] of another process finds this rank. They come before those of any
    /// launcher.
    pub fn variables(self) -> [(&'static str, String); 3] {
        let Self { rank, world, local } = self;
        [(RANK, rank), (WORLD_SIZE, world), (LOCAL_RANK, local)].map(|(name, value)| (name, value.to_string()))
    }

    /// What variables say, whose values `value` gives.
    ///
    /// # Errors
    /// As [`Rank::from_env`].
    pub fn from_variables(value: impl Fn(&str) -> Option<String>) -> Result<Self, RankError> {
        let number = |variable: &'static str| {
            let value = value(variable)?;
            Some(value.trim().parse::<u32>().map_err(|_| RankError::NotANumber { variable, value }))
        };
        let found = LAUNCHERS.iter().find_map(|launcher| Some((launcher, number(launcher.1)?)));
        let Some((&(launcher, set, worlds, locals), rank)) = found else { return Err(RankError::NoLauncher) };
        let rank = rank?;
        let one_of = |variables: &[&'static str]| variables.iter().find_map(|&variable| number(variable)).transpose();
        let missing = |variables: &[&str]| RankError::Missing { launcher, set, missing: variables.join(", ") };
        let world = one_of(worlds)?.ok_or_else(|| missing(worlds))?;
        if rank >= world {
            return Err(RankError::OutOfRange { variable: set, rank, world });
        }
        let local = match one_of(locals)? {
            Some(local) => local,
            // Set by hand, on one machine.
            None if set == RANK => rank,
            None => return Err(missing(locals)),
        };
        Ok(Self { rank, world, local })
    }

    /// Which of `devices` devices of this machine is its own: they are dealt out in turn.
    ///
    /// # Panics
    /// Without a device.
    pub fn device(&self, devices: u32) -> u32 {
        assert!(devices > 0, "no device to choose from");
        self.local % devices
    }

    /// Grants programs the variables with the rank and the number of ranks, which `hostcall::rank()` and
    /// `hostcall::world_size()` read in kernels.
    pub fn grant(&self, builder: ServerBuilder) -> ServerBuilder {
        builder.env(RANK, self.rank.to_string()).env(WORLD_SIZE, self.world.to_string())
    }

    /// `text` with the rank for each `%r`, and a `%` for each `%%`.
    pub fn put_into(&self, text: impl AsRef<OsStr>) -> OsString {
        let mut rest = text.as_ref().as_bytes();
        let mut out = Vec::with_capacity(rest.len());
        while let Some(at) = rest.iter().position(|byte| *byte == b'%') {
            out.extend_from_slice(&rest[..at]);
            let taken = match rest.get(at + 1) {
                Some(b'r') => {
                    out.extend_from_slice(self.rank.to_string().as_bytes());
                    2
                }
                next => {
                    out.push(b'%');
                    1 + usize::from(next == Some(&b'%'))
                }
            };
            rest = &rest[at + taken..];
        }
        out.extend_from_slice(rest);
        OsString::from_vec(out)
    }
}

impl fmt::Display for Rank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rank {} of {}", self.rank, self.world)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> Result<Rank, RankError> {
        Rank::from_variables(|name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn each_launcher_says_the_same_in_its_own_words() {
        let expected = Ok(Rank { rank: 5, world: 8, local: 1 });
        for (_, rank, worlds, locals) in LAUNCHERS {
            for world in worlds {
                for local in locals {
                    assert_eq!(read(&[(rank, "5"), (world, "8"), (local, "1")]), expected, "{rank}, {world}, {local}");
                }
            }
        }
    }

    #[test]
    fn ours_come_first() {
        let both = [("SLURM_PROCID", "1"), ("SLURM_NTASKS", "2"), ("SLURM_LOCALID", "1"), (RANK, "3"), (WORLD_SIZE, "4")];
        assert_eq!(read(&both), Ok(Rank { rank: 3, world: 4, local: 3 }));
    }

    #[test]
    fn a_rank_is_found_again_in_the_variables_that_say_it() {
        let rank = Rank { rank: 5, world: 8, local: 1 };
        let said = rank.variables();
        assert_eq!(read(&said.each_ref().map(|(name, value)| (*name, &**value))), Ok(rank));
    }

    #[test]
    fn what_makes_no_sense_is_named() {
        assert_eq!(read(&[]), Err(RankError::NoLauncher));
        let lone = read(&[("SLURM_PROCID", "1"), ("SLURM_NTASKS", "2")]).unwrap_err();
        assert!(lone.to_string().contains("SLURM_LOCALID"), "{lone}");
        let word = read(&[(RANK, "first"), (WORLD_SIZE, "2")]).unwrap_err();
        assert_eq!(word, RankError::NotANumber { variable: RANK, value: "first".into() });
        assert_eq!(read(&[(RANK, "2"), (WORLD_SIZE, "2")]), Err(RankError::OutOfRange { variable: RANK, rank: 2, world: 2 }));
        assert!(read(&[(RANK, "-1"), (WORLD_SIZE, "2")]).is_err());
    }

    #[test]
    fn file_names_have_the_rank_where_they_say_so() {
        let rank = Rank { rank: 12, world: 16, local: 0 };
        assert_eq!(rank.put_into("trace-%r.json"), "trace-12.json");
        assert_eq!(rank.put_into("100%% of %r%"), "100% of 12%");
        assert_eq!(rank.put_into("ä%ü%r"), "ä%ü12");
    }

    #[test]
    fn devices_are_dealt_out_in_turn() {
        let of = |local| Rank { rank: 9, world: 10, local }.device(4);
        assert_eq!([0, 3, 4, 7].map(of), [0, 3, 0, 3]);
    }
}
