//! Strings and slices: inside the message where they fit, else through a staging slot.
//!
//! A staging slot is a block of pinned host memory that a group of lanes owns for one call. Each lane has a
//! region of it. The lanes copy together, 16 bytes each at a time, so that the bus sees whole lines; a
//! system fence before the message makes the bytes visible before the words that announce them.

use crate::arch::current as arch;
use crate::call::{check, no_port, settle, words_of};
use crate::context::{ServiceWord, client, descriptor, group_at, machine};
use core::ptr::slice_from_raw_parts;
use hostcall_abi::codec::{Fixed, VarHead, padded};
use hostcall_abi::port::{Arch, Group, Held};
use hostcall_abi::word::WORD_DWORDS;
use hostcall_abi::{CallError, Flags, ReplyHead};

/// The strings and slices of one lane's call.
struct Parts<'a, 'b, 'c> {
    ins: &'a [&'a [u8]],
    outs: &'b mut [&'c mut [u8]],
}

impl Parts<'_, '_, '_> {
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
                let rest = &part[at as usize..];
                return match rest.first_chunk::<4>() {
                    Some(four) => u32::from_ne_bytes(*four),
                    None => rest.iter().enumerate().fold(0, |unit, (i, byte)| unit | u32::from(*byte) << (8 * i)),
                };
            }
            at -= padded(len);
        }
        0
    }
}

/// The largest `value` among the group's lanes.
fn group_max(group: &Group, value: u32) -> u32 {
    let machine = machine();
    let first = machine.broadcast(group.mask, value, group.leader);
    if machine.ballot(group.mask, value != first) == 0 {
        return first;
    }
    let mut max = 0;
    let mut lanes = group.mask;
    while lanes != 0 {
        max = max.max(machine.broadcast(group.mask, value, lanes.trailing_zeros()));
        lanes &= lanes - 1;
    }
    max
}

fn broadcast64(group: &Group, value: u64, from: u32) -> u64 {
    let machine = machine();
    let low = machine.broadcast(group.mask, value as u32, from);
    let high = machine.broadcast(group.mask, (value >> 32) as u32, from);
    u64::from(low) | u64::from(high) << 32
}

/// Start of the calling lane's region when every lane of the group takes `bytes` (a multiple of 16) of its
/// own, and the sum of all.
fn group_offsets(group: &Group, bytes: u32) -> (u32, u64) {
    let machine = machine();
    let mut sum = 0u64;
    let mut own = 0;
    let mut lanes = group.mask;
    let me = machine.lane();
    while lanes != 0 {
        let lane = lanes.trailing_zeros();
        if lane == me {
            own = sum as u32;
        }
        sum += u64::from(machine.broadcast(group.mask, bytes, lane));
        lanes &= lanes - 1;
    }
    (own, sum)
}

/// A staging slot that the group owns.
struct Slot(u32);

impl Slot {
    fn take(group: &Group, wait: bool) -> Result<Slot, CallError> {
        let machine = machine();
        let d = descriptor();
        let mut taken = u32::MAX;
        if group.leads() && d.slots != 0 {
            let first = machine.first_port() % d.slots;
            let mut slot = first;
            let mut attempt = 0;
            loop {
                // SAFETY: `slot` is below `slots`: a lock word of this buffer.
                if unsafe { arch::lock_word((d.slot_locks as *mut u32).add(slot as usize)) } == 0 {
                    taken = slot;
                    break;
                }
                slot = if slot + 1 == d.slots { 0 } else { slot + 1 };
                if slot == first {
                    // All are held, each by a call that the server will answer.
                    if !wait || machine.known_closed() != 0 {
                        break;
                    }
                    attempt += 1;
                    machine.pause(attempt);
                }
            }
        }
        let taken = machine.broadcast(group.mask, taken, group.leader);
        if taken == u32::MAX { Err(CallError::Busy) } else { Ok(Slot(taken)) }
    }

    fn release(self, group: &Group) {
        machine().sync(group.mask);
        if group.leads() {
            // SAFETY: a lock word of this buffer, which the group holds.
            unsafe { arch::unlock_word((descriptor().slot_locks as *mut u32).add(self.0 as usize)) };
        }
    }

    /// Offset of the slot in the staging area.
    fn offset(&self) -> u64 {
        u64::from(self.0) * u64::from(descriptor().slot_bytes)
    }
}

/// 16-byte pieces that a lane moves before it waits for the first of them.
const UNROLL: usize = 4;

