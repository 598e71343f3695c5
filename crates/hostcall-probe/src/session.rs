//! What becomes of modules: which are instrumented, who listens to them, and what is said in the end.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ffi::{CString, c_int, c_void};
use std::fmt;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use hostcall::Server;
use hostcall_abi::stream::rings::RINGS_SYMBOL;
use hostcall_build::ptx::{self, Chosen, PtxError};
use hostcall_stream::probes::Probes;
use hostcall_stream::{NamedFilter, Streams};
use offload::{Device, Program};

use crate::functions::{self, Handle, Status};
use crate::image::Image;
use crate::launches;
use crate::real::enter;
use crate::settings::Settings;

/// What the driver has made of an image.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Made {
    Module(Handle),
    Library(Handle),
}

/// What is to be loaded.
enum Prepared {
    /// What came.
    AsItIs,
    /// What came, which has our calls already.
    Calls { code: Vec<u8>, kernels: Vec<String> },
    /// This instead.
    Instrumented { text: CString, kernels: Vec<String> },
}

/// What this process is told of.
struct Session {
    /// The process's number: a child that `fork` has made has a copy of all this, and none of the threads.
    process: u32,
    settings: Settings,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    watched: Vec<Watched>,
    counts: Counts,
    /// Modules that are being linked and have our functions, of which a program has room for one.
    linked: Vec<usize>,
    /// Texts that were loaded: a library may have its image where it was.
    texts: Vec<CString>,
}

// SAFETY: handles of the driver's, which every thread may use; all else in it may be sent.
unsafe impl Send for State {}

/// A context, and who listens to its modules.
struct Watched {
    context: usize,
    device: Device,
    server: Server,
    streams: Streams,
    programs: Vec<(usize, Program)>,
}

/// What came.
#[derive(Debug, Default)]
struct Counts {
    instrumented: usize,
    kernels: usize,
    /// Machine code alone.
    code: usize,
    /// PTX in which no kernel was meant.
    others: usize,
    /// Why PTX was not instrumented, and how often.
    refused: BTreeMap<String, usize>,
    /// Instructions of which nothing is told.
    untold: BTreeMap<String, usize>,
}

/// Says something to whoever looks into the program.
fn say(what: impl fmt::Display) {
    eprintln!("hostcall probe: {what}");
}

impl Session {
    /// That of this process; `None`: it has none, which was said.
    fn get() -> Option<&'static Session> {
        static SESSION: OnceLock<Option<Session>> = OnceLock::new();
        let begin = || match Settings::from_environment() {
            Ok(settings) => {
                if let Some(launches) = &settings.launches {
                    launches::only(launches.clone());
                }
                // SAFETY: a function without arguments. It runs before what was registered earlier: before the
                // driver's own, which was loaded already.
                unsafe { libc::atexit(at_exit) };
                Some(Session { process: std::process::id(), settings, state: Mutex::default() })
            }
            Err(error) => {
                say(format_args!("nothing is told of: {error}"));
                None
            }
        };
        SESSION.get_or_init(begin).as_ref()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What to load. `own`: the registers of a kernel of what came.
    fn prepare(&self, image: &Image<'_>, own: &dyn Fn(&str) -> Option<u32>) -> Prepared {
        match image {
            Image::Ptx(text) => match self.instrument(text, own) {
                Some((text, kernels)) => Prepared::Instrumented { text, kernels },
                None => Prepared::AsItIs,
            },
            Image::Code(code) if memchr::memmem::find(code, RINGS_SYMBOL.as_bytes()).is_some() => {
                Prepared::Calls { code: code.to_vec(), kernels: kernels_of(code) }
            }
            Image::Code(_) | Image::NoPtx => {
                self.state().counts.code += 1;
                Prepared::AsItIs
            }
            Image::Unknown => Prepared::AsItIs,
        }
    }

