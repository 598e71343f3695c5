//! Calls that a wave makes once. The message is that of the first of the lanes that run converged, and all of these
//! lanes get its result.
//!
//! The other lanes would only wait, so they help. Each stores one of the message's words, all of them by one
//! instruction, which the bus takes as one transaction. All of them read the one reply. [`crate::staging`] has the
//! calls with strings and slices.

use crate::call::{Port, fits, unit_of};
use crate::context::{Called, ServiceWord, client, group_at, machine};
use crate::outcome::{Raw, check, decode, no_port};
use hostcall_abi::codec::Fixed;
use hostcall_abi::lanes::Lanes;
use hostcall_abi::port::{Group, Held};
use hostcall_abi::{CallError, Flags, Status, unrolled};

/// The lanes that call service `number` together from the caller's place in the source. (Those that call it from
/// elsewhere call for themselves, with a first lane of their own.)
#[inline(always)]
#[track_caller]
pub(crate) fn lanes_here(number: u32) -> Group {
    group_at(core::ptr::from_ref(core::panic::Location::caller()) as usize, number)
}

/// The first lane's units.
#[inline(always)]
fn shared<const UNITS: usize>(group: &Group, units: &[u32; UNITS]) -> [u32; UNITS] {
    let mut shared = *units;
    unrolled!(for i in 0..UNITS as u32 => {
        if let Some(unit) = shared.get_mut(i as usize) {
            *unit = machine().broadcast(group.mask, *unit, group.leader);
        }
    });
    shared
}

#[inline(always)]
fn send_together<const UNITS: usize>(group: &Group, held: &mut Held, number: u32, flags: Flags, units: &[u32; UNITS]) -> Status {
    let units = shared(group, units);
    client().send_together(group, held, number as u16, flags, UNITS as u32, |i| unit_of(&units, i))
}

#[inline(always)]
fn exchange_together<const UNITS: usize, const REPLY_WORDS: usize>(
    group: &Group,
    held: &mut Held,
    number: u32,
    units: &[u32; UNITS],
) -> Raw<REPLY_WORDS> {
    match send_together(group, held, number, Flags::REPLY, units) {
        Status::OK => client().receive_together::<REPLY_WORDS>(group, held),
        status => Raw::without(status),
    }
}

/// Makes one call for all lanes that run converged here, with the first lane's arguments; each gets the result.
///
/// # Errors
/// Whatever ended the call: every lane gets the same.
#[inline(always)]
#[track_caller]
pub fn call_fixed_together<R: Fixed, const UNITS: usize, const REPLY_WORDS: usize>(
    service: &ServiceWord,
    units: &[u32; UNITS],
) -> Result<R, CallError> {
    let number = service.known()?;
    let group = lanes_here(number);
    let mut reply = Raw::<REPLY_WORDS>::without(Status::TOO_LARGE);
    if fits(UNITS as u32, REPLY_WORDS as u32, 1) {
        let mut held = match client().acquire(&group, true) {
            Ok(held) => held,
            // (Not by `map_err`, which makes it a value in memory.)
            Err(why) => return Err(no_port(why)),
        };
        reply = exchange_together(&group, &mut held, number, units);
        client().release(&group, held);
    }
    decode(&reply)
}

/// As [`call_fixed_together`], over a port that the wave holds.
///
/// # Errors
/// Whatever ended the call.
#[inline(always)]
pub fn call_fixed_together_on<R: Fixed, const UNITS: usize, const REPLY_WORDS: usize>(
    port: &mut Port,
    service: &ServiceWord,
    units: &[u32; UNITS],
) -> Result<R, CallError> {
    let number = service.known()?;
    if !fits(UNITS as u32, REPLY_WORDS as u32, 1) {
        return decode(&Raw::<REPLY_WORDS>::without(Status::TOO_LARGE));
    }
    decode(&exchange_together::<UNITS, REPLY_WORDS>(&port.group, &mut port.held, number, units))
}

/// Posts one message for all lanes that run converged here: the first lane's.
///
/// # Errors
/// What keeps it from being sent.
#[inline(always)]
#[track_caller]
pub fn post_fixed_together<const UNITS: usize>(service: &ServiceWord, units: &[u32; UNITS]) -> Result<(), CallError> {
    let number = service.known()?;
    let group = lanes_here(number);
    let mut held = match client().acquire(&group, true) {
        Ok(held) => held,
        // (Not by `map_err`, which makes it a value in memory.)
        Err(why) => return Err(no_port(why)),
    };
    let status = send_together(&group, &mut held, number, Flags::default(), units);
    client().release(&group, held);
    check(status, 0)
}

/// As [`post_fixed_together`], over a port that the wave holds.
///
/// # Errors
/// What keeps it from being sent.
#[inline(always)]
pub fn post_fixed_together_on<const UNITS: usize>(port: &mut Port, service: &ServiceWord, units: &[u32; UNITS]) -> Result<(), CallError> {
    let number = service.known()?;
    check(send_together(&port.group, &mut port.held, number, Flags::default(), units), 0)
}
