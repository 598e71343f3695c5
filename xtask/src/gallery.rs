//! `cargo xtask gallery`: the pictures of `docs/gallery`, each made again by what it shows. They need no GPU.
//!
//! Figures of reports are what a browser draws of them. What a terminal shows, and traces, are drawn here.

mod svg;
mod trace;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::json;
use xshell::Shell;

use crate::site::browser::Browser;

/// A picture: its name, its file in `docs`, and the commands of a user that show the same, of which the last is drawn.
struct Picture {
    name: &'static str,
    file: &'static str,
    commands: &'static [&'static str],
    of: Of,
}

/// What is drawn.
enum Of {
    /// The figure of a report with this title.
    Figure(&'static str),
    /// A trace.
    Trace,
    /// What a command prints.
    Terminal,
}

const TRANSPOSE: &str = "cargo run --release -p hostcall-examples --example transpose -- transpose.hcs";

const PICTURES: [Picture; 5] = [
    Picture {
        name: "heat-map",
        file: "gallery/heat-map.png",
        commands: &[TRANSPOSE, "cargo hostcall stream report transpose.hcs -o transpose.html"],
        of: Of::Figure("Accesses by address and time"),
    },
    Picture {
        name: "bank-conflicts",
        file: "gallery/bank-conflicts.png",
        commands: &[TRANSPOSE, "cargo hostcall stream report transpose.hcs -o transpose.html"],
        of: Of::Figure("Bank conflicts by place"),
    },
    Picture {
        name: "timeline",
        file: "gallery/timeline.png",
        commands: &[TRANSPOSE, "cargo hostcall stream report transpose.hcs -o transpose.html"],
        of: Of::Figure("What ran when"),
    },
    Picture {
        name: "perfetto",
        file: "gallery/perfetto.svg",
        commands: &[TRANSPOSE, "cargo hostcall stream convert --stream Interval transpose.hcs transpose.perfetto-trace"],
        of: Of::Trace,
    },
    Picture {
        name: "top",
        file: "gallery/top.svg",
        commands: &[
            "yes 'a kernel calls its host and goes on' | head -c 1G > words.txt",
            "HOSTCALL_TOP=1 cargo hostcall demo words.txt &",
            "cargo hostcall top --count 2",
        ],
        of: Of::Terminal,
    },
];

/// The most bytes of a picture.
const MOST: u64 = 150 << 10;

/// Makes the pictures that are named, or all.
pub(crate) fn run(sh: &Shell, names: &[String]) -> Result<()> {
    let unknown: Vec<_> = names.iter().filter(|name| PICTURES.iter().all(|picture| picture.name != **name)).collect();
    let known = PICTURES.map(|picture| picture.name).join(", ");
    ensure!(unknown.is_empty(), "the pictures are {known}, not {unknown:?}");
    let room = crate::root().join("target/gallery");
    sh.create_dir(&room)?;
    for picture in PICTURES.iter().filter(|picture| names.is_empty() || names.iter().any(|name| name == picture.name)) {
        println!("== {}", picture.name);
        let file = crate::root().join("docs").join(picture.file);
        sh.create_dir(file.parent().context("it is in a directory")?)?;
        let bytes = draw(picture, &room).with_context(|| format!("no picture {}", picture.name))?;
        ensure!(bytes.len() as u64 <= MOST, "{} has {} bytes, more than {MOST}", picture.file, bytes.len());
        println!("docs/{}: {} bytes", picture.file, bytes.len());
        fs::write(file, bytes)?;
    }
    // A gigabyte of words, and what else was recorded.
    Ok(sh.remove_path(&room)?)
}

/// A command of the page as this program runs it, in `room`: cargo's examples and the command line are those of this
/// checkout.
fn command(words: &str, room: &Path) -> Command {
    let manifest = crate::root().join("Cargo.toml").display().to_string();
    let line = "cargo run --release --quiet -p cargo-hostcall --features sinks -- hostcall ";
    let words = words.trim_end_matches(" &").replacen("cargo hostcall ", line, 1);
    let words = words.replacen("cargo run ", &format!("cargo run --manifest-path {manifest} "), 1);
    let mut command = Command::new("sh");
    // Other processes of this user that show themselves are none of this.
    command.args(["-c", &words]).current_dir(room).env("XDG_RUNTIME_DIR", room);
    command
}

/// Runs a command, and returns what it prints.
fn ran(words: &str, room: &Path) -> Result<String> {
    println!("$ {words}");
    let output = command(words, room).stdin(Stdio::null()).stderr(Stdio::inherit()).output()?;
    ensure!(output.status.success(), "`{words}`: {}", output.status);
    Ok(String::from_utf8(output.stdout)?)
}

fn draw(picture: &Picture, room: &Path) -> Result<Vec<u8>> {
    let (last, before) = picture.commands.split_last().context("it has commands")?;
    if let Of::Terminal = picture.of {
        return Ok(beside(before, last, room)?.into_bytes());
    }
    for words in picture.commands {
        ran(words, room)?;
    }
    let made = room.join(last.rsplit(' ').next().unwrap_or_default());
    match picture.of {
        Of::Figure(title) => figure(&made, title),
        Of::Trace => Ok(trace::drawn(&fs::read(&made)?, &format!("The trace of {last}"))?.into_bytes()),
        Of::Terminal => bail!("it was drawn"),
    }
}

/// The width of a figure on the page, in points.
const WIDTH: u32 = 760;

/// What a browser draws of a report's figure.
fn figure(report: &Path, title: &str) -> Result<Vec<u8>> {
    let Some(mut browser) = Browser::start() else {
        bail!("figures are drawn by Chromium, which is not there: `cargo xtask setup` installs it");
    };
    browser.screen(WIDTH, 900, 2, false);
    browser.theme("light");
    browser.load(&format!("file://{}", report.display()));
    // The figure alone on the screen, so that nothing stands above it.
    let place = browser.value(&format!(
        "(() => {{
            const figure = [...document.querySelectorAll('figure')].find((figure) => figure.querySelector('h3').textContent === {title:?});
            if (!figure) return null;
            figure.querySelector('details')?.remove();
            document.body.replaceChildren(figure);
            figure.style.cssText = 'border:0;border-radius:0;margin:0';
            const {{ left, top, width, height }} = figure.getBoundingClientRect();
            return {{ x: left, y: top, width, height, scale: 1 }};
        }})()"
    ));
    ensure!(place.is_object(), "the report has no figure {title:?}");
    let shot = browser.ask("Page.captureScreenshot", json!({ "format": "png", "clip": place, "captureBeyondViewport": true }));
    let digits = shot["data"].as_str().context("the browser draws nothing")?;
    Ok(serde_json::from_value(browser.value(&format!("[...atob({digits:?})].map((letter) => letter.charCodeAt(0))")))?)
}

