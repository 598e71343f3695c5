//! Services, kernels and host program in one package: the package is compiled twice, once for this machine and once for
//! the device.
//!
//! The package's build script builds the kernels, and cargo would run it again to build the same package for the
//! device, and wait for itself. So the device's half is another package, written here into the target directory: it has
//! the sources where they are, the dependencies that the device needs, and neither a build script nor what build
//! scripts and tests depend on. Dependencies of the host alone stand in the manifest's table
//! `[target.'cfg(not(hostcall_device))'.dependencies]`, as cargo has it for everything that is not for every target.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use offload_image::Sha256;
use serde_json::Value;

use crate::BuildError;

/// What cargo says about the package in a directory.
pub(crate) struct Package<'a> {
    metadata: &'a Value,
    package: &'a Value,
}

impl<'a> Package<'a> {
    /// The package of that manifest in what `cargo metadata` says, if it builds kernels of its own: if its build script
    /// may use this crate.
    pub(crate) fn with_kernels(metadata: &'a Value, manifest: &Path) -> Option<Package<'a>> {
        let packages = metadata["packages"].as_array()?;
        let package = packages.iter().find(|package| package["manifest_path"].as_str().map(Path::new) == Some(manifest))?;
        let builds = |dependency: &Value| dependency["name"] == env!("CARGO_PKG_NAME") && dependency["kind"] == "build";
        array(&package["dependencies"]).iter().any(builds).then_some(Package { metadata, package })
    }

    /// Where cargo builds the workspace's packages.
    pub(crate) fn target_dir(&self) -> Option<PathBuf> {
        self.metadata["target_directory"].as_str().map(PathBuf::from)
    }

    /// The lock file of the workspace.
    pub(crate) fn lock(&self) -> PathBuf {
        self.workspace().join("Cargo.lock")
    }

    fn workspace(&self) -> &Path {
        Path::new(self.metadata["workspace_root"].as_str().unwrap_or_default())
    }

    fn name(&self) -> &str {
        self.package["name"].as_str().unwrap_or_default()
    }

    /// Writes the device's half below `dir`; its manifest.
    pub(crate) fn write(&self, dir: &Path) -> Result<PathBuf, BuildError> {
        let root = self.workspace().join("Cargo.toml");
        let root = fs::read_to_string(&root).map_err(BuildError::io("read", root))?;
        let text = self.manifest()? + &patches(&root, self.workspace());
        let dir = self.home(&dir.join("kernels"), &text);
        let settings = dir.join(".cargo");
        fs::create_dir_all(&settings).map_err(BuildError::io("create", &settings))?;
        // For who looks at the half without us, as rust-analyzer does. We build from elsewhere, with all flags.
        replace(&settings.join("config.toml"), SETTINGS.as_bytes())?;
        let manifest = dir.join("Cargo.toml");
        replace(&manifest, text.as_bytes())?;
        // Equal versions on both sides. Cargo leaves out of it what is not needed, so what was copied is kept for
        // comparison.
        if let Ok(lock) = fs::read(self.lock())
            && replace(&dir.join("Cargo.lock.host"), &lock)?
        {
            replace(&dir.join("Cargo.lock"), &lock)?;
        }
        Ok(manifest)
    }

    /// Where the half with that manifest is: by the package's name, so that settings of editors can name it. Packages
    /// of one name that share a target directory are told apart.
    fn home(&self, dir: &Path, manifest: &str) -> PathBuf {
        let first = |text: &str| text.lines().next().map(str::to_owned);
        let plain = dir.join(self.name());
        let is_ours = |text: String| first(&text) == first(manifest);
        if fs::read_to_string(plain.join("Cargo.toml")).map_or(true, is_ours) {
            return plain;
        }
        let hash = Sha256::of(self.package["manifest_path"].as_str().unwrap_or_default().as_bytes()).to_string();
        dir.join(format!("{}-{}", self.name(), &hash[..8]))
    }

    /// The file that both sides begin with: the library's, or the only program's.
    fn root_file(&self) -> Result<&'a str, BuildError> {
        let targets = array(&self.package["targets"]);
        let of_kind = |kinds: &[&str]| -> Vec<&'a str> {
            let is = |target: &&Value| array(&target["kind"]).iter().any(|kind| kinds.iter().any(|wanted| kind == wanted));
            targets.iter().filter(is).filter_map(|target| target["src_path"].as_str()).collect()
        };
        match (&of_kind(&["lib", "rlib", "cdylib", "dylib", "staticlib"])[..], &of_kind(&["bin"])[..]) {
            ([library], _) => Ok(library),
            ([], [program]) => Ok(program),
            _ => Err(BuildError::NotAPackage {
                path: self.package["manifest_path"].as_str().unwrap_or_default().into(),
                problem: "it has several programs and no library: put the kernels into src/lib.rs".into(),
            }),
        }
    }

    fn manifest(&self) -> Result<String, BuildError> {
        let package = self.package;
        let mut text = format!(
            "# Written by hostcall-build: the kernels of {}, as a package of their own.\n\n[package]\nname = {}\nversion = {}\nedition = {}\n\
             build = false\n\n[lib]\nname = {}\npath = {}\n\n[workspace]\n",
            package["manifest_path"],
            package["name"],
            package["version"],
            package["edition"],
            Value::from(self.name().replace('-', "_")),
            Value::from(self.root_file()?),
        );
        let mut kept = Vec::new();
        for dependency in array(&package["dependencies"]).iter().filter(|dependency| is_for_the_device(dependency)) {
            let name = dependency["rename"].as_str().or(dependency["name"].as_str()).unwrap_or_default();
            let table = match dependency["target"].as_str() {
                Some(target) => format!("target.{}.dependencies", Value::from(target)),
                None => "dependencies".into(),
            };
            let _ = write!(text, "\n[{table}.{}]\n{}", Value::from(name), source(dependency));
            kept.push(name);
        }
        text += "\n[features]\n";
        if let Some(features) = package["features"].as_object() {
            // A feature of what only the host depends on is nothing here.
            let known = |entry: &str| {
                let name = entry.strip_prefix("dep:").unwrap_or(entry);
                let name = name.split('/').next().unwrap_or(name).trim_end_matches('?');
                kept.contains(&name) || (!entry.starts_with("dep:") && features.contains_key(entry))
            };
            for (name, entries) in features {
                let entries: Vec<&Value> = array(entries).iter().filter(|entry| entry.as_str().is_some_and(known)).collect();
                let _ = writeln!(
                    text,
                    "{} = [{}]",
                    Value::from(name.as_str()),
                    entries.iter().map(|e| e.to_string()).collect::<Vec<_>>().join(", ")
                );
            }
        }
        Ok(text)
    }
}

