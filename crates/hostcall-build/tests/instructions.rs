//! What calls are compiled to, read from the images: the instructions that the wire relies on, and none that a fast
//! path must not have.

use std::path::{Path, PathBuf};
use std::process::Command;

use object::{Object, ObjectSection};

use hostcall_build::ptx::{Function, Instruction, Ptx};
use hostcall_build::{AMDGPU_ARCHES, DeviceToolchain, Image, ProgramSpec, Ptxas, Target, assemble_all, build_program};

/// A kernel with one call of a fixed size and nothing else.
const FIXED: &str = "tests/fixtures/fixed";

/// A kernel that sends in every way there is; with one feature nothing is sent, with another nothing of it is written.
const SENDS: &str = "tests/fixtures/sends";

/// Every GPU generation that the one PTX is for.
const NVIDIA: [&str; 5] = ["sm_70", "sm_80", "sm_90", "sm_100", "sm_120"];

/// `what` built for `target`. Kernels in the directory that this workspace's build scripts use too: what they built is
/// not built again. Fixtures, which are built with other flags, where the other tests build theirs.
fn image(what: &str, target: Target) -> Image {
    image_with(what, &[], target)
}

/// The same with features.
fn image_with(what: &str, features: &[&str], target: Target) -> Image {
    let temporary = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let shared = temporary.parent().expect("it lies in the target directory").join("hostcall");
    let mut spec = ProgramSpec::new(Path::new(env!("CARGO_MANIFEST_DIR")).join(what));
    spec.targets = vec![target];
    spec.features = features.iter().copied().map(Into::into).collect();
    spec.target_dir = Some(if [FIXED, SENDS].contains(&what) { temporary.join("hostcall-calls") } else { shared });
    build_program(&spec).unwrap_or_else(|error| panic!("{error}")).bundle.images.remove(0)
}

fn ptx(what: &str) -> String {
    String::from_utf8(image(what, Target::nvptx()).bytes.to_vec()).expect("PTX is text")
}

/// The device toolchain; says why not.
fn device_toolchain() -> Option<DeviceToolchain> {
    DeviceToolchain::find().inspect_err(|error| println!("skipped: {error}")).ok()
}

/// `ptxas`; says why not.
fn ptxas() -> Option<Ptxas> {
    device_toolchain()?;
    Ptxas::find().inspect_err(|error| println!("skipped: {error}")).ok()
}

/// The assembler with little of its optimising, which takes most of its time.
fn quick(ptxas: Ptxas) -> Ptxas {
    Ptxas { flags: vec!["--Ofast-compile=max".into()], ..ptxas }
}

/// With all optimisations for the architecture that the tests run on, and with few for the others: whether an
/// instruction is one of theirs does not depend on that.
fn assembles_everywhere(kernel: &str) {
    const OPTIMISED: &str = "sm_90";
    let Some(ptxas) = ptxas().map(quick) else { return };
    let text = ptx(kernel);
    let mut cubins = assemble_all(&text, [OPTIMISED]).unwrap_or_else(|error| panic!("{error}"));
    for arch in NVIDIA.into_iter().filter(|arch| *arch != OPTIMISED) {
        cubins.push(ptxas.assemble(text.as_bytes(), arch).unwrap_or_else(|error| panic!("{error}")));
    }
    assert!(cubins.len() == NVIDIA.len() && cubins.iter().all(|cubin| cubin.starts_with(b"\x7fELF")));
}

macro_rules! assembles {
    ($($name:ident: $kernel:literal),+) => { $(
        #[test]
        fn $name() {
            assembles_everywhere($kernel);
        }
    )+ };
}
assembles! {
    the_add42_kernel_assembles_for_every_nvidia_architecture: "../../examples/add42/kernel",
    the_benchmark_assembles_for_every_nvidia_architecture: "../../bench/kernels",
    the_hello_kernel_assembles_for_every_nvidia_architecture: "../../examples/hello",
    the_kernels_that_fill_packets_assemble_for_every_nvidia_architecture: "../../tests/cpp/kernels",
    the_demo_assembles_for_every_nvidia_architecture: "../hostcall-demo"
}

/// The behaviours are 70 kernels, of which NVIDIA's assembler gives each a copy of what it reaches; most of its time
/// goes into optimising them. So with little of that, for the oldest architecture, which knows the fewest instructions,
/// and for the one that the tests run on.
#[test]
fn the_behaviours_assemble_for_the_oldest_nvidia_architecture_and_for_hopper() {
    let Some(ptxas) = ptxas().map(quick) else { return };
    let text = ptx("../../tests/behaviours/kernels");
    for arch in ["sm_70", "sm_90"] {
        let cubin = ptxas.assemble(text.as_bytes(), arch).unwrap_or_else(|error| panic!("{error}"));
        assert!(cubin.starts_with(b"\x7fELF"));
    }
}

