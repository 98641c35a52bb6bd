//! The rows that Locust's CSV files have: each counts requests, by name or of all.

use crate::csv::{self, Fields, first_line};
use crate::text::count;

pub const DELIMITER: u8 = b',';

/// The first row of a file, which names the columns.
pub fn names(head: &[u8]) -> Fields {
    let mut names = Fields::default();
    csv::split(first_line(head), DELIMITER, &mut names);
    names
}

/// The place of a column by its name.
pub fn place(names: &Fields, name: &str) -> Option<usize> {
    names.iter().position(|column| column.eq_ignore_ascii_case(name.as_bytes()))
}

/// A field as text.
pub fn text(row: &Fields, place: usize) -> Result<&str, &'static str> {
    let field = row.get(place).ok_or("it ends before its numbers do")?;
    std::str::from_utf8(field).map_err(|_| "it is no text")
}

/// The columns that say what a row counts, and how much.
#[derive(Debug)]
pub struct Counted {
    kind: usize,
    name: usize,
    requests: usize,
    failures: usize,
}

impl Counted {
    /// Where the numbers of requests and failures have these names.
    pub fn named(names: &Fields, requests: &str, failures: &str) -> Option<Self> {
        let at = |name: &str| place(names, name);
        Some(Self { kind: at("Type")?, name: at("Name")?, requests: at(requests)?, failures: at(failures)? })
    }

    /// Whether a row has the numbers of all requests together: no request has no type.
    pub fn is_of_all(&self, row: &Fields) -> bool {
        row.get(self.kind) == Some(b"") && row.get(self.name) == Some(b"Aggregated")
    }

    /// Good and failed requests of a row.
    pub fn ended(&self, row: &Fields) -> Result<(u64, u64), &'static str> {
        let (ended, failed) = (count(text(row, self.requests)?)?, count(text(row, self.failures)?)?);
        Ok((ended.checked_sub(failed).ok_or("more requests failed than there were")?, failed))
    }

    /// What its requests are called: `GET /page`.
    pub fn label(&self, row: &Fields) -> Result<String, &'static str> {
        Ok(format!("{} {}", text(row, self.kind)?, text(row, self.name)?).trim().to_owned())
    }
}
