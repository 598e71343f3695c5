//! Pointers to more than one thing: ranges and type tags name parameters of the right kind, and arrays have a range.

use super::{Findings, Lint, nearest, span_of};
use crate::ir::{Api, CType, Function, NamedKind, Param, Primitive, Range, TypeTag};

pub(super) fn check(api: &Api, findings: &mut Findings) {
    for function in &api.functions {
        for param in &function.params {
            match (&param.range, &param.type_tag) {
                (Some(range), _) => ranged(api, function, param, range, findings),
                (None, Some(tag)) => tagged(api, function, param, tag, findings),
                (None, None) => unranged(api, function, param, findings),
            }
        }
    }
}

/// Whether values of a type count something.
fn counts(api: &Api, ty: &CType) -> bool {
    matches!(api.underlying(ty), CType::Primitive { name } if name.is_integer())
}

fn find<'a>(function: &'a Function, name: &str) -> Option<&'a Param> {
    function.params.iter().find(|param| param.name == name)
}

/// What to write instead of a name that is not a parameter.
fn remedy(api: &Api, function: &Function, wrong: &str) -> String {
    let counting = function.params.iter().filter(|param| counts(api, &param.ty.form)).map(|param| param.name.as_str());
    match nearest(wrong, counting.clone()) {
        Some(name) => format!("did you mean `{name}`?"),
        None => match counting.collect::<Vec<_>>().as_slice() {
            [] => "the function has no integer parameter; add one".to_owned(),
            names => format!("use one of the integer parameters ({})", names.join(", ")),
        },
    }
}

fn ranged(api: &Api, function: &Function, param: &Param, range: &Range, findings: &mut Findings) {
    let span = span_of(param, function.span.as_ref());
    for (which, text) in [("begin", &range.begin), ("end", &range.end)] {
        let message = if text.parse::<u64>().is_ok() {
            continue;
        } else if let Some(count) = find(function, text) {
            if counts(api, &count.ty.form) {
                continue;
            }
            format!(
                "the {which} of the range of `{}` in `{}` is `{text}`, which is not an integer but `{}`",
                param.name, function.name, count.ty.text
            )
        } else {
            format!("the {which} of the range of `{}` in `{}` is `{text}`, which is not a parameter", param.name, function.name)
        };
        findings.add(Lint::UnknownRange, span, message, remedy(api, function, text));
    }
    if param.ty.form.pointee().is_none() {
        let message = format!("`{}` of `{}` has a range, but `{}` is not a pointer", param.name, function.name, param.ty.text);
        findings.add(Lint::UnknownRange, span, message, "use Param, or make it a pointer");
    }
}

fn tagged(api: &Api, function: &Function, param: &Param, tag: &TypeTag, findings: &mut Findings) {
    let span = span_of(param, function.span.as_ref());
    let mut add = |message: String, fix: String| findings.add(Lint::InvalidTypeTag, span, message, fix);
    let who = format!("the type of what `{}` of `{}` points to", param.name, function.name);
    let typed = |name: &str| api.enums.iter().find(|object| object.name == name).filter(|object| object.is_typed).is_some();
    match find(function, &tag.tag) {
        None => {
            let enums = function.params.iter().filter(|param| matches!(param.ty.form.named(), Some((_, NamedKind::Enum))));
            let fix = nearest(&tag.tag, enums.map(|param| param.name.as_str()))
                .map_or_else(|| "name the parameter that is an enumerator".to_owned(), |name| format!("did you mean `{name}`?"));
            add(format!("{who} is said by `{}`, which is not a parameter", tag.tag), fix);
        }
        Some(property) if !matches!(property.ty.form.named(), Some((name, NamedKind::Enum)) if typed(name)) => add(
            format!("{who} is said by `{}`, but `{}` is not a typed enumeration", tag.tag, property.ty.text),
            "use an enumeration with `let is_typed = 1;` and TaggedEtor".to_owned(),
        ),
        Some(_) => {}
    }
    match find(function, &tag.size) {
        None => {
            let message =
                format!("the size of what `{}` of `{}` points to is `{}`, which is not a parameter", param.name, function.name, tag.size);
            add(message, remedy(api, function, &tag.size));
        }
        Some(size) if !counts(api, &size.ty.form) => add(
            format!(
                "the size of what `{}` of `{}` points to is `{}`, which is not an integer but `{}`",
                param.name, function.name, tag.size, size.ty.text
            ),
            remedy(api, function, &tag.size),
        ),
        Some(_) => {}
    }
}

/// A pointer without a range, beside a parameter that by its name counts what it points to.
fn unranged(api: &Api, function: &Function, param: &Param, findings: &mut Findings) {
    let Some((pointee, _)) = param.ty.form.pointee() else { return };
    if !param.is_in || matches!(pointee, CType::Void | CType::Primitive { name: Primitive::Char }) {
        return;
    }
    let counted_by = function.params.iter().find(|count| counts(api, &count.ty.form) && is_count_of(&count.name, &param.name));
    if let Some(count) = counted_by {
        findings.add(
            Lint::ArrayWithoutRange,
            span_of(param, function.span.as_ref()),
            format!("`{}` of `{}` seems to be an array of `{}` elements, but does not say so", param.name, function.name, count.name),
            format!("use RangedParam<…, Range<\"0\", \"{}\">>, so that its elements are checked and traced", count.name),
        );
    }
}

/// `NumEvents` counts `Events`; `NumArgs` counts `Args`, `ArgPtrs` and `ArgSizes`; `DevicesCount` counts `Devices`;
/// `Count` counts anything.
fn is_count_of(count: &str, array: &str) -> bool {
    let counted = ["Num", "num", "Number"]
        .iter()
        .filter_map(|prefix| count.strip_prefix(prefix))
        .chain(["Count", "count"].iter().filter_map(|suffix| count.strip_suffix(suffix)));
    counted.map(|stem| stem.trim_matches('_').trim_end_matches('s')).any(|stem| array.starts_with(stem))
}

#[cfg(test)]
mod tests {
    use super::is_count_of;

    #[test]
    fn a_count_is_known_by_its_name() {
        for (count, array) in
            [("NumEvents", "Events"), ("NumArgs", "ArgPtrs"), ("NumArgs", "ArgSizes"), ("DevicesCount", "Devices"), ("Count", "Mems")]
        {
            assert!(is_count_of(count, array), "{count} {array}");
        }
        for (count, array) in [("NumArgs", "LaunchSizeArgs"), ("NumArgs", "Properties"), ("Size", "Events"), ("PropSize", "PropValue")] {
            assert!(!is_count_of(count, array), "{count} {array}");
        }
    }
}
