//! Form of migrations: numbered without a gap, every table STRICT, a comment on the line of every
//! column, labels and scopes that are neither missing nor trusted by default, and ids that are
//! never reused.

use super::nothing_found;
use super::tree::{File, files};

/// Columns with text; a table with one of them needs a scope and a label.
const WORDS: &[&str] = &["text", "body", "title"];

/// Tables with such a column whose text needs no label, each with its reason.
const UNLABELLED: &[(&str, &str)] = &[];

/// Labels of the baseline with a default, the blank one, which reads as unknown: they had been added
/// to a table with rows.
const DEFAULTED: &[(&str, &str)] = &[("conversations", "opening_label"), ("conversations", "label")];

/// Each migration and the FNV-1a digest of its text. Homes have it behind them, so it stays as it is;
/// what changes is another migration.
const MIGRATIONS: &[(&str, u64)] = &[
    ("V0035__baseline.sql", 0xc787_39dc_ac27_f8c2),
    ("V0036__argument_marks.sql", 0x1f8b_0b18_c345_70d0),
    ("V0037__known_versions.sql", 0xedc1_7fc3_e501_1104),
    ("V0038__wishes.sql", 0xb3a9_1ae9_4260_d8bf),
    ("V0039__agreed.sql", 0x9bcb_6e55_a843_81a5),
    ("V0040__passages.sql", 0xc94f_301c_b446_2590),
    ("V0041__open_items.sql", 0x89ce_85be_ee91_9de2),
];

/// Words that begin a table constraint instead of a column.
const CONSTRAINTS: &[&str] = &["PRIMARY", "UNIQUE", "CHECK", "FOREIGN", "CONSTRAINT"];

/// One `CREATE TABLE` as written.
struct Table {
    name: String,
    columns: Vec<Column>,
    /// Text between the closing bracket and the semicolon.
    tail: String,
}

struct Column {
    name: String,
    /// The definition after the name, in capitals, with its continuation lines.
    definition: String,
    comment: String,
    line: usize,
}

fn tables(sql: &str) -> Vec<Table> {
    let mut tables: Vec<Table> = Vec::new();
    let mut depth = 0_usize;
    for (line, (code, comment)) in sql.lines().map(split_comment).enumerate() {
        let upper = code.to_uppercase();
        let words: Vec<&str> = code.split([' ', '(', '\t', ',']).filter(|word| !word.is_empty()).collect();
        let create = upper.trim_start().starts_with("CREATE TABLE");
        if create {
            let name = upper.split("EXISTS").last().and_then(|_| words.iter().rfind(|word| **word != ";"));
            tables.push(Table { name: name.map_or("", |n| n).to_owned(), columns: Vec::new(), tail: String::new() });
        }
        if let (Some(table), true) = (tables.last_mut(), depth > 0 && !words.is_empty()) {
            table.line(depth, &words, &upper, comment, line + 1);
        }
        if create || depth > 0 {
            depth = (depth + code.matches('(').count()).saturating_sub(code.matches(')').count());
        }
    }
    tables
}

impl Table {
    fn line(&mut self, depth: usize, words: &[&str], upper: &str, comment: &str, line: usize) {
        let first = words[0];
        if depth == 1 && upper.trim_start().starts_with(')') {
            self.tail = upper.trim().trim_matches([')', ';']).trim().to_owned();
        } else if depth > 1 {
            self.columns.iter_mut().next_back().into_iter().for_each(|column| column.definition.push_str(upper));
        } else if !CONSTRAINTS.contains(&first.to_uppercase().as_str()) {
            let name = first.trim_matches('"').to_owned();
            let is_excused = DEFAULTED.contains(&(self.name.as_str(), name.as_str()));
            let definition = if is_excused { upper.replace(" DEFAULT ''", "") } else { upper.to_owned() };
            let definition = definition.trim().to_owned();
            self.columns.push(Column { name, definition, comment: comment.to_owned(), line });
        }
    }

    fn has(&self, column: &str) -> bool {
        self.columns.iter().any(|own| own.name == column)
    }

    fn findings(&self) -> Vec<String> {
        let mut findings: Vec<String> = self
            .columns
            .iter()
            .flat_map(|column| {
                column.findings().into_iter().map(|found| format!("{}.{}: {found}", self.name, column.name))
            })
            .collect();
        let options: Vec<&str> = self.tail.split(',').map(str::trim).collect();
        if !options.contains(&"STRICT") {
            findings.push(format!("{}: is not STRICT", self.name));
        }
        if self.columns.is_empty() {
            findings.push(format!("{}: has no column on a line of its own", self.name));
        }
        let words = self.columns.iter().any(|column| WORDS.contains(&column.name.as_str()));
        let excused = UNLABELLED.iter().any(|(table, _)| *table == self.name);
        if words && !excused && !(self.has("label") && self.has("scope")) {
            findings.push(format!("{}: holds words without label and scope", self.name));
        }
        findings
    }
}

