//! Any text as a scenario's template, and any value to fill it in: the text ends at the first NUL, where the value begins.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let (template, value) = text.split_once('\0').unwrap_or((text, "a b\r\n#"));
    load::fuzzing::template(template, value);
});
