//! What there is: one CPU, and simulators that pass for GPUs.

use std::sync::atomic::AtomicUsize;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use offload::hsa::sys::{hsa_agent_t, hsa_status_t};
use offload::{Device, Queue, SimConfig};

/// The CPU's handle; GPUs follow.
pub(crate) const CPU: hsa_agent_t = hsa_agent_t { handle: 1 };

/// A GPU.
pub(crate) struct Gpu {
    pub(crate) agent: hsa_agent_t,
    pub(crate) device: Device,
    /// Whether the host can be allowed to reach its memory.
    pub(crate) host_reaches: bool,
    /// Ticks a second of its constant counter, if it says.
    pub(crate) counter_hz: Option<u64>,
    /// Queues of the simulator that run nothing at the moment.
    pub(crate) idle: Mutex<Vec<Queue>>,
    /// Kernels that run.
    pub(crate) running: AtomicUsize,
}

/// Everything.
pub(crate) struct World {
    pub(crate) gpus: Vec<Gpu>,
    start: Instant,
}

static WORLD: OnceLock<World> = OnceLock::new();

/// The variable that lists GPUs.
const VARIABLE: &str = "HSA_ON_SIM";
/// Begins the word that says at which rate a GPU's counter runs.
const COUNTER: &str = "counter=";
const DEFAULT: &str = ";nobar;lanes=64";
/// Ticks a second of the runtime's times: not nanoseconds, so that nobody takes one for the other.
pub(crate) const TIMESTAMP_HZ: u64 = 100_000_000;

/// Makes the world, once.
pub(crate) fn start() -> hsa_status_t {
    static MAKING: Mutex<()> = Mutex::new(());
    let _one_at_a_time = lock(&MAKING);
    if WORLD.get().is_some() {
        return hsa_status_t::SUCCESS;
    }
    let list = std::env::var(VARIABLE).unwrap_or_else(|_| DEFAULT.to_owned());
    let mut gpus = Vec::new();
    for text in list.split(';') {
        let (nobar, rest): (Vec<&str>, Vec<&str>) = text.split(',').map(str::trim).partition(|word| *word == "nobar");
        let (counter, rest): (Vec<&str>, Vec<&str>) = rest.into_iter().partition(|word| word.starts_with(COUNTER));
        let counter_hz = counter.first().map_or(Ok(TIMESTAMP_HZ), |word| word[COUNTER.len()..].parse());
        let Ok(counter_hz) = counter_hz else {
            eprintln!("hsa-on-sim: {VARIABLE}: `{text}`: `{COUNTER}` takes ticks a second, or 0 for a counter of which nothing is known");
            return hsa_status_t::OUT_OF_RESOURCES;
        };
        let opened = rest.join(",").parse::<SimConfig>().and_then(Device::sim);
        match opened {
            Ok(device) => gpus.push(Gpu {
                agent: hsa_agent_t { handle: 2 + gpus.len() as u64 },
                device,
                host_reaches: nobar.is_empty(),
                counter_hz: Some(counter_hz).filter(|&hz| hz > 0),
                idle: Mutex::default(),
                running: AtomicUsize::new(0),
            }),
            Err(error) => {
                eprintln!("hsa-on-sim: {VARIABLE}: `{text}`: {error}");
                return hsa_status_t::OUT_OF_RESOURCES;
            }
        }
    }
    WORLD.get_or_init(|| World { gpus, start: Instant::now() });
    hsa_status_t::SUCCESS
}

/// The world.
pub(crate) fn world() -> &'static World {
    WORLD.get().unwrap_or_else(|| crate::misuse("a function was called before hsa_init"))
}

impl World {
    pub(crate) fn gpu(&self, agent: hsa_agent_t) -> Option<&Gpu> {
        self.gpus.iter().find(|gpu| gpu.agent == agent)
    }

    /// The time, in ticks.
    pub(crate) fn ticks(&self) -> u64 {
        (self.start.elapsed().as_nanos() * u128::from(TIMESTAMP_HZ) / 1_000_000_000) as u64
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
