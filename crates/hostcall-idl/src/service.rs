//! A service's definition, as it is written.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::{Attribute, Error, FnArg, Ident, ItemTrait, Pat, Result, ReturnType, Safety, TraitItem, TraitItemFn, Type, Visibility};

use crate::wire::{bare, check_wire_type, is_str};
use crate::{Errors, normalised};

/// The arguments that `#[service]` takes.
pub const SERVICE_ARGS: &[&str] = &["on_error", "krate", "side"];

/// A whole definition: what `#[service]` stands on.
#[derive(Clone)]
pub struct Service {
    /// Its documentation, and `deprecated`.
    pub attrs: Vec<Attribute>,
    /// Who may use it.
    pub vis: Visibility,
    /// The trait's name.
    pub ident: Ident,
    /// Its functions, in order.
    pub functions: Vec<Function>,
}

/// One function of it.
#[derive(Clone)]
pub struct Function {
    /// Its documentation, and `deprecated`.
    pub attrs: Vec<Attribute>,
    /// Its name.
    pub ident: Ident,
    /// Its arguments, in order.
    pub args: Vec<Arg>,
    /// What comes back.
    pub output: Output,
    /// `Trait__function`, its name on the wire.
    pub name: String,
}

/// One argument.
#[derive(Clone)]
pub struct Arg {
    /// Its name.
    pub ident: Ident,
    /// How it travels.
    pub kind: Kind,
}

/// How an argument travels.
#[derive(Clone)]
pub enum Kind {
    /// By value.
    Fixed(Type),
    /// `&str`.
    Str,
    /// `&[T]`.
    Slice(Type),
    /// `&mut [T]`: the host's bytes come back.
    SliceMut(Type),
}

/// What comes back.
#[derive(Clone)]
pub enum Output {
    /// No `->`: not waited for.
    Posted,
    /// `-> R`.
    Reply(Box<Type>),
}

