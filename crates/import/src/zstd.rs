//! What is packed by zstd: frames, one after another, each unpacked as far as it is read.

use std::io::{self, BufRead, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// Most that a frame may look back, bytes: the window of zstd's level 21. A frame that wants more is refused; the decoder takes three
/// times this at most.
const LARGEST_WINDOW: u64 = 1 << 26;

/// Whether these bytes begin a frame, or one that is to be skipped.
pub fn begins(head: &[u8]) -> bool {
    matches!(head, [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..])
}

/// The text of all frames of a source.
pub struct Unpacked<S> {
    source: S,
    decoder: FrameDecoder,
    /// A frame has begun, and not all of it was given out.
    is_open: bool,
}

impl<S: BufRead> Unpacked<S> {
    pub fn new(source: S) -> Self {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(LARGEST_WINDOW);
        Self { source, decoder, is_open: false }
    }

    /// Begins the next frame, or skips one that has no text.
    fn begin(&mut self) -> io::Result<()> {
        match self.decoder.reset(&mut self.source) {
            Ok(()) => self.is_open = true,
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                io::copy(&mut self.source.by_ref().take(length.into()), &mut io::sink())?;
            }
            Err(error) => return Err(io::Error::other(error)),
        }
        Ok(())
    }

    /// Ends a frame that was given out.
    fn end(&mut self) -> io::Result<()> {
        self.is_open = false;
        let stated = self.decoder.get_checksum_from_data();
        if stated.is_some() && stated != self.decoder.get_calculated_checksum() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "its checksum is not that of its text"));
        }
        Ok(())
    }
}

impl<S: BufRead> Read for Unpacked<S> {
    fn read(&mut self, text: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.is_open && self.decoder.can_collect() > 0 {
                return self.decoder.read(text);
            } else if self.is_open && self.decoder.is_finished() {
                self.end()?;
            } else if self.is_open {
                let block = self.decoder.decode_blocks(&mut self.source, BlockDecodingStrategy::UptoBlocks(1));
                block.map_err(io::Error::other)?;
            } else if self.source.fill_buf()?.is_empty() {
                return Ok(0);
            } else {
                self.begin()?;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    use super::*;

    /// Written by zstd 1.5.4 at its level 19, with a checksum.
    const PACKED: &[u8] = include_bytes!("../fixtures/zstd-1.5.4/page.tsv.zst");
    const TEXT: &[u8] = include_bytes!("../fixtures/h2load-1.52.0/page.tsv");

    fn unpacked(packed: &[u8]) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        Unpacked::new(packed).read_to_end(&mut text)?;
        Ok(text)
    }

    #[test]
    fn what_zstd_wrote_is_read() {
        assert!(begins(PACKED));
        assert_eq!(unpacked(PACKED).unwrap(), TEXT);
    }

    #[test]
    fn frames_follow_one_another_and_some_are_skipped() {
        let skipped = [b"\x5a\x2a\x4d\x18\x03\0\0\0".as_slice(), b"abc"].concat();
        let empty = compress_to_vec(&b""[..], CompressionLevel::Fastest);
        let all = [&skipped, PACKED, &empty, &skipped, PACKED].concat();
        assert!(begins(&all));
        assert_eq!(unpacked(&all).unwrap(), TEXT.repeat(2));
    }

    #[test]
    fn what_is_cut_or_changed_is_no_whole_text() {
        assert!(unpacked(&PACKED[..PACKED.len() - 5]).is_err());
        let (last, front) = PACKED.split_last().unwrap();
        let said = unpacked(&[front, &[!last]].concat()).unwrap_err().to_string();
        assert_eq!(said, "its checksum is not that of its text");
        assert!(unpacked(&[PACKED, b"and more"].concat()).is_err());
    }

    /// A frame of this window, whose exponent and eighths are in one byte, that has blocks of zeros.
    fn zeros(window: u8, blocks: usize) -> Vec<u8> {
        let header = [0x28, 0xb5, 0x2f, 0xfd, 0, window];
        // A block of one byte, repeated 128 KiB times.
        let block = |is_last: u32| [&((1 << 20) | (1 << 1) | is_last).to_le_bytes()[..3], &[0]].concat();
        [&header[..], &block(0).repeat(blocks), &block(1)].concat()
    }

    #[test]
    fn a_frame_that_looks_back_too_far_is_refused() {
        assert_eq!(unpacked(&zeros(16 << 3, 3)).unwrap(), vec![0; 4 << 17]);
        for window in [16 << 3 | 1, 17 << 3, 0xff] {
            let said = unpacked(&zeros(window, 3)).unwrap_err().to_string();
            assert!(said.to_lowercase().contains("window"), "{said}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(5_000))]
        /// Never a panic, and no other text than was packed.
        #[test]
        fn changed_bytes_are_refused(
            changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..6),
        ) {
            let mut packed = PACKED.to_vec();
            for (at, byte) in changes {
                packed[at.index(PACKED.len())] = byte;
            }
            if let Ok(text) = unpacked(&packed) {
                prop_assert!(text == TEXT || text.is_empty() || packed[4] != PACKED[4], "{} bytes", text.len());
            }
        }
    }
}
