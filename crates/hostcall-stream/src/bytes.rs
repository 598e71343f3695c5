//! Streams of bytes and of text: handlers take their messages as slices.
//!
//! In a batch a message of bytes is its length, as an `u32` of this machine, then its bytes, then zeros up to a
//! multiple of 4.

use hostcall_abi::stream::{ByteStream, Packet, TextStream};

use crate::batch::{Batch, Delivery, Head, Origin, Pending};
use crate::builder::StreamsBuilder;
use crate::dispatch::Dispatch;
use crate::handler::{Flow, Handler};
use crate::report::Report;

impl StreamsBuilder {
    /// Calls `f` for each message of a stream of bytes or of text, on the threads that read.
    pub fn bytes<M: ByteStream>(self, f: impl Fn(&Origin, &[u8]) + Send + Sync + 'static) -> Self {
        self.on::<M, _>(EachSlice(f))
    }

    /// Calls `f` for each message of a stream of text, on the threads that read.
    ///
    /// Kernels send text that is UTF-8. A device that keeps no rule may send other bytes, and so may what is found
    /// [behind a gap](Origin::after_gap): what is wrong in it is then U+FFFD. [`StreamsBuilder::bytes`] has the bytes
    /// as they came.
    pub fn text<M: TextStream>(self, f: impl Fn(&Origin, &str) + Send + Sync + 'static) -> Self {
        self.on::<M, _>(EachSlice(move |origin: &Origin, bytes: &[u8]| f(origin, &String::from_utf8_lossy(bytes))))
    }
}

/// Calls a closure for each message, and counts messages and bytes.
struct EachSlice<F>(F);

impl<M: ByteStream, F: Fn(&Origin, &[u8]) + Send + Sync + 'static> Handler<M> for EachSlice<F> {
    type State = (u64, u64);

    fn fold(&self, (messages, bytes): &mut (u64, u64), batch: &Batch<'_, M>) -> Flow {
        for (origin, slice) in batch.slices() {
            *messages += 1;
            *bytes += slice.len() as u64;
            (self.0)(&origin, slice);
        }
        Flow::Next
    }

    fn merge(&self, into: &mut (u64, u64), from: &(u64, u64)) {
        *into = (into.0 + from.0, into.1 + from.1);
    }

    fn report(&self, (messages, bytes): &(u64, u64)) -> Report {
        Report { lines: vec![format!("{messages} messages of {bytes} bytes handled")], ..Report::new(M::NAME) }
    }
}

impl<'a, M: ByteStream> Batch<'a, M> {
    /// The messages, each with who sent it.
    pub fn slices(&self) -> impl Iterator<Item = (Origin, &'a [u8])> + use<'a, M> {
        let dispatches = self.dispatches;
        // A message is of one lane, and there is nothing else in it.
        let origins =
            self.heads.iter().filter_map(move |head| Delivery { head, values: &[()], dispatches }.iter().next().map(|(origin, ())| origin));
        origins.zip(Slices::of(self.raw))
    }
}

/// The messages of bytes in a batch.
#[derive(Clone, Debug)]
pub(crate) struct Slices<'a> {
    rest: &'a [u8],
}

impl<'a> Slices<'a> {
    pub(crate) const fn of(raw: &'a [u8]) -> Self {
        Self { rest: raw }
    }

    /// Bytes of the batch that have not been taken.
    pub(crate) const fn rest(&self) -> &'a [u8] {
        self.rest
    }
}

impl<'a> Iterator for Slices<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let (length, rest) = self.rest.split_first_chunk()?;
        let length = u32::from_ne_bytes(*length) as usize;
        let (padded, rest) = rest.split_at_checked(length.checked_next_multiple_of(4)?)?;
        self.rest = rest;
        Some(&padded[..length])
    }
}

/// A message of bytes as it stands in a batch; `out` is cleared before.
pub(crate) fn put(packet: &Packet<'_>, length: u32, out: &mut Vec<u8>) {
    out.clear();
    out.extend(length.to_ne_bytes());
    out.resize(4 + (length as usize).next_multiple_of(4), 0);
    packet.copy_bytes(&mut out[4..4 + length as usize]);
}

impl Pending {
    /// Takes a message of bytes of a launch.
    pub(crate) fn push_bytes(&mut self, packet: &Packet<'_>, length: u32, head: Head, dispatch: Dispatch) {
        let units = 1 + (length as usize).div_ceil(4);
        self.make_room(units);
        let room = self.room(units);
        // The last unit may have bytes that are not the message's.
        room[units - 1] = 0;
        room[0] = length;
        let room = &mut room[1..];
        // SAFETY: any `u32` is four bytes, all of them initialised, and `room` is borrowed alone.
        let room = unsafe { std::slice::from_raw_parts_mut(room.as_mut_ptr().cast::<u8>(), room.len() * 4) };
        packet.copy_bytes(&mut room[..length as usize]);
        self.push(head, dispatch, 1, units);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hostcall_abi::stream::header::MAX_GRANULES;
    use hostcall_abi::stream::{From, GRANULE, Header, Kind, bytes};

    /// A message of these bytes of lane 3.
    fn message(slice: &[u8]) -> Vec<u32> {
        let (kind, from) = (Kind::Bytes, From { group: 7, ..From::default() });
        let header =
            Header { stream: 1, granules: 0, kind, mask: 8, wide: false, site: 0, weight: 0, user: 0, values: 1, time: Some(5), from };
        let mut units = vec![0; (MAX_GRANULES * GRANULE) as usize];
        let length = bytes::encode(header, slice, &mut units).expect("a message");
        units.truncate(length);
        units
    }

    #[test]
    fn messages_of_every_length_stand_in_a_batch_one_behind_another() {
        let sent: Vec<Vec<u8>> = (0..70).chain([bytes::MAX_BYTES as usize, 3]).map(|length| vec![length as u8 | 0x80; length]).collect();
        let (mut pending, mut one, mut all) = (Pending::default(), Vec::new(), Vec::new());
        for slice in &sent {
            let units = message(slice);
            let packet = Packet::of_units(&units, false, false, |_| Some(0)).expect("a message");
            let length = packet.bytes().expect("bytes");
            pending.push_bytes(&packet, length, Head::raw(packet.raw_header(), 0, false), Dispatch::default());
            put(&packet, length, &mut one);
            all.extend_from_slice(&one);
        }
        assert_eq!(pending.raw().1, all);
        assert!(pending.is_full(), "a batch is handed on before it is much longer than it is to be");
        let mut slices = Slices::of(&all);
        assert!(slices.by_ref().eq(sent.iter().map(|slice| &**slice)));
        assert_eq!(slices.rest(), [0; 0]);
    }

    #[test]
    fn what_is_cut_off_in_a_batch_is_no_message() {
        for (raw, messages) in
            [(&[][..], 0), (&[1, 0, 0], 0), (&[1, 0, 0, 0], 0), (&[1, 0, 0, 0, 9, 0, 0], 0), (&[255; 8], 0), (&[0; 8], 2)]
        {
            assert_eq!(Slices::of(raw).count(), messages, "{raw:?}");
        }
    }
}