/// Names of the functions that `kernel` may reach, those called through pointers included.
fn reachable<'a>(ptx: &'a Ptx, kernel: &str) -> Vec<&'a str> {
    let names: Vec<&str> = ptx.reachable(kernel).iter().map(|function| function.name.as_str()).collect();
    let indirect = ptx.reachable(kernel).iter().any(|function| function.matching("call").count() != function.calls().count());
    assert!(!indirect, "a call through a pointer in what {kernel} reaches: {names:?}");
    names
}

/// Parts of names of what writes text.
const TEXT: [&str; 3] = ["4core3fmt", "9panicking", "begin_unwind"];

#[test]
fn neither_a_call_nor_its_error_nor_an_index_brings_what_writes_text_into_a_kernel() {
    if device_toolchain().is_none() {
        return;
    }
    for (program, kernels) in
        [(FIXED, &["demo"][..]), ("../../bench/kernels", &["unused_with", "call", "call_held", "post_rate", "bulk_to_host"])]
    {
        let text = ptx(program);
        let ptx = Ptx::parse(&text);
        for kernel in kernels {
            let names = reachable(&ptx, kernel);
            let writers: Vec<_> = names.iter().filter(|name| TEXT.iter().any(|part| name.contains(part))).collect();
            assert!(writers.is_empty(), "{kernel} reaches {writers:?}");
        }
    }
}

/// Registers and bytes of machine code of the one kernel in a fixture, as `ptxas` gives them.
fn weight(ptxas: &Ptxas, text: &str, arch: &str) -> (u32, usize) {
    let dir = tempfile::tempdir().expect("a directory");
    let [input, output] = ["image.ptx", "image.cubin"].map(|name| dir.path().join(name));
    std::fs::write(&input, text).expect("it is writable");
    let run =
        Command::new(&ptxas.path).args(["-v", &format!("-arch={arch}")]).arg(&input).arg("-o").arg(&output).output().expect("it runs");
    let said = String::from_utf8_lossy(&run.stderr);
    let registers = said.split("Used ").nth(1).and_then(|rest| rest.split(' ').next()?.parse().ok()).unwrap_or_else(|| panic!("{said}"));
    let cubin = std::fs::read(&output).expect("a cubin");
    let file = object::File::parse(&*cubin).expect("ELF");
    let code = file.sections().filter(|section| section.name().is_ok_and(|name| name.starts_with(".text."))).map(|section| section.size());
    (registers, code.sum::<u64>() as usize)
}

#[test]
fn a_kernel_with_a_call_stays_small() {
    if device_toolchain().is_none() {
        return;
    }
    let text = ptx(FIXED);
    assert!(text.len() <= 67 << 10, "{} bytes of PTX", text.len());
    let Some(ptxas) = ptxas() else { return };
    for arch in ["sm_80", "sm_90"] {
        let (registers, code) = weight(&ptxas, &text, arch);
        assert!(registers <= 40 && code < 20 << 10, "{arch}: {registers} registers, {code} bytes of machine code");
    }
}

#[test]
fn a_kernel_has_no_more_registers_than_it_asks_for() {
    if device_toolchain().is_none() {
        return;
    }
    let text = String::from_utf8(image_with(FIXED, &["few"], Target::nvptx()).bytes.to_vec()).expect("PTX is text");
    assert!(text.contains(")\n.maxnreg 24\n{"), "{text}");
    let Some(ptxas) = ptxas() else { return };
    for arch in ["sm_80", "sm_90"] {
        let ((few, _), (many, _)) = (weight(&ptxas, &text, arch), weight(&ptxas, &ptx(FIXED), arch));
        assert!(few <= 24 && many > 24, "{arch}: {few} registers, {many} where none were asked for");
    }
}

#[test]
fn of_what_is_sent_nothing_is_left_in_the_machine_code_if_streams_are_off() {
    if device_toolchain().is_none() {
        return;
    }
    let texts = [&[][..], &["off"], &["unwritten", "off"]]
        .map(|features| String::from_utf8(image_with(SENDS, features, Target::nvptx()).bytes.to_vec()).expect("PTX is text"));
    let [sent, off, unwritten] = texts.each_ref().map(|text| Ptx::parse(text));
    let instructions = |ptx: &Ptx| ptx.function("demo").expect("the kernel").instructions().cloned().collect::<Vec<_>>();
    assert!(instructions(&off) == instructions(&unwritten), "what is left of the sends is in the kernel");
    let reached = |ptx: &Ptx| ptx.reachable("demo").iter().map(|function| function.instructions().count()).sum::<usize>();
    assert_eq!(reached(&off), reached(&unwritten));
    assert!(reached(&sent) > reached(&off) + 500, "{} instructions with what is sent, {} without", reached(&sent), reached(&off));
    for word in ["__HOSTCALL_STREAM__", "__HOSTCALL_SCHEMA__", "__HOSTCALL_SITE__"] {
        assert!(texts[0].contains(word) && !texts[1].contains(word), "{word}");
    }
    let Some(ptxas) = ptxas() else { return };
    assert_eq!(weight(&ptxas, &texts[1], "sm_90"), weight(&ptxas, &texts[2], "sm_90"), "registers, and bytes of machine code");
}

