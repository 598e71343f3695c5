//! How fast one thread reads: the whole way from a ring to a handler, over a ring that is full. For the example `read_rate`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hostcall_abi::stream::unit::Position;
use hostcall_abi::stream::{From, Header, Kind, Message, Policy, RingMemory, encode};
use offload::{Device, SimConfig};

use crate::consumer::{Consumer, Shared};
use crate::handler::{Handler, TypedChain};
use crate::memory::{RingSet, Sizes};
use crate::registry::{Registered, Registry};
use crate::schema::Schema;

/// How long a thread takes to read a ring of 2^`ring_log2` granules that is full of messages, each of a value from each of `lanes` lanes, and how many
/// messages and bytes they are. `values` are the units of lane and message.
///
/// # Errors
/// When there is no memory.
///
/// # Panics
/// When there are no such messages.
pub fn read_full_ring<M: Message>(
    handler: impl Handler<M>,
    ring_log2: u32,
    lanes: u32,
    values: impl Fn(u32, u32) -> Vec<u32>,
) -> Result<(Duration, u64, u64), offload::Error> {
    let device = Device::sim(SimConfig::default())?;
    let set = Arc::new(RingSet::new(&device, Sizes { rings_log2: 0, ring_log2 }, 1, false)?);
    let (ring, mut units, mut granule, mut messages) = (set.ring(0), vec![0; 4096], 0u32, 0u32);
    loop {
        let rows: Vec<u32> = (0..lanes).flat_map(|lane| values(lane, messages)).collect();
        let (mask, from) = ((1u64 << lanes) - 1, From { group: messages.into(), ..From::default() });
        let (stream, kind, time) = (1, Kind::Rows, Some(u64::from(messages) * 1000));
        let header = Header { stream, granules: 0, kind, mask, wide: false, site: 0, weight: 0, user: 0, values: 1, time, from };
        let length = encode(header, &rows, &mut units).expect("there is such a message");
        if granule as usize * 16 + length > 16 << ring_log2 {
            break;
        }
        let at = Position::new(granule, ring_log2);
        (0..).zip(&units[..length]).for_each(|(index, unit)| ring.repair(at.unit(index), at.with_phase(index, *unit)));
        (granule, messages) = (granule + length as u32 / 16, messages + 1);
    }
    let mut chain = TypedChain::<M>::new();
    chain.push(handler);
    let stream = Registered {
        schema: Schema::of::<M>(),
        policy: Policy::Block,
        timed: true,
        chain: Some(Box::new(chain)),
        messages: Default::default(),
        values: Default::default(),
    };
    let shared = Shared::new(Registry::new([stream].into_iter()), None, 1, false);
    shared.add(set.clone());
    let mut consumer = Consumer::new(shared.clone(), 0, 1);
    let start = Instant::now();
    consumer.look_once();
    let took = start.elapsed();
    let read = shared.registry.all()[0].messages.load(std::sync::atomic::Ordering::Relaxed);
    assert_eq!(read, u64::from(messages), "all are read");
    Ok((took, read, u64::from(granule) * 64))
}
