//! Images whose form and architecture the caller does not state: PTX, cubins and fatbins.

use std::mem::ManuallyDrop;
use std::sync::Arc;

use super::kernel::FlatKernel;
use super::{Flat, FlatStream};
use crate::backend::{BackendProgram, GlobalInfo};
use crate::cuda::image::{self, Capability, Form};
use crate::cuda::module::{Loaded, Module};
use crate::cuda::raw::cuda;
use crate::cuda::release::Resource;
use crate::error::Error;
use crate::program::Program;

/// A loaded image. Dropping it runs its destructors and unloads it, when no stream has work.
pub struct FlatProgram(ManuallyDrop<Box<Image>>);

/// What is dropped then.
struct Image {
    flat: Flat,
    loaded: Loaded,
    /// Functions to run at the end, by the kernel that calls them.
    destructors: Vec<String>,
}

/// What an image is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Ptx,
    Cubin,
    Fatbin,
}

/// The first bytes of a fatbin.
const FATBIN: [u8; 4] = 0xba55_ed50_u32.to_le_bytes();

/// A fatbin's header: magic, version, size of the header, size of what follows.
fn check_fatbin(bytes: &[u8]) -> Result<(), String> {
    let header = bytes.get(6..8).map(|size| u64::from(u16::from_le_bytes([size[0], size[1]])));
    let content = bytes.get(8..16).and_then(|size| Some(u64::from_le_bytes(size.try_into().ok()?)));
    let whole = header.zip(content).and_then(|(header, content)| header.checked_add(content));
    if whole.is_some_and(|whole| whole <= bytes.len() as u64) { Ok(()) } else { Err("it is cut off".into()) }
}

/// The architecture that an image says it is for: `sm_90`.
fn architecture(what: What, bytes: &[u8]) -> Option<String> {
    match what {
        What::Ptx => {
            let text = std::str::from_utf8(bytes).ok()?;
            let line = text.lines().find_map(|line| line.trim_start().strip_prefix(".target"))?;
            Some(line.split(',').next()?.split_whitespace().next()?.to_owned())
        }
        What::Cubin => {
            let flags = u32::from_le_bytes(bytes.get(48..52)?.try_into().ok()?);
            // The eighth version of the format moved the number.
            let number = if *bytes.get(8)? >= 8 { flags >> 8 & 0xff } else { flags & 0xff };
            Some(format!("sm_{number}"))
        }
        What::Fatbin => None,
    }
}

/// Without a terminating zero, which PTX of a C program may have.
fn without_zero(bytes: &[u8]) -> &[u8] {
    match bytes.split_last() {
        Some((0, text)) if !bytes.starts_with(b"\x7fELF") && !bytes.starts_with(&FATBIN) => text,
        _ => bytes,
    }
}

fn what_is(bytes: &[u8]) -> Result<What, String> {
    if bytes.starts_with(b"\x7fELF") {
        return image::check(Form::Cubin, bytes).map(|()| What::Cubin);
    }
    if bytes.starts_with(&FATBIN) {
        return check_fatbin(bytes).map(|()| What::Fatbin);
    }
    image::check(Form::Ptx, bytes).map(|()| What::Ptx)
}

/// Why an image cannot be loaded on a device of this capability, as far as can be told without the driver.
///
/// # Errors
/// [`Error::Load`].
pub fn check_image(bytes: &[u8], capability: (u32, u32)) -> Result<(), Error> {
    check(without_zero(bytes), capability).map(drop)
}

fn check(bytes: &[u8], (major, minor): (u32, u32)) -> Result<What, Error> {
    let bad = |reason: String| Error::Load { program: "image".into(), reason, log: None };
    let what = what_is(bytes).map_err(|what| bad(format!("the image is damaged, or neither PTX, a cubin nor a fatbin: {what}")))?;
    let form = if what == What::Ptx { Form::Ptx } else { Form::Cubin };
    if let Some(arch) = architecture(what, bytes)
        && image::fit(form, &arch, Capability { major, minor }).is_none()
    {
        return Err(bad(format!("the image is for {arch}, and the device is sm_{major}{minor}")));
    }
    Ok(what)
}

