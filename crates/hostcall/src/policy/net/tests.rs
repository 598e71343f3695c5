//! What grants of places and names allow.

use std::net::Ipv4Addr;
use std::time::Duration;

use super::learnt::LEARNT_FOR;
use super::*;
use proptest::prelude::*;

fn net(grants: &[&str]) -> Net {
    let mut net = Net::default();
    grants.iter().for_each(|grant| net.allow(grant.parse().unwrap()));
    net
}

fn at(text: &str) -> SocketAddr {
    text.parse().unwrap()
}

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

#[test]
fn nothing_is_granted_by_default() {
    let net = net(&[]);
    assert_eq!(net.check("to connect to", at("127.0.0.1:80")), Err(errno::EACCES));
    assert_eq!(net.check_any(), Err(errno::EACCES));
    assert_eq!(net.check_name("localhost"), Err(errno::EACCES));
    assert_eq!(net.check_group(ip("224.0.0.251")), Err(errno::EACCES));
    let told: Vec<String> = net.denials.take().iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), 4);
    for expected in [
        "the program asked to connect to 127.0.0.1:80, which is not granted: `--net-allow 127.0.0.1:80` grants it",
        "the program asked to join the group 224.0.0.251, which is not granted: `--net-allow 224.0.0.251:*` grants it",
    ] {
        assert!(told.iter().any(|told| told == expected), "{told:?}");
    }
}

#[test]
fn a_name_that_is_not_granted_is_denied_with_the_narrowest_flag_that_grants_it() {
    let net = net(&[]);
    for (name, flag) in [
        ("example.org", "--net-allow example.org:*"),
        ("192.0.2.7", "--net-allow 192.0.2.7:*"),
        ("2001:db8::1", "--net-allow [2001:db8::1]:*"),
        ("*", "--net"),
        ("no name", "--net"),
    ] {
        assert_eq!(net.check_name(name), Err(errno::EACCES));
        let [denial] = &net.denials.take()[..] else { panic!("one denial of {name}") };
        assert_eq!(denial.flag, flag);
    }
}

#[test]
fn an_address_is_granted_with_its_port_only() {
    let net = net(&["127.0.0.1:80", "[::1]:*", "[::ffff:10.0.0.1]:7"]);
    assert!(net.allows(at("127.0.0.1:80")) && net.allows(at("[::1]:7")) && net.allows(at("[::ffff:127.0.0.1]:80")));
    assert!(!net.allows(at("127.0.0.1:81")) && !net.allows(at("127.0.0.2:80")));
    assert!(net.allows(at("10.0.0.1:7")) && net.allows(at("[::ffff:10.0.0.1]:7")), "one address in two forms");
}

#[test]
fn a_granted_name_grants_the_addresses_it_resolved_to() {
    let net = net(&["Example.org:443"]);
    assert!(net.check_name("example.ORG").is_ok() && net.check_name("example.org.").is_ok() && net.check_name("example.com").is_err());
    assert!(!net.allows(at("192.0.2.1:443")));
    net.learn("example.org", &[ip("192.0.2.1")]);
    assert!(net.allows(at("192.0.2.1:443")) && net.allows(at("[::ffff:192.0.2.1]:443")) && !net.allows(at("192.0.2.1:80")));
}

#[test]
fn a_name_that_is_not_granted_teaches_nothing() {
    let net = net(&["example.org:443"]);
    net.learn("evil.example", &[ip("192.0.2.9")]);
    assert!(!net.allows(at("192.0.2.9:443")));
}

#[test]
fn a_granted_name_that_resolves_behind_the_host_grants_nothing_there() {
    let net = net(&["rebound.example:*"]);
    let behind = ["127.0.0.1", "169.254.169.254", "10.0.0.1", "192.168.1.1", "172.20.0.1", "0.0.0.0", "224.0.0.1", "255.255.255.255"];
    let behind_v6 =
        ["::1", "fe80::1", "fd00::1", "::", "ff02::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::a00:1", "2002:7f00:1::"];
    for address in behind.into_iter().chain(behind_v6).map(ip) {
        net.learn("rebound.example", &[address, ip("8.8.8.8")]);
        assert!(!net.allows(SocketAddr::new(address, 80)), "{address}");
        assert_eq!(net.check_group(address), Err(errno::EACCES), "{address}");
    }
    assert!(net.allows(at("8.8.8.8:80")), "what is public counts all the same");
    net.denials.take();
    assert_eq!(net.check("to connect to", at("127.0.0.1:80")), Err(errno::EACCES));
    let [denial] = &net.denials.take()[..] else { panic!("one denial") };
    assert_eq!(denial.what, "to connect to 127.0.0.1:80, a loopback address of rebound.example");
    assert_eq!(denial.flag, "--net-allow rebound.example:80+loopback");
}

