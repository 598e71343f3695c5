//! libtest's arguments, as far as they concern whoever starts tests.

/// What of libtest's arguments concerns whoever runs tests; the others choose tests, and the harness itself reads them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) choosing: Vec<String>,
    pub(super) nocapture: bool,
    pub(super) show_output: bool,
    pub(super) quiet: bool,
    pub(super) ignored: bool,
    pub(super) include_ignored: bool,
    pub(super) at_once: Option<usize>,
    /// Names, or beginnings of names with a `*` behind.
    alone: Vec<String>,
}

impl Wanted {
    pub(super) fn read(args: &[String]) -> Result<Wanted, String> {
        let mut wanted = Wanted::default();
        let mut words = args.iter();
        while let Some(word) = words.next() {
            let (key, joined) = word.split_once('=').map_or((word.as_str(), None), |(key, value)| (key, Some(value.to_owned())));
            let mut value = || joined.clone().or_else(|| words.next().cloned()).ok_or_else(|| format!("{key} needs a value"));
            match key {
                "--nocapture" | "--no-capture" => wanted.nocapture = true,
                "--show-output" => wanted.show_output = true,
                "-q" | "--quiet" => wanted.quiet = true,
                "--ignored" => wanted.ignored = true,
                "--include-ignored" => wanted.include_ignored = true,
                "--test-threads" => {
                    let text = value()?;
                    wanted.at_once =
                        Some(text.parse().ok().filter(|&n| n > 0).ok_or_else(|| format!("--test-threads {text}: a number from 1 on"))?);
                }
                "--format" | "--color" | "--report-time" | "--shuffle" | "--shuffle-seed" | "-Z" | "--logfile" => drop(value()?),
                "--alone" => wanted.alone.push(value()?),
                "--skip" => wanted.choosing.extend(["--skip".into(), value()?]),
                "--test" => {}
                "--exact" => wanted.choosing.push(word.clone()),
                _ if word.starts_with('-') => return Err(format!("{word} is not known to tests on a device")),
                _ => wanted.choosing.push(word.clone()),
            }
        }
        Ok(wanted)
    }

    /// Whether the test is known to end the program, and so is not to share its launch.
    pub(super) fn is_alone(&self, name: &str) -> bool {
        self.alone.iter().any(|pattern| pattern.strip_suffix('*').map_or(pattern == name, |start| name.starts_with(start)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Wanted, String> {
        Wanted::read(&line.split_whitespace().map(String::from).collect::<Vec<_>>())
    }

    #[test]
    fn libtests_arguments_are_told_apart() {
        let wanted = read("name --skip x --exact --test-threads=3 --nocapture -q --format pretty").expect("known");
        assert_eq!(wanted.choosing, ["name", "--skip", "x", "--exact"]);
        assert!(wanted.nocapture && wanted.quiet && !wanted.ignored);
        assert_eq!(wanted.at_once, Some(3));
        let wanted = read("--alone a::* --alone=b").expect("known");
        assert!(wanted.is_alone("a::x") && wanted.is_alone("b") && !wanted.is_alone("bb") && wanted.choosing.is_empty());
        assert!(read("--test-threads 0").is_err() && read("--surprise").is_err() && read("--skip").is_err());
    }
}
