//! Labels that cannot be compared: those of one side have other names than those of the other.

use std::collections::HashSet;

use super::rows::Rows;
use schema::Finding;

/// Labels that are named as examples.
const NAMED: usize = 3;

/// Says so when no label of X occurs in Y, because figures that compare labels mean nothing then.
pub(super) fn strangers(rows: &[Rows; 2]) -> Option<Finding> {
    let [x, y] = rows.each_ref().map(|rows| {
        let labels = rows.labels.as_ref()?;
        let used: HashSet<u32> = labels.codes.iter().copied().collect();
        let names = labels.names.iter().enumerate().filter(|(code, _)| used.contains(&(*code as u32)));
        Some(names.map(|(_, name)| name.as_str()).collect::<Vec<&str>>()).filter(|names| !names.is_empty())
    });
    let (x, y) = (x?, y?);
    let there: HashSet<&str> = y.iter().copied().collect();
    if x.iter().any(|name| there.contains(name)) {
        return None;
    }
    Some(Finding {
        what: format!("No label of X occurs in Y: X has {}, Y has {}.", some(&x), some(&y)),
        fix: "Label transfer and colours by label compare names, so they say nothing here. Give the same names on \
              both sides, and load the labels again."
            .into(),
        options: None,
        step: None,
        serious: true,
    })
}

fn some(names: &[&str]) -> String {
    let shown: Vec<String> = names.iter().take(NAMED).map(|name| format!("“{name}”")).collect();
    let more = if names.len() > NAMED { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}

#[cfg(test)]
mod tests {
    use formats::Labels;

    use super::*;

    fn rows(names: &[&str], codes: &[u32]) -> Rows {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        Rows { ids: None, labels: Some(Labels { name: "cell".into(), names, codes: codes.to_vec() }) }
    }

    #[test]
    fn labels_without_a_common_name_are_named() {
        let x = rows(&["L-BJ", "L-K562"], &[0, 1, 0]);
        let found = strangers(&[x.clone(), rows(&["BJ", "K562"], &[1, 0])]).expect("nothing in common");
        assert!(
            found.what.starts_with("No label of X occurs in Y: X has “L-BJ”, “L-K562”, Y has “BJ”"),
            "{found:?}"
        );
        // One is enough, but it has to be the label of a row.
        assert_eq!(strangers(&[x.clone(), rows(&["BJ", "L-BJ"], &[0, 1])]), None);
        assert!(strangers(&[x.clone(), rows(&["BJ", "L-BJ"], &[0, Labels::MISSING])]).is_some());
        assert_eq!(strangers(&[x, Rows::default()]), None);
    }
}
