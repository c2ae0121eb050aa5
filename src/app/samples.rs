//! The data sets that come with the page, so that a visitor can see what it does before bringing any.

use schema::{Side, Slot};

/// One pair of data sets.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Its folder, and its name for automation: `sample-…`.
    pub name: &'static str,
    pub title: &'static str,
    /// What it shows.
    pub about: &'static str,
    /// Where it comes from, and under which licence.
    pub provenance: &'static str,
    /// Whether there are further points that no encoder has seen.
    pub unseen: bool,
}

pub const ALL: &[Sample] = &[
    Sample {
        name: "words",
        title: "Words",
        about: "351 English words as two language models see them, in different coordinates. \
                Only the geometry of meaning tells which vector is which word.",
        provenance: "Word list written for this sample (CC0); vectors by all-MiniLM-L6-v2 and Universal Sentence \
                     Encoder lite (both Apache-2.0), reduced to 24 dimensions a side.",
        unseen: false,
    },
    Sample {
        name: "digits",
        title: "Digits",
        about: "600 handwritten digits, and the same pictures scrambled by an unknown rotation with noise. \
                1197 further pairs show that the encoders work on points they have never seen.",
        provenance: "UCI Optdigits (Alpaydin and Kaynak 1998), CC BY 4.0; changed: transform, noise, shuffling.",
        unseen: true,
    },
    Sample {
        name: "assays",
        title: "Cells",
        about: "Simulated cells on a branching path, measured by two different assays; the sides overlap only in part. \
                320 cells are in both, 280 in one alone.",
        provenance: "Synthetic, made for this sample, no real cells (CC0).",
        unseen: false,
    },
    Sample {
        name: "swiss",
        title: "Swiss roll",
        about: "A rolled-up sheet in three dimensions and the flat sheet, drawn independently. \
                Distances through the air mislead; geodesic distances along the sheet do not.",
        provenance: "Synthetic, made for this sample (CC0).",
        unseen: false,
    },
];

impl Sample {
    /// Its files and what each is used as.
    pub fn files(&self) -> [(Slot, &'static str); 5] {
        [
            (Slot::Features(Side::X), "x.npy"),
            (Slot::Features(Side::Y), "y.npy"),
            (Slot::Labels(Side::X), "labels_x.csv"),
            (Slot::Labels(Side::Y), "labels_y.csv"),
            (Slot::Truth, "pairs.csv"),
        ]
    }

    /// Its encoders, trained by `cargo xtask samples`.
    pub const MODEL: &'static str = "model.safetensors";

    /// The files of its unseen points.
    pub fn new_files(&self) -> Vec<(Slot, &'static str)> {
        if self.unseen {
            vec![
                (Slot::New(Side::X), "x_new.npy"),
                (Slot::New(Side::Y), "y_new.npy"),
                (Slot::NewLabels(Side::X), "labels_x_new.csv"),
                (Slot::NewLabels(Side::Y), "labels_y_new.csv"),
                (Slot::NewTruth, "pairs_new.csv"),
            ]
        } else {
            Vec::new()
        }
    }
}
