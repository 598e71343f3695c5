//! What a machine without an NVIDIA driver sees. Where there is one, the same calls must work, and the tests say that
//! they were skipped.

use offload::{Device, DeviceKind, Error, Platform};

fn has_driver() -> bool {
    let found = ["/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib/wsl/lib", "/usr/local/nvidia/lib64"]
        .iter()
        .any(|dir| std::path::Path::new(dir).join("libcuda.so.1").exists());
    if found {
        eprintln!("skipped: this machine has libcuda.so.1");
    }
    found
}

#[test]
fn without_libcuda_a_cuda_device_is_a_typed_error_with_the_remedy() {
    if has_driver() {
        return;
    }
    let error = Device::cuda(0).unwrap_err();
    assert!(matches!(&error, Error::Unavailable { kind: DeviceKind::Cuda, .. }), "{error:?}");
    let text = error.to_string();
    assert!(text.starts_with("no libcuda.so.1 found") && text.contains("install the NVIDIA driver"), "{text}");
    // And again: nothing was left half done.
    assert_eq!(Device::open("cuda:3").unwrap_err().to_string(), text);
}

#[test]
fn the_cuda_platform_is_listed_even_where_it_cannot_be_used() {
    let platform = Platform::all().into_iter().find(|p| p.kind() == DeviceKind::Cuda).expect("a CUDA platform");
    if !has_driver() {
        assert!(matches!(platform.device_count(), Err(Error::Unavailable { .. })));
        assert!(platform.devices().is_err());
    }
}

#[test]
fn the_default_device_says_that_there_was_no_libcuda() {
    if has_driver() {
        return;
    }
    let (device, why) = Device::choose();
    assert_eq!(device.info().kind, DeviceKind::Sim);
    assert!(why.contains("no libcuda.so.1 found") && why.ends_with("using the simulator"), "{why}");
}

#[test]
fn a_device_number_that_is_none_is_refused_before_any_driver_is_asked() {
    for spec in ["cuda:x", "cuda:-1", "cuda:4294967296"] {
        assert!(matches!(Device::open(spec), Err(Error::Spec { .. })), "{spec}");
    }
}
