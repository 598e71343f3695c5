//! The host's half: the trait to implement, and the module of constructors.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::ext::IdentExt;

use super::{Arg, Function, Kind, Output, Service};
use crate::common::{local, tidy};

impl Service {
    pub(super) fn host(&self) -> TokenStream {
        let Self { attrs, vis, ident, private, .. } = self;
        let module = self.module().expect("checked when the service was parsed");
        let methods = self.functions.iter().map(|function| {
            let Function { attrs, ident, .. } = function;
            let declared = function.declared();
            let output = output(function);
            quote! {
                #(#attrs)*
                #[allow(clippy::too_many_arguments, reason = "as many as the service was defined with")]
                fn #ident(&self, #(#declared),*) #output;
            }
        });
        let constructors = self.functions.iter().map(|function| self.constructor(function));
        let shared = local("implementation");
        let each = self.functions.iter().map(|function| {
            let name = &function.ident;
            let declared = function.declared();
            let names = function.names();
            quote! {{
                let #shared = #private::std::sync::Arc::clone(&#shared);
                #name(move |#(#declared),*| <__T as #ident>::#name(&*#shared, #(#names),*))
            }}
        });
        let (about_module, about_all) = (
            format!("Makes services of closures, one function for each of [`{}`]'s.", ident.unraw()),
            format!("Every function of an implementation of [`{}`].", ident.unraw()),
        );
        quote! {
            #(#attrs)*
            #vis trait #ident: ::core::marker::Send + ::core::marker::Sync + 'static {
                #(#methods)*
            }

            #[doc = #about_module]
            #vis mod #module {
                #[allow(unused_imports, reason = "the types of the definition, if it names any")]
                use super::*;

                #(#constructors)*

                #[doc = #about_all]
                pub fn all<__T: #ident>(implementation: __T) -> #private::std::vec::Vec<#private::Service> {
                    let #shared = #private::std::sync::Arc::new(implementation);
                    // One function may be deprecated; registering all is not a use of it.
                    #[allow(deprecated, reason = "registering an implementation is not a use of its functions")]
                    let services = #private::std::vec![#(#each),*];
                    let _ = #shared;
                    services
                }
            }
        }
    }

    fn constructor(&self, function: &Function) -> TokenStream {
        let private = &self.private;
        let Function { attrs, ident, .. } = function;
        let kinds: Vec<_> = function.args.iter().map(|arg| &arg.kind).collect();
        let result = function.result();
        let definition = self.definition(function);

        let (mut decoded, mut given, mut outs) = (Vec::new(), Vec::new(), Vec::new());
        for (i, Arg { kind, .. }) in function.args.iter().enumerate() {
            let value = local(i);
            match kind {
                Kind::Fixed(ty) => {
                    decoded.push(quote!(let #value = call.fixed::<#ty>()?;));
                    given.push(quote!(#value));
                }
                Kind::Str => {
                    decoded.push(quote!(let #value = call.str()?;));
                    given.push(quote!(#value));
                }
                Kind::Slice(elem) => {
                    decoded.push(quote!(let #value = call.slice::<#elem>()?;));
                    given.push(quote!(&#value));
                }
                Kind::SliceMut(elem) => {
                    decoded.push(quote!(let mut #value = call.out::<#elem>()?;));
                    given.push(quote!(&mut #value));
                    let codec = self.codec();
                    outs.push(quote!(#codec::bytes::<#elem>(&#value)));
                }
            }
        }
        let plain = quote! {
            #(#attrs)*
            pub fn #ident<__F, __O>(f: __F) -> #private::Service
            where
                __F: ::core::ops::Fn(#(#kinds),*) -> __O + ::core::marker::Send + ::core::marker::Sync + 'static,
                __O: #private::IntoReply<#result>,
            {
                #private::Service::new(#definition, move |call: &mut #private::Invocation<'_>| {
                    #(#decoded)*
                    let reply: #result = #private::IntoReply::<#result>::into_reply(f(#(#given),*))?;
                    call.reply::<#result>(&reply, &[#(#outs),*]);
                    ::core::result::Result::Ok(())
                })
            }
        };
        let later = outs.is_empty().then(|| {
            let owned = self.owned(function);
            let (deferred, asynchronous) = (self.deferred(function, &definition, &owned), self.asynchronous(function, &definition, &owned));
            quote!(#deferred #asynchronous)
        });
        quote!(#plain #later)
    }

    /// The arguments of a handler that runs on when the call's copy of them is gone.
    fn owned(&self, function: &Function) -> Owned {
        let private = &self.private;
        let (mut owned, mut decoded, mut given) = (Vec::new(), Vec::new(), Vec::new());
        for (i, Arg { kind, .. }) in function.args.iter().enumerate() {
            let value = local(i);
            let (ty, decode) = match kind {
                Kind::Fixed(ty) => (quote!(#ty), quote!(call.fixed::<#ty>()?)),
                Kind::Str => (quote!(#private::std::string::String), quote!(#private::std::string::String::from(call.str()?))),
                Kind::Slice(elem) | Kind::SliceMut(elem) => {
                    (quote!(#private::std::vec::Vec<#elem>), quote!(call.slice::<#elem>()?.to_vec()))
                }
            };
            owned.push(ty);
            decoded.push(quote!(let #value = #decode;));
            given.push(value);
        }
        Owned { types: owned, decoded, given }
    }

    /// The constructor for a closure that answers through a token, whenever it likes.
    fn deferred(&self, function: &Function, definition: &TokenStream, Owned { types, decoded, given }: &Owned) -> TokenStream {
        let private = &self.private;
        let Function { attrs, ident, .. } = function;
        let name = format_ident!("{}_deferred", ident.unraw(), span = ident.span());
        let result = function.result();
        let about = format!(
            "As [`{0}`](fn@{0}), with a token through which the call is answered later, from any thread. Strings and slices come owned.",
            ident.unraw()
        );
        quote! {
            #(#attrs)*
            #[doc = ""]
            #[doc = #about]
            pub fn #name<__F>(f: __F) -> #private::Service
            where
                __F: ::core::ops::Fn(#(#types,)* #private::Deferred<#result>) + ::core::marker::Send + ::core::marker::Sync + 'static,
            {
                #private::Service::deferred(#definition, move |call: &mut #private::Invocation<'_>, done: #private::Completion| {
                    let decoded = (|| -> ::core::result::Result<_, #private::Failure> {
                        #(#decoded)*
                        ::core::result::Result::Ok((#(#given,)*))
                    })();
                    match decoded {
                        ::core::result::Result::Ok((#(#given,)*)) => f(#(#given,)* #private::Deferred::new(done)),
                        ::core::result::Result::Err(failure) => done.fail(failure),
                    }
                })
            }
        }
    }

    /// The constructor for a closure that returns a future.
    fn asynchronous(&self, function: &Function, definition: &TokenStream, Owned { types, decoded, given }: &Owned) -> TokenStream {
        let private = &self.private;
        let Function { attrs, ident, .. } = function;
        let name = format_ident!("{}_async", ident.unraw(), span = ident.span());
        let result = function.result();
        quote! {
            #private::if_tokio! {
                #(#attrs)*
                pub fn #name<__F, __Fut, __O>(f: __F) -> #private::Service
                where
                    __F: ::core::ops::Fn(#(#types),*) -> __Fut + ::core::marker::Send + ::core::marker::Sync + 'static,
                    __Fut: ::core::future::Future<Output = __O> + ::core::marker::Send + 'static,
                    __O: #private::IntoReply<#result>,
                {
                    #private::Service::new_async(#definition, move |call: &mut #private::Invocation<'_>| {
                        #(#decoded)*
                        let future = f(#(#given),*);
                        ::core::result::Result::Ok(async move { #private::IntoReply::<#result>::into_reply(future.await) })
                    })
                }
            }
        }
    }

    fn definition(&self, function: &Function) -> TokenStream {
        let private = &self.private;
        let codec = self.codec();
        let name = &function.name;
        let signature = function.signature(&codec);
        let text = tidy(&function.types());
        let takes_var = function.takes_var();
        let head = takes_var.then(|| quote!(#codec::VarHead::DWORDS +));
        let units = function.args.iter().map(|arg| match &arg.kind {
            Kind::Fixed(ty) => quote!(<#ty as #codec::Fixed>::DWORDS +),
            Kind::Str | Kind::Slice(_) | Kind::SliceMut(_) => quote!(1 +),
        });
        let units = quote!(#head #(#units)* 0);
        let reply_dwords = match &function.output {
            Output::Posted => quote!(::core::option::Option::None),
            Output::Reply(ty) => quote!(::core::option::Option::Some(<#ty as #codec::Fixed>::DWORDS)),
        };
        quote! {
            #private::Definition {
                name: #private::std::borrow::Cow::Borrowed(#name),
                signature: const { #signature },
                text: #private::std::borrow::Cow::Borrowed(#text),
                takes_var: #takes_var,
                units: #units,
                reply_dwords: #reply_dwords,
            }
        }
    }
}

/// Owned arguments: their types, the code that decodes them, the names that they then have.
struct Owned {
    types: Vec<TokenStream>,
    decoded: Vec<TokenStream>,
    given: Vec<Ident>,
}

fn output(function: &Function) -> TokenStream {
    match &function.output {
        Output::Posted => quote!(),
        Output::Reply(ty) => quote!(-> #ty),
    }
}
