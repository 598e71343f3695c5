//! Text: formats, parsers, search, dates.

use crate::{Outcome, Use};

pub const USES: &[Use] = &[
    ("aho-corasick", aho_corasick),
    ("anyhow", anyhow),
    ("chrono", chrono),
    ("clap", clap),
    ("memchr", memchr),
    ("nom", nom),
    ("quick-xml", quick_xml),
    ("regex", regex),
    ("semver", semver),
    ("serde_yaml", serde_yaml),
    ("thiserror", thiserror),
    ("time", time),
    ("toml", toml),
    ("unicode-segmentation", unicode_segmentation),
    ("url", url),
];

fn aho_corasick() -> Outcome {
    let found = aho_corasick::AhoCorasick::new(["she", "he", "hers"])?;
    Ok(format!("{:?}", found.find_overlapping_iter("ushers").map(|at| (at.pattern().as_usize(), at.start())).collect::<Vec<_>>()))
}

fn anyhow() -> Outcome {
    use anyhow::Context;
    let error = "x".parse::<u8>().context("reading a number").expect_err("it is none");
    Ok(format!("{error:#} {}", error.is::<std::num::ParseIntError>()))
}

fn chrono() -> Outcome {
    let date = chrono::NaiveDate::from_ymd_opt(2024, 2, 28).ok_or("no such day")? + chrono::Days::new(2);
    let then = chrono::DateTime::parse_from_rfc3339("1996-12-19T16:39:57-08:00")?;
    let past = chrono::Utc::now() > then;
    Ok(format!("{} {} {past}", date.format("%A %d %B"), then.to_utc()))
}

fn clap() -> Outcome {
    use clap::Parser;
    #[derive(Debug, Parser)]
    struct Line {
        #[arg(long, default_value_t = 3)]
        count: u8,
        files: Vec<String>,
    }
    let line = Line::try_parse_from(["x", "a", "--count", "9", "b"])?;
    let error = Line::try_parse_from(["x", "--cuont", "1"]).expect_err("no such option").to_string();
    Ok(format!("{line:?} {}", error.replace('\n', " ")))
}

fn memchr() -> Outcome {
    let text = "one two three two".repeat(50);
    Ok(format!("{:?} {}", memchr::memrchr(b'w', text.as_bytes()), memchr::memmem::find_iter(text.as_bytes(), "two").count()))
}

fn nom() -> Outcome {
    use nom::Parser;
    use nom::character::complete::{char, digit1};
    use nom::multi::separated_list1;
    let mut numbers = separated_list1(char::<&str, nom::error::Error<&str>>(','), digit1);
    Ok(format!("{:?}", numbers.parse("12,7,300;rest").map_err(|error| error.to_string())?))
}

fn quick_xml() -> Outcome {
    use quick_xml::events::Event;
    let mut reader = quick_xml::Reader::from_str("<a x='1'><b>text &amp; more</b><b/></a>");
    let mut names = Vec::new();
    loop {
        match reader.read_event()? {
            Event::Start(tag) => names.push(String::from_utf8(tag.name().as_ref().to_vec())?),
            Event::Empty(tag) => names.push(format!("{}/", String::from_utf8(tag.name().as_ref().to_vec())?)),
            Event::Eof => return Ok(format!("{names:?}")),
            _ => {}
        }
    }
}

fn regex() -> Outcome {
    let dates = regex::Regex::new(r"(?<y>\d{4})-(?<m>\d\d)")?;
    Ok(dates.replace_all("on 2024-05 and 1999-12, ñ-12", "$m/$y").into_owned())
}

fn semver() -> Outcome {
    let wanted = semver::VersionReq::parse("^1.2.3")?;
    Ok(format!("{:?}", ["1.2.2", "1.9.0", "2.0.0", "1.2.3-rc.1"].map(|v| semver::Version::parse(v).is_ok_and(|v| wanted.matches(&v)))))
}

fn serde_yaml() -> Outcome {
    let value: serde_yaml::Value = serde_yaml::from_str("a: [1, 2.5, yes]\nb:\n  c: ~\n")?;
    Ok(serde_yaml::to_string(&value)?.replace('\n', ";"))
}

fn thiserror() -> Outcome {
    #[derive(Debug, thiserror::Error)]
    enum Failure {
        #[error("no number in {text:?}")]
        Number { text: String, source: std::num::ParseFloatError },
    }
    let text = "1.x";
    let error = text.parse::<f64>().map_err(|source| Failure::Number { text: text.into(), source }).expect_err("it is none");
    Ok(format!("{error}: {}", std::error::Error::source(&error).ok_or("no source")?))
}

fn time() -> Outcome {
    use time::format_description::well_known::Rfc3339;
    let date = time::macros::date!(2024 - 12 - 31).next_day().ok_or("no next day")?;
    let then = time::OffsetDateTime::parse("1985-04-12T23:20:50.52Z", &Rfc3339)?;
    Ok(format!("{date} {} {}", then.unix_timestamp(), then < time::OffsetDateTime::now_utc()))
}

fn toml() -> Outcome {
    let table: toml::Table = "a = 1\n[b]\nc = ['x', \"y\"]\nd = 1979-05-27\n".parse()?;
    let error = "a = ".parse::<toml::Table>().expect_err("no value").message().to_owned();
    Ok(format!("{} {error}", toml::to_string(&table)?.replace('\n', ";")))
}

fn unicode_segmentation() -> Outcome {
    use unicode_segmentation::UnicodeSegmentation;
    Ok(format!(
        "{:?} {}",
        "e\u{301}a\u{310}🇩🇪".graphemes(true).map(str::len).collect::<Vec<_>>(),
        "can't stop, won't".unicode_words().count()
    ))
}

fn url() -> Outcome {
    let url = url::Url::parse("https://user@bücher.example:8080/a/../b?q=1 2#f")?;
    Ok(format!("{url} {:?} {:?}", url.host_str(), url.query_pairs().collect::<Vec<_>>()))
}
