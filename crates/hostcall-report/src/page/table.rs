//! Tables of the page.

use hostcall_stream::Cell;
use serde::Serialize;

use super::name;
use crate::draw::{self, Unit};

/// A table: names of columns with their units, and rows of words and numbers.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Table {
    pub(crate) title: String,
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<Vec<String>>,
    /// Rows that are left out.
    pub(crate) more: usize,
    /// Whether it is shown at once; else on demand.
    pub(crate) open: bool,
}

/// A column.
#[derive(Debug, Serialize)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) unit: String,
    /// Whether it is of numbers, which end below one another.
    pub(crate) number: bool,
}

/// The longest table.
const ROWS: usize = 100;

impl Table {
    /// A table that is shown at once; a column whose name begins with `#` is of numbers, and has its unit in brackets.
    pub(crate) fn new(title: &str, columns: &[&str]) -> Self {
        let column = |text: &&str| Column::new(text.trim_start_matches('#'), text.starts_with('#'));
        Self { title: title.into(), columns: columns.iter().map(column).collect(), open: true, ..Self::default() }
    }

    /// Adds a row, if there is room.
    pub(crate) fn row<const N: usize>(&mut self, cells: [String; N]) {
        if self.rows.len() < ROWS {
            self.rows.push(cells.into());
        } else {
            self.more += 1;
        }
    }

    /// The same, shown on demand.
    pub(crate) fn closed(mut self) -> Self {
        self.open = false;
        self
    }
}

impl Column {
    fn new(text: &str, number: bool) -> Self {
        let (text, unit) = text.strip_suffix(']').and_then(|text| text.split_once(" [")).unwrap_or((text, ""));
        Self { name: text.into(), unit: unit.into(), number }
    }
}

impl From<&hostcall_stream::Table> for Table {
    /// Of a handler's report.
    fn from(table: &hostcall_stream::Table) -> Self {
        let is_number = |i: usize| !table.rows.iter().any(|row| matches!(row[i], Cell::Text(_)));
        let columns = table.columns.iter().enumerate().map(|(i, text)| Column::new(text, is_number(i) && text != "site")).collect();
        let cell = |cell: &Cell| match cell {
            Cell::Site(0) => "unknown place".into(),
            Cell::Site(site) => format!("site {site}"),
            Cell::Count(count) => draw::count(*count),
            Cell::Number(number) if number.abs() >= 1000.0 => draw::count(number.round().abs() as u64),
            Cell::Number(number) => draw::number(*number, Unit::Plain),
            Cell::Text(text) => name(text),
            Cell::Nothing => "–".into(),
            other => other.to_string(),
        };
        let row = |row: &Vec<Cell>| row.iter().map(cell).collect();
        Self {
            title: table.title.clone(),
            columns,
            rows: table.rows.iter().take(ROWS).map(row).collect(),
            more: table.rows.len().saturating_sub(ROWS),
            open: false,
        }
    }
}
