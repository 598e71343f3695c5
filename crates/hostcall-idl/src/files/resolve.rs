//! Types of services, from their names in the files.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use hostcall_abi::Header;
use hostcall_abi::codec::VarHead;
use proc_macro2::Span;
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, GenericArgument, Lit, Meta, PathArguments};

use super::error::{Error, ErrorKind};
use super::scope::{Definition, Scopes};
use super::{Source, at};
use crate::model::{Argument, Function, Kind, Number, Service, Structure, Type};
use crate::wire::bare;
use crate::{Measure, Output, normalised, tidy};

/// Something that cannot be, which has been noted.
pub(super) struct Noted;

/// The result of what notes its errors itself.
pub(super) type Outcome<T> = Result<T, Noted>;

/// The most units of fixed arguments: what a message of one lane can say that it has.
const MOST_UNITS: usize = Header::MOST_UNITS;
/// Types that are deeper are nobody's.
const DEEPEST: usize = 64;

/// What a scope's struct has become.
pub(super) enum State {
    /// It is being worked out, so whoever asks is in it.
    Open,
    Done(Arc<Structure>),
    /// It cannot be, which has been noted.
    Failed,
}

/// Works out types.
pub(super) struct Resolver<'a> {
    pub(super) found: &'a Scopes,
    sources: &'a [Source<'a>],
    pub(super) errors: Vec<Error>,
    /// By scope and name.
    pub(super) structures: HashMap<(usize, String), State>,
    /// In the order in which they were completed, with their places.
    pub(super) completed: Vec<(Arc<Structure>, usize, Span)>,
    depth: usize,
}

