//! The rewriting as text, as what LLVM and the assembler take, and as what runs: on this machine's processor, with
//! stacks of our own in the heap.

use std::path::Path;
use std::process::{Command, Output};

use super::*;
use crate::{DeviceToolchain, Ptxas};

const FUNCTION: &str = "define internal i32 @f(ptr %0, i1 %1) #0 {\n  %3 = alloca [24 x i8], align 8\n  %4 = alloca i32, align 4\n\
    \x20 call void @llvm.lifetime.start.p0(ptr nonnull %3)\n  br i1 %1, label %5, label %6\n\n5:                                                ; preds = %2\n\
    \x20 ret i32 1\n\n6:                                                ; preds = %2\n  call void @g(ptr %3, ptr %4) #1\n  unreachable\n}\n";

#[test]
fn variables_become_places_in_a_frame_that_every_return_gives_back() {
    let expected = "define internal i32 @f(ptr %0, i1 %1) #0 {\n  %hostcall.top = call ptr @hostcall_stack_top()\n\
        \x20 %hostcall.frame = call ptr @hostcall_stack_take(ptr %hostcall.top, i64 28)\n\
        \x20 %3 = getelementptr inbounds i8, ptr %hostcall.frame, i64 0\n  %4 = getelementptr inbounds i8, ptr %hostcall.frame, i64 24\n\
        \x20 br i1 %1, label %5, label %6\n\n5:                                                ; preds = %2\n\
        \x20 call void @hostcall_stack_restore(ptr %hostcall.top)\n  ret i32 1\n\n6:                                                ; preds = %2\n\
        \x20 call void @g(ptr %3, ptr %4) #1\n  unreachable\n}\n";
    assert_eq!(rewrite(FUNCTION, Maker::Nvidia).expect("types are known"), expected);
}

#[test]
fn a_function_without_variables_stays_as_it_is() {
    let module =
        "define i32 @f() #0 {\nstart:\n  %x = call i32 @g()\n  ret i32 %x\n}\ndeclare i32 @g()\n@text = constant [9 x i8] c\" = alloca\"\n";
    assert_eq!(rewrite(module, Maker::Nvidia).expect("nothing to do"), module);
}

#[test]
fn promises_about_memory_go_but_not_those_of_the_machines_own_instructions() {
    let module = "define void @f() #0 {\n  call void @g() #1\n  call void asm \"\", \"\"() #2\n  call void @llvm.x() #3\n  call void @llvm.x() #1\n  ret void\n}\n\
        attributes #0 = { nounwind willreturn memory(argmem: read, inaccessiblemem: none) \"a\"=\"b\" }\nattributes #1 = { speculatable nosync memory(none) }\n\
        attributes #2 = { nounwind memory(none) }\nattributes #3 = { willreturn }\n";
    let rewritten = rewrite(module, Maker::Nvidia).expect("no types");
    let groups: Vec<&str> = rewritten.lines().filter(|line| line.starts_with("attributes")).collect();
    assert_eq!(
        groups,
        [
            "attributes #0 = { nounwind \"a\"=\"b\" }",
            "attributes #1 = { }",
            "attributes #2 = { nounwind memory(none) }",
            "attributes #3 = { willreturn }"
        ]
    );
}

#[test]
fn what_is_not_understood_is_an_error_that_names_it() {
    let module = |variable: &str| format!("define void @f() {{\n  %1 = alloca {variable}\n  ret void\n}}\n");
    let line = |variable: &str| format!("%1 = alloca {variable}");
    let error = rewrite(&module("target(\"spirv.Image\"), align 8"), Maker::Nvidia).expect_err("no size");
    assert_eq!(error, StackError::Type { function: "f".into(), line: line("target(\"spirv.Image\"), align 8") });
    let error = rewrite(&module("i32, align 4, addrspace(5)"), Maker::Nvidia).expect_err("it is the lane's own");
    assert_eq!(error, StackError::Own { function: "f".into(), line: line("i32, align 4, addrspace(5)") });
}

#[test]
fn kernels_begin_on_a_stack_of_their_own_and_the_entry_has_one_lane() {
    let kernel = |name: &str| {
        format!("define ptx_kernel void @{name}() #0 {{\n  %1 = alloca i64, align 8\n  call void @f(ptr %1)\n  ret void\n}}\n")
    };
    let one = share(&kernel("hostcall_std")).expect("types are known");
    assert!(one.contains("@hostcall_std() \"nvvm.maxntid\"=\"32,1,1\" #0 {\n  %hostcall.own = alloca ["), "{one}");
    assert!(one.contains("i32 1)\n  %hostcall.top =") && one.contains("[1 x [2 x ptr]]"), "{one}");
    let two = share(&(kernel("hostcall_std") + &kernel("lines"))).expect("types are known");
    assert!(
        two.contains("@lines() #0 {\n  %hostcall.own = alloca [") && two.contains("i32 0)\n") && two.contains("[1024 x [2 x ptr]]"),
        "{two}"
    );
}

