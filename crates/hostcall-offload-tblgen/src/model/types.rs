//! Macros, handles, enumerations, structures and other types.

use tablegen::{FieldError, Record};

use super::{flag, prose, some_text, span, text};
use crate::ir::{Enum, Enumerator, Handle, Macro, Member, Struct, Type, Typedef};

pub(super) fn macro_(record: Record<'_>) -> Result<Macro, FieldError> {
    Ok(Macro {
        name: record.name().to_owned(),
        desc: prose(record, "desc")?,
        value: text(record, "value")?,
        condition: record.optional_string("condition")?.map(str::to_owned),
        alt_value: record.optional_string("alt_value")?.map(str::to_owned),
        span: span(record),
    })
}

pub(super) fn handle(record: Record<'_>) -> Result<Handle, FieldError> {
    Ok(Handle { name: record.name().to_owned(), desc: prose(record, "desc")?, span: span(record) })
}

pub(super) fn typedef(record: Record<'_>) -> Result<Typedef, FieldError> {
    Ok(Typedef { name: record.name().to_owned(), desc: prose(record, "desc")?, ty: Type::new(text(record, "value")?), span: span(record) })
}

pub(super) fn enum_(record: Record<'_>) -> Result<Enum, FieldError> {
    let prefix = enumerator_prefix(record.name());
    let is_bit_field = flag(record, "is_bit_field")?;
    let mut value = u32::from(is_bit_field);
    let mut etors = Vec::new();
    for etor in record.record_list("etors")? {
        let name = text(etor, "name")?;
        etors.push(Enumerator {
            c_name: format!("{prefix}_{}", name.to_ascii_uppercase()),
            name,
            value,
            desc: prose(etor, "desc")?,
            tagged_type: etor.optional_string("tagged_type")?.map(Type::new),
            span: span(etor),
        });
        value = if is_bit_field { value << 1 } else { value.wrapping_add(1) };
    }
    Ok(Enum {
        name: record.name().to_owned(),
        desc: prose(record, "desc")?,
        prefix,
        is_bit_field,
        is_typed: flag(record, "is_typed")?,
        nodiscard: flag(record, "nodiscard")?,
        etors,
        span: span(record),
    })
}

/// `OL_DEVICE_INFO` for `ol_device_info_t`: without its last two characters, whatever they are.
fn enumerator_prefix(name: &str) -> String {
    let end = name.char_indices().rev().nth(1).map_or(name.len(), |(at, _)| at);
    name[..end].to_ascii_uppercase()
}

pub(super) fn struct_(record: Record<'_>) -> Result<Struct, FieldError> {
    let mut members = Vec::new();
    for member in record.record_list("all_members")? {
        members.push(Member {
            name: text(member, "name")?,
            desc: prose(member, "desc")?,
            ty: Type::new(text(member, "type")?),
            span: span(member),
        });
    }
    Ok(Struct {
        name: record.name().to_owned(),
        desc: prose(record, "desc")?,
        base_class: some_text(record, "base_class")?,
        members,
        nodiscard: flag(record, "nodiscard")?,
        span: span(record),
    })
}

#[cfg(test)]
mod tests {
    use super::enumerator_prefix;

    #[test]
    fn enumerators_begin_with_the_enumeration_s_name() {
        assert_eq!(enumerator_prefix("ol_device_info_t"), "OL_DEVICE_INFO");
        assert_eq!(enumerator_prefix("my_enum"), "MY_EN");
        assert_eq!(enumerator_prefix("ab"), "");
        assert_eq!(enumerator_prefix("a"), "A");
        assert_eq!(enumerator_prefix(""), "");
    }
}
