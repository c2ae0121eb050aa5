//! What can go wrong between a plan and a device, in words for the person in front of it.

/// Everything an executor can refuse or suffer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ExecError {
    #[error("This needs {} for {what}, but {device} allows {}.", size(*needed), size(*limit))]
    TooLarge { what: String, needed: u64, limit: u64, device: String },

    #[error("{device} ran out of memory while reserving {} for this computation.", size(*needed))]
    OutOfMemory { needed: u64, device: String },

    #[error("{what} needs {needed} {unit}, but {device} allows {limit}.")]
    LimitExceeded { what: String, unit: &'static str, needed: u64, limit: u64, device: String },

    #[error("The graphics device was lost: {reason}.")]
    DeviceLost { reason: String },

    #[error("The graphics device rejected a computation: {detail}")]
    Rejected { detail: String },

    #[error("WebGPU was asked for, but {why}.")]
    Unavailable { why: String },
}

impl ExecError {
    /// What the person can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::TooLarge { .. } | Self::OutOfMemory { .. } | Self::LimitExceeded { .. } => {
                "Use fewer points, or close other tabs that use the graphics device."
            }
            Self::DeviceLost { .. } => {
                "Start again; it goes on with a new device. If this repeats, add ?executor=cpu to the address."
            }
            Self::Rejected { .. } => {
                "Add ?executor=cpu to the address to go on without the graphics device, and please report this."
            }
            Self::Unavailable { .. } => {
                "Remove ?executor=gpu from the address: everything also works on the CPU."
            }
        }
    }
}

/// A number of bytes as a person would say it.
fn size(bytes: u64) -> String {
    let bytes = bytes as f64;
    match bytes {
        b if b >= 1e9 => format!("{:.2} GB", b / 1e9),
        b if b >= 1e6 => format!("{:.1} MB", b / 1e6),
        b if b >= 1e3 => format!("{:.1} kB", b / 1e3),
        b => format!("{b} bytes"),
    }
}
