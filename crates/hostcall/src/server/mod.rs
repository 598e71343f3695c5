//! The public face: a server, its services and its port buffers.

mod grants;

use std::future::Future;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use hostcall_abi::descriptor::FirstPoll;
use hostcall_error::{Forked, Local};
use offload::host::StackSize;
use offload::{Device, DeviceKind, Helping, LaunchedElsewhere as _, Program, Subscription};

use crate::builtin::llvm_libc::handlers::Handlers;
use crate::builtin::{Builtins, Console, Input, Sink};
use crate::policy::{Denial, Policy};
use crate::record::KernelReport;
use crate::record::stats::Stats;
use crate::record::trace::Trace;
use crate::rpc::Callback;
use crate::service::registry::{RegisterError, Registry, ServiceHandle};
use crate::service::{Run, Service};
use crate::serving::pool::Pool;
use crate::serving::{Core, CoreConfig, Helpers, PostBounds, Served};
use crate::wire::{BufferError, PortBuffer};

mod attach;
mod ending;
pub(crate) mod placement;
pub mod std_programs;
mod top;
mod wait;

pub use attach::{AttachError, Signature};
use attach::{Attached, BufferPlan};
pub use ending::{InHandler, RemoveError};
use placement::{NoProcessor, ParsePlacementError, Place, Placement};
pub use wait::WaitError;

