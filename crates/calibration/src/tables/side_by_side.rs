//! Tables of launches side by side.

use std::fmt::Write as _;

use super::{Errors, asked_of_errors, bounds, percent};
use crate::side_by_side::{Conditions, DesignOutcomes, FASTER, Host, Way};

fn launches(conditions: Conditions) -> String {
    format!("{:.0} %", conditions.launch * 100.0)
}

/// Figure 1, of launches side by side: the worst of all hosts and horizons.
pub fn summary(reported: &[DesignOutcomes]) -> String {
    let place = |reported: &DesignOutcomes| {
        let DesignOutcomes { conditions, horizon, outcomes, .. } = reported;
        let place = format!("{}, launches {}, horizon {horizon}", conditions.host.name(), launches(*conditions));
        (place, Errors::of(outcomes))
    };
    asked_of_errors("1. verdicts on launches side by side", &reported.iter().map(place).collect::<Vec<_>>())
}

/// Errors of each horizon and host, the worst over how much launches differ; power is that of launches that differ by 2 %.
pub fn errors(reported: &[DesignOutcomes]) -> String {
    let mut text = "| horizon | host | false \"different\", % | wrong direction, % | missed, % | \"equivalent\" at the margin, % | \
                    power at 3, 5, 10 %, % |\n|---:|---|---|---|---|---|---|\n"
        .to_owned();
    let mut horizons: Vec<usize> = reported.iter().map(|reported| reported.horizon).collect();
    horizons.dedup();
    for horizon in horizons {
        for host in Host::ALL {
            let here =
                || reported.iter().filter(|reported| reported.horizon == horizon && reported.conditions.host == host);
            let all: Vec<Errors> = here().map(|reported| Errors::of(&reported.outcomes)).collect();
            let worst = |rate: fn(&Errors) -> crate::rate::Rate| super::worst(all.iter().map(rate));
            let usual = here().find(|reported| (reported.conditions.launch - Conditions::USUAL).abs() < 1e-9);
            let power = usual.map(|reported| Errors::of(&reported.outcomes).power).unwrap_or_default();
            let _ = writeln!(
                text,
                "| {horizon} | {} | {} | {} | {} | {} | {} |",
                host.name(),
                bounds(worst(|errors| errors.false_difference)),
                percent(worst(|errors| errors.wrong_direction).share()),
                bounds(worst(|errors| errors.missed)),
                percent(worst(|errors| errors.at_margin).share()),
                power.map(|power| format!("{:.1}", power.share() * 100.0)).join(", "),
            );
        }
    }
    text
}

/// What the difference of a block scatters by, and its mean where nothing differs.
pub fn scatter(rows: &[(Conditions, [[f64; 2]; Way::ALL.len()])]) -> String {
    let names = Way::ALL.map(|way| format!("{}, %", way.name()));
    let mut text = format!("| host | launches | {} |\n|---|---:|{}\n", names.join(" | "), "---:|".repeat(names.len()));
    for (conditions, ways) in rows {
        let ways = ways.map(|[mean, sd]| format!("{:.1} ({:+.2})", sd * 100.0, mean * 100.0).replace('-', "−"));
        let _ = writeln!(text, "| {} | {} | {} |", conditions.host.name(), launches(*conditions), ways.join(" | "));
    }
    text
}

/// Figure 2 in minutes: what each design finds, after how many minutes in the mean, and minutes for each that it finds. `designs` have
/// the same hosts in the same order.
pub fn minutes(designs: &[Vec<DesignOutcomes>; 2]) -> String {
    let column = |reported: &Vec<DesignOutcomes>| {
        let design =
            reported.first().map(|reported| format!("{}, at most {} blocks", reported.way.name(), reported.horizon));
        format!("{}: found, % | minutes | for each found", design.unwrap_or_default())
    };
    let mut text = format!(
        "| host | effect | {} | part |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|\n",
        designs.each_ref().map(column).join(" | ")
    );
    let [before, now] = designs;
    for (before, now) in before.iter().zip(now) {
        let host = before.conditions.host.name();
        for (effect, faster) in FASTER.iter().enumerate() {
            let of = |reported: &DesignOutcomes| {
                let outcomes = reported.outcomes.get(effect)?;
                let (found, minutes) = (outcomes.found.share(), reported.way.minutes(outcomes.mean_blocks()));
                Some((found, minutes, minutes / found))
            };
            let Some((before, now)) = of(before).zip(of(now)) else { continue };
            // What is never found takes for ever.
            let whole = |minutes: f64| if minutes.is_finite() { format!("{minutes:.0}") } else { "–".to_owned() };
            let cells = [before, now]
                .map(|(found, minutes, each)| format!("{:.1} | {minutes:.0} | {}", found * 100.0, whole(each)));
            let part = 100.0 * now.2 / before.2;
            let part = if part.is_finite() { format!("{part:.0} %") } else { "–".to_owned() };
            let _ = writeln!(text, "| {host} | {:.0} % | {} | {part} |", faster * 100.0, cells.join(" | "));
        }
    }
    text
}
