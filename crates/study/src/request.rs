//! What is wrong with a request, and with what its answer is to be.

use miette::SourceSpan;
use serde_json_path::JsonPath;

use crate::file::Table;
use crate::launch::not_a_path;
use crate::placeholder::Placeholders;
use crate::problem::{Problem, Problems};
use crate::value::At;

/// Fields that frame a request: the client sets them itself.
const OWN_HEADERS: [&str; 2] = ["content-length", "transfer-encoding"];

/// The keys that hold a path, by method.
pub(crate) struct Methods<'a>(pub [&'a Option<At<String>>; 6]);

impl<'a> Methods<'a> {
    /// Methods and paths that are written.
    pub fn written(&self) -> Vec<(&'static str, &'a At<String>)> {
        let names = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];
        names.into_iter().zip(self.0).filter_map(|(method, path)| Some((method, path.as_ref()?))).collect()
    }

    /// The one that is written. `holder` is what has it, such as ``workload `x` ``, called so at `place`; `list` is how
    /// several are written.
    pub fn one(
        &self,
        holder: &str,
        place: SourceSpan,
        list: &str,
        problems: &mut Problems,
    ) -> Option<(&'static str, &'a At<String>)> {
        match self.written()[..] {
            [request] => Some(request),
            [] => {
                problems.add(
                    Problem::new(format!("{holder} asks for nothing"))
                        .at(place, "no path")
                        .help("add `get = \"/path\"`, or `head`, `post`, `put`, `patch`, `delete`"),
                );
                None
            }
            [(one, first), (other, second), ..] => {
                problems.add(
                    Problem::new(format!("{holder} asks for two things"))
                        .at(first.place, one)
                        .at(second.place, other)
                        .help(format!("write a `{list}` for each")),
                );
                None
            }
        }
    }
}

/// Finds what a path cannot hold.
pub(crate) fn check_path(path: &At<String>, problems: &mut Problems) {
    if !path.starts_with('/') {
        problems.add(not_a_path(path.place, path));
    } else if let Some(wrong) = path.chars().find(|c| !c.is_ascii_graphic() || *c == '#') {
        problems.add(
            Problem::new("a path of plain characters is needed")
                .at(path.place, format!("holds {wrong:?}"))
                .help("write other characters percent-encoded, as in `%20`; leave out `#` and what follows"),
        );
    }
}

/// Finds a body where the method has none.
pub(crate) fn check_bodiless(method: &str, body: Option<SourceSpan>, problems: &mut Problems) {
    if let (Some(place), "GET" | "HEAD") = (body, method) {
        problems.add(
            Problem::new(format!("a {method} has no body"))
                .at(place, "never sent")
                .help("remove `body`, or use `post` or `put`"),
        );
    }
}

/// Finds fault with header fields.
pub(crate) fn check_headers(table: &Table, problems: &mut Problems) {
    let placeholders = Placeholders::of_request();
    for (name, value) in table {
        // RFC 9110, 5.6.2: token.
        let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
        if name.is_empty() || !name.chars().all(is_token) {
            problems.add(
                Problem::new(format!("`{}` is not the name of a header field", name.value))
                    .at(name.place, "holds other characters than a name may")
                    .help("write the name alone, without colon or spaces: `headers = { Accept = \"text/html\" }`"),
            );
        } else if OWN_HEADERS.contains(&name.to_ascii_lowercase().as_str()) {
            problems.add(
                Problem::new(format!("`{}` is set by bakeoff itself", name.value))
                    .at(name.place, "not for a study to set")
                    .help("remove it"),
            );
        }
        if value.contains(|c: char| c.is_control()) {
            problems.add(
                Problem::new("a header's value is one line")
                    .at(value.place, "holds a control character")
                    .help("remove line breaks from it"),
            );
        }
        placeholders.check(value, problems);
    }
}

/// A status that servers answer.
pub(crate) fn valid_status(status: &At<i64>, problems: &mut Problems) -> Option<u16> {
    let valid = u16::try_from(status.value).ok().filter(|code| (100..600).contains(code));
    if valid.is_none() {
        problems.add(
            Problem::new(format!("{} is not an HTTP status", status.value))
                .at(status.place, "no server answers this")
                .help("write a number from 100 to 599, such as 200"),
        );
    }
    valid
}

/// Finds what is wrong with a JSONPath.
pub(crate) fn check_json_path(path: &str, place: SourceSpan, problems: &mut Problems) {
    if let Err(error) = JsonPath::parse(path) {
        problems.add(
            Problem::new(format!("`{path}` is not a JSONPath"))
                .at(place, if path.starts_with('$') { error.to_string() } else { "does not begin with `$`".to_owned() })
                .help("begin with `$` for the whole answer, as in `$.pipelines` or `$.items[0].name` (RFC 9535)"),
        );
    }
}