/// Why a server did not start, or lost a service.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// A service could not be registered.
    #[error(transparent)]
    Register(#[from] RegisterError),
    /// None of the processors on which serving threads were to run is to be had.
    #[error(
        "serving threads cannot run on processors {asked:?}: this process may use {allowed:?} (`taskset`, cgroups; `lscpu` shows NUMA nodes), so name \
         some of those"
    )]
    Placement {
        /// The processors that were asked for.
        asked: Vec<usize>,
        /// Those that this process may use.
        allowed: Vec<usize>,
    },
    /// `HOSTCALL_PLACEMENT` says no place for the serving threads.
    #[error("HOSTCALL_PLACEMENT: {0}")]
    PlacementVariable(#[from] ParsePlacementError),
    /// The system gave no thread.
    #[error("cannot start a thread of the server: {0}")]
    Thread(#[source] std::io::Error),
    /// The trace file cannot be written.
    #[error("cannot write a trace to {path}: {source}")]
    Trace {
        /// Where it was to be.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// An attached program could not be told of a new service.
    #[error(transparent)]
    Attach(#[from] AttachError),
    /// The server belongs to the process that this one was forked from.
    #[error(transparent)]
    Forked(#[from] Forked),
    /// Programs could not be attached: `ports`, `staging` or `heap` of the builder cannot work on its device.
    #[error(transparent)]
    Sizes(#[from] BufferError),
}

hostcall_error::readable!(ServerError);

/// A function that is not shown.
#[derive(Default)]
struct RpcCallback(Option<Callback>);

impl std::fmt::Debug for RpcCallback {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_some() { "Some(_)" } else { "None" })
    }
}

/// How a server is set up. See [`Server::builder`].
#[derive(Debug, Default)]
#[must_use = "nothing is served until `start`"]
pub struct ServerBuilder {
    device: Option<Device>,
    threads: Option<usize>,
    blocking_threads: Option<usize>,
    handler_stack: StackSize,
    services: Vec<Service>,
    default: Option<Service>,
    stats: bool,
    trace: Option<PathBuf>,
    plan: BufferPlan,
    placement: Option<Placement>,
    waves_help: Option<bool>,
    pub(crate) policy: Policy,
    pub(crate) no_built_in: bool,
    pub(crate) stdout: Option<Sink>,
    pub(crate) stderr: Option<Sink>,
    pub(crate) stdin: Input,
    rpc_callback: RpcCallback,
    rpc_handlers: Handlers,
    #[cfg(feature = "tokio")]
    runtime: Option<tokio::runtime::Handle>,
}

impl ServerBuilder {
    /// Serving threads. Default: half of the processors, at least 1 and at most 4.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads.max(1));
        self
    }

    /// Where the serving threads run, and with them those that they start for handlers, and those that handlers start.
    /// Default: as `HOSTCALL_PLACEMENT` says (`anywhere`, `near`, `node:1`, or processors as `0-27,56`), and without
    /// it near the device.
    pub fn placement(mut self, placement: Placement) -> Self {
        self.placement = Some(placement);
        self
    }

    /// Whether waves serve ports while they wait, on devices whose waves are threads of this machine
    /// ([`Device::help_waiting`]): the simulator. Default: yes, unless handlers were given a larger
    /// [stack](Self::handler_stack) than these threads have.
    ///
    /// A call is then answered without a change of threads. Handlers run on waves' threads too, which have the
    /// default's stack; the serving threads look after what no wave waits for, once in a millisecond.
    pub fn waves_help(mut self, wanted: bool) -> Self {
        self.waves_help = Some(wanted);
        self
    }

    /// The most threads that blocking handlers of one program take. Default: 512.
    ///
    /// Those of all programs take at most twice as many together, and each program can always take one: one program's
    /// handlers that sleep keep no other program's waiting.
    pub fn blocking_threads(mut self, threads: usize) -> Self {
        self.blocking_threads = Some(threads);
        self
    }

    /// Bytes of stack that handlers have on each of the server's threads: serving ones, those of blocking handlers, and
    /// those of the server's own runtime. Default: as many as the main thread has (`ulimit -s`), at least 8 MiB. The
    /// program's thread-local variables come on top.
    pub fn handler_stack(mut self, bytes: usize) -> Self {
        self.handler_stack = StackSize::bytes(bytes);
        self
    }

    /// Ports of each attached program. Default: one more than waves can be resident on the device. With fewer, waves
    /// wait for one another's calls to be answered; the last port is never kept by a wave (`Port::hold`, `start_…`), so
    /// with one port none can be.
    pub fn ports(mut self, ports: u32) -> Self {
        self.plan.ports = Some(ports);
        self
    }

    /// Bytes of each attached program's heap in device memory. Default: none.
    pub fn heap(mut self, bytes: usize) -> Self {
        self.plan.heap = bytes;
        self
    }

    /// Staging slots of each attached program, for strings and slices, and the bytes of one (a multiple of 4096).
    pub fn staging(mut self, slots: u32, slot_bytes: u32) -> Self {
        self.plan.staging = Some((slots, slot_bytes));
        self
    }

    /// Whether replies go through a [window](offload::Window) into the device's memory where the device has one.
    /// Default: yes.
    pub fn window(mut self, wanted: bool) -> Self {
        self.plan.window = wanted;
        self
    }

    /// When a waiting lane first looks for its reply, on devices that wait before they look. Default: what was best
    /// where it was measured; `cargo hostcall bench --tune` measures it.
    #[doc(hidden)]
    pub fn first_poll(mut self, first_poll: FirstPoll) -> Self {
        self.plan.first_poll = first_poll;
        self
    }

    /// Registers a service. [`Server::service_handle`] finds it again, to finish or unregister it.
    pub fn service(mut self, service: Service) -> Self {
        self.services.push(service);
        self
    }

    /// Registers services.
    pub fn services(mut self, services: impl IntoIterator<Item = Service>) -> Self {
        self.services.extend(services);
        self
    }

    /// Handles the calls of all services that nobody registered. It sees their raw
    /// [`payload`](crate::Invocation::payload).
    pub fn default_handler(mut self, service: Service) -> Self {
        self.default = Some(service);
        self
    }

    /// Keeps histograms of how long calls take; counts are always kept.
    pub fn stats(mut self, wanted: bool) -> Self {
        self.stats = wanted;
        self
    }

    /// Writes a trace of all calls, which Chrome's and Perfetto's viewers show.
    pub fn trace(mut self, path: impl Into<PathBuf>) -> Self {
        self.trace = Some(path.into());
        self
    }

    /// Where async handlers run. Default: a runtime of the server's own, of two threads, started with the first async
    /// service. It must not be one whose only thread waits for the kernel.
    #[cfg(feature = "tokio")]
    pub fn runtime(mut self, handle: tokio::runtime::Handle) -> Self {
        self.runtime = Some(handle);
        self
    }

    /// Who is asked for opcodes of LLVM's `rpc.h` that the server does not have: with an `rpc::Server::Port` and its
    /// lanes, on a thread that may block. It returns an `rpc::Status`.
    #[doc(hidden)]
    pub fn rpc_callback(mut self, callback: impl Fn(*mut std::ffi::c_void, u32) -> u32 + Send + Sync + 'static) -> Self {
        self.rpc_callback = RpcCallback(Some(Arc::new(callback)));
        self
    }

    /// Who serves an opcode of LLVM's `rpc.h`: a function that gets the host's side of each session which kernels begin
    /// by opening a port for it. The future that it returns carries the session out. It is asked before the opcodes
    /// that the server knows itself. Programs may have LLVM's own client, or `hostcall_rpc.h`.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let device = hostcall::Device::open("sim")?;
    /// let server = hostcall::Server::builder(&device)
    ///     .rpc(0x7800_0001, |mut session| async move {
    ///         session.recv().await;
    ///         let sums: Vec<u64> = (0..64).map(|lane| session.packet(lane).iter().sum()).collect();
    ///         session.send(|lane| [sums[lane as usize], 0, 0, 0, 0, 0, 0, 0]).await;
    ///     })
    ///     .start()?;
    /// # drop(server);
    /// # Ok(())
    /// # }
    /// ```
    pub fn rpc<S: Future<Output = ()> + Send + 'static>(
        mut self,
        opcode: u32,
        handler: impl Fn(crate::RpcSession) -> S + Send + Sync + 'static,
    ) -> Self {
        self.rpc_handlers.add(opcode, Arc::new(move |session| Box::pin(handler(session))));
        self
    }

    /// Starts the threads.
    ///
    /// # Errors
    /// When two services have one name, sizes cannot work on the device, or the system has no thread or file left.
    pub fn start(self) -> Result<Server, ServerError> {
        crate::record::install_hook();
        let stack = self.handler_stack;
        let threads = self.threads.unwrap_or_else(default_threads);
        if let Some(device) = &self.device {
            self.plan.check(device.info(), threads)?;
        }
        let placement = self.placement.map_or_else(Placement::of_environment, Ok)?;
        let place = placement.find(self.device.as_ref().map(Device::info)).map_err(|refused| {
            let NoProcessor { asked, allowed } = refused;
            ServerError::Placement { asked, allowed }
        })?;
        // Who looks at a process wants to know how long calls take.
        let stats = self.stats || hostcall_top::is_wanted();
        let timed = stats || self.trace.is_some();
        let trace = match self.trace {
            Some(path) => Some(Arc::new(Trace::create(&path).map_err(|source| ServerError::Trace { path, source })?)),
            None => None,
        };
        let roomy = offload::host::stack_bytes(stack) <= offload::host::stack_bytes(StackSize::default());
        let can_help = self.waves_help.unwrap_or(roomy) && self.device.as_ref().is_some_and(Device::lanes_may_help);
        let helpers = if can_help { std::thread::available_parallelism().map_or(1, |cores| cores.get().min(16)) } else { 0 };
        let core = Core::new(CoreConfig {
            registry: Arc::new(Registry::new(threads + helpers, stats)),
            pool: Pool::new(self.blocking_threads.unwrap_or(512), stack),
            trace,
            #[cfg(feature = "tokio")]
            runtime: crate::serving::asynchronous::Runtime::new(self.runtime, stack),
            timed,
            modest: self.device.as_ref().is_some_and(|device| device.info().kind == DeviceKind::Sim),
            threads,
            helpers,
        });
        let console = Console::new(self.stdout.unwrap_or(Sink::Stdout), self.stderr.unwrap_or(Sink::Stderr));
        let console = if can_help { console.written_by_waves() } else { console };
        let builtins =
            Builtins::new(self.policy, console).stdin(self.stdin).map_err(ServerError::Thread)?.rpc_callback(self.rpc_callback.0);
        let builtins = builtins.rpc_handlers(self.rpc_handlers);
        // A service of the user's takes the place of a built-in one of its name.
        let own: Vec<&str> = self.services.iter().map(Service::name).collect();
        let wanted = |service: &Service| !self.no_built_in && !own.contains(&service.name());
        let built_in: Vec<Service> = builtins.services().into_iter().filter(wanted).collect();
        let attached = Mutex::default();
        let parts = Parts {
            core,
            threads: Vec::new(),
            device: self.device,
            subscription: None,
            helpers: None,
            attached,
            plan: self.plan,
            place,
            builtins,
            left: Mutex::default(),
            down: false,
            shown: None,
        };
        let mut server = Server { parts: Local::new(parts) };
        for service in self.services.into_iter().chain(built_in) {
            server.register(service)?;
        }
        if let Some(default) = self.default {
            server.set_default_handler(Some(default))?;
        }
        for index in 0..threads {
            let (core, place) = (server.parts.core.clone(), server.parts.place.clone());
            let run = move || {
                if let Some(place) = place {
                    place.enter();
                }
                core.run(index);
            };
            let spawned = offload::host::spawn(format!("hostcall-{index}"), stack, run);
            server.parts.threads.push(spawned.map_err(ServerError::Thread)?);
        }
        if let Some(device) = server.parts.device.clone() {
            if helpers > 0 {
                let helpers = Helpers::new(&server.parts.core, helpers);
                let helping = device.help_waiting(Arc::new(helpers.asked()));
                server.parts.helpers = helping.map(|helping| (helpers, helping));
            }
            let core = server.parts.core.clone();
            server.parts.subscription = Some(device.subscribe(Arc::new(move |busy| core.set_busy(busy))));
            // A kernel that was launched before is one all the same; `subscribe` tells only of changes.
            if device.in_flight() > 0 {
                server.parts.core.set_busy(true);
            }
        }
        server.parts.shown = top::show(&server);
        Ok(server)
    }
}

fn default_threads() -> usize {
    std::thread::available_parallelism().map_or(1, |cores| (cores.get() / 2).clamp(1, 4))
}

/// Threads that serve the calls of kernels. Dropping it answers waiting lanes
/// [`CallError::ServerGone`](crate::CallError::ServerGone), and says what went wrong that no [`Server::wait`] has
/// returned: as an error in the log, or on standard error if nothing listens to the log. It waits for inline handlers
/// to return, and names them if that takes longer than a second; posts for which other handlers make no room within 0.4
/// s are not handled, and counted.
///
/// In a child that `fork` has made of this process its threads are missing. There, functions that can fail do so with
/// [`Forked`], the others find nothing, and dropping it does nothing.
#[derive(Debug)]
pub struct Server {
    pub(crate) parts: Local<Parts>,
}

/// What a server has.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) core: Arc<Core>,
    threads: Vec<JoinHandle<()>>,
    device: Option<Device>,
    subscription: Option<Subscription>,
    /// Waves that help, and that they do.
    helpers: Option<(Arc<Helpers>, Helping)>,
    attached: Mutex<Vec<Attached>>,
    plan: BufferPlan,
    /// Where its threads run.
    place: Option<Place>,
    pub(crate) builtins: Builtins,
    /// What was reported of buffers that have been removed, and nobody has collected.
    left: Mutex<KernelReport>,
    /// Whether its threads have been ended.
    down: bool,
    /// While others may look at it (`HOSTCALL_TOP`).
    shown: Option<hostcall_top::Shown>,
}

