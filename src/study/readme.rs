//! The text that goes with the archive and says what each file is.

/// Every file that an archive can hold, and what it is.
const FILES: [(&str, &str); 14] = [
    (
        "matches.csv",
        "For every row of X its strongest partner in Y (y_row, y_id), how sure that is (confidence, from 0 to 1) and the \
         runner-up. confidence is the share of ten fresh fits on other rows (the other networks of the run where one was chosen) whose match \
         lies within the nearest tenth, times what the row keeps of its mass. It is not a probability, and it is empty where \
         no fresh fits were made. share is the part of the row's mass that y_row gets. label_x and label_y are the labels of \
         the two rows, predicted_label_x is what the labels of the strongest partners in Y say about the row of X; these \
         columns are there where labels are known. retained_mass is what the row of X keeps of its weight where weights are \
         relaxed, 1 on average; no_partner is 1 where that is less than half the median: Y has no partner for it, and y_row \
         is only the nearest there is.",
    ),
    (
        "plan.csv",
        "The largest entries of every row of the transport plan: a row of X, a row of Y, and the mass between them. \
         All entries of the plan together add up to 1.",
    ),
    ("plan.npy", "The whole transport plan, a row for each row of X and a column for each row of Y."),
    ("projection_x.npy", "Where the plan sends each row of X among the points of Y."),
    ("projection_x.csv", "The same as text, with the ids of the rows."),
    ("embedding_x.npy", "Where the encoder of X puts its rows, in the space that both sides share."),
    ("embedding_x.csv", "The same as text, with the ids of the rows."),
    ("embedding_y.npy", "Where the encoder of Y puts its rows, in the space that both sides share."),
    ("embedding_y.csv", "The same as text, with the ids of the rows."),
    ("model.safetensors", "Both encoders. Load it under More files to apply them to new rows."),
    ("encoder_x.onnx", "The encoder of X for other programs: raw columns in, embedding out."),
    ("encoder_y.onnx", "The encoder of Y for other programs: raw columns in, embedding out."),
    (
        "run.json",
        "The record of the run: its date, the files that went in with their SHA-256 and how they were read, all \
         settings, the candidate that was chosen, and the figures. Load it under More files to repeat the run.",
    ),
    ("README.txt", "This text."),
];

/// The text for an archive with these files.
pub(super) fn readme(held: &[&str]) -> String {
    let mut out = String::from(
        "An alignment of two data sets, X and Y, made with Concord.\n\n\
         Columns named x_row and y_row count the rows of a table from 0, as NumPy and pandas do; ids are those of \
         your files.\nIn .npy files the rows are in the order of your files.\n",
    );
    for (name, about) in FILES.iter().filter(|(name, _)| held.contains(name) || *name == "README.txt") {
        out.push_str(&format!("\n{name}\n    {about}\n"));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_that_are_there_are_explained() {
        let text = readme(&["matches.csv", "run.json"]);
        assert!(text.contains("ten fresh fits") && text.contains("share is the part"), "{text}");
        assert!(text.contains("\nmatches.csv\n") && text.contains("\nrun.json\n"));
        assert!(!text.contains("plan.npy"), "{text}");
    }
}
