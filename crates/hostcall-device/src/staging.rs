//! The rare paths of calls: strings and slices, inside the message if they fit, else through a staging slot; and calls
//! of fixed sizes that do not fit into one message for all lanes.
//!
//! A staging slot is a block of pinned host memory that a group of lanes owns for one call. Each lane has a region of
//! it. The lanes copy together ([`crate::copy`]). A system fence before the message makes the bytes visible before the
//! words that announce them.
//!
//! Every kernel that makes a call has a copy of the functions that it reaches here, because NVIDIA's assembler gives
//! each kernel its own functions. It also has their registers. So nothing here is generic, and nothing panics: the
//! loops are built so that no index is out of bounds, and none is written as one. Functions pass each other only
//! numbers: masks for groups, an [`Outcome`] for a result.

mod together;

pub use together::{call_var_together, post_var_together};

use crate::arch::current as arch;
use crate::call::{fits, unit_of};
use crate::context::{Called, ServiceWord, client, descriptor, group_at, machine};
use crate::copy::{self, Way};
use crate::outcome::{Outcome, Raw};
use hostcall_abi::codec::{Fixed, VarHead, padded};
use hostcall_abi::lanes::Lanes;
use hostcall_abi::port::{Arch, Group, Held};
use hostcall_abi::word::{WORD_BYTES, Word};
use hostcall_abi::{CallError, Flags, ReplyHead, Status};

/// The strings and slices of one lane's call.
struct Slices<'a, 'b, 'c> {
    ins: &'a [&'a [u8]],
    outs: &'b mut [&'c mut [u8]],
}

impl Slices<'_, '_, '_> {
    /// Whether they are longer, together, than what is counted here.
    fn too_long(&self) -> bool {
        let ins = self.ins.iter().map(|part| part.len() as u64).sum::<u64>();
        ins + self.outs.iter().map(|part| part.len() as u64).sum::<u64>() > u64::from(u32::MAX / 2)
    }

    fn in_bytes(&self) -> u32 {
        self.ins.iter().map(|part| padded(part.len() as u32)).sum()
    }

    fn out_bytes(&self) -> u32 {
        self.outs.iter().map(|part| padded(part.len() as u32)).sum()
    }

    /// Unit `index` of the concatenated, padded `&str` and `&[T]` arguments.
    fn in_unit(&self, index: u32) -> u32 {
        let mut at = index * 4;
        for part in self.ins {
            let len = part.len() as u32;
            if at < padded(len) {
                let rest = part.get(at as usize..).unwrap_or_default();
                return match rest.first_chunk::<4>() {
                    Some(four) => u32::from_ne_bytes(*four),
                    None => rest.iter().rev().fold(0, |unit, byte| unit << 8 | u32::from(*byte)),
                };
            }
            at -= padded(len);
        }
        0
    }
}

/// The largest `value` among the group's lanes.
#[inline(never)]
fn group_max(mask: u64, value: u32) -> u32 {
    let machine = machine();
    let mut max = 0;
    let mut lanes = mask;
    while lanes != 0 {
        max = max.max(machine.broadcast(mask, value, lanes.trailing_zeros()));
        // Usually all agree, or the rest is smaller.
        lanes &= machine.ballot(mask, value > max);
    }
    max
}

/// Start of the calling lane's region when every lane of the group takes `bytes` (a multiple of 16) of its own, and the
/// sum of all.
fn group_offsets(mask: u64, bytes: u32) -> (u32, u64) {
    let machine = machine();
    let mut sum = 0u64;
    let mut own = 0;
    let mut lanes = mask;
    let me = machine.lane();
    while lanes != 0 {
        let lane = lanes.trailing_zeros();
        if lane == me {
            own = sum as u32;
        }
        sum += u64::from(machine.broadcast(mask, bytes, lane));
        lanes &= lanes - 1;
    }
    (own, sum)
}

/// "No slot" among slot numbers.
const NO_SLOT: u32 = u32::MAX;

/// Takes a staging slot for the group; [`NO_SLOT`] if the buffer is closed, or has none.
#[inline(never)]
fn take_slot(mask: u64) -> u32 {
    let machine = machine();
    let group = Group::new(mask, machine.lane());
    let slots = descriptor().slots;
    let mut taken = NO_SLOT;
    if group.leads() && slots != 0 {
        let first = machine.first_port() % slots;
        let mut slot = first;
        let mut attempt = 0;
        // Known to be closed: no slot comes free that would be of use, and looking at all of them takes time.
        while machine.known_closed() == 0 {
            // SAFETY: `slot` is below `slots`: a lock word of this buffer.
            if unsafe { arch::lock_word((descriptor().slot_locks as *mut u32).add(slot as usize)) } == 0 {
                taken = slot;
                break;
            }
            slot = if slot + 1 == slots { 0 } else { slot + 1 };
            if slot == first {
                // All are held, each by a call that the server will answer, or whose lanes learn that it is closed.
                attempt += 1;
                machine.pause_for_waves(attempt);
            }
        }
    }
    machine.broadcast(mask, taken, group.leader)
}

