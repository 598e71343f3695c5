//! The arguments of a launch, as bytes that a back end can pass on.

use std::any::TypeId;
use std::fmt;
use std::sync::Arc;

use hostcall_abi::Plain;
use hostcall_abi::descriptor::{Element, KernelParams};

use crate::backend::BackendMemory;
use crate::device::Device;
use crate::error::Error;
use crate::memory::{HostMemory, Memory};
use crate::program::Program;

/// The arguments of a launch, in the order of the kernel's parameters.
///
/// ```
/// use offload::Args;
/// let args = Args::new().value(3u32).value(1.5f32).address(0x1000);
/// assert_eq!(args.len(), 3);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Args {
    params: Params,
    slices: Vec<Slice>,
}

/// What is known of an argument that is memory.
#[derive(Clone, Debug)]
struct Slice {
    /// Which argument its address is.
    index: usize,
    element: Element,
    device: Device,
}

impl Args {
    /// No arguments.
    pub fn new() -> Self {
        Self::default()
    }

    /// A plain value.
    #[must_use]
    pub fn value<T: Plain>(mut self, value: T) -> Self {
        // SAFETY: `T: Plain` has no padding, so all its `size_of::<T>()` bytes are initialised; the slice ends with
        // this statement.
        self.params.push(unsafe { std::slice::from_raw_parts(std::ptr::from_ref(&value).cast::<u8>(), size_of::<T>()) });
        self
    }

    /// A value as the bytes that it has in memory: for faces that are not told types.
    #[must_use]
    pub fn bytes(mut self, bytes: &[u8]) -> Self {
        self.params.push(bytes);
        self
    }

    /// Device memory as a slice, `&[T]` or `&mut [T]` in the kernel: two parameters, address and length. In the
    /// simulator the launch keeps the memory until its kernel has ended.
    #[must_use]
    pub fn slice<T: Plain>(mut self, memory: &Memory<T>) -> Self {
        self.note::<T>(memory.device(), memory.backend());
        self.address(memory.address()).value(memory.len() as u64)
    }

    /// Device-visible host memory as a slice: two parameters, address and length. In the simulator the launch keeps it,
    /// as for [`Args::slice`].
    #[must_use]
    pub fn host_slice<T: Plain>(mut self, memory: &HostMemory<T>) -> Self {
        self.note::<T>(memory.device(), memory.backend());
        self.address(memory.address()).value(memory.len() as u64)
    }

    /// An address: `*const T` or `*mut T` in the kernel.
    #[must_use]
    pub fn address(self, address: u64) -> Self {
        self.value(address)
    }

    /// How many parameters these are.
    pub fn len(&self) -> usize {
        self.params.list.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.params.list.is_empty()
    }

    /// The next argument is memory of this device.
    fn note<T: Plain>(&mut self, device: &Device, memory: &Arc<dyn BackendMemory>) {
        self.params.kept.memory.push(memory.clone());
        self.slices.push(Slice { index: self.len(), element: element::<T>(), device: device.clone() });
    }

    /// Checks that memory among the arguments is of the device that is to use it.
    pub(crate) fn check_device(&self, kernel: &str, device: &Device) -> Result<(), Error> {
        match self.slices.iter().find(|slice| !slice.device.is_same(device)) {
            Some(slice) => Err(Error::ArgumentDevice { kernel: kernel.to_owned(), index: slice.index }),
            None => Ok(()),
        }
    }

    /// Checks the arguments against the kernel's own table.
    pub(crate) fn check(&self, kernel: &str, table: &KernelParams) -> Result<(), Error> {
        if table.count as usize != self.len() {
            return Err(Error::ArgumentCount { kernel: kernel.to_owned(), expected: table.count as usize, given: self.len() });
        }
        for (index, (&(_, given), &entry)) in self.params.list.iter().zip(&table.sizes).enumerate() {
            let (expected, _) = KernelParams::entry(entry);
            if given != expected as usize {
                return Err(Error::ArgumentSize { kernel: kernel.to_owned(), index, expected: expected as usize, given });
            }
        }
        for &Slice { index, element: given, .. } in &self.slices {
            let (_, expected) = KernelParams::entry(table.sizes[index]);
            if !expected.takes(given) {
                return Err(Error::ArgumentElement { kernel: kernel.to_owned(), index, expected, given });
            }
        }
        Ok(())
    }

    /// Arguments that are laid out already.
    pub(crate) fn laid_out(bytes: &[u8]) -> Self {
        let mut args = Self::default();
        args.params.push(bytes);
        args
    }

    /// The same, for a launch of a kernel of this program.
    pub(crate) fn of(mut self, program: &Program) -> Self {
        self.params.kept.program = Some(program.clone());
        self
    }

    pub(crate) fn params(&self) -> &Params {
        &self.params
    }
}

/// What a kernel uses that its launch knows of: the program with its variables and what they point at, and the memory
/// of slices. A back end whose driver does not keep it keeps this until the kernel has ended.
#[derive(Clone, Default)]
pub struct Kept {
    memory: Vec<Arc<dyn BackendMemory>>,
    program: Option<Program>,
}

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kept").field("memory", &self.memory.len()).field("program", &self.program).finish()
    }
}