    /// PTX with calls, and the kernels that have them; `None`: it is to be loaded as it is.
    fn instrument(&self, text: &[u8], own: &dyn Fn(&str) -> Option<u32>) -> Option<(CString, Vec<String>)> {
        let is_meant = |name: &str| self.settings.is_meant(name);
        let chosen = Chosen::Of(&is_meant, "that is meant");
        let made = ptx::instrument(text, "module.ptx", &self.settings.instrument, chosen, &self.settings.library);
        match made.and_then(|made| made.limited(self.settings.registers, own)) {
            Ok(made) => {
                let counts = &mut self.state().counts;
                for (what, count) in made.untold {
                    *counts.untold.entry(what).or_default() += count;
                }
                Some((CString::new(made.ptx).ok()?, made.kernels))
            }
            Err(PtxError::NoSuchKernel { .. }) => {
                self.state().counts.others += 1;
                None
            }
            Err(error) => {
                *self.state().counts.refused.entry(error.to_string()).or_default() += 1;
                None
            }
        }
    }

    /// Listens to what a module tells.
    fn attach(&self, made: Made, image: &[u8], kernels: &[String]) {
        let mut state = self.state();
        match self.listen(&mut state, made, image, kernels) {
            Ok(()) => {
                state.counts.instrumented += 1;
                state.counts.kernels += kernels.len();
            }
            Err(error) => say(format_args!("nothing is heard of {}: {error}", kernels.join(", "))),
        }
    }

    fn listen(&self, state: &mut State, made: Made, image: &[u8], kernels: &[String]) -> Result<(), Box<dyn std::error::Error>> {
        let mut context: Handle = std::ptr::null_mut();
        // SAFETY: an out parameter.
        unsafe { functions::current_context()(&mut context) };
        let at = match state.watched.iter().position(|watched| watched.context == context as usize) {
            Some(at) => at,
            None => {
                state.watched.push(self.watch(context, state.watched.len())?);
                state.watched.len() - 1
            }
        };
        let watched = &mut state.watched[at];
        let name = kernels.first().map_or("module", String::as_str);
        let (program, handle) = match made {
            // SAFETY: the driver has just loaded it in this context. It is forgotten before it is unloaded.
            Made::Module(module) => (unsafe { Program::from_raw_module(&watched.device, name, module.cast()) }?, module),
            // SAFETY: as above.
            Made::Library(library) => (unsafe { Program::from_raw_library(&watched.device, name, library.cast()) }?, library),
        };
        let program = program.with_image(image);
        watched.server.attach(&program)?;
        watched.streams.attach(&program)?;
        launches::watch(handle, &program, kernels)?;
        watched.programs.push((handle as usize, program));
        Ok(())
    }

    /// Begins to listen in a context, the `number`th; null: that of the first GPU, as the runtime would make it.
    fn watch(&self, context: Handle, number: usize) -> Result<Watched, Box<dyn std::error::Error>> {
        let device = if context.is_null() {
            Device::cuda(0)?
        } else {
            // SAFETY: the context is current. Whoever destroys it has unloaded its modules, or they are gone with it.
            unsafe { Device::from_raw_cuda_context(context.cast()) }?
        };
        let Settings { record, filters, policy, memory, .. } = &self.settings;
        // The driver takes half a second to open a process's first window. Who wants one says so.
        let window = std::env::var_os("HOSTCALL_WINDOW").is_some_and(|value| !value.is_empty());
        let mut builder = Streams::builder().memory(*memory).window(window);
        if let Some(path) = record {
            builder = builder.record(recording(path, number));
        }
        for NamedFilter { stream, filter, .. } in filters {
            builder = builder.filter_named(stream, *filter);
        }
        builder = self.probes().listen(builder, *policy);
        if let Some(policy) = policy {
            builder = builder.policy_of_unlistened(*policy);
        }
        let server = Server::builder(&device).window(window).start()?;
        let streams = builder.start(&device)?;
        Ok(Watched { context: context as usize, device, server, streams, programs: Vec::new() })
    }

    fn probes(&self) -> Probes {
        let wanted = &self.settings.instrument;
        let steps = wanted.blocks || wanted.loops;
        Probes { accesses: wanted.accesses, steps, intervals: steps || wanted.barriers }
    }

    /// Waits for what kernels still do, and says what was found out.
    fn end(&self) {
        let mut state = self.state();
        say(&state.counts);
        for Watched { context, device, server, streams, programs } in state.watched.drain(..) {
            match finish(context, &device, &streams) {
                Ok(()) => {}
                Err(error) => say(format_args!("not all messages came: {error}")),
            }
            eprint!("{}", self.probes().findings(&streams));
            eprintln!("{}", streams.end());
            // The process ends, and with it what the driver has of it.
            std::mem::forget((server, programs, device));
        }
    }
}

