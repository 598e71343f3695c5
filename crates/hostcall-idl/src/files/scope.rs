//! What files define, by module: the names that types may use.

use std::collections::HashMap;

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use quote::quote_spanned;
use syn::ext::IdentExt;
use syn::{Attribute, Expr, Item, ItemStruct, ItemTrait, Meta, Path, Type, UseTree};

/// A module of a file.
pub(super) struct Scope {
    /// Index of the file.
    pub(super) file: usize,
    /// The last name of its path: that of the module, or of the file.
    pub(super) name: String,
    /// Whether it is a file's outermost module.
    pub(super) is_root: bool,
    /// Its types.
    pub(super) types: HashMap<String, Definition>,
    /// Its constants.
    pub(super) consts: HashMap<String, Expr>,
    /// What it imports by name, and under which name.
    pub(super) imports: HashMap<String, Vec<String>>,
}

/// A type that a module defines.
pub(super) enum Definition {
    /// A struct under `#[derive(Plain)]`.
    Plain(ItemStruct),
    /// `type A = B;`.
    Alias(Type),
    /// Something with parameters.
    Generic,
    /// Anything else, in words.
    Other(&'static str),
}

/// A `#[service]` trait.
pub(super) struct Found {
    /// Index of its scope.
    pub(super) scope: usize,
    pub(super) item: ItemTrait,
    /// The attribute's arguments.
    pub(super) args: TokenStream,
}

/// A struct under `#[stream]`.
pub(super) struct FoundStream {
    /// Index of its scope.
    pub(super) scope: usize,
    pub(super) item: ItemStruct,
    /// The attribute's arguments.
    pub(super) args: TokenStream,
}

/// All modules, services and streams of all files.
#[derive(Default)]
pub(super) struct Scopes {
    pub(super) scopes: Vec<Scope>,
    pub(super) services: Vec<Found>,
    pub(super) streams: Vec<FoundStream>,
}

impl Scopes {
    /// Notes what is in a module and those in it. `name`: the module's, or the file's.
    pub(super) fn add(&mut self, file: usize, name: &str, is_root: bool, items: Vec<Item>) {
        let scope = self.scopes.len();
        self.scopes.push(Scope {
            file,
            name: name.to_owned(),
            is_root,
            types: HashMap::new(),
            consts: HashMap::new(),
            imports: HashMap::new(),
        });
        self.items(scope, items);
    }

    fn items(&mut self, scope: usize, items: Vec<Item>) {
        for item in items {
            self.item(scope, item);
        }
    }

    fn item(&mut self, scope: usize, item: Item) {
        if let Item::Struct(item) = &item
            && let Some(args) = item.attrs.iter().find_map(|attribute| args_of(attribute, "stream"))
        {
            self.streams.push(FoundStream { scope, item: item.clone(), args });
        }
        let this = &mut self.scopes[scope];
        let mut define = |ident: &syn::Ident, definition| {
            this.types.insert(ident.unraw().to_string(), definition);
        };
        match item {
            Item::Struct(item) if !item.generics.params.is_empty() => define(&item.ident, Definition::Generic),
            Item::Struct(item) if is_plain(&item) => define(&item.ident.clone(), Definition::Plain(item)),
            Item::Struct(item) => define(&item.ident, Definition::Other("a struct without `#[derive(Plain)]`")),
            Item::Enum(item) => define(&item.ident, Definition::Other("an enum")),
            Item::Union(item) => define(&item.ident, Definition::Other("a union")),
            Item::Type(item) if item.generics.params.is_empty() => define(&item.ident, Definition::Alias(*item.ty)),
            Item::Type(item) => define(&item.ident, Definition::Generic),
            Item::Const(item) => {
                this.consts.insert(item.ident.unraw().to_string(), *item.expr);
            }
            Item::Use(item) => imports(&item.tree, &mut Vec::new(), &mut this.imports),
            Item::Trait(item) => {
                if let Some(args) = item.attrs.iter().find_map(|attribute| args_of(attribute, "service")) {
                    let mut item = item;
                    item.attrs.retain(|attribute| args_of(attribute, "service").is_none());
                    self.services.push(Found { scope, item, args });
                }
            }
            Item::Mod(item) if !item.attrs.iter().any(is_for_tests) => {
                if let Some((_, items)) = item.content {
                    let file = this.file;
                    self.add(file, &item.ident.unraw().to_string(), false, items);
                }
            }
            Item::Macro(item) if item.mac.path.is_ident("macro_rules") => {
                let items = table(item.mac.tokens);
                self.items(scope, items);
            }
            _ => {}
        }
    }

