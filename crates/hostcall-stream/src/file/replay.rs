//! Messages of a recording as handlers take them.

use std::marker::PhantomData;
use std::sync::Arc;

use super::Message;
use crate::batch::{Batch, Head, Pending};
use crate::schema::Schema;
use crate::sites::Sites;

/// Collects the messages of one type into batches, so that a [`Handler`](crate::Handler) takes those of a recording as
/// it takes those of a kernel.
///
/// ```no_run
/// use hostcall_stream::handlers::HeatMap;
/// use hostcall_stream::{Access, Handler, file::Replay};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let (handler, mut heat, mut replay) = (HeatMap::pages(4096), Default::default(), Replay::<Access>::default());
/// let mut reader = hostcall_stream::open("run.hcs")?;
/// while let Some(message) = reader.next()? {
///     if Replay::<Access>::takes(message.schema) {
///         replay.push(&message, |batch| _ = handler.fold(&mut heat, batch));
///     }
/// }
/// replay.rest(|batch| _ = handler.fold(&mut heat, batch));
/// print!("{}", handler.report(&heat));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Replay<M> {
    pending: Pending,
    sites: Arc<Sites>,
    of: PhantomData<fn() -> M>,
}

impl<M> Default for Replay<M> {
    fn default() -> Self {
        Self { pending: Pending::default(), sites: Arc::default(), of: PhantomData }
    }
}

impl<M: crate::Message> Replay<M> {
    /// Whether messages of a stream are of this type: by name, signature and size.
    pub fn takes(schema: &Schema) -> bool {
        schema.name == M::NAME && schema.signature == M::SIGNATURE && schema.bytes as usize == size_of::<M>()
    }

    /// Takes a message, and hands on a batch if it is full.
    ///
    /// # Panics
    /// When the message is not of this type ([`Replay::takes`]).
    pub fn push(&mut self, message: &Message<'_>, each: impl FnMut(&Batch<'_, M>)) {
        assert!(Self::takes(message.schema), "a message of `{}`, not of `{}`", message.schema.name, M::NAME);
        if !Arc::ptr_eq(&self.sites, message.sites) {
            self.sites = message.sites.clone();
        }
        let head = Head::new(message.header, message.program.device.number, message.after_gap);
        let (units, _) = message.raw().as_chunks::<4>();
        self.pending.make_room(units.len());
        for (to, from) in self.pending.room(units.len()).iter_mut().zip(units) {
            *to = u32::from_le_bytes(*from);
        }
        self.pending.push(head, message.dispatch, head.values(), units.len());
        if self.pending.is_full() {
            self.rest(each);
        }
    }

    /// Hands on what has not been handed on.
    pub fn rest(&mut self, mut each: impl FnMut(&Batch<'_, M>)) {
        if !self.pending.is_empty() {
            each(&self.pending.batch(&self.sites));
            self.pending.clear();
        }
    }
}
