//! What a setting is held against: what the same study asks for elsewhere.

use model::study::RequestedSetting;
use runtimes::{Command, Given, Key, OptionVariable, RuntimePart, jruby, jvm};

use super::reader::Reader;

/// What stands beside a setting.
#[derive(Debug, Default)]
pub(super) struct SettingContext {
    /// The JVM's options that the level brings, by whatever way: without them the variant is what it would be without the level.
    pub level: Vec<String>,
    /// The words of the setting in each other variant, of which options are alone but for a command; none where it is the same in all.
    pub others: Vec<Command>,
}

impl SettingContext {
    /// Whether all other variants have the option.
    pub fn is_common(&self, option: &Given) -> bool {
        let has = |words: &Command| words.options.iter().any(|other| other.name == option.name);
        !self.others.is_empty() && self.others.iter().all(has)
    }
}

impl Reader<'_> {
    pub(super) fn context(&self, requested: &RequestedSetting) -> SettingContext {
        let of_level = |other: &&RequestedSetting| !requested.factor.is_empty() && other.factor == requested.factor;
        SettingContext {
            level: self.requested.iter().filter(of_level).flat_map(|other| self.options_in(other)).collect(),
            others: if self.is_shared(requested) { Vec::new() } else { self.of_others(requested) },
        }
    }

    /// Whether all variants ask for the same, and no level of a factor does.
    pub(super) fn is_shared(&self, requested: &RequestedSetting) -> bool {
        let asks = |others: &Vec<RequestedSetting>| others.iter().any(|other| other.is_same(requested));
        requested.factor.is_empty() && self.others.iter().all(asks)
    }

    /// The words of a setting that has several in each other variant, none where that has no such setting.
    fn of_others(&self, requested: &RequestedSetting) -> Vec<Command> {
        let words = |others: &Vec<RequestedSetting>| {
            let other = others.iter().find(|other| other.key == requested.key);
            other.and_then(|other| self.words_of(other, requested)).unwrap_or_default()
        };
        self.others.iter().map(words).collect()
    }

    /// The words of a setting that has several, by what reads `like`: a text that cannot be completed was not launched.
    fn words_of(&self, requested: &RequestedSetting, like: &RequestedSetting) -> Option<Command> {
        let value = self.target.site.complete(&requested.value).ok()?;
        match &like.key {
            Key::Runtime(RuntimePart::Command) => Some(self.words(&value)),
            Key::Env(name) => {
                let options = OptionVariable::of(name, &like.value)?.words(&value).ok()?;
                Some(Command { options, ..Command::default() })
            }
            _ => None,
        }
    }

    /// Options of the JVM that a setting brings and that not all variants have.
    fn options_in(&self, requested: &RequestedSetting) -> Vec<String> {
        if requested.key.is_of_jvm() || matches!(requested.key, Key::Argument(_)) {
            return self.completed(requested).map(|given| vec![given.name]).unwrap_or_default();
        }
        let Some(own) = self.words_of(requested, requested) else { return Vec::new() };
        let context = SettingContext { others: self.of_others(requested), ..SettingContext::default() };
        let options = own.options.iter().filter(|option| !context.is_common(option));
        options.map(|option| jruby::of_jvm(option).name).filter(|option| jvm::is_option(option)).collect()
    }
}
