//! Tables as text: CSV and its many relatives.

pub(crate) mod fields;
mod fill;
mod layout;
mod letters;
pub(crate) mod number;
mod plan;
pub(crate) mod roles;

pub(crate) use fill::Fill;
use fill::Texts;
use letters::Letters;
pub(crate) use plan::Plan;
use roles::Guess;

use crate::arrays::npy;
use crate::chunks::{CHUNK, Chunks};
use crate::finish::Opened;
use crate::{Choices, ColumnChoice, Decision, Field, Kind, Preview, Role, Source, Table, Trouble, Watch};

/// With fewer rows than this, texts that all differ may still be labels.
const FEW: usize = 20;

/// Reads a text, decided by its first part, in one pass.
pub(crate) async fn read<S: Source, W: Watch>(
    chunks: Chunks<'_, S>,
    choices: &Choices,
    watch: &mut W,
) -> Result<Opened, Trouble> {
    let mut letters = Letters::new(chunks, watch).await?;
    let (sample, last) = letters.sample(watch).await?;
    let plan = Plan::new(&sample, last, choices)?;
    drop(sample);
    let fill = fill(&plan, &mut letters, watch).await?;
    arrange(&plan, fill, letters.encoding, choices)
}

/// Reads all that follows. What one piece of the text leaves over goes before the next.
async fn fill<'p, S: Source, W: Watch>(
    plan: &'p Plan,
    letters: &mut Letters<'_, S>,
    watch: &mut W,
) -> Result<Fill<'p>, Trouble> {
    let mut fill = Fill::new(plan, letters.size, watch)?;
    let mut buffer = letters.next(watch).await?;
    // A record longer than the buffer is tried again only once there is twice as much.
    let mut wanted = 0;
    loop {
        let more = letters.next(watch).await?;
        let last = more.is_empty();
        if last || buffer.len() >= wanted {
            let taken = fill.take(&buffer, last, watch)?;
            if last {
                return Ok(fill);
            }
            wanted = if taken == 0 { buffer.len() * 2 } else { 0 };
            buffer.drain(..taken.min(buffer.len()));
        }
        if buffer.len() > CHUNK {
            watch.room((buffer.len() + more.len()) as u64 * 2)?;
        }
        buffer.extend_from_slice(&more);
    }
}

/// All cells of a text as they are written, column by column, and the names of the columns: for short lists.
pub(crate) async fn strings<S: Source, W: Watch>(
    chunks: Chunks<'_, S>,
    choices: &Choices,
    watch: &mut W,
) -> Result<(Vec<Vec<String>>, Option<Vec<String>>), Trouble> {
    let mut letters = Letters::new(chunks, watch).await?;
    let (sample, last) = letters.sample(watch).await?;
    let mut plan = Plan::new(&sample, last, choices)?;
    plan.roles.iter_mut().for_each(|role| *role = Guess::Labels);
    let fill = fill(&plan, &mut letters, watch).await?;
    Ok((fill.texts.into_iter().map(Texts::into_rows).collect(), plan.names.clone()))
}

/// Turns columns into a table, now that all of them are known.
fn arrange(plan: &Plan, fill: Fill<'_>, encoding: &str, choices: &Choices) -> Result<Opened, Trouble> {
    let Fill { rows, cols, mut values, remainders, texts, comments, empty, late, across, .. } = fill;
    let mut fields: Vec<Field> = (0..plan.width)
        .zip(&plan.roles)
        .map(|(column, role)| Field { name: plan.name(column), role: role.role() })
        .collect();
    let mut notices: Vec<String> = plan.notice.iter().cloned().collect();
    let mut decisions = plan.decisions.clone();
    let latin = plan.latin || texts.iter().any(|texts| texts.latin);
    if encoding != "UTF-8" || latin {
        let (choice, why) = match latin {
            true => ("Latin-1", "Some texts are not valid UTF-8."),
            false => (encoding, "Its bytes say so."),
        };
        decisions.push(Decision::new("encoding", choice, why));
    }
    if rows == 0 {
        return Err(Trouble::new(
            Kind::Empty,
            "There is a header, but no row below it.",
            "Choose a file with rows.",
        ));
    }
    if cols == 0 {
        return Err(Trouble::new(
            Kind::TooSmall,
            "There is no column of numbers in the file.",
            "Choose a file with numbers; load a file of labels or of pairs where those are asked for.",
        ));
    }
    let mut table = Table { rows, cols, ..Table::default() };
    for texts in texts {
        let column = texts.column;
        let guess = plan.roles.get(column).copied().unwrap_or(Guess::Ignored);
        // Texts that all differ in a few rows may well be labels, unless they come first.
        let likely = column == 0 || rows > FEW;
        let free = table.ids.is_none() && !plan.roles.contains(&Guess::Ids);
        let names_rows =
            guess == Guess::Ids || (guess == Guess::Text && likely && free && texts.all_differ());
        let role = if names_rows {
            decisions.push(Decision::new("ids", plan.name(column), plan.why_ids));
            table.ids = Some(texts.into_rows());
            Role::Ids
        } else if guess == Guess::Text && rows > FEW && texts.different() * 10 > rows * 9 {
            notices.push(format!(
                "Column '{}' has another text in nearly every row and is left out.",
                plan.name(column)
            ));
            Role::Ignored
        } else if guess == Guess::Text && choices.labels.is_some() {
            Role::Ignored
        } else {
            table.labels.push(texts.into_labels(plan.name(column)));
            Role::Labels
        };
        if let Some(field) = fields.get_mut(column) {
            field.role = role;
        }
    }
    if table.ids.is_none() {
        let why = match choices.ids {
            Some(ColumnChoice::None) => "You chose it.",
            _ => "No column has a different text in each row, or a name that says it holds ids.",
        };
        decisions.push(Decision::new("ids", "none", why));
    }
    if !table.labels.is_empty() {
        let names: Vec<&str> = table.labels.iter().map(|labels| labels.name.as_str()).collect();
        let why =
            if choices.labels.is_some() { "You chose them." } else { "They hold texts, or are named so." };
        decisions.push(Decision::new("labels", names.join(", "), why));
    }
    let mut seen = std::collections::HashSet::new();
    if let Some(name) = plan.names.iter().flatten().find(|name| !name.is_empty() && !seen.insert(*name)) {
        notices.push(format!("Several columns have the same name, for example '{name}'."));
    }
    for column in late {
        notices.push(format!(
            "Column '{}' has only missing values at first, then texts: those count as missing, too.",
            plan.name(column)
        ));
    }
    if comments > 0 {
        notices.push(format!("Lines skipped as comments, as they begin with # or %: {comments}."));
    }
    if empty > 0 {
        notices.push(format!("Empty rows that were skipped: {empty}."));
    }
    if values.capacity() / 4 > values.len() / 3 {
        values.shrink_to_fit();
    }
    table.values = values;
    table.remainders = remainders.finish(rows);
    if plan.names.is_some() {
        let numbers = fields.iter().filter(|field| field.role == Role::Numbers);
        table.columns = Some(numbers.map(|field| field.name.clone()).collect());
    }
    fields.truncate(Preview::COLUMNS);
    let format = match decisions.first().map(|d| d.choice.as_str()) {
        Some("none") => "text, one number a line".to_owned(),
        _ => format!("{}-separated text", plan.delimiter.words()),
    };
    let across = across.into_iter().map(|(name, cells)| npy::label(&name, cells.into_iter())).collect();
    Ok(Opened { table, format, decisions, fields, notices, across, ..Opened::default() })
}
