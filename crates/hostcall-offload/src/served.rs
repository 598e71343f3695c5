//! A server for each program that makes calls.
//!
//! It starts when the program is loaded and ends with it, so that what its kernels report is the program's. Services of
//! the library ([`hostcall::builtin`]) are answered by the server; all others that the program names get numbers that
//! no service has, and are asked of the platform's callback.

use std::ffi::CString;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hostcall::{AttachError, Awake, BufferError, Definition, Invocation, Server, ServerBuilder, ServerError, Service};
use hostcall_abi::descriptor::SERVICE_PREFIX;
use hostcall_abi::llvm_rpc::CLIENT_SYMBOL;
use liboffload::library::host_calls::{Attached, HostCalls, Refusal, RpcCallback};

use crate::{grants, port};

/// Starts servers.
pub(crate) struct Servers;

/// The number of the first service that the server does not have. Its own are counted from 1.
const FIRST_ASKED: u16 = 0x8000;

impl HostCalls for Servers {
    fn attach(&self, program: &offload::Program, callback: RpcCallback) -> Result<Box<dyn Attached>, Refusal> {
        let granted = std::env::var("OFFLOAD_GRANT").unwrap_or_default();
        let server = grants::grant(Server::without_device(), &granted).map_err(Refusal::Environment)?;
        let server = of_llvm(server, program, callback).map_err(Refusal::Device)?;
        let server = server.start().map_err(|error| match error {
            ServerError::Attach(error) => refusal(error),
            error => Refusal::System(error.to_string()),
        })?;
        server.attach(program).map_err(refusal)?;
        let asked = number_others(program, &server)?;
        if !asked.is_empty() {
            let definition =
                Definition { name: "(asked)".into(), signature: 0, text: "".into(), takes_var: false, units: 0, reply_dwords: None };
            let handler = move |call: &mut Invocation<'_>| {
                let name = call.service().checked_sub(FIRST_ASKED).and_then(|index| asked.get(usize::from(index)));
                match name {
                    Some(name) => port::ask(callback, name, call),
                    None => Err(hostcall::Failure::Status(hostcall::CallError::UnknownService)),
                }
            };
            // The function is the user's and may take its time.
            let service = Service::new(definition, handler).blocking();
            server.set_default_handler(Some(service)).map_err(|error| Refusal::System(error.to_string()))?;
        }
        Ok(Box::new(Served(Arc::new(Shared { server, running: Mutex::default() }))))
    }
}

/// What a program that is linked with LLVM's libc for GPUs has besides: memory for its `malloc`, and the callback for
/// opcodes that the server does not have, which gets LLVM's own object of a port.
fn of_llvm(server: ServerBuilder, program: &offload::Program, callback: RpcCallback) -> Result<ServerBuilder, offload::Error> {
    /// Bytes of device memory for such a program.
    const HEAP: usize = 64 << 20;
    if program.find_global(CLIENT_SYMBOL)?.is_none() {
        return Ok(server);
    }
    let ask = move |port, lanes| {
        // SAFETY: the port is what LLVM's header defines, and lives until the function returns.
        let asked = offload::waits::letting_a_device_go_on(|| unsafe { callback.call(port, lanes) });
        asked.unwrap_or(port::UNHANDLED)
    };
    Ok(server.heap(HEAP).rpc_callback(ask))
}

fn refusal(error: AttachError) -> Refusal {
    match error {
        AttachError::Device(error) | AttachError::Buffer(BufferError::Device(error)) => Refusal::Device(error),
        error => Refusal::Mismatch(error.to_string()),
    }
}

/// Gives numbers to the program's services that the server does not have; their names in the order of the numbers.
fn number_others(program: &offload::Program, server: &Server) -> Result<Vec<CString>, Refusal> {
    let known = server.stats();
    let is_known = |name: &str| known.services.iter().any(|service| &*service.name == name);
    let mut names = Vec::new();
    for name in program.services().iter().filter(|name| !is_known(name)) {
        let Some(word) = program.find_global(&format!("{SERVICE_PREFIX}{name}")).map_err(Refusal::Device)? else { continue };
        let (Ok(next), Ok(name)) = (u16::try_from(names.len()), CString::new(name.as_str())) else { continue };
        let Some(next) = FIRST_ASKED.checked_add(next).filter(|_| word.size() == size_of::<u32>()) else { continue };
        word.write(&u32::from(next).to_ne_bytes()).map_err(Refusal::Device)?;
        names.push(name);
    }
    Ok(names)
}

/// A program's server.
struct Served(Arc<Shared>);

struct Shared {
    server: Server,
    running: Mutex<Running>,
}

#[derive(Default)]
struct Running {
    /// Kernels that may be running.
    count: usize,
    /// Whether lanes were ended that may have held ports.
    ended: bool,
}

impl Shared {
    fn running(&self) -> MutexGuard<'_, Running> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Frees the ports of lanes that were ended, if no kernel holds any.
    fn free(&self, running: &mut Running) -> Result<(), String> {
        if running.ended && running.count == 0 {
            self.server.free_ports().map_err(|error| error.to_string())?;
            running.ended = false;
        }
        Ok(())
    }
}

/// A kernel that may be running.
struct Kernel {
    // Dropped before the server can be.
    _awake: Awake,
    shared: Arc<Shared>,
}

impl Drop for Kernel {
    fn drop(&mut self) {
        self.shared.running().count -= 1;
    }
}

impl Attached for Served {
    fn awake(&self) -> Box<dyn Send> {
        let mut running = self.0.running();
        // If it fails, the ports stay lost, and the next wait says so.
        let _ = self.0.free(&mut running);
        running.count += 1;
        drop(running);
        Box::new(Kernel { _awake: self.0.server.keep_awake(), shared: self.0.clone() })
    }

    fn collect(&self) -> Result<(), String> {
        let report = self.0.server.collect();
        let mut running = self.0.running();
        running.ended |= !(report.panics.is_empty() && report.exits.is_empty());
        self.0.free(&mut running)?;
        if report.is_success() { Ok(()) } else { Err(report.to_string()) }
    }
}
