//! What the names in an [`Api`] mean.

use std::collections::BTreeMap;

use super::{Api, CType, Callback, Enum, Enumerator, Handle, NamedKind, Span, Struct, Type, Typedef};

/// A type that an API defines.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "each holds the object that its name says")]
pub enum Named<'a> {
    Handle(&'a Handle),
    Enum(&'a Enum),
    Typedef(&'a Typedef),
    Callback(&'a Callback),
    Struct(&'a Struct),
}

/// A name in a type that the API does not define.
#[derive(Clone, PartialEq, thiserror::Error)]
#[error("unknown type `{name}` in `{place}`; define it, or correct the name")]
pub struct UnknownType {
    /// The name.
    pub name: String,
    /// Object that uses it, with the part in question: `olMemFree.Address`.
    pub place: String,
    /// Where that is written.
    pub span: Option<Span>,
}

hostcall_error::readable!(UnknownType);

impl Api {
    /// Finds out what the names in all types stand for, and returns those that stand for nothing.
    pub fn link(&mut self) -> Vec<UnknownType> {
        let mut kinds: BTreeMap<String, NamedKind> = BTreeMap::new();
        kinds.extend(self.handles.iter().map(|object| (object.name.clone(), NamedKind::Handle)));
        kinds.extend(self.enums.iter().map(|object| (object.name.clone(), NamedKind::Enum)));
        kinds.extend(self.typedefs.iter().map(|object| (object.name.clone(), NamedKind::Typedef)));
        kinds.extend(self.callbacks.iter().map(|object| (object.name.clone(), NamedKind::Callback)));
        kinds.extend(self.structs.iter().map(|object| (object.name.clone(), NamedKind::Struct)));
        let mut unknown = Vec::new();
        self.for_each_type(&mut |place, span, ty| {
            ty.form.for_each_named(&mut |name, of| match kinds.get(name) {
                Some(kind) => *of = *kind,
                None => {
                    *of = NamedKind::Unknown;
                    unknown.push(UnknownType { name: name.to_owned(), place: place.to_owned(), span: span.cloned() });
                }
            });
        });
        unknown
    }

    /// Calls `f` with every type that is used, the place where, and the span of that place.
    pub fn for_each_type(&mut self, f: &mut dyn FnMut(&str, Option<&Span>, &mut Type)) {
        for object in &mut self.enums {
            for etor in &mut object.etors {
                if let Some(ty) = &mut etor.tagged_type {
                    f(&format!("{}.{}", object.name, etor.name), etor.span.as_ref().or(object.span.as_ref()), ty);
                }
            }
        }
        for object in &mut self.typedefs {
            f(&object.name, object.span.as_ref(), &mut object.ty);
        }
        for object in &mut self.callbacks {
            for param in &mut object.params {
                f(&format!("{}.{}", object.name, param.name), param.span.as_ref().or(object.span.as_ref()), &mut param.ty);
            }
            f(&format!("{}.return", object.name), object.span.as_ref(), &mut object.ret);
        }
        for object in &mut self.structs {
            for member in &mut object.members {
                f(&format!("{}.{}", object.name, member.name), member.span.as_ref().or(object.span.as_ref()), &mut member.ty);
            }
        }
        for object in &mut self.functions {
            for param in &mut object.params {
                f(&format!("{}.{}", object.name, param.name), param.span.as_ref().or(object.span.as_ref()), &mut param.ty);
            }
        }
    }

    /// The type of that name.
    pub fn named(&self, name: &str) -> Option<Named<'_>> {
        let handle = self.handles.iter().find(|object| object.name == name).map(Named::Handle);
        handle
            .or_else(|| self.enums.iter().find(|object| object.name == name).map(Named::Enum))
            .or_else(|| self.typedefs.iter().find(|object| object.name == name).map(Named::Typedef))
            .or_else(|| self.callbacks.iter().find(|object| object.name == name).map(Named::Callback))
            .or_else(|| self.structs.iter().find(|object| object.name == name).map(Named::Struct))
    }

    /// The enumerator of that name in C, and its enumeration.
    pub fn enumerator(&self, c_name: &str) -> Option<(&Enum, &Enumerator)> {
        self.enums.iter().find_map(|object| Some((object, object.etors.iter().find(|etor| etor.c_name == c_name)?)))
    }

    /// The type behind a name that is only another name. Names that lead in a circle or nowhere are returned as they
    /// are.
    pub fn underlying<'a>(&'a self, mut ty: &'a CType) -> &'a CType {
        for _ in 0..=self.typedefs.len() {
            match ty {
                CType::Named { name, of: NamedKind::Typedef, .. } => match self.named(name) {
                    Some(Named::Typedef(typedef)) => ty = &typedef.ty.form,
                    _ => return ty,
                },
                _ => return ty,
            }
        }
        ty
    }

    /// The bit-field enumeration whose bits the values of a type are: `ol_device_fp_capability_flag_t` for
    /// `ol_device_fp_capability_flags_t`. By name: a definition has no other way to say it.
    pub fn flags_of(&self, ty: &CType) -> Option<&Enum> {
        let (name, NamedKind::Typedef | NamedKind::Enum) = ty.named()? else { return None };
        let singular = name.strip_suffix("_flags_t").map(|stem| format!("{stem}_flag_t"));
        self.enums.iter().find(|object| object.is_bit_field && (object.name == name || Some(&object.name) == singular.as_ref()))
    }
}
