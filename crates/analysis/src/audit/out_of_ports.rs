//! The client had no port left to connect from.

use model::{Failure, Finding, FindingId, LoadRecord, Severity, Subject, text};

use super::rule::{Check, Rule};

pub const RULE: Rule = Rule {
    id: FindingId::new("out-of-ports"),
    gravest: Severity::Invalid,
    page: include_str!("../../../../docs/findings/out-of-ports.md"),
    checks: &[Check::Load(rule)],
};

/// Invalid when a connection could not be made for want of a local port.
fn rule(load: &LoadRecord) -> Option<Finding> {
    let tally = load.tally();
    let count = *tally.failures.get(&Failure::NoPorts)?;
    let found = RULE.found(
        Severity::Invalid,
        Subject::Load,
        "This machine, not the server, could make no more connections: each port that it may connect from was in use, or was kept back after its \
         last use.",
        "Keep connections open, spread them over several addresses of the server (--address), or allow more ports \
         (sysctl net.ipv4.ip_local_port_range).",
    );
    Some(found.with("without a port", format!("{} of {}", text::count(count), text::count(tally.ended()))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::testing::load;

    #[test]
    fn one_connection_without_a_port_is_enough() {
        assert_eq!(rule(&load(40, 1_000)), None);
        let mut refused = load(40, 1_000);
        refused.samples[3].tally.failures.insert(Failure::Connect, 500);
        assert_eq!(rule(&refused), None);
        refused.samples[5].tally.failures.insert(Failure::NoPorts, 1);
        assert_eq!(rule(&refused).unwrap().severity, Severity::Invalid);
    }
}
