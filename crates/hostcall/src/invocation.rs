//! One lane's call, as its handler sees it: arguments decoded one after another, and the result.
//!
//! Everything decided here is decided on a copy. The payload was copied out of shared memory before the invocation
//! was made; staged strings and slices are copied once, when they are decoded, into memory that lives as long as the
//! call. The exceptions are [`Invocation::raw_slice`] and [`Invocation::raw_out`], which give services that only move
//! bytes (files) the staged region itself.

use std::marker::PhantomData;
use std::ptr::NonNull;

use bumpalo::Bump;
use hostcall_abi::Status;
use hostcall_abi::codec::{self, DecodeError, Fixed, Plain, VarHead};
use hostcall_abi::port::Replies;

use crate::report::Report;
use crate::service::{Failure, HandlerResult, Shape, units_of};

/// Bytes of a staging area that belong to one lane's call.
///
/// The device may change them at any time: read each byte once, and decide nothing on bytes that are read again. Copying
/// through the methods, or handing the pointer to `pread`/`pwrite`, is fine; making a reference to it is not.
#[derive(Clone, Copy, Debug)]
pub struct StagedRegion<'a> {
    start: NonNull<u8>,
    len: usize,
    area: PhantomData<&'a ()>,
}

// SAFETY: a region is only an address and a length into memory that outlives `'a`; all access goes through raw pointers whose
// users accept concurrent change, whichever thread they are on.
unsafe impl Send for StagedRegion<'_> {}
// SAFETY: as above; the methods take no reference to the bytes.
unsafe impl Sync for StagedRegion<'_> {}

impl<'a> StagedRegion<'a> {
    /// # Safety
    /// `start` is valid for reads and writes of `len` bytes during `'a`.
    pub(crate) const unsafe fn new(start: NonNull<u8>, len: usize) -> Self {
        Self { start, len, area: PhantomData }
    }

    /// Its first byte.
    pub const fn as_ptr(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// Its length in bytes.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether it is empty.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The `len` bytes from `at` on, if they are inside.
    pub fn part(&self, at: usize, len: usize) -> Option<StagedRegion<'a>> {
        if at.checked_add(len)? > self.len {
            return None;
        }
        // SAFETY: `at + len` is within the region, so the sum stays in its allocation; valid during `'a` as the whole is.
        Some(unsafe { Self::new(self.start.add(at), len) })
    }

    /// Copies the first bytes out, as many as `to` holds or the region has; returns how many.
    pub fn copy_to(&self, to: &mut [u8]) -> usize {
        let n = to.len().min(self.len);
        // SAFETY: both sides are valid for `n` bytes, and a Rust slice never overlaps a staging area, to which no references exist.
        unsafe { std::ptr::copy_nonoverlapping(self.start.as_ptr(), to.as_mut_ptr(), n) };
        n
    }

    /// Copies the first bytes in, as many as `from` has or the region holds; returns how many.
    pub fn copy_from(&self, from: &[u8]) -> usize {
        let n = from.len().min(self.len);
        // SAFETY: as in `copy_to`, the other way round.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), self.start.as_ptr(), n) };
        n
    }
}

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
    /// In the staging area: everything from the lane's offset to the area's end, and how many bytes of it the arguments are.
    Staged { rest: StagedRegion<'a>, bytes: usize },
}

impl<'a> Var<'a> {
    /// The variable part of a post that was staged: its bytes have been copied.
    pub(crate) fn of_copy(units: &[u32], copy: &'a [u8]) -> Result<Self, DecodeError> {
        let &[offset, bytes] = units.first_chunk::<2>().ok_or(DecodeError::Short)?;
        if bytes as usize == copy.len() { Ok(Self::Copied(copy)) } else { Err(DecodeError::Region { offset, bytes }) }
    }

    /// Reads a lane's [`VarHead`] and checks it against the message and the staging area.
    pub(crate) fn of(units: &'a [u32], shape: Shape, staged: Option<StagedRegion<'a>>) -> Result<Self, DecodeError> {
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
                let start = (offset as usize).checked_mul(16).filter(|&start| start <= area.len()).ok_or(outside)?;
                let rest = area.part(start, area.len() - start).ok_or(outside)?;
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
    reply: Vec<u32>,
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
    /// Units that the reply may have.
    room: usize,
    outs_allowed: bool,
    arena: &'a Bump,
    /// Units of the reply, of which [`Replies::SHORT`] or fewer are in `short`, and more in `reply`.
    reply_len: usize,
    short: [u32; Replies::SHORT],
    reply: &'a mut Vec<u32>,
    outs: &'a mut Vec<u32>,
    caller: Caller<'a>,
}

impl<'a> Invocation<'a> {
    /// A lane's call with payload `units`. `room` is how many units its reply may have.
    #[inline]
    pub(crate) fn new(
        units: &'a [u32],
        shape: Shape,
        var: Var<'a>,
        room: usize,
        outs_allowed: bool,
        scratch: &'a mut Scratch,
        caller: Caller<'a>,
    ) -> Self {
        let Scratch { arena, reply, outs } = scratch;
        reply.clear();
        outs.clear();
        let at = if shape.takes_var { VarHead::DWORDS } else { 0 };
        Self {
            units,
            at,
            fixed_end: shape.units,
            var,
            var_at: 0,
            out_at: 0,
            room,
            outs_allowed,
            arena,
            reply_len: 0,
            short: [0; Replies::SHORT],
            reply,
            outs,
            caller,
        }
    }

