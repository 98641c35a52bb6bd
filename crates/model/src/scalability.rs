//! How throughput grows with the number of users: the universal scalability law, fitted to a closed loop.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::VariantIndex;

/// A workload that was measured with several numbers of users, and the curves fitted to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Scalability {
    /// The workload's name.
    pub workload: String,
    /// One for each variant that could be fitted.
    pub curves: Vec<Curve>,
    /// Each fitted variant against the baseline.
    pub crossings: Vec<Crossing>,
}

/// The universal scalability law: X(N) = λN / (1 + σ(N−1) + κN(N−1)) (Gunther, Guerrilla Capacity Planning, 2007, eq. 4.31).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Usl {
    /// λ: answers per second of one user.
    pub lambda: f64,
    /// σ: contention, 0 and more.
    pub sigma: f64,
    /// κ: coherency, 0 and more.
    pub kappa: f64,
}

impl Usl {
    /// X(N), answers per second.
    pub fn at(&self, users: f64) -> f64 {
        self.lambda * users / self.slowdown(users)
    }

    /// 1 + σ(N−1) + κN(N−1): how much longer a request takes than it takes one user alone.
    pub fn slowdown(&self, users: f64) -> f64 {
        1.0 + self.sigma * (users - 1.0) + self.kappa * users * (users - 1.0)
    }

    /// N* = √((1−σ)/κ), 1 at least: where throughput is highest; `None` where it rises without end.
    pub fn peak(&self) -> Option<f64> {
        (self.kappa > 0.0).then(|| ((1.0 - self.sigma).max(0.0) / self.kappa).sqrt().max(1.0))
    }
}

/// The law fitted by least squares to the mean throughput at each number of users.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Curve {
    /// Whose.
    pub variant: VariantIndex,
    /// Blocks it rests on.
    pub blocks: u32,
    /// λ: answers per second of one user who shares nothing.
    pub lambda: Bounds,
    /// σ, contention: the part of the work that users have to queue for, 0 and more.
    pub sigma: Bounds,
    /// κ, coherency: what users cost each other in pairs, 0 and more.
    pub kappa: Bounds,
    /// Where the curve is highest; absent where it rises without end (κ = 0).
    pub peak: Option<Peak>,
    /// What was measured, by rising number of users.
    pub points: Vec<Point>,
    /// The largest distance of a measured mean from the curve, a fraction of the curve.
    pub misfit: f64,
}

impl Curve {
    /// The fitted law.
    pub fn law(&self) -> Usl {
        Usl { lambda: self.lambda.estimate, sigma: self.sigma.estimate, kappa: self.kappa.estimate }
    }
}

/// The highest place of a curve.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Peak {
    /// N* = √((1−σ)/κ), users.
    pub users: Bounds,
    /// X(N*), answers per second.
    pub throughput: f64,
    /// Whether as many users were measured; else it is extrapolated.
    pub is_measured: bool,
}

/// Throughput with a number of users.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Point {
    /// N.
    pub users: u32,
    /// Mean over launches of good answers per second.
    pub throughput: f64,
    /// The curve there.
    pub fitted: f64,
    /// X(N) / (N·X(1)) of the curve: 1 where N users get N times what one gets.
    pub efficiency: f64,
    /// Median over launches of the cores that the server used, where it could be read.
    pub cores: Option<f64>,
}

/// Where a variant's curve and the baseline's meet within what was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Crossing {
    /// Against the baseline.
    pub variant: VariantIndex,
    /// Users at which the curves cross; absent where they do not, or more than once.
    pub users: Option<Bounds>,
    /// Part of the resampled blocks in which they cross, 0..=1.
    pub share: f64,
    /// It in words.
    pub sentence: String,
}

/// An estimate and its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Bounds {
    /// The estimate.
    pub estimate: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end; absent where there is none.
    pub high: Option<f64>,
}
