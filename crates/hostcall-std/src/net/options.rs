//! Options of sockets: C's levels, names and types, and the one number that each travels as.

use super::address::units;
use crate::abi::errno::{EINVAL, ENOPROTOOPT, EOPNOTSUPP};
use crate::abi::{
    IP_ADD_MEMBERSHIP, IP_DROP_MEMBERSHIP, IP_MULTICAST_LOOP, IP_MULTICAST_TTL, IP_TTL, IPPROTO_IP, IPPROTO_IPV6, IPPROTO_TCP,
    IPV6_ADD_MEMBERSHIP, IPV6_DROP_MEMBERSHIP, IPV6_MULTICAST_LOOP, IPV6_V6ONLY, SO_BROADCAST, SO_ERROR, SO_KEEPALIVE, SO_LINGER,
    SO_RCVBUF, SO_RCVTIMEO, SO_REUSEADDR, SO_SNDBUF, SO_SNDTIMEO, SO_TYPE, SOCK_DGRAM, SOCK_STREAM, SOL_SOCKET, TCP_NODELAY, ip_mreq,
    ipv6_mreq, linger, socklen_t, timeval,
};
use crate::error::{Errno, answered, returned};
use crate::fd::{Target, held, socket_of, target};
use crate::local::pair::Pair;
use crate::local::pipe::ROOM;
use crate::services::StdNet;
use core::ffi::c_void;
use core::mem::size_of;
use core::sync::atomic::{AtomicU64, Ordering};
use hostcall_abi::std_services::option;

/// How C has an option's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// An `i32`.
    Number,
    /// A `timeval`.
    Time,
    /// A `linger`.
    Linger,
}

/// An option's number, and its value's form in C.
fn known(level: i32, name: i32) -> Result<(u32, Form), Errno> {
    Ok(match (level, name) {
        (SOL_SOCKET, SO_RCVTIMEO) => (option::RECEIVE_TIMEOUT, Form::Time),
        (SOL_SOCKET, SO_SNDTIMEO) => (option::SEND_TIMEOUT, Form::Time),
        (SOL_SOCKET, SO_LINGER) => (option::LINGER, Form::Linger),
        (SOL_SOCKET, SO_ERROR) => (option::ERROR, Form::Number),
        (SOL_SOCKET, SO_BROADCAST) => (option::BROADCAST, Form::Number),
        (SOL_SOCKET, SO_REUSEADDR) => (option::REUSE_ADDRESS, Form::Number),
        (SOL_SOCKET, SO_KEEPALIVE) => (option::KEEP_ALIVE, Form::Number),
        (SOL_SOCKET, SO_SNDBUF) => (option::SEND_BUFFER, Form::Number),
        (SOL_SOCKET, SO_RCVBUF) => (option::RECEIVE_BUFFER, Form::Number),
        (IPPROTO_TCP, TCP_NODELAY) => (option::NODELAY, Form::Number),
        (IPPROTO_IP, IP_TTL) => (option::TTL, Form::Number),
        (IPPROTO_IP, IP_MULTICAST_LOOP) => (option::MULTICAST_LOOP_V4, Form::Number),
        (IPPROTO_IP, IP_MULTICAST_TTL) => (option::MULTICAST_TTL_V4, Form::Number),
        (IPPROTO_IPV6, IPV6_V6ONLY) => (option::ONLY_V6, Form::Number),
        (IPPROTO_IPV6, IPV6_MULTICAST_LOOP) => (option::MULTICAST_LOOP_V6, Form::Number),
        _ => return Err(Errno(ENOPROTOOPT)),
    })
}

/// # Safety
/// `from` is null or valid for reads of `len` bytes.
unsafe fn read<T: Copy>(from: *const c_void, len: socklen_t) -> Result<T, Errno> {
    if from.is_null() || (len as usize) < size_of::<T>() {
        return Err(Errno(EINVAL));
    }
    // SAFETY: the caller's; callers ask for plain C types.
    Ok(unsafe { from.cast::<T>().read_unaligned() })
}

