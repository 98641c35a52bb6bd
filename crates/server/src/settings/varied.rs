//! What a process has of the options that make variants differ, whether it was launched with them or not: two processes that have the
//! same of all of them are one treatment, whatever words they were launched with.

use model::study::{RequestedSetting, SettingKind};
use model::{LiveOptions, options};

use super::{Reader, Target, carriers, jvm};

/// What the server has of each of these, in the terms of its JVM or its JRuby; what these do not report is left out.
pub(crate) fn varied(target: &Target<'_>, requested: &[RequestedSetting]) -> Vec<LiveOptions> {
    let reader = Reader::new(target, &[], &[]);
    let live = |requested: &RequestedSetting| {
        let live = target.site.secrets.mask(&reader.has(requested)?.join(", "));
        Some(LiveOptions { kind: requested.kind, name: requested.name.clone(), value: requested.value.clone(), live })
    };
    requested.iter().filter_map(live).collect()
}

impl Reader<'_> {
    /// Everything that a setting sets, each by name and live value.
    fn has(&self, requested: &RequestedSetting) -> Option<Vec<String>> {
        let complete = |text: &str| self.target.site.complete(text).ok();
        let (name, value) = (complete(&requested.name)?, complete(&requested.value)?);
        let all = |parts: Vec<Option<Vec<String>>>| Some(parts.into_iter().collect::<Option<Vec<_>>>()?.concat());
        match requested.kind {
            SettingKind::JvmFlag => self.has_option(&name),
            SettingKind::Property => self.has_property(&name),
            SettingKind::Jruby => self.has_of_jruby(&name),
            SettingKind::Env if name == options::OF_RUBY => None,
            SettingKind::Env if name == carriers::OF_JRUBY => {
                let has = |word: &String| match word.strip_prefix("-J") {
                    Some(option) => self.has_option(option),
                    None => self.has_of_jruby(options::of_jruby(word)?.0),
                };
                all(shell_words::split(&value).ok()?.iter().map(has).collect())
            }
            SettingKind::Env if carriers::has_options(&name, &value) => {
                all(jvm::options(&value).ok()?.iter().map(|option| self.has_option(option)).collect())
            }
            _ => None,
        }
    }

    fn has_option(&self, option: &str) -> Option<Vec<String>> {
        if let Some(property) = option.strip_prefix("-D") {
            return self.has_property(property.split('=').next()?);
        }
        let Some((name, _)) = jvm::parse_option(option) else {
            let live = self.other_jvm_option(option).ok()?.live;
            return Some(vec![live.unwrap_or_else(|| reported(option, None))]);
        };
        let flags = self.flags().ok()?;
        // Which sets the one as well as the other.
        let names = if option.starts_with("-Xmn") { vec!["NewSize", "MaxNewSize"] } else { vec![name.as_str()] };
        Some(names.into_iter().map(|name| reported(name, flags.get(name).map(|flag| flag.value.as_str()))).collect())
    }

    fn has_property(&self, name: &str) -> Option<Vec<String>> {
        let of_jruby = || self.has_of_jruby(name.strip_prefix("jruby.")?);
        let of_java = || Some(vec![reported(name, self.properties().ok()?.get(name).map(String::as_str))]);
        of_jruby().or_else(of_java)
    }

    /// An option that JRuby itself lists.
    fn has_of_jruby(&self, name: &str) -> Option<Vec<String>> {
        let option = self.target.inside?.options.iter().find(|option| option.name == name)?;
        Some(vec![reported(name, option.value.as_deref())])
    }
}

fn reported(name: &str, live: Option<&str>) -> String {
    live.map_or_else(|| format!("{name} absent"), |live| format!("{name} = {}", live.replace('\n', ", ")))
}