/// The names in an image that begin with `prefix`, each with the priority that it ends in, sorted by it.
fn by_priority(bytes: &[u8], prefix: &str) -> Vec<(u32, String)> {
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.');
    let mut found = Vec::new();
    let mut from = 0;
    // Names are text in PTX, and texts of a table in a cubin.
    while let Some(at) = bytes[from..].windows(prefix.len()).position(|window| window == prefix.as_bytes()) {
        let start = from + at;
        let len = bytes[start..].iter().take_while(|byte| is_name(byte)).count();
        from = start + len;
        // A part of a longer name is the name of something else: a section, a debug entry.
        let whole = start == 0 || !is_name(&bytes[start - 1]);
        let name = String::from_utf8_lossy(&bytes[start..start + len]).into_owned();
        let priority = name.rsplit('_').next().and_then(|number| number.parse().ok());
        if let (true, Some(priority)) = (whole, priority)
            && !found.iter().any(|(_, known)| *known == name)
        {
            found.push((priority, name));
        }
    }
    // Those of one priority stay in the order of the image.
    found.sort_by_key(|(priority, _)| *priority);
    found
}

/// What calls the functions of a list, and where it looks for the list.
struct List {
    prefix: &'static str,
    kernel: &'static str,
    start: &'static str,
    end: &'static str,
}

const CONSTRUCTORS: List =
    List { prefix: "__init_array_object_", kernel: "nvptx$device$init", start: "__init_array_start", end: "__init_array_end" };
const DESTRUCTORS: List =
    List { prefix: "__fini_array_object_", kernel: "nvptx$device$fini", start: "__fini_array_start", end: "__fini_array_end" };

impl Flat {
    /// Loads an image, and runs the constructors that clang put into it.
    ///
    /// # Errors
    /// [`Error::Load`] with the compiler's log, [`Error::DeviceLost`].
    pub fn load(&self, bytes: &[u8]) -> Result<FlatProgram, Error> {
        let bytes = without_zero(bytes);
        let what = check(bytes, self.cuda_info()?.capability)?;
        let arch = architecture(what, bytes).unwrap_or_else(|| "fatbin".to_owned());
        let module = Module::load_bytes(&self.context, "image", &arch, bytes, what == What::Ptx)?;
        cuda(&self.device)?.make_room_for_stacks_of(&module)?;
        let names = |list: &List| by_priority(bytes, list.prefix).into_iter().map(|(_, name)| name).collect::<Vec<_>>();
        // What was not constructed is not destroyed.
        let mut image = Image { flat: self.clone(), loaded: Loaded(Arc::new(module)), destructors: Vec::new() };
        image.run(&CONSTRUCTORS, &names(&CONSTRUCTORS))?;
        image.destructors = names(&DESTRUCTORS);
        Ok(FlatProgram(ManuallyDrop::new(Box::new(image))))
    }

    /// Copies to device memory now, over a stream of its own.
    fn write(&self, to: u64, from: &[u8]) -> Result<(), Error> {
        // SAFETY: callers give addresses and sizes of globals and of memory that they allocated.
        unsafe { self.device.backend().write(to, from) }
    }
}

impl FlatProgram {
    /// Where it is loaded.
    pub fn device(&self) -> &Flat {
        &self.0.flat
    }

    /// The same in the other face, for a server to attach: the program of the `image` that was loaded. It keeps the
    /// module loaded.
    pub fn program(&self, name: &str, image: &[u8]) -> Program {
        Program::of_image(self.0.flat.device.clone(), name.to_owned(), Arc::new(Loaded(self.0.loaded.0.clone())), image)
    }

    /// A kernel; `None` if there is none of this name.
    ///
    /// # Errors
    /// When the driver fails.
    pub fn kernel(&self, name: &str) -> Result<Option<FlatKernel>, Error> {
        self.0.kernel(name)
    }

    /// The names of its kernels, in no order.
    ///
    /// # Errors
    /// When the driver fails.
    pub fn kernel_names(&self) -> Result<Vec<String>, Error> {
        self.0.loaded.0.function_names()
    }

    /// A global; `None` if there is none of this name.
    ///
    /// # Errors
    /// When the driver fails.
    pub fn global(&self, name: &str) -> Result<Option<GlobalInfo>, Error> {
        self.0.loaded.global(name)
    }
}

