//! What checks and extractions see of an answer.

use std::cell::OnceCell;

use regex::bytes::Regex;
use serde_json::Value;
use serde_json_path::JsonPath;

use crate::fetch::Answer;

/// An answer whose body is read as JSON at most once.
pub(crate) struct Content<'a> {
    pub answer: &'a Answer,
    json: OnceCell<Option<Value>>,
}

impl<'a> Content<'a> {
    pub fn of(answer: &'a Answer) -> Self {
        Self { answer, json: OnceCell::new() }
    }

    /// The first thing that a path finds in the body.
    pub fn find(&self, path: &JsonPath) -> Option<&Value> {
        let json = self.json.get_or_init(|| serde_json::from_slice(&self.answer.body).ok());
        path.query(json.as_ref()?).first()
    }

    /// The values of all header fields of this name.
    pub fn fields(&self, name: &str) -> impl Iterator<Item = &'a str> {
        let named = move |(own, _): &&(String, String)| own.eq_ignore_ascii_case(name);
        self.answer.headers.iter().filter(named).map(|(_, value)| value.as_str())
    }
}

/// A text as it is, anything else as JSON.
pub(crate) fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The first match in `bytes`: its first group, or all of it where the expression has none.
pub(crate) fn matched(regex: &Regex, bytes: &[u8]) -> Option<String> {
    let groups = regex.captures(bytes)?;
    let part = if regex.captures_len() > 1 { groups.get(1) } else { groups.get(0) };
    part.map(|part| String::from_utf8_lossy(part.as_bytes()).into_owned())
}