    /// Makes it the call of another lane, of a service that takes neither strings nor slices, with payload `units`.
    #[inline(always)]
    pub(crate) fn restart(&mut self, units: &'a [u32], lane: u32) {
        self.units = units;
        self.at = 0;
        self.var_at = 0;
        self.out_at = 0;
        self.reply_len = 0;
        self.outs.clear();
        self.caller.lane = lane;
    }

    /// The service's number in this process.
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
        if R::DWORDS <= Replies::SHORT && self.outs.is_empty() {
            value.put(&mut self.short);
            self.reply_len = R::DWORDS;
        } else if let Var::Staged { rest, .. } = self.var
            && R::DWORDS + self.outs.len() <= Replies::SHORT
        {
            self.reply_staged(value, outs, rest);
        } else {
            units_of(value, self.reply);
            self.reply_outs(outs);
            self.end_reply();
        }
    }

    /// The result, and how many bytes of each `&mut [T]` argument are sent back, all of them from [`RawOut::Staged`] regions,
    /// which hold them already.
    pub fn reply_in_place<R: Fixed>(&mut self, value: &R, returned: &[usize]) {
        units_of(value, self.reply);
        self.reply.extend(self.outs.iter().enumerate().map(|(i, &len)| returned.get(i).map_or(0, |&n| n.min(len as usize) as u32)));
        self.end_reply();
    }

    /// The result and the lengths of what comes back, in `short`, and what comes back, in the lane's region.
    #[inline]
    fn reply_staged<R: Fixed>(&mut self, value: &R, outs: &[&[u8]], region: StagedRegion<'_>) {
        value.put(&mut self.short);
        for (i, &len) in self.outs.iter().enumerate() {
            self.short[R::DWORDS + i] = returned(outs, i, len).len() as u32;
        }
        self.stage(outs, region);
        self.reply_len = R::DWORDS + self.outs.len();
    }

    #[cold]
    fn reply_outs(&mut self, outs: &[&[u8]]) {
        self.reply.extend(self.outs.iter().enumerate().map(|(i, &len)| returned(outs, i, len).len() as u32));
        match self.var {
            Var::Staged { rest, .. } => self.stage(outs, rest),
            Var::Copied(_) => {
                for (i, &len) in self.outs.iter().enumerate() {
                    put_bytes(returned(outs, i, len), self.reply);
                }
            }
        }
    }

    /// Copies what comes back to the lane's region.
    fn stage(&self, outs: &[&[u8]], region: StagedRegion<'_>) {
        let mut at = 0;
        for (i, &len) in self.outs.iter().enumerate() {
            let out = returned(outs, i, len);
            // Each argument's place follows from their lengths, so that it does not move when an earlier one comes back short.
            // `out_len` has checked that it fits.
            if let Some(place) = region.part(at, out.len()) {
                place.copy_from(out);
            }
            at += padded_len(len);
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
            Var::Copied(_) if end > self.room * 4 => return Err(Failure::TooLarge { max: (self.room * 4) as u32 }),
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

    /// The reply is in `reply`.
    fn end_reply(&mut self) {
        self.reply_len = self.reply.len();
        if let Some(short) = self.short.get_mut(..self.reply_len) {
            short.copy_from_slice(self.reply);
        }
    }

    /// Turns what the handler returned into the lane's status; its payload is then [`Invocation::answer`].
    #[inline(always)]
    pub(crate) fn outcome(&mut self, result: &HandlerResult) -> Status {
        match result {
            Ok(()) if self.reply_len <= self.room => Status::OK,
            _ => {
                let (status, detail) = no_reply(self.room, result);
                (self.short[0], self.reply_len) = (detail, 1);
                status
            }
        }
    }

    /// The payload, after [`Invocation::outcome`]: that many units of these, or if they are more, [`Invocation::long_answer`].
    #[inline(always)]
    pub(crate) fn answer(&self) -> (&[u32; Replies::SHORT], usize) {
        (&self.short, self.reply_len)
    }

    /// The payload, if it is a long one.
    pub(crate) fn long_answer(&self) -> &[u32] {
        self.reply
    }

    /// Status and payload, when the call is over.
    #[inline]
    pub(crate) fn finish(mut self, result: &HandlerResult) -> (Status, &'a [u32]) {
        let status = self.outcome(result);
        if let Some(short) = self.short.get(..self.reply_len) {
            self.reply.clear();
            self.reply.extend_from_slice(short);
        }
        (status, self.reply)
    }
}

#[cold]
fn no_reply(room: usize, result: &HandlerResult) -> (Status, u32) {
    match result {
        Ok(()) => (Status::TOO_LARGE, (room * 4) as u32),
        Err(failure) => failure.to_status(),
    }
}

/// Appends bytes, padded to units.
fn put_bytes(bytes: &[u8], units: &mut Vec<u32>) {
    let chunks = bytes.chunks_exact(4);
    let rest = chunks.remainder();
    units.extend(chunks.map(|c| u32::from_ne_bytes([c[0], c[1], c[2], c[3]])));
    if !rest.is_empty() {
        let mut last = [0; 4];
        last[..rest.len()].copy_from_slice(rest);
        units.push(u32::from_ne_bytes(last));
    }
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
