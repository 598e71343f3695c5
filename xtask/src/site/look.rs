//! A site in a browser: no page is wider than a phone, and pictures can be read in dark themes.
//!
//! What is measured of a picture is what is seen. The page is drawn in each dark theme of the book, with a system that
//! prefers light and one that prefers dark. Each word of an SVG has a box there; the colour that most pixels of the box
//! have is what the word stands on, and the contrast is WCAG 2's ratio to the pixels that differ most. Pictures of
//! pixels have no words to ask for: they must be opaque, so that no theme changes what was looked at when they were
//! made.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;
use serde_json::{Value, json};

use super::browser::Browser;
use super::links;

/// A phone's screen, in points.
const PHONE: (u32, u32) = (390, 844);
/// A screen of a desk, and the book's dark themes.
const DESK: (u32, u32) = (1280, 900);
const THEMES: [&str; 3] = ["coal", "navy", "ayu"];
/// The least contrast of words: WCAG 2's level AA.
const CONTRAST: f64 = 4.5;
/// The share of a word's box whose pixels count as the word: letters fill more of it, their thinnest lines less.
const INK: f64 = 0.02;

/// What of a page is wider than the screen, other than inside of what scrolls by itself. A sidebar that is not shown
/// lies beside the screen.
const TOO_WIDE: &str = r#"(() => {
    const width = document.documentElement.clientWidth;
    const names = [];
    if (document.documentElement.scrollWidth > width) names.push(`the page: ${document.documentElement.scrollWidth} of ${width}`);
    const scrolls = (element) => {
        for (; element && element !== document.body; element = element.parentElement) {
            if (["auto", "scroll"].includes(getComputedStyle(element).overflowX) && element.getBoundingClientRect().right <= width + 0.5) return true;
        }
        return false;
    };
    for (const element of document.querySelectorAll("main *, body > h1, body > p, body > dl, body > table, body > pre")) {
        const box = element.getBoundingClientRect();
        if (names.length < 4 && box.width > 0 && box.height > 0 && box.right > width + 0.5 && box.left < width && !scrolls(element))
            names.push(`${element.tagName} "${element.textContent.trim().slice(0, 40)}" up to ${Math.round(box.right)}`);
    }
    return names;
})()"#;

/// Sets the book's theme, as its own switch does.
const THEME: &str = r#"((theme) => {
    const classes = document.documentElement.classList;
    classes.remove("light", "rust", "coal", "navy", "ayu");
    classes.add(theme);
})"#;

/// The pictures of a page that are shown. mdBook has each once more, which appears large when the first is pressed.
const PICTURES: &str = "[...document.querySelectorAll('main img')].filter((image) => image.getBoundingClientRect().width > 0)";

/// Where a picture is, and where the words of its SVG are in it.
const WORDS: &str = r#"(async (image, svg) => {
    image.decoding = "sync";
    image.scrollIntoView({ block: "center" });
    await image.decode();
    // Until it is drawn.
    for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
    const { left, top, width, height } = image.getBoundingClientRect();
    if (width === 0 || innerHeight < height) throw new Error("it does not fit the screen");
    const style = getComputedStyle(image);
    const side = (edge) => parseFloat(style[`padding${edge}`]) + parseFloat(style[`border${edge}Width`]);
    const inner = { x: left + scrollX + side("Left"), y: top + scrollY + side("Top") };
    inner.width = width - side("Left") - side("Right");
    inner.height = height - side("Top") - side("Bottom");
    const words = [];
    if (svg) {
        const room = document.createElement("div");
        room.style.cssText = `position:absolute;left:0;top:0;width:${inner.width}px;height:${inner.height}px`;
        const drawing = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
        drawing.setAttribute("width", inner.width);
        drawing.setAttribute("height", inner.height);
        room.attachShadow({ mode: "open" }).append(document.adoptNode(drawing));
        document.body.append(room);
        const from = room.getBoundingClientRect();
        for (const text of drawing.querySelectorAll("text")) {
            const box = text.getBoundingClientRect();
            if (box.width > 0 && text.textContent.trim())
                words.push({ text: text.textContent.trim(), x: box.left - from.left, y: box.top - from.top, width: box.width, height: box.height });
        }
        room.remove();
    }
    return { ...inner, words };
})"#;

