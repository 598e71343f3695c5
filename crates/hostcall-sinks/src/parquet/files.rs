//! The files of a thread: when they begin, when they are whole, and what is in them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hostcall_stream::sink::SinkError;
use parquet::errors::ParquetError;

use super::encode::{Codec, Encoder};
use super::place::Place;
use crate::intake::{Account, Keeper, Label, Piece};
use crate::sites::{self, Written};

/// How files are made.
#[derive(Clone, Debug)]
pub(super) struct Limits {
    pub(super) codec: Codec,
    pub(super) bytes: usize,
    pub(super) time: Duration,
    pub(super) rows: usize,
    pub(super) whole_at_wait: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self { codec: Codec::Zstd(1), bytes: 128 << 20, time: Duration::from_secs(60), rows: 1 << 20, whole_at_wait: true }
    }
}

/// The number of the next file, by stream and device: threads of a sink share them.
pub(super) type Numbers = Arc<Mutex<HashMap<(Label, u32), u32>>>;

/// The places in the source that are there: threads of a sink share them.
pub(super) type Places = Arc<Mutex<Written>>;

/// A file that is being encoded, and what is in it.
struct Open {
    file: Encoder<Vec<u8>>,
    messages: u64,
    values: u64,
}

/// The files of one thread.
pub(super) struct Files {
    place: Arc<Place>,
    limits: Limits,
    run: Option<String>,
    numbers: Numbers,
    places: Places,
    /// By the stream's label and device.
    open: HashMap<(Label, u32), Open>,
    /// Messages in a file that is on its way.
    leaving: u64,
}

impl Files {
    pub(super) fn new(place: Arc<Place>, limits: Limits, run: Option<String>, numbers: Numbers, places: Places) -> Self {
        Self { place, limits, run, numbers, places, open: HashMap::new(), leaving: 0 }
    }

    /// The name of the next file.
    fn key(&self, (label, device): &(Label, u32)) -> String {
        let numbers = &mut *self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        let number = numbers.entry((label.clone(), *device)).or_default();
        *number += 1;
        let run = self.run.as_deref().map(|run| format!("{run}-")).unwrap_or_default();
        format!("stream={label}/device={device}/part-{run}{number:05}.parquet")
    }

    /// Puts the table of places there, if it is not. It is there before the messages that name them.
    fn put_places(&self, account: &Account) -> Result<(), SinkError> {
        // Held meanwhile: others wait until it is there.
        let mut written = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(places) = written.news(account) else { return Ok(()) };
        let run = self.run.as_deref().map(|run| format!("-{run}")).unwrap_or_default();
        let file = sites::to_parquet(&places, Vec::new()).map_err(|error| wrong(account, &error))?;
        self.place.put(&format!("{}{run}.parquet", sites::NAME), file, account)?;
        written.set(places);
        Ok(())
    }

    fn close(&mut self, of: &(Label, u32), account: &Account) -> Result<(), SinkError> {
        let Some(Open { file, messages, values }) = self.open.remove(of) else { return Ok(()) };
        self.leaving = messages;
        let file = file.finish().map_err(|error| wrong(account, &error))?;
        let bytes = file.len() as u64;
        self.put_places(account)?;
        self.place.put(&self.key(of), file, account)?;
        account.kept(messages, values, bytes);
        self.leaving = 0;
        Ok(())
    }

    fn close_all(&mut self, account: &Account) -> Result<(), SinkError> {
        let all: Vec<_> = self.open.keys().cloned().collect();
        all.iter().try_for_each(|of| self.close(of, account))
    }
}

fn wrong(account: &Account, error: &ParquetError) -> SinkError {
    account.error(std::io::ErrorKind::Other, error.to_string(), "report it: it is a fault of the writer")
}

impl Keeper for Files {
    fn put(&mut self, piece: Piece, account: &Account) -> Result<(), SinkError> {
        let of = (piece.stream.label.clone(), piece.device);
        let (messages, values) = (piece.table.messages(), piece.table.rows() as u64);
        self.leaving = messages;
        if !self.open.contains_key(&of) {
            let file = Encoder::new(Vec::new(), &piece.stream.arrow, Some(piece.device), self.limits.codec, self.limits.rows);
            self.open.insert(of.clone(), Open { file: file.map_err(|error| wrong(account, &error))?, messages: 0, values: 0 });
        }
        let open = self.open.get_mut(&of).expect("it was put there");
        open.file.write(piece.table, piece.device).map_err(|error| wrong(account, &error))?;
        self.leaving = 0;
        open.messages += messages;
        open.values += values;
        if open.file.bytes() >= self.limits.bytes { self.close(&of, account) } else { Ok(()) }
    }

    fn flush(&mut self, account: &Account) -> Result<(), SinkError> {
        if self.limits.whole_at_wait { self.close_all(account) } else { Ok(()) }
    }

    fn roll(&mut self, account: &Account) -> Result<(), SinkError> {
        self.close_all(account)
    }

    fn finish(&mut self, account: &Account) -> Result<(), SinkError> {
        self.close_all(account)
    }

    fn abandon(&mut self) -> u64 {
        let open: u64 = self.open.drain().map(|(_, open)| open.messages).sum();
        open + std::mem::take(&mut self.leaving)
    }
}
