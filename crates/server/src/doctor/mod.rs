//! Whether this host is fit to measure on: one look at what makes results noisy, untrue, or impossible to get.

mod container;
mod cpu;
mod host;
mod limits;
mod load;
mod tools;

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use model::fitness::HostCheck;

use host::Files;

/// Looks at everything. Takes `watch` (10 s is enough to see steal and competing load) unless it is interrupted, and what
/// asking the JDKs and Rubies takes.
pub fn examine(watch: Duration, interrupted: &AtomicBool) -> Vec<HostCheck> {
    let host = Files::new("/");
    let mut checks = cpu::checks(&host);
    checks.extend(limits::checks(&host));
    checks.extend(load::checks(watch, interrupted));
    checks.extend(tools::checks());
    checks
}

#[cfg(test)]
mod tests {
    use std::fs;

    use model::fitness::Fitness;

    use super::*;

    /// Files as a host has them, by path.
    pub(super) fn host(files: &[(&str, &str)]) -> (tempfile::TempDir, Files) {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path.trim_start_matches('/'));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let files = Files::new(root.path());
        (root, files)
    }

    /// The fitness of one check on such a host.
    pub(super) fn fitness(checks: &[HostCheck], subject: &str) -> Fitness {
        let found = checks.iter().find(|check| check.subject == subject);
        found.unwrap_or_else(|| panic!("no check of {subject}")).fitness
    }

    #[test]
    fn this_host_can_be_examined_and_whatever_is_wrong_has_a_cure() {
        let checks = examine(Duration::from_millis(50), &AtomicBool::new(false));
        assert!(checks.len() > 15, "{checks:?}");
        let subjects: std::collections::BTreeSet<&str> = checks.iter().map(|check| check.subject.as_str()).collect();
        assert_eq!(subjects.len(), checks.len(), "each subject once");
        for check in checks {
            assert_eq!(check.cure.is_some(), check.fitness >= Fitness::Doubtful, "{check:?}");
            assert!(!check.found.is_empty(), "{check:?}");
        }
    }
}
