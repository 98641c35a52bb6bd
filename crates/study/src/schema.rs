//! The JSON Schema of study files, from which editors complete and check them.

use schemars::Schema;
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use serde_json::Value;

use crate::file::StudyFile;

/// The schema, as `schema/study.schema.json` has it.
pub fn json_schema() -> Value {
    let mut schema = SchemaSettings::default().into_generator().into_root_schema_for::<StudyFile>();
    RecursiveTransform(forget_null).transform(&mut schema);
    schema.to_value()
}

/// TOML has no null: a key that may be absent is just not required.
fn forget_null(schema: &mut Schema) {
    let Some(schema) = schema.as_object_mut() else { return };
    if schema.get("default").is_some_and(Value::is_null) {
        schema.remove("default");
    }
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = &mut types[..] {
            let only = only.take();
            schema.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(values)) = schema.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    if let Some(Value::Array(choices)) = schema.get_mut("anyOf") {
        choices.retain(|choice| choice.get("type").is_none_or(|name| name != "null"));
        if let [Value::Object(only)] = &mut choices[..] {
            let mut only = std::mem::take(only);
            schema.remove("anyOf");
            schema.append(&mut only);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn the_published_schema_is_the_current_one() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schema/study.schema.json");
        let current = serde_json::to_string_pretty(&json_schema()).unwrap() + "\n";
        assert!(!current.contains("null"), "TOML has no null");
        if std::env::var_os("UPDATE_SCHEMA").is_some_and(|value| value == "1") {
            std::fs::write(&path, &current).unwrap();
        }
        let published = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(published == current, "schema/study.schema.json is out of date: run `make schema`");
    }
}
