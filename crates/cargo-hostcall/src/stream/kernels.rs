//! Which kernels a recording's messages are of, and in which shapes they were launched.

use std::collections::BTreeMap;

use hostcall_stream::file::Message;
use hostcall_stream::{Cell, Name, Shape, Table};

/// Counts by stream, device, kernel and shape.
#[derive(Default)]
pub(super) struct Kernels(BTreeMap<(Name, u32, &'static str, Option<Shape>), Counts>);

#[derive(Default)]
struct Counts {
    messages: u64,
    values: u64,
    /// The first and the last launch whose number is known.
    launches: Option<(u64, u64)>,
}

impl Kernels {
    pub(super) fn add(&mut self, message: &Message<'_>) {
        let key = (message.schema.name.clone(), message.program.device.number, message.dispatch.kernel_name(), message.dispatch.shape);
        let counts = self.0.entry(key).or_default();
        counts.messages += 1;
        counts.values += message.rows().count() as u64;
        if let Some(number) = message.dispatch.number {
            let (first, last) = counts.launches.unwrap_or((number, number));
            counts.launches = Some((first.min(number), last.max(number)));
        }
    }

    pub(super) fn table(&self, name: &str) -> Table {
        let columns = ["stream", "device", "kernel", "workgroups", "lanes of one", "messages", "values", "first launch", "last launch"];
        let mut table = Table::new(name, &columns);
        let side = |[x, y, z]: [u32; 3]| Cell::from(format!("{x}x{y}x{z}"));
        for ((stream, device, kernel, shape), counts) in &self.0 {
            let (groups, lanes) =
                shape.map_or_else(|| ("unknown".into(), "unknown".into()), |shape| (side(shape.groups), side(shape.group_size)));
            let (first, last) = counts.launches.unzip();
            let (stream, device, kernel) = (stream.into(), (*device).into(), (*kernel).into());
            table.row([stream, device, kernel, groups, lanes, counts.messages.into(), counts.values.into(), first.into(), last.into()]);
        }
        table
    }
}
