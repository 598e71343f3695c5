//! What messages of a stream are made of.

use std::fmt;

use hostcall_abi::stream::bytes::{BYTES_FIELDS, TEXT_FIELDS};
use hostcall_abi::stream::message::SCHEMA_HEAD;
use hostcall_abi::stream::{MAX_UNITS, Message, Policy};

use crate::name::Name;

/// A stream, as a program or a type describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schema {
    /// Its name.
    pub name: Name,
    /// Hash of its definition.
    pub signature: u64,
    /// Bytes of a value, a multiple of 4. 0: its messages are of bytes or of text, see [`Schema::content`].
    pub bytes: u32,
    /// What its messages do when their ring is full, unless the host says otherwise.
    pub policy: Policy,
    /// The fields of a value, in the order of memory.
    pub fields: Vec<Field>,
}

/// A field of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: Name,
    /// Its type, as the source says it.
    pub ty: Name,
    /// Its place in the value, in bytes.
    pub offset: u32,
    /// Its size in bytes.
    pub bytes: u32,
}

/// What messages of a stream are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Values, all of one size.
    Values,
    /// Bytes of any length.
    Bytes,
    /// UTF-8 of any length.
    Text,
}

impl Schema {
    /// What its messages are. Those of bytes and of text have one field, `value`, whose type is `[u8]` or `str`.
    pub fn content(&self) -> Content {
        match (self.bytes, self.fields.first()) {
            (0, Some(field)) if field.ty == TEXT_FIELDS[0].ty => Content::Text,
            (0, _) => Content::Bytes,
            _ => Content::Values,
        }
    }

    /// Whether fields can be those of a stream of bytes or of text.
    pub(crate) fn is_long(fields: &[Field]) -> bool {
        let is =
            |known: &[hostcall_abi::stream::Field]| matches!(fields, [field] if (&*field.name, &*field.ty) == (known[0].name, known[0].ty));
        fields.iter().all(|field| (field.offset, field.bytes) == (0, 0)) && (is(BYTES_FIELDS) || is(TEXT_FIELDS))
    }

    /// That of a type.
    pub fn of<M: Message>() -> Self {
        let field = |field: &hostcall_abi::stream::Field| Field {
            name: field.name.into(),
            ty: field.ty.into(),
            offset: field.offset as u32,
            bytes: field.bytes as u32,
        };
        Self {
            name: M::NAME.into(),
            signature: M::SIGNATURE,
            bytes: size_of::<M>() as u32,
            policy: M::POLICY,
            fields: M::FIELDS.iter().map(field).collect(),
        }
    }

    /// What a program says under a stream's name, see [`SchemaWord`](hostcall_abi::stream::SchemaWord); `None` if it
    /// makes no sense.
    pub(crate) fn parse(name: &str, word: &[u8]) -> Option<Self> {
        let (head, rest) = word.split_at_checked(SCHEMA_HEAD)?;
        let signature = u64::from_ne_bytes(*head.first_chunk()?);
        let [bytes, policy] = [8, 12].map(|at| u32::from_ne_bytes(*head[at..].first_chunk().expect("within the head")));
        let policy = Policy::new(policy)?;
        if !bytes.is_multiple_of(4) || bytes > 4 * MAX_UNITS {
            return None;
        }
        // Fields follow one another without padding, so their sizes say how many there are. Bytes and text have one.
        let (mut entries, mut covered) = (Vec::new(), 0);
        while covered < bytes || (bytes == 0 && entries.is_empty()) {
            let entry = rest.get(8 * entries.len()..)?.first_chunk::<8>()?;
            let [name, ty, offset, size] = [0, 2, 4, 6].map(|at| u16::from_ne_bytes([entry[at], entry[at + 1]]));
            if u32::from(offset) != covered {
                return None;
            }
            covered += u32::from(size);
            entries.push((usize::from(name), usize::from(ty), u32::from(offset), u32::from(size)));
            if entries.len() > bytes.max(1) as usize {
                return None;
            }
        }
        let mut text = rest.get(8 * entries.len()..)?;
        let mut take = |length: usize| {
            let (piece, behind) = text.split_at_checked(length)?;
            text = behind;
            std::str::from_utf8(piece).ok().map(Name::from)
        };
        let mut fields = Vec::new();
        for (name, ty, offset, bytes) in entries {
            fields.push(Field { name: take(name)?, ty: take(ty)?, offset, bytes });
        }
        (covered == bytes && (bytes > 0 || Self::is_long(&fields))).then(|| Self { name: name.into(), signature, bytes, policy, fields })
    }

