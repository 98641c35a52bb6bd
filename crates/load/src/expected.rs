//! What a study expects of a single answer that is looked at closely.

use model::study::Expect;

use crate::fetch::Answer;
use crate::request::{RequestError, is_expected};
use crate::scenario::{Check, Content, Names, is_missing};

/// What an answer must be like, ready to be looked for.
#[derive(Debug)]
pub struct Expected {
    status: Option<u16>,
    checks: Vec<Check>,
}

impl Expected {
    /// Fails where what is expected is no JSONPath.
    pub fn new(expect: &Expect) -> Result<Self, RequestError> {
        Ok(Self { status: expect.status, checks: Check::all(&expect.checks(), &mut Names::default())? })
    }

    /// What of the answer is not as expected, in words; nothing when it is good.
    pub fn unmet(&self, answer: &Answer) -> Vec<String> {
        let wanted = self.status.map_or_else(|| "2xx or 3xx".to_owned(), |status| status.to_string());
        let status =
            (!is_expected(answer.status, self.status)).then(|| format!("status {} instead of {wanted}", answer.status));
        let content = Content::of(answer);
        let failed = self.checks.iter().filter(|check| !check.passes(&content, &[]));
        status.into_iter().chain(failed.map(|check| is_missing(&check.shown))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_answer_is_held_against_what_is_expected() {
        let expect = Expect { status: Some(200), json: Some("$.pipelines".into()), contains: Some("up${42}".into()) };
        let (expected, any) = (Expected::new(&expect).unwrap(), Expected::new(&Expect::default()).unwrap());
        let answer = |status, body: &str| Answer { status, body: body.as_bytes().to_vec(), ..Answer::default() };
        assert_eq!(expected.unmet(&answer(200, r#"{"pipelines":["up${42}"]}"#)), [""; 0]);
        let all = ["status 500 instead of 200", "json `$.pipelines` is missing", "the text `up${42}` is missing"];
        assert_eq!(expected.unmet(&answer(500, r#"{"error":"no"}"#)), all);
        assert_eq!(expected.unmet(&answer(200, "<html>up${42}")), ["json `$.pipelines` is missing"], "no JSON");
        assert_eq!(any.unmet(&answer(302, "")), [""; 0]);
        assert_eq!(any.unmet(&answer(404, "")), ["status 404 instead of 2xx or 3xx"]);
    }

    #[test]
    fn what_is_no_path_is_refused() {
        let wrong = Expect { json: Some("pipelines".into()), ..Expect::default() };
        assert!(Expected::new(&wrong).unwrap_err().to_string().contains("`pipelines` is wrong"));
    }
}
