//! Every behaviour that hostcall promises. The device is chosen by `HOSTCALL_TEST_DEVICE`, see `hostcall_tests`.

mod library;
mod typed;
