//! Where messages go: what `--stream` takes, and `stream convert` writes to.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// A place for messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// A recording, by custom `.hcs`.
    Recording(PathBuf),
    /// Somewhere that a sink writes to.
    #[cfg(feature = "sinks")]
    Sink(Place),
}

/// Where a sink writes.
#[cfg(feature = "sinks")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Parquet files in a directory.
    Parquet(PathBuf),
    /// Parquet files in the object store of an address.
    Store(String),
    /// Arrow files in a directory.
    Arrow(PathBuf),
    /// A trace.
    Perfetto(PathBuf),
    /// A JetStream stream of a NATS server.
    #[cfg(feature = "nats")]
    Nats(String),
}

/// Why a text is no place for messages, or several are not together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TargetError {
    #[error("nobody writes to `{scheme}://`: give FILE.hcs, {}", known())]
    Unknown { scheme: String },
    #[error(
        "this build cannot write to `{url}`: install it with `cargo install cargo-hostcall --features {feature}`, or give FILE.hcs and convert it"
    )]
    Feature { url: String, feature: &'static str },
    #[error("`{url}` names no {what}: give {example}")]
    Empty { url: String, what: &'static str, example: &'static str },
    #[cfg(feature = "sinks")]
    #[error("the address `{url}` is not UTF-8")]
    NotText { url: String },
    #[error("`{first}` and `{second}` are two recordings, and a run makes one: copy it, or convert it")]
    Recordings { first: String, second: String },
    #[cfg(feature = "sinks")]
    #[error("`--stream {target}` was given twice")]
    Twice { target: String },
}

/// Schemes of addresses: the feature of this crate that knows them, what follows, and an example.
const SCHEMES: [(&str, &str, &str, &str); 14] = [
    ("parquet", "sinks", "directory", "parquet://DIR"),
    ("arrow", "sinks", "directory", "arrow://DIR"),
    ("perfetto", "sinks", "file", "perfetto://FILE"),
    ("file", "sinks", "directory", "file:///DIR"),
    ("memory", "sinks", "path", "memory:///PATH"),
    ("s3", "s3", "bucket", "s3://BUCKET/PATH"),
    ("s3a", "s3", "bucket", "s3a://BUCKET/PATH"),
    ("gs", "gcs", "bucket", "gs://BUCKET/PATH"),
    ("az", "azure", "container", "az://CONTAINER/PATH"),
    ("azure", "azure", "container", "azure://CONTAINER/PATH"),
    ("abfs", "azure", "container", "abfs://CONTAINER/PATH"),
    ("abfss", "azure", "container", "abfss://CONTAINER/PATH"),
    ("adl", "azure", "container", "adl://CONTAINER/PATH"),
    ("nats", "nats", "server", "nats://HOST/PREFIX"),
];

fn known() -> String {
    let shown = ["parquet", "arrow", "perfetto", "file", "s3", "gs", "az"];
    let examples: Vec<_> = SCHEMES.iter().filter(|(scheme, ..)| shown.contains(scheme)).map(|(.., example)| *example).collect();
    format!("{} or nats://HOST/PREFIX", examples.join(", "))
}

/// Features, and whether this build has them.
const FEATURES: [(&str, bool); 5] = [
    ("sinks", cfg!(feature = "sinks")),
    ("s3", cfg!(feature = "s3")),
    ("gcs", cfg!(feature = "gcs")),
    ("azure", cfg!(feature = "azure")),
    ("nats", cfg!(feature = "nats")),
];

/// Whether this build has one of its features.
fn has(feature: &str) -> bool {
    FEATURES.contains(&(feature, true))
}

/// Scheme and rest of an address; `None`: it is a path.
fn address(text: &OsStr) -> Option<(&str, &OsStr)> {
    let bytes = text.as_bytes();
    let at = bytes.windows(3).position(|three| three == b"://")?;
    let scheme = std::str::from_utf8(&bytes[..at]).ok()?;
    let is_scheme =
        scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    is_scheme.then(|| (scheme, OsStr::from_bytes(&bytes[at + 3..])))
}

impl Target {
    /// The place that a text names: an address of a known scheme, else a path.
    pub(crate) fn parse(text: &OsStr) -> Result<Self, TargetError> {
        let Some((scheme, rest)) = address(text) else { return Ok(Self::Recording(text.into())) };
        let url = || text.to_string_lossy().into_owned();
        let known = SCHEMES.into_iter().find(|(known, ..)| *known == scheme);
        let (_, feature, what, example) = known.ok_or_else(|| TargetError::Unknown { scheme: scheme.into() })?;
        if rest.is_empty() {
            return Err(TargetError::Empty { url: url(), what, example });
        }
        if !has(feature) {
            return Err(TargetError::Feature { url: url(), feature });
        }
        Self::sink(text, scheme, rest)
    }

    #[cfg(not(feature = "sinks"))]
    fn sink(_: &OsStr, scheme: &str, _: &OsStr) -> Result<Self, TargetError> {
        Err(TargetError::Unknown { scheme: scheme.into() })
    }

    #[cfg(feature = "sinks")]
    fn sink(text: &OsStr, scheme: &str, rest: &OsStr) -> Result<Self, TargetError> {
        let url = || text.to_str().map(str::to_owned).ok_or_else(|| TargetError::NotText { url: text.to_string_lossy().into_owned() });
        Ok(Self::Sink(match scheme {
            "parquet" => Place::Parquet(rest.into()),
            "arrow" => Place::Arrow(rest.into()),
            "perfetto" => Place::Perfetto(rest.into()),
            #[cfg(feature = "nats")]
            "nats" => Place::Nats(url()?),
            _ => Place::Store(url()?),
        }))
    }

