//! Handlers of the application: how a message gets to them and back.

use std::ffi::c_void;
use std::sync::Arc;

use hostcall::{Batch, DeferredBatch, Forked, Requests, Service};

use crate::boundary::User;
use crate::call::{Call, Kept};
use crate::definition::Defined;
use crate::status::Error;

/// `hc_lanes`.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the header says what each is")]
#[repr(C)]
pub struct Lanes {
    pub size: usize,
    pub count: u32,
    pub posted: u32,
    pub mask: u64,
    pub arguments: *const u32,
    pub argument_stride: usize,
    pub argument_units: usize,
    pub results: *mut u32,
    pub result_stride: usize,
    pub result_units: usize,
    pub service: u32,
    pub port: u32,
}

const _: () = assert!(size_of::<Lanes>() == 80);

impl Lanes {
    pub(crate) const fn none() -> Self {
        Self {
            size: size_of::<Self>(),
            count: 0,
            posted: 0,
            mask: 0,
            arguments: std::ptr::null(),
            argument_stride: 0,
            argument_units: 0,
            results: std::ptr::null_mut(),
            result_stride: 0,
            result_units: 0,
            service: 0,
            port: 0,
        }
    }

    /// The lanes of a message, without room for results.
    #[inline]
    pub(crate) fn of(requests: &Requests<'_>) -> Self {
        let rows = requests.rows();
        Self {
            count: requests.len() as u32,
            posted: requests.is_post().into(),
            mask: requests.mask(),
            arguments: rows.as_ptr(),
            argument_stride: rows.stride(),
            argument_units: rows.width(),
            service: requests.service().into(),
            port: requests.port(),
            ..Self::none()
        }
    }

    /// Where the results go.
    pub(crate) fn put_results(&mut self, start: *mut u32, stride: usize, units: usize) {
        (self.results, self.result_stride, self.result_units) = (start, stride, units);
    }
}

/// `hc_call`, as the application sees it.
#[derive(Debug)]
#[repr(C)]
pub struct CCall {
    _opaque: [u8; 0],
}

/// `hc_handler`.
pub(crate) type Handler = unsafe extern "C" fn(user: *mut c_void, lanes: *const Lanes, call: *mut CCall);

/// What a pointer to a call points at: `hc_complete` must know.
#[expect(clippy::large_enum_variant, reason = "the large one is on the stack of every message, the small one in memory of its own")]
pub(crate) enum InHand<'a> {
    Now(Call<'a>),
    Later(Box<Kept<'a>>),
}

impl<'a> InHand<'a> {
    /// The message.
    pub(crate) fn call(&mut self) -> &mut Call<'a> {
        match self {
            Self::Now(call) => call,
            Self::Later(kept) => &mut kept.call,
        }
    }

    /// A call that is kept is answered by the process to which it came, and no child of it.
    pub(crate) fn check_origin(&self) -> Result<(), Forked> {
        match self {
            Self::Now(_) => Ok(()),
            Self::Later(kept) => kept.origin.check("call"),
        }
    }

    /// The pointer that the application gets.
    fn pointer(&mut self) -> *mut CCall {
        std::ptr::from_mut(self).cast()
    }
}

/// A handler with what belongs to it.
pub(crate) struct Code {
    defined: Defined,
    handler: Handler,
    user: User,
}

impl Code {
    pub(crate) fn defined(&self) -> &Defined {
        &self.defined
    }

    /// The service, by where its handler runs.
    pub(crate) fn service(run: u32, defined: Defined, handler: Handler, user: User) -> Result<Service, Error> {
        // As in the header.
        const INLINE: u32 = 1;
        const BLOCKING: u32 = 2;
        const DEFERRED: u32 = 3;
        let definition = defined.definition.clone();
        let code = Arc::new(Self { defined, handler, user });
        let at_once = |code: Arc<Self>, definition| Service::batch(definition, move |batch| code.serve(batch));
        match run {
            INLINE => Ok(at_once(code, definition)),
            BLOCKING => Ok(at_once(code, definition).blocking()),
            DEFERRED => Ok(Service::batch_deferred(definition, move |message| Self::defer(&code, message))),
            _ => Err(Error::invalid(format!("{run} is no hc_run: HC_INLINE, HC_BLOCKING and HC_DEFERRED are"))),
        }
    }

    fn run(&self, lanes: &Lanes, in_hand: &mut InHand<'_>) {
        // SAFETY: the application's function, as the header says: the lanes live until it returns, and the call as long
        // as it may use it.
        unsafe { (self.handler)(self.user.pointer(), lanes, in_hand.pointer()) }
    }

    /// Has a message answered now.
    fn serve(&self, batch: &mut Batch<'_>) {
        let mut lanes = Lanes::of(&batch.requests());
        // Made where it stays, and its source only if it has one: to move it would take longer than the rest.
        let mut in_hand = InHand::Now(Call::now(&self.defined, batch.len()));
        if !self.defined.variables.is_empty() {
            in_hand.call().has_strings(batch);
        }
        let mut results = Vec::new();
        let elsewhere = self.defined.has_out();
        if elsewhere {
            // What goes back of slices lies behind the result, and nobody knows yet how much that is.
            let width = self.defined.reply_units();
            results.resize(batch.len() * width, 0);
            lanes.put_results(results.as_mut_ptr(), width, width);
        }
        if elsewhere || batch.is_post() {
            self.run(&lanes, &mut in_hand);
        } else {
            // In place.
            batch.reply_all(|mut rows| {
                lanes.put_results(rows.as_mut_ptr(), rows.stride(), rows.width());
                self.run(&lanes, &mut in_hand);
            });
        }
        // Looked at where it is: to move it would take longer.
        match &in_hand {
            InHand::Now(call) if elsewhere => call.answer(batch, &results),
            InHand::Now(call) => call.fail_in(batch),
            InHand::Later(_) => {}
        }
    }

    /// Gives a message away.
    fn defer(code: &Arc<Self>, message: DeferredBatch) {
        let kept = Kept::new(code, message);
        let lanes: *const Lanes = &raw const kept.lanes;
        let call = Box::into_raw(Box::new(InHand::Later(kept)));
        // SAFETY: the application's function, as the header says: lanes and call live until it gives the call to
        // `hc_complete`, on whichever thread.
        unsafe { (code.handler)(code.user.pointer(), lanes, call.cast()) }
    }
}
