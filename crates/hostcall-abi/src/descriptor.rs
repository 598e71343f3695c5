//! What the host writes into a loaded program, and the names under which it finds the places.

use core::fmt;

use crate::geometry::Geometry;

/// Name of the program's [`Descriptor`] global. The host fills it when the program is attached.
pub const DESCRIPTOR_SYMBOL: &str = "__hostcall_device";
/// Name of the program's ABI version word (a `u32` initialised to [`crate::ABI_VERSION`]).
pub const ABI_SYMBOL: &str = "__hostcall_abi";
/// Prefix of a service's number word, a `u32`: `__HOSTCALL__` + service name. 0 until patched.
pub const SERVICE_PREFIX: &str = "__HOSTCALL__";
/// Prefix of a service's [`SignatureWord`].
pub const SIGNATURE_PREFIX: &str = "__HOSTCALL_SIGNATURE__";
/// Prefix of a kernel's parameter table, see [`KernelParams`].
pub const KERNEL_PREFIX: &str = "__HOSTCALL_KERNEL__";
/// Prefix of a word (`u32`) that a kernel has if nobody can tell how much stack its lanes need: it may reach a call
/// through a pointer, or itself. `hostcall-build` writes it. (The compilers' own metadata does not always say so.)
pub const STACK_PREFIX: &str = "__HOSTCALL_STACK__";

/// Everything a kernel must know of its port buffer. All addresses are as the device sees them.
///
/// A program holds one, as the global named [`DESCRIPTOR_SYMBOL`]; all zero means "not attached", and
/// every call then ends as [`crate::CallError::ServerGone`].
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct Descriptor {
    /// Device memory: `u64` per port, whose lower half is its [`crate::port::PortState`].
    pub states: u64,
    /// Host memory: `u32` per port.
    pub doorbells: u64,
    /// Host memory: request areas.
    pub requests: u64,
    /// Host memory, or the window: reply areas.
    pub replies: u64,
    /// Ports; 0: not attached.
    pub ports: u32,
    /// Words of a request area.
    pub request_words: u32,
    /// Words of a reply area.
    pub reply_words: u32,
    /// [`Geometry::lone_stride`].
    pub lone_stride: u32,
    /// Host memory, or the window: [`Control`].
    pub control: u64,
    /// Host memory: staging slots.
    pub staging: u64,
    /// Device memory: `u32` per staging slot.
    pub slot_locks: u64,
    /// Staging slots.
    pub slots: u32,
    /// Bytes of one.
    pub slot_bytes: u32,
    /// Device memory: start of the heap, 0 for none. `hostcall_device::heap` owns its format.
    pub heap: u64,
    /// Bytes of the heap.
    pub heap_bytes: u64,
    /// Device memory: a `u32` that is 0 while calls are served. The device sets it to a status once it
    /// has learnt from [`Control`] that the server is gone, so that later calls fail at once.
    pub closed: u64,
    /// Seed of `random`, drawn by the host when it attached.
    pub seed: u64,
    /// When a waiting lane first looks for its reply.
    pub first_poll: FirstPoll,
    /// 1 if replies and [`Control`] lie in a window: device memory, which lanes may look at as often as they like.
    pub window: u32,
    /// Pages of [`Geometry::PAGE`] bytes from `doorbells` to the marks: host memory, `u32` per port,
    /// [`crate::port::ServerPort::mark`].
    pub marks: u32,
}

/// When a waiting lane first looks for its reply: `clocks + lanes * per_lane` of the device's clocks after its request.
///
/// A poll is a round trip over the bus that samples the word half-way, so one that comes just too early costs a whole
/// further trip, and one that comes too late what it waited. Which delay is best is a matter of the two processors;
/// devices that do not wait ignore it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct FirstPoll {
    /// Clocks whatever the number of lanes.
    pub clocks: u32,
    /// Clocks more for each lane that calls, which the host reads, handles and answers one after another.
    pub per_lane: u32,
}

impl FirstPoll {
    /// What was best on the machines it was measured on, see `docs/notes/performance.md`.
    pub const DEFAULT: Self = Self { clocks: 500, per_lane: 37 };
}

impl Default for FirstPoll {
    fn default() -> Self {
        Self::DEFAULT
    }
}

const _: () = {
    assert!(size_of::<Descriptor>() == 128);
    assert!(core::mem::offset_of!(Descriptor, control) == 48);
    assert!(core::mem::offset_of!(Descriptor, heap) == 80);
    assert!(core::mem::offset_of!(Descriptor, first_poll) == 112);
};

impl Descriptor {
    /// "Not attached".
    pub const DETACHED: Descriptor = Descriptor {
        states: 0,
        doorbells: 0,
        requests: 0,
        replies: 0,
        ports: 0,
        request_words: 0,
        reply_words: 0,
        lone_stride: 1,
        control: 0,
        staging: 0,
        slot_locks: 0,
        slots: 0,
        slot_bytes: 0,
        heap: 0,
        heap_bytes: 0,
        closed: 0,
        seed: 0,
        first_poll: FirstPoll::DEFAULT,
        window: 0,
        marks: 0,
    };

