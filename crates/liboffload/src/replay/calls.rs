//! Making the calls.

use std::collections::HashMap;
use std::ffi::{CString, c_void};
use std::marker::PhantomData;
use std::ptr;

use serde_json::Value;

use super::memory::Memory;
use super::script::{Call, Said};
use super::{Options, ReplayError, Report, Step};
use crate::runtime::safe::result;
use crate::sys::*;
use crate::{Api, Error, entry};

/// Makes calls, and compares what comes of them.
pub(super) struct Player<'a, A> {
    options: &'a Options,
    pub(super) memory: Memory,
    images: usize,
    /// Calls of `olInit` that no `olShutDown` has followed.
    users: usize,
    host: ol_device_handle_t,
    /// Live queues, by handle.
    pub(super) queues: HashMap<usize, ol_queue_handle_t>,
    pub(super) report: Report,
    api: PhantomData<fn() -> A>,
}

/// A device here.
struct Found {
    device: ol_device_handle_t,
    platform: ol_platform_handle_t,
    name: String,
}

unsafe extern "C" fn note(device: ol_device_handle_t, list: *mut c_void) -> bool {
    // SAFETY: `devices` passes such a list.
    unsafe { &mut *list.cast::<Vec<ol_device_handle_t>>() }.push(device);
    true
}

unsafe extern "C" fn called(_: *mut c_void) {}

pub(super) const HERE: *const ol_code_location_t = ptr::null();

fn three([x, y, z]: [u32; 3]) -> ol_dimensions_t {
    ol_dimensions_t { x, y, z }
}

impl<'a, A: Api> Player<'a, A> {
    pub(super) fn new(options: &'a Options) -> Self {
        let (memory, host, report) = (Memory::default(), ptr::null_mut(), Report::default());
        Player { options, memory, images: 0, users: 0, host, queues: HashMap::new(), report, api: PhantomData }
    }

    /// Ends what the recording left open.
    pub(super) fn end(&mut self) {
        for _ in 0..std::mem::take(&mut self.users) {
            // SAFETY: no arguments.
            let _ = unsafe { result(entry::shut_down::<A>(HERE)) };
        }
    }

    /// # Safety
    /// As for [`super::replay`].
    pub(super) unsafe fn step(&mut self, step: &Step<'_>) -> Result<(), ReplayError> {
        match step {
            Step::Memory { entry, region, content } => self.write(*entry, *region, content),
            Step::Call(call) => {
                // SAFETY: the caller's.
                let made = unsafe { self.make(call) }?;
                let Some(made) = made else { return Ok(()) };
                self.report.calls += 1;
                self.compare(call, &made)?;
                let Some(after) = call.after else { return Ok(()) };
                if made.is_ok() { self.compare_memory(call, &after) } else { Ok(()) }
            }
        }
    }

    /// What the program wrote into a region.
    fn write(&mut self, entry: usize, number: u64, content: &[u8]) -> Result<(), ReplayError> {
        let error = |what: String| ReplayError::Entry { entry, what };
        let Some((address, size)) = self.memory.find(number) else { return Err(error(format!("nothing has made region {number}"))) };
        if size != content.len() {
            return Err(error(format!("region {number} has {size} bytes, and the entry brings {}", content.len())));
        }
        if self.memory.is_own(number) {
            // SAFETY: memory of this program's own, of that size; nothing else writes it while the recorded program did.
            unsafe { ptr::copy_nonoverlapping(content.as_ptr(), ptr::with_exposed_provenance_mut(address), size) };
            return Ok(());
        }
        self.copy(ptr::with_exposed_provenance_mut(address), content.as_ptr().cast(), size)
            .map_err(|failed| ReplayError::Call { call: format!("writing region {number}"), error: failed.to_string() })
    }

