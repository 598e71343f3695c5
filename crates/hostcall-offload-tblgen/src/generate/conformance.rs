//! Skeletons of conformance tests, in C, from the results that functions say they return.
//!
//! Each condition that is code becomes a test that breaks it; each that is prose becomes a test that is skipped until
//! someone writes it. What a test cannot know — a device, a queue, a program's image — comes from the *fixture*: a
//! function that the tests declare and that the user defines. A condition that compares a parameter with a constant
//! becomes a whole test; one that joins several has to be written, as prose has.

use std::collections::BTreeSet;

use super::rust_sys::params_struct;
use super::text::Text;
use super::{Backend, GenError, made_from};
use crate::condition::{BinaryOp, Expr};
use crate::ir::{Api, Function, Param, snake_case};

pub(super) fn generate(api: &Api) -> Result<String, GenError> {
    let prefix = api.prefix.to_lowercase();
    let mut text = Text::default();
    let stem = api.source.split('.').next().unwrap_or("API");
    text.line(format_args!("/* {} */", made_from(api, Backend::Tests)));
    text.line("/*");
    text.line(" * Conformance tests. Link this with the library and with a file that defines the fixture declared below.");
    text.line(" * It fills in the arguments of a call that succeeds; the one that a test is about is then changed by the test.");
    text.line(" */");
    text.line(format_args!("#include <{stem}.h>\n#include <stdio.h>\n#include <string.h>\n"));
    text.line("/* Points every member of `call`, which is the params structure of `function`, at an argument of a call that succeeds. */");
    text.line("/* Returns 0 if there is no such call. */");
    text.line("int fixture(const char *function, void *call);");
    text.blank();
    text.line("static int failed, skipped, passed;\n");
    text.block(format_args!("static void expect(const char *test, {prefix}_result_t result, {prefix}_errc_t expected) {{"), "}", |text| {
        text.line(format_args!("{prefix}_errc_t code = result ? result->Code : {}_ERRC_SUCCESS;", api.prefix));
        text.line("if (code == expected) {\n    passed++;\n    return;\n}");
        text.line("failed++;");
        text.line("printf(\"FAIL %s: expected code %d, got %d (%s)\\n\", test, (int)expected, (int)code, result && result->Details ? result->Details : \"\");");
        Ok::<(), GenError>(())
    })?;
    text.line("\nstatic void skip(const char *test, const char *why) {\n    skipped++;\n    printf(\"SKIP %s: %s\\n\", test, why);\n}");
    let mut names = Vec::new();
    for function in &api.functions {
        tests_of(&mut text, api, function, &prefix, &mut names)?;
    }
    text.blank();
    text.block("int main(void) {", "}", |text| {
        for name in &names {
            text.line(format_args!("{name}();"));
        }
        text.line("printf(\"%d passed, %d failed, %d skipped\\n\", passed, failed, skipped);");
        text.line("return failed != 0;");
        Ok::<(), GenError>(())
    })?;
    Ok(text.finish())
}

fn tests_of(text: &mut Text, api: &Api, function: &Function, prefix: &str, names: &mut Vec<String>) -> Result<(), GenError> {
    let errc = format!("{prefix}_errc_t");
    let mut used = BTreeSet::new();
    for ret in &function.returns {
        let code = api.enumerator(&ret.value).filter(|(object, _)| object.name == errc);
        for condition in &ret.conditions {
            let subject = condition.expr.as_ref().map_or_else(|| "prose".to_owned(), |expr| snake_case(&words(&expr.to_string())));
            let stem = format!("test_{}_{}_{subject}", snake_case(&function.name), ret.value.to_lowercase());
            let name = (1..).map(|n| if n == 1 { stem.clone() } else { format!("{stem}_{n}") }).find(|name| used.insert(name.clone()));
            let name = name.unwrap_or(stem);
            text.blank();
            text.line(format_args!("/* {} returns {}: {} */", function.name, ret.value, condition.text.replace("*/", "* /")));
            text.block(format_args!("static void {name}(void) {{"), "}", |text| {
                let broken = condition.expr.as_ref().and_then(|expr| broken(expr, function));
                match (code, broken) {
                    (Some((_, etor)), Some((param, value))) => call(text, function, param, &value, &etor.c_name),
                    _ => text.line(format_args!("skip(__func__, {});", quoted(&condition.text))),
                }
                Ok::<(), GenError>(())
            })?;
            names.push(name);
        }
    }
    Ok(())
}

fn call(text: &mut Text, function: &Function, param: &Param, value: &str, code: &str) {
    text.line(format_args!("struct {} call;", params_struct(function)));
    text.line("memset(&call, 0, sizeof call);");
    let missing = "skip(__func__, \"the fixture has no call\");";
    text.line(format_args!("if (!fixture(\"{}\", &call)) {{\n    {missing}\n    return;\n}}", function.name));
    text.line(format_args!("*call.p{} = {value};", param.name));
    let arguments: Vec<_> = function.params.iter().map(|param| format!("*call.p{}", param.name)).collect();
    text.line(format_args!("expect(__func__, {}({}), {code});", function.name, arguments.join(", ")));
}

/// A parameter and a value of it for which a condition holds, where that is plain to see: `X == value` and `!X`.
fn broken<'a>(expr: &Expr, function: &'a Function) -> Option<(&'a Param, String)> {
    let find = |expr: &Expr| match expr {
        Expr::Name { name } => function.params.iter().find(|param| param.name == *name),
        _ => None,
    };
    let constant = |expr: &Expr| match expr {
        Expr::Name { name } if find(expr).is_none() => Some(name.clone()),
        Expr::Int { .. } | Expr::Bool { .. } | Expr::Null => Some(expr.to_string()),
        _ => None,
    };
    match expr {
        Expr::Binary { op: BinaryOp::Equal, left, right } => match (find(left), find(right)) {
            (Some(param), None) => Some((param, constant(right)?)),
            (None, Some(param)) => Some((param, constant(left)?)),
            _ => None,
        },
        _ => None,
    }
}

/// What of a text can be in a name.
fn words(text: &str) -> String {
    let words: Vec<_> = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    words.join("_")
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', " ").replace("??", "?\\?"))
}
