//! Filters as people write them: `Access: groups=0..8, lanes=0xff, rate=1/64`.

use std::fmt;
use std::ops::Bound;
use std::str::FromStr;

use hostcall_abi::stream::Gate;
use hostcall_abi::stream::bounds::MOST;

use crate::filter::Filter;

/// Which messages of the stream of a name are wanted, as a line of text says it.
///
/// ```text
/// NAME: all | none | PART, PART…
/// groups=0..8      workgroups with these numbers; also 3, 0..=7, 8.., ..8
/// group.x=0..8     workgroups with these x in their grid; also group.y, group.z
/// waves=0..4       waves with these numbers in their workgroup
/// lanes=0xff       lanes of each wave, one bit each; also 0b1111, 3, 0..8
/// lane.x=0..8      lanes with these x in their workgroup; also lane.y, lane.z
/// rate=1/64        of so many messages one: a power of two up to 2048
/// ```
///
/// ```
/// use hostcall_stream::{Filter, NamedFilter};
///
/// let few: NamedFilter = "Access: groups=0..8, lanes=0xff, rate=1/64".parse()?;
/// assert_eq!((few.stream.as_str(), few.filter), ("Access", Filter::all().groups(0..8).lanes(0xff).one_in(64)));
/// # Ok::<_, hostcall_stream::ParseFilterError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedFilter {
    /// The stream's name.
    pub stream: String,
    /// Which of its messages are wanted.
    pub filter: Filter,
    /// As it was written.
    text: String,
}

impl fmt::Display for NamedFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The parts of a filter, with what a person may write for each: the messages of errors name them from here.
const PARTS: [(&str, &str); 10] = [
    ("groups", "0..8"),
    ("group.x", "0..8"),
    ("group.y", "0..8"),
    ("group.z", "0..8"),
    ("waves", "0..4"),
    ("lanes", "0xff"),
    ("lane.x", "0..8"),
    ("lane.y", "0..8"),
    ("lane.z", "0..8"),
    ("rate", "1/64"),
];

/// All parts, with examples.
fn known() -> String {
    PARTS.map(|(key, example)| format!("{key}={example}")).join(", ")
}

/// Why a text is no filter. Each names the part that is wrong.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseFilterError {
    /// There is no `:` behind a name.
    #[error(
        "`{text}` has no colon behind the name of a stream: write `NAME: groups=0..8, lanes=0xff, rate=1/64`, `NAME: all` or `NAME: none`"
    )]
    NoColon {
        /// The text.
        text: String,
    },
    /// Before the `:` is no name.
    #[error("`{name}` is no name of a stream: write the name of its type before the colon")]
    Name {
        /// What stands there.
        name: String,
    },
    /// Nothing stands between two commas, or behind the name.
    #[error("nothing stands in place {place} behind `{stream}:`: write one of {}, or alone `all` or `none`", known())]
    Nothing {
        /// The stream.
        stream: String,
        /// Which of the parts, from 1 on.
        place: usize,
    },
    /// A part that is none.
    #[error("`{part}` is no part of a filter: there are {}, and alone `all` or `none`", known())]
    Unknown {
        /// The part.
        part: String,
    },
    /// A part that was said before, or that says all alone.
    #[error("`{part}` comes beside another part that says as much: write each part once, and `all` or `none` alone")]
    Twice {
        /// The second of them.
        part: String,
    },
    /// A range that is none.
    #[error("`{part}`: `{number}` is no number up to {most}; write a range like 0..8, 0..=7, 8.. or a number")]
    Number {
        /// The part.
        part: String,
        /// What is no number.
        number: String,
        /// The greatest.
        most: u32,
    },
    /// A mask of lanes that is none.
    #[error("`{part}`: `{mask}` is no mask of up to 64 lanes: write one bit for each, like 0xff")]
    Mask {
        /// The part.
        part: String,
        /// What is no mask.
        mask: String,
    },
    /// A part that nothing passes.
    #[error("`{part}` lets nothing through: write `{stream}: none` if that is meant")]
    Empty {
        /// The stream.
        stream: String,
        /// The part.
        part: String,
    },
    /// A rate that is none.
    #[error("`{part}` is no rate: write 1/N, where N is a power of two up to {}", 1u32 << Gate::MAX_RATE_LOG2)]
    Rate {
        /// The part.
        part: String,
    },
}

