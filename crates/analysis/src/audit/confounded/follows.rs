//! What the treatment may bring along, by itself or by a start script.

use model::report::{Aspect, EnvironmentDifference};
use model::study::{RequestedSetting, Runtime};
use model::{BASELINE, StudyRecord, VariantIndex};
use runtimes::{Key, jvm, variables};

use super::explained::mentions;
use super::sides::inspected;

/// Parts of names that say which version of a program is to run.
const VERSIONS: [&str; 5] = ["VERSION", "RELEASE", "REVISION", "BUILD", "TAG"];

/// Whether a difference may be what the treatment brings along. A program that gets something else by a variable, a property or
/// an argument may load other code, by itself or, where it gets a folder or a version, in place of what it has; a start script may
/// make anything of it, another runtime, too. The same gem in two versions follows only from where the gems are, or from a version.
pub fn may_follow(record: &StudyRecord, variant: VariantIndex, difference: &EnvironmentDifference) -> bool {
    let sides = [BASELINE, variant];
    let aspect = &difference.aspect;
    let is_one_sided = sides.iter().any(|side| difference.values[*side].is_none());
    let runs_command =
        |side: &VariantIndex| matches!(record.study.variants[*side].server.runtime, Runtime::Command { .. });
    let is_of_runtime =
        matches!(aspect, Aspect::Version(_) | Aspect::Build(_) | Aspect::Command | Aspect::Environment(_));
    let is_handed_on = sides.iter().all(runs_command) && is_of_runtime;
    let is_gem = matches!(aspect, Aspect::Gem(_));
    let archive = if let Aspect::Opened(archive) = aspect { Some(archive) } else { None };
    let treatment =
        |side: VariantIndex| record.study.variants[side].treatment.iter().map(move |requested| (side, requested));
    let mut reported = sides.into_iter().flat_map(treatment).filter(|(_, requested)| tells(requested));
    reported.any(|(side, requested)| {
        is_handed_on
            || (is_gem || archive.is_some()) && (is_one_sided || names_version(requested))
            || archive.is_some_and(|archive| {
                names_folder(requested) || is_below(record, side, archive, requested.written_value())
            })
            || is_gem && matches!(&requested.key, Key::Env(name) if variables::OF_GEMS.contains(&name.as_str()))
    })
}

/// Whether a setting gives the program something to act on.
fn tells(requested: &RequestedSetting) -> bool {
    match &requested.key {
        Key::Env(_) | Key::Property(_) | Key::Argument(_) => true,
        Key::JvmOption(option) => jvm::is_of_program(option),
        _ => false,
    }
}

/// Whether a setting has a path in it. Of an option of the JVM and of an argument the text is the name.
fn names_folder(requested: &RequestedSetting) -> bool {
    [&requested.name, &requested.value].iter().any(|text| text.contains('/'))
}

/// Whether a setting's name says that it is a version, such as `APP_VERSION` or `-Dapp.release=2`.
fn names_version(requested: &RequestedSetting) -> bool {
    let name = requested.name.split('=').next().unwrap_or_default().to_ascii_uppercase();
    name.split(|c: char| !c.is_ascii_alphanumeric()).any(|part| VERSIONS.contains(&part))
}

/// Whether a variant's command line names an archive by a path that has a setting's value in it, as `releases/v2/app.jar`.
fn is_below(record: &StudyRecord, side: VariantIndex, archive: &str, value: &str) -> bool {
    let paths = |word: &str| word.split(':').any(|path| path.ends_with(archive) && mentions(path, value));
    inspected(record, side).any(|(_, launch)| launch.command.iter().any(|word| paths(word)))
}
