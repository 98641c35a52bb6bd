//! What the importers make of files that somebody has cut, pasted or broken: they never panic, and each line is counted.

mod change;

use import::{FORMATS, ImportError, Options, read, settings};
use model::imported::Fidelity;
use proptest::collection::vec;
use proptest::prelude::*;

use change::{Change, change, changed};

/// A file of each format, as its tool wrote it.
const FILES: [(&str, &[u8]); 24] = [
    ("ab", include_bytes!("../fixtures/ab-2.3/page.txt")),
    ("ab-gnuplot", include_bytes!("../fixtures/ab-2.3/page.tsv")),
    ("wrk", include_bytes!("../fixtures/wrk-debian-4.1.0-3+b2/latency.txt")),
    ("h2load", include_bytes!("../fixtures/h2load-1.52.0/page.txt")),
    ("h2load-log", include_bytes!("../fixtures/h2load-1.52.0/page.tsv")),
    ("oha", include_bytes!("../fixtures/oha-1.16.0/missing.txt")),
    ("oha-json", include_bytes!("../fixtures/oha-1.16.0/missing.json")),
    ("oha-csv", include_bytes!("../fixtures/oha-1.16.0/page.csv")),
    ("hey", include_bytes!("../fixtures/hey-0.1.5/page.txt")),
    ("hey-csv", include_bytes!("../fixtures/hey-0.1.5/page.csv")),
    ("vegeta", include_bytes!("../fixtures/vegeta-12.13.0/mixed.txt")),
    ("vegeta-report-json", include_bytes!("../fixtures/vegeta-12.13.0/mixed-report.json")),
    ("vegeta-json", include_bytes!("../fixtures/vegeta-12.13.0/mixed.json")),
    ("vegeta-csv", include_bytes!("../fixtures/vegeta-12.13.0/mixed.csv")),
    ("k6", include_bytes!("../fixtures/k6-1.8.1/shop.txt")),
    ("k6-json", include_bytes!("../fixtures/k6-1.8.1/shop.json")),
    ("k6-csv", include_bytes!("../fixtures/k6-1.8.1/shop.csv")),
    ("locust", include_bytes!("../fixtures/locust-2.47.0/page_stats.csv")),
    ("locust-history", include_bytes!("../fixtures/locust-2.47.0/page_stats_history.csv")),
    ("gatling", include_bytes!("../fixtures/gatling-3.9.5/simulation.log")),
    ("hgrm", include_bytes!("../fixtures/hdrhistogram-2.1.12/page.hgrm")),
    (
        "jtl",
        b"timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,bytes,grpThreads,allThreads,Latency\n\
          1420840843879,233,\"Get, page\",200,OK,users 1-1,text,true,43189,1,2,225\n\
          1420840844125,7,pay,201,\"made\nwell\",users 1-2,text,true,31,1,2,6\n\
          1420840844200,0,pay,Non HTTP response code: java.net.ConnectException,refused,users 1-2,text,false,0,1,2,0\n",
    ),
    ("jtl-xml", include_bytes!("../fixtures/jmeter-5.6.3/pages.xml")),
    ("jmeter-log", include_bytes!("../fixtures/jmeter-5.6.3/jmeter.log")),
];
/// Further files, each with what is special about it, and its format.
const FURTHER: [(&str, &str, &[u8]); 6] = [
    ("jtl-transactions", "jtl", include_bytes!("../fixtures/jmeter-5.6.3/transactions.jtl")),
    ("jtl-parents", "jtl", include_bytes!("../fixtures/jmeter-5.6.3/parents.jtl")),
    ("jtl-xml-transactions", "jtl-xml", include_bytes!("../fixtures/jmeter-5.6.3/transactions.xml")),
    ("jmeter-log-of-two", "jmeter-log", include_bytes!("../fixtures/jmeter-5.6.3/transactions.log")),
    ("k6-legacy", "k6", include_bytes!("../fixtures/k6-1.8.1/rate-legacy.txt")),
    ("hgrm-csv", "hgrm", include_bytes!("../fixtures/hdrhistogram-2.1.12/page.csv")),
];
/// The formats whose records may go over several lines in quotes.
const DELIMITED: [&str; 9] =
    ["ab-gnuplot", "h2load-log", "oha-csv", "hey-csv", "vegeta-csv", "k6-csv", "jtl", "locust", "locust-history"];