impl Column {
    fn findings(&self) -> Vec<String> {
        let definition = &self.definition;
        let is = |kind: &str| self.name == kind || self.name.ends_with(&format!("_{kind}"));
        let mut findings = Vec::new();
        let mut unless = |fine: bool, fault: &str| {
            if !fine {
                findings.push(format!("{fault} (line {})", self.line));
            }
        };
        unless(!self.comment.is_empty(), "has no comment on its line");
        unless(
            !(is("label") || is("scope") || WORDS.iter().any(|word| is(word))) || definition.contains("NOT NULL"),
            "may be NULL",
        );
        unless(!(is("label") || is("scope")) || !definition.contains("DEFAULT"), "has a default");
        unless(!definition.contains("DEFAULT 'TRUSTED'"), "is trusted by default");
        let key = definition.contains("INTEGER PRIMARY KEY");
        // A key that is also the key of another table gets its number there.
        unless(
            !key || definition.contains("AUTOINCREMENT") || definition.contains("REFERENCES"),
            "may use an id twice, without AUTOINCREMENT",
        );
        findings
    }
}

/// Columns added later: `ALTER TABLE … ADD COLUMN …; -- comment`. SQLite requires a default for NOT
/// NULL columns; the blank one reads as unknown.
fn added(sql: &str) -> Vec<String> {
    sql.lines()
        .enumerate()
        .map(|(at, line)| (at, split_comment(line)))
        .filter(|(_, (code, _))| code.to_uppercase().contains("ADD COLUMN"))
        .flat_map(|(at, (code, comment))| {
            let upper = code.to_uppercase();
            let definition = upper.split("ADD COLUMN").nth(1).unwrap_or("").trim().replace(" DEFAULT ''", "");
            let name = definition.split(' ').next().unwrap_or("").to_lowercase();
            Column { name, definition, comment: comment.to_owned(), line: at + 1 }.findings()
        })
        .collect()
}

/// Splits a line into code and comment; a dash within a literal begins none.
fn split_comment(line: &str) -> (&str, &str) {
    let mut quoted = false;
    for (at, c) in line.char_indices() {
        quoted ^= c == '\'';
        if !quoted && line[at..].starts_with("--") {
            return (&line[..at], line[at + 2..].trim());
        }
    }
    (line, "")
}

/// Number of the first migration, the baseline.
const BASELINE: u32 = 35;

fn misnumbered(names: &[&str]) -> Vec<String> {
    names
        .iter()
        .zip(BASELINE..)
        .filter(|(name, number)| {
            let rest = name.strip_prefix(&format!("V{number:04}__")).and_then(|rest| rest.strip_suffix(".sql"));
            rest.is_none_or(|rest| {
                rest.is_empty() || !rest.chars().all(|c| c == '_' || c.is_ascii_lowercase() || c.is_ascii_digit())
            })
        })
        .map(|(name, number)| format!("migrations/{name} is not V{number:04}__what_it_does.sql"))
        .collect()
}

fn migrations() -> Vec<File> {
    let all: Vec<File> = files("migrations").into_iter().filter(|file| file.path.ends_with(".sql")).collect();
    assert!(!all.is_empty(), "there is no migration");
    all
}

#[test]
fn migrations_are_numbered_without_a_gap() {
    let all = migrations();
    let names: Vec<&str> = all.iter().map(|file| file.path.trim_start_matches("migrations/")).collect();
    nothing_found(&misnumbered(&names));
}

