//! The report as JSON, for other programs; its schema is `schema/report.schema.json`.

use model::Report;

/// The report as indented JSON.
pub fn json(report: &Report) -> String {
    pretty(report)
}

/// The JSON Schema of what [`json`] writes.
pub fn schema() -> String {
    pretty(&schemars::schema_for!(Report))
}

pub(crate) fn pretty(value: &impl serde::Serialize) -> String {
    let Ok(mut text) = serde_json::to_string_pretty(value) else {
        unreachable!("the record has only string keys and writes to memory: serialisation cannot fail")
    };
    text.push('\n');
    text
}
