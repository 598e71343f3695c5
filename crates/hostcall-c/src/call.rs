//! `hc_call`: a message while a handler of the application has it.
//!
//! The handler's results and failures are kept here and given when it is done, so that the last word on a lane counts.
//! Strings and slices of a lane are decoded when it first asks for one of them.

use std::sync::Arc;

use hostcall::{Arguments, Batch, DeferredBatch, Failure, HandlerResult, Invocation, Origin, Requests, VariableKind};
use hostcall_abi::codec::{DecodeError, VarHead};

use crate::definition::Defined;
use crate::handler::{Code, Lanes};
use crate::status::{Error, Status};

/// What an `hc_call` points at.
pub(crate) struct Call<'a> {
    defined: &'a Defined,
    source: Source<'a>,
    lanes: u32,
    /// By lane, when it was first asked for.
    variables: Vec<Option<Decoded>>,
    failures: Vec<(u32, Failure)>,
}

/// Where the message's strings and slices are.
enum Source<'a> {
    /// Its service has none.
    Nowhere,
    /// With the thread that handles it, which waits for the handler.
    Now {
        requests: Requests<'a>,
        /// Of each lane, the bytes for which its `&mut [T]` have room; empty if the service has none.
        rooms: Vec<Result<usize, DecodeError>>,
    },
    /// Here.
    Later(DeferredBatch),
    /// It has been answered.
    Gone,
}

/// A lane's strings and slices, in order; `None` if the lane lies, and its call has been failed.
type Decoded = Option<Vec<Place>>;

enum Place {
    /// What the lane sent: in memory of the message's.
    In { start: *const u8, bytes: usize },
    /// What goes back to it.
    Out(Out),
}

/// Bytes that go back.
struct Out {
    bytes: usize,
    /// Zeroed; there is none before it is asked for.
    buffer: Vec<u128>,
    /// How many bytes go back.
    returned: usize,
}

impl Out {
    fn returned(&self) -> &[u8] {
        // SAFETY: the buffer's bytes, all initialised; `returned` is no more than `bytes`, for which it was made, or it
        // is 0.
        unsafe { std::slice::from_raw_parts(self.buffer.as_ptr().cast(), self.returned) }
    }
}

impl<'a> Call<'a> {
    /// A message whose handler answers before it returns, of a service without strings and slices; others are told
    /// [where they are](Call::has_strings).
    #[inline]
    pub(crate) fn now(defined: &'a Defined, lanes: usize) -> Self {
        Self { defined, source: Source::Nowhere, lanes: lanes as u32, variables: Vec::new(), failures: Vec::new() }
    }

    /// The message is this one.
    #[inline(never)]
    pub(crate) fn has_strings(&mut self, batch: &Batch<'a>) {
        let rooms = if self.defined.has_out() { (0..batch.len()).map(|lane| batch.out_room(lane)).collect() } else { Vec::new() };
        self.source = Source::Now { requests: batch.requests(), rooms };
    }

    /// One whose handler keeps it.
    fn later(defined: &'a Defined, mut message: DeferredBatch) -> Self {
        let lanes = message.batch().len() as u32;
        Self { defined, source: Source::Later(message), lanes, variables: Vec::new(), failures: Vec::new() }
    }

    /// Gives the results of all lanes, a row for each, and what goes back of their slices; then the failures.
    pub(crate) fn answer(&self, batch: &mut Batch<'_>, results: &[u32]) {
        let width = self.defined.reply_units();
        let row = |lane: usize| &results[lane * width..(lane + 1) * width];
        if self.defined.has_out() {
            for lane in 0..batch.len() {
                if !self.failures.iter().any(|(failed, _)| *failed as usize == lane) {
                    batch.call(lane, |call| self.reply(lane, call, row(lane)));
                }
            }
        } else if !batch.is_post() {
            batch.reply_all(|mut rows| rows.copy_from(results));
        }
        self.fail_in(batch);
    }

    /// Gives the failures.
    #[inline]
    pub(crate) fn fail_in(&self, batch: &mut Batch<'_>) {
        for (lane, failure) in &self.failures {
            batch.fail(*lane as usize, failure.clone());
        }
    }

