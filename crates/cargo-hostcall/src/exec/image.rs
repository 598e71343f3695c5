//! The image that is started: a bundle, compressed by gzip or not.

use std::fs;
use std::io::Read;
use std::path::Path;

use flate2::read::MultiGzDecoder;
use hostcall_build::ProgramBundle;

/// What a file begins with that gzip has written.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Reads the file, whatever its name.
pub(super) fn read(file: &Path) -> Result<ProgramBundle, String> {
    let shown = file.display();
    let mut bytes = fs::read(file).map_err(|error| format!("cannot read {shown}: {error}"))?;
    if bytes.starts_with(&GZIP) {
        let mut unpacked = Vec::new();
        MultiGzDecoder::new(&*bytes).read_to_end(&mut unpacked).map_err(|error| format!("cannot unpack {shown}: {error}"))?;
        bytes = unpacked;
    }
    ProgramBundle::from_bytes(&bytes).map_err(|error| format!("{shown}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use offload::{Image, ImageKind};
    use std::io::Write;

    #[test]
    fn a_compressed_bundle_is_read_and_a_damaged_one_is_named() {
        let dir = tempfile::tempdir().expect("a directory");
        let bundle = ProgramBundle::new("x", vec![Image::new(ImageKind::Sim, "here", vec![7; 1000])]);
        let mut packed = GzEncoder::new(Vec::new(), Compression::default());
        packed.write_all(&bundle.to_bytes()).expect("into memory");
        let packed = packed.finish().expect("into memory");
        let file = |name: &str, bytes: &[u8]| {
            let file = dir.path().join(name);
            fs::write(&file, bytes).expect("written");
            file
        };
        assert_eq!(read(&file("x.program.gz", &packed)).expect("read").to_bytes(), bundle.to_bytes());
        assert_eq!(read(&file("x.program", &bundle.to_bytes())).expect("read").to_bytes(), bundle.to_bytes());
        let error = read(&file("cut.gz", &packed[..packed.len() / 2])).expect_err("half of it is missing");
        assert!(error.starts_with("cannot unpack") && error.contains("cut.gz"), "{error}");
        let error = read(&file("cut", &bundle.to_bytes()[..500])).expect_err("half of it is missing");
        assert!(error.contains("the file is damaged") && !error.contains("kernel crate"), "{error}");
    }
}
