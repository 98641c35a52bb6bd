//! Where one trial takes place, and the placeholders that stand for it.

use std::env;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use indexmap::IndexMap;
use thiserror::Error;

/// A text of the study that cannot be completed.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum PlaceholderError {
    /// No such placeholder.
    #[error("`{{{name}}}` in `{text}` stands for nothing; known are {known}")]
    Unknown {
        /// What is between the braces.
        name: String,
        /// The whole text.
        text: String,
        /// What could be there.
        known: String,
    },
    /// A variable that is not set.
    #[error("`{text}` needs the environment variable {name}, which is not set; set it before running bakeoff")]
    Unset {
        /// The variable.
        name: String,
        /// The whole text.
        text: String,
    },
}

/// The folders and ports of one trial.
#[derive(Debug, Clone)]
pub struct Site {
    /// `{dir}`: the study's folder.
    pub dir: PathBuf,
    /// `{trial_dir}`: the trial's own folder, for logs and whatever the server leaves.
    pub trial_dir: PathBuf,
    /// `{port}`: chosen for the server.
    pub port: u16,
    /// `{port.NAME}`: chosen for each service.
    pub ports: IndexMap<String, u16>,
    /// The run's: whatever any text of it was completed with.
    pub(crate) secrets: Secrets,
}

impl Site {
    /// Replaces `{port}`, `{port.NAME}`, `{env.NAME}`, `{dir}` and `{trial_dir}`. A shell's `${NAME}` and braces around
    /// anything but a name are left alone. From then on, values of `{env.NAME}` are secrets of the run, which
    /// [`Launcher::mask`](crate::Launcher::mask) hides.
    pub fn complete(&self, text: &str) -> Result<String, PlaceholderError> {
        replace(text, |name| self.value(name, text))
    }

    /// The same for a text where braces around other names have a meaning of their own: `awk '{print}'`, JSON.
    pub fn complete_script(&self, text: &str) -> Result<String, PlaceholderError> {
        replace(text, |name| match self.value(name, text) {
            Err(PlaceholderError::Unknown { .. }) => Ok(format!("{{{name}}}")),
            value => value,
        })
    }

    fn value(&self, name: &str, text: &str) -> Result<String, PlaceholderError> {
        let path = |path: &Path| path.to_string_lossy().into_owned();
        let unknown =
            || PlaceholderError::Unknown { name: name.to_owned(), text: text.to_owned(), known: self.known() };
        match name.split_once('.') {
            None if name == "port" => Ok(self.port.to_string()),
            None if name == "dir" => Ok(path(&self.dir)),
            None if name == "trial_dir" => Ok(path(&self.trial_dir)),
            Some(("port", service)) => self.ports.get(service).map(ToString::to_string).ok_or_else(unknown),
            Some(("env", variable)) => self.secrets.variable(variable, text),
            _ => Err(unknown()),
        }
    }

    fn known(&self) -> String {
        let services = self.ports.keys().map(|name| format!("{{port.{name}}}"));
        let others = ["{port}", "{env.NAME}", "{dir}", "{trial_dir}"].map(str::to_owned);
        others.into_iter().chain(services).collect::<Vec<_>>().join(", ")
    }
}

/// The environment of this process, for texts that belong to no trial.
#[derive(Debug, Clone, Default)]
pub struct Environment(Secrets);

impl Environment {
    /// Replaces `{env.NAME}`; all other braces are left alone. From then on, the values are secrets that [`Self::mask`]
    /// hides.
    pub fn complete(&self, text: &str) -> Result<String, PlaceholderError> {
        replace(text, |name| match name.strip_prefix("env.") {
            Some(variable) => self.0.variable(variable, text),
            None => Ok(format!("{{{name}}}")),
        })
    }

    /// `text` with every secret replaced.
    pub fn mask(&self, text: &str) -> String {
        self.0.mask(text)
    }
}

/// Replaces each `{name}` by its value.
fn replace<E>(text: &str, mut value: impl FnMut(&str) -> Result<String, E>) -> Result<String, E> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        let (before, from) = rest.split_at(open);
        out.push_str(before);
        if let Some(name) = name_in_braces(from).filter(|_| !before.ends_with('$')) {
            out.push_str(&value(name)?);
            rest = &from[name.len() + 2..];
        } else {
            out.push('{');
            rest = &from[1..];
        }
    }
    out.push_str(rest);
    Ok(out)
}