/// Whether it is the instruction `name`; inline assembly may have it in a scope of its own, behind declarations.
fn is(instruction: &Instruction, name: &str) -> bool {
    instruction.is(name)
        || [&instruction.opcode, &instruction.operands]
            .iter()
            .any(|text| text.split([' ', ';', '{', '}']).any(|word| word.starts_with(name)))
}

fn all<'a>(function: &'a Function, name: &'a str) -> Vec<&'a Instruction> {
    function.instructions().filter(|instruction| is(instruction, name)).collect()
}

#[test]
fn a_fixed_call_on_nvidia_is_one_atomic_of_device_memory_whole_words_and_no_fence() {
    if device_toolchain().is_none() {
        return;
    }
    let text = ptx(FIXED);
    let ptx = Ptx::parse(&text);
    // The fast path is inlined into the kernel; what is rare is called.
    let kernel = ptx.function("demo").expect("the kernel");
    assert_eq!(all(kernel, "st.relaxed.sys.global.b128").len(), 3, "a lone lane's message; the head of many, and their words");
    assert_eq!(all(kernel, "ld.relaxed.sys.global.b128").len(), 1, "the poll of the reply");
    assert!(!all(kernel, "st.relaxed.sys.global.u32").is_empty(), "the doorbell");
    assert_eq!(all(kernel, "red"), Vec::<&Instruction>::new());
    let atomics: Vec<&str> = all(kernel, "atom").iter().map(|atomic| atomic.opcode.as_str()).collect();
    assert_eq!(atomics, ["atom.relaxed.gpu.global.or.b64"], "the port's lock");
    // The slow paths lock ports too. At device scope, so none is of memory that the host uses.
    for function in ptx.reachable("demo") {
        for atomic in all(function, "atom").into_iter().chain(all(function, "red")) {
            assert!(is(atomic, "atom.relaxed.gpu.global"), "{}: {atomic:?}", function.name);
        }
    }
    for name in ["membar", "fence"] {
        assert_eq!(all(kernel, name), Vec::<&Instruction>::new());
    }
}

#[test]
fn arguments_and_results_of_a_fixed_size_stay_in_registers() {
    if device_toolchain().is_none() {
        return;
    }
    let text = ptx("../../bench/kernels");
    let ptx = Ptx::parse(&text);
    for name in ["call", "call_held", "throughput_scalar", "throughput_wide", "post_rate"] {
        let kernel = ptx.function(name).expect("the kernel");
        for access in ["ld.local", "st.local"] {
            assert_eq!(all(kernel, access), Vec::<&Instruction>::new(), "{name}");
        }
    }
}

#[test]
fn collectives_of_a_call_name_the_lanes_that_make_it() {
    if device_toolchain().is_none() {
        return;
    }
    let text = ptx(FIXED);
    let ptx = Ptx::parse(&text);
    let mut seen = 0;
    for function in ptx.reachable("demo") {
        for name in ["vote", "shfl", "bar.warp"] {
            for collective in all(function, name) {
                assert!(collective.has("sync"), "{}: {collective:?}", function.name);
                // A constant mask would wait for lanes that are elsewhere.
                let mask = collective.operands.rsplit(',').next().unwrap_or_default().trim();
                assert!(mask.starts_with('%'), "{}: {collective:?}", function.name);
                seen += 1;
            }
        }
    }
    assert!(seen > 0, "a call has collectives");
}

/// A code object's instructions, without addresses.
fn disassembled(toolchain: &DeviceToolchain, image: &Image) -> Option<Vec<String>> {
    let objdump: PathBuf = toolchain.llvm_bin.join("llvm-objdump");
    if !objdump.is_file() {
        println!("skipped: no {}", objdump.display());
        return None;
    }
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("image.co");
    std::fs::write(&file, &image.bytes).expect("it is writable");
    let output = Command::new(objdump).args(["--disassemble", "--no-show-raw-insn"]).arg(&file).output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("text");
    Some(
        text.lines().filter_map(|line| line.strip_prefix('\t')).map(|line| line.split("//").next().unwrap_or(line).trim().into()).collect(),
    )
}

