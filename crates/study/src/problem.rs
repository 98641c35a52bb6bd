//! What can be wrong with a study file, and how it is shown.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use miette::{Diagnostic, LabeledSpan, NamedSource, SourceSpan};
use thiserror::Error;

/// A study file that cannot be used: everything found wrong with it, the first as the error itself, the others related to it.
#[derive(Debug, Error, Diagnostic)]
#[error("{message}")]
pub struct StudyError {
    message: String,
    #[source_code]
    text: Option<Arc<NamedSource<String>>>,
    #[label(collection)]
    labels: Vec<LabeledSpan>,
    #[help]
    help: Option<String>,
    #[related]
    others: Vec<Problem>,
}

impl StudyError {
    /// The file itself could not be read.
    pub(crate) fn unreadable(path: &Path, cause: &std::io::Error) -> Self {
        let help = match cause.kind() {
            ErrorKind::NotFound => Some("`bakeoff init` writes a first one".to_owned()),
            ErrorKind::IsADirectory => {
                Some(format!("name the file in it, such as {}", path.join("study.toml").display()))
            }
            _ => None,
        };
        let message = format!("the study file `{}` cannot be read: {cause}", path.display());
        Self { message, text: None, labels: Vec::new(), help, others: Vec::new() }
    }

    /// How many things are wrong.
    pub fn problems(&self) -> usize {
        1 + self.others.len()
    }
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Error, Diagnostic)]
#[error("{message}")]
pub(crate) struct Problem {
    message: String,
    #[label(collection)]
    labels: Vec<LabeledSpan>,
    #[help]
    help: Option<String>,
}

impl Problem {
    /// Says what is wrong.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), labels: Vec::new(), help: None }
    }

    /// Says where.
    pub fn at(mut self, place: SourceSpan, label: impl Into<String>) -> Self {
        self.labels.push(LabeledSpan::new_with_span(Some(label.into()), place));
        self
    }

    /// Says what to do.
    pub fn help(mut self, cure: impl Into<String>) -> Self {
        self.help = Some(cure.into());
        self
    }

    /// The error of a file that has this problem and `others`.
    pub fn and(self, others: Vec<Self>, name: &str, text: &str) -> StudyError {
        StudyError {
            message: self.message,
            text: Some(Arc::new(NamedSource::new(name, text.to_owned()))),
            labels: self.labels,
            help: self.help,
            others,
        }
    }

    /// Translates what the TOML reader says.
    pub fn from_toml(error: &toml::de::Error) -> Self {
        let message = error.message();
        let place: SourceSpan = error.span().unwrap_or_default().into();
        // Serde puts the unknown name and then the known ones between backticks.
        let mut names = message.split('`').skip(1).step_by(2);
        let name = names.next().unwrap_or_default();
        if message.starts_with("unknown field") {
            Self::new(format!("unknown key `{name}`"))
                .at(place, "not a key of this table")
                .help(did_you_mean(name, &names.collect::<Vec<_>>()))
        } else if message.starts_with("unknown variant") {
            Self::new(format!("unknown value `{name}`"))
                .at(place, "not one of the known values")
                .help(did_you_mean(name, &names.collect::<Vec<_>>()))
        } else if message.starts_with("missing field") {
            Self::new(format!("`{name}` is missing"))
                .at(place, format!("no `{name}` here"))
                .help(format!("add `{}`", example(name)))
        } else if let Some((found, expected)) =
            message.split_once(", expected ").filter(|_| OF_SERDE.iter().any(|kind| message.starts_with(kind)))
        {
            let found = found.split_once(": ").map_or(found, |(_, found)| found);
            let found = if found == "map" { "a table" } else { found };
            let expected = match expected {
                "a string" => "a text in quotes",
                "a sequence" => "a list: `[…, …]`, or tables that begin with `[[name]]`",
                "a map" => "a table: `{ name = … }`",
                "i64" => "a whole number",
                _ if expected.starts_with("struct ") => "a table: `{ key = … }` or `[name]`",
                _ => expected,
            };
            Self::new("a value of the wrong form").at(place, format!("found {found}")).help(format!("write {expected}"))
        } else {
            Self::new(format!("this is not TOML: {message}")).at(place, "here").help(
                "texts stand in quotes, tables begin with `[name]`, lists of tables with `[[name]]`: https://toml.io",
            )
        }
    }
}

/// How serde's complaints about a value begin; others of this form are about the text's syntax.
const OF_SERDE: [&str; 3] = ["invalid type", "invalid value", "invalid length"];

/// How a required key may look.
fn example(key: &str) -> String {
    match key {
        "server" => "[server]".to_owned(),
        "name" => r#"name = "…""#.to_owned(),
        "command" => r#"command = "program --port {port}""#.to_owned(),
        _ => format!("{key} = …"),
    }
}

/// Everything found wrong so far.
#[derive(Debug, Default)]
pub(crate) struct Problems(Vec<Problem>);

impl Problems {
    /// Adds one, unless it is known already: what several variants share is shown once.
    pub fn add(&mut self, problem: Problem) {
        if !self.0.contains(&problem) {
            self.0.push(problem);
        }
    }

    /// `value` if nothing is wrong with the file called `name` that holds `text`.
    pub fn none_or<T>(self, value: T, name: &str, text: &str) -> Result<T, StudyError> {
        let mut problems = self.0.into_iter();
        match problems.next() {
            None => Ok(value),
            Some(first) => Err(first.and(problems.collect(), name, text)),
        }
    }
}

/// The known name nearest to `name`, if one is near, and all that are known.
pub(crate) fn did_you_mean(name: &str, known: &[&str]) -> String {
    let nearest = known
        .iter()
        .map(|known| (strsim::jaro_winkler(&name.to_lowercase(), &known.to_lowercase()), known))
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .filter(|(likeness, _)| *likeness >= 0.75);
    let all = quoted(known);
    match nearest {
        Some((_, nearest)) => format!("did you mean `{nearest}`? (known here: {all})"),
        None => format!("known here: {all}"),
    }
}

/// `a`, `b`, `c`
pub(crate) fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