impl Image {
    fn kernel(&self, name: &str) -> Result<Option<FlatKernel>, Error> {
        self.loaded.0.function(name)?.map(FlatKernel::new).transpose()
    }

    /// Calls functions on the device, by their addresses in a list. Clang makes a kernel that calls those between two
    /// pointers.
    fn run(&self, list: &List, names: &[String]) -> Result<(), Error> {
        let (Some(kernel), Some(start), Some(end)) =
            (self.kernel(list.kernel)?, self.loaded.global(list.start)?, self.loaded.global(list.end)?)
        else {
            return Ok(());
        };
        let mut addresses = Vec::new();
        for name in names {
            let Some(object) = self.loaded.global(name)?.filter(|object| object.size == 8) else { continue };
            let mut address = [0u8; 8];
            // SAFETY: a global of 8 bytes.
            unsafe { self.flat.device.backend().read(object.address, &mut address) }?;
            addresses.extend(address);
        }
        if addresses.is_empty() {
            return Ok(());
        }
        let memory = self.flat.allocate(super::Kind::Device, addresses.len(), 8)?;
        let first = memory.address() as u64;
        self.flat.write(first, &addresses)?;
        self.flat.write(start.address, &first.to_ne_bytes())?;
        self.flat.write(end.address, &(first + addresses.len() as u64).to_ne_bytes())?;
        let stream: FlatStream = self.flat.stream()?;
        // SAFETY: clang's own kernel has no parameters, and calls the functions in the list that was written just now.
        unsafe { stream.launch(&kernel, [1; 3], [1; 3], 0, false, std::ptr::null_mut()) }?;
        stream.synchronize()
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        let names = std::mem::take(&mut self.destructors);
        if !names.is_empty()
            && let Err(error) = self.run(&DESTRUCTORS, &names)
        {
            tracing::debug!(%error, "destructors of an image");
        }
    }
}

impl Drop for FlatProgram {
    fn drop(&mut self) {
        // Kernels of it may be in streams, which use what destructors destroy, and so may copies.
        // SAFETY: nobody uses it after this.
        let image = unsafe { ManuallyDrop::take(&mut self.0) };
        let context = image.flat.context.clone();
        context.release(Resource::Any(image));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PTX: &[u8] = b".version 6.3\n.target sm_70, debug\n.address_size 64\n";

    #[test]
    fn forms_and_architectures_are_read_from_images() {
        assert_eq!(what_is(PTX), Ok(What::Ptx));
        assert_eq!(architecture(What::Ptx, PTX).as_deref(), Some("sm_70"));
        assert!(check_image(PTX, (9, 0)).is_ok());
        let error = check_image(PTX, (6, 1)).unwrap_err().to_string();
        assert!(error.contains("the image is for sm_70, and the device is sm_61"), "{error}");
        let with_zero = [PTX, b"\0"].concat();
        assert!(check_image(&with_zero, (9, 0)).is_ok());
        for bad in [&b""[..], b"hello", b"\x7fELF", &FATBIN, b"\0"] {
            assert!(check_image(bad, (9, 0)).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_fatbin_that_ends_before_its_header_says_is_refused() {
        let mut fatbin = [FATBIN.as_slice(), &1u16.to_le_bytes(), &16u16.to_le_bytes(), &8u64.to_le_bytes(), &[0; 8]].concat();
        assert_eq!(what_is(&fatbin), Ok(What::Fatbin));
        for len in 4..fatbin.len() {
            assert!(what_is(&fatbin[..len]).is_err(), "{len}");
        }
        fatbin[8..16].copy_from_slice(&u64::MAX.to_le_bytes());
        assert!(what_is(&fatbin).is_err());
    }

    #[test]
    fn constructors_are_sorted_by_priority_and_then_by_their_place() {
        let text = b"x __init_array_object_late_1_65535 = f;\n__init_array_object_first_2_101 __init_array_object_b_101\0\
            .text.__init_array_object_no_7\0__init_array_object_late_1_65535 __init_array_object_x";
        let names: Vec<_> = by_priority(text, "__init_array_object_").into_iter().map(|(_, name)| name).collect();
        assert_eq!(names, ["__init_array_object_first_2_101", "__init_array_object_b_101", "__init_array_object_late_1_65535"]);
    }
}