/// Gives a slot back.
fn release_slot(group: &Group, slot: u32) {
    machine().sync(group.mask);
    if group.leads() {
        // SAFETY: a lock word of this buffer, which the group holds.
        unsafe { arch::unlock_word((descriptor().slot_locks as *mut u32).add(slot as usize)) };
    }
}

/// How a call ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Call,
    Post,
}

/// One lane's call.
struct Call<'f, 'a, 'b, 'c> {
    number: u32,
    kind: Kind,
    /// The payload before the variable bytes; it begins with a [`VarHead`].
    fixed: &'f mut [u32],
    slices: Slices<'a, 'b, 'c>,
    /// Gets the result's units.
    result: &'f mut [u32],
    /// Gets the number of bytes returned of each of `slices.outs`.
    returned: &'f mut [u32],
}

impl Call<'_, '_, '_, '_> {
    /// Says where the bytes lie.
    fn put_head(&mut self, at: u32) {
        let bytes = self.slices.in_bytes();
        if let Some([offset, length]) = self.fixed.first_chunk_mut() {
            (*offset, *length) = (at, bytes);
        }
    }

    /// Reads what comes before the bytes of a reply.
    fn take_results(&mut self, reply: &mut Incoming<'_>) {
        reply.fill(self.result);
        reply.fill(self.returned);
        for (len, part) in self.returned.iter_mut().zip(self.slices.outs.iter()) {
            *len = (*len).min(part.len() as u32);
        }
    }

    /// Those of the message, whose bytes may lie in a region of a slot.
    #[inline(always)]
    fn flags(&self, region: Option<u64>) -> Flags {
        let flags = if region.is_some() { Flags::STAGED } else { Flags::default() };
        if self.kind == Kind::Call { flags.and(Flags::REPLY) } else { flags }
    }

    /// Copies the bytes that go to the host into the slot, those of the lanes of `whose`, each lane's from its `region`
    /// on, by all lanes of `mask`.
    ///
    /// # Safety
    /// From the region on the slot has room for the parts of each lane of `whose`, each padded.
    #[inline(always)]
    unsafe fn copy_in(&self, mask: u64, whose: u64, region: u64) {
        let mut place = region;
        for part in self.slices.ins {
            // SAFETY: the caller's; only a part that begins at a multiple of 16 is copied in whole pieces (it may then
            // spill into the padding of its last piece, which the next part overwrites).
            unsafe { copy::each_lane(mask, whose, Way::In, place, part.as_ptr() as u64, part.len() as u32) };
            place = copy::behind(place, part.len());
        }
        arch::fence_system();
        machine().sync(mask);
    }

    /// Copies the bytes that came from the host out of the slot, as [`copy_in`](Self::copy_in) does.
    ///
    /// # Safety
    /// From the region on the slot holds what the server put there for each lane of `whose`.
    #[inline(always)]
    unsafe fn copy_out(&mut self, mask: u64, whose: u64, region: u64, outcome: Outcome) {
        arch::fence_system();
        machine().sync(mask);
        let mut place = region;
        for (part, len) in self.slices.outs.iter_mut().zip(self.returned.iter()) {
            // Lanes whose call failed take part in the copying of the others, with nothing of their own.
            let len = if outcome == Outcome::OK { *len } else { 0 };
            // SAFETY: `len` is at most the part's; the server put it at its place.
            unsafe { copy::each_lane(mask, whose, Way::Out, place, part.as_mut_ptr() as u64, len) };
            // The server leaves each argument its place, however short an earlier one comes back.
            place = copy::behind(place, part.len());
        }
    }

    /// Unit `index` of the payload, the inline bytes behind the rest.
    #[inline(never)]
    fn unit(&self, index: u32) -> u32 {
        let fixed = self.fixed.len() as u32;
        if index < fixed { unit_of(self.fixed, index) } else { self.slices.in_unit(index - fixed) }
    }
}

/// Words of a reply that are asked for at once: each look over the bus takes as long as one.
const AHEAD: usize = 4;

/// One lane's reply, read unit by unit.
struct Incoming<'a> {
    group: &'a Group,
    held: &'a Held,
    /// Units that are left.
    left: u32,
    /// Words of the whole reply, and how many of them have been read.
    words: u32,
    read: u32,
    /// The last that were read, the next in front.
    ahead: [Word; AHEAD],
    word: Word,
    /// Halves of units consumed, the head's among them.
    at: u32,
    outcome: Outcome,
}

