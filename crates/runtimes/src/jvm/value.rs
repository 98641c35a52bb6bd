//! Values of flags, as the JVM means them.

use super::Flags;

/// Flags of `HotSpot`'s type `ccstrlist`, JDK 17 to 25: what is given later is added.
const LISTS: [&str; 8] = [
    "CompileCommand",
    "CompileOnly",
    "ControlIntrinsic",
    "DisableIntrinsic",
    "OnError",
    "OnOutOfMemoryError",
    "VerifyGCType",
    "VerifySubSet",
];

/// Whether a flag is a list.
pub fn is_list(flag: &str) -> bool {
    LISTS.contains(&flag)
}

/// An amount as `HotSpot` reads it: a whole number, decimal or hexadecimal, and one letter at most.
pub fn bytes(amount: &str) -> Option<u64> {
    let (digits, radix) = match amount.strip_prefix("0x").or(amount.strip_prefix("0X")) {
        Some(digits) => (digits, 16),
        None => (amount, 10),
    };
    let number = digits.trim_end_matches(|c: char| c.is_ascii_alphabetic() && !c.is_digit(radix));
    let shift = match &*digits[number.len()..].to_ascii_lowercase() {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        "t" => 40,
        _ => return None,
    };
    let is_plain = number.starts_with(|c: char| c.is_digit(radix));
    is_plain.then(|| u64::from_str_radix(number, radix).ok())?.and_then(|number| number.checked_mul(1 << shift))
}

/// Whether the JVM takes both for the same. It rounds sizes that were given with a unit up to what it can map: a hundredth
/// more is no other value.
pub fn same_value(requested: &str, live: &str) -> bool {
    let (requested, live) = (requested.trim(), live.trim());
    if let (Some(wanted), Some(found)) = (bytes(requested), bytes(live)) {
        let slack = if requested.ends_with(|c: char| c.is_ascii_alphabetic()) { wanted / 100 } else { 0 };
        return wanted.abs_diff(found) <= slack;
    }
    match (requested.parse::<f64>(), live.parse::<f64>()) {
        (Ok(requested), Ok(live)) => (requested - live).abs() < 1e-6,
        _ => requested == live,
    }
}

/// Whether a JVM with these flags takes both for the same value of `name`; of a list any member may be the one asked for.
///
/// With G1 the heap and its parts are whole regions, which grow with it (up to 32 MiB, java(1)). A heap is rounded up to what one page
/// of the card table covers (`GCArguments::compute_heap_alignment`: 512 bytes a card, so 2 MiB), and ZGC's to its granules of 2 MiB;
/// Shenandoah's and Epsilon's are not. The young part of it is rounded down. `page` is how many bytes a page of memory has.
pub fn same_flag(flags: &Flags, page: usize, name: &str, requested: &str, live: &str) -> bool {
    let of = |name: &str| flags.get(name).map(|flag| flag.value.as_str());
    let is_on = |collector: &&str| of(collector) == Some("true");
    let region = of("G1HeapRegionSize").filter(|_| is_on(&"UseG1GC")).and_then(bytes);
    let is_aligned = ["UseSerialGC", "UseParallelGC", "UseG1GC", "UseZGC"].iter().any(is_on);
    let heap = is_aligned.then(|| region.unwrap_or_default().max(BYTES_A_CARD * page as u64));
    let grain = GRAINS.iter().find(|(collector, _)| is_on(collector)).map(|(_, bytes)| bytes);
    let is_rounded = |requested: u64, live: u64| match name {
        "MaxHeapSize" | "InitialHeapSize" | "MinHeapSize" => {
            heap.is_some_and(|unit| requested.checked_next_multiple_of(unit) == Some(live))
        }
        "NewSize" | "MaxNewSize" => {
            region.is_some_and(|unit| requested.abs_diff(live) < unit)
                || grain.is_some_and(|unit| requested - requested % unit == live)
        }
        _ => false,
    };
    let sizes = bytes(requested).zip(bytes(live));
    same_value(requested, live)
        || sizes.is_some_and(|(requested, live)| is_rounded(requested, live))
        || live.lines().any(|member| member == requested)
}