    /// Copies between a region and memory of this program.
    pub(super) fn copy(&self, to: *mut c_void, from: *const c_void, size: usize) -> Result<(), Error> {
        let device = |address: *const c_void| {
            let mut device: ol_device_handle_t = ptr::null_mut();
            let room = (&raw mut device).cast();
            // SAFETY: room for the property.
            let asked = unsafe {
                result(entry::get_mem_info::<A>(address, ol_mem_info_t::OL_MEM_INFO_DEVICE, size_of::<ol_device_handle_t>(), room, HERE))
            };
            if asked.is_ok() { device } else { self.memory.device_of(address.addr()).map_or(self.host, |device| device.cast()) }
        };
        // SAFETY: both have as many bytes.
        unsafe { result(entry::memcpy::<A>(ptr::null_mut(), to, device(to), from, device(from), size, HERE)) }
    }

    /// The devices here.
    fn devices(&self) -> Result<Vec<Found>, Error> {
        let mut handles: Vec<ol_device_handle_t> = Vec::new();
        // SAFETY: `note` takes such a list.
        unsafe { result(entry::iterate_devices::<A>(Some(note), (&raw mut handles).cast(), HERE)) }?;
        let found = |device: ol_device_handle_t| {
            let mut platform: ol_platform_handle_t = ptr::null_mut();
            let mut name = [0u8; 64];
            // SAFETY: room for the properties.
            unsafe {
                let (what, room) = (ol_device_info_t::OL_DEVICE_INFO_PLATFORM, (&raw mut platform).cast());
                result(entry::get_device_info::<A>(device, what, size_of::<ol_platform_handle_t>(), room, HERE))?;
                let what = ol_platform_info_t::OL_PLATFORM_INFO_NAME;
                result(entry::get_platform_info::<A>(platform, what, name.len(), name.as_mut_ptr().cast(), HERE))?;
            }
            let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
            Ok(Found { device, platform, name: String::from_utf8_lossy(name).into_owned() })
        };
        handles.into_iter().map(found).collect()
    }

    /// Finds a device here for each recorded one.
    fn find_devices(&mut self, said: &Said<'_>) -> Result<(), ReplayError> {
        let failed = |error: Error| ReplayError::Call { call: "olIterateDevices".into(), error: error.to_string() };
        let here = self.devices().map_err(failed)?;
        self.host = here.iter().find(|found| found.name == "HOST").map_or(ptr::null_mut(), |found| found.device);
        for recorded in said.list("Devices")? {
            let text = |name| recorded.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
            let (own, place) = (text("platform"), recorded.get("ordinal").and_then(Value::as_u64).unwrap_or(0) as usize);
            let (platform, ordinal) = self.options.platform.clone().map_or((own, place), |platform| (platform, 0));
            let mut fitting = here.iter().filter(|found| found.name.eq_ignore_ascii_case(&platform));
            let found = fitting.nth(ordinal).ok_or(ReplayError::Device { platform, ordinal })?;
            let handle = |name| recorded.get(name).unwrap_or(&Value::Null);
            self.memory.gave(handle("handle"), found.device.cast(), said)?;
            self.memory.gave(handle("platform_handle"), found.platform.cast(), said)?;
        }
        Ok(())
    }

