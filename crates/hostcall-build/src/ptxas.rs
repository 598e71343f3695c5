//! NVIDIA's assembler: optional, for cubins and for checking PTX.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use crate::cache::{Scratch, cache_directory, cache_path, cached};
use crate::command::Run;
use crate::nvlink::Nvlink;
use crate::progress::{Parts, Progress};
use crate::stdlib::shorten;
use crate::{BuildError, Piece, at_once, cuda};

/// A `ptxas` that runs.
#[derive(Clone, Debug)]
pub struct Ptxas {
    /// Where it is.
    pub path: PathBuf,
    /// The release, like `12.9`.
    pub version: String,
    /// What `HOSTCALL_PTXAS_FLAGS` adds to the command line, like `--Ofast-compile=max`: for programs that are to be
    /// ready soon, not fast.
    pub flags: Vec<String>,
}

impl Ptxas {
    /// `HOSTCALL_PTXAS` (and then nothing else), what `cargo hostcall setup` installed, `PATH`, or
    /// `/usr/local/cuda/bin`.
    ///
    /// # Errors
    ///
    /// [`BuildError::Missing`] if there is none that runs.
    pub fn find() -> Result<Ptxas, BuildError> {
        let installed = Some(Ptxas::in_install_directory(&Ptxas::install_directory()));
        cuda::find("ptxas", Piece::Ptxas, "HOSTCALL_PTXAS", installed, Ptxas::at)
    }

    fn at(path: &Path) -> Result<Ptxas, BuildError> {
        let version = cuda::release(path)?;
        let flags = env::var("HOSTCALL_PTXAS_FLAGS").unwrap_or_default().split_whitespace().map(str::to_owned).collect();
        Ok(Ptxas { path: path.to_path_buf(), version, flags })
    }

    /// Where [`setup`](crate::setup()) puts it.
    pub(crate) fn install_directory() -> PathBuf {
        cache_path("cuda")
    }

    pub(crate) fn in_install_directory(dir: &Path) -> PathBuf {
        dir.join("nvidia/cuda_nvcc/bin/ptxas")
    }

    /// The same, told something more.
    fn with(&self, flags: &[&str]) -> Ptxas {
        Ptxas { flags: self.flags.iter().cloned().chain(flags.iter().map(|flag| (*flag).to_owned())).collect(), ..self.clone() }
    }

    pub(crate) fn identity(&self) -> String {
        format!("ptxas {} {} {}", self.version, self.path.display(), self.flags.join(" "))
    }

    /// Machine code of `ptx` for `arch` (`sm_…`).
    ///
    /// # Errors
    ///
    /// [`BuildError::Failed`] with what `ptxas` says, if it does not assemble.
    pub fn assemble(&self, ptx: &[u8], arch: &str) -> Result<Vec<u8>, BuildError> {
        let scratch = Scratch::new(&env::temp_dir().join("hostcall-ptxas"))?;
        let [input, output] = ["image.ptx", "image.cubin"].map(|name| scratch.0.join(name));
        fs::write(&input, ptx).map_err(BuildError::io("write", &input))?;
        Run::new(&self.path).args(&self.flags).arg(format!("-arch={arch}")).arg(&input).arg("-o").arg(&output).output()?;
        fs::read(&output).map_err(BuildError::io("read", &output))
    }
}

/// [`Ptxas::assemble`], kept in the user's cache: equal PTX is assembled once.
///
/// # Errors
///
/// As [`Ptxas::assemble`], and [`BuildError::Io`].
pub fn assemble_cached(ptxas: &Ptxas, ptx: &[u8], arch: &str) -> Result<Vec<u8>, BuildError> {
    let identity = ptxas.identity();
    let key: [&[u8]; 3] = [ptx, identity.as_bytes(), arch.as_bytes()];
    cached(&cache_directory("cubins")?, &key, |_| ptxas.assemble(ptx, arch))
}

/// As [`assemble_cached`], for somebody who waits: without the optimisations that take the assembler longest, and by
/// all processors, where it knows how to (12.9 does). On 16 processors hello takes it 0.7 s instead of 10.
///
/// # Errors
///
/// As [`Ptxas::assemble`], and [`BuildError::Io`].
pub fn assemble_quickly(ptxas: &Ptxas, ptx: &[u8], arch: &str) -> Result<Vec<u8>, BuildError> {
    let _progress = Progress::of(format!("the program for {arch}"));
    if !ptxas.flags.is_empty() {
        return assemble_cached(ptxas, ptx, arch);
    }
    if let Some(code) = assemble_parts(ptxas, ptx, arch) {
        return Ok(code);
    }
    // One that does not know a flag says so at once.
    assemble_cached(&ptxas.with(&QUICK), ptx, arch).or_else(|_| assemble_cached(ptxas, ptx, arch))
}

const QUICK: [&str; 2] = ["--Ofast-compile=min", "--split-compile=0"];

