//! One lane's call, as its handler sees it: arguments decoded one after another, and the result.
//!
//! Everything here is decided on a copy. The payload was copied out of shared memory before the invocation was made.
//! Staged strings and slices are copied once, when they are decoded, into memory that lives as long as the call. There
//! are two exceptions: [`Invocation::raw_slice`] and [`Invocation::raw_out`] give services that only move bytes
//! (files) the staged region itself.

use std::ptr::NonNull;

use bumpalo::Bump;
use hostcall_abi::codec::{self, DecodeError, Fixed, Plain, VarHead};
use hostcall_abi::{ReplyHead, Status};

use super::definition::Shape;
use super::failure::{Failure, HandlerResult};
use crate::record::Report;
use crate::wire::{StagedRegion, Staging};

/// A string or slice argument without a copy: see [`Invocation::raw_slice`].
#[derive(Clone, Copy, Debug)]
pub enum RawSlice<'a> {
    /// It came with the message, and was copied with it.
    Copied(&'a [u8]),
    /// It lies in the staging area.
    Staged(StagedRegion<'a>),
}

/// A `&mut [T]` argument without scratch: see [`Invocation::raw_out`].
#[derive(Debug)]
pub enum RawOut<'a> {
    /// It travels with the reply: write it here.
    Scratch(&'a mut [u8]),
    /// It lies in the staging area: write it there, after all arguments were read.
    Staged(StagedRegion<'a>),
}

/// A `&mut [T]` argument: zeroed scratch that is sent back when the handler has returned.
pub type OutSlice<'a, T> = &'a mut [T];

/// Where the bytes of a call's strings and slices are.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Var<'a> {
    /// Copied with the message (or, of a staged post, before it was acknowledged).
    Copied(&'a [u8]),
    /// In the staging area: everything from the lane's offset to the end of its slot, and how many bytes of it the arguments are.
    Staged { rest: StagedRegion<'a>, bytes: usize },
}

impl<'a> Var<'a> {
    /// The variable part of a post that was staged: its bytes have been copied.
    pub(crate) fn of_copy(units: &[u32], copy: &'a [u8]) -> Result<Self, DecodeError> {
        let &[offset, bytes] = units.first_chunk::<2>().ok_or(DecodeError::Short)?;
        if bytes as usize == copy.len() { Ok(Self::Copied(copy)) } else { Err(DecodeError::Region { offset, bytes }) }
    }

    /// Reads a lane's [`VarHead`] and checks it against the message and the staging area.
    pub(crate) fn of(units: &'a [u32], shape: Shape, staged: Option<Staging<'a>>) -> Result<Self, DecodeError> {
        if !shape.takes_var {
            // A region that nobody reads would be a client's mistake at best.
            return if staged.is_none() { Ok(Self::Copied(&[])) } else { Err(DecodeError::Value(VarHead::DWORDS as u32)) };
        }
        let (&[offset, bytes], rest) =
            (units.first_chunk::<2>().ok_or(DecodeError::Short)?, units.get(shape.units..).ok_or(DecodeError::Short)?);
        match staged {
            None if offset == VarHead::INLINE => Ok(Self::Copied(codec::bytes(rest).get(..bytes as usize).ok_or(DecodeError::Short)?)),
            None => Err(DecodeError::Region { offset, bytes }),
            Some(area) => {
                let outside = DecodeError::Region { offset, bytes };
                let rest = area.region(offset).ok_or(outside)?;
                if bytes as usize > rest.len() {
                    return Err(outside);
                }
                Ok(Self::Staged { rest, bytes: bytes as usize })
            }
        }
    }
}

/// Memory that a thread reuses from call to call.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    arena: Bump,
    /// Lengths of the call's `&mut [T]` arguments in bytes.
    outs: Vec<u32>,
}

impl Scratch {
    /// Scratch that grew beyond this is given back to the system after the call.
    const KEEP: usize = 1 << 20;

    /// Forgets the last call.
    pub(crate) fn clear(&mut self) {
        if self.arena.allocated_bytes() > Self::KEEP {
            self.arena = Bump::new();
        } else if self.arena.allocated_bytes() > 0 {
            self.arena.reset();
        }
    }
}

/// Who calls.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caller<'a> {
    pub(crate) service: u16,
    pub(crate) port: u32,
    pub(crate) lane: u32,
    pub(crate) post: bool,
    pub(crate) may_block: bool,
    pub(crate) report: &'a Report,
}

/// One lane's call.
///
/// Arguments are decoded in order, each exactly once; what they borrow lives as long as the call.
#[derive(Debug)]
pub struct Invocation<'a> {
    units: &'a [u32],
    at: usize,
    fixed_end: usize,
    var: Var<'a>,
    /// Bytes of the variable arguments consumed.
    var_at: usize,
    /// Bytes of `&mut [T]` arguments given out, each padded.
    out_at: usize,
    outs_allowed: bool,
    arena: &'a Bump,
    /// The lane's reply: its head, and as many units behind it as there is room for.
    stream: &'a mut [u32],
    /// Units of the reply, the head not counted; more than there is room for if it does not fit.
    reply_len: usize,
    outs: &'a mut Vec<u32>,
    caller: Caller<'a>,
}

