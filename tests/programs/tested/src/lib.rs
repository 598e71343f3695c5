//! A library with tests of each way to end. Those that are to fail carry `#[ignore]` so that a plain `cargo hostcall
//! test` of it passes; what tests the harness (`crates/cargo-hostcall/tests/programs.rs`) asks for them with
//! `--include-ignored` and expects each to be named.

/// The words of a text and how often each is there, most frequent first.
pub fn frequencies(text: &str) -> Vec<(&str, usize)> {
    let mut counts = std::collections::HashMap::new();
    for word in text.split_whitespace() {
        *counts.entry(word).or_insert(0) += 1;
    }
    let mut all: Vec<_> = counts.into_iter().collect();
    all.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_counted() {
        println!("seen only when asked for");
        assert_eq!(frequencies("to be or not to be"), [("be", 2), ("to", 2), ("not", 1), ("or", 1)]);
    }

    #[test]
    fn threads_count_too() -> Result<(), std::num::ParseIntError> {
        let threads: Vec<_> = (0..3).map(|i| std::thread::spawn(move || frequencies("a b a").len() + i)).collect();
        let counts: Vec<usize> = threads.into_iter().map(|thread| thread.join().expect("no panic comes out of a thread")).collect();
        assert_eq!(counts, [2, "3".parse()?, 4]);
        Ok(())
    }

    #[test]
    #[should_panic(expected = "the index is 4")]
    fn panics_as_it_should() {
        let n = frequencies("a b c d").len();
        let _ = frequencies("a b c d")[n];
    }

    #[test]
    #[ignore = "fails"]
    fn fails() {
        assert_eq!(frequencies("a").len(), 2, "arithmetic");
    }

    #[test]
    #[ignore = "fails"]
    fn aborts() {
        std::process::abort();
    }

    #[test]
    #[ignore = "fails"]
    #[should_panic(expected = "other words")]
    fn panics_with_other_words() {
        panic!("yes");
    }

    #[test]
    #[ignore = "does not end"]
    fn hangs() {
        loop {
            std::thread::yield_now();
        }
    }
}