    /// The image of a call.
    fn image<'b>(&mut self, said: &Said<'b>) -> Result<&'b [u8], ReplayError>
    where
        'a: 'b,
    {
        if let Some(last) = self.options.images.len().checked_sub(1) {
            let image = &self.options.images[self.images.min(last)];
            self.images += 1;
            return Ok(image);
        }
        said.data("Image")?.ok_or_else(|| said.error("it brings no image"))
    }

    /// Makes a call; `None` if it is left out.
    ///
    /// # Safety
    /// As for [`super::replay`].
    unsafe fn make(&mut self, call: &Call<'_>) -> Result<Option<Result<(), Error>>, ReplayError> {
        let said = call.before;
        let handle = |player: &Self, name: &str| player.memory.handle(said.get(name)?, &said);
        let given = call.after.filter(|after| after.text.get("code").and_then(Value::as_u64) == Some(0));
        // What a call gives is remembered if it gave it when it was recorded, too.
        macro_rules! gives {
            ($name:literal, |$out:ident: $handle:ty| $made:expr) => {{
                let mut $out: $handle = ptr::null_mut();
                // SAFETY: room for the handle; the rest is the caller's.
                let made = unsafe { result($made) };
                if let (Ok(()), Some(after)) = (&made, given) {
                    self.memory.gave(after.get($name)?, $out.cast(), &after)?;
                }
                made
            }};
        }
        // SAFETY (of the calls below): handles are of this replay or what the recording had in their place; memory is this replay's, as large as
        // the recording says; the rest is the caller's.
        let made = match call.name {
            "olInit" => {
                // SAFETY: null is allowed: what is selected is for the environment to say.
                let made = unsafe { result(entry::init::<A>(ptr::null(), HERE)) };
                self.users += usize::from(made.is_ok());
                if given.is_none() {
                    return Ok(None);
                }
                made
            }
            "olShutDown" => {
                self.users = self.users.saturating_sub(1);
                self.queues.clear();
                // SAFETY: no arguments.
                unsafe { result(entry::shut_down::<A>(HERE)) }
            }
            "olIterateDevices" => {
                if self.users == 0 {
                    return Ok(None);
                }
                self.find_devices(&said)?;
                Ok(())
            }
            "olCreateQueue" => {
                let device = handle(self, "Device")?.cast();
                let mut queue: ol_queue_handle_t = ptr::null_mut();
                // SAFETY: see above.
                let made = unsafe { result(entry::create_queue::<A>(device, &raw mut queue, HERE)) };
                if made.is_ok() {
                    self.queues.insert(queue.addr(), queue);
                    if let Some(after) = given {
                        self.memory.gave(after.get("Queue")?, queue.cast(), &after)?;
                    }
                }
                made
            }
            "olDestroyQueue" => {
                let queue: ol_queue_handle_t = handle(self, "Queue")?.cast();
                self.queues.remove(&queue.addr());
                // SAFETY: see above.
                unsafe { result(entry::destroy_queue::<A>(queue, HERE)) }
            }
            // SAFETY: see above.
            "olSyncQueue" => unsafe { result(entry::sync_queue::<A>(handle(self, "Queue")?.cast(), HERE)) },
            "olWaitEvents" => {
                let events: Result<Vec<_>, _> = said.list("Events")?.iter().map(|event| self.memory.handle(event, &said)).collect();
                let mut events = events?;
                let queue = handle(self, "Queue")?.cast();
                // SAFETY: see above.
                unsafe { result(entry::wait_events::<A>(queue, events.as_mut_ptr().cast(), events.len(), HERE)) }
            }
            "olLaunchHostFunction" => {
                self.report.left_out.push(format!("the host function of call {}", call.number));
                // SAFETY: see above; the function does nothing.
                unsafe { result(entry::launch_host_function::<A>(handle(self, "Queue")?.cast(), Some(called), ptr::null_mut(), HERE)) }
            }
            "olCreateEvent" => {
                let (queue, flags) = (handle(self, "Queue")?.cast(), ol_event_flags_t(said.word("Flags")?));
                gives!("Event", |event: ol_event_handle_t| entry::create_event::<A>(queue, flags, &raw mut event, HERE))
            }
            // SAFETY: see above.
            "olDestroyEvent" => unsafe { result(entry::destroy_event::<A>(handle(self, "Event")?.cast(), HERE)) },
            // SAFETY: see above.
            "olSyncEvent" => unsafe { result(entry::sync_event::<A>(handle(self, "Event")?.cast(), HERE)) },
            "olMemAlloc" | "olMemAllocAligned" => {
                let (device, kind, size) = (handle(self, "Device")?.cast(), ol_alloc_type_t(said.word("Type")?), said.size("Size")?);
                let mut address = ptr::null_mut();
                // SAFETY: see above.
                let made = unsafe {
                    result(match said.text.get("Alignment") {
                        Some(_) => entry::mem_alloc_aligned::<A>(device, kind, size, said.size("Alignment")?, &raw mut address, HERE),
                        None => entry::mem_alloc::<A>(device, kind, size, &raw mut address, HERE),
                    })
                };
                if let (Ok(()), Some(after)) = (&made, given) {
                    self.memory.add(after.number("Region")?, address, size);
                }
                made
            }
            "olMemFree" => {
                let Some(address) = self.memory.address(said.get("Address")?, &said)? else { return Ok(None) };
                // SAFETY: see above.
                unsafe { result(entry::mem_free::<A>(ptr::with_exposed_provenance_mut(address), HERE)) }
            }
            "olMemcpy" => {
                let size = said.size("Size")?;
                let to = match self.memory.address(said.get("DstPtr")?, &said)? {
                    Some(to) => to,
                    None if given.is_none() => return Ok(None),
                    None => self.memory.room(call.number, size),
                };
                let from = match (self.memory.address(said.get("SrcPtr")?, &said)?, said.data("Content")?) {
                    (Some(from), _) => from,
                    (None, Some(content)) => {
                        match given {
                            _ if content.len() == size => {}
                            // It was refused for its size; there is not so much memory to refuse it again.
                            None => return Ok(None),
                            Some(_) => return Err(said.error("its content is not as long as it says")),
                        }
                        self.memory.kept(call.number, content)
                    }
                    (None, None) if size == 0 => 16,
                    (None, None) => return Ok(None),
                };
                let (to, from) = (ptr::with_exposed_provenance_mut(to), ptr::with_exposed_provenance(from));
                let (queue, target, source) = (handle(self, "Queue")?, handle(self, "DstDevice")?, handle(self, "SrcDevice")?);
                // SAFETY: see above.
                unsafe { result(entry::memcpy::<A>(queue.cast(), to, target.cast(), from, source.cast(), size, HERE)) }
            }
            "olMemFill" => {
                let Some(to) = self.memory.address(said.get("Ptr")?, &said)? else {
                    self.report.left_out.push(format!("call {}: a fill of memory that was the program's own", call.number));
                    return Ok(None);
                };
                let Some(pattern) = said.data("Pattern")? else { return Ok(None) };
                let (to, pattern_size) = (ptr::with_exposed_provenance_mut(to), said.size("PatternSize")?);
                match given {
                    _ if pattern.len() == pattern_size => {}
                    None => return Ok(None),
                    Some(_) => return Err(said.error("its pattern is not as long as it says")),
                }
                let (queue, pattern) = (handle(self, "Queue")?.cast(), self.memory.kept(call.number, pattern));
                let pattern = ptr::with_exposed_provenance(pattern);
                // SAFETY: see above.
                unsafe { result(entry::mem_fill::<A>(queue, to, pattern_size, pattern, said.size("FillSize")?, HERE)) }
            }
            "olMemRegister" => {
                let (device, size, flags) = (handle(self, "Device")?.cast(), said.size("Size")?, said.word("Flags")?);
                let known = self.memory.address(said.get("Ptr")?, &said)?;
                let address = match (known, given) {
                    (Some(address), _) => address,
                    (None, Some(after)) => self.memory.own(after.number("Region")?, size),
                    (None, None) => return Ok(None),
                };
                let mut pinned = ptr::null_mut();
                // SAFETY: see above.
                unsafe {
                    result(entry::mem_register::<A>(device, ptr::with_exposed_provenance_mut(address), size, flags, &raw mut pinned, HERE))
                }
            }
            "olMemUnregister" => {
                let Some(address) = self.memory.address(said.get("Ptr")?, &said)? else { return Ok(None) };
                let (device, flags) = (handle(self, "Device")?.cast(), said.word("Flags")?);
                // SAFETY: see above.
                unsafe { result(entry::mem_unregister::<A>(device, ptr::with_exposed_provenance_mut(address), flags, HERE)) }
            }
            "olMemPrefetch" => {
                let (queue, flags) = (handle(self, "Queue")?.cast(), said.word("Flags")?);
                let (mut memory, mut sizes) = (Vec::new(), Vec::new());
                for range in said.list("Mems")? {
                    let address = self.memory.address(range.get("memory").unwrap_or(&Value::Null), &said)?;
                    memory.push(ptr::with_exposed_provenance::<c_void>(address.unwrap_or(0)));
                    sizes.push(range.get("size").and_then(Value::as_u64).unwrap_or(0) as usize);
                }
                // SAFETY: see above.
                unsafe { result(entry::mem_prefetch::<A>(queue, memory.len(), memory.as_mut_ptr(), sizes.as_ptr(), flags, HERE)) }
            }
            "olCreateProgram" => {
                let (device, image) = (handle(self, "Device")?.cast(), self.image(&said)?);
                // What was refused for its size is not there whole.
                if given.is_none() && said.number("Size")? != image.len() as u64 && self.options.images.is_empty() {
                    return Ok(None);
                }
                let (data, size) = (image.as_ptr().cast(), image.len());
                gives!("Program", |program: ol_program_handle_t| entry::create_program::<A>(device, data, size, &raw mut program, HERE))
            }
            "olIsValidBinary" => {
                let (device, image, mut valid) = (handle(self, "Device")?.cast(), self.image(&said)?, false);
                // SAFETY: see above.
                unsafe { result(entry::is_valid_binary::<A>(device, image.as_ptr().cast(), image.len(), &raw mut valid, HERE)) }
            }
            // SAFETY: see above.
            "olDestroyProgram" => unsafe { result(entry::destroy_program::<A>(handle(self, "Program")?.cast(), HERE)) },
            "olGetSymbol" => {
                let (program, kind) = (handle(self, "Program")?.cast(), ol_symbol_kind_t(said.word("Kind")?));
                let name = CString::new(said.text("Name")?).map_err(|_| said.error("`Name` has a zero"))?;
                gives!("Symbol", |symbol: ol_symbol_handle_t| entry::get_symbol::<A>(program, name.as_ptr(), kind, &raw mut symbol, HERE))
            }
            "olGetSymbolInfo" => {
                let (symbol, name): (ol_symbol_handle_t, _) = (handle(self, "Object")?.cast(), ol_symbol_info_t(said.word("PropName")?));
                let mut value = [0usize; 4];
                let room = said.size("PropSize")?.min(size_of_val(&value));
                // SAFETY: see above.
                let made = unsafe { result(entry::get_symbol_info::<A>(symbol, name, room, value.as_mut_ptr().cast(), HERE)) };
                if let (Ok(()), Some(after)) = (&made, given)
                    && after.text.contains_key("Region")
                {
                    let mut size = 0usize;
                    let (what, to) = (ol_symbol_info_t::OL_SYMBOL_INFO_GLOBAL_VARIABLE_SIZE, (&raw mut size).cast());
                    // SAFETY: room for the property.
                    let sized = unsafe { result(entry::get_symbol_info::<A>(symbol, what, size_of::<usize>(), to, HERE)) };
                    self.memory.global(after.number("Region")?, value[0], size, self.memory.handle(after.get("Device")?, &after)?);
                    return Ok(Some(made.and(sized)));
                }
                made
            }
            // SAFETY: see above.
            "olLaunchKernel" => unsafe { self.launch(&said) }?,
            // They change nothing, and what they tell is the device's own.
            "olGetDeviceInfo"
            | "olGetDeviceInfoSize"
            | "olGetPlatformInfo"
            | "olGetPlatformInfoSize"
            | "olGetQueueInfo"
            | "olGetQueueInfoSize"
            | "olGetEventInfo"
            | "olGetEventInfoSize"
            | "olGetEventElapsedTime"
            | "olGetMemInfo"
            | "olGetMemInfoSize"
            | "olGetSymbolInfoSize"
            | "olQueryQueue"
            | "olCalculateOptimalOccupancy"
            | "olGetKernelMaxCooperativeGroupCount" => return Ok(None),
            "olPlatformRegisterRPCCallback" => {
                self.report.left_out.push(format!("the callback of call {}", call.number));
                return Ok(None);
            }
            other => return Err(said.error(format!("`{other}` is no function of the API"))),
        };
        Ok(Some(made))
    }

    /// A launch. Words of its arguments that were addresses in regions are addresses of this replay.
    ///
    /// # Safety
    /// As for [`super::replay`].
    unsafe fn launch(&mut self, said: &Said<'_>) -> Result<Result<(), Error>, ReplayError> {
        let mut values: Vec<(Vec<u128>, usize)> = Vec::new();
        let all = said.data("Values")?.unwrap_or_default();
        for argument in said.list("Arguments")? {
            let size = argument.get("bytes").and_then(Value::as_u64).unwrap_or(0) as usize;
            if argument.get("at").is_none() {
                // It was refused: a null pointer, or a size that cannot be.
                return Ok(Err(Error::new(ol_errc_t::OL_ERRC_INVALID_SIZE, "an argument that cannot be was recorded")));
            }
            let at = argument.get("at").and_then(Value::as_u64).unwrap_or(0) as usize;
            let bytes = at.checked_add(size).and_then(|end| all.get(at..end)).ok_or_else(|| said.error("an argument has no value"))?;
            let mut value = bytes.to_vec();
            for address in argument.get("addresses").and_then(Value::as_array).into_iter().flatten() {
                let at = address.get("at").and_then(Value::as_u64).unwrap_or(0) as usize;
                let here = self.memory.address(address.get("is").unwrap_or(&Value::Null), said)?.unwrap_or(0);
                let word = value.get_mut(at..).and_then(|rest| rest.first_chunk_mut::<{ size_of::<usize>() }>());
                *word.ok_or_else(|| said.error("an address lies outside its argument"))? = here.to_ne_bytes();
            }
            let mut units = vec![0u128; size.div_ceil(16).max(1)];
            // SAFETY: there is room for as many bytes.
            unsafe { ptr::copy_nonoverlapping(value.as_ptr(), units.as_mut_ptr().cast(), size) };
            values.push((units, size));
        }
        let mut pointers: Vec<*mut c_void> = values.iter_mut().map(|(units, _)| units.as_mut_ptr().cast()).collect();
        let sizes: Vec<usize> = values.iter().map(|(_, size)| *size).collect();
        let size = ol_kernel_launch_size_args_t {
            Dimensions: said.size("Dimensions")?,
            NumGroups: three(said.three("NumGroups")?),
            GroupSize: three(said.three("GroupSize")?),
            DynSharedMemory: said.size("DynSharedMemory")?,
        };
        let mut yes = true;
        let cooperative = [
            ol_kernel_launch_prop_t {
                type_: ol_kernel_launch_prop_type_t::OL_KERNEL_LAUNCH_PROP_TYPE_IS_COOPERATIVE,
                data: (&raw mut yes).cast(),
            },
            ol_kernel_launch_prop_t { type_: ol_kernel_launch_prop_type_t::OL_KERNEL_LAUNCH_PROP_TYPE_NONE, data: ptr::null_mut() },
        ];
        let properties = if said.text.contains_key("Cooperative") { cooperative.as_ptr() } else { ptr::null() };
        let handle = |name: &str| self.memory.handle(said.get(name)?, said);
        let (queue, device, kernel) = (handle("Queue")?.cast(), handle("Device")?.cast(), handle("Kernel")?.cast());
        let (count, pointers) = (pointers.len(), if pointers.is_empty() { ptr::null_mut() } else { pointers.as_mut_ptr() });
        let sizes = if sizes.is_empty() { ptr::null() } else { sizes.as_ptr() };
        // SAFETY: the values are as large as they were; what the kernel does with them is the caller's.
        Ok(unsafe { result(entry::launch_kernel::<A>(queue, device, kernel, &raw const size, properties, count, pointers, sizes, HERE)) })
    }
}
