//! One thing that a process is given.

use crate::{Key, Limit, RuntimePart};

/// One thing that a process is given: an option, a variable, an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    /// What it sets.
    pub key: Key,
    /// As it is written: of options and arguments the whole of it.
    pub name: String,
    /// The value that it sets the key to, as written; empty where the name says all.
    pub value: String,
}

impl Given {
    /// An argument of a program, or an option of MRI's.
    pub fn argument(text: impl Into<String>) -> Self {
        let name = text.into();
        Self { key: Key::Argument(name.clone()), name, value: String::new() }
    }

    /// An environment variable.
    pub fn variable(name: &str, value: &str) -> Self {
        Self { key: Key::Env(name.to_owned()), name: name.to_owned(), value: value.to_owned() }
    }

    /// A system property.
    pub fn property(name: &str, value: &str) -> Self {
        Self { key: Key::Property(name.to_owned()), name: name.to_owned(), value: value.to_owned() }
    }

    /// An option of JRuby, without its `jruby.` prefix.
    pub fn jruby(name: &str, value: &str) -> Self {
        Self { key: Key::Jruby(name.to_owned()), name: name.to_owned(), value: value.to_owned() }
    }

    /// A part of what runs.
    pub fn runtime(part: RuntimePart, value: &str) -> Self {
        Self { key: Key::Runtime(part), name: part.name().to_owned(), value: value.to_owned() }
    }

    /// A limit of its control group.
    pub fn limit(limit: Limit, value: &str) -> Self {
        Self { key: Key::Limit(limit), name: limit.name().to_owned(), value: value.to_owned() }
    }
}

/// Without those that a later one of the same key replaces.
pub(crate) fn last_of_each(all: Vec<Given>) -> Vec<Given> {
    let keys: Vec<Key> = all.iter().map(|given| given.key.clone()).collect();
    let is_last = |at: usize| keys[at].adds() || !keys[at + 1..].contains(&keys[at]);
    all.into_iter().enumerate().filter(|(at, _)| is_last(*at)).map(|(_, given)| given).collect()
}
