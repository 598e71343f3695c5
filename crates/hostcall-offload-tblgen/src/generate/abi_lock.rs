//! A record of an ABI, and what has changed since it was made.
//!
//! The record holds what compiled callers depend on: the numbers of enumerators and the types of the values that they
//! select, the layout of structures, the signatures of functions and callbacks and which of their parameters may be
//! null, the values of macros, and what names of types stand for. A version number says that something changed only if
//! someone remembered to change it; this notices by itself. Descriptions, conditions and names of parameters are not in
//! it.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Backend, GenError, layout, made_from};
use crate::ir::{Api, CType, Macro, Param};

/// Version of the record's format. Format 1 had no macros, no types of enumerators and not which parameters may be
/// null.
const FORMAT: u32 = 2;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Lock {
    #[serde(rename = "//")]
    comment: String,
    format: u32,
    /// The version of LLVM whose API it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    llvm: Option<u32>,
    /// By their names without parameters.
    #[serde(default)]
    macros: BTreeMap<String, MacroLock>,
    handles: Vec<String>,
    /// Numbers by enumerator, by enumeration.
    enums: BTreeMap<String, BTreeMap<String, u32>>,
    /// Types of the values that the enumerators of typed enumerations select, in the same order.
    #[serde(default)]
    selects: BTreeMap<String, BTreeMap<String, String>>,
    /// Type that a name stands for.
    typedefs: BTreeMap<String, String>,
    structs: BTreeMap<String, StructLock>,
    callbacks: BTreeMap<String, Signature>,
    functions: BTreeMap<String, Signature>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MacroLock {
    /// The parameters in parentheses, if it has any.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    params: String,
    value: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    condition: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    alt_value: Option<String>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StructLock {
    size: u64,
    align: u64,
    members: Vec<MemberLock>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MemberLock {
    name: String,
    #[serde(rename = "type")]
    ty: String,
    offset: u64,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Signature {
    #[serde(rename = "return")]
    ret: String,
    params: Vec<String>,
    /// Which parameters may be null, counted from 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    optional: Vec<usize>,
}

/// A difference between an ABI and its record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Whom it breaks.
    pub kind: ChangeKind,
    /// What changed: `ol_errc_t.OL_ERRC_SYMBOL_KIND`.
    pub what: String,
    /// From what to what.
    pub message: String,
}

/// Whom a change breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ChangeKind {
    /// No one: something is new, or more is allowed.
    Addition,
    /// Programs that were compiled before run wrong: a number means something else, arguments or members lie elsewhere,
    /// or what they pass is refused.
    Silent,
    /// Programs that were compiled before do not start, or do not compile any more: something is gone.
    Removal,
}

impl Change {
    /// Whether programs break.
    pub fn is_break(&self) -> bool {
        self.kind != ChangeKind::Addition
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            ChangeKind::Addition => "addition",
            ChangeKind::Silent => "silent break",
            ChangeKind::Removal => "removal",
        };
        write!(f, "{kind}: {}: {}", self.what, self.message)
    }
}

pub(super) fn generate(api: &Api) -> Result<String, GenError> {
    let text = serde_json::to_string_pretty(&lock(api)?).map_err(|error| GenError::Json { reason: error.to_string() })?;
    Ok(text + "\n")
}

/// Compares an API with the text of a record. Nothing: the ABI is the same.
///
/// # Errors
///
/// Text that is not a record, or one of another format.
pub fn compare(api: &Api, lock_text: &str) -> Result<Vec<Change>, GenError> {
    let old: Lock = serde_json::from_str(lock_text).map_err(|error| GenError::Lock { reason: error.to_string() })?;
    if !(1..=FORMAT).contains(&old.format) {
        return Err(GenError::Lock { reason: format!("it has format {}, and this program knows 1 to {FORMAT}", old.format) });
    }
    let new = lock(api)?;
    let mut changes = Changes(Vec::new());
    if let (Some(old), Some(new)) = (old.llvm, new.llvm)
        && old != new
    {
        changes.add(ChangeKind::Silent, "the API", format!("was LLVM {old}'s, is LLVM {new}'s"));
    }
    if old.format == FORMAT {
        changes.maps("macro", "", &old.macros, &new.macros, |changes, name, old, new| {
            // A version that changes says so, and breaks nothing.
            let kind = if is_version(api, name) { ChangeKind::Addition } else { ChangeKind::Silent };
            changes.add(kind, name, format!("was `{old}`, is `{new}`"));
        });
    } else {
        let message = "it says nothing of macros, of what enumerators select, and of parameters that may be null; record the ABI anew";
        changes.add(ChangeKind::Addition, &format!("a lock of format {}", old.format), message);
    }
    let names = |names: &[String]| names.iter().map(|name| (name.clone(), ())).collect::<BTreeMap<_, _>>();
    changes.maps("handle", "", &names(&old.handles), &names(&new.handles), |_, _, (), ()| {});
    changes.maps("enumeration", "", &old.enums, &new.enums, |changes, name, old, new| {
        changes.maps("enumerator", &format!("{name}."), old, new, |changes, name, old, new| {
            changes.add(ChangeKind::Silent, name, format!("renumbered from {old} to {new}"));
        });
    });
    if old.format == FORMAT {
        selected(&mut changes, &old, &new);
    }
    changes.maps("type", "", &old.typedefs, &new.typedefs, |changes, name, old, new| {
        changes.add(ChangeKind::Silent, name, format!("was `{old}`, is `{new}`"));
    });
    changes.maps("structure", "", &old.structs, &new.structs, structure);
    let has_optional = old.format == FORMAT;
    for (kind, old, new) in [("callback", &old.callbacks, &new.callbacks), ("function", &old.functions, &new.functions)] {
        changes.maps(kind, "", old, new, |changes, name, old, new| signatures(changes, name, old, new, has_optional));
    }
    changes.0.sort_by_key(|change| std::cmp::Reverse(change.kind));
    Ok(changes.0)
}

/// Whether a macro is part of the API's version.
fn is_version(api: &Api, name: &str) -> bool {
    name.strip_prefix(&api.prefix).is_some_and(|rest| rest.starts_with("_VERSION_"))
}

/// Compares the types of the values that enumerators select. A program that reads such a value has a buffer of the size
/// that the type had.
fn selected(changes: &mut Changes, old: &Lock, new: &Lock) {
    let none = BTreeMap::new();
    for (name, enumerators) in &old.enums {
        let (before, now) = (old.selects.get(name).unwrap_or(&none), new.selects.get(name).unwrap_or(&none));
        // Enumerators that are gone or new are named as such.
        let both = enumerators.keys().filter(|etor| new.enums.get(name).is_some_and(|etors| etors.contains_key(*etor)));
        for etor in both {
            let shown = |ty: Option<&String>| ty.map_or("nothing".to_owned(), |ty| format!("`{ty}`"));
            let (before, now) = (before.get(etor), now.get(etor));
            if before != now {
                changes.add(ChangeKind::Silent, &format!("{name}.{etor}"), format!("selected {}, selects {}", shown(before), shown(now)));
            }
        }
    }
}

fn signatures(changes: &mut Changes, name: &str, old: &Signature, new: &Signature, has_optional: bool) {
    if (&old.ret, &old.params) != (&new.ret, &new.params) {
        changes.add(ChangeKind::Silent, name, format!("was `{old}`, is `{new}`"));
        return;
    }
    if !has_optional {
        return;
    }
    for (i, ty) in new.params.iter().enumerate() {
        let parameter = format!("parameter {} (`{ty}`)", i + 1);
        match (old.optional.contains(&i), new.optional.contains(&i)) {
            (true, false) => changes.add(ChangeKind::Silent, name, format!("{parameter} might be null, and must not be any more")),
            (false, true) => changes.add(ChangeKind::Addition, name, format!("{parameter} may be null now")),
            _ => {}
        }
    }
}

fn structure(changes: &mut Changes, name: &str, old: &StructLock, new: &StructLock) {
    if (old.size, old.align) != (new.size, new.align) {
        let message = format!("size and alignment were {} and {}, are {} and {}", old.size, old.align, new.size, new.align);
        changes.add(ChangeKind::Silent, name, message);
    }
    let members = |lock: &StructLock| lock.members.iter().map(|member| (member.name.clone(), (member.offset, member.ty.clone()))).collect();
    let (old, new): (BTreeMap<_, _>, BTreeMap<_, _>) = (members(old), members(new));
    changes.maps("member", &format!("{name}."), &old, &new, |changes, name, old, new| {
        if old.0 != new.0 {
            changes.add(ChangeKind::Silent, name, format!("moved from offset {} to {}", old.0, new.0));
        }
        if old.1 != new.1 {
            changes.add(ChangeKind::Silent, name, format!("was `{}`, is `{}`", old.1, new.1));
        }
    });
}

struct Changes(Vec<Change>);

impl Changes {
    fn add(&mut self, kind: ChangeKind, what: &str, message: impl Into<String>) {
        self.0.push(Change { kind, what: what.to_owned(), message: message.into() });
    }

    /// Compares what two maps have under each name.
    fn maps<T: PartialEq>(
        &mut self,
        kind: &str,
        prefix: &str,
        old: &BTreeMap<String, T>,
        new: &BTreeMap<String, T>,
        mut differ: impl FnMut(&mut Changes, &str, &T, &T),
    ) {
        for (name, old) in old {
            match new.get(name) {
                None => self.add(ChangeKind::Removal, &format!("{prefix}{name}"), format!("the {kind} is gone")),
                Some(new) if new != old => differ(self, &format!("{prefix}{name}"), old, new),
                Some(_) => {}
            }
        }
        for name in new.keys().filter(|name| !old.contains_key(*name)) {
            self.add(ChangeKind::Addition, &format!("{prefix}{name}"), format!("the {kind} is new"));
        }
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.ret, self.params.join(", "))
    }
}

