//! Every behaviour that hostcall promises. The device is chosen by `HOSTCALL_TEST_DEVICE`, see `hostcall_tests`.

mod files;
mod granularity;
mod julia;
mod library;
mod lifecycle;
mod modes;
mod print;
mod stream_files;
mod stream_handlers;
mod streams;
mod together;
mod transport;
mod typed;
