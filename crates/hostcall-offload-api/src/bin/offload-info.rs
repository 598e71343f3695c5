//! `offload-info`: which platforms and devices the Offload API sees, and what they say of themselves.
//!
//! Text, or JSON with `--json`. A platform without devices is listed with the reason.

use std::ffi::c_void;
use std::process::ExitCode;
use std::ptr;

use liboffload::library::{Library, platform_reports};
use liboffload::{entry, sys};
use serde_json::{Map, Value, json};

/// How the value of a property is read.
#[derive(Clone, Copy)]
enum Shape {
    Text,
    U32,
    U64,
    Bool,
    Dimensions,
    DeviceType,
    Arithmetic,
}

/// The properties, by the names that they have here.
fn properties() -> Vec<(&'static str, sys::ol_device_info_t, Shape)> {
    use Shape::*;
    use sys::ol_device_info_t as D;
    vec![
        ("type", D::OL_DEVICE_INFO_TYPE, DeviceType),
        ("name", D::OL_DEVICE_INFO_NAME, Text),
        ("product_name", D::OL_DEVICE_INFO_PRODUCT_NAME, Text),
        ("uid", D::OL_DEVICE_INFO_UID, Text),
        ("vendor", D::OL_DEVICE_INFO_VENDOR, Text),
        ("vendor_id", D::OL_DEVICE_INFO_VENDOR_ID, U32),
        ("driver_version", D::OL_DEVICE_INFO_DRIVER_VERSION, Text),
        ("compute_units", D::OL_DEVICE_INFO_NUM_COMPUTE_UNITS, U32),
        ("clock_mhz", D::OL_DEVICE_INFO_MAX_CLOCK_FREQUENCY, U32),
        ("memory_clock_mhz", D::OL_DEVICE_INFO_MEMORY_CLOCK_RATE, U32),
        ("memory_bytes", D::OL_DEVICE_INFO_GLOBAL_MEM_SIZE, U64),
        ("max_allocation_bytes", D::OL_DEVICE_INFO_MAX_MEM_ALLOC_SIZE, U64),
        ("local_memory_bytes", D::OL_DEVICE_INFO_WORK_GROUP_LOCAL_MEM_SIZE, U64),
        ("max_group_size", D::OL_DEVICE_INFO_MAX_WORK_GROUP_SIZE, U32),
        ("max_group_size_per_dimension", D::OL_DEVICE_INFO_MAX_WORK_GROUP_SIZE_PER_DIMENSION, Dimensions),
        ("max_work_size", D::OL_DEVICE_INFO_MAX_WORK_SIZE, U32),
        ("max_work_size_per_dimension", D::OL_DEVICE_INFO_MAX_WORK_SIZE_PER_DIMENSION, Dimensions),
        ("address_bits", D::OL_DEVICE_INFO_ADDRESS_BITS, U32),
        ("single_precision", D::OL_DEVICE_INFO_SINGLE_FP_CONFIG, Arithmetic),
        ("double_precision", D::OL_DEVICE_INFO_DOUBLE_FP_CONFIG, Arithmetic),
        ("half_precision", D::OL_DEVICE_INFO_HALF_FP_CONFIG, Arithmetic),
        ("vector_width_char", D::OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_CHAR, U32),
        ("vector_width_float", D::OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_FLOAT, U32),
        ("vector_width_double", D::OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_DOUBLE, U32),
        ("cooperative_launches", D::OL_DEVICE_INFO_COOPERATIVE_LAUNCH_SUPPORT, Bool),
    ]
}

/// A result as Rust has it.
fn check(result: sys::ol_result_t) -> Result<(), liboffload::Error> {
    // SAFETY: a result of the library.
    unsafe { liboffload::runtime::safe::result(result) }
}

/// A property's value, or null with the reason if the driver does not tell it.
fn value(device: sys::ol_device_handle_t, name: sys::ol_device_info_t, shape: Shape) -> Result<Value, liboffload::Error> {
    let mut size = 0;
    // SAFETY: a handle of the library, and room for a number.
    check(unsafe { entry::get_device_info_size::<Library>(device, name, &raw mut size, ptr::null()) })?;
    let mut bytes = vec![0u8; size];
    // SAFETY: as above, and room for `size` bytes.
    check(unsafe { entry::get_device_info::<Library>(device, name, size, bytes.as_mut_ptr().cast(), ptr::null()) })?;
    let words: Vec<u32> = bytes.chunks_exact(4).map(|word| u32::from_ne_bytes([word[0], word[1], word[2], word[3]])).collect();
    let word = words.first().copied().unwrap_or_default();
    Ok(match shape {
        Shape::Text => json!(liboffload::runtime::safe::text(&bytes)),
        Shape::U32 => json!(word),
        Shape::U64 => json!(bytes.try_into().map_or(0, u64::from_ne_bytes)),
        Shape::Bool => json!(bytes.first().is_some_and(|byte| *byte != 0)),
        Shape::Dimensions => json!(words),
        Shape::DeviceType => match sys::ol_device_type_t(word) {
            sys::ol_device_type_t::OL_DEVICE_TYPE_GPU => json!("GPU"),
            sys::ol_device_type_t::OL_DEVICE_TYPE_HOST => json!("HOST"),
            other => json!(other.0),
        },
        Shape::Arithmetic => json!(arithmetic(word)),
    })
}

