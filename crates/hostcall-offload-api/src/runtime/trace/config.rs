//! What the environment says about the trace.

use std::path::PathBuf;

/// Where the trace goes, how it is written, and which functions are in it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Config {
    pub(super) target: Target,
    pub(super) is_json: bool,
    wanted: Vec<String>,
    unwanted: Vec<String>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Target {
    Stderr,
    File(PathBuf),
}

impl Config {
    /// Reads the variables with `get`. `None`: there is no trace.
    pub(super) fn read(get: impl Fn(&str) -> Option<String>) -> Option<Config> {
        let value = get("OFFLOAD_TRACE")?;
        let (target, is_json) = match value.as_str() {
            "" | "0" => return None,
            "1" => (Target::Stderr, false),
            "json" => (Target::Stderr, true),
            path => (Target::File(path.replace("%p", &std::process::id().to_string()).into()), path.ends_with(".json")),
        };
        let filter = get("OFFLOAD_TRACE_FILTER").unwrap_or_default();
        let patterns = filter.split(',').map(str::trim).filter(|pattern| !pattern.is_empty());
        let (unwanted, wanted): (Vec<_>, Vec<_>) = patterns.partition(|pattern| pattern.starts_with('-'));
        Some(Config {
            target,
            is_json,
            wanted: wanted.into_iter().map(str::to_owned).collect(),
            unwanted: unwanted.into_iter().map(|pattern| pattern[1..].to_owned()).collect(),
        })
    }

    /// Whether calls of this function are traced.
    pub(super) fn wants(&self, name: &str) -> bool {
        (self.wanted.is_empty() || self.wanted.iter().any(|pattern| matches(pattern, name)))
            && !self.unwanted.iter().any(|pattern| matches(pattern, name))
    }
}

/// Whether `name` is `pattern`, where `*` stands for any text. Each part between stars is looked for at its first
/// place, which is enough.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut name) = name.strip_prefix(first) else { return false };
    let mut parts: Vec<_> = rest.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        match name.find(part) {
            Some(at) => name = &name[at + part.len()..],
            None => return false,
        }
    }
    name.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(trace: &str, filter: &str) -> Option<Config> {
        Config::read(|name| Some(if name == "OFFLOAD_TRACE" { trace } else { filter }.to_owned()))
    }

    #[test]
    fn the_variable_says_where_and_how() {
        let seen = |trace: &str| config(trace, "").map(|config| (config.target, config.is_json));
        assert_eq!(seen(""), None);
        assert_eq!(seen("0"), None);
        assert_eq!(seen("1"), Some((Target::Stderr, false)));
        assert_eq!(seen("json"), Some((Target::Stderr, true)));
        assert_eq!(seen("calls.json"), Some((Target::File("calls.json".into()), true)));
        assert_eq!(seen("calls-%p.txt"), Some((Target::File(format!("calls-{}.txt", std::process::id()).into()), false)));
    }

    #[test]
    fn the_filter_chooses_and_leaves_out() {
        let all = config("1", "").unwrap();
        assert!(all.wants("olInit"));
        let some = config("1", "olMem*, olInit,-olMemFree").unwrap();
        assert!(some.wants("olMemAlloc") && some.wants("olInit"));
        assert!(!some.wants("olMemFree") && !some.wants("olInitialise") && !some.wants("olSyncQueue"));
        let not = config("1", "-ol*Info*").unwrap();
        assert!(not.wants("olInit") && !not.wants("olGetDeviceInfo") && !not.wants("olGetDeviceInfoSize"));
    }

    #[test]
    fn stars_stand_for_any_text() {
        assert!(matches("*", "") && matches("a*b*c", "a-b-b-c") && matches("*Info", "olGetInfoInfo"));
        assert!(!matches("a*a", "a") && !matches("a*b", "b") && !matches("*x*", "abc"));
    }
}