/// The colours of each box of a picture of the screen, and how many pixels have each.
const COLOURS: &str = r#"(async (picture, boxes, scale) => {
    const image = new Image();
    image.src = picture;
    await image.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [image.width, image.height];
    const context = canvas.getContext("2d", { willReadFrequently: true });
    context.drawImage(image, 0, 0);
    return boxes.map(({ x, y, width, height }) => {
        const found = new Map();
        const size = (start, length) => Math.max(1, Math.floor(length * scale));
        const { data } = context.getImageData(Math.floor(x * scale), Math.floor(y * scale), size(x, width), size(y, height));
        for (let at = 0; at < data.length; at += 4) {
            const colour = (data[at] << 24 | data[at + 1] << 16 | data[at + 2] << 8 | data[at + 3]) >>> 0;
            found.set(colour, (found.get(colour) ?? 0) + 1);
        }
        return [...found];
    });
})"#;

/// Colours, each with its red, green, blue and opacity from the highest byte on, and how many pixels have it.
type Colours = Vec<(u32, u64)>;

/// The contrast of what is written in these pixels to what it is written on.
fn contrast(colours: &Colours) -> f64 {
    let Some((ground, _)) = colours.iter().max_by_key(|(_, pixels)| pixels) else { return 1.0 };
    let ground = luminance(*ground);
    let ratio = |other: f64| (ground.max(other) + 0.05) / (ground.min(other) + 0.05);
    let mut ratios: Vec<(f64, u64)> = colours.iter().map(|(colour, pixels)| (ratio(luminance(*colour)), *pixels)).collect();
    ratios.sort_by(|one, two| two.0.total_cmp(&one.0));
    // The least ratio among the pixels that differ most.
    let all: u64 = colours.iter().map(|(_, pixels)| pixels).sum();
    let mut left = (all as f64 * INK).ceil() as u64;
    for (ratio, pixels) in ratios {
        if pixels >= left {
            return ratio;
        }
        left -= pixels;
    }
    1.0
}

