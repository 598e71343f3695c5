//! `#[derive(Plain)]`: the promises of `unsafe trait Plain`, each checked by the compiler.

use hostcall_idl::Errors;
use hostcall_idl::attribute::Args;
use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::parse::ParseStream;
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Result};

pub(crate) fn expand(item: TokenStream) -> Result<TokenStream> {
    let input: DeriveInput = syn::parse2(item)?;
    let name = &input.ident;
    let mut errors = Errors::default();

    let mut krate = quote!(::hostcall);
    for attr in input.attrs.iter().filter(|attr| attr.path().is_ident("hostcall")) {
        match attr.parse_args_with(|input: ParseStream<'_>| Args::parse_stream(input, &["krate"])) {
            Ok(args) => krate = args.krate,
            Err(error) => errors.join(error),
        }
    }
    if !input.generics.params.is_empty() {
        errors.add(
            &input.generics,
            "`Plain` cannot be derived for a generic struct: its padding depends on the parameters; derive it for each concrete struct",
        );
    }
    let mut fields = Vec::new();
    match &input.data {
        Data::Struct(data) => {
            fields.extend(data.fields.iter().map(|field| &field.ty));
            if !layout_is_fixed(&input, &mut errors) {
                errors.add(name, format!("`{name}` needs `#[repr(C)]`: without it host and device may order its fields differently"));
            }
        }
        Data::Enum(data) => errors.add(
            data.enum_token,
            "`Plain` cannot be derived for an enum: bytes from the other side need not be one of its values; send a number and convert it with `TryFrom`",
        ),
        Data::Union(data) => errors.add(data.union_token, "`Plain` cannot be derived for a union: its bytes may be uninitialised"),
    }
    errors.check()?;

    let padding = format!(
        "`{name}` has padding, whose bytes would cross uninitialised: order the fields from large to small, or add explicit fields (`_pad: [u8; N]`) until the size is the sum of its fields' sizes"
    );
    let sizes = fields.iter().map(|ty| quote!(::core::mem::size_of::<#ty>()));
    let each = fields.iter().map(|ty| quote_spanned!(ty.span()=> __hostcall_field_is_plain::<#ty>();));
    Ok(quote! {
        const _: () = {
            const fn __hostcall_field_is_plain<T: #krate::Plain>() {}
            #(#each)*
            ::core::assert!(::core::mem::size_of::<#name>() == 0 #(+ #sizes)*, #padding);
            // SAFETY: each field is plain (checked above), and the size is the sum of the fields' sizes, so there
            // is no padding.
            #[automatically_derived]
            unsafe impl #krate::Plain for #name {}
        };
    })
}

/// Whether a `repr` fixes the order of the fields.
fn layout_is_fixed(input: &DeriveInput, errors: &mut Errors) -> bool {
    let mut fixed = false;
    for attr in input.attrs.iter().filter(|attr| attr.path().is_ident("repr")) {
        let parsed = attr.parse_nested_meta(|meta| {
            fixed |= meta.path.is_ident("C") || meta.path.is_ident("transparent");
            // `align(8)`, `packed(2)`: their arguments are the compiler's business.
            if meta.input.peek(syn::token::Paren) {
                let content;
                syn::parenthesized!(content in meta.input);
                content.parse::<TokenStream>()?;
            }
            Ok(())
        });
        if let Err(error) = parsed {
            errors.join(error);
        }
    }
    fixed
}
