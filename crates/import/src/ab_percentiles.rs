//! ApacheBench's `-e`: what each percentage of the requests took at most. It is recognised, and refused: it counts nothing.

use model::imported::{Fidelity, ImportedRun};

use crate::csv;
use crate::reading::{Broken, Format, Options, Reading};

pub const FORMAT: Format =
    Format { id: "ab-percentiles", tool: "ApacheBench", fidelity: Fidelity::Summary, recognises, read };

fn recognises(head: &[u8], _: Options) -> bool {
    csv::first_line(head) == b"Percentage served,Time in ms"
}

fn read(_: &mut Reading) -> Result<ImportedRun, Broken> {
    Err(Broken::Lacks(
        "how many requests there were and which failed: give what ApacheBench printed, or the file of its `-g`",
    ))
}

#[cfg(test)]
mod tests {
    use crate::{ImportError, Options, read};

    #[test]
    fn it_is_refused_by_its_name() {
        let text = include_bytes!("../fixtures/ab-2.3/percentiles.csv");
        let refused = read("e.csv", &text[..], Options::default()).unwrap_err();
        assert!(matches!(refused, ImportError::Lacks { tool: "ApacheBench", .. }), "{refused}");
    }
}