/// As [`assemble_quickly`] if a program was not to be optimised (and so was compiled in parts), else as
/// [`assemble_cached`].
///
/// # Errors
///
/// As [`Ptxas::assemble`], and [`BuildError::Io`].
pub fn assemble_as_built(ptxas: &Ptxas, ptx: &[u8], arch: &str) -> Result<Vec<u8>, BuildError> {
    let assemble = if parts_of(ptx).is_some() { assemble_quickly } else { assemble_cached };
    assemble(ptxas, ptx, arch)
}

fn parts_of(ptx: &[u8]) -> Option<Vec<(String, String)>> {
    shorten::parts(std::str::from_utf8(ptx).ok()?)
}

/// A part as an object that can be linked. For code of some functions 12.9 crashes with the first, and not with the
/// second.
const OF_PART: [&[&str]; 2] = [&["-c", "--Ofast-compile=min"], &["-c", "--Ofast-compile=max"]];

/// Machine code of a program that was compiled in parts: each part is assembled once, and kept; `None` if it was not,
/// or if that does not work. Then it is assembled as one.
fn assemble_parts(ptxas: &Ptxas, ptx: &[u8], arch: &str) -> Option<Vec<u8>> {
    let parts = parts_of(ptx)?;
    let nvlink = Nvlink::find().ok().filter(|nvlink| nvlink.takes(&ptxas.version, arch))?;
    join_parts(ptxas, &nvlink, &parts, arch, &cache_directory("cubins").ok()?).ok()
}

/// The constants that the assembler makes of all parts are in one bank of 64 KiB, and those of a large program do not
/// fit.
const NO_CONSTANTS: [&str; 1] = ["--disable-optimizer-constants"];

fn join_parts(ptxas: &Ptxas, nvlink: &Nvlink, parts: &[(String, String)], arch: &str, cache: &Path) -> Result<Vec<u8>, BuildError> {
    let join = |ptxas: &Ptxas| {
        let objects = objects(ptxas, parts, arch, cache)?;
        let identity = nvlink.identity();
        let mut key: Vec<&[u8]> = objects.iter().map(Vec::as_slice).collect();
        key.extend([identity.as_bytes(), arch.as_bytes()]);
        Ok(cached(cache, &key, |_| nvlink.link(&objects, arch)))
    };
    join(ptxas)?.or_else(|_| join(&ptxas.with(&NO_CONSTANTS))?)
}

/// Each part, assembled.
fn objects(ptxas: &Ptxas, parts: &[(String, String)], arch: &str, cache: &Path) -> Result<Vec<Vec<u8>>, BuildError> {
    let done = Parts::of(parts.len());
    at_once::each(
        parts,
        |(_, part)| part.len(),
        |(_, part)| {
            let assemble = |flags: &[&str]| {
                let ptxas = ptxas.with(flags);
                cached(cache, &[part.as_bytes(), ptxas.identity().as_bytes(), arch.as_bytes()], |_| ptxas.assemble(part.as_bytes(), arch))
            };
            let object = assemble(OF_PART[0]).or_else(|_| assemble(OF_PART[1]));
            done.one();
            object
        },
    )
}

/// The architecture that a device (`cuda:0`) had when it was last noted, if it was: a guess, with which assembling can
/// begin before a driver says more.
pub fn noted_arch(device: &str) -> Option<String> {
    fs::read_to_string(arch_note(&cache_directory("cubins").ok()?, device)).ok().filter(|arch| is_arch(arch))
}

/// Notes what architecture a device has, for [`noted_arch`]. One that cannot be noted is not known next time, which
/// costs time and nothing else.
pub fn note_arch(device: &str, arch: &str) {
    let noted = cache_directory("cubins").and_then(|cache| {
        let (file, fresh) = (arch_note(&cache, device), cache.join(format!("arch.{}", std::process::id())));
        fs::write(&fresh, arch).and_then(|()| fs::rename(&fresh, &file)).map_err(BuildError::io("write", file))
    });
    let _ = noted;
}

fn arch_note(cache: &Path, device: &str) -> PathBuf {
    cache.join(format!("{}.arch", device.replace(|c: char| !c.is_ascii_alphanumeric(), "-")))
}