/// The formats of which each line but that of the names is a request, or a row that is set apart.
const A_REQUEST_A_LINE: [&str; 7] =
    ["ab-gnuplot", "h2load-log", "oha-csv", "hey-csv", "vegeta-json", "vegeta-csv", "jtl"];
/// A file of each format that is recognised and refused.
const REFUSED: [(&str, &[u8]); 1] = [("ab-percentiles", include_bytes!("../fixtures/ab-2.3/percentiles.csv"))];

/// What is read of a changed file is as many lines as it has, and no count says anything else than these lines.
fn check(format: &'static str, file: &[u8], changes: &[Change]) -> Result<(), TestCaseError> {
    let text = changed(file, changes);
    let options = Options { format: Some(format), is_lenient: true, ..Options::default() };
    let run = match read("changed", text.as_slice(), options) {
        Ok(run) => run,
        Err(other @ (ImportError::Io { .. } | ImportError::BadLines { .. })) => {
            return Err(TestCaseError::fail(other.to_string()));
        }
        Err(_) => return Ok(()),
    };
    let lines = || text.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let is_delimited = DELIMITED.contains(&format);
    let is_open = |line: &[u8]| line.split(|byte| *byte == b'"').count() % 2 == 0;
    let is_record_a_line = !is_delimited || !lines().any(is_open);
    if is_record_a_line {
        // A line of spaces alone is an empty one where words are read.
        let is_filled = |line: &&[u8]| !if is_delimited { line } else { line.trim_ascii() }.is_empty();
        prop_assert_eq!(run.lines.read, lines().filter(is_filled).count() as u64);
    }
    prop_assert!(run.lines.bad <= run.lines.read);
    prop_assert_eq!(run.lines.first_bad.is_empty(), run.lines.bad == 0);
    let rows = run.all.ended() + run.lines.set_apart;
    let in_intervals: u64 = run.intervals.iter().map(|interval| interval.ended()).sum();
    let in_codes: u64 = run.all.codes.values().sum();
    let is_told = run.warnings.iter().any(|warning| warning.contains("add up to"));
    match run.fidelity {
        Fidelity::Samples => {
            if A_REQUEST_A_LINE.contains(&format) && is_record_a_line {
                let said = rows + run.lines.bad;
                prop_assert!(said == run.lines.read || said + 1 == run.lines.read, "{} of {:?}", rows, run.lines);
            }
            if format == "jtl-xml" {
                // A line may have several.
                let begins = |name: &[u8]| text.windows(name.len()).filter(|window| *window == name).count() as u64;
                let samples: u64 =
                    ["<httpSample", "<sample", "<statSample"].map(|name| begins(name.as_bytes())).iter().sum();
                prop_assert!(rows <= samples, "{} of {} samples", rows, samples);
            } else {
                prop_assert!(rows + run.lines.bad <= run.lines.read, "{} of {:?}", rows, run.lines);
            }
            prop_assert_eq!(in_intervals, run.all.ended());
            prop_assert_eq!(in_codes, run.all.ended());
            prop_assert_eq!(run.all.latency.count(), run.all.good);
            let in_labels: u64 = run.by_label().iter().map(|(_, requests)| requests.ended()).sum();
            prop_assert_eq!(in_labels, run.all.ended());
        }
        Fidelity::Intervals => {
            prop_assert!(in_intervals == run.all.ended() || is_told, "{} of {}", in_intervals, run.all.ended());
        }
        // What contradicts itself must be told.
        Fidelity::Summary => {
            prop_assert!(in_codes <= run.all.ended() || is_told, "{} of {}", in_codes, run.all.ended());
        }
    }
    Ok(())
}

/// All files by the name of their test: those of each format by the format's.
fn files() -> impl Iterator<Item = (&'static str, &'static str, &'static [u8])> {
    FILES.into_iter().map(|(format, file)| (format, format, file)).chain(FURTHER)
}

