//! Names of languages and of namespaces.

use super::*;

#[test]
fn languages_are_known_by_name() {
    for language in Language::ALL {
        assert_eq!(language.name().parse(), Ok(language));
    }
    let error = "fortran".parse::<Language>().expect_err("there is none");
    assert_eq!(error.to_string(), "no bindings for `fortran`: there are cuda, cpp-host, c, python");
}

#[test]
fn only_namespaces_of_cpp_are_taken() {
    for good in ["services", "a::b", "_x1"] {
        assert!(good.parse::<Namespace>().is_ok(), "{good}");
    }
    for bad in ["", "a::", "::a", "1a", "a b", "class", "a::new", "a;", "ü"] {
        assert!(bad.parse::<Namespace>().is_err(), "{bad}");
    }
}
