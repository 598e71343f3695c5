//! C's library for a machine: musl's headers, and of its functions those that the device does not have itself, compiled
//! once.
//!
//! ```text
//! SYSROOT/c/KEY/include/                   headers
//! SYSROOT/c/KEY/libc.a or libc.bc          functions
//! ```
//!
//! The key is a hash of musl's release, of the sources here, of clang and of the flags.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use offload_image::Sha256;

use super::{compiler, files, musl};
use crate::BuildError;
use crate::cache::{Lock, Scratch};
use crate::command::Run;
use crate::stdlib::sysroot::Sysroot;

/// C's library, compiled.
#[derive(Clone, Debug)]
pub(crate) struct Library {
    dir: PathBuf,
    is_gpu: bool,
}

impl Library {
    /// The library for a sysroot's machine, compiled if it is not there: that takes half a minute.
    ///
    /// # Errors
    ///
    /// [`BuildError::Missing`] without clang or musl's sources; [`BuildError::Failed`] if something does not compile.
    pub(crate) fn prepare(sysroot: &Sysroot) -> Result<Library, BuildError> {
        let toolchain = &sysroot.toolchain;
        let (musl, clang, flags) = (musl::find()?, compiler::clang(toolchain)?, compiler::flags(&sysroot.machine)?);
        let texts = SOURCES.map(|(_, text)| text).concat() + &flags.join(" ") + include_str!("files.rs") + include_str!("library.rs");
        let identity = [compiler::identity(toolchain)?, musl::version(&musl)?, musl.display().to_string(), texts];
        let key = Sha256::of(identity.map(|part| Sha256::of(part.as_bytes()).0).as_flattened()).to_string();
        let library = Library { dir: sysroot.dir.join("c").join(&key[..16]), is_gpu: sysroot.machine.is_gpu() };
        if library.is_made() {
            return Ok(library);
        }
        let parent = sysroot.dir.join("c");
        fs::create_dir_all(&parent).map_err(BuildError::io("create", &parent))?;
        let _lock = Lock::take(&parent.join("lock"), || {})?;
        if !library.is_made() {
            let scratch = Scratch::new(&parent)?;
            let made = scratch.0.join("made");
            Making { sysroot, musl: &musl, clang: &clang, flags: &flags, dir: &made, objects: &scratch.0.join("objects") }.make()?;
            let _ = fs::remove_dir_all(&library.dir);
            fs::rename(&made, &library.dir).map_err(BuildError::io("create", &library.dir))?;
        }
        Ok(library)
    }

    fn is_made(&self) -> bool {
        self.file().is_file()
    }

    /// Its headers.
    pub(crate) fn include(&self) -> PathBuf {
        self.dir.join("include")
    }

    /// The header that is read before everything else.
    pub(crate) fn prelude(&self) -> PathBuf {
        self.dir.join("prelude.h")
    }

    /// Its functions.
    pub(crate) fn file(&self) -> PathBuf {
        self.dir.join(file_name(self.is_gpu))
    }
}

fn file_name(is_gpu: bool) -> &'static str {
    if is_gpu { "libc.bc" } else { "libc.a" }
}

/// Files of ours, as they lie in `sources`.
const SOURCES: [(&str, &str); 11] = [
    ("arch/atomic_arch.h", include_str!("sources/arch/atomic_arch.h")),
    ("arch/pthread_arch.h", include_str!("sources/arch/pthread_arch.h")),
    ("arch/syscall_arch.h", include_str!("sources/arch/syscall_arch.h")),
    ("bits_float.h", include_str!("sources/bits_float.h")),
    ("complex.c", include_str!("sources/complex.c")),
    ("cond.c", include_str!("sources/cond.c")),
    ("emutls.c", include_str!("sources/emutls.c")),
    ("instructions.c", include_str!("sources/instructions.c")),
    ("jumps.s", include_str!("sources/jumps.s")),
    ("prelude.h", include_str!("sources/prelude.h")),
    ("support.c", include_str!("sources/support.c")),
];

/// A library that is being made.
struct Making<'a> {
    sysroot: &'a Sysroot,
    musl: &'a Path,
    clang: &'a Path,
    flags: &'a [String],
    dir: &'a Path,
    objects: &'a Path,
}

