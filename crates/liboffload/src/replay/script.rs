//! A recording's entries as steps: what was said before a call and after it, in the order in which calls are made again.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::{ReplayError, Step};
use crate::recording::Entry;

/// A call: what it was asked for, and what came of it.
#[derive(Debug)]
pub(super) struct Call<'a> {
    pub(super) name: &'a str,
    pub(super) number: u64,
    pub(super) before: Said<'a>,
    /// `None`: it never ended.
    pub(super) after: Option<Said<'a>>,
}

/// What an entry says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Said<'a> {
    /// Which entry it is, from 1.
    pub(super) entry: usize,
    pub(super) text: &'a Map<String, Value>,
    data: &'a [u8],
}

impl<'a> Said<'a> {
    /// An error about this entry.
    pub(super) fn error(&self, what: impl Into<String>) -> ReplayError {
        ReplayError::Entry { entry: self.entry, what: what.into() }
    }

    pub(super) fn get(&self, name: &str) -> Result<&'a Value, ReplayError> {
        self.text.get(name).ok_or_else(|| self.error(format!("it has no `{name}`")))
    }

    pub(super) fn number(&self, name: &str) -> Result<u64, ReplayError> {
        self.get(name)?.as_u64().ok_or_else(|| self.error(format!("`{name}` is no number")))
    }

    pub(super) fn size(&self, name: &str) -> Result<usize, ReplayError> {
        Ok(self.number(name)? as usize)
    }

    /// A value of an enumeration, or flags.
    pub(super) fn word(&self, name: &str) -> Result<u32, ReplayError> {
        u32::try_from(self.number(name)?).map_err(|_| self.error(format!("`{name}` is too large")))
    }

    pub(super) fn text(&self, name: &str) -> Result<&'a str, ReplayError> {
        self.get(name)?.as_str().ok_or_else(|| self.error(format!("`{name}` is no text")))
    }

    pub(super) fn list(&self, name: &str) -> Result<&'a [Value], ReplayError> {
        self.get(name)?.as_array().map(Vec::as_slice).ok_or_else(|| self.error(format!("`{name}` is no list")))
    }

    /// Data that the entry brings, if it does.
    pub(super) fn data(&self, name: &str) -> Result<Option<&'a [u8]>, ReplayError> {
        self.text.get(name).map(|place| self.data_at(place)).transpose()
    }

    /// Data at a place: an object with `at` and `bytes`.
    pub(super) fn data_at(&self, place: &Value) -> Result<&'a [u8], ReplayError> {
        let number = |name| place.get(name).and_then(Value::as_u64).and_then(|number| usize::try_from(number).ok());
        let range = number("at").zip(number("bytes")).and_then(|(at, bytes)| Some(at..at.checked_add(bytes)?));
        range.and_then(|range| self.data.get(range)).ok_or_else(|| self.error("it speaks of data that it does not bring"))
    }

    /// Three numbers.
    pub(super) fn three(&self, name: &str) -> Result<[u32; 3], ReplayError> {
        let numbers: Vec<_> = self.list(name)?.iter().filter_map(|value| u32::try_from(value.as_u64()?).ok()).collect();
        numbers.try_into().map_err(|_| self.error(format!("`{name}` is not three numbers")))
    }
}

/// Reads the steps.
pub(super) fn read(entries: &[Entry]) -> Result<Vec<Step<'_>>, ReplayError> {
    let mut steps = Vec::new();
    // Calls that have begun, by number, in the order in which they did.
    let mut open: HashMap<u64, (&str, Said<'_>)> = HashMap::new();
    for (index, Entry { text, data }) in entries.iter().enumerate() {
        let said = Said { entry: index + 1, text, data };
        if text.contains_key("memory") {
            let content = said.data("content")?.ok_or_else(|| said.error("it has no `content`"))?;
            steps.push(Step::Memory { entry: index + 1, region: said.number("memory")?, content });
            continue;
        }
        let number = said.number("n")?;
        if text.contains_key("call") {
            if open.insert(number, (said.text("call")?, said)).is_some() {
                return Err(said.error(format!("call {number} begins twice")));
            }
            continue;
        }
        let (name, before) = open.remove(&number).ok_or_else(|| said.error(format!("call {number} ends, and has not begun")))?;
        steps.push(Step::Call(Call { name, number, before, after: Some(said) }));
    }
    let mut never: Vec<_> = open.into_iter().map(|(number, (name, before))| Call { name, number, before, after: None }).collect();
    never.sort_by_key(|call| call.number);
    steps.extend(never.into_iter().map(Step::Call));
    Ok(steps)
}
