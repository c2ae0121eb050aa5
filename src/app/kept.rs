//! What a browser keeps of somebody's work, and how it is offered again. Plain data, tested natively.

use serde::{Deserialize, Serialize};

use super::pairs::Pair;
use super::standing;
use schema::{AlignOptions, Reading, Side, Slot};

/// Written by this form of [`Kept`]; what another has written is left alone until it is old.
pub const FORMAT: u32 = 1;
/// Days after which what nobody came back for is dropped.
const DAYS: f64 = 30.0;
/// How many works are kept at most that nobody has open.
const MOST: usize = 24;
const DAY_MS: f64 = 24.0 * 3600.0 * 1000.0;

/// Everything but the contents of files and what a run has reached, which lie beside it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    pub format: u32,
    /// When it was last changed, in milliseconds since 1970.
    pub when: f64,
    /// The name of the sample that is loaded.
    pub sample: Option<String>,
    pub files: Vec<KeptFile>,
    pub options: AlignOptions,
    pub pairs: Vec<Pair>,
    /// Files of the visitor's own that a sample has taken the place of, and the pairs made between them.
    #[serde(default)]
    pub aside: (Vec<KeptFile>, Vec<Pair>),
    /// The training on those.
    #[serde(default)]
    pub aside_run: Option<KeptRun>,
    pub run: Option<KeptRun>,
}

/// A file and how it is read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KeptFile {
    pub slot: Slot,
    pub name: String,
    /// Where it was; contents of a visitor's own file are kept under this.
    pub url: String,
    pub reading: Reading,
    /// Whether it is one of our own samples, which can be had again.
    pub sample: bool,
}

/// A training that was begun.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KeptRun {
    pub options: AlignOptions,
    pub pairs: Vec<(u32, u32)>,
    /// How much of it was done, from 0 to 1.
    pub share: f64,
    pub done: bool,
    /// Whether it was asked to end early.
    #[serde(default)]
    pub stopped: bool,
    /// Which of its candidates was looked at.
    pub shown: u32,
}

/// What every form has.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Stamp {
    format: u32,
    when: f64,
}

impl Kept {
    /// From what was written, by whichever version. None for what is not ours at all.
    pub fn read(text: &str) -> Option<Self> {
        let Stamp { format, when } = serde_json::from_str(text).ok()?;
        if format == FORMAT
            && let Ok(kept) = serde_json::from_str(text)
        {
            return Some(kept);
        }
        // Not to be used, and not to be taken for a trifle either.
        Some(Self { format: format.max(FORMAT + 1), when, ..Self::default() })
    }

    /// Whether anybody would miss it: files of their own, or a training.
    pub fn is_worth(&self) -> bool {
        self.format == FORMAT && (self.run.is_some() || self.own_files().next().is_some())
    }

    /// All files whose contents have to be kept.
    pub fn own_files(&self) -> impl Iterator<Item = &KeptFile> {
        self.files.iter().chain(&self.aside.0).filter(|file| !file.sample)
    }

    /// The data in words; a sample by its title.
    pub fn data(&self, title: Option<&str>) -> String {
        let name = |slot: Slot| self.files.iter().find(|f| f.slot == slot).map(|f| f.name.clone());
        let files = Side::BOTH.map(|side| name(Slot::Features(side)).or_else(|| name(Slot::Distances(side))));
        standing::data(title, files)
    }

    /// What it is and how far it had come, in a sentence.
    pub fn headline(&self, title: Option<&str>, now: f64) -> String {
        let data = self.data(title);
        let stand = match &self.run {
            Some(run) if run.done => ", aligned".into(),
            Some(run) if run.share < 0.005 => ", training begun".into(),
            Some(run) => format!(", {:.0} % of its training done", 100.0 * run.share.min(1.0)),
            None if !self.aside.0.is_empty() => ", with your own files beside it".into(),
            None => String::new(),
        };
        format!("{data}{stand}, from {}", ago(now - self.when))
    }
}

/// A time that has passed, in words.
fn ago(ms: f64) -> String {
    let many = |count: f64, unit: &str| match count.floor() {
        1.0 => format!("1 {unit} ago"),
        count => format!("{count:.0} {unit}s ago"),
    };
    match ms / 60_000.0 {
        minutes if minutes < 1.0 => "a moment ago".into(),
        minutes if minutes < 60.0 => many(minutes, "minute"),
        minutes if minutes < 60.0 * 24.0 => many(minutes / 60.0, "hour"),
        minutes => many(minutes / 60.0 / 24.0, "day"),
    }
}

/// All that is kept and that no tab has open.
#[derive(Debug, Default)]
pub struct Sorted {
    /// What is offered, the newest first.
    pub offered: Vec<(String, Kept)>,
    /// What nobody would miss, or is too old.
    pub gone: Vec<String>,
    /// What has to go because there are too many, and somebody might miss.
    pub too_many: Vec<(String, Kept)>,
}

