//! Bodies of the fuzz targets, as plain functions: `cargo fuzz` calls them with what it invents, `cargo test` with the
//! seeds.
//!
//! Each ends normally for every input. What must not happen is an assertion of the body, a panic of the server, or a
//! hang.

pub mod bundles;
pub mod decode_arguments;
pub mod definitions;
pub mod hostile_device;
pub mod hsa_packets;
pub mod llvm_rpc;
pub mod measured;
pub mod packets;
pub mod policy_paths;
pub mod recordings;
pub mod remote;
pub mod streams;
pub mod tablegen;
pub mod two_programs;

/// The input, read piece by piece; zeros behind its end.
pub struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    /// All of an input.
    pub fn new(data: &'a [u8]) -> Self {
        Self(data)
    }

    /// Whether everything was read.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The next byte.
    pub fn byte(&mut self) -> u8 {
        let [byte] = self.array();
        byte
    }

    /// The next 32-bit number.
    pub fn word(&mut self) -> u32 {
        u32::from_le_bytes(self.array())
    }

    /// The next bytes.
    pub fn bytes(&mut self, len: usize) -> &'a [u8] {
        let (bytes, rest) = self.0.split_at(len.min(self.0.len()));
        self.0 = rest;
        bytes
    }

    fn array<const N: usize>(&mut self) -> [u8; N] {
        let bytes = self.bytes(N);
        std::array::from_fn(|i| bytes.get(i).copied().unwrap_or(0))
    }
}

/// Services of every shape, under which fuzzed calls arrive.
#[hostcall::service]
pub trait Shapes {
    /// Numbers.
    fn fixed(a: u8, b: u64, c: (i16, bool)) -> (u64, u8);
    /// Values with impossible encodings.
    fn picky(a: Option<char>, b: Result<bool, u16>) -> Option<char>;
    /// Strings.
    fn text(a: &str, b: &str) -> u32;
    /// Slices of several alignments.
    fn slices(a: &[u8], b: &[u64], c: &[[u16; 3]]) -> u64;
    /// Bytes that go back.
    fn fill(value: u8, out: &mut [u8], more: &mut [u32]) -> u32;
    /// Nobody waits for it.
    fn posted(a: u32, text: &str);
}

/// An implementation that looks at everything it is given.
pub struct Honest;

impl Shapes for Honest {
    fn fixed(&self, a: u8, b: u64, c: (i16, bool)) -> (u64, u8) {
        (b.wrapping_add(c.0 as u64), a ^ u8::from(c.1))
    }
    fn picky(&self, a: Option<char>, b: Result<bool, u16>) -> Option<char> {
        if b.is_ok() { a } else { None }
    }
    fn text(&self, a: &str, b: &str) -> u32 {
        (a.chars().count() + b.chars().count()) as u32
    }
    fn slices(&self, a: &[u8], b: &[u64], c: &[[u16; 3]]) -> u64 {
        let sum = a.iter().map(|&x| u64::from(x)).sum::<u64>();
        let sum = b.iter().fold(sum, |sum, &x| sum.wrapping_add(x));
        c.as_flattened().iter().fold(sum, |sum, &x| sum.wrapping_add(u64::from(x)))
    }
    fn fill(&self, value: u8, out: &mut [u8], more: &mut [u32]) -> u32 {
        assert!(out.iter().all(|&byte| byte == 0) && more.iter().all(|&word| word == 0), "scratch of an earlier call shows");
        out.fill(value);
        more.fill(u32::from(value));
        (out.len() + more.len()) as u32
    }
    fn posted(&self, a: u32, text: &str) {
        std::hint::black_box((a, text.len()));
    }
}

/// Numbers of [`Shapes`]' services when they are registered first, in order.
pub const SHAPES: u16 = 6;