    /// The descriptor of a buffer whose host part the device sees at `host`, whose window (looked at only if the
    /// geometry has one) at `window`, and whose device part lies at `device`. Heap, `closed` and seed are left zero.
    pub const fn new(g: &Geometry, host: u64, window: u64, device: u64) -> Self {
        let h = g.host_layout();
        let w = g.window_layout();
        let d = g.device_layout();
        let (replies, control) = if g.window {
            (window + w.replies as u64, window + w.control as u64)
        } else {
            (host + h.replies as u64, host + h.control as u64)
        };
        Self {
            states: device + d.states as u64,
            doorbells: host + h.doorbells as u64,
            requests: host + h.requests as u64,
            replies,
            ports: g.ports,
            request_words: g.request_words,
            reply_words: g.reply_words,
            lone_stride: g.lone_stride(),
            control,
            staging: host + h.staging as u64,
            slot_locks: device + d.slot_locks as u64,
            slots: g.slots,
            slot_bytes: g.slot_bytes,
            window: g.window as u32,
            marks: ((h.marks - h.doorbells) / Geometry::PAGE) as u32,
            ..Self::DETACHED
        }
    }

    /// Where a port's mark lies.
    #[inline(always)]
    pub const fn mark(&self, port: u32) -> u64 {
        self.doorbells + self.marks as u64 * Geometry::PAGE as u64 + port as u64 * 4
    }

    /// The bytes to write into the program.
    pub fn as_bytes(&self) -> &[u8; size_of::<Descriptor>()] {
        // SAFETY: `Descriptor` is `repr(C)` and the size assert above shows that it has no padding
        // (11 u64 and 10 u32 are 128 bytes); any of its bytes is initialised.
        unsafe { &*core::ptr::from_ref(self).cast() }
    }
}

/// First line of a port buffer's window, or without one of its host memory: written by the host, read by waiting lanes
/// when a reply is late, and with a window before each call.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct Control {
    /// 0 while the buffer is served, else the [`crate::Status`] with which waiting calls end.
    pub closed: u32,
    /// Not used.
    pub reserved: [u32; 15],
}

/// What a program says of the definition that a stub was made from, under [`SIGNATURE_PREFIX`] + the service's name.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct SignatureWord<const TEXT: usize> {
    /// [`crate::codec::signature`], which the host compares with its own.
    pub hash: u64,
    /// The definition for people, `fn(f32) -> f32`, filled up with zeros to a multiple of 8; empty where the hash has
    /// to do.
    pub text: [u8; TEXT],
}

impl<const TEXT: usize> SignatureWord<TEXT> {
    /// A signature with as much of the text as fits.
    pub const fn new(hash: u64, text: &str) -> Self {
        assert!(TEXT.is_multiple_of(8), "without padding");
        let (from, mut bytes, mut i) = (text.as_bytes(), [0; TEXT], 0);
        while i < TEXT && i < from.len() {
            bytes[i] = from[i];
            i += 1;
        }
        Self { hash, text: bytes }
    }
}

/// A service as a value: what the host passes to a kernel that is to call this service, and not the one that has the
/// name. The host's `ServiceHandle::callee` makes it.
///
/// The default is nobody.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Callee {
    number: u32,
    check: u32,
}

// SAFETY: two `u32`, without padding, and every bit pattern is one.
unsafe impl crate::Plain for Callee {}

impl Callee {
    /// Service `number`, whose definition has this [signature](crate::codec::signature).
    pub const fn new(number: u16, signature: u64) -> Self {
        Self { number: number as u32, check: signature as u32 }
    }

    /// Its number, if its definition's signature is `signature`; else 0, which is nobody's.
    #[inline(always)]
    pub const fn number(self, signature: u64) -> u32 {
        if self.check == signature as u32 { self.number } else { 0 }
    }
}

/// What a kernel says of its parameters, under [`KERNEL_PREFIX`] + name, so that a launch with the
/// wrong arguments is an error instead of undefined behaviour.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct KernelParams {
    /// Parameters.
    pub count: u32,
    /// Of each, in order, the byte size (bits 0 to 15) and what is said of its type (bits 16 to 31): where a slice's
    /// address or a pointer is passed, what [its elements](Element) are; of a number, what number it is. Those past
    /// `count` are 0.
    pub sizes: [u32; KernelParams::MAX],
}

/// What the elements of a slice are, as far as two sides that do not share their types can say: size and kind of
/// number. Bits 0 to 11 are the size in bytes, 0 where it is not said; bits 12 to 14 the kind; bit 15 is set for the
/// parameter itself, which is such a number and no address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element(pub u16);

impl Element {
    /// Nothing is said.
    pub const UNKNOWN: Self = Self(0);

