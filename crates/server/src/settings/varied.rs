//! What a process has of the options that make variants differ, whether it was launched with them or not: two processes that have the
//! same of all of them are one treatment, whatever words they were launched with.

use model::LiveOptions;
use model::study::RequestedSetting;
use runtimes::{Given, Key, OptionVariable, jruby};

use super::reader::{LaunchedServer, Reader};

/// What the server has of each of these, in the terms of its JVM or its JRuby; what these do not report is left out.
pub(crate) fn varied(target: &LaunchedServer<'_>, requested: &[RequestedSetting]) -> Vec<LiveOptions> {
    let reader = Reader::new(target, &[], &[]);
    let live = |requested: &RequestedSetting| {
        let given = requested.completed(|text| target.site.complete(text)).ok()?;
        let live = target.site.secrets.mask(&reader.has(&given)?.join(", "));
        let RequestedSetting { key, name, value, .. } = requested.clone();
        Some(LiveOptions { key, name, value, live })
    };
    requested.iter().filter_map(live).collect()
}

impl Reader<'_> {
    /// Everything that a setting sets, each by name and live value.
    fn has(&self, given: &Given) -> Option<Vec<String>> {
        match &given.key {
            Key::JvmFlag(name) => self.has_flag(name, &given.name),
            Key::JvmOption(option) => {
                let live = self.other_jvm_option(option).ok()?.live;
                Some(vec![live.unwrap_or_else(|| reported(option, None))])
            }
            Key::Property(name) => self.has_property(name),
            Key::Jruby(name) => self.has_of_jruby(name),
            Key::Env(name) => match OptionVariable::of(name, &given.value)? {
                OptionVariable::Ruby | OptionVariable::Linker => None,
                variable => {
                    let words = variable.words(&given.value).ok()?;
                    let parts = words.iter().map(|word| self.has(&jruby::of_jvm(word)));
                    Some(parts.collect::<Option<Vec<_>>>()?.concat())
                }
            },
            _ => None,
        }
    }

    fn has_flag(&self, name: &str, option: &str) -> Option<Vec<String>> {
        let flags = self.flags().ok()?;
        // Which sets the one as well as the other.
        let names = if option.starts_with("-Xmn") { vec!["NewSize", "MaxNewSize"] } else { vec![name] };
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
