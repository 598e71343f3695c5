//! Where a server's threads run, and where the host's part of its port buffers lies.
//!
//! A serving thread polls memory that a device writes. On a machine of several NUMA nodes it should run on the node to
//! which the device is attached, and that memory should be of that node.

use std::fs;
use std::path::Path;
use std::str::FromStr;

use offload::DeviceInfo;

/// The variable that says where servers' threads run that were not told by their program: C's and Python's, too.
const VARIABLE: &str = "HOSTCALL_PLACEMENT";

/// Where the system tells of devices.
const DEVICES: &str = "/sys/bus/pci/devices";

/// Where the threads of a server run, and the memory lies that they poll.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Placement {
    /// Wherever the system puts them.
    Anywhere,
    /// On the processors of the NUMA node to which the device is attached, as far as this process may use them. Where
    /// those are all that it may use, or the system does not say which they are (the simulator, containers without
    /// `/sys`, systems other than Linux): anywhere, which the log tells at the level of `debug`.
    #[default]
    NearDevice,
    /// On the processors of this NUMA node, by its number in the system, as far as this process may use them. For
    /// measuring what the wrong node costs. With none that it may use, or no such node, the server does not start.
    Node(u32),
    /// On these processors, by their numbers in the system, as far as this process may use them. With none that it may
    /// use, the server does not start.
    Processors(Vec<usize>),
}

/// Processors on which threads run: at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place(Vec<usize>);

/// The processors that were asked for, none of which this process may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NoProcessor {
    pub(crate) asked: Vec<usize>,
    pub(crate) allowed: Vec<usize>,
}

/// A word that is no [`Placement`].
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no place for threads: write `anywhere`, `near`, `node:1`, or processors as `0-27,56`")]
pub struct ParsePlacementError {
    /// The word.
    pub text: String,
}

hostcall_error::readable!(ParsePlacementError);

/// `anywhere`, `near`, `node:N`, or processors as Linux writes such lists.
impl FromStr for Placement {
    type Err = ParsePlacementError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || ParsePlacementError { text: text.to_owned() };
        match (text, text.strip_prefix("node:")) {
            ("anywhere", _) => Ok(Self::Anywhere),
            ("near", _) => Ok(Self::NearDevice),
            (_, Some(node)) => node.parse().map(Self::Node).map_err(|_| wrong()),
            _ => parse(text).filter(|processors| !processors.is_empty()).map(Self::Processors).ok_or_else(wrong),
        }
    }
}

impl Placement {
    /// What the environment says: `HOSTCALL_PLACEMENT`, with the words of [`FromStr`]; near the device without it.
    pub(crate) fn of_environment() -> Result<Self, ParsePlacementError> {
        match std::env::var_os(VARIABLE).filter(|value| !value.is_empty()) {
            Some(value) => value.to_string_lossy().parse(),
            None => Ok(Self::default()),
        }
    }

    /// The processors that [`Placement::NearDevice`] means for a device, for people: `0-27,56-83, NUMA node 0`. `None`:
    /// the system does not say.
    pub fn near(device: &DeviceInfo) -> Option<String> {
        let processors = near(device)?.list();
        Some(numa_node(device).map_or_else(|| processors.clone(), |node| format!("{processors}, NUMA node {node}")))
    }

    /// The processors; `None`: anywhere.
    pub(crate) fn find(&self, device: Option<&DeviceInfo>) -> Result<Option<Place>, NoProcessor> {
        match self {
            Self::Anywhere => Ok(None),
            Self::NearDevice => {
                let place = device.and_then(near).filter(|place| place.is_a_part_of(system::allowed().as_deref()));
                match &place {
                    Some(place) => tracing::debug!(processors = place.list(), "serving threads run near their device"),
                    None => tracing::debug!("all processors are near the device, or nobody says which: serving threads run anywhere"),
                }
                Ok(place)
            }
            Self::Node(node) => {
                let list = fs::read_to_string(format!("/sys/devices/system/node/node{node}/cpulist")).ok();
                Self::Processors(list.and_then(|list| parse(&list)).unwrap_or_default()).find(device)
            }
            Self::Processors(asked) => {
                let allowed = system::allowed().unwrap_or_else(|| asked.clone());
                let place = common(asked, &allowed);
                place.map(Some).ok_or_else(|| NoProcessor { asked: asked.clone(), allowed })
            }
        }
    }
}

