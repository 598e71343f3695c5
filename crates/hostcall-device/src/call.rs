//! Calls: what the stubs of `#[service]` become.
//!
//! The corridor: a stub encodes its arguments into 32-bit units → [`group_at`] finds the lanes that call
//! together → [`Client::acquire`](hostcall_abi::port::Client::acquire) takes a port → `send` → `receive` → `release` → the stub decodes its result. Strings and
//! slices travel inside the message where they fit, else through a [staging slot](crate::staging).

use crate::arch::current as arch;
use crate::context::{ServiceWord, client, group_at};
use crate::pending::Pending;
use hostcall_abi::codec::Fixed;
use hostcall_abi::port::{Group, Held};
use hostcall_abi::word::WORD_DWORDS;
use hostcall_abi::{CallError, Flags, ReplyHead, Status};

/// A port that a wave keeps for several calls, which saves each call the taking of one.
///
/// All lanes that were converged when it was taken must make its calls together.
#[derive(Debug)]
pub struct Port {
    group: Group,
    held: Held,
}

impl Port {
    /// Takes a port for the lanes that run converged here.
    ///
    /// # Errors
    /// [`CallError::ServerGone`] if the program is attached to no server.
    #[inline(always)]
    pub fn hold() -> Result<Self, CallError> {
        let group = group_at(Self::hold as fn() -> Result<Self, CallError> as usize, 0);
        Ok(Self { group, held: client().acquire(&group, true)? })
    }
}

impl Drop for Port {
    #[inline(always)]
    fn drop(&mut self) {
        client().release(&self.group, self.held);
    }
}

/// Payload word `j` of a message whose units are `units`.
#[inline(always)]
fn payload_word(units: &[u32], j: u32) -> [u32; 3] {
    let at = (j * WORD_DWORDS) as usize;
    core::array::from_fn(|k| if at + k < units.len() { units[at + k] } else { 0 })
}

/// Words per lane of `units` units.
#[inline(always)]
pub(crate) const fn words_of(units: usize) -> u32 {
    units.div_ceil(WORD_DWORDS as usize) as u32
}

/// Turns a reply's head into a result.
#[inline(always)]
pub(crate) fn check(head: ReplyHead, detail: u32) -> Result<(), CallError> {
    if head.status == Status::OK { Ok(()) } else { Err(CallError::from_status(head.status, detail)) }
}

/// The last step of every call, after the port was given back: ends the lane if the kernel is being ended.
#[inline(always)]
pub(crate) fn settle<T>(result: Result<T, CallError>) -> Result<T, CallError> {
    if let Err(CallError::Other(Status::KERNEL_ENDED)) = result {
        arch::exit_lane();
    }
    result
}

/// Receives the reply to the last message and decodes a result of a fixed size.
#[inline(always)]
pub(crate) fn receive_fixed<R: Fixed, const REPLY_WORDS: usize>(group: &Group, held: &mut Held, deadline_ns: u64) -> Result<R, CallError> {
    let reply = client().receive::<REPLY_WORDS>(group, held, deadline_ns)?;
    let units = reply.words.map(|word| word.data);
    let units = units.as_flattened();
    check(reply.head, units[1])?;
    R::get(&units[1..]).map_err(|_| CallError::Malformed)
}

#[inline(always)]
fn exchange<R: Fixed, const UNITS: usize, const REPLY_WORDS: usize>(group: &Group, held: &mut Held, number: u32, units: &[u32; UNITS]) -> Result<R, CallError> {
    client().send(group, held, number as u16, Flags::REPLY, words_of(UNITS), |j| payload_word(units, j))?;
    receive_fixed::<R, REPLY_WORDS>(group, held, 0)
}

/// Calls a service whose arguments and result have fixed sizes, and waits.
///
/// # Errors
/// Whatever ended the call, see [`CallError`].
#[inline(always)]
pub fn call_fixed<R: Fixed, const UNITS: usize, const REPLY_WORDS: usize>(service: &ServiceWord, units: &[u32; UNITS]) -> Result<R, CallError> {
    let number = service.number();
    if number == 0 {
        return Err(CallError::UnknownService);
    }
    let group = group_at(service.site(), number);
    let mut held = client().acquire(&group, true)?;
    let result = exchange::<R, UNITS, REPLY_WORDS>(&group, &mut held, number, units);
    client().release(&group, held);
    settle(result)
}

/// As [`call_fixed`], over a port that the wave holds.
///
/// # Errors
/// Whatever ended the call.
#[inline(always)]
pub fn call_fixed_on<R: Fixed, const UNITS: usize, const REPLY_WORDS: usize>(
    port: &mut Port,
    service: &ServiceWord,
    units: &[u32; UNITS],
) -> Result<R, CallError> {
    let number = service.number();
    if number == 0 {
        return Err(CallError::UnknownService);
    }
    settle(exchange::<R, UNITS, REPLY_WORDS>(&port.group, &mut port.held, number, units))
}

/// Sends a message that nobody waits for.
///
/// # Errors
/// What keeps it from being sent.
#[inline(always)]
pub fn post_fixed<const UNITS: usize>(service: &ServiceWord, units: &[u32; UNITS]) -> Result<(), CallError> {
    let number = service.number();
    if number == 0 {
        return Err(CallError::UnknownService);
    }
    let group = group_at(service.site(), number);
    let mut held = client().acquire(&group, true)?;
    let result = client().send(&group, &mut held, number as u16, Flags::default(), words_of(UNITS), |j| payload_word(units, j));
    client().release(&group, held);
    settle(result)
}

/// As [`post_fixed`], over a port that the wave holds.
///
/// # Errors
/// What keeps it from being sent.
#[inline(always)]
pub fn post_fixed_on<const UNITS: usize>(port: &mut Port, service: &ServiceWord, units: &[u32; UNITS]) -> Result<(), CallError> {
    let number = service.number();
    if number == 0 {
        return Err(CallError::UnknownService);
    }
    settle(client().send(&port.group, &mut port.held, number as u16, Flags::default(), words_of(UNITS), |j| payload_word(units, j)))
}

/// Starts a call whose result is fetched later.
///
/// # Errors
/// [`CallError::Busy`] when no port is free: a wave that waited for one while it holds others could wait
/// for itself.
#[inline(always)]
pub fn start_fixed<R: Fixed, const UNITS: usize, const REPLY_WORDS: usize>(
    service: &ServiceWord,
    units: &[u32; UNITS],
) -> Result<Pending<R, REPLY_WORDS>, CallError> {
    let number = service.number();
    if number == 0 {
        return Err(CallError::UnknownService);
    }
    let group = group_at(service.site(), number);
    let mut held = client().acquire(&group, false)?;
    match client().send(&group, &mut held, number as u16, Flags::REPLY, words_of(UNITS), |j| payload_word(units, j)) {
        Ok(()) => Ok(Pending::new(group, held)),
        Err(error) => {
            client().release(&group, held);
            settle(Err(error))
        }
    }
}
