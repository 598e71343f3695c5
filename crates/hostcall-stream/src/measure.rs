//! How fast one thread reads: the whole way from rings to a handler. For the example `read_rate` and the benchmark.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use hostcall_abi::stream::unit::Position;
use hostcall_abi::stream::{From, Header, Kind, Message, RingMemory, encode};
use offload::{Device, SimConfig};

use crate::consumer::{Consumer, Shared};
use crate::handler::{Handler, TypedChain};
use crate::memory::{RingSet, Sizes};
use crate::registry::{Registered, Registry};
use crate::schema::Schema;

/// Rings that are full of messages, each of a value from each of some lanes.
#[derive(Debug)]
pub struct FullRings {
    shared: Arc<Shared>,
    messages: u64,
    bytes: u64,
}

impl FullRings {
    /// Fills 2^`rings_log2` rings of 2^`ring_log2` granules, which lie on huge pages if they are `huge` and not small.
    /// `values` are the units of lane and message.
    ///
    /// # Errors
    /// When there is no memory.
    ///
    /// # Panics
    /// When there are no such messages.
    pub fn new<M: Message>(
        handler: impl Handler<M>,
        (rings_log2, ring_log2): (u32, u32),
        huge: bool,
        lanes: u32,
        values: impl Fn(u32, u32) -> Vec<u32>,
    ) -> Result<Self, offload::Error> {
        let device = Device::sim(SimConfig::default())?;
        let set = Arc::new(RingSet::new(&device, Sizes { rings_log2, ring_log2 }, 1, false, huge, false)?);
        let (mut units, mut messages, mut bytes) = (vec![0; 4096], 0u32, 0);
        for ring in 0..1 << rings_log2 {
            let (ring, mut granule) = (set.ring(ring), 0u32);
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
            bytes += u64::from(granule) * 64;
        }
        let mut chain = TypedChain::<M>::new(Arc::default());
        chain.push(handler);
        let stream = Registered { chain: Some(Box::new(chain)), ..Registered::recorded(Schema::of::<M>(), &[]) };
        let shared = Shared::new(Registry::new([stream].into_iter()), None, Arc::default(), Arc::default(), false);
        shared.add(set);
        Ok(Self { shared, messages: messages.into(), bytes })
    }

    /// How long one thread takes to read all rings, which are as full as before afterwards.
    ///
    /// # Panics
    /// When it does not read all messages.
    pub fn read(&self) -> Duration {
        let before = self.received();
        let mut consumer = Consumer::new(self.shared.clone(), 0, 1);
        consumer.adopt();
        let start = Instant::now();
        consumer.look_once();
        let took = start.elapsed();
        assert_eq!(self.received() - before, self.messages, "all are read");
        took
    }

    /// How long one thread takes for each of `looks` looks at all rings, in which nothing more has come.
    pub fn look_in_vain(&self, looks: u32) -> Duration {
        let mut consumer = Consumer::new(self.shared.clone(), 0, 1);
        consumer.look_once();
        let start = Instant::now();
        (0..looks).for_each(|_| consumer.look_once());
        start.elapsed() / looks
    }

    fn received(&self) -> u64 {
        self.shared.registry.all()[0].messages.load(Ordering::Relaxed)
    }

    /// Messages in all rings.
    pub fn messages(&self) -> u64 {
        self.messages
    }

    /// Bytes of them.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}
