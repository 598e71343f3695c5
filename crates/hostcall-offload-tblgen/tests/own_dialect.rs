//! The back ends of our own dialect: what they write compiles, and says what the definitions say.

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;

use offload_tblgen::generate::abi_lock::{self, ChangeKind};
use offload_tblgen::generate::{Backend, template};
use offload_tblgen::ir::Api;
use support::{api_dir, generate, missing};

fn api() -> Api {
    let json = made("gen-json");
    serde_json::from_str(&json).expect("what is written can be read")
}

fn made(action: &str) -> String {
    generate(&[&format!("--{action}"), "--dialect", "hostcall"], &api_dir().join("OffloadAPI.td"))
}

/// The compilers to try. Debian's have their version in their names.
fn compilers(names: &[&'static str]) -> Vec<&'static str> {
    let found: Vec<_> = names.iter().copied().filter(|name| !missing(name)).collect();
    if found.len() < 2 {
        println!("skipped in part: of {names:?}, only {found:?} is installed");
    }
    found
}

const C: [&str; 4] = ["gcc", "clang", "clang-22", "clang-19"];
const CPP: [&str; 4] = ["g++", "clang++", "clang++-22", "clang++-19"];

/// A folder with both headers and a file.
fn folder(name: &str, text: &str) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().expect("a folder");
    std::fs::write(dir.path().join("OffloadAPI.h"), made("gen-api")).expect("written");
    std::fs::write(dir.path().join("OffloadPrint.hpp"), made("gen-print-header")).expect("written");
    let file = dir.path().join(name);
    std::fs::write(&file, text).expect("written");
    (dir, file)
}

fn compile(compilers: &[&str], standard: &str, include: &Path, file: &Path, more: &[&str]) {
    for compiler in compilers {
        let mut command = Command::new(compiler);
        command
            .args(["-Wall", "-Wextra", "-Werror", "-pedantic"])
            .arg(format!("-std={standard}"))
            .arg("-I")
            .arg(include)
            .arg(file)
            .args(more);
        let output = command.output().expect("the compiler runs");
        assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn the_header_is_valid_in_both_languages_and_all_by_itself() {
    let (dir, c) = folder("all.c", "#include <OffloadAPI.h>\n#include <OffloadAPI.h>\nint main(void) { return OL_VERSION_MAJOR; }\n");
    compile(&compilers(&C), "c11", dir.path(), &c, &["-fsyntax-only"]);
    compile(&compilers(&C), "c17", dir.path(), &c, &["-fsyntax-only"]);
    let cpp = dir.path().join("all.cpp");
    std::fs::copy(&c, &cpp).expect("copied");
    compile(&compilers(&CPP), "c++17", dir.path(), &cpp, &["-fsyntax-only"]);
}

#[test]
fn the_header_says_what_llvm_23_s_says() {
    let (dir, facts) = folder("facts.c", include_str!("facts/llvm23.c"));
    compile(&compilers(&C), "c11", dir.path(), &facts, &["-fsyntax-only", "-Wno-pedantic"]);
}

#[test]
fn values_print_without_llvm_s_headers() {
    let program = r#"
#include <OffloadPrint.hpp>
#include <iostream>
int main() {
    ol_error_struct_t error = {OL_ERRC_INVALID_SIZE, "too large"};
    ol_dimensions_t size = {1, 2, 3};
    ol_device_type_t type = OL_DEVICE_TYPE_HOST;
    ol_queue_handle_t queue = nullptr;
    void *pointer = nullptr;
    const void *pattern = nullptr;
    std::size_t pattern_size = 4, fill_size = 8;
    ol_mem_fill_params_t params = {&queue, &pointer, &pattern_size, &pattern, &fill_size};
    std::cout << OL_ERRC_SUCCESS << '\n' << static_cast<ol_errc_t>(99) << '\n' << size << '\n';
    std::cout << static_cast<ol_result_t>(nullptr) << '\n' << static_cast<ol_result_t>(&error) << '\n';
    ol_print_property(std::cout, OL_DEVICE_INFO_TYPE, &type, sizeof type);
    std::cout << '\n';
    ol_print_property(std::cout, OL_DEVICE_INFO_NAME, "name\0more", 9);
    std::cout << '\n';
    ol_print_ol_mem_migration_flag_t(std::cout, 3u | 0x40u);
    std::cout << '\n' << params << '\n';
}
"#;
    let (dir, file) = folder("print.cpp", program);
    for compiler in compilers(&CPP) {
        let binary = dir.path().join("print");
        compile(&[compiler], "c++17", dir.path(), &file, &["-o", binary.to_str().expect("UTF-8")]);
        let output = Command::new(&binary).output().expect("it runs");
        let expected = "\
OL_ERRC_SUCCESS
99 (not in ol_errc_t)
{.x = 1, .y = 2, .z = 3}
OL_SUCCESS
OL_ERRC_INVALID_SIZE: too large
OL_DEVICE_TYPE_HOST
\"name\"
OL_MEM_MIGRATION_FLAG_HOST_TO_DEVICE | OL_MEM_MIGRATION_FLAG_DEVICE_TO_HOST | 0x40
.Queue = NULL, .Ptr = NULL, .PatternSize = 4, .PatternPtr = NULL, .FillSize = 8
";
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
    }
}

/// A program that writes into a stream of LLVM's, as whoever has LLVM's headers does.
const INTO_LLVM_S: &str = r#"
#include <OffloadPrint.hpp>
#ifdef WITH_LLVM
#include <llvm/Support/raw_ostream.h>
#else
#include <cstdio>
namespace llvm {
struct raw_ostream {
    raw_ostream &operator<<(const char *text) { std::fputs(text, stdout); return *this; }
    raw_ostream &operator<<(char one) { std::putchar(one); return *this; }
    raw_ostream &operator<<(unsigned long number) { std::printf("%lu", number); return *this; }
    raw_ostream &operator<<(unsigned number) { return *this << static_cast<unsigned long>(number); }
    raw_ostream &operator<<(int number) { std::printf("%d", number); return *this; }
    raw_ostream &operator<<(const void *address) { std::printf("%p", address); return *this; }
    raw_ostream &operator<<(double number) { std::printf("%g", number); return *this; }
};
} // namespace llvm
#endif
llvm::raw_ostream &print(llvm::raw_ostream &os) {
    ol_error_struct_t error = {OL_ERRC_INVALID_SIZE, "too large"};
    ol_dimensions_t size = {1, 2, 3};
    ol_device_type_t type = OL_DEVICE_TYPE_HOST;
    ol_print_property(os, OL_DEVICE_INFO_TYPE, &type, sizeof type);
    return os << ' ' << OL_ERRC_SUCCESS << ' ' << size << ' ' << static_cast<ol_result_t>(&error);
}
int shifted(int by) { return by << OL_DEVICE_TYPE_HOST; }
#ifndef WITH_LLVM
int main() { llvm::raw_ostream os; print(os); }
#endif
"#;

#[test]
fn values_print_into_streams_that_are_not_the_standard_library_s() {
    let (dir, file) = folder("print.cpp", INTO_LLVM_S);
    let headers = Path::new("/usr/lib/llvm-22/include");
    if headers.is_dir() {
        let include = format!("-isystem{}", headers.display());
        compile(&compilers(&CPP), "c++17", dir.path(), &file, &["-fsyntax-only", "-DWITH_LLVM", &include]);
    }
    for compiler in compilers(&CPP) {
        let binary = dir.path().join("print");
        compile(&[compiler], "c++17", dir.path(), &file, &["-o", binary.to_str().expect("UTF-8")]);
        let output = Command::new(&binary).output().expect("it runs");
        let expected = "OL_DEVICE_TYPE_HOST OL_ERRC_SUCCESS {.x = 1, .y = 2, .z = 3} OL_ERRC_INVALID_SIZE: too large";
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
    }
}

#[test]
fn the_linker_takes_the_list_of_exports() {
    let (dir, file) = folder("empty.c", "#include <OffloadAPI.h>\nol_result_t olShutDown(void) { return OL_SUCCESS; }\nint other = 1;\n");
    let map = dir.path().join("exports.map");
    std::fs::write(&map, made("gen-exports")).expect("written");
    let library = dir.path().join("empty.so");
    let script = format!("-Wl,--version-script={}", map.display());
    compile(&["cc"], "c11", dir.path(), &file, &["-shared", "-fPIC", &script, "-o", library.to_str().expect("UTF-8")]);
    let bytes = std::fs::read(&library).expect("there");
    assert!(bytes.windows(10).any(|part| part == b"olShutDown"));
}

#[test]
fn json_is_the_whole_api() {
    let json = made("gen-json");
    let api: Api = serde_json::from_str(&json).expect("what is written can be read");
    assert_eq!(Backend::Json.generate(&api).expect("written"), json);
    // All other back ends are built on it.
    for backend in Backend::ALL {
        assert_eq!(backend.generate(&api).expect("made"), made(backend.action()), "{}", backend.action());
    }
    let schema: serde_json::Value = serde_json::from_str(&made("gen-json-schema")).expect("JSON");
    let properties = |of: &serde_json::Value| of["properties"].as_object().expect("properties").clone();
    for (name, property) in properties(&schema) {
        assert!(property["description"].is_string(), "{name} is not described");
    }
    for (name, definition) in schema["$defs"].as_object().expect("definitions") {
        assert!(definition["description"].is_string(), "{name} is not described");
    }
}

#[test]
fn an_unchanged_api_has_an_unchanged_abi() {
    let lock = made("gen-abi-lock");
    assert_eq!(abi_lock::compare(&api(), &lock).expect("a lock"), []);
}

/// What a change of the API is reported as.
fn changes(change: impl FnOnce(&mut Api)) -> Vec<String> {
    let lock = made("gen-abi-lock");
    let mut api = api();
    change(&mut api);
    abi_lock::compare(&api, &lock).expect("a lock").iter().map(ToString::to_string).collect()
}

#[test]
fn every_break_of_the_abi_is_named() {
    // As LLVM 24 did: a value in the middle renumbers those after it.
    let renumbered = changes(|api| {
        let errors = api.enums.iter_mut().find(|object| object.name == "ol_errc_t").expect("there");
        let mut new = errors.etors[24].clone();
        new.c_name = "OL_ERRC_INVALID_CONTEXT".into();
        errors.etors[24].value = 25;
        errors.etors.insert(24, new);
    });
    assert_eq!(
        renumbered,
        [
            "silent break: ol_errc_t.OL_ERRC_SYMBOL_KIND: renumbered from 24 to 25",
            "addition: ol_errc_t.OL_ERRC_INVALID_CONTEXT: the enumerator is new"
        ]
    );
    let signature = changes(|api| {
        let function = api.functions.iter_mut().find(|object| object.name == "olMemFree").expect("there");
        let mut context = function.params[0].clone();
        context.ty = offload_tblgen::ir::Type::new("ol_context_handle_t");
        function.params.insert(0, context);
    });
    assert_eq!(signature, ["silent break: olMemFree: was `ol_result_t (void *)`, is `ol_result_t (ol_context_handle_t, void *)`"]);
    let layout = changes(|api| {
        let object = api.structs.iter_mut().find(|object| object.name == "ol_init_args_t").expect("there");
        object.members.swap(0, 1);
    });
    assert_eq!(
        layout,
        [
            "silent break: ol_init_args_t.NumPlatforms: moved from offset 8 to 0",
            "silent break: ol_init_args_t.Size: moved from offset 0 to 8",
        ]
    );
    let gone = changes(|api| api.functions.retain(|object| object.name != "olSyncQueue"));
    assert_eq!(gone, ["removal: olSyncQueue: the function is gone"]);
    let renamed = changes(|api| api.functions[0].params[0].name = "Dev".into());
    assert_eq!(renamed, [] as [&str; 0], "names of parameters are not part of the ABI");
    assert!(ChangeKind::Silent > ChangeKind::Addition);
}

#[test]
fn a_typed_enumerator_s_type_is_part_of_the_abi() {
    // Programs that were compiled before pass a buffer of four bytes.
    let wider = changes(|api| {
        let info = api.enums.iter_mut().find(|object| object.name == "ol_device_info_t").expect("there");
        let lanes = info.etors.iter_mut().find(|etor| etor.name == "NUM_COMPUTE_UNITS").expect("there");
        lanes.tagged_type = Some(offload_tblgen::ir::Type::new("uint64_t"));
    });
    assert_eq!(wider, ["silent break: ol_device_info_t.OL_DEVICE_INFO_NUM_COMPUTE_UNITS: selected `uint32_t`, selects `uint64_t`"]);
    let none = changes(|api| {
        let info = api.enums.iter_mut().find(|object| object.name == "ol_queue_info_t").expect("there");
        info.etors[0].tagged_type = None;
    });
    assert!(none.len() == 1 && none[0].ends_with(", selects nothing"), "{none:?}");
}

#[test]
fn the_values_of_macros_are_part_of_the_abi() {
    let changed = changes(|api| {
        api.macros.iter_mut().find(|object| object.name == "OL_APICALL").expect("there").value = "__stdcall".into();
        let version = api.macros.iter_mut().find(|object| object.name == "OL_VERSION_MINOR").expect("there");
        version.value = "99".into();
    });
    assert_eq!(changed.len(), 2, "{changed:?}");
    assert!(changed[0].starts_with("silent break: OL_APICALL: was `") && changed[0].contains("is `__stdcall"), "{changed:?}");
    assert!(changed[1].starts_with("addition: OL_VERSION_MINOR: was `"), "a version that changes breaks nothing: {changed:?}");
    let blanks = changes(|api| api.macros.iter_mut().for_each(|object| object.value = format!(" {} ", object.value)));
    assert_eq!(blanks, [] as [&str; 0]);
    let gone = changes(|api| api.macros.retain(|object| object.name != "OL_APICALL"));
    assert_eq!(gone, ["removal: OL_APICALL: the macro is gone"]);
}

#[test]
fn a_parameter_that_becomes_required_breaks_the_abi_and_one_that_becomes_optional_does_not() {
    let set = |optional: bool| {
        move |api: &mut Api| {
            let functions = api.functions.iter_mut().flat_map(|function| &mut function.params);
            functions.filter(|param| param.is_optional != optional).take(1).for_each(|param| param.is_optional = optional);
        }
    };
    let required = changes(set(false));
    assert!(required.len() == 1 && required[0].starts_with("silent break: ol"), "{required:?}");
    assert!(required[0].contains("might be null, and must not be any more"), "{required:?}");
    let relaxed = changes(|api| {
        let function = api.functions.iter_mut().find(|function| function.name == "olMemFree").expect("there");
        function.params[0].is_optional = true;
    });
    assert_eq!(relaxed, ["addition: olMemFree: parameter 1 (`void *`) may be null now"]);
}

#[test]
fn a_lock_of_the_first_format_is_still_read() {
    let mut old: serde_json::Value = serde_json::from_str(&made("gen-abi-lock")).expect("JSON");
    old["format"] = 1.into();
    let members = old.as_object_mut().expect("an object");
    members.remove("macros");
    members.remove("selects");
    for kind in ["functions", "callbacks"] {
        for signature in members[kind].as_object_mut().expect("an object").values_mut() {
            signature.as_object_mut().expect("an object").remove("optional");
        }
    }
    let said = abi_lock::compare(&api(), &old.to_string()).expect("a lock");
    assert!(said.len() == 1 && !said[0].is_break() && said[0].to_string().contains("record the ABI anew"), "{said:?}");
    old["functions"]
        .as_object_mut()
        .expect("an object")
        .insert("olOld".into(), serde_json::json!({ "return": "ol_result_t", "params": [] }));
    assert!(abi_lock::compare(&api(), &old.to_string()).expect("a lock").iter().any(offload_tblgen::generate::abi_lock::Change::is_break));
}

/// What the definitions of the Offload API do not have.
#[test]
fn odd_definitions_become_valid_files_too() {
    let odd = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/own/odd.td");
    let make = |action: &str| generate(&[&format!("--{action}"), "--dialect", "hostcall"], &odd);
    let dir = tempfile::tempdir().expect("a folder");
    for (action, file) in [("gen-api", "odd.h"), ("gen-print-header", "odd.hpp"), ("gen-tests", "odd.c")] {
        std::fs::write(dir.path().join(file), make(action)).expect("written");
    }
    let cpp = dir.path().join("odd.cpp");
    std::fs::write(&cpp, "#include <odd.hpp>\n").expect("written");
    compile(&compilers(&CPP), "c++17", dir.path(), &cpp, &["-fsyntax-only"]);
    compile(&compilers(&C), "c11", dir.path(), &dir.path().join("odd.c"), &["-fsyntax-only"]);
    // rustfmt has read what it has formatted.
    let sys = make("gen-rust-sys");
    for part in ["Self_: usize", "assert!(size_of::<ol_zz_inner_t>() == 40)", "pub Codes: [ol_errc_t; 2],", "pub const MASK: c_uint = 0x3;"]
    {
        assert!(sys.contains(part), "{part} is not in\n{sys}");
    }
    let entry = make("gen-entry-points");
    for part in [
        "check::flags(r#type.0, ol_mode_flag_t::MASK, \"Type\", \"ol_mode_flag_t\")?;",
        "for index in check::range(1, self_.number()) {",
        "for element in element.Codes {",
        "check::flags(element.Inner.Modes, ol_mode_flag_t::MASK, \"Match.Inner.Modes\", \"ol_mode_flag_t\")?;",
        "check::quotient(check::shift_left(1_i128, 3_i128), self_.number()) > 8_i128",
        "(*r#match).Inner.Ready && callback.is_none()",
    ] {
        assert!(entry.contains(part), "{part} is not in\n{entry}");
    }
    for action in [
        "gen-rust-print",
        "gen-impl-trait",
        "gen-rust-replay",
        "gen-mock",
        "gen-rust-safe",
        "gen-doc",
        "gen-doc-md",
        "gen-json",
        "gen-abi-lock",
        "gen-exports",
    ] {
        assert!(make(action).contains("ol"), "{action}");
    }
}

/// The crate of the Offload API, with its generated half made from other definitions.
#[test]
fn rust_made_from_odd_definitions_compiles_without_warnings() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let liboffload = here.join("../hostcall-offload-api");
    let dir = tempfile::Builder::new().prefix("odd").tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let source = dir.path().join("src");
    for folder in ["generated", "runtime", "runtime/trace"] {
        std::fs::create_dir_all(source.join(folder)).expect("created");
    }
    std::fs::copy(liboffload.join("src/generated/mod.rs"), source.join("generated/mod.rs")).expect("copied");
    // Without the implementation, which is of other definitions; what only it uses of the runtime is not used here.
    let lib = std::fs::read_to_string(liboffload.join("src/lib.rs")).expect("read");
    // These definitions say of no LLVM that they are its.
    let lib = lib.replace("pub mod library;", "").replace("pub use sys::API_VERSION;", "");
    let lib = lib.replace("pub mod runtime;", "#[allow(unused)]\npub mod runtime;");
    std::fs::write(source.join("lib.rs"), lib).expect("written");
    for folder in ["runtime", "runtime/trace"] {
        for entry in std::fs::read_dir(liboffload.join("src").join(folder)).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_file() {
                std::fs::copy(&path, source.join(folder).join(path.file_name().expect("a name"))).expect("copied");
            }
        }
    }
    for (action, file) in [
        ("gen-rust-sys", "sys"),
        ("gen-rust-print", "print"),
        ("gen-impl-trait", "api"),
        ("gen-entry-points", "entry"),
        ("gen-rust-replay", "replay"),
        ("gen-mock", "mock"),
        ("gen-rust-safe", "safe"),
    ] {
        let text = generate(&[&format!("--{action}"), "--dialect", "hostcall"], &here.join("tests/own/odd.td"));
        std::fs::write(source.join(format!("generated/{file}.rs")), text).expect("written");
    }
    let error = here.join("../hostcall-error");
    let manifest = format!(
        "[package]\nname = \"odd\"\nedition = \"2024\"\n[dependencies]\nhostcall-error = {{ path = {error:?} }}\nitoa = \"1\"\nserde_json = \"1\"\n[workspace]\n[lints.rust]\nmissing_docs = \"warn\"\nunexpected_cfgs = {{ level = \"warn\", check-cfg = ['cfg(llvm24)'] }}\n"
    );
    std::fs::write(dir.path().join("Cargo.toml"), manifest).expect("written");
    // The versions that are there.
    std::fs::copy(here.join("../../Cargo.lock"), dir.path().join("Cargo.lock")).expect("copied");
    let output = Command::new(env!("CARGO"))
        .args(["check", "--quiet", "--offline"])
        .current_dir(dir.path())
        .env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("odd-target"))
        .env("RUSTFLAGS", "-D warnings")
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn text_that_is_no_lock_is_refused() {
    for text in ["", "{}", "[1]", "{\"format\": 1}"] {
        assert!(abi_lock::compare(&api(), text).is_err(), "{text}");
    }
}

#[test]
fn templates_see_the_api() {
    let text = "{% for f in functions if f.params | length == 0 %}\n{{ f.name | snake_case }} {{ f.name | pascal_case }}\n{% endfor %}\n\
                {% for s in structs if s.name == 'ol_init_args_t' %}\n{% for m in s.members %}\n{{ m.type.form | c_type }} {{ m.name }}\n{% endfor %}\n{% endfor %}\n";
    let expected = "ol_shut_down OlShutDown\nsize_t Size\nuint32_t NumPlatforms\nconst ol_platform_backend_t * Platforms\n";
    assert_eq!(template::render(&api(), "t.j2", text).expect("rendered"), expected);
}

#[test]
fn a_template_that_is_wrong_says_where() {
    for (text, part) in [
        ("one\n{{ nothing }}", "template t.j2: line 2: undefined value"),
        ("{% for %}", "line 1: syntax error"),
        ("{{ functions[0].nmae }}", "undefined value"),
        ("{{ 1 | c_type }}", "`c_type` wants the `form` of a type"),
        ("{% for a in range(9000) %}{% for b in range(9000) %}{% for c in range(9000) %}x{% endfor %}{% endfor %}{% endfor %}", "fuel"),
    ] {
        let error = template::render(&api(), "t.j2", text).expect_err(text).to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
}

#[test]
fn members_may_be_called_as_the_fields_of_their_classes_are() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("names.td");
    let text = r#"
include "APIDefs.td"
include "Differences.td"
include "Common.td"
include "Platform.td"
class Named<string name> : StructMember<"int", name, "made by a class whose argument is called as the field">;
def ol_x_t : Struct {
  let desc = "members";
  let members = [StructMember<"const char*", "name", "a">, StructMember<"int", "desc", "b">, StructMember<"int", "type", "c">, Named<"members">];
}
def ol_e_t : Enum { let desc = "enumerators"; let etors = [Etor<"name", "a">, Etor<"desc", "b">]; }
def ol_call_cb_t : FptrTypedef { let desc = "a callback"; let params = [Param<"int", "name", "a", PARAM_IN>]; let return = "void"; }
def olNamed : Function {
  let desc = "a function";
  let details = [];
  let params = [Param<"const char*", "name", "a", PARAM_IN>, Param<"ol_x_t*", "value", "b", PARAM_OUT>];
  let returns = [];
}
"#;
    std::fs::write(&file, text).expect("written");
    let api: Api = serde_json::from_str(&generate(&["--gen-json", "--dialect", "hostcall"], &file)).expect("what is written can be read");
    let found = api.structs.iter().find(|found| found.name == "ol_x_t").expect("the structure");
    assert_eq!(found.members.iter().map(|member| &*member.name).collect::<Vec<_>>(), ["name", "desc", "type", "members"]);
    for dialect in ["hostcall", "llvm"] {
        let header = generate(&["--gen-api", "--dialect", dialect], &file);
        for line in ["  int members;", "OL_E_NAME = 0", "int name)"] {
            assert!(header.contains(line), "{dialect}: `{line}` is not in\n{header}");
        }
        let actions = [
            "doc",
            "entry-points",
            "exports",
            "func-names",
            "impl-func-decls",
            "print-header",
            "rust-sys",
            "rust-safe",
            "rust-print",
            "mock",
        ];
        for action in actions.map(|action| format!("--gen-{action}")) {
            let text = generate(&[&action, "--dialect", dialect], &file);
            assert!(!text.contains("anonymous"), "{dialect} {action}\n{text}");
        }
    }
}
