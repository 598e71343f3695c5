//! The CPU simulator.
mod config;
use crate::{
    DeviceKind, Error,
    backend::{BackendDevice, Plugin},
};
pub use config::{LaneMode, SimConfig};
use std::sync::Arc;
/// The simulator as a plugin.
#[derive(Debug)]
pub struct SimPlugin;
impl Plugin for SimPlugin {
    fn kind(&self) -> DeviceKind {
        DeviceKind::Sim
    }
    fn device_count(&self) -> Result<u32, Error> {
        Ok(1)
    }
    fn open(&self, _ordinal: u32) -> Result<Arc<dyn BackendDevice>, Error> {
        open(SimConfig::default())
    }
}
pub(crate) fn open(config: SimConfig) -> Result<Arc<dyn BackendDevice>, Error> {
    config.validate()?;
    Err(Error::Unavailable { kind: DeviceKind::Sim, reason: "the simulator is not in this commit".into() })
}
