//! Definitions in files: parsed, and their types worked out.
//!
//! The macros leave types to the compiler. Here there is none, so types are found by name in the files that are given.
//! What cannot be found is an error with its place, never a guess.

mod error;
mod length;
mod resolve;
mod scope;
mod structure;

#[cfg(test)]
mod tests;

use std::collections::HashSet;

use proc_macro2::Span;
use syn::ext::IdentExt;

pub use error::{Error, ErrorKind, Errors};

use crate::attribute::Args;
use crate::model::Interface;
use crate::{SERVICE_ARGS, STREAM_ARGS, Service};
use resolve::Resolver;
use scope::Scopes;

/// A file to read.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// Its name, for error messages. Its stem is a module's name, unless it is `lib`, `main` or `mod`.
    pub name: &'a str,
    /// What is in it.
    pub text: &'a str,
}

/// The services that files define, and the structs that these use.
///
/// # Errors
/// All that is wrong with the files, and all that other languages cannot have.
pub fn parse(sources: &[Source<'_>]) -> Result<Interface, Errors> {
    parse_with(sources, false)
}

/// The services and streams that files define, and the structs that these use.
///
/// # Errors
/// As [`parse`].
pub fn parse_with_streams(sources: &[Source<'_>]) -> Result<Interface, Errors> {
    parse_with(sources, true)
}

fn parse_with(sources: &[Source<'_>], with_streams: bool) -> Result<Interface, Errors> {
    let mut found = Scopes::default();
    let mut errors = Vec::new();
    let mut empty = Vec::new();
    for (file, source) in sources.iter().enumerate() {
        match syn::parse_file(source.text) {
            Ok(parsed) => {
                let count = |found: &Scopes| found.services.len() + if with_streams { found.streams.len() } else { 0 };
                let before = count(&found);
                found.add(file, stem(source.name), true, parsed.items);
                if count(&found) == before {
                    empty.push(at(sources, file, Span::call_site(), ErrorKind::NoService));
                }
            }
            Err(error) => {
                let kind = |error: &syn::Error| ErrorKind::Syntax { message: error.to_string() };
                errors.extend(error.into_iter().map(|error| at(sources, file, error.span(), kind(&error))));
            }
        }
    }
    if !errors.is_empty() {
        return Err(Errors(errors));
    }
    // A file of types only is fine beside one with something to bind.
    if empty.len() == sources.len() {
        return Err(Errors(empty));
    }
    let (services, streams) = (std::mem::take(&mut found.services), std::mem::take(&mut found.streams));
    let mut resolver = Resolver::new(&found, sources);
    let mut interface = Interface::default();
    let mut names = HashSet::new();
    for service in services {
        let file = found.scopes[service.scope].file;
        let spoil = |error: syn::Error| {
            let kind = |error: &syn::Error| ErrorKind::Definition { message: error.to_string() };
            error.into_iter().map(|error| at(sources, file, error.span(), kind(&error))).collect::<Vec<_>>()
        };
        let (args, definition) = (Args::parse(service.args, SERVICE_ARGS), Service::new(service.item));
        match (args, definition) {
            (Ok(args), Ok(definition)) => {
                let name = definition.ident.unraw().to_string();
                if !names.insert(name.clone()) {
                    errors.push(at(sources, file, definition.ident.span(), ErrorKind::NameTaken { name }));
                    continue;
                }
                interface.services.push(resolver.service(service.scope, &definition, args.panics));
            }
            (args, definition) => errors.extend([args.err(), definition.err()].into_iter().flatten().flat_map(spoil)),
        }
    }
    for stream in streams.iter().filter(|_| with_streams) {
        let name = stream.item.ident.unraw().to_string();
        match Args::parse(stream.args.clone(), STREAM_ARGS) {
            Ok(Args { policy: Some(policy), .. }) if policy == "Latest" => {
                interface.other_streams.push((name, "the policy `latest`".into()))
            }
            Ok(Args { content: Some(content), policy, .. }) => {
                interface.byte_streams.push(structure::byte_stream(&stream.item, content == "text", policy.as_ref()))
            }
            Ok(args) => interface.streams.extend(resolver.stream(stream.scope, &stream.item, args.policy.as_ref()).ok()),
            Err(error) => {
                let kind = ErrorKind::Definition { message: error.to_string() };
                errors.push(at(sources, found.scopes[stream.scope].file, error.span(), kind));
            }
        }
    }
    let (structures, more) = resolver.finish(&names);
    errors.extend(more);
    if !errors.is_empty() {
        errors.sort_by_key(|error| (sources.iter().position(|source| source.name == error.file), error.line, error.column));
        errors.dedup();
        return Err(Errors(errors));
    }
    interface.structures = structures;
    Ok(interface)
}

/// An error at a place.
fn at(sources: &[Source<'_>], file: usize, span: Span, kind: ErrorKind) -> Error {
    let start = span.start();
    Error { file: sources[file].name.to_owned(), line: start.line.max(1), column: start.column + 1, kind }
}

/// The name of the module that a file is, as far as its name says it; that of a crate's root is its own.
fn stem(name: &str) -> &str {
    let last = name.rsplit(['/', '\\']).next().unwrap_or(name);
    last.strip_suffix(".rs").unwrap_or(last)
}