fn time_to_wire(time: timeval) -> Result<u64, Errno> {
    let (Ok(seconds), Ok(micros)) = (u64::try_from(time.tv_sec), u64::try_from(time.tv_usec)) else { return Err(Errno(EINVAL)) };
    Ok(seconds.saturating_mul(1_000_000_000).saturating_add(micros * 1000))
}

fn time_from_wire(nanos: u64) -> timeval {
    let micros = nanos.div_ceil(1000);
    timeval { tv_sec: (micros / 1_000_000) as i64, tv_usec: (micros % 1_000_000) as i64 }
}

/// The timeouts of one of a pair: which of them an option is.
fn timeout_of_pair(pair: &Pair, end: usize, option: (i32, i32)) -> Option<&AtomicU64> {
    match option {
        (SOL_SOCKET, SO_RCVTIMEO) => Some(&pair.timeouts[end][0]),
        (SOL_SOCKET, SO_SNDTIMEO) => Some(&pair.timeouts[end][1]),
        _ => None,
    }
}

/// Sets an option of one of a pair. All but timeouts are for networks: they change nothing.
///
/// # Safety
/// `value` is null or valid for reads of `len` bytes.
unsafe fn set_of_pair(pair: &Pair, end: usize, option: (i32, i32), value: *const c_void, len: socklen_t) -> Result<i32, Errno> {
    match timeout_of_pair(pair, end, option) {
        // Relaxed: the program's own calls order what it sets. SAFETY: the caller's.
        Some(timeout) => timeout.store(time_to_wire(unsafe { read::<timeval>(value, len) }?)?, Ordering::Relaxed),
        None if option.0 == SOL_SOCKET => {}
        None => return Err(Errno(EOPNOTSUPP)),
    }
    Ok(0)
}

/// An option of one of a pair.
///
/// # Safety
/// `len` is null or valid, and `into` null or valid for writes of `*len` bytes.
unsafe fn of_pair(pair: &Pair, end: usize, option: (i32, i32), into: *mut c_void, len: *mut socklen_t) -> Result<i32, Errno> {
    // SAFETY: the caller's.
    let len = unsafe { len.as_mut() }.ok_or(Errno(EINVAL))?;
    if let Some(timeout) = timeout_of_pair(pair, end, option) {
        // SAFETY: the caller's.
        return unsafe { give(into, len, time_from_wire(timeout.load(Ordering::Relaxed))) };
    }
    let value = match option {
        (SOL_SOCKET, SO_ERROR) => 0,
        (SOL_SOCKET, SO_TYPE) => {
            if pair.is_stream() {
                SOCK_STREAM
            } else {
                SOCK_DGRAM
            }
        }
        (SOL_SOCKET, SO_SNDBUF | SO_RCVBUF) => ROOM as i32,
        _ => return Err(Errno(ENOPROTOOPT)),
    };
    // SAFETY: the caller's.
    unsafe { give(into, len, value) }
}

/// Sets an option.
///
/// # Safety
/// `value` is null or valid for reads of `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_setsockopt(fd: i32, level: i32, name: i32, value: *const c_void, len: socklen_t) -> i32 {
    returned((|| {
        if let Target::Object(reference) = target(fd)? {
            let held = held(reference)?;
            let (pair, end) = held.socket()?;
            // SAFETY: the caller's.
            return unsafe { set_of_pair(pair, end, (level, name), value, len) };
        }
        let handle = socket_of(fd)?;
        match (level, name) {
            (IPPROTO_IP, IP_ADD_MEMBERSHIP | IP_DROP_MEMBERSHIP) => {
                // SAFETY: the caller's.
                let ip_mreq { imr_multiaddr, imr_interface } = unsafe { read(value, len) }?;
                let group = [4, 0, imr_multiaddr.s_addr, 0, 0, 0, 0, 0];
                return answered(StdNet::membership(handle, name == IP_ADD_MEMBERSHIP, group, imr_interface.s_addr)).map(|()| 0);
            }
            (IPPROTO_IPV6, IPV6_ADD_MEMBERSHIP | IPV6_DROP_MEMBERSHIP) => {
                // SAFETY: the caller's.
                let ipv6_mreq { ipv6mr_multiaddr, ipv6mr_interface } = unsafe { read(value, len) }?;
                let [a, b, c, d] = units(ipv6mr_multiaddr.s6_addr);
                return answered(StdNet::membership(handle, name == IPV6_ADD_MEMBERSHIP, [6, 0, a, b, c, d, 0, 0], ipv6mr_interface))
                    .map(|()| 0);
            }
            _ => {}
        }
        let (option, form) = known(level, name)?;
        let value = match form {
            // SAFETY: the caller's.
            Form::Time => time_to_wire(unsafe { read::<timeval>(value, len) }?)?,
            Form::Linger => {
                // SAFETY: the caller's.
                let linger { l_onoff, l_linger } = unsafe { read(value, len) }?;
                if l_onoff == 0 { 0 } else { u64::try_from(l_linger).map_err(|_| Errno(EINVAL))? + 1 }
            }
            // Some options are a byte in C.
            // SAFETY: the caller's.
            Form::Number if len == 1 => u64::from(unsafe { read::<u8>(value, len) }?),
            // SAFETY: the caller's.
            Form::Number => u64::try_from(unsafe { read::<i32>(value, len) }?).map_err(|_| Errno(EINVAL))?,
        };
        answered(StdNet::set_option(handle, option, value)).map(|()| 0)
    })())
}

