//! The example `transpose` on the simulator.

#[path = "../heatmap/transpose.rs"]
#[expect(dead_code, reason = "its `main`")]
mod example;

use hostcall::{Device, SimConfig};
use hostcall_stream::handlers::BankConflicts;
use hostcall_stream::{Access, AccessKind};

#[test]
fn a_word_of_padding_ends_the_conflicts_of_the_line_that_reads_columns() {
    let device = Device::sim(SimConfig::default()).expect("the simulator");
    let mut extra = Vec::new();
    let ran = example::transpose(&device, None, |pitch, streams| {
        let rows = streams.state::<Access, BankConflicts>().expect("the handler's state").rows();
        let [(written, AccessKind::Write, write), (read_at, AccessKind::Read, read)] = rows[..] else { panic!("{rows:?}") };
        assert!(written != 0 && read_at != 0 && written != read_at, "both say where in the source");
        let report = streams.reports_of::<BankConflicts>().remove(0).to_string();
        assert!(report.contains("src/transpose.rs:"), "{report}");
        extra.push((pitch, write.extra, read.extra));
    });
    ran.expect("it is transposed");
    assert_eq!(extra, [(32, 0, 31 * 16 * 32), (33, 0, 0)], "each of 32 waves' reads of 16 tiles takes 32 cycles");
}