/// Copies `len` bytes from device memory to staging, all lanes of the group together.
fn copy_in(group: &Group, to: *mut u8, from: *const u8, len: u32) {
    let stride = group.count * 16;
    let mut at = group.rank * 16;
    if (from as usize).is_multiple_of(16) {
        while at + stride * (UNROLL as u32 - 1) + 16 <= len {
            let mut block = [[0u32; 4]; UNROLL];
            for (i, piece) in block.iter_mut().enumerate() {
                // SAFETY: below `len` by the loop's condition, aligned because `from` and `at` are.
                *piece = unsafe { from.add((at + stride * i as u32) as usize).cast::<[u32; 4]>().read() };
            }
            for (i, piece) in block.into_iter().enumerate() {
                // SAFETY: within the region, whose start is 16-byte aligned.
                unsafe { arch::store_bulk(to.add((at + stride * i as u32) as usize).cast(), piece) };
            }
            at += stride * UNROLL as u32;
        }
    }
    while at < len {
        let mut piece = [0u32; 4];
        let n = (len - at).min(16);
        // SAFETY: `n` bytes from `at` are below `len`; `piece` has 16.
        unsafe { core::ptr::copy_nonoverlapping(from.add(at as usize), piece.as_mut_ptr().cast(), n as usize) };
        // SAFETY: the region is rounded up to whole pieces.
        unsafe { arch::store_bulk(to.add(at as usize).cast(), piece) };
        at += stride;
    }
}

/// Copies `len` bytes from staging to device memory, all lanes of the group together.
fn copy_out(group: &Group, to: *mut u8, from: *const u8, len: u32) {
    let stride = group.count * 16;
    let mut at = group.rank * 16;
    if (to as usize).is_multiple_of(16) {
        while at + stride * (UNROLL as u32 - 1) + 16 <= len {
            let mut block = [[0u32; 4]; UNROLL];
            for (i, piece) in block.iter_mut().enumerate() {
                // SAFETY: within the region, aligned.
                *piece = unsafe { arch::load_bulk(from.add((at + stride * i as u32) as usize).cast()) };
            }
            for (i, piece) in block.into_iter().enumerate() {
                // SAFETY: below `len` by the loop's condition, aligned because `to` and `at` are.
                unsafe { to.add((at + stride * i as u32) as usize).cast::<[u32; 4]>().write(piece) };
            }
            at += stride * UNROLL as u32;
        }
    }
    while at < len {
        // SAFETY: within the region, which is rounded up to whole pieces.
        let piece = unsafe { arch::load_bulk(from.add(at as usize).cast()) };
        let n = (len - at).min(16);
        // SAFETY: `n` bytes from `at` are below `len`.
        unsafe { core::ptr::copy_nonoverlapping(piece.as_ptr().cast::<u8>(), to.add(at as usize), n as usize) };
        at += stride;
    }
}

