//! What is read of the logs of a machine, and what is made of those that somebody has cut, pasted or broken.

mod change;

use import::{ImportError, Options, read, read_host};
use model::imported::{HostLog, HostShares, HostTimes};
use proptest::collection::vec;
use proptest::prelude::*;

use change::{change, changed};

/// A file of each tool, with the tool, its processors and its samples.
const FILES: [(&[u8], &str, Option<u32>, usize); 8] = [
    (include_bytes!("../fixtures/sysstat-12.6.1/mpstat.txt"), "mpstat", Some(2), 9),
    (include_bytes!("../fixtures/sysstat-12.6.1/mpstat-all.txt"), "mpstat", Some(2), 4),
    (include_bytes!("../fixtures/sysstat-12.6.1/mpstat-12.txt"), "mpstat", Some(2), 3),
    (include_bytes!("../fixtures/sysstat-12.6.1/sar.txt"), "sar", Some(2), 9),
    (include_bytes!("../fixtures/sysstat-12.6.1/sar-all.txt"), "sar", Some(2), 4),
    (include_bytes!("../fixtures/vmstat-4.0.2/plain.txt"), "vmstat", None, 4),
    (include_bytes!("../fixtures/vmstat-4.0.2/times.txt"), "vmstat", None, 9),
    (include_bytes!("../fixtures/vmstat-4.0.2/once.txt"), "vmstat", None, 3),
];

fn log(text: &[u8]) -> HostLog {
    read_host("a log", text, Options::default()).ok().flatten().expect("it is a log")
}

#[test]
fn each_tool_is_recognised_and_read() {
    for (text, tool, processors, samples) in FILES {
        let log = log(text);
        assert_eq!(
            (log.tool.as_str(), log.processors, log.samples.len(), log.lines.bad),
            (tool, processors, samples, 0)
        );
        for sample in &log.samples {
            let HostShares { user, system, iowait, steal, idle } = sample.shares;
            assert!((user + system + iowait + steal + idle - 1.0).abs() < 1e-9, "{sample:?}");
        }
        assert!(matches!(read("a log", text, Options::default()), Err(ImportError::Unknown { .. })));
    }
}

#[test]
fn no_result_is_taken_for_a_log() {
    for text in [&include_bytes!("../fixtures/ab-2.3/page.txt")[..], b"Linux is fast (2 CPU)\n", b"procs memory\n", b""]
    {
        assert!(read_host("a result", text, Options::default()).unwrap().is_none());
    }
}

#[test]
fn samples_lie_where_the_tool_says() {
    let [in_24, in_12] = [FILES[0].0, FILES[2].0].map(log);
    let HostTimes::Since(began_ms) = in_24.times else { panic!("{in_24:?}") };
    assert_eq!(in_12.times, in_24.times, "both were started in the same second");
    assert_eq!(began_ms / 86_400_000, 20_782, "it was 2026-11-25");
    let places: Vec<[f64; 2]> = in_12.samples.iter().map(|sample| [sample.start_s, sample.length_s]).collect();
    assert_eq!(places, [[0.0, 2.0], [2.0, 2.0], [4.0, 2.0]]);
    assert_eq!(log(FILES[5].0).times, HostTimes::Unknown);
}

/// A sar of a day that ends at midnight, and of the machine's restart on the next.
const RESTARTED: &str = "Linux 6.1.0 (web-1) \t11/25/26 \t_x86_64_\t(4 CPU)

11:40:01 PM     CPU     %user     %nice   %system   %iowait    %steal     %idle
11:50:01 PM     all     10.00      5.00      4.00      1.00      3.00     77.00
12:00:01 AM     all     20,00      0,00     10,00      0,00     20,00     50,00

12:20:07 AM     LINUX RESTART\t(8 CPU)

12:30:01 AM     CPU     %user     %nice   %system   %iowait    %steal     %idle
12:40:01 AM     all      0.00      0.00      0.00      0.00      0.00    100.00
Average:        all      7.00      1.00      3.00      0.20      6.00     82.80
";

#[test]
fn midnight_and_a_restart_are_passed() {
    let log = log(RESTARTED.as_bytes());
    assert_eq!((log.lines.bad, log.processors), (0, Some(8)));
    let places: Vec<[f64; 2]> = log.samples.iter().map(|sample| [sample.start_s, sample.length_s]).collect();
    assert_eq!(places, [[0.0, 600.0], [600.0, 600.0], [3_000.0, 600.0]]);
    let near = |one: f64, other: f64| (one - other).abs() < 1e-9;
    let HostShares { user, system, steal, .. } = log.samples[1].shares;
    assert!(near(user, 0.2) && near(system, 0.1) && near(steal, 0.2) && near(log.samples[0].shares.user, 0.15));
}

#[test]
fn lines_that_cannot_be_read_are_counted() {
    let broken =
        RESTARTED.replace("     10,00      0,00     20,00     50,00", "    170,00      0,00     20,00     50,00");
    let refused = read_host("a log", broken.as_bytes(), Options::default()).unwrap_err().to_string();
    assert!(refused.contains("1 of 8 lines cannot be read, the first in line 5: its shares of"), "{refused}");
    let lenient = Options { is_lenient: true, ..Options::default() };
    assert_eq!(read_host("a log", broken.as_bytes(), lenient).unwrap().unwrap().samples.len(), 2);
    let empty = RESTARTED.lines().take(3).collect::<Vec<_>>().join("\n");
    assert!(matches!(read_host("a log", empty.as_bytes(), lenient), Err(ImportError::NoSample { .. })));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5_000 * FILES.len() as u32))]
    #[test]
    fn changed_logs_have_sound_samples_or_none(file in 0..FILES.len(), changes in vec(change(), 0..6)) {
        let text = changed(FILES[file].0, &changes);
        let options = Options { is_lenient: true, ..Options::default() };
        match read_host("changed", text.as_slice(), options) {
            Ok(Some(log)) => {
                let filled = text.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).count();
                prop_assert_eq!(log.lines.read, filled as u64);
                prop_assert!(log.samples.len() as u64 + log.lines.bad <= log.lines.read);
                for sample in &log.samples {
                    let HostShares { user, system, iowait, steal, idle } = sample.shares;
                    let shares = [user, system, iowait, steal, idle];
                    prop_assert!(shares.iter().all(|share| (0.0..=1.0).contains(share)), "{:?}", sample);
                    prop_assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{:?}", sample);
                    prop_assert!(sample.length_s > 0.0 && sample.start_s.is_finite(), "{:?}", sample);
                }
            }
            Ok(None) | Err(ImportError::NoSample { .. }) => {}
            Err(other) => return Err(TestCaseError::fail(other.to_string())),
        }
    }
}
