//! What the macros share: arguments, errors, and what a type may not contain.

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::visit::{self, Visit};
use syn::{Attribute, Error, LitStr, Path, Result, Type};

/// The expansion, or its errors as `compile_error!`s.
pub(crate) fn finish(result: Result<TokenStream>) -> proc_macro::TokenStream {
    result.unwrap_or_else(Error::into_compile_error).into()
}

/// Collects errors, so that the user sees all of them at once.
#[derive(Default)]
pub(crate) struct Errors(Option<Error>);

impl Errors {
    /// Notes an error at `tokens`.
    pub(crate) fn add(&mut self, tokens: impl ToTokens, message: impl std::fmt::Display) {
        self.join(Error::new_spanned(tokens, message));
    }

    /// Notes `message` for what should be absent.
    pub(crate) fn forbid(&mut self, found: Option<impl ToTokens>, message: &str) {
        if let Some(found) = found {
            self.add(found, message);
        }
    }

    pub(crate) fn join(&mut self, error: Error) {
        match &mut self.0 {
            Some(all) => all.combine(error),
            None => self.0 = Some(error),
        }
    }

    /// # Errors
    /// All that were noted.
    pub(crate) fn check(self) -> Result<()> {
        self.0.map_or(Ok(()), Err)
    }
}

/// Which side's code to produce.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Device,
    Host,
}

/// The arguments that the attributes take.
pub(crate) struct Args {
    /// Path of the crate that exports hostcall's items.
    pub(crate) krate: TokenStream,
    pub(crate) side: Option<Side>,
    pub(crate) panics: bool,
    /// What a message does when its ring is full: the name of a `Policy`.
    pub(crate) policy: Option<syn::Ident>,
    /// `bytes` or `text`, if a stream is of those.
    pub(crate) content: Option<syn::Ident>,
}

