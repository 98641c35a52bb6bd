//! What the rules about settings share.

use model::imported::EffectiveOption;
use model::study::RequestedSetting;
use model::{Fact, LaunchFacts, LiveOptions, Setting, Severity, StudyRecord, VariantIndex};

use super::rule::launches;

/// A setting of a variant that some of its launches show.
pub struct ShownSetting<'a> {
    /// The variant.
    pub variant: VariantIndex,
    /// As the first of these launches had it.
    pub setting: &'a Setting,
    /// Launches that show it, of those that read the setting.
    pub launches: [usize; 2],
}

/// What is to be said of options of a file, each with its line.
pub fn by_line(options: &[EffectiveOption], say: impl Fn(&EffectiveOption) -> Option<String>) -> Vec<Fact> {
    let of = |option: &EffectiveOption| {
        Some(Fact::new(format!("line {}", option.line), format!("{}: {}", option.option, say(option)?)))
    };
    options.iter().filter_map(of).collect()
}

/// The settings for which `is_so` holds in any launch, one entry for a variant and name.
pub fn shown<'a>(record: &'a StudyRecord, is_so: impl Fn(&Setting) -> bool) -> Vec<ShownSetting<'a>> {
    let mut all = Vec::new();
    for variant in 0..record.study.variants.len() {
        let mut of_variant: Vec<ShownSetting<'a>> = Vec::new();
        for setting in launches(record, variant).flat_map(|trial| &trial.settings).filter(|setting| is_so(setting)) {
            match of_variant.iter_mut().find(|shown| is_same(shown.setting, setting)) {
                Some(shown) => shown.launches[0] += 1,
                None => of_variant.push(ShownSetting { variant, setting, launches: [1, 0] }),
            }
        }
        for shown in &mut of_variant {
            let read = launches(record, variant).flat_map(|trial| &trial.settings);
            shown.launches[1] = read.filter(|setting| is_same(shown.setting, setting)).count();
        }
        all.extend(of_variant);
    }
    all
}

fn is_same(a: &Setting, b: &Setting) -> bool {
    a.key == b.key && a.name == b.name
}

/// What was read back first of an asked setting in a variant's launches.
pub fn read_back_of<'a>(
    record: &'a StudyRecord,
    variant: VariantIndex,
    requested: &RequestedSetting,
) -> Option<&'a Setting> {
    let is_it = |read: &&Setting| read.key == requested.key && (!read.key.adds() || read.name == requested.name);
    launches(record, variant).flat_map(|trial| &trial.settings).find(is_it)
}

/// What the runtime of a variant's processes has of a setting, whether its own treatment asks for it or not; `None` where that was
/// not known, or not the same in all launches.
pub fn has<'a>(record: &'a StudyRecord, variant: VariantIndex, requested: &RequestedSetting) -> Option<&'a str> {
    let is_it = |live: &&LiveOptions| {
        (&live.key, &live.name, &live.value) == (&requested.key, &requested.name, &requested.value)
    };
    let reported = |launch: &'a LaunchFacts| launch.varied.iter().find(is_it).map(|live| live.live.as_str());
    let mut all = launches(record, variant).filter_map(|trial| trial.launch.as_ref()).filter_map(reported);
    let first = all.next()?;
    all.all(|live| live == first).then_some(first)
}

/// How grave it is that a setting is not what the study says: what all variants share and all lack in the same way leaves
/// the comparison true, though of something else than the study describes.
pub fn severity(setting: &Setting) -> Severity {
    if setting.shared { Severity::Warning } else { Severity::Invalid }
}

/// `name = value` or the name alone.
pub fn display(name: &str, value: &str) -> String {
    if value.is_empty() { name.to_owned() } else { format!("{name} = {value}") }
}

/// A live value, as a fact.
pub fn live(setting: &Setting) -> String {
    setting.live.clone().unwrap_or_else(|| "absent".to_owned())
}
