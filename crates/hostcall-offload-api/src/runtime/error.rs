//! Errors, and how they reach a C caller.
//!
//! A caller gets a pointer that it never gives back, and may keep for as long as it likes. So every structure that was
//! handed out stays, and equal errors share one: a program that fails in the same way again and again does not grow.
//! One that finds ever new ways (say, sizes that appear in the text) is stopped at [`LIMIT`]: from then on new errors
//! have their code and no more.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashMap;
use std::ffi::{CStr, CString};
use std::ptr;
use std::sync::{Mutex, PoisonError};

use super::location::Location;
use crate::sys::{ol_errc_t, ol_error_struct_t, ol_result_t};

/// Why a call failed.
#[derive(Clone)]
pub struct Error {
    /// The kind of failure.
    pub code: ol_errc_t,
    details: Details,
}

hostcall_error::readable!(Error);

/// What happened.
#[derive(Clone, Debug)]
enum Details {
    Text(Cow<'static, str>),
    /// A text with `{}` for each number. It is made when somebody wants it: a thread that got the same error lately
    /// gets the same text.
    Numbers(&'static str, Numbers),
}

/// As many as a text has.
type Numbers = [u64; 3];

impl Error {
    /// An error.
    #[inline]
    pub fn new(code: ol_errc_t, details: impl Into<Cow<'static, str>>) -> Error {
        Error { code, details: Details::Text(details.into()) }
    }

    /// An error whose text is `template` with a number in the place of each `{}`: at most three.
    #[inline]
    pub fn with_numbers<const N: usize>(code: ol_errc_t, template: &'static str, numbers: [usize; N]) -> Error {
        const { assert!(N <= 3) };
        let mut all = [0; 3];
        for (place, number) in all.iter_mut().zip(numbers) {
            *place = number as u64;
        }
        Error { code, details: Details::Numbers(template, all) }
    }

    /// What happened, as text for a person.
    pub fn details(&self) -> Cow<'_, str> {
        match &self.details {
            Details::Text(text) => Cow::Borrowed(text),
            Details::Numbers(template, numbers) => Cow::Owned(filled(template, numbers)),
        }
    }
}

/// A text with its numbers.
fn filled(template: &str, numbers: &Numbers) -> String {
    let mut parts = template.split("{}");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for (part, number) in parts.zip(numbers) {
        text.push_str(&number.to_string());
        text.push_str(part);
    }
    text
}

impl PartialEq for Error {
    fn eq(&self, other: &Error) -> bool {
        self.code == other.code && self.details() == other.details()
    }
}

impl Eq for Error {}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.code, self.details())
    }
}

impl std::error::Error for Error {}

/// How many different errors are kept.
const LIMIT: usize = 1 << 16;

/// An error that was handed out.
struct Published {
    error: ol_error_struct_t,
    text: &'static CStr,
}

// SAFETY: the text that it points to is never written again, nor freed.
unsafe impl Send for Published {}
// SAFETY: as above; nothing in it changes.
unsafe impl Sync for Published {}

