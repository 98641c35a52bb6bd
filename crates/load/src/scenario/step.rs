//! One step: how its request is written, and what is made of its answer.

use std::fs;
use std::time::Duration;

use model::Template;
use model::scenario::{self, Body};
use model::study::{Expect, Request};
use model::template::Part;

use super::check::Check;
use super::content::Content;
use super::cookies::Jar;
use super::error::ScriptError;
use super::extract::Extractor;
use super::template::{Filling, Names, Place};
use super::user::User;
use crate::content::LONGEST_BODY;
use crate::fetch::Answer;
use crate::request::{LengthRule, PreparedRequest, says_length};
use crate::response::{Sink, text};
use crate::target::Target;

/// A step made ready.
#[derive(Debug)]
pub(crate) struct PreparedStep {
    pub name: String,
    /// Judges status and length, and knows how the answer is framed. What it asks is not sent: values are missing.
    rules: PreparedRequest,
    pub think: Option<Duration>,
    /// The request's head up to `Cookie` and `Content-Length`.
    head: Filling,
    body: Payload,
    says_length: bool,
    checks: Vec<Check>,
    extractors: Vec<Extractor>,
    needs_body: bool,
}

#[derive(Debug)]
enum Payload {
    Text(Filling),
    Bytes(Vec<u8>),
}

impl PreparedStep {
    pub fn new(step: &scenario::ScenarioStep, target: &Target, names: &mut Names) -> Result<Self, ScriptError> {
        let pattern = |source| ScriptError::Pattern { step: step.name.clone(), source };
        let expect = Expect { status: step.checks.status, ..Expect::default() };
        let length = step.checks.length.map_or(LengthRule::Any, |(min, max)| LengthRule::Within { min, max });
        let rules = PreparedRequest::new(&without_values(step), &expect, target, length)
            .map_err(|source| ScriptError::Request { step: step.name.clone(), source })?;
        let body = step.body.as_ref().map_or(Ok(Payload::Bytes(Vec::new())), |body| payload(body, names))?;
        let checks = Check::all(&step.checks, names).map_err(pattern)?;
        let extractors: Vec<_> = step
            .extract
            .iter()
            .map(|extract| Extractor::new(extract, names))
            .collect::<Result<_, _>>()
            .map_err(pattern)?;
        Ok(Self {
            name: step.name.clone(),
            rules,
            think: step.think,
            head: head(step, target, names),
            body,
            says_length: step.body.is_some() || says_length(&step.method),
            needs_body: checks.iter().any(Check::needs_body) || extractors.iter().any(Extractor::needs_body),
            checks,
            extractors,
        })
    }

    /// How answers are framed and judged by status and length.
    pub fn rules(&self) -> &PreparedRequest {
        &self.rules
    }

    /// Whether its answer fills variables.
    pub fn takes_variables(&self) -> bool {
        !self.extractors.is_empty()
    }

    /// The request of a user.
    pub fn request(&self, user: &User, target: &Target) -> PreparedRequest {
        let mut out = Vec::new();
        self.head.write(&user.values, &mut out);
        if !user.jar.is_empty() {
            let path = path(&out).to_owned();
            user.jar.write(&path, target.tls.is_some(), &mut out);
        }
        if self.says_length {
            let length = match &self.body {
                Payload::Text(text) => text.length(&user.values),
                Payload::Bytes(bytes) => bytes.len(),
            };
            out.extend_from_slice(format!("Content-Length: {length}\r\n").as_bytes());
        }
        out.extend_from_slice(b"\r\n");
        match &self.body {
            Payload::Text(text) => text.write(&user.values, &mut out),
            Payload::Bytes(bytes) => out.extend_from_slice(bytes),
        }
        self.rules.with_bytes(out, target)
    }

    /// Where the engine puts the parts of an answer that matter.
    pub fn keep<'a>(&self, answer: &'a mut Answer) -> Keep<'a> {
        let fields = !self.checks.is_empty() || !self.extractors.is_empty();
        Keep { answer, fields, body: self.needs_body }
    }

    /// Takes what the user's answer, whose status and length are good, gives to variables. Says what is not as it
    /// must be.
    pub fn take_in(&self, user: &mut User) -> Result<(), &str> {
        let User { values, answer, .. } = user;
        let content = Content::of(answer);
        if let Some(failed) = self.checks.iter().find(|check| !check.passes(&content, values)) {
            return Err(&failed.shown);
        }
        for extractor in &self.extractors {
            values[extractor.variable] = extractor.value(&content).ok_or(&*extractor.shown)?;
        }
        Ok(())
    }
}

/// Keeps the cookies of an answer to `request`.
pub(crate) fn keep_cookies(answer: &Answer, request: &[u8], jar: &mut Jar) {
    for field in Content::of(answer).fields("set-cookie") {
        jar.store(field, path(request));
    }
}

/// Keeps the parts of an answer that a step looks at.
pub(crate) struct Keep<'a> {
    answer: &'a mut Answer,
    fields: bool,
    body: bool,
}

impl Sink for Keep<'_> {
    fn field(&mut self, name: &str, value: &[u8]) {
        if self.fields || name.eq_ignore_ascii_case("set-cookie") {
            self.answer.headers.push((name.to_owned(), text(value)));
        }
    }

    fn body(&mut self, bytes: &[u8]) {
        if self.body {
            let room = LONGEST_BODY - self.answer.body.len().min(LONGEST_BODY);
            self.answer.body.extend_from_slice(&bytes[..bytes.len().min(room)]);
        }
    }

    fn sees_body(&self) -> bool {
        self.body
    }
}

/// The request with nothing in the place of values: good enough to know whether it can be sent.
fn without_values(step: &scenario::ScenarioStep) -> Request {
    let text = |template: &Template| -> String {
        let texts = template.parts().iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            Part::Variable(_) => None,
        });
        texts.collect()
    };
    Request {
        method: step.method.clone(),
        path: text(&step.path),
        headers: step.headers.iter().map(|(name, value)| (name.clone(), text(value))).collect(),
        body: None,
    }
}

fn head(step: &scenario::ScenarioStep, target: &Target, names: &mut Names) -> Filling {
    let mut head = Filling::default();
    head.push_text(&step.method);
    head.push_text(" ");
    head.push(&step.path, Place::Path, names);
    head.push_text(" HTTP/1.1\r\n");
    if !step.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
        head.push_text(&format!("Host: {}\r\n", target.host));
    }
    for (name, value) in &step.headers {
        head.push_text(&format!("{name}: "));
        head.push(value, Place::Field, names);
        head.push_text("\r\n");
    }
    head
}

fn payload(body: &Body, names: &mut Names) -> Result<Payload, ScriptError> {
    match body {
        Body::Text(text) => Ok(Payload::Text(Filling::of(text, Place::Body, names))),
        Body::File(file) | Body::TemplateFile(file) => {
            fs::read(file).map(Payload::Bytes).map_err(|source| ScriptError::File { file: file.clone(), source })
        }
    }
}

/// The path of a request as written, without its query.
fn path(request: &[u8]) -> &str {
    let target = request.split(|byte| *byte == b' ').nth(1).unwrap_or_default();
    let path = target.split(|byte| *byte == b'?').next().unwrap_or_default();
    str::from_utf8(path).unwrap_or("/")
}
