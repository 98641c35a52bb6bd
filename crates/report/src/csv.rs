//! One long table for spreadsheets and data frames: a row a number, in base units.

use model::{Metric, Report};

use crate::words;

const COLUMNS: [&str; 9] = ["run", "of", "block", "variant", "cell", "metric", "value", "unit", "set_aside"];

/// Measurements (`of` is `cell`), warm-ups (`of` is `variant`, medians over launches) and blocks (`of` is `block`) as CSV (RFC 4180, but lines end in LF).
///
/// A cell's rows are over all used launches; a block's row is the primary metric of one launch. Numbers have nine
/// significant digits. Blocks count from one, as in every other report.
pub fn csv(report: &Report) -> String {
    let mut sheet = Sheet { text: String::new(), run: &report.run };
    sheet.row(&COLUMNS);
    for measurement in &report.measurements {
        let variant = words::variant_name(report, measurement.variant);
        let cell = words::cell_name(report, measurement.cell);
        let mut put = |metric: &str, value: f64, unit: &str| {
            sheet.value(["cell", "", variant, cell, metric], value, unit, "");
        };
        put("requests", measurement.requests as f64, "requests");
        if measurement.requests > 0 {
            put("failed-share", measurement.failed_share, "fraction");
        }
        let rate = Metric::Throughput.unit();
        put(Metric::Throughput.name(), measurement.throughput, rate);
        put("throughput-lowest", measurement.throughput_range[0], rate);
        put("throughput-highest", measurement.throughput_range[1], rate);
        for percentile in &measurement.percentiles {
            put(&format!("p{}", percentile.percent), percentile.us as f64, Metric::P50.unit());
        }
        let (time, us) = (&measurement.server, Metric::CpuPerRequest.unit());
        for (metric, value, unit) in [
            (Metric::CpuPerRequest.name(), measurement.cpu_per_request, us),
            ("client-cpu-per-request", measurement.client_cpu_per_request, us),
            ("system-cpu-per-request", time.system_cpu_per_request, us),
            ("jit-per-request", time.jit_per_request, us),
            ("allocated-per-request", time.allocated_per_request, Metric::Memory.unit()),
            ("gc-share", time.gc_share, "fraction"),
            ("safepoint-share", time.safepoint_share, "fraction"),
            ("classes-loaded", time.classes_loaded, "classes"),
            ("waits-per-request", time.waits_per_request, "switches"),
            ("preemptions-per-request", time.preemptions_per_request, "switches"),
            ("cores-used", time.cores, "cores"),
            ("busiest-core", time.busiest_core, "fraction"),
        ] {
            if let Some(value) = value {
                put(metric, value, unit);
            }
        }
    }
    for cost in report.warming_up.iter().flat_map(|warming_up| &warming_up.variants) {
        let variant = words::variant_name(report, cost.variant);
        let (time, requests) = (Metric::WarmUpTime, Metric::WarmUpRequests);
        for (metric, spread, unit) in [
            (time.name(), cost.seconds, time.unit()),
            (requests.name(), cost.requests, requests.unit()),
            ("warm-up-steady-rate", cost.steady_rate, Metric::Throughput.unit()),
            ("warm-up-first-second", cost.first_second, "fraction"),
            ("warm-up-first-ten-seconds", cost.first_ten_seconds, "fraction"),
            ("warm-up-cost", cost.lost_s, time.unit()),
        ] {
            if let Some(spread) = spread {
                sheet.value(["variant", "", variant, "", metric], spread.median, unit, "");
            }
        }
    }
    for block in &report.blocks {
        let number = words::block_number(block).to_string();
        for (variant, value) in block.values.iter().enumerate() {
            let Some(value) = value else { continue };
            let name = words::variant_name(report, variant);
            let aside = block.set_aside.as_deref().unwrap_or("");
            sheet.value(["block", &number, name, "", report.primary.name()], *value, report.primary.unit(), aside);
        }
    }
    sheet.text
}

struct Sheet<'a> {
    text: String,
    run: &'a str,
}

impl Sheet<'_> {
    fn value(&mut self, [of, block, variant, cell, metric]: [&str; 5], value: f64, unit: &str, set_aside: &str) {
        if value.is_finite() {
            self.row(&[self.run, of, block, variant, cell, metric, &written(value), unit, set_aside]);
        }
    }

    fn row(&mut self, fields: &[&str]) {
        for (index, field) in fields.iter().enumerate() {
            if index > 0 {
                self.text.push(',');
            }
            if field.contains(['"', ',', '\n', '\r']) || *field != field.trim() {
                self.text.push('"');
                self.text.push_str(&field.replace('"', "\"\""));
                self.text.push('"');
            } else {
                self.text.push_str(field);
            }
        }
        self.text.push('\n');
    }
}

/// A number to nine significant digits: far more than launches have in common, and without the traces of binary fractions.
/// Whole numbers keep all digits.
fn written(value: f64) -> String {
    let nine: Option<f64> = format!("{value:.8e}").parse().ok();
    if value.fract() == 0.0 { value.to_string() } else { nine.unwrap_or(value).to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_no_traces_of_binary_fractions() {
        for (value, text) in [
            (1_624.000_000_000_000_2, "1624"),
            (0.1 + 0.2, "0.3"),
            (440.211_243_813_455_4, "440.211244"),
            (0.000_012_345_678_912_3, "0.0000123456789"),
            (6_442_450_944.0, "6442450944"),
            (0.0, "0"),
        ] {
            assert_eq!(written(value), text);
        }
    }

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        let mut sheet = Sheet { text: String::new(), run: "r" };
        sheet.row(&["plain", "a,b", "say \"x\"", "two\nlines", " edge", ""]);
        assert_eq!(sheet.text, "plain,\"a,b\",\"say \"\"x\"\"\",\"two\nlines\",\" edge\",\n");
    }
}
