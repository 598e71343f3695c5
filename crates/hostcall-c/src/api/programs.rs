//! Programs: attached, loaded, launched.

use std::ffi::{c_char, c_void};
use std::sync::Arc;

use offload::{Args, Launch};

use super::{Device, Server};
use crate::attachment::{AddressOf, Attachment as Attached, program_of_symbols};
use crate::boundary::{self, DropFn, User, give, handle, place_for, read, take, text_of};
use crate::device::Opened;
use crate::status::{Error, enter, quietly};

/// `hc_attachment`.
#[derive(Debug)]
pub struct Attachment(Attached);

/// `hc_program`.
#[derive(Debug)]
pub struct Program {
    program: offload::Program,
    opened: Arc<Opened>,
}

/// Attaches a program of CUDA's that `find` makes of a handle.
///
/// # Safety
/// As the header says.
unsafe fn attach_cuda(
    server: *mut Server,
    cuda: *const c_void,
    name: *const c_char,
    out: *mut *mut Attachment,
    what: &'static str,
    find: impl FnOnce(&offload::Device, &str) -> Result<offload::Program, offload::Error>,
) -> i32 {
    enter(|| {
        // SAFETY: the caller's.
        let (out, server, name) = unsafe { (place_for(out)?, handle(server, "server")?, text_of(name, "name")?) };
        if cuda.is_null() {
            return Err(boundary::null(what));
        }
        let program = find(&server.0.opened.device, name)?;
        *out = give(Attachment(Attached::of_program(&server.0, &program)?));
        Ok(())
    })
}

/// Attaches a module.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hc_attach_cuda_module(
    server: *mut Server,
    cu_module: *mut c_void,
    name: *const c_char,
    out: *mut *mut Attachment,
) -> i32 {
    // SAFETY: the caller's: the module is live until it is detached.
    unsafe {
        attach_cuda(server, cu_module, name, out, "cu_module", |device, name| {
            offload::Program::from_raw_module(device, name, cu_module.cast())
        })
    }
}

/// Attaches a library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hc_attach_cuda_library(
    server: *mut Server,
    cu_library: *mut c_void,
    name: *const c_char,
    out: *mut *mut Attachment,
) -> i32 {
    // SAFETY: the caller's: the library is live until it is detached.
    unsafe {
        attach_cuda(server, cu_library, name, out, "cu_library", |device, name| {
            offload::Program::from_raw_library(device, name, cu_library.cast())
        })
    }
}

/// Attaches the module of a function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hc_attach_cuda_function(
    server: *mut Server,
    cu_function: *const c_void,
    name: *const c_char,
    out: *mut *mut Attachment,
) -> i32 {
    // SAFETY: the caller's: the function's module is live until it is detached.
    unsafe {
        attach_cuda(server, cu_function, name, out, "cu_function", |device, name| {
            offload::Program::from_raw_function(device, name, cu_function.cast_mut().cast())
        })
    }
}

/// Attaches a program by its symbols.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hc_attach_symbols(
    server: *mut Server,
    name: *const c_char,
    address_of: Option<AddressOf>,
    user: *mut c_void,
    drop: DropFn,
    out: *mut *mut Attachment,
) -> i32 {
    enter(|| {
        // SAFETY: the caller's. First, so that it is dropped whatever is wrong.
        let user = unsafe { User::new(user, drop) };
        // SAFETY: the caller's.
        let (out, server, name) = unsafe { (place_for(out)?, handle(server, "server")?, text_of(name, "name")?) };
        let address_of = address_of.ok_or_else(|| boundary::null("address_of"))?;
        let program = program_of_symbols(&server.0.opened.device, name, address_of, user);
        *out = give(Attachment(Attached::of_program(&server.0, &program)?));
        Ok(())
    })
}

/// Attaches a program that was loaded here.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hc_attach_program(server: *mut Server, program: *mut Program, out: *mut *mut Attachment) -> i32 {
    enter(|| {
        // SAFETY: the caller's.
        let (out, server, program) = unsafe { (place_for(out)?, handle(server, "server")?, handle(program, "program")?) };
        if !program.opened.device.is_same(&server.0.opened.device) {
            return Err(Error::invalid("program and server are of different devices: make both from the same hc_device"));
        }
        *out = give(Attachment(Attached::of_program(&server.0, &program.program)?));
        Ok(())
    })
}

