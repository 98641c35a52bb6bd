//! The universal scalability law's fit, and where two of them meet.

use model::scalability::Usl;

use crate::linear;

/// Steps after which a fit that still moves is taken as it is.
const MOST_STEPS: usize = 200;

/// The numbers of users between `low` and `high`, ends excluded, at which two curves meet, rising.
pub fn meets(a: &Usl, b: &Usl, [low, high]: [f64; 2]) -> Vec<f64> {
    // λa·slowdown b(N) = λb·slowdown a(N) is a quadratic equation in N.
    let of = |factor: fn(&Usl) -> f64| a.lambda * factor(b) - b.lambda * factor(a);
    let square = of(|curve| curve.kappa);
    let linear = of(|curve| curve.sigma - curve.kappa);
    let constant = of(|curve| 1.0 - curve.sigma);
    let mut roots = if square == 0.0 {
        vec![-constant / linear]
    } else {
        // One root without cancellation; the other follows from their product.
        let far = -0.5 * (linear + linear.signum() * (linear * linear - 4.0 * square * constant).sqrt());
        vec![far / square, constant / far]
    };
    roots.retain(|users| *users > low && *users < high);
    roots.sort_by(f64::total_cmp);
    roots
}

/// The curve with the least sum of squares of X over points of (N, X), σ and κ being 0 or more; `None` with fewer than
/// three numbers of users or without any throughput.
///
/// The least squares under the bounds are those of a fit without bounds with some of σ and κ left out, so each of
/// the four is tried: the linear form N/X = (1 + σ(N−1) + κN(N−1))/λ first, then Levenberg's and Marquardt's steps from there.
pub fn fit(points: &[(f64, f64)]) -> Option<Usl> {
    let mut users: Vec<f64> = points.iter().map(|(users, _)| *users).collect();
    users.sort_by(f64::total_cmp);
    users.dedup();
    if users.len() < 3 || points.iter().any(|(_, throughput)| *throughput <= 0.0) {
        return None;
    }
    let subsets: [&[Term]; 4] = [&[Term::Sigma, Term::Kappa], &[Term::Sigma], &[Term::Kappa], &[]];
    let fits = subsets.into_iter().filter_map(|terms| refined(start(points, terms)?, points, terms));
    fits.filter(|fit| fit.sigma >= 0.0 && fit.kappa >= 0.0)
        .min_by(|a, b| squares(a, points).total_cmp(&squares(b, points)))
}

fn squares(curve: &Usl, points: &[(f64, f64)]) -> f64 {
    points.iter().map(|(users, throughput)| (throughput - curve.at(*users)).powi(2)).sum()
}

fn start(points: &[(f64, f64)], terms: &[Term]) -> Option<Usl> {
    let rows: Vec<Vec<f64>> = points
        .iter()
        .map(|(users, _)| [1.0].into_iter().chain(terms.iter().map(|term| term.of(*users))).collect())
        .collect();
    let inverse: Vec<f64> = points.iter().map(|(users, throughput)| users / throughput).collect();
    let linear = linear::least_squares(&rows, &inverse)?;
    // Points that curve upwards have no such form.
    let best = points.iter().map(|(users, throughput)| throughput / users).fold(0.0, f64::max);
    let lambda = if linear[0] > 0.0 { 1.0 / linear[0] } else { best };
    let mut curve = Usl { lambda, sigma: 0.0, kappa: 0.0 };
    for (term, value) in terms.iter().zip(&linear[1..]) {
        *term.in_curve(&mut curve) = (value * lambda).max(0.0);
    }
    Some(curve)
}

/// Levenberg's and Marquardt's steps (Marquardt 1963) for λ and `terms`.
fn refined(mut curve: Usl, points: &[(f64, f64)], terms: &[Term]) -> Option<Usl> {
    let mut damping = 1e-3;
    for _ in 0..MOST_STEPS {
        let slopes = |users: f64| {
            let slowdown = curve.slowdown(users);
            let of_term = -curve.lambda * users / (slowdown * slowdown);
            [users / slowdown].into_iter().chain(terms.iter().map(move |term| of_term * term.of(users))).collect()
        };
        let rows: Vec<Vec<f64>> = points.iter().map(|(users, _)| slopes(*users)).collect();
        let residuals: Vec<f64> = points.iter().map(|(users, throughput)| throughput - curve.at(*users)).collect();
        let step = linear::damped(&rows, &residuals, damping)?;
        let mut next = Usl { lambda: curve.lambda + step[0], ..curve };
        terms.iter().zip(&step[1..]).for_each(|(term, by)| *term.in_curve(&mut next) += by);
        let is_sound = next.lambda > 0.0 && points.iter().all(|(users, _)| next.slowdown(*users) > 0.0);
        if !is_sound || squares(&next, points) > squares(&curve, points) {
            damping *= 10.0;
            if damping > 1e12 {
                break;
            }
            continue;
        }
        let moved = 1.0 - squares(&next, points) / squares(&curve, points).max(f64::MIN_POSITIVE);
        (curve, damping) = (next, damping / 10.0);
        if moved < 1e-12 {
            break;
        }
    }
    Some(curve)
}

