//! Batches for tests of handlers.

use hostcall_abi::Plain;
use hostcall_abi::codec::bytes;
use hostcall_abi::stream::{From, Header, Kind};
use proptest::prelude::*;

use crate::batch::{Head, Pending};
use crate::dispatch::Dispatch;
use crate::handler::Handler;
use crate::sites::Sites;

/// A message as it arrives.
#[derive(Clone, Debug)]
pub(crate) struct Message<M> {
    header: Header,
    dispatch: Dispatch,
    pub(crate) values: Vec<M>,
}

impl<M: Plain> Message<M> {
    /// A message of lanes that send one value each, or equally many.
    pub(crate) fn new(mask: u64, values: Vec<M>) -> Self {
        let lanes = mask.count_ones();
        assert!(lanes > 0 && values.len().is_multiple_of(lanes as usize), "{} values of {lanes} lanes", values.len());
        let header = Header {
            stream: 1,
            granules: 1,
            kind: Kind::Rows,
            mask,
            wide: mask >> 32 != 0,
            site: 0,
            weight: 0,
            user: 0,
            values: values.len() as u32 / lanes,
            time: None,
            from: From::default(),
        };
        Self { header, dispatch: Dispatch::default(), values }
    }

    pub(crate) fn of(mut self, dispatch: Dispatch) -> Self {
        self.dispatch = dispatch;
        self
    }

    pub(crate) fn at(mut self, site: u32) -> Self {
        self.header.site = site;
        self
    }

    pub(crate) fn from(mut self, from: From) -> Self {
        self.header.from = from;
        self
    }

    pub(crate) fn mask(&self) -> u64 {
        self.header.mask
    }

    pub(crate) fn header(&self) -> &Header {
        &self.header
    }
}

/// Messages of one value each of the lanes in a mask, made from 64 random numbers.
pub(crate) fn messages<M: Plain + std::fmt::Debug>(value: impl Strategy<Value = M> + Clone) -> impl Strategy<Value = Vec<Message<M>>> {
    let mask = prop_oneof![Just(u64::from(u32::MAX)), 1..=u64::from(u32::MAX), 1..=u64::MAX, (0..64u32).prop_map(|lane| 1 << lane)];
    let from = (0..5u64, 0..4u32, 0..3u32, 0..3u32).prop_map(|(group, wave, sm, launch)| From { group, wave, sm, launch });
    let message = (mask, prop::collection::vec(value, 128), 0..3u32, from, 1..=2usize).prop_map(|(mask, values, site, from, each)| {
        let count = mask.count_ones() as usize * each;
        Message::new(mask, values[..count].to_vec()).at(site).from(from)
    });
    prop::collection::vec(message, 0..12)
}

/// What a handler keeps of messages that `threads` threads have taken, in batches of `together`.
pub(crate) fn kept<M: Plain, H: Handler<M>>(handler: &H, messages: &[Message<M>], threads: usize, together: usize) -> H::State {
    let mut states: Vec<H::State> = (0..threads).map(|_| H::State::default()).collect();
    for (i, messages) in messages.chunks(together).enumerate() {
        let mut pending = Pending::default();
        for Message { header, dispatch, values } in messages {
            let units = size_of_val(values.as_slice()) / 4;
            for (unit, bytes) in pending.room(units).iter_mut().zip(bytes(values).chunks_exact(4)) {
                *unit = u32::from_ne_bytes(bytes.try_into().expect("four bytes"));
            }
            pending.push(Head::new(*header, 0, false), *dispatch, values.len() as u32, units);
        }
        handler.fold(&mut states[i % threads], &pending.batch(&Sites::default()));
    }
    let mut all = H::State::default();
    states.iter().for_each(|state| handler.merge(&mut all, state));
    all
}
