//! What LLVM's libc for GPUs asks of its host, over the files, the console and the policy of the built-in services.
//!
//! Each function here is the host's side of one opcode ([`hostcall_abi::llvm_rpc::opcode`] says what is exchanged). It
//! keeps to the exchanges whatever comes of them, so that a client that is refused something goes on: it gets the
//! result by which C says that it failed. An opcode that nobody knows is answered by zeros, each packet of it, and the
//! report says so.

pub(crate) mod handlers;
mod heap;
mod printing;
pub(super) mod recompiled;
mod streams;

use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use hostcall_abi::llvm_rpc::opcode::{self, *};

use super::standard::Source as Input;
use super::{Builtins, errno};
use crate::policy::errno::EISDIR;
use crate::record::stats::Padded;
use crate::record::{DevicePanic, Report};
use crate::rpc::{Bytes, Packet, Port, Quota, Serves, Session, Sessions, lanes, on_the_pool};
use crate::serving::Served;
use crate::tenant::{Claim, Tenant, Thing};
use handlers::RpcSession;
use heap::Heap;
use printing::{Format, PrintError};
use streams::{Source, State, Streams, Which};

/// Lanes of the widest wave.
const WIDEST: usize = 64;
/// What C's functions return when they fail: -1 as a word.
const FAILED: u64 = u64::MAX;

/// What serves the client of one program.
pub(crate) struct Libc {
    parts: Arc<Parts>,
    /// One for each share of the client's ports: threads that serve do not count at one place.
    shares: Box<[Arc<Padded<Common>>]>,
}

/// What the sessions of a share have in common.
struct Common {
    parts: Arc<Parts>,
    tenant: Arc<Tenant>,
    /// The program's buffer, which owns the client.
    served: Weak<Served>,
}

/// What its sessions share.
#[derive(Debug)]
struct Parts {
    builtins: Builtins,
    streams: Streams,
    input: Mutex<State>,
    heap: Mutex<Heap>,
}

/// What is served.
struct Call {
    common: Arc<Padded<Common>>,
    opcode: u32,
    /// Whether it is within the program's cap on calls.
    allowed: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What C returns for a result.
fn status(result: Result<(), u32>) -> u64 {
    if result.is_ok() { 0 } else { FAILED }
}

/// The bytes of a packet, up to the first zero.
fn text_of(packet: &Packet) -> Vec<u8> {
    packet.iter().flat_map(|word| word.to_ne_bytes()).take_while(|byte| *byte != 0).collect()
}

impl Libc {
    /// For the program of a buffer, with so many bytes of device memory at an address, for `malloc`. The client's ports
    /// have so many shares.
    pub(crate) fn new(builtins: &Builtins, served: &Arc<Served>, (start, bytes): (u64, u64), shares: usize) -> Self {
        let (streams, input, heap) = (Streams::default(), Mutex::default(), Mutex::new(Heap::new(start, bytes)));
        let parts = Arc::new(Parts { builtins: builtins.clone(), streams, input, heap });
        let common = || Common { parts: parts.clone(), tenant: served.tenant.clone(), served: Arc::downgrade(served) };
        let shares = (0..shares).map(|_| Arc::new(Padded(common()))).collect();
        Self { parts, shares }
    }
}

impl Builtins {
    /// Serves the client of a program that was recompiled over our own wire, with so many bytes of device memory at an
    /// address, for `malloc`. One that shares its buffer with others shares their sessions.
    pub(crate) fn serve_recompiled(&self, served: &Arc<Served>, heap: (u64, u64)) {
        let quota = || Quota::new(&served.tenant, self.context.limits.bytes_in_flight);
        self.recompiled.serve(&served.tenant, || Sessions::new(Libc::new(self, served, heap, 1), quota()));
    }
}

impl Serves for Libc {
    fn knows(&self, opcode: u32) -> bool {
        opcode::name(opcode).is_some() || self.parts.builtins.rpc_handlers.of(opcode).is_some()
    }

    fn end(&self) {
        self.parts.streams.end();
    }

