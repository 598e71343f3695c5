//! What a run is given: a device, memory, and grants. The same for kernels and for programs.

use std::ffi::{OsStr, OsString};
use std::io::IsTerminal as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::builder::{OsStringValueParser, TypedValueParser as _};

use hostcall::{DirGrant, GrantError, NetGrant, Rank, ServerBuilder};
use hostcall_build::Instrument;
use hostcall_stream::{NamedFilter, Policy};
use offload::{Device, DeviceKind, Error, Program, ProgramBundle};

use crate::stream::receiver::{Receiver, Wanted};
use crate::stream::target::{Target, TargetError};
use crate::{device, values};

/// Where to run, with what, and what may be reached from there.
#[derive(clap::Args, Clone, Debug, Default)]
#[command(group(clap::ArgGroup::new("messages").multiple(true).args(["streams", "instrument"])))]
pub(crate) struct Options {
    /// The device: sim, sim:SETTINGS, cuda, cuda:N, or rank, this process's share of the GPUs if mpirun, srun or the
    /// like has started it [default: the first CUDA device, else the simulator]
    #[arg(long, value_name = "D", overrides_with = "device")]
    pub(crate) device: Option<String>,
    /// Several devices, on each of which the program runs, all at once: all, cuda, cuda:0,1, sim*4. Each knows its
    /// number by HOSTCALL_RANK
    #[arg(long, value_name = "LIST", conflicts_with = "device")]
    pub(crate) devices: Option<String>,
    /// Run each of --devices in a process of its own: a GPU that faults takes all GPUs of its process with it
    #[arg(long, requires = "devices")]
    pub(crate) isolated: bool,
    /// Grant a directory, under the name GUEST, read-only with `:ro`, with its FIFOs and devices with `:special`
    #[arg(long = "dir", value_name = "HOST[::GUEST][:ro][:special]", value_parser = OsStringValueParser::new().try_map(|text| DirGrant::parse(&text)))]
    pub(crate) dirs: Vec<DirGrant>,
    /// Directory, by its name GUEST, in which the program starts [default: /]
    #[arg(long, value_name = "GUEST")]
    pub(crate) cwd: Option<OsString>,
    /// What the program finds as its own name, argument 0: programs that are many choose by it which to be [default:
    /// the image's path]
    #[arg(long, value_name = "NAME")]
    pub(crate) argv0: Option<OsString>,
    /// Grant an environment variable, with this value or with its value on this machine
    #[arg(long = "env", value_name = "K[=V]")]
    pub(crate) variables: Vec<OsString>,
    /// Grant the whole network
    #[arg(long)]
    pub(crate) net: bool,
    /// Grant a place in the network; * stands for any host or port. A name grants the public addresses that it resolves
    /// to. +loopback, +private, +link-local, +unspecified, +multicast or +any behind the port grants others (localhost
    /// needs none)
    #[arg(long, value_name = "HOST:PORT[+RANGE…]")]
    pub(crate) net_allow: Vec<NetGrant>,
    /// Grant commands of this machine's shell, which C's `system` runs: all that you may do
    #[arg(long)]
    pub(crate) commands: bool,
    /// Device memory for the heap, in bytes, or with k, m or g [default: 64m for a kernel, 256m for a program]
    #[arg(long, value_name = "BYTES", value_parser = values::size)]
    pub(crate) heap: Option<usize>,
    /// Stack of each thread, in bytes, or with k, m or g [default: 1m]
    #[arg(long, value_name = "BYTES", value_parser = values::size)]
    pub(crate) stack: Option<usize>,
    /// Number of ports: waves that can be in a call at once [default: as many as the device can run at once]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) ports: Option<u32>,
    /// Print at the end how often each service was called, and how long its calls took
    #[arg(long)]
    pub(crate) stats: bool,
    /// Write a trace of all calls, for Chrome's and Perfetto's viewers. In the name, and in those of --stream, %r is
    /// the rank, and %% a %
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
    /// Where the messages go that the program sends through streams: a recording, FILE.hcs, which `cargo hostcall
    /// stream` reads; in builds with the features for it also parquet://DIR, arrow://DIR, perfetto://FILE,
    /// s3://BUCKET/PATH, file:///DIR and nats://HOST/PREFIX. May be given several times
    #[arg(long = "stream", value_name = "TARGET", value_parser = OsStringValueParser::new().try_map(|text| Target::parse(&text)))]
    pub(crate) streams: Vec<Target>,
    /// Which messages of a stream are wanted: `NAME: groups=0..8, group.x=0, waves=0..2, lanes=0xff, lane.y=0..4,
    /// rate=1/64`, some of these, or `NAME: none`. May be given for several streams
    #[arg(long, value_name = "FILTER", requires = "messages", value_parser = filter)]
    pub(crate) stream_filter: Vec<NamedFilter>,
    /// What messages do when their ring is full, whatever their definition says: block, drop, wait, sample
    #[arg(long, value_name = "POLICY", requires = "messages", value_parser = policy)]
    pub(crate) stream_policy: Option<Policy>,
    /// Memory of the host for messages on their way, in bytes, or with k, m or g [default: 64m, and 2m in the
    /// simulator]
    #[arg(long, value_name = "BYTES", requires = "messages", value_parser = values::size)]
    pub(crate) stream_memory: Option<usize>,
    /// Have kernels tell of what they do, though their source says nothing of it, and print what that comes to by
    /// kernel and line: access, blocks, loops, barriers, some of these, and kernel=NAME for kernels that are meant
    /// [default: all]. The program is built apart from others
    #[arg(long, value_name = "LIST")]
    pub(crate) instrument: Option<Instrument>,
    /// End the run after this many seconds; each test has this time for itself
    #[arg(long, value_name = "S", value_parser = values::seconds)]
    pub(crate) timeout: Option<Duration>,
    /// What programs are told of others that run beside them.
    #[arg(skip)]
    pub(crate) rank: Option<Rank>,
}

