//! The launches of two variants side by side, at each age.

use model::curve::{CurvePoint, Movement};

use super::launch::Launch;
use crate::boundaries::STUDY_ALPHA;
use crate::quantity::Quantity;
use crate::{robust, student};

/// The least time that is seen of a launch before it is said whether its speed still moves, seconds.
const LEAST_S: f64 = 4.0;

/// The launches of baseline and variant, block by block.
pub(super) struct Pairs<'a> {
    pub pairs: Vec<[&'a Launch; 2]>,
}

impl Pairs<'_> {
    /// ln(variant) − ln(baseline) of the rate between two ages, a number a block.
    pub fn differences(&self, from_s: f64, to_s: f64) -> Vec<Quantity> {
        self.pairs
            .iter()
            .map(|[baseline, variant]| variant.rate(from_s, to_s).against(baseline.rate(from_s, to_s)))
            .collect()
    }

    /// Median launch of baseline and of variant.
    pub fn median(&self, of: impl Fn(&Launch) -> f64) -> [f64; 2] {
        [0, 1].map(|side| {
            robust::median(&self.pairs.iter().map(|pair| of(pair[side])).collect::<Vec<_>>()).unwrap_or_default()
        })
    }

    pub fn points(&self, edges: &[f64]) -> Vec<CurvePoint> {
        let point = |span: &[f64]| {
            let reached = self.median(|launch| launch.good(0.0, span[1]));
            point([span[0], span[1]], reached, &self.differences(span[0], span[1]))
        };
        edges.windows(2).map(point).collect()
    }

    /// The time that the answers of a span took: the less, the faster.
    pub fn by_requests(&self, edges: &[f64]) -> Vec<CurvePoint> {
        let rate = |launch: &Launch, span: &[f64]| {
            let answers = span[1] - span[0];
            Quantity::in_steps(answers / (launch.age_s(span[1]) - launch.age_s(span[0])), 1.0, answers)
        };
        let point = |span: &[f64]| {
            let differences: Vec<Quantity> = self
                .pairs
                .iter()
                .map(|[baseline, variant]| rate(variant, span).against(rate(baseline, span)))
                .collect();
            point([span[0], span[1]], self.median(|launch| launch.age_s(span[1])), &differences)
        };
        edges.windows(2).map(point).collect()
    }

    /// The last quarter of what was seen against the quarter before it.
    pub fn movement(&self, seen_s: f64, margin: f64) -> Option<Movement> {
        let parts_s = [seen_s / 2.0, seen_s * 0.75, seen_s];
        let rise = |launch: &Launch| launch.rate(parts_s[1], parts_s[2]).against(launch.rate(parts_s[0], parts_s[1]));
        let rises: Vec<[Quantity; 2]> = self.pairs.iter().map(|pair| pair.map(rise)).collect();
        let changes: Vec<Quantity> = rises
            .iter()
            .map(|[baseline, variant]| Quantity {
                value: variant.value - baseline.value,
                resolution: variant.resolution.max(baseline.resolution),
            })
            .collect();
        let change = student::interval(&changes, STUDY_ALPHA).filter(|_| seen_s >= LEAST_S)?;
        let mean = |side: usize| rises.iter().map(|pair| pair[side].value).sum::<f64>() / rises.len() as f64;
        let rises = [0, 1].map(mean);
        // What could not be computed is not known to stand still.
        let is_small = |moved: f64| moved <= margin;
        let is_still = is_small(change.estimate.abs())
            && (!change.excludes_zero() || change.lies_within(margin))
            && rises.into_iter().all(is_small);
        Some(Movement { parts_s, change, rises, still_moving: !is_still }).filter(|it| it.change.estimate.is_finite())
    }
}

fn point([from, to]: [f64; 2], reached: [f64; 2], differences: &[Quantity]) -> CurvePoint {
    let mean = differences.iter().map(|one| one.value).sum::<f64>() / differences.len() as f64;
    let interval = student::interval(differences, STUDY_ALPHA).map(|effect| [effect.low, effect.high]);
    CurvePoint { from, to, reached, estimate: mean, interval, blocks: differences.len() as u32 }
}
