//! What a soaked server holds of memory rose to the end.

use model::soaked::{Gauge, Reading};
use model::{Finding, FindingId, Severity, Soaked};

use super::rise::{SOAK_LONGER, Said, course_of, found, rises};
use super::rule::{Check, Rule};

pub const RULE: Rule = Rule {
    id: FindingId::new("memory-leak"),
    gravest: Severity::Warning,
    page: include_str!("../../../../docs/findings/memory-leak.md"),
    checks: &[Check::Soak(rule)],
};

const LOOK: &str = "Look at what is held: two heap dumps of a JVM (`jcmd PID GC.heap_dump FILE`) or of a Ruby (`ObjectSpace.dump_all`), an \
                    hour apart, show what grew; elsewhere a profiler of allocations does.";
const HEAP: Said = Said {
    severity: Severity::Warning,
    meaning: "What the program holds rises evenly, to the end of the soak: something is kept and never let go.",
    remedy: LOOK,
};
const MAYBE_HEAP: Said = Said { severity: Severity::Note, ..HEAP };
const MEMORY: Said = Said {
    severity: Severity::Warning,
    meaning: "Resident memory rises evenly, to the end of the soak: something is kept and never let go.",
    remedy: LOOK,
};
const BESIDE_HEAP: Said = Said {
    severity: Severity::Note,
    meaning: "Resident memory rises evenly, to the end of the soak, and what the program holds in its heap does not: memory outside of the \
              heap, or heap that the JVM uses for the first time.",
    remedy: "Soak it until resident memory has passed `-Xmx`, or start the JVM with `-XX:+AlwaysPreTouch` and `-Xms` as large as `-Xmx`: \
             what still grows then is outside of the heap, and `jcmd PID VM.native_memory` shows where.",
};
const SLOWING: Said = Said {
    severity: Severity::Note,
    meaning: "Memory still rises at the end of the soak, more slowly than before: a cache that fills, or a leak.",
    remedy: SOAK_LONGER,
};

/// A warning where the heap or, without one, resident memory rose evenly to the end; a note where that may be something else.
fn rule(soak: &Soaked) -> Vec<Finding> {
    let heap = course_of(soak, Gauge::Heap);
    if let Some(heap) = heap.filter(|heap| rises(heap)) {
        // A heap that rises takes the process's memory with it: that is said once.
        let said = match (heap.reading, &heap.doubt) {
            (Reading::Slowing, _) => &SLOWING,
            (_, Some(_)) => &MAYBE_HEAP,
            (_, None) => &HEAP,
        };
        return vec![found(&RULE, soak, heap, said)];
    }
    let Some(memory) = course_of(soak, Gauge::Memory).filter(|memory| rises(memory)) else { return Vec::new() };
    let said = match (memory.reading, heap) {
        (Reading::Slowing, _) => &SLOWING,
        (_, Some(_)) => &BESIDE_HEAP,
        (_, None) => &MEMORY,
    };
    vec![found(&RULE, soak, memory, said)]
}

#[cfg(test)]
mod tests {
    use model::soaked::Limit;

    use super::*;
    use crate::audit::testing::{soaked, values};

    const MIB: f64 = 1_048_576.0;

    #[test]
    fn memory_that_rises_is_reported_with_its_slope_and_what_is_left() {
        let mut soak = soaked(Gauge::Memory, |hours| MIB * (100.0 + 50.0 * hours));
        soak.courses[0].limit = Some(Limit { name: "limits.memory".to_owned(), value: 800.0 * MIB });
        let [found] = &rule(&soak)[..] else { panic!("{:?}", soak.courses[0].reading) };
        assert_eq!(found.severity, Severity::Warning);
        let said = values(found);
        assert_eq!(said[0], "110 MiB → 290 MiB in 4 h 0 min");
        assert_eq!(said[1], "+50.0 MiB/h [+50.0 MiB, +50.0 MiB]");
        assert_eq!(said[2], "1.42 KiB", "36,000 requests an hour");
        assert_eq!(said[3], "800 MiB in 10 h 12 min");
    }

    #[test]
    fn what_stays_or_levels_off_is_not() {
        assert_eq!(rule(&soaked(Gauge::Memory, |_| 100.0 * MIB)), []);
        assert_eq!(rule(&soaked(Gauge::Memory, |hours| MIB * (300.0 - 200.0 * (-6.0 * hours).exp()))), []);
        assert_eq!(rule(&soaked(Gauge::Threads, |hours| 100.0 + 50.0 * hours)), [], "no memory");
        let slowing = rule(&soaked(Gauge::Memory, |hours| MIB * (300.0 - 200.0 * (-hours / 2.0).exp())));
        assert_eq!(slowing.iter().map(|found| found.severity).collect::<Vec<_>>(), [Severity::Note]);
    }

    #[test]
    fn a_heap_goes_before_the_memory_around_it() {
        let rising = |gauge| soaked(gauge, |hours| MIB * (100.0 + 50.0 * hours));
        let mut soak = rising(Gauge::Heap);
        soak.courses.extend(rising(Gauge::Memory).courses);
        let found = rule(&soak);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].severity, found[0].facts[0].name.as_str()), (Severity::Warning, "heap after collections"));
        soak.courses[0].doubt = Some("Only young collections were seen.".to_owned());
        assert_eq!(rule(&soak)[0].severity, Severity::Note);

        let mut soak = rising(Gauge::Memory);
        soak.courses.extend(soaked(Gauge::Heap, |_| 100.0 * MIB).courses);
        let found = rule(&soak);
        assert_eq!((found.len(), found[0].severity), (1, Severity::Note));
        assert!(found[0].meaning.contains("outside of the heap"));
    }
}