/// Cargo's settings in the directory of the half.
const SETTINGS: &str =
    "[build]\nrustflags = [\"--cfg\", \"hostcall_device\", \"--check-cfg\", \"cfg(hostcall_device)\"]\ntarget-dir = \"../../editor\"\n";

fn array(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Ordinary dependencies, but for those that say that they are the host's.
fn is_for_the_device(dependency: &Value) -> bool {
    let target: String = dependency["target"].as_str().unwrap_or_default().split_whitespace().collect();
    dependency["kind"].is_null() && target != "cfg(not(hostcall_device))"
}

/// The lines of a dependency's table.
fn source(dependency: &Value) -> String {
    let mut text = String::new();
    let mut line = |key: &str, value: &Value| {
        if !value.is_null() {
            let _ = writeln!(text, "{key} = {value}");
        }
    };
    if !dependency["rename"].is_null() {
        line("package", &dependency["name"]);
    }
    line("path", &dependency["path"]);
    match dependency["source"].as_str() {
        Some(git) if git.starts_with("git+") => {
            let (url, query) = git["git+".len()..].split_once('?').unwrap_or((&git["git+".len()..], ""));
            line("git", &url.split('#').next().into());
            for (key, value) in query.split('#').next().unwrap_or_default().split('&').filter_map(|pair| pair.split_once('=')) {
                line(key, &value.into());
            }
        }
        _ => {
            line("version", &dependency["req"]);
            line("registry-index", &dependency["registry"]);
        }
    }
    line("default-features", &dependency["uses_default_features"]);
    line("features", &dependency["features"]);
    line("optional", &dependency["optional"]);
    text
}

/// The tables `[patch.…]` of the workspace's manifest, whose paths are relative to it.
fn patches(manifest: &str, workspace: &Path) -> String {
    let mut text = String::new();
    let mut inside = false;
    for line in manifest.lines() {
        if let Some(table) = line.trim_start().strip_prefix('[') {
            inside = table.trim_start().starts_with("patch.");
        }
        if !inside {
            continue;
        }
        let path = line.split_once("path").and_then(|(before, rest)| {
            let rest = rest.trim_start().strip_prefix('=')?.trim_start();
            let (path, after) = rest.strip_prefix('"')?.split_once('"')?;
            Some(format!("{before}path = {}{after}", Value::from(workspace.join(path).display().to_string())))
        });
        text += &path.unwrap_or_else(|| line.to_owned());
        text.push('\n');
    }
    text
}

/// Writes the file if it has another content, and by a rename: several builds may do so at once. Whether it had.
fn replace(file: &Path, content: &[u8]) -> Result<bool, BuildError> {
    if fs::read(file).is_ok_and(|found| found == content) {
        return Ok(false);
    }
    let fresh = file.with_extension(format!("{}.new", std::process::id()));
    fs::write(&fresh, content).map_err(BuildError::io("write", &fresh))?;
    fs::rename(&fresh, file).map_err(BuildError::io("write", file))?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn metadata() -> Value {
        let dependency = |name: &str, kind: Value, target: Value, more: Value| {
            let mut all = json!({"name": name, "kind": kind, "target": target, "req": "^1", "source": "registry+https://github.com/rust-lang/crates.io-index",
                "rename": null, "optional": false, "uses_default_features": true, "features": [], "registry": null});
            for (key, value) in more.as_object().expect("an object") {
                all[key] = value.clone();
            }
            all
        };
        json!({"workspace_root": "/w", "target_directory": "/w/target", "packages": [{
            "name": "my-demo", "version": "0.1.0", "edition": "2024", "manifest_path": "/w/demo/Cargo.toml",
            "targets": [
                {"kind": ["bin"], "src_path": "/w/demo/src/main.rs"},
                {"kind": ["custom-build"], "src_path": "/w/demo/build.rs"}
            ],
            "features": {"default": ["fast", "dep:image"], "fast": ["math/simd"], "image": ["dep:image"]},
            "dependencies": [
                dependency("hostcall", Value::Null, Value::Null, json!({"path": "/h/hostcall", "source": null, "req": "*"})),
                dependency("libm", Value::Null, Value::Null, json!({"rename": "math", "uses_default_features": false})),
                dependency("plain", Value::Null, json!("cfg(hostcall_device)"), json!({"source": "git+https://x/y?branch=z", "req": "*"})),
                dependency("image", Value::Null, json!("cfg(not(hostcall_device))"), json!({"optional": true})),
                dependency("hostcall-build", json!("build"), Value::Null, json!({})),
                dependency("proptest", json!("dev"), Value::Null, json!({})),
            ]
        }]})
    }

    #[test]
    fn the_devices_half_has_the_sources_and_what_the_device_depends_on() {
        let metadata = metadata();
        let package = Package::with_kernels(&metadata, Path::new("/w/demo/Cargo.toml")).expect("it builds kernels");
        let text = package.manifest().expect("it has one program");
        for part in [
            "name = \"my_demo\"\npath = \"/w/demo/src/main.rs\"\n",
            "build = false\n",
            "[dependencies.\"hostcall\"]\npath = \"/h/hostcall\"\nversion = \"*\"\n",
            "[dependencies.\"math\"]\npackage = \"libm\"\nversion = \"^1\"\ndefault-features = false\n",
            "[target.\"cfg(hostcall_device)\".dependencies.\"plain\"]\ngit = \"https://x/y\"\nbranch = \"z\"\n",
            "\"default\" = [\"fast\"]\n\"fast\" = [\"math/simd\"]\n\"image\" = []\n",
        ] {
            assert!(text.contains(part), "no {part} in {text}");
        }
        assert!(["hostcall-build\"]", "proptest", "\"image\"]"].iter().all(|part| !text.contains(part)), "{text}");
    }

    #[test]
    fn a_package_without_this_crate_in_its_build_script_is_left_as_it_is() {
        let mut metadata = metadata();
        metadata["packages"][0]["dependencies"].as_array_mut().expect("a list").retain(|dependency| dependency["kind"] != "build");
        assert!(Package::with_kernels(&metadata, Path::new("/w/demo/Cargo.toml")).is_none());
    }

    #[test]
    fn several_programs_without_a_library_are_refused_with_what_to_do() {
        let mut metadata = metadata();
        let targets = metadata["packages"][0]["targets"].as_array_mut().expect("a list");
        targets.push(json!({"kind": ["bin"], "src_path": "/w/demo/src/bin/other.rs"}));
        let package = Package::with_kernels(&metadata, Path::new("/w/demo/Cargo.toml")).expect("it builds kernels");
        assert!(package.root_file().expect_err("two").to_string().contains("src/lib.rs"));
    }

    #[test]
    fn packages_of_one_name_in_one_target_directory_have_halves_of_their_own() {
        let dir = tempfile::tempdir().expect("a directory");
        let mut metadata = metadata();
        let home = |metadata: &Value, manifest: &str| {
            let package = Package::with_kernels(metadata, Path::new(manifest)).expect("it builds kernels");
            let text = package.manifest().expect("it has one program");
            let home = package.home(dir.path(), &text);
            fs::create_dir_all(&home).expect("made");
            fs::write(home.join("Cargo.toml"), text).expect("written");
            home
        };
        let first = home(&metadata, "/w/demo/Cargo.toml");
        assert_eq!((first.clone(), home(&metadata, "/w/demo/Cargo.toml")), (dir.path().join("my-demo"), first.clone()));
        metadata["packages"][0]["manifest_path"] = "/other/Cargo.toml".into();
        let other = home(&metadata, "/other/Cargo.toml");
        assert!(other != first && other == home(&metadata, "/other/Cargo.toml"), "{other:?}");
    }

    #[test]
    fn patches_of_the_workspace_hold_for_the_kernels_too() {
        let manifest = "[package]\nname = \"x\"\n[patch.crates-io]\nlibm = { path = \"../libm\", version = \"1\" }\n\n[patch.\"https://x\"]\na = { git = \"g\" }\n[profile.dev]\nopt-level = 1\n";
        assert_eq!(
            patches(manifest, Path::new("/w")),
            "[patch.crates-io]\nlibm = { path = \"/w/../libm\", version = \"1\" }\n\n[patch.\"https://x\"]\na = { git = \"g\" }\n"
        );
    }
}