/// WCAG 2's relative luminance.
fn luminance(colour: u32) -> f64 {
    let [red, green, blue, _] = colour.to_be_bytes().map(|value| {
        let value = f64::from(value) / 255.0;
        if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    });
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/// A word of a picture, in points from the picture's corner.
#[derive(Debug, Deserialize)]
struct Word {
    text: String,
    #[serde(flatten)]
    at: Area,
}

#[derive(Clone, Copy, Debug, Deserialize, serde::Serialize)]
struct Area {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

/// A picture of a page: where it is, and its words.
#[derive(Debug, Deserialize)]
struct Picture {
    #[serde(flatten)]
    at: Area,
    words: Vec<Word>,
}

/// What was looked at, and what is wrong.
#[derive(Debug, Default)]
struct Seen {
    pages: usize,
    pictures: usize,
    words: usize,
    /// The least contrast of a word.
    least: Option<(f64, String)>,
    wrong: Vec<String>,
}

/// The pages that are looked at if not `every` page is: all of the book, and of each crate's the largest of each kind.
/// rustdoc makes them all of the same parts, and what is too wide for a screen is long.
fn chosen(site: &Path, every: bool) -> Result<Vec<PathBuf>> {
    let pages = links::files(site, "html")?;
    let mut largest: BTreeMap<(String, String), (u64, PathBuf)> = BTreeMap::new();
    let mut chosen = Vec::new();
    for page in pages {
        let mut parts = page.iter().map(|part| part.to_string_lossy().into_owned());
        if every || parts.next().is_none_or(|first| first != "api") {
            chosen.push(page);
            continue;
        }
        // `struct` of `struct.Server.html`.
        let kind = page.file_name().unwrap_or_default().to_string_lossy().split('.').next().unwrap_or_default().to_owned();
        let crate_of = parts.next().unwrap_or_default();
        let kind = if crate_of == "src" { String::new() } else { kind };
        let bytes = fs::metadata(site.join(&page))?.len();
        let known = largest.entry((crate_of, kind)).or_default();
        if bytes > known.0 {
            *known = (bytes, page);
        }
    }
    chosen.extend(largest.into_values().map(|(_, page)| page));
    Ok(chosen)
}

/// Looks at the pages of the site: at `every` one of the API's, too.
pub(super) fn check(site: &Path, every: bool) -> Result<()> {
    let Some(mut browser) = Browser::start() else {
        bail!("pages are looked at in Chromium, which is not there: `cargo xtask setup` installs it");
    };
    let mut seen = Seen::default();
    for page in chosen(site, every)? {
        look(&mut browser, &site.join(&page), &page.display().to_string(), &mut seen)?;
    }
    let Seen { pages, pictures, words, least, wrong } = seen;
    ensure!(pages > 0, "there is no page in {}", site.display());
    let least = least.map_or(String::new(), |(ratio, text)| format!("; the least contrast is {ratio:.1}, of {text}"));
    println!(
        "{pages} pages on a screen of {} x {}; {pictures} pictures with {words} words in {} themes{least}",
        PHONE.0,
        PHONE.1,
        THEMES.len()
    );
    ensure!(wrong.is_empty(), "{} faults:\n{}", wrong.len(), wrong.join("\n"));
    Ok(())
}

/// Looks at one page, which is called `name`.
fn look(browser: &mut Browser, page: &Path, name: &str, seen: &mut Seen) -> Result<()> {
    seen.pages += 1;
    let url = format!("file://{}", page.display());
    browser.theme("light");
    browser.screen(PHONE.0, PHONE.1, 2, true);
    browser.load(&url);
    let wide: Vec<String> = serde_json::from_value(browser.value(TOO_WIDE))?;
    seen.wrong.extend(wide.into_iter().map(|wide| format!("{name} is wider than the screen: {wide}")));
    // The page for printers is all others once more, and takes minutes.
    if name == "print.html" {
        return Ok(());
    }
    let pictures: Vec<String> = serde_json::from_value(browser.value(&format!("{PICTURES}.map((image) => image.src)")))?;
    if pictures.is_empty() {
        return Ok(());
    }
    browser.screen(DESK.0, DESK.1, 2, false);
    browser.load(&url);
    for (index, picture) in pictures.iter().enumerate() {
        seen.pictures += 1;
        let file = picture.strip_prefix("file://").with_context(|| format!("{name} shows {picture}, which is not of the site"))?;
        let shown = format!("{} of {name}", Path::new(file).file_name().unwrap_or_default().display());
        let Ok(bytes) = fs::read(file) else {
            seen.wrong.push(format!("{shown} is not there"));
            continue;
        };
        if file.ends_with(".svg") {
            let svg = String::from_utf8(bytes).with_context(|| format!("{name} shows {file}"))?;
            for (theme, system) in THEMES.iter().flat_map(|theme| ["light", "dark"].map(|system| (theme, system))) {
                browser.theme(system);
                browser.value(&format!("{THEME}({theme:?})"));
                words(browser, index, &svg, &format!("{shown} in {theme}, with a system that prefers {system}"), seen)?;
            }
        } else if !opaque(browser, &bytes, file)? {
            seen.wrong.push(format!("{shown} is transparent: a theme may be dark"));
        }
    }
    Ok(())
}

/// Looks at the words of a picture, the page's `index`th.
fn words(browser: &mut Browser, index: usize, svg: &str, shown: &str, seen: &mut Seen) -> Result<()> {
    let Picture { at, words } = serde_json::from_value(browser.value(&format!("{WORDS}({PICTURES}[{index}], {})", Value::from(svg))))?;
    ensure!(at.width > 0.0 && at.height > 0.0, "{shown} is not shown");
    let clip = json!({ "x": at.x, "y": at.y, "width": at.width, "height": at.height, "scale": 1 });
    let screen = browser.ask("Page.captureScreenshot", json!({ "format": "png", "clip": clip }));
    let screen = format!("data:image/png;base64,{}", screen["data"].as_str().unwrap_or_default());
    let areas: Vec<Area> = words.iter().map(|word| word.at).collect();
    let colours = browser.value(&format!("{COLOURS}({}, {}, 2)", Value::from(screen), serde_json::to_string(&areas)?));
    let colours: Vec<Colours> = serde_json::from_value(colours)?;
    for (word, colours) in words.iter().zip(&colours) {
        seen.words += 1;
        let ratio = contrast(colours);
        let said = format!("{:?} in {shown}", word.text);
        if ratio < CONTRAST {
            seen.wrong.push(format!("{said} has a contrast of {ratio:.1}, less than {CONTRAST}"));
        }
        if seen.least.as_ref().is_none_or(|(least, _)| ratio < *least) {
            seen.least = Some((ratio, said));
        }
    }
    Ok(())
}

/// Whether a picture of pixels has none through which its page is seen.
fn opaque(browser: &mut Browser, bytes: &[u8], file: &str) -> Result<bool> {
    let seen = browser.value(&format!("{OPAQUE}({})", serde_json::to_string(bytes)?));
    seen.as_bool().with_context(|| format!("{file} is no picture: {seen}"))
}

/// Whether the picture that these bytes are has no transparent pixel.
const OPAQUE: &str = r#"(async (bytes) => {
    const image = await createImageBitmap(new Blob([new Uint8Array(bytes)])).catch(String);
    if (typeof image === "string") return image;
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [image.width, image.height];
    const context = canvas.getContext("2d", { willReadFrequently: true });
    context.drawImage(image, 0, 0);
    const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
    return data.every((value, at) => at % 4 !== 3 || value === 255);
})"#;

