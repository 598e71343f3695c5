//! The addresses that granted names resolved to, kept for as long as they are granted.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use super::range::Range;

/// For how long a look-up counts. Resolvers do not tell for how long a name keeps its addresses, so that a name that
/// has moved on must not keep its grant for long; and a program must find time to use what it asked for.
pub(super) const LEARNT_FOR: Duration = Duration::from_secs(10 * 60);
/// Addresses that are remembered. A program that looks names up for ever forgets the oldest.
const KEEP: usize = 4096;
/// Names, with their ports, that are remembered of one address.
const KEEP_OF_ADDRESS: usize = 64;

/// That an address was found for a granted name.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) name: String,
    /// `None`: any.
    pub(super) port: Option<u16>,
    /// What the grant would have to say, and does not. `None`: it covers the address.
    pub(super) missing: Option<Range>,
    until: Duration,
}

impl Found {
    pub(super) fn new(name: String, port: Option<u16>, missing: Option<Range>, now: Duration) -> Self {
        Self { name, port, missing, until: now + LEARNT_FOR }
    }

    fn is_for(&self, port: u16, now: Duration) -> bool {
        now < self.until && self.port.is_none_or(|granted| granted == port)
    }
}

/// Addresses that granted names were found to have.
#[derive(Debug, Default)]
pub(super) struct Learnt(RwLock<HashMap<IpAddr, Vec<Found>>>);

impl Learnt {
    /// Remembers that the address was found. A newer look-up takes the place of an older one.
    pub(super) fn add(&self, address: IpAddr, found: Found, now: Duration) {
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if !all.contains_key(&address) && all.len() >= KEEP {
            all.retain(|_, known| {
                known.retain(|found| now < found.until);
                !known.is_empty()
            });
            let oldest = all.iter().min_by_key(|(_, known)| known.iter().map(|found| found.until).max()).map(|(address, _)| *address);
            if let Some(oldest) = oldest.filter(|_| all.len() >= KEEP) {
                all.remove(&oldest);
            }
        }
        let known = all.entry(address).or_default();
        known.retain(|old| now < old.until && (old.port != found.port || old.name != found.name));
        if known.len() >= KEEP_OF_ADDRESS {
            known.remove(0);
        }
        known.push(found);
    }

    /// Whether the address with this port counts as granted.
    pub(super) fn allows(&self, address: IpAddr, port: u16, now: Duration) -> bool {
        self.any(address, |found| found.missing.is_none() && found.is_for(port, now))
    }

    /// Whether the address counts as granted, with whatever port.
    pub(super) fn allows_some_port(&self, address: IpAddr, now: Duration) -> bool {
        self.any(address, |found| found.missing.is_none() && now < found.until)
    }

    /// The name that was found to have this address, and whose grant would have to say more; and what.
    pub(super) fn withheld(&self, address: IpAddr, port: u16, now: Duration) -> Option<(Found, Range)> {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let found = all.get(&address)?.iter().find(|found| found.missing.is_some() && found.is_for(port, now))?;
        Some((found.clone(), found.missing?))
    }

    fn any(&self, address: IpAddr, mut is: impl FnMut(&Found) -> bool) -> bool {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(&address).is_some_and(|known| known.iter().any(&mut is))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    #[test]
    fn names_that_move_for_ever_are_bounded_and_the_newest_addresses_stay() {
        let learnt = Learnt::default();
        let at = |i: u32| IpAddr::V4(Ipv4Addr::from_bits(0x0800_0000 + i));
        for i in 0..KEEP as u32 + 100 {
            let now = Duration::from_millis(i.into());
            learnt.add(at(i), Found::new("example.org".into(), None, None, now), now);
        }
        assert_eq!(learnt.0.read().unwrap().len(), KEEP);
        let now = Duration::from_secs(5);
        assert!(learnt.allows(at(KEEP as u32 + 99), 80, now) && !learnt.allows(at(0), 80, now));
        learnt.add(at(KEEP as u32 + 99), Found::new("example.com".into(), None, None, now), now);
        assert!(learnt.allows(at(100), 80, now), "an address that is known takes no other's place");
    }

    fn found(name: &str, port: u16, missing: Option<Range>, now: Duration) -> Found {
        Found::new(name.into(), Some(port), missing, now)
    }

    const ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::new(8, 8, 8, 8));

    #[test]
    fn a_found_address_counts_for_its_port_and_for_its_time_and_no_longer() {
        let learnt = Learnt::default();
        learnt.add(ADDRESS, found("a", 80, None, Duration::ZERO), Duration::ZERO);
        let last = LEARNT_FOR - Duration::from_nanos(1);
        assert!(learnt.allows(ADDRESS, 80, last) && learnt.allows_some_port(ADDRESS, last));
        assert!(!learnt.allows(ADDRESS, 81, last) && !learnt.allows(ADDRESS, 80, LEARNT_FOR));
        assert!(!learnt.allows_some_port(ADDRESS, LEARNT_FOR));
    }

    #[test]
    fn a_look_up_takes_the_place_of_an_older_one_of_its_name_and_port_and_of_what_has_expired() {
        let learnt = Learnt::default();
        let known = || -> Vec<_> { learnt.0.read().unwrap()[&ADDRESS].iter().map(|found| (found.name.clone(), found.port)).collect() };
        let second = Duration::from_secs(1);
        let names = [("a", 80, Duration::ZERO), ("a", 81, Duration::ZERO), ("b", 80, Duration::ZERO), ("a", 80, second)];
        names.iter().for_each(|&(name, port, now)| learnt.add(ADDRESS, found(name, port, None, now), now));
        assert_eq!(known(), [("a".into(), Some(81)), ("b".into(), Some(80)), ("a".into(), Some(80))]);
        learnt.add(ADDRESS, found("c", 1, None, LEARNT_FOR), LEARNT_FOR);
        assert_eq!(known(), [("a".into(), Some(80)), ("c".into(), Some(1))]);
    }

    #[test]
    fn only_a_grant_that_would_have_to_say_more_is_named_with_what_it_would_have_to_say() {
        let learnt = Learnt::default();
        learnt.add(ADDRESS, found("granted", 80, None, Duration::ZERO), Duration::ZERO);
        learnt.add(ADDRESS, found("withheld", 80, Some(Range::Loopback), Duration::ZERO), Duration::ZERO);
        let withheld = |port, now| learnt.withheld(ADDRESS, port, now).map(|(found, range)| (found.name, range));
        assert_eq!(withheld(80, Duration::ZERO), Some(("withheld".into(), Range::Loopback)));
        assert_eq!([withheld(81, Duration::ZERO), withheld(80, LEARNT_FOR)], [None, None]);
    }

    #[test]
    fn many_names_of_one_address_are_bounded() {
        let learnt = Learnt::default();
        let address = IpAddr::V4(Ipv4Addr::new(8, 8, 8, 8));
        (0..1000).for_each(|i| learnt.add(address, Found::new(format!("n{i}"), Some(i), None, Duration::ZERO), Duration::ZERO));
        assert_eq!(learnt.0.read().unwrap()[&address].len(), KEEP_OF_ADDRESS);
        assert!(learnt.allows(address, 999, Duration::ZERO) && !learnt.allows(address, 0, Duration::ZERO));
    }
}
