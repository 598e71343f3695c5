//! A headless Chromium, spoken to by its DevTools protocol over pipes.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

/// Names of the program.
const PROGRAMS: [&str; 4] = ["chromium-headless-shell", "chromium", "chrome-headless-shell", "google-chrome"];

/// The program, if it is there.
fn program() -> Option<PathBuf> {
    let paths = std::env::var_os("PATH")?;
    PROGRAMS.iter().flat_map(|program| std::env::split_paths(&paths).map(move |dir| dir.join(program))).find(|path| path.is_file())
}

/// A browser with one page.
pub(crate) struct Browser {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    session: String,
    id: u64,
    events: VecDeque<Value>,
    _profile: TempDir,
}

impl Browser {
    /// Starts one; `None`: there is none, which is printed, and which is an error in CI.
    pub(crate) fn start() -> Option<Self> {
        let Some(program) = program() else {
            let reason =
                format!("no Chromium: none of {} is in PATH (Debian: apt-get install chromium-headless-shell)", PROGRAMS.join(", "));
            assert!(std::env::var_os("CI").is_none(), "{reason}");
            println!("skipped: {reason}");
            return None;
        };
        let profile = tempfile::tempdir().expect("a directory");
        // The protocol is at descriptors 3 and 4.
        let mut child = Command::new("sh")
            .args(["-c", r#"exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null 2>/dev/null"#])
            .arg(program)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--no-first-run",
                "--disable-background-networking",
                "--remote-debugging-pipe",
            ])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell");
        let (to, from) = (child.stdin.take().expect("piped"), BufReader::new(child.stdout.take().expect("piped")));
        let mut browser = Self { child, to, from, session: String::new(), id: 0, events: VecDeque::new(), _profile: profile };
        let target = browser.ask("Target.createTarget", json!({ "url": "about:blank" }))["targetId"].clone();
        let session = browser.ask("Target.attachToTarget", json!({ "targetId": target, "flatten": true }))["sessionId"].clone();
        browser.session = session.as_str().expect("a session").into();
        for domain in ["Page", "Runtime", "Network", "Log"] {
            browser.ask(&format!("{domain}.enable"), json!({}));
        }
        Some(browser)
    }

    fn receive(&mut self) -> Value {
        let mut message = Vec::new();
        self.from.read_until(0, &mut message).expect("the browser answers");
        assert_eq!(message.pop(), Some(0), "the browser has ended");
        serde_json::from_slice(&message).expect("JSON")
    }

    /// Asks, and waits for the answer. Events meanwhile are kept.
    pub(crate) fn ask(&mut self, method: &str, parameters: Value) -> Value {
        self.id += 1;
        let mut message = json!({ "id": self.id, "method": method, "params": parameters });
        if !self.session.is_empty() {
            message["sessionId"] = self.session.clone().into();
        }
        self.to.write_all(message.to_string().as_bytes()).expect("the browser listens");
        self.to.write_all(&[0]).expect("the browser listens");
        self.to.flush().expect("the browser listens");
        loop {
            let mut answer = self.receive();
            if answer["id"] == self.id {
                assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
                return answer["result"].take();
            }
            self.events.push_back(answer);
        }
    }

    /// Opens a file on a screen of this width, `light` or `dark`, and returns what it complained of and asked for
    /// besides.
    pub(crate) fn open(&mut self, page: &Path, width: u32, theme: &str) -> Vec<String> {
        self.screen(width, 900, 1, false);
        self.theme(theme);
        let url = format!("file://{}", page.display());
        self.load(&url);
        self.complaints(&url)
    }

    /// From now on pages have a screen of this size, whose pixels are `scale` to one of theirs: a phone's if it is
    /// `mobile`.
    pub(crate) fn screen(&mut self, width: u32, height: u32, scale: u32, mobile: bool) {
        let screen = json!({ "width": width, "height": height, "deviceScaleFactor": scale, "mobile": mobile });
        self.ask("Emulation.setDeviceMetricsOverride", screen);
    }

    /// From now on the system prefers `light` or `dark`.
    pub(crate) fn theme(&mut self, theme: &str) {
        let features = json!([{ "name": "prefers-color-scheme", "value": theme }]);
        self.ask("Emulation.setEmulatedMedia", json!({ "features": features }));
    }

    /// Opens a page, and waits until all of it is there.
    pub(crate) fn load(&mut self, url: &str) {
        self.events.clear();
        self.ask("Page.navigate", json!({ "url": url }));
        while !self.events.iter().any(|event| event["method"] == "Page.loadEventFired") {
            let event = self.receive();
            self.events.push_back(event);
        }
    }

    /// What was complained of since the page was opened, and every request that is not the page itself.
    pub(crate) fn complaints(&mut self, url: &str) -> Vec<String> {
        // What is on its way comes before the answer.
        self.ask("Runtime.evaluate", json!({ "expression": "0" }));
        let complaint = |event: &Value| match event["method"].as_str()? {
            method @ ("Runtime.consoleAPICalled" | "Runtime.exceptionThrown" | "Log.entryAdded" | "Page.javascriptDialogOpening") => {
                Some(format!("{method}: {}", event["params"]))
            }
            "Network.requestWillBeSent" => {
                let asked = event["params"]["request"]["url"].as_str()?;
                (asked != url && !asked.starts_with("data:")).then(|| format!("it asks for {asked}"))
            }
            _ => None,
        };
        self.events.iter().filter_map(complaint).collect()
    }

    /// The value of an expression.
    pub(crate) fn value(&mut self, expression: &str) -> Value {
        let answer = self.ask("Runtime.evaluate", json!({ "expression": expression, "returnByValue": true, "awaitPromise": true }));
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {}", answer["exceptionDetails"]);
        answer["result"]["value"].clone()
    }

    /// Moves the pointer, in pixels of the screen.
    pub(crate) fn point(&mut self, x: f64, y: f64) {
        self.ask("Input.dispatchMouseEvent", json!({ "type": "mouseMoved", "x": x, "y": y }));
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
