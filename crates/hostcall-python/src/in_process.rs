//! Calls that this process makes itself, through a port buffer of its own and the client's half of the state machine:
//! how kernels call that are simulated by other packages than this one.

use std::sync::{Arc, Mutex};

use hostcall::__private::PortBuffer;
use hostcall::test_utils::{MockDevice, MockWave, var_units};
use hostcall_abi::codec::VarHead;
use hostcall_abi::{CallError, Flags, Geometry, Status};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::invalid;
use crate::queue::lock;
use crate::server::{Server, Shared};

/// As many ports as threads of a simulated block are likely to call at once, and one slot for all strings and slices.
const GEOMETRY: Geometry =
    Geometry { ports: 64, lanes: 32, request_words: 512, reply_words: 256, slots: 1, slot_bytes: 16 << 20, window: false };

/// Units of a message without staging: what 255 words surely hold.
const MOST_UNITS: usize = 700;

/// The client of a server in its own process. Each call is a wave of one lane.
#[pyclass(frozen, module = "hostcall._hostcall")]
pub(crate) struct InProcess {
    shared: Arc<Shared>,
    device: MockDevice,
    /// Whose the staging slot is.
    slot: Mutex<()>,
}

/// Status, what belongs to it, the reply's units, and the bytes that came back.
type Ended<'py> = (u16, u32, Vec<u32>, Bound<'py, PyBytes>);

#[pymethods]
impl InProcess {
    #[new]
    fn new(py: Python<'_>, server: &Server) -> PyResult<Self> {
        let memory = PortBuffer::in_process(GEOMETRY).map_err(invalid)?;
        let shared = server.shared().clone();
        let buffer = shared.with(|server| Ok(py.detach(|| server.add_buffer(memory))))?;
        // Its calls are of no kernel that the server could know of.
        let _ = buffer.descriptor();
        Ok(Self { shared, device: MockDevice::new(buffer), slot: Mutex::default() })
    }

    /// Calls the service of this name, or posts to it. `units` are its fixed arguments and the lengths of the others.
    /// If its definition has others: `variable`, the bytes of them, each padded to 4, and how many bytes are to come
    /// back.
    fn call<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        units: Vec<u32>,
        variable: Option<(Vec<u8>, usize)>,
        post: bool,
    ) -> PyResult<Ended<'py>> {
        let handle = self.shared.with(|server| Ok(server.service_handle(name)))?;
        let Some(handle) = handle else { return Ok((Status::UNKNOWN_SERVICE.0, 0, Vec::new(), PyBytes::new(py, b""))) };
        let number = handle.number();
        let wave = self.device.wave(0);
        let (ended, bytes) = py.detach(|| match (variable, post) {
            (None, false) => (wave.call(number, &units), Vec::new()),
            (None, true) => (wave.post(number, Flags::default(), &units).map(|()| Vec::new()), Vec::new()),
            (Some((ins, _)), true) => (post_inline(&wave, number, &units, &ins), Vec::new()),
            (Some((ins, outs)), false) => self.staged(&wave, number, &units, &ins, outs),
        });
        let (status, detail, reply) = match ended {
            Ok(reply) => (Status::OK, 0, reply),
            Err(error) => {
                let (status, detail) = error.to_status();
                (status, detail, Vec::new())
            }
        };
        Ok((status.0, detail, reply, PyBytes::new(py, &bytes)))
    }
}

impl InProcess {
    /// Through the staging slot, which is this call's until it has ended.
    fn staged(&self, wave: &MockWave, number: u16, units: &[u32], ins: &[u8], outs: usize) -> (Result<Vec<u32>, CallError>, Vec<u8>) {
        if ins.len().max(outs) > GEOMETRY.slot_bytes as usize {
            return (Err(CallError::TooLarge { max: GEOMETRY.slot_bytes }), Vec::new());
        }
        let _slot = lock(&self.slot);
        wave.stage(0, ins);
        let mut all = vec![0, ins.len() as u32];
        all.extend(units);
        let ended = wave.call_with(number, Flags::STAGED, &all);
        let bytes = if ended.is_ok() { wave.staged(0, outs) } else { Vec::new() };
        (ended, bytes)
    }
}

/// A post's bytes are in its message: nobody waits, so nobody would know when a slot is free again.
fn post_inline(wave: &MockWave, number: u16, units: &[u32], ins: &[u8]) -> Result<Vec<u32>, CallError> {
    let all = var_units(VarHead::INLINE, units, ins);
    if all.len() > MOST_UNITS {
        return Err(CallError::TooLarge { max: MOST_UNITS as u32 * 4 });
    }
    wave.post(number, Flags::default(), &all).map(|()| Vec::new())
}
