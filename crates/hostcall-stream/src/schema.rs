//! What messages of a stream are made of.

use std::fmt;

use hostcall_abi::stream::message::SCHEMA_HEAD;
use hostcall_abi::stream::{MAX_UNITS, Message, Policy};

/// A stream, as a program or a type describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schema {
    /// Its name.
    pub name: String,
    /// Hash of its definition.
    pub signature: u64,
    /// Bytes of a value, a multiple of 4.
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
    pub name: String,
    /// Its type, as the source says it.
    pub ty: String,
    /// Its place in the value, in bytes.
    pub offset: u32,
    /// Its size in bytes.
    pub bytes: u32,
}

impl Schema {
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

    /// What a program says under a stream's name, see [`SchemaWord`](hostcall_abi::stream::SchemaWord); `None` if it makes no sense.
    pub(crate) fn parse(name: &str, word: &[u8]) -> Option<Self> {
        let (head, rest) = word.split_at_checked(SCHEMA_HEAD)?;
        let signature = u64::from_ne_bytes(*head.first_chunk()?);
        let [bytes, policy] = [8, 12].map(|at| u32::from_ne_bytes(*head[at..].first_chunk().expect("within the head")));
        let policy = Policy::new(policy)?;
        if bytes == 0 || !bytes.is_multiple_of(4) || bytes > 4 * MAX_UNITS {
            return None;
        }
        // Fields follow one another without padding, so their sizes say how many there are.
        let (mut entries, mut covered) = (Vec::new(), 0);
        while covered < bytes {
            let entry = rest.get(8 * entries.len()..)?.first_chunk::<8>()?;
            let [name, ty, offset, size] = [0, 2, 4, 6].map(|at| u16::from_ne_bytes([entry[at], entry[at + 1]]));
            if u32::from(offset) != covered {
                return None;
            }
            covered += u32::from(size);
            entries.push((usize::from(name), usize::from(ty), u32::from(offset), u32::from(size)));
            if entries.len() > bytes as usize {
                return None;
            }
        }
        let mut text = rest.get(8 * entries.len()..)?;
        let mut take = |length: usize| {
            let (piece, behind) = text.split_at_checked(length)?;
            text = behind;
            std::str::from_utf8(piece).ok().map(str::to_owned)
        };
        let mut fields = Vec::new();
        for (name, ty, offset, bytes) in entries {
            fields.push(Field { name: take(name)?, ty: take(ty)?, offset, bytes });
        }
        (covered == bytes).then(|| Self { name: name.into(), signature, bytes, policy, fields })
    }

    /// Units of a value.
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

    fn word() -> Vec<u8> {
        let word = SchemaWord::<2, { schema_text(Sample::FIELDS) }>::of::<Sample>();
        // SAFETY: the word has no padding: its parts are multiples of 8 bytes.
        unsafe { std::slice::from_raw_parts(std::ptr::from_ref(&word).cast::<u8>(), size_of_val(&word)) }.to_vec()
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
