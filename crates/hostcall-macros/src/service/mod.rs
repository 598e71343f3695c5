//! `#[service]`: what both sides make of a definition.

mod device;
mod host;

use hostcall_idl::attribute::{Args, Side};
use hostcall_idl::{Arg, Function, Kind, Measure, Output, SERVICE_ARGS};
use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Error, ItemTrait, Result};

/// A definition, and how it is to be expanded.
struct Service {
    definition: hostcall_idl::Service,
    /// `…::__private` of the crate that exports hostcall's items.
    private: TokenStream,
    /// Stubs panic instead of returning a `CallError`.
    panics: bool,
    /// The definition is for both sides, which may come to differ: the device's half says in words what it was made
    /// from.
    both_sides: bool,
}

pub(crate) fn expand(args: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let args = Args::parse(args, SERVICE_ARGS)?;
    let item: ItemTrait = syn::parse2(item)
        .map_err(|error| Error::new(error.span(), format!("`#[service]` goes on a trait of functions without bodies: {error}")))?;
    let service = Service::new(item, &args)?;
    let private = &service.private;
    Ok(match args.side {
        Some(Side::Device) => service.device(),
        Some(Side::Host) => service.host(),
        None => {
            let (device, host) = (service.device(), service.host());
            quote! {
                #private::if_device! { #device }
                #private::if_host! { #host }
            }
        }
    })
}

impl Service {
    fn new(item: ItemTrait, args: &Args) -> Result<Self> {
        let krate = &args.krate;
        Ok(Self {
            definition: hostcall_idl::Service::new(item)?,
            private: quote!(#krate::__private),
            panics: args.panics,
            both_sides: args.side.is_none(),
        })
    }

    /// The check that messages can carry what a function takes and returns: made where it is defined, and not where it
    /// is called.
    fn sized(&self, function: &Function) -> TokenStream {
        let codec = self.codec();
        let (units, takes_var) = (self.units(function), function.takes_var());
        let result = function.result();
        quote_spanned!(function.ident.span()=> const _: () = #codec::check_sizes(#units, #takes_var, <#result as #codec::Fixed>::DWORDS);)
    }

    /// Units of a request before its variable bytes, as a constant expression.
    fn units(&self, function: &Function) -> TokenStream {
        let codec = self.codec();
        let head = function.takes_var().then(|| quote!(#codec::VarHead::DWORDS +));
        let units = function.args.iter().map(|arg| match &arg.kind {
            Kind::Fixed(ty) => quote!(<#ty as #codec::Fixed>::DWORDS +),
            Kind::Str | Kind::Slice(_) | Kind::SliceMut(_) => quote!(1 +),
        });
        quote!(#head #(#units)* 0)
    }

    /// `…::__private::abi::codec`.
    fn codec(&self) -> TokenStream {
        let private = &self.private;
        quote!(#private::abi::codec)
    }
}

/// What the expansions write of a function.
trait Written {
    /// The arguments as a tuple, if all are of fixed size and there is a tuple of so many.
    fn tuple(&self) -> Option<TokenStream>;

    /// The result's type, `()` for a posted function.
    fn result(&self) -> TokenStream;

    /// `name: Type` of each argument.
    fn declared(&self) -> impl Iterator<Item = TokenStream>;

    /// The name of each argument.
    fn names(&self) -> impl Iterator<Item = &Ident>;

    /// The definition's hash, as a constant expression: the types as written, without names or layout, and how many
    /// units each takes.
    fn signature(&self, codec: &TokenStream) -> TokenStream;
}

impl Written for Function {
    fn tuple(&self) -> Option<TokenStream> {
        let types: Option<Vec<_>> = self.args.iter().map(|arg| if let Kind::Fixed(ty) = &arg.kind { Some(ty) } else { None }).collect();
        match types?.as_slice() {
            [] => Some(quote!(())),
            types if types.len() <= 8 => Some(quote!((#(#types,)*))),
            _ => None,
        }
    }

    fn result(&self) -> TokenStream {
        match &self.output {
            Output::Posted => quote!(()),
            Output::Reply(ty) => quote!(#ty),
        }
    }

    fn declared(&self) -> impl Iterator<Item = TokenStream> {
        self.args.iter().map(|Arg { ident, kind }| quote!(#ident: #kind))
    }

    fn names(&self) -> impl Iterator<Item = &Ident> {
        self.args.iter().map(|arg| &arg.ident)
    }

    fn signature(&self, codec: &TokenStream) -> TokenStream {
        let text = self.types();
        let measures = self.measures().map(|measure| match measure {
            Measure::Units(ty) => quote!(<#ty as #codec::Fixed>::DWORDS),
            Measure::One => quote!(1),
            Measure::Bytes(elem) => quote!(::core::mem::size_of::<#elem>()),
            Measure::Nothing => quote!(<() as #codec::Fixed>::DWORDS),
        });
        quote!(#codec::signature(#text, &[#(#measures),*]))
    }
}