/// A port buffer that a server serves.
#[derive(Clone, Debug)]
pub struct BufferHandle(pub(crate) Arc<Served>);

impl BufferHandle {
    /// Who gives the window in which replies of our own wire lie; `None`: they lie in host memory.
    pub fn window_provider(&self) -> Option<offload::WindowProvider> {
        self.0.memory.window_provider()
    }

    /// What a program must be given to use it. Whoever asks may have its kernels launched by others: the server looks
    /// for their calls from now on, as for those of programs that were loaded elsewhere.
    pub fn descriptor(&self) -> &hostcall_abi::Descriptor {
        self.0.launched_elsewhere();
        self.0.memory.descriptor()
    }
}

/// While it lives, the server's threads look for calls although no kernel that it knows of runs: for kernels launched
/// by somebody else.
#[derive(Debug)]
pub struct Awake(Arc<Core>);

impl Drop for Awake {
    fn drop(&mut self) {
        self.0.wake.disarm();
    }
}

impl Server {
    /// A server for kernels on this device.
    pub fn builder(device: &Device) -> ServerBuilder {
        ServerBuilder { device: Some(device.clone()), ..ServerBuilder::default() }
    }

    /// A server for port buffers that are handed to it (`Server::add_buffer`); it knows of no device, so somebody must
    /// keep it [awake](Server::keep_awake).
    #[doc(hidden)]
    pub fn without_device() -> ServerBuilder {
        ServerBuilder::default()
    }

