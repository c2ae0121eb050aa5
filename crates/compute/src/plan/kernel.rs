//! What a kernel is: a WGSL source and a Rust twin that agree on bindings and parameters.

use super::Call;

/// How a kernel uses a binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// `var<storage, read>`
    Read,
    /// `var<storage, read_write>`
    Write,
}

/// The type of a buffer's elements. Everything is 32 bits wide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elem {
    F32,
    U32,
}

/// One storage binding: `@group(0) @binding(i + 1)` in declaration order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binding {
    pub name: &'static str,
    pub access: Access,
    pub elem: Elem,
}

impl Binding {
    pub const fn read(name: &'static str) -> Self {
        Self { name, access: Access::Read, elem: Elem::F32 }
    }

    pub const fn write(name: &'static str) -> Self {
        Self { name, access: Access::Write, elem: Elem::F32 }
    }

    /// The same binding with integer elements.
    pub const fn u32(self) -> Self {
        Self { elem: Elem::U32, ..self }
    }
}

/// A member of a kernel's uniform block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    pub name: &'static str,
    pub elem: Elem,
}

/// A kernel's uniform block: plain 32-bit scalars, the same names in the same order as in its WGSL
/// (a test compares them). Made by the `params!` macro.
pub trait Params: bytemuck::Pod {
    const FIELDS: &'static [Field];
}

/// A kernel, registered once.
pub struct Kernel {
    /// The stem of `shaders/NAME.wgsl` and of `src/kernels/NAME.rs`.
    pub name: &'static str,
    /// One line for the diagnostics page.
    pub summary: &'static str,
    /// The complete source, shared pieces included.
    pub wgsl: &'static str,
    pub bindings: &'static [Binding],
    pub params: &'static [Field],
    /// Names of the `override` constants, all `u32`.
    pub constants: &'static [&'static str],
    /// Does on the CPU, for the whole grid, what the WGSL does.
    pub twin: fn(Call<'_>),
}

impl PartialEq for Kernel {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl std::fmt::Debug for Kernel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// Declares a kernel's uniform block; field types are `u32` or `f32`.
macro_rules! params {
    (@elem u32) => { $crate::plan::Elem::U32 };
    (@elem f32) => { $crate::plan::Elem::F32 };
    (struct $name:ident { $($field:ident : $ty:ident),+ $(,)? }) => {
        #[repr(C)]
        #[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
        pub(crate) struct $name { $(pub(crate) $field: $ty),+ }

        impl $crate::plan::Params for $name {
            const FIELDS: &'static [$crate::plan::Field] = &[
                $($crate::plan::Field {
                    name: stringify!($field),
                    elem: $crate::plan::params!(@elem $ty),
                }),+
            ];
        }
    };
}
pub(crate) use params;
