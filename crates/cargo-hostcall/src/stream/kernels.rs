//! Which kernels a recording's messages are of.

use std::collections::BTreeMap;

use hostcall_stream::file::Message;
use hostcall_stream::{Name, Table};

/// Counts by stream, device and kernel.
#[derive(Default)]
pub(super) struct Kernels(BTreeMap<(Name, u32, &'static str), Counts>);

#[derive(Default)]
struct Counts {
    messages: u64,
    values: u64,
    /// The first and the last launch whose number is known.
    launches: Option<(u64, u64)>,
}

impl Kernels {
    pub(super) fn add(&mut self, message: &Message<'_>) {
        let key = (message.schema.name.clone(), message.program.device.number, message.dispatch.kernel_name());
        let counts = self.0.entry(key).or_default();
        counts.messages += 1;
        counts.values += message.rows().count() as u64;
        if let Some(number) = message.dispatch.number {
            let (first, last) = counts.launches.unwrap_or((number, number));
            counts.launches = Some((first.min(number), last.max(number)));
        }
    }

    pub(super) fn table(&self, name: &str) -> Table {
        let mut table = Table::new(name, &["stream", "device", "kernel", "messages", "values", "first launch", "last launch"]);
        for ((stream, device, kernel), counts) in &self.0 {
            let (first, last) = counts.launches.unzip();
            let (stream, device, kernel) = (stream.into(), (*device).into(), (*kernel).into());
            table.row([stream, device, kernel, counts.messages.into(), counts.values.into(), first.into(), last.into()]);
        }
        table
    }
}
