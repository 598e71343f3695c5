//! Streams: what a struct under `#[stream]` says of its messages.

use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::{ItemStruct, Member, Type};

use crate::{normalised, tidy};

/// What `#[stream]` takes.
pub const STREAM_ARGS: &[&str] = &["policy", "bytes", "text", "krate"];

/// The name of a field, as messages say it: its number, if it has none.
pub fn field_name(member: &Member) -> String {
    match member {
        Member::Named(ident) => ident.unraw().to_string(),
        Member::Unnamed(index) => index.index.to_string(),
    }
}

/// The type of a field, as messages say it.
pub fn field_type(ty: &Type) -> String {
    tidy(&normalised(ty.to_token_stream()))
}

/// The definition of a message as it is hashed: its name, and names and types of its fields.
pub fn message_text(item: &ItemStruct) -> String {
    let fields = item.fields.members().zip(&item.fields).map(|(member, field)| {
        let (name, ty) = (field_name(&member), &field.ty);
        quote!(#name #ty)
    });
    format!("{} {}", item.ident.unraw(), normalised(fields.collect()))
}