    /// The scopes that have something. Where there are several, those that `module` names: `crate` is a file's
    /// outermost.
    pub(super) fn find(&self, module: Option<&str>, has: impl Fn(&Scope) -> bool) -> Vec<usize> {
        let all: Vec<usize> = (0..self.scopes.len()).filter(|&scope| has(&self.scopes[scope])).collect();
        let Some(module) = module.filter(|_| all.len() > 1) else { return all };
        let named = |&scope: &usize| {
            let scope = &self.scopes[scope];
            if module == "crate" { scope.is_root } else { scope.name == module }
        };
        let narrowed: Vec<usize> = all.iter().copied().filter(named).collect();
        if narrowed.is_empty() { all } else { narrowed }
    }
}

/// Whether the macros implement `Plain` for it.
fn is_plain(item: &ItemStruct) -> bool {
    let of_fields = |attribute: &Attribute| {
        // A stream's derives it too, unless its messages are bytes or text, which have no fields.
        last_is(attribute.path(), "stream") && !item.fields.is_empty()
    };
    item.attrs.iter().any(|attribute| {
        let mut derived = false;
        if attribute.path().is_ident("derive") {
            // Errors in it are the compiler's to tell.
            let _ = attribute.parse_nested_meta(|meta| {
                derived |= last_is(&meta.path, "Plain");
                Ok(())
            });
        }
        derived || of_fields(attribute)
    })
}

fn last_is(path: &Path, name: &str) -> bool {
    path.segments.last().is_some_and(|last| last.ident == name)
}

/// The arguments of `#[name]`, `#[hostcall::name(…)]`, …
fn args_of(attribute: &Attribute, name: &str) -> Option<TokenStream> {
    if !last_is(attribute.path(), name) {
        return None;
    }
    match &attribute.meta {
        Meta::List(list) => Some(list.tokens.clone()),
        _ => Some(TokenStream::new()),
    }
}

/// `#[cfg(test)]`.
fn is_for_tests(attribute: &Attribute) -> bool {
    attribute.path().is_ident("cfg") && attribute.parse_args::<Path>().is_ok_and(|path| path.is_ident("test"))
}

fn imports(tree: &UseTree, path: &mut Vec<String>, found: &mut HashMap<String, Vec<String>>) {
    // `use a::B::{self}` imports `B`, and `use a::B::{self as C}` imports it as `C`.
    let mut import = |last: &syn::Ident, renamed: Option<&syn::Ident>, path: &[String]| {
        let mut path = path.to_vec();
        if last != "self" {
            path.push(last.unraw().to_string());
        }
        if let Some(name) = renamed.map(|name| name.unraw().to_string()).or_else(|| path.last().cloned()) {
            found.insert(name, path);
        }
    };
    match tree {
        UseTree::Path(tree) => {
            path.push(tree.ident.unraw().to_string());
            imports(&tree.tree, path, found);
            path.pop();
        }
        UseTree::Name(tree) => import(&tree.ident, None, path),
        UseTree::Rename(tree) => import(&tree.ident, Some(&tree.rename), path),
        UseTree::Group(group) => {
            for tree in &group.items {
                imports(tree, path, found);
            }
        }
        _ => {}
    }
}

/// The items of a macro that is a table of services: `macro_rules! table { ($service:meta) => { #[$service] pub trait …
/// } }`, with which several crates expand the same traits, each for itself. None if it is another macro.
fn table(tokens: TokenStream) -> Vec<Item> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let [TokenTree::Group(matcher), TokenTree::Punct(_), TokenTree::Punct(_), TokenTree::Group(body), rest @ ..] = tokens.as_slice() else {
        return Vec::new();
    };
    let matcher: Vec<TokenTree> = matcher.stream().into_iter().collect();
    let [TokenTree::Punct(dollar), TokenTree::Ident(name), TokenTree::Punct(_), TokenTree::Ident(fragment)] = matcher.as_slice() else {
        return Vec::new();
    };
    if dollar.as_char() != '$' || fragment != "meta" || rest.len() > 1 {
        return Vec::new();
    }
    let body = substituted(body.stream(), &name.to_string());
    syn::parse2::<syn::File>(body).map(|file| file.items).unwrap_or_default()
}

/// With `hostcall::service` in the place of `$name`.
fn substituted(tokens: TokenStream, name: &str) -> TokenStream {
    let mut out = TokenStream::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(dollar)
                if dollar.as_char() == '$' && matches!(tokens.peek(), Some(TokenTree::Ident(ident)) if *ident == name) =>
            {
                let span = tokens.next().map_or_else(Span::call_site, |ident| ident.span());
                out.extend(quote_spanned!(span=> hostcall::service));
            }
            TokenTree::Group(group) if group.delimiter() != Delimiter::None => {
                let mut inner = proc_macro2::Group::new(group.delimiter(), substituted(group.stream(), name));
                inner.set_span(group.span());
                out.extend([TokenTree::Group(inner)]);
            }
            other => out.extend([other]),
        }
    }
    out
}