impl fmt::Display for MacroLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}{}", self.params, if self.params.is_empty() { "" } else { " " }, self.value)?;
        if let Some(condition) = &self.condition {
            write!(f, " if {condition}")?;
        }
        if let Some(alternative) = &self.alt_value {
            write!(f, ", else {alternative}")?;
        }
        Ok(())
    }
}

/// A type as the ABI has it: `struct x` and `x` are the same, and so is whatever a pointer points to apart from its
/// name.
fn type_text(ty: &CType) -> String {
    match ty {
        CType::Named { name, .. } => name.clone(),
        CType::Pointer { is_const: false, to } => format!("{} *", type_text(to)),
        CType::Pointer { is_const: true, to } => format!("{} const *", type_text(to)),
        CType::Array { of, len: Some(len) } => format!("{}[{len}]", type_text(of)),
        other => other.to_string(),
    }
}

fn signature(ret: String, params: &[Param]) -> Signature {
    // What is passed by value cannot be null, whatever its definition says.
    let can_be_null = |ty: &CType| ty.pointee().is_some() || ty.is_handle() || ty.is_callback();
    let optional = params.iter().enumerate().filter(|(_, param)| param.is_optional && can_be_null(&param.ty.form)).map(|(i, _)| i);
    Signature { ret, params: params.iter().map(|param| type_text(&param.ty.form)).collect(), optional: optional.collect() }
}

