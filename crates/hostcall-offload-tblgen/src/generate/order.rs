//! The order in which C wants its types defined.

use std::collections::BTreeSet;

use super::GenError;
use crate::ir::{Api, CType, Callback, NamedKind, Struct, Typedef};

/// A definition that others may have to come after.
#[derive(Clone, Copy, Debug)]
pub(super) enum Definition<'a> {
    /// A type definition.
    Typedef(&'a Typedef),
    /// A callback.
    Callback(&'a Callback),
    /// A structure's body. Its name is known from the start.
    Struct(&'a Struct),
}

impl<'a> Definition<'a> {
    fn name(self) -> &'a str {
        match self {
            Definition::Typedef(object) => &object.name,
            Definition::Callback(object) => &object.name,
            Definition::Struct(object) => &object.name,
        }
    }

    /// The names that have to be defined before it.
    fn needs(self) -> Vec<&'a str> {
        let mut names = Vec::new();
        match self {
            Definition::Typedef(object) => collect(&object.ty.form, false, &mut names),
            Definition::Callback(object) => {
                let types = object.params.iter().map(|param| &param.ty.form).chain([&object.ret.form]);
                types.for_each(|ty| collect(ty, true, &mut names));
            }
            Definition::Struct(object) => object.members.iter().for_each(|member| collect(&member.ty.form, false, &mut names)),
        }
        names
    }
}

/// Names of structures are declared before everything else, so that only values of them, not pointers to them, need the
/// body.
fn collect<'a>(ty: &'a CType, behind_pointer: bool, names: &mut Vec<&'a str>) {
    match ty {
        CType::Named { name, of: NamedKind::Typedef | NamedKind::Callback, .. } => names.push(name),
        CType::Named { name, of: NamedKind::Struct, .. } if !behind_pointer => names.push(name),
        CType::Pointer { to, .. } => collect(to, true, names),
        CType::Array { of, .. } => collect(of, behind_pointer, names),
        _ => {}
    }
}

/// All type definitions, callbacks and structures, each after those that it needs, and otherwise in the order of their
/// names ([`tablegen::compare_names`]).
///
/// # Errors
///
/// Definitions that need one another.
pub(super) fn definitions(api: &Api) -> Result<Vec<Definition<'_>>, GenError> {
    let mut waiting: Vec<Definition<'_>> = api.typedefs.iter().map(Definition::Typedef).collect();
    waiting.extend(api.callbacks.iter().map(Definition::Callback));
    waiting.extend(api.structs.iter().map(Definition::Struct));
    waiting.sort_by(|a, b| tablegen::compare_names(a.name(), b.name()));
    let mut missing: BTreeSet<&str> = waiting.iter().map(|object| object.name()).collect();
    let mut ordered = Vec::new();
    while !waiting.is_empty() {
        let Some(ready) = waiting.iter().position(|object| object.needs().iter().all(|name| !missing.contains(name))) else {
            let names: Vec<_> = waiting.iter().map(|object| object.name()).collect();
            let reason = format!("these types need one another to be defined first: {}", names.join(", "));
            return Err(GenError::Unsupported { place: names[0].to_owned(), reason });
        };
        let ready = waiting.remove(ready);
        missing.remove(ready.name());
        ordered.push(ready);
    }
    Ok(ordered)
}
