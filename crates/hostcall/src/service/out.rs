//! What goes back to `&mut [T]` arguments: a writer into the place that the device reads, and how a reply carries it.

use std::marker::PhantomData;
use std::ptr::NonNull;

use hostcall_abi::codec::{self, DecodeError, Plain};

use super::arguments::{Arguments, Var, count_of, scratch_for};
use super::failure::Failure;
use crate::wire::StagedRegion;

/// A `&mut [T]` argument: zeroed scratch that is sent back when the handler has returned.
pub type OutSlice<'a, T> = &'a mut [T];

/// A `&mut [T]` argument without scratch: see [`Invocation::raw_out`](crate::Invocation::raw_out).
#[derive(Debug)]
pub enum RawOut<'a> {
    /// It travels with the reply: write it here.
    Scratch(&'a mut [u8]),
    /// It lies in the staging area: write it there, after all arguments were read.
    Staged(StagedRegion<'a>),
}

/// A `&mut [T]` argument as a writer: what is written goes back to the calling lane, from the slice's start.
///
/// The elements of a staged call are written to where the device reads them. Nothing is zeroed, and nothing is copied a
/// second time. The device's slice keeps its old elements behind those written; `out` in the kernel is told how many
/// there are.
///
/// An [`Out<u8>`](Out) is a [`std::io::Write`]: `write!(out, …)` and `std::io::copy` work.
///
/// ```
/// #[hostcall::service]
/// pub trait Host {
///     fn squares(from: u64, out: &mut [u64]) -> u32;
/// }
///
/// # fn main() {
/// let service = host::squares_out(|from, out| {
///     let mut next = from;
///     while out.push(next * next) {
///         next += 1;
///     }
///     out.written() as u32
/// });
/// assert_eq!(service.name(), "Host__squares");
/// # }
/// ```
#[derive(Debug)]
pub struct Out<'a, T> {
    start: NonNull<u8>,
    /// Elements that the device's slice has.
    len: usize,
    written: usize,
    /// It lies in the staging area, where the device may write too.
    staged: bool,
    memory: PhantomData<&'a mut [T]>,
}

// SAFETY: an address into memory that outlives `'a` and that nobody else on the host writes, and two numbers.
unsafe impl<T: Send> Send for Out<'_, T> {}
// SAFETY: as above; through a shared reference nothing is written.
unsafe impl<T: Sync> Sync for Out<'_, T> {}

impl<'a, T: Plain> Out<'a, T> {
    /// # Safety
    /// `start` is valid for writes of `len` elements during `'a`, on the host through this only; if it is not `staged`,
    /// for reads as well, and nobody else's at all.
    const unsafe fn new(start: NonNull<u8>, len: usize, staged: bool) -> Self {
        Self { start, len, written: 0, staged, memory: PhantomData }
    }

    /// Elements that the device's slice has.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether the device's slice is empty.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Elements written so far: those that go back.
    pub const fn written(&self) -> usize {
        self.written
    }

    /// Elements for which there is room left.
    pub const fn remaining(&self) -> usize {
        self.len - self.written
    }

    /// Writes as many elements as there is room for; returns how many.
    pub fn write(&mut self, elements: &[T]) -> usize {
        let n = elements.len().min(self.remaining());
        // SAFETY: `written + n` elements are within `len`; a Rust slice overlaps neither fresh scratch nor a staging
        // area, to which no references exist. Bytes are copied, so alignment does not matter; those of a `T: Plain` are
        // all initialised.
        unsafe { std::ptr::copy_nonoverlapping(elements.as_ptr().cast::<u8>(), self.next(), n * size_of::<T>()) };
        self.written += n;
        n
    }

    /// Writes one element, if there is room; returns whether there was.
    pub fn push(&mut self, element: T) -> bool {
        self.write(std::slice::from_ref(&element)) == 1
    }

    /// Where the next element goes: room for [`remaining`](Out::remaining) of them, *not* aligned for `T`. For
    /// functions that fill memory, such as `pread`; tell how many there are by [`advance`](Out::advance). Do not read
    /// there, and make no reference to it: a staged region is shared with the device.
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.next()
    }

    /// `n` more elements have been written.
    ///
    /// # Safety
    /// They have: every byte of them, at [`as_mut_ptr`](Out::as_mut_ptr).
    ///
    /// # Panics
    /// When there is no room for them.
    pub unsafe fn advance(&mut self, n: usize) {
        assert!(n <= self.remaining(), "{n} elements where there is room for {}", self.remaining());
        self.written += n;
    }

    /// Forgets the elements behind the first `written`.
    pub fn truncate(&mut self, written: usize) {
        self.written = self.written.min(written);
    }

    fn next(&self) -> *mut u8 {
        // SAFETY: `written` elements are within the memory.
        unsafe { self.start.as_ptr().add(self.written * size_of::<T>()) }
    }

    /// What was written, for [`Invocation::reply_written`](crate::Invocation::reply_written).
    pub fn finish(self) -> Written<'a> {
        let bytes = self.written * size_of::<T>();
        // SAFETY: scratch is this call's alone, valid during `'a`, and nobody writes there any more; `bytes` of it have
        // been written.
        let scratch = if self.staged { &[] } else { unsafe { std::slice::from_raw_parts(self.start.as_ptr(), bytes) } };
        Written { bytes, scratch }
    }
}

