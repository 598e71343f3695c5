//! The table of built-in services: what the device library's `print`, `fs`, `time`, ... call.
//!
//! One table; the device stubs, the host's registration and the documentation come from it. Built-in
//! services are ordinary services: named, numbered when a program is attached, and a host that grants
//! nothing does not register them.

/// Expands to the traits of the built-in services under the attribute given, which is
/// `hostcall_macros::service` with the side that is wanted:
/// `hostcall_abi::builtin_services!(hostcall_macros::service(side = "device", krate = crate));`
#[macro_export]
macro_rules! builtin_services {
    ($service:meta) => {
        /// Standard output and standard error.
        #[$service]
        pub trait Console {
            /// Writes the lane's text, whole, to standard output (`stream` 1) or standard error (2).
            fn print(stream: u32, text: &[u8]);
        }
    };
}
