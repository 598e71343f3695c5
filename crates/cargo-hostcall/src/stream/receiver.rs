//! Who takes the messages of what `run` and `exec` start.

use std::sync::Arc;

use hostcall_build::Instrument;
use hostcall_stream::probes::Probes;
use hostcall_stream::sink::Sink;
use hostcall_stream::{NamedFilter, Policy, Streams, Summary};
use offload::{Device, Program, Queue};

use super::target::Target;

/// What is wanted of a program's messages.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wanted<'a> {
    pub(crate) targets: &'a [Target],
    pub(crate) instrument: Option<&'a Instrument>,
    pub(crate) filters: &'a [NamedFilter],
    pub(crate) policy: Option<Policy>,
    pub(crate) memory: Option<usize>,
    pub(crate) window: bool,
}

/// A filter of a stream that the program has not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("--stream-filter {filter}: the program has no stream `{stream}`; {}", known(streams))]
pub(crate) struct NoStream {
    filter: String,
    stream: String,
    streams: Vec<String>,
}

fn known(streams: &[String]) -> String {
    if streams.is_empty() { "it has none".into() } else { format!("its streams are: {}", streams.join(", ")) }
}

/// Receives a program's messages.
#[derive(Debug)]
pub(crate) struct Receiver {
    streams: Streams,
    probes: Option<Probes>,
    sinks: Vec<Arc<dyn Sink>>,
}

/// The streams that an instrumented program tells by.
fn probes(wanted: &Instrument) -> Probes {
    let steps = wanted.blocks || wanted.loops;
    Probes { accesses: wanted.accesses, steps, intervals: steps || wanted.barriers }
}

impl Receiver {
    /// Attaches a program; `None`: nobody wants its messages.
    pub(crate) fn start(wanted: &Wanted<'_>, device: &Device, program: &Program) -> Result<Option<Self>, Box<dyn std::error::Error>> {
        if wanted.targets.is_empty() && wanted.instrument.is_none() {
            return Ok(None);
        }
        Target::check(wanted.targets)?;
        let streams = program.streams();
        for filter in wanted.filters {
            if !streams.contains(&filter.stream) {
                let (filter, stream) = (filter.to_string(), filter.stream.clone());
                return Err(NoStream { filter, stream, streams: streams.to_vec() }.into());
            }
        }
        if streams.is_empty() {
            eprintln!("note: the program has no streams, or was built with `hostcall/streams-off`: there will be no messages");
        }
        let mut builder = Streams::builder().window(wanted.window);
        #[cfg_attr(not(feature = "sinks"), expect(unused_mut, reason = "there are none"))]
        let mut sinks: Vec<Arc<dyn Sink>> = Vec::new();
        for target in wanted.targets {
            match target {
                Target::Recording(path) => builder = builder.record(path),
                #[cfg(feature = "sinks")]
                Target::Sink(place) => {
                    let sink = place.open()?;
                    builder = builder.sink(sink.clone());
                    sinks.push(sink);
                }
            }
        }
        for NamedFilter { stream, filter, .. } in wanted.filters {
            builder = builder.filter_named(stream, *filter);
        }
        let probes = wanted.instrument.map(probes);
        if let Some(probes) = probes {
            builder = probes.listen(builder, wanted.policy);
        }
        if let Some(policy) = wanted.policy {
            builder = builder.policy_of_unlistened(policy);
        }
        if let Some(memory) = wanted.memory {
            builder = builder.memory(memory);
        }
        let streams = builder.start(device)?;
        streams.attach(program)?;
        Ok(Some(Self { streams, probes, sinks }))
    }

    /// Waits for all messages and says what became of them. Whether all that were not to be dropped are where they
    /// belong.
    pub(crate) fn wait(self, queue: &Queue, quiet: bool) -> bool {
        match self.streams.wait(queue) {
            Ok(mut summary) => {
                // Some sinks keep nothing before the end.
                summary.sinks.clear();
                if !quiet {
                    eprintln!("{summary}");
                }
                self.complete(quiet).0
            }
            Err(error) => {
                eprintln!("error: {error}");
                false
            }
        }
    }

    /// Completes what is kept of the messages that have come, whether kernels still run or not, and says what that is.
    pub(crate) fn end(self, quiet: bool) {
        let (_, summary) = self.complete(quiet);
        if !quiet {
            eprintln!("{summary}");
        }
    }

    /// Completes what is kept, and says so. Whether all is where it belongs, and what has been counted.
    fn complete(self, quiet: bool) -> (bool, Summary) {
        let Self { streams, probes, sinks } = self;
        if let Some(probes) = probes {
            // Asked for, and so said to those who want to hear little, too.
            eprint!("{}", probes.findings(&streams));
        }
        let summary = Summary { sinks: Vec::new(), ..streams.end() };
        let mut whole = true;
        for sink in sinks {
            let sunk = sink.sunk();
            if sunk.error.is_some() {
                eprintln!("error: {sunk}");
                whole = false;
            } else if !quiet {
                eprintln!("{sunk}");
            }
        }
        (whole, summary)
    }
}
