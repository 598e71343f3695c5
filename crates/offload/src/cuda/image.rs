//! Which image of a program a GPU gets: a cubin made for it (no JIT), else a cubin of an older sibling, else PTX.
//!
//! NVIDIA's rules ("Application Compatibility", CUDA programming guide): a cubin runs on the same major version with an equal or
//! higher minor one; PTX runs on every equal or higher version; `sm_90a` names exactly one version, and `sm_100f` its family, for both forms.

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
    // A cubin before any PTX, then the newer target; of one version, the specialised image (`sm_90a`) before the portable one.
    // Not above 3 × 2²⁸: a target that runs is at most as new as the device, whose version has few digits.
    let Capability { major, minor } = target.capability;
    let newness = (major * 10 + minor) * 2 + u32::from(target.reach != Reach::Portable);
    Some(newness + if form == Form::Cubin { 1 << 28 } else { 0 })
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
}
