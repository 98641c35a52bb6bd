//! What becomes of a text of options by what became of each of them.

use model::{SettingResult, SettingSource};
use runtimes::Given;

use super::context::SettingContext;
use super::found::{Found, exactly};

/// What becomes of a text by what became of each of its options. The text itself stays what was asked for and what the process has: two
/// of them are two treatments. Options that all variants have make no difference: those that did not come out well are named by
/// themselves. Of the others the first that did not speaks for all, by name, and they are the default only where each of them is.
pub(super) fn together(
    found: Found,
    context: &SettingContext,
    options: &[Given],
    judge: impl Fn(&Given) -> Result<Found, String>,
) -> Found {
    let (mut all_default, mut source) = (true, found.source);
    let (mut wrong, mut unreported) = (None, None);
    let mut common = Vec::new();
    for option in options {
        let judged = match judge(option).unwrap_or_else(Found::unverified) {
            // As by `eval`.
            judged if judged.is_wrong() && option.name.contains(['$', '`']) => {
                Found::unverified(format!("a shell may have made something else of `{}`", option.name))
            }
            judged => judged,
        };
        if context.is_common(option) {
            common.extend(judged.is_wrong().then(|| (option.name.clone(), judged)));
            continue;
        }
        match judged.result {
            SettingResult::Unverified { reason } => drop(unreported.get_or_insert(reason)),
            SettingResult::AlreadyDefault => source = judged.source,
            SettingResult::InEffect => (source, all_default) = (judged.source, false),
            _ => drop(wrong.get_or_insert((option, judged))),
        }
    }
    let result = match unreported {
        Some(reason) => SettingResult::Unverified { reason },
        None if all_default => SettingResult::AlreadyDefault,
        None => SettingResult::InEffect,
    };
    let default = found.live.clone().filter(|_| result == SettingResult::AlreadyDefault);
    match wrong {
        Some((option, judged)) => Found { common, ..found.by_option(&option.name, judged) },
        None => Found { default, source, result, common, ..found },
    }
}

/// What is in effect where it is given.
pub(super) fn in_effect(option: &str) -> Found {
    Found::value(option, Some(option.to_owned()), None, SettingSource::Proc, exactly)
}

impl Found {
    /// A variable that one of its options speaks for.
    fn by_option(self, option: &str, judged: Self) -> Self {
        let Self { live, source, result, .. } = judged;
        match result {
            SettingResult::Inert { reason, source: known } => {
                let result = SettingResult::Inert { reason: format!("{option}: {reason}"), source: known };
                Self { source, result, ..self }
            }
            result => {
                let live = Some(format!("{option}: {}", live.as_deref().unwrap_or("absent")));
                Self { live, source, result, ..self }
            }
        }
    }
}