impl Options {
    /// Gives the server what was granted, and `heap` bytes where nothing else was said.
    pub(crate) fn apply(&self, mut builder: ServerBuilder, heap: usize) -> Result<ServerBuilder, String> {
        // The driver takes half a second to open a process's first window, longer than most programs run. Who wants one
        // says so.
        let window = std::env::var_os("HOSTCALL_WINDOW").is_some_and(|value| !value.is_empty());
        builder = builder.heap(self.heap.unwrap_or(heap)).stats(self.stats).window(window);
        for grant in &self.dirs {
            builder = builder.grant(grant).map_err(|error: GrantError| error.to_string())?;
        }
        if let Some(cwd) = &self.cwd {
            builder = builder.current_dir(cwd);
        }
        for variable in &self.variables {
            let (name, value) = named(variable)?;
            builder = builder.env(name, value);
        }
        if self.net {
            builder = builder.net();
        }
        if self.commands {
            builder = builder.commands();
        }
        for grant in &self.net_allow {
            builder = builder.net_allow(grant.clone());
        }
        if let Some(ports) = self.ports {
            builder = builder.ports(ports);
        }
        if let Some(path) = &self.trace {
            builder = builder.trace(path);
        }
        // What the user says of them goes before.
        let is_said = |name: &str| self.variables.iter().any(|variable| named(variable).is_ok_and(|(said, _)| said == name));
        for (name, value) in of_terminal().filter(|(name, _)| !is_said(name)) {
            builder = builder.env(name, value);
        }
        match self.rank {
            Some(rank) if ![hostcall::rank::RANK, hostcall::rank::WORLD_SIZE].into_iter().any(is_said) => Ok(rank.grant(builder)),
            _ => Ok(builder),
        }
    }

    /// The argument 0 of the program of this image.
    pub(crate) fn name<'a>(&'a self, image: &'a Path) -> &'a OsStr {
        self.argv0.as_deref().unwrap_or(image.as_os_str())
    }

    /// The options with the device that belongs to this process, if that is what was asked for.
    pub(crate) fn of_process(&self) -> Result<Self, Box<dyn std::error::Error>> {
        if self.device.as_deref() != Some("rank") {
            return Ok(self.clone());
        }
        let rank = Rank::from_env().map_err(|error| format!("--device rank: {error}"))?;
        let all = Device::list("all")?;
        let mine = rank.device(u32::try_from(all.len()).unwrap_or(u32::MAX)) as usize;
        Ok(self.one_of("all", &all[mine]))
    }