/// Of what collectors make their generations, bytes (`GenAlignment`; JDK 17 to 25).
const GRAINS: [(&str, u64); 2] = [("UseSerialGC", 64 << 10), ("UseParallelGC", 512 << 10)];

/// How much of the heap a byte of `HotSpot`'s card table is for.
const BYTES_A_CARD: u64 = 512;

/// Whether it is a value that a flag may have which names nothing: a switch, a number or a size.
pub fn is_plain(value: &str) -> bool {
    matches!(value, "true" | "false") || value.parse::<f64>().is_ok() || is_size(value)
}

/// Whether it looks like a size, be it with a unit that does not exist: then the JVM has to refuse it.
fn is_size(value: &str) -> bool {
    value.starts_with(|c: char| c.is_ascii_digit()) && value.chars().all(|c| c.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::super::parse_flags;
    use super::*;

    /// Of the pages for which the figures below are.
    const PAGE: usize = 4096;

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

    #[test]
    fn values_are_compared_as_the_jvm_means_them() {
        assert!(same_value("512m", "536870912"));
        assert!(same_value("100000k", "102760448"), "rounded up to whole pages");
        assert!(!same_value("3m", "4194304"));
        assert!(!same_value("100", "101"));
        assert!(same_value("40", "40.000000"));
        assert!(same_value("0x80000000", "2147483648") && !same_value("0x80000000", "2147483649"));
        assert!(same_value("0x8k", "8192") && !same_value("0x", "0"));
        assert!(same_value("true", "true") && !same_value("true", "false"));
    }

    #[test]
    fn a_heap_is_whole_regions() {
        let flags = |collector: &str| {
            parse_flags(&format!(
                "bool UseG1GC = {} {{product}} {{default}}\nsize_t G1HeapRegionSize = 4194304 {{product}} {{ergonomic}}\n",
                collector == "G1"
            ))
        };
        let same = |collector, name, requested, live| same_flag(&flags(collector), PAGE, name, requested, live);
        assert!(same("G1", "MaxNewSize", "90m", "92274688"));
        assert!(!same("G1", "MaxNewSize", "90m", "100663296"));
        assert!(!same("Serial", "MaxNewSize", "90m", "92274688"));
        assert!(!same("G1", "MetaspaceSize", "90m", "92274688"));
        assert!(same("G1", "MaxHeapSize", "65m", "71303168"), "up to 68 MiB");
        assert!(!same("G1", "MaxHeapSize", "65m", "69206016") && !same("G1", "MaxHeapSize", "65m", "67108864"));
    }

    #[test]
    fn a_heap_is_rounded_up() {
        let same = |collector: &str, requested, live| {
            same_flag(
                &parse_flags(&format!("bool {collector} = true {{product}} {{command line}}\n")),
                PAGE,
                "MaxHeapSize",
                requested,
                live,
            )
        };
        // As JDK 17 and 25 say of -Xmx65m, where a page has 4 KiB.
        for collector in ["UseSerialGC", "UseParallelGC", "UseZGC"] {
            assert!(same(collector, "65m", "69206016"), "{collector}");
            assert!(same(collector, "67000000", "67108864"), "{collector}");
            assert!(!same(collector, "65m", "67108864") && !same(collector, "64m", "69206016"), "{collector}");
        }
        assert!(!same("UseEpsilonGC", "65m", "69206016") && same("UseEpsilonGC", "65m", "68157440"));
        let parallel = parse_flags("bool UseParallelGC = true {product} {command line}\n");
        let young = |requested, live| same_flag(&parallel, PAGE, "MaxNewSize", requested, live);
        assert!(young("5700k", "5767168") && !young("5700k", "6291456") && !young("5m", "5767168"));
    }
}
