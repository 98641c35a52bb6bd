//! What users do who do more than ask the same thing again and again.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::Template;

/// What each user does: set-up, then scenarios again and again, then tear-down.
///
/// A variable gets its value from a row of a feeder, or by extraction from an answer; it is its user's own.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scenarios {
    /// Where variables get values from before anything is asked.
    pub feeders: Vec<Feeder>,
    /// What a user does once before its first iteration; never measured.
    pub setup: Vec<ScenarioStep>,
    /// Of which each iteration is one, drawn by weight.
    pub scenarios: Vec<Scenario>,
    /// What a user does once after its last iteration; never measured.
    pub teardown: Vec<ScenarioStep>,
}

/// Steps that make an iteration, one after another. The first that fails ends it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scenario {
    /// Its name.
    pub name: String,
    /// How often it is drawn, in proportion to the others' weights; 1 or more.
    pub weight: u32,
    /// Its steps, at least one. No name occurs twice among all steps of all scenarios.
    pub steps: Vec<ScenarioStep>,
}

/// One request of a scenario, what its answer must be, and what is taken from it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScenarioStep {
    /// What reports call it.
    pub name: String,
    /// Method, upper case.
    pub method: String,
    /// Path and query; begins with the character `/`. What a path cannot hold is percent-encoded in values.
    pub path: Template,
    /// Header fields added to `Host` and `Cookie`, in order. Control characters in values become spaces.
    pub headers: Vec<(String, Template)>,
    /// Sent with its length.
    pub body: Option<Body>,
    /// What a good answer is.
    pub checks: Checks,
    /// What is taken from a good answer.
    pub extract: Vec<Extract>,
    /// How long the user thinks after a good answer.
    pub think: Option<Duration>,
}

/// A step's body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Body {
    /// The text itself.
    Text(Template),
    /// What a file holds, as it is. The path is absolute.
    File(PathBuf),
    /// The template that a file holds. The path is absolute.
    TemplateFile(PathBuf),
}

/// What the answer to a step must be, checked on every one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checks {
    /// The status; any 2xx or 3xx when absent.
    pub status: Option<u16>,
    /// Shortest and longest length of the body, bytes.
    pub length: Option<(u64, u64)>,
    /// Header fields by name, of which one must match the regular expression.
    pub headers: Vec<(String, String)>,
    /// Each JSONPath must find something, and what the first thing found must be, if given.
    pub json: Vec<(String, Option<Template>)>,
    /// A regular expression that must match somewhere in the body.
    pub regex: Option<String>,
    /// A text that must occur in the body.
    pub contains: Option<Template>,
}

/// How a variable gets its value from an answer. Where nothing is found, the step fails.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extract {
    /// The variable.
    pub variable: String,
    /// Where its value is.
    pub from: Source,
}

/// Where in an answer a value is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// The first thing that a JSONPath finds: a text as it is, anything else as JSON.
    Json(String),
    /// The first match of a regular expression in the body: its first group, or all of it where it has none.
    Regex(String),
    /// A header field, or what a regular expression matches in it, as with [`Source::Regex`].
    Header {
        /// Its name, in whatever case.
        name: String,
        /// The expression.
        regex: Option<String>,
    },
    /// The value that the answer gives to a cookie of this name.
    Cookie(String),
}

/// A file of rows, each of which gives values to variables: the columns of a CSV file whose first row holds their
/// names, or the members of the objects of a JSON-lines file (`.jsonl`, `.ndjson`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Feeder {
    /// The file, absolute.
    pub file: PathBuf,
    /// Who gets which row.
    pub take: Take,
    /// How long a row is kept.
    pub each: Each,
}

/// Who gets which row of a feeder.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Take {
    /// All users take the next row in turn; after the last comes the first.
    #[default]
    Shared,
    /// Each row is taken once; a load that needs more rows ends with an error.
    Unique,
    /// Each user goes through all rows on its own, the first user from the first row on, the second from the second;
    /// after the last comes the first.
    Recycled,
}

/// How long a row of a feeder is kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Each {
    /// Each iteration takes one.
    #[default]
    Iteration,
    /// A user takes one before its set-up and keeps it.
    User,
}

/// A variable that a step needs and nothing gives a value before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// The step's name.
    pub step: String,
    /// The variable.
    pub variable: String,
    /// The variables that have values there.
    pub known: Vec<String>,
}

impl Scenarios {
    /// The same scenarios with each text of paths, header fields and bodies replaced by what `change` makes of it;
    /// variables stay. Texts in files are left alone.
    pub fn map_texts<E>(&self, mut change: impl FnMut(&str) -> Result<String, E>) -> Result<Self, E> {
        let mut mapped = self.clone();
        let Self { setup, scenarios, teardown, .. } = &mut mapped;
        let measured = scenarios.iter_mut().flat_map(|scenario| &mut scenario.steps);
        for step in setup.iter_mut().chain(measured).chain(teardown) {
            let body = step.body.iter_mut().filter_map(|body| match body {
                Body::Text(text) => Some(text),
                Body::File(_) | Body::TemplateFile(_) => None,
            });
            let headers = step.headers.iter_mut().map(|(_, value)| value);
            for template in [&mut step.path].into_iter().chain(headers).chain(body) {
                *template = template.map_texts(&mut change)?;
            }
        }
        Ok(mapped)
    }

