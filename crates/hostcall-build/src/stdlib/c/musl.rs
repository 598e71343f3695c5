//! musl's sources: found, or got from Debian's archive.
//!
//! The sources, not `musl-dev`: a device runs no machine code of this machine's, and its library is compiled from the
//! same release that its headers are of. They lie in `~/.cache/hostcall/musl`; nothing of them is in this repository.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use crate::cache::{Scratch, cache_directory};
use crate::command::Run;
use crate::toolchain::which;
use crate::{BuildError, Piece};

/// Names a directory with musl's sources.
pub(super) const VARIABLE: &str = "HOSTCALL_MUSL_SOURCE";

/// The directory with musl's sources: what [`VARIABLE`] names, or what [`install`] got.
pub(crate) fn find() -> Result<PathBuf, BuildError> {
    let missing = |tried: String| BuildError::Missing { piece: Piece::Musl, tried };
    if let Some(named) = env::var_os(VARIABLE).map(PathBuf::from) {
        return if is_musl(&named) { Ok(named) } else { Err(missing(format!("{VARIABLE} names {}", named.display()))) };
    }
    let cache = cache_directory("musl")?;
    let mut found: Vec<PathBuf> = fs::read_dir(&cache).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    found.retain(|dir| is_musl(dir));
    found.sort();
    found.pop().ok_or_else(|| missing(format!("not in {}", cache.display())))
}

fn is_musl(dir: &Path) -> bool {
    dir.join("src/internal/libc.h").is_file() && dir.join("VERSION").is_file()
}

/// The release of the sources in a directory.
pub(super) fn version(musl: &Path) -> Result<String, BuildError> {
    let file = musl.join("VERSION");
    fs::read_to_string(&file).map(|text| text.trim().to_owned()).map_err(BuildError::io("read", file))
}

/// Gets the sources from Debian's archive, as `apt-get source` does, and needs no right to change the system: where the
/// archive is, apt says, and its lists of sources are kept for as long as this takes.
pub(crate) fn install(progress: &mut dyn FnMut(&str)) -> Result<(), BuildError> {
    let missing = |tried: &str| BuildError::Missing { piece: Piece::Musl, tried: tried.into() };
    let apt = which("apt-get").into_iter().next().ok_or_else(|| missing("no apt-get on PATH"))?;
    let cache = cache_directory("musl")?;
    let scratch = Scratch::new(&cache)?;
    let dir = &scratch.0;
    let format = ["indextargets", "--format", "$(REPO_URI) $(RELEASE) $(COMPONENT)", "Identifier: Packages"];
    let archives = sources(&Run::new(&apt).args(format).text()?, KEYRING);
    if archives.is_empty() {
        return Err(missing("apt knows no archive of Debian's with a component `main`"));
    }
    let list = dir.join("sources.list");
    fs::write(&list, archives).map_err(BuildError::io("write", &list))?;
    fs::create_dir_all(dir.join("lists/partial")).map_err(BuildError::io("create", dir))?;
    let apt = |last: &[&str]| {
        let option = |key: &str, value: &Path| format!("{key}={}", value.display());
        let options = [
            option("Dir::Etc::SourceList", &list),
            option("Dir::Etc::SourceParts", Path::new("/dev/null")),
            option("Dir::State::Lists", &dir.join("lists")),
            option("Dir::Cache", dir),
            // What is downloaded lies in a directory of the caller's.
            "APT::Sandbox::User=root".to_owned(),
            // Without a network `update` succeeds otherwise, and `source` knows of no package.
            "APT::Update::Error-Mode=any".to_owned(),
        ];
        options.iter().fold(Run::new(&apt), |run, option| run.arg("-o").arg(option)).args(["-q"]).args(last).dir(dir)
    };
    for run in [apt(&["update"]), apt(&["source", "--download-only", "musl"])] {
        progress(&run.line());
        let got = run.output();
        got.map_err(|source| BuildError::Install { packages: "Debian's source package musl".to_owned(), source: Box::new(source) })?;
    }
    let archive = fs::read_dir(dir).map_err(BuildError::io("read", dir))?.flatten().map(|entry| entry.path());
    let archive =
        archive.filter(|path| path.to_string_lossy().contains(".orig.tar")).find(|path| path.extension().is_some_and(|it| it != "asc"));
    let archive = archive.ok_or_else(|| missing("Debian's source package has no archive of the sources"))?;
    let run = Run::new("tar").arg("-xf").arg(&archive).dir(dir);
    progress(&run.line());
    run.output()?;
    let unpacked = fs::read_dir(dir).map_err(BuildError::io("read", dir))?.flatten().map(|entry| entry.path()).find(|path| is_musl(path));
    let unpacked = unpacked.ok_or_else(|| missing("Debian's source package is not as it was"))?;
    let place = cache.join(unpacked.file_name().unwrap_or_default());
    // What another process has put there meanwhile is the same.
    let _ = fs::remove_dir_all(&place);
    fs::rename(&unpacked, &place).map_err(BuildError::io("create", place))
}

/// Debian's own.
const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// What apt says of its archives (place, release and component in each line), as a list of sources in them.
fn sources(archives: &str, keyring: &str) -> String {
    let mut lines: Vec<String> = archives
        .lines()
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            let (place, release, component) = (words.next()?, words.next()?, words.next()?);
            (component == "main" && place.trim_end_matches('/').ends_with("/debian"))
                .then(|| format!("deb-src [signed-by={keyring}] {place} {release} {component}\n"))
        })
        .collect();
    lines.sort();
    lines.dedup();
    lines.concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_asked_of_the_archives_that_apt_knows() {
        let said = "https://one.example/debian/ bookworm main\nhttps://one.example/debian/ bookworm main\n\
                    https://two.example/else stable main\nhttps://one.example/debian/ bookworm contrib\n";
        assert_eq!(sources(said, "/k"), "deb-src [signed-by=/k] https://one.example/debian/ bookworm main\n");
        assert_eq!(sources("", "/k"), "");
    }
}