impl Making<'_> {
    fn make(&self) -> Result<(), BuildError> {
        let machine = &self.sysroot.machine;
        let ours = self.objects.join("ours");
        for (name, text) in SOURCES {
            write(&ours.join(name), text)?;
        }
        write(&self.dir.join("prelude.h"), include_str!("sources/prelude.h"))?;
        write(&self.objects.join("version.h"), &format!("#define VERSION {:?}\n", musl::version(self.musl)?))?;
        self.headers()?;
        // Sources that are changed are compiled where they lie, changed, with their own directory to look in.
        let mut sources = Vec::new();
        for file in files::listed(self.musl, machine)? {
            let path = self.musl.join("src").join(&file);
            let text = fs::read_to_string(&path).map_err(BuildError::io("read", &path));
            let Ok(text) = text else {
                // Of musl's tables and the like some are in no UTF-8, and none of those is changed.
                sources.push((file, path));
                continue;
            };
            let edited = files::edited(&file, text.clone())?;
            if edited == text {
                sources.push((file, path));
            } else {
                let changed = self.objects.join("changed").join(&file);
                write(&changed, &edited)?;
                sources.push((file, changed));
            }
        }
        let of_machine: &[&str] = if machine.is_gpu() { &["instructions.c"] } else { &["emutls.c", "jumps.s"] };
        let own = ["complex.c", "cond.c", "support.c"].iter().chain(of_machine);
        sources.extend(own.map(|name| (format!("hostcall/{name}"), ours.join(name))));
        let objects = self.compile(&sources)?;
        let made = self.dir.join(file_name(machine.is_gpu()));
        let tool = |tool: &str| self.sysroot.toolchain.llvm(tool);
        if machine.is_gpu() {
            tool("llvm-link").args(&objects).arg("-o").arg(&made).output()?;
        } else {
            tool("llvm-ar").arg("qcD").arg(&made).args(&objects).output()?;
        }
        Ok(())
    }

    /// The public headers: musl's, for x86-64, whose types the device has; but for floating-point numbers' limits.
    fn headers(&self) -> Result<(), BuildError> {
        let include = self.dir.join("include");
        copy(&self.musl.join("include"), &include)?;
        for arch in ["generic", "x86_64"] {
            copy(&self.musl.join("arch").join(arch).join("bits"), &include.join("bits"))?;
        }
        write(&include.join("bits/float.h"), include_str!("sources/bits_float.h"))?;
        let read = |name: &str| {
            let file = self.musl.join(name);
            fs::read_to_string(&file).map_err(BuildError::io("read", file))
        };
        let types = read("arch/x86_64/bits/alltypes.h.in")? + &read("include/alltypes.h.in")?;
        write(&include.join("bits/alltypes.h"), &all_types(&types))?;
        write(&include.join("bits/syscall.h"), &numbers(&read("arch/x86_64/bits/syscall.h.in")?))
    }

    /// The sources as objects, as many at a time as there are processors.
    fn compile(&self, sources: &[(String, PathBuf)]) -> Result<Vec<PathBuf>, BuildError> {
        let objects = self.objects.join("o");
        fs::create_dir_all(&objects).map_err(BuildError::io("create", &objects))?;
        let next = AtomicUsize::new(0);
        let work = || -> Result<(), BuildError> {
            // Relaxed: only the numbers must differ.
            while let Some((name, path)) = sources.get(next.fetch_add(1, Ordering::Relaxed)) {
                self.one(name, path, &objects.join(object_name(name)))?;
            }
            Ok(())
        };
        let workers = thread::available_parallelism().map_or(1, usize::from);
        thread::scope(|scope| {
            let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
            workers.into_iter().try_for_each(|worker| worker.join().unwrap_or(Ok(())))
        })?;
        Ok(sources.iter().map(|(name, _)| objects.join(object_name(name))).collect())
    }

    fn one(&self, name: &str, path: &Path, object: &Path) -> Result<(), BuildError> {
        let mut run = Run::new(self.clang).args(self.flags);
        if compiler::has_prelude(&self.sysroot.machine) && !name.ends_with(".s") {
            run = run.arg("-O2").arg("-include").arg(self.dir.join("prelude.h"));
        }
        // As musl's own build has it.
        run = run.args(["-std=c99", "-nostdinc", "-ffreestanding", "-fno-strict-aliasing", "-D_XOPEN_SOURCE=700", "-w"]);
        if name == "hostcall/instructions.c" {
            run = run.args(["-fbuiltin", "-fno-math-errno"]);
        }
        let within = name.rsplit_once('/').map_or("", |(dir, _)| dir);
        let musl = |dir: &str| self.musl.join(dir);
        let looked_in = [
            self.objects.join("ours/arch"),
            musl("src/include"),
            musl("src/internal"),
            self.objects.to_path_buf(),
            // Before musl's own, whose limits of numbers are another processor's.
            self.dir.join("include"),
            musl("arch/x86_64"),
            musl("arch/generic"),
            musl("src").join(within),
        ];
        run = looked_in.iter().fold(run, |run, dir| run.arg("-I").arg(dir));
        run.arg("-c").arg(path).arg("-o").arg(object).output().map(drop)
    }
}