hostcall_error::readable!(ParseFilterError);

impl FromStr for NamedFilter {
    type Err = ParseFilterError;

    fn from_str(text: &str) -> Result<Self, ParseFilterError> {
        let (name, parts) = text.split_once(':').ok_or_else(|| ParseFilterError::NoColon { text: text.into() })?;
        let stream = name.trim();
        let is_name = !stream.is_empty() && stream.chars().all(|c| c.is_alphanumeric() || c == '_');
        if !is_name {
            return Err(ParseFilterError::Name { name: stream.into() });
        }
        let filter = match parts.trim() {
            "all" => Filter::all(),
            "none" => Filter::none(),
            parts => self::parts(stream, parts)?,
        };
        Ok(Self { stream: stream.into(), filter, text: text.into() })
    }
}

/// The parts behind a name.
fn parts(stream: &str, parts: &str) -> Result<Filter, ParseFilterError> {
    let (mut filter, mut said) = (Filter::all(), [false; PARTS.len()]);
    let (mut group, mut lane) = ([ALL; 3], [ALL; 3]);
    for (place, part) in (1..).zip(parts.split(',').map(str::trim)) {
        if part.is_empty() {
            return Err(ParseFilterError::Nothing { stream: stream.into(), place });
        }
        if matches!(part, "all" | "none") {
            return Err(ParseFilterError::Twice { part: part.into() });
        }
        let unknown = || ParseFilterError::Unknown { part: part.into() };
        let (key, value) = part.split_once('=').map(|(key, value)| (key.trim(), value.trim())).ok_or_else(unknown)?;
        let index = PARTS.iter().position(|(known, _)| *known == key).ok_or_else(unknown)?;
        if std::mem::replace(&mut said[index], true) {
            return Err(ParseFilterError::Twice { part: part.into() });
        }
        let empty = || ParseFilterError::Empty { stream: stream.into(), part: part.into() };
        let among = |most| {
            let (first, last) = range(part, value, most)?;
            let last = last.unwrap_or(u32::MAX);
            if first <= last { Ok((first, last)) } else { Err(empty()) }
        };
        match key {
            "groups" => filter = filter.groups(within(among(u32::MAX)?)),
            "group.x" => group[0] = among(u32::MAX)?,
            "group.y" => group[1] = among(MOST)?,
            "group.z" => group[2] = among(MOST)?,
            // An end may be behind the last wave, and nothing else.
            "waves" => match among(32)? {
                (32, _) => return Err(empty()),
                waves => filter = filter.waves(within(waves)),
            },
            "lanes" => filter = filter.lanes(lanes(part, value)?.ok_or_else(empty)?),
            "lane.x" => lane[0] = among(MOST)?,
            "lane.y" => lane[1] = among(MOST)?,
            "lane.z" => lane[2] = among(MOST)?,
            _ => filter = filter.one_in(rate(value).ok_or_else(|| ParseFilterError::Rate { part: part.into() })?),
        }
    }
    let ([x, y, z], [w, h, d]) = (group.map(within), lane.map(within));
    Ok(filter.group_at(x, y, z).lane_at(w, h, d))
}

/// First and last of all numbers.
const ALL: (u32, u32) = (0, u32::MAX);

/// A range from first and last, without an end if the last is the greatest.
fn within((first, last): (u32, u32)) -> (Bound<u32>, Bound<u32>) {
    (Bound::Included(first), if last == u32::MAX { Bound::Unbounded } else { Bound::Included(last) })
}