/// A macro as programs have it compiled into them. Blanks mean nothing.
fn macro_lock(object: &Macro) -> (String, MacroLock) {
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (name, params) = object.name.split_at(object.name.find('(').unwrap_or(object.name.len()));
    let lock = MacroLock {
        params: plain(params),
        value: plain(&object.value),
        condition: object.condition.as_deref().map(plain),
        alt_value: object.alt_value.as_deref().map(plain),
    };
    (name.trim().to_owned(), lock)
}

fn lock(api: &Api) -> Result<Lock, GenError> {
    let structs = api.structs.iter().map(|object| {
        let places = layout::of_struct(api, object)?;
        let members = object.members.iter().zip(places.offsets);
        let members = members.map(|(member, offset)| MemberLock { name: member.name.clone(), ty: type_text(&member.ty.form), offset });
        Ok((object.name.clone(), StructLock { size: places.layout.size, align: places.layout.align, members: members.collect() }))
    });
    let result = format!("{}_result_t", api.prefix.to_lowercase());
    Ok(Lock {
        comment: made_from(api, Backend::AbiLock),
        format: FORMAT,
        llvm: api.llvm,
        macros: api.macros.iter().map(macro_lock).collect(),
        handles: api.handles.iter().map(|object| object.name.clone()).collect(),
        enums: (api.enums.iter())
            .map(|object| (object.name.clone(), object.etors.iter().map(|etor| (etor.c_name.clone(), etor.value)).collect()))
            .collect(),
        selects: (api.enums.iter().filter(|object| object.is_typed))
            .map(|object| {
                let types = object.etors.iter().filter_map(|etor| Some((etor.c_name.clone(), type_text(&etor.tagged_type.as_ref()?.form))));
                (object.name.clone(), types.collect())
            })
            .collect(),
        typedefs: api.typedefs.iter().map(|object| (object.name.clone(), type_text(&object.ty.form))).collect(),
        structs: structs.collect::<Result<_, GenError>>()?,
        callbacks: (api.callbacks.iter())
            .map(|object| (object.name.clone(), signature(type_text(&object.ret.form), &object.params)))
            .collect(),
        functions: api.functions.iter().map(|object| (object.name.clone(), signature(result.clone(), &object.params))).collect(),
    })
}
