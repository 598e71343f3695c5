//! What files give, and what they are refused for.

use super::*;
use crate::model::{Kind, Number, Type};

fn parsed(text: &str) -> Interface {
    parse(&[Source { name: "services.rs", text }]).unwrap_or_else(|errors| panic!("{errors}"))
}

/// The errors of one file, as they are shown.
fn refused(text: &str) -> Vec<String> {
    let errors = parse(&[Source { name: "services.rs", text }]).expect_err("it cannot be");
    errors.0.iter().map(ToString::to_string).collect()
}

/// The type of the argument of the only function, which has one.
fn argument(types: &str, argument: &str) -> Type {
    let interface = parsed(&format!("{types} #[hostcall::service] pub trait Host {{ fn f(x: {argument}); }}"));
    match interface.services[0].functions[0].arguments[0].kind.clone() {
        Kind::Fixed(ty) => ty,
        kind => panic!("{kind:?}"),
    }
}

/// Why an argument of a type cannot be, behind the place.
fn why(types: &str, argument: &str) -> String {
    let errors = refused(&format!("{types}\n#[hostcall::service] pub trait Host {{ fn f(x: {argument}); }}"));
    assert_eq!(errors.len(), 1, "{errors:?}");
    errors[0].splitn(4, ':').last().expect("it has a place").trim().to_owned()
}

const POINT: &str = "#[derive(Clone, Copy, hostcall::Plain)] #[repr(C)] pub struct Point { pub x: f32, pub tag: [u8; 4] }";

#[test]
fn a_definition_has_its_names_its_places_and_its_documentation() {
    let interface = parsed(
        "//! Services.\n/// What the host answers.\n///\n/// More of it.\n#[service(on_error = \"panic\")]\npub trait Host {\n    /// Adds.\n    fn r#add(x: f32, r#in: (u8, Option<u64>)) -> u64;\n    fn log(level: u8, message: &str, words: &[u16]);\n    fn done();\n}",
    );
    let service = &interface.services[0];
    assert_eq!((service.name.as_str(), service.panics), ("Host", true));
    assert_eq!(service.doc, ["What the host answers.", "", "More of it."]);
    let [add, log, done] = service.functions.as_slice() else { panic!("{service:?}") };
    assert_eq!((add.name.as_str(), add.wire_name.as_str()), ("add", "Host__add"));
    assert_eq!(add.text, "fn(f32, (u8, Option<u64>)) -> u64");
    assert_eq!((add.doc.as_slice(), add.arguments[1].name.as_str()), (["Adds.".to_owned()].as_slice(), "in"));
    assert_eq!((add.units(), add.reply_units(), add.takes_var()), (5, Some(2), false));
    assert_eq!(add.placed().collect::<Vec<_>>(), [(0, 1), (1, 5)]);
    assert_eq!((log.units(), log.reply_units(), log.takes_var()), (5, None, true));
    assert_eq!(log.placed().collect::<Vec<_>>(), [(2, 3), (3, 4), (4, 5)]);
    assert_eq!((done.units(), done.reply_units(), done.takes_var()), (0, None, false));
}

#[test]
fn types_are_found_by_the_rules_of_names() {
    assert_eq!(argument("", "core::option::Option<std::primitive::u8>"), Type::Option(Box::new(Type::Number(Number::U8))));
    assert_eq!(argument("type Id = u64;", "Id"), Type::Number(Number::U64));
    assert_eq!(argument("mod ids { pub type Id = u64; }", "ids::Id"), Type::Number(Number::U64));
    assert_eq!(argument("mod ids { pub type Id = u64; } mod others { pub type Id = u8; }", "crate::others::Id"), Type::Number(Number::U8));
    assert_eq!(argument("mod ids { pub type Id = u64; } use ids::Id as Key;", "Key"), Type::Number(Number::U64));
    assert_eq!(argument("mod ids { pub type Id = u64; } use ids::Id::{self as Key};", "Key"), Type::Number(Number::U64));
    assert_eq!(argument("type Option = u8;", "Option"), Type::Number(Number::U8), "a type of the module's own hides the language's");
    let Type::Structure(point) = argument(POINT, "Point") else { panic!() };
    assert_eq!((point.bytes, point.align, point.fields[1].offset), (8, 4, 4));
}

