//! Results that are one document of JSON.

use indexmap::IndexMap;
use serde::de::{DeserializeOwned, IgnoredAny};

use crate::reading::{Broken, Reading};

/// Most bytes of a document: those of tools have a few thousand, and all of it is held.
const MOST_BYTES: usize = 1 << 20;

/// Reads the one document that a file is.
pub fn read<D: DeserializeOwned>(reading: &mut Reading) -> Result<D, Broken> {
    let mut text = String::new();
    reading.hear(|line| {
        if text.len() + line.len() > MOST_BYTES {
            return Err("the document is longer than a mebibyte");
        }
        text.push_str(line);
        text.push('\n');
        Ok(())
    })?;
    let mut documents = serde_json::Deserializer::from_str(&text).into_iter();
    match (documents.next(), documents.next()) {
        (Some(Ok(document)), None) => Ok(document),
        (Some(Ok(_)), Some(Ok(_))) => Err(Broken::Several),
        _ => Err(Broken::Lacks("what its JSON always has: some is cut off or changed, or it is of another version")),
    }
}

/// Whether a text begins with a document that has all of these keys, or with as much of one as is there.
pub fn has_keys(head: &[u8], keys: &[&str]) -> bool {
    let mut documents = serde_json::Deserializer::from_slice(head).into_iter::<IndexMap<String, IgnoredAny>>();
    match documents.next() {
        Some(Ok(document)) => keys.iter().all(|key| document.contains_key(*key)),
        Some(Err(error)) if error.is_eof() => {
            let text = String::from_utf8_lossy(head);
            text.trim_start().starts_with('{') && keys.iter().all(|key| text.contains(&format!("\"{key}\"")))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_those_of_the_whole() {
        let has = |text: &str| has_keys(text.as_bytes(), &["a", "b"]);
        assert!(has(r#" {"a": {"c": 1}, "b": []}"#) && has(r#"{"b": 1, "a": 2} {"a": 1}"#) && has(r#"{"a": {"b": 1"#));
        assert!(!has(r#"{"c": {"a": 1, "b": 2}}"#) && !has(r#"["a", "b"]"#) && !has(r#"["a", "b""#) && !has("{a, b}"));
    }
}