impl<'a> Resolver<'a> {
    pub(super) fn new(found: &'a Scopes, sources: &'a [Source<'a>]) -> Self {
        Self { found, sources, errors: Vec::new(), structures: HashMap::new(), completed: Vec::new(), depth: 0 }
    }

    /// The structs that were used, and all errors. `services`: names that no struct may have.
    pub(super) fn finish(mut self, services: &HashSet<String>) -> (Vec<Arc<Structure>>, Vec<Error>) {
        let mut names = services.clone();
        let mut structures = Vec::new();
        for (structure, scope, span) in std::mem::take(&mut self.completed) {
            if !names.insert(structure.name.clone()) {
                self.note(scope, span, ErrorKind::NameTaken { name: structure.name.clone() });
            }
            structures.push(structure);
        }
        (structures, self.errors)
    }

    /// Notes an error in the file of a scope.
    pub(super) fn note(&mut self, scope: usize, span: Span, kind: ErrorKind) -> Noted {
        self.errors.push(at(self.sources, self.found.scopes[scope].file, span, kind));
        Noted
    }

    /// A service with those of its functions that can be.
    pub(super) fn service(&mut self, scope: usize, definition: &crate::Service, panics: bool) -> Service {
        let functions = definition.functions.iter();
        Service {
            name: definition.ident.unraw().to_string(),
            doc: doc(&definition.attrs),
            panics,
            functions: functions.filter_map(|function| self.function(scope, function).ok()).collect(),
        }
    }

    fn function(&mut self, scope: usize, function: &crate::Function) -> Outcome<Function> {
        let arguments: Vec<_> = function.args.iter().map(|argument| self.argument(scope, argument)).collect();
        let result = match &function.output {
            Output::Posted => Ok(None),
            Output::Reply(ty) => self.ty(scope, ty).map(Some),
        };
        let (arguments, result) = (arguments.into_iter().collect::<Outcome<_>>()?, result?);
        let mut measures = Vec::new();
        for measure in function.measures() {
            measures.push(match measure {
                Measure::Units(ty) => self.ty(scope, ty)?.units(),
                Measure::Bytes(element) => self.plain(scope, element, "an element")?.bytes().unwrap_or(0),
                Measure::One => 1,
                Measure::Nothing => 0,
            });
        }
        let normalised = function.types();
        let mut resolved = Function {
            name: function.ident.unraw().to_string(),
            wire_name: function.name.clone(),
            doc: doc(&function.attrs),
            text: tidy(&normalised),
            normalised,
            arguments,
            result,
            signature: 0,
        };
        resolved.sign(&measures);
        let most_result = if resolved.takes_var() { VarHead::MOST_RESULT } else { MOST_UNITS };
        let (units, reply) = (resolved.units(), resolved.reply_units().unwrap_or(0));
        for (units, max, what) in [(units, MOST_UNITS, "as arguments"), (reply, most_result, "as a result")] {
            if units > max {
                return Err(self.note(scope, function.ident.span(), ErrorKind::TooManyUnits { units, max, what }));
            }
        }
        Ok(resolved)
    }

    fn argument(&mut self, scope: usize, argument: &crate::Arg) -> Outcome<Argument> {
        let kind = match &argument.kind {
            crate::Kind::Fixed(ty) => Kind::Fixed(self.ty(scope, ty)?),
            crate::Kind::Str => Kind::Str,
            crate::Kind::Slice(element) => Kind::Slice(self.plain(scope, element, "an element")?),
            crate::Kind::SliceMut(element) => Kind::SliceMut(self.plain(scope, element, "an element")?),
        };
        Ok(Argument { name: argument.ident.unraw().to_string(), kind })
    }

    /// A type that must be plain, because of where it is.
    pub(super) fn plain(&mut self, scope: usize, ty: &syn::Type, place: &'static str) -> Outcome<Type> {
        let resolved = self.ty(scope, ty)?;
        if resolved.bytes().is_none() {
            return Err(self.note(scope, ty.span(), ErrorKind::NotPlain { text: text(ty), place }));
        }
        Ok(resolved)
    }

    /// A type of the wire.
    pub(super) fn ty(&mut self, scope: usize, ty: &syn::Type) -> Outcome<Type> {
        self.depth += 1;
        let resolved = if self.depth > DEEPEST {
            // Only aliases and structs that name one another are so deep.
            Err(self.note(scope, ty.span(), ErrorKind::Recursive { name: text(ty) }))
        } else {
            self.one(scope, ty)
        };
        self.depth -= 1;
        resolved
    }

    fn one(&mut self, scope: usize, ty: &syn::Type) -> Outcome<Type> {
        match bare(ty) {
            syn::Type::Tuple(tuple) => {
                let members: Vec<_> = tuple.elems.iter().map(|member| self.ty(scope, member)).collect();
                let members: Vec<Type> = members.into_iter().collect::<Outcome<_>>()?;
                match members.len() {
                    0 => Ok(Type::Unit),
                    1..=8 => Ok(Type::Tuple(members)),
                    members => Err(self.note(scope, ty.span(), ErrorKind::LongTuple { members })),
                }
            }
            syn::Type::Array(array) => {
                let element = self.plain(scope, &array.elem, "an element");
                let length = self.length(scope, &array.len)?;
                if length == 0 {
                    return Err(self.note(scope, ty.span(), ErrorKind::Empty { text: text(ty) }));
                }
                Ok(Type::Array(Box::new(element?), length))
            }
            syn::Type::Path(path) if path.qself.is_none() => self.named(scope, &path.path),
            _ => Err(self.note(scope, ty.span(), ErrorKind::NotPlain { text: text(ty), place: "here" })),
        }
    }

    fn named(&mut self, scope: usize, path: &syn::Path) -> Outcome<Type> {
        let mut names: Vec<String> = path.segments.iter().map(|segment| segment.ident.unraw().to_string()).collect();
        let Some(last) = path.segments.last() else {
            return Err(self.note(scope, path.span(), ErrorKind::UnknownType { name: text(path) }));
        };
        // What a name stands for where it is used: its own module's type, then what is imported, then the language's.
        let found = self.found;
        let here = &found.scopes[scope];
        let alone = names.len() == 1 && path.leading_colon.is_none();
        let imported = if alone && !here.types.contains_key(&names[0]) { here.imports.get(&names[0]) } else { None };
        if let Some(import) = imported {
            names.clone_from(import);
        }
        let from_here = alone && imported.is_none();
        if let Some(built_in) = built_in(&names, from_here).filter(|_| !(from_here && here.types.contains_key(&names[0]))) {
            return self.built_in(scope, path, built_in, &last.arguments);
        }
        if !last.arguments.is_none() {
            return Err(self.note(scope, path.span(), ErrorKind::Generic { text: text(path) }));
        }
        let name = names.last().cloned().unwrap_or_default();
        let module = names.len().checked_sub(2).map(|at| names[at].as_str());
        let candidates = if from_here && here.types.contains_key(&name) {
            vec![scope]
        } else {
            found.find(module, |scope| scope.types.contains_key(&name))
        };
        match *candidates.as_slice() {
            [] if imported.is_some() => {
                Err(self.note(scope, path.span(), ErrorKind::Elsewhere { name: text(path), path: names.join("::") }))
            }
            [] => Err(self.note(scope, path.span(), ErrorKind::UnknownType { name: text(path) })),
            [of] => match &found.scopes[of].types[&name] {
                Definition::Alias(ty) => self.ty(of, ty),
                Definition::Plain(item) => self.structure(scope, path.span(), of, item).map(Type::Structure),
                Definition::Generic => Err(self.note(scope, path.span(), ErrorKind::Generic { text: name })),
                Definition::Other(what) => Err(self.note(scope, path.span(), ErrorKind::NotDerived { name, what })),
            },
            _ => Err(self.note(scope, path.span(), ErrorKind::Ambiguous { name, count: candidates.len() })),
        }
    }

    fn built_in(&mut self, scope: usize, path: &syn::Path, built_in: BuiltIn, arguments: &PathArguments) -> Outcome<Type> {
        let types: Vec<&syn::Type> = match arguments {
            PathArguments::AngleBracketed(arguments) => {
                let types =
                    arguments.args.iter().filter_map(|argument| if let GenericArgument::Type(ty) = argument { Some(ty) } else { None });
                types.collect()
            }
            _ => Vec::new(),
        };
        let parameters = |name, expected| ErrorKind::Parameters { name, expected };
        match (built_in, types.as_slice()) {
            (BuiltIn::Plain(ty), _) if arguments.is_none() => Ok(ty),
            (BuiltIn::Plain(_), _) => Err(self.note(scope, path.span(), ErrorKind::Generic { text: text(path) })),
            (BuiltIn::Option, &[value]) => Ok(Type::Option(Box::new(self.ty(scope, value)?))),
            (BuiltIn::Option, _) => Err(self.note(scope, path.span(), parameters("Option", "one type"))),
            (BuiltIn::Result, &[value, error]) => {
                let (value, error) = (self.ty(scope, value), self.ty(scope, error));
                Ok(Type::Result(Box::new(value?), Box::new(error?)))
            }
            (BuiltIn::Result, _) => Err(self.note(scope, path.span(), parameters("Result", "two types"))),
        }
    }
}

/// A type of the language.
enum BuiltIn {
    Plain(Type),
    Option,
    Result,
}

/// The language's type of this path, or of this name alone.
fn built_in(names: &[String], alone: bool) -> Option<BuiltIn> {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let name = match names.as_slice() {
        [name] if alone => name,
        ["core" | "std", "primitive", name] if !matches!(*name, "Option" | "Result") => name,
        ["core" | "std", "option", name @ "Option"] | ["core" | "std", "result", name @ "Result"] => name,
        _ => return None,
    };
    Some(match *name {
        "Option" => BuiltIn::Option,
        "Result" => BuiltIn::Result,
        "bool" => BuiltIn::Plain(Type::Bool),
        "char" => BuiltIn::Plain(Type::Char),
        name => BuiltIn::Plain(Type::Number(Number::ALL.into_iter().find(|number| number.name() == name)?)),
    })
}

/// Tokens as people write them.
pub(super) fn text(tokens: impl ToTokens) -> String {
    tidy(&normalised(tokens.into_token_stream()))
}

/// The lines of an item's documentation.
pub(super) fn doc(attributes: &[Attribute]) -> Vec<String> {
    let mut lines = Vec::new();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("doc")) {
        let Meta::NameValue(meta) = &attribute.meta else { continue };
        let Expr::Lit(literal) = &meta.value else { continue };
        let Lit::Str(text) = &literal.lit else { continue };
        let text = text.value();
        lines.extend(text.split(['\n', '\r']).map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end().to_owned()));
    }
    let end = lines.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1);
    lines.truncate(end);
    lines
}

/// The tokens of an expression, for messages.
pub(super) fn spelled(expression: &Expr) -> String {
    text(expression)
}
