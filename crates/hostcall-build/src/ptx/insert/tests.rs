//! What is put into a module.

use super::*;
use hostcall_abi::stream::site::SiteText;

const OURS: &str =
    ".version 8.4\n.target sm_70\n.address_size 64\n.visible .const .align 64 .b8 __hostcall_device[128];\n.global .b8 own;\n";

fn library() -> Library {
    Library::new(OURS).expect("a library")
}

fn made(text: &str, asked: &str, chosen: Chosen<'_>) -> Result<Instrumented, PtxError> {
    instrument(text.as_bytes(), "k.ptx", &asked.parse().expect("a list"), chosen, &library())
}

const TWO: &str = "\
// made by hand
.version 7.0
.target sm_80 // for these
.address_size 64
.func (.param .b32 r) shared_one(.param .b64 p) // }
;
.visible .func (.param .b32 r) shared_one(.param .b64 p) // of both
{
\t.reg .b64 %rd<2>; .reg .b32 %r<2>; .shared .b32 own;
\tld.param.b64 %rd1, [p];
\tld.global.b32 %r1, [%rd1];
\tst.param.b32 [r], %r1;
\tret;
}
.visible .entry first(.param .b64 p)
{
\t.reg .b64 %rd<2>; .reg .b32 %r<2>;
\t{ .param .b64 a; .param .b32 b;
\tst.param.b64 [a], %rd1;
\tcall.uni (b), shared_one, (a);
\tld.param.b32 %r1, [b]; }
\tst.global.b32 [%rd1], %r1;
\tret;
}
.visible .entry second(.param .b64 p)
{
\t.reg .b64 %rd<2>; .reg .b32 %r<2>;
\tatom.global.add.u32 %r1, [%rd1+4], 1;
\tret;
}
";

/// Lines of all places, and the rest of each.
fn places(ptx: &str) -> Vec<(u32, String)> {
    let definitions = ptx.lines().filter(|line| line.starts_with(".visible .global .align 4 .b8 __HOSTCALL_SITE__"));
    definitions
        .map(|line| {
            let values = line.split_once("= {").expect("values").1.trim_end_matches("};");
            let bytes: Vec<u8> = values.split(',').map(|byte| byte.parse().expect("a byte")).collect();
            let text = SiteText::parse(&bytes).expect("a place");
            (text.line, format!("{}:{} {}", text.file, text.column, text.module))
        })
        .collect()
}

#[test]
fn what_is_added_stands_between_pieces_of_the_text_and_nothing_else_changes() {
    let made = made(TWO, "access,blocks", Chosen::All).expect("it is instrumented");
    assert_eq!((made.kernels.join(" ").as_str(), made.accesses, made.steps), ("first second", 3, 3));
    // All of it is there, in its order, but for the version.
    let mut rest = made.ptx.as_str();
    for line in TWO.lines().filter(|line| !line.starts_with(".version")) {
        let statement = line.trim();
        let at = rest.find(statement).unwrap_or_else(|| panic!("`{statement}` is not behind what was before it"));
        rest = &rest[at + statement.len()..];
    }
    assert!(
        made.ptx.starts_with("// made by hand\n.version 8.4\n.target sm_80 // for these\n.address_size 64\n.visible .const"),
        "{}",
        made.ptx
    );
}

#[test]
fn kernels_that_are_not_meant_are_the_same_to_the_byte_and_others_get_functions_of_their_own() {
    let is_first = |name: &str| name == "first";
    let made = made(TWO, "access", Chosen::Of(&is_first, "that `first` finds")).expect("it is instrumented");
    assert_eq!((made.kernels.join(" ").as_str(), made.accesses), ("first", 2));
    let piece = |text: &str, from: &str| {
        let at = text.find(from).expect("it is there");
        text[at..][..text[at..].find("\n}\n").expect("its end") + 3].to_owned()
    };
    for function in [".visible .entry second", ".visible .func (.param .b32 r) shared_one"] {
        assert_eq!(piece(&made.ptx, function), piece(TWO, function));
    }
    let first = piece(&made.ptx, ".visible .entry first");
    assert!(first.contains("call.uni (b), __hostcall_probed_0, (a);") && !first.contains("shared_one"), "{first}");
    let own = piece(&made.ptx, "\n.func (.param .b32 r) __hostcall_probed_0(.param .b64 p) // of both\n{");
    assert!(own.contains("call.uni __hostcall_probe_access"), "{own}");
    assert!(made.ptx.contains("\n.func (.param .b32 r) __hostcall_probed_0(.param .b64 p) // of both\n;\n"), "{}", made.ptx);
    // The whole text is there besides.
    let by_name = self::made(TWO, "access,kernel=second", Chosen::All).expect("it is instrumented");
    assert_eq!((by_name.kernels.join(" ").as_str(), by_name.accesses), ("second", 1));
    assert_eq!(piece(&by_name.ptx, ".visible .entry first"), piece(TWO, ".visible .entry first"));
}

