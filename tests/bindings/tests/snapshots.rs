//! Snapshots of each language, of a file with every kind of argument. `INSTA_UPDATE=always` renews them.
#![allow(missing_docs, reason = "a test")]

use hostcall_idl::files::{Source, parse};
use hostcall_idl::generate::{Language, Namespace, generate};
use hostcall_idl::model::Interface;

const ODD: &str = include_str!("odd/mod.rs");

fn odd() -> Interface {
    let source = Source { name: "odd.rs", text: ODD };
    parse(&[source]).unwrap_or_else(|errors| panic!("{errors}"))
}

#[test]
fn stubs_for_cuda() {
    insta::assert_snapshot!(generate(&odd(), Language::Cuda, &Namespace::default()));
}

#[test]
fn definitions_for_hosts_in_cpp() {
    insta::assert_snapshot!(generate(&odd(), Language::CppHost, &"mine::services".parse().expect("it is one")));
}

#[test]
fn definitions_for_hosts_in_c() {
    insta::assert_snapshot!(generate(&odd(), Language::C, &Namespace::default()));
}

#[test]
fn definitions_for_python() {
    insta::assert_snapshot!(generate(&odd(), Language::Python, &Namespace::default()));
}

#[test]
fn a_file_with_a_hole_anywhere_gives_definitions_or_errors() {
    let whole: Vec<char> = ODD.chars().collect();
    let (mut good, mut bad) = (0, 0);
    for length in [1, 6, 45] {
        for start in (0..whole.len() - length).step_by(5) {
            let text: String = whole[..start].iter().chain(&whole[start + length..]).collect();
            match parse(&[Source { name: "odd.rs", text: &text }]) {
                Ok(interface) => {
                    good += 1;
                    for language in Language::ALL {
                        assert!(generate(&interface, language, &Namespace::default()).ends_with('\n'));
                    }
                }
                Err(errors) => {
                    bad += 1;
                    assert!(errors.0.iter().all(|error| error.line >= 1 && error.column >= 1 && !error.kind.to_string().is_empty()));
                }
            }
        }
    }
    assert!(good > 100 && bad > 100, "{good} {bad}");
}