#[cfg(test)]
mod tests {
    use super::*;

    const WHITE: u32 = 0xffff_ffff;
    const BLACK: u32 = 0x0000_00ff;

    #[test]
    fn contrast_is_that_of_wcag() {
        assert!((contrast(&vec![(WHITE, 90), (BLACK, 10)]) - 21.0).abs() < 1e-9);
        assert!((contrast(&vec![(BLACK, 90), (WHITE, 10)]) - 21.0).abs() < 1e-9);
        // The example of WCAG's explanations: #777 on white is just too little.
        let grey = contrast(&vec![(0x7777_77ff, 10), (WHITE, 90)]);
        assert!((grey - 4.48).abs() < 0.01, "{grey}");
    }

    #[test]
    fn contrast_is_of_what_is_written_not_of_single_pixels() {
        // A line of a plot that crosses a corner of the box, and dim words.
        let dim = vec![(WHITE, 880), (0xccccccff, 110), (BLACK, 10)];
        assert!(contrast(&dim) < 2.0, "{}", contrast(&dim));
        // Nothing is written.
        assert!(contrast(&vec![(WHITE, 100)]) <= 1.0 && contrast(&Vec::new()) <= 1.0);
    }

    /// The faults of a page whose themes are white and nearly black, and beside which `picture` lies.
    fn faults(browser: &mut Browser, body: &str, picture: (&str, &[u8])) -> Vec<String> {
        let dir = tempfile::tempdir().unwrap();
        let style = "html { background: #fff } .coal, .navy, .ayu { background: #111 } body { margin: 0 }";
        let head = "<meta name=viewport content=\"width=device-width, initial-scale=1\">";
        let page = dir.path().join("page.html");
        fs::write(&page, format!("<!doctype html><html><head>{head}<style>{style}</style></head><body><main>{body}</main></body></html>"))
            .unwrap();
        fs::write(dir.path().join(picture.0), picture.1).unwrap();
        let mut seen = Seen::default();
        look(browser, &page, "page", &mut seen).unwrap();
        assert_eq!(seen.pages, 1);
        seen.wrong
    }