/// What a type's elements are to a kernel.
fn element<T: 'static>() -> Element {
    let numbers = [
        (TypeId::of::<u8>(), "u8"),
        (TypeId::of::<u16>(), "u16"),
        (TypeId::of::<u32>(), "u32"),
        (TypeId::of::<u64>(), "u64"),
        (TypeId::of::<u128>(), "u128"),
        (TypeId::of::<usize>(), "usize"),
        (TypeId::of::<i8>(), "i8"),
        (TypeId::of::<i16>(), "i16"),
        (TypeId::of::<i32>(), "i32"),
        (TypeId::of::<i64>(), "i64"),
        (TypeId::of::<i128>(), "i128"),
        (TypeId::of::<isize>(), "isize"),
        (TypeId::of::<f32>(), "f32"),
        (TypeId::of::<f64>(), "f64"),
    ];
    let name = numbers.iter().find(|(id, _)| *id == TypeId::of::<T>()).map_or("", |(_, name)| name);
    Element::new(size_of::<T>(), name)
}

/// Parameters laid out in order by [`KernelParams::place`].
#[derive(Clone, Debug, Default)]
pub struct Params {
    /// 16-byte units, so that the start is aligned for every parameter.
    units: Vec<u128>,
    used: usize,
    /// Offset and size of each.
    list: Vec<(usize, usize)>,
    kept: Kept,
}

impl Params {
    fn push(&mut self, bytes: &[u8]) {
        let at = KernelParams::place(self.used, bytes.len());
        self.used = at + bytes.len();
        self.units.resize(self.used.div_ceil(16), 0);
        // SAFETY: `units` holds `used` bytes from here on, of which `at..used` are `bytes.len()` many; `bytes` is
        // another object.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.units.as_mut_ptr().cast::<u8>().add(at), bytes.len()) };
        self.list.push((at, bytes.len()));
    }

    /// All of them, as laid out; 16-byte aligned.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: `units` holds at least `used` initialised bytes.
        unsafe { std::slice::from_raw_parts(self.units.as_ptr().cast::<u8>(), self.used) }
    }

    /// What their kernel uses.
    pub fn kept(&self) -> &Kept {
        &self.kept
    }

    /// The same bytes, which keep nothing.
    pub(crate) fn bare(&self) -> Params {
        Params { units: self.units.clone(), used: self.used, list: self.list.clone(), kept: Kept::default() }
    }

    /// Offset and size of each in [`Params::bytes`].
    pub fn list(&self) -> &[(usize, usize)] {
        &self.list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_parameter_lies_at_the_next_multiple_of_its_size() {
        let args = Args::new().value(1u8).value(2u32).value(3u8).value(4u64).value([5u32; 3]).value(6u16).value(7u128);
        assert_eq!(args.params().list(), [(0, 1), (4, 4), (8, 1), (16, 8), (24, 12), (36, 2), (40, 16)]);
        assert_eq!(args.params().bytes().as_ptr() as usize % 16, 0);
        assert_eq!(args.params().bytes()[40], 7);
    }

    #[test]
    fn wrong_numbers_and_sizes_are_named() {
        let table = KernelParams::new(&[4, 8, 8]);
        let error = Args::new().value(1u32).check("k", &table).unwrap_err();
        assert_eq!(error.to_string(), "kernel `k` takes 3 parameters, 1 were given (a slice is two: address and length)");
        let error = Args::new().value(1u32).value(1u32).value(1u64).check("k", &table).unwrap_err();
        assert_eq!(error.to_string(), "parameter 1 of kernel `k` has 8 bytes, an argument of 4 was given");
        assert!(Args::new().value(1u32).value(1u64).value(1u64).check("k", &table).is_ok());
    }

    #[test]
    fn memory_of_other_elements_and_of_another_device_is_named() {
        let table = KernelParams::new(&[4, KernelParams::slice(Element::new(4, "f32")), 8]);
        let [device, other] = [(); 2].map(|()| Device::open("sim").unwrap());
        let [floats, foreign] = [&device, &other].map(|device| device.alloc::<f32>(4).unwrap());
        let (integers, bytes) = (device.alloc::<u32>(4).unwrap(), device.alloc_host::<u8>(4).unwrap());
        let check = |args: Args| args.check("k", &table).and_then(|()| args.check_device("k", &device)).map_err(|error| error.to_string());
        assert_eq!(check(Args::new().value(1u32).slice(&floats)), Ok(()));
        let told = |given| {
            format!(
                "parameter 1 of kernel `k` is a slice of `f32`, memory of {given} was given; pass `address` and `value` if that is meant"
            )
        };
        assert_eq!(check(Args::new().value(1u32).slice(&integers)), Err(told("`u32`")));
        assert_eq!(check(Args::new().value(1u32).host_slice(&bytes)), Err(told("`u8`")));
        assert_eq!(
            check(Args::new().value(1u32).slice(&foreign)),
            Err("argument 1 of kernel `k` is memory of another device than the queue's: allocate it from the same `Device`".into())
        );
        // Whoever reinterprets memory says so.
        assert_eq!(check(Args::new().value(1u32).address(integers.address()).value(4u64)), Ok(()));
    }
}