impl<'a> Invocation<'a> {
    /// A lane's call with payload `units`, whose reply goes to `stream`: a unit for its head, and the room that it has behind.
    #[inline(always)]
    pub(crate) fn new(
        units: &'a [u32],
        shape: Shape,
        var: Var<'a>,
        stream: &'a mut [u32],
        outs_allowed: bool,
        scratch: &'a mut Scratch,
        caller: Caller<'a>,
    ) -> Self {
        let Scratch { arena, outs } = scratch;
        outs.clear();
        let at = if shape.takes_var { VarHead::DWORDS } else { 0 };
        Self { units, at, fixed_end: shape.units, var, var_at: 0, out_at: 0, outs_allowed, arena, stream, reply_len: 0, outs, caller }
    }

    /// Units that the reply may have.
    #[inline(always)]
    fn room(&self) -> usize {
        self.stream.len() - 1
    }

    /// The number of the service that the lane calls, as the message says it: of a default handler, any number that no service has.
    pub fn service(&self) -> u16 {
        self.caller.service
    }

    /// The port it came through.
    pub fn port(&self) -> u32 {
        self.caller.port
    }

    /// The calling lane's number in its wave.
    pub fn lane(&self) -> u32 {
        self.caller.lane
    }

    /// Whether nobody waits for a result.
    pub fn is_post(&self) -> bool {
        self.caller.post
    }

    /// Whether the handler runs where it may block: on the blocking pool.
    pub fn may_block(&self) -> bool {
        self.caller.may_block
    }

