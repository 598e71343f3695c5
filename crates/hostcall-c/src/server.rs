//! Servers: options and grants of C, and what handles made from a server share.

use std::ffi::{OsStr, OsString, c_char, c_int, c_void};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, TryLockError};

use hostcall::{Awake, DirGrant, Input, KernelReport, Limits, NetGrant, ServerBuilder, Sink};

use crate::boundary::{self, DropFn, User, bytes_of, text_of};
use crate::device::Opened;
use crate::status::{Error, Status};

/// `hc_server_options`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct COptions {
    size: usize,
    threads: u32,
    blocking_threads: u32,
    ports: u32,
    staging_slots: u32,
    staging_slot_bytes: u32,
    awake: u32,
    latencies: u32,
    no_window: u32,
    no_built_in: u32,
    handler_stack_kib: u32,
    heap_bytes: u64,
    trace: *const c_char,
}

// SAFETY: numbers and a pointer, the first of them its size.
unsafe impl boundary::Versioned for COptions {}

/// `hc_write`.
pub(crate) type WriteFn = unsafe extern "C" fn(user: *mut c_void, bytes: *const c_char, count: usize) -> c_int;

/// `hc_grant`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CGrant {
    size: usize,
    kind: u32,
    reserved: u32,
    text: *const c_char,
    value: *const c_char,
    number: u64,
    write: Option<WriteFn>,
    user: *mut c_void,
    drop: DropFn,
}

// SAFETY: numbers and pointers that may be null, the first of them its size.
unsafe impl boundary::Versioned for CGrant {}

const _: () = assert!(size_of::<COptions>() == 64 && size_of::<CGrant>() == 64);

/// What a server and all that was made from it share.
#[derive(Debug)]
pub(crate) struct Shared {
    server: RwLock<Option<hostcall::Server>>,
    pub(crate) opened: Arc<Opened>,
    launches: Mutex<Vec<Awake>>,
    /// What the last wait reported.
    last: Mutex<KernelReport>,
}

/// Held while the server is used: it stops when nobody does.
pub(crate) struct Running<'a>(RwLockReadGuard<'a, Option<hostcall::Server>>);

