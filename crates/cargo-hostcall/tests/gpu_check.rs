//! What only this machine's processor has is refused where a program is checked as a GPU's code.

mod support;

use hostcall_build::{Machine, Sysroot};
use support::package::{Package, text};

#[test]
fn assembly_and_intrinsics_of_this_processor_are_errors_of_the_check_for_gpus() {
    let plain = "fn main() { println!(\"plain\"); }\n";
    let Some(package) = Package::new("", &[("src/main.rs", plain)]) else { return };
    let checked = |arguments: &[&str]| package.hostcall(&[&["build", "-q", "--for", "sim", "--check-gpu"][..], arguments].concat());
    let output = checked(&[]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    for (program, named) in [
        ("fn main() { unsafe { std::arch::asm!(\"nop\") }; println!(\"ran\"); }\n", "asm!"),
        ("fn main() { println!(\"{:?}\", std::arch::x86_64::__cpuid(0).eax != 0); }\n", "x86_64"),
        ("use std::arch::x86_64::_mm_setzero_ps;\nfn main() { let _ = unsafe { _mm_setzero_ps() }; println!(\"ran\"); }\n", "x86_64"),
    ] {
        package.write("src/main.rs", program);
        let output = checked(&[]);
        let said = text(&output.stderr);
        assert!(!output.status.success() && said.contains(named) && said.contains("src/main.rs:"), "{said}");
    }
    // A run checks as well, as soon as std for GPUs is there, which it is now; unless it is told not to.
    assert!(Sysroot::prepared(&Machine::Nvptx).is_some());
    let run = |more: &[&str]| package.hostcall(&[&["run", "-q", "--device", "sim"][..], more].concat());
    let output = run(&[]);
    assert!(!output.status.success() && text(&output.stderr).contains("--no-check-gpu"), "{}", text(&output.stderr));
    if cfg!(target_arch = "x86_64") {
        let output = run(&["--no-check-gpu"]);
        assert!(output.status.success() && text(&output.stdout) == "ran\n", "{}", text(&output.stderr));
    }
}
