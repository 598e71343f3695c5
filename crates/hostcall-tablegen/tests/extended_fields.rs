//! `let append` and `let prepend`, which `llvm-tblgen-22` does not know yet.

use std::fs;
use std::process::{Command, Output};

/// What the command says of a file.
fn tablegen(source: &str) -> Output {
    let folder = tempfile::tempdir().expect("a directory");
    let file = folder.path().join("it.td");
    fs::write(&file, source).expect("written");
    Command::new(env!("CARGO_BIN_EXE_tablegen")).arg(&file).output().expect("it runs")
}

#[test]
fn fields_are_extended_on_either_side_and_set_where_they_had_no_value() {
    let output = tablegen(
        "def ins;\n\
         class C { list<int> numbers = [2]; string text = \"b\"; list<string> none; dag tree = (ins 1); int append = 0; }\n\
         def A : C {\n\
           let append numbers = [3];\n\
           let prepend numbers = [1];\n\
           let append text = \"c\";\n\
           let prepend text = \"a\";\n\
           let append none = [\"first\"];\n\
           let append tree = (ins 2);\n\
           let append = 7;\n\
         }\n\
         let append numbers = [9], prepend text = \"outer\" in def B : C;\n",
    );
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{output:?}");
    for line in [
        "list<int> numbers = [1, 2, 3];",
        "string text = \"abc\";",
        "list<string> none = [\"first\"];",
        "dag tree = (ins 1, 2);",
        "int append = 7;",
        "list<int> numbers = [2, 9];",
        "string text = \"outerb\";",
    ] {
        assert!(said.contains(line), "`{line}` is not in\n{said}");
    }
}

#[test]
fn what_cannot_be_extended_is_an_error_that_says_what_can() {
    let output = tablegen("class C { int number = 1; }\ndef A : C { let append number = 2; }\n");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && said.contains("'number' is of type 'int', and lists, strings and dags can be extended"), "{said}");
}