    /// The options of one of several runs: file names with its rank, which its program is told. `None`: it is the only
    /// one.
    pub(crate) fn of_rank(&self, rank: Option<Rank>) -> Result<Self, TargetError> {
        let named = rank.unwrap_or(Rank::ALONE);
        let target = |target: &Target| Target::parse(&named.put_into(target.to_argument()));
        Ok(Self {
            trace: self.trace.as_ref().map(|path| named.put_into(path).into()),
            streams: self.streams.iter().map(target).collect::<Result<_, _>>()?,
            rank,
            ..self.clone()
        })
    }

    /// The same for a device of a list.
    pub(crate) fn one_of(&self, list: &str, device: &str) -> Self {
        Self { device: device::one_of(list, device).map(str::to_owned), devices: None, isolated: false, ..self.clone() }
    }

    /// What each of several runs would write over the others' files.
    pub(crate) fn check_names(&self) -> Result<(), String> {
        let [one, other] = [0, 1].map(|rank| Rank { rank, world: 2, local: rank });
        let targets = self.streams.iter().map(|target| ("--stream", target.to_argument()));
        let trace = self.trace.iter().map(|path| ("--trace", path.clone().into_os_string()));
        match targets.chain(trace).find(|(_, name)| one.put_into(name) == other.put_into(name)) {
            Some((option, name)) => {
                Err(format!("{option} {}: several devices would write it; put %r into the name, which becomes the rank", name.display()))
            }
            None => Ok(()),
        }
    }

    /// What receives the program's messages, if they are wanted.
    pub(crate) fn receiver(&self, device: &Device, program: &Program) -> Result<Option<Receiver>, Box<dyn std::error::Error>> {
        let wanted = Wanted {
            targets: &self.streams,
            instrument: self.instrument.as_ref(),
            filters: &self.stream_filter,
            policy: self.stream_policy,
            memory: self.stream_memory,
            // As for the server.
            window: std::env::var_os("HOSTCALL_WINDOW").is_some_and(|value| !value.is_empty()),
        };
        Receiver::start(&wanted, device, program)
    }

    /// Opens the device, and why it is this one. `room` is how many waves a program wants at once, and how large their
    /// stacks are if nothing else was said: the simulator becomes as large as that.
    pub(crate) fn open(&self, bundle: &ProgramBundle, room: Room) -> Result<(Device, String), Error> {
        let simulator = match self.device.as_deref() {
            Some(spec) => spec.split_once(':').map_or(spec == "sim", |(kind, _)| kind == "sim").then(|| spec.to_owned()),
            None => None,
        };
        let sim = |spec: &str| Device::open(&room.simulator(spec, self.stack, self.heap));
        if let Some(spec) = simulator {
            return Ok((sim(&spec)?, format!("because of --device {spec}")));
        }
        let (device, why) = device::open(self.device.as_deref(), Some(bundle))?;
        match device.info().kind {
            DeviceKind::Sim => Ok((sim("sim")?, why)),
            _ => Ok((device, why)),
        }
    }

