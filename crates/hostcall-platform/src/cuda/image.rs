//! Which image of a program a GPU gets: a cubin made for it (no JIT), else a cubin of an older sibling, else PTX.
//!
//! NVIDIA's rules ("Application Compatibility", CUDA programming guide) are these. A cubin runs on the same major
//! version with an equal or higher minor one. PTX runs on every equal or higher version. For both forms, `sm_90a`
//! names exactly one version, and `sm_100f` its family.

/// A compute capability, `9.0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Capability {
    pub(super) major: u32,
    pub(super) minor: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    Portable,
    /// `sm_90a`
    Exact,
    /// `sm_100f`
    Family,
}

/// What an image was compiled for: `sm_90`, `sm_90a`, `compute_80`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Target {
    capability: Capability,
    reach: Reach,
}

impl Target {
    /// `None` for what is no NVIDIA architecture.
    fn parse(arch: &str) -> Option<Target> {
        let rest = arch.strip_prefix("sm_").or_else(|| arch.strip_prefix("compute_"))?;
        let (digits, reach) = match rest.as_bytes().last()? {
            b'a' => (&rest[..rest.len() - 1], Reach::Exact),
            b'f' => (&rest[..rest.len() - 1], Reach::Family),
            _ => (rest, Reach::Portable),
        };
        // At least "NM", and no sign, which `parse` would take.
        if digits.len() < 2 || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let number: u32 = digits.parse().ok()?;
        Some(Target { capability: Capability { major: number / 10, minor: number % 10 }, reach })
    }

    fn runs_on(self, form: Form, device: Capability) -> bool {
        let own = self.capability;
        match (self.reach, form) {
            (Reach::Exact, _) => own == device,
            (Reach::Portable, Form::Ptx) => own <= device,
            (Reach::Family, _) | (Reach::Portable, Form::Cubin) => own.major == device.major && own.minor <= device.minor,
        }
    }
}

/// The two forms of an NVIDIA image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Cubin,
    Ptx,
}

/// How well an image for `arch` fits `device`: the largest is best, `None` cannot run.
pub(super) fn fit(form: Form, arch: &str, device: Capability) -> Option<u32> {
    let target = Target::parse(arch).filter(|target| target.runs_on(form, device))?;
    // A cubin before any PTX, then the newer target; of one version, the specialised image (`sm_90a`) before the
    // portable one. Not above 3 × 2²⁸: a target that runs is at most as new as the device, whose version has few
    // digits.
    let Capability { major, minor } = target.capability;
    let newness = (major * 10 + minor) * 2 + u32::from(target.reach != Reach::Portable);
    Some(newness + if form == Form::Cubin { 1 << 28 } else { 0 })
}

/// What is wrong with an image that the driver would read past its end, or take for another form: it is given an
/// address and no length.
pub(super) fn check(form: Form, bytes: &[u8]) -> Result<(), String> {
    match form {
        Form::Ptx if !std::str::from_utf8(bytes).is_ok_and(|text| text.contains(".version") && !text.contains('\0')) => {
            Err("it is no PTX text (`.version` …)".into())
        }
        Form::Ptx => Ok(()),
        Form::Cubin => check_elf(bytes),
    }
}

/// `EM_CUDA`.
const MACHINE: u16 = 190;