    /// Registers a service; programs attached before learn its number, so kernels launched from now on can call it.
    ///
    /// # Errors
    /// When the name is taken, a program was built with another definition of it, or cannot be told.
    pub fn register(&self, service: Service) -> Result<ServiceHandle, ServerError> {
        self.warm_up(&service.run)?;
        let attached = self.attached();
        for program in attached.iter() {
            program.check(service.definition())?;
        }
        let slot = self.parts.core.registry.register(service)?;
        for program in attached.iter() {
            if let Err(error) = program.number(&slot) {
                self.parts.core.registry.unregister(&slot);
                return Err(error.into());
            }
        }
        Ok(ServiceHandle::new(&slot, &self.parts.core.registry))
    }

    /// Registers a service without its name, for kernels that are given it as a value ([`ServiceHandle::callee`]). Any
    /// number of services may have one definition. It stays until it is [unregistered](ServiceHandle::unregister).
    ///
    /// ```
    /// # #[hostcall::service]
    /// # pub trait Host { fn apply(x: f32) -> f32; }
    /// # fn main() -> Result<(), hostcall::ServerError> {
    /// # let server = hostcall::Server::without_device().start()?;
    /// let double = server.register_unnamed(host::apply(|x| x * 2.0))?;
    /// let square = server.register_unnamed(host::apply(|x| x * x))?;
    /// // `#[kernel] fn map(y: &mut [f32], f: Callee)` calls `Host::apply_by(f, y[i])`.
    /// let args = offload::Args::new().value(square.callee());
    /// # assert_ne!(double.number(), square.number());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When a program was built with another definition of it, or all numbers are taken.
    pub fn register_unnamed(&self, service: Service) -> Result<ServiceHandle, ServerError> {
        self.warm_up(&service.run)?;
        for program in self.attached().iter() {
            program.check(service.definition())?;
        }
        let slot = self.parts.core.registry.register_unnamed(service)?;
        Ok(ServiceHandle::new(&slot, &self.parts.core.registry))
    }