type Key = (ol_errc_t, Cow<'static, CStr>);

static PUBLISHED: Mutex<Option<HashMap<Key, &'static Published>>> = Mutex::new(None);

/// An error that a thread got lately, and what it was made of.
#[derive(Clone, Copy)]
struct Recent {
    published: &'static Published,
    /// Where the text is, if it stays there: then another text at this place, of this length, is the same, if it has
    /// the same numbers.
    constant: Option<(*const [u8], Numbers)>,
}

/// Errors that a thread got lately, by their hash: what fails once mostly fails again, and then neither locks nor
/// copies.
const RECENT: usize = 16;

thread_local! {
    static LATELY: [Cell<Option<Recent>>; RECENT] = const { [const { Cell::new(None) }; RECENT] };
}

const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// A place among the recent ones for a code and a text.
fn place_of_text(code: ol_errc_t, text: &[u8]) -> usize {
    let mut hash = u64::from(code.0) ^ text.len() as u64;
    let (words, rest) = text.as_chunks::<8>();
    for word in words {
        hash = (hash.rotate_left(5) ^ u64::from_ne_bytes(*word)).wrapping_mul(SPREAD);
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    hash = (hash.rotate_left(5) ^ u64::from_ne_bytes(last)).wrapping_mul(SPREAD);
    (hash >> 60) as usize % RECENT
}

/// A place among the recent ones for a text that stays where it is.
#[inline]
fn place_of_constant(text: &'static [u8], numbers: &Numbers) -> usize {
    let mixed = numbers.iter().fold(text.as_ptr().addr() as u64, |mixed, number| mixed.rotate_left(7) ^ number);
    (mixed.wrapping_mul(SPREAD) >> 60) as usize % RECENT
}

/// The recent error at a place.
#[inline]
fn lately(place: usize) -> Option<Recent> {
    // (A thread that is ending may have no recent ones any more.)
    LATELY.try_with(|lately| lately[place].get()).ok().flatten()
}

/// The structure that a caller gets for an error.
pub(super) fn publish(error: &Error, location: Option<&Location>) -> ol_result_t {
    // The structure says that something failed, so it must not say `SUCCESS`.
    let code = if error.code == ol_errc_t::OL_ERRC_SUCCESS { ol_errc_t::OL_ERRC_UNKNOWN } else { error.code };
    match (location, &error.details) {
        (None, Details::Numbers(template, numbers)) => publish_constant(code, template, numbers, || filled(template, numbers).into()),
        (None, Details::Text(Cow::Borrowed(details))) => publish_constant(code, details, &[0; 3], || (*details).into()),
        (None, Details::Text(Cow::Owned(details))) => publish_text(code, details),
        (Some(location), _) => publish_text(code, &format!("{location}: {}", error.details())),
    }
}

/// The structure for a text that stays where it is, and so is known by its place, and for the numbers in it.
#[inline]
fn publish_constant(code: ol_errc_t, known: &'static str, numbers: &Numbers, text: impl FnOnce() -> Cow<'static, str>) -> ol_result_t {
    let (constant, place) = (ptr::from_ref(known.as_bytes()), place_of_constant(known.as_bytes(), numbers));
    if let Some(recent) = lately(place)
        && recent.constant.is_some_and(|(known, of)| ptr::eq(known, constant) && of == *numbers)
        && recent.published.error.Code == code
    {
        return &raw const recent.published.error;
    }
    publish_new(code, &text(), place, Some((constant, *numbers)))
}

/// The structure for a text.
fn publish_text(code: ol_errc_t, text: &str) -> ol_result_t {
    let place = place_of_text(code, text.as_bytes());
    if let Some(Recent { published, .. }) = lately(place)
        && published.error.Code == code
        && published.text.to_bytes() == text.as_bytes()
    {
        return &raw const published.error;
    }
    publish_new(code, text, place, None)
}

/// The structure of an error that this thread did not get lately.
#[cold]
fn publish_new(code: ol_errc_t, text: &str, place: usize, constant: Option<(*const [u8], Numbers)>) -> ol_result_t {
    let published = shared(code, text);
    let _ = LATELY.try_with(|lately| lately[place].set(Some(Recent { published, constant })));
    &raw const published.error
}

/// The structure of an error that all threads share.
fn shared(code: ol_errc_t, text: &str) -> &'static Published {
    let mut text = text.to_owned();
    text.retain(|c| c != '\0');
    let text = CString::new(text).unwrap_or_default();
    let mut published = PUBLISHED.lock().unwrap_or_else(PoisonError::into_inner);
    let published = published.get_or_insert_default();
    let mut key = (code, Cow::Owned(text));
    if published.len() >= LIMIT && !published.contains_key(&key) {
        // There are no more of these than codes.
        key.1 = Cow::Borrowed(c"no details: too many different errors have occurred in this process");
    }
    if let Some(known) = published.get(&key) {
        return known;
    }
    let details: &'static CStr = Box::leak(key.1.into_owned().into_boxed_c_str());
    let error = ol_error_struct_t { Code: code, Details: details.as_ptr() };
    let error: &'static Published = Box::leak(Box::new(Published { error, text: details }));
    published.insert((code, Cow::Borrowed(details)), error);
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_errors_share_one_structure_and_others_do_not() {
        let error = Error::new(ol_errc_t::OL_ERRC_INVALID_SIZE, "`Size == 0`");
        let first = publish(&error, None);
        assert_eq!(first, publish(&error.clone(), None));
        assert_ne!(first, publish(&Error { code: ol_errc_t::OL_ERRC_INVALID_VALUE, ..error.clone() }, None));
        // SAFETY: published errors stay for as long as the process runs.
        let (code, details) = unsafe { ((*first).Code, CStr::from_ptr((*first).Details)) };
        assert_eq!((code, details), (ol_errc_t::OL_ERRC_INVALID_SIZE, c"`Size == 0`"));
    }

    #[test]
    fn parts_of_one_constant_text_are_told_apart_by_length_and_code() {
        const TEXT: &str = "one and two";
        let code = ol_errc_t::OL_ERRC_INVALID_SIZE;
        for _ in 0..2 {
            let [whole, part, owned] = [Error::new(code, TEXT), Error::new(code, &TEXT[..3]), Error::new(code, TEXT.to_owned())]
                .map(|error| publish(&error, None));
            assert_eq!(whole, owned, "where a text came from is no part of an error");
            // SAFETY: published errors stay for as long as the process runs.
            let texts = [whole, part].map(|error| unsafe { CStr::from_ptr((*error).Details) });
            assert_eq!(texts, [c"one and two", c"one"]);
            assert_ne!(whole, publish(&Error::new(ol_errc_t::OL_ERRC_INVALID_VALUE, TEXT), None));
        }
    }

    #[test]
    fn an_error_is_known_by_its_numbers_before_its_text_is_made() {
        let code = ol_errc_t::OL_ERRC_INVALID_SIZE;
        let error = |n: usize| Error::with_numbers(code, "{} bytes are {} more than there are", [n, 2]);
        assert_eq!(error(7).details(), "7 bytes are 2 more than there are");
        assert_eq!(error(7), Error::new(code, "7 bytes are 2 more than there are"));
        let results: Vec<_> = (0..100).map(|n| publish(&error(n % 50), None)).collect();
        assert_eq!(results[..50], results[50..], "as often as they are asked for, and whatever came between");
        for (n, result) in results[..50].iter().enumerate() {
            // SAFETY: published errors stay for as long as the process runs.
            let text = unsafe { CStr::from_ptr((**result).Details) };
            assert_eq!(text.to_str().unwrap(), format!("{n} bytes are 2 more than there are"));
            assert_eq!(
                *result,
                publish(&Error::new(code, format!("{n} bytes are 2 more than there are")), None),
                "the text is what counts"
            );
        }
        assert_ne!(
            results[1],
            publish(&Error::with_numbers(ol_errc_t::OL_ERRC_INVALID_VALUE, "{} bytes are {} more than there are", [1, 2]), None)
        );
    }

    #[test]
    fn threads_share_the_structures_of_equal_errors_however_many_came_between() {
        let address = |n: usize| publish(&Error::new(ol_errc_t::OL_ERRC_INVALID_SIZE, format!("shared, {n} bytes")), None).addr();
        let first: Vec<_> = (0..100).map(address).collect();
        let again: Vec<_> = (0..100).map(address).collect();
        let elsewhere = std::thread::spawn(move || (0..100).map(address).collect::<Vec<_>>()).join().unwrap();
        assert_eq!((&first, &first), (&again, &elsewhere));
        let mut different = first;
        different.sort_unstable();
        different.dedup();
        assert_eq!(different.len(), 100);
    }

    #[test]
    fn an_error_never_says_success_and_its_text_never_ends_early() {
        let published = publish(&Error::new(ol_errc_t::OL_ERRC_SUCCESS, "one\0two"), None);
        // SAFETY: published errors stay for as long as the process runs.
        let (code, details) = unsafe { ((*published).Code, CStr::from_ptr((*published).Details)) };
        assert_eq!((code, details), (ol_errc_t::OL_ERRC_UNKNOWN, c"onetwo"));
    }
}