impl<'a> Incoming<'a> {
    /// Waits for the reply.
    #[inline(always)]
    fn start(group: &'a Group, held: &'a mut Held) -> Self {
        let reply = client().receive::<1>(group, held, 0);
        Self::of(group, held, &reply)
    }

    /// The reply that begins with `reply`, as `group` asked for it.
    #[inline(always)]
    fn of(group: &'a Group, held: &'a Held, reply: &Raw<1>) -> Self {
        let [word] = reply.words;
        let outcome = Outcome::new(reply.head.status, reply.unit(0));
        let left = if outcome == Outcome::OK { u32::from(reply.head.dwords) } else { 0 };
        let words = ReplyHead::words(left);
        Self { group, held, left, words, read: 1, ahead: [word; AHEAD], word, at: 2, outcome }
    }

    /// The next unit; 0 where there is none, which the outcome then says.
    #[inline(always)]
    fn next(&mut self) -> u32 {
        if self.left == 0 {
            if self.outcome == Outcome::OK {
                self.outcome = Outcome::new(Status::MALFORMED, 0);
            }
            return 0;
        }
        self.left -= 1;
        let low = self.half();
        low | self.half() << 16
    }

    /// The next half of a unit, of which a word has seven.
    fn half(&mut self) -> u32 {
        const HALVES: u32 = WORD_BYTES / 2;
        let at = self.at % HALVES;
        if at == 0 {
            self.word = self.next_word(self.at / HALVES);
        }
        self.at += 1;
        // (No index, which would put the word into memory.)
        let [first, second, third, fourth] = self.word.0;
        let unit = match at / 2 {
            0 => first,
            1 => second,
            2 => third,
            _ => fourth,
        };
        unit >> (at % 2 * 16) & 0xffff
    }

    /// Word `index`, the one behind the last.
    fn next_word(&mut self, index: u32) -> Word {
        if index == self.read {
            self.ahead = client().reply_words(self.group, self.held, index, self.words);
            self.read += AHEAD as u32;
        }
        // (Moved up, so that there is no index.)
        let [word, a, b, c] = self.ahead;
        self.ahead = [a, b, c, word];
        word
    }

    /// Reads on as far as `to` reaches.
    #[inline(never)]
    fn fill(&mut self, to: &mut [u32]) {
        for unit in to {
            *unit = self.next();
        }
    }

    /// Reads the bytes of the call's `&mut [T]` arguments.
    fn fill_bytes(&mut self, slices: &mut Slices<'_, '_, '_>, returned: &[u32]) {
        for (part, len) in slices.outs.iter_mut().zip(returned) {
            for chunk in part.get_mut(..*len as usize).unwrap_or_default().chunks_mut(4) {
                let unit = self.next();
                for (byte, from) in chunk.iter_mut().zip(unit.to_ne_bytes()) {
                    *byte = from;
                }
            }
        }
    }
}

/// What a post that was sent came to. The slot must stay ours until the server has copied it.
#[inline(always)]
fn posted(mask: u64, held: Held, region: Option<u64>) -> Outcome {
    if region.is_some() { Outcome::new(client().await_ack(mask, held), 0) } else { Outcome::OK }
}

/// Sends the message, with its bytes inline or announcing those in the lane's `region` of a slot, and for a call
/// receives the reply. `units` are those of the longest payload.
#[inline(never)]
fn exchange(mask: u64, call: &mut Call<'_, '_, '_, '_>, units: u32, region: Option<u64>) -> Outcome {
    let group = Group::new(mask, machine().lane());
    let mut held = match client().acquire(&group, true) {
        Ok(held) => held,
        Err(why) => return Outcome::new(why, 0),
    };
    let sent = client().send_long(&group, &mut held, call.number as u16, call.flags(region), units, |i| call.unit(i));
    let mut outcome = Outcome::new(sent, 0);
    if sent == Status::OK && call.kind == Kind::Post {
        outcome = posted(mask, held, region);
    } else if sent == Status::OK {
        let mut reply = Incoming::start(&group, &mut held);
        call.take_results(&mut reply);
        if region.is_none() {
            reply.fill_bytes(&mut call.slices, call.returned);
        }
        outcome = reply.outcome;
    }
    if let Some(region) = region
        && call.kind == Kind::Call
        && !call.slices.outs.is_empty()
    {
        // SAFETY: the region is each lane's own.
        unsafe { call.copy_out(mask, mask, region, outcome) };
        machine().sync(mask);
    }
    client().release(&group, held);
    outcome
}

