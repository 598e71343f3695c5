//! Places in the source, as words of the module that the host finds and numbers: `hostcall_abi::stream::site`.

use std::collections::HashMap;
use std::fmt::Write as _;

use hostcall_abi::stream::site::{MAX_TEXT, SITE_PREFIX};
use offload_image::Sha256;

/// A place.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    pub(crate) file: String,
    pub(crate) function: String,
    pub(crate) line: u32,
    pub(crate) column: u32,
    /// The kernel whose own code this is; empty: it is a function's.
    pub(crate) kernel: String,
}

/// Those of a module.
pub(crate) struct Sites {
    /// What their names begin with.
    prefix: String,
    known: HashMap<Place, usize>,
    text: String,
}

impl Sites {
    /// Those of this text: their names are no other text's, so that what is linked together has each once.
    pub(crate) fn of(ptx: &str) -> Sites {
        let hash = Sha256::of(ptx.as_bytes()).to_string();
        Sites { prefix: format!("{SITE_PREFIX}probe_{}_", &hash[..12]), known: HashMap::new(), text: String::new() }
    }

    pub(crate) fn count(&self) -> usize {
        self.known.len()
    }

    /// The variable of a place.
    pub(crate) fn name(&mut self, place: Place) -> String {
        let next = self.known.len();
        let number = *self.known.entry(place.clone()).or_insert(next);
        let name = format!("{}{number}", self.prefix);
        if number == next {
            self.define(&name, &place);
        }
        name
    }

    /// Definitions of all of them.
    pub(crate) fn definitions(&self) -> &str {
        &self.text
    }

    fn define(&mut self, name: &str, place: &Place) {
        // The end of a long path says more than its beginning.
        let mut start = place.file.len().saturating_sub(MAX_TEXT);
        start += (start..place.file.len()).find(|at| place.file.is_char_boundary(*at)).map_or(0, |at| at - start);
        let file = &place.file[start..];
        let function = &place.function[..place.function.floor_char_boundary(MAX_TEXT)];
        let mut bytes = Vec::new();
        for word in [0, place.line, place.column, 0] {
            bytes.extend(word.to_le_bytes());
        }
        let kernel = if place.kernel.len() <= MAX_TEXT { place.kernel.as_str() } else { "" };
        for length in [file.len(), function.len(), 0, kernel.len()] {
            bytes.extend((length as u16).to_le_bytes());
        }
        bytes.extend([file, function, kernel].concat().as_bytes());
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        let _ = write!(self.text, ".visible .global .align 4 .b8 {name}[{}] = {{", bytes.len());
        for (at, byte) in bytes.iter().enumerate() {
            let _ = write!(self.text, "{}{byte}", if at == 0 { "" } else { "," });
        }
        self.text.push_str("};\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hostcall_abi::stream::site::SiteText;

    #[test]
    fn a_place_is_defined_once_as_the_host_reads_it() {
        let place = |file: &str, line| Place { file: file.into(), function: "k".into(), line, column: 3, kernel: "kernel".into() };
        let mut sites = Sites::of("x");
        let first = sites.name(place("a.cu", 7));
        assert_eq!(sites.name(place("a.cu", 7)), first);
        assert_ne!(sites.name(place("a.cu", 8)), first);
        assert!(first.starts_with(SITE_PREFIX) && sites.count() == 2);
        assert!(Sites::of("y").name(place("a.cu", 7)) != first, "another module's");
        // What is too long, in whole letters.
        sites.name(Place { file: "é".repeat(3000), function: "ö".repeat(3000), line: 1, column: 1, kernel: "x".repeat(5000) });
        for (line, file, function) in
            [(7, "a.cu".to_owned(), "k".to_owned()), (8, "a.cu".to_owned(), "k".to_owned()), (1, "é".repeat(2048), "ö".repeat(2048))]
        {
            let definition = sites
                .definitions()
                .lines()
                .nth(match line {
                    7 => 0,
                    8 => 1,
                    _ => 2,
                })
                .expect("it is there");
            let (_, values) = definition.split_once("= {").expect("values");
            let bytes: Vec<u8> = values.trim_end_matches("};").split(',').map(|byte| byte.parse().expect("a byte")).collect();
            assert!(definition.contains(&format!("[{}]", bytes.len())), "{definition}");
            let text = SiteText::parse(&bytes).expect("a place");
            let kernel = if line == 1 { "" } else { "kernel" };
            assert_eq!((text.file, text.module, text.line, text.kernel), (file.as_str(), function.as_str(), line, kernel));
        }
    }
}
