//! What a message does when its ring is full, and what became of it.

/// What a message does when its ring is full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum Policy {
    /// Its wave waits until there is room.
    #[default]
    Block = 0,
    /// It is dropped, and counted.
    Drop = 1,
    /// Its wave waits for a while ([`Gate::patience`](super::Gate::patience)); then it is dropped, and counted.
    Wait = 2,
    /// The fuller the ring, the fewer messages are sent, each of which then stands for 2, 4 or 16
    /// ([`Header::weight`](super::Header::weight)). The others are counted. If there is no room at all it is dropped.
    Sample = 3,
    /// It overwrites the oldest, and is read when the host asks for it, see [`latest`](super::latest). The type says
    /// so, and nobody can say otherwise: its messages have another form.
    Latest = 4,
}

impl Policy {
    /// All of them, by number.
    pub const ALL: [Self; 5] = [Self::Block, Self::Drop, Self::Wait, Self::Sample, Self::Latest];
    /// Those among which the host may choose, whatever a type says, unless it says [`Policy::Latest`].
    pub const CHOICES: [Self; 4] = [Self::Block, Self::Drop, Self::Wait, Self::Sample];

    /// The policy with a number, if there is one.
    #[inline(always)]
    pub const fn new(number: u32) -> Option<Self> {
        match number {
            0 => Some(Self::Block),
            1 => Some(Self::Drop),
            2 => Some(Self::Wait),
            3 => Some(Self::Sample),
            4 => Some(Self::Latest),
            _ => None,
        }
    }

    /// Its name, as attributes, files and command lines say it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Block => "block",
            Self::Drop => "drop",
            Self::Wait => "wait",
            Self::Sample => "sample",
            Self::Latest => "latest",
        }
    }
}

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// It is in the ring, or on the way there.
    Sent,
    /// There was no room, and its policy is not [`Policy::Block`].
    Dropped,
    /// Nobody reads the ring any more.
    Closed,
    /// It is longer than a message can be.
    TooLarge,
    /// Nobody wants messages of this stream.
    Off,
    /// This message is not wanted: its stream's [`Gate`](super::Gate) leaves it out, or it was not chosen as a sample.
    Filtered,
}

impl Sent {
    /// What one lane told the others.
    #[inline(always)]
    pub(super) const fn new(number: u32) -> Self {
        match number {
            number if number == Self::Sent as u32 => Self::Sent,
            number if number == Self::Dropped as u32 => Self::Dropped,
            number if number == Self::Filtered as u32 => Self::Filtered,
            _ => Self::Closed,
        }
    }
}