/// For each lane of the group in turn, and each of its `count` parts (the most of any lane): runs `copy` with
/// the lane's address, length and place in its region, the same for all lanes.
///
/// A part on a lane's own stack is memory that no other lane can reach, whatever its address: that lane copies it alone.
fn each_part(group: &Group, region: u64, parts: impl Fn(usize) -> *const [u8], count: u32, copy: impl Fn(&Group, u64, *const u8, u32)) {
    let machine = machine();
    let me = machine.lane();
    let count = group_max(group, count);
    let mut lanes = group.mask;
    while lanes != 0 {
        let lane = lanes.trailing_zeros();
        lanes &= lanes - 1;
        let mut place = broadcast64(group, region, lane);
        for i in 0..count as usize {
            let own = parts(i);
            let address = broadcast64(group, own.cast::<u8>() as u64, lane);
            let len = machine.broadcast(group.mask, own.len() as u32, lane);
            if machine.ballot(group.mask, me == lane && arch::is_private(own.cast())) == 0 {
                copy(group, place, address as *const u8, len);
            } else if me == lane {
                copy(&Group::new(1 << lane, lane), place, own.cast(), len);
            }
            place += u64::from(padded(len));
        }
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
    /// Whether the service takes strings or slices, so that the payload begins with a [`VarHead`].
    var: bool,
    /// The payload before the variable bytes.
    fixed: &'f mut [u32],
    parts: Parts<'a, 'b, 'c>,
    /// Gets the result's units.
    result: &'f mut [u32],
    /// Gets the number of bytes returned of each of `parts.outs`.
    returned: &'f mut [u32],
}

/// The largest result, in units, of a service that also takes strings or slices.
const MAX_RESULT: usize = 64;

/// Sends the message with its bytes inline, and for a call receives the reply.
fn inline(group: &Group, call: &mut Call<'_, '_, '_, '_>, words: u32) -> Result<(), CallError> {
    let Call { number, kind, fixed, parts, .. } = call;
    let in_bytes = parts.in_bytes();
    if call.var {
        (VarHead::INLINE, in_bytes).put(fixed);
    }
    let Some(mut held) = client().acquire(group, true) else { return Err(no_port()) };
    let flags = if *kind == Kind::Call { Flags::REPLY } else { Flags::default() };
    let units = fixed.len() as u32 + in_bytes / 4;
    let unit = |i: u32| match fixed.get(i as usize) {
        Some(unit) => *unit,
        None if i < units => parts.in_unit(i - fixed.len() as u32),
        None => 0,
    };
    let sent =
        client().send(group, &mut held, *number as u16, flags, words, |j| core::array::from_fn(|k| unit(j * WORD_DWORDS + k as u32)));
    let result = check(sent, 0).and_then(|()| if call.kind == Kind::Post { Ok(()) } else { read_inline(group, &mut held, call) });
    client().release(group, held);
    result
}

fn read_inline(group: &Group, held: &mut Held, call: &mut Call<'_, '_, '_, '_>) -> Result<(), CallError> {
    let mut reply = Incoming::start(group, held)?;
    reply.result_and_lengths(call)?;
    for (part, len) in call.parts.outs.iter_mut().zip(call.returned.iter()) {
        let mut at = 0;
        while at < *len as usize {
            let bytes = reply.next()?.to_ne_bytes();
            let n = bytes.len().min(*len as usize - at);
            part[at..at + n].copy_from_slice(&bytes[..n]);
            at += n;
        }
    }
    Ok(())
}

/// One lane's reply, read unit by unit.
struct Incoming<'a> {
    group: &'a Group,
    held: &'a Held,
    head: ReplyHead,
    word: [u32; 3],
    /// Units consumed, the head counted as one.
    at: u32,
}

impl<'a> Incoming<'a> {
    fn start(group: &'a Group, held: &'a mut Held) -> Result<Self, CallError> {
        let reply = client().receive::<1>(group, held, 0);
        let word = reply.words[0].data;
        check(reply.head.status, word[1])?;
        Ok(Self { group, held, head: reply.head, word, at: 1 })
    }

    fn next(&mut self) -> Result<u32, CallError> {
        if self.at > u32::from(self.head.dwords) {
            return Err(CallError::Malformed);
        }
        if self.at.is_multiple_of(WORD_DWORDS) {
            self.word = client().reply_word(self.group, self.held, self.at / WORD_DWORDS).data;
        }
        let unit = self.word[(self.at % WORD_DWORDS) as usize];
        self.at += 1;
        Ok(unit)
    }

    fn result_and_lengths(&mut self, call: &mut Call<'_, '_, '_, '_>) -> Result<(), CallError> {
        for unit in call.result.iter_mut() {
            *unit = self.next()?;
        }
        for (len, part) in call.returned.iter_mut().zip(call.parts.outs.iter()) {
            *len = self.next()?.min(part.len() as u32);
        }
        Ok(())
    }
}

/// Sends the message with its bytes in a staging slot, and for a call receives the reply.
fn staged(group: &Group, call: &mut Call<'_, '_, '_, '_>) -> Result<(), CallError> {
    let slot_bytes = u64::from(descriptor().slot_bytes);
    let need = call.parts.in_bytes().max(call.parts.out_bytes()).next_multiple_of(16);
    let (own, sum) = group_offsets(group, need);
    if sum > slot_bytes {
        if group.count == 1 {
            return Err(CallError::TooLarge { max: slot_bytes as u32 });
        }
        // Together they do not fit: one lane after another.
        let me = machine().lane();
        let mut result = Err(CallError::Busy);
        let mut lanes = group.mask;
        while lanes != 0 {
            let lane = lanes.trailing_zeros();
            lanes &= lanes - 1;
            if lane == me {
                result = staged(&Group::new(1 << lane, lane), call);
            }
            machine().sync(group.mask);
        }
        return result;
    }
    let slot = Slot::take(group, true)?;
    let region = slot.offset() + u64::from(own);
    ((region / 16) as u32, call.parts.in_bytes()).put(call.fixed);
    let staging = descriptor().staging;
    let ins = call.parts.ins;
    each_part(
        group,
        region,
        |i| ins.get(i).map_or(slice_from_raw_parts(core::ptr::null(), 0), |part| &raw const **part),
        ins.len() as u32,
        |group, place, from, len| {
            // Parts begin at multiples of 4 in the region; only one that begins at a multiple of 16 is copied in
            // whole pieces (it may then spill into the padding of its last piece, which the next part overwrites).
            copy_part_in(group, (staging + place) as *mut u8, from, len);
        },
    );
    arch::fence_system();
    machine().sync(group.mask);
    let result = staged_exchange(group, call, region);
    slot.release(group);
    result
}