    /// Kinds: no number that both sides know.
    pub const OTHER: u16 = 0;
    /// A number without a sign.
    pub const UNSIGNED: u16 = 1;
    /// A number with a sign.
    pub const SIGNED: u16 = 2;
    /// A floating-point number.
    pub const FLOAT: u16 = 3;
    /// Where the kind begins.
    pub const KIND_SHIFT: u32 = 12;
    /// Set for a parameter that is a number and no address.
    pub const VALUE: u16 = 1 << 15;

    /// Elements of a type that is written like this: a number's name, or anything else.
    pub const fn new(size: usize, name: &str) -> Self {
        let kind = match name.as_bytes() {
            b"u8" | b"u16" | b"u32" | b"u64" | b"u128" | b"usize" => Self::UNSIGNED,
            b"i8" | b"i16" | b"i32" | b"i64" | b"i128" | b"isize" => Self::SIGNED,
            b"f32" | b"f64" => Self::FLOAT,
            _ => Self::OTHER,
        };
        if size == 0 || size > 0xfff { Self::UNKNOWN } else { Self(size as u16 | kind << 12) }
    }

    /// Bytes; 0 where it is not said.
    pub const fn size(self) -> u16 {
        self.0 & 0xfff
    }

    /// The kind of number.
    pub const fn kind(self) -> u16 {
        (self.0 & !Self::VALUE) >> Self::KIND_SHIFT
    }

    /// Whether it is said of the parameter itself.
    pub const fn is_value(self) -> bool {
        self.0 & Self::VALUE != 0
    }

    /// Whether memory of `given` may be passed where this is wanted: sizes agree, and kinds where both are numbers.
    pub const fn takes(self, given: Self) -> bool {
        let unknown = self.size() == 0 || given.size() == 0;
        let same_kind = self.kind() == Self::OTHER || given.kind() == Self::OTHER || self.kind() == given.kind();
        unknown || (self.is_value() == given.is_value() && self.size() == given.size() && same_kind)
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind() {
            _ if self.is_value() => write!(f, "nothing: it is a number of {} bytes", self.size()),
            Self::UNSIGNED => write!(f, "`u{}`", 8 * self.size()),
            Self::SIGNED => write!(f, "`i{}`", 8 * self.size()),
            Self::FLOAT => write!(f, "`f{}`", 8 * self.size()),
            _ => write!(f, "elements of {} bytes", self.size()),
        }
    }
}

impl KernelParams {
    /// The most parameters of one kernel (a slice takes two: address and length).
    pub const MAX: usize = 31;

    /// The entry of a value of so many bytes.
    ///
    /// # Panics
    /// When it is larger than any device's parameters can be.
    pub const fn value(size: usize) -> u32 {
        assert!(size <= 0xffff, "a kernel's parameter has at most 65535 bytes: pass a slice");
        size as u32
    }

    /// The entry of a slice's address. The entry of its length, a value of 8 bytes, follows.
    pub const fn slice(element: Element) -> u32 {
        8 | (element.0 as u32) << 16
    }

    /// Size and elements that an entry says.
    pub const fn entry(entry: u32) -> (u32, Element) {
        (entry & 0xffff, Element((entry >> 16) as u16))
    }

    /// The table of these entries.
    ///
    /// # Panics
    /// When there are more than [`KernelParams::MAX`].
    pub const fn new(list: &[u32]) -> Self {
        assert!(list.len() <= Self::MAX, "a kernel takes at most 31 parameters (a slice counts twice)");
        let mut sizes = [0; Self::MAX];
        let mut i = 0;
        while i < list.len() {
            sizes[i] = list[i];
            i += 1;
        }
        Self { count: list.len() as u32, sizes }
    }

    /// Offset of a parameter of `size` bytes in a simulator kernel's parameter block, when the parameter
    /// before it ended at `end`: the next multiple of its own size if that is 1, 2, 4 or 8, of 8 otherwise.
    ///
    /// It depends on nothing but the sizes, which is all that a launch knows.
    pub const fn place(end: usize, size: usize) -> usize {
        let align = if matches!(size, 1 | 2 | 4 | 8) { size } else { 8 };
        end.div_ceil(align) * align
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_agree_in_size_and_in_kind_where_both_are_numbers() {
        let [u, f, wide, other] = [Element::new(4, "u32"), Element::new(4, "f32"), Element::new(8, "u64"), Element::new(4, "AtomicU32")];
        assert!(u.takes(u) && other.takes(u) && u.takes(other) && Element::UNKNOWN.takes(wide) && u.takes(Element::new(5000, "Big")));
        assert!(!u.takes(f) && !u.takes(wide) && !other.takes(wide));
        assert_eq!([u, f, wide, other].map(|e| e.to_string()), ["`u32`", "`f32`", "`u64`", "elements of 4 bytes"]);
    }

    #[test]
    fn an_entry_says_size_and_elements() {
        let entry = KernelParams::entry(KernelParams::slice(Element::new(2, "i16")));
        assert_eq!((entry.0, entry.1), (8, Element::new(2, "i16")));
        assert_eq!(KernelParams::entry(KernelParams::value(65535)), (65535, Element::UNKNOWN));
    }
}