/// How long a process that ends waits for its kernels: without us it would not.
const PATIENCE: Duration = Duration::from_secs(10);

/// Waits until the kernels of a context have ended and all that they told has come.
fn finish(context: usize, device: &Device, streams: &Streams) -> Result<(), Box<dyn std::error::Error>> {
    let (ended, end) = mpsc::channel();
    // It waits as long as they run, and ends with the process.
    thread::Builder::new().name("hostcall-probe".into()).spawn(move || {
        let _entered = enter();
        // SAFETY: a context that was current when its modules were loaded; the driver says so if it is no more.
        unsafe {
            if context != 0 && functions::push_context()(std::ptr::with_exposed_provenance_mut(context)) == 0 {
                functions::synchronize()();
                let mut popped: Handle = std::ptr::null_mut();
                functions::pop_context()(&mut popped);
            }
        }
        // Nobody waits any more if that took too long.
        let _ = ended.send(());
    })?;
    if end.recv_timeout(PATIENCE).is_err() {
        return Err(format!("kernels still run after {} s", PATIENCE.as_secs()).into());
    }
    streams.wait(&device.queue()?)?;
    Ok(())
}

/// The recording of a process and a context: `%p` becomes the process's number, and contexts behind the first have
/// their own files.
fn recording(path: &std::path::Path, number: usize) -> PathBuf {
    let mut name = path.as_os_str().to_string_lossy().replace("%p", &std::process::id().to_string());
    if number > 0 {
        let at = name.strip_suffix(".hcs").map_or(name.len(), str::len);
        name.insert_str(at, &format!(".{number}"));
    }
    name.into()
}

/// Names of the kernels in machine code: those of its sections.
fn kernels_of(code: &[u8]) -> Vec<String> {
    const START: &[u8] = b".text.";
    let names = memchr::memmem::find_iter(code, START).filter_map(|at| {
        let name = code[at + START.len()..].split(|byte| *byte == 0).next()?;
        std::str::from_utf8(name).ok().filter(|name| !name.is_empty() && !name.starts_with("__hostcall_")).map(str::to_owned)
    });
    let mut names: Vec<String> = names.collect();
    names.sort();
    names.dedup();
    names
}

/// The capability of the GPU whose context is current, else of the first: 90 for 9.0.
fn capability() -> u32 {
    const MAJOR: c_int = 75;
    const MINOR: c_int = 76;
    let (mut device, mut major, mut minor) = (0, 0, 0);
    // SAFETY: out parameters; without a current context the first device is asked.
    unsafe {
        if functions::current_device()(&mut device) != 0 {
            device = 0;
        }
        functions::device_attribute()(&mut major, MAJOR, device);
        functions::device_attribute()(&mut minor, MINOR, device);
    }
    (major * 10 + minor).max(0) as u32
}

/// Loads an image by `load`, which is given what to load in its place, if it is not to be loaded as it is.
pub(crate) fn load<'a>(
    image: &dyn Fn(u32) -> Image<'a>,
    load: &dyn Fn(Option<*const c_void>) -> Status,
    made: &dyn Fn() -> Made,
) -> Status {
    let Some(_entered) = enter() else { return load(None) };
    let Some(session) = Session::get() else { return load(None) };
    // Loaded as it came, for as long as somebody asks for its kernels' registers.
    let plain = Plain { made: OnceCell::new(), load: &|| (load(None) == 0).then(made) };
    let prepared = session.prepare(&image(capability()), &|kernel| plain.registers(kernel));
    drop(plain);
    match prepared {
        Prepared::AsItIs => load(None),
        Prepared::Calls { code, kernels } => {
            let status = load(None);
            if status == 0 {
                session.attach(made(), &code, &kernels);
            }
            status
        }
        Prepared::Instrumented { text, kernels } => {
            let status = load(Some(text.as_ptr().cast()));
            if status != 0 {
                say(format_args!("the driver refuses {} with hostcall's calls ({status}); without them it is", kernels.join(", ")));
                return load(None);
            }
            session.attach(made(), text.as_bytes(), &kernels);
            session.state().texts.push(text);
            status
        }
    }
}

/// A module as it came.
struct Plain<'a> {
    made: OnceCell<Option<Made>>,
    load: &'a dyn Fn() -> Option<Made>,
}

