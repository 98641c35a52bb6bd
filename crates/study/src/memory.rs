//! The JVM's options that take an amount of memory: a unit forgotten there means bytes, and every launch fails.

use runtimes::jvm::{SizeOption, bytes};

use crate::problem::{Problem, Problems};
use crate::value::{At, Text};

/// Finds fault with amounts of memory among the JVM's options that the JVM would refuse or take for bytes.
pub(crate) fn check(jvm: &[At<Text>], problems: &mut Problems) {
    for written in jvm {
        let Some((option, amount)) = SizeOption::of(written) else { continue };
        // What a placeholder holds is not known before the launch.
        if amount.contains('{') {
            continue;
        }
        let SizeOption { name, least, unit, .. } = option;
        match bytes(amount) {
            None => problems.add(
                Problem::new(format!("`{}` gives no amount of memory", written.value.0))
                    .at(written.place, "the JVM does not start with this")
                    .help(format!("write whole kilobytes, megabytes or gigabytes, as in `{name}512{unit}`")),
            ),
            // Nothing of these three leaves the choice to the JVM.
            Some(0) if name != "-Xmx" => {}
            Some(bytes) if bytes < least => problems.add(
                Problem::new(format!("`{}` gives the JVM {}", written.value.0, in_words(bytes)))
                    .at(written.place, format!("less than {}", in_words(least)))
                    .help(match amount.parse::<u64>() {
                        Ok(number) if (1..=65_536).contains(&number) => {
                            format!("a number without unit counts bytes; did you mean `{name}{number}{unit}`?")
                        }
                        _ => format!("write more, as in `{name}512{unit}`"),
                    }),
            ),
            Some(_) => {}
        }
    }
}

fn in_words(bytes: u64) -> String {
    match bytes {
        1 => "1 byte".to_owned(),
        _ if bytes >= 1 << 20 && bytes.is_multiple_of(1 << 20) => format!("{} MB", bytes >> 20),
        _ if bytes >= 1 << 10 && bytes.is_multiple_of(1 << 10) => format!("{} kB", bytes >> 10),
        _ => format!("{bytes} bytes"),
    }
}
