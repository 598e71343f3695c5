//! Strings and slices of messages: copied when the dispatcher takes them, one behind the other.

use hostcall::{Failure, Requests, VariableKind};
use hostcall_abi::codec::VarHead;

use crate::define::Defined;

/// The strings and slices of all lanes of a chunk.
#[derive(Debug, Default)]
pub(crate) struct Variables {
    /// Their bytes. Each begins at a multiple of 16.
    pub(crate) bytes: Vec<u8>,
    /// Lane after lane, variable after variable: where the bytes begin and end; of a `&mut [T]` 0 and how many there is
    /// room for.
    pub(crate) places: Vec<(usize, usize)>,
}

impl Variables {
    /// Reads those of one lane. `room`: bytes for which its `&mut [T]` have room together.
    pub(crate) fn read(&mut self, defined: &Defined, requests: &Requests<'_>, lane: usize, room: usize) -> Result<(), Failure> {
        if !defined.definition.takes_var {
            return Ok(());
        }
        let (bytes, places) = (self.bytes.len(), self.places.len());
        let read = self.read_all(defined, requests, lane, room);
        if read.is_err() {
            self.bytes.truncate(bytes);
            self.places.truncate(places);
        }
        read
    }

    fn read_all(&mut self, defined: &Defined, requests: &Requests<'_>, lane: usize, room: usize) -> Result<(), Failure> {
        let mut arguments = requests.arguments(lane)?;
        let (mut at, mut used) = (VarHead::DWORDS, 0usize);
        for variable in &defined.variables {
            while at < variable.unit {
                arguments.fixed::<u32>()?;
                at += 1;
            }
            at += 1;
            match variable.kind {
                VariableKind::Str => self.push(arguments.str()?.as_bytes()),
                VariableKind::Slice => {
                    let bytes = arguments.slice::<u8>()?;
                    whole(bytes.len(), variable.element_bytes)?;
                    self.push(bytes);
                }
                VariableKind::SliceMut => {
                    let length = arguments.fixed::<u32>()? as usize;
                    whole(length, variable.element_bytes)?;
                    if used + length > room {
                        return Err(Failure::TooLarge { max: room as u32 });
                    }
                    used += length.next_multiple_of(4);
                    self.places.push((0, length));
                }
            }
        }
        Ok(())
    }

    fn push(&mut self, bytes: &[u8]) {
        let start = self.bytes.len().next_multiple_of(16);
        self.bytes.resize(start, 0);
        self.bytes.extend_from_slice(bytes);
        self.places.push((start, start + bytes.len()));
    }
}

/// Whether so many bytes are whole elements.
fn whole(bytes: usize, element: usize) -> Result<(), Failure> {
    if bytes.is_multiple_of(element) {
        return Ok(());
    }
    Err(hostcall_abi::codec::DecodeError::Length { bytes: bytes as u32, element: element as u32 }.into())
}
