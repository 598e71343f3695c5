//! What the expansions share.

use proc_macro2::{Span, TokenStream};
use syn::{Error, Result};

/// The expansion, or its errors as `compile_error!`s.
pub(crate) fn finish(result: Result<TokenStream>) -> proc_macro::TokenStream {
    result.unwrap_or_else(Error::into_compile_error).into()
}

/// A name for a generated variable, out of the way of the user's.
pub(crate) fn local(name: impl std::fmt::Display) -> syn::Ident {
    syn::Ident::new(&format!("__hostcall_{name}"), Span::call_site())
}
