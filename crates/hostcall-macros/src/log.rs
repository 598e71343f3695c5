//! `log!`: a line whose text stays on the host.
//!
//! The compiler itself checks format and arguments: the expansion has them in a `format_args!` that is never run. What
//! the host gets is the same text, with each placeholder's argument as a number.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::parse::{ParseStream, Parser};
use syn::{Error, Expr, Ident, LitStr, Result, Token};

use crate::site;

/// Levels, from 1 on.
const LEVELS: [&str; 5] = ["Error", "Warn", "Info", "Debug", "Trace"];
/// `hostcall_abi::stream::log::MAX_ARGUMENTS`.
const MAX_ARGUMENTS: usize = 8;

/// What the macro was given.
struct Line {
    level: u32,
    format: LitStr,
    /// Arguments, and the names of those that have one.
    arguments: Vec<(Option<Ident>, Expr)>,
}

fn parse(input: ParseStream<'_>) -> Result<Line> {
    let level = input.parse::<Ident>()?;
    let Some(place) = LEVELS.iter().position(|name| level == name) else {
        return Err(Error::new(level.span(), format!("the level is one of {}", LEVELS.join(", "))));
    };
    input.parse::<Token![,]>()?;
    let format = input.parse::<LitStr>()?;
    let mut arguments = Vec::new();
    while !input.is_empty() {
        input.parse::<Token![,]>()?;
        if input.is_empty() {
            break;
        }
        let name = if input.peek(Ident) && input.peek2(Token![=]) && !input.peek2(Token![==]) {
            let name = input.parse::<Ident>()?;
            input.parse::<Token![=]>()?;
            Some(name)
        } else {
            None
        };
        arguments.push((name, input.parse::<Expr>()?));
    }
    Ok(Line { level: place as u32 + 1, format, arguments })
}

pub(crate) fn expand(input: TokenStream) -> Result<TokenStream> {
    let usage =
        |error: Error| Error::new(error.span(), format!("{error}: it is used as `log!(Info, \"step {{step}}: loss {{:.3}}\", loss)`"));
    let Line { level, format, mut arguments } = parse.parse2(input).map_err(usage)?;
    // As the compiler is to check them: names that the text mentions are its business.
    let given = arguments.iter().map(|(name, value)| match name {
        Some(name) => quote!(#name = #value),
        None => quote!(#value),
    });
    let check = quote!(let _ = ::core::format_args!(#format, #(#given),*););
    let text = numbered(&format, &mut arguments)?;
    if arguments.len() > MAX_ARGUMENTS {
        return Err(Error::new(format.span(), format!("a line has at most {MAX_ARGUMENTS} arguments, and this has {}", arguments.len())));
    }
    let units = 1 + 2 * arguments.len();
    let (indices, values) = (0..arguments.len(), arguments.iter().map(|(_, value)| value));
    let site = site::word(level, &text);
    Ok(quote! {
        if ::hostcall::stream::log::armed() {
            if false {
                #check
            }
            let mut __line = ::hostcall::__private::Line::<#units>::new();
            #(__line.put(#indices, &(#values));)*
            __line.send(#site)
        } else {
            ::hostcall::stream::Sent::Off
        }
    })
}

/// The text with each placeholder's argument as a number. Arguments that it takes from around it are added.
fn numbered(format: &LitStr, arguments: &mut Vec<(Option<Ident>, Expr)>) -> Result<String> {
    let wrong = |why: &str| Error::new(format.span(), why);
    let text = format.value();
    let (mut out, mut rest, mut next) = (String::new(), text.as_str(), 0);
    while let Some(at) = rest.find(['{', '}']) {
        let (before, behind) = rest.split_at(at);
        out.push_str(before);
        if behind.starts_with("{{") || behind.starts_with("}}") {
            out.push_str(&behind[..2]);
            rest = &behind[2..];
            continue;
        }
        let end = behind.find('}').filter(|_| behind.starts_with('{')).ok_or_else(|| wrong("a brace is not closed, or not opened"))?;
        let (inside, spec) = match behind[1..end].split_once(':') {
            Some((inside, spec)) => (inside.trim(), spec),
            None => (behind[1..end].trim(), ""),
        };
        if spec.contains('$') || spec.contains('*') {
            return Err(wrong("give width and precision as numbers: `{:8.3}`"));
        }
        let index = if inside.is_empty() {
            next += 1;
            next - 1
        } else if let Ok(index) = inside.parse::<usize>() {
            index
        } else {
            let known = arguments.iter().position(|(name, _)| name.as_ref().is_some_and(|name| name == inside));
            match known {
                Some(known) => known,
                None => {
                    let name: Ident =
                        syn::parse_str(inside).map_err(|_| wrong("a placeholder has a number, a name, or nothing before its `:`"))?;
                    let name = Ident::new(&name.to_string(), Span::call_site().located_at(format.span()).resolved_at(format.span()));
                    arguments.push((Some(name.clone()), syn::parse_quote!(#name)));
                    arguments.len() - 1
                }
            }
        };
        if index >= arguments.len() {
            return Err(wrong(&format!("placeholder {index} has no argument")));
        }
        out.push_str(&format!("{{{index}:{spec}}}"));
        rest = &behind[end + 1..];
    }
    out.push_str(rest);
    Ok(out)
}