/// An option's value.
///
/// # Safety
/// `len` is null or valid, and `into` null or valid for writes of `*len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_getsockopt(fd: i32, level: i32, name: i32, into: *mut c_void, len: *mut socklen_t) -> i32 {
    returned((|| {
        if let Target::Object(reference) = target(fd)? {
            let held = held(reference)?;
            let (pair, end) = held.socket()?;
            // SAFETY: the caller's.
            return unsafe { of_pair(pair, end, (level, name), into, len) };
        }
        let handle = socket_of(fd)?;
        let (option, form) = known(level, name)?;
        let value = answered(StdNet::option(handle, option))?;
        // SAFETY: the caller's.
        let len = unsafe { len.as_mut() }.ok_or(Errno(EINVAL))?;
        match form {
            Form::Number => {
                // SAFETY: the caller's.
                unsafe { give(into, len, i32::try_from(value).unwrap_or(i32::MAX)) }
            }
            // SAFETY: the caller's.
            Form::Time => unsafe { give(into, len, time_from_wire(value)) },
            Form::Linger => {
                let seconds = value.checked_sub(1);
                let value =
                    linger { l_onoff: i32::from(seconds.is_some()), l_linger: i32::try_from(seconds.unwrap_or(0)).unwrap_or(i32::MAX) };
                // SAFETY: the caller's.
                unsafe { give(into, len, value) }
            }
        }
    })())
}

/// # Safety
/// `into` is null or valid for writes of `*len` bytes.
unsafe fn give<T: Copy>(into: *mut c_void, len: &mut socklen_t, value: T) -> Result<i32, Errno> {
    if into.is_null() || (*len as usize) < size_of::<T>() {
        // `u8` is what `std` asks some numbers as.
        if !into.is_null() && *len == 1 {
            // SAFETY: one byte, of a machine whose numbers begin with the lowest.
            unsafe { into.cast::<u8>().write((&raw const value).cast::<u8>().read()) };
            return Ok(0);
        }
        return Err(Errno(EINVAL));
    }
    // SAFETY: the caller's; there is room.
    unsafe { into.cast::<T>().write_unaligned(value) };
    *len = size_of::<T>() as socklen_t;
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_below_zero_is_refused() {
        assert_eq!(time_to_wire(timeval { tv_sec: 1, tv_usec: 500_000 }), Ok(1_500_000_000));
        assert_eq!(time_to_wire(timeval { tv_sec: i64::MAX, tv_usec: 0 }), Ok(u64::MAX));
        assert_eq!(time_to_wire(timeval { tv_sec: -1, tv_usec: 0 }), Err(Errno(EINVAL)));
    }

    #[test]
    fn options_of_the_wrong_level_are_unknown() {
        assert_eq!(known(SOL_SOCKET, SO_LINGER), Ok((option::LINGER, Form::Linger)));
        assert_eq!(known(IPPROTO_TCP, SO_LINGER), Err(Errno(ENOPROTOOPT)));
        assert_eq!(known(-1, 0), Err(Errno(ENOPROTOOPT)));
    }
}
