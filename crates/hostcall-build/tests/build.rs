//! Kernel crates built for every target that this machine can build for.

use std::path::{Path, PathBuf};

use hostcall_build::{
    AMDGPU_ARCHES, BuildError, DeviceToolchain, Image, ImageKind, ProgramBundle, ProgramSpec, Ptxas, Target, build_program,
    ptx::Instruction, ptx::Ptx,
};
use object::{Object, ObjectSymbol};

fn spec(fixture: &str, targets: Vec<Target>) -> ProgramSpec {
    let mut spec = ProgramSpec::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(fixture));
    spec.targets = targets;
    // Shared, so that `core` is built once for all of these tests.
    // But crates with path dependencies are built with other flags, which would make cargo build it again and again.
    spec.target_dir = Some(Path::new(env!("CARGO_TARGET_TMPDIR")).join(if fixture == "calls" { "hostcall-calls" } else { "hostcall" }));
    spec
}

fn build(fixture: &str, targets: Vec<Target>) -> Result<ProgramBundle, BuildError> {
    build_program(&spec(fixture, targets)).map(|built| built.bundle)
}

fn image(fixture: &str, target: Target) -> Image {
    match build(fixture, vec![target]) {
        Ok(mut bundle) => bundle.images.remove(0),
        Err(error) => panic!("{error}"),
    }
}

/// Whether GPU targets can be built here; says why not.
fn device_toolchain() -> bool {
    DeviceToolchain::find().inspect_err(|error| println!("skipped: {error}")).is_ok()
}

/// Whether it is a ballot, or a call of the fixture's function that is one.
fn collective(instruction: &&Instruction) -> bool {
    instruction.is("vote") || (instruction.is("call") && instruction.operands.contains("arch6ballot"))
}

fn exported(library: &[u8]) -> Vec<String> {
    let file = object::File::parse(library).expect("an object file");
    file.dynamic_symbols().filter(|symbol| symbol.is_definition()).filter_map(|symbol| symbol.name().ok().map(str::to_owned)).collect()
}

#[test]
fn the_simulator_image_is_a_library_that_exports_kernels_and_the_hosts_words() {
    let image = image("ballot", Target::Sim);
    assert_eq!(image.kind, ImageKind::Sim);
    assert!(image.arch.contains(std::env::consts::ARCH), "{}", image.arch);
    let exported = exported(&image.bytes);
    for name in ["__hostcall_sim_kernel_branches", "__HOSTCALL_KERNEL__branches", "__hostcall_device"] {
        assert!(exported.iter().any(|found| found == name), "{name} not in {exported:?}");
    }
}