#[test]
fn a_name_reaches_behind_the_host_as_far_as_its_grant_says() {
    let net =
        net(&["intranet.example:443+private", "box.example:1+loopback+link-local", "all.example:*+any", "localhost:80", "db.localhost:5"]);
    let learnt = |name: &str, address: &str, port: u16| {
        net.learn(name, &[ip(address)]);
        net.allows(SocketAddr::new(ip(address), port))
    };
    assert!(learnt("intranet.example", "10.1.1.1", 443) && learnt("intranet.example", "fd00::7", 443));
    assert!(!learnt("intranet.example", "10.1.1.1", 80) && !learnt("intranet.example", "127.0.0.9", 443));
    assert!(learnt("box.example", "127.0.0.2", 1) && learnt("box.example", "fe80::2", 1) && !learnt("box.example", "10.2.2.2", 1));
    assert!(learnt("all.example", "169.254.1.1", 9) && learnt("all.example", "224.0.0.9", 9) && learnt("all.example", "0.0.0.0", 9));
    assert!(learnt("localhost", "127.0.0.1", 80) && learnt("localhost", "::1", 80), "the name says it");
    assert!(learnt("db.localhost", "127.0.0.3", 5) && !learnt("localhost", "10.3.3.3", 80));
}

#[test]
fn what_was_learnt_of_a_name_expires_and_can_be_learnt_again() {
    let net = net(&["example.org:443"]);
    net.learn("example.org", &[ip("8.8.8.8")]);
    net.clock.advance(LEARNT_FOR - Duration::from_secs(60));
    assert!(net.allows(at("8.8.8.8:443")));
    net.learn("example.org", &[ip("8.8.4.4")]);
    net.clock.advance(Duration::from_secs(60));
    assert!(!net.allows(at("8.8.8.8:443")), "the name has moved");
    assert!(net.allows(at("8.8.4.4:443")));
    net.learn("example.org", &[ip("8.8.8.8")]);
    assert!(net.allows(at("8.8.8.8:443")));
}

#[test]
fn a_multicast_group_is_joined_only_where_it_is_granted() {
    let net = net(&["224.0.0.251:5353", "[ff02::fb]:5353", "mdns.example:*+multicast", "plain.example:*"]);
    assert!(net.check_group(ip("224.0.0.251")).is_ok() && net.check_group(ip("ff02::fb")).is_ok());
    assert!(net.check_group(ip("::ffff:224.0.0.251")).is_ok());
    assert_eq!(net.check_group(ip("224.0.0.252")), Err(errno::EACCES));
    net.learn("plain.example", &[ip("224.0.0.252")]);
    assert_eq!(net.check_group(ip("224.0.0.252")), Err(errno::EACCES));
    net.learn("mdns.example", &[ip("224.0.0.252")]);
    assert!(net.check_group(ip("224.0.0.252")).is_ok());
}

/// Addresses, many of them in the ranges that matter.
fn addresses() -> impl Strategy<Value = IpAddr> {
    let first = prop::sample::select(vec![0u8, 10, 100, 127, 169, 172, 192, 198, 224, 239, 240, 255, 8]);
    let v4 = (first, prop::sample::select(vec![0u8, 16, 31, 64, 127, 168, 254, 255]), any::<u16>())
        .prop_map(|(a, b, rest)| Ipv4Addr::from_bits(u32::from(a) << 24 | u32::from(b) << 16 | u32::from(rest)));
    let high = prop::sample::select(vec![0u16, 0x64, 0x2001, 0x2002, 0xfc00, 0xfe80, 0xfec0, 0xff02]);
    let v6 = (high, any::<u128>()).prop_map(|(high, rest)| std::net::Ipv6Addr::from_bits(u128::from(high) << 112 | rest >> 16));
    prop_oneof![v4.prop_map(IpAddr::V4), v4_mapped(any::<Ipv4Addr>()), v6.prop_map(IpAddr::V6), any::<Ipv4Addr>().prop_map(IpAddr::V4)]
}

fn v4_mapped(v4: impl Strategy<Value = Ipv4Addr>) -> impl Strategy<Value = IpAddr> {
    v4.prop_map(|v4| IpAddr::V6(v4.to_ipv6_mapped()))
}

