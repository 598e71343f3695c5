//! What came of a call, beside what was recorded of it.

use std::ptr;

use offload::Sha256;
use serde_json::Value;

use super::ReplayError;
use super::calls::{HERE, Player};
use super::script::{Call, Said};
use crate::runtime::safe::result;
use crate::{Api, Error, entry};

impl<A: Api> Player<'_, A> {
    /// Compares codes. A call that gave something and fails here ends the replay.
    pub(super) fn compare(&mut self, call: &Call<'_>, made: &Result<(), Error>) -> Result<(), ReplayError> {
        let Some(after) = call.after else { return Ok(()) };
        let recorded = after.word("code")?;
        let code = made.as_ref().map_or_else(|error| error.code.0, |_| 0);
        self.report.compared += 1;
        if recorded == code {
            return Ok(());
        }
        let name = format!("{} (call {})", call.name, call.number);
        let relied_on = ["Queue", "Event", "Program", "Symbol", "Region"].iter().any(|name| after.text.contains_key(*name));
        match made {
            Err(error) if recorded == 0 && relied_on => Err(ReplayError::Call { call: name, error: error.to_string() }),
            _ => {
                let said = made.as_ref().map_or_else(ToString::to_string, |_| "it succeeded".to_owned());
                self.report.differences.push(format!("{name}: code {recorded} was recorded, and here {said}"));
                Ok(())
            }
        }
    }

    /// Compares what was copied to the program, and what is in regions.
    pub(super) fn compare_memory(&mut self, call: &Call<'_>, after: &Said<'_>) -> Result<(), ReplayError> {
        let name = format!("{} (call {})", call.name, call.number);
        for copy in after.text.get("Copied").and_then(Value::as_array).into_iter().flatten() {
            let (recorded, number) = (after.data_at(copy)?, copy.get("call").and_then(Value::as_u64).unwrap_or(0));
            let here = self.memory.copied(number).and_then(|bytes| bytes.get(..recorded.len()));
            let here = here.ok_or_else(|| after.error(format!("call {number} copied nothing to the program")))?;
            self.report.compared += 1;
            if let Some(at) = here.iter().zip(recorded).position(|(here, recorded)| here != recorded) {
                let (recorded, here) = (recorded[at], here[at]);
                let text = format!("{name}: byte {at} of what call {number} copied was {recorded:#04x}, and is {here:#04x} here");
                self.report.differences.push(text);
            }
        }
        for region in after.text.get("Regions").and_then(Value::as_array).into_iter().flatten() {
            let (Some(number), Some(hash)) = (region.get("region").and_then(Value::as_u64), region.get("sha256").and_then(Value::as_str))
            else {
                return Err(after.error("a region has no number or no hash"));
            };
            // Other queues were idle then; here they may still be at work.
            for queue in self.queues.values() {
                // SAFETY: a live queue.
                let _ = unsafe { result(entry::sync_queue::<A>(*queue, HERE)) };
            }
            let (address, size) = {
                let region = self.memory.region(number, after)?;
                (region.address, region.size)
            };
            let mut bytes = vec![0u8; size];
            if self.memory.is_own(number) {
                // SAFETY: memory of this program's own, of that size; no queue has work.
                unsafe { ptr::copy_nonoverlapping(ptr::with_exposed_provenance(address), bytes.as_mut_ptr(), size) };
            } else if let Err(error) = self.copy(bytes.as_mut_ptr().cast(), ptr::with_exposed_provenance(address), size) {
                self.report.differences.push(format!("{name}: region {number} cannot be read: {error}"));
                continue;
            }
            self.report.compared += 1;
            if Sha256::of(&bytes).to_string() != hash {
                self.report.differences.push(format!("{name}: region {number} ({size} bytes) has another content"));
            }
        }
        Ok(())
    }
}
