//! Ranges of addresses: public, private, loopback and others. They keep a granted name from leading to what lies
//! behind the host.
//!
//! Whoever runs the name servers of a granted name decides what it resolves to: `127.0.0.1`, the address of a router,
//! the metadata service of a cloud. So a grant of a name covers the addresses of the public network, and others only
//! as far as it says.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A range of addresses that a granted name covers only if the grant says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Range {
    /// This machine: `127.0.0.0/8`, `::1`.
    Loopback,
    /// The network at the next cable, and where clouds keep their metadata services: `169.254.0.0/16`, `fe80::/10`.
    LinkLocal,
    /// Networks of one's own (RFC 1918, RFC 4193, RFC 6598), and ranges that the public network does not route.
    Private,
    /// All addresses of this machine: `0.0.0.0/8`, `::`.
    Unspecified,
    /// Many machines at once: multicast, and `255.255.255.255`.
    Multicast,
}

/// All ranges, with the words for them in grants.
const WORDS: [(Range, &str); 5] = [
    (Range::Loopback, "loopback"),
    (Range::LinkLocal, "link-local"),
    (Range::Private, "private"),
    (Range::Unspecified, "unspecified"),
    (Range::Multicast, "multicast"),
];

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(WORDS.iter().find(|(range, _)| range == self).map_or("", |(_, word)| word))
    }
}

/// The address without the forms in which version 6 writes those of version 4 (`::ffff:a.b.c.d`).
pub(super) fn plain(address: IpAddr) -> IpAddr {
    address.to_canonical()
}

impl Range {
    /// The range of an address; `None` for those of the public network.
    pub(super) fn of(address: IpAddr) -> Option<Range> {
        match plain(address) {
            IpAddr::V4(v4) => of_v4(v4),
            IpAddr::V6(v6) => of_v6(v6),
        }
    }
}

fn of_v4(address: Ipv4Addr) -> Option<Range> {
    let [a, b, c, _] = address.octets();
    match (a, b, c) {
        (0, ..) => Some(Range::Unspecified),
        (127, ..) => Some(Range::Loopback),
        (169, 254, _) => Some(Range::LinkLocal),
        (224..=239, ..) => Some(Range::Multicast),
        _ if address.is_broadcast() => Some(Range::Multicast),
        // RFC 1918.
        (10, ..) | (172, 16..=31, _) | (192, 168, _) => Some(Range::Private),
        // RFC 6598 (shared behind a carrier), RFC 6890 (protocols), RFC 2544 (benchmarks), RFC 1112 (reserved).
        (100, 64..=127, _) | (192, 0, 0) | (198, 18..=19, _) | (240.., ..) => Some(Range::Private),
        _ => None,
    }
}

fn of_v6(address: Ipv6Addr) -> Option<Range> {
    let embedded = |high: u16, low: u16| of_v4(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)));
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0] => Some(Range::Unspecified),
        [0, 0, 0, 0, 0, 0, 0, 1] => Some(Range::Loopback),
        // Addresses of version 4 in others: compatible (RFC 4291), translated (RFC 2765, RFC 6052), tunnelled (RFC
        // 3056).
        [0, 0, 0, 0, 0, 0, high, low] | [0, 0, 0, 0, 0xffff, 0, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => embedded(high, low),
        [0x2002, high, low, ..] => embedded(high, low),
        // RFC 8215: translation within a network.
        [0x64, 0xff9b, 1, ..] => Some(Range::Private),
        [0xfe80..=0xfebf, ..] => Some(Range::LinkLocal),
        // RFC 4193, and the site-local addresses before it.
        [0xfc00..=0xfdff, ..] | [0xfec0..=0xfeff, ..] => Some(Range::Private),
        [0xff00..=0xffff, ..] => Some(Range::Multicast),
        _ => None,
    }
}

/// A set of ranges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Ranges(u8);

impl Ranges {
    /// All of them.
    pub(super) const ALL: Self = Self((1 << WORDS.len()) - 1);
    /// The word for all of them.
    const ALL_WORD: &str = "any";

    pub(super) const fn with(self, range: Range) -> Self {
        Self(self.0 | 1 << range as u8)
    }

    /// Whether an address of this range may be used. Those of the public network always may.
    pub(super) fn cover(self, range: Option<Range>) -> bool {
        range.is_none_or(|range| self.0 >> range as u8 & 1 == 1)
    }

    /// With what a word of a grant says.
    pub(super) fn with_word(self, word: &str) -> Option<Self> {
        if word == Self::ALL_WORD {
            return Some(Self::ALL);
        }
        WORDS.iter().find(|(_, known)| *known == word).map(|(range, _)| self.with(*range))
    }
}

/// As in a grant: `+loopback+private`.
impl fmt::Display for Ranges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::ALL {
            return write!(f, "+{}", Self::ALL_WORD);
        }
        WORDS.iter().filter(|(range, _)| self.cover(Some(*range))).try_for_each(|(_, word)| write!(f, "+{word}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Option<Range> {
        Range::of(text.parse().unwrap())
    }

    #[test]
    fn every_range_is_known_by_its_first_and_last_address() {
        let cases = [
            (Range::Loopback, "127.0.0.0 127.255.255.255 ::1"),
            (Range::LinkLocal, "169.254.0.0 169.254.169.254 169.254.255.255 fe80:: febf:ffff::1"),
            (Range::Private, "10.0.0.0 10.255.255.255 172.16.0.0 172.31.255.255 192.168.0.0 192.168.255.255 100.64.0.0 100.127.255.255"),
            (Range::Private, "192.0.0.1 198.18.0.0 198.19.255.255 240.0.0.0 255.255.255.254 fc00:: fdff:ffff::1 fec0:: 64:ff9b:1::1"),
            (Range::Unspecified, "0.0.0.0 0.255.255.255 ::"),
            (Range::Multicast, "224.0.0.0 239.255.255.255 255.255.255.255 ff00:: ff02::1 ffff::"),
        ];
        for (range, texts) in cases {
            texts.split(' ').for_each(|text| assert_eq!(of(text), Some(range), "{text}"));
        }
        let public = "1.1.1.1 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 169.253.255.255 169.255.0.0 172.15.255.255 \
                      172.32.0.0 192.167.255.255 192.169.0.0 223.255.255.255 2606:4700::1111 2001:db8::1 fbff::1";
        public.split_whitespace().for_each(|text| assert_eq!(of(text), None, "{text}"));
    }

    #[test]
    fn an_address_of_version_4_is_the_same_in_every_form_of_version_6() {
        for (text, range) in [
            ("127.0.0.1", Some(Range::Loopback)),
            ("169.254.169.254", Some(Range::LinkLocal)),
            ("10.1.2.3", Some(Range::Private)),
            ("224.0.0.251", Some(Range::Multicast)),
            ("8.8.8.8", None),
        ] {
            let [a, b, c, d] = text.parse::<Ipv4Addr>().unwrap().octets();
            let hex = format!("{a:02x}{b:02x}:{c:02x}{d:02x}");
            for form in ["::ffff:", "::ffff:0:", "64:ff9b::", "::"] {
                assert_eq!(of(&format!("{form}{hex}")), range, "{form}{text}");
            }
            assert_eq!(of(&format!("2002:{hex}::1")), range, "6to4 {text}");
        }
    }
}
