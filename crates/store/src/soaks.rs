//! Soaks, as their tables have them.

use std::collections::HashMap;

use model::{SoakRecord, SoakWindow};
use serde_json::to_string as json;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

/// Stores all of a soak but its windows, in place of what is there of it.
pub(crate) async fn put(connection: &mut SqliteConnection, row: &SoakRow<'_>) -> Result<(), sqlx::Error> {
    const PUT: &str = "INSERT INTO soak (run, variant, record) VALUES ($1, $2, $3) \
                       ON CONFLICT (run, variant) DO UPDATE SET record = excluded.record";
    sqlx::query(PUT).bind(row.run).bind(row.variant).bind(&row.record).execute(connection).await?;
    Ok(())
}

/// Stores windows of a soak after those that are there.
pub(crate) async fn add(
    connection: &mut SqliteConnection,
    row: &SoakRow<'_>,
    windows: &[String],
) -> Result<(), sqlx::Error> {
    const ADD: &str = "INSERT INTO soak_window (run, variant, number, record) \
                       VALUES ($1, $2, (SELECT count(*) FROM soak_window WHERE run = $1 AND variant = $2), $3)";
    for window in windows {
        sqlx::query(ADD).bind(row.run).bind(row.variant).bind(window).execute(&mut *connection).await?;
    }
    Ok(())
}

/// A soak as its table has it.
pub(crate) struct SoakRow<'a> {
    run: &'a str,
    variant: u32,
    record: String,
}

impl<'a> SoakRow<'a> {
    pub fn of(run: &'a str, soak: &SoakRecord) -> Result<Self, serde_json::Error> {
        let record = json(&SoakRecord { windows: Vec::new(), ..soak.clone() })?;
        Ok(Self { run, variant: soak.variant as u32, record })
    }
}

/// Windows as their table has them.
pub(crate) fn windows(windows: &[SoakWindow]) -> Result<Vec<String>, serde_json::Error> {
    windows.iter().map(json).collect()
}

/// All rows of a run: its soaks, and their windows in order.
pub(crate) async fn fetch(
    connection: &mut SqliteConnection,
    run: &str,
) -> Result<(Vec<String>, Vec<SqliteRow>), sqlx::Error> {
    const SOAKS: &str = "SELECT record FROM soak WHERE run = $1 ORDER BY rowid";
    const WINDOWS: &str = "SELECT variant, record FROM soak_window WHERE run = $1 ORDER BY variant, number";
    let soaks = sqlx::query_scalar(SOAKS).bind(run).fetch_all(&mut *connection).await?;
    let windows = sqlx::query(WINDOWS).bind(run).fetch_all(&mut *connection).await?;
    Ok((soaks, windows))
}

/// The soaks of a run, of its rows.
pub(crate) fn records((soaks, windows): &(Vec<String>, Vec<SqliteRow>)) -> Result<Vec<SoakRecord>, serde_json::Error> {
    let mut by_variant: HashMap<u32, Vec<SoakWindow>> = HashMap::new();
    for row in windows {
        by_variant.entry(row.get("variant")).or_default().push(serde_json::from_str(row.get("record"))?);
    }
    let whole = |soak: &String| {
        let soak: SoakRecord = serde_json::from_str(soak)?;
        let windows = by_variant.remove(&(soak.variant as u32)).unwrap_or_default();
        Ok(SoakRecord { windows, ..soak })
    };
    soaks.iter().map(whole).collect()
}
