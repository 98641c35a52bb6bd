//! How a variable gets its value from an answer.

use model::scenario::{Extract, Source};
use regex::bytes::Regex;
use serde_json_path::JsonPath;

use super::content::{Content, matched, text_of};
use super::cookies;
use super::template::Names;
use crate::pattern::{PatternError, json_path, regex};

/// Takes one variable's value from answers.
#[derive(Debug)]
pub(crate) struct Extractor {
    /// The variable.
    pub variable: usize,
    from: From,
    /// How reports name it.
    pub shown: String,
}

#[derive(Debug)]
enum From {
    Json(JsonPath),
    Regex(Regex),
    Field(String, Option<Regex>),
    Cookie(String),
}

impl Extractor {
    pub fn new(extract: &Extract, names: &mut Names) -> Result<Self, PatternError> {
        let from = match &extract.from {
            Source::Json(path) => From::Json(json_path(path)?),
            Source::Regex(pattern) => From::Regex(regex(pattern)?),
            Source::Header { name, regex: pattern } => {
                From::Field(name.clone(), pattern.as_deref().map(regex).transpose()?)
            }
            Source::Cookie(name) => From::Cookie(name.clone()),
        };
        let where_from = match &extract.from {
            Source::Json(path) => format!("json `{path}`"),
            Source::Regex(pattern) => format!("regex `{pattern}`"),
            Source::Header { name, .. } => format!("header `{name}`"),
            Source::Cookie(name) => format!("cookie `{name}`"),
        };
        let shown = format!("`{}` from {where_from}", extract.variable);
        Ok(Self { variable: names.place(&extract.variable), from, shown })
    }

    /// Whether it looks at the body.
    pub fn needs_body(&self) -> bool {
        matches!(self.from, From::Json(_) | From::Regex(_))
    }

    /// The value, if the answer has it.
    pub fn value(&self, content: &Content<'_>) -> Option<String> {
        match &self.from {
            From::Json(path) => content.find(path).map(text_of),
            From::Regex(regex) => matched(regex, &content.answer.body),
            From::Field(name, None) => content.fields(name).next().map(str::to_owned),
            From::Field(name, Some(regex)) => content.fields(name).find_map(|value| matched(regex, value.as_bytes())),
            From::Cookie(name) => content.fields("set-cookie").find_map(|field| cookies::given(field, name)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fetch::Answer;

    fn extracted(from: Source) -> Option<String> {
        let headers =
            [("Location", "http://here/items/42?x"), ("Set-Cookie", "a=1"), ("set-cookie", "sid=xyz; Path=/")];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        let body = br#"{"access_token": "t0", "items": [{"id": 7}], "html": "<b id=9>"}"#.to_vec();
        let answer = Answer { status: 200, headers, body, ..Answer::default() };
        let extract = Extract { variable: "x".to_owned(), from };
        Extractor::new(&extract, &mut Names::default()).unwrap().value(&Content::of(&answer))
    }

    #[test]
    fn values_are_found_where_they_are() {
        let header =
            |name: &str, regex: Option<&str>| Source::Header { name: name.to_owned(), regex: regex.map(str::to_owned) };
        for (from, value) in [
            (Source::Json("$.access_token".to_owned()), Some("t0")),
            (Source::Json("$.items[*].id".to_owned()), Some("7")),
            (Source::Json("$.items[0]".to_owned()), Some(r#"{"id":7}"#)),
            (Source::Json("$.missing".to_owned()), None),
            (Source::Regex(r"id=(\d+)".to_owned()), Some("9")),
            (Source::Regex(r"id=\d+".to_owned()), Some("id=9")),
            (Source::Regex(r"id=(\D+)".to_owned()), None),
            (header("location", None), Some("http://here/items/42?x")),
            (header("Location", Some(r"/items/(\d+)")), Some("42")),
            (header("Location", Some(r"/users/(\d+)")), None),
            (header("etag", None), None),
            (Source::Cookie("sid".to_owned()), Some("xyz")),
            (Source::Cookie("b".to_owned()), None),
        ] {
            assert_eq!(extracted(from.clone()).as_deref(), value, "{from:?}");
        }
    }

    #[test]
    fn a_body_that_is_no_json_has_nothing_to_find() {
        let answer = Answer { status: 200, headers: Vec::new(), body: b"<html>".to_vec(), ..Answer::default() };
        let extract = Extract { variable: "x".to_owned(), from: Source::Json("$".to_owned()) };
        let extractor = Extractor::new(&extract, &mut Names::default()).unwrap();
        assert_eq!(extractor.value(&Content::of(&answer)), None);
    }
}