/// `name` when `text` begins with `{name}`.
fn name_in_braces(text: &str) -> Option<&str> {
    let name = &text[1..text.find('}')?];
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic());
    let goes_on = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'));
    (begins && goes_on).then_some(name)
}

/// Values that must not be seen in records. Clones share them: whatever made one known, it is hidden everywhere.
#[derive(Clone, Default)]
pub(crate) struct Secrets(Arc<Mutex<Vec<String>>>);

impl Secrets {
    /// Shorter ones are masked only where they stand alone: a pool size from the environment is no reason to cut `500`
    /// into pieces.
    const SHORT: usize = 6;

    fn known(&self) -> MutexGuard<'_, Vec<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, value: &str) {
        let mut known = self.known();
        if !value.is_empty() && !known.iter().any(|secret| secret == value) {
            known.push(value.to_owned());
            // A secret that begins with another must go first, or its end would stay.
            known.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        }
    }

    /// The value of an environment variable that `text` needs, a secret from now on.
    fn variable(&self, name: &str, text: &str) -> Result<String, PlaceholderError> {
        let unset = |_| PlaceholderError::Unset { name: name.to_owned(), text: text.to_owned() };
        env::var(name).map_err(unset).inspect(|value| self.add(value))
    }

    /// `text` with every secret replaced, wherever it came from.
    pub fn mask(&self, text: &str) -> String {
        self.known().iter().fold(text.to_owned(), |text, secret| mask_one(&text, secret))
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secrets({})", self.known().len())
    }
}

fn mask_one(text: &str, secret: &str) -> String {
    const MASK: &str = "***";
    if secret.len() >= Secrets::SHORT {
        return text.replace(secret, MASK);
    }
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    for (at, _) in text.match_indices(secret) {
        let after = at + secret.len();
        if !text[..at].ends_with(char::is_alphanumeric) && !text[after..].starts_with(char::is_alphanumeric) {
            out.push_str(&text[copied..at]);
            out.push_str(MASK);
            copied = after;
        }
    }
    out + &text[copied..]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site() -> Site {
        Site {
            dir: "/study".into(),
            trial_dir: "/runs/1".into(),
            port: 8080,
            ports: IndexMap::from([("db".to_owned(), 5432)]),
            secrets: Secrets::default(),
        }
    }

    fn complete(text: &str) -> Result<String, PlaceholderError> {
        site().complete(text)
    }

    #[test]
    fn placeholders_are_replaced() {
        assert_eq!(complete("{dir}/x:{port}:{port.db} {trial_dir}").unwrap(), "/study/x:8080:5432 /runs/1");
    }

    #[test]
    fn other_braces_stay() {
        for text in ["${HOME}", r#"{"a": {}}"#, "{", "{ port }", "a{1,2}", "}{"] {
            assert_eq!(complete(text).unwrap(), text);
        }
    }

    #[test]
    fn unknown_names_are_errors_that_list_the_known() {
        let error = complete("x={prot}").unwrap_err().to_string();
        assert!(error.contains("{prot}") && error.contains("{port.db}"), "{error}");
        assert!(complete("{port.cache}").is_err());
        assert!(matches!(complete("{env.BAKEOFF_NO_SUCH}"), Err(PlaceholderError::Unset { .. })));
    }

    #[test]
    fn a_script_keeps_its_own_braces() {
        let text = site().complete_script("echo {port.db} | awk '{print}'");
        assert_eq!(text.unwrap(), "echo 5432 | awk '{print}'");
    }

    #[test]
    fn what_came_from_the_environment_is_masked_everywhere() {
        let site = site();
        let path = env::var("PATH").unwrap();
        let text = site.clone().complete("--token={env.PATH}").unwrap();
        assert_eq!(text, format!("--token={path}"));
        assert_eq!(site.secrets.mask(&format!("a{path}b")), "a***b");
        assert!(!format!("{site:?}").contains(&path));
    }

    #[test]
    fn a_short_secret_leaves_longer_words_alone() {
        let secrets = Secrets::default();
        secrets.add("50");
        secrets.add("500secret");
        assert_eq!(secrets.mask("50, size=50 500 é50 x50 50"), "***, size=*** 500 é50 x50 ***");
        assert_eq!(secrets.mask("x500secrets"), "x***s");
    }
}
