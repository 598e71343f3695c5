//! Types: they exist, and the header defines each before it is used.

use std::collections::BTreeMap;

use super::{Findings, Lint, Rules, nearest};
use crate::ir::{Api, CType, NamedKind, Span, Type};

/// A use of a type: whose, where, and from which part of the header.
struct Use<'a> {
    place: String,
    span: Option<&'a Span>,
    ty: &'a Type,
    /// Section and number in it, for uses in definitions of types; functions come after all of these.
    rank: Option<(u8, usize)>,
}

const ENUMS: u8 = 0;
const TYPEDEFS: u8 = 1;
const CALLBACKS: u8 = 2;
const STRUCTS: u8 = 3;

pub(super) fn check(api: &Api, rules: Rules, findings: &mut Findings) {
    let ranks = ranks(api);
    for used in uses(api) {
        exists(api, &used, findings);
        if rules.types_by_name {
            defined_before(&used, &ranks, findings);
        }
    }
    cycles(api, findings);
}

fn uses(api: &Api) -> Vec<Use<'_>> {
    let mut uses = Vec::new();
    for object in &api.enums {
        for etor in &object.etors {
            if let Some(ty) = &etor.tagged_type {
                uses.push(Use { place: etor.c_name.clone(), span: etor.span.as_ref().or(object.span.as_ref()), ty, rank: None });
            }
        }
    }
    for (i, object) in api.typedefs.iter().enumerate() {
        uses.push(Use { place: object.name.clone(), span: object.span.as_ref(), ty: &object.ty, rank: Some((TYPEDEFS, i)) });
    }
    for (i, object) in api.callbacks.iter().enumerate() {
        let rank = Some((CALLBACKS, i));
        uses.push(Use { place: format!("the result of {}", object.name), span: object.span.as_ref(), ty: &object.ret, rank });
        for param in &object.params {
            let span = param.span.as_ref().or(object.span.as_ref());
            uses.push(Use { place: format!("{}, parameter {}", object.name, param.name), span, ty: &param.ty, rank });
        }
    }
    for (i, object) in api.structs.iter().enumerate() {
        for member in &object.members {
            let span = member.span.as_ref().or(object.span.as_ref());
            uses.push(Use { place: format!("{}.{}", object.name, member.name), span, ty: &member.ty, rank: Some((STRUCTS, i)) });
        }
    }
    for object in &api.functions {
        for param in &object.params {
            let span = param.span.as_ref().or(object.span.as_ref());
            uses.push(Use { place: format!("{}, parameter {}", object.name, param.name), span, ty: &param.ty, rank: None });
        }
    }
    uses
}

fn exists(api: &Api, used: &Use<'_>, findings: &mut Findings) {
    match innermost(&used.ty.form) {
        CType::Opaque { text } => {
            let reason = CType::parse(text).err().map_or_else(String::new, |error| format!(": {}", error.reason));
            let message = format!("`{}`, the type of {}, is not a type{reason}", used.ty.text, used.place);
            findings.add(Lint::UnknownType, used.span, message, "write a C type of which every name is defined");
        }
        CType::Named { name, of: NamedKind::Unknown, .. } => {
            let fix = match nearest(name, type_names(api)) {
                Some(known) => format!("did you mean `{known}`?"),
                None => "define it, or use a type of <stdint.h> or <stddef.h>".to_owned(),
            };
            findings.add(Lint::UnknownType, used.span, format!("unknown type `{name}` of {}", used.place), fix);
        }
        _ => {}
    }
}

fn type_names(api: &Api) -> impl Iterator<Item = &str> {
    let plain = ["bool", "char", "size_t", "int32_t", "uint32_t", "int64_t", "uint64_t", "uint8_t", "uint16_t", "float", "double"];
    let handles = api.handles.iter().map(|object| object.name.as_str());
    let enums = api.enums.iter().map(|object| object.name.as_str());
    let typedefs = api.typedefs.iter().map(|object| object.name.as_str());
    let callbacks = api.callbacks.iter().map(|object| object.name.as_str());
    let structs = api.structs.iter().map(|object| object.name.as_str());
    plain.into_iter().chain(handles).chain(enums).chain(typedefs).chain(callbacks).chain(structs)
}

