//! hostcall beside the cudarc of others: whichever version of CUDA it was told, and whoever told it. cudarc is one
//! crate in a program, so that what one of its users chooses holds for all.

use std::fs;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use xshell::{Shell, cmd};

use crate::steps::Steps;

/// Users of cudarc, whose features and whose choice of a version cargo joins with ours. cubecl 0.11 and burn 0.22 have
/// the same cudarc; their build scripts fetch LLVM from a server of their own, which these do not.
const NEIGHBOURS: [(&str, &str); 2] = [("cubecl-cuda", "=0.10.0"), ("burn-cuda", "=0.21.0")];

/// What candle's kernels include beside what the tests of C++ have installed.
const CANDLE: &str = "nvidia-cuda-cccl==13.3.5.0.6";

/// Compiles hostcall with each version that cudarc knows, beside other users of cudarc, and the example with candle.
pub(crate) fn steps(sh: &Shell, steps: &mut Steps) {
    steps.run("each version of CUDA that cudarc knows", || {
        let versions = versions(&cmd!(sh, "cargo metadata --format-version 1 --locked").quiet().read()?)?;
        versions.iter().try_for_each(|version| {
            println!("   {version}");
            crate::test::succeed(&format!("check --quiet --package hostcall-platform --features cudarc,cudarc/{version}"))
        })
    });
    steps.run("beside other users of cudarc", beside);
    steps.run("the example with candle", || candle(sh));
}

/// The features by which cudarc is told a version of CUDA.
fn versions(metadata: &str) -> Result<Vec<String>> {
    #[derive(Deserialize)]
    struct Metadata {
        packages: Vec<Package>,
    }
    #[derive(Deserialize)]
    struct Package {
        name: String,
        features: std::collections::BTreeMap<String, Vec<String>>,
    }
    let metadata: Metadata = serde_json::from_str(metadata)?;
    let cudarc = metadata.packages.into_iter().find(|package| package.name == "cudarc").context("no cudarc")?;
    let number = |name: &str| name.strip_prefix("cuda-").is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
    let versions: Vec<_> = cudarc.features.into_keys().filter(|name| number(name)).collect();
    ensure!(!versions.is_empty(), "cudarc has no features of the form cuda-13000 any more");
    Ok(versions)
}

/// A package that depends on hostcall and on its neighbours.
fn beside() -> Result<()> {
    let folder = crate::root().join("target/beside-cudarc");
    let hostcall = crate::root().join("crates/hostcall");
    let mut manifest = format!(
        "[package]\nname = \"beside-cudarc\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
         [dependencies]\nhostcall = {{ path = {hostcall:?}, features = [\"cudarc\"] }}\n"
    );
    let mut uses = String::from("use hostcall as _;\n");
    for (name, version) in NEIGHBOURS {
        manifest.push_str(&format!("{name} = \"{version}\"\n"));
        uses.push_str(&format!("use {} as _;\n", name.replace('-', "_")));
    }
    fs::create_dir_all(folder.join("src"))?;
    fs::write(folder.join("Cargo.toml"), manifest)?;
    fs::write(folder.join("src/lib.rs"), uses)?;
    let target = crate::target_directory().join("beside-cudarc/target");
    crate::test::succeed(&format!(
        "check --quiet --manifest-path {} --target-dir {}",
        folder.join("Cargo.toml").display(),
        target.display()
    ))
}

/// The package of the example is no part of the workspace: candle compiles its own kernels.
fn candle(sh: &Shell) -> Result<()> {
    let cuda = crate::root().join("target/cuda-candle");
    crate::cuda::install(sh, "target/cuda-candle", &crate::cuda::with(CANDLE))?;
    let home = cuda.join("nvidia/cu13");
    let manifest = crate::root().join("examples/candle/Cargo.toml");
    let target = crate::target_directory().join("candle");
    let status = crate::test::cargo("check --quiet --locked --manifest-path")
        .arg(&manifest)
        .arg("--target-dir")
        .arg(&target)
        .envs([("CUDA_COMPUTE_CAP", "90"), ("CUDARC_CUDA_VERSION", "13000"), ("HOSTCALL_TARGETS", "nvptx")])
        .env("CUDA_HOME", &home)
        .env("NVCC", home.join("bin/nvcc"))
        .status()?;
    ensure!(status.success(), "examples/candle: {status}");
    Ok(())
}

#[test]
fn versions_are_features_named_by_a_number() {
    let metadata = r#"{"packages": [{"name": "other", "features": {"cuda-1": []}}, {"name": "cudarc", "features":
        {"cuda-12040": [], "cuda-13000": [], "cuda-version-from-build-system": [], "cudnn-08009": [], "std": []}}]}"#;
    assert_eq!(versions(metadata).unwrap(), ["cuda-12040", "cuda-13000"]);
    assert!(versions(r#"{"packages": [{"name": "cudarc", "features": {"std": []}}]}"#).is_err());
}
