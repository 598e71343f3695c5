//! A bundle of images that somebody else has made: any bytes, and pieces that are nearly one.
//!
//! The oracle: it is read, or refused with an error that names a place inside it; either takes memory in proportion to
//! its length. What is read is written as the same bytes, and an image is used only if it is the one whose hash the
//! bundle has.

use offload_image::{BundleError, ProgramBundle, Sha256};

use crate::{Input, measured};

/// Bytes of memory that reading takes at most for each byte of a bundle, and beside them.
const EACH: usize = 8;
const BESIDE: usize = 1 << 10;

/// Plays one input: the first byte says whether the rest is a bundle as it stands, or what one is made of.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    if input.byte() & 1 == 0 {
        return read(input.bytes(usize::MAX));
    }
    let bundle = input.bundle();
    read(&bundle);
    // Cut somewhere, it is none.
    let at = input.word() as usize % (bundle.len() + 1);
    if at < bundle.len() && ProgramBundle::from_bytes(&bundle).is_ok() {
        assert!(ProgramBundle::from_bytes(&bundle[..at]).is_err(), "a part of a bundle is one");
    }
    read(&bundle[..at]);
}

/// Reads a bundle, or why it is none.
fn read(bytes: &[u8]) {
    let before = measured::taken();
    let read = ProgramBundle::from_bytes(bytes);
    let taken = measured::taken() - before;
    assert!(taken <= EACH * bytes.len() + BESIDE, "{taken} bytes of memory for a bundle of {}", bytes.len());
    let bundle = match read {
        Ok(bundle) => bundle,
        Err(error) => {
            let inside = match &error {
                BundleError::Truncated { offset, needed, left, .. } => offset + left == bytes.len() && *needed > *left as u64,
                BundleError::TrailingBytes { extra } => (1..=bytes.len()).contains(extra),
                BundleError::HashMismatch { .. } => false,
                _ => true,
            };
            assert!(inside, "{error:?} of {} bytes", bytes.len());
            // What it quotes is one line.
            assert!(!error.to_string().contains(char::is_control), "{error:?}");
            return;
        }
    };
    assert_eq!(bundle.to_bytes(), bytes, "what was read is written");
    let mut all = true;
    for image in &bundle.images {
        let right = Sha256::of(&image.bytes) == image.sha256;
        all &= right;
        match bundle.checked(image) {
            Ok(_) => assert!(right, "an image of another hash is used"),
            Err(error) => assert!(!right && !error.to_string().contains(char::is_control), "{error:?}"),
        }
        assert!(bundle.images_of(image.kind).any(|its| std::ptr::eq(its, image)));
    }
    assert_eq!(bundle.verify().is_ok(), all);
}

impl Input<'_> {
    /// A bundle but for a number or two.
    fn bundle(&mut self) -> Vec<u8> {
        let mut out = b"hcbundle".to_vec();
        let version = self.byte();
        out.extend(if version < 250 { 1 } else { u32::from(version) }.to_le_bytes());
        self.text(&mut out);
        let note = self.byte() % 8;
        out.extend(u32::from(note % 5).to_le_bytes());
        if note % 5 == 1 {
            self.text(&mut out);
        }
        let count = self.byte();
        out.extend(if count == 255 { u32::MAX } else { u32::from(count % 8) }.to_le_bytes());
        for _ in 0..count % 8 {
            out.extend(u32::from(self.byte() % 6).to_le_bytes());
            self.text(&mut out);
            let (length, what) = (self.byte(), self.byte());
            let image = self.bytes(length.into());
            let mut hash = Sha256::of(image).0;
            hash[0] ^= what & 1;
            out.extend(hash);
            out.extend(if what > 250 { u64::MAX - u64::from(what) } else { image.len() as u64 }.to_le_bytes());
            out.extend_from_slice(image);
        }
        out
    }

    /// A text, whose length may be another.
    fn text(&mut self, out: &mut Vec<u8>) {
        let length = self.byte();
        let text = self.bytes((length % 64).into());
        out.extend(if length > 250 { u32::MAX } else { text.len() as u32 }.to_le_bytes());
        out.extend_from_slice(text);
    }
}
