//! Messages as handlers see them: many at once, their values one behind another.

use hostcall_abi::Plain;
use hostcall_abi::stream::header::UNITS;
use hostcall_abi::stream::{GRANULE, Header, MAX_UNITS};

use crate::dispatch::Dispatch;
use crate::sites::Sites;

/// What is known of a message besides its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// As it came: most handlers do not look at most of it.
    header: [u32; UNITS as usize],
    /// Number of the device among those of its plugin ([`DeviceInfo::ordinal`](offload::DeviceInfo::ordinal)).
    pub device: u32,
    /// Where its values begin in the batch, and [`AFTER_GAP`].
    first: u16,
    /// Of which launch it is, among those of its batch.
    launch: u16,
}

/// In [`Head::first`]: whether it was found by a search. Batches are smaller.
const AFTER_GAP: u16 = 1 << 15;

const _: () = {
    assert!(Pending::UNITS <= AFTER_GAP as usize);
    assert!(Pending::MESSAGES <= AFTER_GAP as usize);
};

impl Head {
    /// A message whose header can be decoded.
    #[inline(always)]
    pub(crate) fn raw(header: [u32; UNITS as usize], device: u32, after_gap: bool) -> Self {
        Self { header, device, first: if after_gap { AFTER_GAP } else { 0 }, launch: 0 }
    }

    /// The launch that it is of, among those of its batch.
    pub(crate) fn dispatch(&self, dispatches: &[Dispatch]) -> Dispatch {
        dispatches.get(usize::from(self.launch)).copied().unwrap_or_default()
    }

    /// Where its values begin.
    #[inline(always)]
    fn first(&self) -> usize {
        usize::from(self.first & !AFTER_GAP)
    }

    /// What the message says of itself.
    #[inline(always)]
    pub fn header(&self) -> Header {
        Header::decode(self.header).expect("it was decoded before")
    }

    /// Whether it was found behind a message that never became whole. What looks like a message there may be a part of
    /// one.
    #[inline(always)]
    pub fn after_gap(&self) -> bool {
        self.first & AFTER_GAP != 0
    }

    /// That of a message from elsewhere than a ring: a file, say. `device` and `after_gap` as the field and the method
    /// of these names.
    pub fn new(header: Header, device: u32, after_gap: bool) -> Self {
        Self::raw(header.encode(), device, after_gap)
    }

    /// Values of the message, of all its lanes.
    pub fn values(&self) -> u32 {
        let header = self.header();
        header.mask.count_ones() * header.values
    }

    /// For how many messages it stands, because others were left out: a power of two. See
    /// [`Filter::one_in`](crate::Filter::one_in) and [`Policy::Sample`](hostcall_abi::stream::Policy::Sample).
    pub fn weight(&self) -> u32 {
        1 << self.header().weight
    }

    /// The lanes that sent it, in the order of their values.
    pub fn lanes(&self) -> impl Iterator<Item = u32> + use<> {
        let mut rest = self.header().mask;
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
    /// Low 10 bits of the launch's number, as the device knows it.
    pub launch: u32,
    /// The launch, and its kernel.
    pub dispatch: Dispatch,
    /// The workgroup's number in its grid.
    pub group: u64,
    /// The wave's number in the workgroup.
    pub wave: u32,
    /// The lane in the wave.
    pub lane: u32,
    /// The SM (compute unit) that it ran on.
    pub sm: u32,
    /// When it was sent, in nanoseconds of the device's clock modulo
    /// [`TIME_LAP`](hostcall_abi::stream::header::TIME_LAP); `None`: its stream does not say.
    pub time: Option<u64>,
    /// The place in the source, as the program numbers them; 0: none.
    pub site: u32,
    /// See [`Head::weight`].
    pub weight: u32,
    /// See [`Head::after_gap`].
    pub after_gap: bool,
}

/// Messages of one stream: those of each wave in the order in which it sent them, which also goes for the batches of a
/// thread.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a, M> {
    pub(crate) heads: &'a [Head],
    values: &'a [M],
    /// Where the first of them lies among those that heads count from.
    begin: usize,
    /// All values as bytes; of a stream of bytes, messages as [`bytes`](crate::bytes) has them.
    pub(crate) raw: &'a [u8],
    sites: &'a Sites,
    pub(crate) dispatches: &'a [Dispatch],
}

/// One message of a batch.
#[derive(Clone, Copy, Debug)]
pub struct Delivery<'a, M> {
    /// What is known of it.
    pub head: &'a Head,
    /// Its values: those of each lane together, lane by lane.
    pub values: &'a [M],
    pub(crate) dispatches: &'a [Dispatch],
}