/// Copies one part to a place that is 4-byte aligned.
fn copy_part_in(group: &Group, to: *mut u8, from: *const u8, len: u32) {
    if (to as usize).is_multiple_of(16) {
        copy_in(group, to, from, len);
        // The next part may begin inside this one's last piece: order the writes.
        machine().sync(group.mask);
    } else {
        let mut at = group.rank * 4;
        while at < len {
            let mut unit = [0u8; 4];
            let n = (len - at).min(4) as usize;
            // SAFETY: `n` bytes from `at` are below `len`; the region is padded to whole units.
            unsafe {
                core::ptr::copy_nonoverlapping(from.add(at as usize), unit.as_mut_ptr(), n);
                to.add(at as usize).cast::<u32>().write_volatile(u32::from_ne_bytes(unit));
            }
            at += group.count * 4;
        }
    }
}

/// Copies one part from a place that is 4-byte aligned.
fn copy_part_out(group: &Group, to: *mut u8, from: *const u8, len: u32) {
    if (from as usize).is_multiple_of(16) {
        copy_out(group, to, from, len);
    } else {
        let mut at = group.rank * 4;
        while at < len {
            let n = (len - at).min(4) as usize;
            // SAFETY: as in `copy_part_in`. Volatile: see `load_bulk`.
            unsafe {
                let unit = from.add(at as usize).cast::<u32>().read_volatile().to_ne_bytes();
                core::ptr::copy_nonoverlapping(unit.as_ptr(), to.add(at as usize), n);
            }
            at += group.count * 4;
        }
    }
}

fn staged_exchange(group: &Group, call: &mut Call<'_, '_, '_, '_>, region: u64) -> Result<(), CallError> {
    let (kind, fixed) = (call.kind, &*call.fixed);
    let Some(mut held) = client().acquire(group, true) else { return Err(no_port()) };
    let flags = if kind == Kind::Call { Flags::REPLY.and(Flags::STAGED) } else { Flags::STAGED };
    let sent = client().send(group, &mut held, call.number as u16, flags, words_of(fixed.len()), |j| {
        core::array::from_fn(|k| fixed.get((j * WORD_DWORDS) as usize + k).copied().unwrap_or(0))
    });
    let result = match check(sent, 0) {
        // The slot must stay ours until the server has copied it.
        Ok(()) if kind == Kind::Post => check(client().await_ack(group.mask, held), 0),
        Ok(()) => Incoming::start(group, &mut held).and_then(|mut reply| reply.result_and_lengths(call)),
        Err(error) => Err(error),
    };
    if kind == Kind::Call && !call.parts.outs.is_empty() {
        // Lanes whose call failed take part in the copying of the others, with nothing of their own.
        let failed = result.is_err();
        arch::fence_system();
        machine().sync(group.mask);
        let staging = descriptor().staging;
        let mut place = region;
        for (part, len) in call.parts.outs.iter_mut().zip(call.returned.iter()) {
            let len = if failed { 0 } else { *len };
            let own = slice_from_raw_parts(part.as_mut_ptr().cast_const(), len as usize);
            each_part(
                group,
                place,
                |_| own,
                1,
                |group, place, to, len| copy_part_out(group, to.cast_mut(), (staging + place) as *const u8, len),
            );
            // The server leaves each argument its place, however short an earlier one comes back.
            place += u64::from(padded(part.len() as u32));
        }
        machine().sync(group.mask);
    }
    client().release(group, held);
    result
}

