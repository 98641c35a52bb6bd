//! What searches for the limit found, over the launches of a variant, as a report shows it.

use model::search::{Behaviour, LimitSummary, Overload, OverloadSummary, Recovery, SearchOfLaunch};
use model::{CellIndex, LimitSearch, Objective, Tally, TrialRecord, VariantIndex};

use crate::assess::Assessment;
use crate::blocks::Trials;
use crate::{blocks, robust};

/// One for each variant and cell whose limit is looked for, of the blocks that are used; none where nothing was searched.
pub fn limit_summaries(assessment: &Assessment) -> Vec<LimitSummary> {
    let record = assessment.record;
    let trials = Trials::of(record);
    let used: Vec<u32> = blocks::used(&assessment.blocks).collect();
    let cells = record.plan.cells.iter().enumerate();
    let with_limit = cells.filter_map(|(cell, planned)| Some((cell, planned.shape.find_limit?.objective)));
    let subjects = with_limit
        .flat_map(|(cell, objective)| (0..record.study.variants.len()).map(move |variant| (variant, cell, objective)));
    let of = |(variant, cell, objective): (VariantIndex, CellIndex, Objective)| {
        let launches = used.iter().filter_map(|block| trials.get(*block, variant));
        let searches: Vec<_> = launches.filter_map(|trial| Some((trial, search(trial, cell)?))).collect();
        (!searches.is_empty()).then(|| summary(variant, cell, objective, &searches))
    };
    subjects.filter_map(of).collect()
}

fn search(trial: &TrialRecord, cell: CellIndex) -> Option<&LimitSearch> {
    trial.cells.iter().find(|measured| measured.cell == cell)?.search.as_ref()
}

fn summary(
    variant: VariantIndex,
    cell: CellIndex,
    objective: Objective,
    searches: &[(&TrialRecord, &LimitSearch)],
) -> LimitSummary {
    let capacities: Vec<f64> = searches.iter().filter_map(|(_, search)| Some(search.end.capacity()?.0)).collect();
    let range = || Some([capacities.iter().copied().reduce(f64::min)?, capacities.iter().copied().reduce(f64::max)?]);
    let of_launch = |(trial, search): &(&TrialRecord, &LimitSearch)| SearchOfLaunch {
        key: trial.key,
        end: search.end,
        steps: search.steps.clone(),
    };
    LimitSummary {
        variant,
        cell,
        objective,
        capacity: robust::spread(&capacities),
        capacity_range: range(),
        overload: beyond(searches),
        searches: searches.iter().map(of_launch).collect(),
    }
}

fn beyond(searches: &[(&TrialRecord, &LimitSearch)]) -> Option<OverloadSummary> {
    let made = searches.iter().filter_map(|(_, search)| {
        let (capacity, _) = search.end.capacity()?;
        Some((capacity, search.overload.as_ref()?))
    });
    let made: Vec<(f64, &Overload)> = made.collect();
    let all = |of: &dyn Fn(f64, &Overload) -> f64| -> Vec<f64> {
        made.iter().map(|(capacity, overload)| of(*capacity, overload)).collect()
    };
    let median = |of: &dyn Fn(f64, &Overload) -> f64| robust::median(&all(of));
    let share = |count: u64, overload: &Overload| count as f64 / overload.due.max(1) as f64;
    let (mut recovered, mut waited) = (Vec::new(), Vec::new());
    for (_, overload) in &made {
        match overload.recovery {
            Recovery::After { seconds } => recovered.push(seconds),
            Recovery::NotWithin { seconds } => waited.push(seconds),
        }
    }
    let tally: Tally = made.iter().map(|(_, overload)| &overload.tally).sum();
    let share_of_capacity = median(&|capacity, overload| overload.goodput() / capacity)?;
    Some(OverloadSummary {
        asked: median(&|_, overload| overload.rate)?,
        goodput: robust::spread(&all(&|_, overload| overload.goodput()))?,
        share_of_capacity,
        behaviour: Behaviour::of(share_of_capacity),
        late_share: median(&|_, overload| {
            share(overload.due.saturating_sub(overload.in_time + overload.tally.failed()), overload)
        })?,
        failed_share: median(&|_, overload| share(overload.tally.failed(), overload))?,
        failures: tally.failures,
        statuses: tally.statuses,
        recovery: robust::spread(&recovered),
        not_recovered: waited.len() as u32,
        waited_s: waited.into_iter().reduce(f64::max),
    })
}
