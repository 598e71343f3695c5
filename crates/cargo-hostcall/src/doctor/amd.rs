//! What the system knows of AMD's GPUs without their runtime: it says why that finds none.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Finding, Mark, gpus_of};

/// The kernel driver's door.
const KFD: &str = "/dev/kfd";
/// Where the kernel driver describes processors.
const TOPOLOGY: &str = "/sys/class/kfd/kfd/topology/nodes";

/// Nothing where there is no such GPU.
pub(super) fn findings() -> Vec<Finding> {
    let Some(count) = gpus_of("0x1002") else { return Vec::new() };
    let mut findings = vec![finding(Mark::Ok, "AMD GPUs", format!("{count} on the PCI bus"), None)];
    if Path::new("/sys/module/amdgpu").is_dir() {
        findings.push(finding(Mark::Ok, "kernel module", "amdgpu".into(), None));
    } else {
        let remedy = "to fix: `modprobe amdgpu`; its firmware is in the package `firmware-amd-graphics`";
        findings.push(finding(Mark::Missing, "kernel module", "the module `amdgpu` is not loaded".into(), Some(remedy)));
    }
    findings.extend(device_files().into_iter().map(|file| rights(&file)));
    let mut known = processors(Path::new(TOPOLOGY));
    known.dedup();
    findings.extend(known.iter().map(|name| {
        let remedy =
            too_new_for_debian_12(name).then_some("Debian 12's runtime (5.2.3) does not know it; Debian 13's (6.1) or ROCm's own does");
        finding(Mark::Ok, "processor", name.clone(), remedy)
    }));
    findings
}

fn finding(mark: Mark, name: &str, detail: String, remedy: Option<&str>) -> Finding {
    Finding { mark, name: name.into(), detail, remedy: remedy.map(Into::into) }
}

/// `/dev/kfd`, there or not, and `/dev/dri/renderD128` …
fn device_files() -> Vec<PathBuf> {
    let entries = fs::read_dir("/dev/dri").into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> =
        entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("renderD")).map(|entry| entry.path()).collect();
    files.sort();
    files.insert(0, KFD.into());
    files
}

/// Whether this user may open a device file.
fn rights(file: &Path) -> Finding {
    let name = file.display().to_string();
    match fs::File::options().read(true).write(true).open(file) {
        Ok(_) => finding(Mark::Ok, "device file", name, None),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let remedy = "to fix: load the kernel module; in a container: pass `--device=/dev/kfd --device=/dev/dri`";
            finding(Mark::Missing, "device file", format!("no {name}"), Some(remedy))
        }
        Err(error) => {
            let remedy = "to fix: add this user to the group that `ls -l` shows (`render` or `video`), and log in again";
            finding(Mark::Missing, "device file", format!("{name}: {error}"), Some(remedy))
        }
    }
}

/// Names of the processors that the kernel driver describes.
fn processors(topology: &Path) -> Vec<String> {
    let nodes = fs::read_dir(topology).into_iter().flatten().flatten();
    let mut names: Vec<String> = nodes
        .filter_map(|node| {
            let text = fs::read_to_string(node.path().join("properties")).ok()?;
            let version = text.lines().find_map(|line| line.strip_prefix("gfx_target_version "))?.trim().parse().ok()?;
            processor(version)
        })
        .collect();
    names.sort();
    names
}

/// `90402` as `gfx942`; 0 is a CPU.
fn processor(version: u32) -> Option<String> {
    (version > 0).then(|| format!("gfx{}{:x}{:x}", version / 10_000, version / 100 % 100, version % 100))
}

/// Whether ROCr 5.2.3 has no name for it.
fn too_new_for_debian_12(processor: &str) -> bool {
    ["gfx94", "gfx95", "gfx11", "gfx12"].iter().any(|family| processor.starts_with(family))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_are_named_from_the_drivers_numbers() {
        let names = [90_010, 90_402, 90_500, 110_000, 100_302, 120_000].map(|version| processor(version).expect("a GPU"));
        assert_eq!(names, ["gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1032", "gfx1200"]);
        assert_eq!(processor(0), None, "a CPU");
    }

    #[test]
    fn the_topology_of_the_kernel_driver_is_read() {
        let dir = tempfile::tempdir().expect("a directory");
        for (node, text) in
            [("0", "cpu_cores_count 64\ngfx_target_version 0\n"), ("1", "simd_count 8\ngfx_target_version 90402\n"), ("2", "\n")]
        {
            fs::create_dir(dir.path().join(node)).expect("made");
            fs::write(dir.path().join(node).join("properties"), text).expect("written");
        }
        assert_eq!(processors(dir.path()), ["gfx942"]);
        assert!(processors(&dir.path().join("absent")).is_empty());
        assert!(too_new_for_debian_12("gfx942") && !too_new_for_debian_12("gfx90a"));
    }

    #[test]
    fn a_device_file_that_is_missing_or_closed_comes_with_what_to_do() {
        let missing = rights(Path::new("/nowhere/kfd"));
        assert!(missing.mark == Mark::Missing && missing.remedy.expect("a remedy").contains("--device=/dev/kfd"));
        let closed = rights(Path::new("/proc"));
        assert!(closed.mark == Mark::Missing && closed.remedy.expect("a remedy").contains("`render` or `video`"));
        assert_eq!(rights(Path::new("/dev/null")).mark, Mark::Ok);
    }
}
