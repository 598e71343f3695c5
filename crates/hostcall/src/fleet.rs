//! Several devices of one process that run the same programs with the same services.
//!
//! Each device has a server of its own: a thread that polled the memory of two devices would poll two NUMA nodes, and a
//! device that is lost takes no other device's server with it. What they share is the services, whose handlers
//! therefore run on the threads of all servers at once: a lock in a handler is one lock for all devices.
//!
//! ```
//! use hostcall::Fleet;
//! use offload::Device;
//!
//! # #[hostcall::service]
//! # pub trait Host { fn add42(x: f32) -> f32; }
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let devices = Device::open_all("sim*2")?; // or `all`, `cuda`, `cuda:0,1`
//! let fleet = Fleet::builder(devices).service(host::add42(|x| x + 42.0)).start()?;
//! let queues = fleet.queues()?;
//! for (member, queue) in fleet.members().zip(&queues) {
//!     // member.device().load(…), member.server().attach(…), queue.launch(…)
//! #   let _ = (member, queue);
//! }
//! fleet.wait(&queues)?;
//! print!("{}", fleet.stats());
//! # Ok(())
//! # }
//! ```

use std::fmt;
use std::sync::mpsc;
use std::time::Duration;

use offload::host::StackSize;
use offload::{Device, Queue};

use crate::rank::Rank;
use crate::record::stats::{ServiceStats, Stats};
use crate::{Placement, Server, ServerBuilder, ServerError, Service, WaitError};

/// How a server of the fleet is set up beside what all have in common.
type Setup<'a> = Box<dyn FnMut(&Rank, ServerBuilder) -> Result<ServerBuilder, Box<dyn std::error::Error + Send + Sync>> + 'a>;

/// How a fleet is set up. See [`Fleet::builder`].
#[must_use = "nothing is served until `start`"]
pub struct FleetBuilder<'a> {
    devices: Vec<Device>,
    services: Vec<Service>,
    threads: Option<usize>,
    placement: Placement,
    setup: Option<Setup<'a>>,
}

impl fmt::Debug for FleetBuilder<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { devices, services, threads, placement, setup: _ } = self;
        let devices: Vec<_> = devices.iter().map(|device| &device.info().name).collect();
        f.debug_struct("FleetBuilder")
            .field("devices", &devices)
            .field("services", services)
            .field("threads", threads)
            .field("placement", placement)
            .finish_non_exhaustive()
    }
}

/// Why a fleet did not start.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum FleetError {
    /// There was no device.
    #[error("a fleet of no devices: give it at least one")]
    Empty,
    /// A server did not start.
    #[error("device {rank} ({device}): {source}")]
    Server {
        /// Its place in the fleet.
        rank: u32,
        /// Its name.
        device: String,
        /// Why not.
        source: Box<ServerError>,
    },
    /// What [`FleetBuilder::each`] was given failed.
    #[error("device {rank} ({device}): {source}")]
    Setup {
        /// Its place in the fleet.
        rank: u32,
        /// Its name.
        device: String,
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

hostcall_error::readable!(FleetError);

impl<'a> FleetBuilder<'a> {
    /// Registers a service with each server.
    pub fn service(mut self, service: Service) -> Self {
        self.services.push(service);
        self
    }

    /// Registers services with each server.
    pub fn services(mut self, services: impl IntoIterator<Item = Service>) -> Self {
        self.services.extend(services);
        self
    }

    /// Serving threads of all servers together, divided among them; each has at least one. Default: half of the
    /// processors, at least one and at most four for each device.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// Where serving threads run. Default: [`Placement::NearDevice`].
    pub fn placement(mut self, placement: Placement) -> Self {
        self.placement = placement;
        self
    }

    /// Sets up each server: called once for each device, in their order, with its rank in the fleet.
    pub fn each(
        mut self,
        setup: impl FnMut(&Rank, ServerBuilder) -> Result<ServerBuilder, Box<dyn std::error::Error + Send + Sync>> + 'a,
    ) -> Self {
        self.setup = Some(Box::new(setup));
        self
    }

    /// Starts a server for each device.
    ///
    /// # Errors
    /// When there is no device, what [`FleetBuilder::each`] was given fails, or a server does not start.
    pub fn start(self) -> Result<Fleet, FleetError> {
        let Self { devices, services, threads, placement, mut setup } = self;
        if devices.is_empty() {
            return Err(FleetError::Empty);
        }
        let shares = shares(threads.unwrap_or_else(|| default_threads(devices.len())), devices.len());
        let world = u32::try_from(devices.len()).unwrap_or(u32::MAX);
        let mut members = Vec::with_capacity(devices.len());
        for (rank, (device, threads)) in (0..).zip(devices.into_iter().zip(shares)) {
            let rank = Rank { rank, world, local: rank };
            let name = || device.info().name.clone();
            let mut builder = rank.grant(Server::builder(&device)).threads(threads).placement(placement.clone());
            builder = builder.services(services.iter().cloned());
            if let Some(setup) = &mut setup {
                builder = setup(&rank, builder).map_err(|source| FleetError::Setup { rank: rank.rank, device: name(), source })?;
            }
            let server =
                builder.start().map_err(|source| FleetError::Server { rank: rank.rank, device: name(), source: Box::new(source) })?;
            members.push(Member { rank, device, server });
        }
        Ok(Fleet { members })
    }
}

fn default_threads(devices: usize) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    (cores / 2).clamp(1, 4 * devices)
}

