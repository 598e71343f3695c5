//! The host's half: the trait to implement, and the module of constructors.

use hostcall_idl::tidy;
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::ext::IdentExt;

use super::{Arg, Function, Kind, Output, Service, Written};
use crate::common::local;

impl Service {
    pub(super) fn host(&self) -> TokenStream {
        let hostcall_idl::Service { attrs, vis, ident, functions } = &self.definition;
        let private = &self.private;
        let module = self.definition.module().expect("checked when the service was parsed");
        let methods = functions.iter().map(|function| {
            let Function { attrs, ident, .. } = function;
            let declared = function.declared();
            let output = output(function);
            quote! {
                #(#attrs)*
                #[allow(clippy::too_many_arguments, reason = "as many as the service was defined with")]
                fn #ident(&self, #(#declared),*) #output;
            }
        });
        let constructors = functions.iter().map(|function| self.constructor(function));
        let definitions = functions.iter().map(|function| self.definition(function));
        let sized = functions.iter().map(|function| self.sized(function));
        let shared = local("implementation");
        let each = functions.iter().map(|function| {
            let name = &function.ident;
            let declared = function.declared();
            let names = function.names();
            quote! {{
                let #shared = #private::std::sync::Arc::clone(&#shared);
                #name(move |#(#declared),*| <__T as #ident>::#name(&*#shared, #(#names),*))
            }}
        });
        let (about_module, about_all, about_definitions) = (
            format!("Makes services of closures, one function for each of [`{}`]'s.", ident.unraw()),
            format!("Every function of an implementation of [`{}`].", ident.unraw()),
            format!("What each function of [`{}`](super::{ident}) is, for handlers that are made without its types.", ident.unraw()),
        );
        quote! {
            #(#attrs)*
            #vis trait #ident: ::core::marker::Send + ::core::marker::Sync + 'static {
                #(#methods)*
            }

            #(#sized)*

            #[doc = #about_module]
            #vis mod #module {
                #[allow(unused_imports, reason = "the types of the definition, if it names any")]
                use super::*;

                #[doc = #about_definitions]
                pub mod definition {
                    #[allow(unused_imports, reason = "the types of the definition, if it names any")]
                    use super::super::*;

                    #(#definitions)*
                }

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
        let plain = match function.tuple() {
            Some(tuple) => self.of_fixed(function, &tuple),
            None => self.of_call(function, &function.ident, false),
        };
        let has_out = function.args.iter().any(|arg| matches!(arg.kind, Kind::SliceMut(_)));
        let other = if has_out {
            let name = format_ident!("{}_out", function.ident.unraw(), span = function.ident.span());
            self.of_call(function, &name, true)
        } else {
            let owned = self.owned(function);
            let (deferred, asynchronous) = (self.deferred(function, &owned), self.asynchronous(function, &owned));
            quote!(#deferred #asynchronous)
        };
        quote!(#plain #other)
    }

    /// The constructors of a function whose arguments are all of fixed size: for a closure that takes one lane's, and
    /// for one that takes a message.
    fn of_fixed(&self, function: &Function, tuple: &TokenStream) -> TokenStream {
        let private = &self.private;
        let Function { attrs, ident, .. } = function;
        let batch = format_ident!("{}_batch", ident.unraw(), span = ident.span());
        let kinds = function.args.iter().map(|arg| &arg.kind);
        let result = function.result();
        let definition = self.defined(function);
        let values: Vec<_> = (0..function.args.len()).map(local).collect();
        let pattern = if values.is_empty() { quote!(()) } else { quote!((#(#values,)*)) };
        quote! {
            #(#attrs)*
            pub fn #ident<__F, __O>(f: __F) -> #private::Service
            where
                __F: ::core::ops::Fn(#(#kinds),*) -> __O + ::core::marker::Send + ::core::marker::Sync + 'static,
                __O: #private::IntoReply<#result>,
            {
                #private::typed::<#tuple, #result>(#definition, move |#pattern| #private::IntoReply::<#result>::into_reply(f(#(#values),*)))
            }

            #(#attrs)*
            pub fn #batch<__F>(f: __F) -> #private::Service
            where
                __F: ::core::ops::Fn(&mut #private::Calls<'_, '_, #tuple, #result>) + ::core::marker::Send + ::core::marker::Sync + 'static,
            {
                #private::batch::<#tuple, #result>(#definition, f)
            }
        }
    }

    /// The constructor `name` for a closure that takes one lane's arguments, decoded one after another; `&mut [T]` as
    /// writers, or as slices.
    fn of_call(&self, function: &Function, name: &Ident, writers: bool) -> TokenStream {
        let private = &self.private;
        let attrs = &function.attrs;
        let result = function.result();
        let definition = self.defined(function);
        let codec = self.codec();
        let (mut kinds, mut decoded, mut given, mut outs) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (i, Arg { kind, .. }) in function.args.iter().enumerate() {
            let value = local(i);
            let (taken, decode, give) = match kind {
                Kind::Fixed(ty) => (quote!(#kind), quote!(let #value = call.fixed::<#ty>()?;), quote!(#value)),
                Kind::Str => (quote!(#kind), quote!(let #value = call.str()?;), quote!(#value)),
                Kind::Slice(elem) => (quote!(#kind), quote!(let #value = call.slice::<#elem>()?;), quote!(&#value)),
                Kind::SliceMut(elem) if writers => {
                    outs.push(quote!(#value.finish()));
                    (quote!(&mut #private::Out<'_, #elem>), quote!(let mut #value = call.writer::<#elem>()?;), quote!(&mut #value))
                }
                Kind::SliceMut(elem) => {
                    outs.push(quote!(#codec::bytes::<#elem>(&#value)));
                    (quote!(#kind), quote!(let mut #value = call.out::<#elem>()?;), quote!(&mut #value))
                }
            };
            kinds.push(taken);
            decoded.push(decode);
            given.push(give);
        }
        let reply = if writers { quote!(reply_written) } else { quote!(reply) };
        quote! {
            #(#attrs)*
            pub fn #name<__F, __O>(f: __F) -> #private::Service
            where
                __F: ::core::ops::Fn(#(#kinds),*) -> __O + ::core::marker::Send + ::core::marker::Sync + 'static,
                __O: #private::IntoReply<#result>,
            {
                #private::Service::new(#definition, move |call: &mut #private::Invocation<'_>| {
                    #(#decoded)*
                    let reply: #result = #private::IntoReply::<#result>::into_reply(f(#(#given),*))?;
                    call.#reply::<#result>(&reply, &[#(#outs),*]);
                    ::core::result::Result::Ok(())
                })
            }
        }
    }

    /// The function's definition, as an expression in the host's module.
    fn defined(&self, function: &Function) -> TokenStream {
        let ident = &function.ident;
        quote!(definition::#ident())
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
    fn deferred(&self, function: &Function, Owned { types, decoded, given }: &Owned) -> TokenStream {
        let private = &self.private;
        let definition = self.defined(function);
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
    fn asynchronous(&self, function: &Function, Owned { types, decoded, given }: &Owned) -> TokenStream {
        let private = &self.private;
        let definition = self.defined(function);
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

    /// The function that gives its definition.
    fn definition(&self, function: &Function) -> TokenStream {
        let private = &self.private;
        let codec = self.codec();
        let name = &function.name;
        let signature = function.signature(&codec);
        let text = tidy(&function.types());
        let takes_var = function.takes_var();
        let units = self.units(function);
        let reply_dwords = match &function.output {
            Output::Posted => quote!(::core::option::Option::None),
            Output::Reply(ty) => quote!(::core::option::Option::Some(<#ty as #codec::Fixed>::DWORDS)),
        };
        let ident = &function.ident;
        let about = format!("What [`{}`](super::{ident}) is.", ident.unraw());
        quote! {
            #[doc = #about]
            pub fn #ident() -> #private::Definition {
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
