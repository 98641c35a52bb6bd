//! What is said of imported runs, line by line, for every kind of output.

use indexmap::IndexMap;
use model::imported::{
    Audit, AuditedPair, AuditedRun, AuditedSettings, EffectiveOption, Fidelity, HostOfRun, HostShares, ImportedRun,
    Matched, OptionDifference, Pace, Placed, Silence, SpeedLevel, Support, Times,
};
use model::{BodyLength, text};

use crate::number;
use crate::words::Tone;

/// Quantiles of the times that are shown.
pub const QUANTILES: [f64; 3] = [0.5, 0.9, 0.99];

/// Part of a run from which on a log of the machine covers all of it, as far as clocks of whole seconds tell.
const NEARLY_ALL: f64 = 0.95;

/// What a run is and came to.
pub fn about(audited: &AuditedRun) -> Vec<String> {
    let AuditedRun { run, levels, hosts, .. } = audited;
    let mut lines = vec![format!("{}, which keeps {}", run.tool, run.fidelity.text())];
    let users = run.users.map(|users| text::plural(users.into(), "user"));
    let asked: Vec<String> = run.url.clone().into_iter().chain(users).collect();
    let times = QUANTILES
        .iter()
        .filter_map(|q| Some(format!("{} {}", number::percentile(q * 100.0), text::micros(run.quantile_us(*q)?))));
    let lengths = run.all.usual_length().map(|BodyLength { min, max }| match max.saturating_sub(min) {
        0 => format!("answers of {}", text::plural(min, "byte")),
        _ => format!("answers of {} to {}", text::count(min), text::plural(max, "byte")),
    });
    let mean = run.mean_us().map(|mean| format!("mean {}", text::micros(mean)));
    let answers: Vec<String> = mean.into_iter().chain(times).chain(lengths).collect();
    lines.extend([asked.join(", "), counted(run), answers.join(", ")].into_iter().filter(|line| !line.is_empty()));
    match &levels[..] {
        [level] => lines.push(format!("one speed from {}, settled at {}", span(level), number::rate(level.rate))),
        levels => {
            lines
                .extend(levels.iter().map(|level| format!("{}: settled at {}", span(level), number::rate(level.rate))));
        }
    }
    lines.extend(hosts.iter().map(during));
    if run.lines.bad > 0 {
        lines.push(format!("{} of {} lines cannot be read", text::count(run.lines.bad), text::count(run.lines.read)));
        lines.extend(run.lines.first_bad.iter().map(|bad| format!("  line {}: {}", bad.number, bad.reason)));
    }
    lines
}

/// What a file of settings is called.
pub fn settings_title(settings: &AuditedSettings, run: Option<&AuditedRun>) -> String {
    let of = run.map_or_else(|| "of no result here".to_owned(), |audited| format!("of {}", audited.run.file));
    format!("{}: settings {of}", settings.settings.file)
}

/// What is in effect at the end of a file of settings, a line for each of its blocks.
pub fn in_effect(settings: &AuditedSettings) -> Vec<String> {
    let blocks = settings.in_effect.chunk_by(|one, next| one.block == next.block);
    let is_one = settings.settings.assignments.iter().all(|one| one.block == 0);
    let lines: Vec<String> = blocks
        .map(|options| {
            let words: Vec<&str> = options.iter().map(|option| option.option.as_str()).collect();
            let place = match options {
                [EffectiveOption { line, .. }, ..] if !is_one => format!(" of the part with line {line}"),
                _ => String::new(),
            };
            format!("in effect at the end{place}: {}", words.join(" "))
        })
        .collect();
    if lines.is_empty() { vec!["no option is in effect at the end".to_owned()] } else { lines }
}

/// How many requests ended, in what time.
pub fn counted(run: &ImportedRun) -> String {
    let failed = match run.all.failed {
        0 => String::new(),
        failed => format!(", {} failed ({})", text::count(failed), number::share(run.all.failed_share())),
    };
    // Some files do not say how long it took.
    let time = if run.seconds > 0.0 {
        format!(" in {}, {}", text::seconds(run.seconds), number::rate(run.all.ended() as f64 / run.seconds))
    } else {
        String::new()
    };
    format!("{}{time}{failed}", text::plural(run.all.ended(), "request"))
}

fn span(level: &SpeedLevel) -> String {
    format!("{} to {} s", text::count(level.from_s as u64), text::count(level.to_s as u64))
}

/// What a pair is called.
pub fn title(pair: &AuditedPair) -> String {
    format!("{} against {}", pair.files[1], pair.files[0])
}

/// What whole runs would say, and what the same time of both says.
pub fn compared(pair: &AuditedPair) -> Vec<String> {
    let mut lines = Vec::new();
    speeds(&mut lines, pair);
    options(&mut lines, pair);
    lines
}

/// The options that differ, each in a line.
fn options(lines: &mut Vec<String>, pair: &AuditedPair) {
    let written = |side: &Option<String>| side.clone().unwrap_or_else(|| "not given".to_owned());
    match pair.options.as_deref() {
        None => {}
        Some([]) => lines.push("both have the same options in effect, by their files of settings".to_owned()),
        Some(all) => {
            lines.push(format!(
                "{} in effect differ by the files of settings:",
                text::plural(all.len() as u64, "option")
            ));
            let line = |OptionDifference { sides: [first, second] }: &OptionDifference| {
                format!("  {} against {}", written(second), written(first))
            };
            lines.extend(all.iter().map(line));
        }
    }
}

