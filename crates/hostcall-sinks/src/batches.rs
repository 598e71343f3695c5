//! Record batches for a function of the program itself: tables of messages while kernels run, without a file.

use std::sync::Arc;
use std::time::Duration;

use arrow_array::{Array, RecordBatch};
use hostcall_stream::Schema;
use hostcall_stream::sink::{Inlet, Sink, SinkError, Sunk};

use crate::errors::OpenError;
use crate::intake::{Account, Intake, Keeper, Piece, Pipe};

/// A sink that hands record batches to a function, being set up.
///
/// ```
/// use hostcall_sinks::Batches;
///
/// let sink = Batches::default().open(|stream, batch| println!("{} rows of {}", batch.num_rows(), stream.name))?;
/// # drop(sink);
/// # Ok::<_, hostcall_sinks::OpenError>(())
/// ```
#[must_use = "nothing is handed on before `open`"]
#[derive(Debug)]
pub struct Batches {
    intake: Intake,
    period: Duration,
}

impl Default for Batches {
    /// Of all streams, as [`Intake::default`] says, at least every 100 ms.
    fn default() -> Self {
        Self { intake: Intake::default(), period: Duration::from_millis(100) }
    }
}

impl Batches {
    /// Which streams, how many rows a batch has, and how much may wait. Always one thread.
    pub fn intake(mut self, intake: Intake) -> Self {
        self.intake = intake;
        self
    }

    /// After what time a batch is handed on although it has fewer rows. Default: 100 ms.
    pub fn period(mut self, period: Duration) -> Self {
        self.period = period;
        self
    }

    /// Opens it. `take` is called for each batch, on the sink's thread. Those of a stream have one schema, and the
    /// messages of each wave come in the order in which it sent them. While `take` does not return, tables wait, and
    /// then kernels, as [`Intake::when_full`] says. If it panics the sink has failed.
    ///
    /// # Errors
    /// When the system has no thread left.
    pub fn open(self, take: impl FnMut(&Schema, RecordBatch) + Send + 'static) -> Result<BatchesSink, OpenError> {
        let keeper = Handing { take, entering: 0 };
        let pipe = Pipe::start("record batches".to_owned(), self.intake, Some(self.period), vec![Box::new(keeper)]);
        Ok(BatchesSink(Arc::new(pipe.map_err(OpenError::Thread)?)))
    }
}

/// A sink that hands record batches to a function. Clones are the same sink.
#[derive(Clone, Debug)]
pub struct BatchesSink(Arc<Pipe>);

crate::intake::sink!(BatchesSink);

/// What calls the function.
struct Handing<F> {
    take: F,
    /// Messages of the batch that it has been given.
    entering: u64,
}

impl<F: FnMut(&Schema, RecordBatch) + Send> Keeper for Handing<F> {
    fn put(&mut self, piece: Piece, account: &Account) -> Result<(), SinkError> {
        let Piece { stream, device, table } = piece;
        let (messages, values) = (table.messages(), table.rows() as u64);
        let batch = table.into_batch(stream.arrow.clone(), device);
        let bytes = batch.columns().iter().map(|column| column.get_buffer_memory_size() as u64).sum();
        self.entering = messages;
        (self.take)(&stream.schema, batch);
        self.entering = 0;
        account.kept(messages, values, bytes);
        Ok(())
    }

    fn flush(&mut self, _: &Account) -> Result<(), SinkError> {
        Ok(())
    }

    fn roll(&mut self, _: &Account) -> Result<(), SinkError> {
        Ok(())
    }

    fn finish(&mut self, _: &Account) -> Result<(), SinkError> {
        Ok(())
    }

    fn abandon(&mut self) -> u64 {
        std::mem::take(&mut self.entering)
    }
}