#[test]
fn lengths_are_numbers_constants_and_sums() {
    let length = |types: &str, length: &str| match argument(types, &format!("[u8; {length}]")) {
        Type::Array(_, length) => length,
        ty => panic!("{ty:?}"),
    };
    assert_eq!(length("", "0x10"), 16);
    assert_eq!(length("const N: usize = 3;", "2 * (N + 1) - 1"), 7);
    assert_eq!(length("const SHIFT: u8 = 3; const N: usize = 1 << SHIFT as usize;", "N"), 8);
    assert_eq!(length("mod sizes { pub const N: usize = 5; } use sizes::N;", "N"), 5);
    for unknown in ["N", "size_of::<u32>()", "1 - 2", "1 / 0", "usize::MAX", "{ 3 }"] {
        assert!(why("", &format!("[u8; {unknown}]")).contains("is not known here"), "{unknown}");
    }
    assert!(why("const A: usize = B; const B: usize = A;", "[u8; A]").contains("`A` is not known here"));
    assert!(why("const N: u32 = 300;", "[u8; N as u8]").contains("is not known here"), "a conversion that cuts it off");
}

#[test]
fn layouts_are_those_of_c() {
    let layout = |repr: &str, fields: &str| {
        let types = format!("#[derive(Plain)] {repr} struct S {{ {fields} }}");
        match argument(&types, "S") {
            Type::Structure(structure) => (structure.bytes, structure.align),
            ty => panic!("{ty:?}"),
        }
    };
    assert_eq!(layout("#[repr(C)]", "a: u64, b: u16, c: [u8; 6]"), (16, 8));
    assert_eq!(layout("#[repr(C, align(16))]", "a: u64, b: u64"), (16, 16));
    assert_eq!(layout("#[repr(C, packed)]", "a: u8, b: u64"), (9, 1));
    assert_eq!(layout("#[repr(C, packed(2))]", "a: u16, b: u64"), (10, 2));
    assert_eq!(layout("#[repr(transparent)]", "a: u128"), (16, 16));
    let padded = |repr: &str, fields: &str| why(&format!("#[derive(Plain)] {repr} struct S {{ {fields} }}"), "S");
    assert!(padded("#[repr(C)]", "a: u8, b: u32").starts_with("`S` has padding before `b`"));
    assert!(padded("#[repr(C)]", "a: u32, b: u8").starts_with("`S` has padding before its end"));
    assert!(padded("#[repr(C, align(8))]", "a: u32").starts_with("`S` has padding before its end"));
    assert!(padded("", "a: u32").starts_with("`S` needs `#[repr(C)]`"));
    assert!(padded("#[repr(C, align(3))]", "a: u32").contains("no power of two"));
}

#[test]
fn what_other_languages_cannot_have_is_refused_with_what_to_do() {
    let plain = |fields: &str| format!("#[derive(Plain)] #[repr(C)] struct S {fields}");
    for (types, argument, expected) in [
        ("", "Elsewhere", "no type `Elsewhere` is in the files: name the file that defines it as well"),
        ("use other::Elsewhere;", "Elsewhere", "`Elsewhere` comes from elsewhere (`other::Elsewhere`)"),
        ("use std::io::Result;", "Result<u8>", "`Result<u8>` is generic"),
        ("", "Result<u8>", "`Result` has two types here"),
        ("struct W<T>(T);", "W<u8>", "`W<u8>` is generic"),
        ("type W<T> = Option<T>;", "W<u8>", "`W<u8>` is generic"),
        ("", "Vec<u8>", "`Vec<u8>` is generic"),
        ("enum E { A }", "E", "`E` is an enum"),
        ("#[derive(Clone)] struct E { a: u8 }", "E", "`E` is a struct without `#[derive(Plain)]`"),
        ("union E { a: u8 }", "E", "`E` is a union"),
        ("", "[bool; 2]", "`bool` cannot be an element"),
        ("", "&[Option<u8>]", "`Option<u8>` cannot be an element"),
        ("", "[u8; 0]", "`[u8; 0]` has no bytes"),
        ("", "(u8, u8, u8, u8, u8, u8, u8, u8, u8)", "a tuple has at most 8 members, and this one 9"),
        (&plain("{ a: usize }"), "S", "`usize` in a struct is of another size elsewhere"),
        (&plain("{ a: [[isize; 2]; 2] }"), "S", "`isize` in a struct"),
        (&plain("{ a: bool }"), "S", "`bool` cannot be a field"),
        (&plain("{ a: &'static u8 }"), "S", "`&' static u8` cannot be here"),
        (&plain("{ }"), "S", "`S` has no bytes"),
        (&plain("{ a: S }"), "S", "`S` contains itself"),
        ("type A = B; type B = A;", "A", "`"),
        ("mod a { pub type T = u8; } mod b { pub type T = u8; }", "T", "`T` is defined 2 times"),
        ("", "([u8; 18446744073709551615], [u8; 18446744073709551615], [[u64; 9223372036854775807]; 9])", "13835058055282163712 units"),
        ("", "[u64; 9999]", "19998 units of 4 bytes are more than one message carries as arguments"),
        ("", "&u8", "a reference means nothing on the other side"),
    ] {
        let text = why(types, argument);
        assert!(text.starts_with(expected), "{types} {argument}: {text}");
    }
}

