//! Settings that versions of `HotSpot` and JRuby list themselves, with their defaults: `names/make.sh` asks them.

use crate::removed;

/// Letters by which a name may be away from the one that was meant where it is sure that it was.
pub const MISSPELT: usize = 2;

/// A runtime whose settings are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listing {
    /// Flags of `HotSpot`, without `-XX:` and sign.
    Jvm,
    /// Options of JRuby, without `jruby.`.
    Jruby,
}

/// A setting that some version lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// The versions that list it, the oldest first.
    pub versions: Vec<&'static str>,
    /// Its default, where all of them have the same on every machine.
    pub default: Option<&'static str>,
}

/// The cell of a version that does not list a setting.
const ABSENT: &str = "-";
/// The cell of a version whose default depends on the machine.
const VARIES: &str = "*";

impl Listing {
    /// What it lists settings of.
    pub fn runtime(self) -> &'static str {
        match self {
            Self::Jvm => "Java",
            Self::Jruby => "JRuby",
        }
    }

    /// The versions that were asked, the oldest first.
    pub fn versions(self) -> impl Iterator<Item = &'static str> {
        self.rows().take(1).flat_map(|head| head.split('\t').skip(1))
    }

    /// The setting of this name, if a version lists it.
    pub fn find(self, name: &str) -> Option<Listed> {
        let is_it = |row: &&str| row.split('\t').next() == Some(name);
        let cells = self.rows().skip(1).find(is_it)?.split('\t').skip(1);
        let (mut versions, mut defaults) = (Vec::new(), Vec::new());
        for (version, default) in self.versions().zip(cells).filter(|(_, cell)| *cell != ABSENT) {
            versions.push(version);
            defaults.push(default);
        }
        let first = defaults.first().copied().filter(|first| *first != VARIES);
        Some(Listed { versions, default: first.filter(|first| defaults.iter().all(|other| other == first)) })
    }

    /// The nearest name that a version lists, or that an older one had, if one is near enough to be what was meant.
    pub fn nearest(self, name: &str) -> Option<String> {
        let listed = self.rows().skip(1).filter_map(|row| row.split('\t').next());
        let removed = removed::names().filter(|_| self == Self::Jvm);
        nearest(name, listed.chain(removed))
    }

    fn rows(self) -> impl Iterator<Item = &'static str> {
        let table = match self {
            Self::Jvm => include_str!("names/jvm.tsv"),
            Self::Jruby => include_str!("names/jruby.tsv"),
        };
        table.lines().filter(|line| !line.starts_with('#'))
    }
}

/// The nearest of `names`, if one is near enough to be what was meant.
pub fn nearest<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let most = (name.len() / 3).max(MISSPELT);
    // Names of other lengths are further away.
    let near = names.into_iter().filter(|known| known.len().abs_diff(name.len()) <= most);
    let (distance, nearest) =
        near.map(|known| (strsim::osa_distance(name, known), known)).min_by_key(|(distance, _)| *distance)?;
    (distance <= most).then(|| nearest.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_near_names_are_suggested() {
        let names = ["jit.threshold", "jit.max", "compile.invokedynamic"];
        assert_eq!(nearest("jit.treshold", names).as_deref(), Some("jit.threshold"));
        assert_eq!(nearest("something.else.entirely", names), None);
    }

    #[test]
    fn every_row_has_a_cell_for_each_version() {
        for listing in [Listing::Jvm, Listing::Jruby] {
            let cells: Vec<usize> = listing.rows().map(|row| row.split('\t').count()).collect();
            assert!(cells.len() > 200 && cells.iter().all(|count| *count == cells[0]), "{listing:?}");
            let names: Vec<&str> = listing.rows().skip(1).filter_map(|row| row.split('\t').next()).collect();
            assert!(names.is_sorted() && names.iter().all(|name| name.is_ascii()), "{listing:?}");
        }
    }

    #[test]
    fn settings_have_versions_and_defaults() {
        let of = |listing: Listing, name: &str| listing.find(name).map(|found| (found.versions.len(), found.default));
        assert_eq!(of(Listing::Jvm, "UseThreadPriorities"), Some((2, Some("true"))));
        assert_eq!(of(Listing::Jvm, "MaxHeapSize"), Some((2, None)));
        assert_eq!(of(Listing::Jvm, "PermSize"), None);
        assert_eq!(of(Listing::Jruby, "jit.threshold"), Some((6, Some("50"))));
        assert_eq!(of(Listing::Jruby, "compile.fastest"), Some((5, Some("false"))));
        assert_eq!(of(Listing::Jruby, "jit.treshold"), None);
        assert_eq!(Listing::Jruby.nearest("jit.treshold").as_deref(), Some("jit.threshold"));
        assert_eq!(Listing::Jvm.nearest("MaxPermSise").as_deref(), Some("MaxPermSize"));
        assert_eq!(Listing::Jvm.versions().collect::<Vec<_>>(), ["17", "25"]);
    }
}
