//! What a rule needs before it can look at a result of another tool.

use model::imported::{Fidelity, HostOfRun, ImportedRun};

/// What a rule needs.
#[derive(Debug, Clone, Copy)]
pub enum Evidence {
    /// A file that keeps so much at least.
    Kept(Fidelity),
    /// A log of a machine beside the run.
    HostLog,
    /// What was asked for.
    Address,
}

impl Evidence {
    /// What a run lacks of it, a clause; `None` where all is there.
    pub fn lack(self, run: &ImportedRun, hosts: &[HostOfRun]) -> Option<String> {
        match self {
            Self::Kept(least) if run.fidelity < least => {
                Some(format!("the file keeps {}, not {}", run.fidelity.text(), least.text()))
            }
            Self::HostLog if hosts.is_empty() => {
                Some("no log of the machine covers the run (mpstat, sar -u, vmstat -t)".to_owned())
            }
            Self::Address if run.url.is_none() => Some("the file does not name one address".to_owned()),
            Self::Kept(_) | Self::HostLog | Self::Address => None,
        }
    }
}
