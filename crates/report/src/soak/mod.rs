//! Reports of soaks: what became of servers that were loaded for hours.

mod csv;
mod html;
mod markdown;
mod terminal;
mod words;

use model::SoakReport;

use crate::json::pretty;

pub use self::csv::soak_csv;
pub use self::html::soak_html;
pub use self::markdown::soak_markdown;
pub use self::terminal::soak;

/// The report as indented JSON.
pub fn soak_json(report: &SoakReport) -> String {
    pretty(report)
}

/// The JSON Schema of what [`soak_json`] writes.
pub fn soak_schema() -> String {
    pretty(&schemars::schema_for!(SoakReport))
}
