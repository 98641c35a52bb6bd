//! What an answer can get wrong.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Longest head that is accepted, bytes.
pub const LONGEST_HEAD: usize = 64 * 1024;

/// Most fields that are accepted in a head.
pub const MOST_FIELDS: usize = 128;

/// Longest body that is accepted when its content coding is undone, bytes.
pub const LONGEST_DECODED: u64 = 1 << 30;

/// What is wrong with an answer that is no whole HTTP/1.x response: the rule it breaks (sections are of RFC 9112
/// unless another is named), the limit it exceeds, or where it ended too early.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema, Error)]
#[serde(rename_all = "kebab-case")]
pub enum Malformed {
    /// An empty line where a status line should be.
    #[error("an empty line before the status line (§2.1)")]
    EmptyLine,
    /// No HTTP/1.x at all, or a version that nobody has defined.
    #[error("it does not begin with HTTP/1.0 or HTTP/1.1 (§2.3)")]
    Version,
    /// The rest of the status line.
    #[error("a status line without three digits, or with control characters in its reason (§4)")]
    StatusLine,
    /// 101 though no other protocol was asked for.
    #[error("101 switches to a protocol that bakeoff does not speak (RFC 9110 §15.2.2)")]
    Switch,
    /// A blank at the beginning of the first field.
    #[error("a blank before the first header field (§2.2)")]
    BlankBeforeFields,
    /// No name and colon.
    #[error("a header line without a name and a colon (§5)")]
    FieldName,
    /// `Name : value`.
    #[error("a blank between a header field's name and its colon (§5.1)")]
    BlankAfterName,
    /// A control character in a field's value.
    #[error("a control character in a header field (RFC 9110 §5.5)")]
    FieldValue,
    /// A carriage return without its line feed.
    #[error("a carriage return without a line feed in the head (§2.2)")]
    BareCr,
    /// The head is too long.
    #[error("a head longer than {} KB, which is all that is accepted", LONGEST_HEAD >> 10)]
    LongHead,
    /// The head has too many fields.
    #[error("more than {MOST_FIELDS} header fields, which are all that are accepted")]
    ManyFields,
    /// `Content-Length` is no number.
    #[error("a Content-Length that is not a number of bytes (§6.3)")]
    ContentLength,
    /// `Content-Length` does not fit 64 bits.
    #[error("a Content-Length beyond 64 bits (§6.2)")]
    ContentLengthOverflow,
    /// Content-Lengths that contradict each other.
    #[error("Content-Lengths that differ (§6.3)")]
    DifferentLengths,
    /// Both ways to say how long the body is.
    #[error("Content-Length together with Transfer-Encoding (§6.3)")]
    LengthAndCoding,
    /// `Transfer-Encoding` where it does not exist.
    #[error("Transfer-Encoding in HTTP/1.0 (§6.1)")]
    OldCoding,
    /// A transfer coding that was not asked for.
    #[error("a transfer coding other than chunked, which no request offers (§7.4)")]
    UnaskedCoding,
    /// Chunks in chunks.
    #[error("the chunked coding applied twice (§6.1)")]
    ChunkedTwice,
    /// No chunk's size where there should be one.
    #[error("other than hexadecimal digits where a chunk's size should be (§7.1)")]
    ChunkSize,
    /// A chunk's size does not fit 64 bits.
    #[error("a chunk's size beyond 64 bits (§7.1)")]
    ChunkSizeOverflow,
    /// A control character in a chunk's extension.
    #[error("a control character in a chunk's extension (§7.1.1)")]
    ChunkExtension,
    /// The line of a chunk's size does not end in CR LF.
    #[error("a chunk's size whose line does not end in CR LF (§7.1)")]
    ChunkSizeEnd,
    /// A chunk is longer or shorter than it says.
    #[error("a chunk's data without CR LF at its end (§7.1)")]
    ChunkEnd,
    /// Something other than a field after the last chunk.
    #[error("other than fields and an empty line after the last chunk (§7.1.2)")]
    Trailer,
    /// Bytes after the end of the answer, though nothing else was asked.
    #[error("bytes after the end of the answer (§6.3)")]
    Surplus,
    /// The end of the connection instead of an answer.
    #[error("the connection closed before the first byte of the answer (§9.5)")]
    NoAnswer,
    /// The end of the connection in the head.
    #[error("the connection closed within the head (§8)")]
    CutHead,
    /// The end of the connection before all of `Content-Length` came.
    #[error("the connection closed before the body had its Content-Length (§8)")]
    CutBody,
    /// The end of the connection before the end of the chunks.
    #[error("the connection closed before the end of the chunked body (§8)")]
    CutChunks,
    /// The content coding is broken.
    #[error("a body whose gzip coding is broken or ends too early (RFC 1952)")]
    Gzip,
    /// The decoded body is too long.
    #[error("a body that decodes to more than {} MB, which is all that is accepted", LONGEST_DECODED >> 20)]
    LongBody,
}

impl Malformed {
    /// The name used in data and in `docs/http.md`, such as `bare-cr`.
    pub fn name(self) -> String {
        // A variant without fields is a string.
        serde_json::to_value(self).ok().and_then(|name| Some(name.as_str()?.to_owned())).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Failure;

    #[test]
    fn each_has_its_name_and_kind() {
        assert_eq!(Malformed::BareCr.name(), "bare-cr");
        let kinds = [Malformed::BareCr, Malformed::CutHead, Malformed::LongBody].map(Malformed::failure);
        assert_eq!(kinds, [Failure::Malformed, Failure::Closed, Failure::Coding]);
        assert_eq!(Malformed::LongHead.to_string(), "a head longer than 64 KB, which is all that is accepted");
    }
}
