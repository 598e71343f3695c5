//! Counts words in a directory tree (or a file): files, bytes, words, and the most frequent words.

use std::collections::HashMap;
use std::path::Path;
use std::{env, fs, io};

#[derive(Default)]
struct Count {
    files: u64,
    bytes: u64,
    words: HashMap<String, u64>,
}

impl Count {
    fn add(&mut self, path: &Path) -> io::Result<()> {
        let metadata = fs::metadata(path)?;
        if metadata.is_dir() {
            for entry in fs::read_dir(path)? {
                self.add(&entry?.path())?;
            }
            return Ok(());
        }
        let bytes = fs::read(path)?;
        assert_eq!(bytes.len() as u64, metadata.len());
        self.files += 1;
        self.bytes += metadata.len();
        let text = String::from_utf8_lossy(&bytes);
        for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
            *self.words.entry(word.to_lowercase()).or_default() += 1;
        }
        Ok(())
    }
}

fn main() -> io::Result<()> {
    let path = env::args().nth(1).unwrap_or_else(|| ".".to_owned());
    let mut count = Count::default();
    count.add(Path::new(&path))?;
    let words: u64 = count.words.values().sum();
    println!("{} files, {} bytes, {words} words, {} different", count.files, count.bytes, count.words.len());
    let mut words: Vec<_> = count.words.into_iter().collect();
    words.sort_by(|(a, m), (b, n)| n.cmp(m).then_with(|| a.cmp(b)));
    for (word, n) in words.iter().take(5) {
        println!("{n:6} {word}");
    }
    Ok(())
}
