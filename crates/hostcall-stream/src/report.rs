//! What a handler found out, for people and for programs.

use std::fmt;

use hostcall_abi::Shown;
use serde_json::{Map, Value, json};

use crate::name::Name;
use crate::sites::Sites;

/// What a handler reports: a title, lines of text, and tables.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// What it is about.
    pub title: String,
    /// Findings in words, one a line.
    pub lines: Vec<String>,
    /// Findings in numbers.
    pub tables: Vec<Table>,
}

/// A table of a report.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// What its rows are.
    pub title: String,
    /// Names of the columns, with units where they have any: `time [ns]`.
    pub columns: Vec<String>,
    /// Rows, each with a cell for every column.
    pub rows: Vec<Vec<Cell>>,
}

/// A cell of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// A number that counts.
    Count(u64),
    /// A number that measures.
    Number(f64),
    /// A place in the source by its number, 0 for none; [`Report::name_sites`] makes it words.
    Site(u32),
    /// An address, written in hexadecimal digits.
    Address(u64),
    /// Words.
    Text(String),
    /// Nothing is known.
    Nothing,
}

impl From<&Name> for Cell {
    fn from(name: &Name) -> Self {
        name.as_str().into()
    }
}

impl From<u64> for Cell {
    fn from(count: u64) -> Self {
        Self::Count(count)
    }
}

impl From<u32> for Cell {
    fn from(count: u32) -> Self {
        Self::Count(count.into())
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(cell: Option<T>) -> Self {
        cell.map_or(Self::Nothing, Into::into)
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(count) => f.pad(&count.to_string()),
            Self::Site(number) => f.pad(&number.to_string()),
            Self::Number(number) if number.abs() >= 100.0 || *number == 0.0 => f.pad(&format!("{number:.0}")),
            Self::Number(number) => f.pad(&format!("{number:.3}")),
            Self::Address(address) => f.pad(&format!("{address:#x}")),
            Self::Text(text) => f.pad(&Shown(text).to_string()),
            Self::Nothing => f.pad("-"),
        }
    }
}

impl Cell {
    fn is_text(&self) -> bool {
        matches!(self, Self::Text(_))
    }

    fn json(&self) -> Value {
        match self {
            Self::Count(count) => json!(count),
            Self::Site(number) => json!(number),
            Self::Number(number) => json!(number),
            Self::Address(address) => json!(format!("{address:#x}")),
            Self::Text(text) => json!(text),
            Self::Nothing => Value::Null,
        }
    }
}

impl Table {
    /// A table without rows.
    pub fn new(title: impl Into<String>, columns: &[&str]) -> Self {
        Self { title: title.into(), columns: columns.iter().map(|&name| name.into()).collect(), rows: Vec::new() }
    }

    /// Adds a row.
    ///
    /// # Panics
    /// When it has not a cell for every column.
    pub fn row<const N: usize>(&mut self, cells: [Cell; N]) {
        assert_eq!(N, self.columns.len(), "a cell for every column of {}", self.title);
        self.rows.push(cells.into());
    }

    /// The rows as objects.
    pub fn to_json(&self) -> Value {
        let object = |row: &Vec<Cell>| Value::Object(self.columns.iter().cloned().zip(row.iter().map(Cell::json)).collect::<Map<_, _>>());
        Value::Array(self.rows.iter().map(object).collect())
    }

    /// The table as comma-separated values (RFC 4180), with a line of names.
    pub fn to_csv(&self) -> String {
        let quoted = |text: String| {
            if text.contains(['"', ',', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
        };
        let cell = |cell: &Cell| match cell {
            Cell::Nothing => String::new(),
            Cell::Number(number) => number.to_string(),
            Cell::Text(text) => quoted(text.clone()),
            other => quoted(other.to_string()),
        };
        let mut text = self.columns.iter().cloned().map(quoted).collect::<Vec<_>>().join(",") + "\r\n";
        for row in &self.rows {
            text += &(row.iter().map(cell).collect::<Vec<_>>().join(",") + "\r\n");
        }
        text
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<Vec<String>> = self.rows.iter().map(|row| row.iter().map(Cell::to_string).collect()).collect();
        let names: Vec<String> = self.columns.iter().map(|name| Shown(name).to_string()).collect();
        let all = || std::iter::once(&names).chain(&texts);
        let widths: Vec<usize> = (0..names.len()).map(|i| all().map(|row| row[i].chars().count()).max().unwrap_or(0)).collect();
        let left: Vec<bool> = (0..self.columns.len()).map(|i| self.rows.iter().any(|row| row[i].is_text())).collect();
        writeln!(f, "{}", Shown(&self.title))?;
        for row in all() {
            let mut line = String::new();
            for ((cell, &width), &left) in row.iter().zip(&widths).zip(&left) {
                line += "  ";
                line += &if left { format!("{cell:<width$}") } else { format!("{cell:>width$}") };
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

impl Report {
    /// A report without findings.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }

    /// Says where places in the source are and what they are called, as far as `sites` knows them.
    pub fn name_sites(&mut self, sites: &Sites) {
        for cell in self.tables.iter_mut().flat_map(|table| &mut table.rows).flatten() {
            if let Cell::Site(number) = *cell
                && sites.get(number).is_some()
            {
                *cell = Cell::Text(sites.name(number));
            }
        }
    }

    /// As one JSON value: `{"title": …, "lines": […], "tables": {title: […]}}`.
    pub fn to_json(&self) -> Value {
        let tables: Map<_, _> = self.tables.iter().map(|table| (table.title.clone(), table.to_json())).collect();
        json!({ "title": self.title, "lines": self.lines, "tables": tables })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", Shown(&self.title))?;
        self.lines.iter().try_for_each(|line| writeln!(f, "{}", Shown(line)))?;
        self.tables.iter().try_for_each(|table| write!(f, "\n{table}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        let mut table = Table::new("pages", &["page", "reads", "share", "kernel"]);
        table.row([Cell::Address(0x1000), 12u64.into(), 0.25.into(), "a, b".into()]);
        table.row([Cell::Address(0x20_0000), 3u64.into(), Cell::Nothing, "c".into()]);
        Report { title: "memory".into(), lines: vec!["two pages".into()], tables: vec![table] }
    }

    #[test]
    fn a_report_is_text_with_its_columns_aligned() {
        assert_eq!(
            report().to_string(),
            "memory\ntwo pages\n\npages\n      page  reads  share  kernel\n    0x1000     12  0.250  a, b\n  0x200000      3      -  c\n"
        );
    }

    #[test]
    fn a_report_is_json_and_a_table_is_csv() {
        let json = report().to_json();
        assert_eq!(json["tables"]["pages"][0]["reads"], 12);
        assert_eq!(json["tables"]["pages"][1]["share"], Value::Null);
        assert_eq!(report().tables[0].to_csv(), "page,reads,share,kernel\r\n0x1000,12,0.25,\"a, b\"\r\n0x200000,3,,c\r\n");
    }
}
