//! How well changes of level are found in series like those of a JVM: a seeded slice, and the whole table by
//! `cargo test -p analysis --test change_points -- --ignored --nocapture`.

use analysis::shifts;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Seconds within which a change has to be found.
const NEAR: usize = 5;

/// Noise of a second's rate, as a log ratio.
#[derive(Clone, Copy)]
struct Noise {
    /// Autocorrelation of what wanders, from one second to the next.
    phi: f64,
    /// Its standard deviation.
    sd: f64,
}

fn normal(rng: &mut ChaCha8Rng) -> f64 {
    let radius = (-2.0 * (1.0 - rng.random::<f64>()).ln()).sqrt();
    radius * (std::f64::consts::TAU * rng.random::<f64>()).cos()
}

/// Rates of a JVM, second by second: noise that wanders (AR(1)); heavy tails of half its size (Student's t with 3 degrees of
/// freedom); in 8 % of the seconds a dip of young collections, exponential with mean 10 %; and every 30 to 60 s a full one,
/// which takes 0.3 to 0.7 (of the logarithm) of one or two seconds.
fn jvm(seconds: usize, noise: Noise, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let Noise { phi, sd } = noise;
    let mut wander = sd * normal(rng);
    let (mut until_full, mut full) = (rng.random_range(10..60), 0);
    let rate = |_| {
        wander = phi * wander + sd * (1.0 - phi * phi).sqrt() * normal(rng);
        let chi: f64 = (0..3).map(|_| normal(rng).powi(2)).sum();
        let tail = 0.5 * sd * normal(rng) / (chi / 3.0).sqrt();
        let young = if rng.random_bool(0.08) { -0.1 * (1.0 - rng.random::<f64>()).ln() } else { 0.0 };
        if until_full == 0 {
            (until_full, full) = (rng.random_range(30..60), rng.random_range(1..3));
        }
        until_full -= 1;
        let dip = if full > 0 { 0.3 + 0.4 * rng.random::<f64>() } else { 0.0 };
        full = full.max(1) - 1;
        1_000.0 * (wander + tail - young - dip).exp()
    };
    (0..seconds).map(rate).collect()
}

/// Part of `launches` steady ones in which a change is found.
fn alarms(seconds: usize, noise: Noise, launches: u32, rng: &mut ChaCha8Rng) -> f64 {
    let alarmed = (0..launches).filter(|_| !shifts(&jvm(seconds, noise, rng)).is_empty()).count();
    alarmed as f64 / f64::from(launches)
}

/// Part of `launches` that step by `step` (a fraction), at any second that leaves both levels ten or more, in which that is
/// found where it is and in its direction.
fn found(seconds: usize, noise: Noise, step: f64, launches: u32, rng: &mut ChaCha8Rng) -> f64 {
    let is_found = |_: &u32| {
        let at = rng.random_range(10..=seconds - 10);
        let mut rates = jvm(seconds, noise, rng);
        rates[at..].iter_mut().for_each(|rate| *rate *= 1.0 + step);
        let is_it =
            |shift: &analysis::Shift| shift.index.abs_diff(at) <= NEAR && (shift.after > shift.before) == (step > 0.0);
        shifts(&rates).iter().any(is_it)
    };
    (0..launches).filter(is_found).count() as f64 / f64::from(launches)
}

#[test]
fn steps_are_found_and_steady_launches_stay_quiet() {
    const LAUNCHES: u32 = 300;
    for noise in [Noise { phi: 0.5, sd: 0.015 }, Noise { phi: 0.7, sd: 0.02 }] {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        // Three standard errors beyond what is wanted.
        for (step, wanted) in [(-0.1, 0.95), (0.1, 0.95), (-0.2, 0.99)] {
            let found = found(150, noise, step, LAUNCHES, &mut rng);
            let error: f64 = (wanted * (1.0 - wanted) / f64::from(LAUNCHES)).sqrt();
            assert!(found >= wanted - 3.0 * error, "{step}, noise {}: {found}", noise.sd);
        }
        // Wanted are 15 %; it does far better.
        let alarms = alarms(150, noise, LAUNCHES, &mut rng);
        assert!(alarms <= 0.03, "noise {}: {alarms}", noise.sd);
    }
}

#[test]
#[ignore = "takes minutes: the whole table"]
fn table() {
    const LAUNCHES: u32 = 10_000;
    println!("| seconds | noise: sd, φ | alarms, steady | −10 % found | +10 % found | −20 % found | +20 % found |");
    println!("|---:|---|---:|---:|---:|---:|---:|");
    for seconds in [20, 60, 150, 600] {
        for (sd, phi) in [(0.01, 0.3), (0.015, 0.5), (0.02, 0.7), (0.03, 0.5), (0.04, 0.8)] {
            let noise = Noise { phi, sd };
            let mut rng = ChaCha8Rng::seed_from_u64(1);
            let alarms = alarms(seconds, noise, LAUNCHES, &mut rng);
            let steps = [-0.1, 0.1, -0.2, 0.2].map(|step| found(seconds, noise, step, LAUNCHES, &mut rng));
            let [a, b, c, d] = steps.map(|share| format!("{:.1} %", share * 100.0));
            let alarms = format!("{:.2} %", alarms * 100.0);
            println!("| {seconds} | {:.1} %, {phi} | {alarms} | {a} | {b} | {c} | {d} |", sd * 100.0);
        }
    }
}