/// The processors of the device's NUMA node that this process may use.
fn near(device: &DeviceInfo) -> Option<Place> {
    near_in(Path::new(DEVICES), device)
}

/// The same, where `devices` has a folder for each.
fn near_in(devices: &Path, device: &DeviceInfo) -> Option<Place> {
    let directory = devices.join(device.pci_bus_id.as_ref()?);
    let list = fs::read_to_string(directory.join("local_cpulist")).ok()?;
    common(&parse(&list)?, &system::allowed()?)
}

/// The device's NUMA node; `None`: the system does not say, or has but one.
fn numa_node(device: &DeviceInfo) -> Option<u32> {
    let file = Path::new(DEVICES).join(device.pci_bus_id.as_ref()?).join("numa_node");
    // -1: none.
    fs::read_to_string(file).ok()?.trim().parse().ok()
}

fn common(asked: &[usize], allowed: &[usize]) -> Option<Place> {
    let both: Vec<usize> = allowed.iter().copied().filter(|processor| asked.contains(processor)).collect();
    (!both.is_empty()).then_some(Place(both))
}

/// A list as Linux writes it, `0-27,56-83`.
fn parse(list: &str) -> Option<Vec<usize>> {
    /// More processors than any machine has.
    const MOST: usize = 1 << 16;
    let mut all = Vec::new();
    for part in list.trim().split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (first.trim().parse::<usize>().ok()?, last.trim().parse::<usize>().ok()?);
        if last >= MOST {
            return None;
        }
        all.extend(first..=last);
    }
    Some(all)
}

impl Place {
    /// Whether it is not all of these, where anybody knows them.
    fn is_a_part_of(&self, allowed: Option<&[usize]>) -> bool {
        allowed.is_some_and(|allowed| allowed != self.0)
    }

    /// The calling thread, and those that it starts, run there from now on. If the system does not allow it (any more)
    /// they run where they did.
    pub(crate) fn enter(&self) {
        if let Err(error) = system::enter(&self.0) {
            tracing::debug!(processors = ?self.0, %error, "a serving thread stays where it is");
        }
    }

    /// Runs `work` there: memory that it touches first is of that node.
    pub(crate) fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        let there = || {
            self.enter();
            work()
        };
        std::thread::scope(|scope| match scope.spawn(there).join() {
            Ok(value) => value,
            Err(panic) => std::panic::resume_unwind(panic),
        })
    }

    /// As Linux writes such lists.
    fn list(&self) -> String {
        let mut parts: Vec<(usize, usize)> = Vec::new();
        for &processor in &self.0 {
            match parts.last_mut() {
                Some((_, last)) if *last + 1 == processor => *last = processor,
                _ => parts.push((processor, processor)),
            }
        }
        let part = |&(first, last): &(usize, usize)| if first == last { first.to_string() } else { format!("{first}-{last}") };
        parts.iter().map(part).collect::<Vec<_>>().join(",")
    }
}

/// Processors that a thread may run on.
#[cfg(target_os = "linux")]
mod system {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

    /// In ascending order. `None`: the system has more than we can name, or does not say.
    pub(super) fn allowed() -> Option<Vec<usize>> {
        let set = sched_getaffinity(None).ok()?;
        Some((0..CpuSet::MAX_CPU).filter(|&processor| set.is_set(processor)).collect())
    }

