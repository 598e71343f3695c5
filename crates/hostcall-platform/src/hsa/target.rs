//! Target ids: which code runs on which processor.
//!
//! An agent names the instruction sets that it runs, `amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-`. Newer runtimes also
//! name the generic ones that cover it, `amdgcn-amd-amdhsa--gfx9-4-generic:sramecc+:xnack-`. An image is for a
//! processor and some of its settings. A setting that the image does not mention may be either way (LLVM, "AMDGPU
//! usage", Target ID).

/// A processor and what is said of its settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TargetId {
    /// `gfx942`, `gfx9-4-generic`.
    pub(super) processor: String,
    /// `xnack` or `sramecc`, on or off, in the order given.
    settings: Vec<(String, bool)>,
}

/// What instruction set names begin with.
const PREFIX: &str = "amdgcn-amd-amdhsa--";

impl TargetId {
    /// Reads `gfx942:sramecc+:xnack-`, with or without the triple before it.
    pub(super) fn parse(text: &str) -> Option<TargetId> {
        let mut parts = text.strip_prefix(PREFIX).unwrap_or(text).split(':');
        let processor = parts.next().filter(|name| name.starts_with("gfx"))?.to_owned();
        let settings = parts.map(|part| {
            let on = part.ends_with('+');
            let name = part.strip_suffix(['+', '-'])?;
            (!name.is_empty()).then(|| (name.to_owned(), on))
        });
        Some(TargetId { processor, settings: settings.collect::<Option<_>>()? })
    }

    fn setting(&self, name: &str) -> Option<bool> {
        self.settings.iter().find(|(n, _)| n == name).map(|(_, on)| *on)
    }

    fn is_generic(&self) -> bool {
        self.processor.ends_with("-generic")
    }

    /// How well an image for this target fits an agent that runs `agent`; `None`: not at all.
    fn fit(&self, agent: &TargetId) -> Option<u32> {
        // What the image says must be so; an agent that does not mention a setting does not have it.
        let suits = self.processor == agent.processor && self.settings.iter().all(|(name, on)| agent.setting(name) == Some(*on));
        let better = if self.is_generic() { 0 } else { 100 };
        suits.then(|| 1 + better + self.settings.len() as u32)
    }
}

/// How well an image for `arch` fits an agent that runs the instruction sets of these names. The largest number fits
/// best.
///
/// A name that is no target id is taken as it is: an agent that is emulated on this machine's own processor says that
/// processor's triple.
pub(super) fn fit(arch: &str, isas: &[String]) -> Option<u32> {
    let image = TargetId::parse(arch);
    let one = |isa: &String| match (&image, TargetId::parse(isa)) {
        (Some(image), Some(agent)) => image.fit(&agent),
        (None, None) => (arch == isa).then_some(1),
        _ => None,
    };
    isas.iter().filter_map(one).max()
}

/// The agent's architecture as images name it: the processor of its first instruction set, which is not a generic one.
pub(super) fn arch(isas: &[String]) -> String {
    let first = isas.first().map_or("", String::as_str);
    TargetId::parse(first).map_or_else(|| first.to_owned(), |id| id.processor)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agent(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn an_image_that_mentions_no_setting_runs_in_every_mode() {
        for modes in ["gfx90a:sramecc+:xnack-", "gfx90a:sramecc+:xnack+", "gfx90a:sramecc-:xnack-"] {
            assert!(fit("gfx90a", &agent(&[&format!("amdgcn-amd-amdhsa--{modes}")])).is_some(), "{modes}");
        }
        assert!(fit("gfx1100", &agent(&["amdgcn-amd-amdhsa--gfx1100"])).is_some());
    }

    #[test]
    fn a_setting_that_the_image_mentions_must_be_the_agents() {
        let off = agent(&["amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-"]);
        assert!(fit("gfx942:xnack-", &off).is_some());
        assert!(fit("gfx942:xnack+", &off).is_none());
        assert!(fit("gfx942:sramecc+:xnack-", &off).is_some());
        assert!(fit("gfx942:xnack-:sramecc+", &off).is_some(), "the order means nothing");
        assert!(fit("gfx942:sramecc-", &off).is_none());
        // This processor has no such setting.
        assert!(fit("gfx1100:xnack-", &agent(&["amdgcn-amd-amdhsa--gfx1100"])).is_none());
    }

    #[test]
    fn other_processors_do_not_fit_even_with_a_common_beginning() {
        let isas = agent(&["amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-"]);
        for other in ["gfx90a", "gfx94", "gfx9421", "gfx1100", "gfx950", "sm_90", "x86_64-unknown-linux-gnu", ""] {
            assert_eq!(fit(other, &isas), None, "{other}");
        }
    }

    #[test]
    fn the_most_specific_image_wins_and_a_generic_one_is_the_last_resort() {
        let isas = agent(&["amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-", "amdgcn-amd-amdhsa--gfx9-4-generic:sramecc+:xnack-"]);
        let [generic, plain, exact] = ["gfx9-4-generic", "gfx942", "gfx942:xnack-"].map(|arch| fit(arch, &isas).unwrap());
        assert!(generic < plain && plain < exact);
        // An older runtime does not know the generic targets.
        assert_eq!(fit("gfx9-4-generic", &isas[..1]), None);
        assert_eq!(arch(&isas), "gfx942");
    }

    #[test]
    fn what_is_no_target_id_is_refused_or_taken_by_its_name() {
        for text in ["gfx90a:", "gfx90a:+", "gfx90a:xnack", "", "x", ":xnack+"] {
            assert_eq!(TargetId::parse(text), None, "{text}");
        }
        let emulated = agent(&["x86_64-unknown-linux-gnu"]);
        assert_eq!(fit("x86_64-unknown-linux-gnu", &emulated), Some(1));
        assert_eq!(fit("gfx942", &emulated), None);
        assert_eq!(arch(&emulated), "x86_64-unknown-linux-gnu");
        assert_eq!(arch(&[]), "");
    }
}