impl std::io::Write for Out<'_, u8> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        Ok(Out::write(self, bytes))
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<T: Plain> Extend<T> for Out<'_, T> {
    /// Writes elements until there is no more room.
    fn extend<I: IntoIterator<Item = T>>(&mut self, elements: I) {
        let mut elements = elements.into_iter();
        while self.remaining() > 0
            && let Some(element) = elements.next()
        {
            self.push(element);
        }
    }
}

/// What was written to an [`Out`].
#[derive(Clone, Copy, Debug)]
pub struct Written<'a> {
    bytes: usize,
    /// The bytes, unless they are staged.
    scratch: &'a [u8],
}

impl<'a> Written<'a> {
    /// The bytes, unless they are staged.
    pub(super) const fn scratch(&self) -> &'a [u8] {
        self.scratch
    }
}

/// How a reply carries what comes back of `&mut [T]` arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutsIn {
    /// Not at all: there can be no such arguments.
    Nothing,
    /// Behind the result, or where the call is staged.
    Reply,
    /// As an image of the lane's staged region, which is elsewhere: see [`put_image`].
    Image,
}

/// The `&mut [T]` arguments of one call: their lengths in bytes, as far as they were decoded.
#[derive(Debug)]
pub(super) struct Outs<'a> {
    pub(super) lengths: &'a mut Vec<u32>,
    /// Bytes of them, each padded.
    at: usize,
    pub(super) carried: OutsIn,
}

impl<'a> Outs<'a> {
    #[inline(always)]
    pub(super) fn new(lengths: &'a mut Vec<u32>, carried: OutsIn) -> Self {
        lengths.clear();
        Self { lengths, at: 0, carried }
    }

    /// The next one's length in bytes, checked to fit into a reply of `room` units, or into the lane's region; and
    /// where in that it begins.
    fn next(&mut self, arguments: &mut Arguments<'_>, room: usize) -> Result<(usize, usize), Failure> {
        if self.carried == OutsIn::Nothing {
            return Err(Failure::HandlerFailed { code: 0, message: "deferred and async services have no `&mut [T]` arguments".into() });
        }
        let (at, bytes) = (self.at, arguments.fixed::<u32>()?);
        let end = at + bytes as usize;
        match arguments.var {
            Var::Staged { rest, .. } if end > rest.len() => return Err(DecodeError::Region { offset: (at / 16) as u32, bytes }.into()),
            Var::Copied(_) if end > room * 4 => return Err(Failure::TooLarge { max: (room * 4) as u32 }),
            _ => {}
        }
        self.at += padded_len(bytes);
        self.lengths.push(bytes);
        Ok((at, bytes as usize))
    }

    /// Zeroed scratch.
    pub(super) fn slice<'s, T: Plain>(&mut self, arguments: &mut Arguments<'s>, room: usize) -> Result<OutSlice<'s, T>, Failure> {
        let (_, bytes) = self.next(arguments, room)?;
        let count = count_of::<T>(bytes)?;
        if count == 0 {
            return Ok(&mut []);
        }
        let start = scratch_for::<T>(arguments.arena, count);
        // SAFETY: `start` is fresh, aligned, valid for `count` elements during `'s`, and zeroed here, which is a value
        // of any `T: Plain`.
        Ok(unsafe {
            start.write_bytes(0, count);
            std::slice::from_raw_parts_mut(start.as_ptr(), count)
        })
    }

    /// A writer.
    pub(super) fn writer<'s, T: Plain>(&mut self, arguments: &mut Arguments<'s>, room: usize) -> Result<Out<'s, T>, Failure> {
        let (at, bytes) = self.next(arguments, room)?;
        let count = count_of::<T>(bytes)?;
        let start = match arguments.var {
            Var::Staged { rest, .. } => {
                let place = rest.part(at, bytes).ok_or(DecodeError::Region { offset: (at / 16) as u32, bytes: bytes as u32 })?;
                NonNull::new(place.as_ptr()).unwrap_or(NonNull::dangling())
            }
            Var::Copied(_) => scratch_for::<T>(arguments.arena, count).cast(),
        };
        // SAFETY: the place of this argument, which is no other's (places follow one another), or fresh scratch; either
        // is valid during `'s`.
        Ok(unsafe { Out::new(start, count, matches!(arguments.var, Var::Staged { .. })) })
    }

    /// The place of a staged argument itself, or scratch.
    pub(super) fn raw<'s>(&mut self, arguments: &mut Arguments<'s>, room: usize) -> Result<RawOut<'s>, Failure> {
        let Var::Staged { rest, .. } = arguments.var else { return Ok(RawOut::Scratch(self.slice::<u8>(arguments, room)?)) };
        let (at, bytes) = self.next(arguments, room)?;
        let region = rest.part(at, bytes).ok_or(DecodeError::Region { offset: (at / 16) as u32, bytes: bytes as u32 })?;
        Ok(RawOut::Staged(region))
    }
}

