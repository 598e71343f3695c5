//! Descriptions: what they mention of this API is there.

use std::collections::BTreeSet;

use super::{Findings, Lint, nearest};
use crate::ir::{Api, Span};

pub(super) fn check(api: &Api, findings: &mut Findings) {
    let known = known(api);
    let mut text = |text: &str, place: &str, span: Option<&Span>| {
        for word in mentioned(text, &api.prefix) {
            if known.contains(word) {
                continue;
            }
            let fix = match nearest(word, known.iter().map(String::as_str)) {
                Some(name) => format!("did you mean `{name}`?"),
                None => "correct the name, or define it".to_owned(),
            };
            findings.add(Lint::UnknownReference, span, format!("`{word}`, which {place} mentions, is not part of this API"), fix);
        }
    };
    for object in &api.macros {
        text(&object.desc, &format!("the description of `{}`", object.name), object.span.as_ref());
    }
    for object in &api.handles {
        text(&object.desc, &format!("the description of `{}`", object.name), object.span.as_ref());
    }
    for object in &api.enums {
        text(&object.desc, &format!("the description of `{}`", object.name), object.span.as_ref());
        for etor in &object.etors {
            text(&etor.desc, &format!("the description of `{}`", etor.c_name), etor.span.as_ref().or(object.span.as_ref()));
        }
    }
    for object in &api.typedefs {
        text(&object.desc, &format!("the description of `{}`", object.name), object.span.as_ref());
    }
    for object in &api.structs {
        text(&object.desc, &format!("the description of `{}`", object.name), object.span.as_ref());
        for member in &object.members {
            text(
                &member.desc,
                &format!("the description of `{}.{}`", object.name, member.name),
                member.span.as_ref().or(object.span.as_ref()),
            );
        }
    }
    for object in &api.callbacks {
        text(&object.desc, &format!("the description of `{}`", object.name), object.span.as_ref());
    }
    for object in &api.functions {
        text(&object.desc, &format!("the description of `{}`", object.name), object.span.as_ref());
        for detail in &object.details {
            text(detail, &format!("a detail of `{}`", object.name), object.span.as_ref());
        }
        for param in &object.params {
            text(
                &param.desc,
                &format!("the description of `{}`'s parameter `{}`", object.name, param.name),
                param.span.as_ref().or(object.span.as_ref()),
            );
        }
        for result in &object.returns {
            for condition in result.conditions.iter().filter(|condition| !condition.is_code) {
                text(&condition.text, &format!("a condition of `{}`", object.name), result.span.as_ref().or(object.span.as_ref()));
            }
        }
    }
}

fn known(api: &Api) -> BTreeSet<String> {
    let mut known = BTreeSet::new();
    known.extend(api.macros.iter().map(|object| object.name.split('(').next().unwrap_or_default().to_owned()));
    known.extend(api.handles.iter().map(|object| object.name.clone()));
    known.extend(api.typedefs.iter().map(|object| object.name.clone()));
    known.extend(api.callbacks.iter().map(|object| object.name.clone()));
    known.extend(api.structs.iter().map(|object| object.name.clone()));
    known.extend(api.functions.iter().flat_map(|object| [object.name.clone(), format!("{}WithCodeLoc", object.name)]));
    for object in &api.enums {
        known.insert(object.name.clone());
        known.extend(object.etors.iter().map(|etor| etor.c_name.clone()));
        known.extend([format!("{}_LAST", object.prefix), format!("{}_FORCE_UINT32", object.prefix)]);
    }
    known
}

/// Words that look like names of the API: `OL_SUCCESS`, `olInit`, `ol_queue_handle_t`. `OL_FLAG_*` stands for several,
/// and is none of them.
fn mentioned<'a>(text: &'a str, prefix: &str) -> Vec<&'a str> {
    let lower = prefix.to_lowercase();
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_alphanumeric() || c == '_') {
        let tail = &rest[start..];
        let len = tail.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(tail.len());
        let (word, after) = tail.split_at(len);
        rest = after;
        let object = word.strip_prefix(prefix).is_some_and(|name| name.starts_with('_') && name.len() > 1);
        let ty = word.strip_prefix(&lower).is_some_and(|name| name.starts_with('_') && name.ends_with("_t"));
        let function = word.strip_prefix(&lower).is_some_and(|name| name.starts_with(|c: char| c.is_ascii_uppercase()));
        if (object || ty || function) && !after.starts_with('*') && !word.ends_with('_') {
            words.push(word);
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::mentioned;

    #[test]
    fn names_of_the_api_are_found_in_prose() {
        let text = "Pass `OL_SUCCESS`, ol_queue_handle_t or olInit(); older things, OLD_ONES and OL_FLAG_* are none.";
        assert_eq!(mentioned(text, "OL"), ["OL_SUCCESS", "ol_queue_handle_t", "olInit"]);
        assert!(mentioned("", "OL").is_empty());
    }
}
