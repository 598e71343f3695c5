//! All calls of one message, by the types of the service.

use std::marker::PhantomData;

use hostcall_abi::codec::{DecodeError, Fixed};

use super::batch::Batch;
use super::failure::{Failure, IntoReply};

/// The calls of one message to a service with arguments `A` and result `R`, all of fixed size: a [`Batch`] with types.
/// What the `…_batch` functions that `#[hostcall::service]` generates give to their closures.
///
/// The arguments are a tuple, as the service's function has them: `(f32,)` for one. Of a posted function `R` is `()`.
///
/// ```
/// #[hostcall::service]
/// pub trait Host {
///     fn scale(x: f32, by: f32) -> f32;
/// }
///
/// # fn main() {
/// let service = host::scale_batch(|calls| calls.answer(|(x, by)| x * by));
/// assert_eq!(service.name(), "Host__scale");
/// # }
/// ```
#[derive(Debug)]
pub struct Calls<'b, 'a, A, R> {
    batch: &'b mut Batch<'a>,
    types: PhantomData<fn(A) -> R>,
}

impl<'a> Batch<'a> {
    /// The same calls by their types: those of the service's arguments, as a tuple, and of its result.
    ///
    /// # Panics
    /// When the service takes strings or slices, or arguments or a result of another size.
    pub fn typed<A: Fixed, R: Fixed>(&mut self) -> Calls<'_, 'a, A, R> {
        let definition = self.definition();
        let same = !definition.takes_var && definition.units == A::DWORDS && definition.reply_dwords.unwrap_or(0) == R::DWORDS;
        assert!(same, "arguments of {} units and a result of {} are not those of {definition:?}", A::DWORDS, R::DWORDS);
        Calls { batch: self, types: PhantomData }
    }
}

impl<'a, A: Fixed, R: Fixed> Calls<'_, 'a, A, R> {
    /// How many lanes call.
    pub fn len(&self) -> usize {
        self.batch.len()
    }

    /// Whether none does, which never is so for a handler.
    pub fn is_empty(&self) -> bool {
        self.batch.is_empty()
    }

    /// The calls without types.
    pub fn batch(&mut self) -> &mut Batch<'a> {
        self.batch
    }

    /// Lane `i`'s arguments.
    ///
    /// # Errors
    /// When they are no values of their types, which is so of a `bool`, a `char`, an `Option` or a `Result` only.
    ///
    /// # Panics
    /// When there is no such lane.
    #[inline]
    pub fn get(&self, i: usize) -> Result<A, DecodeError> {
        A::get(self.batch.rows().row(i))
    }

    /// All lanes' arguments.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Result<A, DecodeError>> + use<'a, A, R> {
        self.batch.rows().iter().map(|row| A::get(row))
    }

    /// Lane `i`'s result.
    ///
    /// # Panics
    /// When there is no such lane.
    #[inline]
    pub fn reply(&mut self, i: usize, value: R) {
        self.batch.reply(i, &value);
    }

    /// Lane `i`'s call has no result.
    ///
    /// # Panics
    /// When there is no such lane.
    pub fn fail(&mut self, i: usize, failure: impl Into<Failure>) {
        self.batch.fail(i, failure);
    }

    /// Answers lane after lane that has no answer yet: with what `f` makes of its arguments, a result or why there is
    /// none.
    pub fn answer<O: IntoReply<R>>(&mut self, mut f: impl FnMut(A) -> O) {
        for i in 0..self.len() {
            if self.batch.is_answered(i) {
                continue;
            }
            match self.get(i).map_err(Failure::Decode).and_then(|arguments| f(arguments).into_reply()) {
                Ok(value) => self.reply(i, value),
                Err(failure) => self.fail(i, failure),
            }
        }
    }
}
