//! `--name value` arguments, checked against the names a command knows.

/// The arguments of a command.
pub struct Arguments {
    values: Vec<(String, Option<String>)>,
}

impl Arguments {
    /// Reads `--name value` pairs and lone `--flag`s; anything else is refused, with what there is.
    pub fn read(words: &[String], names: &[&str], flags: &[&str]) -> Result<Self, String> {
        let mut values = Vec::new();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let name = word.strip_prefix("--").unwrap_or(word);
            if flags.contains(&name) {
                values.push((name.to_owned(), None));
            } else if names.contains(&name) {
                let value = words.next().ok_or_else(|| format!("--{name} needs a value"))?;
                values.push((name.to_owned(), Some(value.clone())));
            } else {
                let known =
                    names.iter().map(|n| format!("--{n} …")).chain(flags.iter().map(|f| format!("--{f}")));
                return Err(format!(
                    "'{word}' is not an argument; there are {}",
                    known.collect::<Vec<_>>().join(", ")
                ));
            }
        }
        Ok(Self { values })
    }

    pub fn flag(&self, name: &str) -> bool {
        self.values.iter().any(|(n, _)| n == name)
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.values.iter().rev().find(|(n, _)| n == name)?.1.as_deref()
    }

    pub fn required(&self, name: &str) -> Result<&str, String> {
        self.get(name).ok_or_else(|| format!("--{name} is missing"))
    }

    /// A number, or `default` where it is not given.
    pub fn number(&self, name: &str, default: u64) -> Result<u64, String> {
        let Some(text) = self.get(name) else { return Ok(default) };
        text.parse().map_err(|_| format!("--{name} takes a whole number, not '{text}'"))
    }
}