    /// The service registered under this name, to finish or unregister it: one that the builder registered, too. The
    /// name is that on the wire ([`Service::name`]), `Host__add42`, or as the kernel says it, `Host::add42`.
    pub fn service_handle(&self, name: &str) -> Option<ServiceHandle> {
        let name = name.replacen("::", "__", 1);
        self.check_origin().ok()?;
        Some(ServiceHandle::new(&self.parts.core.registry.named(&name)?, &self.parts.core.registry))
    }

    /// Sets the handler of calls that no service takes, or removes it.
    ///
    /// # Errors
    /// When the system has no thread for it.
    pub fn set_default_handler(&self, service: Option<Service>) -> Result<(), ServerError> {
        self.check_origin()?;
        if let Some(service) = &service {
            self.warm_up(&service.run)?;
        }
        self.parts.core.registry.set_default(service);
        Ok(())
    }

    /// Starts the threads that a service runs on besides the serving ones.
    fn warm_up(&self, run: &Run) -> Result<(), ServerError> {
        self.check_origin()?;
        let started = match run {
            Run::Inline(_) | Run::Later(_) | Run::LaterBatch(_) => Ok(()),
            Run::Blocking(_) | Run::Adaptive(_) => self.parts.core.pool.warm_up(),
            #[cfg(feature = "tokio")]
            Run::Future(_) => self.parts.core.runtime.warm_up(),
        };
        started.map_err(ServerError::Thread)
    }

    /// Gives a program its own port buffer, and its services their numbers.
    ///
    /// # Errors
    /// When the program was built with another version of the ABI or another definition of a service, a server serves
    /// it already ([`AttachError::Attached`]), or the device has no memory left. [`AttachError::InHandler`]: on the
    /// thread of an inline handler.
    pub fn attach(&self, program: &Program) -> Result<BufferHandle, AttachError> {
        self.check_here("attaching a program")?;
        let buffer = if Attached::only_llvm(program)? {
            self.allocate_by(&self.parts.plan.of_nobody(self.parts.core.threads()), program.device())?
        } else {
            self.allocate(program.device())?
        };
        if let Err(error) = self.attach_to(program, &buffer) {
            self.remove_buffer(&buffer)?;
            return Err(error);
        }
        Ok(buffer)
    }