fn is_arch(text: &str) -> bool {
    text.strip_prefix("sm_").is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

/// Assembles `ptx` for each of `arches`, and so proves that it is good there; the cubins, in the same order.
///
/// # Errors
///
/// [`BuildError::Missing`] without a `ptxas`; [`BuildError::Failed`] for the first architecture that it does not
/// assemble for.
pub fn assemble_all<'a>(ptx: &str, arches: impl IntoIterator<Item = &'a str>) -> Result<Vec<Vec<u8>>, BuildError> {
    let ptxas = Ptxas::find()?;
    arches.into_iter().map(|arch| ptxas.assemble(ptx.as_bytes(), arch)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    /// A tool that writes down that it ran and what it was told, and leaves what it was given, one file after the
    /// other. The linker refuses what has many constants, of which the assembler makes few if it is told so.
    fn tool(dir: &Path, name: &str) -> PathBuf {
        let file = dir.join(name);
        let script = format!(
            "#!/bin/sh\nif [ \"$1\" = --version ]; then echo \"release 13.0, x\"; exit; fi\necho \"$*\" >> {log}\nfiles=\nwhile [ $# -gt 0 ]; do\n\
             case \"$1\" in *=min) quick=1;; --disable-optimizer-constants) few=1;; -o) shift; out=\"$1\";; -*) ;; *) files=\"$files $1\";; esac; shift; done\n\
             [ $quick ] && grep -q crashes $files && kill -SEGV $$\n[ {name} = nvlink ] && grep -q many $files && exit 1\n\
             if [ $few ]; then sed s/many/few/ $files; else cat $files; fi > \"$out\"\n",
            log = dir.join(format!("{name}.log")).display()
        );
        fs::write(&file, script).expect("written");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("executable");
        file
    }

    /// How often a tool ran since this was asked last.
    fn runs(dir: &Path, name: &str) -> usize {
        let log = dir.join(format!("{name}.log"));
        let count = fs::read_to_string(&log).unwrap_or_default().lines().count();
        let _ = fs::remove_file(&log);
        count
    }

    struct Tools {
        dir: tempfile::TempDir,
        ptxas: Ptxas,
        nvlink: Nvlink,
    }

    impl Tools {
        fn new() -> Tools {
            let dir = tempfile::tempdir().expect("a directory");
            let ptxas = Ptxas::at(&tool(dir.path(), "ptxas")).expect("it runs");
            let nvlink = Nvlink::at(&tool(dir.path(), "nvlink")).expect("it runs");
            Tools { dir, ptxas, nvlink }
        }

        fn join(&self, parts: &[&str]) -> String {
            let parts: Vec<_> = parts.iter().enumerate().map(|(number, text)| (number.to_string(), (*text).to_owned())).collect();
            let code = join_parts(&self.ptxas, &self.nvlink, &parts, "sm_90", &self.dir.path().join("cache")).expect("it is assembled");
            String::from_utf8(code).expect("text")
        }

        fn runs(&self) -> (usize, usize) {
            (runs(self.dir.path(), "ptxas"), runs(self.dir.path(), "nvlink"))
        }
    }

    #[test]
    fn only_a_part_that_changed_is_assembled_again() {
        let tools = Tools::new();
        assert_eq!((&*tools.join(&["a", "b", "c"]), tools.runs()), ("abc", (3, 1)));
        assert_eq!((&*tools.join(&["a", "b", "c"]), tools.runs()), ("abc", (0, 0)));
        assert_eq!((&*tools.join(&["a", "B", "c"]), tools.runs()), ("aBc", (1, 1)));
    }

    #[test]
    fn a_kept_part_that_is_damaged_is_assembled_again() {
        let tools = Tools::new();
        tools.join(&["a", "b"]);
        tools.runs();
        let kept = tools.dir.path().join("cache/images");
        for file in fs::read_dir(&kept).expect("it keeps") {
            fs::write(file.expect("an entry").path(), "damaged").expect("written");
        }
        assert_eq!((&*tools.join(&["a", "b"]), tools.runs()), ("ab", (2, 1)));
    }

    #[test]
    fn a_part_that_the_assembler_crashes_on_is_assembled_in_another_way() {
        let tools = Tools::new();
        assert_eq!((&*tools.join(&["a", "crashes"]), tools.runs().1), ("acrashes", 1));
    }

    #[test]
    fn parts_whose_constants_do_not_fit_are_assembled_without() {
        let tools = Tools::new();
        assert_eq!((&*tools.join(&["a", "many"]), tools.runs()), ("afew", (4, 2)));
        assert_eq!((&*tools.join(&["b", "many"]), tools.runs()), ("bfew", (2, 2)));
    }

    #[test]
    fn two_builds_at_once_have_the_same_result() {
        let tools = Tools::new();
        let parts: Vec<String> = (0..20).map(|number| format!("part {number};")).collect();
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        std::thread::scope(|scope| {
            let both = [0; 2].map(|_| scope.spawn(|| tools.join(&parts)));
            for build in both {
                assert_eq!(build.join().expect("no panic"), parts.concat());
            }
        });
    }

    #[test]
    fn only_an_architecture_is_taken_for_one() {
        assert!(["sm_70", "sm_90", "sm_90a", "sm_120"].into_iter().all(is_arch));
        assert!(!["", "sm_", "sm_9 0", "gfx90a", "sm_90\n-o x"].into_iter().any(is_arch));
        assert_eq!(arch_note(Path::new("/c"), "cuda:0"), Path::new("/c/cuda-0.arch"));
    }
}
