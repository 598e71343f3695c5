//! Calls: what the stubs of `#[service]` become.
//!
//! The corridor: a stub encodes its arguments into 32-bit units → [`group_at`] finds the lanes that call
//! together → [`Client::acquire`](hostcall_abi::port::Client::acquire) takes a port → `send` → `receive` → `release` → the stub decodes its result. Strings and
//! slices travel inside the message where they fit, else through a [staging slot](crate::staging).

use crate::context::{ServiceWord, client, descriptor, group_at};
use crate::pending::Pending;
use crate::staging;
use hostcall_abi::codec::Fixed;
use hostcall_abi::port::{Group, Held};
use hostcall_abi::word::WORD_DWORDS;
use hostcall_abi::{CallError, Flags, ReplyHead, Status, Word};

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
    #[track_caller]
    pub fn hold() -> Result<Self, CallError> {
        // Lanes that hold at different places hold different ports.
        let group = group_at(core::ptr::from_ref(core::panic::Location::caller()) as usize, 0);
        let held = client().acquire(&group, true).ok_or_else(no_port)?;
        Ok(Self { group, held })
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

/// Makes a result of a status and the first unit of what came with it.
#[inline(always)]
pub(crate) fn check(status: Status, detail: u32) -> Result<(), CallError> {
    if status == Status::OK { Ok(()) } else { Err(failed(status, detail)) }
}

#[cold]
#[inline(never)]
fn failed(status: Status, detail: u32) -> CallError {
    match (status, detail) {
        // The client itself says so, and gives no limit.
        (Status::TOO_LARGE, 0) => CallError::TooLarge { max: client().largest(1).max(descriptor().slot_bytes) },
        _ => CallError::from_status(status, detail),
    }
}

/// The error for a call that got no port.
#[cold]
#[inline(never)]
pub(crate) fn no_port() -> CallError {
    CallError::from_status(client().why_no_port(), 0)
}

/// The last step of every call, after the port was given back: ends the lane if the kernel is being ended.
#[inline(always)]
pub(crate) fn settle<T>(result: Result<T, CallError>) -> Result<T, CallError> {
    if let Err(CallError::Other(Status::KERNEL_ENDED)) = result {
        crate::process::end_lane();
    }
    result
}

/// A reply to a call with a result of a fixed size, still as it came.
pub(crate) type Raw<const REPLY_WORDS: usize> = hostcall_abi::port::Reply<REPLY_WORDS>;

/// Decodes a reply.
#[inline(always)]
pub(crate) fn decode<R: Fixed, const REPLY_WORDS: usize>(reply: &Raw<REPLY_WORDS>) -> Result<R, CallError> {
    let units = reply.words.map(|word| word.data);
    let units = units.as_flattened();
    settle(check(reply.head.status, units[1]))?;
    R::get(&units[1..]).map_err(|_| CallError::Malformed)
}

#[inline(always)]
fn exchange<const UNITS: usize, const REPLY_WORDS: usize>(
    group: &Group,
    held: &mut Held,
    number: u32,
    units: &[u32; UNITS],
) -> Raw<REPLY_WORDS> {
    let status = client().send(group, held, number as u16, Flags::REPLY, words_of(UNITS), |j| payload_word(units, j));
    if status != Status::OK {
        return Raw { head: ReplyHead { status, dwords: 0 }, words: [Word::default(); REPLY_WORDS] };
    }
    client().receive::<REPLY_WORDS>(group, held, 0)
}

/// Whether the calls of all lanes of the group fit into one message.
#[inline(always)]
fn fits(group: &Group, words: u32, reply_words: u32) -> bool {
    let d = descriptor();
    group.count * words < d.request_words && ReplyHead::stride(group.count) * reply_words <= d.reply_words
}

/// A copy of the units in memory, for the rare path. Made by volatile stores, or the compiler would keep the units
/// themselves in memory on the fast path too, to save this copy.
#[inline(always)]
fn spilled<const UNITS: usize>(units: &[u32; UNITS]) -> [u32; UNITS] {
    let mut copy = [0; UNITS];
    for (to, from) in copy.iter_mut().zip(units) {
        // SAFETY: a place in `copy`.
        unsafe { core::ptr::from_mut(to).write_volatile(*from) };
    }
    copy
}

/// The rare path of [`call_fixed`], with its reply in the form of the fast one's.
#[inline(always)]
fn call_in_parts<R: Fixed, const UNITS: usize, const REPLY_WORDS: usize>(mask: u64, number: u32, units: &[u32; UNITS]) -> Raw<REPLY_WORDS> {
    let mut reply = [[0u32; 3]; REPLY_WORDS];
    let result = &mut reply.as_flattened_mut()[1..1 + R::DWORDS];
    let outcome = staging::fixed_in_parts(mask, number, true, &mut spilled(units), result);
    let (status, detail) = outcome.map_or_else(|error| error.to_status(), |()| (Status::OK, reply[0][1]));
    reply[0][1] = detail;
    // SAFETY: a place in `reply`. Volatile for the reason that `spilled` gives.
    let words = core::array::from_fn(|j| Word { data: unsafe { core::ptr::from_ref(&reply[j]).read_volatile() }, tag: 0 });
    Raw { head: ReplyHead { status, dwords: R::DWORDS as u16 }, words }
}

#[inline(always)]
fn post_group<const UNITS: usize>(group: &Group, number: u32, units: &[u32; UNITS]) -> Result<(), CallError> {
    let Some(mut held) = client().acquire(group, true) else { return Err(no_port()) };
    let status = client().send(group, &mut held, number as u16, Flags::default(), words_of(UNITS), |j| payload_word(units, j));
    client().release(group, held);
    check(status, 0)
}

/// Calls a service whose arguments and result have fixed sizes, and waits.
///
/// Where the calls of all lanes do not fit into one message, part of the lanes call after another.
///
/// # Errors
/// Whatever ended the call, see [`CallError`].
#[inline(always)]
pub fn call_fixed<R: Fixed, const UNITS: usize, const REPLY_WORDS: usize>(
    service: &ServiceWord,
    units: &[u32; UNITS],
) -> Result<R, CallError> {
    let number = service.number();
    if number == 0 {
        return Err(CallError::UnknownService);
    }
    let group = group_at(service.site(), number);
    if !fits(&group, words_of(UNITS), REPLY_WORDS as u32) {
        return decode(&call_in_parts::<R, UNITS, REPLY_WORDS>(group.mask, number, units));
    }
    let Some(mut held) = client().acquire(&group, true) else { return Err(no_port()) };
    let reply = exchange::<UNITS, REPLY_WORDS>(&group, &mut held, number, units);
    client().release(&group, held);
    decode(&reply)
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
    decode(&exchange::<UNITS, REPLY_WORDS>(&port.group, &mut port.held, number, units))
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
    let words = words_of(UNITS);
    if fits(&group, words, 1) {
        return post_group(&group, number, units);
    }
    settle(staging::fixed_in_parts(group.mask, number, false, &mut spilled(units), &mut []))
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
    check(client().send(&port.group, &mut port.held, number as u16, Flags::default(), words_of(UNITS), |j| payload_word(units, j)), 0)
}

/// Starts a call whose result is fetched later.
///
/// # Errors
/// [`CallError::Busy`] when no port is free: a wave that waited for one while it holds others could wait
/// for itself. [`CallError::TooLarge`] when the calls of all lanes do not fit into one message.
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
    let Some(mut held) = client().acquire(&group, false) else { return Err(no_port()) };
    let status = client().send(&group, &mut held, number as u16, Flags::REPLY, words_of(UNITS), |j| payload_word(units, j));
    if status != Status::OK {
        client().release(&group, held);
        check(status, 0)?;
    }
    Ok(Pending::new(group, held))
}
