//! The launches: which kernel when, on how many lanes, in which memory.

use std::fmt;
use std::ops::Range;
use std::time::{Duration, Instant};

use hostcall::fleet::Member;
use hostcall_demo::{BLOCK, Entry, Head, Totals};
use offload::{Args, Device, Launch, Memory, Program, Queue};

use super::Error;

/// Waves that read at once. More open the file more often and make the bus no faster.
const READERS: u32 = 512;
/// Most bytes that a wave reads at a time.
const CHUNK: u64 = 256 << 10;
/// Most bytes that a lane looks at at a time.
const SLICE: u64 = 4 << 10;
/// Least bytes of both.
const LEAST: u64 = 64;
/// Bytes that a lane asks for at a time where a service reads: a wave's lanes ask together, in one message.
const PIECE: u64 = 1 << 10;
/// Lines that are printed.
pub(super) const TOP: usize = 10;

/// Who reads the text.
pub(super) enum From {
    /// Kernels, from the file of this path, which they know.
    File(String),
    /// A service.
    Service,
}

/// What came out of a part of the text. The words and their counts are on the device: sorted, and as lines.
pub(super) struct Part {
    pub(super) words: u64,
    pub(super) distinct: u64,
    pub(super) times: Times,
    entries: Memory<Entry>,
    lines: Memory<u8>,
}

/// How long each stage took.
#[derive(Clone, Copy, Default)]
pub(super) struct Times {
    pub(super) load: Duration,
    count: Duration,
    sort: Duration,
    pub(super) write: Duration,
}

impl Times {
    /// Of stages that run at once.
    pub(super) fn longest(self, other: Self) -> Self {
        let [load, count, sort, write] =
            [(self.load, other.load), (self.count, other.count), (self.sort, other.sort), (self.write, other.write)].map(|(a, b)| a.max(b));
        Self { load, count, sort, write }
    }
}

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "reading {:.1?}, counting {:.1?}, sorting {:.1?}, writing {:.1?}", self.load, self.count, self.sort, self.write)
    }
}

/// One device with the program, ready to count.
pub(super) struct Job<'a> {
    member: &'a Member,
    device: &'a Device,
    program: &'a Program,
    queue: Queue,
    /// Every lane that the device can run at once.
    wide: Launch,
}

/// The text, and how it is cut.
struct Text {
    bytes: Memory<u8>,
    slice: u64,
    heads: Memory<Head>,
}

impl<'a> Job<'a> {
    pub(super) fn new(member: &'a Member, program: &'a Program) -> Result<Self, Error> {
        let device = member.device();
        let wide = launch(device, device.info().resident_waves, 256);
        Ok(Job { member, device, program, queue: device.queue()?, wide })
    }

    /// Asks where `parts` parts of the text begin, and where the last one ends.
    pub(super) fn begins(&self, parts: u32) -> Result<Vec<u64>, Error> {
        let places = self.device.alloc::<u64>(parts as usize + 1)?;
        self.kernel("begins", launch(self.device, 1, 32), Args::new().slice(&places))?;
        Ok(self.queue.read(&places)?)
    }

    /// Counts the words of a part of the text.
    pub(super) fn count(&self, from: &From, part: Range<u64>) -> Result<Part, Error> {
        let mut times = Times::default();
        let text = timed(&mut times.load, || self.load(from, part))?;
        let (table, totals) = timed(&mut times.count, || self.count_words(&text))?;
        let entries = timed(&mut times.sort, || self.sort(&text, table, totals.distinct as usize))?;
        let lines = timed(&mut times.write, || self.render(&text, &entries))?;
        Ok(Part { words: totals.words, distinct: totals.distinct, times, entries, lines })
    }

    /// Has a kernel write the lines to a path that it knows.
    pub(super) fn write(&self, part: &Part, to: &str, times: &mut Times) -> Result<(), Error> {
        timed(&mut times.write, || {
            let path = self.upload(to.as_bytes())?;
            self.kernel("write", launch(self.device, 1, 1), Args::new().slice(&part.lines).slice(&path))
        })
    }

    /// The first lines.
    pub(super) fn top(&self, part: &Part) -> Result<Vec<u8>, Error> {
        let mut first = vec![Entry::default(); part.entries.len().min(TOP)];
        self.queue.copy_from(&mut first, &part.entries, 0)?;
        let mut top = vec![0; first.iter().map(Entry::line_len).sum::<u64>() as usize];
        self.queue.copy_from(&mut top, &part.lines, 0)?;
        Ok(top)
    }

    /// All lines.
    pub(super) fn lines(&self, part: &Part) -> Result<Vec<u8>, Error> {
        Ok(self.queue.read(&part.lines)?)
    }

    /// Launches a kernel and waits for it, so that no kernel runs when memory is given back, whatever fails in between.
    fn kernel(&self, name: &str, launch: Launch, args: Args) -> Result<(), Error> {
        let kernel = self.program.kernel(name)?;
        // SAFETY: all memory among `args` is this device's and borrowed by the caller until this function has waited
        // for the kernel; the types are those of the kernel's parameters in `hostcall-demo`, through its library or as
        // sizes that are asserted there; the host touches none of it meanwhile.
        unsafe { self.queue.launch(&kernel, launch, args)? };
        self.member.server().wait(&self.queue).map_err(|error| match error {
            hostcall::WaitError::Device { source, report } if report.is_success() => Error::Device(source),
            error => Error::Kernel(Box::new(error)),
        })
    }

