//! Series for other programs; their schema is `schema/audit-series.schema.json`.

use model::imported::{AuditedSeries, SCHEMA_VERSION};
use schemars::{JsonSchema, schema_for};
use serde::Serialize;

use crate::audit::json::VERSION;
use crate::json::pretty;

/// The series as JSON.
pub fn audit_series_json(all: &[AuditedSeries], left_out: &[String]) -> String {
    pretty(&Written { schema: SCHEMA_VERSION, version: VERSION, series: all, left_out })
}

/// The JSON Schema of what [`audit_series_json`] writes.
pub fn audit_series_schema() -> String {
    pretty(&schema_for!(Written<'_>))
}

/// What runs of one kind say together, by `bakeoff audit --series --json`. Times end in `_s` or `_ms`.
#[derive(Serialize, JsonSchema)]
#[schemars(title = "AuditSeries")]
struct Written<'a> {
    /// The version of this form.
    schema: u32,
    /// Version of bakeoff that looked at the files.
    version: &'a str,
    /// The series, by name.
    series: &'a [AuditedSeries],
    /// Why files are in none of them, each with its name.
    left_out: &'a [String],
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::series::said::testing::series;

    #[test]
    fn every_number_is_kept() {
        let json: serde_json::Value = serde_json::from_str(&audit_series_json(&[series()], &[])).unwrap();
        assert_eq!(json["series"][0]["runs"][1]["fall"]["after_s"], 3_200.0);
    }
}
