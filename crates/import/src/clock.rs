//! Times of day, one after another, of a text that says the date once.

use crate::text::moment_ms;

const DAY_MS: i64 = 86_400_000;

/// The days that a text goes through.
#[derive(Debug, Default)]
pub struct Clock {
    /// The beginning of the day that is going on, ms since 1970.
    day_ms: i64,
    /// The time at which the last sample ended.
    last_ms: Option<i64>,
}

impl Clock {
    /// A new date: the beginning of the day, ms since 1970.
    pub fn starts_on(&mut self, day_ms: i64) {
        *self = Self { day_ms, last_ms: None };
    }

    /// The moment of a time such as `13:52:14`, or `01:52:14` and `PM`, on the day that is going on or on the next: ms since 1970.
    pub fn at(&self, time: &str, half: Option<&str>) -> Option<i64> {
        let ms = moment_ms(&format!("1970-01-01 {time}")).filter(|_| time.len() == "13:52:14".len())?;
        let hours = ms / 3_600_000;
        let ms = match half {
            Some(_) if !(1..=12).contains(&hours) => return None,
            Some("PM") if hours < 12 => ms + DAY_MS / 2,
            Some("AM") if hours == 12 => ms - DAY_MS / 2,
            Some(_) | None => ms,
        };
        let at_ms = self.day_ms.saturating_add(ms);
        // A time far before the last one is that of the next day.
        let is_next = self.last_ms.is_some_and(|last_ms| at_ms < last_ms - DAY_MS / 2);
        Some(if is_next { at_ms.saturating_add(DAY_MS) } else { at_ms })
    }

    /// Nothing was measured until this moment.
    pub fn passes(&mut self, at_ms: i64) {
        self.day_ms = at_ms - at_ms.rem_euclid(DAY_MS);
        self.last_ms = Some(at_ms);
    }

    /// When a sample that ended at this moment began, ms since 1970, and its length in seconds; `None` where nothing says it, or where it
    /// took less than a second.
    pub fn since_last(&mut self, at_ms: i64) -> Result<Option<(i64, f64)>, &'static str> {
        let last_ms = self.last_ms;
        self.passes(at_ms);
        match last_ms {
            Some(last_ms) if at_ms < last_ms => Err("its time is before that of the line above"),
            Some(last_ms) => Ok((at_ms > last_ms).then(|| (last_ms, (at_ms - last_ms) as f64 / 1e3))),
            None => Ok(None),
        }
    }
}

/// The date in the first line of `mpstat` or `sar`, ms since 1970: `2026-11-25`, `11/25/26` and `11/25/2026` with the month first unless it
/// cannot be one, `25.11.2026`.
pub fn date_of(line: &str) -> Option<i64> {
    let (_, behind) = line.strip_prefix("Linux ").filter(|line| line.trim_end().ends_with("CPU)"))?.split_once(") ")?;
    let date = behind.split_whitespace().next()?;
    let separator = date.chars().find(|character| "-/.".contains(*character))?;
    let parts: Vec<u32> = date.split(separator).map(|part| part.parse().ok()).collect::<Option<_>>()?;
    let [first, second, third] = parts[..] else { return None };
    let (year, month, day) = match (separator, first, second) {
        (_, 32.., _) => (first, second, third),
        ('.', ..) | (_, 13.., _) => (third, second, first),
        _ => (third, first, second),
    };
    let year = if year < 100 { year + 2_000 } else { year };
    moment_ms(&format!("{year:04}-{month:02}-{day:02} 00:00:00"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_many_countries() {
        let day = moment_ms("2026-11-25 00:00:00");
        for date in ["11/25/26", "2026-11-25", "11/25/2026", "25.11.2026", "25/11/26", "25-11-2026"] {
            let line = format!("Linux 6.18.44-x (vm) \t{date} \t_x86_64_\t(2 CPU)");
            assert_eq!(date_of(&line), day, "{date}");
        }
        assert_eq!(date_of("Linux 6.18.44-x (vm) \tyesterday \t_x86_64_\t(2 CPU)"), None);
        assert_eq!(date_of("Linux is 11/25/26"), None);
    }

    #[test]
    fn a_time_far_back_is_that_of_the_next_day() {
        let mut clock = Clock::default();
        assert_eq!(clock.at("12:00:01", Some("AM")), Some(1_000));
        assert_eq!(clock.at("12:00:01", Some("PM")), Some(43_201_000));
        assert_eq!(clock.at("13:00:01", Some("PM")), None);
        assert_eq!(clock.at("11:59:58", Some("PM")), Some(DAY_MS - 2_000));
        clock.passes(DAY_MS - 2_000);
        assert_eq!(clock.at("00:00:03", None), Some(DAY_MS + 3_000));
        assert_eq!(clock.since_last(DAY_MS + 3_000), Ok(Some((DAY_MS - 2_000, 5.0))));
        assert_eq!(clock.at("00:00:08", None), Some(DAY_MS + 8_000));
        // Somebody set the clock back.
        assert!(clock.since_last(DAY_MS - 7_000).is_err());
    }
}
