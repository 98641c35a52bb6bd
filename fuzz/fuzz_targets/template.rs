//! Any text as a scenario's template: what it is read as is what its own text is read as, and a fault lies within it.

#![no_main]

use libfuzzer_sys::fuzz_target;
use model::Template;

fuzz_target!(|text: &str| match Template::parse(text) {
    Ok(template) => assert_eq!(Template::parse(&template.to_string()).as_ref(), Ok(&template)),
    Err(error) => assert!(text[error.at()..].starts_with("${"), "{error}"),
});
