//! What a setting is held against: what the same study asks for elsewhere.

use model::study::{RequestedSetting, SettingKind};

use super::{Reader, carriers, jvm};

/// What stands beside a setting.
#[derive(Debug, Default)]
pub(super) struct Beside {
    /// The JVM's options that the level brings, by whatever way: without them the variant is what it would be without the level.
    pub level: Vec<String>,
    /// The setting's text in each other variant, empty where that has none; none where it is the same in all.
    pub others: Vec<String>,
}

impl Beside {
    /// Whether all other variants have the option, as `read` takes them from a text.
    pub fn is_common(&self, option: &str, read: impl Fn(&str) -> Vec<String>) -> bool {
        !self.others.is_empty() && self.others.iter().all(|text| read(text).iter().any(|other| other == option))
    }
}

impl Reader<'_> {
    pub(super) fn beside(&self, requested: &RequestedSetting) -> Beside {
        let of_level = |other: &&RequestedSetting| !requested.factor.is_empty() && other.factor == requested.factor;
        Beside {
            level: self.requested.iter().filter(of_level).flat_map(|other| self.options_in(other)).collect(),
            others: if self.is_shared(requested) { Vec::new() } else { self.of_others(requested) },
        }
    }

    /// Whether all variants ask for the same, and no level of a factor does.
    pub(super) fn is_shared(&self, requested: &RequestedSetting) -> bool {
        let is_it = |other: &RequestedSetting| {
            (other.kind, &other.name, &other.value) == (requested.kind, &requested.name, &requested.value)
        };
        requested.factor.is_empty() && self.others.iter().all(|others| others.iter().any(is_it))
    }

    fn of_others(&self, requested: &RequestedSetting) -> Vec<String> {
        let is_it = |other: &&RequestedSetting| (other.kind, &other.name) == (requested.kind, &requested.name);
        let text = |others: &Vec<RequestedSetting>| others.iter().find(is_it).map(|other| self.complete(&other.value));
        self.others.iter().map(|others| text(others).unwrap_or_default()).collect()
    }

    /// Options of the JVM that a setting brings and that not all variants have.
    fn options_in(&self, requested: &RequestedSetting) -> Vec<String> {
        let texts = match requested.kind {
            SettingKind::JvmFlag | SettingKind::Argument => return vec![self.complete(&requested.name)],
            SettingKind::Env if carriers::has_options(&requested.name, &requested.value) => self.of_others(requested),
            SettingKind::Runtime if requested.name == "command" => self.of_others(requested),
            _ => return Vec::new(),
        };
        let words = |text: &str| -> Vec<String> {
            let words = shell_words::split(text).unwrap_or_default();
            words.into_iter().map(|word| word.strip_prefix("-J").unwrap_or(&word).to_owned()).collect()
        };
        let beside = Beside { others: texts, ..Beside::default() };
        let mut options = words(&self.complete(&requested.value));
        options.retain(|word| jvm::is_option(word) && !beside.is_common(word, words));
        options
    }

    /// As the launch has it; a text that cannot be completed was not launched.
    fn complete(&self, text: &str) -> String {
        self.target.site.complete(text).unwrap_or_default()
    }
}
