//! What a quick run may say: how the variants compare at the age at which it measured them.
//!
//! That is an answer about a warm server only where the speeds no longer moved. Where they did, or where nobody saw whether they did,
//! what is measured of requests is no better and no worse in the long run, whatever its interval.

use model::attribution::Attribution;
use model::curve::AgeCurve;
use model::verdict::Needs;
use model::{BASELINE, Comparison, Interpretation, Metric, Mode, StudyRecord, VariantIndex, Verdict};

use super::words;
use crate::assess::Assessment;
use crate::blocks::{self, Trials};

/// The part of a server's life that a quick run has seen.
pub struct Phase<'a> {
    record: &'a StudyRecord,
    curves: &'a [AgeCurve],
    /// Ages between which the primary metric was measured, seconds of load.
    measured: Option<[f64; 2]>,
}

impl<'a> Phase<'a> {
    /// That of a quick run; `None` where the run is a full one.
    pub fn of(assessment: &Assessment<'a>, curves: &'a [AgeCurve]) -> Option<Self> {
        let record = assessment.record;
        let used: Vec<u32> = blocks::used(&assessment.blocks).collect();
        let measured = super::measured_at(record, &Trials::of(record), &used);
        (record.plan.mode == Mode::Quick).then_some(Self { record, curves, measured })
    }

    /// The verdict and its sentence as this phase bears them; `said` is the sentence of a verdict that knows nothing of phases.
    pub fn reported(&self, variant: VariantIndex, verdict: Verdict, said: String) -> (Verdict, String) {
        let metric = self.record.study.decide.primary;
        let Some([from, to]) = self.ages(metric) else { return (verdict, said) };
        let when = format!("between {from} and {to} under load");
        let effect = match verdict {
            Verdict::Better { effect } | Verdict::Worse { effect } | Verdict::Equivalent { effect } => effect,
            Verdict::Inconclusive { effect: Some(_), .. } => return (verdict, format!("{when}, {said}")),
            Verdict::Inconclusive { effect: None, .. } | Verdict::Invalid { .. } => return (verdict, said),
        };
        if !metric.is_per_cell() {
            return (verdict, format!("{when}, {said}"));
        }
        let Some(moved) = self.moved(variant) else {
            return (verdict, format!("{when}, {said} (quick run; the speeds had settled by then)"));
        };
        let reason =
            format!("{when}, {said}. {moved}. So this says nothing about a warm server; a run without --quick does.");
        let [name, baseline] = self.record.compared(variant);
        let sentence = format!("{name} against {baseline} is inconclusive in the long run: {reason}");
        (
            Verdict::Inconclusive {
                effect: Some(effect),
                needs: Needs { reason, smallest_effect: None, blocks: None },
            },
            sentence,
        )
    }

    /// Takes back what comparisons of requests say of variants whose speed still moved: they read as inconclusive.
    pub fn withhold(&self, comparisons: &mut [Comparison], attribution: Option<&mut Attribution>) {
        let moves = |variant: &VariantIndex| self.moved(*variant).is_some();
        let judged = comparisons.iter_mut().filter(|it| it.interpretation != Interpretation::NotJudged);
        for comparison in judged.filter(|it| it.metric.is_per_cell() && moves(&it.variant)) {
            comparison.interpretation = Interpretation::Inconclusive;
        }
        let contributions = attribution.into_iter().flat_map(|attribution| &mut attribution.contributions);
        let are_of_requests = self.record.study.decide.primary.is_per_cell();
        for contribution in contributions.filter(|it| are_of_requests && it.variants.iter().any(moves)) {
            contribution.interpretation = Interpretation::Inconclusive;
        }
    }

    /// When it was measured; none for what ends before the load begins, or is a time itself.
    fn ages(&self, metric: Metric) -> Option<[String; 2]> {
        self.measured.filter(|_| metric.is_per_cell() || metric == Metric::Memory).map(|ages| ages.map(words::age))
    }

    /// Why the speeds of a variant and the baseline are not known to stand still; `None` where they are.
    fn moved(&self, variant: VariantIndex) -> Option<String> {
        if variant == BASELINE {
            return None;
        }
        let curve = self.curves.iter().find(|curve| curve.variant == variant);
        match curve.and_then(|curve| curve.movement.as_ref()) {
            None => Some("Whether the speeds still moved could not be seen".to_owned()),
            Some(movement) if movement.still_moving => {
                Some(format!("The speeds still moved: {}", words::moved(movement, self.record.compared(variant))))
            }
            Some(_) => None,
        }
    }
}