/// First and last of a range; without a last one it has no end. An empty range has its first behind its last.
fn range(part: &str, text: &str, most: u32) -> Result<(u32, Option<u32>), ParseFilterError> {
    let number = |text: &str| {
        let text = text.trim();
        let known = text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse::<u32>().ok()).flatten();
        known.filter(|number| *number <= most).ok_or_else(|| ParseFilterError::Number { part: part.into(), number: text.into(), most })
    };
    let Some((first, end)) = text.split_once("..") else {
        let only = number(text)?;
        return Ok((only, Some(only)));
    };
    let first = if first.trim().is_empty() { 0 } else { number(first)? };
    match end.trim().strip_prefix('=') {
        Some(last) => Ok((first, Some(number(last)?))),
        None if end.trim().is_empty() => Ok((first, None)),
        // Before 0 is nothing: 1..=0 says so.
        None => Ok(number(end)?.checked_sub(1).map_or((1, Some(0)), |last| (first, Some(last)))),
    }
}

/// The mask of lanes, one bit each; `None`: there are none in it.
fn lanes(part: &str, text: &str) -> Result<Option<u64>, ParseFilterError> {
    let mask = |digits: &str, radix| {
        let digits = digits.replace('_', "");
        let known = digits.chars().all(|c| c.is_digit(radix)).then(|| u64::from_str_radix(&digits, radix).ok()).flatten();
        known.ok_or_else(|| ParseFilterError::Mask { part: part.into(), mask: text.into() })
    };
    let mask = if let Some(digits) = text.strip_prefix("0x") {
        mask(digits, 16)?
    } else if let Some(digits) = text.strip_prefix("0b") {
        mask(digits, 2)?
    } else {
        // An end may be behind the last lane.
        let (first, last) = range(part, text, 64)?;
        let last = last.unwrap_or(63);
        if first > last {
            return Ok(None);
        }
        if last > 63 {
            return Err(ParseFilterError::Number { part: part.into(), number: last.to_string(), most: 63 });
        }
        (u64::MAX >> (63 - (last - first))) << first
    };
    Ok((mask != 0).then_some(mask))
}

