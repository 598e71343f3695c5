//! Every behaviour that hostcall promises. The device is chosen by `HOSTCALL_TEST_DEVICE`, see `hostcall_tests`.

mod files;
mod fleet;
mod granularity;
mod julia;
mod library;
mod lifecycle;
mod listening;
mod modes;
mod print;
mod stream_bytes;
mod stream_dispatch;
mod stream_files;
mod stream_gates;
mod stream_handlers;
mod stream_latest;
#[cfg(feature = "sinks")]
mod stream_sinks;
mod stream_sites;
mod streams;
mod together;
mod transport;
mod typed;
