//! HTML and SVG text that is escaped and balanced by construction.

/// Attributes of an element; values are escaped when written.
pub type Attributes<'a> = &'a [(&'a str, &'a str)];

/// A piece of HTML or SVG under construction.
///
/// All text passes through [`Markup::text`] or an attribute, which escape it, and every element is closed by
/// what opened it: neither can be forgotten.
#[derive(Debug, Default)]
pub struct Markup(String);

impl Markup {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Text, escaped.
    pub fn text(&mut self, text: &str) -> &mut Self {
        escape_into(&mut self.0, text);
        self
    }

    /// An element with content.
    pub fn element(&mut self, name: &str, attributes: Attributes, content: impl FnOnce(&mut Self)) -> &mut Self {
        self.open(name, attributes);
        self.0.push('>');
        content(self);
        self.0.push_str("</");
        self.0.push_str(name);
        self.0.push('>');
        self
    }

    /// An element that holds only text.
    pub fn leaf(&mut self, name: &str, attributes: Attributes, text: &str) -> &mut Self {
        self.element(name, attributes, |inside| {
            inside.text(text);
        })
    }

    /// An element that never has content: a void one of HTML, or a shape of SVG.
    pub fn empty(&mut self, name: &str, attributes: Attributes) -> &mut Self {
        self.open(name, attributes);
        self.0.push_str("/>");
        self
    }

    /// Another piece.
    #[expect(clippy::needless_pass_by_value, reason = "a piece is placed once")]
    pub fn append(&mut self, piece: Self) -> &mut Self {
        self.0.push_str(&piece.0);
        self
    }

    /// A line break in the source, for people who read it.
    pub fn line_break(&mut self) -> &mut Self {
        self.0.push('\n');
        self
    }

    /// A constant of ours that must not be escaped: the document type, the style sheet.
    pub fn constant(&mut self, text: &'static str) -> &mut Self {
        self.0.push_str(text);
        self
    }

    /// The finished text.
    pub fn into_string(self) -> String {
        self.0
    }

    fn open(&mut self, name: &str, attributes: Attributes) {
        self.0.push('<');
        self.0.push_str(name);
        for (attribute, value) in attributes {
            self.0.push(' ');
            self.0.push_str(attribute);
            self.0.push_str("=\"");
            escape_into(&mut self.0, value);
            self.0.push('"');
        }
    }
}

fn escape_into(out: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            // Other control characters are not allowed in HTML, not even as references.
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_attributes_are_escaped() {
        let mut markup = Markup::new();
        markup.element("p", &[("title", "\"><script>")], |p| {
            p.text("a < b & 'c'\u{1b}[31m").empty("br", &[]);
        });
        assert_eq!(
            markup.into_string(),
            "<p title=\"&quot;&gt;&lt;script&gt;\">a &lt; b &amp; &#39;c&#39;\u{fffd}[31m<br/></p>"
        );
    }
}
