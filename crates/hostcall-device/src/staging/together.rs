//! Calls with strings and slices that a wave makes once: the message is the first lane's, and all lanes copy its
//! bytes.

use super::{Call, Incoming, Kind, NO_SLOT, Slices, posted, release_slot, take_slot};
use crate::call::fits;
use crate::context::{Called, ServiceWord, client, descriptor, machine};
use crate::outcome::Outcome;
use crate::together::lanes_here;
use hostcall_abi::codec::{Fixed, VarHead};
use hostcall_abi::lanes::Lanes;
use hostcall_abi::port::{Group, PortState};
use hostcall_abi::{CallError, Header, ReplyHead, Status};

/// The most words of a message, or of a reply, that carry bytes themselves: one lane stores them, and word by word they
/// are read.
const MOST_WORDS: u32 = 8;

/// What the first lane of `group` passed.
fn first(group: &Group, value: u32) -> u32 {
    machine().broadcast(group.mask, value, group.leader)
}

/// Makes the call. Never inlined: a program has one copy of it.
#[inline(never)]
fn perform(mask: u64, call: &mut Call<'_, '_, '_, '_>) -> Outcome {
    let lanes = Group::new(mask, machine().lane());
    // What the first lane wrote before is what all of them copy.
    machine().sync(lanes.mask);
    let slot_bytes = descriptor().slot_bytes;
    if first(&lanes, call.slices.too_long().into()) != 0 {
        return Outcome::new(Status::TOO_LARGE, slot_bytes);
    }
    let fixed = call.fixed.len() as u32;
    let (ins, outs) = (first(&lanes, call.slices.in_bytes()), first(&lanes, call.slices.out_bytes()));
    let units = fixed + ins / 4;
    let reply_words = ReplyHead::words((call.result.len() + call.slices.outs.len()) as u32 + outs / 4);
    if Header::words_for(units, 1) <= MOST_WORDS && reply_words <= MOST_WORDS && fits(units, reply_words, 1) {
        call.put_head(VarHead::INLINE);
        return exchange(&lanes, call, units, None);
    }
    if ins.max(outs).next_multiple_of(16) > slot_bytes {
        return Outcome::new(Status::TOO_LARGE, slot_bytes);
    }
    let slot = take_slot(lanes.mask);
    if slot == NO_SLOT {
        return Outcome::no_slot();
    }
    let region = u64::from(slot) * u64::from(slot_bytes);
    call.put_head((region / 16) as u32);
    // SAFETY: the slot has room for all of the first lane's parts, each padded. Only the first lane's place counts.
    unsafe { call.copy_in(lanes.mask, 1 << lanes.leader, region) };
    let outcome = exchange(&lanes, call, fixed, Some(region));
    release_slot(&lanes, slot);
    outcome
}

/// The first lane sends its message, with its bytes inline or announcing those in the slot whose bytes begin at
/// `region`, and for a call all lanes receive the reply.
#[inline(never)]
fn exchange(lanes: &Group, call: &mut Call<'_, '_, '_, '_>, units: u32, region: Option<u64>) -> Outcome {
    let mut held = match client().acquire(lanes, true) {
        Ok(held) => held,
        Err(why) => return Outcome::new(why, 0),
    };
    let flags = call.flags(region);
    let alone = lanes.alone();
    let mut sent = Status::OK;
    if lanes.leads() {
        sent = client().send_long(&alone, &mut held, call.number as u16, flags, units, |i| call.unit(i));
    }
    sent = Status(first(lanes, sent.0.into()) as u16);
    held.state = PortState(first(lanes, held.state.0));
    let mut outcome = Outcome::new(sent, 0);
    if sent == Status::OK && call.kind == Kind::Post {
        outcome = posted(lanes.mask, held, region);
    } else if sent == Status::OK {
        let reply = client().receive_together::<1>(lanes, &mut held);
        let mut reply = Incoming::of(&alone, &held, &reply);
        call.take_results(&mut reply);
        for len in &mut *call.returned {
            *len = first(lanes, *len);
        }
        // Only the first lane's slices are filled. (What its outcome is, and so whether it reads on, all of them have
        // read.)
        if region.is_none() && lanes.leads() {
            reply.fill_bytes(&mut call.slices, call.returned);
        }
        outcome = reply.outcome;
        if region.is_none() {
            let short = first(lanes, u32::from(outcome.status().0));
            outcome = Outcome::new(Status(short as u16), outcome.detail());
        }
    }
    if let Some(region) = region
        && outcome == Outcome::OK
        && !call.slices.outs.is_empty()
    {
        // SAFETY: the server put there what the first lane gets; all lanes know the same outcome.
        unsafe { call.copy_out(lanes.mask, 1 << lanes.leader, region, outcome) };
    }
    // What came back is the first lane's to read, and whose else it is.
    machine().sync(lanes.mask);
    client().release(lanes, held);
    outcome
}

/// Makes one call for all lanes that run converged here, with the first lane's arguments, whose `outs` are filled; each
/// gets the result.
///
/// # Errors
/// Whatever ended the call: every lane gets the same.
#[inline(always)]
#[track_caller]
pub fn call_var_together<R: Fixed, const UNITS: usize>(
    service: &ServiceWord,
    fixed: &mut [u32; UNITS],
    ins: &[&[u8]],
    outs: &mut [&mut [u8]],
    returned: &mut [u32],
) -> Result<R, CallError> {
    let number = service.known()?;
    let lanes = lanes_here(number).mask;
    super::call(number, fixed, Slices { ins, outs }, returned, |call| perform(lanes, call))
}

/// Posts one message that carries strings or slices for all lanes that run converged here: the first lane's.
///
/// # Errors
/// What keeps it from being sent.
#[inline(always)]
#[track_caller]
pub fn post_var_together<const UNITS: usize>(service: &ServiceWord, fixed: &mut [u32; UNITS], ins: &[&[u8]]) -> Result<(), CallError> {
    let number = service.known()?;
    let lanes = lanes_here(number).mask;
    super::post(number, fixed, ins, |call| perform(lanes, call))
}
