//! What the pass puts into modules, for every target that this machine can build for.

use std::path::Path;

use hostcall_build::{BuildError, DeviceToolchain, Image, ProgramSpec, Ptxas, Target, build_program, ptx::Ptx};
use object::{Object, ObjectSection, ObjectSymbol};

const SOURCE: &str = include_str!("fixtures/probed/src/lib.rs");

/// The number of the line with that comment.
fn line(comment: &str) -> u32 {
    let at = SOURCE.lines().position(|line| line.ends_with(&format!("// {comment}")));
    at.unwrap_or_else(|| panic!("no line ends with `// {comment}`")) as u32 + 1
}

fn build(target: Target, instrument: Option<&str>) -> Result<Image, BuildError> {
    let mut spec = ProgramSpec::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/probed"));
    spec.targets = vec![target];
    spec.target_dir = Some(Path::new(env!("CARGO_TARGET_TMPDIR")).join("hostcall-probed"));
    spec.instrument = instrument.map(|text| text.parse().expect("a good list"));
    build_program(&spec).map(|mut built| built.bundle.images.remove(0))
}

/// Whether programs can be instrumented here; says why not.
fn can_instrument() -> bool {
    if let Err(error) = DeviceToolchain::find() {
        println!("skipped: {error}");
        return false;
    }
    match build(Target::Sim, Some("access")) {
        Err(error @ BuildError::Missing { .. }) => {
            println!("skipped: {error}");
            false
        }
        other => other.map(drop).map_or_else(|error| panic!("{error}"), |()| true),
    }
}

fn ptx(image: &Image) -> (&str, Ptx) {
    let text = std::str::from_utf8(&image.bytes).expect("PTX is text");
    (text, Ptx::parse(text))
}

/// How often a function is called in the kernel itself.
fn calls(ptx: &Ptx, kernel: &str, function: &str) -> usize {
    ptx.function(kernel).expect("the kernel").calls().filter(|called| *called == function).count()
}

const ACCESS: &str = "__hostcall_probe_access";

/// Lines and functions of the places in a library or code object, in the order of their words.
fn places(image: &[u8]) -> Vec<(u32, String)> {
    let file = object::File::parse(image).expect("an ELF file");
    let mut found = Vec::new();
    for symbol in file.dynamic_symbols().filter(|symbol| symbol.name().is_ok_and(|name| name.starts_with("__HOSTCALL_SITE__probe_"))) {
        let section = file.section_by_index(symbol.section_index().expect("it is defined")).expect("its section");
        let bytes = section.data_range(symbol.address(), symbol.size()).expect("readable").expect("its bytes");
        let word = |at: usize| u32::from_le_bytes(*bytes[at..].first_chunk().expect("four bytes"));
        let half = |at: usize| usize::from(u16::from_le_bytes(*bytes[at..].first_chunk().expect("two bytes")));
        let text = |at: usize, length: usize| std::str::from_utf8(&bytes[at..][..length]).expect("UTF-8");
        let (file, function) = (half(16), half(18));
        assert_eq!(text(24, file), "src/lib.rs");
        found.push((word(4), text(24 + file, function).to_owned()));
    }
    found.sort();
    found.dedup();
    found
}

fn expected_places() -> Vec<(u32, String)> {
    let mut all: Vec<(u32, String)> = [
        ("copies", "copy"),
        ("a column", "columns"),
        ("a row", "columns"),
        ("rounds", "triangle"),
        ("one of a pair", "pair"),
        ("and the other", "pair"),
        ("first", "first"),
        ("second", "second"),
        ("what is counted", "histogram"),
        ("counts", "histogram"),
        ("on a stack", "fill"),
        ("off the stack", "stacks"),
        ("300 bytes", "barrier"),
    ]
    .iter()
    .map(|(comment, function)| (line(comment), format!("probed::{function}")))
    .collect();
    all.sort();
    all
}

#[test]
fn places_are_those_of_the_programs_own_lines_and_no_others() {
    if !can_instrument() {
        return;
    }
    let image = build(Target::Sim, Some("access")).expect("it builds");
    assert_eq!(places(&image.bytes), expected_places());
    // There one instruction reads both of a pair, and what is on a stack is known to be.
    let others = ["and the other", "on a stack"].map(line);
    let on_amd: Vec<_> = expected_places().into_iter().filter(|(line, _)| !others.contains(line)).collect();
    let image = build(Target::Amdgpu { arch: "gfx90a".into() }, Some("access")).expect("it builds");
    assert_eq!(places(&image.bytes), on_amd);
}