/// What of an argument, or of the result, enters the signature beside its text.
#[derive(Clone, Copy)]
pub enum Measure<'a> {
    /// `Fixed::DWORDS` of this type.
    Units(&'a Type),
    /// 1: a string.
    One,
    /// The size of an element, in bytes.
    Bytes(&'a Type),
    /// 0: the result of a posted function.
    Nothing,
}

impl Service {
    /// Reads a definition.
    ///
    /// # Errors
    /// Everything in it that a service cannot have.
    pub fn new(item: ItemTrait) -> Result<Self> {
        let mut errors = Errors::default();
        if matches!(item.vis, Visibility::Inherited) {
            errors.add(&item.ident, "a service is for both sides to use: make it `pub`, or at least `pub(crate)`");
        }
        errors.forbid(item.unsafety, "a service cannot be an `unsafe` trait");
        errors.forbid(item.modifiers.auto_token, "a service cannot be an `auto` trait");
        if !item.generics.params.is_empty() {
            errors.add(&item.generics, "a service cannot be generic: each function has one name and one layout on the wire");
        }
        errors.forbid(item.generics.where_clause.as_ref(), "a service cannot have a `where` clause");
        if !item.supertraits.is_empty() {
            errors.add(&item.supertraits, "a service cannot have supertraits");
        }
        let attrs = carried(&item.attrs, &mut errors);
        let mut functions = Vec::new();
        for member in item.items {
            match member {
                TraitItem::Fn(function) => functions.push(Function::new(&item.ident, function, &mut errors)),
                other => errors.add(other, "a service consists of functions only"),
            }
        }
        let service = Self { attrs, vis: item.vis, ident: item.ident, functions };
        if let Err(error) = service.module() {
            errors.join(error);
        }
        errors.check()?;
        Ok(service)
    }

    /// Name of the host's module: the trait's in snake case.
    ///
    /// # Errors
    /// When the name is not in camel case, or no module can be called so.
    pub fn module(&self) -> Result<Ident> {
        let name = self.ident.unraw().to_string();
        let letters: Vec<char> = name.chars().collect();
        let mut snake = String::new();
        for (i, &c) in letters.iter().enumerate() {
            // A capital begins a word unless it goes on with an acronym: `HTTPServer` is `http_server`.
            let begins = c.is_uppercase()
                && i > 0
                && letters[i - 1] != '_'
                && (!letters[i - 1].is_uppercase() || letters.get(i + 1).is_some_and(|next| next.is_lowercase()));
            if begins {
                snake.push('_');
            }
            snake.extend(c.to_lowercase());
        }
        if snake == name {
            return Err(Error::new(
                self.ident.span(),
                "give the trait a name in camel case: the host's module has the same name in snake case",
            ));
        }
        if let Ok(ident) = syn::parse_str::<Ident>(&snake) {
            return Ok(Ident::new(&ident.to_string(), self.ident.span()));
        }
        if matches!(snake.as_str(), "self" | "super" | "crate") {
            return Err(Error::new(self.ident.span(), format!("choose another name: the host's module cannot be called `{snake}`")));
        }
        Ok(Ident::new_raw(&snake, self.ident.span()))
    }
}

impl Function {
    fn new(service: &Ident, item: TraitItemFn, errors: &mut Errors) -> Self {
        let attrs = carried(&item.attrs, errors);
        let sig = item.sig;
        errors.forbid(item.default, "a service's function has no body here: the host gives it one");
        errors.forbid(item.modifiers.defaultness, "`default` has no meaning here");
        errors.forbid(sig.constness, "a service's function cannot be `const`");
        errors.forbid(sig.asyncness, "leave `async` out: kernels choose by `start_…`, hosts by `…_async`");
        errors.forbid(sig.abi.as_ref(), "a service's function has no ABI of its own");
        if !matches!(sig.safety, Safety::Default) {
            errors.add(&sig.safety, "a service's function is called by an untrusted guest: it cannot be `unsafe`");
        }
        if !sig.generics.params.is_empty() {
            errors.add(&sig.generics, "a service's function cannot be generic: it has one layout on the wire");
        }
        errors.forbid(sig.generics.where_clause.as_ref(), "a service's function cannot have a `where` clause");
        errors.forbid(sig.variadic.as_ref(), "a service's function has a fixed number of arguments");
        if sig.ident == "all" {
            errors.add(&sig.ident, "choose another name: `all` registers a whole implementation on the host");
        }
        let mut args = Vec::new();
        for input in &sig.inputs {
            let arg = match input {
                FnArg::Typed(arg) => arg,
                FnArg::Receiver(receiver) => {
                    errors
                        .add(receiver, "leave `self` out: kernels call `Service::function(…)`; the host's trait gets a `&self` by itself");
                    continue;
                }
            };
            let ident = match &*arg.pat {
                Pat::Ident(pat) if pat.by_ref.is_none() && pat.mutability.is_none() && pat.subpat.is_none() => pat.ident.clone(),
                other => {
                    errors.add(other, "an argument is a plain name");
                    continue;
                }
            };
            if let Some(attr) = arg.attrs.first() {
                errors.add(attr, "arguments take no attributes");
            }
            if let Some(kind) = Kind::new(&arg.ty, errors) {
                args.push(Arg { ident, kind });
            }
        }
        let output = match sig.output {
            ReturnType::Default => Output::Posted,
            ReturnType::Type(_, ty) => {
                check_wire_type(&ty, "a result", errors);
                Output::Reply(ty)
            }
        };
        if let (Output::Posted, Some(arg)) = (&output, args.iter().find(|arg| matches!(arg.kind, Kind::SliceMut(_)))) {
            errors.add(&arg.ident, "bytes can only come back to a call that is waited for: add `-> ()`, or a result");
        }
        let name = format!("{}__{}", service.unraw(), sig.ident.unraw());
        Self { attrs, ident: sig.ident, args, output, name }
    }

    /// Whether it takes strings or slices.
    pub fn takes_var(&self) -> bool {
        self.args.iter().any(|arg| !matches!(arg.kind, Kind::Fixed(_)))
    }

    /// The types as written, as they are hashed.
    pub fn types(&self) -> String {
        let kinds = self.args.iter().map(|arg| &arg.kind);
        let output = match &self.output {
            Output::Posted => quote!(),
            Output::Reply(ty) => quote!(-> #ty),
        };
        normalised(quote!(fn(#(#kinds),*) #output))
    }

    /// What else is hashed: a number for each argument, and one for the result.
    pub fn measures(&self) -> impl Iterator<Item = Measure<'_>> {
        let args = self.args.iter().map(|arg| match &arg.kind {
            Kind::Fixed(ty) => Measure::Units(ty),
            Kind::Str => Measure::One,
            Kind::Slice(elem) | Kind::SliceMut(elem) => Measure::Bytes(elem),
        });
        let result = match &self.output {
            Output::Posted => Measure::Nothing,
            Output::Reply(ty) => Measure::Units(ty),
        };
        args.chain([result])
    }

    /// `Trait::function`, for messages.
    pub fn spoken(&self) -> String {
        self.name.replacen("__", "::", 1)
    }
}

impl Kind {
    fn new(ty: &Type, errors: &mut Errors) -> Option<Self> {
        let Type::Reference(reference) = bare(ty) else {
            check_wire_type(ty, "an argument", errors);
            return Some(Self::Fixed(ty.clone()));
        };
        if let Some(lifetime) = &reference.lifetime {
            errors.add(lifetime, "leave the lifetime out: an argument is borrowed for the call");
        }
        let mutable = reference.mutability.is_some();
        match bare(&reference.elem) {
            elem if is_str(elem) && !mutable => return Some(Self::Str),
            elem if is_str(elem) => errors.add(ty, "`&mut str` cannot be filled by the host: pass `&mut [u8]` and return the length"),
            Type::Slice(slice) => {
                check_wire_type(&slice.elem, "an element", errors);
                let elem = (*slice.elem).clone();
                return Some(if mutable { Self::SliceMut(elem) } else { Self::Slice(elem) });
            }
            _ if mutable => errors.add(ty, "a reference means nothing on the other side: return the new value, or take `&mut [T]`"),
            _ => errors.add(ty, "a reference means nothing on the other side: pass the value, or `&[T]`"),
        }
        None
    }
}

impl ToTokens for Kind {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.extend(match self {
            Self::Fixed(ty) => quote!(#ty),
            Self::Str => quote!(&str),
            Self::Slice(elem) => quote!(&[#elem]),
            Self::SliceMut(elem) => quote!(&mut [#elem]),
        });
    }
}

/// The attributes to carry over to what is generated for an item: its documentation, and `deprecated`.
fn carried(attrs: &[Attribute], errors: &mut Errors) -> Vec<Attribute> {
    let mut kept = Vec::new();
    for attr in attrs {
        if attr.path().is_ident("doc") || attr.path().is_ident("deprecated") {
            kept.push(attr.clone());
        } else {
            errors.add(attr, "only doc comments and `#[deprecated]` are supported here, as one item becomes several");
        }
    }
    kept
}