/// One more unit of a reply of `len` units.
pub(super) fn push(stream: &mut [u32], len: &mut usize, unit: u32) {
    *len += 1;
    if let Some(place) = stream.get_mut(*len) {
        *place = unit;
    }
}

/// The lengths of what comes back of `&mut [T]` arguments of so many bytes, and what comes back: in the reply, whose
/// length is returned, or in the lane's region.
pub(super) fn put_slices(stream: &mut [u32], mut len: usize, var: Var<'_>, lengths: &[u32], outs: &[&[u8]]) -> usize {
    for (i, &bytes) in lengths.iter().enumerate() {
        push(stream, &mut len, returned(outs, i, bytes).len() as u32);
    }
    if let Var::Staged { rest, .. } = var {
        let mut at = 0;
        for (i, &bytes) in lengths.iter().enumerate() {
            let out = returned(outs, i, bytes);
            // Each argument's place follows from their lengths, so that it does not move when an earlier one comes back
            // short. `Outs::next` has checked that it fits.
            if let Some(place) = rest.part(at, out.len()) {
                place.copy_from(out);
            }
            at += padded_len(bytes);
        }
        return len;
    }
    for (i, &bytes) in lengths.iter().enumerate() {
        put_bytes(stream, &mut len, returned(outs, i, bytes));
    }
    len
}

/// The same as an image of the lane's staged region, for who has it: the lengths of what comes back, the bytes of each
/// argument at its place, and last how many arguments there are, because only the handler knows.
pub(super) fn put_image<'o>(stream: &mut [u32], mut len: usize, lengths: &[u32], out: impl Fn(usize) -> Option<&'o [u8]>) -> usize {
    let part = |i: usize, bytes: u32| out(i).map_or(&[][..], |out| &out[..out.len().min(bytes as usize)]);
    for (i, &bytes) in lengths.iter().enumerate() {
        push(stream, &mut len, part(i, bytes).len() as u32);
    }
    for (i, &bytes) in lengths.iter().enumerate() {
        let end = len + padded_len(bytes) / 4;
        put_bytes(stream, &mut len, part(i, bytes));
        // What an earlier call left there is not sent along.
        if let Some(rest) = stream.get_mut(len + 1..=end) {
            rest.fill(0);
        }
        len = end;
    }
    push(stream, &mut len, lengths.len() as u32);
    len
}

/// The same of what was written to writers: staged bytes are where they belong.
pub(super) fn put_written(stream: &mut [u32], mut len: usize, var: Var<'_>, lengths: &[u32], outs: &[Written<'_>]) -> usize {
    let part = |i: usize, bytes: u32| outs.get(i).map_or(0, |out| out.bytes.min(bytes as usize));
    for (i, &bytes) in lengths.iter().enumerate() {
        push(stream, &mut len, part(i, bytes) as u32);
    }
    if matches!(var, Var::Copied(_)) {
        for (out, &bytes) in outs.iter().zip(lengths) {
            put_bytes(stream, &mut len, &out.scratch[..out.scratch.len().min(bytes as usize)]);
        }
    }
    len
}

fn put_bytes(stream: &mut [u32], len: &mut usize, bytes: &[u8]) {
    let units = bytes.len().div_ceil(4);
    if let Some(place) = stream.get_mut(*len + 1..=*len + units) {
        if let Some(last) = place.last_mut() {
            *last = 0;
        }
        codec::bytes_mut(place)[..bytes.len()].copy_from_slice(bytes);
    }
    *len += units;
}

/// What comes back of `&mut [T]` argument `i`, which is `len` bytes long.
fn returned<'o>(outs: &[&'o [u8]], i: usize, len: u32) -> &'o [u8] {
    outs.get(i).map_or(&[], |out| &out[..out.len().min(len as usize)])
}

fn padded_len(bytes: u32) -> usize {
    (bytes as usize).next_multiple_of(4)
}