#[test]
fn each_access_of_a_kernel_has_one_call_before_it() {
    if !can_instrument() {
        return;
    }
    let image = build(Target::nvptx(), Some("access")).expect("it builds");
    let (text, ptx) = ptx(&image);
    for (kernel, accesses) in [("copy", 2), ("columns", 2), ("first", 1), ("second", 1), ("histogram", 2), ("stacks", 1)] {
        assert_eq!(calls(&ptx, kernel, ACCESS), accesses, "{kernel}\n{text}");
    }
    let pair = ptx.functions.iter().find(|function| function.name.contains("4pair")).expect("the function");
    assert_eq!(pair.calls().filter(|called| *called == ACCESS).count(), 2);
    // It is PTX like any other, and has all of this already.
    assert_eq!(hostcall_build::ptx::reads_as_it_is(&image.bytes), Ok(true));
    // The call is before the access: an address that is at fault has been told.
    let body: Vec<&str> = ptx.function("histogram").expect("the kernel").instructions().map(|one| one.opcode.as_str()).collect();
    let at = |start: &str| body.iter().rposition(|opcode| opcode.starts_with(start)).expect("it is there");
    assert!(at("call") < at("atom"), "{body:?}");
    match Ptxas::find() {
        Ok(ptxas) => {
            for arch in ["sm_75", "sm_90"] {
                ptxas.assemble(&image.bytes, arch).unwrap_or_else(|error| panic!("{arch}: {error}"));
            }
        }
        Err(error) => println!("not assembled: {error}"),
    }
}

#[test]
fn without_a_choice_of_kernels_nothing_is_left_of_what_is_not_asked_for() {
    if !can_instrument() {
        return;
    }
    let image = build(Target::nvptx(), Some("barriers")).expect("it builds");
    let (_, ptx) = ptx(&image);
    for kernel in ["copy", "columns", "barrier"] {
        assert_eq!(calls(&ptx, kernel, ACCESS), 0, "{kernel}");
        let around = usize::from(kernel == "barrier");
        assert_eq!([calls(&ptx, kernel, "__hostcall_probe_begin"), calls(&ptx, kernel, "__hostcall_probe_end")], [around; 2], "{kernel}");
    }
}

/// A kernel's text without what numbers and names things in a module: labels of functions, calls, and constants, whose
/// names have a hash of the compiler's flags in them.
fn body(text: &str, kernel: &str) -> String {
    let from = text.find(&format!(".entry {kernel}(")).expect("the kernel");
    let body = &text[from..][..text[from..].find("\n}").expect("its end")];
    ["$L__BB", "callseq ", "anon_$_"].iter().fold(body.to_owned(), |body, before| {
        let mut parts = body.split(before);
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |plain, part| plain + before + part.trim_start_matches(|c: char| c.is_ascii_hexdigit()))
    })
}

/// An instruction of sm_90 without the offset of what it loads from constant bank 4, where the assembler keeps the
/// addresses of a module's variables: how many there are before one is not the kernel's.
fn without_table_offset(instruction: &[u8]) -> u128 {
    let word = u128::from_le_bytes(*instruction.first_chunk().expect("16 bytes"));
    let (bank, offset) = (word >> 54 & 31, 0x3fff << 40);
    if bank == 4 { word & !offset } else { word }
}

#[test]
fn kernels_that_are_not_meant_are_the_same_to_the_byte() {
    if !can_instrument() {
        return;
    }
    let [plain, probed] =
        [None, Some("access,blocks,barriers,kernel=first")].map(|asked| build(Target::nvptx(), asked).expect("it builds"));
    let [plain_text, probed_text] = [&plain, &probed].map(|image| ptx(image).0);
    assert!(!plain_text.contains("hostcall_probe"), "nothing of it is in other builds");
    let (_, read) = ptx(&probed);
    assert_eq!(calls(&read, "first", ACCESS), 1);
    let called = read.function("first").expect("the kernel").calls().find(|name| name.contains("4pair")).expect("its own function");
    assert_eq!(read.function(called).expect("it").calls().filter(|name| *name == ACCESS).count(), 2);
    for kernel in ["copy", "columns", "triangle", "second", "histogram", "stacks", "barrier"] {
        assert_eq!(body(plain_text, kernel), body(probed_text, kernel), "{kernel}");
    }
    let Ok(ptxas) = Ptxas::find().inspect_err(|error| println!("not assembled: {error}")) else { return };
    let [plain, probed] = [&plain, &probed].map(|image| ptxas.assemble(&image.bytes, "sm_90").expect("it assembles"));
    let code = |cubin: &[u8], kernel: &str| {
        let file = object::File::parse(cubin).expect("an ELF file");
        let section = file.section_by_name(&format!(".text.{kernel}")).expect("the kernel's code");
        section.data().expect("its bytes").to_vec()
    };
    for kernel in ["copy", "columns", "triangle", "second", "histogram", "stacks", "barrier"] {
        let [plain, probed] = [&plain, &probed].map(|cubin| code(cubin, kernel));
        assert_eq!(plain.len(), probed.len(), "{kernel}: machine code");
        for (at, (plain, probed)) in plain.chunks_exact(16).zip(probed.chunks_exact(16)).enumerate() {
            assert_eq!(without_table_offset(plain), without_table_offset(probed), "{kernel}: instruction {at}");
        }
    }
    assert!(code(&plain, "first") != code(&probed, "first"));
}

#[test]
fn a_kernel_that_is_not_there_is_told_by_name() {
    if can_instrument() {
        let error = build(Target::Sim, Some("access,kernel=frist")).expect_err("there is none");
        assert!(matches!(&error, BuildError::NoSuchKernel { kernel } if kernel == "frist"), "{error}");
        assert!(error.to_string().starts_with("there is no kernel `frist` to instrument"), "{error}");
    }
}
