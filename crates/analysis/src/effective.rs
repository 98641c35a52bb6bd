//! What a file of settings comes to: the options in effect at its end, and those that a later line lost.

use model::imported::{Assignment, EffectiveOption, OptionDifference, Overwrite, Settings};
use runtimes::{Key, command, jvm};

/// The options in effect at the end, in the order in which they were given, by block. Of an option that is given twice in a block the
/// last counts.
pub fn in_effect(settings: &Settings) -> Vec<EffectiveOption> {
    let (kept, _) = ended(settings);
    let all: Vec<(EffectiveOption, Key)> = kept.into_iter().flat_map(options).collect();
    let is_last = |at: usize, option: &EffectiveOption, key: &Key| {
        let is_same = |(other, other_key): &(EffectiveOption, Key)| {
            (other.block, &other.variable, other_key) == (option.block, &option.variable, key)
        };
        key.adds() || !all.iter().skip(at + 1).any(is_same)
    };
    let is_in_effect = |(at, (option, key)): &(usize, &(EffectiveOption, Key))| is_last(*at, option, key);
    all.iter().enumerate().filter(is_in_effect).map(|(_, (option, _))| option.clone()).collect()
}

/// What lines lost that assigned a variable again, without its old value.
pub fn overwritten(settings: &Settings) -> Vec<Overwrite> {
    ended(settings).1
}

