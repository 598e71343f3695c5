//! Executables: images of the simulator, their kernels and globals.

use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_void};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use offload::hsa::sys::*;
use offload::{Image, ImageKind, Kernel, Program, ProgramBundle};

use crate::put;
use crate::world::{lock, world};

/// Bytes of stack that every kernel says it needs. None of them says all: its call graph is not known.
pub(crate) const PRIVATE_BYTES: u32 = 64;
/// Bytes of stack more that a launch must bring, or the kernel never gets anywhere.
pub(crate) const STACK_BYTES: u32 = 1024;
/// Arguments of a kernel that does not say how many it has.
const UNKNOWN_ARGUMENTS: usize = 256;

/// A kernel that packets can point at.
pub(crate) struct Code {
    pub(crate) kernel: Kernel,
    pub(crate) kernarg_bytes: usize,
    /// Whether its metadata says that more stack may be needed than it names.
    dynamic: bool,
}

/// Begins the name of the word by which the build says so of a kernel of which the compiler did not: one that calls
/// itself.
const STACK_PREFIX: &str = "__HOSTCALL_STACK__";

#[derive(Default)]
struct Executable {
    program: Option<Program>,
    agent: hsa_agent_t,
    frozen: bool,
    symbols: HashMap<String, u64>,
}

#[derive(Clone)]
enum Symbol {
    Kernel(Arc<Code>),
    Variable { address: usize, bytes: usize },
}

#[derive(Default)]
struct Loader {
    readers: HashMap<u64, (usize, usize)>,
    executables: HashMap<u64, Executable>,
    /// Of all executables; a kernel's handle is also its object.
    symbols: HashMap<u64, Symbol>,
}

static LOADER: Mutex<Option<Loader>> = Mutex::new(None);
static NEXT: AtomicU64 = AtomicU64::new(0xc0de_0000_0001);

fn handle() -> u64 {
    // Kernel objects are aligned to 64 bytes.
    NEXT.fetch_add(64, Ordering::SeqCst)
}

fn with<R>(f: impl FnOnce(&mut Loader) -> R) -> R {
    f(lock(&LOADER).get_or_insert_default())
}

/// The kernel that a packet points at.
pub(crate) fn kernel(object: u64) -> Option<Arc<Code>> {
    with(|loader| match loader.symbols.get(&object) {
        Some(Symbol::Kernel(code)) => Some(code.clone()),
        _ => None,
    })
}

/// `hsa_code_object_reader_create_from_memory`.
///
/// # Safety
/// The bytes live as long as what is loaded from them; `reader` is a place for a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_code_object_reader_create_from_memory(
    code: *const c_void,
    bytes: usize,
    reader: *mut hsa_code_object_reader_t,
) -> hsa_status_t {
    if code.is_null() || bytes == 0 || reader.is_null() {
        return hsa_status_t::INVALID_ARGUMENT;
    }
    let handle = handle();
    with(|loader| loader.readers.insert(handle, (code.expose_provenance(), bytes)));
    // SAFETY: the caller's.
    unsafe { reader.write(hsa_code_object_reader_t { handle }) };
    hsa_status_t::SUCCESS
}

/// `hsa_code_object_reader_destroy`.
#[unsafe(no_mangle)]
pub extern "C" fn hsa_code_object_reader_destroy(reader: hsa_code_object_reader_t) -> hsa_status_t {
    let gone = with(|loader| loader.readers.remove(&reader.handle));
    gone.map_or(hsa_status_t::INVALID_CODE_OBJECT_READER, |_| hsa_status_t::SUCCESS)
}

/// `hsa_executable_create_alt`.
///
/// # Safety
/// `executable` is a place for a handle, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_executable_create_alt(
    profile: u32,
    rounding: u32,
    _options: *const c_char,
    executable: *mut hsa_executable_t,
) -> hsa_status_t {
    if executable.is_null() || profile != PROFILE_FULL || rounding != ROUNDING_DEFAULT {
        return hsa_status_t::INVALID_ARGUMENT;
    }
    let handle = handle();
    with(|loader| loader.executables.insert(handle, Executable::default()));
    // SAFETY: the caller's.
    unsafe { executable.write(hsa_executable_t { handle }) };
    hsa_status_t::SUCCESS
}