fn amd_words_are_whole(arch: &str) {
    let Some(toolchain) = device_toolchain() else { return };
    let Some(lines) = disassembled(&toolchain, &image(FIXED, Target::Amdgpu { arch: arch.into() })) else { return };
    // LLVM's AMDGPU memory model, "volatile". On gfx90a stores go through the first cache as they are.
    let (wide, load_bits, store_bits): (_, &[&str], &[&str]) = match arch {
        "gfx90a" => ("dwordx4", &["glc"], &[]),
        "gfx942" | "gfx950" => ("dwordx4", &["sc0", "sc1"], &["sc0", "sc1"]),
        "gfx1200" => ("b128", &["scope:SCOPE_SYS"], &["scope:SCOPE_SYS"]),
        _ => ("b128", &["glc", "dlc"], &["dlc"]),
    };
    for (what, bits) in [("load", load_bits), ("store", store_bits)] {
        let found: Vec<&String> = lines
            .iter()
            .filter(|line| ["flat", "global"].iter().any(|space| line.starts_with(&format!("{space}_{what}_{wide} "))))
            .collect();
        assert!(!found.is_empty(), "{arch}: no {what} of 16 bytes among {} instructions", lines.len());
        for line in found {
            assert!(bits.iter().all(|bit| line.split_whitespace().any(|word| word == *bit)), "{arch}: {line} without {bits:?}");
        }
    }
    // The one load of 8 bytes past the caches would be half of a word that was split.
    let halves = ["dwordx2", "b64"].map(|wide| format!("flat_load_{wide} "));
    let split: Vec<&String> = lines
        .iter()
        .filter(|line| halves.iter().any(|half| line.starts_with(half)) && line.ends_with(load_bits[load_bits.len() - 1]))
        .collect();
    assert!(split.is_empty(), "{arch}: {split:?}");
}

#[test]
fn words_are_one_access_past_the_caches_on_each_amd_architecture() {
    for arch in AMDGPU_ARCHES {
        amd_words_are_whole(arch);
    }
}

/// Kernels that fill AMD's packets.
const PACKETS: &str = "../../tests/cpp/kernels";

#[test]
fn packets_on_nvidia_are_exchanged_and_rung_at_system_scope_and_stay_in_registers() {
    if device_toolchain().is_none() {
        return;
    }
    let text = ptx(PACKETS);
    let ptx = Ptx::parse(&text);
    let kernel = ptx.function("status").expect("the kernel");
    // Of the two forms of stacks: what takes a packet, what hands it over, what gives it back. A compiler may take a
    // first attempt out of its loop.
    let exchanges = all(kernel, "atom.acq_rel.sys.global.cas.b64").len();
    let claims = all(kernel, "atom.acquire.gpu.global.or.b32").len();
    assert!(exchanges >= 6 && claims >= 1, "{exchanges} exchanges, {claims} claims of a mailbox");
    assert_eq!(all(kernel, "atom").len(), exchanges + claims, "nothing else is atomic, but the end of a claim");
    assert_eq!(all(kernel, "red").len(), 1);
    assert_eq!(all(kernel, "red.release.gpu.global.and.b32").len(), 1, "the end of a claim");
    assert_eq!(all(kernel, "st.release.sys.global.u64").len(), 3, "a doorbell is stored, not added to");
    assert_eq!(all(kernel, "st.release.sys.global.u32").len(), 1, "the phase of a mailbox");
    for access in ["ld.local", "st.local"] {
        assert_eq!(all(kernel, access), Vec::<&Instruction>::new());
    }
}

#[test]
fn a_kernel_that_fills_no_packets_has_nothing_of_them() {
    if device_toolchain().is_none() {
        return;
    }
    let text = ptx(FIXED);
    for word in ["packets", ".cas.b64", "red.release", "st.release"] {
        assert!(ptx(PACKETS).contains(word) && !text.contains(word), "{word}");
    }
}

#[test]
fn packets_on_amd_are_exchanged_at_system_scope_and_raise_the_interrupt_of_their_doorbell() {
    let Some(toolchain) = device_toolchain() else { return };
    for arch in AMDGPU_ARCHES {
        let Some(lines) = disassembled(&toolchain, &image(PACKETS, Target::Amdgpu { arch: arch.into() })) else { return };
        let exchange = if arch.starts_with("gfx9") { "_atomic_cmpswap_x2" } else { "_atomic_cmpswap_b64" };
        let exchanges: Vec<&String> = lines.iter().filter(|line| line.contains(exchange)).collect();
        assert!(exchanges.len() >= 6, "{arch}: {exchanges:?}");
        // LLVM's AMDGPU memory model, read-modify-writes of system scope. Before gfx940 no instruction says it.
        let scope = match arch {
            "gfx942" | "gfx950" => " sc1",
            "gfx1200" => " scope:SCOPE_SYS",
            _ => "",
        };
        for line in exchanges {
            assert!(line.contains(scope), "{arch}: {line}");
        }
        assert!(lines.iter().any(|line| line == "s_sendmsg sendmsg(MSG_INTERRUPT)"), "{arch}: no interrupt");
    }
}
