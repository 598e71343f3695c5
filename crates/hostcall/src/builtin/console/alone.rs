//! Pieces of texts without a console, for tests and fuzz targets that count what is kept.

use std::sync::Mutex;

use super::super::define;
use super::pieces::{Bounds, Pieces};
use super::{lock, stream_of};
use crate::service::{Invocation, Service};

/// The service that takes pieces of texts of one program, without a console: what would be written is dropped. At most
/// so many unfinished texts are kept, of so many bytes.
pub(crate) fn pieces_alone(texts: usize, bytes: usize) -> Service {
    let pieces = Mutex::new(Pieces::bounded(Bounds { bytes, texts }));
    Service::new(define::console::definition::print_piece(), move |call: &mut Invocation<'_>| {
        let stream = stream_of(call.fixed()?)?;
        let (key, last) = (call.fixed::<u64>()?, call.fixed::<bool>()?);
        let text = call.slice::<u8>()?;
        lock(&pieces).add(key << 1 | stream as u64, text, last, |_, _| {});
        call.reply(&(), &[]);
        Ok(())
    })
}
