//! What the host writes into a program with Rust's `std` on a GPU about its threads' stacks.

/// The program's symbol of its [`Stacks`].
pub const STACKS_SYMBOL: &str = "__hostcall_stacks";

/// Where the threads' stacks are. All zero, as a program begins: nobody has reserved any, and threads take theirs from
/// the heap.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stacks {
    /// Address of the first one: a multiple of 16. The others follow it.
    pub base: u64,
    /// Bytes of each: a multiple of 16.
    pub bytes: u64,
    /// How many there are.
    pub threads: u64,
    /// Bytes of each lane's own memory, which holds return addresses and saved registers, and the whole stack of a
    /// kernel's lane; 0: not known.
    pub own_bytes: u64,
}

const _: () = assert!(size_of::<Stacks>() == 32 && align_of::<Stacks>() == 8);

impl Stacks {
    /// As they lie in the program.
    pub fn to_bytes(self) -> [u8; 32] {
        let mut bytes = [0; 32];
        for (chunk, word) in bytes.chunks_exact_mut(8).zip([self.base, self.bytes, self.threads, self.own_bytes]) {
            chunk.copy_from_slice(&word.to_ne_bytes());
        }
        bytes
    }

    /// From how they lie in the program.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        let mut words = [0; 4];
        for (word, chunk) in words.iter_mut().zip(bytes.as_chunks().0) {
            *word = u64::from_ne_bytes(*chunk);
        }
        let [base, bytes, threads, own_bytes] = words;
        Self { base, bytes, threads, own_bytes }
    }

    /// The stack of the thread of this number, if one was reserved for it.
    pub const fn of(self, thread: u64) -> Option<u64> {
        if thread < self.threads { Some(self.base + thread * self.bytes) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_lie_one_behind_the_other_and_there_is_none_behind_the_last() {
        let stacks = Stacks { base: 1 << 20, bytes: 4096, threads: 2, own_bytes: 7 };
        assert_eq!([0, 1, 2].map(|thread| stacks.of(thread)), [Some(1 << 20), Some((1 << 20) + 4096), None]);
        assert_eq!(Stacks::default().of(0), None);
        assert_eq!(stacks.to_bytes()[24..], 7u64.to_ne_bytes());
        assert_eq!(Stacks::from_bytes(stacks.to_bytes()), stacks);
    }
}
