//! Where the shares of a processor's time stand in a line.

use model::imported::{HostSample, HostShares};

use crate::text::number;

/// What a line says: the moment at which a sample began, ms since 1970, and the sample, whose beginning is still 0; `None` in a line that
/// has none.
pub type Heard = Result<Option<(i64, HostSample)>, &'static str>;

/// The columns of a table, by their places in a line's words. What is in no other is the programs'.
#[derive(Debug)]
pub struct Columns {
    /// Words of a line.
    pub count: usize,
    /// The kernel and its interrupts.
    pub system: Vec<usize>,
    pub iowait: usize,
    pub steal: usize,
    pub idle: usize,
}

/// Percent beyond 100 that come from rounding: tools round each column, to a whole percent at the coarsest.
const ROUNDED: f64 = 3.0;

impl Columns {
    /// The shares that a line's words give.
    pub fn shares(&self, words: &[&str]) -> Result<HostShares, &'static str> {
        if words.len() != self.count {
            return Err("it has another number of columns than their names");
        }
        // Some languages write a comma for the point.
        let percent = |at: &usize| number(&words.get(*at).copied().unwrap_or_default().replace(',', "."));
        let system = self.system.iter().map(percent).sum::<Result<f64, _>>()?;
        let (iowait, steal, idle) = (percent(&self.iowait)?, percent(&self.steal)?, percent(&self.idle)?);
        let used = system + iowait + steal + idle;
        if used > 100.0 + ROUNDED {
            return Err("its shares of the processors' time are more than all of it");
        }
        let whole = used.max(100.0);
        let part = |percent: f64| percent / whole;
        Ok(HostShares {
            user: part(whole - used),
            system: part(system),
            iowait: part(iowait),
            steal: part(steal),
            idle: part(idle),
        })
    }
}