/// A 64-bit little-endian ELF file for CUDA with its tables and sections inside of it (offsets as in the ELF-64 object
/// file format).
fn check_elf(bytes: &[u8]) -> Result<(), String> {
    let number = |at: usize, len: usize| {
        let mut word = [0u8; 8];
        word[..len].copy_from_slice(bytes.get(at..at.checked_add(len)?)?);
        Some(u64::from_le_bytes(word))
    };
    let cut = || "it is cut off".to_owned();
    if !bytes.starts_with(b"\x7fELF\x02\x01") {
        return Err("it is no cubin (an ELF file)".into());
    }
    if number(18, 2).ok_or_else(cut)? != u64::from(MACHINE) {
        return Err("it is an ELF file for another machine than CUDA".into());
    }
    let inside = |start: u64, len: u64| start.checked_add(len).is_some_and(|end| end <= bytes.len() as u64);
    for (offset, entry_size, count) in [(32, 54, 56), (40, 58, 60)] {
        let table = (number(offset, 8), number(entry_size, 2), number(count, 2));
        let (Some(start), Some(size), Some(count)) = table else { return Err(cut()) };
        if !inside(start, size * count) {
            return Err(cut());
        }
        // Sections: type at 4, offset at 24, size at 32. `SHT_NOBITS` (8) has no bytes in the file.
        let is_sections = offset == 40;
        for section in (0..count).map(|i| (start + i * size) as usize).filter(|_| is_sections) {
            let fields = (number(section + 4, 4), number(section + 24, 8), number(section + 32, 8));
            let (Some(kind), Some(start), Some(len)) = fields else { return Err(cut()) };
            if kind != 8 && !inside(start, len) {
                return Err(cut());
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const H200: Capability = Capability { major: 9, minor: 0 };
    const RTX3090: Capability = Capability { major: 8, minor: 6 };
    const B200: Capability = Capability { major: 10, minor: 0 };

    /// The index of the image taken.
    fn chosen(images: &[(Form, &str)], device: Capability) -> Option<usize> {
        let fits = images.iter().enumerate().filter_map(|(index, (form, arch))| Some((fit(*form, arch, device)?, index)));
        fits.max().map(|(_, index)| index)
    }

    #[test]
    fn the_exact_cubin_is_taken_before_ptx() {
        assert_eq!(chosen(&[(Form::Ptx, "sm_70"), (Form::Cubin, "sm_90"), (Form::Cubin, "sm_80")], H200), Some(1));
    }

    #[test]
    fn a_cubin_of_a_lower_minor_runs_and_of_a_higher_minor_does_not() {
        assert_eq!(chosen(&[(Form::Cubin, "sm_80"), (Form::Cubin, "sm_86"), (Form::Cubin, "sm_89")], RTX3090), Some(1));
        assert_eq!(chosen(&[(Form::Cubin, "sm_89")], RTX3090), None);
    }

    #[test]
    fn without_a_cubin_the_newest_ptx_that_is_not_newer_than_the_device_is_taken() {
        assert_eq!(chosen(&[(Form::Ptx, "sm_70"), (Form::Ptx, "sm_80"), (Form::Ptx, "sm_100")], H200), Some(1));
        assert_eq!(chosen(&[(Form::Ptx, "compute_90"), (Form::Cubin, "sm_90")], B200), Some(0));
    }

    #[test]
    fn an_image_for_one_architecture_only_is_never_taken_elsewhere() {
        assert_eq!(chosen(&[(Form::Ptx, "sm_90a"), (Form::Cubin, "sm_90a")], H200), Some(1));
        assert_eq!(chosen(&[(Form::Ptx, "sm_90a"), (Form::Cubin, "sm_90a")], B200), None);
        assert_eq!(chosen(&[(Form::Ptx, "sm_90"), (Form::Ptx, "sm_90a")], H200), Some(1));
        assert_eq!(chosen(&[(Form::Cubin, "sm_100f")], Capability { major: 10, minor: 3 }), Some(0));
        assert_eq!(chosen(&[(Form::Ptx, "sm_100f")], Capability { major: 12, minor: 0 }), None);
    }

    #[test]
    fn names_that_are_no_architecture_are_passed_over() {
        for name in ["", "sm_", "sm_9", "sm_a", "sm_+90", "gfx90a", "sm_90b", "sm_99999999999", "x86_64", "sm_9é"] {
            assert_eq!(Target::parse(name), None, "{name}");
        }
        assert_eq!(Target::parse("sm_120").map(|t| t.capability), Some(Capability { major: 12, minor: 0 }));
    }

    /// A cubin with a program table of none and one section of `len` bytes at `at`, in a file of `total` bytes.
    fn elf(machine: u16, at: u64, len: u64, total: usize) -> Vec<u8> {
        let mut bytes = vec![0; total];
        bytes[..6].copy_from_slice(b"\x7fELF\x02\x01");
        bytes[18..20].copy_from_slice(&machine.to_le_bytes());
        bytes[40..48].copy_from_slice(&64u64.to_le_bytes());
        bytes[58..60].copy_from_slice(&64u16.to_le_bytes());
        bytes[60..62].copy_from_slice(&1u16.to_le_bytes());
        bytes[64 + 4] = 1;
        bytes[64 + 24..64 + 32].copy_from_slice(&at.to_le_bytes());
        bytes[64 + 32..64 + 40].copy_from_slice(&len.to_le_bytes());
        bytes
    }

    #[test]
    fn a_cubin_that_ends_before_its_sections_do_is_refused() {
        assert_eq!(check(Form::Cubin, &elf(MACHINE, 128, 8, 136)), Ok(()));
        for bad in [elf(MACHINE, 128, 9, 136), elf(MACHINE, u64::MAX, 2, 136), elf(62, 128, 8, 136), b"\x7fELF".to_vec(), vec![]] {
            assert!(check(Form::Cubin, &bad).is_err(), "{bad:?}");
        }
        let whole = elf(MACHINE, 128, 8, 136);
        for len in 0..whole.len() {
            assert!(check(Form::Cubin, &whole[..len]).is_err(), "cut to {len}");
        }
    }

    #[test]
    fn only_text_is_taken_for_ptx() {
        assert_eq!(check(Form::Ptx, b".version 8.4\n.target sm_90"), Ok(()));
        for bad in [&b""[..], b"\x7fELF", b".version\0", b".version \xff", b"hello"] {
            assert!(check(Form::Ptx, bad).is_err(), "{bad:?}");
        }
    }
}
