//! What the kernel of `examples/add42/kernel` asks its host.
#![no_std]

/// Answered on the host, called on the device.
#[hostcall::service]
pub trait Host {
    /// `x + 42`.
    fn add42(x: f32) -> f32;
    /// Something to write down. Nobody waits for it.
    fn log(message: &str);
}