    fn svg(ground: &str, ink: &str) -> String {
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 300 100\"><rect width=\"300\" height=\"100\" fill=\"{ground}\"/>\
             <text x=\"20\" y=\"50\" font-size=\"20\" fill=\"{ink}\">forty-two</text></svg>"
        )
    }

    #[test]
    fn a_page_is_wider_than_the_screen_unless_its_table_scrolls() {
        let Some(mut browser) = Browser::start() else { return };
        let mut faults = |body: &str| faults(&mut browser, body, ("none.txt", b""));
        let table = "<table style='width: 900px'><tr><td>wide</td></tr></table>";
        assert!(faults(&format!("<p>text</p><div style='overflow-x: auto'>{table}</div>")).is_empty());
        let wide = faults(table);
        assert!(wide.len() > 1 && wide[0].starts_with("page is wider than the screen: the page: 900 of 390"), "{wide:?}");
        // What is cut off is not seen at all.
        let cut = faults(&format!("<div style='overflow-x: hidden'>{table}</div>"));
        assert!(!cut.is_empty() && cut[0].contains("TABLE \"wide\" up to 900"), "{cut:?}");
    }

    #[test]
    fn a_picture_whose_words_are_as_dark_as_a_theme_is_found() {
        let Some(mut browser) = Browser::start() else { return };
        let mut faults = |svg: String| faults(&mut browser, "<img src=plot.svg width=300>", ("plot.svg", svg.as_bytes()));
        assert_eq!(faults(svg("#fff", "#000")), [""; 0]);
        let dark = faults(svg("none", "#222"));
        assert_eq!(dark.len(), 2 * THEMES.len(), "{dark:?}");
        assert!(
            dark[0].starts_with("\"forty-two\" in plot.svg of page in coal, with a system that prefers light has a contrast of 1."),
            "{dark:?}"
        );
        // Its own ground does not help words that are nearly of its colour.
        assert_eq!(faults(svg("#fff", "#999")).len(), 2 * THEMES.len());
        // The colours are those of the system, which a page with a switch of its own need not have.
        let style = "<style>text { fill: #000 } @media (prefers-color-scheme: dark) { text { fill: #eee } }</style><text";
        let system = faults(svg("none", "").replace("<text", style).replace(" fill=\"\"", ""));
        assert!(system.len() == THEMES.len() && system.iter().all(|fault| fault.contains("prefers light")), "{system:?}");
    }

    #[test]
    fn of_the_api_the_largest_page_of_each_kind_is_looked_at() {
        let dir = tempfile::tempdir().unwrap();
        let pages =
            ["guide/a.html", "guide/b.html", "api/x/struct.A.html", "api/x/y/struct.B.html", "api/x/fn.c.html", "api/z/struct.D.html"];
        for (bytes, page) in pages.iter().enumerate() {
            let path = dir.path().join(page);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, " ".repeat(bytes + 1)).unwrap();
        }
        let some: Vec<_> = chosen(dir.path(), false).unwrap().iter().map(|page| page.display().to_string()).collect();
        assert_eq!(some, ["guide/a.html", "guide/b.html", "api/x/fn.c.html", "api/x/y/struct.B.html", "api/z/struct.D.html"]);
        assert_eq!(chosen(dir.path(), true).unwrap().len(), pages.len());
    }

    #[test]
    fn a_transparent_picture_is_found() {
        let Some(mut browser) = Browser::start() else { return };
        let mut faults = |pixel: [u8; 4]| {
            // One pixel of a bitmap with a channel for opacity: two headers, the masks of its channels, the pixel.
            let mut bitmap = b"BM".to_vec();
            for number in [126_u32, 0, 122, 108, 1, 1, 1 | 32 << 16, 3, 4, 0, 0, 0, 0, 0xff_0000, 0xff00, 0xff, 0xff00_0000, 0x7352_4742] {
                bitmap.extend(number.to_le_bytes());
            }
            bitmap.resize(122, 0);
            bitmap.extend(pixel);
            faults(&mut browser, "<img src=dot.bmp>", ("dot.bmp", &bitmap))
        };
        assert_eq!(faults([1, 2, 3, 255]), [""; 0]);
        assert_eq!(faults([1, 2, 3, 100]), ["dot.bmp of page is transparent: a theme may be dark"]);
        let gone = self::faults(&mut browser, "<img src=gone.bmp width=9>", ("none.txt", b""));
        assert_eq!(gone, ["gone.bmp of page is not there"]);
    }
}