/// `threads` divided among `devices`: each at least one, the first ones one more where it does not come out even.
fn shares(threads: usize, devices: usize) -> impl Iterator<Item = usize> {
    (0..devices).map(move |device| (threads / devices + usize::from(device < threads % devices)).max(1))
}

/// Several devices, each with a server; all have the same services.
#[derive(Debug)]
pub struct Fleet {
    members: Vec<Member>,
}

/// A device of a fleet, and its server.
#[derive(Debug)]
pub struct Member {
    rank: Rank,
    device: Device,
    server: Server,
}

impl Member {
    /// Its place in the fleet: what `hostcall::rank()` is in its kernels.
    pub fn rank(&self) -> Rank {
        self.rank
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Its server, which programs of this device are attached to.
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// What it is called in reports: its rank, kind and number, `2: cuda:2`.
    pub fn label(&self) -> String {
        let info = self.device.info();
        let kind = match info.kind {
            offload::DeviceKind::Sim => "sim".to_owned(),
            offload::DeviceKind::Cuda => format!("cuda:{}", info.ordinal),
            offload::DeviceKind::Hsa => format!("hsa:{}", info.ordinal),
            other => other.to_string(),
        };
        format!("{}: {kind}", self.rank.rank)
    }
}

impl Fleet {
    /// A fleet of these devices; their places in it are their ranks.
    pub fn builder<'a>(devices: impl IntoIterator<Item = Device>) -> FleetBuilder<'a> {
        FleetBuilder {
            devices: devices.into_iter().collect(),
            services: Vec::new(),
            threads: None,
            placement: Placement::NearDevice,
            setup: None,
        }
    }

    /// How many devices there are.
    #[expect(clippy::len_without_is_empty, reason = "there is none without a device")]
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// All devices with their servers, by rank.
    pub fn members(&self) -> std::slice::Iter<'_, Member> {
        self.members.iter()
    }

    /// The server of a device.
    ///
    /// # Panics
    /// When there are not as many devices.
    pub fn server(&self, rank: usize) -> &Server {
        &self.members[rank].server
    }

    /// A new queue for each device.
    ///
    /// # Errors
    /// When a driver or the system has none.
    pub fn queues(&self) -> Result<Vec<Queue>, offload::Error> {
        self.members().map(|member| member.device.queue()).collect()
    }

