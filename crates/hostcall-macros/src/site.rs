//! `send!`, `send_if!`, `access!` and `interval!`: messages that say where in the source they are from.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::parse::{Parse, ParseStream, Parser};
use syn::{Error, Expr, Ident, LitStr, Result, Token};

/// A reference to the word of this place in the source, with a level (0: no line of a log) and a text.
pub(crate) fn word(level: u32, text: &str) -> TokenStream {
    let name = format_ident!("__HOSTCALL_SITE__{}", unique());
    quote! { ::hostcall::__private::with_streams! { {{
        const __FILE: &str = ::core::file!();
        const __MODULE: &str = ::core::module_path!();
        const __TEXT: &str = #text;
        #[cfg_attr(not(target_arch = "amdgpu"), used)]
        #[unsafe(no_mangle)]
        #[allow(non_upper_case_globals, reason = "the host finds the word by the beginning of its name")]
        static #name: ::hostcall::__private::abi::stream::Site<
            { ::hostcall::__private::abi::stream::site::site_text(__FILE, __MODULE, __TEXT) },
        > = ::hostcall::__private::abi::stream::Site::new(__FILE, ::core::line!(), ::core::column!(), __MODULE, #level, __TEXT);
        #name.head()
    }} { ::hostcall::__private::NO_SITE.head() } } }
}

/// What makes the name of a word the only one in a program: its crate, and how many there were before it. (A macro may
/// be expanded twice at one place.)
fn unique() -> String {
    static BEFORE: AtomicU64 = AtomicU64::new(0);
    // Relaxed: it only counts. A compiler expands in the same order each time.
    let number = BEFORE.fetch_add(1, Ordering::Relaxed);
    let mut of = DefaultHasher::new();
    // A package may have a library and programs of one name: they differ in their files.
    for variable in ["CARGO_PKG_NAME", "CARGO_PKG_VERSION", "CARGO_MANIFEST_DIR", "CARGO_CRATE_NAME", "CARGO_BIN_NAME"] {
        std::env::var_os(variable).hash(&mut of);
    }
    format!("{:016x}_{number}", of.finish())
}

/// Parses what a macro was given.
fn parse<T>(input: TokenStream, how: impl FnOnce(ParseStream<'_>) -> Result<T>, usage: &str) -> Result<T> {
    let parser = |input: ParseStream<'_>| {
        let parsed = how(input)?;
        input.parse::<Option<Token![,]>>()?;
        if input.is_empty() { Ok(parsed) } else { Err(input.error("nothing more is expected here")) }
    };
    parser.parse2(input).map_err(|error| Error::new(error.span(), format!("{error}: it is used as `{usage}`")))
}

pub(crate) fn send(input: TokenStream) -> Result<TokenStream> {
    let value = parse(input, Expr::parse, "send!(Loss { step, value })")?;
    let site = word(0, "");
    Ok(quote!((#value).__send_at(#site)))
}

pub(crate) fn send_if(input: TokenStream) -> Result<TokenStream> {
    let both = |input: ParseStream<'_>| {
        let condition = input.parse::<Expr>()?;
        input.parse::<Token![,]>()?;
        Ok((condition, input.parse::<Expr>()?))
    };
    let (condition, value) = parse(input, both, "send_if!(value > limit, Loss { step, value })")?;
    let site = word(0, "");
    Ok(quote!(if #condition { (#value).__send_at(#site) } else { ::hostcall::stream::Sent::Off }))
}

/// What `access!` is given: what is done to a place, or all of it.
enum Said {
    Place(Ident, Expr),
    Whole(Expr),
}

pub(crate) fn access(input: TokenStream) -> Result<TokenStream> {
    const USAGE: &str = "access!(read, &x[i])";
    let said = |input: ParseStream<'_>| {
        if !(input.peek(Ident) && input.peek2(Token![,])) {
            return input.parse().map(Said::Whole);
        }
        let kind = input.parse::<Ident>()?;
        input.parse::<Token![,]>()?;
        Ok(Said::Place(kind, input.parse()?))
    };
    let said = parse(input, said, USAGE)?;
    let site = word(0, "");
    let (kind, place) = match said {
        Said::Place(kind, place) => (kind, place),
        Said::Whole(access) => return Ok(quote!(::hostcall::stream::access::send_access_at(#site, #access))),
    };
    let known = [("read", "Read"), ("write", "Write"), ("read_write", "ReadWrite"), ("atomic", "Atomic")];
    let Some((_, kind)) = known.into_iter().find(|(name, _)| kind == name) else {
        return Err(Error::new(kind.span(), format!("an access is read, write, read_write or atomic: it is used as `{USAGE}`")));
    };
    let kind = format_ident!("{kind}");
    Ok(quote!(::hostcall::stream::access::send_at(#site, #place, ::hostcall::stream::access::AccessKind::#kind)))
}

pub(crate) fn interval(input: TokenStream) -> Result<TokenStream> {
    let name = parse(input, <LitStr as Parse>::parse, "let _span = interval!(\"softmax\");")?;
    let site = word(0, &name.value());
    Ok(quote!(::hostcall::stream::interval::begin_at(#site)))
}