    /// Units of a value; 0: messages are of bytes.
    pub(crate) fn units(&self) -> u32 {
        self.bytes / 4
    }
}

impl fmt::Display for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {{ ", self.name)?;
        for (i, field) in self.fields.iter().enumerate() {
            write!(f, "{}{}: {}", if i > 0 { ", " } else { "" }, field.name, field.ty)?;
        }
        f.write_str(" }")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hostcall_abi::Plain;
    use hostcall_abi::stream::SchemaWord;
    use hostcall_abi::stream::message::schema_text;

    #[derive(Clone, Copy)]
    #[repr(C)]
    struct Sample {
        step: u32,
        _values: [f32; 3],
    }
    // SAFETY: numbers without padding.
    unsafe impl Plain for Sample {}
    impl Message for Sample {
        const NAME: &'static str = "Sample";
        const SIGNATURE: u64 = 77;
        const FIELDS: &'static [hostcall_abi::stream::Field] = &[
            hostcall_abi::stream::Field { name: "step", ty: "u32", offset: 0, bytes: 4 },
            hostcall_abi::stream::Field { name: "values", ty: "[f32; 3]", offset: 4, bytes: 12 },
        ];
        const POLICY: Policy = Policy::Drop;
    }

    #[derive(Clone, Copy)]
    struct Note;
    // SAFETY: nothing.
    unsafe impl Plain for Note {}
    impl Message for Note {
        const NAME: &'static str = "Note";
        const SIGNATURE: u64 = 78;
        const FIELDS: &'static [hostcall_abi::stream::Field] = TEXT_FIELDS;
        const POLICY: Policy = Policy::Block;
    }

    fn word_of<M: Message, const FIELDS: usize, const TEXT: usize>() -> Vec<u8> {
        let word = SchemaWord::<FIELDS, TEXT>::of::<M>();
        // SAFETY: the word has no padding: its parts are multiples of 8 bytes.
        unsafe { std::slice::from_raw_parts(std::ptr::from_ref(&word).cast::<u8>(), size_of_val(&word)) }.to_vec()
    }

    fn word() -> Vec<u8> {
        word_of::<Sample, 2, { schema_text(Sample::FIELDS) }>()
    }

    #[test]
    fn a_stream_of_text_is_one_that_says_so() {
        let word = word_of::<Note, 1, { schema_text(TEXT_FIELDS) }>();
        let schema = Schema::parse("Note", &word).expect("a schema");
        assert_eq!((schema.content(), schema.units(), schema.to_string()), (Content::Text, 0, "Note { value: str }".into()));
        assert_eq!(schema, Schema::of::<Note>());
        assert_eq!(Schema::of::<Sample>().content(), Content::Values);
        let changed = |at: usize, to: u8| {
            let mut word = word.clone();
            word[at] = to;
            Schema::parse("Note", &word)
        };
        // Another offset, size, name and type; a value of four bytes without a field for them.
        let wrong = [(20, 1), (22, 4), (24, b'V'), (29, b'x'), (8, 4)];
        assert!(wrong.iter().all(|(at, to)| changed(*at, *to).is_none()), "{word:?}");
        for at in 8..word.len() {
            for value in [0, 1, 3, 0x7f, 0xff] {
                changed(at, value);
            }
        }
    }

    #[test]
    fn what_a_program_says_is_what_the_type_says() {
        let schema = Schema::parse("Sample", &word()).expect("a schema");
        assert_eq!(schema, Schema::of::<Sample>());
        assert_eq!(schema.to_string(), "Sample { step: u32, values: [f32; 3] }");
        assert_eq!(Sample { step: 1, _values: [0.0; 3] }.step, 1);
    }

    #[test]
    fn a_word_that_is_cut_or_changed_anywhere_is_a_schema_or_none() {
        let word = word();
        for end in 0..word.len() {
            Schema::parse("Sample", &word[..end]);
        }
        for at in 8..word.len() {
            for value in [0, 1, 0x7f, 0xff] {
                let mut changed = word.clone();
                changed[at] = value;
                if let Some(schema) = Schema::parse("Sample", &changed) {
                    assert_eq!(schema.fields.iter().map(|field| field.bytes).sum::<u32>(), schema.bytes);
                }
            }
        }
        assert!(Schema::parse("Sample", &word[..16]).is_none());
    }
}
