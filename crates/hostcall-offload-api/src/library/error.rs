//! Errors of devices as errors of the API.

use std::borrow::Cow;

use crate::runtime::Error;
use crate::sys::ol_errc_t;

/// An error as a result.
pub(super) fn fail<T>(code: ol_errc_t, details: impl Into<Cow<'static, str>>) -> Result<T, Error> {
    Err(Error::new(code, details))
}

/// A result that fits into a register, for what a launch goes through: errors are large, and what passes through memory
/// takes a good part of it.
pub(super) type Launched = Result<(), Box<Error>>;

/// The code that CUDA's driver goes with, where there is a better one than "the driver failed".
fn of_cuda(code: i64) -> ol_errc_t {
    match code {
        // INVALID_VALUE, INVALID_HANDLE
        1 | 400 => ol_errc_t::OL_ERRC_INVALID_ARGUMENT,
        // OUT_OF_MEMORY, LAUNCH_OUT_OF_RESOURCES, COOPERATIVE_LAUNCH_TOO_LARGE
        2 | 701 | 720 => ol_errc_t::OL_ERRC_OUT_OF_RESOURCES,
        // NOT_INITIALIZED, DEINITIALIZED
        3 | 4 => ol_errc_t::OL_ERRC_UNINITIALIZED,
        // NO_DEVICE, INVALID_DEVICE
        100 | 101 => ol_errc_t::OL_ERRC_INVALID_DEVICE,
        // INVALID_IMAGE, NO_BINARY_FOR_GPU, INVALID_SOURCE
        200 | 209 | 300 => ol_errc_t::OL_ERRC_INVALID_BINARY,
        // INVALID_PTX, UNSUPPORTED_PTX_VERSION
        218 | 222 => ol_errc_t::OL_ERRC_COMPILE_FAILURE,
        // JIT_COMPILER_NOT_FOUND
        221 => ol_errc_t::OL_ERRC_HOST_TOOL_NOT_FOUND,
        // SHARED_OBJECT_SYMBOL_NOT_FOUND, SHARED_OBJECT_INIT_FAILED
        302 | 303 => ol_errc_t::OL_ERRC_LINK_FAILURE,
        // NOT_FOUND, HOST_MEMORY_NOT_REGISTERED
        500 | 713 => ol_errc_t::OL_ERRC_NOT_FOUND,
        // NOT_PERMITTED, NOT_SUPPORTED
        800 | 801 => ol_errc_t::OL_ERRC_UNSUPPORTED,
        // HOST_MEMORY_ALREADY_REGISTERED
        712 => ol_errc_t::OL_ERRC_INVALID_ARGUMENT,
        _ => ol_errc_t::OL_ERRC_BACKEND_FAILURE,
    }
}

/// The error of a device, with what the device said as its text.
pub(super) fn of_device(error: offload::Error) -> Error {
    use offload::Error as E;
    let code = match &error {
        E::Unavailable { .. } | E::NoDevice { .. } => ol_errc_t::OL_ERRC_INVALID_DEVICE,
        E::OutOfMemory { .. } | E::OutOfHostMemory { .. } => ol_errc_t::OL_ERRC_OUT_OF_RESOURCES,
        E::NoImage { .. } | E::Image { .. } => ol_errc_t::OL_ERRC_INVALID_BINARY,
        E::Load { reason, log, .. } => of_load(reason, log.as_deref()),
        E::NoKernel { .. } | E::NoGlobal { .. } => ol_errc_t::OL_ERRC_NOT_FOUND,
        E::ArgumentCount { .. } | E::ArgumentSize { .. } | E::Launch { .. } => ol_errc_t::OL_ERRC_INVALID_ARGUMENT,
        E::Range { .. } => ol_errc_t::OL_ERRC_INVALID_SIZE,
        E::Forked(_) => ol_errc_t::OL_ERRC_UNINITIALIZED,
        E::WrongDevice { .. } => ol_errc_t::OL_ERRC_INVALID_DEVICE,
        E::Unsupported { .. } => ol_errc_t::OL_ERRC_UNSUPPORTED,
        E::Backend { code, .. } => of_cuda(*code),
        _ => ol_errc_t::OL_ERRC_BACKEND_FAILURE,
    };
    Error::new(code, error.to_string())
}

/// The code of an image that was not loaded: the driver's name is in the reason.
fn of_load(reason: &str, log: Option<&str>) -> ol_errc_t {
    const NAMES: [(&str, ol_errc_t); 6] = [
        ("CUDA_ERROR_INVALID_PTX", ol_errc_t::OL_ERRC_COMPILE_FAILURE),
        ("CUDA_ERROR_UNSUPPORTED_PTX_VERSION", ol_errc_t::OL_ERRC_COMPILE_FAILURE),
        ("CUDA_ERROR_JIT_COMPILER_NOT_FOUND", ol_errc_t::OL_ERRC_HOST_TOOL_NOT_FOUND),
        ("CUDA_ERROR_OUT_OF_MEMORY", ol_errc_t::OL_ERRC_OUT_OF_RESOURCES),
        ("CUDA_ERROR_SHARED_OBJECT", ol_errc_t::OL_ERRC_LINK_FAILURE),
        ("undefined symbol", ol_errc_t::OL_ERRC_LINK_FAILURE),
    ];
    if log.is_some_and(|log| log.contains("Undefined reference")) {
        return ol_errc_t::OL_ERRC_LINK_FAILURE;
    }
    NAMES.iter().find(|(name, _)| reason.contains(name)).map_or(ol_errc_t::OL_ERRC_INVALID_BINARY, |(_, code)| *code)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn backend(code: i64) -> offload::Error {
        offload::Error::Backend { call: "cuX", code, text: "CUDA_ERROR_X".into() }
    }

    #[test]
    fn the_driver_s_codes_keep_their_meaning_and_their_text() {
        let error = of_device(backend(801));
        assert_eq!((error.code, &*error.details()), (ol_errc_t::OL_ERRC_UNSUPPORTED, "cuX failed: CUDA_ERROR_X (801)"));
        assert_eq!(of_device(backend(4711)).code, ol_errc_t::OL_ERRC_BACKEND_FAILURE);
        let lost = offload::Error::DeviceLost { device: "cuda:0".into(), reason: "it trapped".into() };
        assert_eq!(of_device(lost), Error::new(ol_errc_t::OL_ERRC_BACKEND_FAILURE, "cuda:0 is lost: it trapped"));
    }

    #[test]
    fn no_error_of_a_device_is_unknown() {
        for code in 0..1000 {
            assert_ne!(of_device(backend(code)).code, ol_errc_t::OL_ERRC_UNKNOWN);
            assert_ne!(of_device(backend(code)).code, ol_errc_t::OL_ERRC_SUCCESS);
        }
    }

    #[test]
    fn an_image_that_does_not_compile_is_told_from_one_that_is_damaged() {
        let load = |reason: &str, log: Option<&str>| {
            of_device(offload::Error::Load { program: "p".into(), reason: reason.into(), log: log.map(Into::into) }).code
        };
        assert_eq!(load("it is cut off", None), ol_errc_t::OL_ERRC_INVALID_BINARY);
        assert_eq!(load("failed with CUDA_ERROR_INVALID_PTX: …", None), ol_errc_t::OL_ERRC_COMPILE_FAILURE);
        assert_eq!(load("failed with CUDA_ERROR_INVALID_PTX", Some("Undefined reference to 'f'")), ol_errc_t::OL_ERRC_LINK_FAILURE);
    }
}