    /// Where what ends the kernel is reported.
    #[doc(hidden)]
    pub fn report(&self) -> &'a Report {
        self.caller.report
    }

    /// The lane's payload as it came, for default handlers, which know no shape.
    pub fn payload(&self) -> &'a [u32] {
        self.units
    }

    /// The next argument, of a fixed-size type.
    ///
    /// # Errors
    /// When the payload is shorter or holds no value of the type.
    #[inline]
    pub fn fixed<T: Fixed>(&mut self) -> Result<T, DecodeError> {
        let end = self.at + T::DWORDS;
        if end > self.fixed_end {
            return Err(DecodeError::Short);
        }
        let value = T::get(self.units.get(self.at..end).ok_or(DecodeError::Short)?)?;
        self.at = end;
        Ok(value)
    }

    /// The next argument, a string.
    ///
    /// # Errors
    /// When it is not there whole, or not UTF-8.
    pub fn str(&mut self) -> Result<&'a str, DecodeError> {
        std::str::from_utf8(self.slice::<u8>()?).map_err(|_| DecodeError::Utf8)
    }

    /// The next argument, a slice, aligned for its type.
    ///
    /// # Errors
    /// When it is not there whole, or no whole number of elements.
    pub fn slice<T: Plain>(&mut self) -> Result<&'a [T], DecodeError> {
        let raw = self.raw_slice()?;
        let bytes = match raw {
            RawSlice::Copied(bytes) => bytes.len(),
            RawSlice::Staged(region) => region.len(),
        };
        let count = count_of::<T>(bytes)?;
        if count == 0 {
            return Ok(&[]);
        }
        let start = match raw {
            RawSlice::Copied(bytes) if bytes.as_ptr().cast::<T>().is_aligned() => bytes.as_ptr().cast::<T>(),
            raw => {
                let from = match raw {
                    RawSlice::Copied(bytes) => bytes.as_ptr(),
                    RawSlice::Staged(region) => region.as_ptr(),
                };
                let to = self.scratch::<T>(count);
                // SAFETY: both are valid for `bytes` bytes, which are `count` elements; `to` is fresh. What is staged is read once.
                unsafe { std::ptr::copy_nonoverlapping(from, to.as_ptr().cast::<u8>(), bytes) };
                to.as_ptr()
            }
        };
        // SAFETY: `start` is aligned for `T` and valid for `count` initialised elements during `'a` (the message's copy and the
        // arena both live that long); every bit pattern is a `T: Plain`; nobody writes there any more.
        Ok(unsafe { std::slice::from_raw_parts(start, count) })
    }

    /// The next argument, a string or slice, as bytes where they are: a staged one is *not* copied, and the device may change
    /// it at any time. For services that only move bytes.
    ///
    /// # Errors
    /// When it is not there whole.
    #[doc(hidden)]
    pub fn raw_slice(&mut self) -> Result<RawSlice<'a>, DecodeError> {
        let len = self.fixed::<u32>()?;
        let start = self.var_at;
        let end = start.checked_add(len as usize).ok_or(DecodeError::Short)?;
        let raw = match self.var {
            Var::Copied(bytes) => RawSlice::Copied(bytes.get(start..end).ok_or(DecodeError::Short)?),
            Var::Staged { rest, bytes } => {
                if end > bytes {
                    return Err(DecodeError::Short);
                }
                RawSlice::Staged(rest.part(start, len as usize).ok_or(DecodeError::Short)?)
            }
        };
        // `end` is at most a length in memory, so rounding up cannot overflow.
        self.var_at = end.next_multiple_of(4);
        Ok(raw)
    }

    /// The next argument, a `&mut [T]`: zeroed scratch, whose bytes the glue hands to [`Invocation::reply`].
    ///
    /// # Errors
    /// When its length is no whole number of elements, or does not fit into a reply or into the lane's staged region.
    pub fn out<T: Plain>(&mut self) -> Result<OutSlice<'a, T>, Failure> {
        let bytes = self.out_len()?;
        let count = count_of::<T>(bytes as usize)?;
        if count == 0 {
            return Ok(&mut []);
        }
        let start = self.scratch::<T>(count);
        // SAFETY: `start` is fresh, aligned, valid for `count` elements during `'a`, and zeroed here, which is a value of any `T: Plain`.
        Ok(unsafe {
            start.write_bytes(0, count);
            std::slice::from_raw_parts_mut(start.as_ptr(), count)
        })
    }

    /// The next argument, a `&mut [u8]`, as memory to fill: of a staged call the region itself, into which a file can be read
    /// directly (then answer with [`Invocation::reply_in_place`]). The arguments lie in the same bytes, so all of them must have
    /// been read.
    ///
    /// # Errors
    /// When it does not fit into a reply or into the lane's staged region.
    #[doc(hidden)]
    pub fn raw_out(&mut self) -> Result<RawOut<'a>, Failure> {
        let at = self.out_at;
        if let Var::Staged { rest, .. } = self.var {
            let bytes = self.out_len()?;
            let region = rest.part(at, bytes as usize).ok_or(DecodeError::Region { offset: (at / 16) as u32, bytes })?;
            return Ok(RawOut::Staged(region));
        }
        Ok(RawOut::Scratch(self.out::<u8>()?))
    }

    /// The whole staged region of this call, from its start to the end of what the arguments take; `None` if they came with the message.
    pub fn staged_region(&self) -> Option<StagedRegion<'a>> {
        match self.var {
            Var::Copied(_) => None,
            Var::Staged { rest, bytes } => rest.part(0, bytes),
        }
    }

    /// The result, and the bytes that are sent back of each `&mut [T]` argument, in order; for none of them, or a post, `&[]`.
    ///
    /// A slice shorter than the argument sends back only its first part; bytes past the argument's length are not sent.
    #[inline]
    pub fn reply<R: Fixed>(&mut self, value: &R, outs: &[&[u8]]) {
        self.put_value(value);
        if !self.outs.is_empty() {
            // By values, so that a call without `&mut [T]` arguments need not be in memory.
            self.reply_len = put_outs(self.stream, self.reply_len, self.var, self.outs, outs);
        }
    }

    /// The result, and how many bytes of each `&mut [T]` argument are sent back, all of them from [`RawOut::Staged`] regions,
    /// which hold them already.
    #[doc(hidden)]
    pub fn reply_in_place<R: Fixed>(&mut self, value: &R, returned: &[usize]) {
        self.put_value(value);
        for (i, &len) in self.outs.iter().enumerate() {
            push(self.stream, &mut self.reply_len, returned.get(i).map_or(0, |&n| n.min(len as usize) as u32));
        }
    }

    /// The result as units, for default handlers, which know no shape. More than [`Invocation::reply_capacity`] end the call as
    /// [`CallError::TooLarge`](crate::CallError::TooLarge).
    pub fn reply_units(&mut self, units: &[u32]) {
        self.reply_len = units.len();
        if let Some(room) = self.stream.get_mut(1..=units.len()) {
            room.copy_from_slice(units);
        }
    }

    /// Units that a reply has room for.
    pub fn reply_capacity(&self) -> usize {
        self.room()
    }

    /// The result's units.
    #[inline(always)]
    fn put_value<R: Fixed>(&mut self, value: &R) {
        self.reply_len = R::DWORDS;
        if let Some(room) = self.stream.get_mut(1..=R::DWORDS) {
            value.put(room);
        }
    }

    /// Decodes the length of the next `&mut [T]` argument and checks that it fits where it goes.
    fn out_len(&mut self) -> Result<u32, Failure> {
        if !self.outs_allowed {
            return Err(Failure::HandlerFailed { code: 0, message: "deferred and async services have no `&mut [T]` arguments".into() });
        }
        let bytes = self.fixed::<u32>()?;
        let end = self.out_at + bytes as usize;
        match self.var {
            Var::Staged { rest, .. } if end > rest.len() => {
                return Err(DecodeError::Region { offset: (self.out_at / 16) as u32, bytes }.into());
            }
            Var::Copied(_) if end > self.room() * 4 => return Err(Failure::TooLarge { max: (self.room() * 4) as u32 }),
            _ => {}
        }
        self.out_at += padded_len(bytes);
        self.outs.push(bytes);
        Ok(bytes)
    }

    /// Fresh memory, not yet initialised.
    fn scratch<T: Plain>(&self, count: usize) -> NonNull<T> {
        // `count * size_of::<T>()` is the length of bytes that exist (or fit a region that does), so the layout is valid.
        let layout = std::alloc::Layout::array::<T>(count).expect("no longer than the staging area");
        self.arena.alloc_layout(layout).cast()
    }

    /// Turns what the handler returned into the lane's reply: its head, and if it failed, the detail.
    #[inline(always)]
    pub(crate) fn finish(&mut self, result: &HandlerResult) -> Finished {
        match result {
            Ok(()) if self.reply_len <= self.room() => put_head(self.stream, Status::OK, self.reply_len),
            _ => put_failure(self.stream, self.room(), result),
        }
    }
}