    fn session(&self, port: Port, opcode: u32) -> Option<Session> {
        let is_counted = !matches!(opcode, LIBC_NOOP | LIBC_EXIT | LIBC_ABORT) && self.knows(opcode);
        let (limits, common) = (self.parts.builtins.context.limits, self.shares[port.share()].clone());
        let allowed = !is_counted || lanes(port.mask()).all(|_| limits.call(&common.0.tenant));
        let call = Call { common, opcode, allowed };
        if let Some(handler) = self.parts.builtins.rpc_handlers.of(opcode) {
            return Some(if allowed { handler(RpcSession::new(port, call.quota())) } else { Box::pin(call.refuse(port)) });
        }
        // What waits for no more than the packet that has come is over here.
        match opcode {
            LIBC_NOOP => port.at_once(|port| call.nothing(port)),
            LIBC_MALLOC => port.at_once(|port| call.allocate(port)),
            LIBC_FREE => port.at_once(|port| call.free(port)),
            LIBC_TEST_INCREMENT => port.at_once(|port| call.increment(port)),
            _ => Some(call.session(port)),
        }
    }
}

impl Call {
    /// What takes several exchanges.
    fn session(self, port: Port) -> Session {
        match self.opcode {
            LIBC_EXIT => Box::pin(self.exit(port)),
            LIBC_ABORT => Box::pin(self.abort(port)),
            LIBC_WRITE_TO_STDOUT | LIBC_WRITE_TO_STDOUT_NEWLINE => Box::pin(self.write(port, Some(Which::Output))),
            LIBC_WRITE_TO_STDERR => Box::pin(self.write(port, Some(Which::Error))),
            LIBC_WRITE_TO_STREAM => Box::pin(self.write(port, None)),
            LIBC_READ_FROM_STREAM | LIBC_READ_FGETS => Box::pin(self.read(port)),
            LIBC_OPEN_FILE => Box::pin(self.open(port)),
            LIBC_CLOSE_FILE | LIBC_FEOF | LIBC_FERROR | LIBC_CLEARERR | LIBC_FSEEK | LIBC_FTELL | LIBC_FFLUSH | LIBC_UNGETC => {
                Box::pin(self.on_stream(port))
            }
            LIBC_PRINTF_TO_STDOUT | LIBC_PRINTF_TO_STDOUT_PACKED => Box::pin(self.print(port, Some(Which::Output))),
            LIBC_PRINTF_TO_STDERR | LIBC_PRINTF_TO_STDERR_PACKED => Box::pin(self.print(port, Some(Which::Error))),
            LIBC_PRINTF_TO_STREAM | LIBC_PRINTF_TO_STREAM_PACKED => Box::pin(self.print(port, None)),
            LIBC_REMOVE => Box::pin(self.remove(port)),
            LIBC_RENAME => Box::pin(self.rename(port)),
            LIBC_SYSTEM => Box::pin(self.system(port)),
            LIBC_HOST_CALL | OFFLOAD_HOST_CALL => Box::pin(self.host_call(port)),
            LIBC_TEST_INTERFACE => Box::pin(self.interface(port)),
            LIBC_TEST_STREAM => Box::pin(self.echo(port)),
            _ => Box::pin(self.unknown(port)),
        }
    }
}

/// Standard input, for somebody who may wait for it.
struct Waiting<'a>(&'a Input, &'a Weak<Served>);

impl Source for Waiting<'_> {
    fn read(&self, into: &mut [u8]) -> std::io::Result<usize> {
        self.0.read_waiting(into, || self.1.upgrade().is_some_and(|served| served.closing.get().is_none()))
    }
}

impl Call {
    fn libc(&self) -> &Parts {
        &self.common.0.parts
    }

    fn tenant(&self) -> &Arc<Tenant> {
        &self.common.0.tenant
    }