/// `EM_AMDGPU` in the header of an ELF file.
const AMD: [u8; 2] = [224, 0];

/// `hsa_executable_load_agent_code_object`.
///
/// # Safety
/// The reader's bytes are there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_executable_load_agent_code_object(
    executable: hsa_executable_t,
    agent: hsa_agent_t,
    reader: hsa_code_object_reader_t,
    _options: *const c_char,
    _loaded: *mut hsa_loaded_code_object_t,
) -> hsa_status_t {
    let Some(gpu) = world().gpu(agent) else { return hsa_status_t::INVALID_AGENT };
    let Some((at, len)) = with(|loader| loader.readers.get(&reader.handle).copied()) else {
        return hsa_status_t::INVALID_CODE_OBJECT_READER;
    };
    match with(|loader| loader.executables.get(&executable.handle).map(|e| e.frozen || e.program.is_some())) {
        None => return hsa_status_t::INVALID_EXECUTABLE,
        Some(true) => return hsa_status_t::FROZEN_EXECUTABLE,
        Some(false) => {}
    }
    // SAFETY: the caller's.
    let bytes = unsafe { std::slice::from_raw_parts(at as *const u8, len) }.to_vec();
    if bytes.starts_with(b"\x7fELF") && bytes.get(18..20) == Some(&AMD) {
        // Code for some AMD GPU, which this is not.
        return hsa_status_t::INCOMPATIBLE_ARGUMENTS;
    }
    let image = Image::new(ImageKind::Sim, gpu.device.info().arch.clone(), bytes);
    match gpu.device.load(&ProgramBundle::new("image", vec![image])) {
        Ok(program) => {
            with(|loader| {
                if let Some(executable) = loader.executables.get_mut(&executable.handle) {
                    (executable.program, executable.agent) = (Some(program), agent);
                }
            });
            hsa_status_t::SUCCESS
        }
        Err(error) => {
            eprintln!("hsa-on-sim: {error}");
            hsa_status_t::INVALID_CODE_OBJECT
        }
    }
}

/// `hsa_executable_freeze`.
#[unsafe(no_mangle)]
pub extern "C" fn hsa_executable_freeze(executable: hsa_executable_t, _options: *const c_char) -> hsa_status_t {
    with(|loader| match loader.executables.get_mut(&executable.handle) {
        None => hsa_status_t::INVALID_EXECUTABLE,
        Some(executable) if executable.frozen => hsa_status_t::FROZEN_EXECUTABLE,
        Some(executable) => {
            executable.frozen = true;
            hsa_status_t::SUCCESS
        }
    })
}

/// `hsa_executable_destroy`. Kernels that run keep their code all the same; packets that point at it do not.
#[unsafe(no_mangle)]
pub extern "C" fn hsa_executable_destroy(executable: hsa_executable_t) -> hsa_status_t {
    let gone = with(|loader| {
        let gone = loader.executables.remove(&executable.handle)?;
        let symbols: Vec<Symbol> = gone.symbols.values().filter_map(|symbol| loader.symbols.remove(symbol)).collect();
        Some((gone, symbols))
    });
    let Some((_, symbols)) = &gone else { return hsa_status_t::INVALID_EXECUTABLE };
    for symbol in symbols {
        if let Symbol::Variable { address, .. } = symbol {
            crate::memory::remove_global(*address);
        }
    }
    hsa_status_t::SUCCESS
}

