//! Series for other programs.

use model::imported::AuditedSeries;
use serde_json::json;

use crate::json::pretty;

/// The series as JSON.
pub fn audit_series_json(all: &[AuditedSeries], left_out: &[String]) -> String {
    pretty(&json!({ "series": all, "left_out": left_out }))
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
