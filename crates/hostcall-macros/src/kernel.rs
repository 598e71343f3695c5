//! `#[kernel]`: the function as written, an entry point for the machine, and the table of its parameters.

use hostcall_idl::attribute::Args;
use hostcall_idl::wire::{bare, is_unit};
use hostcall_idl::{Errors, normalised};
use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Error, FnArg, ItemFn, Result, ReturnType, Safety, Type, Visibility};

use crate::common::local;

/// `hostcall_abi::descriptor::KernelParams::MAX`.
const MAX_PARAMS: usize = 31;

enum Param<'a> {
    Plain(&'a Type),
    Pointer(&'a Type),
    Slice(&'a Type),
    SliceMut(&'a Type),
}

impl Param<'_> {
    /// Parameters that the launch passes for it.
    fn count(&self) -> usize {
        match self {
            Self::Plain(_) | Self::Pointer(_) => 1,
            Self::Slice(_) | Self::SliceMut(_) => 2,
        }
    }
}

/// Why there is no kernel on the host. The error stands for the whole function: what its body calls is not there
/// either.
pub(crate) fn on_host(item: &TokenStream) -> syn::Error {
    let name = syn::parse2::<syn::ItemFn>(item.clone()).map(|function| function.sig.ident);
    let span = name.as_ref().map_or_else(|_| proc_macro2::Span::call_site(), syn::Ident::span);
    syn::Error::new(
        span,
        "a kernel is code of the device, and this half of the package is compiled for the host: put `#[cfg(hostcall_device)]` before the function, \
         or before the module that it is in",
    )
}

pub(crate) fn expand(args: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let args = Args::parse(args, &["krate", "max_registers"])?;
    let function: ItemFn =
        syn::parse2(item).map_err(|error| Error::new(error.span(), format!("`#[kernel]` goes on a function: {error}")))?;
    let params = check(&function)?;
    let krate = &args.krate;
    let private = quote!(#krate::__private);
    let name = &function.sig.ident;
    let symbol = {
        use syn::ext::IdentExt;
        name.unraw().to_string()
    };

    // Per parameter: how the machine passes it, its sizes, how the body gets it, what must hold.
    let mut declared = Vec::new();
    let mut sizes = Vec::new();
    let mut passed = Vec::new();
    let mut bounds = Vec::new();
    let mut reads = Vec::new();
    let mut read = |variable: &syn::Ident, ty: TokenStream| {
        reads.push(quote! {
            let __hostcall_at = #private::abi::descriptor::KernelParams::place(__hostcall_end, ::core::mem::size_of::<#ty>());
            __hostcall_end = __hostcall_at + ::core::mem::size_of::<#ty>();
            // SAFETY: the simulator passes a block laid out by `KernelParams::place` from the sizes in this kernel's
            // table, whose entry for this parameter is this type's size.
            let #variable: #ty = unsafe { ::core::ptr::read_unaligned(__hostcall_params.add(__hostcall_at).cast()) };
        });
    };
    for (i, param) in params.iter().enumerate() {
        let value = local(i);
        let len = local(format_args!("{i}_len"));
        match param {
            Param::Plain(ty) | Param::Pointer(ty) => {
                declared.push(quote!(#value: #ty));
                sizes.push(quote!(#private::abi::descriptor::KernelParams::value(::core::mem::size_of::<#ty>())));
                read(&value, quote!(#ty));
                passed.push(quote!(#value));
                if let Param::Plain(ty) = param {
                    bounds.push(quote_spanned!(ty.span()=> __hostcall_is_plain::<#ty>();));
                }
            }
            Param::Slice(elem) | Param::SliceMut(elem) => {
                let (pointer, from, empty) = match param {
                    Param::Slice(_) => (quote!(*const #elem), quote!(from_raw_parts), quote!(&[])),
                    _ => (quote!(*mut #elem), quote!(from_raw_parts_mut), quote!(&mut [])),
                };
                declared.push(quote!(#value: #pointer));
                declared.push(quote!(#len: usize));
                let written = normalised(elem.to_token_stream());
                sizes.push(quote! {
                    #private::abi::descriptor::KernelParams::slice(
                        #private::abi::descriptor::Element::new(::core::mem::size_of::<#elem>(), #written),
                    )
                });
                sizes.push(quote!(8u32));
                read(&value, pointer);
                read(&len, quote!(usize));
                passed.push(quote! {
                    if #len == 0 {
                        #empty
                    } else {
                        // SAFETY: whoever launches a kernel vouches that its arguments fit: device memory of so many
                        // elements, valid until the kernel has ended.
                        unsafe { ::core::slice::#from(#value, #len) }
                    }
                });
            }
        }
    }
    let limit = args.max_registers.map(|most| quote!(#private::max_registers::<#most>();));
    let failed = format!("kernel `{symbol}` failed");
    let body = match &function.sig.output {
        ReturnType::Type(_, ty) if !is_unit(ty) => quote_spanned! {ty.span()=>
            if let ::core::result::Result::<(), _>::Err(__hostcall_error) = #name(#(#passed),*) {
                #[allow(unused_imports, reason = "for errors that are no `CallError`")]
                use #private::Fails as _;
                #private::failed(__hostcall_error)
                    .end(&const { #private::abi::failure::FailureSite::new(#failed, ::core::panic::Location::caller()) });
            }
        },
        _ => quote!(#name(#(#passed),*);),
    };
    let table = syn::Ident::new(&format!("__HOSTCALL_KERNEL__{symbol}"), name.span());
    let sim = format!("__hostcall_sim_kernel_{symbol}");
    let sim_reads = if params.is_empty() {
        quote!(let _ = __hostcall_params;)
    } else {
        quote! {
            let mut __hostcall_end = 0usize;
            #(#reads)*
            let _ = __hostcall_end;
        }
    };
    Ok(quote! {
        #function

        const _: () = {
            const fn __hostcall_is_plain<T: #krate::Plain>() {}
            #(#bounds)*

            #[cfg_attr(not(target_arch = "amdgpu"), used)]
            #[unsafe(no_mangle)]
            #[allow(non_upper_case_globals, reason = "the host finds the table under the kernel's name")]
            static #table: #private::abi::descriptor::KernelParams = #private::abi::descriptor::KernelParams::new(&[#(#sizes),*]);

            #[cfg(any(target_arch = "nvptx64", target_arch = "amdgpu"))]
            #[unsafe(export_name = #symbol)]
            #[allow(improper_ctypes_definitions, improper_gpu_kernel_arg, reason = "plain types have a fixed layout")]
            unsafe extern "gpu-kernel" fn __hostcall_entry(#(#declared),*) {
                #limit
                #private::kernel_enter();
                #body
                #private::kernel_leave();
            }

            #[cfg(not(any(target_arch = "nvptx64", target_arch = "amdgpu")))]
            #[unsafe(export_name = #sim)]
            unsafe extern "C" fn __hostcall_entry(__hostcall_params: *const u8) {
                #sim_reads
                #private::kernel_enter();
                #body
                #private::kernel_leave();
            }
        };
    })
}

fn check(function: &ItemFn) -> Result<Vec<Param<'_>>> {
    let mut errors = Errors::default();
    let sig = &function.sig;
    if !matches!(function.vis, Visibility::Public(_)) {
        errors.add(&sig.ident, "a kernel is an entry point for the host: make it `pub`");
    }
    errors.forbid(sig.constness, "a kernel cannot be `const`");
    errors.forbid(sig.asyncness, "a kernel cannot be `async`: use `start_…` and `Pending` to have several calls in flight");
    errors.forbid(sig.abi.as_ref(), "leave the ABI out: `#[kernel]` chooses it for the machine");
    if !matches!(sig.safety, Safety::Default) {
        errors.add(&sig.safety, "a kernel is not `unsafe`: launching it is; put `unsafe` blocks into its body");
    }
    if !sig.generics.params.is_empty() {
        errors.add(&sig.generics, "a kernel cannot be generic: the host launches it by name");
    }
    errors.forbid(sig.generics.where_clause.as_ref(), "a kernel cannot be generic: the host launches it by name");
    errors.forbid(sig.variadic.as_ref(), "a kernel has a fixed number of parameters");
    if let ReturnType::Type(_, ty) = &sig.output
        && !is_unit(ty)
        && !matches!(bare(ty), Type::Path(_))
    {
        errors.add(ty, "a kernel returns nothing or a `Result<(), E>`; write its results into a `&mut [T]` parameter");
    }

    let mut params = Vec::new();
    let mut count = 0;
    for input in &sig.inputs {
        let arg = match input {
            FnArg::Typed(arg) => arg,
            FnArg::Receiver(receiver) => {
                errors.add(receiver, "a kernel is a free function: it has no `self`");
                continue;
            }
        };
        let Some(param) = param(&arg.ty, &mut errors) else { continue };
        count += param.count();
        if count > MAX_PARAMS {
            errors.add(
                arg,
                format!("a kernel takes at most {MAX_PARAMS} parameters, of which a slice takes two: pass a `#[derive(Plain)]` struct"),
            );
            break;
        }
        params.push(param);
    }
    errors.check()?;
    Ok(params)
}

fn param<'a>(ty: &'a Type, errors: &mut Errors) -> Option<Param<'a>> {
    match bare(ty) {
        Type::Reference(reference) => {
            if let Some(lifetime) = &reference.lifetime {
                errors.add(lifetime, "leave the lifetime out: the memory is there until the kernel has ended");
            }
            if let Type::Slice(slice) = bare(&reference.elem) {
                return Some(if reference.mutability.is_some() { Param::SliceMut(&slice.elem) } else { Param::Slice(&slice.elem) });
            }
            errors.add(ty, "a kernel's parameters are plain values, `&[T]`, `&mut [T]`, `*const T` and `*mut T`; for one value of device memory pass a slice of length 1");
        }
        Type::Ptr(_) => return Some(Param::Pointer(ty)),
        Type::Path(_) | Type::Array(_) => return Some(Param::Plain(ty)),
        _ => errors.add(ty, "a kernel's parameters are plain values, `&[T]`, `&mut [T]`, `*const T` and `*mut T`"),
    }
    None
}
