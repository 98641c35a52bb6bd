//! The JVM's options that take an amount of memory: a unit forgotten there means bytes, and every launch fails.

use crate::problem::{Problem, Problems};
use crate::value::{At, Text};

/// An option that takes an amount of memory.
struct Amount {
    /// Its beginning; the amount follows at once.
    name: &'static str,
    /// Fewer bytes make no JVM, or not the one that was meant.
    least: u64,
    /// The unit in which such amounts are mostly thought.
    unit: &'static str,
}

const OPTIONS: [Amount; 4] = [
    Amount { name: "-Xmx", least: 2 << 20, unit: "m" },
    Amount { name: "-Xms", least: 1 << 20, unit: "m" },
    Amount { name: "-Xmn", least: 1 << 16, unit: "m" },
    Amount { name: "-Xss", least: 1 << 16, unit: "k" },
];

/// Options of another JVM (`OpenJ9`) that only begin alike.
const OTHERS: [&str; 4] = ["-Xmns", "-Xmnx", "-Xmso", "-Xssi"];

/// Finds fault with amounts of memory among the JVM's options that the JVM would refuse or take for bytes.
pub(crate) fn check(jvm: &[At<Text>], problems: &mut Problems) {
    for written in jvm.iter().filter(|written| !OTHERS.iter().any(|other| written.starts_with(other))) {
        let Some((option, amount)) = OPTIONS.iter().find_map(|o| Some((o, written.strip_prefix(o.name)?))) else {
            continue;
        };
        // What a placeholder holds is not known before the launch.
        if amount.contains('{') {
            continue;
        }
        let Amount { name, least, unit } = option;
        match bytes(amount) {
            None => problems.add(
                Problem::new(format!("`{}` gives no amount of memory", written.value.0))
                    .at(written.place, "the JVM does not start with this")
                    .help(format!("write whole kilobytes, megabytes or gigabytes, as in `{name}512{unit}`")),
            ),
            // Nothing of these three leaves the choice to the JVM.
            Some(0) if *name != "-Xmx" => {}
            Some(bytes) if bytes < *least => problems.add(
                Problem::new(format!("`{}` gives the JVM {}", written.value.0, in_words(bytes)))
                    .at(written.place, format!("less than {}", in_words(*least)))
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

/// An amount as `HotSpot` reads it: a whole number, decimal or hexadecimal, and one letter at most.
pub(crate) fn bytes(amount: &str) -> Option<u64> {
    let (number, shift) = match amount.char_indices().next_back()? {
        (end, 'k' | 'K') => (&amount[..end], 10),
        (end, 'm' | 'M') => (&amount[..end], 20),
        (end, 'g' | 'G') => (&amount[..end], 30),
        (end, 't' | 'T') => (&amount[..end], 40),
        _ => (amount, 0),
    };
    let (digits, radix) = number.strip_prefix("0x").map_or((number, 10), |digits| (digits, 16));
    let plain = digits.starts_with(|c: char| c.is_digit(radix));
    plain.then(|| u64::from_str_radix(digits, radix).ok())?.and_then(|number| number.checked_mul(1 << shift))
}

fn in_words(bytes: u64) -> String {
    match bytes {
        1 => "1 byte".to_owned(),
        _ if bytes >= 1 << 20 && bytes.is_multiple_of(1 << 20) => format!("{} MB", bytes >> 20),
        _ if bytes >= 1 << 10 && bytes.is_multiple_of(1 << 10) => format!("{} kB", bytes >> 10),
        _ => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_as_hotspot_reads_them() {
        assert_eq!(bytes("512"), Some(512));
        assert_eq!(bytes("512k"), Some(512 << 10));
        assert_eq!(bytes("2G"), Some(2 << 30));
        assert_eq!(bytes("0x40m"), Some(64 << 20));
        for wrong in ["", "m", "-1m", "+1m", "1.5g", "512mb", "5x", "=512m", " 512m", "99999999999999999999", "0x"] {
            assert_eq!(bytes(wrong), None, "{wrong}");
        }
    }
}