fn arithmetic(flags: u32) -> Vec<&'static str> {
    use sys::ol_device_fp_capability_flag_t as F;
    let names = [
        (F::OL_DEVICE_FP_CAPABILITY_FLAG_CORRECTLY_ROUNDED_DIVIDE_SQRT, "correctly rounded division and square root"),
        (F::OL_DEVICE_FP_CAPABILITY_FLAG_ROUND_TO_NEAREST, "rounds to nearest"),
        (F::OL_DEVICE_FP_CAPABILITY_FLAG_ROUND_TO_ZERO, "rounds to zero"),
        (F::OL_DEVICE_FP_CAPABILITY_FLAG_ROUND_TO_INF, "rounds to infinity"),
        (F::OL_DEVICE_FP_CAPABILITY_FLAG_INF_NAN, "infinities and NaNs"),
        (F::OL_DEVICE_FP_CAPABILITY_FLAG_DENORM, "subnormal numbers"),
        (F::OL_DEVICE_FP_CAPABILITY_FLAG_FMA, "fused multiply-add"),
        (F::OL_DEVICE_FP_CAPABILITY_FLAG_SOFT_FLOAT, "in software"),
    ];
    names.iter().filter(|(flag, _)| flags & flag.0 != 0).map(|(_, name)| *name).collect()
}

unsafe extern "C" fn collect(device: sys::ol_device_handle_t, data: *mut c_void) -> bool {
    // SAFETY: `data` is the list that `main` passed.
    unsafe { &mut *data.cast::<Vec<sys::ol_device_handle_t>>() }.push(device);
    true
}

fn platform_name(device: sys::ol_device_handle_t) -> Result<String, liboffload::Error> {
    let mut platform: sys::ol_platform_handle_t = ptr::null_mut();
    let (size, to) = (size_of_val(&platform), (&raw mut platform).cast());
    // SAFETY: a handle of the library, and room for a handle.
    check(unsafe { entry::get_device_info::<Library>(device, sys::ol_device_info_t::OL_DEVICE_INFO_PLATFORM, size, to, ptr::null()) })?;
    let (mut name, what) = ([0u8; 256], sys::ol_platform_info_t::OL_PLATFORM_INFO_NAME);
    // SAFETY: as above, and room for `name`.
    check(unsafe { entry::get_platform_info::<Library>(platform, what, name.len(), name.as_mut_ptr().cast(), ptr::null()) })?;
    Ok(liboffload::runtime::safe::text(&name))
}

/// Everything, as JSON.
fn report() -> Result<Value, liboffload::Error> {
    // SAFETY: no arguments.
    check(unsafe { entry::init::<Library>(ptr::null(), ptr::null()) })?;
    let mut devices: Vec<sys::ol_device_handle_t> = Vec::new();
    // SAFETY: `collect` takes the list that is passed.
    check(unsafe { entry::iterate_devices::<Library>(Some(collect), (&raw mut devices).cast(), ptr::null()) })?;
    let mut described = Vec::new();
    for device in devices {
        let mut fields = Map::new();
        fields.insert("platform".into(), json!(platform_name(device)?));
        for (name, property, shape) in properties() {
            // A device whose driver fails is listed with what it says.
            fields.insert(name.into(), value(device, property, shape).unwrap_or_else(|error| json!({ "not_told": error.details() })));
        }
        described.push(Value::Object(fields));
    }
    let platforms = platform_reports().into_iter().map(|platform| match platform.devices {
        Ok(count) => json!({ "name": platform.name, "devices": count }),
        Err(reason) => json!({ "name": platform.name, "devices": 0, "reason": reason }),
    });
    let all = json!({ "platforms": platforms.collect::<Vec<_>>(), "devices": described });
    // SAFETY: no arguments.
    check(unsafe { entry::shut_down::<Library>(ptr::null()) })?;
    Ok(all)
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(text).collect::<Vec<_>>().join(", "),
        Value::Object(fields) => fields.values().map(text).collect(),
        other => other.to_string(),
    }
}

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let as_json = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => false,
        ["--json"] => true,
        _ => {
            eprintln!("usage: offload-info [--json]");
            return ExitCode::from(2);
        }
    };
    let all = match report() {
        Ok(all) => all,
        Err(error) => {
            eprintln!("offload-info: {error}");
            return ExitCode::FAILURE;
        }
    };
    if as_json {
        println!("{all:#}");
        return ExitCode::SUCCESS;
    }
    for platform in all["platforms"].as_array().into_iter().flatten() {
        let reason = platform.get("reason").map(|reason| format!(": {}", text(reason))).unwrap_or_default();
        println!("platform {}: {} devices{reason}", text(&platform["name"]), platform["devices"]);
    }
    for (number, device) in all["devices"].as_array().into_iter().flatten().enumerate() {
        println!("\ndevice {number}");
        for (name, value) in device.as_object().into_iter().flatten() {
            println!("  {:<30} {}", name.replace('_', " "), text(value));
        }
    }
    ExitCode::SUCCESS
}