/// What both sides have in effect and what differs, in the order of the first's, then the second's. An option that a side has several
/// times, in several blocks, is all of them.
pub fn differences(sides: [&[EffectiveOption]; 2]) -> Vec<OptionDifference> {
    let mut keys: Vec<Key> = Vec::new();
    for option in sides.into_iter().flatten() {
        let key = key(&option.option);
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    let of_key = |wanted: &Key| {
        let of_side = |side: &[EffectiveOption]| -> Vec<String> {
            let mut words: Vec<String> = side.iter().map(|option| option.option.clone()).collect();
            words.retain(|option| key(option) == *wanted);
            words.sort_unstable();
            words.dedup();
            words
        };
        let words = sides.map(of_side);
        let written = |words: &Vec<String>| (!words.is_empty()).then(|| words.join(" "));
        (!is_same(&words)).then(|| OptionDifference { sides: words.each_ref().map(written) })
    };
    keys.iter().filter_map(of_key).collect()
}

/// Whether both sides ask for the same values of a key, however they are written.
fn is_same([first, second]: &[Vec<String>; 2]) -> bool {
    let mut both = first.iter().zip(second);
    first.len() == second.len() && both.all(|(first, second)| jvm::same_value(&value(first), &value(second)))
}

/// What an option sets; an option of JRuby's is the same in each way to write it.
pub fn key(option: &str) -> Key {
    match command::option_of_any(option).key {
        Key::Property(name) => match name.strip_prefix("jruby.") {
            Some(own) => Key::Jruby(own.to_owned()),
            None => Key::Property(name),
        },
        other => other,
    }
}

/// The value that an option asks for, as written.
pub fn value(option: &str) -> String {
    command::option_of_any(option).value
}

/// The assignments that are left at the end of their blocks, and what others lost.
fn ended(settings: &Settings) -> (Vec<&Assignment>, Vec<Overwrite>) {
    let (mut kept, mut overwritten): (Vec<&Assignment>, _) = (Vec::new(), Vec::new());
    for assignment in &settings.assignments {
        if !assignment.is_added {
            let is_replaced = |earlier: &&Assignment| {
                !earlier.is_read && (earlier.block, &earlier.variable) == (assignment.block, &assignment.variable)
            };
            let (replaced, others) = kept.into_iter().partition(is_replaced);
            kept = others;
            overwritten.extend(lost(replaced, assignment));
        }
        kept.push(assignment);
    }
    (kept, overwritten)
}

/// The options of these that an assignment does not have; `None` where it has them all.
fn lost(replaced: Vec<&Assignment>, by: &Assignment) -> Option<Overwrite> {
    let is_lost = |option: &&String| !by.options.contains(option);
    let mut lines: Vec<u64> = Vec::new();
    let mut lost = Vec::new();
    for earlier in replaced {
        let own: Vec<String> = earlier.options.iter().filter(is_lost).cloned().collect();
        if !own.is_empty() {
            lines.push(earlier.line);
            lost.extend(own);
        }
    }
    (!lost.is_empty()).then(|| Overwrite { variable: by.variable.clone(), line: by.line, lines, lost })
}

fn options(assignment: &Assignment) -> impl Iterator<Item = (EffectiveOption, Key)> {
    assignment.options.iter().map(|option| {
        let Assignment { line, block, .. } = *assignment;
        (EffectiveOption { option: option.clone(), variable: assignment.variable.clone(), line, block }, key(option))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::settings;

    fn written(settings: &Settings) -> Vec<String> {
        in_effect(settings).into_iter().map(|option| format!("{}:{}", option.line, option.option)).collect()
    }

    #[test]
    fn the_last_counts_and_what_it_lost_is_named() {
        let file = settings(&[
            ("JAVA_OPTS", 0, false, "-Da=b -XX:+UseG1GC -Xmx1g"),
            ("JAVA_OPTS", 0, true, "-Dc=d"),
            ("CATALINA_OPTS", 0, false, "-Xmx2g"),
            ("JAVA_OPTS", 0, false, "-XX:-UseG1GC -Xmx1g"),
            ("JAVA_OPTS", 0, true, "-Xmx3g --add-opens=a --add-opens=b"),
        ]);
        let all = ["3:-Xmx2g", "4:-XX:-UseG1GC", "5:-Xmx3g", "5:--add-opens=a", "5:--add-opens=b"];
        assert_eq!(written(&file), all);
        let lost = ["-Da=b", "-XX:+UseG1GC", "-Dc=d"].map(str::to_owned).to_vec();
        let expected = Overwrite { variable: "JAVA_OPTS".to_owned(), line: 4, lines: vec![1, 2], lost };
        assert_eq!(overwritten(&file), [expected]);
    }

    #[test]
    fn another_block_and_what_was_read_lose_nothing() {
        let blocks = settings(&[("JAVA_OPTS", 0, false, "-Da=b"), ("JAVA_OPTS", 1, false, "-Dc=d")]);
        assert_eq!((overwritten(&blocks), written(&blocks).len()), (Vec::new(), 2));
        let mut read = settings(&[("JAVA_OPTS", 0, false, "-Da=b"), ("JAVA_OPTS", 0, false, "-Dc=d")]);
        assert_eq!(overwritten(&read).len(), 1);
        read.assignments[0].is_read = true;
        assert_eq!((overwritten(&read), written(&read).len()), (Vec::new(), 2));
        // As well where the new value has it all.
        let same = settings(&[("JAVA_OPTS", 0, false, "-Da=b"), ("JAVA_OPTS", 0, false, "-Dc=d -Da=b")]);
        assert_eq!((overwritten(&same), written(&same).len()), (Vec::new(), 2));
    }

    #[test]
    fn sides_differ_by_what_they_set() {
        let side = |options: &str| in_effect(&settings(&[("JAVA_OPTS", 0, false, options)]));
        let (first, second) =
            (side("-Xmx1g -Da=b -Xjit.threshold=30"), side("-Djruby.jit.threshold=30 -Xmx2g -Dc=d -Da=b"));
        let all = differences([&first, &second]);
        let sides: Vec<_> = all.iter().map(|one| one.sides.each_ref().map(Option::as_deref)).collect();
        // An option of JRuby's is the same, however it is given.
        assert_eq!(sides, [[Some("-Xmx1g"), Some("-Xmx2g")], [None, Some("-Dc=d")]]);
        assert_eq!(differences([&first, &first]), []);
    }
}
