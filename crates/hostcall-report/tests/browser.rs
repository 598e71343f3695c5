//! Pages in a browser: what it complains of, what does not fit, and whether what should work works.

#[path = "support/browser.rs"]
mod devtools;
mod support;

use std::path::{Path, PathBuf};

use devtools::Browser;
use hostcall_stream::file::{Device, Program, Writer};
use hostcall_stream::{Policy, Schema};
use support::{field, header, page, run};

/// What is wider than the page, other than inside of what scrolls by itself.
const TOO_WIDE: &str = r#"(() => {
    const width = document.documentElement.clientWidth;
    const scrolls = (element) => element.closest(".scroll, nav") !== null;
    const wide = [...document.body.querySelectorAll("*")].filter((element) => {
        const box = element.getBoundingClientRect();
        return box.width > 0 && (box.right > width + 0.5 || box.left < -0.5) && !scrolls(element) && !element.closest("svg, .sizer, .y span bdi, .switch input, legend");
    });
    const names = wide.slice(0, 5).map((element) => `${element.tagName}.${element.className} "${element.textContent.slice(0, 40)}"`);
    if (document.documentElement.scrollWidth > width) names.push(`the page: ${document.documentElement.scrollWidth} of ${width}`);
    return names;
})()"#;

/// The least contrast of words to what they stand on (WCAG 2's ratio), of those that are seen.
const CONTRAST: &str = r#"(() => {
    const channel = (value) => (value /= 255) <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    const luminance = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
    const numbers = (text) => text.match(/[\d.]+/g).map(Number);
    const ground = (element) => {
        for (; element; element = element.parentElement) {
            const colour = numbers(getComputedStyle(element).backgroundColor);
            if (colour.length < 4 || colour[3] > 0) return colour;
        }
        return [255, 255, 255];
    };
    let least = [99, ""];
    for (const element of document.body.querySelectorAll("h1, h2, h3, p, dt, dd, b, small, th, td, summary, label, .y span, .x span, nav a, strong")) {
        if (!element.textContent.trim() || element.getClientRects().length === 0) continue;
        const [one, two] = [luminance(numbers(getComputedStyle(element).color)), luminance(ground(element))];
        const ratio = (Math.max(one, two) + 0.05) / (Math.min(one, two) + 0.05);
        if (ratio < least[0]) least = [ratio, element.textContent.slice(0, 40)];
    }
    return least;
})()"#;

/// How bright the page's ground is, 0 to 255.
const GROUND: &str = "Number(getComputedStyle(document.body).backgroundColor.match(/[\\d.]+/)[0])";

fn written(dir: &Path, name: &str, page: &str) -> PathBuf {
    let path = dir.join(name);
    std::fs::write(&path, page).expect("written");
    path
}

/// A recording whose every word is markup, and long.
fn hostile() -> Vec<u8> {
    let text = format!("\"><img src=x onerror=alert(1)><script>alert(1)</script>{}", "wide ".repeat(20) + &"W".repeat(60));
    let fields = vec![field(&text, "u32", 0, 4), field("step", "u32", 4, 4)];
    let schema = Schema { name: text.clone().into(), signature: 1, bytes: 8, policy: Policy::Block, fields };
    let mut writer = Writer::new(Vec::new()).expect("memory");
    let device = Device::new(0, text.clone(), text.clone());
    let ring = writer.program(Program::new(text, device, 1, vec![(1, schema)])).expect("memory");
    for step in 0..40u32 {
        let values: Vec<u8> = (0..32u32).flat_map(|lane| [lane * step, step].map(u32::to_le_bytes).concat()).collect();
        let one = hostcall_abi::stream::Header { site: 3, ..header(1, Some(u64::from(step) * 100)) };
        writer.message(ring, one, &values).expect("memory");
    }
    writer.end().expect("memory")
}

