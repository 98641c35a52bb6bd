//! What audits write for other programs.

use super::text::assert_schema;

#[test]
fn the_published_schemas_of_audits_are_current() {
    assert_schema("audit.schema.json", &report::audit_schema());
    assert_schema("audit-series.schema.json", &report::audit_series_schema());
}