    /// One lane's reply: what goes back of its slices has its place behind the arguments, which are decoded once more.
    fn reply(&self, lane: usize, call: &mut Invocation<'_>, result: &[u32]) -> HandlerResult {
        let places = self.variables.get(lane).and_then(|lane| lane.as_ref()?.as_ref());
        let mut writers = Vec::new();
        let mut at = VarHead::DWORDS;
        for variable in &self.defined.variables {
            while at < variable.unit {
                call.fixed::<u32>()?;
                at += 1;
            }
            at += 1;
            match variable.kind {
                VariableKind::SliceMut => writers.push(call.writer::<u8>()?),
                _ => _ = call.raw_slice()?,
            }
        }
        let outs = places.into_iter().flatten().filter_map(|place| if let Place::Out(out) = place { Some(out) } else { None });
        for (writer, out) in writers.iter_mut().zip(outs) {
            writer.write(out.returned());
        }
        let written: Vec<_> = writers.into_iter().map(hostcall::Out::finish).collect();
        call.reply_units_written(result, &written);
        Ok(())
    }

    /// What the lane's `variable`-th string or slice is.
    fn place(&mut self, lane: u32, variable: u32) -> Result<&mut Place, Error> {
        self.check(lane)?;
        let (count, name) = (self.defined.variables.len(), &self.defined.definition.name);
        if variable as usize >= count {
            return Err(Error::invalid(format!("`{name}` has no string or slice {variable}: there are {count}")));
        }
        if self.variables.is_empty() {
            self.variables.resize_with(self.lanes as usize, || None);
        }
        if self.variables[lane as usize].is_none() {
            let decoded = self.decode(lane as usize);
            let decoded = decoded.map_err(|failure| self.set(lane, &failure)).ok();
            self.variables[lane as usize] = Some(decoded);
        }
        match &mut self.variables[lane as usize] {
            Some(Some(places)) => Ok(&mut places[variable as usize]),
            _ => {
                let text =
                    format!("lane {lane} of a message to `{name}` has sent strings or slices that are none; its call has been failed");
                Err(Error::new(Status::Malformed, text))
            }
        }
    }

    fn decode(&mut self, lane: usize) -> Result<Vec<Place>, Failure> {
        let (requests, room) = match &mut self.source {
            Source::Now { requests, rooms } => (*requests, rooms.get(lane).cloned().unwrap_or(Ok(0))?),
            Source::Later(message) => {
                let batch = message.batch();
                let room = if self.defined.has_out() { batch.out_room(lane)? } else { 0 };
                (batch.requests(), room)
            }
            Source::Nowhere | Source::Gone => return Err(Failure::Status(hostcall::CallError::Finished)),
        };
        let mut arguments = requests.arguments(lane)?;
        let (mut at, mut used) = (VarHead::DWORDS, 0usize);
        let mut places = Vec::with_capacity(self.defined.variables.len());
        for variable in &self.defined.variables {
            while at < variable.unit {
                arguments.fixed::<u32>()?;
                at += 1;
            }
            at += 1;
            places.push(match variable.kind {
                VariableKind::Str => place_of(arguments.str()?.as_bytes()),
                VariableKind::Slice => slice(&mut arguments, variable.element_bytes)?,
                VariableKind::SliceMut => {
                    let length = arguments.fixed::<u32>()?;
                    whole(length as usize, variable.element_bytes)?;
                    if used + length as usize > room {
                        return Err(Failure::TooLarge { max: room as u32 });
                    }
                    used += (length as usize).next_multiple_of(4);
                    Place::Out(Out { bytes: length as usize, buffer: Vec::new(), returned: 0 })
                }
            });
        }
        Ok(places)
    }

    /// `hc_bytes_in`.
    pub(crate) fn bytes_in(&mut self, lane: u32, variable: u32) -> Result<(*const u8, usize), Error> {
        match self.place(lane, variable)? {
            Place::In { start, bytes } => Ok((*start, *bytes)),
            Place::Out(_) => Err(Error::invalid(format!("string or slice {variable} is HC_OUT: hc_bytes_out gives room for it"))),
        }
    }

    fn out(&mut self, lane: u32, variable: u32) -> Result<&mut Out, Error> {
        match self.place(lane, variable)? {
            Place::Out(out) => Ok(out),
            Place::In { .. } => Err(Error::invalid(format!("string or slice {variable} is no HC_OUT: hc_bytes_in gives its bytes"))),
        }
    }

    /// `hc_bytes_out`.
    pub(crate) fn bytes_out(&mut self, lane: u32, variable: u32) -> Result<(*mut u8, usize), Error> {
        let out = self.out(lane, variable)?;
        if out.buffer.is_empty() {
            // One at least, so that there is an address.
            out.buffer = vec![0; out.bytes.div_ceil(16).max(1)];
            out.returned = out.bytes;
        }
        Ok((out.buffer.as_mut_ptr().cast(), out.bytes))
    }