#[test]
fn chosen_kernels_get_as_many_registers_more_as_they_may_and_others_none() {
    let text = TWO.replace("second(.param .b64 p)", "second(.param .b64 p)\n.maxntid 64\n.minnctapersm 2");
    let own = |name: &str| match name {
        "first" => Some(30),
        "second" => Some(10),
        _ => None,
    };
    let limited = |text: &str, asked| made(text, asked, Chosen::All).expect("it is instrumented").limited(own).expect("it is PTX").ptx;
    let all = limited(TWO, "access");
    assert!(all.contains("first(.param .b64 p)\n.maxnreg 56\n{") && all.contains("second(.param .b64 p)\n.maxnreg 40\n{"), "{all}");
    // It says itself how many groups are to run at once.
    assert_eq!(limited(&text, "access").matches(".maxnreg").count(), 1);
    assert_eq!(limited(TWO, "access,kernel=second").matches(".maxnreg").count(), 1);
    let unknown = made(TWO, "access", Chosen::All).expect("it is instrumented");
    assert_eq!(unknown.clone().limited(|_| None).expect("it is PTX").ptx, unknown.ptx);
    // The assembler takes no more than there are.
    assert!(unknown.limited(|_| Some(u32::MAX)).expect("it is PTX").ptx.contains(".maxnreg 255\n"));
}

#[test]
fn a_kernel_that_is_not_there_is_told_with_those_that_are() {
    let none = |_: &str| false;
    let error = |result: Result<Instrumented, PtxError>| result.expect_err("there is none").to_string();
    assert_eq!(error(made(TWO, "access,kernel=x", Chosen::All)), "there is no kernel `x` to instrument; there are `first`, `second`");
    assert_eq!(
        error(made(TWO, "access", Chosen::Of(&none, "that `^z` finds"))),
        "there is no kernel that `^z` finds to instrument; there are `first`, `second`"
    );
}

#[test]
fn what_cannot_be_served_is_told_by_name() {
    let error = |from: &str, to: &str| made(&TWO.replace(from, to), "access", Chosen::All).expect_err(to).to_string();
    assert!(error("sm_80", "sm_60").starts_with("this is PTX for sm_60, and what is added to it needs sm_70"));
    assert!(error(".address_size 64", ".address_size 32").starts_with("this PTX has addresses of 32 bits"));
    assert!(error("shared_one", "__hostcall_work").starts_with("this PTX has `__hostcall_work`"));
    assert!(error("[%rd1+4]", "[%rd2+4]").starts_with("line 28: the address `[%rd2+4]` is of no register"));
    assert!(error("7.0", "x").ends_with("line 2: `.version` without a number"));
    let old = TWO.replace("7.0", "6.0").replace("\tatom", "\tshfl.idx.b32 %r1, %r1, 0, 31;\n\tatom");
    assert!(made(&old, "access", Chosen::All).expect_err("old").to_string().starts_with("line 28: `shfl.idx.b32` is not in PTX 8.4"));
    let fixed = TWO.replace(".shared .b32 own", ".global .b32 own");
    let error = made(&fixed, "access,kernel=first", Chosen::All).expect_err("there can be only one");
    assert_eq!(error, PtxError::Static { function: "shared_one".into(), variable: "own".into() });
}

#[test]
fn a_place_is_the_line_of_the_source_and_without_one_that_of_the_ptx() {
    let text = ".version 8.4\n.target sm_90\n.entry k()\n{\n.reg .b64 a; .reg .b32 b;\nld.global.b32 b, [a];\n\
                .loc 1 7 3\nld.global.b32 b, [a+4]; ld.global.b32 b, [a+8];\n.loc 1 20 5\n.loc 2 9 1, function_name $s+2, inlined_at 1 20 5\nst.global.b32 [a], b;\n\
                .loc 1 0 0\nst.global.b32 [a], b;\nret;\n}\n.file 1 \"a.cu\"\n.file 2 \"/x/b.cuh\", 1, 2\n.section .debug_str\n{\n$s:\n.b8 97\n.b8 0, 105, 110, 0\n}\n";
    let made = made(text, "access", Chosen::All).expect("it is instrumented");
    let expected = [(6, "k.ptx:1 k"), (7, "a.cu:3 k"), (9, "/x/b.cuh:1 in")];
    assert_eq!(places(&made.ptx), expected.map(|(line, rest)| (line, rest.to_owned())));
    assert_eq!((made.accesses, made.sites), (5, 3));
}

#[test]
fn an_access_between_a_calls_parameters_is_told_of_behind_the_call() {
    let text = ".version 8.4\n.target sm_90\n.func f(.param .b32 x, .param .b32 y)\n{ ret; }\n.entry k()\n{\n.reg .b64 a; .reg .b32 b; .reg .pred p;\n{\n.param .b32 x; .param .b32 y;\n\
                st.param.b32 [x], b;\n@!p ld.global.b32 b, [a+4];\nst.param.b32 [y], b;\ncall.uni f, (x, y);\n}\nret;\n}\n";
    let made = made(text, "access", Chosen::All).expect("it is instrumented");
    let lines: Vec<&str> = made.ptx.lines().collect();
    let at =
        |start: &str| lines.iter().position(|line| line.trim().starts_with(start)).unwrap_or_else(|| panic!("no {start} in {}", made.ptx));
    assert!(at("selp.b64 %__hostcall_kept_0, 0, %__hostcall_address, p;") < at("@!p ld.global.b32"));
    assert!(at("call.uni f,") < at("call.uni __hostcall_probe_access"), "{}", made.ptx);
    assert_eq!(made.accesses, 1);
}

#[test]
fn bytes_that_are_no_ptx_are_an_error_and_no_panic() {
    let whole = TWO.replace("7.0", "8.4");
    for end in 0..whole.len() {
        let _ = made(&whole[..end], "access,blocks,barriers", Chosen::All);
        let mut torn = whole.clone();
        torn.remove(end);
        let _ = made(&torn, "access,blocks,barriers", Chosen::All);
    }
}
