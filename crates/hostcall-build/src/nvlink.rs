//! NVIDIA's linker: optional, for programs that are assembled in parts.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use crate::cache::{Scratch, cache_path};
use crate::command::Run;
use crate::{BuildError, Piece, cuda};

/// An `nvlink` that runs.
#[derive(Clone, Debug)]
pub(crate) struct Nvlink {
    path: PathBuf,
    version: String,
}

impl Nvlink {
    /// `HOSTCALL_NVLINK` (and then nothing else), what `cargo hostcall setup` installed, `PATH`, or
    /// `/usr/local/cuda/bin`.
    ///
    /// # Errors
    ///
    /// [`BuildError::Missing`] if there is none that runs.
    pub(crate) fn find() -> Result<Nvlink, BuildError> {
        let installed = Some(Nvlink::in_install_directory(&Nvlink::install_directory()));
        cuda::find("nvlink", Piece::Nvlink, "HOSTCALL_NVLINK", installed, Nvlink::at)
    }

    pub(crate) fn at(path: &Path) -> Result<Nvlink, BuildError> {
        let version = cuda::release(path)?;
        Ok(Nvlink { path: path.to_path_buf(), version })
    }

    /// Where [`setup`](crate::setup()) puts it: not beside `ptxas`, which comes from another release.
    pub(crate) fn install_directory() -> PathBuf {
        cache_path("nvlink")
    }

    pub(crate) fn in_install_directory(dir: &Path) -> PathBuf {
        dir.join("nvidia/cu13/bin/nvlink")
    }

    /// For people: the release and where it is.
    pub(crate) fn describe(&self) -> String {
        format!("{} {}", self.version, self.path.display())
    }

    /// Whether it takes what that release of `ptxas` assembles for `arch`: its own release's and older ones', for GPUs
    /// that it knows.
    pub(crate) fn takes(&self, ptxas: &str, arch: &str) -> bool {
        takes(&self.version, ptxas, arch)
    }

    pub(crate) fn identity(&self) -> String {
        format!("nvlink {} {}", self.version, self.path.display())
    }

    /// Machine code of objects that were assembled for `arch`.
    pub(crate) fn link(&self, objects: &[Vec<u8>], arch: &str) -> Result<Vec<u8>, BuildError> {
        let scratch = Scratch::new(&env::temp_dir().join("hostcall-ptxas"))?;
        let output = scratch.0.join("image.cubin");
        let mut run = Run::new(&self.path).arg(format!("-arch={arch}")).arg("-o").arg(&output);
        for (number, object) in objects.iter().enumerate() {
            let file = scratch.0.join(format!("{number}.o"));
            fs::write(&file, object).map_err(BuildError::io("write", &file))?;
            run = run.arg(file);
        }
        run.output()?;
        fs::read(&output).map_err(BuildError::io("read", &output))
    }
}

/// [`Nvlink::takes`]. 13 knows none before sm_75.
fn takes(nvlink: &str, ptxas: &str, arch: &str) -> bool {
    let release = |text: &str| {
        let mut numbers = text.split('.').map_while(|number| number.parse::<u32>().ok());
        Some((numbers.next()?, numbers.next()?))
    };
    let number = arch.trim_start_matches("sm_").trim_end_matches(|c: char| c.is_ascii_alphabetic()).parse::<u32>();
    match (release(nvlink), release(ptxas), number) {
        (Some(nvlink), Some(ptxas), Ok(number)) => nvlink >= ptxas && (nvlink.0 < 13 || number >= 75),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_linker_takes_objects_of_its_own_release_and_of_older_ones() {
        assert!(takes("13.0", "12.9", "sm_90") && takes("12.9", "12.9", "sm_70") && takes("13.0", "13.0", "sm_120a"));
        assert!(!takes("12.4", "12.9", "sm_90") && !takes("13.0", "12.9", "sm_70") && !takes("?", "12.9", "sm_90"));
    }
}
