//! `#[stream]`: a struct whose values kernels send, and what both sides must know of it.

use hostcall_idl::attribute::Args;
use hostcall_idl::{Errors, STREAM_ARGS, field_name, field_type, message_text};
use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};
use syn::ext::IdentExt;
use syn::{Error, Fields, Ident, ItemStruct, Result, Visibility};

use crate::bytes;

/// The most values of one `send_each`.
const MAX_EACH: usize = 8;

pub(crate) fn expand(args: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let args = Args::parse(args, STREAM_ARGS)?;
    let item: ItemStruct = syn::parse2(item).map_err(|error| Error::new(error.span(), format!("`#[stream]` goes on a struct: {error}")))?;
    if args.content.is_some() {
        return bytes::expand(args, item);
    }
    check(&item)?;
    let krate = &args.krate;
    let private = quote!(#krate::__private);
    let stream = quote!(#private::abi::stream);
    let name = &item.ident;
    let said = name.unraw().to_string();
    let policy = args.policy.unwrap_or_else(|| format_ident!("Block"));

    let types: Vec<_> = item.fields.iter().map(|field| &field.ty).collect();
    let fields = item.fields.members().zip(&types).map(|(member, ty)| {
        let (named, typed) = (field_name(&member), field_type(ty));
        quote! {
            #stream::Field {
                name: #named,
                ty: #typed,
                offset: ::core::mem::offset_of!(#name, #member),
                bytes: ::core::mem::size_of::<#ty>(),
            }
        }
    });
    let text = message_text(&item);
    let device = device(&item, &stream, &private, policy == "Latest");
    Ok(quote! {
        #[derive(#krate::Plain)]
        #[hostcall(krate = #krate)]
        #item

        #[automatically_derived]
        impl #stream::Message for #name {
            const NAME: &'static str = #said;
            const SIGNATURE: u64 = #private::abi::codec::signature(#text, &[#(::core::mem::size_of::<#types>()),*]);
            const FIELDS: &'static [#stream::Field] = &[#(#fields),*];
            const POLICY: #stream::Policy = #stream::Policy::#policy;
        }

        const _: usize = #stream::message::units::<#name>();

        #private::if_device! { #device }
    })
}

/// The word in which the host says how messages of a stream are sent.
pub(crate) fn word_of(item: &ItemStruct) -> Ident {
    format_ident!("__HOSTCALL_STREAM__{}", item.ident.unraw().to_string())
}

/// That word, and what the program says of the stream.
pub(crate) fn words(item: &ItemStruct, stream: &TokenStream, private: &TokenStream) -> TokenStream {
    let (name, word) = (&item.ident, word_of(item));
    let schema = format_ident!("__HOSTCALL_SCHEMA__{}", name.unraw().to_string());
    quote! {
        #private::with_streams! { {
        #[doc(hidden)]
        #[cfg_attr(not(target_arch = "amdgpu"), used)]
        #[unsafe(no_mangle)]
        #[allow(non_upper_case_globals, reason = "the host finds the word under the stream's name")]
        static #word: #private::StreamWord = #private::StreamWord::new();

        #[doc(hidden)]
        #[cfg_attr(not(target_arch = "amdgpu"), used)]
        #[unsafe(no_mangle)]
        #[allow(non_upper_case_globals, reason = "the host finds the word under the stream's name")]
        static #schema: #stream::SchemaWord<{ <#name as #stream::Message>::FIELDS.len() }, { #stream::message::schema_text(<#name as #stream::Message>::FIELDS) }> =
            #stream::SchemaWord::of::<#name>();
        } {
        #[allow(non_upper_case_globals, reason = "as where there is a stream")]
        static #word: #private::StreamWord = #private::StreamWord::new();
        } }
    }
}

