//! What a machine without AMD's runtime sees. Where there is one, the same calls must work, and the tests say that they
//! were skipped.

use offload::{Device, DeviceKind, Error, Platform};

fn has_runtime() -> bool {
    let named = std::env::var_os("HOSTCALL_HSA_LIBRARY").is_some();
    let found = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/opt/rocm/lib"]
        .iter()
        .any(|dir| std::path::Path::new(dir).join("libhsa-runtime64.so.1").exists());
    if found || named {
        eprintln!("skipped: this machine has libhsa-runtime64.so.1, or HOSTCALL_HSA_LIBRARY names another");
    }
    found || named
}

#[test]
fn without_the_runtime_an_hsa_device_is_a_typed_error_with_the_remedy() {
    if has_runtime() {
        return;
    }
    let error = Device::hsa(0).unwrap_err();
    assert!(matches!(&error, Error::Unavailable { kind: DeviceKind::Hsa, .. }), "{error:?}");
    let text = error.to_string();
    assert!(text.starts_with("no libhsa-runtime64.so.1 found") && text.contains("apt-get install libhsa-runtime64-1"), "{text}");
    // And again: nothing was left half done.
    assert_eq!(Device::open("hsa:3").unwrap_err().to_string(), text);
}

#[test]
fn the_hsa_platform_is_listed_between_cuda_and_the_simulator_even_where_it_cannot_be_used() {
    let kinds: Vec<DeviceKind> = Platform::all().iter().map(Platform::kind).collect();
    assert_eq!(kinds, [DeviceKind::Cuda, DeviceKind::Hsa, DeviceKind::Sim]);
    let platform = Platform::all().into_iter().find(|p| p.kind() == DeviceKind::Hsa).expect("an HSA platform");
    assert_eq!(platform.name(), "HSA");
    if !has_runtime() {
        assert!(matches!(platform.device_count(), Err(Error::Unavailable { .. })));
        assert!(platform.devices().is_err());
    }
}

#[test]
fn a_device_number_that_is_none_is_refused_before_any_runtime_is_asked() {
    for spec in ["hsa:x", "hsa:-1", "hsa:4294967296"] {
        assert!(matches!(Device::open(spec), Err(Error::Spec { .. })), "{spec}");
    }
}