proptest! {
    #[test]
    fn a_plain_name_grants_public_addresses_and_no_others(found in prop::collection::vec(addresses(), 1..8), port: u16) {
        let net = net(&["name.example:*"]);
        net.learn("name.example", &found);
        for address in found {
            prop_assert_eq!(net.allows(SocketAddr::new(address, port)), Range::of(address).is_none(), "{}", address);
        }
    }

    #[test]
    fn a_name_with_ranges_grants_those_and_public_addresses(found in addresses(), words in prop::sample::subsequence(
        vec!["loopback", "link-local", "private", "unspecified", "multicast"], 0..=5), port: u16)
    {
        let text = words.iter().fold("name.example:*".to_owned(), |text, word| text + "+" + word);
        let net = net(&[&text]);
        net.learn("name.example", &[found]);
        let said = Range::of(found).is_none_or(|range| words.contains(&&*range.to_string()));
        prop_assert_eq!(net.allows(SocketAddr::new(found, port)), said, "{} under {}", found, text);
    }

    #[test]
    fn an_address_and_its_mapped_form_are_one(v4: Ipv4Addr, port: u16, granted: Ipv4Addr, by_name: bool) {
        let net = net(&[&format!("{granted}:*"), "name.example:*+private"]);
        if by_name {
            net.learn("name.example", &[IpAddr::V4(v4)]);
        }
        for address in [v4, granted] {
            let (short, long) = (IpAddr::V4(address), IpAddr::V6(address.to_ipv6_mapped()));
            prop_assert_eq!(net.allows(SocketAddr::new(short, port)), net.allows(SocketAddr::new(long, port)));
            prop_assert_eq!(net.check_group(short), net.check_group(long));
        }
        prop_assert!(net.allows(SocketAddr::new(IpAddr::V6(granted.to_ipv6_mapped()), port)));
    }

    #[test]
    fn nothing_that_was_learnt_outlives_its_time(found in prop::collection::vec(addresses(), 1..8), port: u16) {
        let net = net(&["name.example:*+any"]);
        net.learn("name.example", &found);
        net.clock.advance(LEARNT_FOR);
        for address in found {
            prop_assert!(!net.allows(SocketAddr::new(address, port)));
        }
    }

    #[test]
    fn what_a_denial_says_grants_what_was_denied(address in addresses(), port: u16, scope: u32, by_name: bool) {
        let place = match address {
            IpAddr::V6(v6) => std::net::SocketAddrV6::new(v6, port, 0, scope).into(),
            v4 => SocketAddr::new(v4, port),
        };
        let denied = net(&["name.example:*"]);
        if by_name {
            denied.learn("name.example", &[address]);
        }
        if denied.check("to send to", place).is_ok() {
            return Ok(());
        }
        let [denial] = &denied.denials.take()[..] else { panic!("one denial") };
        let granted = net(&[denial.flag.strip_prefix("--net-allow ").unwrap()]);
        if by_name {
            granted.learn("name.example", &[address]);
        }
        prop_assert_eq!(granted.check("to send to", place), Ok(()), "{}", denial);
        prop_assert_eq!(denied.check_group(address), Err(errno::EACCES));
        let [denial] = &denied.denials.take()[..] else { panic!("one denial") };
        prop_assert_eq!(net(&[denial.flag.strip_prefix("--net-allow ").unwrap()]).check_group(address), Ok(()), "{}", denial);
    }
}

/// Whatever a program calls a name, the flag that is named for it is accepted, as a shell reads it, and enough.
#[test]
fn each_suggested_flag_for_a_name_is_accepted_and_enough() {
    for name in ["db.example", "DB.example.", "192.0.2.1", "::1", "a b", "x:y", "*", "", "+any", "it's", "a;b", "\x1b[31m", "ß.example"] {
        let refused = net(&[]);
        assert_eq!(refused.check_name(name), Err(errno::EACCES), "{name}");
        let [denial] = &refused.denials.take()[..] else { panic!("one denial") };
        assert!(!denial.to_string().chars().any(char::is_control), "{denial:?}");
        let said =
            std::process::Command::new("bash").arg("-c").arg(format!("printf %s {}", denial.flag.replace("--net-allow ", ""))).output();
        let word = String::from_utf8(said.unwrap().stdout).unwrap();
        let mut granted = Net::default();
        match word.as_str() {
            "--net" => granted.allow_all(),
            word => granted.allow(word.parse().unwrap_or_else(|error| panic!("{denial}: {error}"))),
        }
        assert_eq!(granted.check_name(name), Ok(()), "{denial}");
        assert!(name != "*" || word == "--net", "what grants everything is called so: {denial}");
    }
}
