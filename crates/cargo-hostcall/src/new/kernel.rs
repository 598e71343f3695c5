//! `cargo hostcall new --kernel`: services, a kernel and the host program in one package.

use std::path::Path;

/// Builds the kernels.
pub(super) const BUILD: &str = r#"//! Compiles this package once more, for the device: `cfg(hostcall_device)` tells the two sides apart.

fn main() {
    hostcall_build::program(".").emit();
}
"#;

/// The program; `PACKAGE` stands for the package's name.
const MAIN: &str = r#"//! What a kernel may ask its host, and the host. This file is compiled twice: for the device, with the kernels, and for this machine.
#![cfg_attr(hostcall_device, no_std)]

/// What the kernel may ask. There, these are functions; here, `host::add42` and `host::log` make services of closures.
#[hostcall::service]
pub trait Host {
    /// `x + 42`.
    fn add42(x: f32) -> f32;
    /// Without a result: the kernel does not wait.
    fn log(message: &str);
}

/// On the device: `src/kernels.rs`.
#[cfg(hostcall_device)]
mod kernels;

/// On this machine.
#[cfg(not(hostcall_device))]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    use hostcall::{Args, Device, Launch, Server};

    let kernels = hostcall::include_program!("PACKAGE");
    let (device, why) = Device::default_for(&kernels);
    println!("running on {} ({why})", device.info().name);
    let server = Server::builder(&device)
        .service(host::add42(|x| x + 42.0))
        .service(host::log(|message: &str| println!("the kernel says: {message}")))
        .start()?;
    let program = device.load(&kernels)?;
    server.attach(&program)?;

    let queue = device.queue()?;
    let y = device.alloc::<f32>(8)?;
    queue.copy_to(&y, 0, &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0])?;
    // SAFETY: the kernel takes one slice of `f32`; `y` is one, and outlives the launch, which `wait` waits for.
    unsafe { queue.launch(&program.kernel("demo")?, Launch::threads(8, 32), Args::new().slice(&y))? };
    server.wait(&queue)?;
    println!("{:?}", queue.read(&y)?);
    Ok(())
}
"#;

/// The kernels.
pub(super) const KERNELS: &str = r#"//! What runs on the device.

use hostcall::CallError;
use hostcall::prelude::*;

use super::Host;

#[kernel]
pub fn demo(y: &mut [f32]) -> Result<(), CallError> {
    let i = global_id();
    // Lanes come in whole waves: there may be more of them than elements.
    if i < y.len() {
        y[i] = Host::add42(y[i])?;
    }
    if i == 0 {
        Host::log("the first lane is done")?;
    }
    Ok(())
}
"#;

/// What rust-analyzer must know, in editors that read VS Code's settings: the package, and the device's half of it,
/// which the first build writes.
pub(super) fn editor(manifest: &str) -> String {
    let half = format!("target/hostcall/kernels/{}/Cargo.toml", name(manifest));
    let settings = serde_json::json!({ "rust-analyzer.linkedProjects": ["Cargo.toml", half] });
    format!("{settings:#}\n")
}

fn name(manifest: &str) -> &str {
    manifest.lines().find_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"')).unwrap_or_default()
}

/// The program of the package with that manifest.
pub(super) fn main(manifest: &str) -> String {
    MAIN.replace("PACKAGE", name(manifest))
}

/// The manifest that `cargo new` wrote, with what the two sides and the build script need.
pub(super) fn with_dependencies(manifest: &str) -> String {
    let both = format!("[dependencies]\nhostcall = {}\n", source("hostcall"));
    let text = match manifest.split_once("[dependencies]\n") {
        Some((before, after)) => format!("{before}{both}{after}"),
        None => format!("{manifest}\n{both}"),
    };
    let build = source("hostcall-build");
    format!(
        "{text}\n# Of the program alone: what kernels have no use for goes here, too.\n[target.'cfg(not(hostcall_device))'.dependencies]\n\
         \n[build-dependencies]\nhostcall-build = {build}\n"
    )
}

/// Where a crate of hostcall's comes from: the checkout that this program was built from, or the registry.
fn source(name: &str) -> String {
    source_in(hostcall_build::beside(name).as_deref())
}

/// The same of a crate that lies in `dir`, if this program was built from sources beside it.
fn source_in(dir: Option<&Path>) -> String {
    match dir {
        Some(dir) => format!("{{ path = {} }}", serde_json::Value::from(dir.display().to_string())),
        None => format!("{:?}", env!("CARGO_PKG_VERSION")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependencies_go_where_cargo_left_room_for_them() {
        let manifest = "[package]\nname = \"a-b\"\nedition = \"2024\"\n\n[dependencies]\n";
        let text = with_dependencies(manifest);
        assert_eq!(text.matches("[dependencies]").count(), 1);
        assert!(text.contains("[dependencies]\nhostcall = { path = "), "{text}");
        assert!(text.contains("\n[build-dependencies]\nhostcall-build = { path = "), "{text}");
        assert!(main(manifest).contains("include_program!(\"a-b\")"));
    }

    #[test]
    fn what_was_installed_from_the_registry_takes_its_own_version_from_there() {
        assert_eq!(source_in(None), concat!('"', env!("CARGO_PKG_VERSION"), '"'));
    }
}
