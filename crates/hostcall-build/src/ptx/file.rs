//! What a file is: PTX, or something that has none.

use super::error::PtxError;
use super::module::Module;

/// The PTX in a file.
pub(super) fn text_of(file: &[u8]) -> Result<&str, PtxError> {
    if file.starts_with(b"\x7fELF") {
        // The machine number of CUDA's code objects.
        let kind = if file.get(18..20) == Some(&190u16.to_le_bytes()) { "a cubin" } else { "a library or program" };
        return Err(PtxError::MachineCode { kind });
    }
    if file.starts_with(&FATBIN.to_le_bytes()) {
        return Err(if has_ptx(file) { PtxError::Fatbin } else { PtxError::MachineCode { kind: "a fatbin" } });
    }
    std::str::from_utf8(file).map_err(|error| {
        let line = 1 + file[..error.valid_up_to()].iter().filter(|byte| **byte == b'\n').count() as u32;
        PtxError::Syntax { line, problem: "it is not UTF-8".into() }
    })
}

/// What a fatbin begins with.
const FATBIN: u32 = 0xba55_ed50;

/// Whether one of a fatbin's parts is PTX. Its head has its own bytes at 6 and all others' at 8; each part's has its
/// kind (1: PTX, 2: machine code), its own bytes at 4, and those behind it at 8.
fn has_ptx(file: &[u8]) -> bool {
    let half = |at: usize| file.get(at..)?.first_chunk().map(|bytes| u16::from_le_bytes(*bytes));
    let word = |at: usize| file.get(at..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes) as usize);
    let long = |at: usize| file.get(at..)?.first_chunk().and_then(|bytes| usize::try_from(u64::from_le_bytes(*bytes)).ok());
    let mut at = half(6).map_or(0, usize::from);
    while at > 0
        && let (Some(kind), Some(own), Some(behind)) = (half(at), word(at + 4), long(at + 8))
    {
        if kind == 1 {
            return true;
        }
        match at.checked_add(own).and_then(|at| at.checked_add(behind)).filter(|next| *next > at) {
            Some(next) => at = next,
            None => break,
        }
    }
    false
}

/// Whether PTX, when it is read and printed, is what it was: for tests of the reader.
///
/// # Errors
///
/// [`PtxError`] if it cannot be read.
pub fn reads_as_it_is(file: &[u8]) -> Result<bool, PtxError> {
    let text = text_of(file)?;
    Ok(Module::read(text)?.print() == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machine_code_is_refused_by_name() {
        let elf = |machine: u16| [&b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0"[..], &machine.to_le_bytes(), &[0; 44]].concat();
        assert_eq!(text_of(&elf(190)), Err(PtxError::MachineCode { kind: "a cubin" }));
        assert_eq!(text_of(&elf(62)), Err(PtxError::MachineCode { kind: "a library or program" }));
        let fatbin = |kinds: &[u16]| {
            let mut file = [&FATBIN.to_le_bytes()[..], &1u16.to_le_bytes(), &16u16.to_le_bytes(), &[0; 8]].concat();
            for kind in kinds {
                file.extend([&kind.to_le_bytes()[..], &[0; 2], &24u32.to_le_bytes(), &8u64.to_le_bytes(), &[0; 16]].concat());
            }
            file
        };
        assert_eq!(text_of(&fatbin(&[2, 2])), Err(PtxError::MachineCode { kind: "a fatbin" }));
        assert_eq!(text_of(&fatbin(&[2, 1])), Err(PtxError::Fatbin));
        // Cut, and of absurd lengths.
        let whole = fatbin(&[2, 1]);
        for end in 4..whole.len() {
            assert!(text_of(&whole[..end]).is_err());
        }
        let mut absurd = fatbin(&[2, 1]);
        absurd[24..32].fill(0xff);
        assert_eq!(text_of(&absurd), Err(PtxError::MachineCode { kind: "a fatbin" }));
        assert!(text_of(b".version 8.0\n\xff").expect_err("bad").to_string().contains("line 2: it is not UTF-8"));
    }
}
