//! Bytes of a text file, read in the encoding that they were saved in.
//!
//! UTF-8 comes first, with or without a byte order mark. UTF-16 counts only with its mark. Other
//! bytes are Windows-1252, which Latin-1 is a part of, if they hold no control bytes: every byte
//! would be some letter there, so a file with control bytes is no text at all.

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

/// Returns the text of a file; `None` if it is no text.
pub fn decode(bytes: Vec<u8>) -> Option<String> {
    let bytes = match String::from_utf8(bytes) {
        Ok(text) => return Some(text),
        Err(error) => error.into_bytes(),
    };
    let encoding = match Encoding::for_bom(&bytes) {
        Some((encoding, _)) if encoding == UTF_8 => return None,
        Some((_, mark)) if bytes.len() == mark || bytes.len() % 2 == 1 => return None,
        Some((encoding, _)) => encoding,
        None if bytes.iter().any(|byte| is_control(*byte)) => return None,
        None => WINDOWS_1252,
    };
    let (text, _, has_errors) = encoding.decode(&bytes);
    (!has_errors && !text.chars().any(|c| u8::try_from(c).is_ok_and(is_control))).then(|| text.into_owned())
}

/// Returns whether no text holds that byte: white space aside, a control character, or a byte that
/// Windows-1252 leaves undefined.
fn is_control(byte: u8) -> bool {
    let is_space = matches!(byte, b'\t' | b'\n' | b'\r' | 0x0c);
    !is_space && (byte.is_ascii_control() || matches!(byte, 0x81 | 0x8d | 0x8f | 0x90 | 0x9d))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Proves: memory/encodings
    #[test]
    fn texts_are_read_in_their_encoding_and_other_bytes_are_none() {
        let utf_16 = |mark: [u8; 2], bytes: fn(u16) -> [u8; 2]| {
            mark.into_iter().chain("Gruß: 5 €".encode_utf16().flat_map(bytes)).collect::<Vec<u8>>()
        };
        for (bytes, text) in [
            ("Gruß".as_bytes().to_vec(), Some("Gruß")),
            ("\u{feff}Gruß".as_bytes().to_vec(), Some("\u{feff}Gruß")),
            (b"Gru\xdf: Gr\xfc\xdfe aus K\xf6ln, 5 \x80\n".to_vec(), Some("Gruß: Grüße aus Köln, 5 €\n")),
            (utf_16([0xff, 0xfe], u16::to_le_bytes), Some("Gruß: 5 €")),
            (utf_16([0xfe, 0xff], u16::to_be_bytes), Some("Gruß: 5 €")),
            (vec![0xff, 0xfe], None),
            (vec![0xff, 0xfe, b'a'], None),
            (vec![0xff, 0xfe, 0, 0], None),
            (vec![0xff, 0xfe, 0, 0xd8], None),
            (b"caf\xe9 \x00".to_vec(), None),
            (b"caf\xe9 \x81".to_vec(), None),
            ((0..=255).collect(), None),
            (Vec::new(), Some("")),
        ] {
            assert_eq!(decode(bytes.clone()).as_deref(), text, "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn text_stays_as_it_is(text in any::<String>()) {
            prop_assert_eq!(decode(text.clone().into_bytes()), Some(text));
        }

        #[test]
        fn any_bytes_are_decoded_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let _ = decode(bytes);
        }
    }
}