/// Memory to call through, as a descriptor.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hc_descriptor(
    server: *mut Server,
    shared_with: *const Attachment,
    device_address: *mut u64,
    host_copy: *mut u8,
    out: *mut *mut Attachment,
) -> i32 {
    enter(|| {
        // SAFETY: the caller's.
        let (out, server) = unsafe { (place_for(out)?, handle(server, "server")?) };
        // SAFETY: the caller's, for null too.
        let shared_with = if shared_with.is_null() { None } else { Some(&unsafe { handle(shared_with, "attachment") }?.0) };
        let (attachment, address) = Attached::of_descriptor(&server.0, shared_with, !device_address.is_null())?;
        if let Some(address) = address {
            // SAFETY: it is not null, and the caller's.
            unsafe { device_address.write(address) };
        }
        if !host_copy.is_null() {
            let bytes = attachment.buffer.descriptor().as_bytes();
            // SAFETY: the caller's: room for HC_DESCRIPTOR_BYTES.
            unsafe { host_copy.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        }
        *out = give(Attachment(attachment));
        Ok(())
    })
}

/// Detaches.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hc_detach(attachment: *mut *mut Attachment) {
    // SAFETY: the caller's.
    quietly(|| drop(unsafe { take(attachment, "attachment") }));
}

/// Loads a program.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hc_program_load(device: *mut Device, bytes: *const c_void, count: usize, out: *mut *mut Program) -> i32 {
    enter(|| {
        // SAFETY: the caller's.
        let (out, device) = unsafe { (place_for(out)?, handle(device, "device")?) };
        if bytes.is_null() {
            return Err(boundary::null("bytes"));
        }
        // SAFETY: the caller's: so many bytes.
        let bytes = unsafe { std::slice::from_raw_parts(bytes.cast::<u8>(), count) };
        let opened = device.0.clone();
        *out = give(Program { program: opened.device.load_file("program", bytes)?, opened });
        Ok(())
    })
}

/// Ends a program's handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hc_program_unload(program: *mut *mut Program) {
    // SAFETY: the caller's.
    quietly(|| drop(unsafe { take(program, "program") }));
}

/// `hc_shape`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Shape {
    size: usize,
    groups: [u32; 3],
    group_size: [u32; 3],
    dynamic_shared: u32,
}

// SAFETY: numbers, the first of them its size.
unsafe impl boundary::Versioned for Shape {}

const _: () = assert!(size_of::<Shape>() == 40);

/// `hc_argument`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Argument {
    bytes: *const c_void,
    count: usize,
}

/// Starts a kernel.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hc_launch(
    program: *mut Program,
    kernel: *const c_char,
    shape: *const Shape,
    arguments: *const Argument,
    argument_count: usize,
    cu_stream: *mut c_void,
) -> i32 {
    enter(|| {
        // SAFETY: the caller's.
        let (program, kernel, shape) = unsafe { (handle(program, "program")?, text_of(kernel, "kernel")?, read(shape, "shape")?) };
        if argument_count > 0 && arguments.is_null() {
            return Err(boundary::null("arguments"));
        }
        let mut args = Args::new();
        for i in 0..argument_count {
            // SAFETY: the caller's: so many arguments.
            let Argument { bytes, count } = unsafe { *arguments.add(i) };
            if bytes.is_null() {
                return Err(Error::invalid(format!("argument {i} is null")));
            }
            // SAFETY: the caller's: so many bytes.
            args = args.bytes(unsafe { std::slice::from_raw_parts(bytes.cast(), count) });
        }
        let at_least_one = |sizes: [u32; 3]| sizes.map(|size| size.max(1));
        let launch =
            Launch { groups: at_least_one(shape.groups), group_size: at_least_one(shape.group_size), dynamic_shared: shape.dynamic_shared };
        let kernel = program.program.kernel(kernel)?;
        // SAFETY: the caller's: the stream lives.
        let queue = unsafe { program.opened.queue(cu_stream) }?;
        // SAFETY: the caller's: the arguments are what the kernel takes; number and sizes are checked where the program
        // says them.
        Ok(unsafe { queue.launch(&kernel, launch, args) }?)
    })
}
