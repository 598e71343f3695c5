//! What went wrong: a number for the program, a text for people, which names the remedy.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};

use hostcall::{AttachError, BufferError, DefinitionError, Forked, GrantError, RegisterError, ServerError, WaitError};

macro_rules! statuses {
    ($($name:ident = $number:literal,)*) => {
        /// `hc_status`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(i32)]
        pub(crate) enum Status { $($name = $number,)* }

        impl Status {
            /// The name of a number: `HC_INVALID`.
            pub(crate) fn name(number: i32) -> &'static CStr {
                match number {
                    $($number => statuses!(@name $name),)*
                    _ => c"unknown status",
                }
            }
        }
    };
    (@name Ok) => { c"HC_OK" };
    (@name Invalid) => { c"HC_INVALID" };
    (@name Unavailable) => { c"HC_UNAVAILABLE" };
    (@name NoMemory) => { c"HC_NO_MEMORY" };
    (@name Taken) => { c"HC_TAKEN" };
    (@name Mismatch) => { c"HC_MISMATCH" };
    (@name NotFound) => { c"HC_NOT_FOUND" };
    (@name KernelFailed) => { c"HC_KERNEL_FAILED" };
    (@name DeviceLost) => { c"HC_DEVICE_LOST" };
    (@name Timeout) => { c"HC_TIMEOUT" };
    (@name TooSmall) => { c"HC_TOO_SMALL" };
    (@name Malformed) => { c"HC_MALFORMED" };
    (@name Unsupported) => { c"HC_UNSUPPORTED" };
    (@name Device) => { c"HC_DEVICE" };
    (@name System) => { c"HC_SYSTEM" };
    (@name Internal) => { c"HC_INTERNAL" };
    (@name Forked) => { c"HC_FORKED" };
}

statuses! {
    Ok = 0,
    Invalid = 1,
    Unavailable = 2,
    NoMemory = 3,
    Taken = 4,
    Mismatch = 5,
    NotFound = 6,
    KernelFailed = 7,
    DeviceLost = 8,
    Timeout = 9,
    TooSmall = 10,
    Malformed = 11,
    Unsupported = 12,
    Device = 13,
    System = 14,
    Internal = 15,
    Forked = 16,
}

/// Why a function failed.
#[derive(Debug)]
pub(crate) struct Error {
    pub(crate) status: Status,
    pub(crate) text: String,
}

impl Error {
    pub(crate) fn new(status: Status, text: impl Display) -> Self {
        Self { status, text: text.to_string() }
    }

    /// An argument is null, or cannot be.
    pub(crate) fn invalid(text: impl Display) -> Self {
        Self::new(Status::Invalid, text)
    }
}

impl From<Forked> for Error {
    fn from(error: Forked) -> Self {
        Self::new(Status::Forked, error)
    }
}

impl From<offload::Error> for Error {
    fn from(error: offload::Error) -> Self {
        use offload::Error as E;
        let status = match &error {
            E::Unavailable { .. } | E::NoDevice { .. } => Status::Unavailable,
            E::OutOfMemory { .. } | E::OutOfHostMemory { .. } => Status::NoMemory,
            E::NoKernel { .. } | E::NoGlobal { .. } | E::NoImage { .. } => Status::NotFound,
            E::Timeout { .. } => Status::Timeout,
            E::Fault(_) => Status::KernelFailed,
            E::DeviceLost { .. } => Status::DeviceLost,
            E::Reset { .. } | E::Capture(_) | E::Backend { .. } => Status::Device,
            E::Unsupported { .. } => Status::Unsupported,
            E::Forked(_) => Status::Forked,
            E::NoServer { program, kernel } => {
                let text = format!(
                    "cannot launch `{kernel}`: program `{program}` is attached to no server, so what it calls, \
                     prints and panics with would be lost; call hc_attach_program first"
                );
                return Self::invalid(text);
            }
            _ => Status::Invalid,
        };
        Self::new(status, error)
    }
}

impl From<BufferError> for Error {
    fn from(error: BufferError) -> Self {
        match error {
            BufferError::Device(error) => error.into(),
            error @ BufferError::NoWholeWords => Self::new(Status::Unsupported, error),
            error @ BufferError::Window(_) => Self::new(Status::Device, error),
            BufferError::Heap { device, heap, available } => {
                Self::invalid(format!("{device} has {available} bytes of memory, and heap_bytes asks for {heap}: give less"))
            }
            error => Self::invalid(error),
        }
    }
}