fn speeds(lines: &mut Vec<String>, pair: &AuditedPair) {
    if let Some(totals) = &pair.totals {
        let [first, second] = totals.good.map(text::count);
        let change =
            totals.of_requests().map_or_else(String::new, |log_ratio| format!(", {}", text::change(log_ratio)));
        lines.push(format!("whole runs: {second} good requests against {first}{change}"));
        let [first, second] = totals.rates.map(number::rate);
        let change = totals.of_rates().map_or_else(String::new, |log_ratio| format!(", {}", text::change(log_ratio)));
        lines.push(format!("in a second, over the whole of each: {second} against {first}{change}"));
    }
    let Some(Matched { from_s, to_s, rates, effect, times, pace }) = &pair.matched else {
        lines.push("there is no time in which both are known to have run at one speed".to_owned());
        return;
    };
    let [first, second] = rates.map(number::rate);
    let (from, to) = (text::seconds(*from_s), text::seconds(*to_s));
    let (effect, parts) = (text::effect(effect), effect.blocks);
    lines.push(format!(
        "the same time of both, {from} to {to}: {second} against {first}, {effect} in {parts} parts of it"
    ));
    if let Some(Times { means_ms, effect }) = times {
        let [first, second] = means_ms.map(|ms| text::micros(ms * 1e3));
        lines.push(format!(
            "a request took in that time, in the mean: {second} against {first}, {}",
            text::effect(effect)
        ));
    }
    match pace {
        Pace::Servers => {}
        Pace::Load => lines.push("the load was paced: what a request took shows the speed, the rate does not".to_owned()),
        Pace::Unknown => lines.push(
            "one had more requests in flight, of unknown users: it may have been loaded more, or be slower at the same rate"
                .to_owned(),
        ),
    }
}

/// The rules that cannot tell, a line for each thing that they lack.
pub fn silences(silent: &[Silence]) -> Vec<String> {
    let mut rules_of: IndexMap<&str, Vec<&str>> = IndexMap::new();
    for Silence { id, lacks } in silent {
        rules_of.entry(lacks).or_default().push(id.name());
    }
    let line = |(lacks, rules): (&str, Vec<&str>)| {
        let verb = if rules.len() == 1 { "is" } else { "are" };
        format!("{} {verb} silent: {lacks}", rules.join(", "))
    };
    rules_of.into_iter().map(line).collect()
}

/// What a log says of a machine during a run.
fn during(host: &HostOfRun) -> String {
    let of = host.processors.map_or_else(String::new, |n| format!(" of {}", text::plural(n.into(), "processor")));
    let HostShares { steal, iowait, .. } = host.mean;
    let [busy, steal, iowait] = [host.mean.busy(), steal, iowait].map(number::share);
    let part = match host.covers {
        Some(covers) if covers < NEARLY_ALL => format!(", in {} of the run", number::share(covers)),
        _ => String::new(),
    };
    let placed = match host.placed {
        Placed::ByTime => "",
        Placed::FromTheBeginning => "; taken to begin with the run",
        Placed::Evenly => "; it has no times, and is taken for the whole run",
    };
    let HostOfRun { file, tool, .. } = host;
    format!("machine{of}, by {file} ({tool}): busy {busy}, steal {steal}, waiting for disks {iowait}{part}{placed}")
}

/// What the files do not say and a conclusion would need, as questions to whoever ran it.
pub fn questions(audit: &Audit) -> Vec<&'static str> {
    let runs = || audit.runs.iter();
    let is_changed = runs().any(|audited| audited.levels.len() > 1);
    let is_failing = runs().any(|audited| audited.run.all.failed > 0);
    let is_summary = runs().any(|audited| audited.run.fidelity == Fidelity::Summary);
    let lacks_users = runs().any(|audited| audited.run.users.is_none());
    let is_pair = audit.runs.len() > 1;
    let all = [
        (
            true,
            "On what machine did the server run, and does its processor run on credit (EC2 t2 and t3, Azure B, Google e2)?",
        ),
        (is_changed, "What happened on the machine when the speed changed, and how long had it idled before?"),
        (true, "Where did the load come from: the same machine, the same network?"),
        (true, "Which versions of the runtime, the server and its libraries ran, and with which options?"),
        (true, "How often was each side launched, and do the runs of one side agree?"),
        (true, "How long had the server run, and how many requests had it answered, before the first that counts?"),
        (is_pair, "What else differed between the two: machine, data, versions, options, time of day?"),
        (is_failing, "Why did requests fail, and what does the server's log say?"),
        (is_summary, "Is there a file with every request, or with numbers of each second?"),
        (lacks_users, "How many users were there, or what rate was asked for?"),
    ];
    all.into_iter().filter(|(applies, _)| *applies && !audit.runs.is_empty()).map(|(_, question)| question).collect()
}

/// Whether a verdict is bad news.
pub fn is_bad(support: Support) -> bool {
    support == Support::NotSupported
}

/// How a verdict reads on a page.
pub fn tone(support: Support) -> Tone {
    if is_bad(support) { Tone::Bad } else { Tone::Unsure }
}