    pub(super) fn enter(processors: &[usize]) -> std::io::Result<()> {
        let mut set = CpuSet::new();
        processors.iter().filter(|&&processor| processor < CpuSet::MAX_CPU).for_each(|&processor| set.set(processor));
        Ok(sched_setaffinity(None, &set)?)
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    pub(super) fn allowed() -> Option<Vec<usize>> {
        None
    }

    pub(super) fn enter(_: &[usize]) -> std::io::Result<()> {
        Err(std::io::ErrorKind::Unsupported.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_processors_is_read_as_it_is_written() {
        for list in ["0", "0-27,56-83", "1,3,5-6"] {
            assert_eq!(Place(parse(list).unwrap()).list(), list);
        }
        assert_eq!(parse("\n"), Some(Vec::new()));
        for junk in ["-", "1-", "a", "0-99999999999", "-1"] {
            assert_eq!(parse(junk), None, "{junk}");
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn threads_run_where_they_were_told_to_and_so_do_those_that_they_start() {
        let all = system::allowed().unwrap();
        let last = *all.last().unwrap();
        let place = Placement::Processors(vec![last, 1 << 20]).find(None).unwrap().unwrap();
        assert_eq!(place, Place(vec![last]));
        let seen = place.run(|| (system::allowed(), std::thread::spawn(system::allowed).join().unwrap()));
        assert_eq!(seen, (Some(vec![last]), Some(vec![last])));
        assert_eq!(system::allowed(), Some(all), "the caller stays where it was");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_node_is_its_processors() {
        if !Path::new("/sys/devices/system/node/node0").exists() {
            println!("skipped: this system does not say its NUMA nodes");
            return;
        }
        let nodes = (0..1024).filter(|node| Path::new(&format!("/sys/devices/system/node/node{node}")).exists());
        let found = nodes.filter_map(|node| Placement::Node(node).find(None).ok()?).flat_map(|place| place.0);
        // Each processor is of one node.
        let mut found: Vec<usize> = found.collect();
        found.sort_unstable();
        assert_eq!(Some(found), system::allowed());
        assert!(Placement::Node(1 << 20).find(None).unwrap_err().asked.is_empty());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn near_a_device_is_where_the_system_says() {
        let all = system::allowed().unwrap();
        let first = all[0];
        let devices = tempfile::tempdir().unwrap();
        let mut info = offload::Device::sim(Default::default()).unwrap().info().clone();
        assert_eq!(near_in(devices.path(), &info), None, "the simulator is nowhere");
        info.pci_bus_id = Some("0000:1b:00.0".to_owned());
        assert_eq!(near_in(devices.path(), &info), None, "the system does not know it");
        let folder = devices.path().join("0000:1b:00.0");
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("local_cpulist"), format!("{first},{}\n", 1 << 15)).unwrap();
        assert_eq!(near_in(devices.path(), &info), Some(Place(vec![first])), "as far as this process may use them");
        fs::write(folder.join("local_cpulist"), format!("{}\n", 1 << 15)).unwrap();
        assert_eq!(near_in(devices.path(), &info), None, "none of them is this process's");
        assert!(Place(vec![1]).is_a_part_of(Some(&[1, 2])) && !Place(vec![1, 2]).is_a_part_of(Some(&[1, 2])));
        assert!(!Place(vec![1]).is_a_part_of(None));
    }

    #[test]
    fn a_placement_is_read_from_words() {
        for (text, placement) in [
            ("anywhere", Placement::Anywhere),
            ("near", Placement::NearDevice),
            ("node:1", Placement::Node(1)),
            ("0-2,5", Placement::Processors(vec![0, 1, 2, 5])),
        ] {
            assert_eq!(text.parse(), Ok(placement));
        }
        for junk in ["", "far", "node:", "node:x", ","] {
            assert_eq!(junk.parse::<Placement>(), Err(ParsePlacementError { text: junk.to_owned() }));
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn processors_that_are_not_to_be_had_are_refused() {
        let refused = Placement::Processors(vec![1 << 20]).find(None).unwrap_err();
        assert_eq!((refused.asked, Some(refused.allowed)), (vec![1 << 20], system::allowed()));
        assert_eq!(Placement::NearDevice.find(None), Ok(None));
    }
}
