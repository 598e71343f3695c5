//! Names: C accepts them, they are used once, and what they name is described.

use std::collections::BTreeMap;

use super::{Findings, Lint, span_of};
use crate::ir::{Api, Span};

/// Words that are no names in C11 or C++17.
const KEYWORDS: [&str; 93] = [
    "alignas",
    "alignof",
    "and",
    "and_eq",
    "asm",
    "auto",
    "bitand",
    "bitor",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "char16_t",
    "char32_t",
    "class",
    "compl",
    "const",
    "const_cast",
    "constexpr",
    "continue",
    "decltype",
    "default",
    "delete",
    "do",
    "double",
    "dynamic_cast",
    "else",
    "enum",
    "explicit",
    "export",
    "extern",
    "false",
    "float",
    "for",
    "friend",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "not_eq",
    "nullptr",
    "operator",
    "or",
    "or_eq",
    "private",
    "protected",
    "public",
    "register",
    "reinterpret_cast",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "static_assert",
    "static_cast",
    "struct",
    "switch",
    "template",
    "this",
    "thread_local",
    "throw",
    "true",
    "try",
    "typedef",
    "typeid",
    "typename",
    "union",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "wchar_t",
    "while",
    "xor",
    "xor_eq",
    "NULL",
    "_Alignas",
    "_Alignof",
    "_Atomic",
    "_Bool",
    "_Generic",
    "_Noreturn",
    "_Static_assert",
];

pub(super) fn check(api: &Api, findings: &mut Findings) {
    objects(api, findings);
    parts(api, findings);
}

/// Whether C accepts a name, and if not, why.
fn fault(name: &str) -> Option<String> {
    if name.is_empty() {
        return Some("it is empty".into());
    }
    if name.trim() != name {
        return Some("it begins or ends with a blank".into());
    }
    if let Some(bad) = name.chars().find(|c| !(c.is_ascii_alphanumeric() || *c == '_')) {
        return Some(format!("`{bad}` cannot be part of a name"));
    }
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        return Some("it begins with a digit".into());
    }
    KEYWORDS.contains(&name).then(|| "it is a keyword".into())
}

fn valid(findings: &mut Findings, what: &str, name: &str, span: Option<&Span>) {
    if let Some(reason) = fault(name) {
        let trimmed = name.trim();
        let fix = if trimmed != name && fault(trimmed).is_none() {
            format!("write \"{trimmed}\"")
        } else {
            "choose a name that C and C++ accept".into()
        };
        findings.add(Lint::InvalidName, span, format!("the name \"{name}\" of {what} is not valid: {reason}"), fix);
    }
}

fn described(findings: &mut Findings, what: &str, desc: &str, span: Option<&Span>) {
    if desc.trim().is_empty() {
        findings.add(Lint::MissingDescription, span, format!("{what} has no description"), "say what it is for");
    }
}

fn objects(api: &Api, findings: &mut Findings) {
    let macros = api.macros.iter().map(|object| ("a macro", object.name.split('(').next().unwrap_or_default(), &object.desc, &object.span));
    let handles = api.handles.iter().map(|object| ("a handle", object.name.as_str(), &object.desc, &object.span));
    let enums = api.enums.iter().map(|object| ("an enumeration", object.name.as_str(), &object.desc, &object.span));
    let typedefs = api.typedefs.iter().map(|object| ("a type", object.name.as_str(), &object.desc, &object.span));
    let callbacks = api.callbacks.iter().map(|object| ("a callback", object.name.as_str(), &object.desc, &object.span));
    let structs = api.structs.iter().map(|object| ("a structure", object.name.as_str(), &object.desc, &object.span));
    let functions = api.functions.iter().map(|object| ("a function", object.name.as_str(), &object.desc, &object.span));
    for (what, name, desc, span) in macros.chain(handles).chain(enums).chain(typedefs).chain(callbacks).chain(structs).chain(functions) {
        valid(findings, what, name, span.as_ref());
        described(findings, &format!("`{name}`"), desc, span.as_ref());
    }
    for handle in api.handles.iter().filter(|handle| !handle.name.ends_with("_handle_t")) {
        let message = format!("the name of the handle `{}` does not end with `_handle_t`", handle.name);
        findings.add(Lint::InvalidName, handle.span.as_ref(), message, "types are known as handles by that ending; rename it");
    }
    for callback in api.callbacks.iter().filter(|callback| !callback.name.ends_with("_cb_t")) {
        let message = format!("the name of the callback `{}` does not end with `_cb_t`", callback.name);
        findings.add(Lint::InvalidName, callback.span.as_ref(), message, "types are known as callbacks by that ending; rename it");
    }
}

fn parts(api: &Api, findings: &mut Findings) {
    for object in &api.enums {
        for etor in &object.etors {
            let span = etor.span.as_ref().or(object.span.as_ref());
            valid(findings, &format!("an enumerator of `{}`", object.name), &etor.name, span);
            described(findings, &format!("`{}`", etor.c_name), &etor.desc, span);
        }
    }
    for object in &api.structs {
        let mut seen = Seen::default();
        for member in &object.members {
            let span = member.span.as_ref().or(object.span.as_ref());
            valid(findings, &format!("a member of `{}`", object.name), &member.name, span);
            described(findings, &format!("`{}.{}`", object.name, member.name), &member.desc, span);
            seen.add(findings, &member.name, &format!("a member of `{}`", object.name), span);
        }
    }
    let functions = api.functions.iter().map(|object| (&object.name, &object.params, &object.span));
    let callbacks = api.callbacks.iter().map(|object| (&object.name, &object.params, &object.span));
    for (name, params, of) in functions.chain(callbacks) {
        let mut seen = Seen::default();
        for param in params {
            let span = span_of(param, of.as_ref());
            valid(findings, &format!("a parameter of `{name}`"), &param.name, span);
            described(findings, &format!("the parameter `{}` of `{name}`", param.name), &param.desc, span);
            seen.add(findings, &param.name, &format!("a parameter of `{name}`"), span);
            if !param.is_in && !param.is_out {
                let message = format!("the parameter `{}` of `{name}` is neither read nor written", param.name);
                findings.add(Lint::MissingDirection, span, message, "give it PARAM_IN or PARAM_OUT");
            }
        }
    }
}

/// Names that were met in one scope, and where.
#[derive(Default)]
pub(super) struct Seen<'a>(BTreeMap<&'a str, Option<&'a Span>>);

impl<'a> Seen<'a> {
    pub(super) fn add(&mut self, findings: &mut Findings, name: &'a str, what: &str, span: Option<&'a Span>) {
        if let Some(first) = self.0.get(name) {
            let first = first.map_or_else(String::new, |span| format!("; the first is at {}:{}:{}", span.file, span.line, span.column));
            findings.add(Lint::DuplicateName, span, format!("`{name}`, {what}, is there twice{first}"), "rename or remove one");
        } else {
            self.0.insert(name, span);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_c_and_cpp() {
        assert_eq!(fault("IS_COOPERATIVE"), None);
        assert!(fault("is_cooperative ").is_some_and(|reason| reason.contains("blank")));
        for bad in ["", "1d", "a-b", "é", "namespace", "_Bool"] {
            assert!(fault(bad).is_some(), "{bad}");
        }
    }
}
