//! Definitions made at run time, against those of a trait.

use super::*;

/// A plain structure.
#[derive(Clone, Copy, Debug, PartialEq, hostcall_macros::Plain)]
#[hostcall(krate = hostcall_abi)]
#[repr(C)]
pub(super) struct Pair {
    a: u64,
    b: u32,
    c: u32,
}

#[allow(dead_code, unused_parens, reason = "only the definitions are used; braces mean nothing in a type")]
mod defined {
    use super::Pair;

    #[hostcall_macros::service(side = "host", krate = crate)]
    pub trait Host {
        fn add42(x: f32) -> f32;
        fn log(message: &str);
        fn tick();
        fn barrier() -> ();
        fn every(a: u8, b: [u16; 3], c: (u32, Option<bool>), d: Pair, e: char, f: i128) -> Result<(Pair, [[u8; 2]; 3]), (u8,)>;
        fn fill(block: usize, words: &[u64], pairs: &[Pair], out: &mut [[f32; 4]], name: &str) -> Option<Option<u64>>;
        fn braces(x: (u32)) -> ();
    }
}
use defined::host::definition as of_trait;

fn builder(name: &str, arguments: &[&str], result: Option<&str>) -> DefinitionBuilder {
    let builder = Definition::builder(name).structure("Pair", size_of::<Pair>());
    let builder = arguments.iter().fold(builder, |builder, argument| builder.argument(argument));
    result.into_iter().fold(builder, |builder, result| builder.result(result))
}

fn error(arguments: &[&str], result: Option<&str>) -> DefinitionError {
    builder("Host__f", arguments, result).build().expect_err("it cannot be")
}

#[test]
fn a_definition_made_at_run_time_is_equal_to_the_traits() {
    let made = |name, arguments: &[&str], result| builder(name, arguments, result).build().unwrap();
    assert_eq!(made("Host__add42", &["f32"], Some("f32")), of_trait::add42());
    assert_eq!(made("Host__log", &["&str"], None), of_trait::log());
    assert_eq!(made("Host__tick", &[], None), of_trait::tick());
    assert_eq!(made("Host__barrier", &[], Some("()")), of_trait::barrier());
    assert_eq!(
        made(
            "Host__every",
            &["u8", "[u16;3]", "( u32,Option <bool> )", "Pair", " char", "i128"],
            Some("Result<(Pair, [[u8; 2]; 3]), (u8,)>")
        ),
        of_trait::every()
    );
    assert_eq!(
        made("Host__fill", &["usize", "& [u64]", "&[Pair]", "&mut[[f32;4]]", "& str"], Some("Option<Option<u64>>")),
        of_trait::fill()
    );
    assert_eq!(made("Host__braces", &["(u32)"], Some("()")), of_trait::braces());
}

#[test]
fn another_type_makes_another_signature() {
    let made = |argument: &str, bytes| {
        let builder = Definition::builder("f").structure("P", bytes).argument(argument).result("()");
        builder.build().unwrap().signature
    };
    let all = [made("u32", 4), made("i32", 4), made("P", 4), made("P", 8), made("&[P]", 4), made("&[P]", 2), made("&mut[P]", 4)];
    for (i, a) in all.iter().enumerate() {
        assert!(!all[..i].contains(a), "{i}");
    }
}

#[test]
fn what_is_no_definition_is_refused_with_the_reason() {
    use DefinitionError as E;
    assert_eq!(Definition::builder("").build(), Err(E::EmptyName));
    assert_eq!(Definition::builder("a b").build(), Err(E::BadName { name: "a b".into() }));
    assert_eq!(Definition::builder("0a").build(), Err(E::BadName { name: "0a".into() }));
    assert!(matches!(Definition::builder(b"a\xff").build(), Err(E::NotUtf8 { text }) if text == "a\u{fffd}"));
    assert!(matches!(Definition::builder("f").argument(b"\xff").build(), Err(E::NotUtf8 { .. })));
    assert!(matches!(Definition::builder("f").structure("", 4).build(), Err(E::BadName { .. })));
    assert_eq!(error(&["Vec<u8>"], None), E::UnknownType { name: "Vec".into() });
    assert_eq!(error(&["String"], None), E::UnknownType { name: "String".into() });
    assert_eq!(error(&["&[bool]"], None), E::NotPlain { text: "bool".into() });
    assert_eq!(error(&["[Option<u8>; 2]"], None), E::NotPlain { text: "Option < u8 >".into() });
    for misplaced in ["Option<&str>", "(&[u8], u8)", "str", "&&str"] {
        assert!(matches!(error(&[misplaced], None), E::Misplaced { .. } | E::Syntax { .. }), "{misplaced}");
    }
    assert_eq!(error(&[], Some("&str")), E::Misplaced { text: "&str".into() });
    assert_eq!(error(&["&mut [u8]"], None), E::PostedOut);
    assert_eq!(Definition::builder("f").result("u8").result("u8").build(), Err(E::SecondResult));
    for broken in ["", "u32 u32", "[u8; n]", "[u8]", "Option<u8", "(u8", "*const u8", "u8::MAX", "&mut u8", "(u8 u8)", "[u8; -1]", "1"] {
        let error = error(&[broken], None);
        assert!(matches!(&error, E::Syntax { text, .. } if text == broken), "{broken}: {error:?}");
    }
    let deep = "Option<".repeat(100_000) + "u8";
    assert!(matches!(error(&[&deep], None), E::Syntax { .. }));
}

#[test]
fn more_than_a_message_carries_is_refused() {
    let most = Definition::MOST_UNITS;
    let of = |bytes: usize| format!("[u8; {bytes}]");
    assert!(builder("f", &[&of(most * 4)], Some("u8")).build().is_ok());
    fn too_many(arguments: &[&str], result: Option<&str>) -> (usize, usize) {
        match error(arguments, result) {
            DefinitionError::TooManyUnits { units, max } => (units, max),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(too_many(&[&of(most * 4 + 1)], None), (most + 1, most));
    assert_eq!(too_many(&[&of(most * 4 - 8), "u32", "&str"], None), (most + 2, most), "the head of strings and slices counts");
    assert_eq!(too_many(&[], Some(&of(most * 4 + 4))), (most + 1, most));
    assert_eq!(too_many(&["&str"], Some(&of(257))), (65, 64));
    assert_eq!(too_many(&[&of(usize::MAX), &of(usize::MAX)], None).1, most);
    assert_eq!(too_many(&[&format!("[[u64; {}]; {}]", usize::MAX, usize::MAX)], None).1, most);
}
