//! Any handler, for each kernel by itself.

use super::Table;
use crate::batch::Batch;
use crate::handler::{Flow, Handler};
use crate::report::{self, Cell, Report};
use hostcall_abi::Plain;

/// Gives the messages of each kernel to a handler's state of their own, so that a place in the source that several
/// kernels come to is told apart by them. The report has a column more, and lines begin with the kernel's name.
///
/// It keeps the states of up to 256 kernels on each thread; messages of further ones, and of kernels that are not
/// known, are together in one more.
#[derive(Clone, Debug, Default)]
pub struct ByKernel<H>(pub H);

/// Kernels that have a state of their own.
const KERNELS: usize = 256;

/// What [`ByKernel`] keeps: a state of its handler for each kernel.
#[derive(Clone, Debug)]
pub struct Kernels<S> {
    states: Table<Option<&'static str>, S>,
}

impl<S> Default for Kernels<S> {
    fn default() -> Self {
        Self { states: Table::default() }
    }
}

impl<S: Default> Kernels<S> {
    /// The states, by the kernels' names; `None`: nobody knows.
    pub fn all(&self) -> Vec<(Option<&'static str>, &S)> {
        let mut all: Vec<_> = self.states.iter().map(|(kernel, state)| (*kernel, state)).collect();
        all.sort_unstable_by_key(|(kernel, _)| *kernel);
        all
    }

    /// The state of a kernel.
    pub fn get(&self, kernel: &str) -> Option<&S> {
        self.states.iter().find(|(name, _)| **name == Some(kernel)).map(|(_, state)| state)
    }

    fn of(&mut self, kernel: Option<&'static str>) -> &mut S {
        let kernel = kernel.filter(|_| self.states.len() < KERNELS || self.states.contains_key(&kernel));
        self.states.entry(kernel).or_default()
    }
}

impl<M: Plain, H: Handler<M>> Handler<M> for ByKernel<H> {
    type State = Kernels<H::State>;

    fn fold(&self, state: &mut Self::State, batch: &Batch<'_, M>) -> Flow {
        let mut flow = Flow::Done;
        for (kernel, batch) in batch.by_kernel() {
            if self.0.fold(state.of(kernel), &batch) == Flow::Next {
                flow = Flow::Next;
            }
        }
        flow
    }

    fn merge(&self, into: &mut Self::State, from: &Self::State) {
        from.states.iter().for_each(|(kernel, state)| self.0.merge(into.of(*kernel), state));
    }

    fn report(&self, state: &Self::State) -> Report {
        let mut all = Report::new(self.0.report(&H::State::default()).title);
        for (kernel, state) in state.all() {
            let kernel = kernel.unwrap_or("unknown");
            let Report { lines, tables, .. } = self.0.report(state);
            all.lines.extend(lines.into_iter().map(|line| format!("{kernel}: {line}")));
            for report::Table { title, columns, rows } in tables {
                let at = all.tables.iter().position(|table| table.title == title).unwrap_or_else(|| {
                    let columns = std::iter::once("kernel".to_owned()).chain(columns).collect();
                    all.tables.push(report::Table { title, columns, rows: Vec::new() });
                    all.tables.len() - 1
                });
                all.tables[at].rows.extend(rows.into_iter().map(|row| std::iter::once(Cell::from(kernel)).chain(row).collect()));
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Message, kept, messages};
    use super::super::{CacheLines, Counts};
    use super::*;
    use crate::dispatch::Dispatch;
    use hostcall_abi::stream::{Access, AccessKind, Space};
    use proptest::prelude::*;

    fn read(address: u64) -> Access {
        Access::new(address, AccessKind::Read, Space::Global, 4)
    }

    proptest! {
        #[test]
        fn each_kernel_has_what_the_handler_makes_of_its_messages(
            messages in messages((0..4096u64).prop_map(read)), kernels in prop::collection::vec(0..3usize, 12), threads in 1..4usize, together in 1..5usize
        ) {
            const NAMES: [Option<&str>; 3] = [None, Some("one"), Some("two")];
            let named: Vec<_> = messages.iter().zip(&kernels)
                .map(|(message, kernel)| message.clone().of(Dispatch::new(None, NAMES[*kernel]))).collect();
            let state = kept(&ByKernel(CacheLines::default()), &named, threads, together);
            for (number, name) in NAMES.into_iter().enumerate() {
                let its: Vec<_> = messages.iter().zip(&kernels).filter(|(_, kernel)| **kernel == number).map(|(message, _)| message.clone()).collect();
                let alone = kept(&CacheLines::default(), &its, 1, 1);
                let found = state.all().into_iter().find(|(kernel, _)| *kernel == name).map(|(_, state)| state.clone());
                prop_assert_eq!(found.unwrap_or_default(), alone);
            }
        }

        #[test]
        fn a_handler_that_looks_at_values_alone_sees_those_of_its_kernel(
            messages in messages((0..99u64).prop_map(read)), kernels in prop::collection::vec(any::<bool>(), 12), together in 1..5usize
        ) {
            let named: Vec<_> = messages.iter().zip(&kernels)
                .map(|(message, kernel)| message.clone().of(Dispatch::new(None, kernel.then_some("one")))).collect();
            let counts = ByKernel(Counts::of("values", |_: &crate::Origin, access: &Access| access.address() % 7));
            let count = |all: Option<&super::super::Counted<u64>>| all.map_or(0, |all| all.rows().iter().map(|(_, count)| *count).sum::<u64>());
            let state = kept(&counts, &named, 1, together);
            let wanted: u64 = messages.iter().zip(&kernels).filter(|(_, kernel)| **kernel).map(|(message, _)| message.values.len() as u64).sum();
            prop_assert_eq!(count(state.get("one")), wanted);
        }
    }

    #[test]
    fn a_report_has_a_row_for_each_kernel_and_place() {
        let message = |kernel, lane_bytes: u64| {
            Message::new(u64::from(u32::MAX), (0..32).map(|lane| read(0x1000 + lane_bytes * lane)).collect())
                .at(1)
                .of(Dispatch::new(None, Some(kernel)))
        };
        let handler = ByKernel(CacheLines::default());
        let report = handler.report(&kept(&handler, &[message("b", 4), message("a", 128), message("b", 4)], 1, 3));
        assert_eq!(
            report.tables[0].to_csv(),
            "kernel,site,kind,accesses,lanes,bytes,lines,least lines,sectors,least sectors,sectors used [%]\r\n\
             a,1,read,1,32,128,32,1,32,4,12.5\r\nb,1,read,2,64,256,2,2,8,8,100\r\n"
        );
        assert_eq!(report.lines[0], "a: 1 accesses of waves to 128 bytes in 32 lines, where 1 would do");
    }
}
