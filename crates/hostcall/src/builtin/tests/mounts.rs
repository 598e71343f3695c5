//! Grants are what bind mounts are: random grants, and random operations on random paths, compared with the kernel's.
//!
//! The kernel's half runs in a user and mount namespace of its own, where everybody may mount: this test starts itself
//! there. Both halves have a copy of the same files. A thread whose root is the mounted tree does each operation by
//! system calls; then the services do it under the same grants. Results are compared one by one, and the copies when
//! all is done.

use std::env;
use std::ffi::CString;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

use super::*;

mod kernel;
mod operations;

use operations::{Random, Setting};

/// Set in the process that runs in the namespace.
const INSIDE: &str = "HOSTCALL_TEST_MOUNTS";
/// Grants are drawn so often, and so many operations with each.
const ROUNDS: u64 = 250;
const OPERATIONS: usize = 400;

#[test]
fn random_grants_and_operations_are_as_with_bind_mounts() {
    if env::var_os(INSIDE).is_some() {
        return inside();
    }
    let name = concat!(module_path!(), "::random_grants_and_operations_are_as_with_bind_mounts");
    let name = name.split_once("::").unwrap().1;
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", name, "--nocapture"]).env(INSIDE, "1").stdin(Stdio::null());
    let ids = [rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw()].map(|id| CString::new(format!("0 {id} 1")).unwrap());
    // SAFETY: between fork and exec there are system calls only, on memory that was made before.
    unsafe { command.pre_exec(move || kernel::enter(&ids)) };
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => {
            eprintln!("skipped: this system lets no program have a mount namespace: {error}");
            return;
        }
    };
    let said = [output.stdout, output.stderr].map(|said| String::from_utf8_lossy(&said).into_owned());
    assert!(output.status.success(), "{}{}", said[0], said[1]);
    match said[0].lines().find(|line| line.starts_with("skipped: ")) {
        Some(skipped) => eprintln!("{skipped}"),
        None => assert!(said[0].contains("operations were as the kernel's"), "{}{}", said[0], said[1]),
    }
}

/// The same in the namespace.
fn inside() {
    let place = tempfile::tempdir().unwrap();
    if let Err(error) = kernel::prepare(place.path()) {
        println!("skipped: this system lets no program mount in a namespace of its own: {error}");
        return;
    }
    let first: u64 = env::var("HOSTCALL_TEST_SEED").map_or(0, |seed| seed.parse().unwrap());
    let mut done = 0;
    let mut differences = Vec::new();
    for seed in first..first + ROUNDS {
        match round(place.path(), seed) {
            Ok(operations) => done += operations,
            Err(difference) => differences.push(difference),
        }
    }
    assert!(differences.is_empty(), "{} of {ROUNDS} rounds differ\n{}", differences.len(), differences.join("\n"));
    println!("{done} operations were as the kernel's");
    kernel::unmount(place.path());
}

/// Draws grants and operations, and compares.
fn round(place: &Path, seed: u64) -> Result<usize, String> {
    let at = place.join(seed.to_string());
    fs::create_dir(&at).unwrap();
    let mut random = Random::new(seed);
    let setting = Setting::draw(&mut random);
    let [theirs, ours] = ["theirs", "ours"].map(|half| {
        let files = at.join(half);
        setting.make(&files, &mut Random::new(seed ^ 0xf11e5));
        files
    });
    let operations = operations::draw(&mut random, &setting, OPERATIONS);
    let expected = kernel::run(&at, &theirs, &setting, &operations);

    let mut policy = Policy::new();
    setting.grants.iter().for_each(|grant| {
        policy.dir(&DirGrant::new(ours.join(&grant.host), grant.guest, grant.access)).unwrap();
    });
    policy.current_dir(&setting.start);
    let world = World::of_policy(tempfile::tempdir_in(&at).unwrap(), policy);
    for (index, (operation, expected)) in operations.iter().zip(&expected).enumerate() {
        let found = operation.by_services(&world, index);
        if !expected.allows(&found, operation, &setting) {
            let before = &operations[index.saturating_sub(4)..index];
            return Err(format!(
                "seed {seed}, operation {index} ({operation:?}): the kernel {expected:?}, here {found:?}\n    {setting:?}\n    before: {before:?}"
            ));
        }
    }
    if operations::listed(&ours) != operations::listed(&theirs) {
        return Err(format!("seed {seed}: files differ at last\n    {setting:?}"));
    }
    drop(world);
    fs::remove_dir_all(&at).unwrap();
    Ok(operations.len())
}
