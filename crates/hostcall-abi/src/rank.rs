//! Names of the variables by which a program learns which of several devices or processes it runs on.

/// The variable with the rank, from 0 on: what a program reads, and what says it where no launcher does.
pub const RANK: &str = "HOSTCALL_RANK";
/// The variable with the number of ranks.
pub const WORLD_SIZE: &str = "HOSTCALL_WORLD_SIZE";
