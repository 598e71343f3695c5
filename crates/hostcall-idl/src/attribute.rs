//! The arguments of the attributes: `#[service(on_error = "panic")]`.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{Error, LitInt, LitStr, Path, Result};

use crate::wire::relative;

/// Which side's code to produce.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// What kernels call.
    Device,
    /// What registers handlers.
    Host,
}

/// The arguments that the attributes take.
#[derive(Debug)]
pub struct Args {
    /// Path of the crate that exports hostcall's items.
    pub krate: TokenStream,
    /// The one side that is wanted; both without it.
    pub side: Option<Side>,
    /// `on_error = "panic"`: stubs panic instead of returning errors.
    pub panics: bool,
    /// What a message does when its ring is full: the name of a `Policy`.
    pub policy: Option<syn::Ident>,
    /// `bytes` or `text`, if a stream is of those.
    pub content: Option<syn::Ident>,
    /// The most registers of a kernel's lane.
    pub max_registers: Option<u32>,
}

impl Args {
    /// Parses `args`, of which only the names in `known` are allowed.
    ///
    /// # Errors
    /// Arguments that are not known or given twice, and values that are none of theirs.
    pub fn parse(args: TokenStream, known: &[&str]) -> Result<Self> {
        (|input: ParseStream<'_>| Self::parse_stream(input, known)).parse2(args)
    }

    /// As [`parse`](Self::parse), of what follows in a stream.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub fn parse_stream(input: ParseStream<'_>, known: &[&str]) -> Result<Self> {
        let mut parsed = Self { krate: quote!(::hostcall), side: None, panics: false, policy: None, content: None, max_registers: None };
        let mut seen = Vec::new();
        while !input.is_empty() {
            let name = input.call(syn::Ident::parse_any)?;
            let text = name.to_string();
            if !known.contains(&text.as_str()) {
                return Err(Error::new(name.span(), format!("unknown argument `{text}`: known are {}", known.join(", "))));
            }
            if seen.contains(&text) {
                return Err(Error::new(name.span(), format!("`{text}` is given twice")));
            }
            let flag = matches!(text.as_str(), "bytes" | "text");
            if !flag {
                input.parse::<syn::Token![=]>()?;
            }
            match text.as_str() {
                _ if flag && parsed.content.is_some() => {
                    return Err(Error::new(name.span(), "a stream is of bytes or of text: text is bytes that are UTF-8"));
                }
                _ if flag => parsed.content = Some(name),
                "krate" => parsed.krate = krate(input)?,
                "max_registers" => parsed.max_registers = Some(registers(input)?),
                "side" => {
                    parsed.side = Some(choice(input, &[("device", Side::Device), ("host", Side::Host)])?);
                }
                "policy" => {
                    let policies = [("block", "Block"), ("drop", "Drop"), ("wait", "Wait"), ("sample", "Sample"), ("latest", "Latest")];
                    parsed.policy = Some(syn::Ident::new(choice(input, &policies)?, Span::call_site()));
                }
                _ => parsed.panics = choice(input, &[("panic", true), ("return", false)])?,
            }
            seen.push(text);
            if !input.is_empty() {
                input.parse::<syn::Token![,]>()?;
            }
        }
        Ok(parsed)
    }
}

fn krate(input: ParseStream<'_>) -> Result<TokenStream> {
    let path = input.call(Path::parse_mod_style)?;
    if let Some(first) = relative(&path) {
        return Err(Error::new_spanned(first, "start the path with `crate::`, `::` or a crate's name: it is used inside a module as well"));
    }
    Ok(quote!(#path))
}

/// As many as PTX's `.maxnreg` can ask for.
fn registers(input: ParseStream<'_>) -> Result<u32> {
    let number: LitInt = input.parse()?;
    let registers = number.base10_parse().ok().filter(|registers| (16..=255).contains(registers));
    registers.ok_or_else(|| Error::new(number.span(), "a lane has 16 to 255 registers"))
}

fn choice<T: Copy>(input: ParseStream<'_>, choices: &[(&str, T)]) -> Result<T> {
    let word: LitStr = input.parse()?;
    let text = word.value();
    choices.iter().find(|(name, _)| *name == text).map(|&(_, value)| value).ok_or_else(|| {
        let names: Vec<_> = choices.iter().map(|(name, _)| format!("\"{name}\"")).collect();
        Error::new(word.span(), format!("\"{text}\" is not known here: give {}", names.join(" or ")))
    })
}
