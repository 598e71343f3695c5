//! Enumerations: enumerators are unique among all of the API, fit into 32 bits, and have types where their enumeration
//! says so.

use super::names::Seen;
use super::{Findings, Lint};
use crate::ir::{Api, Enum};

pub(super) fn check(api: &Api, findings: &mut Findings) {
    let mut seen = Seen::default();
    let last: Vec<[String; 2]> =
        api.enums.iter().map(|object| [format!("{}_LAST", object.prefix), format!("{}_FORCE_UINT32", object.prefix)]).collect();
    for object in &api.macros {
        seen.add(findings, object.name.split('(').next().unwrap_or_default(), "a macro", object.span.as_ref());
    }
    for (object, added) in api.enums.iter().zip(&last) {
        for etor in &object.etors {
            let span = etor.span.as_ref().or(object.span.as_ref());
            seen.add(findings, &etor.c_name, &format!("an enumerator of `{}`", object.name), span);
        }
        for name in added {
            seen.add(findings, name, &format!("an enumerator that `{}` gets by itself", object.name), object.span.as_ref());
        }
        types(object, findings);
        values(object, findings);
    }
}

fn types(object: &Enum, findings: &mut Findings) {
    for etor in &object.etors {
        let span = etor.span.as_ref().or(object.span.as_ref());
        match (object.is_typed, etor.tagged_type.is_some()) {
            (true, false) => {
                let message = format!("`{}` has no type, though `{}` is a typed enumeration", etor.c_name, object.name);
                findings.add(Lint::UntypedEnumerator, span, message, "use TaggedEtor<name, type, description>");
            }
            (false, true) => {
                let message = format!("`{}` has a type, though `{}` is not a typed enumeration", etor.c_name, object.name);
                findings.add(Lint::UntypedEnumerator, span, message, "write `let is_typed = 1;` in the enumeration, or use Etor");
            }
            _ => {}
        }
    }
}

/// `_FORCE_UINT32` is the largest value, so that the type is as wide as an `int` in every C compiler.
fn values(object: &Enum, findings: &mut Findings) {
    let limit = if object.is_bit_field { 30 } else { 0x7fff_fffe };
    if let Some(first) = object.etors.get(limit) {
        let message = format!("`{}` has {} enumerators; the value of `{}` does not fit", object.name, object.etors.len(), first.c_name);
        let fix = if object.is_bit_field { "a bit field has at most 30 bits" } else { "there are too many enumerators" };
        findings.add(Lint::EnumOverflow, first.span.as_ref().or(object.span.as_ref()), message, fix);
    }
}