#[test]
fn pages_load_without_complaint_fit_every_screen_and_are_legible_in_light_and_in_dark() {
    let Some(mut browser) = Browser::start() else { return };
    let dir = tempfile::tempdir().expect("a directory");
    let whole = run(300);
    let pages = [
        ("few.html", page(&run(8))),
        ("whole.html", page(&whole)),
        ("long.html", page(&run(3000))),
        ("cut.html", page(&whole[..whole.len() / 2])),
        ("empty.html", page(&Writer::new(Vec::new()).and_then(Writer::end).expect("memory"))),
        ("nothing.html", page(b"something else")),
        ("hostile.html", page(&hostile())),
    ];
    for (name, page) in &pages {
        let path = written(dir.path(), name, page);
        for (width, theme) in [(360, "light"), (360, "dark"), (800, "light"), (1600, "light"), (1600, "dark")] {
            let complaints = browser.open(&path, width, theme);
            assert!(complaints.is_empty(), "{name}, {width}, {theme}: {complaints:?}");
            let wide = browser.value(TOO_WIDE);
            assert_eq!(wide, serde_json::json!([]), "{name}, {width}");
            // With all tables open, too.
            browser.value("document.querySelectorAll('details').forEach((details) => (details.open = true))");
            let wide = browser.value(TOO_WIDE);
            assert_eq!(wide, serde_json::json!([]), "{name}, {width}, tables open");
            let contrast = browser.value(CONTRAST);
            assert!(contrast[0].as_f64().expect("a ratio") >= 4.5, "{name}, {theme}: {contrast}");
            let ground = browser.value(GROUND).as_f64().expect("a brightness");
            assert_eq!(ground > 128.0, theme == "light", "{name}: {ground}");
        }
    }
}

#[test]
fn the_switch_changes_colours_and_what_is_pointed_at_is_told() {
    let Some(mut browser) = Browser::start() else { return };
    let dir = tempfile::tempdir().expect("a directory");
    let path = written(dir.path(), "page.html", &page(&run(300)));
    assert_eq!(browser.open(&path, 1000, "light"), <[String; 0]>::default());
    for (choice, bright) in [("dark", false), ("light", true), ("dark", false), ("auto", true)] {
        browser.value(&format!("document.querySelector('label[for={choice}]').click()"));
        let ground = browser.value(GROUND).as_f64().expect("a brightness");
        assert_eq!(ground > 128.0, bright, "{choice}: {ground}");
    }
    let areas = browser.value("document.querySelectorAll('.area').length").as_u64().expect("a count");
    assert!(areas >= 9, "{areas}");
    let mut told = 0;
    for area in 0..areas {
        // The middle of a shape that has words, or of the area.
        let place = browser.value(&format!(
            "(async () => {{ const area = document.querySelectorAll('.area')[{area}]; area.scrollIntoView({{ block: 'center' }});\
             await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));\
             const shape = area.querySelector('[data-i]') ?? area; const box = shape.getBoundingClientRect();\
             return [box.left + box.width / 2, box.top + box.height / 2]; }})()"
        ));
        let at = |i: usize| place[i].as_f64().expect("a place");
        browser.point(at(0), at(1));
        let tip = browser.value("document.getElementById('tip').hidden ? '' : document.getElementById('tip').textContent");
        told += u64::from(tip.as_str().is_some_and(|tip| tip.len() > 3 && !tip.contains("undefined")));
        // Heat maps have places where nothing is.
        let heat = browser.value(&format!("JSON.parse(document.querySelectorAll('.area')[{area}].dataset.tips).kind === 'cells'"));
        assert!(heat == true || tip != "", "area {area} says nothing");
    }
    assert!(told + 2 >= areas, "{told} of {areas}");
    // By keys, too.
    browser.ask("Emulation.setFocusEmulationEnabled", serde_json::json!({ "enabled": true }));
    let drawn = "new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => drawn(0))))";
    browser.value(&format!("document.querySelector('.area').focus(); {drawn}"));
    browser.ask("Input.dispatchKeyEvent", serde_json::json!({ "type": "keyDown", "key": "ArrowRight" }));
    let tip = browser.value("document.getElementById('tip').hidden");
    assert_eq!(tip, false);
    browser.ask("Input.dispatchKeyEvent", serde_json::json!({ "type": "keyDown", "key": "Escape" }));
    assert_eq!(browser.value("document.getElementById('tip').hidden"), true);
    let url = format!("file://{}", path.display());
    assert_eq!(browser.complaints(&url), <[String; 0]>::default());
}

#[test]
fn words_of_a_recording_are_shown_and_nothing_more() {
    let Some(mut browser) = Browser::start() else { return };
    let dir = tempfile::tempdir().expect("a directory");
    let path = written(dir.path(), "page.html", &page(&hostile()));
    assert_eq!(browser.open(&path, 800, "dark"), <[String; 0]>::default());
    assert_eq!(browser.value("document.querySelectorAll('img, iframe, object, embed, form, base').length"), 0);
    assert_eq!(browser.value("document.scripts.length"), 1);
    let text = browser.value("document.querySelector('td bdi').textContent");
    assert!(text.as_str().is_some_and(|text| text.starts_with("\"><img src=x onerror=alert(1)><script>")), "{text}");
    // A script that got into the page all the same would not run.
    browser.value("(() => { const script = document.createElement('script'); script.textContent = 'window.ran = true'; document.body.append(script); })()");
    assert_eq!(browser.value("window.ran === undefined"), true);
}
