//! The text of types: as it is hashed, and as people write it.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// The tokens separated by single spaces: the same text from every version of the compiler, whatever
/// the layout of the source.
pub fn normalised(tokens: TokenStream) -> String {
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
pub fn tidy(normalised: &str) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normalised_tokens_do_not_depend_on_layout() {
        let of = |text: &str| normalised(text.parse().expect("tokens"));
        assert_eq!(of("Option<[ u8;4 ]>->(A,B)"), "Option < [ u8 ; 4 ] > - > ( A , B )");
        assert_eq!(of("Option < [u8; 4]\n> -> (A, B)"), of("Option<[u8;4]>->(A,B)"));
    }

    #[test]
    fn tidy_text_is_what_people_write() {
        let of = |text: &str| tidy(&normalised(text.parse().expect("tokens")));
        for text in ["fn(&mut [u8], &str) -> Result<u32, a::B>", "fn(([u8; 4], (u16,)))", "fn() -> ()"] {
            assert_eq!(of(text), text);
        }
    }
}