impl<'a, M: Plain> Batch<'a, M> {
    /// All values.
    pub fn values(&self) -> &'a [M] {
        self.values
    }

    /// The places in the source that messages name.
    pub fn sites(&self) -> &'a Sites {
        self.sites
    }

    /// The messages.
    pub fn messages(&self) -> impl ExactSizeIterator<Item = Delivery<'a, M>> + use<'a, M> {
        let Self { values, begin, dispatches, .. } = *self;
        self.heads.iter().map(move |head| Delivery { head, values: &values[head.first() - begin..][..head.values() as usize], dispatches })
    }

    /// The messages in pieces, as they come, each of messages of one kernel; `None`: nobody knows which.
    pub fn by_kernel(&self) -> impl Iterator<Item = (Option<&'static str>, Self)> + use<'a, M> {
        let whole = *self;
        let kernel = move |head: &Head| head.dispatch(whole.dispatches).kernel;
        whole.heads.chunk_by(move |one, other| kernel(one) == kernel(other)).map(move |heads| {
            let (first, last) = (heads[0], heads[heads.len() - 1]);
            let (begin, end) = (first.first(), last.first() + last.values() as usize);
            (kernel(&first), Self { heads, values: &whole.values[begin - whole.begin..end - whole.begin], begin, ..whole })
        })
    }

    /// The values, each with who sent it.
    pub fn iter(&self) -> impl Iterator<Item = (Origin, &'a M)> + use<'a, M> {
        self.messages().flat_map(|message| message.iter())
    }
}

impl<'a, M> Delivery<'a, M> {
    /// The launch that it is of, and its kernel.
    pub fn dispatch(&self) -> Dispatch {
        self.head.dispatch(self.dispatches)
    }

    /// The values, each with who sent it.
    pub fn iter(&self) -> impl Iterator<Item = (Origin, &'a M)> + use<'a, M> {
        let Self { head, values, .. } = *self;
        let dispatch = self.dispatch();
        let header = head.header();
        let Header { from, time, site, .. } = header;
        let (device, after_gap, weight) = (head.device, head.after_gap(), head.weight());
        head.lanes().zip(values.chunks_exact(header.values as usize)).flat_map(move |(lane, values)| {
            let origin = Origin {
                device,
                launch: from.launch,
                dispatch,
                group: from.group,
                wave: from.wave,
                lane,
                sm: from.sm,
                time,
                site,
                weight,
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
    /// The launches that they are of: each is another one than the one before.
    dispatches: Vec<Dispatch>,
    memory: Vec<Quad>,
    /// Units of all values.
    units: usize,
    values: u32,
}

impl Pending {
    /// Messages of a batch.
    pub(crate) const MESSAGES: usize = 1024;
    /// Units of a batch: as much as stays in a processor's own cache.
    const UNITS: usize = 1 << 14;

    /// Room for so many units of rows of a message, behind what is there. What is written there counts from
    /// [`Pending::push`] on.
    ///
    /// # Panics
    /// When no message has as many, or batches [that are full](Pending::is_full) are not handed on.
    #[inline(always)]
    pub(crate) fn room(&mut self, units: usize) -> &mut [u32] {
        if self.memory.is_empty() {
            self.grow();
        }
        // SAFETY: a `u128` is four `u32`s in memory, all of them initialised.
        let all = unsafe { std::slice::from_raw_parts_mut(self.memory.as_mut_ptr().cast::<u32>(), self.memory.len() * 4) };
        &mut all[self.units..][..units]
    }

    /// Sees to it that there is [room](Pending::room) for a message of bytes, which may be longer than any other.
    #[cold]
    pub(crate) fn make_room(&mut self, units: usize) {
        if self.memory.is_empty() {
            self.grow();
        }
        let quads = (self.units + units).div_ceil(4).max(self.memory.len());
        self.memory.resize(quads, 0);
    }

    /// Room for everything, once. The system gives memory of zeros when it is first written.
    #[cold]
    fn grow(&mut self) {
        self.memory = vec![0; (Self::UNITS + (64 * MAX_UNITS).next_multiple_of(GRANULE) as usize) / 4];
        self.heads.reserve(Self::MESSAGES);
    }

    /// Takes a message of a launch and of so many values, whose rows are in the [room](Pending::room) of so many units.
    #[inline(always)]
    pub(crate) fn push(&mut self, mut head: Head, dispatch: Dispatch, values: u32, units: usize) {
        if self.dispatches.last() != Some(&dispatch) {
            self.dispatches.push(dispatch);
        }
        // (At most as many as messages.)
        head.launch = self.dispatches.len() as u16 - 1;
        // (Less than `UNITS`: it is full otherwise.)
        head.first |= self.values as u16;
        self.values += values;
        self.units += units;
        self.heads.push(head);
    }

    /// Messages and values.
    pub(crate) fn counts(&self) -> (u64, u64) {
        (self.heads.len() as u64, self.values.into())
    }

    /// Whether it is time to hand them on.
    pub(crate) fn is_full(&self) -> bool {
        self.heads.len() >= Self::MESSAGES || self.units >= Self::UNITS
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.heads.is_empty()
    }

    /// The messages as values of their type.
    pub(crate) fn batch<'a, M: Plain>(&'a self, sites: &'a Sites) -> Batch<'a, M> {
        const { assert!(align_of::<M>() <= align_of::<Quad>(), "a message's alignment is at most 16") };
        // Of a stream of bytes: values of no bytes, one for each message.
        let values = if size_of::<M>() == 0 { self.values as usize } else { self.units * 4 / size_of::<M>() };
        assert!(values == self.values as usize, "messages of another stream");
        // SAFETY: `units` units are initialised, any bytes are an `M: Plain`, and the memory is aligned to 16 as the
        // assertion above wants.
        let values = unsafe { std::slice::from_raw_parts(self.memory.as_ptr().cast::<M>(), values) };
        Batch { heads: &self.heads, values, begin: 0, raw: self.raw().1, sites, dispatches: &self.dispatches }
    }

    /// The messages as bytes.
    pub(crate) fn raw(&self) -> (&[Head], &[u8]) {
        // SAFETY: `units` units are initialised, and any of them is four bytes.
        let bytes = unsafe { std::slice::from_raw_parts(self.memory.as_ptr().cast::<u8>(), self.units * 4) };
        (&self.heads, bytes)
    }

    /// The launches that the messages are of.
    pub(crate) fn dispatches(&self) -> &[Dispatch] {
        &self.dispatches
    }

    pub(crate) fn clear(&mut self) {
        self.heads.clear();
        self.dispatches.clear();
        (self.units, self.values) = (0, 0);
    }
}