    /// The same options as arguments, for another process. Paths become absolute: cargo starts tests in the directory
    /// of their package.
    pub(crate) fn to_arguments(&self) -> Vec<OsString> {
        let mut all: Vec<OsString> = Vec::new();
        let mut add = |name: &str, value: OsString| all.extend([name.into(), value]);
        if let Some(device) = &self.device {
            add("--device", device.into());
        }
        if let Some(devices) = &self.devices {
            add("--devices", devices.into());
        }
        for DirGrant { host, guest, access, special } in &self.dirs {
            let access = if *access == hostcall::Access::ReadOnly { ":ro" } else { ":rw" };
            let special = if *special { ":special" } else { "" };
            let host = absolute(host);
            let parts: [&OsStr; 5] = [host.as_ref(), "::".as_ref(), guest, access.as_ref(), special.as_ref()];
            add("--dir", parts.into_iter().collect());
        }
        if let Some(cwd) = &self.cwd {
            add("--cwd", cwd.clone());
        }
        if let Some(name) = &self.argv0 {
            add("--argv0", name.clone());
        }
        for variable in &self.variables {
            add("--env", variable.clone());
        }
        for grant in &self.net_allow {
            add("--net-allow", grant.to_string().into());
        }
        for target in &self.streams {
            add("--stream", target.to_argument());
        }
        if let Some(wanted) = &self.instrument {
            add("--instrument", wanted.to_string().into());
        }
        for filter in &self.stream_filter {
            add("--stream-filter", filter.to_string().into());
        }
        if let Some(policy) = self.stream_policy {
            add("--stream-policy", policy.name().into());
        }
        for (name, size) in [("--heap", self.heap), ("--stack", self.stack), ("--stream-memory", self.stream_memory)] {
            if let Some(size) = size {
                add(name, size.to_string().into());
            }
        }
        if let Some(ports) = self.ports {
            add("--ports", ports.to_string().into());
        }
        if let Some(trace) = &self.trace {
            add("--trace", absolute(trace).into());
        }
        if let Some(timeout) = self.timeout {
            add("--timeout", timeout.as_secs_f64().to_string().into());
        }
        for (name, set) in [("--isolated", self.isolated), ("--net", self.net), ("--commands", self.commands), ("--stats", self.stats)] {
            if set {
                all.push(name.into());
            }
        }
        all
    }
}

/// A variable with its value, which is here if it is not said: bytes, both.
fn named(variable: &OsStr) -> Result<(&OsStr, OsString), String> {
    let bytes = variable.as_bytes();
    match bytes.iter().position(|byte| *byte == b'=') {
        Some(at) => Ok((OsStr::from_bytes(&bytes[..at]), OsStr::from_bytes(&bytes[at + 1..]).to_owned())),
        None => {
            let value =
                std::env::var_os(variable).ok_or_else(|| format!("--env {}: environment variable not found", variable.display()))?;
            Ok((variable, value))
        }
    }
}

/// What programs look at before they write colours: whether the terminal has them, and whether its user wants them.
const OF_TERMINAL: [&str; 6] = ["TERM", "COLORTERM", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "FORCE_COLOR"];

/// The variables of [`OF_TERMINAL`], if a program here writes to a terminal: without them it cannot know what that can
/// show.
fn of_terminal() -> impl Iterator<Item = (&'static str, OsString)> {
    let is_terminal = std::io::stdout().is_terminal() || std::io::stderr().is_terminal();
    OF_TERMINAL.into_iter().filter(move |_| is_terminal).filter_map(|name| Some((name, std::env::var_os(name)?)))
}

/// A filter of a stream, as it is written.
pub(crate) fn filter(text: &str) -> Result<NamedFilter, hostcall_stream::ParseFilterError> {
    text.parse()
}

pub(crate) fn policy(name: &str) -> Result<Policy, String> {
    let known = || Policy::CHOICES.map(Policy::name).join(", ");
    Policy::CHOICES.into_iter().find(|policy| policy.name() == name).ok_or_else(|| format!("there are {}", known()))
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf())
}

/// What a program wants of a device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    /// Waves that must be able to run at once; 0: no matter.
    pub(crate) waves: u32,
    /// Stack of a thread, if nothing is said.
    pub(crate) stack: usize,
}

impl Room {
    /// Waves of an SM of the simulator, unless its settings say otherwise.
    const WAVES_PER_SM: u32 = 16;
    /// The most of both that it can have.
    const MOST_SMS: u32 = 1024;
    const MOST_WAVES_PER_SM: u32 = 64;

    /// Memory of the simulator, unless its settings say otherwise.
    const MEMORY: usize = 4 << 30;
    /// What a program has in it beside its heap and its stacks.
    const BESIDE: usize = 1 << 30;

