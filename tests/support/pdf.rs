//! Hand-written PDFs, object by object.

/// A PDF with one page per text; each line of a text is a line of the page.
pub fn pdf(pages: &[&str]) -> Vec<u8> {
    let streams: Vec<Vec<u8>> = pages.iter().map(|page| page_of(page).into_bytes()).collect();
    of_streams(&streams.iter().map(|stream| ("", stream.as_slice())).collect::<Vec<_>>(), "")
}

/// A PDF with one page per content stream, each with more entries for its dictionary, and with more
/// entries for the trailer.
pub fn of_streams(pages: &[(&str, &[u8])], trailer: &str) -> Vec<u8> {
    let kids: Vec<String> = (0..pages.len()).map(|page| format!("{} 0 R", 4 + 2 * page)).collect();
    let mut objects = vec![
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        format!("<< /Type /Pages /Kids [{}] /Count {} >>", kids.join(" "), pages.len()).into_bytes(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_vec(),
    ];
    for (page, (entries, stream)) in pages.iter().enumerate() {
        objects.push(
            format!(
                "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {} 0 R /Resources << /Font << /F1 3 0 R >> >> >>",
                5 + 2 * page
            )
            .into_bytes(),
        );
        let mut object = format!("<< /Length {} {entries} >>\nstream\n", stream.len()).into_bytes();
        object.extend_from_slice(stream);
        object.extend_from_slice(b"\nendstream");
        objects.push(object);
    }
    of_objects(&objects, trailer)
}

/// A PDF of numbered objects, from 1; the first is its catalog.
pub fn of_objects(objects: &[Vec<u8>], trailer: &str) -> Vec<u8> {
    let mut bytes = b"%PDF-1.7\n".to_vec();
    let mut places = Vec::new();
    for (number, object) in objects.iter().enumerate() {
        places.push(bytes.len());
        bytes.extend_from_slice(format!("{} 0 obj\n", number + 1).as_bytes());
        bytes.extend_from_slice(object);
        bytes.extend_from_slice(b"\nendobj\n");
    }
    let table = bytes.len();
    bytes.extend_from_slice(format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).as_bytes());
    for place in places {
        bytes.extend_from_slice(format!("{place:010} 00000 n \n").as_bytes());
    }
    let size = objects.len() + 1;
    bytes.extend_from_slice(
        format!("trailer\n<< /Size {size} /Root 1 0 R {trailer} >>\nstartxref\n{table}\n%%EOF\n").as_bytes(),
    );
    bytes
}

/// Content stream that shows the lines of a text.
fn page_of(text: &str) -> String {
    let lines = text.lines().map(|line| {
        let line = line.replace('\\', "\\\\").replace('(', "\\(").replace(')', "\\)");
        format!("({line}) Tj 0 -14 Td")
    });
    format!("BT /F1 12 Tf 72 720 Td {} ET", lines.collect::<Vec<_>>().join(" "))
}

/// Encryption dictionary of a password-protected document.
pub const LOCK: &[u8] = b"<< /Filter /Standard /V 2 /R 3 /Length 128 /P -44 \
    /O <00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff> \
    /U <ffeeddccbbaa99887766554433221100ffeeddccbbaa99887766554433221100> >>";

/// A PDF of one page that needs a password.
pub fn locked(lock: &[u8]) -> Vec<u8> {
    let page =
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 5 0 R /Resources << /Font << /F1 3 0 R >> >> >>";
    let objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        b"<< /Type /Pages /Kids [4 0 R] /Count 1 >>".to_vec(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_vec(),
        page.as_bytes().to_vec(),
        b"<< /Length 20 >>\nstream\n01234567890123456789\nendstream".to_vec(),
        lock.to_vec(),
    ];
    let id = "00112233445566778899aabbccddeeff";
    of_objects(&objects, &format!("/Encrypt 6 0 R /ID [<{id}> <{id}>]"))
}
