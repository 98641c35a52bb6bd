//! What `bakeoff doctor` prints: for people, and as JSON.

use model::ClientFloor;
use model::fitness::{Examination, Fitness};

use crate::json::pretty;
use crate::number;
use crate::terminal::{Page, Style};
use crate::words::{self, Tone};

/// The examination for a terminal.
pub fn doctor(examination: &Examination, style: Style) -> String {
    let mut page = Page::new(style);
    let host = &examination.host;
    page.line(&format!(
        "{}, Linux {}, {}, {}, {}",
        host.os,
        host.kernel,
        host.cpu_model,
        words::plural(host.cpus.into(), "logical CPU"),
        number::bytes(host.memory_bytes as f64)
    ));
    if let Some(floor) = &host.floor {
        page.wrapped("floor of the client here: ", 2, &floor_in_words(floor));
    }
    page.line("");
    let widest = examination.checks.iter().map(|check| check.subject.chars().count()).max().unwrap_or(0);
    for check in &examination.checks {
        let mark =
            page.painted(&format!("{} {:<8}", sign(check.fitness), check.fitness.name()), tone(check.fitness), true);
        page.wrapped(&format!("{mark}  {:<widest$}  ", check.subject), 14 + widest, &check.found);
        if let Some(cure) = &check.cure {
            page.wrapped(&format!("{}→ ", " ".repeat(14 + widest)), 16 + widest, cure);
        }
    }
    page.line("");
    let verdict = match examination.fitness() {
        Fitness::Fit | Fitness::Unknown => "This host is fit to measure on, as far as it can be seen.",
        Fitness::Doubtful => "Measurements here will be noisier, or hold for less, than they could.",
        Fitness::Unfit => "This host is not fit to measure on.",
    };
    page.wrapped("", 0, verdict);
    page.text
}

/// The examination as indented JSON.
pub fn doctor_json(examination: &Examination) -> String {
    pretty(examination)
}

/// What the client measures of a server that does next to nothing.
pub(crate) fn floor_in_words(floor: &ClientFloor) -> String {
    format!(
        "one user waits {} (p99 {}) for a server that does nothing; {} users get {} with {:.2} cores of the client",
        number::micros(floor.p50_us as f64),
        number::micros(floor.p99_us as f64),
        floor.users,
        number::rate(floor.rate),
        floor.client_cores
    )
}

fn sign(fitness: Fitness) -> &'static str {
    match fitness {
        Fitness::Fit => "✓",
        Fitness::Unknown => "?",
        Fitness::Doubtful => "!",
        Fitness::Unfit => "✗",
    }
}

fn tone(fitness: Fitness) -> Tone {
    match fitness {
        Fitness::Fit => Tone::Good,
        Fitness::Unknown => Tone::Plain,
        Fitness::Doubtful => Tone::Unsure,
        Fitness::Unfit => Tone::Bad,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::HostFacts;
    use model::fitness::HostCheck;

    #[test]
    fn whatever_is_wrong_stands_there_with_its_cure() {
        let check = |subject: &str, fitness, cure: Option<&str>| HostCheck {
            subject: subject.into(),
            fitness,
            found: format!("what was found of {subject}"),
            cure: cure.map(str::to_owned),
        };
        let checks = vec![
            check("governor", Fitness::Doubtful, Some("set it")),
            check("steal", Fitness::Unfit, Some("go elsewhere")),
            check("swap", Fitness::Fit, None),
        ];
        let floor = Some(ClientFloor { p50_us: 31, p99_us: 80, rate: 41_000.0, users: 32, client_cores: 0.8 });
        let mut examination = Examination { host: HostFacts { floor, ..HostFacts::default() }, checks };
        let text = doctor(&examination, Style::default());
        for part in [
            "! doubtful  governor",
            "✗ unfit     steal",
            "✓ fit       swap",
            "→ set it",
            "→ go elsewhere",
            "31.0 µs",
            "not fit",
        ] {
            assert!(text.contains(part), "{part} in\n{text}");
        }
        assert!(doctor_json(&examination).contains("\"doubtful\""));
        examination.checks.remove(1);
        assert!(doctor(&examination, Style::default()).contains("noisier"));
        examination.checks.remove(0);
        assert!(doctor(&examination, Style::default()).contains("is fit to measure on"));
    }
}
