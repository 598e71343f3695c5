//! Addresses as they travel: see `hostcall_abi::std_services`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};

use super::super::errno;

/// An address on the wire.
pub(in super::super) type Wire = [u32; 8];
/// No address.
pub(in super::super) const NONE: Wire = [0; 8];

/// The address, which came from the device.
pub(super) fn from_wire(wire: Wire) -> Result<SocketAddr, u32> {
    let [family, port, a, b, c, d, flow, scope] = wire;
    let port = u16::try_from(port).map_err(|_| errno::EINVAL)?;
    match family {
        4 => Ok(SocketAddrV4::new(Ipv4Addr::from(a.to_ne_bytes()), port).into()),
        6 => Ok(SocketAddrV6::new(Ipv6Addr::from(bytes([a, b, c, d])), port, flow, scope).into()),
        _ => Err(errno::EAFNOSUPPORT),
    }
}

fn bytes(units: [u32; 4]) -> [u8; 16] {
    std::array::from_fn(|i| units[i / 4].to_ne_bytes()[i % 4])
}

/// The four units of an address.
pub(super) fn units(address: IpAddr) -> [u32; 4] {
    match address {
        IpAddr::V4(v4) => [u32::from_ne_bytes(v4.octets()), 0, 0, 0],
        IpAddr::V6(v6) => {
            let octets = v6.octets();
            std::array::from_fn(|i| u32::from_ne_bytes([octets[4 * i], octets[4 * i + 1], octets[4 * i + 2], octets[4 * i + 3]]))
        }
    }
}

/// An address for the device.
pub(in super::super) fn to_wire(address: SocketAddr) -> Wire {
    let [a, b, c, d] = units(address.ip());
    let (family, flow, scope) = match address {
        SocketAddr::V4(_) => (4, 0, 0),
        SocketAddr::V6(v6) => (6, v6.flowinfo(), v6.scope_id()),
    };
    [family, u32::from(address.port()), a, b, c, d, flow, scope]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_travel_there_and_back() {
        for text in ["192.0.2.1:80", "[2001:db8::1]:65535", "[fe80::1%3]:1"] {
            let address: SocketAddr = text.parse().unwrap();
            assert_eq!(from_wire(to_wire(address)), Ok(address));
        }
        assert_eq!(to_wire("127.0.0.1:8080".parse().unwrap())[..3], [4, 8080, u32::from_ne_bytes([127, 0, 0, 1])]);
    }

    #[test]
    fn what_is_no_address_is_refused() {
        assert_eq!(from_wire(NONE), Err(errno::EAFNOSUPPORT));
        assert_eq!(from_wire([4, 65536, 0, 0, 0, 0, 0, 0]), Err(errno::EINVAL));
    }
}
