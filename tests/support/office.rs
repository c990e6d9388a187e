//! Hand-written office documents: archives entry by entry, with any sizes and any content.

use flate2::{Compress, Compression, Crc, FlushCompress};

/// Main entry of a docx document.
pub const DOCX: &str = "word/document.xml";

/// An entry of an archive.
pub struct Entry {
    name: String,
    /// Bytes as stored, raw-deflated if `is_packed`.
    data: Vec<u8>,
    is_packed: bool,
    crc: u32,
    size: usize,
}

impl Entry {
    /// An entry that is stored as it is.
    pub fn stored(name: &str, text: &str) -> Self {
        let mut crc = Crc::new();
        crc.update(text.as_bytes());
        let (data, size) = (text.as_bytes().to_vec(), text.len());
        Self { name: name.to_owned(), data, is_packed: false, crc: crc.sum(), size }
    }

    /// An entry that unpacks to `start` and then to that many megabytes of `filling`.
    pub fn bomb(name: &str, start: &str, filling: &str, megabytes: usize) -> Self {
        let mut compress = Compress::new(Compression::fast(), false);
        let mut data = Vec::with_capacity(start.len() + (1 << 16));
        compress.compress_vec(start.as_bytes(), &mut data, FlushCompress::Full).unwrap();
        let mut chunk = Vec::with_capacity(1 << 20);
        let filling = filling.repeat((1 << 20) / filling.len());
        compress.compress_vec(filling.as_bytes(), &mut chunk, FlushCompress::Full).unwrap();
        data.extend(chunk.repeat(megabytes));
        data.extend([3, 0]);
        Self { name: name.to_owned(), data, is_packed: true, crc: 0, size: start.len() + (megabytes << 20) }
    }

    /// The entry with a size that it claims to have.
    pub fn claiming(self, size: usize) -> Self {
        Self { size, ..self }
    }
}

/// An archive of these entries.
pub fn archive(entries: &[Entry]) -> Vec<u8> {
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    for entry in entries {
        let at = bytes.len();
        let number = |number: usize| u32::try_from(number).unwrap().to_le_bytes();
        let mut head: Vec<u8> = vec![20, 0, 0, 0, if entry.is_packed { 8 } else { 0 }, 0, 0, 0, 0x21, 0x5d];
        head.extend(entry.crc.to_le_bytes());
        head.extend(number(entry.data.len()));
        head.extend(number(entry.size));
        head.extend(u16::try_from(entry.name.len()).unwrap().to_le_bytes());
        head.extend([0, 0]);
        bytes.extend(b"PK\x03\x04");
        bytes.extend(&head);
        bytes.extend(entry.name.as_bytes());
        bytes.extend(&entry.data);
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend(&head);
        directory.extend([0; 10]);
        directory.extend(number(at));
        directory.extend(entry.name.as_bytes());
    }
    let (at, count) = (bytes.len(), u16::try_from(entries.len()).unwrap().to_le_bytes());
    let number = |number: usize| u32::try_from(number).unwrap().to_le_bytes();
    let size = directory.len();
    bytes.extend(directory);
    bytes.extend(b"PK\x05\x06\0\0\0\0");
    bytes.extend(count);
    bytes.extend(count);
    bytes.extend(number(size));
    bytes.extend(number(at));
    bytes.extend([0, 0]);
    bytes
}

/// A docx document with this body.
pub fn docx(body: &str) -> Vec<u8> {
    archive(&[Entry::stored("[Content_Types].xml", "<Types/>"), Entry::stored(DOCX, &document(body))])
}

/// The main entry of a docx document, closed or not.
pub fn document(body: &str) -> String {
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?><w:document xmlns:w=\"w\"><w:body>{body}</w:body></w:document>")
}

/// A paragraph of a docx document.
pub fn paragraph(text: &str) -> String {
    format!("<w:p><w:pPr><w:tabs><w:tab w:val=\"left\"/></w:tabs></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>")
}

/// An xlsx workbook of one sheet with these rows, and with dates in style 1.
pub fn xlsx(sheet: &str, rows: &str, strings: &[&str]) -> Vec<u8> {
    let strings: String = strings.iter().map(|text| format!("<si><t>{text}</t></si>")).collect();
    let styles = "<styleSheet><numFmts><numFmt numFmtId=\"164\" formatCode=\"dd.mm.yyyy\"/></numFmts>\
        <cellStyleXfs><xf numFmtId=\"14\"/></cellStyleXfs><cellXfs><xf numFmtId=\"0\"/><xf numFmtId=\"164\"/></cellXfs></styleSheet>";
    let book = format!(
        "<workbook><workbookPr/><sheets><sheet name=\"{sheet}\" sheetId=\"1\" r:id=\"rId7\"/></sheets></workbook>"
    );
    let relations =
        "<Relationships><Relationship Id=\"rId7\" Type=\"x\" Target=\"worksheets/sheet1.xml\"/></Relationships>";
    archive(&[
        Entry::stored("[Content_Types].xml", "<Types/>"),
        Entry::stored("xl/workbook.xml", &book),
        Entry::stored("xl/_rels/workbook.xml.rels", relations),
        Entry::stored("xl/sharedStrings.xml", &format!("<sst>{strings}</sst>")),
        Entry::stored("xl/styles.xml", styles),
        Entry::stored("xl/worksheets/sheet1.xml", &format!("<worksheet><sheetData>{rows}</sheetData></worksheet>")),
    ])
}

/// An OpenDocument file of that kind with this body.
pub fn open_document(kind: &str, body: &str) -> Vec<u8> {
    let content = format!(
        "<office:document-content xmlns:office=\"o\" xmlns:text=\"t\" xmlns:table=\"b\"><office:body><office:{kind}>{body}</office:{kind}></office:body></office:document-content>"
    );
    archive(&[
        Entry::stored("mimetype", &format!("application/vnd.oasis.opendocument.{kind}")),
        Entry::stored("content.xml", &content),
    ])
}