    /// The first variable that a step needs and nothing gives a value before it; `columns` are those of the feeders, in
    /// order. What an iteration extracts is not counted on in another, since that may not have come so far.
    pub fn missing(&self, columns: &[Vec<String>]) -> Option<Missing> {
        let fed = |each: Each| {
            let feeders = self.feeders.iter().zip(columns).filter(move |(feeder, _)| feeder.each == each);
            feeders.flat_map(|(_, columns)| columns.iter().cloned())
        };
        let mut of_user: Vec<String> = fed(Each::User).collect();
        let in_setup = missing_in(&self.setup, &mut of_user);
        let in_scenarios = || {
            let with_rows: Vec<String> = of_user.iter().cloned().chain(fed(Each::Iteration)).collect();
            self.scenarios.iter().find_map(|scenario| missing_in(&scenario.steps, &mut with_rows.clone()))
        };
        in_setup.or_else(in_scenarios).or_else(|| missing_in(&self.teardown, &mut of_user.clone()))
    }
}

/// Goes through steps, adding to `known` what they extract.
fn missing_in(steps: &[ScenarioStep], known: &mut Vec<String>) -> Option<Missing> {
    for step in steps {
        if let Some(variable) = step.variables().find(|variable| !known.iter().any(|known| known == variable)) {
            return Some(Missing { step: step.name.clone(), variable: variable.to_owned(), known: known.clone() });
        }
        known.extend(step.extract.iter().map(|extract| extract.variable.clone()));
    }
    None
}

impl ScenarioStep {
    /// The variables that it needs; those of a template file are not known here.
    fn variables(&self) -> impl Iterator<Item = &str> {
        let body = self.body.iter().filter_map(|body| match body {
            Body::Text(text) => Some(text),
            Body::File(_) | Body::TemplateFile(_) => None,
        });
        let compared = self.checks.json.iter().filter_map(|(_, is)| is.as_ref()).chain(&self.checks.contains);
        let headers = self.headers.iter().map(|(_, value)| value);
        [&self.path].into_iter().chain(headers).chain(body).chain(compared).flat_map(Template::variables)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(name: &str, path: &str, extract: &[&str]) -> ScenarioStep {
        let from = Source::Cookie("x".to_owned());
        let extract = extract.iter().map(|name| Extract { variable: (*name).to_owned(), from: from.clone() });
        ScenarioStep {
            name: name.to_owned(),
            method: "GET".to_owned(),
            path: Template::parse(path).unwrap(),
            headers: Vec::new(),
            body: None,
            checks: Checks::default(),
            extract: extract.collect(),
            think: None,
        }
    }

    fn scenario(steps: Vec<ScenarioStep>) -> Scenario {
        Scenario { name: "s".to_owned(), weight: 1, steps }
    }

    fn missing(scenarios: &Scenarios) -> Option<(String, String)> {
        let columns = [vec!["account".to_owned()], vec!["term".to_owned()]];
        scenarios.missing(&columns).map(|missing| (missing.step, missing.variable))
    }

    #[test]
    fn a_variable_has_a_value_before_it_is_needed() {
        let feeder = |each| Feeder { file: "f.csv".into(), take: Take::Shared, each };
        let good = Scenarios {
            feeders: vec![feeder(Each::User), feeder(Each::Iteration)],
            setup: vec![step("log in", "/${account}", &["token"])],
            scenarios: vec![
                scenario(vec![step("a", "/${token}/${term}", &["id"]), step("b", "/${id}/${account}", &[])]),
                scenario(vec![step("c", "/${token}", &[])]),
            ],
            teardown: vec![step("log out", "/${token}/${account}", &[])],
        };
        assert_eq!(missing(&good), None);
        let found = |step: &str, variable: &str| Some((step.to_owned(), variable.to_owned()));
        let setup = vec![step("log in", "/${term}", &[])];
        assert_eq!(missing(&Scenarios { setup, ..good.clone() }), found("log in", "term"));
        let scenarios = vec![good.scenarios[0].clone(), scenario(vec![step("c", "/${id}", &[])])];
        assert_eq!(missing(&Scenarios { scenarios, ..good.clone() }), found("c", "id"));
        let scenarios = vec![scenario(vec![step("a", "/${id}", &["id"])])];
        assert_eq!(missing(&Scenarios { scenarios, ..good.clone() }), found("a", "id"));
        let teardown = vec![step("log out", "/${id}", &[])];
        assert_eq!(missing(&Scenarios { teardown, ..good }), found("log out", "id"));
    }
}