    /// Device memory with these contents.
    fn upload<T: hostcall::Plain>(&self, contents: &[T]) -> Result<Memory<T>, Error> {
        let memory = self.device.alloc(contents.len())?;
        self.queue.copy_to(&memory, 0, contents)?;
        Ok(memory)
    }

    fn zeroed<T: hostcall::Plain>(&self, len: usize) -> Result<Memory<T>, Error> {
        let memory = self.device.alloc(len)?;
        self.queue.fill(&memory, 0)?;
        Ok(memory)
    }

    fn load(&self, from: &From, part: Range<u64>) -> Result<Text, Error> {
        let len = part.end.saturating_sub(part.start);
        let readers = self.device.info().resident_waves.min(READERS);
        let chunk = share(len, u64::from(readers), CHUNK);
        let slice = share(len, self.wide.group_count() * self.wide.group_threads(), SLICE);
        let bytes = self.device.alloc::<u8>(len as usize)?;
        match from {
            From::File(path) => {
                let path = self.upload(path.as_bytes())?;
                let args = Args::new().slice(&path).value(part.start).slice(&bytes).value(chunk);
                self.kernel("load", launch(self.device, readers, 128), args)?;
            }
            From::Service => {
                let args = Args::new().value(part.start).slice(&bytes).value(PIECE);
                self.kernel("fetch", launch(self.device, readers, 128), args)?;
            }
        }
        let heads = self.device.alloc::<Head>(len.div_ceil(slice) as usize)?;
        self.kernel("heads", self.wide, Args::new().slice(&bytes).value(slice).slice(&heads))?;
        Ok(Text { bytes, slice, heads })
    }

    /// Nobody knows how many different words there are before they are counted, so this starts with a guess; a table
    /// that turns out too small is replaced.
    fn count_words(&self, text: &Text) -> Result<(Memory<[u64; 2]>, Totals), Error> {
        let mut slots = (text.bytes.len() / 64).max(1024).next_power_of_two();
        loop {
            let table = self.zeroed::<[u64; 2]>(slots)?;
            let sums = self.zeroed::<Totals>(1)?;
            self.kernel("count", self.wide, text.args().slice(&table).slice(&sums))?;
            let mut totals = [Totals::default()];
            self.queue.copy_from(&mut totals, &sums, 0)?;
            if totals[0].full == 0 {
                return Ok((table, totals[0]));
            }
            slots *= 4;
        }
    }

    fn sort(&self, text: &Text, table: Memory<[u64; 2]>, distinct: usize) -> Result<Memory<Entry>, Error> {
        let mut entries = self.device.alloc::<Entry>(distinct)?;
        let next = self.zeroed::<u64>(1)?;
        self.kernel("gather", self.wide, text.args().slice(&table).slice(&next).slice(&entries))?;
        // Large, and of no more use.
        drop(table);
        self.kernel("sort", self.wide, Args::new().slice(&text.bytes).slice(&entries))?;
        if distinct > BLOCK {
            let mut merged = self.device.alloc::<Entry>(distinct)?;
            let mut run = BLOCK;
            while run < distinct {
                self.kernel("merge", self.wide, Args::new().slice(&text.bytes).slice(&entries).slice(&merged).value(run as u64))?;
                std::mem::swap(&mut entries, &mut merged);
                run *= 2;
            }
        }
        Ok(entries)
    }

    fn render(&self, text: &Text, entries: &Memory<Entry>) -> Result<Memory<u8>, Error> {
        let blocks = self.device.alloc::<u64>(entries.len().div_ceil(BLOCK))?;
        self.kernel("measure", self.wide, Args::new().slice(entries).slice(&blocks))?;
        let mut starts = self.queue.read(&blocks)?;
        let mut len = 0;
        for start in &mut starts {
            len += std::mem::replace(start, len);
        }
        self.queue.copy_to(&blocks, 0, &starts)?;
        let lines = self.device.alloc::<u8>(len as usize)?;
        self.kernel("render", self.wide, Args::new().slice(&text.bytes).slice(entries).slice(&blocks).slice(&lines))?;
        Ok(lines)
    }
}

impl Text {
    /// What kernels that look at words begin with.
    fn args(&self) -> Args {
        Args::new().slice(&self.bytes).value(self.slice).slice(&self.heads)
    }
}

/// A grid of about `waves` waves, at least one, in groups of at most `group` threads.
fn launch(device: &Device, waves: u32, group: u32) -> Launch {
    let info = device.info();
    let group = group.clamp(info.wave_size, info.max_group_size.max(info.wave_size));
    Launch::linear((waves * info.wave_size / group).max(1), group)
}

/// What one of `among` takes of `len`, as long as that is reasonable.
fn share(len: u64, among: u64, most: u64) -> u64 {
    (len / among.max(1)).next_multiple_of(LEAST).clamp(LEAST, most)
}

pub(super) fn timed<T>(time: &mut Duration, work: impl FnOnce() -> T) -> T {
    let started = Instant::now();
    let result = work();
    *time = started.elapsed();
    result
}
