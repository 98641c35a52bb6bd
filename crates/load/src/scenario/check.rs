//! What an answer must hold.

use model::scenario::Checks;
use regex::bytes::Regex;
use serde_json_path::JsonPath;

use super::content::{Content, text_of};
use super::template::{Filling, Names, Place};
use crate::pattern::{PatternError, json_path, regex};

/// What is said of a check that fails, or of an extraction that finds nothing.
pub(crate) fn is_missing(what: &str) -> String {
    format!("{what} is missing")
}

/// One check of an answer's head or body; status and length are the ask's own.
#[derive(Debug)]
pub(crate) struct Check {
    wanted: Condition,
    /// How reports name it.
    pub shown: String,
}

#[derive(Debug)]
enum Condition {
    Field(String, Regex),
    Json(JsonPath, Option<Filling>),
    Regex(Regex),
    Contains(Filling),
}

impl Check {
    /// The checks of a step.
    pub fn all(checks: &Checks, names: &mut Names) -> Result<Vec<Self>, PatternError> {
        let mut all = Vec::new();
        let mut add = |wanted, shown: String| all.push(Self { wanted, shown });
        for (name, pattern) in &checks.headers {
            add(Condition::Field(name.clone(), regex(pattern)?), format!("header `{name}` as `{pattern}`"));
        }
        for (path, is) in &checks.json {
            let filling = is.as_ref().map(|is| Filling::of(is, Place::Body, names));
            let shown = is.as_ref().map_or_else(|| format!("json `{path}`"), |is| format!("json `{path}` = `{is}`"));
            add(Condition::Json(json_path(path)?, filling), shown);
        }
        if let Some(pattern) = &checks.regex {
            add(Condition::Regex(regex(pattern)?), format!("regex `{pattern}`"));
        }
        if let Some(text) = &checks.contains {
            // What holds no variable is shown as it is looked for.
            let is_literal = text.variables().next().is_none();
            let shown = if is_literal { text.beginning().to_owned() } else { text.to_string() };
            add(Condition::Contains(Filling::of(text, Place::Body, names)), format!("the text `{shown}`"));
        }
        Ok(all)
    }

    /// Whether it looks at the body.
    pub fn needs_body(&self) -> bool {
        !matches!(self.wanted, Condition::Field(..))
    }

    /// Whether an answer passes.
    pub fn passes(&self, content: &Content<'_>, values: &[String]) -> bool {
        match &self.wanted {
            Condition::Field(name, regex) => content.fields(name).any(|value| regex.is_match(value.as_bytes())),
            Condition::Json(path, None) => content.find(path).is_some(),
            Condition::Json(path, Some(is)) => {
                content.find(path).is_some_and(|found| text_of(found) == is.text(values))
            }
            Condition::Regex(regex) => regex.is_match(&content.answer.body),
            Condition::Contains(text) => {
                let text = text.text(values);
                text.is_empty() || content.answer.body.windows(text.len()).any(|part| part == text.as_bytes())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fetch::Answer;
    use model::Template;

    fn passes(checks: &Checks) -> bool {
        let headers = vec![("Content-Type".to_owned(), "application/json; charset=utf-8".to_owned())];
        let body = br#"{"items": [{"id": 7, "name": "x"}], "none": null}"#.to_vec();
        let answer = Answer { status: 200, headers, body, ..Answer::default() };
        let mut names = Names::default();
        let checks = Check::all(checks, &mut names).unwrap();
        let values = vec!["7".to_owned(); names.count()];
        checks.iter().all(|check| check.passes(&Content::of(&answer), &values))
    }

    fn json(path: &str, is: Option<&str>) -> bool {
        let is = is.map(|is| Template::parse(is).unwrap());
        passes(&Checks { json: vec![(path.to_owned(), is)], ..Checks::default() })
    }

    #[test]
    fn json_must_be_there_and_be_equal() {
        assert!(json("$.items", None) && json("$.none", None) && json("$.items[?@.id == 7]", None));
        assert!(!json("$.item", None) && !json("$.items[?@.id == 8]", None));
        assert!(json("$.items[0].id", Some("7")) && json("$.items[0].id", Some("${id}")));
        assert!(json("$.items[0].name", Some("x")) && json("$.none", Some("null")));
        assert!(!json("$.items[0].id", Some("8")) && !json("$.item", Some("")));
    }

    #[test]
    fn fields_and_texts_must_match() {
        let field = |name: &str, pattern: &str| {
            passes(&Checks { headers: vec![(name.to_owned(), pattern.to_owned())], ..Checks::default() })
        };
        assert!(field("content-type", "^application/json") && field("Content-Type", ""));
        assert!(!field("content-type", "^text/") && !field("etag", ""));
        let regex = |pattern: &str| passes(&Checks { regex: Some(pattern.to_owned()), ..Checks::default() });
        assert!(regex(r#""id":\s*\d"#) && !regex("^x"));
        let contains =
            |text: &str| passes(&Checks { contains: Some(Template::parse(text).unwrap()), ..Checks::default() });
        assert!(contains("items") && contains("\"id\": ${id}") && contains("") && !contains("missing"));
    }

    #[test]
    fn every_check_must_pass() {
        let json = vec![("$.items".to_owned(), None), ("$.missing".to_owned(), None)];
        assert!(!passes(&Checks { json, ..Checks::default() }));
        assert!(passes(&Checks::default()));
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        let wrong = |checks: &Checks| Check::all(checks, &mut Names::default()).unwrap_err().pattern;
        assert_eq!(wrong(&Checks { regex: Some("(".to_owned()), ..Checks::default() }), "(");
        assert_eq!(wrong(&Checks { json: vec![("a".to_owned(), None)], ..Checks::default() }), "a");
    }
}