/// Of how many messages one.
fn rate(text: &str) -> Option<u32> {
    let (one, of) = text.split_once('/')?;
    let of = of.trim();
    let of = of.bytes().all(|byte| byte.is_ascii_digit()).then(|| of.parse::<u32>().ok()).flatten()?;
    (one.trim() == "1" && of.is_power_of_two() && of.ilog2() <= Gate::MAX_RATE_LOG2).then_some(of)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn filter(text: &str) -> Result<Filter, ParseFilterError> {
        text.parse::<NamedFilter>().map(|named| {
            assert_eq!((named.stream.as_str(), named.to_string()), ("Access", text.to_owned()));
            named.filter
        })
    }

    #[test]
    fn what_is_written_is_what_the_functions_say() {
        let all = Filter::all();
        for (text, expected) in [
            ("Access: all", all),
            (" Access:none", Filter::none()),
            ("Access: groups=0..8, lanes=0xff, rate=1/64", all.groups(0..8).lanes(0xff).one_in(64)),
            ("Access:rate = 1 / 2048 ,groups = 3", all.groups(3..=3).one_in(2048)),
            ("Access: groups=..8", all.groups(0..8)),
            ("Access: groups=..=8", all.groups(0..=8)),
            ("Access: groups=8..", all.groups(8..)),
            ("Access: groups=..", all),
            ("Access: groups=2 .. 5", all.groups(2..5)),
            ("Access: lanes=0b1010", all.lanes(10)),
            ("Access: lanes=0xffff_ffff_ffff_ffff", all),
            ("Access: lanes=5", all.lanes(1 << 5)),
            ("Access: lanes=63", all.lanes(1 << 63)),
            ("Access: lanes=60..64", all.lanes(0xf << 60)),
            ("Access: lanes=..", all),
            ("Access: lanes=4..", all.lanes(u64::MAX << 4)),
            ("Access: rate=1/1", all),
            ("Access: group.x=1..4", all.group_at(1..4, .., ..)),
            ("Access: group.z=7, lane.y=..2, group.y=3..", all.group_at(.., 3.., 7..=7).lane_at(.., ..2, ..)),
            ("Access: group.x=..,lane.z=..", all),
            ("Access: group.x=4294967295", all.group_at(u32::MAX.., .., ..)),
            ("Access: lane.x=0..=31, lane.z=1, waves=1..3, rate=1/2", all.lane_at(..32, .., 1..2).waves(1..3).one_in(2)),
            ("Access: waves=31", all.waves(31..)),
            ("Access: waves=0..32", all),
        ] {
            assert_eq!(filter(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_named_with_what_helps() {
        for (text, says) in [
            ("", "`` has no colon"),
            ("Access groups=0..8", "has no colon behind the name of a stream: write `NAME: groups=0..8"),
            (": none", "`` is no name of a stream"),
            ("a b: none", "`a b` is no name"),
            ("Access:", "nothing stands in place 1 behind `Access:`"),
            ("Access: rate=1/2,,groups=1", "nothing stands in place 2"),
            ("Access: rate=1/2,", "nothing stands in place 2"),
            ("Access: group=1", "`group=1` is no part of a filter: there are groups="),
            ("Access: some", "`some` is no part"),
            ("Access: none, rate=1/2", "`none` comes beside another part"),
            ("Access: rate=1/2, all", "`all` comes beside"),
            ("Access: rate=1/2, rate=1/4", "`rate=1/4` comes beside"),
            ("Access: groups=a..8", "`groups=a..8`: `a` is no number up to 4294967295"),
            ("Access: groups=-1", "`-1` is no number"),
            ("Access: group.w=1", "`group.w=1` is no part of a filter: there are groups=0..8, group.x=0..8, group.y="),
            ("Access: group=1..2", "and alone `all` or `none`"),
            ("Access: lane.x=1, lane.x=2", "`lane.x=2` comes beside"),
            ("Access: group.y=65536", "`65536` is no number up to 65535"),
            ("Access: lane.z=4..4", "`lane.z=4..4` lets nothing through: write `Access: none`"),
            ("Access: waves=33", "`33` is no number up to 32"),
            ("Access: waves=32", "`waves=32` lets nothing through"),
            ("Access: groups=", "`groups=`: `` is no number"),
            ("Access: groups=0..=", "`` is no number"),
            ("Access: groups=4294967296", "`4294967296` is no number up to 4294967295"),
            ("Access: groups=1...3", "`.3` is no number"),
            ("Access: groups=8..3", "`groups=8..3` lets nothing through: write `Access: none`"),
            ("Access: groups=5..5", "lets nothing through"),
            ("Access: groups=..0", "lets nothing through"),
            ("Access: lanes=0x0", "`lanes=0x0` lets nothing through"),
            ("Access: lanes=4..4", "lets nothing through"),
            ("Access: lanes=0x1ffffffffffffffff", "is no mask of up to 64 lanes"),
            ("Access: lanes=0x", "is no mask"),
            ("Access: lanes=0x+1", "is no mask"),
            ("Access: lanes=0b2", "is no mask"),
            ("Access: lanes=64", "`64` is no number up to 63"),
            ("Access: lanes=0..65", "`65` is no number up to 64"),
            ("Access: rate=64", "`rate=64` is no rate: write 1/N, where N is a power of two up to 2048"),
            ("Access: rate=1/3", "is no rate"),
            ("Access: rate=1/0", "is no rate"),
            ("Access: rate=1/4096", "is no rate"),
            ("Access: rate=2/4", "is no rate"),
        ] {
            let error = filter(text).expect_err(text).to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in any::<String>()) {
            _ = text.parse::<NamedFilter>();
        }

        #[test]
        fn no_text_that_is_nearly_a_filter_panics(text in "[A-Za-z_]{0,3}:?( ?(all|none|groups|lanes|rate|é)?=?[0-9a-fx./=,_-]{0,24},?){0,4}") {
            if let Err(error) = text.parse::<NamedFilter>() {
                prop_assert!(error.to_string().contains('`'));
            }
        }

        #[test]
        fn every_filter_that_can_be_written_is_read_as_it_was_meant(
            first in any::<u32>(), more in 0..u32::MAX, mask in 1..=u64::MAX, rate in 0..=11u32,
        ) {
            let last = first.saturating_add(more);
            let text = format!("Access: groups={first}..={last}, lanes={mask:#x}, rate=1/{}", 1u32 << rate);
            prop_assert_eq!(filter(&text), Ok(Filter::all().groups(first..=last).lanes(mask).one_in(1 << rate)));
        }
    }
}