/// `hsa_executable_get_symbol_by_name`.
///
/// # Safety
/// `name` is a C string, `agent` an agent, `symbol` a place for a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_executable_get_symbol_by_name(
    executable: hsa_executable_t,
    name: *const c_char,
    agent: *const hsa_agent_t,
    symbol: *mut hsa_executable_symbol_t,
) -> hsa_status_t {
    if name.is_null() || agent.is_null() || symbol.is_null() {
        return hsa_status_t::INVALID_ARGUMENT;
    }
    // SAFETY: the caller's.
    let (name, agent) = unsafe { (CStr::from_ptr(name).to_string_lossy().into_owned(), *agent) };
    let asked = with(|loader| {
        let executable = loader.executables.get(&executable.handle).filter(|e| e.frozen && e.agent == agent)?;
        Some((executable.symbols.get(&name).copied(), executable.program.clone()?))
    });
    let Some((known, program)) = asked else { return hsa_status_t::INVALID_EXECUTABLE };
    let found = known.or_else(|| {
        let made = look_up(&program, &name)?;
        if let Symbol::Variable { address, bytes } = made {
            crate::memory::add_global(address, bytes, agent);
        }
        let handle = handle();
        with(|loader| {
            loader.symbols.insert(handle, made);
            loader.executables.get_mut(&executable.handle)?.symbols.insert(name, handle);
            Some(handle)
        })
    });
    let Some(handle) = found else { return hsa_status_t::INVALID_SYMBOL_NAME };
    // SAFETY: the caller's.
    unsafe { symbol.write(hsa_executable_symbol_t { handle }) };
    hsa_status_t::SUCCESS
}

fn look_up(program: &Program, name: &str) -> Option<Symbol> {
    if let Some(name) = name.strip_suffix(".kd") {
        let kernel = program.kernel(name).ok()?;
        // As the arguments are laid out.
        let place = |end, &size: &u32| hostcall_abi::descriptor::KernelParams::place(end, size as usize) + size as usize;
        let kernarg_bytes = kernel.params().map_or(UNKNOWN_ARGUMENTS, |sizes| sizes.iter().fold(0, place));
        let dynamic = program.find_global(&format!("{STACK_PREFIX}{name}")).ok()?.is_none();
        return Some(Symbol::Kernel(Arc::new(Code { kernel, kernarg_bytes, dynamic })));
    }
    let global = program.find_global(name).ok()??;
    Some(Symbol::Variable { address: global.address() as usize, bytes: global.size() })
}

/// `hsa_executable_symbol_get_info`.
///
/// # Safety
/// `value` has room for the attribute, or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_executable_symbol_get_info(
    symbol: hsa_executable_symbol_t,
    attribute: u32,
    value: *mut c_void,
) -> hsa_status_t {
    let Some(found) = with(|loader| loader.symbols.get(&symbol.handle).cloned()) else {
        return hsa_status_t::INVALID_EXECUTABLE_SYMBOL;
    };
    // SAFETY: (all) the caller's.
    unsafe {
        match (found, attribute) {
            (Symbol::Kernel(_), symbol_info::TYPE) => put(value, SYMBOL_KERNEL),
            (Symbol::Kernel(_), symbol_info::KERNEL_OBJECT) => put(value, symbol.handle),
            (Symbol::Kernel(code), symbol_info::KERNARG_SIZE) => put(value, code.kernarg_bytes as u32),
            (Symbol::Kernel(_), symbol_info::GROUP_SIZE) => put(value, 64u32),
            (Symbol::Kernel(_), symbol_info::PRIVATE_SIZE) => put(value, PRIVATE_BYTES),
            (Symbol::Kernel(code), symbol_info::DYNAMIC_CALLSTACK) => put(value, code.dynamic),
            (Symbol::Variable { .. }, symbol_info::TYPE) => put(value, SYMBOL_VARIABLE),
            (Symbol::Variable { address, .. }, symbol_info::VARIABLE_ADDRESS) => put(value, address as u64),
            (Symbol::Variable { bytes, .. }, symbol_info::VARIABLE_SIZE) => put(value, bytes as u32),
            _ => hsa_status_t::INVALID_ARGUMENT,
        }
    }
}
