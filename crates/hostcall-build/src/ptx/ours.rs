//! hostcall's functions as PTX: `hostcall-device`, compiled with what the pass's calls need, by itself.

use std::fs;
use std::path::{Path, PathBuf};

use offload_image::Sha256;

use super::library::Library;
use crate::bitcode::{self, Style};
use crate::cache::{cache_directory, cached};
use crate::context::{Context, ProgramSpec};
use crate::gpu::Gpu;
use crate::source::{Source, beside};
use crate::{BuildError, DeviceToolchain, HostToolchain, Instrument, NVPTX_ARCH, nvptx, recipe};

/// A module is made of what a kernel reaches, or the host looks up.
const SOURCE: &str =
    "#![no_std]\nextern crate hostcall_device;\n#[unsafe(no_mangle)]\npub extern \"gpu-kernel\" fn __hostcall_nothing() {}\n";

impl Library {
    /// That of the device library beside which this program was built, or of the registry's of the same version. It is
    /// compiled when it is first needed, and kept.
    ///
    /// # Errors
    ///
    /// Any [`BuildError`]: it needs a device toolchain.
    pub fn of_device() -> Result<Library, BuildError> {
        Library::new(&Library::text_of_device()?).map_err(|error| unexpected(error.to_string()))
    }

    /// The text that [`Library::of_device`] reads, for [`Library::new`] of another process.
    ///
    /// # Errors
    ///
    /// As for [`Library::of_device`].
    pub fn text_of_device() -> Result<String, BuildError> {
        let host = HostToolchain::find()?;
        let toolchain = DeviceToolchain::find()?;
        let dir = package(&cache_directory("probe")?, "ptx", "hostcall-device", "", SOURCE)?;
        let spec = ProgramSpec { instrument: Some(Instrument { accesses: true, ..Instrument::default() }), ..ProgramSpec::new(&dir) };
        let context = Context::new(&spec, &host, Source::of_package(&host, &dir, None)?);
        let gpu = Gpu::nvidia(&toolchain, NVPTX_ARCH);
        let archive = bitcode::archive(&context, &gpu)?;
        let code = fs::read(&archive).map_err(BuildError::io("read", &archive))?;
        let identity = toolchain.identity();
        let key: [&[u8]; 5] = [&code, identity.as_bytes(), gpu.cpu.as_bytes(), recipe::images(), include_bytes!("ours.rs")];
        let ptx = cached(&context.target_dir(), &key, |dir| {
            let linked = bitcode::link(&gpu, &archive, dir)?;
            // Lines of ours are nobody's.
            let plain = dir.join("plain.bc");
            toolchain.llvm("opt").args(["-strip-debug", "-passes=verify"]).arg(&linked).arg("-o").arg(&plain).output()?;
            nvptx::ptx(&context.source.package, &gpu, Style::Kernels, None, &plain, dir)
        })?;
        String::from_utf8(ptx).map_err(|error| unexpected(error.to_string()))
    }
}

fn unexpected(problem: String) -> BuildError {
    BuildError::Unexpected { command: "llc".into(), problem }
}

/// A package that is one of ours with nothing else, in a directory of its own below `cache`. `more` is what its
/// manifest says besides.
pub(super) fn package(cache: &Path, name: &str, depends_on: &str, more: &str, source: &str) -> Result<PathBuf, BuildError> {
    let version = env!("CARGO_PKG_VERSION");
    let from = match beside(depends_on) {
        Some(dir) => format!("{{ path = {:?} }}", dir.display().to_string()),
        None => format!("\"={version}\""),
    };
    let manifest = format!(
        "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n{more}[dependencies]\n{depends_on} = {from}\n\n[workspace]\n"
    );
    let dir = cache.join(format!("{name}-{}", &Sha256::of(manifest.as_bytes()).to_string()[..16]));
    let sources = dir.join("src");
    fs::create_dir_all(&sources).map_err(BuildError::io("create", &sources))?;
    for (file, text) in [(sources.join("lib.rs"), source), (dir.join("Cargo.toml"), manifest.as_str())] {
        // Cargo goes by times.
        if fs::read_to_string(&file).is_ok_and(|there| there == text) {
            continue;
        }
        let fresh = file.with_extension(format!("{}.new", std::process::id()));
        fs::write(&fresh, text).map_err(BuildError::io("write", &fresh))?;
        fs::rename(&fresh, &file).map_err(BuildError::io("write", &file))?;
    }
    Ok(dir)
}
