//! Messages of one service that the dispatcher has: arguments out, answers in.

use std::sync::{Arc, Mutex};

use hostcall::{Batch as Message, Failure, HandlerResult, Invocation, VariableKind};
use hostcall_abi::codec::VarHead;
use numpy::{IntoPyArray as _, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::define::Defined;
use crate::error::{invalid, stopped};
use crate::queue::{Chunk, Held, Queue, each, lock};
use crate::variable::Variables;

/// Messages of one service, to be answered once.
#[pyclass(frozen, module = "hostcall._hostcall")]
#[derive(Debug)]
pub(crate) struct Batch {
    queue: Arc<Queue>,
    lanes: usize,
    open: Mutex<Option<Open>>,
}

/// Messages that have no answer yet.
#[derive(Debug)]
struct Open {
    rows: Vec<u32>,
    messages: Vec<Held>,
    variables: Variables,
    failures: Vec<Failed>,
}

/// Lanes that have no result.
#[derive(Debug)]
struct Failed {
    row: usize,
    code: u32,
    text: Arc<str>,
}

/// What goes back of `&mut [T]`: of each lane and variable, its bytes.
type Outs = Vec<Vec<Vec<u8>>>;

/// Bytes of slices, and where each begins and ends.
type Slices<'py> = (Bound<'py, PyArray1<u8>>, Vec<(usize, usize)>);

impl Batch {
    pub(crate) fn new(queue: Arc<Queue>, chunk: Chunk) -> Self {
        let Chunk { rows, lanes, messages, variables, .. } = chunk;
        Self { queue, lanes, open: Mutex::new(Some(Open { rows, messages, variables, failures: Vec::new() })) }
    }

    fn with<T>(&self, body: impl FnOnce(&mut Open) -> T) -> PyResult<T> {
        lock(&self.open).as_mut().map(body).ok_or_else(|| stopped("these calls have been answered"))
    }
}

#[pymethods]
impl Batch {
    /// The service, as Python numbers them.
    #[getter]
    fn service(&self) -> usize {
        self.queue.id
    }

    /// How many lanes call.
    #[getter]
    fn lanes(&self) -> usize {
        self.lanes
    }

    /// The fixed arguments of all lanes: rows of 32-bit units, in memory that the array owns from now on.
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u32>>> {
        Ok(self.with(|open| std::mem::take(&mut open.rows))?.into_pyarray(py))
    }

    /// The strings that are argument `variable` of the service's strings and slices.
    fn strings<'py>(&self, py: Python<'py>, variable: usize) -> PyResult<Vec<Bound<'py, PyString>>> {
        self.with(|open| {
            let Variables { bytes, places } = &open.variables;
            let of_lane = places.iter().skip(variable).step_by(self.queue.defined.variables.len().max(1));
            // They were read as `&str`.
            of_lane.map(|&(start, end)| PyString::new(py, std::str::from_utf8(&bytes[start..end]).unwrap_or_default())).collect()
        })
    }

    /// The bytes of all strings and slices, and where those of each lane and variable begin and end. The array owns
    /// them from now on.
    fn slices<'py>(&self, py: Python<'py>) -> PyResult<Slices<'py>> {
        let Variables { bytes, places } = self.with(|open| std::mem::take(&mut open.variables))?;
        Ok((bytes.into_pyarray(py), places))
    }

    /// Lanes have no result: they get this code, the report the text.
    fn fail(&self, lanes: PyReadonlyArray1<'_, u32>, codes: PyReadonlyArray1<'_, u32>, text: &str) -> PyResult<()> {
        let (lanes, codes, text) = (lanes.as_array(), codes.as_array(), Arc::<str>::from(text));
        if lanes.len() != codes.len() || lanes.iter().any(|&lane| lane as usize >= self.lanes) {
            return Err(invalid(format!("{} lanes, {} codes: of a batch of {}", lanes.len(), codes.len(), self.lanes)));
        }
        let failed = lanes.iter().zip(&codes).map(|(&lane, &code)| Failed { row: lane as usize, code, text: text.clone() });
        self.with(|open| open.failures.extend(failed))
    }

    /// All lanes have no result.
    fn fail_all(&self, py: Python<'_>, code: u32, text: &str) -> PyResult<()> {
        let open = lock(&self.open).take().ok_or_else(|| stopped("these calls have been answered"))?;
        let failure = Failure::HandlerFailed { code, message: text.to_owned() };
        py.detach(|| {
            for mut held in open.messages {
                held.message.batch().fail_rest(failure.clone());
            }
        });
        Ok(())
    }

    /// Gives the results, rows of units, and what goes back of `&mut [T]`. Lanes that were failed have none.
    #[pyo3(signature = (results=None, outs=None))]
    fn answer(&self, py: Python<'_>, results: Option<PyReadonlyArray1<'_, u32>>, outs: Option<Outs>) -> PyResult<()> {
        let defined = &self.queue.defined;
        let wanted = self.lanes * defined.reply_units();
        let results = match results {
            // Copied while the interpreter is held: others may write there.
            Some(results) => results.as_slice().map_err(invalid)?.to_vec(),
            None => Vec::new(),
        };
        if results.len() != wanted {
            return Err(invalid(format!("results of {} units, where {} lanes have {wanted}", results.len(), self.lanes)));
        }
        if outs.as_ref().is_some_and(|outs| outs.len() != self.lanes) {
            return Err(invalid("one list of slices for each lane is given, or none"));
        }
        let open = lock(&self.open).take().ok_or_else(|| stopped("these calls have been answered"))?;
        py.detach(|| self.queue.recycle(open.answer(defined, &results, outs.as_ref())));
        Ok(())
    }

    /// The same messages, each as a batch of its own, and the row of its first lane.
    fn split(&self) -> PyResult<Vec<(usize, Batch)>> {
        let Open { messages, .. } = lock(&self.open).take().ok_or_else(|| stopped("these calls have been answered"))?;
        let apart = messages.into_iter().map(|held| {
            let (first, lanes) = (held.first, held.lanes.count_ones() as usize);
            let messages = vec![Held { first: 0, ..held }];
            let open = Open { rows: Vec::new(), messages, variables: Variables::default(), failures: Vec::new() };
            (first, Batch { queue: self.queue.clone(), lanes, open: Mutex::new(Some(open)) })
        });
        Ok(apart.collect())
    }

    fn __len__(&self) -> usize {
        self.lanes
    }

    fn __repr__(&self) -> String {
        let state = if lock(&self.open).is_some() { "open" } else { "answered" };
        format!("<{} calls of {}, {state}>", self.lanes, self.queue.defined.definition.name)
    }
}

