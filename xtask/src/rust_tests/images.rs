//! The tests as images: built here, run where there is no Rust.
//!
//! `DIR/SUITE/TARGET.program.gz` is one crate of tests, for whichever device, and `TARGET.N.program.gz` a part of one;
//! which ones there are is what there is to run.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use super::layout::{self, Suite};
use super::lists::Lists;
use super::{Arguments, builds, place};

const SUFFIX: &str = ".program.gz";

/// Builds a suite's targets into `dir`; the names of those that cannot be built.
pub(super) fn build(
    tool: &Path,
    arguments: &Arguments,
    suite: Suite,
    lists: &Lists,
    target_device: &str,
    dir: &Path,
) -> Result<Vec<String>> {
    let parts = target_device.starts_with("nvptx") || target_device.starts_with("cubin");
    let device = if parts { "cuda" } else { target_device };
    let place = place(suite, parts);
    let to = std::path::absolute(dir)?.join(suite.name());
    fs::create_dir_all(&to).with_context(|| format!("cannot create {}", to.display()))?;
    let mut problems = Vec::new();
    for target in layout::write(suite, lists, device, &place, parts)?.iter().filter(|target| arguments.wants(&target.name)) {
        let began = Instant::now();
        let name = target.part.map_or_else(|| target.name.clone(), |part| format!("{}.{part}", target.name));
        // Cargo's names of two targets may be one.
        let left = place.join("images").join(&name);
        let _ = fs::remove_dir_all(&left);
        let mut command = Command::new(tool);
        command.args(["hostcall", "build", "--quiet", "--tests", "--for", target_device, "--output"]).arg(&left).args(&target.selection);
        builds(&mut command, &place, target);
        if !command.status()?.success() {
            problems.push(format!("{}/{name} does not build for {target_device}", suite.name()));
            continue;
        }
        let image = the_one_file(&left)?;
        let packed = to.join(format!("{name}{SUFFIX}"));
        let status = Command::new("gzip").arg("-9c").arg(&image).stdout(File::create(&packed)?).status().context("needs gzip")?;
        ensure!(status.success(), "gzip {}: {status}", image.display());
        let [whole, small] = [&image, &packed].map(|file| fs::metadata(file).map_or(0, |about| about.len()));
        println!("{}: {whole} bytes, {small} compressed; {} s", packed.display(), began.elapsed().as_secs());
    }
    Ok(problems)
}

fn the_one_file(dir: &Path) -> Result<PathBuf> {
    let files = fs::read_dir(dir)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    let [file] = &files[..] else { anyhow::bail!("one image was to be built, and not {files:?}") };
    Ok(file.clone())
}

/// Unpacks the chosen images of a suite in `dir` into `to`: names of targets and files, parts of one behind each other.
/// A suite that has no directory has none.
pub(super) fn unpack(dir: &Path, suite: Suite, to: &Path, wanted: impl Fn(&str) -> bool) -> Result<Vec<(String, PathBuf)>> {
    let dir = dir.join(suite.name());
    let mut all = Vec::new();
    if !dir.is_dir() {
        return Ok(all);
    }
    for entry in fs::read_dir(&dir).with_context(|| format!("cannot read {}", dir.display()))? {
        let packed = entry?.path();
        let Some(name) = packed.file_name().and_then(|name| name.to_str()?.strip_suffix(SUFFIX)) else { continue };
        let target = name.split('.').next().unwrap_or(name);
        if wanted(target) {
            let image = to.join(format!("{}-{name}.program", suite.name()));
            let status = Command::new("gzip").arg("-dc").arg(&packed).stdout(File::create(&image)?).status().context("needs gzip")?;
            ensure!(status.success(), "gzip -d {}: {status}", packed.display());
            all.push((target.to_owned(), image));
        }
    }
    all.sort();
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_packed_is_unpacked_by_suite_and_name() {
        let sh = xshell::Shell::new().expect("a shell");
        let dir = sh.create_temp_dir().expect("a directory");
        let (from, to) = (dir.path().join("from"), dir.path().join("to"));
        fs::create_dir_all(from.join("std")).and_then(|()| fs::create_dir_all(&to)).expect("directories");
        for name in ["time", "env.2", "env.1"] {
            fs::write(from.join("std").join(name), name).expect("written");
            let status = Command::new("gzip").args(["-S", SUFFIX]).arg(from.join("std").join(name)).status().expect("gzip");
            assert!(status.success());
        }
        fs::write(from.join("std/notes.txt"), "no image").expect("written");
        let all = unpack(&from, Suite::Std, &to, |_| true).expect("unpacked");
        assert_eq!(all.iter().map(|(name, _)| &**name).collect::<Vec<_>>(), ["env", "env", "time"]);
        let texts: Vec<_> = all.iter().map(|(_, image)| fs::read_to_string(image).expect("unpacked")).collect();
        assert_eq!(texts, ["env.1", "env.2", "time"]);
        assert_eq!(unpack(&from, Suite::Std, &to, |name| name == "time").expect("unpacked").len(), 1);
        assert_eq!(unpack(&from, Suite::Core, &to, |_| true).expect("there is none"), []);
        fs::write(from.join("std/broken.program.gz"), "no archive").expect("written");
        assert!(unpack(&from, Suite::Std, &to, |_| true).is_err());
    }
}
