//! Logs of a machine's processors: what mpstat, sar and vmstat print.

use std::{io, mem};

use model::imported::{HostLog, HostSample, HostTimes};

use crate::host_columns::Heard;
use crate::host_samples::HostSamples;
use crate::reading::Reading;
use crate::sysstat::{self, Sysstat};
use crate::vmstat::{self, Vmstat};

/// What the file says of a machine; `None` where it is no such log.
pub fn read(reading: &mut Reading) -> io::Result<Option<HostLog>> {
    let head = String::from_utf8_lossy(reading.lines.head()?).into_owned();
    if let Some(tool) = sysstat::recognises(&head) {
        let mut text = Sysstat::default();
        let (samples, began_ms) = samples(reading, |line| text.hear(line))?;
        return Ok(Some(log(reading, tool, text.processors(), HostTimes::Since(began_ms), samples)));
    }
    if vmstat::recognises(&head) {
        let mut text = Vmstat::default();
        let (samples, began_ms) = samples(reading, |line| text.hear(line))?;
        let times = if text.has_times() { HostTimes::Since(began_ms) } else { HostTimes::Unknown };
        return Ok(Some(log(reading, "vmstat", None, times, samples)));
    }
    Ok(None)
}

/// The samples of all lines, and when the first began, ms since 1970.
fn samples(reading: &mut Reading, mut hear: impl FnMut(&str) -> Heard) -> io::Result<(HostSamples, i64)> {
    let (mut samples, mut first_ms) = (HostSamples::default(), None);
    reading.hear(|line| {
        if let Some((began_ms, sample)) = hear(line)? {
            let first_ms: i64 = *first_ms.get_or_insert(began_ms);
            samples.add(HostSample { start_s: began_ms.saturating_sub(first_ms) as f64 / 1e3, ..sample });
        }
        Ok(())
    })?;
    Ok((samples, first_ms.unwrap_or(0)))
}

fn log(reading: &mut Reading, tool: &str, processors: Option<u32>, times: HostTimes, samples: HostSamples) -> HostLog {
    HostLog {
        file: reading.file.clone(),
        tool: tool.to_owned(),
        processors,
        times,
        samples: samples.finish(),
        lines: mem::take(&mut reading.count),
    }
}
