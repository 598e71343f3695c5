//! A text that is read elsewhere: its process serves it at a broker, and kernels ask for pieces of it.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hostcall::{HandlerError, Service};
use hostcall_demo::texts;
use hostcall_remote::{CallOptions, Connector, RemoteError, Worker};

use super::input::{self, Input};
use super::{Error, Source};
use crate::Outcome;

/// Whoever serves may start later, and reading twice does no harm.
const OPTIONS: CallOptions =
    CallOptions::new().timeout(Duration::from_secs(60)).worker_wait(Duration::from_secs(10)).idempotent(Duration::from_secs(5));

fn connector(place: &str) -> Result<Connector, RemoteError> {
    match place {
        "local" => Ok(hostcall_remote::local()),
        "env" => Connector::from_env(),
        url => Ok(hostcall_remote::nats(url)),
    }
}

/// The services of a text. Files may be slow: they are blocking.
fn services(input: Input) -> [Service; 2] {
    let text = Arc::new(input.text);
    let same = text.clone();
    let failed = |error: std::io::Error| HandlerError::new(error.raw_os_error().unwrap_or_default().cast_unsigned(), error.to_string());
    [
        texts::begin(move |part, parts| text.begin(part, parts).map_err(failed)).blocking(),
        texts::read_at(move |at, into: &mut [u8]| same.read_at(at, into).map_err(failed)).blocking(),
    ]
}

/// Reads a file for others, until the process is ended.
pub(super) fn serve(place: &str, file: Option<&Path>) -> Outcome {
    if place == "local" {
        return Err(Error::ServeHere.into());
    }
    // The licence is there until the process ends.
    let (path, _licence) = input::or_licence(file)?;
    let worker = Worker::on(connector(place)?).services(services(Input::open(&path)?)).start()?;
    println!("{worker}");
    worker.run()
}

/// The text that is served there; by this process, if that is the place.
pub(super) fn source(place: &str, file: Option<&Path>) -> Result<Source, Box<dyn std::error::Error>> {
    let connector = connector(place)?;
    let here = match file {
        _ if place == "local" => {
            let (path, licence) = input::or_licence(file)?;
            Some((Worker::on(connector.clone()).services(services(Input::open(&path)?)).start()?, licence))
        }
        Some(path) => return Err(Error::Elsewhere { path: path.to_owned() }.into()),
        None => None,
    };
    let remote = connector.connect()?;
    let services = [texts::definition::begin(), texts::definition::read_at()].map(|definition| remote.service_with(definition, OPTIONS));
    Ok(Source { what: "the text that a worker reads".to_owned(), input: None, services: services.into(), _keep: Box::new((remote, here)) })
}