/// A parameter that can be left out.
#[derive(Debug, Clone, Copy)]
enum Term {
    Sigma,
    Kappa,
}

impl Term {
    /// What it is multiplied with in the slow-down.
    fn of(self, users: f64) -> f64 {
        match self {
            Self::Sigma => users - 1.0,
            Self::Kappa => users * (users - 1.0),
        }
    }

    fn in_curve(self, curve: &mut Usl) -> &mut f64 {
        match self {
            Self::Sigma => &mut curve.sigma,
            Self::Kappa => &mut curve.kappa,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn close(left: f64, right: f64, relative: f64) -> bool {
        (left - right).abs() <= relative * right.abs()
    }

    /// SPEC SDM91: users and scripts per hour, with the parameters that Gunther's own software found
    /// (R package `usl`, data set `specsdm91`).
    #[test]
    fn the_published_fit_of_sdm91() {
        let points = [
            (1.0, 64.9),
            (18.0, 995.9),
            (36.0, 1652.4),
            (72.0, 1853.2),
            (108.0, 1828.9),
            (144.0, 1775.0),
            (216.0, 1702.2),
        ];
        let law = fit(&points).unwrap();
        assert!(close(law.lambda, 89.995, 1e-4), "{law:?}");
        assert!(close(law.sigma, 0.02773, 1e-3), "{law:?}");
        assert!(close(law.kappa, 1.0437e-4, 1e-3), "{law:?}");
        assert!(close(law.peak().unwrap(), 96.5, 1e-3), "{law:?}");
    }

    #[test]
    fn bounds_hold_where_the_free_fit_leaves_them() {
        // Better than linear: nothing is shared.
        let law = fit(&[(1.0, 10.0), (2.0, 21.0), (4.0, 43.0), (8.0, 88.0)]).unwrap();
        assert_eq!((law.sigma, law.kappa, law.peak()), (0.0, 0.0, None));
        // Pure contention: λ = 100, σ = 0.1.
        let amdahl = Usl { lambda: 100.0, sigma: 0.1, kappa: 0.0 };
        let points = [1.0, 2.0, 8.0, 32.0, 64.0].map(|users| (users, amdahl.at(users)));
        let law = fit(&points).unwrap();
        assert!(close(law.sigma, 0.1, 1e-6) && law.kappa < 1e-9, "{law:?}");
    }

    #[test]
    fn too_little_to_fit() {
        assert_eq!(fit(&[(1.0, 10.0), (2.0, 20.0), (2.0, 21.0)]), None);
        assert_eq!(fit(&[(1.0, 10.0), (2.0, 0.0), (4.0, 21.0)]), None);
    }

    #[test]
    fn curves_meet_where_both_give_the_same() {
        let slow_start = Usl { lambda: 50.0, sigma: 0.0, kappa: 0.0 };
        let contended = Usl { lambda: 100.0, sigma: 0.2, kappa: 0.0 };
        // 50·(1 + 0.2(N−1)) = 100 at N = 6.
        let meet = meets(&contended, &slow_start, [1.0, 100.0]);
        assert!(meet.len() == 1 && close(meet[0], 6.0, 1e-9), "{meet:?}");
        assert_eq!(meets(&contended, &slow_start, [1.0, 5.0]), Vec::<f64>::new());
        assert_eq!(meets(&contended, &contended, [1.0, 100.0]), Vec::<f64>::new());
    }

    proptest! {
        #[test]
        fn an_exact_curve_is_found_again(
            lambda in 1.0..1e5_f64, sigma in 0.0..0.5_f64, kappa in 1e-5..0.01_f64,
        ) {
            let truth = Usl { lambda, sigma, kappa };
            let points = [1.0, 4.0, 10.0, 20.0, 50.0, 100.0].map(|users| (users, truth.at(users)));
            let law = fit(&points).unwrap();
            for (users, throughput) in points {
                prop_assert!(close(law.at(users), throughput, 1e-4), "{truth:?} {law:?}");
            }
        }

        #[test]
        fn curves_agree_where_they_meet(
            a in (1.0..100.0_f64, 0.0..0.5_f64, 0.0..0.01_f64), b in (1.0..100.0_f64, 0.0..0.5_f64, 0.0..0.01_f64),
        ) {
            let [a, b] = [a, b].map(|(lambda, sigma, kappa)| Usl { lambda, sigma, kappa });
            for users in meets(&a, &b, [1.0, 200.0]) {
                prop_assert!(close(a.at(users), b.at(users), 1e-6), "{a:?} {b:?} {users}");
            }
        }
    }
}
