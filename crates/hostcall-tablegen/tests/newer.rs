//! What `llvm-tblgen-22` does not know yet: `let append` and `let prepend`, `!sort` and `!switch`.

use std::fs;
use std::process::{Command, Output};

/// What the command says of a file.
fn tablegen(source: &str) -> Output {
    let folder = tempfile::tempdir().expect("a directory");
    let file = folder.path().join("it.td");
    fs::write(&file, source).expect("written");
    Command::new(env!("CARGO_BIN_EXE_tablegen")).arg(&file).output().expect("it runs")
}

/// Panics unless the records of a file have these lines.
fn assert_gives(source: &str, lines: &[&str]) {
    let output = tablegen(source);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{output:?}");
    for line in lines {
        assert!(said.contains(line), "`{line}` is not in\n{said}");
    }
}

/// Panics unless a file is refused with this in the message.
fn assert_refused(source: &str, message: &str) {
    let output = tablegen(source);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(1) && said.contains(message), "`{message}` is not in\n{said}");
}

#[test]
fn fields_are_extended_on_either_side_and_set_where_they_had_no_value() {
    assert_gives(
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
        &[
            "list<int> numbers = [1, 2, 3];",
            "string text = \"abc\";",
            "list<string> none = [\"first\"];",
            "dag tree = (ins 1, 2);",
            "int append = 7;",
            "list<int> numbers = [2, 9];",
            "string text = \"outerb\";",
        ],
    );
}

#[test]
fn what_cannot_be_extended_is_an_error_that_says_what_can() {
    let source = "class C { int number = 1; }\ndef A : C { let append number = 2; }\n";
    assert_refused(source, "'number' is of type 'int', and lists, strings and dags can be extended");
}

#[test]
fn lists_are_sorted_by_what_is_said_of_each_element_and_equal_ones_stay_in_order() {
    assert_gives(
        "class Part<string text, int number> { string Text = text; int Number = number; bits<4> Bits = number; }\n\
         def p : Part<\"m\", 3>; def q : Part<\"k\", 3>; def r : Part<\"m\", -2>; def s : Part<\"a\", 10>;\n\
         defvar parts = [s, q, p, r];\n\
         class Sorted<list<int> given> { list<int> L = !sort(n, given, !sub(0, n)); }\n\
         def All : Sorted<[2, 9, 4]> {\n\
           list<Part> ByText = !sort(part, parts, part.Text);\n\
           list<Part> ByNumber = !sort(part, parts, part.Number);\n\
           list<Part> ByBits = !sort(part, parts, part.Bits);\n\
           list<string> Texts = !sort(it, [\"b\", \"B\", \"\", \"ab\", \"a\"], it);\n\
           list<int> Few = !sort(it, [7], it);\n\
           list<int> None = !sort(it, []<int>, it);\n\
           list<int> Flags = !sort(it, [3, 4, 5, 6], !eq(!and(it, 1), 0));\n\
           string First = !head(!sort(it, [\"z\", \"y\"], it));\n\
         }\n",
        &[
            "list<int> L = [9, 4, 2];",
            "list<Part> ByText = [s, q, p, r];",
            "list<Part> ByNumber = [r, q, p, s];",
            "list<Part> ByBits = [q, p, s, r];",
            "list<string> Texts = [\"\", \"B\", \"a\", \"ab\", \"b\"];",
            "list<int> Few = [7];",
            "list<int> None = [];",
            "list<int> Flags = [3, 5, 4, 6];",
            "string First = \"y\";",
        ],
    );
}

#[test]
fn what_cannot_be_sorted_is_an_error() {
    assert_refused("def op; def A { list<int> L = !sort(x, (op 1), 1); }", "expected a list, found (op 1) of type 'dag'");
    assert_refused("class C; def a : C; def b : C; def A { list<C> L = !sort(x, [b, a], x); }", "!sort(x, [b, a], x)");
    assert_refused("def A { int N = !sort(x, [1], x); }", "!sort gives a list, not a value of type 'int'");
    assert_refused("def A { list<int> L = !sort(1, [1], 1); }", "expected the name of a variable");
}

#[test]
fn a_switch_gives_the_value_of_the_case_that_the_key_is_or_else_the_last() {
    assert_gives(
        "class P; def p : P; def q : P;\n\
         class Name<int n> { string S = !switch(n, 1: \"one\", !add(1, 1): \"two\", \"many\"); string Only = !switch(n, \"only\"); }\n\
         def A : Name<1>; def B : Name<2>; def C : Name<3>;\n\
         class Of<P which> { int N = !switch(which, p: 4, q: 5, 6); }\n\
         def D : Of<q>;\n\
         def E {\n\
           string FromText = !switch(\"k\", \"j\": \"no\", \"k\": \"yes\", \"no\");\n\
           bits<2> Bits = !switch(7, 1: {0, 1}, 7: {1, 0}, {1, 1});\n\
           bits<2> OtherBits = !switch(8, 1: {0, 1}, 7: {1, 0}, {1, 1});\n\
           int Unset = !switch(1, 1: ?, 2);\n\
           list<int> Items = !switch(0, 1: [1], []);\n\
           list<string> Named = !switch(1, 1: [], [\"x\"]);\n\
           P Record = !switch(0, 1: p, q);\n\
           int Nested = !switch(3, 3: !switch(4, 4: 44, 0), 1);\n\
           int First = !switch(1, 1: 10, 1: 20, 30);\n\
         }\n\
         class Same<int n> { bit S = !eq(!switch(n, 1: \"x\", \"y\"), !cond(!eq(n, 1): \"x\", true: \"y\")); }\n\
         def F : Same<1>;\n",
        &[
            "string S = \"one\";",
            "string S = \"two\";",
            "string S = \"many\";",
            "string Only = \"only\";",
            "int N = 5;",
            "string FromText = \"yes\";",
            "bits<2> Bits = { 1, 0 };",
            "bits<2> OtherBits = { 1, 1 };",
            "int Unset = ?;",
            "list<int> Items = [];",
            "list<string> Named = [];",
            "P Record = q;",
            "int Nested = 44;",
            "int First = 10;",
            "bit S = 1;",
        ],
    );
}

#[test]
fn a_switch_without_a_last_value_or_of_types_that_do_not_fit_is_an_error() {
    let in_field = |value: &str| format!("def A {{ int N = {value}; }}");
    assert_refused(&in_field("!switch(1, 1: 10, 2: 20)"), "!switch ends with the value of all other keys");
    assert_refused(&in_field("!switch(1)"), "!switch ends with the value of all other keys");
    assert_refused(&in_field("!switch(1, 1: 5, 2: \"two\", 0)"), "expected a value of type 'int', found \"two\" of type 'string'");
    assert_refused(&in_field("!switch(\"a\", 1: 5, 0)"), "expected a value of type 'string', found 1 of type 'int'");
    assert_refused(&in_field("!switch(1, 1: ?, ?)"), "all values of !switch are '?'");
    assert_refused(&in_field("!switch([1], 1: 2, 3)"), "expected a value of type bit, bits, int or string, or a record");
    assert_refused(&in_field("!switch(1, 1: 2, 3, 4)"), "expected ')'");
}