impl Plain<'_> {
    /// The registers of one of its kernels.
    fn registers(&self, kernel: &str) -> Option<u32> {
        /// `CU_FUNC_ATTRIBUTE_NUM_REGS`
        const REGISTERS: c_int = 4;
        let name = CString::new(kernel).ok()?;
        let (mut function, mut device, mut registers): (Handle, _, _) = (std::ptr::null_mut(), 0, 0);
        // SAFETY: out parameters, a name, and a module or library that is loaded until this is dropped.
        let status = unsafe {
            match (*self.made.get_or_init(self.load))? {
                Made::Module(module) => match functions::module_function()(&mut function, module, name.as_ptr()) {
                    0 => functions::function_attribute()(&mut registers, REGISTERS, function),
                    status => status,
                },
                Made::Library(library) => match functions::library_kernel()(&mut function, library, name.as_ptr()) {
                    0 if functions::current_device()(&mut device) == 0 => {
                        functions::kernel_attribute()(&mut registers, REGISTERS, function, device)
                    }
                    _ => return None,
                },
            }
        };
        u32::try_from(registers).ok().filter(|_| status == 0)
    }
}

impl Drop for Plain<'_> {
    fn drop(&mut self) {
        let Some(made) = self.made.get().copied().flatten() else { return };
        // SAFETY: nothing of it was given to anybody.
        unsafe {
            match made {
                Made::Module(module) => functions::module_unload()(module),
                Made::Library(library) => functions::library_unload()(library),
            };
        }
    }
}

/// Adds a part of a module that is linked, by `add`, which is given what to add in its place.
pub(crate) fn link(link: Handle, kind: c_int, part: &[u8], add: &dyn Fn(Option<&[u8]>) -> Status) -> Status {
    /// `CU_JIT_INPUT_PTX`
    const PTX: c_int = 1;
    let Some(_entered) = enter() else { return add(None) };
    let Some(session) = Session::get().filter(|_| kind == PTX) else { return add(None) };
    let has_ours = session.state().linked.contains(&(link as usize));
    let Image::Ptx(Cow::Borrowed(text)) = Image::of_file(part, capability()) else { return add(None) };
    let Some((text, _)) = (!has_ours).then(|| session.instrument(text, &|_| None)).flatten() else { return add(None) };
    let status = add(Some(text.as_bytes_with_nul()));
    if status != 0 {
        say(format_args!("the driver refuses a part of a module with hostcall's calls ({status})"));
        return add(None);
    }
    session.state().linked.push(link as usize);
    status
}

/// A module was linked, or was not: its number may be another's now.
pub(crate) fn linked(link: Handle) {
    if let Some(_entered) = enter()
        && let Some(session) = Session::get()
    {
        session.state().linked.retain(|known| *known != link as usize);
    }
}

/// A module is unloaded now.
pub(crate) fn forget(handle: Handle) {
    let Some(_entered) = enter() else { return };
    let Some(session) = Session::get() else { return };
    launches::forget(handle);
    let mut state = session.state();
    for watched in &mut state.watched {
        watched.programs.retain(|(known, _)| *known != handle as usize);
    }
}

extern "C" fn at_exit() {
    // A child's end is not its parent's, who says what was found.
    if let Some(_entered) = enter()
        && let Some(session) = Session::get()
        && session.process == std::process::id()
    {
        session.end();
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { instrumented, kernels, code, others, refused, untold } = self;
        let modules = |count: usize| if count == 1 { "1 module".to_owned() } else { format!("{count} modules") };
        write!(f, "{} with {kernels} {} told of themselves", modules(*instrumented), if *kernels == 1 { "kernel" } else { "kernels" })?;
        if *code > 0 {
            write!(f, "; {} had machine code alone and told nothing", modules(*code))?;
        }
        if *others > 0 {
            write!(f, "; in {} no kernel was meant", modules(*others))?;
        }
        if !untold.is_empty() {
            let untold: Vec<_> = untold.iter().map(|(what, count)| format!("{count} of `{what}`")).collect();
            write!(f, "; nothing is told of {}", untold.join(", "))?;
        }
        for (why, count) in refused {
            write!(f, "\nhostcall probe: {} could not be instrumented: {why}", modules(*count))?;
        }
        Ok(())
    }
}
