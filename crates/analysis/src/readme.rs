//! The text that goes with the archive and says what each file is.

/// Every file that an archive can hold, and what it is.
const FILES: [(&str, &str); 15] = [
    (
        "matches.csv",
        "For every row of X its strongest partner in Y (y_row, y_id) and the second strongest. confidence goes from 0 to 1: \
         the share of ten new fits, on other rows, whose match is among the closest 10 % of this one, times the weight \
         that the row keeps. Beyond 400 rows a side, fits are compared on 400 rows and the others take the mean of their \
         nearest. Where networks were chosen, the other networks of the run stand for new fits. confidence is not a \
         probability, and it is empty where there are no such fits. share is the part of the row's mass that its match \
         gets. label_x and label_y are the labels of the two rows. predicted_label_x is what the labels of the strongest \
         partners say about the row of X. retained_mass is the weight that the row keeps where weights are relaxed, 1 on \
         average. no_partner is 1 where it is less than half the median: Y probably has no partner for the row.",
    ),
    ("matches_y.csv", "The same for every row of Y: its strongest partner in X."),
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
        assert!(text.contains("ten new fits") && text.contains("share is the part"), "{text}");
        assert!(text.contains("\nmatches.csv\n") && text.contains("\nrun.json\n"));
        assert!(!text.contains("plan.npy"), "{text}");
    }
}
