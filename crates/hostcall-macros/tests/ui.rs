//! What users are told when a definition cannot work.
#![allow(missing_docs, reason = "a test")]

// The texts contain the compiler's own words, which change from version to version: `TRYBUILD=overwrite` renews them.
#[test]
fn each_definition_that_cannot_work_is_explained() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
