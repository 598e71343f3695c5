//! What a bundle keeps, and what it refuses.

use offload_image::{BundleError, Image, ImageKind, ProgramBundle, Sha256};
use proptest::prelude::*;

fn bundle() -> ProgramBundle {
    let mut bundle = ProgramBundle::new(
        "wordcount",
        vec![
            Image::new(ImageKind::Sim, "x86_64-unknown-linux-gnu", b"\x7fELF".to_vec()),
            Image::new(ImageKind::Ptx, "sm_70", b".version 8.4".to_vec()),
            Image::new(ImageKind::AmdCodeObject, "gfx90a", Vec::new()),
        ],
    );
    bundle.note = Some("no ptxas, so no cubins".into());
    bundle
}

#[test]
fn a_bundle_read_back_is_the_bundle_written() {
    let bytes = bundle().to_bytes();
    assert_eq!(ProgramBundle::from_bytes(&bytes), Ok(bundle()));
    assert_eq!(ProgramBundle::from_static(Box::leak(bytes.into_boxed_slice())), Ok(bundle()));
}

#[test]
fn images_read_from_static_bytes_are_not_copied() {
    let bytes: &'static [u8] = Box::leak(bundle().to_bytes().into_boxed_slice());
    let read = ProgramBundle::from_static(bytes).expect("what was written reads");
    assert!(bytes.as_ptr_range().contains(&read.images[1].bytes.as_ptr()));
}

#[test]
fn a_bundle_cut_anywhere_says_that_it_is_cut() {
    let bytes = bundle().to_bytes();
    for len in 0..bytes.len() {
        match ProgramBundle::from_bytes(&bytes[..len]) {
            Err(BundleError::NotABundle) if len < 8 => {}
            Err(BundleError::Truncated { offset, needed, left, .. }) => {
                assert!(offset as u64 + needed > len as u64 && offset + left == len)
            }
            other => panic!("cut at {len}: {other:?}"),
        }
    }
}

#[test]
fn bytes_after_the_last_image_are_refused() {
    let mut bytes = bundle().to_bytes();
    bytes.extend([0; 3]);
    assert_eq!(ProgramBundle::from_bytes(&bytes), Err(BundleError::TrailingBytes { extra: 3 }));
}

#[test]
fn another_version_is_refused_by_number() {
    let mut bytes = bundle().to_bytes();
    bytes[8] = 9;
    assert_eq!(ProgramBundle::from_bytes(&bytes), Err(BundleError::Version { found: 9, supported: 1 }));
}

#[test]
fn a_length_of_the_whole_address_space_is_truncation_and_not_an_allocation() {
    let mut bytes = ProgramBundle::new("n", vec![Image::new(ImageKind::Ptx, "sm_70", Vec::new())]).to_bytes();
    let len = bytes.len();
    bytes[len - 8..].fill(0xff);
    assert!(matches!(ProgramBundle::from_bytes(&bytes), Err(BundleError::Truncated { needed: u64::MAX, left: 0, .. })));
}

#[test]
fn a_changed_image_fails_verification_and_names_both_hashes() {
    let mut bundle = bundle();
    assert_eq!(bundle.verify(), Ok(()));
    let expected = bundle.images[1].sha256;
    bundle.images[1].bytes.to_mut()[0] ^= 1;
    let found = Sha256::of(&bundle.images[1].bytes);
    let error = bundle.verify().expect_err("the image was changed");
    assert_eq!(
        error,
        BundleError::HashMismatch { program: "wordcount".into(), kind: ImageKind::Ptx, arch: "sm_70".into(), expected, found }
    );
    assert!(error.to_string().contains(&expected.to_string()) && error.to_string().contains(&found.to_string()));
}

#[test]
fn the_hash_is_sha_256_in_hexadecimal() {
    assert_eq!(Sha256::of(b"abc").to_string(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

fn any_image() -> impl Strategy<Value = Image> {
    let kinds = prop_oneof![Just(ImageKind::Sim), Just(ImageKind::Ptx), Just(ImageKind::Cubin), Just(ImageKind::AmdCodeObject)];
    (kinds, "[a-zA-Z0-9 ä漢_.:+-]{0,12}", any::<Vec<u8>>()).prop_map(|(kind, arch, bytes)| Image::new(kind, arch, bytes))
}

#[test]
fn a_name_that_leads_elsewhere_or_steers_a_terminal_is_none() {
    let image = |arch: &'static str| Image::new(ImageKind::Ptx, arch, Vec::new());
    for name in ["../x", "a/b", "a\\b", "\u{1b}[2J", "two\nlines", "\u{202e}"] {
        for bundle in [ProgramBundle::new(name, Vec::new()), ProgramBundle::new("n", vec![image(name)])] {
            let error = ProgramBundle::from_bytes(&bundle.to_bytes()).unwrap_err();
            assert!(matches!(&error, BundleError::NotAName { text, .. } if text == name), "{error:?}");
            assert!(!error.to_string().contains(char::is_control), "{error}");
        }
    }
    let named = ProgramBundle::new("größe 2.0+x", vec![image("gfx90a:sramecc+:xnack-")]);
    assert_eq!(ProgramBundle::from_bytes(&named.to_bytes()), Ok(named));
}

proptest! {
    #[test]
    fn any_bundle_survives_its_bytes(name in "[a-zA-Z0-9 ä漢_.:+-]{0,20}", note: Option<String>, images in prop::collection::vec(any_image(), 0..6)) {
        let mut bundle = ProgramBundle::new(name, images);
        bundle.note = note.map(Into::into);
        let read = ProgramBundle::from_bytes(&bundle.to_bytes());
        prop_assert_eq!(read.as_ref(), Ok(&bundle));
        prop_assert_eq!(bundle.verify(), Ok(()));
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes: Vec<u8>) {
        let _ = ProgramBundle::from_bytes(&bytes);
        let mut dressed = b"hcbundle\x01\0\0\0".to_vec();
        dressed.extend(bytes);
        let _ = ProgramBundle::from_bytes(&dressed);
    }

    #[test]
    fn a_flipped_bit_is_refused_or_changes_only_what_the_bundle_says(at in any::<prop::sample::Index>(), bit in 0u8..8) {
        let mut bytes = bundle().to_bytes();
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        if let Ok(read) = ProgramBundle::from_bytes(&bytes) {
            prop_assert_ne!(read, bundle());
        }
    }
}