    /// A port buffer on the device, of the sizes that the builder was given, which is served from now on: the part of
    /// [`Server::attach`] that needs no program, and can be done while one is loaded. Programs get it by
    /// [`Server::attach_to`].
    ///
    /// # Errors
    /// When the device or the system has no memory left.
    pub fn allocate(&self, device: &Device) -> Result<BufferHandle, AttachError> {
        self.check_origin()?;
        self.allocate_by(&self.parts.plan, device)
    }

    fn allocate_by(&self, plan: &BufferPlan, device: &Device) -> Result<BufferHandle, AttachError> {
        let allocate = || plan.allocate(device, self.parts.core.threads());
        let memory = match &self.parts.place {
            // The system gives memory of the node on which it is touched first.
            Some(place) => place.run(allocate),
            None => allocate(),
        };
        Ok(self.add_buffer(memory?))
    }

    /// Lets a program use a port buffer that is served already: several programs can share one.
    ///
    /// # Errors
    /// When the program was built with another version of the ABI or another definition of a service, or a server
    /// serves it already.
    pub fn attach_to(&self, program: &Program, buffer: &BufferHandle) -> Result<(), AttachError> {
        self.check_origin()?;
        let mut list = self.attached();
        let attached = Attached::new(program, &buffer.0, &self.parts.core.buffers())?;
        // The default handler has no name to look for.
        for slot in self.parts.core.registry.table().iter().filter(|slot| slot.number != 0) {
            attached.check(&slot.definition)?;
            attached.number(slot)?;
        }
        attached.number_unknown(&self.parts.core.registry)?;
        self.serve_rpc(&attached)?;
        attached.describe()?;
        list.push(attached);
        Ok(())
    }

    /// Serves the client of LLVM's `rpc.h` that a program has, if it has one.
    fn serve_rpc(&self, attached: &Attached) -> Result<(), AttachError> {
        if attached.has_recompiled() {
            attached.serve_recompiled(&self.parts.builtins);
        }
        if attached.has_rpc() {
            // What blocks goes on there.
            self.parts.core.pool.warm_up().map_err(AttachError::Thread)?;
            attached.serve_rpc(&self.parts.plan, &self.parts.builtins, self.parts.core.threads())?;
        }
        Ok(())
    }

    /// Serves one more port buffer.
    #[doc(hidden)]
    pub fn add_buffer(&self, memory: PortBuffer) -> BufferHandle {
        let live = Served::new(memory, self.parts.core.threads(), PostBounds::default());
        if self.check_origin().is_ok() {
            self.parts.core.add(live.clone());
        }
        BufferHandle(live)
    }

    /// The end of a buffer's program: nothing is kept for it any more.
    fn end(&self, live: &Served) {
        live.tenant.end(&[&self.parts.core.pool, &self.parts.builtins]);
    }

    /// Keeps the threads looking for calls, whatever the server knows of kernels, until the guard is dropped.
    pub fn keep_awake(&self) -> Awake {
        self.parts.core.wake.arm();
        self.parts.core.wake_all();
        Awake(self.parts.core.clone())
    }

    /// What kernels asked for and were not granted, since this was last asked.
    pub fn denials(&self) -> Vec<Denial> {
        self.check_origin().map_or_else(|_| Vec::new(), |()| self.parts.builtins.denials())
    }

    /// What was called how often, and how long it took.
    pub fn stats(&self) -> Stats {
        if self.check_origin().is_err() {
            return Stats { services: Vec::new() };
        }
        self.parts.core.registry.stats()
    }

    /// # Errors
    /// In a forked child.
    fn check_origin(&self) -> Result<(), Forked> {
        self.parts.origin().check("server")
    }

    /// Held for changes and copies of the report.
    fn left(&self) -> MutexGuard<'_, KernelReport> {
        self.parts.left.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Held for changes of the list, by threads that register and attach; never by serving threads.
    fn attached(&self) -> MutexGuard<'_, Vec<Attached>> {
        self.parts.attached.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