    /// The same for another process, which may have another working directory.
    pub(crate) fn to_argument(&self) -> OsString {
        let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        #[cfg(feature = "sinks")]
        let with = |scheme: &str, path: &Path| {
            let mut text = OsString::from(scheme);
            text.push(absolute(path));
            text
        };
        match self {
            Self::Recording(path) => absolute(path).into(),
            #[cfg(feature = "sinks")]
            Self::Sink(Place::Parquet(path)) => with("parquet://", path),
            #[cfg(feature = "sinks")]
            Self::Sink(Place::Arrow(path)) => with("arrow://", path),
            #[cfg(feature = "sinks")]
            Self::Sink(Place::Perfetto(path)) => with("perfetto://", path),
            #[cfg(feature = "sinks")]
            Self::Sink(Place::Store(url)) => url.into(),
            #[cfg(feature = "nats")]
            Self::Sink(Place::Nats(url)) => url.into(),
        }
    }

    /// That at most one of them is a recording, and none is there twice.
    pub(crate) fn check(all: &[Self]) -> Result<(), TargetError> {
        let mut recordings = all.iter().filter(|target| matches!(target, Self::Recording(_)));
        if let (Some(first), Some(second)) = (recordings.next(), recordings.next()) {
            let [first, second] = [first, second].map(|target| target.to_argument().to_string_lossy().into_owned());
            return Err(TargetError::Recordings { first, second });
        }
        #[cfg(feature = "sinks")]
        for (at, target) in all.iter().enumerate() {
            let argument = target.to_argument();
            if all[..at].iter().any(|other| other.to_argument() == argument) {
                return Err(TargetError::Twice { target: argument.to_string_lossy().into_owned() });
            }
        }
        Ok(())
    }
}

#[cfg(feature = "sinks")]
impl Place {
    /// Opens the sink.
    pub(crate) fn open(&self) -> Result<std::sync::Arc<dyn hostcall_stream::sink::Sink>, hostcall_sinks::OpenError> {
        use hostcall_sinks::{Arrow, Parquet, Perfetto};
        Ok(match self {
            Self::Parquet(path) => std::sync::Arc::new(Parquet::to(path).open()?),
            Self::Store(url) => std::sync::Arc::new(Parquet::at(url).open()?),
            Self::Arrow(path) => std::sync::Arc::new(Arrow::files(path).open()?),
            Self::Perfetto(path) => std::sync::Arc::new(Perfetto::to(path).open()?),
            #[cfg(feature = "nats")]
            Self::Nats(url) => std::sync::Arc::new(hostcall_sinks::Nats::at(url).open()?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Target, TargetError> {
        Target::parse(OsStr::new(text))
    }

    #[test]
    fn what_has_no_scheme_is_a_path() {
        for path in ["run.hcs", "/a/b.hcs", "a:b", "a b://c", "://x", "1s3://x", ""] {
            assert_eq!(parse(path), Ok(Target::Recording(path.into())), "{path}");
        }
        let odd = OsStr::from_bytes(b"caf\xe9.hcs");
        assert_eq!(Target::parse(odd), Ok(Target::Recording(odd.into())));
    }

    #[test]
    fn what_nobody_writes_to_is_told_with_what_there_is() {
        let error = parse("kafka://host/topic").expect_err("no such sink").to_string();
        assert!(error.starts_with("nobody writes to `kafka://`: give FILE.hcs, parquet://DIR, "), "{error}");
        assert!(error.ends_with(" or nats://HOST/PREFIX"), "{error}");
        let error = parse("parquet://").expect_err("no directory").to_string();
        assert_eq!(error, "`parquet://` names no directory: give parquet://DIR");
    }

    #[test]
    fn a_build_without_a_sink_says_how_to_get_it() {
        for (url, feature) in
            [("parquet://a", "sinks"), ("s3://bucket/run", "s3"), ("gs://b/r", "gcs"), ("az://b/r", "azure"), ("nats://host/p", "nats")]
        {
            if !has(feature) {
                assert_eq!(parse(url), Err(TargetError::Feature { url: url.into(), feature }));
                let error = parse(url).expect_err("a feature is missing").to_string();
                assert!(error.contains(&format!("`cargo install cargo-hostcall --features {feature}`")), "{error}");
            }
        }
    }

    #[test]
    fn a_run_makes_one_recording() {
        let both = [parse("/a.hcs").expect("a path"), parse("/b.hcs").expect("a path")];
        let error = TargetError::Recordings { first: "/a.hcs".into(), second: "/b.hcs".into() };
        assert_eq!((Target::check(&both), Target::check(&both[..1]), Target::check(&[])), (Err(error), Ok(()), Ok(())));
    }

    #[cfg(feature = "sinks")]
    #[test]
    fn places_of_sinks_are_read_and_written_alike() {
        for (text, place) in [
            ("parquet:///a/b", Place::Parquet("/a/b".into())),
            ("arrow:///a", Place::Arrow("/a".into())),
            ("perfetto:///a.pftrace", Place::Perfetto("/a.pftrace".into())),
            ("file:///a", Place::Store("file:///a".into())),
            ("memory:///a", Place::Store("memory:///a".into())),
        ] {
            assert_eq!(parse(text), Ok(Target::Sink(place)), "{text}");
            assert_eq!(parse(text).expect("a place").to_argument(), text);
        }
        assert_eq!(parse("parquet://a b"), Ok(Target::Sink(Place::Parquet("a b".into()))));
        let twice = [parse("parquet:///a").expect("a place"), parse("parquet:///a").expect("a place")];
        assert_eq!(Target::check(&twice), Err(TargetError::Twice { target: "parquet:///a".into() }));
    }
}
