//! What was found of a setting, and how it is judged.

use model::study::RequestedSetting;
use model::{Setting, SettingResult, SettingSource};
use runtimes::inert::Inert;

use crate::site::Site;

/// What was found of one setting.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Found {
    /// What was asked, in the terms of `live`; the study's own words when absent.
    pub requested: Option<String>,
    pub live: Option<String>,
    pub default: Option<String>,
    pub source: SettingSource,
    pub result: SettingResult,
    /// Of options in one text: those that all variants have and that did not come out well.
    pub common: Vec<(String, Found)>,
}

impl Found {
    /// That nothing was read.
    pub fn new(source: SettingSource, result: SettingResult) -> Self {
        Self { requested: None, live: None, default: None, source, result, common: Vec::new() }
    }

    /// Judges a value that was read. `same` compares texts that the runtime takes for equal.
    pub fn value(
        requested: &str,
        live: Option<String>,
        default: Option<String>,
        source: SettingSource,
        same: impl Fn(&str, &str) -> bool,
    ) -> Self {
        let result = match &live {
            Some(live) if same(requested, live) => match &default {
                Some(default) if same(default, live) => SettingResult::AlreadyDefault,
                _ => SettingResult::InEffect,
            },
            _ => SettingResult::Overridden,
        };
        Self { requested: Some(requested.to_owned()), live, default, ..Self::new(source, result) }
    }

    pub(super) fn unknown(nearest: Option<String>, source: SettingSource) -> Self {
        Self::new(source, SettingResult::Unknown { nearest })
    }

    pub fn unverified(reason: impl Into<String>) -> Self {
        Self::new(SettingSource::Unread, SettingResult::Unverified { reason: reason.into() })
    }

    pub(super) fn inert(reason: impl Into<String>, source: impl Into<String>, read: SettingSource) -> Self {
        Self::new(read, SettingResult::Inert { reason: reason.into(), source: source.into() })
    }

    /// Whether the process has something else than was asked for, or makes nothing of it.
    pub(super) fn is_wrong(&self) -> bool {
        use SettingResult::{AlreadyDefault, InEffect, Unverified};
        !matches!(self.result, InEffect | AlreadyDefault | Unverified { .. })
    }

    /// A value that is there, differs from the default, and does nothing for this reason.
    pub(super) fn unless(mut self, inert: Option<Inert>) -> Self {
        if let (SettingResult::InEffect, Some(Inert { reason, source })) = (&self.result, inert) {
            self.result = SettingResult::Inert { reason: reason.to_owned(), source: source.to_owned() };
        }
        self
    }

    /// As it is recorded: without secrets.
    pub fn about(self, requested: &RequestedSetting, site: &Site) -> Setting {
        let mask = |text: String| site.secrets.mask(&text);
        let result = match self.result {
            SettingResult::Unverified { reason } => SettingResult::Unverified { reason: mask(reason) },
            SettingResult::Refused { reason } => SettingResult::Refused { reason: mask(reason) },
            SettingResult::Inert { reason, source } => SettingResult::Inert { reason: mask(reason), source },
            result => result,
        };
        Setting {
            key: requested.key.clone(),
            name: requested.name.clone(),
            requested: mask(self.requested.unwrap_or_else(|| requested.written_value().to_owned())),
            live: self.live.map(mask),
            default: self.default.map(mask),
            source: self.source,
            result,
            shared: requested.factor.is_empty(),
        }
    }
}

/// Whether two texts are the same, letter by letter.
pub(super) fn exactly(one: &str, other: &str) -> bool {
    one == other
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(requested: &str, live: Option<&str>, default: Option<&str>) -> Found {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        Found::value(requested, owned(live), owned(default), SettingSource::Proc, exactly)
    }

    #[test]
    fn a_value_is_judged_against_the_requested_and_the_default() {
        let judge = |requested, live, default| found(requested, live, default).result;
        assert_eq!(judge("a", Some("a"), Some("b")), SettingResult::InEffect);
        assert_eq!(judge("a", Some("a"), None), SettingResult::InEffect);
        assert_eq!(judge("a", Some("a"), Some("a")), SettingResult::AlreadyDefault);
        assert_eq!(judge("a", Some("b"), Some("a")), SettingResult::Overridden);
        assert_eq!(judge("a", None, None), SettingResult::Overridden);
    }

    #[test]
    fn only_what_would_be_in_effect_is_inert() {
        let inert = Some(Inert { reason: "no need", source: "the manual" });
        let judge = |live| found("a", Some(live), Some("b")).unless(inert).result;
        assert!(matches!(judge("a"), SettingResult::Inert { .. }));
        assert_eq!(judge("b"), SettingResult::Overridden);
    }
}