/// Runs one of LLVM's tools.
fn tool(toolchain: &DeviceToolchain, name: &str, arguments: &[&str], dir: &Path) {
    let output = Command::new(toolchain.llvm_bin.join(name)).args(arguments).current_dir(dir).output().expect("it starts");
    assert!(output.status.success(), "{name} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn llvm_and_the_assembler_take_it_and_only_kernels_and_checks_use_memory_of_their_own() {
    let Ok(toolchain) = DeviceToolchain::find() else { return println!("not run: no device toolchain") };
    let corners = include_str!("fixtures/corners.ll").replace("define i32 @main() {", "define i32 @inner() noinline {");
    // The back end for NVIDIA has no tail calls.
    let corners = corners.replace("musttail call", "call");
    let module = format!(
        "target datalayout = \"e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64\"\ntarget triple = \"nvptx64-nvidia-cuda\"\n{corners}\
         define ptx_kernel void @hostcall_std() #0 {{\n  %1 = call i32 @inner()\n  %2 = call i32 @recurs(i32 %1)\n  ret void\n}}\n\
         define ptx_kernel void @other(ptr %p) #0 {{\n  %1 = alloca i32, align 4\n  store ptr %1, ptr %p\n  ret void\n}}\n\
         define internal i32 @recurs(i32 %n) noinline {{\n  %1 = call i32 @recurs(i32 %n)\n  %2 = add i32 %1, 1\n  ret i32 %2\n}}\n\
         define void @__hostcall_thread_begin() noinline {{\n  ret void\n}}\n\
         define void @__hostcall_stack_begin(ptr %to, i64 %near, i64 %there, i64 %own, i32 %thread) noinline {{\n  store i64 0, ptr %to\n  ret void\n}}\n\
         define i32 @__hostcall_stack_go_on(ptr %there, ptr %block) noinline {{\n  call void %there(ptr %block)\n  ret i32 1\n}}\n\
         define void @__hostcall_stack_overflow(i32 %which, ptr %top) noinline {{\n  call void @llvm.trap()\n  unreachable\n}}\nattributes #0 = {{ nounwind }}\n"
    );
    let dir = tempfile::tempdir().expect("a directory");
    std::fs::write(dir.path().join("s.ll"), share(&module).expect("types are known")).expect("written");
    let run = |name: &str, arguments: &[&str]| tool(&toolchain, name, arguments, dir.path());
    run("opt", &["-passes=verify,always-inline,function(early-cse,instsimplify),globaldce,verify", "s.ll", "-o", "s.bc"]);
    run("llc", &["-O3", "-mcpu=sm_70", "-mattr=+ptx84", "s.bc", "-o", "s.ptx"]);
    let ptx = std::fs::read_to_string(dir.path().join("s.ptx")).expect("read");
    let depots: Vec<&str> = ptx.lines().filter(|line| line.contains(".local ")).map(str::trim).collect();
    assert_eq!(depots.len(), 2, "two kernels: {depots:?}");
    assert_eq!(ptx.matches("stacksave.u64").count(), 2, "two functions call themselves: {ptx}");
    assert!(ptx.contains("call.uni __hostcall_stack_overflow"), "{ptx}");
    let Ok(ptxas) = Ptxas::find() else { return println!("not assembled: no ptxas") };
    for arch in ["sm_70", "sm_90"] {
        ptxas.assemble(ptx.as_bytes(), arch).expect("it assembles");
    }
}

/// The module with stacks of its own on this machine: the prelude but for what only a GPU has.
fn for_this_machine(module: &str) -> String {
    let prelude = Maker::Nvidia.prelude(1);
    let of_gpu = |function: &&str| {
        ["stack_lane", "stack_place_of", "stack_place", "stack_begin", "own_address", "own_bytes", "own_is_full", "go_on"]
            .iter()
            .any(|name| function.lines().next().is_some_and(|line| line.contains(&format!("@hostcall_{name}("))))
    };
    let functions: String =
        prelude.split("\ndefine ").skip(1).filter(|function| !of_gpu(function)).map(|text| format!("define {text}\n")).collect();
    let functions = functions.replace(" addrspace(3)", "");
    rewrite(module, Maker::Nvidia).expect("types are known") + include_str!("fixtures/words.ll") + &functions
}

/// From a module to a program of this machine.
fn linked(toolchain: &DeviceToolchain, module: &str, dir: &Path) {
    std::fs::write(dir.join("n.ll"), for_this_machine(module)).expect("written");
    std::fs::write(dir.join("m.ll"), include_str!("fixtures/machine.ll")).expect("written");
    let run = |name: &str, arguments: &[&str]| tool(toolchain, name, arguments, dir);
    run("opt", &["-passes=verify,always-inline,function(early-cse,instsimplify),globaldce,verify", "n.ll", "-o", "n.bc"]);
    for (from, to) in [("n.bc", "n.o"), ("m.ll", "m.o")] {
        run("llc", &["-O1", "-filetype=obj", "-relocation-model=pic", from, "-o", to]);
    }
    let libraries = ["-lpthread", "-ldl", "-lm", "-lgcc_s"];
    let output = Command::new("cc").args(["n.o", "m.o", "-o", "program"]).args(libraries).current_dir(dir).output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn ran(dir: &Path, arguments: &[&str]) -> Output {
    Command::new(dir.join("program")).args(arguments).output().expect("it starts")
}

#[test]
fn what_programs_have_seldom_works_here() {
    let Ok(toolchain) = DeviceToolchain::find() else { return println!("not run: no device toolchain") };
    let dir = tempfile::tempdir().expect("a directory");
    linked(&toolchain, include_str!("fixtures/corners.ll"), dir.path());
    assert_eq!(ran(dir.path(), &[]).status.code(), Some(0));
}

#[test]
fn threads_lend_variables_recursion_works_and_endless_recursion_is_told() {
    let Ok(toolchain) = DeviceToolchain::find() else { return println!("not run: no device toolchain") };
    let dir = tempfile::tempdir().expect("a directory");
    std::fs::write(dir.path().join("lends.rs"), include_str!("fixtures/lends.rs")).expect("written");
    let flags =
        ["--edition=2024", "-O", "-Cpanic=abort", "-Clto=fat", "-Ccodegen-units=1", "--emit=llvm-bc=lends.bc,link=unchanged", "lends.rs"];
    let output = Command::new(&toolchain.rustc).args(flags).current_dir(dir.path()).output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    tool(&toolchain, "opt", &["-passes=strip", "-S", "lends.bc", "-o", "lends.ll"], dir.path());
    let module = std::fs::read_to_string(dir.path().join("lends.ll")).expect("read");
    linked(&toolchain, &module, dir.path());
    let moved = std::fs::read_to_string(dir.path().join("n.ll")).expect("read");
    assert!(module.matches(" = alloca ").count() > 100 && moved.matches(" = alloca ").count() == 1, "only that of the check");

    let text = |output: &Output| String::from_utf8_lossy(&output.stdout).into_owned();
    let output = ran(dir.path(), &[]);
    assert_eq!((output.status.code(), text(&output).as_str()), (Some(0), "all as it should be: 2.500 \"texts\"\n"), "{output:?}");
    let output = ran(dir.path(), &["deep", "2000"]);
    assert_eq!((output.status.code(), text(&output).as_str()), (Some(0), "2001000\n"), "{output:?}");
    // 20 000 calls take more than what a lane has here.
    let output = ran(dir.path(), &["further", "20000"]);
    let expected = "(200010000, 5, 2535301200456458802993406410766)\n";
    assert_eq!((output.status.code(), text(&output).as_str()), (Some(0), expected), "{output:?}");
    let output = ran(dir.path(), &["endless"]);
    assert_eq!((output.status.code(), text(&output).as_str()), (Some(77), "shared\n"), "{output:?}");
    let output = ran(dir.path(), &["endless-without-variables"]);
    assert_eq!((output.status.code(), text(&output).as_str()), (Some(77), "own\n"), "{output:?}");
}

#[test]
fn of_parts_one_has_the_words_about_stacks_and_the_others_declare_them() {
    let module = "define void @f() #0 {\n  %1 = alloca i64, align 8\n  ret void\n}\n";
    let [first, other] = [true, false].map(|first| share_part(module, 1, first, |name| name == "f").expect("types are known"));
    for text in [&first, &other] {
        assert!(
            text.contains("call void @hostcall_go_on(ptr @hostcall_there.0)") && text.contains("define internal ptr @hostcall_stack_top()"),
            "{text}"
        );
        assert!(text.contains("declare void @__hostcall_stack_begin(ptr, i64, i64, i64, i32) convergent\n"), "{text}");
    }
    assert!(first.contains("\n@hostcall_stack = addrspace(3) global [1 x [2 x ptr]] undef, align 16\n"), "{first}");
    assert!(first.contains("\ndefine void @hostcall_stack_full() cold noinline "), "{first}");
    assert!(other.contains("\n@hostcall_stack = external addrspace(3) global [1 x [2 x ptr]], align 16\n"), "{other}");
    assert!(
        other.contains("\ndeclare void @hostcall_stack_full() cold noinline ") && !other.contains("__hostcall_stack_overflow(i32 %"),
        "{other}"
    );
    let unchecked = share_part(module, 1, false, |_| false).expect("types are known");
    assert_eq!(unchecked.matches("hostcall_there").count(), 0);
}
