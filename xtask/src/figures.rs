//! The figures of a GPU run, in the documentation: [`run`] takes over what `bench` wrote, and README's table is made
//! from the long one.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

const PAGE: &str = "docs/notes/performance.md";
const README: &str = "README.md";
/// Around each table.
const MARKS: (&str, &str) = ("<!-- final -->\n", "<!-- /final -->");

const PLOTS: [&str; 3] = ["call.scalar.svg", "call.wide64.svg", "throughput.svg"];

/// The rows of README's table, and what they are called there.
const SHOWN: [(&str, &str); 5] = [
    ("call.scalar.held", "blocking call of one lane over a port that it keeps, 64 B there and 16 B back"),
    ("call.scalar", "the same, a port taken for each call"),
    ("throughput.scalar", "calls of one lane from all waves at once"),
    ("bulk.to_host", "slices of 64 KiB to the host"),
    ("idle.quiet", "processor time of the host while a kernel makes no call, in 1 s"),
];

/// Puts the results of a run into the documentation: `bench.md`, `bench.json` and the plots of `from`.
pub(crate) fn run(from: &Path) -> Result<()> {
    let root = crate::root();
    let read = |path: &Path| fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()));
    let table = read(&from.join("bench.md"))?;
    fs::copy(from.join("bench.json"), root.join("docs/notes/h200.json")).context("no bench.json")?;
    for plot in PLOTS {
        fs::copy(from.join(plot), root.join("docs/notes/plots").join(plot)).with_context(|| format!("no {plot}"))?;
    }
    let page = replaced(&read(&root.join(PAGE))?, &table).with_context(|| format!("in {PAGE}"))?;
    let readme = replaced(&read(&root.join(README))?, &short(&page)?).with_context(|| format!("in {README}"))?;
    fs::write(root.join(PAGE), page)?;
    fs::write(root.join(README), readme)?;
    Ok(())
}

/// What is between the marks.
fn marked(text: &str) -> Result<&str> {
    let (_, rest) = text.split_once(MARKS.0).with_context(|| format!("no {:?}", MARKS.0))?;
    Ok(rest.split_once(MARKS.1).with_context(|| format!("no {:?}", MARKS.1))?.0)
}

fn replaced(text: &str, table: &str) -> Result<String> {
    let old = marked(text)?;
    Ok(text.replacen(&format!("{}{old}{}", MARKS.0, MARKS.1), &format!("{}{}\n{}", MARKS.0, table.trim_end(), MARKS.1), 1))
}

/// README's table, from a page with the long one.
fn short(page: &str) -> Result<String> {
    let long = marked(page)?;
    let rows: Vec<Vec<&str>> =
        long.lines().filter(|line| line.starts_with('|')).map(|line| line.split('|').map(str::trim).collect()).collect();
    let device = long.split([';', '\n']).next().unwrap_or_default();
    let mut out = format!("| {device} ([table, commit, command]({PAGE})) | | |\n|---|--:|--:|\n");
    for (name, title) in SHOWN {
        let row = rows.iter().find(|row| row.get(1) == Some(&name)).with_context(|| format!("the table has no row {name}"))?;
        ensure!(row.len() > 7, "the row {name} has {} columns", row.len());
        // Targets, and how it was measured, are the long table's only. A rate is compared with the plain loop's.
        let compared = if row[6].is_empty() { row[3].to_owned() } else { format!("{} the plain loop", row[6]) };
        out += &format!("| {title} | {} | {compared} |\n", row[2]);
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_readme_shows_the_figures_of_the_performance_page() {
        let text = |file: &str| fs::read_to_string(crate::root().join(file)).unwrap();
        assert_eq!(marked(&text(README)).unwrap(), short(&text(PAGE)).unwrap(), "`cargo xtask figures` writes both");
    }

    #[test]
    fn a_table_replaces_another_and_what_is_around_it_stays() {
        let page = "a\n<!-- final -->\nold\n<!-- /final -->\nb\n";
        assert_eq!(replaced(page, "new\n").unwrap(), "a\n<!-- final -->\nnew\n<!-- /final -->\nb\n");
        assert!(replaced("no marks", "new").is_err());
    }
}
