//! Remote services: what is promised, within a process and through a broker that fails.

mod common;
mod local;
mod nats;
mod process;
mod support;
mod wire;