/// <https://datatracker.ietf.org/doc/html/draft-eastlake-fnv>
fn digest(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |digest, byte| (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

fn changed(name: &str, text: &str) -> Option<String> {
    let is_known = MIGRATIONS.contains(&(name, digest(text)));
    (!is_known)
        .then(|| format!("migrations/{name} has changed, or is not yet listed: its digest is {:#x}", digest(text)))
}

#[test]
fn no_migration_changes_once_it_is_there() {
    let all = migrations();
    let found = all.iter().filter_map(|file| changed(file.path.trim_start_matches("migrations/"), &file.text));
    nothing_found(&found.collect::<Vec<_>>());
    assert!(changed(MIGRATIONS[0].0, "CREATE TABLE a (b);").is_some());
    assert_eq!(all.len(), MIGRATIONS.len());
}

/// Migrations after which a home of an earlier version is missing among the tested ones. The newest
/// version may still lack its file.
fn without_home(names: &[&str], homes: &[&str]) -> Vec<String> {
    let earlier = names.iter().rev().skip(1).filter_map(|name| name.split_once("__")).map(|(version, _)| version);
    earlier
        .filter(|version| !homes.contains(&format!("{version}.sql").as_str()))
        .map(|version| format!("tests/corpus/homes/{version}.sql is missing: rows for what {version} brought"))
        .collect()
}

#[test]
fn every_earlier_version_has_a_home_to_upgrade() {
    let (all, homes) = (migrations(), files("tests/corpus/homes"));
    let names: Vec<&str> = all.iter().map(|file| file.path.trim_start_matches("migrations/")).collect();
    let homes: Vec<&str> = homes.iter().map(|file| file.path.trim_start_matches("tests/corpus/homes/")).collect();
    nothing_found(&without_home(&names, &homes));
    assert_eq!(without_home(&["V0001__a.sql", "V0002__b.sql", "V0003__c.sql"], &["V0001.sql"]).len(), 1);
}

#[test]
fn every_table_is_strict_and_every_column_explained() {
    let mut findings = Vec::new();
    for file in migrations() {
        let found = tables(&file.text).iter().flat_map(Table::findings).chain(added(&file.text)).collect::<Vec<_>>();
        findings.extend(found.into_iter().map(|found| format!("{}: {found}", file.path)));
        let creates = file.text.lines().filter(|line| line.to_uppercase().contains("CREATE TABLE")).count();
        assert_eq!(tables(&file.text).len(), creates, "{}: each table begins its own line", file.path);
    }
    nothing_found(&findings);
}

/// Number of findings in a table with these lines.
fn faults(lines: &str, tail: &str) -> usize {
    let sql = format!("CREATE TABLE note (\n  id INTEGER PRIMARY KEY AUTOINCREMENT, -- its id\n{lines}\n){tail};\n");
    tables(&sql).iter().map(|table| table.findings().len()).sum()
}

#[test]
fn a_good_table_passes() {
    let good = "  -- who\n  kind TEXT NOT NULL DEFAULT 'a -- b' -- what it is\n    CHECK (kind IN ('x', 'y')),\n  \
                text TEXT NOT NULL, -- words\n  label TEXT NOT NULL, -- whence\n  scope TEXT NOT NULL, -- whose\n  \
                CHECK (\n    kind <> ''\n  ),\n  UNIQUE (kind)";
    assert_eq!(faults(good, " STRICT"), 0);
    let table = &tables(&format!("CREATE TABLE note (\n{good}\n) STRICT;"))[0];
    assert_eq!(table.name, "note");
}

#[test]
fn each_fault_of_a_table_is_seen() {
    assert_eq!(faults("", ""), 1, "not strict");
    for line in [
        "  n INTEGER NOT NULL",
        "  n INTEGER NOT NULL, --",
        "  label TEXT, -- whence",
        "  turn_scope TEXT, -- whose",
        "  label TEXT NOT NULL DEFAULT '', -- whence",
        "  origin TEXT NOT NULL DEFAULT 'trusted', -- whence",
        "  other INTEGER PRIMARY KEY, -- key",
        "  text TEXT NOT NULL, -- words without label",
    ] {
        assert_eq!(faults(line, " STRICT"), 1, "{line}");
    }
    assert_eq!(added("ALTER TABLE a ADD COLUMN n INTEGER;").len(), 1);
    assert_eq!(added("ALTER TABLE a ADD COLUMN label TEXT NOT NULL DEFAULT 'trusted'; -- whence").len(), 2);
    assert_eq!(added("ALTER TABLE a ADD COLUMN label TEXT DEFAULT ''; -- whence").len(), 1);
    assert_eq!(added("ALTER TABLE a ADD COLUMN label TEXT NOT NULL DEFAULT ''; -- whence").len(), 0);
}

#[test]
fn a_gap_in_the_numbers_is_seen() {
    assert_eq!(misnumbered(&["V0035__baseline.sql", "V0036__spend.sql"]).len(), 0);
    assert_eq!(misnumbered(&["V0035__baseline.sql", "V0037__spend.sql"]).len(), 1);
    assert_eq!(misnumbered(&["V35__baseline.sql"]).len(), 1);
}
