//! Messages as handlers see them: many at once, their values one behind another.

use hostcall_abi::Plain;
use hostcall_abi::stream::Header;

/// What is known of a message besides its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// What the message says of itself.
    pub header: Header,
    /// Number of the device among those of its plugin ([`DeviceInfo::ordinal`](offload::DeviceInfo::ordinal)).
    pub device: u32,
    /// Whether it was found behind a message that never became whole. What looks like a message there may be a part of one.
    pub after_gap: bool,
    /// Where its values begin in the batch.
    pub(crate) first: u32,
}

impl Head {
    /// Values of the message, of all its lanes.
    pub fn values(&self) -> u32 {
        self.header.mask.count_ones() * self.header.values
    }

    /// The lanes that sent it, in the order of their values.
    pub fn lanes(&self) -> impl Iterator<Item = u32> + use<> {
        let mut rest = self.header.mask;
        std::iter::from_fn(move || {
            let lane = (rest != 0).then(|| rest.trailing_zeros())?;
            rest &= rest - 1;
            Some(lane)
        })
    }
}

/// Who sent a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Number of the device, see [`Head::device`].
    pub device: u32,
    /// Low 10 bits of the launch's number.
    pub launch: u32,
    /// The workgroup's number in its grid.
    pub group: u64,
    /// The wave's number in the workgroup.
    pub wave: u32,
    /// The lane in the wave.
    pub lane: u32,
    /// The SM (compute unit) that it ran on.
    pub sm: u32,
    /// When it was sent, in nanoseconds of the device's clock modulo [`TIME_LAP`](hostcall_abi::stream::header::TIME_LAP); `None`: its stream does not say.
    pub time: Option<u64>,
    /// The place in the source, as the program numbers them; 0: none.
    pub site: u32,
    /// See [`Head::after_gap`].
    pub after_gap: bool,
}

/// Messages of one stream: those of each wave in the order in which it sent them, which also goes for the batches of a thread.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a, M> {
    heads: &'a [Head],
    values: &'a [M],
}

/// One message of a batch.
#[derive(Clone, Copy, Debug)]
pub struct Delivery<'a, M> {
    /// What is known of it.
    pub head: &'a Head,
    /// Its values: those of each lane together, lane by lane.
    pub values: &'a [M],
}

impl<'a, M: Plain> Batch<'a, M> {
    /// All values.
    pub fn values(&self) -> &'a [M] {
        self.values
    }

    /// The messages.
    pub fn messages(&self) -> impl ExactSizeIterator<Item = Delivery<'a, M>> + use<'a, M> {
        let values = self.values;
        self.heads.iter().map(move |head| Delivery { head, values: &values[head.first as usize..][..head.values() as usize] })
    }

    /// The values, each with who sent it.
    pub fn iter(&self) -> impl Iterator<Item = (Origin, &'a M)> + use<'a, M> {
        self.messages().flat_map(|message| message.iter())
    }
}

impl<'a, M> Delivery<'a, M> {
    /// The values, each with who sent it.
    pub fn iter(&self) -> impl Iterator<Item = (Origin, &'a M)> + use<'a, M> {
        let Self { head, values } = *self;
        let each = head.header.values as usize;
        head.lanes().zip(values.chunks_exact(each)).flat_map(move |(lane, values)| {
            let Head { header, device, after_gap, .. } = *head;
            let origin = Origin {
                device,
                launch: header.from.launch,
                group: header.from.group,
                wave: header.from.wave,
                lane,
                sm: header.from.sm,
                time: header.time,
                site: header.site,
                after_gap,
            };
            values.iter().map(move |value| (origin, value))
        })
    }
}

/// Sixteen bytes: values of any message are aligned in memory of these.
type Quad = u128;

/// The messages of one stream that have been taken out, and not been handed on.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    heads: Vec<Head>,
    memory: Vec<Quad>,
    /// Units of all values.
    units: usize,
    values: u32,
}

impl Pending {
    /// Messages of a batch.
    pub(crate) const MESSAGES: usize = 1024;
    /// Units of a batch: as much as stays in a processor's own cache.
    const UNITS: usize = 1 << 16;

    /// Takes a message of so many units, which the caller writes where this says.
    #[inline(always)]
    pub(crate) fn push(&mut self, mut head: Head, units: usize) -> &mut [u32] {
        let end = self.units + units;
        if self.memory.len() * 4 < end {
            self.memory.resize(end.next_multiple_of(4096) / 4, 0);
        }
        head.first = self.values;
        self.values += head.values();
        let from = std::mem::replace(&mut self.units, end);
        self.heads.push(head);
        // SAFETY: a `u128` is four `u32`s in memory, all of them initialised.
        let all = unsafe { std::slice::from_raw_parts_mut(self.memory.as_mut_ptr().cast::<u32>(), self.memory.len() * 4) };
        &mut all[from..end]
    }

    /// Whether it is time to hand them on.
    pub(crate) fn is_full(&self) -> bool {
        self.heads.len() >= Self::MESSAGES || self.units >= Self::UNITS
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.heads.is_empty()
    }

    /// The messages as values of their type.
    pub(crate) fn batch<M: Plain>(&self) -> Batch<'_, M> {
        const { assert!(align_of::<M>() <= align_of::<Quad>(), "a message's alignment is at most 16") };
        let values = self.units * 4 / size_of::<M>();
        assert!(values == self.values as usize, "messages of another stream");
        // SAFETY: `units` units are initialised, any bytes are an `M: Plain`, and the memory is aligned to 16 as the assertion above wants.
        let values = unsafe { std::slice::from_raw_parts(self.memory.as_ptr().cast::<M>(), values) };
        Batch { heads: &self.heads, values }
    }

    pub(crate) fn clear(&mut self) {
        self.heads.clear();
        (self.units, self.values) = (0, 0);
    }
}
