//! Arbitrary text, as a TableGen source: lexer, parser, evaluator, dumps and diagnostics.
//!
//! Either there are records, and both dumps can be made of them; or there is an error. No input may crash, hang, or
//! take memory without bounds: the limits are set low here, so that reaching them takes no time.

use tablegen::{Limits, Options, Severity};

/// Evaluates one input, and dumps what it defines.
///
/// # Panics
/// When there is neither a record nor an error, or a dump is malformed.
pub fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let limits = Limits {
        nesting: 200,
        expression: 200,
        depth: 500,
        instantiations: 100,
        includes: 4,
        list: 1 << 12,
        text: 1 << 20,
        nodes: 1 << 18,
        records: 1 << 12,
        string: 1 << 16,
        fields: 1 << 16,
        steps: 1 << 20,
    };
    let options = Options { limits, ..Options::default() };
    let outcome = tablegen::parse_str("input.td", &text, &options);
    let mut told = Vec::new();
    for diagnostic in &outcome.diagnostics {
        tablegen::emit(diagnostic, &outcome.sources, tablegen::Style::default(), &mut told).expect("written to memory");
    }
    let failed = outcome.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    assert_eq!(failed, outcome.records.is_none(), "records and errors exclude each other: {}", String::from_utf8_lossy(&told));
    if let Some(records) = &outcome.records {
        let (mut text, mut json) = (Vec::new(), Vec::new());
        tablegen::print_records(records, &mut text).expect("written to memory");
        tablegen::dump_json(records, &mut json).expect("written to memory");
        let json: serde_json::Value = serde_json::from_slice(&json).expect("the dump is JSON");
        for record in records.defs() {
            assert_eq!(json[record.name()]["!name"], record.name(), "each record is in the dump");
        }
    }
}