    /// Waits until the kernels in all queues have ended and every call that they posted has been handled, one queue for
    /// each device, in their order. All are waited for, whatever becomes of one of them; [`Fleet::wait_each`] tells of
    /// each when it has ended.
    ///
    /// # Errors
    /// What [`Server::wait`] says of those that failed. The others are as if they had been waited for alone.
    ///
    /// # Panics
    /// When there are not as many queues as devices.
    pub fn wait<'a>(&self, queues: impl IntoIterator<Item = &'a Queue>) -> Result<(), FleetWaitError> {
        self.wait_each(queues, |_, _| {})
    }

    /// As [`Fleet::wait`], and calls `ended` for each device as soon as it has ended, in the order in which they do,
    /// with what [`Server::wait`] says.
    ///
    /// # Errors
    /// As [`Fleet::wait`].
    ///
    /// # Panics
    /// As [`Fleet::wait`].
    pub fn wait_each<'a>(
        &self,
        queues: impl IntoIterator<Item = &'a Queue>,
        ended: impl FnMut(&Member, Result<(), &WaitError>),
    ) -> Result<(), FleetWaitError> {
        self.each_queue(queues, ended, |member, queue| member.server.wait(queue))
    }

    /// As [`Fleet::wait`], but gives up after `limit`, which is one for all.
    ///
    /// # Errors
    /// What [`Server::wait_timeout`] says of those that failed or are not done.
    ///
    /// # Panics
    /// As [`Fleet::wait`].
    pub fn wait_timeout<'a>(&self, queues: impl IntoIterator<Item = &'a Queue>, limit: Duration) -> Result<(), FleetWaitError> {
        self.each_queue(queues, |_, _| {}, |member, queue| member.server.wait_timeout(queue, limit))
    }

    fn each_queue<'a>(
        &self,
        queues: impl IntoIterator<Item = &'a Queue>,
        mut ended: impl FnMut(&Member, Result<(), &WaitError>),
        wait: impl Fn(&Member, &Queue) -> Result<(), WaitError> + Sync,
    ) -> Result<(), FleetWaitError> {
        let queues: Vec<&Queue> = queues.into_iter().collect();
        assert_eq!(queues.len(), self.len(), "a fleet is waited for with one queue for each device");
        let mut failures = Vec::new();
        std::thread::scope(|scope| {
            let (tell, told) = mpsc::channel();
            for (member, queue) in self.members().zip(queues) {
                let one = |tell: mpsc::Sender<_>| {
                    let wait = &wait;
                    // The other end is there until all have told.
                    move || _ = tell.send((member, wait(member, queue)))
                };
                let name = format!("hostcall-wait-{}", member.rank.rank);
                // (A subscriber of `tracing` may be the user's.)
                if offload::host::builder(name, StackSize::default()).spawn_scoped(scope, one(tell.clone())).is_err() {
                    // The system has no thread left: in turn, then.
                    one(tell.clone())();
                }
            }
            drop(tell);
            for (member, result) in told {
                ended(member, result.as_ref().copied());
                failures.extend(result.err().map(|error| FleetFailure { rank: member.rank.rank, device: member.label(), error }));
            }
        });
        failures.sort_by_key(|failure| failure.rank);
        if failures.is_empty() { Ok(()) } else { Err(FleetWaitError { failures }) }
    }

    /// What was called how often on each device.
    pub fn stats(&self) -> FleetStats {
        FleetStats { devices: self.members().map(|member| (member.label(), member.server.stats())).collect() }
    }
}

/// What a wait for a fleet is no success for: those that failed, at least one.
pub struct FleetWaitError {
    /// By rank.
    pub failures: Vec<FleetFailure>,
}

hostcall_error::readable!(FleetWaitError);

/// A device of a fleet whose kernels, handlers or driver failed.
#[derive(Debug)]
pub struct FleetFailure {
    /// Its place in the fleet.
    pub rank: u32,
    /// What it is called in reports.
    pub device: String,
    /// What its server says.
    pub error: WaitError,
}

impl fmt::Display for FleetWaitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, FleetFailure { device, error, .. }) in self.failures.iter().enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            write!(f, "device {device}: {error}")?;
        }
        Ok(())
    }
}

impl std::error::Error for FleetWaitError {}

/// Counts of all servers of a fleet. Displays as a table with the devices in a column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FleetStats {
    /// What each device is called, and what its kernels called; by rank.
    pub devices: Vec<(String, Stats)>,
}

impl FleetStats {
    /// The counts of one service on all devices together; `None`: no server has it. Times are not put together.
    pub fn service(&self, name: &str) -> Option<ServiceStats> {
        let mut all = self.devices.iter().filter_map(|(_, stats)| stats.service(name));
        let first = all.next()?.clone();
        let add = |sum: ServiceStats, one: &ServiceStats| ServiceStats {
            messages: sum.messages + one.messages,
            calls: sum.calls + one.calls,
            failed: sum.failed + one.failed,
            bytes_in: sum.bytes_in + one.bytes_in,
            bytes_out: sum.bytes_out + one.bytes_out,
            ..sum
        };
        Some(all.fold(ServiceStats { latency: None, ..first }, add))
    }

    /// Without services that nobody called.
    #[must_use]
    pub fn called(mut self) -> Self {
        self.devices.iter_mut().for_each(|(_, stats)| stats.services.retain(|service| service.messages > 0));
        self
    }
}

impl fmt::Display for FleetStats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.devices.iter().map(|(device, _)| device.len()).max().unwrap_or(0).max("device".len());
        let names = self.devices.iter().map(|(_, stats)| stats.name_width()).max().unwrap_or(0);
        writeln!(f, "{:width$} {}", "device", Stats::heading(names))?;
        let mut rows = self.devices.iter().flat_map(|(device, stats)| stats.services.iter().map(move |service| (device, service)));
        rows.try_for_each(|(device, service)| writeln!(f, "{device:width$} {}", service.line(names)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_divided_and_each_device_has_one() {
        let divided = |threads, devices| shares(threads, devices).collect::<Vec<_>>();
        assert_eq!(divided(4, 2), [2, 2]);
        assert_eq!(divided(7, 3), [3, 2, 2]);
        assert_eq!(divided(1, 4), [1, 1, 1, 1]);
        assert!((1..=8).contains(&default_threads(2)));
    }
}
