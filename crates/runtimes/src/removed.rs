//! Flags of `HotSpot` that a later version took away. Kept by hand, since no JVM lists them any more.

/// A flag, or all that begin so, which does nothing any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Removed {
    /// The first Java without it.
    pub since: u32,
    /// Why it does nothing.
    pub reason: &'static str,
    /// Where that can be read.
    pub source: &'static str,
    names: &'static [&'static str],
    begins: Option<&'static str>,
}

const ALL: &[Removed] = &[
    Removed {
        since: 8,
        reason: "there is no permanent generation; MetaspaceSize and MaxMetaspaceSize limit what took its place",
        source: "JEP 122",
        names: &["PermSize", "MaxPermSize"],
        begins: None,
    },
    Removed {
        since: 14,
        reason: "the concurrent mark sweep collector was removed",
        source: "JEP 363",
        names: &[
            "UseConcMarkSweepGC",
            "UseCMSInitiatingOccupancyOnly",
            "UseCMSBestFit",
            "CMSClassUnloadingEnabled",
            "CMSInitiatingOccupancyFraction",
            "CMSParallelRemarkEnabled",
            "CMSScavengeBeforeRemark",
            "ExplicitGCInvokesConcurrentAndUnloadsClasses",
        ],
        begins: Some("CMS"),
    },
    Removed {
        since: 10,
        reason: "the young collector ParNew was not to be had by itself any more, and ended with CMS",
        source: "JEP 214 and JEP 363",
        names: &["UseParNewGC"],
        begins: None,
    },
    Removed {
        since: 15,
        reason: "the parallel collector always collects the old generation in parallel",
        source: "JEP 366",
        names: &["UseParallelOldGC"],
        begins: None,
    },
    Removed {
        since: 9,
        reason: "logs of the collector are asked for by -Xlog:gc",
        source: "JEP 271",
        names: &[
            "PrintGCDateStamps",
            "PrintGCTimeStamps",
            "PrintGCApplicationStoppedTime",
            "PrintGCApplicationConcurrentTime",
            "PrintGCCause",
            "PrintHeapAtGC",
            "PrintTenuringDistribution",
            "PrintAdaptiveSizePolicy",
            "PrintReferenceGC",
            "PrintPromotionFailure",
            "UseGCLogFileRotation",
            "NumberOfGCLogFiles",
            "GCLogFileSize",
        ],
        begins: None,
    },
    Removed {
        since: 12,
        reason: "what it turned on was removed, or is on by itself",
        source: "HotSpot, arguments.cpp of JDK 12, special_jvm_flags",
        names: &["AggressiveOpts"],
        begins: None,
    },
    Removed {
        since: 9,
        reason: "the interpreter has no such methods of its own any more",
        source: "HotSpot, arguments.cpp of JDK 9, special_jvm_flags",
        names: &["UseFastAccessorMethods", "UseFastEmptyMethods"],
        begins: None,
    },
    Removed {
        since: 18,
        reason: "locks are never biased",
        source: "JEP 374",
        names: &["UseBiasedLocking", "BiasedLockingStartupDelay"],
        begins: Some("BiasedLocking"),
    },
];

/// What became of the flag of this name; `None` where nothing is known of its end.
pub fn find(name: &str) -> Option<Removed> {
    let is_about = |removed: &&Removed| {
        removed.names.contains(&name) || removed.begins.is_some_and(|begin| name.starts_with(begin))
    };
    ALL.iter().find(is_about).copied()
}

/// The names of all that are listed one by one.
pub fn names() -> impl Iterator<Item = &'static str> {
    ALL.iter().flat_map(|removed| removed.names).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::Listing;

    #[test]
    fn what_is_gone_is_in_no_version_after_it() {
        for name in names() {
            let since = find(name).unwrap().since;
            let listed = Listing::Jvm.find(name).map_or_else(Vec::new, |listed| listed.versions);
            assert!(listed.iter().all(|version| version.parse::<u32>().unwrap() < since), "{name}: {listed:?}");
        }
        assert_eq!(find("CMSPrecleaningEnabled").map(|removed| removed.source), Some("JEP 363"));
        assert_eq!(find("UseG1GC"), None);
    }
}