/// Sorts all that is kept. `open` says which are open in a tab now.
pub fn sorted(all: Vec<(String, Kept)>, open: impl Fn(&str) -> bool, now: f64) -> Sorted {
    let (mut offered, mut gone) = (Vec::new(), Vec::new());
    for (id, kept) in all.into_iter().filter(|(id, _)| !open(id)) {
        let old = now - kept.when >= DAYS * DAY_MS;
        if kept.is_worth() && !old {
            offered.push((id, kept));
        } else if kept.format == FORMAT || old {
            gone.push(id);
        }
    }
    // What was trained on a sample goes before anybody's own files do.
    let has_own = |kept: &Kept| kept.own_files().next().is_some();
    let newest = |a: &Kept, b: &Kept| b.when.total_cmp(&a.when);
    offered.sort_by(|(_, a), (_, b)| has_own(b).cmp(&has_own(a)).then(newest(a, b)));
    let too_many = offered.split_off(offered.len().min(MOST));
    offered.sort_by(|(_, a), (_, b)| newest(a, b));
    Sorted { offered, gone, too_many }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(slot: Slot, sample: bool) -> KeptFile {
        let name = if sample { "words/x.csv" } else { "mine.csv" };
        KeptFile { slot, name: name.into(), url: "u".into(), reading: Reading::default(), sample }
    }

    fn kept(when: f64, own: bool, run: Option<KeptRun>) -> Kept {
        let files = vec![file(Slot::Features(Side::X), !own), file(Slot::Distances(Side::Y), !own)];
        Kept { format: FORMAT, when, files, run, ..Kept::default() }
    }

    #[test]
    fn what_can_be_had_again_at_once_is_not_offered() {
        assert!(!kept(0.0, false, None).is_worth());
        assert!(kept(0.0, true, None).is_worth() && kept(0.0, false, Some(KeptRun::default())).is_worth());
        let aside = (vec![file(Slot::Features(Side::X), false)], Vec::new());
        let beside = Kept { aside, ..kept(0.0, false, None) };
        assert!(
            beside.is_worth()
                && beside.headline(Some("Words"), 0.0).contains("with your own files beside it")
        );
        assert!(!Kept { format: FORMAT + 1, ..kept(0.0, true, None) }.is_worth(), "of another version");
    }

    #[test]
    fn it_is_told_in_words() {
        let run = KeptRun { share: 0.574, ..KeptRun::default() };
        let now = 200.0 * 60_000.0;
        let half = kept(now - 59.0 * 60_000.0, true, Some(run.clone()));
        assert_eq!(
            half.headline(None, now),
            "mine.csv and mine.csv, 57 % of its training done, from 59 minutes ago"
        );
        let begun = kept(now, true, Some(KeptRun { share: 0.004, ..run.clone() }));
        assert_eq!(begun.headline(None, now), "mine.csv and mine.csv, training begun, from a moment ago");
        let done = kept(0.0, false, Some(KeptRun { done: true, ..run }));
        assert_eq!(done.headline(Some("Words"), now), "the Words sample, aligned, from 3 hours ago");
        assert_eq!(kept(now, true, None).headline(None, now), "mine.csv and mine.csv, from a moment ago");
        assert_eq!((ago(60_000.0), ago(1.2 * DAY_MS)), ("1 minute ago".into(), "1 day ago".into()));
    }

    #[test]
    fn the_newest_come_first_and_the_old_go() {
        let now = 40.0 * DAY_MS;
        let mut all: Vec<(String, Kept)> =
            (0..MOST + 1).map(|i| (format!("{i}"), kept(now - i as f64, true, None))).collect();
        all.push(("sample".into(), kept(now, false, Some(KeptRun::default()))));
        all.push(("old".into(), kept(now - 31.0 * DAY_MS, true, None)));
        all.push(("trifle".into(), kept(now, false, None)));
        let ids = |kept: &[(String, Kept)]| kept.iter().map(|(id, _)| id.clone()).collect::<Vec<_>>();
        let found = sorted(all.clone(), |id| id == "3", now);
        let own = |open: usize| (0..MOST + 1).filter(move |i| *i != open).map(|i| i.to_string());
        assert_eq!(ids(&found.offered), own(3).collect::<Vec<_>>(), "own files stay");
        assert_eq!(ids(&found.too_many), ["sample"]);
        assert_eq!(found.gone, ["old", "trifle"]);
        // Where there is room, it is where its time puts it.
        let found = sorted(all, |id| id == "3" || id == "4", now);
        assert!(found.too_many.is_empty() && ids(&found.offered)[..2].contains(&"sample".to_owned()));
    }

    /// An update or a copy of the page elsewhere may write another form: it is neither offered nor removed while it is new.
    #[test]
    fn what_another_version_has_written_is_left_alone() {
        let now = 40.0 * DAY_MS;
        let newer = format!(r#"{{"format": {}, "when": {now}, "works": [1, 2]}}"#, FORMAT + 1);
        let changed = format!(r#"{{"format": {FORMAT}, "when": {now}, "files": 3}}"#);
        let old = format!(r#"{{"format": {}, "when": 1.0}}"#, FORMAT + 1);
        let read = |text: &str| Kept::read(text).expect("ours");
        let all = [("newer", read(&newer)), ("changed", read(&changed)), ("old", read(&old))];
        let all = all.map(|(id, kept)| (id.to_owned(), kept)).to_vec();
        let found = sorted(all, |_| false, now);
        assert!(found.offered.is_empty() && found.too_many.is_empty());
        assert_eq!(found.gone, ["old"]);
        assert_eq!(Kept::read("something else"), None);
    }

    /// What one visit writes, the next reads.
    #[test]
    fn it_survives_being_written() {
        let whole = Kept { sample: Some("words".into()), ..kept(5.0, true, Some(KeptRun::default())) };
        let text = serde_json::to_string(&whole).expect("written");
        assert_eq!(Kept::read(&text), Some(whole));
    }
}
