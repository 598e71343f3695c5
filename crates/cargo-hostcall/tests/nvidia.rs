//! Programs with std for NVIDIA's GPUs, as PTX: how large the smallest is, what is in it, and that helper lanes need no
//! stack. What they do is in `programs.rs`.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;

use hostcall_build::ptx::Ptx;
use hostcall_build::{DeviceToolchain, ImageKind, ProgramBundle, Ptxas};

/// Bytes of the PTX of `hello`, which a driver or `ptxas` reads before it says anything.
const MOST: usize = 395_000;

/// `cargo hostcall build --release` of a program of `tests/programs/`; its PTX.
fn ptx_of(package: &str) -> String {
    built(package, &["--release"])
}

/// `cargo hostcall build` of a program of `tests/programs/`; its PTX.
fn built(package: &str, profile: &[&str]) -> String {
    let left = tempfile::tempdir().expect("a directory");
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-hostcall"));
    command.args(["hostcall", "build", "-q", "--package", package, "--for", "nvptx"]).args(profile).arg("--output").arg(left.path());
    command
        .env_remove("HOSTCALL_PARTS")
        .current_dir(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/programs"))
        .env_remove("CARGO_TARGET_DIR");
    let output = command.output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let bytes = std::fs::read(left.path().join(format!("{package}.program"))).expect("it was left there");
    let bundle = ProgramBundle::from_bytes(&bytes).expect("a bundle");
    let [image] = &*bundle.images else { panic!("one image, not {}", bundle.images.len()) };
    assert_eq!(image.kind, ImageKind::Ptx);
    String::from_utf8(image.bytes.to_vec()).expect("PTX is text")
}

#[test]
fn hello_is_small_and_has_no_words_of_services_that_it_does_not_call() {
    if let Err(error) = DeviceToolchain::find() {
        return println!("not run: {error}");
    }
    let ptx = ptx_of("hello");
    assert!(ptx.len() <= MOST, "{} bytes", ptx.len());

    let has = |word: &str| ptx.lines().any(|line| line.starts_with(".visible .global") && line.contains(&format!(" {word}[")));
    for called in ["Files__write", "Process__exit", "Process__panicked"] {
        assert!(has(&format!("__HOSTCALL__{called}")) && has(&format!("__HOSTCALL_SIGNATURE__{called}")), "{called}");
    }
    for not_called in ["Files__create_dir", "StdNet__connect", "StdFiles__list"] {
        assert!(!ptx.contains(&format!("__{not_called}")), "{not_called}");
    }
    // What else the host looks for.
    for word in ["__hostcall_device", "__hostcall_abi", "__hostcall_stacks"] {
        assert!(ptx.lines().any(|line| line.starts_with(".visible ") && line.contains(&format!(" {word}["))), "{word}");
    }
    assert!(ptx.contains(".visible .entry hostcall_std("));
    helpers_have_no_variables(&ptx);
    copies_are_the_runtimes(&ptx);
    assert!(ptx.contains("atom.release.gpu.exch.b32"), "unlocking is one instruction");

    let ptxas = match Ptxas::find() {
        Ok(ptxas) => ptxas,
        Err(error) => return println!("not assembled: {error}"),
    };
    ptxas.assemble(ptx.as_bytes(), "sm_90").expect("the assembler takes it");
}

#[test]
fn a_program_that_is_not_optimised_is_compiled_and_assembled_in_parts_and_another_as_one() {
    if let Err(error) = DeviceToolchain::find() {
        return println!("not run: {error}");
    }
    let parts = |ptx: &str| ptx.lines().filter_map(|line| line.strip_prefix("//part ")).map(str::to_owned).collect::<BTreeSet<_>>();
    assert_eq!(parts(&ptx_of("hello")), BTreeSet::new());
    let ptx = built("hello", &[]);
    assert_eq!(parts(&ptx), BTreeSet::from(["places", "program", "std"].map(str::to_owned)));
    let visible: Vec<&str> = ptx.lines().filter(|line| line.starts_with(".visible ")).collect();
    helpers_have_no_variables(&ptx);

    let ptxas = match Ptxas::find() {
        Ok(ptxas) => ptxas,
        Err(error) => return println!("not assembled: {error}"),
    };
    ptxas.assemble(ptx.as_bytes(), "sm_70").expect("the assembler takes it as one");
    let code = hostcall_build::assemble_quickly(&ptxas, ptx.as_bytes(), "sm_90").expect("the assembler takes its parts");
    let has = |name: &str| code.windows(name.len() + 1).any(|bytes| bytes.strip_suffix(b"\0") == Some(name.as_bytes()));
    for line in visible {
        let mut words = line.split(|c: char| !(c.is_ascii_alphanumeric() || "_.".contains(c)));
        let name = words.find(|word| word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')).expect("a name");
        assert!(has(name), "{name} is found by name");
    }
}

/// What is more than a few bytes is copied by the runtime, which may have helpers, and nobody else's code loops over
/// bytes that it loads and stores.
fn copies_are_the_runtimes(text: &str) {
    let ptx = Ptx::parse(text);
    for served in ["__hostcall_copy", "__hostcall_fill"] {
        let reached = ptx.reachable(served);
        assert!(reached.iter().any(|function| function.matching("bar.warp.sync").count() > 0), "{served} gives orders: {reached:?}");
    }
    let entry = ptx.reachable("hostcall_std");
    assert!(entry.iter().any(|function| function.calls().any(|callee| callee == "__hostcall_copy")), "somebody copies");
}

/// A stack of the program is in the memory of all lanes, and a lane's own begins in the entry: neither is a helper's.
fn helpers_have_no_variables(text: &str) {
    let ptx = Ptx::parse(text);
    let helpers = ptx.reachable("__hostcall_thread_begin");
    assert!(helpers.iter().any(|function| function.matching("fence").count() == 1), "they copy: {helpers:?}");
    let entry = ptx.function("hostcall_std").expect("the entry");
    let stack = entry
        .matching("st.shared.v2")
        .next()
        .expect("where its stack is")
        .operands
        .split([' ', '{', ','])
        .find(|word| word.starts_with('['));
    let stack = stack.expect("an address").trim_matches(['[', ']']);
    for function in helpers {
        let of_stack = |operands: &str| operands.split(|c: char| !c.is_ascii_alphanumeric() && !"_$".contains(c)).any(|word| word == stack);
        assert!(function.instructions().all(|instruction| !of_stack(&instruction.operands) && !instruction.has("local")), "{function:?}");
    }
    let begins = entry.calls().next();
    assert_eq!(begins, Some("__hostcall_thread_begin"), "before the stack");
}

#[test]
fn calls_of_variadic_functions_have_the_parameters_that_the_runtime_takes() {
    if let Err(error) = DeviceToolchain::find() {
        return println!("not run: {error}");
    }
    // It opens files.
    let ptx = ptx_of("wordcount");
    assert!(ptx.contains("__HOSTCALL__StdFiles__open"), "files are opened");
    assert!(!ptx.contains("_[])"), "a call has a list of arguments, which no function here takes");
}

#[test]
fn a_program_that_sends_messages_has_the_rings_of_the_runtime_and_the_words_of_its_streams() {
    if let Err(error) = DeviceToolchain::find() {
        return println!("not run: {error}");
    }
    let ptx = ptx_of("losses");
    for word in ["__hostcall_rings", "__HOSTCALL_STREAM__Loss", "__HOSTCALL_SCHEMA__Loss"] {
        let declared = ptx.lines().filter(|line| line.starts_with(".visible ") && line.contains(&format!(" {word}["))).count();
        assert_eq!(declared, 1, "{word}");
    }
    assert!(ptx.contains(".visible .const .align 64 .b8 __hostcall_rings[64];"), "in constant memory");
    match Ptxas::find() {
        Ok(ptxas) => drop(ptxas.assemble(ptx.as_bytes(), "sm_90").expect("the assembler takes it")),
        Err(error) => println!("not assembled: {error}"),
    }
}