fn innermost(ty: &CType) -> &CType {
    match ty {
        CType::Pointer { to, .. } => innermost(to),
        CType::Array { of, .. } => innermost(of),
        _ => ty,
    }
}

/// Where the header defines each type, handles aside: they come before all of these.
fn ranks(api: &Api) -> BTreeMap<&str, (u8, usize)> {
    let mut ranks = BTreeMap::new();
    ranks.extend(api.enums.iter().enumerate().map(|(i, object)| (object.name.as_str(), (ENUMS, i))));
    ranks.extend(api.typedefs.iter().enumerate().map(|(i, object)| (object.name.as_str(), (TYPEDEFS, i))));
    ranks.extend(api.callbacks.iter().enumerate().map(|(i, object)| (object.name.as_str(), (CALLBACKS, i))));
    ranks.extend(api.structs.iter().enumerate().map(|(i, object)| (object.name.as_str(), (STRUCTS, i))));
    ranks
}

fn defined_before(used: &Use<'_>, ranks: &BTreeMap<&str, (u8, usize)>, findings: &mut Findings) {
    let Some(rank) = used.rank else { return };
    let CType::Named { name, keyword, of } = innermost(&used.ty.form) else { return };
    let Some(&defined) = ranks.get(name.as_str()) else { return };
    // `struct x *` declares the structure where it stands.
    let declares = keyword.as_deref() == Some("struct") && matches!(used.ty.form, CType::Pointer { .. });
    if defined < rank || declares || (defined == rank && *of != NamedKind::Struct) {
        return;
    }
    let pointer = matches!(used.ty.form, CType::Pointer { .. }) && *of == NamedKind::Struct;
    let fix = if pointer {
        format!("write `struct {name}` here, which needs no definition for a pointer")
    } else {
        "LLVM's header has types in the order of their kinds and names; rename one, or use a pointer to `struct …`".to_owned()
    };
    findings.add(Lint::TypeOrder, used.span, format!("`{name}` is used by {} before the header defines it", used.place), fix);
}

/// Structures that contain themselves, and names that stand for themselves.
fn cycles(api: &Api, findings: &mut Findings) {
    let mut inner: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let by_value = |ty: &'_ CType| -> Option<String> {
        match ty {
            CType::Array { of, .. } => of.named().map(|(name, _)| name.to_owned()),
            _ => ty.named().map(|(name, _)| name.to_owned()),
        }
    };
    let names: BTreeMap<&str, &str> = api
        .structs
        .iter()
        .map(|object| object.name.as_str())
        .chain(api.typedefs.iter().map(|object| object.name.as_str()))
        .map(|name| (name, name))
        .collect();
    for object in &api.structs {
        let members = object.members.iter().filter_map(|member| by_value(&member.ty.form));
        inner.insert(&object.name, members.filter_map(|name| names.get(name.as_str()).copied()).collect());
    }
    for object in &api.typedefs {
        let target = by_value(&object.ty.form);
        inner.insert(&object.name, target.iter().filter_map(|name| names.get(name.as_str()).copied()).collect());
    }
    let spans = api.structs.iter().map(|object| (object.name.as_str(), object.span.as_ref()));
    for (name, span) in spans.chain(api.typedefs.iter().map(|object| (object.name.as_str(), object.span.as_ref()))) {
        if reaches(&inner, name) {
            findings.add(Lint::TypeOrder, span, format!("`{name}` contains itself"), "use a pointer somewhere on the way");
        }
    }
}

/// Whether a type is found among what it contains.
fn reaches<'a>(inner: &BTreeMap<&'a str, Vec<&'a str>>, start: &str) -> bool {
    let mut met: Vec<&str> = Vec::new();
    let mut waiting: Vec<&str> = inner.get(start).cloned().unwrap_or_default();
    while let Some(name) = waiting.pop() {
        if name == start {
            return true;
        }
        if !met.contains(&name) {
            met.push(name);
            waiting.extend(inner.get(name).into_iter().flatten());
        }
    }
    false
}
