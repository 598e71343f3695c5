//! A file read by all waves, against what the host alone needs to bring the same bytes to the device.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use offload::{Args, HostMemory, Memory};
use tempfile::TempDir;

use super::error::Error;
use super::report::{Against, Figure, Row};
use super::rig::{CHUNK, Rig, Session, median};

/// The directory's name for kernels, and the file's in it.
pub(super) const GUEST: &str = "bench";
const FILE: &str = "data";

/// A directory with one file in it, removed in the end. The file was just written, so the system has it in memory.
pub(super) struct Fixture {
    dir: TempDir,
    bytes: usize,
}

/// Byte `i` of the file: neighbours differ, and so do equal places of different chunks.
fn byte(i: usize) -> u8 {
    (i.wrapping_mul(0x9e37_79b9) >> 13) as u8
}

impl Fixture {
    pub(super) fn create(rig: &Rig) -> Result<Self, Error> {
        Self::sized(rig.scale.file_bytes)
    }

    pub(super) fn sized(bytes: usize) -> Result<Self, Error> {
        let failed = |source| Error::File { doing: "cannot write a file in", path: std::env::temp_dir(), source };
        let fixture = Self { dir: TempDir::with_prefix("hostcall-bench-").map_err(failed)?, bytes };
        let mut file = File::create(fixture.path()).map_err(failed)?;
        let mut at = 0;
        while at < fixture.bytes {
            let block: Vec<u8> = (at..fixture.bytes.min(at + (1 << 20))).map(byte).collect();
            file.write_all(&block).map_err(failed)?;
            at += block.len();
        }
        Ok(fixture)
    }

    /// The directory to grant.
    pub(super) fn dir(&self) -> &Path {
        self.dir.path()
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn path(&self) -> PathBuf {
        self.dir().join(FILE)
    }

    /// Microseconds of one of many writes of `bytes` bytes by the host to another file beside it.
    pub(super) fn write(&self, bytes: usize) -> Result<f64, Error> {
        const WRITES: u32 = 2_000;
        let path = self.dir().join("written-here");
        let failed = |source| Error::File { doing: "cannot write", path: path.clone(), source };
        let (mut file, block) = (File::create(&path).map_err(failed)?, vec![7; bytes]);
        let start = Instant::now();
        (0..WRITES).try_for_each(|_| file.write_all(&block)).map_err(failed)?;
        Ok(start.elapsed().as_secs_f64() * 1e6 / f64::from(WRITES))
    }
}

/// The row `file.read`. The session's server must grant the fixture's directory as [`GUEST`].
pub(super) fn row(session: &Session<'_>, fixture: &Fixture) -> Result<Row, Error> {
    let rig = session.rig;
    let bytes = fixture.bytes;
    let into: Memory<u8> = rig.zeroed(bytes)?;
    let alone = pread_and_copy(rig, &fixture.path(), &into)?;
    let launch = rig.waves(rig.all_waves());
    let path = rig.device.alloc::<u8>(GUEST.len() + 1 + FILE.len())?;
    rig.queue.copy_to(&path, 0, format!("{GUEST}/{FILE}").as_bytes())?;
    let files = rig.zeroed::<u64>(launch.group_count() as usize)?;
    rig.queue.fill(&into, 0)?;
    let ours = median(rig.scale.samples, || {
        let read = rig.zeroed::<u64>(rig.all_waves() as usize)?;
        let args = Args::new().slice(&path).value(CHUNK).address(into.address()).value(bytes as u64).address(files.address()).slice(&read);
        let took = session.run("file_read", launch, args)?;
        Error::unless_all("bytes of `file_read`", rig.queue.read(&read)?.iter().sum(), bytes as u64)?;
        Ok(bytes as f64 / 1e9 / took.as_secs_f64())
    })?;
    let right = rig.queue.read(&into)?.iter().enumerate().filter(|(i, read)| byte(*i) == **read).count();
    Error::unless_all("bytes that `file_read` left in memory", right as u64, bytes as u64)?;
    let note =
        format!("{} MiB by {} waves, {} server thread(s); pread and copy {alone:.2} GB/s", bytes >> 20, rig.all_waves(), session.threads);
    Ok(Row { name: "file.read", figure: Figure::GbS(ours), ratio: ours / alone, against: Against::Pread, note })
}

/// 10⁹ bytes a second of one thread that reads the file to pinned memory and has it copied to the device.
pub(super) fn pread_and_copy(rig: &Rig, path: &Path, into: &Memory<u8>) -> Result<f64, Error> {
    let failed = |source| Error::File { doing: "cannot read", path: path.into(), source };
    let file = File::open(path).map_err(failed)?;
    let pinned: HostMemory<u8> = rig.device.alloc_host(into.len())?;
    median(rig.scale.samples, || {
        let start = Instant::now();
        // SAFETY: `pinned` has so many bytes, zeroed at the start; no kernel knows of them, and the copy below is over
        // before the slice's next use.
        let buffer = unsafe { std::slice::from_raw_parts_mut(pinned.as_ptr(), pinned.len()) };
        file.read_exact_at(buffer, 0).map_err(failed)?;
        rig.queue.copy_in(into, 0, &pinned, 0, into.len())?;
        rig.queue.synchronize()?;
        Ok(into.len() as f64 / 1e9 / start.elapsed().as_secs_f64())
    })
}
