//! Client and server took each other's cores.

use model::study::Isolation;
use model::{Finding, FindingId, Sample, Severity, StudyRecord, Subject, text};

use super::evidence::Evidence;
use super::rule::{Check, Imported, Rule, launches, measured};
use crate::assess::Assessment;
use crate::{metrics, robust};

pub const RULE: Rule = Rule {
    id: FindingId::new("shared-cores"),
    gravest: Severity::Warning,
    page: include_str!("../../../../docs/findings/shared-cores.md"),
    checks: &[Check::Run(rule), Check::Imported { needs: Evidence::Address, look: of_import }],
};

/// Part of the shared cores that the client may use.
const CLIENT_SHARE: f64 = 0.1;

/// A warning for each variant and cell whose median launch saw the client use more than a tenth of the cores that both
/// sides may run on.
fn rule(record: &StudyRecord, _: &Assessment) -> Vec<Finding> {
    let mut all = Vec::new();
    for variant in 0..record.study.variants.len() {
        let shared = launches(record, variant).filter_map(|trial| trial.launch.as_ref()?.shared_cpus).max();
        let Some(shared) = shared.map(|cpus| left_to_both(&record.study.host, cpus)).filter(|cpus| *cpus > 0) else {
            continue;
        };
        for cell in 0..record.plan.cells.len() {
            let measured = measured(record, variant, cell);
            let cores: Vec<f64> = measured.iter().map(|cell| metrics::client_cores(cell)).collect();
            let Some(cores) = robust::median(&cores) else { continue };
            if cores / f64::from(shared) <= CLIENT_SHARE {
                continue;
            }
            let found = RULE.found(
                Severity::Warning,
                Subject::Cell { variant, cell },
                "The client took time of the cores that the server runs on: with cores of its own the server would be faster, \
                 and variants that are asked more are slowed more.",
                "Keep them apart by `server_cpus` and `client_cpus` in `[host]`, or use a machine with more cores.",
            )
            .with("cores that both may use", shared.to_string())
            .with("client CPU, median launch", format!("{cores:.2} cores, {} of them", text::percent(cores / f64::from(shared))));
            let waited = measured.iter().flat_map(|cell| &cell.samples).filter_map(pressure).collect::<Vec<_>>();
            all.push(match robust::median(&waited) {
                Some(waited) => {
                    found.with("some task waited for a core", format!("{} of the time", text::percent(waited)))
                }
                None => found,
            });
        }
    }
    all
}

/// Of the processors that the server shares with bakeoff those that the load may use as well.
fn left_to_both(host: &Isolation, shared: u32) -> u32 {
    match (host.server_cpus.is_empty(), host.client_cpus.len()) {
        (_, 0) => shared,
        // A study gives no processor to both.
        (false, _) => 0,
        (true, client) => shared.min(client as u32),
    }
}

fn pressure(sample: &Sample) -> Option<f64> {
    sample.host.as_ref()?.pressure
}

/// A warning where an imported run asked this very machine: its load generator ran beside the server.
fn of_import(imported: &Imported) -> Option<Finding> {
    let url = imported.run.url.as_deref().filter(|_| imported.run.is_on_loopback())?;
    let found = RULE.found(
        Severity::Warning,
        Subject::Load,
        "The load came from the server's own machine: both took time of the same cores, and a faster server is slowed more. How much the load took, the file does not say.",
        "Send the load from another machine, or give each side cores of its own.",
    );
    let found = found.with("address", url);
    Some(imported.hosts.iter().fold(found, |found, host| {
        found.with(format!("idle meanwhile, by {}", host.file), text::percent(host.mean.idle))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::testing::{gravest, host, imported, values};
    use crate::fixture;

    #[test]
    fn a_client_on_the_servers_cores_is_reported() {
        let with = |shared: Option<u32>, client_cpu_s: f64| {
            let mut record = fixture::record(6, 0.0);
            for trial in &mut record.trials {
                trial.launch.as_mut().unwrap().shared_cpus = shared;
                for sample in trial.cells.iter_mut().flat_map(|cell| &mut cell.samples) {
                    sample.client_cpu_s = client_cpu_s * sample.length_s;
                }
            }
            gravest(rule, &record)
        };
        assert_eq!(with(Some(2), 0.5), Some(Severity::Warning));
        assert_eq!(with(Some(2), 0.19), None);
        assert_eq!(with(Some(16), 0.5), None, "there is room for both");
        assert_eq!(with(Some(0), 0.5), None, "each has its own");
        assert_eq!(with(None, 0.5), None, "not known");
    }

    #[test]
    fn what_the_study_keeps_apart_is_not_shared() {
        let host = |server: &[usize], client: &[usize]| Isolation {
            server_cpus: server.to_vec(),
            client_cpus: client.to_vec(),
            ..Isolation::default()
        };
        assert_eq!(left_to_both(&host(&[], &[]), 2), 2);
        assert_eq!(left_to_both(&host(&[0], &[1]), 1), 0);
        assert_eq!(left_to_both(&host(&[], &[1]), 2), 1);
        assert_eq!(left_to_both(&host(&[0], &[]), 1), 1);
    }

    #[test]
    fn an_imported_run_on_the_servers_own_machine_is_reported() {
        let hosts = [host(10, |_| 0.25)];
        let found = |url: Option<&str>, hosts| {
            let run = model::imported::ImportedRun { url: url.map(str::to_owned), ..imported(600, 10) };
            of_import(&Imported { run: &run, levels: &[], hosts })
        };
        for url in [
            "http://127.0.0.1:8080/page",
            "localhost:8080",
            "https://me:secret@LOCALHOST/?to=b",
            "http://127.9.9.9",
            "http://[::1]:80/",
        ] {
            assert!(found(Some(url), &[]).is_some(), "{url}");
        }
        for url in ["http://10.0.0.1/", "http://localhost.example.org/", "http://shop/127.0.0.1", "", "http://[::2]/"] {
            assert_eq!(found(Some(url), &[]), None, "{url}");
        }
        assert_eq!(values(&found(Some("http://127.0.0.1/"), &hosts).unwrap())[1], "75.0 %");
    }
}
