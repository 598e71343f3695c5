//! The order in which LLVM's back ends see records.

use std::cmp::Ordering;

/// Compares names as LLVM orders records: bytes, but runs of digits compare as numbers, a shorter run first. `olFn2` is
/// before `olFn10`.
///
/// ```
/// let mut names = ["olFn10", "olFn", "olFn2", "olFa"];
/// names.sort_by(|a, b| tablegen::compare_names(a, b));
/// assert_eq!(names, ["olFa", "olFn", "olFn2", "olFn10"]);
/// ```
#[must_use]
pub fn compare_names(a: &str, b: &str) -> Ordering {
    compare_numeric(a.as_bytes(), b.as_bytes())
}

pub(crate) fn compare_numeric(a: &[u8], b: &[u8]) -> Ordering {
    let digits = |text: &[u8], from: usize| text[from..].iter().take_while(|c| c.is_ascii_digit()).count();
    let mut i = 0;
    while i < a.len() && i < b.len() {
        if a[i].is_ascii_digit() && b[i].is_ascii_digit() {
            let (run_a, run_b) = (digits(a, i), digits(b, i));
            let order = run_a.cmp(&run_b).then_with(|| a[i..i + run_a].cmp(&b[i..i + run_b]));
            if order.is_ne() {
                return order;
            }
            i += run_a;
        } else {
            let order = a[i].cmp(&b[i]);
            if order.is_ne() {
                return order;
            }
            i += 1;
        }
    }
    a.len().cmp(&b.len())
}

#[cfg(test)]
mod tests {
    use super::compare_names;

    /// The order in which `!instances` of `llvm-tblgen-22` lists records of these names; the corpus has the same
    /// (`record_order`).
    #[test]
    fn runs_of_digits_are_numbers_and_a_shorter_run_is_first() {
        let ordered = ["A", "A1", "A1B", "A1B2", "A1B10", "A2", "A9", "A10", "A11", "A007", "A010", "AA", "A_1", "A_20", "a", "a0"];
        let mut names = ordered;
        names.reverse();
        names.sort_by(|a, b| compare_names(a, b));
        assert_eq!(names, ordered);
    }
}