/// Makes the call. Not generic, and never inlined: a program has one copy of it.
#[inline(never)]
fn perform(service: &ServiceWord, call: &mut Call<'_, '_, '_, '_>) -> Result<(), CallError> {
    let group = group_at(service.site(), call.number);
    let limit = u64::from(u32::MAX / 2);
    let parts = &call.parts;
    let total = parts.ins.iter().map(|part| part.len() as u64).sum::<u64>() + parts.outs.iter().map(|part| part.len() as u64).sum::<u64>();
    let oversized = machine().ballot(group.mask, total > limit);
    if oversized != 0 && total > limit {
        return Err(CallError::TooLarge { max: descriptor().slot_bytes });
    }
    let group = if oversized == 0 { group } else { Group::new(group.mask & !oversized, machine().lane()) };
    let reply_units = (call.result.len() + parts.outs.len()) as u32 + parts.out_bytes() / 4;
    let words = group_max(&group, words_of(call.fixed.len() + parts.in_bytes() as usize / 4));
    let reply_words = group_max(&group, ReplyHead::words(reply_units));
    let d = descriptor();
    let fits = words <= 255 && group.count * words < d.request_words && ReplyHead::stride(group.count) * reply_words <= d.reply_words;
    if fits { inline(&group, call, words) } else { staged(&group, call) }
}

/// A call or post of a fixed size that does not fit into one message for all lanes: one part of the lanes after
/// another makes it. Here because it is rare: not generic, so that the fast path of [`crate::call`] stays small.
#[cold]
#[inline(never)]
pub(crate) fn fixed_in_parts(mask: u64, number: u32, wait: bool, units: &mut [u32], result: &mut [u32]) -> Result<(), CallError> {
    let d = descriptor();
    let words = words_of(units.len());
    let reply_words = ReplyHead::words(result.len() as u32);
    let requests = (d.request_words - 1).checked_div(words).unwrap_or(u32::MAX);
    let most = requests.min(d.reply_words / reply_words);
    // One lane alone takes more room for its reply than a share.
    if most == 0 || ReplyHead::stride(1) * reply_words > d.reply_words || words > u32::from(u8::MAX) {
        return Err(CallError::TooLarge { max: client().largest(1) });
    }
    let kind = if wait { Kind::Call } else { Kind::Post };
    let machine = machine();
    let lane = machine.lane();
    let mut rest = mask;
    let mut outcome = Ok(());
    while rest != 0 {
        let mut part = 0;
        for _ in 0..most {
            part |= rest & rest.wrapping_neg();
            rest &= rest.wrapping_sub(1);
        }
        if part >> lane & 1 == 1 {
            let mut call = Call {
                number,
                kind,
                var: false,
                fixed: &mut *units,
                parts: Parts { ins: &[], outs: &mut [] },
                result: &mut *result,
                returned: &mut [],
            };
            outcome = inline(&Group::new(part, lane), &mut call, words);
        }
        machine.sync(mask);
    }
    outcome
}

/// Calls a service that takes strings or slices, and waits. `fixed` begins with the two units of [`VarHead`].
/// `returned` gets the number of bytes returned of each of `outs`.
///
/// # Errors
/// Whatever ended the call.
#[inline(always)]
pub fn call_var<R: Fixed, const UNITS: usize>(
    service: &ServiceWord,
    fixed: &mut [u32; UNITS],
    ins: &[&[u8]],
    outs: &mut [&mut [u8]],
    returned: &mut [u32],
) -> Result<R, CallError> {
    const { assert!(R::DWORDS <= MAX_RESULT, "the result of a service with string or slice arguments is at most 256 bytes") };
    let number = service.number();
    if number == 0 {
        return Err(CallError::UnknownService);
    }
    let mut units = [0; MAX_RESULT];
    let result = &mut units[..R::DWORDS];
    settle(perform(service, &mut Call { number, kind: Kind::Call, var: true, fixed, parts: Parts { ins, outs }, result, returned }))?;
    R::get(&units).map_err(|_| CallError::Malformed)
}

/// Posts a message that carries strings or slices.
///
/// # Errors
/// What keeps it from being sent.
#[inline(always)]
pub fn post_var<const UNITS: usize>(service: &ServiceWord, fixed: &mut [u32; UNITS], ins: &[&[u8]]) -> Result<(), CallError> {
    let number = service.number();
    if number == 0 {
        return Err(CallError::UnknownService);
    }
    settle(perform(
        service,
        &mut Call { number, kind: Kind::Post, var: true, fixed, parts: Parts { ins, outs: &mut [] }, result: &mut [], returned: &mut [] },
    ))
}
