//! The study's workloads, ready to be sent, one by one or as a load.

use std::time::Duration;

use load::{Expected, LengthRule, Load, PreparedRequest, RequestSource, Script, Stop, Target};
use model::study::{Expect, Request, Workload, WorkloadKind};
use model::{AnswerSample, CellIndex, Phase, Scenarios};
use server::Site;

use super::answers;
use super::error::{ConductError, TrialError};
use super::evidence::{Evidence, PhaseResult};
use super::live::LiveServer;

/// How long one request may take.
const TIME_LIMIT: Duration = Duration::from_secs(30);

/// A workload that is ready to be sent.
#[expect(clippy::large_enum_variant, reason = "a study has a handful of them")]
pub(super) enum PreparedWorkload {
    Request {
        prepared: PreparedRequest,
        request: Request,
        expect: Expect,
        expected: Expected,
        /// The shortest and the longest length of a good answer, once they are known.
        lengths: Option<(u64, u64)>,
    },
    Scenarios(Script),
}

impl<'l> LiveServer<'l> {
    /// The study's workloads, ready to be sent.
    pub fn workloads(&self, site: &Site) -> Result<Vec<PreparedWorkload>, TrialError> {
        let trial_error = |error| self.launch.trial_error(Phase::Inspect, error);
        let prepare = |workload: &Workload| match &workload.kind {
            WorkloadKind::Request { request, expect } => {
                let mut request = request.clone();
                for (_, value) in &mut request.headers {
                    *value = site.complete(value).map_err(|error| trial_error(error.into()))?;
                }
                let unsent = |source| ConductError::Request { workload: workload.name.clone(), source };
                let prepared = PreparedRequest::new(&request, expect, &self.target, LengthRule::Any).map_err(unsent)?;
                let expected = Expected::new(expect).map_err(unsent)?;
                Ok(PreparedWorkload::Request { prepared, request, expect: expect.clone(), expected, lengths: None })
            }
            WorkloadKind::Scenarios { scenarios } => {
                let complete = |text: &str| site.complete_script(text).map_err(|error| trial_error(error.into()));
                Ok(PreparedWorkload::Scenarios(script(&workload.name, &scenarios.map_texts(complete)?, &self.target)?))
            }
        };
        self.launch.prepared.study.workloads.iter().map(prepare).collect()
    }

    /// Sends each workload once and adds what the answers are like.
    pub fn look_at_answers(&self, workloads: &[PreparedWorkload], mut evidence: Evidence) -> PhaseResult<Evidence> {
        for (index, workload) in workloads.iter().enumerate() {
            let looked = self.launch.go_on().and_then(|()| self.look_at(index, workload));
            let samples;
            (evidence, samples) = evidence.then(looked)?;
            evidence.answers.extend(samples);
        }
        Ok(evidence)
    }

    /// Sends a workload once: what its answers are like, those of each step where it is scenarios.
    fn look_at(&self, index: usize, workload: &PreparedWorkload) -> Result<Vec<AnswerSample>, TrialError> {
        let prepared = self.launch.prepared;
        let mask = |text: &str| prepared.launcher.mask(text);
        match workload {
            PreparedWorkload::Request { prepared: request, expected, .. } => {
                let name = &prepared.study.workloads[index].name;
                let answer = load::fetch(&self.target, request, TIME_LIMIT)
                    .map_err(|error| self.failed(Phase::Inspect, format!("{name}: {error}")))?;
                Ok(vec![answers::sample(index, &answer, expected.unmet(&answer), mask)])
            }
            PreparedWorkload::Scenarios(script) => {
                let seen =
                    script.look(&self.target, TIME_LIMIT).map_err(|error| self.not_loaded(Phase::Inspect, error))?;
                Ok(seen.iter().map(|seen| answers::of_step(index, seen, mask)).collect())
            }
        }
    }

    /// All workloads mixed, by users who ask at once.
    pub fn mixed_load(&self, workloads: &[PreparedWorkload], stop: Stop) -> Result<Load, TrialError> {
        let plan = &self.launch.run.record.plan;
        Ok(Load {
            // Not what the measured loads draw: a warm-up is no rehearsal of them.
            seed: !self.launch.purpose.seed(plan.seed),
            connections: self.launch.run.record.study.warm_up_users,
            backend: self.launch.run.record.host.backend,
            ..Load::new(self.target.clone(), self.mixed(workloads)?, stop)
        })
    }

    /// All workloads in turn: requests as they are, or, where any of them is scenarios, all as scenarios.
    fn mixed(&self, workloads: &[PreparedWorkload]) -> Result<RequestSource, TrialError> {
        let requests = workloads.iter().map(|workload| match workload {
            PreparedWorkload::Request { prepared, .. } => Some(prepared.clone()),
            PreparedWorkload::Scenarios(_) => None,
        });
        if let Some(requests) = requests.collect::<Option<Vec<_>>>() {
            return Ok(requests.into());
        }
        let as_script = |(workload, prepared): (&Workload, &PreparedWorkload)| match prepared {
            PreparedWorkload::Request { request, expect, lengths, .. } => {
                let alone = request.as_scenarios(&workload.name, expect, *lengths);
                script(&workload.name, &alone, &self.target)
            }
            PreparedWorkload::Scenarios(script) => Ok(script.clone()),
        };
        let scripts =
            self.launch.prepared.study.workloads.iter().zip(workloads).map(as_script).collect::<Result<Vec<_>, _>>()?;
        Ok(scripts.into())
    }

    /// The load of one cell.
    pub fn cell_load(&self, cell: CellIndex, workloads: &[PreparedWorkload], stop: Stop) -> Load {
        let plan = &self.launch.run.record.plan;
        let planned = &plan.cells[cell];
        let source = match &workloads[planned.workload] {
            PreparedWorkload::Request { prepared, .. } => vec![prepared.clone()].into(),
            PreparedWorkload::Scenarios(script) => RequestSource::Scenarios(vec![script.clone()]),
        };
        Load {
            connections: planned.shape.connections,
            arrivals: planned.shape.arrivals.clone(),
            seed: self.launch.purpose.seed(plan.seed),
            backend: self.launch.run.record.host.backend,
            ..Load::new(self.target.clone(), source, stop)
        }
    }

    /// The name of a cell's workload.
    pub fn workload_of(&self, cell: CellIndex) -> &'l str {
        let record = self.launch.run.record;
        &record.study.workloads[record.plan.cells[cell].workload].name
    }
}

fn script(workload: &str, scenarios: &Scenarios, target: &Target) -> Result<Script, ConductError> {
    Script::new(scenarios, target).map_err(|source| ConductError::Script { workload: workload.to_owned(), source })
}