fn object_name(source: &str) -> String {
    format!("{}.o", source.replace('/', "-"))
}

/// Types that headers share, from musl's way to write them: `TYPEDEF long off_t;`, `STRUCT name { … };`.
fn all_types(text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 3);
    for line in text.lines() {
        let (kind, rest) = line.split_once(' ').unwrap_or_default();
        let rest = rest.trim_start();
        let parts = match kind {
            "TYPEDEF" => rest
                .strip_suffix(';')
                .and_then(|rest| rest.rsplit_once(' '))
                .map(|(of, name)| (name.to_owned(), format!("typedef {of} {name};"))),
            "STRUCT" | "UNION" => rest.strip_suffix(';').and_then(|rest| rest.split_once(' ')).map(|(name, of)| {
                let kind = kind.to_ascii_lowercase();
                (format!("{kind}_{name}"), format!("{kind} {name} {of};"))
            }),
            _ => None,
        };
        match parts {
            Some((name, definition)) => {
                out += &format!(
                    "#if defined(__NEED_{name}) && !defined(__DEFINED_{name})\n{definition}\n#define __DEFINED_{name}\n#endif\n\n"
                );
            }
            None => {
                out += line;
                out.push('\n');
            }
        }
    }
    out
}

/// The numbers of system calls, under both of their names.
fn numbers(text: &str) -> String {
    let again: String = text.lines().filter(|line| line.contains("__NR_")).map(|line| line.replace("__NR_", "SYS_") + "\n").collect();
    text.to_owned() + &again
}

fn write(path: &Path, text: &str) -> Result<(), BuildError> {
    let dir = path.parent().unwrap_or(path);
    fs::create_dir_all(dir).map_err(BuildError::io("create", dir))?;
    fs::write(path, text).map_err(BuildError::io("write", path))
}

/// Copies headers, and directories of them.
fn copy(from: &Path, to: &Path) -> Result<(), BuildError> {
    fs::create_dir_all(to).map_err(BuildError::io("create", to))?;
    for entry in fs::read_dir(from).map_err(BuildError::io("read", from))? {
        let path = entry.map_err(BuildError::io("read", from))?.path();
        let target = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            copy(&path, &target)?;
        } else if path.extension().is_some_and(|extension| extension == "h") {
            fs::copy(&path, &target).map_err(BuildError::io("copy", &path))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_types_are_defined_where_they_are_needed_and_once() {
        let made =
            all_types("#define _Int64 long\nTYPEDEF unsigned _Int64 size_t;\nSTRUCT timeval { time_t tv_sec; };\nUNION u { int x; };\n");
        assert_eq!(
            made,
            "#define _Int64 long\n#if defined(__NEED_size_t) && !defined(__DEFINED_size_t)\ntypedef unsigned _Int64 size_t;\n\
             #define __DEFINED_size_t\n#endif\n\n#if defined(__NEED_struct_timeval) && !defined(__DEFINED_struct_timeval)\n\
             struct timeval { time_t tv_sec; };\n#define __DEFINED_struct_timeval\n#endif\n\n\
             #if defined(__NEED_union_u) && !defined(__DEFINED_union_u)\nunion u { int x; };\n#define __DEFINED_union_u\n#endif\n\n"
        );
    }

    #[test]
    fn numbers_have_both_names() {
        assert_eq!(numbers("#define __NR_read 0\n"), "#define __NR_read 0\n#define SYS_read 0\n");
    }
}
