//! Looking up names in the network, by the host's resolver.

use std::io;
use std::net::{IpAddr, ToSocketAddrs};
use std::sync::Arc;

use hostcall_abi::services::errno;

use super::super::context::Context;
use super::super::define;
use super::address::units;
use crate::policy::{Net, Policy};
use crate::service::Service;

fn resolve(net: &Net, name: &str) -> Result<Vec<IpAddr>, u32> {
    if name.contains('\0') {
        return Err(errno::EINVAL);
    }
    net.check_name(name)?;
    let found = (name, 0).to_socket_addrs().map_err(|error| match error.raw_os_error() {
        Some(_) => super::super::errno::of(&error),
        // What resolvers say of names that nobody has carries no number.
        None if error.kind() == io::ErrorKind::TimedOut => errno::EAGAIN,
        None => errno::ENOENT,
    })?;
    let mut addresses: Vec<IpAddr> = Vec::new();
    for address in found.map(|place| place.ip()) {
        if !addresses.contains(&address) {
            addresses.push(address);
        }
    }
    net.learn(name, &addresses);
    Ok(addresses)
}

pub(super) fn services(context: &Context, policy: &Arc<Policy>) -> Vec<Service> {
    let policy = policy.clone();
    vec![context.blocking(define::std_net::definition::resolve(), move |call| {
        let name = call.str()?;
        let into = call.out::<[u32; 5]>()?;
        let result = resolve(&policy.net, name);
        let fits = result.as_ref().map_or(0, |found| found.len().min(into.len()));
        for (to, address) in into.iter_mut().zip(result.iter().flatten()) {
            let [a, b, c, d] = units(*address);
            *to = [if address.is_ipv4() { 4 } else { 6 }, a, b, c, d];
        }
        let bytes: Vec<u8> = into[..fits].as_flattened().iter().flat_map(|unit| unit.to_ne_bytes()).collect();
        call.reply(&result.map(|found| found.len() as u32), &[&bytes]);
        Ok(())
    })]
}
