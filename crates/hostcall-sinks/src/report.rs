//! What handlers found out, as tables of Arrow.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt64Array};
use arrow_schema::{DataType, Field, Metadata, Schema};
use hostcall_stream::{Cell, Report, Table};

/// The tables of a report, each with its title in the metadata (`hostcall.table`), and that of the report
/// (`hostcall.report`).
pub fn tables(report: &Report) -> Vec<RecordBatch> {
    report.tables.iter().map(|table| with_titles(table, Some(&report.title))).collect()
}

/// A table. Cells that are nothing are null. A column of counts and addresses is `UInt64`, one that has other numbers
/// too is `Float64`, and one that has words is `Utf8`, with the rest as it is printed.
pub fn table(table: &Table) -> RecordBatch {
    with_titles(table, None)
}

fn with_titles(table: &Table, report: Option<&str>) -> RecordBatch {
    let column = |index: usize| -> ArrayRef {
        let cells = || table.rows.iter().map(move |row| &row[index]);
        if cells().any(|cell| matches!(cell, Cell::Text(_))) {
            let text = |cell: &Cell| (*cell != Cell::Nothing).then(|| cell.to_string());
            Arc::new(cells().map(text).collect::<StringArray>())
        } else if cells().any(|cell| matches!(cell, Cell::Number(_))) {
            let number = |cell: &Cell| match cell {
                Cell::Number(number) => Some(*number),
                Cell::Count(count) | Cell::Address(count) => Some(*count as f64),
                _ => None,
            };
            Arc::new(cells().map(number).collect::<Float64Array>())
        } else {
            let count = |cell: &Cell| match cell {
                Cell::Count(count) | Cell::Address(count) => Some(*count),
                _ => None,
            };
            Arc::new(cells().map(count).collect::<UInt64Array>())
        }
    };
    let arrays: Vec<ArrayRef> = (0..table.columns.len()).map(column).collect();
    let field = |(name, array): (&String, &ArrayRef)| -> Field { Field::new(name, DataType::clone(array.data_type()), true) };
    let fields: Vec<Field> = table.columns.iter().zip(&arrays).map(field).collect();
    let mut metadata = Metadata::new().with("hostcall.table", &table.title);
    if let Some(report) = report {
        metadata.insert("hostcall.report", report);
    }
    let schema = Arc::new(Schema::new_with_metadata(fields, metadata));
    RecordBatch::try_new(schema, arrays).expect("a cell for every column in each row")
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::Array;
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Float64Type, UInt64Type};

    #[test]
    fn columns_have_the_type_of_their_cells_and_nothing_is_null() {
        let mut pages = Table::new("pages", &["page", "share", "kernel", "empty"]);
        pages.row([Cell::Address(0x1000), 0.25.into(), "a".into(), Cell::Nothing]);
        pages.row([7u64.into(), 3u64.into(), Cell::Nothing, Cell::Nothing]);
        let report = Report { title: "memory".into(), lines: Vec::new(), tables: vec![pages] };
        let batch = &tables(&report)[0];
        let schema = batch.schema();
        let said = ["hostcall.table", "hostcall.report"].map(|key| schema.metadata.get(key).map(String::as_str));
        assert_eq!(said, [Some("pages"), Some("memory")]);
        assert_eq!(batch.column(0).as_primitive::<UInt64Type>().values()[..], [0x1000, 7]);
        assert_eq!(batch.column(1).as_primitive::<Float64Type>().values()[..], [0.25, 3.0]);
        assert_eq!(batch.column(2).as_string::<i32>().iter().collect::<Vec<_>>(), [Some("a"), None]);
        assert_eq!(batch.column(3).null_count(), 2);
        assert_eq!(table(&report.tables[0]).num_rows(), 2);
    }
}