#[test]
fn a_library_that_needs_what_nobody_provides_is_refused_by_name() {
    match build("needs", vec![Target::Sim]) {
        Err(BuildError::UndefinedSymbols { package, symbols }) => {
            assert_eq!((package.as_str(), symbols.as_slice()), ("needs", ["nobody_provides_this".to_owned()].as_slice()));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn functions_that_are_to_run_when_an_image_is_loaded_are_refused_by_name_for_each_device() {
    let gpus = if device_toolchain() { vec![Target::nvptx(), Target::Amdgpu { arch: AMDGPU_ARCHES[0].into() }] } else { Vec::new() };
    for target in [Target::Sim].into_iter().chain(gpus) {
        match build("begins", vec![target.clone()]) {
            Err(error @ BuildError::Constructors { .. }) => {
                let error = error.to_string();
                assert!(
                    error.starts_with(
                        "begins brings functions that are to run when its image is loaded or let go: begins::begin, the_end; "
                    ),
                    "{target:?}: {error}"
                );
            }
            other => panic!("{target:?}: {other:?}"),
        }
    }
}

#[test]
fn a_crate_that_does_not_compile_fails_with_the_compilers_words() {
    let error = build("broken", vec![Target::Sim]).expect_err("it does not compile").to_string();
    assert!(error.starts_with("error") && error.contains("\nerror[E0308]: mismatched types\n"), "{error}");
    let (last, before) = error.lines().rev().collect::<Vec<_>>().split_first().map(|(last, rest)| (*last, rest[0])).expect("lines");
    assert!(last.contains("rustc --release") && before.starts_with("broken was not built for the simulator"), "{error}");
    assert_eq!(error.matches("rustc --release").count(), 1, "{error}");
}

#[test]
fn warnings_of_a_crate_that_compiles_are_kept_each_once() {
    // Another build of the same crate at the same time would only be waited for.
    for _ in 0..2 {
        let mut spec = spec("calls", vec![Target::Sim]);
        spec.crate_dir.set_file_name("warns");
        let warnings = build_program(&spec).expect("it compiles").warnings;
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        assert!(warnings[0].starts_with("warning: unused `Result` that must be used\n"), "{warnings:?}");
    }
    assert_eq!(build_program(&spec("calls", vec![Target::Sim])).expect("it compiles").warnings, Vec::<String>::new());
}

#[test]
fn a_directory_that_is_no_crate_is_an_error() {
    assert!(matches!(build("no-such-fixture", vec![Target::Sim]), Err(BuildError::NotAPackage { .. })));
}

#[test]
fn inputs_are_the_crates_sources_and_manifest() {
    let spec = spec("ballot", Vec::new());
    let inputs = build_program(&spec).expect("nothing to build").inputs;
    let dir = spec.crate_dir.canonicalize().expect("it is there");
    for name in ["src", "Cargo.toml"] {
        assert!(inputs.contains(&dir.join(name)), "{name} not in {inputs:?}");
    }
}

#[test]
fn a_crate_without_a_kernel_is_refused_for_gpus() {
    if device_toolchain() {
        assert!(matches!(build("empty", vec![Target::nvptx()]), Err(BuildError::NoKernel { package }) if package == "empty"));
    }
}

#[test]
fn ptx_has_the_kernel_and_the_hosts_words_and_nothing_unreachable() {
    if !device_toolchain() {
        return;
    }
    let image = image("ballot", Target::nvptx());
    let text = std::str::from_utf8(&image.bytes).expect("PTX is text");
    let ptx = Ptx::parse(text);
    assert_eq!((ptx.version.as_str(), ptx.target.as_str()), ("8.4", "sm_70"));
    assert_eq!(ptx.entries().map(|entry| entry.name.as_str()).collect::<Vec<_>>(), ["branches"]);
    for name in ["__hostcall_device", "__HOSTCALL_KERNEL__branches"] {
        assert!(text.lines().any(|line| line.contains(".visible .global") && line.contains(name)), "{name}");
    }
    assert!(!text.contains(".extern"), "everything is linked in");
    assert!(text.len() < 64 << 10, "{} bytes", text.len());
}

#[test]
fn a_collective_under_a_divergent_branch_stays_on_its_side() {
    if !device_toolchain() {
        return;
    }
    let image = image("ballot", Target::nvptx());
    let ptx = Ptx::parse(std::str::from_utf8(&image.bytes).expect("PTX is text"));
    let kernel = ptx.function("branches").expect("the kernel");
    let per_block: Vec<usize> = kernel.blocks().iter().map(|block| block.iter().copied().filter(collective).count()).collect();
    assert_eq!(per_block.iter().filter(|count| **count == 1).count(), 2, "one in each of two blocks: {per_block:?}");
    assert_eq!(per_block.iter().sum::<usize>(), 2, "and nowhere else");
}

/// LLVM 22 writes it as a bare `atom.exch`, which orders nothing.
#[test]
fn an_ordered_swap_on_nvidia_is_ordered() {
    if !device_toolchain() {
        return;
    }
    let image = image("ballot", Target::nvptx());
    let ptx = Ptx::parse(std::str::from_utf8(&image.bytes).expect("PTX is text"));
    let kernel = ptx.function("branches").expect("the kernel");
    let ordering: Vec<_> = kernel.instructions().filter(|i| i.is("fence") || i.is("membar") || i.is("atom")).collect();
    let swap = ordering.iter().find(|i| i.is("atom") && i.has("exch")).expect("the swap");
    assert!(swap.is("atom.acq_rel.gpu"), "{ordering:?}");
}

/// The control of the collective's test: the fixture must be one that LLVM spoils when nothing is convergent.
#[test]
fn without_the_attribute_the_same_collectives_become_one() {
    let Ok(toolchain) = DeviceToolchain::find().inspect_err(|error| println!("skipped: {error}")) else { return };
    image("ballot", Target::nvptx());
    let archive = Path::new(env!("CARGO_TARGET_TMPDIR")).join("hostcall/sm_70/nvptx64-nvidia-cuda/release/libballot.a");
    let dir = tempfile::tempdir().expect("a directory");
    let run = |tool: &str, arguments: &[&str], input: &Path, output: &str| {
        let output = dir.path().join(output);
        let status = std::process::Command::new(toolchain.llvm_bin.join(tool)).args(arguments).arg(input).arg("-o").arg(&output).status();
        assert!(status.expect("it runs").success(), "{tool}");
        output
    };
    let linked = run("llvm-link", &["--ignore-non-bitcode"], &archive, "linked.bc");
    let bare = run("opt", &["-passes=forceattrs", "-force-remove-attribute=convergent"], &linked, "bare.bc");
    let passes = ["-passes=internalize,globaldce,default<O2>", "-internalize-public-api-list=branches"];
    let optimised = run("opt", &passes, &bare, "optimised.bc");
    let text = run("llc", &["-mcpu=sm_70", "-mattr=+ptx84"], &optimised, "image.ptx");
    let ptx = Ptx::parse(&std::fs::read_to_string(text).expect("PTX is text"));
    let kernel = ptx.function("branches").expect("the kernel");
    assert_eq!(kernel.instructions().filter(collective).count(), 1);
}

#[test]
fn a_16_byte_relaxed_system_store_is_one_instruction_and_assembles_for_every_architecture() {
    if !device_toolchain() {
        return;
    }
    let image = image("ballot", Target::nvptx());
    let text = std::str::from_utf8(&image.bytes).expect("PTX is text");
    let kernel = Ptx::parse(text);
    assert_eq!(kernel.function("branches").expect("the kernel").matching("st.relaxed.sys.global.b128").count(), 1);
    match Ptxas::find() {
        Ok(_) => {
            let arches = ["sm_70", "sm_80", "sm_90", "sm_100", "sm_120"];
            let cubins = hostcall_build::assemble_all(text, arches).unwrap_or_else(|error| panic!("{error}"));
            assert!(cubins.iter().all(|cubin| cubin.starts_with(b"\x7fELF")));
        }
        Err(error) => println!("not assembled: {error}"),
    }
}

#[test]
fn equal_sources_give_equal_images_in_another_target_directory() {
    let elsewhere = tempfile::tempdir().expect("a directory");
    let mut targets = vec![Target::Sim];
    if device_toolchain() {
        targets.push(Target::nvptx());
    }
    let mut again = spec("ballot", targets.clone());
    again.target_dir = Some(elsewhere.path().to_path_buf());
    let first = build("ballot", targets).expect("it builds");
    let second = build_program(&again).expect("it builds").bundle;
    assert_eq!(first, second);
}

#[test]
fn images_do_not_name_this_machines_directories() {
    let mut targets = vec![Target::Sim];
    if device_toolchain() {
        targets.push(Target::nvptx());
    }
    let home = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    for image in build("ballot", targets).expect("it builds").images {
        let found = image.bytes.windows(home.as_os_str().len()).any(|window| window == home.as_os_str().as_encoded_bytes());
        assert!(!found, "{} for {}", image.kind, image.arch);
    }
}

#[test]
fn a_second_build_starts_no_stage_again() {
    if !device_toolchain() {
        return;
    }
    // A crate that no other test builds: tests run at once, and another's image could be written in between. What it
    // depends on others do build, and cargo may then build that once more: so one of a few builds has to find
    // everything.
    let first = image("again", Target::nvptx());
    let images = Path::new(env!("CARGO_TARGET_TMPDIR")).join("hostcall/images");
    let found_all = || {
        let start = std::time::SystemTime::now();
        assert_eq!(first, image("again", Target::nvptx()));
        let kept = std::fs::read_dir(&images).expect("stages leave results").map(|entry| entry.expect("readable"));
        // More than one, if stages before had other inputs and the same result.
        let ours: Vec<_> = kept.filter(|entry| std::fs::read(entry.path()).is_ok_and(|bytes| bytes[32..] == *first.bytes)).collect();
        assert!(!ours.is_empty(), "the image is kept");
        ours.iter().all(|entry| entry.metadata().and_then(|metadata| metadata.modified()).expect("a time") < start)
    };
    assert!((0..3).any(|_| found_all()), "made again each time");
}

#[test]
fn a_kernel_as_users_write_it_builds_for_the_simulator() {
    let exported = exported(&image("calls", Target::Sim).bytes);
    let words = ["__hostcall_sim_ops", "__hostcall_sim_version", "__hostcall_abi", "__hostcall_device", "__HOSTCALL__Host__add42"];
    for name in words.into_iter().chain(["__HOSTCALL_SIGNATURE__Host__add42", "__HOSTCALL_KERNEL__demo", "__hostcall_sim_kernel_demo"]) {
        assert!(exported.iter().any(|found| found == name), "{name} not in {exported:?}");
    }
}

#[test]
fn a_kernel_as_users_write_it_builds_for_nvidia_and_assembles() {
    if !device_toolchain() {
        return;
    }
    let image = image("calls", Target::nvptx());
    let text = std::str::from_utf8(&image.bytes).expect("PTX is text");
    let ptx = Ptx::parse(text);
    assert_eq!(ptx.entries().map(|entry| entry.name.as_str()).collect::<Vec<_>>(), ["demo", "leaf", "recursive"]);
    for name in ["__hostcall_abi", "__hostcall_device", "__HOSTCALL__Host__add42", "__HOSTCALL_SIGNATURE__Host__add42"] {
        assert!(text.lines().any(|line| line.contains(".visible") && line.contains(name)), "{name}");
    }
    for (kernel, unbounded) in [("demo", true), ("leaf", false), ("recursive", true)] {
        let word = format!("__HOSTCALL_STACK__{kernel} ");
        assert_eq!(text.lines().any(|line| line.contains(".visible") && line.contains(&word)), unbounded, "{kernel}");
    }
    match Ptxas::find() {
        Ok(ptxas) => drop(ptxas.assemble(text.as_bytes(), "sm_90").unwrap_or_else(|error| panic!("{error}"))),
        Err(error) => println!("not assembled: {error}"),
    }
}

#[test]
fn a_kernel_as_users_write_it_builds_for_each_amd_architecture() {
    if !device_toolchain() {
        return;
    }
    for arch in AMDGPU_ARCHES {
        let image = image("calls", Target::Amdgpu { arch: arch.into() });
        assert_eq!((image.kind, &*image.arch), (ImageKind::AmdCodeObject, arch));
        let exported = exported(&image.bytes);
        for name in [
            "demo",
            "demo.kd",
            "__HOSTCALL_KERNEL__demo",
            "__HOSTCALL__Host__add42",
            "__hostcall_device",
            "__hostcall_tick",
            "__hostcall_abi",
        ] {
            assert!(exported.iter().any(|found| found == name), "{arch}: {name} not in {exported:?}");
        }
    }
}