    /// The settings of a simulator with that room, where `spec` does not say otherwise.
    fn simulator(self, spec: &str, stack: Option<usize>, heap: Option<usize>) -> String {
        let settings = spec.strip_prefix("sim").unwrap_or_default().trim_start_matches(':');
        let mut all: Vec<String> = settings.split(',').filter(|part| !part.is_empty()).map(str::to_owned).collect();
        let said = |key: &str| settings.split(',').any(|part| part.trim().starts_with(key));
        if stack.is_some() || !said("stack=") {
            all.retain(|part| !part.trim().starts_with("stack="));
            all.push(format!("stack={}", stack.unwrap_or(self.stack)));
        }
        if self.waves > 0 && !said("sms=") && !said("waves=") {
            let per_sm = if self.waves > Self::MOST_SMS * Self::WAVES_PER_SM { Self::MOST_WAVES_PER_SM } else { Self::WAVES_PER_SM };
            if per_sm != Self::WAVES_PER_SM {
                all.push(format!("waves={per_sm}"));
            }
            all.push(format!("sms={}", self.waves.div_ceil(per_sm).max(4)));
        }
        let stacks = stack.unwrap_or(self.stack).saturating_mul(self.waves as usize);
        let wanted = heap.unwrap_or_default().saturating_add(stacks).saturating_add(Self::BESIDE);
        if wanted > Self::MEMORY && !said("memory=") {
            // Reserved, not committed.
            all.push(format!("memory={wanted}"));
        }
        format!("sim:{}", all.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        options: Options,
    }

    #[test]
    fn options_that_become_arguments_are_read_back_the_same() {
        let line = "x --device sim:lanes=64 --dir /a::b:ro --dir /c::. --dir /dev::/dev:special --env A=1 --env B --net --net-allow localhost:80 --net-allow db.example:5432+private+loopback --heap 1m --stack 64k --ports 3 \
                    --commands --stats --trace /t.json --stream /s.hcs --stream-filter Access:rate=1/2,lanes=0xf --stream-filter Loss:none --stream-policy drop --stream-memory 4m --instrument barriers,access,kernel=x --timeout 1.5";
        let read = |words: Vec<OsString>| Line::try_parse_from(words).expect("good arguments").options;
        let mut words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        let odd = |bytes: &'static [u8]| OsStr::from_bytes(bytes).to_owned();
        words.extend(["--dir".into(), odd(b"/caf\xe9::\xff:ro"), "--env".into(), odd(b"\xfe=\xfd")]);
        let options = read(words);
        assert_eq!(named(options.variables.last().expect("the last")), Ok((&*odd(b"\xfe"), odd(b"\xfd"))));
        let mut again = vec![OsString::from("x")];
        again.extend(options.to_arguments());
        assert_eq!(format!("{:?}", read(again)), format!("{options:?}"));
        let apart = read(["x", "--devices", "sim*2", "--isolated"].map(OsString::from).to_vec());
        assert_eq!(apart.to_arguments(), ["--devices", "sim*2", "--isolated"]);
    }

    #[test]
    fn a_simulator_gets_room_for_the_threads_and_keeps_what_was_set() {
        let room = Room { waves: 100, stack: 1024 };
        assert_eq!(room.simulator("sim", None, None), "sim:stack=1024,sms=7");
        assert_eq!(room.simulator("sim:lanes=64,stack=64k,sms=2", None, None), "sim:lanes=64,stack=64k,sms=2");
        assert_eq!(room.simulator("sim:stack=64k", Some(5), None), "sim:stack=5,sms=7");
        assert!(Device::open(&Room { waves: 0, stack: 64 << 10 }.simulator("sim", None, None)).is_ok());
        // As many as `--threads` takes.
        for waves in [16_384, 16_385, 65_536] {
            let device = Device::open(&Room { waves, stack: 64 << 10 }.simulator("sim", None, None)).expect("a device");
            assert!(device.info().resident_waves >= waves, "{waves}");
        }
        // A heap that is asked for fits, if nothing else was said.
        assert_eq!(room.simulator("sim", None, Some(6 << 30)), format!("sim:stack=1024,sms=7,memory={}", (7u64 << 30) + 100 * 1024));
        assert_eq!(room.simulator("sim:memory=2g", None, Some(6 << 30)), "sim:memory=2g,stack=1024,sms=7");
        assert!(Device::open(&Room { waves: 100, stack: 64 << 10 }.simulator("sim", None, Some(6 << 30))).is_ok());
    }
}
