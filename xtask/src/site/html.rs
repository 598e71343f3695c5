//! The parts of an HTML page that links are made of: tags with their attributes. Text is passed over, as are comments
//! and what is inside of scripts and styles.

/// A tag that begins an element.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Tag {
    pub(super) name: String,
    attributes: Vec<(String, String)>,
}

impl Tag {
    /// An attribute's value, without HTML's escapes.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// The tags of a page that begin elements, in their order.
pub(super) fn tags(page: &str) -> Vec<Tag> {
    let mut found = Vec::new();
    let mut rest = page;
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        if let Some(comment) = rest.strip_prefix("!--") {
            rest = comment.split_once("-->").map_or("", |(_, after)| after);
        } else if rest.starts_with(|c: char| c.is_ascii_alphabetic()) {
            let (tag, after) = tag(rest);
            rest = after;
            if let "script" | "style" = tag.name.as_str() {
                let end = format!("</{}", tag.name);
                rest = rest.find(&end).map_or("", |at| &rest[at..]);
            }
            found.push(tag);
        }
    }
    found
}

/// The tag that `text` begins with, behind its `<`, and what follows it.
fn tag(text: &str) -> (Tag, &str) {
    let is_end = |c: char| c.is_ascii_whitespace() || matches!(c, '/' | '>' | '=');
    let (name, mut rest) = text.split_at(text.find(is_end).unwrap_or(text.len()));
    let mut attributes = Vec::new();
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '/');
        if rest.is_empty() || rest.starts_with('>') {
            break;
        }
        // A `=` without a name before it is a name.
        let end = rest.char_indices().skip(1).find(|(_, c)| is_end(*c)).map_or(rest.len(), |(at, _)| at);
        let (name, after) = rest.split_at(end);
        rest = after.trim_start();
        let mut value = "";
        if let Some(after) = rest.strip_prefix('=') {
            let after = after.trim_start();
            (value, rest) = match after.chars().next() {
                Some(quote @ ('"' | '\'')) => after[1..].split_once(quote).unwrap_or((&after[1..], "")),
                _ => after.split_at(after.find(|c: char| c.is_ascii_whitespace() || c == '>').unwrap_or(after.len())),
            };
        }
        attributes.push((name.to_ascii_lowercase(), unescaped(value)));
    }
    (Tag { name: name.to_ascii_lowercase(), attributes }, rest.strip_prefix('>').unwrap_or(rest))
}

/// The text with its characters in place of HTML's names and numbers of them.
fn unescaped(text: &str) -> String {
    let mut parts = text.split('&');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let known = part.split_once(';').and_then(|(name, rest)| Some((character(name)?, rest)));
        match known {
            Some((character, rest)) => {
                plain.push(character);
                plain += rest;
            }
            None => {
                plain.push('&');
                plain += part;
            }
        }
    }
    plain
}

fn character(name: &str) -> Option<char> {
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        "nbsp" => Some('\u{a0}'),
        _ => {
            let number = name.strip_prefix('#')?;
            let number = match number.strip_prefix(['x', 'X']) {
                Some(digits) => u32::from_str_radix(digits, 16),
                None => number.parse(),
            };
            char::from_u32(number.ok()?)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_found_with_attributes_of_every_form() {
        let page = "<!DOCTYPE html><A HREF='a.html' id=x hidden>text</A> 1 < 2 <img src=\"b.png\"/><br/><a title=\"<p>\" href=c>";
        let found = tags(page);
        assert_eq!(found.iter().map(|tag| tag.name.as_str()).collect::<Vec<_>>(), ["a", "img", "br", "a"]);
        let first = [found[0].get("href"), found[0].get("id"), found[0].get("hidden"), found[0].get("class")];
        assert_eq!(first, [Some("a.html"), Some("x"), Some(""), None]);
        assert_eq!((found[1].get("src"), found[3].get("title"), found[3].get("href")), (Some("b.png"), Some("<p>"), Some("c")));
    }

    #[test]
    fn what_only_looks_like_a_tag_is_none() {
        let page = "<!-- <a href=x> --><script>\"<a href=y>\"</script><style>/* <b> */</style><i></i>";
        assert_eq!(tags(page).iter().map(|tag| tag.name.as_str()).collect::<Vec<_>>(), ["script", "style", "i"]);
        assert!(tags("<a href=\"unclosed").len() == 1 && tags("< ").is_empty() && tags("<!-- ").is_empty());
    }

    #[test]
    fn escapes_are_characters_and_other_ampersands_stay() {
        assert_eq!(unescaped("a&amp;b&#39;&#x3c;&quot;&lt;&nope;&#xfffffff;&"), "a&b'<\"<&nope;&#xfffffff;&");
    }
}
