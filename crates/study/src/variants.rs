//! From factors to variants: every combination of levels, laid over what all share.

use indexmap::IndexMap;
use model::study::{Factor, RequestedSetting, Variant};

use crate::assertion;
use crate::design;
use crate::file::{ServerKeys, StudyFile};
use crate::launch::Launches;
use crate::problem::{Problem, Problems};
use crate::value::At;

/// Most variants of a study: a block launches every one of them.
const MOST_VARIANTS: usize = 32;
/// Most combinations of levels to choose from.
const MOST_COMBINATIONS: usize = 1 << 16;

type Levels = IndexMap<At<String>, ServerKeys>;

/// The declared differences.
pub(crate) fn factors(file: &StudyFile, problems: &mut Problems) -> Vec<Factor> {
    if file.factor.is_empty() {
        problems.add(
            Problem::new("there is nothing to compare").at(file.server.place, "the only way to run the server").help(
                "declare a difference: `[factor.NAME]`, and below it two levels such as `off = { … }` and `on = { … }`",
            ),
        );
    }
    for (name, levels) in &file.factor {
        if levels.len() < 2 {
            problems.add(
                Problem::new(format!("factor `{}` needs two levels or more", name.value))
                    .at(name.place, format!("has {}", levels.len()))
                    .help("write what it is compared with, the baseline first; `{ }` changes nothing, as in `default = { }`"),
            );
        }
        for part in [name].into_iter().chain(levels.keys()) {
            if part.is_empty() || part.contains('/') {
                problems.add(
                    Problem::new("names of factors and levels make up the names of variants, as in `off/puma`")
                        .at(part.place, "empty, or with a `/`")
                        .help("choose another name"),
                );
            }
        }
    }
    refuse_overlap(file, problems);
    file.factor
        .iter()
        .map(|(name, levels)| Factor {
            name: name.value.clone(),
            levels: levels.keys().map(|level| level.value.clone()).collect(),
        })
        .collect()
}

/// Two factors that set one thing cannot be separated, and one would silently win.
fn refuse_overlap(file: &StudyFile, problems: &mut Problems) {
    let factors: Vec<_> = file.factor.iter().collect();
    for (index, (name, levels)) in factors.iter().enumerate() {
        for (earlier_name, earlier_levels) in &factors[..index] {
            let earlier = places(earlier_levels);
            for (path, place) in places(levels) {
                let Some(earlier) = earlier.get(&path) else { continue };
                problems.add(
                    Problem::new(format!("two factors set `{path}`"))
                        .at(*earlier, format!("by `{}`", earlier_name.value))
                        .at(place, format!("by `{}`", name.value))
                        .help("leave it to one of them: where both set it, their effects cannot be separated"),
                );
            }
        }
    }
}

/// What the levels of a factor replace, each with its first place.
fn places(levels: &Levels) -> IndexMap<String, miette::SourceSpan> {
    let mut places = IndexMap::new();
    for entry in levels.values().flat_map(ServerKeys::entries).filter(|entry| !entry.appends) {
        places.entry(entry.path()).or_insert(entry.place);
    }
    places
}

/// The combinations of levels that are run, the baseline first.
pub(crate) fn variants(file: &StudyFile, launches: &Launches, problems: &mut Problems) -> Vec<Variant> {
    let possible = file.factor.values().map(Levels::len).fold(1, usize::saturating_mul);
    let all = if possible <= MOST_COMBINATIONS { design::combinations(file, problems) } else { Vec::new() };
    let count = if all.is_empty() { possible } else { all.len() };
    if count > MOST_VARIANTS {
        if let Some((last, _)) = file.factor.last() {
            problems.add(
                Problem::new(format!("{count} variants are too many: every block launches each of them"))
                    .at(last.place, format!("with this factor there are more than {MOST_VARIANTS} combinations"))
                    .help(
                        "ask about fewer factors or levels at a time, or choose some of the combinations in `[design]`",
                    ),
            );
        }
        return Vec::new();
    }
    let levels = all.iter().flatten().map(|(_, level, _)| (*level).to_owned());
    let combined = all.iter().map(design::name);
    let mut known: Vec<String> = levels.chain(combined).collect();
    known.sort();
    known.dedup();
    assertion::check_names(&file.assertion, &known.iter().map(String::as_str).collect::<Vec<_>>(), problems);
    all.into_iter()
        .filter_map(|levels| {
            let merged = levels.iter().fold(file.server.value.clone(), |keys, (_, _, level)| keys.overlaid(level));
            let treatment: Vec<RequestedSetting> =
                levels.iter().flat_map(|(factor, _, keys)| keys.treatment(factor)).collect();
            let is_replaced = |shared: &RequestedSetting| treatment.iter().any(|requested| requested.replaces(shared));
            let names: Vec<&str> = levels.iter().map(|(_, level, _)| *level).collect();
            let name = names.join("/");
            let subject = assertion::Subject { name: &name, levels: &names, keys: &merged };
            Some(Variant {
                name: name.clone(),
                levels: levels.iter().map(|(factor, level, _)| ((*factor).to_owned(), (*level).to_owned())).collect(),
                assertions: assertion::assertions(&file.assertion, &subject, &launches.placeholders, problems),
                shared: file.server.value.treatment("").filter(|shared| !is_replaced(shared)).collect(),
                treatment,
                server: launches.server(&merged, file.server.place, problems)?,
            })
        })
        .collect()
}