impl Args {
    /// Parses `args`, of which only the names in `known` are allowed.
    pub(crate) fn parse(args: TokenStream, known: &[&str]) -> Result<Self> {
        (|input: ParseStream<'_>| Self::parse_stream(input, known)).parse2(args)
    }

    pub(crate) fn parse_stream(input: ParseStream<'_>, known: &[&str]) -> Result<Self> {
        let mut parsed = Self { krate: quote!(::hostcall), side: None, panics: false, policy: None, content: None };
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

fn choice<T: Copy>(input: ParseStream<'_>, choices: &[(&str, T)]) -> Result<T> {
    let word: LitStr = input.parse()?;
    let text = word.value();
    choices.iter().find(|(name, _)| *name == text).map(|&(_, value)| value).ok_or_else(|| {
        let names: Vec<_> = choices.iter().map(|(name, _)| format!("\"{name}\"")).collect();
        Error::new(word.span(), format!("\"{text}\" is not known here: give {}", names.join(" or ")))
    })
}

/// The leading `self` or `super` of a path.
fn relative(path: &Path) -> Option<&syn::Ident> {
    let first = &path.segments.first()?.ident;
    (path.leading_colon.is_none() && (first == "self" || first == "super")).then_some(first)
}

/// The attributes to carry over to what is generated for an item: its documentation, and `deprecated`.
pub(crate) fn carried(attrs: &[Attribute], errors: &mut Errors) -> Vec<Attribute> {
    let mut kept = Vec::new();
    for attr in attrs {
        if attr.path().is_ident("doc") || attr.path().is_ident("deprecated") {
            kept.push(attr.clone());
        } else {
            errors.add(attr, "only doc comments and `#[deprecated]` are supported here, as one item becomes several");
        }
    }
    kept
}

/// The tokens separated by single spaces: the same text from every version of the compiler, whatever
/// the layout of the source.
pub(crate) fn normalised(tokens: TokenStream) -> String {
    fn walk(tokens: TokenStream, out: &mut Vec<String>) {
        for token in tokens {
            match token {
                TokenTree::Group(group) => {
                    let (open, close) = match group.delimiter() {
                        Delimiter::Parenthesis => ("(", ")"),
                        Delimiter::Brace => ("{", "}"),
                        Delimiter::Bracket => ("[", "]"),
                        Delimiter::None => ("", ""),
                    };
                    out.push(open.into());
                    walk(group.stream(), out);
                    out.push(close.into());
                }
                other => out.push(other.to_string()),
            }
        }
    }
    let mut out = Vec::new();
    walk(tokens, &mut out);
    out.retain(|token| !token.is_empty());
    out.join(" ")
}

/// A normalised text as people write it: `fn(&mut [u8]) -> u32`.
pub(crate) fn tidy(normalised: &str) -> String {
    let text = normalised.replace("- >", "->");
    let (mut out, mut before) = (String::new(), "");
    for token in text.split(' ') {
        let opens = ["", "(", "[", "<", "&", ":"].contains(&before);
        let tight = [")", "]", ">", ",", ";", "<", ":"].contains(&token) || (before == "fn" && token == "(");
        if !(opens || tight) {
            out.push(' ');
        }
        out += token;
        before = token;
    }
    out
}

/// Without the invisible and visible parentheses around it.
pub(crate) fn bare(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => bare(&group.elem),
        Type::Paren(paren) => bare(&paren.elem),
        other => other,
    }
}

pub(crate) fn is_unit(ty: &Type) -> bool {
    matches!(bare(ty), Type::Tuple(tuple) if tuple.elems.is_empty())
}

pub(crate) fn is_str(ty: &Type) -> bool {
    matches!(bare(ty), Type::Path(path) if path.qself.is_none() && path.path.is_ident("str"))
}

/// Notes everything in `ty` that cannot be part of a value on the wire. What remains is for the trait
/// bounds to judge.
pub(crate) fn check_wire_type(ty: &Type, what: &str, errors: &mut Errors) {
    WireType { what, errors }.visit_type(ty);
}

struct WireType<'a> {
    what: &'a str,
    errors: &'a mut Errors,
}

impl<'ast> Visit<'ast> for WireType<'_> {
    fn visit_type(&mut self, ty: &'ast Type) {
        let what = self.what;
        match ty {
            Type::Reference(_) => self.errors.add(
                ty,
                format!("{what} cannot hold a reference, which means nothing on the other side; `&str`, `&[T]` and `&mut [T]` may be arguments themselves"),
            ),
            Type::Ptr(_) => self.errors.add(
                ty,
                format!("{what} cannot hold a pointer, which means nothing on the other side; pass `&[T]`, `&mut [T]`, or a number that both sides understand"),
            ),
            Type::FnPtr(_) => self.errors.add(ty, format!("{what} cannot hold a function pointer, which means nothing on the other side")),
            Type::ImplTrait(_) | Type::TraitObject(_) => self.errors.add(ty, format!("{what} must be a concrete type")),
            Type::Infer(_) => self.errors.add(ty, format!("{what} must be written out")),
            Type::Never(_) => self.errors.add(ty, format!("{what} cannot be `!`: the other side always answers")),
            Type::Macro(_) | Type::Verbatim(_) => self.errors.add(ty, format!("{what} must be a type that can be read without expanding it")),
            Type::Slice(_) => self.errors.add(ty, format!("{what} must have a size: pass `&[T]` or `&mut [T]`")),
            Type::Path(_) if is_str(ty) => self.errors.add(ty, format!("{what} must have a size: pass `&str`")),
            _ => visit::visit_type(self, ty),
        }
    }

    fn visit_path(&mut self, path: &'ast Path) {
        if let Some(first) = relative(path) {
            self.errors.add(first, "import the type, or start its path with `crate::`: it is used inside a module as well");
        } else if path.segments.first().is_some_and(|first| first.ident == "Self") {
            self.errors.add(path, "`Self` has no meaning here: a service is not a method of anything");
        }
        visit::visit_path(self, path);
    }

    fn visit_lifetime(&mut self, lifetime: &'ast syn::Lifetime) {
        self.errors.add(lifetime, format!("{} cannot borrow", self.what));
    }

    // The length of an array may be any expression.
    fn visit_expr(&mut self, _: &'ast syn::Expr) {}
}

/// A name for a generated variable, out of the way of the user's.
pub(crate) fn local(name: impl std::fmt::Display) -> syn::Ident {
    syn::Ident::new(&format!("__hostcall_{name}"), Span::call_site())
}
