//! Layouts of `#[repr(C)]` structs.

use std::sync::Arc;

use hostcall_abi::codec::signature;
use hostcall_abi::stream::{MAX_UNITS, Policy};
use proc_macro2::Span;
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{ItemStruct, LitInt, Member};

use super::error::ErrorKind;
use super::resolve::{Noted, Outcome, Resolver, State, doc, text};
use crate::model::{ByteStream, Field, Number, Stream, Structure, Type};
use crate::{field_name, field_type, message_text};

/// What `#[repr]` says.
#[derive(Default)]
struct Repr {
    is_fixed: bool,
    align: Option<usize>,
    packed: Option<usize>,
}

/// The policy that a stream's attribute names, or what it is without.
fn policy_named(name: Option<&syn::Ident>) -> Policy {
    let named = |of: &Policy| name.is_some_and(|name| name.to_string().to_lowercase() == of.name());
    Policy::ALL.into_iter().find(named).unwrap_or_default()
}

/// A stream of bytes or of text.
pub(super) fn byte_stream(item: &ItemStruct, is_text: bool, policy: Option<&syn::Ident>) -> ByteStream {
    let name = item.ident.unraw().to_string();
    // As the macro says it: its one value is of no known size.
    let signature = signature(&format!("{name} {}", if is_text { "str" } else { "[u8]" }), &[0]);
    ByteStream { name, doc: doc(&item.attrs), is_text, policy: policy_named(policy), signature }
}

impl Resolver<'_> {
    /// The struct `item` of the scope `of`, which is named at `span` in the scope `scope`.
    pub(super) fn structure(&mut self, scope: usize, span: Span, of: usize, item: &ItemStruct) -> Outcome<Arc<Structure>> {
        let name = item.ident.unraw().to_string();
        let key = (of, name.clone());
        match self.structures.get(&key) {
            Some(State::Done(structure)) => return Ok(Arc::clone(structure)),
            Some(State::Failed) => return Err(Noted),
            Some(State::Open) => return Err(self.note(scope, span, ErrorKind::Recursive { name })),
            None => {}
        }
        self.structures.insert(key.clone(), State::Open);
        let structure = self.laid_out(of, &name, item).map(Arc::new);
        let state = match &structure {
            Ok(structure) => {
                self.completed.push((Arc::clone(structure), of, item.ident.span()));
                State::Done(Arc::clone(structure))
            }
            Err(Noted) => State::Failed,
        };
        self.structures.insert(key, state);
        structure
    }

    /// The messages of a stream, and what `policy`, the name of a `Policy`, says.
    pub(super) fn stream(&mut self, scope: usize, item: &ItemStruct, policy: Option<&syn::Ident>) -> Outcome<Stream> {
        let structure = self.structure(scope, item.ident.span(), scope, item)?;
        if !structure.bytes.is_multiple_of(4) || structure.bytes > 4 * MAX_UNITS as usize {
            return Err(self.note(
                scope,
                item.ident.span(),
                ErrorKind::MessageSize { name: structure.name.clone(), bytes: structure.bytes },
            ));
        }
        let sizes: Vec<usize> = structure.fields.iter().map(|field| field.ty.bytes().unwrap_or(0)).collect();
        let fields = item.fields.members().zip(&item.fields).map(|(member, field)| [field_name(&member), field_type(&field.ty)]).collect();
        Ok(Stream { signature: signature(&message_text(item), &sizes), structure, policy: policy_named(policy), fields })
    }

    fn laid_out(&mut self, scope: usize, name: &str, item: &ItemStruct) -> Outcome<Structure> {
        let repr = self.repr(scope, item)?;
        if !repr.is_fixed {
            return Err(self.note(scope, item.ident.span(), ErrorKind::NotReprC { name: name.to_owned() }));
        }
        let types: Vec<_> = item.fields.iter().map(|field| self.field(scope, &field.ty)).collect();
        let types: Vec<Type> = types.into_iter().collect::<Outcome<_>>()?;
        if types.is_empty() {
            return Err(self.note(scope, item.ident.span(), ErrorKind::Empty { text: name.to_owned() }));
        }
        let padding = |before: &str| ErrorKind::Padding { name: name.to_owned(), before: before.to_owned() };
        let (mut offset, mut align) = (0usize, 1);
        let mut fields = Vec::new();
        for ((field, member), ty) in item.fields.iter().zip(item.fields.members()).zip(types) {
            let named = match &member {
                Member::Named(ident) => ident.unraw().to_string(),
                Member::Unnamed(index) => format!("_{}", index.index),
            };
            let field_align = ty.align().unwrap_or(1).min(repr.packed.unwrap_or(usize::MAX));
            if !offset.is_multiple_of(field_align) {
                return Err(self.note(scope, field.span(), padding(&format!("`{named}`"))));
            }
            align = align.max(field_align);
            let bytes = ty.bytes().unwrap_or(0);
            fields.push(Field { name: named, doc: doc(&field.attrs), ty, offset });
            offset = offset.saturating_add(bytes);
        }
        align = align.max(repr.align.unwrap_or(1));
        if !offset.is_multiple_of(align) {
            return Err(self.note(scope, item.ident.span(), padding("its end")));
        }
        Ok(Structure { name: name.to_owned(), doc: doc(&item.attrs), fields, bytes: offset, align, packed: repr.packed.is_some() })
    }

    fn field(&mut self, scope: usize, ty: &syn::Type) -> Outcome<Type> {
        let resolved = self.plain(scope, ty, "a field")?;
        let mut inner = &resolved;
        while let Type::Array(element, _) = inner {
            inner = element;
        }
        match inner {
            Type::Number(number @ (Number::Usize | Number::Isize)) => {
                let kind = ErrorKind::AddressSized { name: number.name() };
                Err(self.note(scope, ty.span(), kind))
            }
            _ => Ok(resolved),
        }
    }

    fn repr(&mut self, scope: usize, item: &ItemStruct) -> Outcome<Repr> {
        let mut repr = Repr::default();
        for attribute in item.attrs.iter().filter(|attribute| attribute.path().is_ident("repr")) {
            let parsed = attribute.parse_nested_meta(|meta| {
                repr.is_fixed |= meta.path.is_ident("C") || meta.path.is_ident("transparent");
                let number = if meta.input.peek(syn::token::Paren) {
                    let content;
                    syn::parenthesized!(content in meta.input);
                    Some(content.parse::<LitInt>()?.base10_parse()?)
                } else {
                    None
                };
                if meta.path.is_ident("align") {
                    repr.align = number;
                } else if meta.path.is_ident("packed") {
                    repr.packed = Some(number.unwrap_or(1));
                }
                Ok(())
            });
            let numbers = [repr.align, repr.packed];
            if let Err(error) = parsed {
                return Err(self.note(scope, error.span(), ErrorKind::Syntax { message: error.to_string() }));
            }
            if numbers.into_iter().flatten().any(|number: usize| !number.is_power_of_two()) {
                let message = format!("`{}` asks for an alignment that is no power of two", text(attribute));
                return Err(self.note(scope, attribute.span(), ErrorKind::Definition { message }));
            }
        }
        Ok(repr)
    }
}