/// Makes the call with its bytes in a staging slot: by all lanes of the group together, or if they do not fit, by one
/// after another.
#[inline(never)]
fn staged(mask: u64, call: &mut Call<'_, '_, '_, '_>) -> Outcome {
    let machine = machine();
    let slot_bytes = descriptor().slot_bytes;
    let need = call.slices.in_bytes().max(call.slices.out_bytes()).next_multiple_of(16);
    let (own, sum) = group_offsets(mask, need);
    if sum <= u64::from(slot_bytes) {
        return in_slot(mask, call, own);
    }
    let mut outcome = Outcome::new(Status::TOO_LARGE, slot_bytes);
    let mut rest = mask;
    while rest != 0 && !mask.is_power_of_two() {
        let lane = rest & rest.wrapping_neg();
        rest &= !lane;
        if lane >> machine.lane() & 1 == 1 {
            outcome = staged(lane, call);
        }
        machine.sync(mask);
    }
    outcome
}

/// Makes the call with its bytes in a staging slot, the calling lane's from `own` on.
fn in_slot(mask: u64, call: &mut Call<'_, '_, '_, '_>, own: u32) -> Outcome {
    let slot = take_slot(mask);
    if slot == NO_SLOT {
        return Outcome::no_slot();
    }
    let region = u64::from(slot) * u64::from(descriptor().slot_bytes) + u64::from(own);
    call.put_head((region / 16) as u32);
    // SAFETY: the lane's region has room for all parts, each padded.
    unsafe { call.copy_in(mask, mask, region) };
    let outcome = exchange(mask, call, call.fixed.len() as u32, Some(region));
    release_slot(&Group::new(mask, machine().lane()), slot);
    outcome
}

/// Makes the call. Never inlined: a program has one copy of it.
#[inline(never)]
fn perform(service: &ServiceWord, call: &mut Call<'_, '_, '_, '_>) -> Outcome {
    let mut mask = group_at(service.site(), call.number).mask;
    let slices = &call.slices;
    let oversized = slices.too_long();
    let others = machine().ballot(mask, oversized);
    if oversized {
        return Outcome::new(Status::TOO_LARGE, descriptor().slot_bytes);
    }
    mask &= !others;
    let reply_units = (call.result.len() + slices.outs.len()) as u32 + slices.out_bytes() / 4;
    let units = group_max(mask, call.fixed.len() as u32 + slices.in_bytes() / 4);
    let reply_words = group_max(mask, ReplyHead::words(reply_units));
    if fits(units, reply_words, mask.count_ones()) {
        call.put_head(VarHead::INLINE);
        exchange(mask, call, units, None)
    } else {
        staged(mask, call)
    }
}

/// Calls a service that takes strings or slices, and waits. `fixed` begins with the two units of [`VarHead`].
/// `returned` gets the number of bytes returned of each of `outs`.
///
/// # Errors
/// Whatever ended the call.
#[inline(always)]
pub fn call_var<R: Fixed, const UNITS: usize>(
    service: impl Called,
    fixed: &mut [u32; UNITS],
    ins: &[&[u8]],
    outs: &mut [&mut [u8]],
    returned: &mut [u32],
) -> Result<R, CallError> {
    let number = service.known()?;
    call(number, fixed, Slices { ins, outs }, returned, |call| perform(service.word(), call))
}

/// Makes the call by `perform`, and decodes what came of it.
#[inline(always)]
fn call<R: Fixed>(
    number: u32,
    fixed: &mut [u32],
    slices: Slices<'_, '_, '_>,
    returned: &mut [u32],
    perform: impl FnOnce(&mut Call<'_, '_, '_, '_>) -> Outcome,
) -> Result<R, CallError> {
    const { assert!(R::DWORDS <= VarHead::MOST_RESULT, "the result of a service with string or slice arguments is at most 256 bytes") };
    let mut units = [0; VarHead::MOST_RESULT];
    let result = &mut units[..R::DWORDS];
    perform(&mut Call { number, kind: Kind::Call, fixed, slices, result, returned }).result()?;
    R::get(&units).map_err(|_| CallError::Malformed)
}

/// Posts a message that carries strings or slices.
///
/// # Errors
/// What keeps it from being sent.
#[inline(always)]
pub fn post_var<const UNITS: usize>(service: impl Called, fixed: &mut [u32; UNITS], ins: &[&[u8]]) -> Result<(), CallError> {
    let number = service.known()?;
    post(number, fixed, ins, |call| perform(service.word(), call))
}

/// Posts the message by `perform`.
#[inline(always)]
fn post(
    number: u32,
    fixed: &mut [u32],
    ins: &[&[u8]],
    perform: impl FnOnce(&mut Call<'_, '_, '_, '_>) -> Outcome,
) -> Result<(), CallError> {
    let slices = Slices { ins, outs: &mut [] };
    perform(&mut Call { number, kind: Kind::Post, fixed, slices, result: &mut [], returned: &mut [] }).result()
}
