//! What can go wrong between a plan and a device, in words for the person in front of it.

/// Everything an executor can refuse or suffer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ExecError {
    #[error("This needs {} for {what}, but {device} allows {}.", size(*needed), size(*limit))]
    TooLarge { what: String, needed: u64, limit: u64, device: String },

    #[error("{device} has too little free memory: {} are needed.", size(*needed))]
    OutOfMemory { needed: u64, device: String },

    #[error("This computation is larger than {device} can take in one piece.")]
    LimitExceeded { device: String, details: String },

    /// The device is gone, or `silent`: it was given up because it no longer answered.
    #[error("The graphics device {}.", if *silent { "stopped answering" } else { "was lost" })]
    DeviceLost { details: String, silent: bool },

    #[error("The graphics device could not carry out a computation.")]
    Rejected { details: String },

    #[error("WebGPU cannot be used: {why}.")]
    Unavailable { why: String },
}

impl ExecError {
    /// What the person can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::TooLarge { .. } | Self::LimitExceeded { .. } => "Use fewer points.",
            Self::OutOfMemory { .. } => "Close other tabs and programs, or use fewer points.",
            Self::DeviceLost { silent: true, .. } => {
                "The CPU computes from now on and nothing you loaded is lost; start the computation again. \
                 Reload the page to try the graphics device again."
            }
            Self::DeviceLost { .. } => {
                "A new connection has been made and nothing you loaded is lost; start the computation again. \
                 If this repeats, add ?executor=cpu to the address."
            }
            Self::Rejected { .. } => {
                "Add ?executor=cpu to the address to go on without the graphics device, and please report this."
            }
            Self::Unavailable { .. } => "Everything also works on the CPU.",
        }
    }

    /// For whoever mends it; may be empty.
    pub fn details(&self) -> &str {
        match self {
            Self::LimitExceeded { details, .. }
            | Self::DeviceLost { details, .. }
            | Self::Rejected { details } => details,
            _ => "",
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
