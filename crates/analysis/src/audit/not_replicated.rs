//! Too few launches for any verdict.

use model::{FindingId, Severity, StudyRecord};

use super::{Context, Found};
use crate::blocks;
use crate::boundaries::FIRST_LOOK;

/// A warning with fewer used blocks than the first look needs; the verdict is withheld then.
pub fn rule(record: &StudyRecord, context: &Context) -> Vec<Found> {
    let used = blocks::used(&context.blocks).count();
    if used >= FIRST_LOOK {
        return Vec::new();
    }
    let remedy = format!(
        "A run that was interrupted, or that its budget ended, goes on with `bakeoff run {} --resume`. One that ended by itself \
         has to be run again, once what ended it (failed launches, another finding) is mended.",
        record.study.file
    );
    vec![
        Found::new(
            FindingId::NotReplicated,
            Severity::Warning,
            "the run",
            "Launches of one and the same server differ, by several per cent as a rule: with so few of them nothing can be \
             told from that.",
            &remedy,
        )
        .with("used blocks", format!("{used} of at least {FIRST_LOOK}")),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::testing::gravest;
    use crate::fixture;

    #[test]
    fn five_blocks_are_the_least() {
        assert_eq!(gravest(rule, &fixture::record(4, 0.0)), Some(Severity::Warning));
        assert_eq!(gravest(rule, &fixture::record(5, 0.0)), None);
    }
}
