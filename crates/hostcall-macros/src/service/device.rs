//! The device's half: stubs that lay out their arguments at constant offsets.

use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};
use syn::ext::IdentExt;

use super::{Function, Kind, Output, Service};

impl Service {
    pub(super) fn device(&self) -> TokenStream {
        let Self { attrs, vis, ident, .. } = self;
        let stubs = self.functions.iter().map(|function| self.stub(function));
        let statics = self.functions.iter().map(|function| self.statics(function));
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
        quote! {
            #[doc(hidden)]
            #[used]
            #[unsafe(no_mangle)]
            #[allow(non_upper_case_globals, reason = "the host finds the word under the service's name")]
            static #word: #private::ServiceWord = #private::ServiceWord::new();

            #[doc(hidden)]
            #[used]
            #[unsafe(no_mangle)]
            #[allow(non_upper_case_globals, reason = "the host finds the word under the service's name")]
            static #signature_word: u64 = #signature;
        }
    }

    fn stub(&self, function: &Function) -> TokenStream {
        let private = &self.private;
        let error = quote!(#private::abi::CallError);
        let Function { attrs, ident, output, .. } = function;
        let declared: Vec<_> = function.declared().collect();
        let result = function.result();
        let (filled, call) = if function.takes_var() { self.call_var(function) } else { self.call_fixed(function) };

        let (returned, finish, errors) = if self.panics {
            let text = format!("{}: {{}}", function.spoken());
            let finish = quote! {
                match #call {
                    ::core::result::Result::Ok(value) => value,
                    ::core::result::Result::Err(error) => ::core::panic!(#text, error),
                }
            };
            (result.clone(), finish, "# Panics\nWhen the call fails, with the reason.")
        } else {
            (quote!(::core::result::Result<#result, #error>), call, "# Errors\nWhy the call has no result.")
        };
        let gap = (!attrs.is_empty()).then(|| quote!(#[doc = ""]));
        let blocking = quote! {
            #(#attrs)*
            #gap
            #[doc = #errors]
            #[inline(always)]
            #[allow(clippy::too_many_arguments, reason = "as many as the service was defined with")]
            pub fn #ident(#(#declared),*) -> #returned {
                #filled
                #finish
            }
        };
        let (Output::Reply(_), false) = (output, function.takes_var()) else { return blocking };

        let start = format_ident!("start_{}", ident.unraw());
        let word = word(function);
        let (units, reply_words) = (units_const(), self.reply_words(function));
        let summary = format!("Starts [`{}`](Self::{}), to wait for its result later.", function.spoken(), ident.unraw());
        quote! {
            #blocking

            #[doc = #summary]
            ///
            /// # Errors
            /// Why the call could not be sent.
            #[inline(always)]
            #[allow(clippy::too_many_arguments, reason = "as many as the service was defined with")]
            pub fn #start(#(#declared),*) -> ::core::result::Result<#private::Pending<#result, { #reply_words }>, #error> {
                #filled
                #private::start_fixed::<#result, #units, { #reply_words }>(&#word, &__hostcall_units)
            }
        }
    }

    /// Code that fills the units, and the call, for a function of fixed-size arguments.
    fn call_fixed(&self, function: &Function) -> (TokenStream, TokenStream) {
        let private = &self.private;
        let word = word(function);
        let filled = self.fill(function, &quote!(0), false);
        let units = units_const();
        let call = match &function.output {
            Output::Posted => quote!(#private::post_fixed::<#units>(&#word, &__hostcall_units)),
            Output::Reply(ty) => {
                let reply_words = self.reply_words(function);
                quote!(#private::call_fixed::<#ty, #units, { #reply_words }>(&#word, &__hostcall_units))
            }
        };
        (filled, call)
    }

    /// The same for a function that takes strings or slices.
    fn call_var(&self, function: &Function) -> (TokenStream, TokenStream) {
        let private = &self.private;
        let codec = self.codec();
        let word = word(function);
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
            Output::Posted => quote!(#private::post_var::<#units>(&#word, &mut __hostcall_units, &[#(#ins),*])),
            Output::Reply(ty) => {
                let returned = Literal::usize_unsuffixed(outs.len());
                quote! {
                    #private::call_var::<#ty, #units>(
                        &#word,
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

fn word(function: &Function) -> proc_macro2::Ident {
    format_ident!("__HOSTCALL__{}", function.name)
}

/// The constant that holds where argument `i` ends.
fn offset(i: usize) -> proc_macro2::Ident {
    format_ident!("__HOSTCALL_END_{i}")
}

fn units_const() -> proc_macro2::Ident {
    format_ident!("__HOSTCALL_UNITS")
}