impl From<AttachError> for Error {
    fn from(error: AttachError) -> Self {
        match error {
            AttachError::Device(error) => error.into(),
            AttachError::Buffer(error) => error.into(),
            AttachError::InHandler(error) => Self::invalid(error),
            AttachError::Forked(error) => error.into(),
            AttachError::Attached { program, here } => {
                let whom = if here { "this server" } else { "another server" };
                Self::new(
                    Status::Taken,
                    format!("program `{program}` is attached already, to {whom}: hc_detach it first, or load it once more"),
                )
            }
            error => Self::new(Status::Mismatch, error),
        }
    }
}

impl From<RegisterError> for Error {
    fn from(error: RegisterError) -> Self {
        Self::new(Status::Taken, error)
    }
}

impl From<ServerError> for Error {
    fn from(error: ServerError) -> Self {
        match error {
            ServerError::Register(error) => error.into(),
            ServerError::Attach(error) => error.into(),
            ServerError::Sizes(error) => error.into(),
            ServerError::Forked(error) => error.into(),
            error => Self::new(Status::System, error),
        }
    }
}

impl From<GrantError> for Error {
    fn from(error: GrantError) -> Self {
        let status = if matches!(error, GrantError::Open { .. }) { Status::System } else { Status::Invalid };
        Self::new(status, error)
    }
}

impl From<DefinitionError> for Error {
    fn from(error: DefinitionError) -> Self {
        Self::invalid(error)
    }
}

impl From<WaitError> for Error {
    fn from(error: WaitError) -> Self {
        let text = error.to_string();
        let status = match error {
            WaitError::Device { source, .. } => Self::from(source).status,
            WaitError::Timeout { .. } => Status::Timeout,
            WaitError::InHandler(_) => Status::Invalid,
            WaitError::Forked(_) => Status::Forked,
            _ => Status::KernelFailed,
        };
        Self { status, text }
    }
}

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

/// Runs the body of a function: keeps its error's text for the thread, and lets no panic out.
pub(crate) fn enter(body: impl FnOnce() -> Result<(), Error>) -> i32 {
    // Unwind safety: what the body has begun is behind locks that are taken whether or not somebody panicked under
    // them.
    let result = catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|payload| {
        let what = payload.downcast_ref::<&str>().map(|text| (*text).to_owned()).or_else(|| payload.downcast_ref::<String>().cloned());
        Err(Error::new(Status::Internal, what.as_deref().unwrap_or("a panic without a text")))
    });
    match result {
        Ok(()) => Status::Ok as i32,
        Err(Error { status, text }) => {
            keep(&text);
            status as i32
        }
    }
}

/// The same of a function that tells nothing: one that ends a handle.
pub(crate) fn quietly(body: impl FnOnce()) {
    // What a drop panics with is kept as a failure's text is, and nobody is told.
    let _ = enter(|| {
        body();
        Ok(())
    });
}

/// Keeps a text as the thread's last, without what C could not read.
pub(crate) fn keep(text: &str) {
    let text: Vec<u8> = text.bytes().filter(|&byte| byte != 0).collect();
    // A thread that ends has no place for it any more.
    let _ = LAST.try_with(|last| *last.borrow_mut() = CString::new(text).unwrap_or_default());
}

/// The thread's last text.
pub(crate) fn last() -> *const c_char {
    LAST.try_with(|last| last.borrow().as_ptr()).unwrap_or(c"".as_ptr())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn last_text() -> String {
        // SAFETY: the thread's text, which nothing changes meanwhile.
        unsafe { CStr::from_ptr(last()) }.to_string_lossy().into_owned()
    }

    #[test]
    fn a_panic_becomes_a_status_with_its_text() {
        assert_eq!(enter(|| panic!("number {}", 7)), Status::Internal as i32);
        assert_eq!(last_text(), "number 7");
        assert_eq!(enter(|| std::panic::panic_any(7)), Status::Internal as i32);
        assert_eq!(last_text(), "a panic without a text");
        assert_eq!(enter(|| Ok(())), 0);
        assert_eq!(last_text(), "a panic without a text", "success changes nothing");
    }

    #[test]
    fn texts_are_of_the_thread_and_without_zeros() {
        enter(|| Err(Error::invalid("a\0b")));
        std::thread::spawn(|| assert_eq!(last_text(), "")).join().unwrap();
        assert_eq!(last_text(), "ab");
    }

    #[test]
    fn statuses_have_the_header_s_numbers_and_names() {
        let header = include_str!("../include/hostcall.h");
        let mut seen = 0;
        for number in 0..=Status::Forked as i32 {
            let name = Status::name(number).to_str().unwrap();
            assert!(header.contains(&format!("\n  {name} = {number}")), "{name} = {number}");
            seen += 1;
        }
        assert_eq!((seen, Status::name(seen), Status::name(-1)), (17, c"unknown status", c"unknown status"));
    }
}