macro_rules! mutated {
    ($($name:ident),*) => {
        /// The files that are changed.
        const CHANGED: &[&str] = &[$(stringify!($name)),*];

        $(proptest! {
            #![proptest_config(ProptestConfig::with_cases(5_000))]
            #[test]
            fn $name(changes in vec(change(), 0..6)) {
                let name = stringify!($name).replace('_', "-");
                let (_, format, file) = files().find(|(one, ..)| *one == name).unwrap();
                check(format, file, &changes)?;
            }
        })*
    };
}

mutated!(
    ab,
    ab_gnuplot,
    wrk,
    h2load,
    h2load_log,
    oha,
    oha_json,
    oha_csv,
    hey,
    hey_csv,
    vegeta,
    vegeta_report_json,
    vegeta_json,
    vegeta_csv,
    k6,
    k6_json,
    k6_csv,
    locust,
    locust_history,
    gatling,
    hgrm,
    jtl,
    jtl_xml,
    jmeter_log,
    jtl_transactions,
    jtl_parents,
    jtl_xml_transactions,
    jmeter_log_of_two,
    k6_legacy,
    hgrm_csv
);

#[test]
fn each_format_has_a_file_and_is_recognised_by_it() {
    assert_eq!(FILES.len() + REFUSED.len(), FORMATS.len());
    assert_eq!(CHANGED, files().map(|(name, ..)| name.replace('-', "_")).collect::<Vec<_>>());
    for (_, format, file) in files() {
        assert_eq!(read("a file", file, Options::default()).unwrap().format, format);
    }
    for (format, file) in REFUSED {
        let tool = FORMATS.iter().find(|one| one.id == format).unwrap().tool;
        let refused = read("a file", file, Options::default()).unwrap_err();
        assert!(matches!(refused, ImportError::Lacks { tool: of, .. } if of == tool), "{refused}");
    }
}

#[test]
fn what_is_packed_is_read_as_it_was() {
    use std::io::Write as _;
    for (name, _, file) in files() {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(file).unwrap();
        let zstd = ruzstd::encoding::compress_to_vec(file, ruzstd::encoding::CompressionLevel::Fastest);
        for packed in [gzip.finish().unwrap(), zstd] {
            let run = read("a file", packed.as_slice(), Options::default()).unwrap();
            assert_eq!(run, read("a file", file, Options::default()).unwrap(), "{name}");
        }
    }
}

/// Settings in each form that they have.
const SETTINGS: [&str; 3] = [
    "# --- block\nJAVA_OPTS=\"-Djava.awt.headless=true -XX:+UseG1GC\"\n# JAVA_OPTS=\"\"\nJAVA_OPTS=\"${JAVA_OPTS} -Xmx1792m \\\n\
     -Da=$(b c)\"\nif [ -z \"$A\" ]; then A='-Db=\"c\"'; fi\n# --- block\nexport JAVA_OPTS+=\" -Dkey=d\"; java $JAVA_OPTS -Xss1m -jar a.jar\n",
    "# Notes\n\nWe set `JAVA_OPTS=\"-Xmx1g\"`.\n\n```sh\nJAVA_OPTS=\"-Xmx2g\"\njruby -Xjit.threshold=30 a.rb\n```\n- JAVA_OPTS=-Xmx3g\n",
    "{\n \"JAVA_OPTS\": \"-Xmx1g -Da=\\\"b\\\"\",\n \"env\": [\"JAVA_OPTS=-Xmx2g\", \"A=b\"],\n \"command\": [\"java\", \"-Xss1m\"]\n}\n",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5_000))]
    #[test]
    fn settings_have_lines_of_their_file(which in 0..SETTINGS.len(), changes in vec(change(), 0..6)) {
        let text = changed(SETTINGS[which].as_bytes(), &changes);
        let lines = text.split(|byte| *byte == b'\n').count() as u64;
        let all = settings("changed", &text).map_or_else(Vec::new, |settings| settings.assignments);
        prop_assert!(all.iter().all(|one| (1..=lines).contains(&one.line)));
        prop_assert!(all.is_sorted_by_key(|one| (one.block, one.line)));
    }
}
