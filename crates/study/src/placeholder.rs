//! Placeholders such as `{port}`, which are filled in when a trial launches its processes.

use miette::SourceSpan;

use crate::problem::{Problem, Problems, did_you_mean};
use crate::value::{At, Text};

/// The placeholders known to the texts of one kind of place.
#[derive(Debug, Clone)]
pub(crate) struct Placeholders {
    /// Those with a fixed name.
    known: Vec<String>,
    /// What the texts belong to, for messages.
    holder: &'static str,
}

impl Placeholders {
    /// Those of a server's launch.
    pub fn of_server(services: &[&str]) -> Self {
        let mut launch = Self::of_service(services);
        launch.known.insert(0, "port".to_owned());
        launch.holder = "a launch";
        launch
    }

    /// Those of a service's launch: `{port}` would be ambiguous there.
    pub fn of_service(services: &[&str]) -> Self {
        let ports = services.iter().map(|service| format!("port.{service}"));
        let known = ports.chain(["dir".to_owned(), "trial_dir".to_owned()]).collect();
        Self { known, holder: "a service" }
    }

    /// Those of a request.
    pub fn of_request() -> Self {
        Self { known: Vec::new(), holder: "a request" }
    }

    /// Finds fault with every placeholder of `text` that nothing will fill in.
    pub fn check(&self, text: &At<Text>, problems: &mut Problems) {
        self.check_text(text, text.place, problems);
    }

    /// The same for a text at a place.
    pub fn check_text(&self, text: &str, place: SourceSpan, problems: &mut Problems) {
        for name in names(text) {
            let is_env = name.strip_prefix("env.").is_some_and(|variable| !variable.is_empty());
            if is_env || self.known.iter().any(|known| known == name) {
                continue;
            }
            let known: Vec<String> = self.known.iter().map(|known| format!("{{{known}}}")).collect();
            let mut known: Vec<&str> = known.iter().map(String::as_str).collect();
            known.push("{env.NAME}");
            let written = format!("{{{name}}}");
            problems.add(
                Problem::new(format!("unknown placeholder `{written}`"))
                    .at(place, format!("`{written}` has no meaning in {}", self.holder))
                    .help(did_you_mean(&written, &known)),
            );
        }
    }
}

/// The names between braces. A shell's `${NAME}` and braces around anything but a name, as in JSON, are no placeholders.
pub(crate) fn names(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices('{').filter(|(open, _)| !text[..*open].ends_with('$')).filter_map(|(open, _)| {
        let (name, _) = text[open + 1..].split_once('}')?;
        let starts_well = name.starts_with(|c: char| c.is_ascii_alphabetic());
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        (starts_well && name.chars().all(is_name)).then_some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_in_braces_are_placeholders() {
        let found: Vec<&str> = names(r#"a {port} {"json": 1} {} {env.X_1}{port.my-db} ${HOME} {a b} {open"#).collect();
        assert_eq!(found, ["port", "env.X_1", "port.my-db"]);
    }
}