/// The words that the host reads and patches, and the methods that send; `latest`: by the policy of that name, whose
/// messages have a check behind each lane's units.
fn device(item: &ItemStruct, stream: &TokenStream, private: &TokenStream, latest: bool) -> TokenStream {
    let ItemStruct { ident: name, vis, .. } = item;
    let word = word_of(item);
    let (check, send_units, send_once) =
        if latest { (1, quote!(send_latest_units), quote!(send_latest_once)) } else { (0, quote!(send_units), quote!(send_once)) };
    let check = Literal::usize_unsuffixed(check);
    // Units of a value, and of a message of one.
    let sizes = quote! {
        const __UNITS: usize = #stream::message::units::<#name>();
        const __ALL: usize = __UNITS + #check;
    };
    let each = (1..=MAX_EACH).map(|n| {
        let n = Literal::usize_unsuffixed(n);
        quote! {
            #n if #n * __UNITS + #check <= #stream::MAX_UNITS as usize => {
                // Of a size that there is, also where this arm is never taken.
                const __ALL: usize = if #n * __UNITS + #check <= #stream::MAX_UNITS as usize { #n * __UNITS + #check } else { 1 + #check };
                let mut units = [0u32; __ALL];
                let mut i = 0;
                while i < #n && (i + 1) * __UNITS + #check <= __ALL {
                    #private::abi::codec::Fixed::put(&values[i], &mut units[i * __UNITS..]);
                    i += 1;
                }
                #private::#send_units::<__ALL>(&#word, ::core::option::Option::None, #n, &units)
            }
        }
    });
    let words = words(item, stream, private);
    quote! {
        #words

        impl #name {
            /// Sends the value: one message of all lanes that run converged here, each with its own.
            #[inline(always)]
            #[track_caller]
            #vis fn send(self) -> #stream::Sent {
                #sizes
                let mut units = [0u32; __ALL];
                #private::abi::codec::Fixed::put(&self, &mut units);
                #private::#send_units::<__ALL>(&#word, ::core::option::Option::None, 1, &units)
            }

            /// What `send!` does.
            #[doc(hidden)]
            #[inline(always)]
            #[track_caller]
            #vis fn __send_at(self, site: &'static #stream::SiteHead) -> #stream::Sent {
                #sizes
                let mut units = [0u32; __ALL];
                #private::abi::codec::Fixed::put(&self, &mut units);
                #private::#send_units::<__ALL>(&#word, ::core::option::Option::Some(site), 1, &units)
            }

            /// Sends several values of each lane that runs converged here in one message, which costs less than one
            /// message for each: up to 8, of 124 bytes together (4 less with the policy `latest`). More is `TooLarge`.
            #[inline(always)]
            #[track_caller]
            #vis fn send_each<const N: usize>(values: &[Self; N]) -> #stream::Sent {
                const __UNITS: usize = #stream::message::units::<#name>();
                match N {
                    #(#each)*
                    _ => #stream::Sent::TooLarge,
                }
            }

            /// Sends one value for all lanes that run converged here: the first one's.
            #[inline(always)]
            #[track_caller]
            #vis fn once_per_wave(value: impl ::core::ops::FnOnce() -> Self) -> #stream::Sent {
                #sizes
                #private::#send_once::<__ALL>(&#word, || {
                    let mut units = [0u32; __ALL];
                    #private::abi::codec::Fixed::put(&value(), &mut units);
                    units
                })
            }

            /// Whether anybody wants these messages: for what is costly to prepare.
            #[inline(always)]
            #vis fn armed() -> bool {
                #word.armed()
            }
        }
    }
}

fn check(item: &ItemStruct) -> Result<()> {
    let mut errors = Errors::default();
    check_any(item, &mut errors);
    if matches!(item.fields, Fields::Unit) || item.fields.is_empty() {
        errors
            .add(&item.ident, "a message has at least one field; for bytes or text of any length: `#[hostcall::stream(bytes)]`, `(text)`");
    }
    errors.check()
}

/// What goes for streams of all kinds.
pub(crate) fn check_any(item: &ItemStruct, errors: &mut Errors) {
    if matches!(item.vis, Visibility::Inherited) {
        errors.add(&item.ident, "a stream is for both sides to use: make it `pub`, or at least `pub(crate)`");
    }
    if !item.generics.params.is_empty() {
        errors.add(&item.generics, "a stream cannot be generic: it has one name and one layout");
    }
}