    /// The name that reports have for it.
    fn name(&self) -> &'static str {
        opcode::name(self.opcode).unwrap_or("LLVM's RPC")
    }

    /// Adds to the program's report. If its buffer is gone, nobody reads that any more.
    fn to_report(&self, add: impl FnOnce(&Report)) {
        if let Some(served) = self.common.0.served.upgrade() {
            add(&served.report);
        }
    }

    #[cold]
    fn report(&self, code: u32, why: impl fmt::Display) {
        self.to_report(|report| report.handler_failed(self.name(), code, why));
    }

    fn check(&self) -> Result<(), u32> {
        if self.allowed { Ok(()) } else { Err(errno::EDQUOT) }
    }

    fn quota(&self) -> Quota {
        let most = if self.allowed { self.libc().builtins.context.limits.bytes_in_flight } else { 0 };
        Quota::new(self.tenant(), most)
    }

    /// What lanes have sent, if there was room for it. The report says if there was not.
    fn whole<'a>(&self, bytes: &'a Bytes) -> Option<&'a [u8]> {
        let whole = bytes.whole();
        if whole.is_none() && self.allowed {
            self.report(errno::EDQUOT, format_args!("its lanes send more at a time than a program may: {} bytes", self.quota().most));
        }
        whole
    }

    /// Waits for a thread that may block, if something is to be written that may wait.
    async fn before_writing(&self, to: Which) {
        let is_console = matches!(to, Which::Output | Which::Error);
        if !is_console || self.libc().builtins.console.is_full_of(self.tenant()) {
            on_the_pool().await;
        }
    }

    /// Writes bytes; how many. On a thread that may block, if they are for a file.
    fn put(&self, to: Which, bytes: &[u8]) -> usize {
        if !self.allowed {
            return 0;
        }
        let number = match to {
            Which::Output => 1,
            Which::Error => 2,
            Which::Input => return 0,
            Which::File(handle) => return self.libc().streams.get(handle).map_or(0, |stream| stream.write(bytes)),
        };
        self.libc().builtins.console.print_bytes(self.tenant(), number, bytes).map_or(0, |()| bytes.len())
    }

    /// Where each lane writes to: all to `to`, or each to the stream that it sends first.
    async fn targets(port: &mut Port, to: Option<Which>) -> [Which; WIDEST] {
        let mut targets = [to.unwrap_or(Which::File(0)); WIDEST];
        if to.is_none() {
            port.receive().await;
            for lane in lanes(port.mask()) {
                targets[lane as usize] = Which::marked(port.packet(lane)[0]);
            }
        }
        targets
    }

    async fn nothing(self, mut port: Port) {
        port.receive().await;
    }

    async fn exit(self, mut port: Port) {
        port.answer(|_, packet| packet).await;
        port.receive().await;
        let status = lanes(port.mask()).next().map_or(0, |lane| port.packet(lane)[0] as i32);
        self.to_report(|report| report.exited(status));
    }

    async fn abort(self, mut port: Port) {
        port.answer(|_, packet| packet).await;
        port.receive().await;
        let count = port.mask().count_ones();
        let panic = || DevicePanic {
            program: String::new(),
            message: "aborted".into(),
            file: String::new(),
            line: 0,
            block: [0; 3],
            thread: [0; 3],
            lanes: count.into(),
        };
        self.to_report(|report| report.device_panicked_with(panic));
    }

    async fn write(self, mut port: Port, to: Option<Which>) {
        let targets = Self::targets(&mut port, to).await;
        let all = port.receive_bytes(&self.quota()).await;
        self.before_writing(to.unwrap_or(Which::File(0))).await;
        let mut done = [0; WIDEST];
        for lane in lanes(port.mask()) {
            let Some(bytes) = self.whole(&all[lane as usize]) else { continue };
            let target = targets[lane as usize];
            done[lane as usize] = if self.opcode == LIBC_WRITE_TO_STDOUT_NEWLINE {
                self.put(target, &[bytes, b"\n"].concat())
            } else {
                self.put(target, bytes)
            };
        }
        drop(all);
        port.send_word(|lane| done[lane as usize] as u64).await;
    }

    /// Both kinds of reads.
    async fn read(self, mut port: Port) {
        port.receive().await;
        let asked: Vec<_> = lanes(port.mask()).map(|lane| (lane, port.packet(lane))).collect();
        on_the_pool().await;
        let mut all = vec![Vec::new(); port.width()];
        let mut claims = Vec::new();
        for (lane, packet) in asked {
            let size = packet[0].min(self.quota().most);
            let Some(mut claim) = Claim::of(self.tenant().clone(), Thing::Byte, size, self.quota().most) else { continue };
            let room = usize::try_from(size).unwrap_or(0);
            let mut bytes = match Which::marked(packet[1]) {
                Which::Input => {
                    let source = Waiting(self.libc().builtins.standard.source(), &self.common.0.served);
                    self.take(&source, &mut lock(&self.libc().input), room)
                }
                Which::File(handle) => self.libc().streams.get(handle).map_or_else(
                    |_| Vec::new(),
                    |stream| {
                        let (file, mut state) = stream.parts();
                        self.take(file, &mut state, room)
                    },
                ),
                Which::Output | Which::Error => Vec::new(),
            };
            // Until the client has them, what came is kept, and not what could have come.
            bytes.shrink_to_fit();
            claim.give_back(size.saturating_sub(bytes.len() as u64));
            claims.push(claim);
            all[lane as usize] = bytes;
        }
        port.send_bytes(&all).await;
        if self.opcode == LIBC_READ_FROM_STREAM {
            port.send_word(|lane| all[lane as usize].len() as u64).await;
        }
        drop(claims);
    }

    /// Bytes, or a line with its zero.
    fn take(&self, source: &impl Source, state: &mut State, size: usize) -> Vec<u8> {
        if self.opcode == LIBC_READ_FROM_STREAM {
            let mut bytes = vec![0; size];
            let done = state.fill(source, &mut bytes);
            bytes.truncate(done);
            return bytes;
        }
        let mut line = if size == 0 { Vec::new() } else { state.line(source, size - 1) };
        if !line.is_empty() {
            line.push(0);
        }
        line
    }

    async fn open(self, mut port: Port) {
        let paths = port.receive_bytes(&self.quota()).await;
        port.receive().await;
        let modes: Vec<_> = (0..port.width() as u32).map(|lane| text_of(&port.packet(lane))).collect();
        on_the_pool().await;
        let Parts { builtins, streams, .. } = self.libc();
        let mut opened = [0; WIDEST];
        for lane in lanes(port.mask()) {
            let path = paths[lane as usize].text().filter(|_| self.allowed);
            let open = |path| streams.open(&builtins.policy, &builtins.files, self.tenant(), path, &modes[lane as usize]);
            opened[lane as usize] = path.map_or(0, |path| open(path).unwrap_or(0));
        }
        port.send_word(|lane| opened[lane as usize]).await;
    }

    /// All that takes a stream and a few numbers.
    async fn on_stream(self, mut port: Port) {
        port.receive().await;
        let packets: Vec<_> = lanes(port.mask()).map(|lane| port.packet(lane)).collect();
        on_the_pool().await;
        let mut results = packets.iter().map(|packet| self.result_on_stream(packet));
        port.send_word(|_| results.next().unwrap_or(FAILED)).await;
    }

    fn result_on_stream(&self, packet: &Packet) -> u64 {
        let Parts { builtins, streams, input, .. } = self.libc();
        let which = Which::marked(packet[usize::from(self.opcode == LIBC_UNGETC)]);
        if !self.allowed {
            return FAILED;
        }
        let on_state = |state: &mut State| match self.opcode {
            LIBC_FEOF => u64::from(state.at_end()),
            LIBC_FERROR => u64::from(state.failed()),
            LIBC_CLEARERR => {
                state.clear();
                0
            }
            LIBC_UNGETC if packet[0] as i32 != -1 && state.unread(packet[0] as u8) => u64::from(packet[0] as u8),
            LIBC_FFLUSH => 0,
            _ => FAILED,
        };
        match (which, self.opcode) {
            // All of them.
            (Which::File(0), LIBC_FFLUSH) => status([1, 2].iter().try_for_each(|&number| builtins.console.flush_of(self.tenant(), number))),
            (Which::Output, LIBC_FFLUSH) => status(builtins.console.flush_of(self.tenant(), 1)),
            (Which::Error, LIBC_FFLUSH) => status(builtins.console.flush_of(self.tenant(), 2)),
            (Which::Output | Which::Error, LIBC_FEOF | LIBC_FERROR | LIBC_CLEARERR) => 0,
            (Which::Output | Which::Error, _) => FAILED,
            (Which::Input, _) => on_state(&mut lock(input)),
            (Which::File(handle), LIBC_CLOSE_FILE) => status(streams.close(&builtins.files, self.tenant(), handle)),
            (Which::File(handle), _) => streams.get(handle).map_or(FAILED, |stream| match self.opcode {
                LIBC_FSEEK => status(stream.seek(packet[1] as i64, packet[2])),
                LIBC_FTELL => stream.place().unwrap_or(FAILED),
                _ => on_state(&mut stream.parts().1),
            }),
        }
    }

    async fn print(self, mut port: Port, to: Option<Which>) {
        let packed = matches!(self.opcode, LIBC_PRINTF_TO_STDOUT_PACKED | LIBC_PRINTF_TO_STDERR_PACKED | LIBC_PRINTF_TO_STREAM_PACKED);
        let targets = Self::targets(&mut port, to).await;
        let quota = self.quota();
        let texts = port.receive_bytes(&quota).await;
        let mut formats: Vec<_> = texts.iter().map(|text| Format::new(text.text(), packed)).collect();
        port.send_word(|lane| formats[lane as usize].as_ref().map_or(0, |format| format.bytes() as u64)).await;
        let bytes = port.receive_bytes(&quota).await;
        let mut arguments = vec![Vec::new(); port.width()];
        let mut wanted = vec![Vec::new(); port.width()];
        for lane in lanes(port.mask()) {
            let lane = lane as usize;
            let Ok(format) = &formats[lane] else { continue };
            match format.arguments(bytes[lane].whole().unwrap_or(&[])) {
                Ok(found) => (wanted[lane], arguments[lane]) = (format.strings(&found), found),
                Err(error) => formats[lane] = Err(error),
            }
        }
        // Lane by lane as many as it has; those that have no more send nothing.
        let rounds = wanted.iter().map(Vec::len).max().unwrap_or(0);
        let mut strings = vec![Vec::new(); port.width()];
        let mut kept = Vec::new();
        for round in 0..rounds {
            port.send(|lane| [0, wanted[lane as usize].get(round).copied().unwrap_or(0), 0, 0, 0, 0, 0, 0]).await;
            let sent = port.receive_bytes(&quota).await;
            for (lane, text) in sent.into_iter().enumerate().filter(|&(lane, _)| round < wanted[lane].len()) {
                strings[lane].push(text.text().map(<[u8]>::to_vec));
                // Its bytes are counted until they are printed.
                kept.push(text);
            }
        }
        self.before_writing(to.unwrap_or(Which::File(0))).await;
        let mut results = [0; WIDEST];
        for lane in lanes(port.mask()) {
            let lane = lane as usize;
            let text = formats[lane].as_ref().map_err(Clone::clone).and_then(|format| format.text(&arguments[lane], &strings[lane]));
            results[lane] = match text {
                Ok(text) if self.put(targets[lane], &text) == text.len() => text.len() as u64,
                Ok(_) => FAILED,
                Err(error) => self.refuse_to_print(&error),
            };
        }
        drop((texts, bytes, kept));
        port.send_word(|lane| results[lane as usize]).await;
    }

    #[cold]
    fn refuse_to_print(&self, error: &PrintError) -> u64 {
        if self.allowed {
            self.report(errno::EINVAL, error);
        }
        FAILED
    }

    async fn allocate(self, mut port: Port) {
        let heap = &self.libc().heap;
        port.answer(|_, packet| {
            let address = self.check().ok().and_then(|()| lock(heap).take(packet[0]));
            [address.unwrap_or(0), 0, 0, 0, 0, 0, 0, 0]
        })
        .await;
    }

    async fn free(self, mut port: Port) {
        port.receive().await;
        for lane in lanes(port.mask()) {
            let address = port.packet(lane)[0];
            if address != 0 && !lock(&self.libc().heap).give_back(address) {
                self.report(errno::EINVAL, "an address that `malloc` has not returned, or that was freed before");
            }
        }
    }

    async fn remove(self, mut port: Port) {
        let paths = port.receive_bytes(&self.quota()).await;
        on_the_pool().await;
        let mounts = &self.libc().builtins.policy.mounts;
        let remove = |path: &[u8]| match mounts.entry(path, |entry| entry.remove_file()) {
            Err(EISDIR) => mounts.entry(path, |entry| entry.remove_dir()),
            done => done,
        };
        let mut results = [FAILED; WIDEST];
        for lane in lanes(port.mask()) {
            let path = paths[lane as usize].text().filter(|_| self.allowed);
            results[lane as usize] = path.map_or(FAILED, |path| status(remove(path)));
        }
        port.send_word(|lane| results[lane as usize]).await;
    }

    async fn rename(self, mut port: Port) {
        let old = port.receive_bytes(&self.quota()).await;
        let new = port.receive_bytes(&self.quota()).await;
        on_the_pool().await;
        let mounts = &self.libc().builtins.policy.mounts;
        let rename = |old: &[u8], new: &[u8]| mounts.entries(old, new, |old, new| old.rename(new, rustix::fs::RenameFlags::empty()));
        let mut results = [FAILED; WIDEST];
        for lane in lanes(port.mask()) {
            let paths = old[lane as usize].text().zip(new[lane as usize].text()).filter(|_| self.allowed);
            results[lane as usize] = paths.map_or(FAILED, |(old, new)| status(rename(old, new)));
        }
        port.send_word(|lane| results[lane as usize]).await;
    }

    async fn system(self, mut port: Port) {
        let commands = port.receive_bytes(&self.quota()).await;
        on_the_pool().await;
        let mut results = [FAILED; WIDEST];
        for lane in lanes(port.mask()) {
            let command = commands[lane as usize].text().filter(|_| self.allowed);
            results[lane as usize] = command.and_then(|command| self.run(command)).unwrap_or(FAILED);
        }
        port.send_word(|lane| results[lane as usize]).await;
    }

    /// Runs a command by the system's shell, if that is granted: its status as `wait` says it. What it prints goes
    /// where the host's own output goes.
    fn run(&self, command: &[u8]) -> Option<u64> {
        let builtins = &self.libc().builtins;
        builtins.policy.commands.check(command).ok()?;
        // What was printed before comes before.
        [1, 2].iter().try_for_each(|&number| builtins.console.flush_of(self.tenant(), number)).ok()?;
        let status = Command::new("/bin/sh").arg("-c").arg(OsStr::from_bytes(command)).stdin(Stdio::null()).status();
        Some(i64::from(status.ok()?.into_raw()) as u64)
    }

    /// A function of the host by its address: a number that the device has made up, as far as anybody knows.
    async fn host_call(self, mut port: Port) {
        drop(port.receive_bytes(&self.quota()).await);
        port.receive().await;
        self.report(errno::EPERM, "it asks the host to call an address, which is not done: make it a service of the host's");
        port.send_word(|_| 0).await;
    }

    async fn increment(self, mut port: Port) {
        port.answer(|_, mut packet| {
            packet[0] = packet[0].wrapping_add(1);
            packet
        })
        .await;
    }

    async fn interface(self, mut port: Port) {
        let mut counts = [0u64; WIDEST];
        port.receive().await;
        let ends_with_receive = lanes(port.mask()).next().is_some_and(|lane| port.packet(lane)[0] != 0);
        // Whether the host receives or sends.
        let steps = [true, false, true, false, true, true, false, false, ends_with_receive];
        for receives in steps {
            if receives {
                port.receive().await;
                lanes(port.mask()).for_each(|lane| counts[lane as usize] = port.packet(lane)[0]);
            } else {
                counts.iter_mut().for_each(|count| *count = count.wrapping_add(1));
                port.send_word(|lane| counts[lane as usize]).await;
            }
        }
    }

    async fn echo(self, mut port: Port) {
        let sent = port.receive_bytes(&self.quota()).await;
        let back: Vec<_> = sent.iter().map(|bytes| self.whole(bytes).unwrap_or(&[]).to_vec()).collect();
        port.send_bytes(&back).await;
    }

    /// A handler of the user's is not called: the program has made all the calls that it may make.
    async fn refuse(self, mut port: Port) {
        port.receive().await;
        port.send_word(|_| 0).await;
    }

    async fn unknown(self, mut port: Port) {
        /// LLVM's `RPC_SUCCESS` and `RPC_UNHANDLED_OPCODE`.
        const SUCCESS: u32 = 0;
        const UNHANDLED: u32 = 0x1001;
        if let Some(callback) = &self.libc().builtins.rpc_callback {
            on_the_pool().await;
            match port.served_by(callback) {
                Some(SUCCESS) => return,
                // Of a client that was recompiled there is no object that the callback could get.
                Some(UNHANDLED) | None => {}
                Some(code) => return self.report(code, format_args!("opcode {:#010x}: the RPC callback returned {code:#x}", self.opcode)),
            }
        }
        port.receive().await;
        self.report(self.opcode, format_args!("opcode {:#010x} is not served: its lanes get zeros", self.opcode));
        port.send_word(|_| 0).await;
    }
}

#[cfg(test)]
mod tests;
