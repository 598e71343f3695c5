//! Snapshots of the expansions, which are plain functions over tokens here. `INSTA_UPDATE=always` renews them.

use proc_macro2::TokenStream;
use quote::quote;

use crate::{kernel, plain, service};

fn pretty(tokens: syn::Result<TokenStream>) -> String {
    let tokens = tokens.expect("the definition is good");
    prettyplease::unparse(&syn::parse2(tokens).expect("the expansion is Rust"))
}

fn definition() -> TokenStream {
    quote! {
        /// The services.
        pub trait FileHost {
            /// Adds 42.
            fn add42(x: f32) -> f32;
            #[deprecated]
            fn log(message: &str);
            fn tick(count: u32);
            fn fill(block: u32, words: &[u64], out: &mut [u8]) -> Result<u32, Refused>;
        }
    }
}

#[test]
fn the_devices_half_of_a_service() {
    insta::assert_snapshot!(pretty(service::expand(quote!(side = "device"), definition())));
}

#[test]
fn the_hosts_half_of_a_service() {
    insta::assert_snapshot!(pretty(service::expand(quote!(side = "host", krate = crate), definition())));
}

#[test]
fn stubs_that_panic() {
    let one = quote! { pub trait Host { fn add42(x: f32) -> f32; } };
    insta::assert_snapshot!(pretty(service::expand(quote!(side = "device", on_error = "panic"), one)));
}

#[test]
fn both_halves_are_left_to_the_crate_hostcall() {
    insta::assert_snapshot!(pretty(service::expand(quote!(), quote! { pub(crate) trait Empty {} })));
}

#[test]
fn a_kernel_with_every_kind_of_parameter() {
    let function = quote! {
        /// Demonstrates.
        pub fn demo(n: u32, mut y: &mut [f32], x: &[f32], raw: *mut u64) -> Result<(), CallError> {
            Ok(())
        }
    };
    insta::assert_snapshot!(pretty(kernel::expand(quote!(), function)));
}

#[test]
fn a_plain_struct() {
    let item = quote! {
        #[derive(Plain)]
        #[repr(C, align(8))]
        pub struct Pair { pub a: u32, pub b: [u16; 2] }
    };
    insta::assert_snapshot!(pretty(plain::expand(item)));
}

#[test]
fn a_module_is_named_like_its_trait_in_snake_case() {
    for (name, module) in
        [("Host", "mod host"), ("FileSystem", "mod file_system"), ("HTTPServer2", "mod http_server2"), ("Type", "mod r#type")]
    {
        let name = syn::Ident::new(name, proc_macro2::Span::call_site());
        let text = pretty(service::expand(quote!(side = "host"), quote! { pub trait #name {} }));
        assert!(text.contains(module), "{module} in {text}");
    }
}
