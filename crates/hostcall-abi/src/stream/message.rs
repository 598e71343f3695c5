//! What is sent: a type of messages, and what a program says of it.

use super::policy::Policy;
use crate::codec::Plain;

/// Prefix of a stream's number word, a `u32`: `__HOSTCALL_STREAM__` + the stream's name. 0 until patched: off.
pub const STREAM_PREFIX: &str = "__HOSTCALL_STREAM__";
/// Prefix of a stream's [`SchemaWord`].
pub const SCHEMA_PREFIX: &str = "__HOSTCALL_SCHEMA__";

/// A type whose values kernels send. `#[hostcall::stream]` implements it.
pub trait Message: Plain {
    /// The stream's name.
    const NAME: &'static str;
    /// Hash of name and fields, by which a program and a host that were built from different definitions find out.
    const SIGNATURE: u64;
    /// Its fields, in the order of memory.
    const FIELDS: &'static [Field];
    /// What a message does when its ring is full, unless the host says otherwise.
    const POLICY: Policy;
}

/// A field of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// Its type, as the source says it.
    pub ty: &'static str,
    /// Its place in the value, in bytes.
    pub offset: usize,
    /// Its size in bytes.
    pub bytes: usize,
}

/// What a program says of a stream, under [`SCHEMA_PREFIX`] + the stream's name. Behind it lie names and types of the
/// fields.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct SchemaWord<const FIELDS: usize, const TEXT: usize> {
    /// [`Message::SIGNATURE`].
    pub signature: u64,
    /// Bytes of a value.
    pub bytes: u32,
    /// [`Message::POLICY`].
    pub policy: u32,
    /// Of each field: length of its name and of its type in `text`, offset, bytes.
    pub fields: [[u16; 4]; FIELDS],
    /// Names and types of all fields, one behind another; filled up with zeros to a multiple of 8.
    pub text: [u8; TEXT],
}

/// Bytes of a [`SchemaWord`] before its fields.
pub const SCHEMA_HEAD: usize = 16;

const _: () = assert!(core::mem::offset_of!(SchemaWord<1, 8>, fields) == SCHEMA_HEAD);

/// Bytes of text that a [`SchemaWord`] of these fields needs.
pub const fn schema_text(fields: &[Field]) -> usize {
    let (mut bytes, mut i) = (0, 0);
    while i < fields.len() {
        bytes += fields[i].name.len() + fields[i].ty.len();
        i += 1;
    }
    bytes.next_multiple_of(8)
}

impl<const FIELDS: usize, const TEXT: usize> SchemaWord<FIELDS, TEXT> {
    /// What a program says of `M`.
    ///
    /// # Panics
    /// At compile time, when the word has not the size that `M` needs.
    pub const fn of<M: Message>() -> Self {
        assert!(M::FIELDS.len() == FIELDS && schema_text(M::FIELDS) == TEXT);
        let (mut fields, mut text) = ([[0; 4]; FIELDS], [0; TEXT]);
        let (mut i, mut at) = (0, 0);
        while i < FIELDS {
            let Field { name, ty, offset, bytes } = M::FIELDS[i];
            fields[i] = [name.len() as u16, ty.len() as u16, offset as u16, bytes as u16];
            at = put(&mut text, at, name);
            at = put(&mut text, at, ty);
            i += 1;
        }
        Self { signature: M::SIGNATURE, bytes: size_of::<M>() as u32, policy: M::POLICY as u32, fields, text }
    }
}

/// Copies a text to a place, and says where it ends.
pub(super) const fn put(text: &mut [u8], mut at: usize, what: &str) -> usize {
    let (bytes, mut i) = (what.as_bytes(), 0);
    while i < bytes.len() {
        text[at] = bytes[i];
        (at, i) = (at + 1, i + 1);
    }
    at
}

/// Units of a value of `M`, whose size is a multiple of 4.
///
/// # Panics
/// At compile time, when values of `M` cannot be sent.
pub const fn units<M: Message>() -> usize {
    let bytes = size_of::<M>();
    assert!(bytes.is_multiple_of(4), "the size of a message is a multiple of 4 bytes: add a field for the rest (`_rest: [u8; N]`)");
    assert!(bytes > 0, "a message has at least one field");
    assert!(bytes <= 4 * super::MAX_UNITS as usize, "a message has at most 124 bytes: send several, or use a post");
    assert!(
        bytes < 4 * super::MAX_UNITS as usize || !matches!(M::POLICY, Policy::Latest),
        "a message of the policy `latest` has at most 120 bytes"
    );
    bytes / 4
}

/// What the number word of a stream says. 0: the stream is off.
pub mod word {
    use super::Policy;

    /// The bits of the stream's number.
    pub const NUMBER: u32 = super::super::header::MAX_STREAM;
    /// Where the bits of the [`Policy`] begin, three of them.
    const POLICY: u32 = 12;
    /// Messages do not say when they were sent.
    pub const UNTIMED: u32 = 1 << 15;
    /// Messages look at the stream's [`Gate`](super::super::Gate).
    pub const LIVE: u32 = 1 << 16;

    /// The word of a stream with this number and policy.
    pub const fn of(number: u32, policy: Policy) -> u32 {
        number | (policy as u32) << POLICY
    }

    /// The policy that a word says; [`Policy::Block`] if there is no such policy.
    #[inline(always)]
    pub const fn policy(word: u32) -> Policy {
        match Policy::new(word >> POLICY & 7) {
            Some(policy) => policy,
            None => Policy::Block,
        }
    }
}
