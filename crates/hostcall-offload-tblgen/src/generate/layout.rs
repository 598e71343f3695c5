//! Sizes and offsets, as every 64-bit system's C ABI has them.

use super::GenError;
use crate::ir::{Api, CType, Named, Struct};

/// Size and alignment in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// Size.
    pub(super) size: u64,
    /// Alignment.
    pub(super) align: u64,
}

/// The layout of a structure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StructLayout {
    /// Of the whole.
    pub(super) layout: Layout,
    /// Offset of each member.
    pub(super) offsets: Vec<u64>,
}

/// Structures within structures; no API needs more, and a structure that contains itself has none.
const MAX_DEPTH: u32 = 64;

const POINTER: Layout = Layout { size: 8, align: 8 };

/// The layout of a structure.
///
/// # Errors
///
/// Members without a size.
pub(super) fn of_struct(api: &Api, object: &Struct) -> Result<StructLayout, GenError> {
    of_struct_within(api, object, 0)
}

fn of_struct_within(api: &Api, object: &Struct, depth: u32) -> Result<StructLayout, GenError> {
    let members =
        object.members.iter().map(|member| of_within(api, &member.ty.form, &format!("{}.{}", object.name, member.name), depth + 1));
    place(&members.collect::<Result<Vec<_>, _>>()?)
        .ok_or_else(|| GenError::Unsupported { place: object.name.clone(), reason: "it is larger than any address".into() })
}

fn place(members: &[Layout]) -> Option<StructLayout> {
    let mut end = 0u64;
    let mut align = 1;
    let mut offsets = Vec::new();
    for member in members {
        let offset = end.checked_next_multiple_of(member.align)?;
        offsets.push(offset);
        end = offset.checked_add(member.size)?;
        align = align.max(member.align);
    }
    Some(StructLayout { layout: Layout { size: end.checked_next_multiple_of(align)?, align }, offsets })
}

fn of_within(api: &Api, ty: &CType, place: &str, depth: u32) -> Result<Layout, GenError> {
    let unsupported = |reason: String| Err(GenError::Unsupported { place: place.to_owned(), reason });
    if depth > MAX_DEPTH {
        return unsupported("it contains itself".into());
    }
    match api.underlying(ty) {
        CType::Primitive { name } => Ok(Layout { size: name.size(), align: name.size() }),
        CType::Pointer { .. } => Ok(POINTER),
        CType::Array { of, len: Some(len) } => {
            let element = of_within(api, of, place, depth + 1)?;
            match element.size.checked_mul(*len) {
                Some(size) => Ok(Layout { size, align: element.align }),
                None => unsupported(format!("`{ty}` is larger than any address")),
            }
        }
        CType::Named { name, .. } => match api.named(name) {
            Some(Named::Handle(_) | Named::Callback(_)) => Ok(POINTER),
            Some(Named::Enum(_)) => Ok(Layout { size: 4, align: 4 }),
            Some(Named::Struct(object)) => Ok(of_struct_within(api, object, depth)?.layout),
            Some(Named::Typedef(_)) => unsupported(format!("`{name}` stands for itself")),
            None => unsupported(format!("unknown type `{name}`")),
        },
        other => unsupported(format!("`{other}` has no size")),
    }
}
