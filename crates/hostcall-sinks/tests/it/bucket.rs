//! A server that stands for S3 (moto, in Python), on loopback, which can be killed and started again. It forgets everything then.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use crate::python::python;

/// Starts the server on a port, or any, and prints which; each line is a bucket to be made. It ends with its input.
const SCRIPT: &str = r#"
import sys, urllib.request
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer(ip_address="127.0.0.1", port=int(sys.argv[1]), verbose=False)
server.start()
port = server.get_host_and_port()[1]
print(port, flush=True)
for line in sys.stdin:
    urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{port}/{line.strip()}", method="PUT")).read()
    print("made", flush=True)
"#;

/// A server with buckets.
#[derive(Debug)]
pub(crate) struct Bucket {
    python: PathBuf,
    port: u16,
    child: Option<Child>,
}

impl Bucket {
    /// Starts one; `None`: there is no Python, which has been said.
    pub(crate) fn start(bucket: &str) -> Option<Self> {
        let mut server = Self { python: python()?, port: 0, child: None };
        server.again();
        server.make(bucket);
        Some(server)
    }

    /// Starts it again where it was, without buckets.
    pub(crate) fn again(&mut self) {
        let mut command = Command::new(&self.python);
        command.args(["-c", SCRIPT]).arg(self.port.to_string()).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        self.child = Some(command.spawn().expect("it starts"));
        self.port = self.line().parse().expect("a port");
    }

    /// Makes a bucket.
    pub(crate) fn make(&mut self, bucket: &str) {
        let input = self.child.as_mut().and_then(|child| child.stdin.as_mut()).expect("it was piped");
        writeln!(input, "{bucket}").expect("it reads");
        assert_eq!(self.line(), "made");
    }

    fn line(&mut self) -> String {
        let output = self.child.as_mut().and_then(|child| child.stdout.as_mut()).expect("it was piped");
        let mut line = String::new();
        // One byte at a time: nothing behind the line is taken.
        BufReader::with_capacity(1, output.by_ref()).read_line(&mut line).expect("a line");
        line.trim().to_owned()
    }

    /// Ends it without a word.
    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().expect("it is killed");
            child.wait().expect("it ends");
        }
    }

    /// `http://127.0.0.1:PORT`
    pub(crate) fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

impl Drop for Bucket {
    fn drop(&mut self) {
        self.kill();
    }
}