/// What a command says of a process that runs beside it: the one before it.
fn beside(before: &[&str], last: &str, room: &Path) -> Result<String> {
    let (process, before) = before.split_last().context("a process runs beside it")?;
    for words in before {
        ran(words, room)?;
    }
    // It is built before, so that no time passes between the two.
    ran("cargo hostcall --help", room)?;
    println!("$ {process}");
    let mut running = command(process, room).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::inherit()).spawn()?;
    // It shows itself by a socket in a directory of this name.
    let (begin, shown) = (Instant::now(), room.join("hostcall"));
    while fs::read_dir(&shown).map_or(0, Iterator::count) == 0 && begin.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(50));
    }
    let said = ran(last, room);
    running.wait()?;
    let said = said?;
    // Of several looks, the last has rates.
    let look = said.rfind("== ").map_or(said.as_str(), |at| &said[at..]);
    Ok(svg::terminal("What a process does, by cargo hostcall top", last, look))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page() -> String {
        fs::read_to_string(crate::root().join("docs/guide/gallery.md")).unwrap()
    }

    #[test]
    fn the_page_has_each_picture_with_the_commands_that_made_it() {
        let page = page();
        for Picture { name, file, commands, .. } in &PICTURES {
            let section = page.split("\n## ").find(|section| section.contains(&format!("](../{file})")));
            let section = section.unwrap_or_else(|| panic!("docs/guide/gallery.md does not show {file}"));
            assert!(section.contains(&format!("`cargo xtask gallery {name}`")), "{name}: {section}");
            // Figures of one report are of the page that the first of their sections makes.
            let block = format!("```sh\n{}\n```", commands.join("\n"));
            assert!(page.contains(&block), "docs/guide/gallery.md should say:\n{block}");
        }
    }

    #[test]
    fn pictures_are_small_and_there_are_no_others() {
        let folder = crate::root().join("docs/gallery");
        let mut found: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| {
                let entry = entry.unwrap();
                let bytes = entry.metadata().unwrap().len();
                assert!((500..=MOST).contains(&bytes), "{}: {bytes} bytes", entry.path().display());
                format!("gallery/{}", entry.file_name().display())
            })
            .collect();
        found.sort();
        let mut known = PICTURES.map(|picture| picture.file);
        known.sort_unstable();
        assert_eq!(found, known);
    }

    #[test]
    fn commands_of_the_page_run_what_is_in_the_checkout() {
        let words = |command: &Command| command.get_args().last().unwrap().to_string_lossy().into_owned();
        let line = words(&command("HOSTCALL_TOP=1 cargo hostcall top &", Path::new(".")));
        assert!(line.starts_with("HOSTCALL_TOP=1 cargo run --manifest-path /") && line.ends_with(" -- hostcall top"), "{line}");
        let example = words(&command(TRANSPOSE, Path::new(".")));
        assert!(example.ends_with("Cargo.toml --release -p hostcall-examples --example transpose -- transpose.hcs"), "{example}");
    }
}