impl Open {
    /// Answers all, and gives back the list that they were in.
    fn answer(self, defined: &Defined, results: &[u32], outs: Option<&Outs>) -> Vec<Held> {
        let Self { mut messages, mut failures, .. } = self;
        failures.sort_by_key(|failed| failed.row);
        each(&mut messages, |held| answer(held, defined, results, outs, &failures));
        messages
    }
}

/// Answers one message. `failures` are those of all, by row.
fn answer(mut held: Held, defined: &Defined, results: &[u32], outs: Option<&Outs>, failures: &[Failed]) {
    let (first, lanes, width) = (held.first, held.lanes, defined.reply_units());
    let count = lanes.count_ones() as usize;
    if held.message.is_post() && failures.is_empty() {
        return held.message.finish();
    }
    let mut batch = held.message.batch();
    let row = |i: usize| &results[(first + i) * width..][..width];
    if !batch.is_post() {
        if let Some(outs) = outs {
            for (i, lane) in bits(lanes).enumerate() {
                batch.call(lane, |call| reply(defined, call, row(i), &outs[first + i]));
            }
        } else if count == batch.len() {
            batch.reply_all(|mut rows| rows.copy_from(&results[first * width..][..count * width]));
        } else {
            bits(lanes).enumerate().for_each(|(i, lane)| reply_units(&mut batch, lane, row(i)));
        }
    }
    let begin = failures.partition_point(|failed| failed.row < first);
    for failed in failures[begin..].iter().take_while(|failed| failed.row < first + count) {
        if let Some(lane) = bits(lanes).nth(failed.row - first) {
            batch.fail(lane, Failure::HandlerFailed { code: failed.code, message: failed.text.to_string() });
        }
    }
    held.message.finish();
}

fn bits(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = mask.trailing_zeros() as usize;
        mask &= mask.wrapping_sub(1);
        (bit < 64).then_some(bit)
    })
}

fn reply_units(batch: &mut Message<'_>, lane: usize, units: &[u32]) {
    let bytes: Vec<u8> = units.iter().flat_map(|unit| unit.to_ne_bytes()).collect();
    batch.reply_bytes(lane, &bytes);
}

/// One lane's reply: what goes back of its slices has its place behind the arguments, which are decoded once more.
fn reply(defined: &Defined, call: &mut Invocation<'_>, result: &[u32], outs: &[Vec<u8>]) -> HandlerResult {
    let mut writers = Vec::new();
    let mut at = VarHead::DWORDS;
    for variable in &defined.variables {
        while at < variable.unit {
            call.fixed::<u32>()?;
            at += 1;
        }
        at += 1;
        match variable.kind {
            VariableKind::SliceMut => writers.push(call.writer::<u8>()?),
            _ => _ = call.raw_slice()?,
        }
    }
    for (writer, out) in writers.iter_mut().zip(outs) {
        writer.write(out);
    }
    let written: Vec<_> = writers.into_iter().map(hostcall::Out::finish).collect();
    call.reply_units_written(result, &written);
    Ok(())
}
