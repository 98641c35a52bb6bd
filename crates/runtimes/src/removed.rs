//! Flags that `HotSpot` had once, by what versions of it say themselves: `names/make.sh` asks them and reads their manuals.

/// A flag that does nothing any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Removed {
    /// The first Java without it: `8`. Where no version says so, the first of those asked that lacks it: `17 at the latest`.
    pub since: &'static str,
    /// How that is known.
    pub source: &'static str,
}

/// What became of the flag of this name; `None` where nothing is known of its end.
pub fn find(name: &str) -> Option<Removed> {
    rows().find(|row| row.0 == name).map(|(_, since, source)| Removed { since, source })
}

/// The names of all.
pub fn names() -> impl Iterator<Item = &'static str> {
    rows().map(|(name, ..)| name)
}

fn rows() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    let table = include_str!("names/removed.tsv").lines().filter(|line| !line.starts_with('#')).skip(1);
    table.filter_map(|row| {
        let (name, rest) = row.split_once('\t')?;
        let (since, source) = rest.split_once('\t')?;
        Some((name, since, source))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::Listing;

    #[test]
    fn what_is_gone_is_in_no_version_after_it() {
        assert!(names().count() > 300 && names().is_sorted());
        for (name, since, source) in rows() {
            let first: u32 = since.split(' ').next().unwrap().parse().unwrap();
            let listed = Listing::Jvm.find(name).map_or_else(Vec::new, |listed| listed.versions);
            assert!(listed.iter().all(|version| version.parse::<u32>().unwrap() < first), "{name}: {listed:?}");
            assert_eq!(source.contains("support was removed in"), since == first.to_string(), "{name}: {source}");
        }
        assert_eq!(find("UseG1GC"), None);
    }

    #[test]
    fn each_kind_of_source_is_named() {
        let of = |name: &str| find(name).map(|Removed { since, source }| (since, source));
        assert_eq!(of("PermSize"), Some(("8", "Java 11: Ignoring option PermSize; support was removed in 8.0")));
        let listed = |before: u32, after: u32| format!("Java {before} lists it, Java {after} does not");
        assert_eq!(of("UseConcMarkSweepGC"), Some(("17 at the latest", listed(11, 17).as_str())));
        assert_eq!(of("UseBiasedLocking"), Some(("25 at the latest", listed(17, 25).as_str())));
        assert_eq!(of("RTMRetryCount"), Some(("25 at the latest", "java(1) of Java 25, Removed Java Options")));
        assert!(of("PrintGCDateStamps").is_some_and(|(since, source)| {
            since == "11 at the latest" && source.starts_with("java(1) of Java 17, Convert GC Logging Flags to Xlog")
        }));
    }
}