/// One more unit of a reply of `len` units.
fn push(stream: &mut [u32], len: &mut usize, unit: u32) {
    *len += 1;
    if let Some(place) = stream.get_mut(*len) {
        *place = unit;
    }
}

/// The lengths of what comes back of `&mut [T]` arguments of so many bytes, and what comes back: in the reply, whose length is returned, or in the
/// lane's region.
fn put_outs(stream: &mut [u32], mut len: usize, var: Var<'_>, lengths: &[u32], outs: &[&[u8]]) -> usize {
    for (i, &bytes) in lengths.iter().enumerate() {
        push(stream, &mut len, returned(outs, i, bytes).len() as u32);
    }
    if let Var::Staged { rest, .. } = var {
        let mut at = 0;
        for (i, &bytes) in lengths.iter().enumerate() {
            let out = returned(outs, i, bytes);
            // Each argument's place follows from their lengths, so that it does not move when an earlier one comes back short.
            // `out_len` has checked that it fits.
            if let Some(place) = rest.part(at, out.len()) {
                place.copy_from(out);
            }
            at += padded_len(bytes);
        }
        return len;
    }
    for (i, &bytes) in lengths.iter().enumerate() {
        for chunk in returned(outs, i, bytes).chunks(4) {
            let mut unit = [0; 4];
            unit[..chunk.len()].copy_from_slice(chunk);
            push(stream, &mut len, u32::from_ne_bytes(unit));
        }
    }
    len
}

/// How a lane's call ended: what its stream holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Finished {
    pub(crate) status: Status,
    /// Units of the reply, the head not counted.
    pub(crate) units: usize,
}

/// The head of a reply whose `units` units are in `stream`.
#[inline(always)]
fn put_head(stream: &mut [u32], status: Status, units: usize) -> Finished {
    stream[0] = ReplyHead { status, dwords: units as u16 }.encode();
    Finished { status, units }
}

/// A reply of a status and one unit of detail; what an earlier reply left behind it is not sent along.
#[cold]
pub(crate) fn put_status(stream: &mut [u32], status: Status, detail: u32) -> Finished {
    stream.fill(0);
    let units = usize::from(stream.len() > 1);
    if units == 1 {
        stream[1] = detail;
    }
    put_head(stream, status, units)
}

#[cold]
fn put_failure(stream: &mut [u32], room: usize, result: &HandlerResult) -> Finished {
    let (status, detail) = match result {
        Ok(()) => (Status::TOO_LARGE, (room * 4) as u32),
        Err(failure) => failure.to_status(),
    };
    put_status(stream, status, detail)
}

/// What comes back of `&mut [T]` argument `i`, which is `len` bytes long.
fn returned<'o>(outs: &[&'o [u8]], i: usize, len: u32) -> &'o [u8] {
    outs.get(i).map_or(&[], |out| &out[..out.len().min(len as usize)])
}

fn padded_len(bytes: u32) -> usize {
    (bytes as usize).next_multiple_of(4)
}

fn count_of<T>(bytes: usize) -> Result<usize, DecodeError> {
    let element = size_of::<T>();
    if bytes == 0 {
        return Ok(0);
    }
    if element == 0 || !bytes.is_multiple_of(element) {
        return Err(DecodeError::Length { bytes: bytes as u32, element: element as u32 });
    }
    Ok(bytes / element)
}
