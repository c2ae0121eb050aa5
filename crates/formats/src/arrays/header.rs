//! The header of NumPy's `.npy` arrays: a Python dictionary with the element type, the order and the shape.

use crate::{Kind, Trouble};

/// What an array's elements are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Element {
    Float(usize),
    Signed(usize),
    Unsigned(usize),
    Bool,
    /// Texts of so many UTF-32 characters.
    Unicode(usize),
    /// Texts of so many bytes.
    Ascii(usize),
}

impl Element {
    /// Bytes of one.
    pub(crate) fn size(self) -> usize {
        match self {
            Self::Float(size) | Self::Signed(size) | Self::Unsigned(size) | Self::Ascii(size) => size,
            Self::Bool => 1,
            Self::Unicode(length) => length.saturating_mul(4),
        }
    }

    pub(crate) fn is_text(self) -> bool {
        matches!(self, Self::Unicode(_) | Self::Ascii(_))
    }

    /// Numbers of which 32 bits may not hold every digit.
    pub(crate) fn is_wide(self) -> bool {
        match self {
            Self::Float(size) => size > 4,
            Self::Signed(size) | Self::Unsigned(size) => size > 2,
            Self::Bool | Self::Unicode(_) | Self::Ascii(_) => false,
        }
    }

    /// Whole numbers and yes-or-no, which may be codes of labels.
    pub(crate) fn is_code(self) -> bool {
        matches!(self, Self::Signed(_) | Self::Unsigned(_) | Self::Bool)
    }

    pub(crate) fn words(self) -> String {
        match self {
            Self::Float(size) => format!("float{}", size * 8),
            Self::Signed(size) => format!("int{}", size * 8),
            Self::Unsigned(size) => format!("uint{}", size * 8),
            Self::Bool => "bool".into(),
            Self::Unicode(_) | Self::Ascii(_) => "text".into(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) element: Element,
    pub(crate) big_endian: bool,
    pub(crate) fortran: bool,
    pub(crate) shape: Vec<usize>,
    /// Where the elements begin.
    pub(crate) body: usize,
}

/// How many bytes a header is read from; NumPy itself refuses much longer ones.
pub(crate) const LONGEST: usize = 64 << 10;

impl Header {
    /// From the first [`LONGEST`] bytes of an array.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, Trouble> {
        if !bytes.starts_with(b"\x93NUMPY") {
            return Err(Trouble::new(
                Kind::Format,
                "This is not a .npy file: it does not begin with NumPy's signature.",
                "Save the array with numpy.save().",
            ));
        }
        // Version 1 has a header length of two bytes, later ones of four.
        let (length, start) = match bytes.get(6..) {
            Some([1, _, a, b, ..]) => (usize::from(u16::from_le_bytes([*a, *b])), 10),
            Some([2 | 3, _, a, b, c, d, ..]) => (u32::from_le_bytes([*a, *b, *c, *d]) as usize, 12),
            Some([version @ (0 | 4..=255), ..]) => {
                return Err(Trouble::new(
                    Kind::Unsupported,
                    format!("The .npy file is of version {version}; Concord reads versions 1 to 3."),
                    "Save the array again with numpy.save().",
                ));
            }
            _ => return Err(short()),
        };
        let body = start + length;
        if body > LONGEST {
            return Err(broken("a header of reasonable length"));
        }
        let header = String::from_utf8_lossy(bytes.get(start..body).ok_or_else(short)?).into_owned();
        let descr = entry(&header, "descr")?;
        if descr.starts_with('[') {
            return Err(Trouble::new(
                Kind::Unsupported,
                "The array is structured: its elements are records with named fields.",
                "Save it as a plain table: numpy.save(file, numpy.lib.recfunctions.structured_to_unstructured(array)).",
            ));
        }
        let descr = quoted(descr).ok_or_else(|| broken("'descr'"))?;
        let shape = shape(entry(&header, "shape")?)?;
        let fortran = entry(&header, "fortran_order")?.starts_with("True");
        Ok(Self { element: element(descr)?, big_endian: descr.starts_with('>'), fortran, shape, body })
    }

    /// Rows and columns. One dimension is one column, none a single number.
    pub(crate) fn table(&self) -> Result<(usize, usize), Trouble> {
        match self.shape[..] {
            [] => Ok((1, 1)),
            [rows] => Ok((rows, 1)),
            [rows, cols] => Ok((rows, cols)),
            _ => Err(Trouble::new(
                Kind::Unsupported,
                format!("The array has {} dimensions {:?}; a table has two.", self.shape.len(), self.shape),
                "Reshape it to one row a point: numpy.save(file, array.reshape(len(array), -1)).",
            )),
        }
    }
}

fn short() -> Trouble {
    Trouble::new(Kind::Truncated, "The .npy file ends within its header.", "Copy or download the file again.")
}

pub(crate) fn broken(what: &str) -> Trouble {
    Trouble::new(
        Kind::Broken,
        format!("The .npy header cannot be read (looking for {what})."),
        "Save the array again with numpy.save().",
    )
}

/// What follows `'key':` in the header.
fn entry<'h>(header: &'h str, key: &str) -> Result<&'h str, Trouble> {
    let missing = || broken(&format!("'{key}'"));
    let (_, after) = header.split_once(&format!("'{key}'")).ok_or_else(missing)?;
    Ok(after.trim_start().strip_prefix(':').ok_or_else(missing)?.trim_start())
}

