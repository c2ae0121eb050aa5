//! Every shader is valid, has its twin, and agrees with it about bindings, parameters and constants.
//! No GPU is needed.
#![cfg(not(target_arch = "wasm32"))]

use std::collections::BTreeSet;
use std::path::Path;

use compute::kernels;
use compute::plan::{Access, Elem, Kernel};
use naga::{AddressSpace, Module, Scalar, StorageAccess, TypeInner};

fn stems(folder: &str, extension: &str) -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    entries
        .map(|entry| entry.expect("a folder entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == extension))
        .map(|path| path.file_stem().expect("a name").to_string_lossy().into_owned())
        .collect()
}

fn parse(kernel: &Kernel) -> Module {
    naga::front::wgsl::parse_str(kernel.wgsl)
        .unwrap_or_else(|e| panic!("{}: {}", kernel.name, e.emit_to_string(kernel.wgsl)))
}

#[test]
fn shaders_twins_and_registry_name_the_same_kernels() {
    let shaders = stems("shaders", "wgsl");
    let mut twins = stems("crates/compute/src/kernels", "rs");
    twins.remove("mod");
    let registry: BTreeSet<String> = kernels::ALL.iter().map(|e| e.kernel.name.to_owned()).collect();
    assert_eq!(shaders, twins, "shaders/*.wgsl against crates/compute/src/kernels/*.rs");
    assert_eq!(shaders, registry, "shaders/*.wgsl against kernels::ALL");
    assert_eq!(registry.len(), kernels::ALL.len(), "a kernel is registered once");
}

#[test]
fn shared_pieces_are_all_used() {
    let used: String = kernels::ALL.iter().map(|e| e.kernel.wgsl).collect();
    for stem in stems("shaders/shared", "wgsl") {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("shaders/shared/{stem}.wgsl"));
        let text = std::fs::read_to_string(path).expect("readable");
        assert!(used.contains(&text), "no kernel includes shared/{stem}.wgsl");
    }
}

#[test]
fn every_shader_is_valid() {
    for entry in kernels::ALL {
        let module = parse(entry.kernel);
        let mut validator = naga::valid::Validator::new(
            naga::valid::ValidationFlags::all(),
            naga::valid::Capabilities::empty(), // what every WebGPU device has
        );
        validator
            .validate(&module)
            .unwrap_or_else(|e| panic!("{}: {}", entry.kernel.name, e.emit_to_string(entry.kernel.wgsl)));
    }
}

/// Safari compiles them without a word and gives them no room.
#[test]
fn no_array_is_sized_by_an_override() {
    for entry in kernels::ALL {
        for (_, ty) in parse(entry.kernel).types.iter() {
            if let TypeInner::Array { size, .. } = ty.inner {
                assert!(!matches!(size, naga::ArraySize::Pending(_)), "{}", entry.kernel.name);
            }
        }
    }
}

#[test]
fn bindings_are_those_the_twin_declares() {
    for entry in kernels::ALL {
        let module = parse(entry.kernel);
        let mut found = Vec::new();
        for (_, var) in module.global_variables.iter() {
            let Some(at) = &var.binding else { continue };
            assert_eq!(at.group, 0, "{}", entry.kernel.name);
            let AddressSpace::Storage { access } = var.space else {
                assert_eq!((at.binding, var.space), (0, AddressSpace::Uniform), "{}", entry.kernel.name);
                continue;
            };
            let TypeInner::Array { base, .. } = module.types[var.ty].inner else {
                panic!("{}: a storage binding that is no array", entry.kernel.name)
            };
            let access = if access.contains(StorageAccess::STORE) { Access::Write } else { Access::Read };
            let elem = elem(&module.types[base].inner);
            found.push((at.binding, var.name.clone().unwrap_or_default(), access, elem));
        }
        found.sort_by_key(|(binding, ..)| *binding);
        let declared: Vec<_> =
            (1..).zip(entry.kernel.bindings).map(|(i, b)| (i, b.name.to_owned(), b.access, b.elem)).collect();
        assert_eq!(found, declared, "{}", entry.kernel.name);
        assert!(found.len() <= 8, "{}: more storage buffers than every device has", entry.kernel.name);
    }
}

#[test]
fn parameters_are_those_the_twin_declares() {
    for entry in kernels::ALL {
        let module = parse(entry.kernel);
        let (_, ty) = module
            .types
            .iter()
            .find(|(_, ty)| ty.name.as_deref() == Some("Params"))
            .unwrap_or_else(|| panic!("{}: no struct Params", entry.kernel.name));
        let TypeInner::Struct { members, span } = &ty.inner else { panic!("Params is no struct") };
        let found: Vec<_> = members
            .iter()
            .map(|m| (m.name.clone().unwrap_or_default(), elem(&module.types[m.ty].inner)))
            .collect();
        let declared: Vec<_> = entry.kernel.params.iter().map(|f| (f.name.to_owned(), f.elem)).collect();
        assert_eq!(found, declared, "{}", entry.kernel.name);
        assert_eq!(*span as usize, 4 * declared.len(), "{}: padding", entry.kernel.name);
    }
}

#[test]
fn constants_are_those_the_twin_declares() {
    for entry in kernels::ALL {
        let module = parse(entry.kernel);
        // Those with a value are computed from the others and not set from outside.
        let found: Vec<_> = module
            .overrides
            .iter()
            .filter(|(_, o)| o.init.is_none())
            .map(|(_, o)| o.name.clone().unwrap_or_default())
            .collect();
        assert_eq!(found, entry.kernel.constants, "{}", entry.kernel.name);
    }
}

fn elem(inner: &TypeInner) -> Elem {
    match inner {
        TypeInner::Scalar(scalar) if *scalar == Scalar::F32 => Elem::F32,
        TypeInner::Scalar(scalar) if *scalar == Scalar::U32 => Elem::U32,
        other => panic!("neither f32 nor u32: {other:?}"),
    }
}
