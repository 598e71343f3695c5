//! Options of sockets: see `hostcall_abi::std_services::option`.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use hostcall_abi::services::errno;
use hostcall_abi::std_services::option;
use rustix::net::sockopt;

use super::super::context::{Context, answer};
use super::super::define;
use super::super::socket::{Socket, number};
use super::super::table::FileTable;
use super::address::from_wire;
use crate::policy::{Net, Policy};
use crate::service::Service;

fn get(socket: &Socket, which: u32) -> Result<u64, u32> {
    let flag = |on: rustix::io::Result<bool>| on.map(u64::from);
    let value = match which {
        // Relaxed, as in `set`: the program's own calls order what it sets.
        option::NONBLOCKING => Ok(u64::from(socket.nonblocking.load(Ordering::Relaxed))),
        option::RECEIVE_TIMEOUT => Ok(socket.timeouts[0].load(Ordering::Relaxed)),
        option::SEND_TIMEOUT => Ok(socket.timeouts[1].load(Ordering::Relaxed)),
        option::ERROR => sockopt::socket_error(socket).map(|pending| pending.err().map_or(0, |error| u64::from(number(error)))),
        option::NODELAY => flag(sockopt::tcp_nodelay(socket)),
        option::TTL => sockopt::ip_ttl(socket).map(u64::from),
        option::BROADCAST => flag(sockopt::socket_broadcast(socket)),
        option::REUSE_ADDRESS => flag(sockopt::socket_reuseaddr(socket)),
        option::KEEP_ALIVE => flag(sockopt::socket_keepalive(socket)),
        option::LINGER => sockopt::socket_linger(socket).map(|time| time.map_or(0, |time| time.as_secs() + 1)),
        option::ONLY_V6 => flag(sockopt::ipv6_v6only(socket)),
        option::MULTICAST_LOOP_V4 => flag(sockopt::ip_multicast_loop(socket)),
        option::MULTICAST_TTL_V4 => sockopt::ip_multicast_ttl(socket).map(u64::from),
        option::MULTICAST_LOOP_V6 => flag(sockopt::ipv6_multicast_loop(socket)),
        option::SEND_BUFFER => sockopt::socket_send_buffer_size(socket).map(|bytes| bytes as u64),
        option::RECEIVE_BUFFER => sockopt::socket_recv_buffer_size(socket).map(|bytes| bytes as u64),
        _ => return Err(errno::EINVAL),
    };
    value.map_err(number)
}

fn set(socket: &Socket, which: u32, value: u64) -> Result<(), u32> {
    let on = value != 0;
    let small = u32::try_from(value).map_err(|_| errno::EINVAL);
    let done = match which {
        option::NONBLOCKING => {
            socket.nonblocking.store(on, Ordering::Relaxed);
            Ok(())
        }
        option::RECEIVE_TIMEOUT | option::SEND_TIMEOUT => {
            socket.timeouts[(which == option::SEND_TIMEOUT) as usize].store(value, Ordering::Relaxed);
            Ok(())
        }
        option::NODELAY => sockopt::set_tcp_nodelay(socket, on),
        option::TTL => sockopt::set_ip_ttl(socket, small?),
        option::BROADCAST => sockopt::set_socket_broadcast(socket, on),
        option::REUSE_ADDRESS => sockopt::set_socket_reuseaddr(socket, on),
        option::KEEP_ALIVE => sockopt::set_socket_keepalive(socket, on),
        option::LINGER => sockopt::set_socket_linger(socket, value.checked_sub(1).map(Duration::from_secs)),
        option::ONLY_V6 => sockopt::set_ipv6_v6only(socket, on),
        option::MULTICAST_LOOP_V4 => sockopt::set_ip_multicast_loop(socket, on),
        option::MULTICAST_TTL_V4 => sockopt::set_ip_multicast_ttl(socket, small?),
        option::MULTICAST_LOOP_V6 => sockopt::set_ipv6_multicast_loop(socket, on),
        option::SEND_BUFFER => sockopt::set_socket_send_buffer_size(socket, small? as usize),
        option::RECEIVE_BUFFER => sockopt::set_socket_recv_buffer_size(socket, small? as usize),
        _ => return Err(errno::EINVAL),
    };
    done.map_err(number)
}

/// Joins or leaves a multicast group. Whoever joins one hears what is said to it, so that must be granted; anybody may
/// leave.
fn membership(net: &Net, socket: &Socket, join: bool, group: IpAddr, interface: u32) -> Result<(), u32> {
    if join {
        net.check_group(group)?;
    }
    let done = match group {
        IpAddr::V4(group) => {
            let interface = Ipv4Addr::from(interface.to_ne_bytes());
            if join {
                sockopt::set_ip_add_membership(socket, &group, &interface)
            } else {
                sockopt::set_ip_drop_membership(socket, &group, &interface)
            }
        }
        IpAddr::V6(group) if join => sockopt::set_ipv6_add_membership(socket, &group, interface),
        IpAddr::V6(group) => sockopt::set_ipv6_drop_membership(socket, &group, interface),
    };
    done.map_err(number)
}

pub(super) fn services(context: &Context, policy: &Arc<Policy>, files: &Arc<FileTable>) -> Vec<Service> {
    let [a, b, c] = std::array::from_fn(|_| files.clone());
    let policy = policy.clone();
    vec![
        context.inline(define::std_net::definition::option(), move |call| {
            let (handle, which) = (call.fixed()?, call.fixed()?);
            let result = a.socket(call.tenant(), handle).and_then(|socket| get(&socket, which));
            answer(call, result)
        }),
        context.inline(define::std_net::definition::set_option(), move |call| {
            let (handle, which, value) = (call.fixed()?, call.fixed()?, call.fixed()?);
            let result = b.socket(call.tenant(), handle).and_then(|socket| set(&socket, which, value));
            answer(call, result)
        }),
        context.inline(define::std_net::definition::membership(), move |call| {
            let (handle, join, group, interface) = (call.fixed()?, call.fixed()?, call.fixed()?, call.fixed()?);
            let socket = c.socket(call.tenant(), handle);
            let result = socket.and_then(|socket| membership(&policy.net, &socket, join, from_wire(group)?.ip(), interface));
            answer(call, result)
        }),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin::counted::Room;
    use crate::builtin::standard::sockets::open;
    use crate::tenant::Tenant;

    #[test]
    fn a_multicast_group_that_is_not_granted_is_not_joined() {
        let mut net = Net::default();
        net.allow("224.0.0.251:5353".parse().unwrap());
        let socket = open(&net, Room::of(&Tenant::new(), 1).unwrap(), 4, 2).unwrap();
        let everywhere = 0;
        for group in ["224.0.0.252", "ff02::fb", "::ffff:224.0.0.252"] {
            assert_eq!(membership(&net, &socket, true, group.parse().unwrap(), everywhere), Err(errno::EACCES), "{group}");
        }
        // Without a network of its own the system may say that it has no device for it; the policy does not object.
        assert_ne!(membership(&net, &socket, true, "224.0.0.251".parse().unwrap(), everywhere), Err(errno::EACCES));
        assert_ne!(membership(&net, &socket, false, "224.0.0.252".parse().unwrap(), everywhere), Err(errno::EACCES), "anybody may leave");
    }
}
