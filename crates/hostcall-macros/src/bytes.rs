//! `#[stream(bytes)]` and `#[stream(text)]`: a struct without fields, whose messages are slices or strings.

use hostcall_idl::Errors;
use hostcall_idl::attribute::Args;
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::ext::IdentExt;
use syn::{Attribute, Fields, ItemStruct, Path, Result};

use crate::stream::{check_any, word_of, words};

pub(crate) fn expand(args: Args, item: ItemStruct) -> Result<TokenStream> {
    let Args { krate, policy, content, .. } = args;
    let is_text = content.is_some_and(|content| content == "text");
    check(&item, if is_text { "text" } else { "bytes" }, policy.as_ref().is_some_and(|policy| policy == "Latest"))?;
    let private = quote!(#krate::__private);
    let stream = quote!(#private::abi::stream);
    let name = &item.ident;
    let said = name.unraw().to_string();
    let policy = policy.unwrap_or_else(|| format_ident!("Block"));
    let (fields, text) = if is_text { ("TEXT_FIELDS", "str") } else { ("BYTES_FIELDS", "[u8]") };
    let (fields, text) = (format_ident!("{fields}"), format!("{said} {text}"));
    let of_text = is_text.then(|| quote!(#[automatically_derived] impl #stream::TextStream for #name {}));
    // Messages are plain, so they can be copied.
    let missing = [("Clone", quote!(::core::clone::Clone)), ("Copy", quote!(::core::marker::Copy))];
    let derived =
        missing.into_iter().filter(|(name, _)| !item.attrs.iter().any(|attribute| derives(attribute, name))).map(|(_, path)| path);
    let device = device(&item, &stream, &private, is_text);
    Ok(quote! {
        #[derive(#(#derived),*)]
        #item

        // SAFETY: it has no bytes that could be wrong.
        #[automatically_derived]
        unsafe impl #krate::Plain for #name {}

        #[automatically_derived]
        impl #stream::Message for #name {
            const NAME: &'static str = #said;
            const SIGNATURE: u64 = #private::abi::codec::signature(#text, &[0]);
            const FIELDS: &'static [#stream::Field] = #stream::bytes::#fields;
            const POLICY: #stream::Policy = #stream::Policy::#policy;
        }

        #[automatically_derived]
        impl #stream::ByteStream for #name {}
        #of_text

        #private::if_device! { #device }
    })
}

/// Whether an attribute derives a trait.
fn derives(attribute: &Attribute, name: &str) -> bool {
    let mut found = false;
    if attribute.path().is_ident("derive") {
        // Errors in it are the compiler's to tell.
        let _ = attribute.parse_nested_meta(|meta| {
            let last = |path: &Path| path.segments.last().is_some_and(|last| last.ident == name);
            found |= last(&meta.path);
            Ok(())
        });
    }
    found
}

/// The words that the host reads and patches, and the functions that send.
fn device(item: &ItemStruct, stream: &TokenStream, private: &TokenStream, is_text: bool) -> TokenStream {
    let ItemStruct { ident: name, vis, .. } = item;
    let (words, word) = (words(item, stream, private), word_of(item));
    let (ty, bytes) = if is_text { (quote!(str), quote!(.as_bytes())) } else { (quote!([u8]), quote!()) };
    quote! {
        #words

        impl #name {
            /// Sends it: a message of each lane that runs converged here, each with its own. Longer than a quarter of a
            /// ring, or than 122 790 bytes, is `TooLarge`.
            #[inline(always)]
            #[track_caller]
            #vis fn send(message: &#ty) -> #stream::Sent {
                #private::Slice::new(&#word, message #bytes).send()
            }

            /// A message, for `send!`.
            #[inline(always)]
            #vis fn of(message: &#ty) -> #private::Slice<'_> {
                #private::Slice::new(&#word, message #bytes)
            }

            /// Sends one message for all lanes that run converged here, which copy it together: the first one's.
            #[inline(always)]
            #[track_caller]
            #vis fn once_per_wave<'a>(message: impl ::core::ops::FnOnce() -> &'a #ty) -> #stream::Sent {
                if !#word.armed() {
                    return #stream::Sent::Off;
                }
                #private::Slice::new(&#word, message() #bytes).send_once()
            }

            /// Whether anybody wants these messages: for what is costly to prepare.
            #[inline(always)]
            #vis fn armed() -> bool {
                #word.armed()
            }
        }
    }
}

fn check(item: &ItemStruct, content: &str, is_latest: bool) -> Result<()> {
    let mut errors = Errors::default();
    check_any(item, &mut errors);
    if !matches!(item.fields, Fields::Unit) {
        let name = &item.ident;
        errors
            .add(&item.fields, format!("a stream of {content} has no fields, because each message is what is sent: `pub struct {name};`"));
    }
    if is_latest {
        errors.add(
            &item.ident,
            format!("the policy \"latest\" is for values, which have one size: a stream of {content} has another policy"),
        );
    }
    errors.check()
}