#[test]
fn errors_are_at_their_places_and_all_of_them_are_said() {
    let text = "#[hostcall::service]\npub trait Host {\n    fn f(a: u8, b: Missing, ü: Absent) -> Vec<u8>;\n    fn g() -> usize;\n    fn h(&self);\n}\n";
    let errors = refused(text);
    assert_eq!(errors.len(), 1, "what the macro refuses comes first: {errors:?}");
    assert!(errors[0].starts_with("services.rs:5:10: leave `self` out"), "{errors:?}");
    let errors = refused(&text.replace("fn h(&self);", ""));
    let places: Vec<_> = errors.iter().map(|error| error.splitn(4, ':').skip(1).take(2).collect::<Vec<_>>().join(":")).collect();
    assert_eq!(places, ["3:20", "3:32", "3:43"], "{errors:?}");
    let errors = parse(&[Source { name: "a.rs", text: POINT }, Source { name: "b.rs", text: "fn x( {" }]).expect_err("it is not Rust");
    assert!(errors.0.iter().all(|error| error.file == "b.rs" && matches!(error.kind, ErrorKind::Syntax { .. })), "{errors}");
    assert!(refused(POINT)[0].contains("no `#[hostcall::service]` trait is in the file"));
    assert!(refused("").len() == 1);
}

#[test]
fn arguments_of_the_attribute_are_the_macros() {
    let errors = refused("#[service(on_failure = \"panic\")] pub trait Host { fn f(); }");
    assert!(errors[0].contains("unknown argument `on_failure`"), "{errors:?}");
}

#[test]
fn names_that_a_binding_would_have_twice_are_refused() {
    let twice = "#[service] pub trait Host { fn f(); } mod inner { #[service] pub trait Host { fn g(); } }";
    assert!(refused(twice)[0].contains("`Host` is there twice"));
    let structs =
        format!("mod a {{ {POINT} }} mod b {{ {POINT} }} #[service] pub trait Host {{ fn f(a: crate::a::Point, b: crate::b::Point); }}");
    assert!(refused(&structs)[0].contains("`Point` is there twice"));
    let both = "#[derive(Plain)] #[repr(C)] struct Host { a: u8 } mod inner { #[service] pub trait Host { fn g(x: crate::Host); } }";
    assert!(refused(both)[0].contains("`Host` is there twice"));
}

#[test]
fn types_may_be_in_another_file_and_only_those_that_are_used_are_taken() {
    let types = format!(
        "{POINT} #[derive(Plain)] #[repr(C)] struct Line {{ ends: [Point; 2] }} #[derive(Plain)] #[repr(C)] struct Bad {{ a: usize }}"
    );
    let services = "use crate::types::Line; #[service] pub trait Host { fn f(lines: &[Line]) -> u32; } #[cfg(test)] mod tests { #[service] pub trait T {} }";
    let sources = [Source { name: "src/lib.rs", text: services }, Source { name: "src/types.rs", text: &types }];
    let interface = parse(&sources).unwrap();
    let names: Vec<_> = interface.structures.iter().map(|structure| structure.name.as_str()).collect();
    assert_eq!(names, ["Point", "Line"], "what a struct contains comes first");
    assert_eq!(interface.services.len(), 1);
}

#[test]
fn a_table_that_takes_the_attribute_is_read_through_its_macro() {
    let table = "#[macro_export] macro_rules! services { ($service:meta) => { /// Time.\n #[$service] pub trait Clock { fn now() -> (i64, u32); } }; }";
    let interface = parsed(table);
    assert_eq!((interface.services[0].name.as_str(), interface.services[0].doc[0].as_str()), ("Clock", "Time."));
    assert!(refused("macro_rules! other { ($x:expr) => { #[$x] pub trait Clock {} }; }")[0].contains("no `#[hostcall::service]`"));
}

#[test]
fn streams_are_plain_structs_too() {
    let stream =
        "#[hostcall::stream(policy = \"drop\")] #[repr(C)] pub struct Loss { step: u32 } #[hostcall::stream(bytes)] pub struct Frame;";
    let Type::Structure(loss) = argument(stream, "Loss") else { panic!() };
    assert_eq!(loss.bytes, 4);
    assert!(why(stream, "Frame").starts_with("`Frame` is a struct without `#[derive(Plain)]`"));
}