impl Running<'_> {
    /// The server, unless it has stopped.
    pub(crate) fn server(&self) -> Option<&hostcall::Server> {
        self.0.as_ref()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    pub(crate) fn running(&self) -> Running<'_> {
        Running(self.server.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Does something with the server.
    pub(crate) fn with<T>(&self, body: impl FnOnce(&hostcall::Server) -> Result<T, Error>) -> Result<T, Error> {
        let running = self.running();
        // A handle that is live has a server that runs.
        body(running.server().ok_or_else(|| Error::invalid("the server has stopped"))?)
    }

    /// A launch by other means is announced.
    pub(crate) fn begin_launch(&self) -> Result<(), Error> {
        self.with(|server| {
            lock(&self.launches).push(server.keep_awake());
            Ok(())
        })
    }

    /// A launch that was announced has ended.
    pub(crate) fn end_launch(&self) -> Result<(), Error> {
        let launch = lock(&self.launches).pop();
        launch.map(drop).ok_or_else(|| Error::invalid("no launch has begun: each hc_launch_end goes with one hc_launch_begin"))
    }

    /// Keeps what a wait reported.
    pub(crate) fn report(&self, report: KernelReport) {
        *lock(&self.last) = report;
    }

    /// What the last wait reported.
    pub(crate) fn last(&self) -> KernelReport {
        lock(&self.last).clone()
    }

    /// Stops the server. What nobody has been told is the error.
    pub(crate) fn stop(&self) -> Result<(), Error> {
        let mut taken = None;
        let take = || match self.server.try_write() {
            Ok(mut server) => {
                taken = server.take();
                true
            }
            Err(TryLockError::Poisoned(server)) => {
                taken = server.into_inner().take();
                true
            }
            Err(TryLockError::WouldBlock) => false,
        };
        offload::overdue::wait(
            || "a server that stops waits for another thread that uses it, in hc_wait or another function".to_owned(),
            take,
        );
        let Some(server) = taken else { return Ok(()) };
        let report = server.stop();
        lock(&self.launches).clear();
        if report.is_success() { Ok(()) } else { Err(Error::new(Status::KernelFailed, report)) }
    }
}

/// Starts a server.
///
/// # Safety
/// `options` is null or points at options, `grants` at so many grants, with their texts, all as the header says.
pub(crate) unsafe fn start(
    opened: Result<Arc<Opened>, Error>,
    options: *const COptions,
    grants: *const CGrant,
    count: usize,
) -> Result<Arc<Shared>, Error> {
    // First, so that each `user` is dropped whatever is wrong.
    // SAFETY: the caller's.
    let grants = unsafe { read_grants(grants, count) }?;
    let opened = opened?;
    let mut builder = hostcall::Server::builder(&opened.device);
    let mut awake = false;
    if !options.is_null() {
        // SAFETY: the caller's.
        let options = unsafe { boundary::read(options, "options") }?;
        // SAFETY: the caller's.
        let trace = unsafe { bytes_of(options.trace) };
        builder = with_options(builder, &options, trace)?;
        awake = options.awake != 0;
    }
    let mut limits = Limits::default();
    for (grant, user) in grants {
        // SAFETY: the caller's.
        builder = unsafe { with_grant(builder, &mut limits, &grant, user) }?;
    }
    let server = builder.limits(limits).start()?;
    let launches = Mutex::new(if awake { vec![server.keep_awake()] } else { Vec::new() });
    Ok(Arc::new(Shared { server: RwLock::new(Some(server)), opened, launches, last: Mutex::default() }))
}

fn with_options(mut builder: ServerBuilder, options: &COptions, trace: Option<&[u8]>) -> Result<ServerBuilder, Error> {
    if options.threads > 0 {
        builder = builder.threads(options.threads as usize);
    }
    if options.blocking_threads > 0 {
        builder = builder.blocking_threads(options.blocking_threads as usize);
    }
    if options.handler_stack_kib > 0 {
        builder = builder.handler_stack((options.handler_stack_kib as usize).saturating_mul(1024));
    }
    if options.ports > 0 {
        builder = builder.ports(options.ports);
    }
    match (options.staging_slots, options.staging_slot_bytes) {
        (0, 0) => {}
        (0, _) | (_, 0) => return Err(Error::invalid("staging_slots and staging_slot_bytes are given together, or neither is")),
        (slots, bytes) => builder = builder.staging(slots, bytes),
    }
    let heap = usize::try_from(options.heap_bytes).map_err(|_| Error::invalid("heap_bytes is more than the address space"))?;
    if let Some(trace) = trace {
        builder = builder.trace(PathBuf::from(OsStr::from_bytes(trace)));
    }
    if options.no_built_in != 0 {
        builder = builder.without_built_in();
    }
    Ok(builder.heap(heap).stats(options.latencies != 0).window(options.no_window == 0))
}

/// All grants of an array, each with its `user`.
///
/// # Safety
/// As of [`start`].
unsafe fn read_grants(grants: *const CGrant, count: usize) -> Result<Vec<(CGrant, User)>, Error> {
    if count == 0 {
        return Ok(Vec::new());
    }
    // SAFETY: the caller's.
    let size = unsafe { boundary::read(grants, "grants") }?.size;
    let mut all = Vec::new();
    let mut wrong = Ok(());
    for i in 0..count {
        // SAFETY: the caller's: the grants have one size, which is the first's, so the next one begins behind it.
        let grant = unsafe { boundary::read(grants.byte_add(i * size), "grants") }?;
        if grant.size != size {
            wrong = Err(Error::invalid(format!("grant {i} says a size of {}, the first one {size}: all have the same", grant.size)));
            break;
        }
        // SAFETY: the header says so of `user` and `drop`.
        all.push((grant, unsafe { User::new(grant.user, grant.drop) }));
    }
    wrong.map(|()| all)
}

/// # Safety
/// The grant's texts are as the header says.
unsafe fn with_grant(builder: ServerBuilder, limits: &mut Limits, grant: &CGrant, user: User) -> Result<ServerBuilder, Error> {
    // SAFETY: the caller's.
    let (text, value) = unsafe { (bytes_of(grant.text), bytes_of(grant.value)) };
    let needed = |text: Option<&[u8]>, what: &str| -> Result<OsString, Error> {
        let text = text.ok_or_else(|| boundary::null(what))?;
        Ok(OsStr::from_bytes(text).to_owned())
    };
    let sink = |user: User| match grant.write {
        Some(write) => Sink::Writer(Box::new(Writer { write, user })),
        None => Sink::Null,
    };
    let number = usize::try_from(grant.number).unwrap_or(usize::MAX);
    Ok(match grant.kind {
        1 => builder.grant(&DirGrant::parse(&needed(text, "grant.text")?)?)?,
        2 => builder.env(needed(text, "grant.text")?, needed(value, "grant.value")?),
        3 => builder.arg(needed(text, "grant.text")?),
        4 if text.is_none() => builder.net(),
        4 => {
            // SAFETY: the caller's.
            let place = unsafe { text_of(grant.text, "grant.text") }?;
            builder.net_allow(place.parse::<NetGrant>().map_err(Error::invalid)?)
        }
        5 => builder.stdin(text.map_or(Input::Stdin, |text| Input::Bytes(text.to_vec()))),
        6 => builder.stdout(sink(user)),
        7 => builder.stderr(sink(user)),
        8 => {
            *limits = limits.open_files(number);
            builder
        }
        9 => {
            *limits = limits.bytes_in_flight(grant.number);
            builder
        }
        10 => {
            *limits = limits.calls(grant.number);
            builder
        }
        11 => {
            *limits = limits.waits(number);
            builder
        }
        12 => {
            *limits = limits.watchers(number);
            builder
        }
        kind => return Err(Error::invalid(format!("{kind} is no kind of grant that this version knows"))),
    })
}

/// What kernels print goes to a function of the application's.
struct Writer {
    write: WriteFn,
    user: User,
}

impl io::Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // SAFETY: the application's function, as the header says, with bytes that live until it returns.
        match unsafe { (self.write)(self.user.pointer(), bytes.as_ptr().cast(), bytes.len()) } {
            0 => Ok(bytes.len()),
            code => Err(io::Error::other(format!("the application's `write` returned {code}"))),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