fn quoted(text: &str) -> Option<&str> {
    text.strip_prefix('\'')?.split('\'').next()
}

fn shape(text: &str) -> Result<Vec<usize>, Trouble> {
    let inner = text.strip_prefix('(').and_then(|t| t.split_once(')')).ok_or_else(|| broken("'shape'"))?.0;
    inner
        .split(',')
        .map(str::trim)
        .filter(|size| !size.is_empty())
        .map(|size| size.trim_end_matches('L').parse().map_err(|_| broken("'shape'")))
        .collect()
}

/// For types such as `<f4`: byte order, kind, size.
fn element(descr: &str) -> Result<Element, Trouble> {
    let plain = descr.trim_start_matches(['<', '>', '|', '=']);
    let refuse = |what: &str, fix: &str| Err(Trouble::new(Kind::Unsupported, what, fix));
    let convert = "Save it as numbers: numpy.save(file, array.astype('float32')).";
    let size = plain.get(1..).and_then(|size| size.parse::<usize>().ok());
    match (plain.as_bytes().first(), size) {
        (Some(b'O'), _) => refuse(
            "The array holds Python objects, which are stored as a pickle; reading one could run any program (NumPy's allow_pickle=False).",
            "Convert it before saving: numpy.save(file, numpy.array(array.tolist(), dtype='float32')); texts become numpy.array(array, dtype=str).",
        ),
        (Some(b'c'), _) => refuse(
            "The array holds complex numbers; points have real coordinates.",
            "Save real and imaginary parts as columns: numpy.hstack([array.real, array.imag]).",
        ),
        (Some(b'M' | b'm'), _) => refuse("The array holds dates or times.", convert),
        (Some(b'V'), _) => refuse("The array holds raw bytes of no known meaning.", convert),
        (Some(b'f'), Some(size @ (2 | 4 | 8))) => Ok(Element::Float(size)),
        (Some(b'f'), _) => {
            refuse("The array holds floats longer than 64 bits, which differ between machines.", convert)
        }
        (Some(b'i'), Some(size @ (1 | 2 | 4 | 8))) => Ok(Element::Signed(size)),
        (Some(b'u'), Some(size @ (1 | 2 | 4 | 8))) => Ok(Element::Unsigned(size)),
        (Some(b'b'), Some(1)) => Ok(Element::Bool),
        (Some(b'U'), Some(length)) if length < LONGEST => Ok(Element::Unicode(length)),
        (Some(b'S' | b'a'), Some(length)) if length < LONGEST => Ok(Element::Ascii(length)),
        _ => refuse(&format!("The array holds '{descr}' elements, which Concord does not know."), convert),
    }
}