    /// `hc_bytes_returned`.
    pub(crate) fn bytes_returned(&mut self, lane: u32, variable: u32, count: usize) -> Result<(), Error> {
        self.bytes_out(lane, variable)?;
        let out = self.out(lane, variable)?;
        if count > out.bytes {
            return Err(Error::invalid(format!("{count} bytes to return, and there is room for {}", out.bytes)));
        }
        out.returned = count;
        Ok(())
    }

    /// Lanes fail: one, or all.
    pub(crate) fn fail(&mut self, lane: u32, failure: &Failure) -> Result<(), Error> {
        /// `HC_ALL_LANES`.
        const ALL: u32 = u32::MAX;
        if lane == ALL {
            (0..self.lanes).for_each(|lane| self.set(lane, failure));
            return Ok(());
        }
        self.check(lane)?;
        self.set(lane, failure);
        Ok(())
    }

    fn check(&self, lane: u32) -> Result<(), Error> {
        if lane < self.lanes { Ok(()) } else { Err(Error::invalid(format!("there is no lane {lane}: the message has {}", self.lanes))) }
    }

    fn set(&mut self, lane: u32, failure: &Failure) {
        match self.failures.iter_mut().find(|(failed, _)| *failed == lane) {
            Some((_, before)) => *before = failure.clone(),
            None => self.failures.push((lane, failure.clone())),
        }
    }
}

fn place_of<T>(elements: &[T]) -> Place {
    Place::In { start: elements.as_ptr().cast(), bytes: size_of_val(elements) }
}

/// A slice, aligned as elements of this size may have to be.
fn slice(arguments: &mut Arguments<'_>, element: usize) -> Result<Place, Failure> {
    let place = match element {
        size if size.is_multiple_of(16) => place_of(arguments.slice::<u128>()?),
        size if size.is_multiple_of(8) => place_of(arguments.slice::<u64>()?),
        size if size.is_multiple_of(4) => place_of(arguments.slice::<u32>()?),
        size if size.is_multiple_of(2) => place_of(arguments.slice::<u16>()?),
        _ => place_of(arguments.slice::<u8>()?),
    };
    if let Place::In { bytes, .. } = place {
        whole(bytes, element)?;
    }
    Ok(place)
}

/// Whether so many bytes are whole elements.
fn whole(bytes: usize, element: usize) -> Result<(), DecodeError> {
    if bytes.is_multiple_of(element) { Ok(()) } else { Err(DecodeError::Length { bytes: bytes as u32, element: element as u32 }) }
}

/// A message that its handler keeps, with all that the handler has pointers to.
pub(crate) struct Kept<'a> {
    /// Borrows from `code`, so it goes first.
    pub(crate) call: Call<'a>,
    pub(crate) lanes: Lanes,
    results: Vec<u32>,
    code: Arc<Code>,
    pub(crate) origin: Origin,
}

impl Kept<'static> {
    /// Keeps a message.
    pub(crate) fn new(code: &Arc<Code>, message: DeferredBatch) -> Box<Self> {
        let code = code.clone();
        // SAFETY: behind an `Arc` that goes with the reference and is dropped after it.
        let defined: &'static Defined = unsafe { &*std::ptr::from_ref(code.defined()) };
        let call = Call::later(defined, message);
        let mut kept = Box::new(Self { call, lanes: Lanes::none(), results: Vec::new(), code, origin: Origin::here() });
        let Self { call: Call { source: Source::Later(message), .. }, lanes, results, .. } = &mut *kept else { return kept };
        let batch = message.batch();
        *lanes = Lanes::of(&batch.requests());
        if !batch.is_post() {
            results.resize(batch.len() * defined.reply_units(), 0);
            lanes.put_results(results.as_mut_ptr(), defined.reply_units(), defined.reply_units());
        }
        kept
    }
}

impl Kept<'_> {
    /// Answers it.
    pub(crate) fn complete(mut self: Box<Self>) {
        // Given meanwhile to nobody else: what `answer` reads is beside the message.
        let Source::Later(mut message) = std::mem::replace(&mut self.call.source, Source::Gone) else { return };
        self.call.answer(&mut message.batch(), &self.results);
        message.finish();
        drop(self.code);
    }
}
