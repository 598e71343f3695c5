//! A NATS server of the test's own, on loopback, which can be killed and started again.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// A server, and where it keeps its messages.
#[derive(Debug)]
pub struct Broker {
    program: PathBuf,
    dir: TempDir,
    port: u16,
    child: Option<Child>,
}

/// The server's program: of `PATH`, or the one that `cargo xtask setup` unpacks.
fn program() -> Option<PathBuf> {
    let unpacked = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/debian/usr/sbin");
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).chain([unpacked]).map(|dir| dir.join("nats-server")).find(|program| program.is_file())
}

impl Broker {
    /// Starts one; `None`: there is no program, which has been said. `settings` are lines of its configuration, whose
    /// relative paths begin where it runs; `files` are put there before.
    ///
    /// # Panics
    /// In CI without the program, and if the server does not start.
    pub fn start(settings: &str, files: &[(&str, &str)]) -> Option<Self> {
        let Some(program) = program() else {
            assert!(std::env::var_os("CI").is_none(), "`cargo xtask setup` unpacks nats-server into target/debian");
            println!("skipped: there is no `nats-server`; `cargo xtask setup` unpacks Debian's into target/debian");
            return None;
        };
        let dir = tempfile::tempdir().expect("a directory");
        for (name, text) in files {
            std::fs::write(dir.path().join(name), text).expect("written");
        }
        std::fs::write(dir.path().join("server.conf"), format!("host: 127.0.0.1\n{settings}")).expect("written");
        let mut broker = Self { program, dir, port: 0, child: None };
        // Any port that is free, which the server writes into a file.
        broker.spawn(&["-p", "-1", "--ports_file_dir", "."]);
        let id = broker.child.as_ref().expect("it was started").id();
        let ports = broker.dir.path().join(format!("nats-server_{id}.ports"));
        broker.port = broker.until("its port", |_| {
            let said: serde_json::Value = serde_json::from_slice(&std::fs::read(&ports).ok()?).ok()?;
            said["nats"][0].as_str()?.rsplit(':').next()?.parse().ok()
        });
        broker.until("a connection", |broker| std::net::TcpStream::connect(("127.0.0.1", broker.port)).ok());
        Some(broker)
    }

    /// Starts one with JetStream.
    pub fn with_jetstream(settings: &str) -> Option<Self> {
        Self::start(&format!("jetstream {{ store_dir: store }}\n{settings}"), &[])
    }

    fn spawn(&mut self, arguments: &[&str]) {
        let log = std::fs::File::options().create(true).append(true).open(self.dir.path().join("log")).expect("a log");
        let mut command = Command::new(&self.program);
        command.args(["-c", "server.conf"]).args(arguments).current_dir(self.dir.path());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        self.child = Some(command.spawn().expect("it starts"));
    }

    /// Waits for something that a server says or does.
    fn until<T>(&mut self, what: &str, mut look: impl FnMut(&mut Self) -> Option<T>) -> T {
        let since = Instant::now();
        loop {
            if let Some(found) = look(self) {
                return found;
            }
            let log = || std::fs::read_to_string(self.dir.path().join("log")).unwrap_or_default();
            let ended = self.child.as_mut().is_none_or(|child| child.try_wait().expect("its state").is_some());
            assert!(!ended && since.elapsed() < Duration::from_secs(60), "no {what}: {}", log());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// The server's program.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// A file beside its configuration.
    pub fn file(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// On which port of loopback it listens.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Ends it without a word.
    ///
    /// # Panics
    /// If the system does not let us.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().expect("it is killed");
            child.wait().expect("it ends");
        }
    }

    /// Starts it again where it was.
    ///
    /// # Panics
    /// If it does not start.
    pub fn again(&mut self) {
        let port = self.port.to_string();
        self.spawn(&["-p", &port]);
        self.until("a connection", |broker| std::net::TcpStream::connect(("127.0.0.1", broker.port)).ok());
    }

    /// `nats://127.0.0.1:PORT`
    pub fn address(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        self.kill();
    }
}
