//! Results that are one document of JSON.

use serde::de::DeserializeOwned;

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

/// Whether a text may be a document with all of these keys.
pub fn has_keys(head: &[u8], keys: &[&str]) -> bool {
    let text = String::from_utf8_lossy(head);
    text.trim_start().starts_with('{') && keys.iter().all(|key| text.contains(&format!("\"{key}\"")))
}
