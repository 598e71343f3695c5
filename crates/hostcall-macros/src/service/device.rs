//! The device's half: stubs that lay out their arguments at constant offsets.

use hostcall_idl::tidy;
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};
use syn::ext::IdentExt;

use super::{Function, Kind, Output, Service, Written};
use crate::common::local;

/// Who calls.
#[derive(Clone, Copy)]
enum Form<'a> {
    /// Each lane, with its own arguments.
    Each,
    /// The first lane, for all.
    Together,
    /// Each lane, of the service that this parameter says.
    Given(&'a Ident),
}

impl Form<'_> {
    /// How the names of the functions that make such a call end.
    fn suffix(self) -> &'static str {
        match self {
            Self::Each | Self::Given(_) => "",
            Self::Together => "_together",
        }
    }
}

impl Service {
    pub(super) fn device(&self) -> TokenStream {
        let hostcall_idl::Service { attrs, vis, ident, .. } = &self.definition;
        let stubs = self.definition.functions.iter().map(|function| self.stub(function));
        let statics = self.definition.functions.iter().map(|function| self.statics(function));
        quote! {
            #(#attrs)*
            #[derive(Clone, Copy, Debug)]
            #vis struct #ident;

            #(#statics)*

            impl #ident {
                #(#stubs)*
            }
        }
    }

    /// The words that the host reads and patches when it attaches the program.
    fn statics(&self, function: &Function) -> TokenStream {
        let private = &self.private;
        let word = word(function);
        let signature_word = format_ident!("__HOSTCALL_SIGNATURE__{}", function.name);
        let signature = function.signature(&self.codec());
        let text = if self.both_sides { tidy(&function.types()) } else { String::new() };
        let room = Literal::usize_unsuffixed(text.len().next_multiple_of(8));
        let sized = self.sized(function);
        quote! {
            #sized

            #[doc(hidden)]
            #[cfg_attr(not(target_arch = "amdgpu"), used)]
            #[unsafe(no_mangle)]
            #[allow(non_upper_case_globals, reason = "the host finds the word under the service's name")]
            static #word: #private::ServiceWord = #private::ServiceWord::new();

            #[doc(hidden)]
            #[cfg_attr(not(target_arch = "amdgpu"), used)]
            #[unsafe(no_mangle)]
            #[allow(non_upper_case_globals, reason = "the host finds the word under the service's name")]
            static #signature_word: #private::abi::descriptor::SignatureWord<#room> =
                #private::abi::descriptor::SignatureWord::new(#signature, #text);
        }
    }

    /// The functions for kernels: the call itself, once for each lane or once for a wave, and for arguments of fixed
    /// size the calls over a held port and those that are started.
    fn stub(&self, function: &Function) -> TokenStream {
        let Function { attrs, ident, .. } = function;
        let declared: Vec<_> = function.declared().collect();
        let (returned, errors) = self.returned(function);
        let gap = (!attrs.is_empty()).then(|| quote!(#[doc = ""]));
        let (filled, call) = self.call(function, Form::Each);
        let finish = self.finish(function, call);
        let together = self.together(function);
        let given = self.given(function);
        let rest = (!function.takes_var()).then(|| self.on_port_and_started(function));
        quote! {
            #(#attrs)*
            #gap
            #[doc = #errors]
            #[inline(always)]
            #[allow(clippy::too_many_arguments, reason = "as many as the service was defined with")]
            pub fn #ident(#(#declared),*) -> #returned {
                #filled
                #finish
            }
            #together
            #given
            #rest
        }
    }

    /// The function that calls a service which the kernel was given.
    fn given(&self, function: &Function) -> TokenStream {
        let (private, ident, callee) = (&self.private, function.ident.unraw(), local("callee"));
        let about = format!("As [`{ident}`](Self::{ident}), of the service that the host passed to the kernel: `ServiceHandle::callee`.");
        self.variant(function, Form::Given(&callee), &format_ident!("{ident}_by"), &about, Some(quote!(#callee: #private::abi::Callee,)))
    }

    /// The function that makes one call for a wave.
    fn together(&self, function: &Function) -> TokenStream {
        let ident = function.ident.unraw();
        let outs = function.args.iter().any(|arg| matches!(arg.kind, Kind::SliceMut(_)));
        let about = match (&function.output, outs) {
            (Output::Posted, _) => {
                format!("As [`{ident}`](Self::{ident}), once for all lanes that run converged here: with the first one's arguments.")
            }
            (_, false) => format!(
                "As [`{ident}`](Self::{ident}), once for all lanes that run converged here: with the first one's arguments, and each gets the result."
            ),
            (_, true) => format!(
                "As [`{ident}`](Self::{ident}), once for all lanes that run converged here: with the first one's arguments, whose slices are filled, and each gets the result."
            ),
        };
        self.variant(function, Form::Together, &format_ident!("{ident}_together"), &about, None)
    }

    /// Another function for the same call, with a parameter before the others if it needs one.
    fn variant(&self, function: &Function, form: Form<'_>, name: &Ident, about: &str, first: Option<TokenStream>) -> TokenStream {
        let declared = function.declared();
        let (returned, errors) = self.returned(function);
        let (filled, call) = self.call(function, form);
        let finish = self.finish(function, call);
        let deprecated = function.attrs.iter().filter(|attr| attr.path().is_ident("deprecated"));
        quote! {
            #[doc = #about]
            #[doc = ""]
            #[doc = #errors]
            #(#deprecated)*
            #[inline(always)]
            #[track_caller]
            #[allow(clippy::too_many_arguments, reason = "as many as the service was defined with")]
            pub fn #name(#first #(#declared),*) -> #returned {
                #filled
                #finish
            }
        }
    }

    fn on_port_and_started(&self, function: &Function) -> TokenStream {
        let private = &self.private;
        let ident = &function.ident;
        let declared: Vec<_> = function.declared().collect();
        let result = function.result();
        let (returned, errors) = self.returned(function);
        let on_port = [Form::Each, Form::Together].map(|form| {
            let suffix = form.suffix();
            let port = local("port");
            let (filled, call) = self.call_fixed(function, form, Some(&port));
            let finish = self.finish(function, call);
            let (like, on) = (format!("{}{suffix}", ident.unraw()), format_ident!("{}{suffix}_on", ident.unraw()));
            let about_on = format!("As [`{like}`](Self::{like}), over a port that the wave holds.");
            let deprecated = function.attrs.iter().filter(|attr| attr.path().is_ident("deprecated"));
            quote! {
                #[doc = #about_on]
                #[doc = ""]
                #[doc = #errors]
                #(#deprecated)*
                #[inline(always)]
                #[allow(clippy::too_many_arguments, reason = "as many as the service was defined with")]
                pub fn #on(#port: &mut #private::Port, #(#declared),*) -> #returned {
                    #filled
                    #finish
                }
            }
        });
        let on_port = quote!(#(#on_port)*);
        let Output::Reply(_) = function.output else { return on_port };

        let start = format_ident!("start_{}", ident.unraw());
        let about_start = format!("Starts [`{0}`](Self::{0}), to wait for its result later.", ident.unraw());
        let deprecated = function.attrs.iter().filter(|attr| attr.path().is_ident("deprecated"));
        let (word, units, reply_words) = (word(function), units_const(), self.reply_words(function));
        let filled = self.fill(function, &quote!(0), false);
        quote! {
            #on_port

            #[doc = #about_start]
            ///
            /// # Errors
            /// Why the call could not be sent.
            #(#deprecated)*
            #[inline(always)]
            #[allow(clippy::too_many_arguments, reason = "as many as the service was defined with")]
            pub fn #start(#(#declared),*) -> ::core::result::Result<impl #private::Pending<#result>, #private::abi::CallError> {
                #filled
                #private::start_fixed::<#result, #units, { #reply_words }>(&#word, &__hostcall_units)
            }
        }
    }

    /// What a stub returns, and what its documentation says of failures.
    fn returned(&self, function: &Function) -> (TokenStream, &'static str) {
        let private = &self.private;
        let result = function.result();
        if self.panics {
            (result, "# Panics\nWhen the call fails, with the reason.")
        } else {
            (quote!(::core::result::Result<#result, #private::abi::CallError>), "# Errors\nWhy the call has no result.")
        }
    }

    /// The end of a stub that makes `call`.
    fn finish(&self, function: &Function, call: TokenStream) -> TokenStream {
        if !self.panics {
            return call;
        }
        let private = &self.private;
        let spoken = function.spoken();
        quote! {
            match #call {
                ::core::result::Result::Ok(value) => value,
                ::core::result::Result::Err(error) => {
                    #private::call_failed(error, &const { #private::abi::failure::FailureSite::new(#spoken, ::core::panic::Location::caller()) })
                }
            }
        }
    }

    /// Code that fills the units, and the call.
    fn call(&self, function: &Function, form: Form<'_>) -> (TokenStream, TokenStream) {
        if function.takes_var() { self.call_var(function, form) } else { self.call_fixed(function, form, None) }
    }

    /// Code that fills the units, and the call (over `port`, if the wave holds one), for a function of fixed-size
    /// arguments.
    fn call_fixed(&self, function: &Function, form: Form<'_>, port: Option<&Ident>) -> (TokenStream, TokenStream) {
        let private = &self.private;
        let service = self.called(function, form);
        let filled = self.fill(function, &quote!(0), false);
        let units = units_const();
        let suffix = format!("{}{}", form.suffix(), if port.is_some() { "_on" } else { "" });
        let port = port.map(|port| quote!(#port,));
        let call = match &function.output {
            Output::Posted => {
                let post = format_ident!("post_fixed{suffix}");
                quote!(#private::#post::<#units>(#port #service, &__hostcall_units))
            }
            Output::Reply(ty) => {
                let call = format_ident!("call_fixed{suffix}");
                let reply_words = self.reply_words(function);
                quote!(#private::#call::<#ty, #units, { #reply_words }>(#port #service, &__hostcall_units))
            }
        };
        (filled, call)
    }

    /// The same for a function that takes strings or slices.
    fn call_var(&self, function: &Function, form: Form<'_>) -> (TokenStream, TokenStream) {
        let private = &self.private;
        let codec = self.codec();
        let service = self.called(function, form);
        let filled = self.fill(function, &quote!(#codec::VarHead::DWORDS), true);
        let mut ins = Vec::new();
        let mut outs = Vec::new();
        for arg in &function.args {
            let ident = &arg.ident;
            match arg.kind {
                Kind::Fixed(_) => {}
                Kind::Str => ins.push(quote!(::core::primitive::str::as_bytes(#ident))),
                Kind::Slice(_) => ins.push(quote!(#codec::bytes(#ident))),
                Kind::SliceMut(_) => outs.push(quote!(#codec::bytes_mut(#ident))),
            }
        }
        let units = units_const();
        let call = match &function.output {
            Output::Posted => {
                let post = format_ident!("post_var{}", form.suffix());
                quote!(#private::#post::<#units>(#service, &mut __hostcall_units, &[#(#ins),*]))
            }
            Output::Reply(ty) => {
                let call = format_ident!("call_var{}", form.suffix());
                let returned = Literal::usize_unsuffixed(outs.len());
                quote! {
                    #private::#call::<#ty, #units>(
                        #service,
                        &mut __hostcall_units,
                        &[#(#ins),*],
                        &mut [#(#outs),*],
                        &mut [0u32; #returned],
                    )
                }
            }
        };
        (filled, call)
    }

    /// The service that is called.
    fn called(&self, function: &Function, form: Form<'_>) -> TokenStream {
        let (private, word) = (&self.private, word(function));
        let Form::Given(callee) = form else { return quote!(&#word) };
        let signature = function.signature(&self.codec());
        quote!(#private::Given::new(&#word, const { #signature }, #callee))
    }

    /// Declares the units, of which `head` come first, and puts each argument at its constant offset.
    fn fill(&self, function: &Function, head: &TokenStream, mutable: bool) -> TokenStream {
        let codec = self.codec();
        let mut offsets = Vec::new();
        let mut puts = Vec::new();
        let mut at = head.clone();
        for (i, arg) in function.args.iter().enumerate() {
            let ident = &arg.ident;
            let end = offset(i);
            match &arg.kind {
                Kind::Fixed(ty) => {
                    offsets.push(quote!(const #end: usize = #at + <#ty as #codec::Fixed>::DWORDS;));
                    puts.push(quote!(<#ty as #codec::Fixed>::put(&#ident, &mut __hostcall_units[#at..#end]);));
                }
                Kind::Str | Kind::Slice(_) | Kind::SliceMut(_) => {
                    offsets.push(quote!(const #end: usize = #at + 1;));
                    puts.push(quote!(__hostcall_units[#at] = ::core::mem::size_of_val(#ident) as u32;));
                }
            }
            at = quote!(#end);
        }
        let declare = if mutable || !puts.is_empty() { quote!(let mut) } else { quote!(let) };
        let units = units_const();
        quote! {
            #(#offsets)*
            const #units: usize = #at;
            #declare __hostcall_units = [0u32; #units];
            #(#puts)*
        }
    }

    /// Words of one lane's reply, as a constant expression.
    fn reply_words(&self, function: &Function) -> TokenStream {
        let private = &self.private;
        let codec = self.codec();
        let result = function.result();
        quote!(#private::abi::ReplyHead::words(<#result as #codec::Fixed>::DWORDS as u32) as usize)
    }
}

fn word(function: &Function) -> Ident {
    format_ident!("__HOSTCALL__{}", function.name)
}

/// The constant that holds where argument `i` ends.
fn offset(i: usize) -> Ident {
    format_ident!("__HOSTCALL_END_{i}")
}

fn units_const() -> Ident {
    format_ident!("__HOSTCALL_UNITS")
}
