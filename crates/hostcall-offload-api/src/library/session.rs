//! Starting and ending the library; which platforms there are, and their devices.
//!
//! A session lasts from the first `olInit` to the last `olShutDown`. Handles of platforms and devices carry the
//! session's number as their generation, so those of an earlier session are stale. What they name is made once and
//! stays for as long as the process: opening a driver again costs much, and several drivers do not survive being
//! closed.

use std::ffi::c_void;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use super::backend;
use super::device::Device;
use super::error::fail;
use super::table::Parts;
use super::{Core, amdgpu, built_for, cuda, host, host_calls, leaks, queue};
use crate::HandleKind;
use crate::runtime::{Error, check};
use crate::sys::{ol_errc_t, ol_init_args_t, ol_platform_backend_t};

/// A platform, for as long as the process runs.
pub(super) struct Platform {
    pub(super) driver: &'static dyn backend::Platform,
    /// What `OFFLOAD_PLATFORMS` calls it.
    word: &'static str,
    devices: OnceLock<Vec<Device>>,
    /// Why there are none, and the session in which that was tried.
    failure: Mutex<Option<(u32, Error)>>,
}

impl Platform {
    const fn new(word: &'static str, driver: &'static dyn backend::Platform) -> Platform {
        Platform { driver, word, devices: OnceLock::new(), failure: Mutex::new(None) }
    }

    /// Whether it was opened and has a device.
    #[cfg(llvm24)]
    pub(super) fn is_active(&self) -> bool {
        self.devices.get().is_some_and(|devices| !devices.is_empty())
    }

    /// Its place among the platforms.
    pub(super) fn index(&self) -> usize {
        PLATFORMS.iter().position(|platform| std::ptr::eq(platform, self)).unwrap_or(HOST)
    }
}

/// The platforms, in the order in which their devices are shown. Programs that look for any device find GPUs first.
static PLATFORMS: [Platform; PLATFORM_COUNT] =
    [Platform::new("cuda", &cuda::Cuda), Platform::new("amdgpu", &amdgpu::Amdgpu), Platform::new("host", &host::Host)];

/// The back end of a device's platform.
pub(super) fn backend_of(device: &Device) -> ol_platform_backend_t {
    PLATFORMS[device.platform].driver.backend()
}

/// How many there are.
pub(super) const PLATFORM_COUNT: usize = 3;

/// Where each platform is in that list.
pub(super) const CUDA: usize = 0;
pub(super) const AMDGPU: usize = 1;
pub(super) const HOST: usize = 2;

#[derive(Debug)]
pub(super) struct Session {
    /// The session's number; 0 when there is none.
    current: AtomicU32,
    /// A bit for each platform that may be used.
    selected: AtomicU32,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// How many calls of `olInit` have no `olShutDown` yet.
    users: usize,
    /// The number of the latest session.
    latest: u32,
}

impl Session {
    pub(super) const fn new() -> Session {
        Session { current: AtomicU32::new(0), selected: AtomicU32::new(0), state: Mutex::new(State { users: 0, latest: 0 }) }
    }

    #[inline]
    pub(super) fn is_started(&self) -> bool {
        self.current() != 0
    }

    /// The session's number; 0 when there is none, and in a process that was forked from one that had started the
    /// library.
    #[inline]
    fn current(&self) -> u32 {
        if check::own_process().is_err() {
            return 0;
        }
        // Pairs with the store in `start`: who sees the session sees which platforms it has.
        self.current.load(Ordering::Acquire)
    }

    /// Starts the library, or counts one more user.
    pub(super) fn start(&self, arguments: Option<&ol_init_args_t>) -> Result<(), Error> {
        // The end of a session waits for such functions, with the lock held.
        check::own_process()?;
        queue::refuse_in_host_function("olInit")?;
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.users > 0 {
            state.users += 1;
            return Ok(());
        }
        built_for::check()?;
        let selected = from_arguments(arguments)? & from_environment(std::env::var("OFFLOAD_PLATFORMS").ok().as_deref())? | 1 << HOST;
        state.users = 1;
        check::started_here();
        // Handles hold 32 bits of it; 0 is no session.
        state.latest = state.latest.wrapping_add(1).max(1);
        self.selected.store(selected, Ordering::Relaxed);
        // Release: pairs with the loads of the session's number.
        self.current.store(state.latest, Ordering::Release);
        Ok(())
    }

    /// Counts one user less, and ends the library if it was the last.
    pub(super) fn end(&self, library: &Core) -> Result<(), Error> {
        check::own_process()?;
        queue::refuse_in_host_function("olShutDown")?;
        // Held to the end: a new session begins when the old one is gone.
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match state.users {
            0 => return fail(ol_errc_t::OL_ERRC_UNINITIALIZED, "olShutDown was called before olInit, or once too often"),
            1 => {}
            _ => {
                state.users -= 1;
                return Ok(());
            }
        }
        state.users = 0;
        leaks::report(library);
        // Relaxed: calls that began before may still see the session, and find their objects gone.
        self.current.store(0, Ordering::Relaxed);
        library.programs.live_objects().into_iter().for_each(|(handle, _)| drop(library.destroy_program(handle)));
        library.events.live_objects().into_iter().for_each(|(handle, _)| drop(library.events.remove(handle)));
        library.queues.live_objects().into_iter().for_each(|(handle, _)| drop(library.queues.remove(handle)));
        library.launches.forget_destroyed(library);
        #[cfg(llvm24)]
        library.contexts.live_objects().into_iter().for_each(|(handle, _)| drop(library.contexts.remove(handle)));
        for device in PLATFORMS.iter().filter_map(|platform| platform.devices.get()).flatten() {
            device.end();
        }
        // What threads left to another one, among it programs.
        offload::waits::wait_for_jobs();
        library.memory.clear();
        PLATFORMS.iter().filter_map(|platform| platform.devices.get()).flatten().for_each(|device| device.driver.end());
        host_calls::end();
        Ok(())
    }

    #[inline]
    fn is_selected(&self, platform: usize) -> bool {
        self.selected.load(Ordering::Relaxed) >> platform & 1 == 1
    }

    /// The platform of a handle of this session.
    pub(super) fn platform(&self, handle: *const c_void) -> Option<&'static Platform> {
        let parts = Parts::of(handle).filter(|parts| parts.kind == HandleKind::Platform)?;
        let current = self.current();
        (current != 0 && parts.generation == current && self.is_selected(parts.slot as usize))
            .then(|| PLATFORMS.get(parts.slot as usize))?
    }

    /// The device of a handle of this session.
    #[inline]
    pub(super) fn device(&self, handle: *const c_void) -> Option<&'static Device> {
        let parts = Parts::of(handle).filter(|parts| parts.kind == HandleKind::Device)?;
        let current = self.current();
        let (platform, ordinal) = ((parts.slot >> 16) as usize, (parts.slot & 0xffff) as usize);
        if current == 0 || parts.generation != current || !self.is_selected(platform) {
            return None;
        }
        PLATFORMS.get(platform)?.devices.get()?.get(ordinal)
    }

    /// The handle of a platform in this session.
    pub(super) fn platform_handle(&self, platform: usize) -> *mut c_void {
        Parts { kind: HandleKind::Platform, slot: platform as u32, generation: self.current.load(Ordering::Relaxed) }.handle()
    }

    /// The handles of the platforms that may be used.
    #[cfg(llvm24)]
    pub(super) fn platform_handles(&self) -> Vec<*mut c_void> {
        (0..PLATFORMS.len()).filter(|&index| self.is_selected(index)).map(|index| self.platform_handle(index)).collect()
    }

    /// The handle of a device in this session.
    pub(super) fn device_handle(&self, device: &Device) -> *mut c_void {
        let slot = (device.platform as u32) << 16 | device.ordinal as u32;
        Parts { kind: HandleKind::Device, slot, generation: self.current.load(Ordering::Relaxed) }.handle()
    }

    /// All devices of the platforms that may be used. A platform that cannot be opened has none.
    pub(super) fn devices(&self) -> Vec<&'static Device> {
        (0..PLATFORMS.len()).filter(|&index| self.is_selected(index)).filter_map(|index| self.open(index).ok()).flatten().collect()
    }

    /// The device whose memory is the host's.
    pub(super) fn host(&self) -> Result<&'static Device, Error> {
        match self.open(HOST)?.first() {
            Some(device) => Ok(device),
            None => fail(ol_errc_t::OL_ERRC_BACKEND_FAILURE, "the host's platform has no device"),
        }
    }

    /// The devices of a platform, which is opened if it is not yet.
    fn open(&self, index: usize) -> Result<&'static Vec<Device>, Error> {
        let platform = &PLATFORMS[index];
        if let Some(devices) = platform.devices.get() {
            return Ok(devices);
        }
        // One thread opens; the others wait for it.
        let mut failure = platform.failure.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(devices) = platform.devices.get() {
            return Ok(devices);
        }
        let session = self.current.load(Ordering::Relaxed);
        if let Some((tried, error)) = &*failure
            && *tried == session
        {
            return Err(error.clone());
        }
        match platform.driver.open() {
            Ok(drivers) => {
                let device = |(ordinal, driver)| Device::new(index, ordinal, driver);
                Ok(platform.devices.get_or_init(|| drivers.into_iter().enumerate().map(device).collect()))
            }
            Err(error) => {
                *failure = Some((session, error.clone()));
                Err(error)
            }
        }
    }
}

/// The platforms that `olInit` was told to start. The host's is always there: memory of the host is its device's.
fn from_arguments(arguments: Option<&ol_init_args_t>) -> Result<u32, Error> {
    let Some(arguments) = arguments else { return Ok(u32::MAX) };
    if arguments.Size < size_of::<ol_init_args_t>() {
        let text = format!("InitArgs->Size is {}, and ol_init_args_t has {} bytes", arguments.Size, size_of::<ol_init_args_t>());
        return fail(ol_errc_t::OL_ERRC_INVALID_SIZE, text);
    }
    if arguments.NumPlatforms == 0 {
        return Ok(u32::MAX);
    }
    let mut selected = 0;
    for index in 0..arguments.NumPlatforms as usize {
        // SAFETY: `Platforms` is not null (the entry point checked), and the caller says that it has that many
        // elements.
        let backend = unsafe { arguments.Platforms.add(index).read_unaligned() };
        if !ol_platform_backend_t::ALL.contains(&backend) {
            let text = format!("InitArgs->Platforms[{index}] is {}, which is no value of ol_platform_backend_t", backend.0);
            return fail(ol_errc_t::OL_ERRC_INVALID_ENUMERATION, text);
        }
        // Those that this library does not have are not there, as they are not on a machine without their driver.
        selected |= PLATFORMS.iter().position(|platform| platform.driver.backend() == backend).map_or(0, |at| 1 << at);
    }
    Ok(selected)
}

/// The platforms that `OFFLOAD_PLATFORMS` names.
fn from_environment(value: Option<&str>) -> Result<u32, Error> {
    let Some(value) = value.filter(|value| !value.trim().is_empty()) else { return Ok(u32::MAX) };
    let mut selected = 0;
    for word in value.split(',').map(str::trim).filter(|word| !word.is_empty()) {
        let Some(at) = PLATFORMS.iter().position(|platform| platform.word.eq_ignore_ascii_case(word)) else {
            let known = PLATFORMS.each_ref().map(|platform| platform.word).join(", ");
            return fail(ol_errc_t::OL_ERRC_INVALID_VALUE, format!("OFFLOAD_PLATFORMS names `{word}`, which is none of {known}"));
        };
        selected |= 1 << at;
    }
    Ok(selected)
}

/// What is known of a platform, for people.
#[derive(Clone, Debug)]
pub struct PlatformReport {
    /// Its name.
    pub name: &'static str,
    /// How many devices it has, or why it has none.
    pub devices: Result<usize, String>,
}

/// All platforms that this library knows, selected or not. Opens them.
pub fn platform_reports() -> Vec<PlatformReport> {
    let session = &super::Core::get().session;
    let report = |(index, platform): (usize, &Platform)| PlatformReport {
        name: platform.driver.name(),
        devices: session.open(index).map(Vec::len).map_err(|error| error.details().into_owned()),
    };
    PLATFORMS.iter().enumerate().map(report).collect()
}

/// Whether a device is the host's.
pub(super) fn is_host(device: &Device) -> bool {
    device.platform == HOST
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn platforms_are_selected_by_words() {
        assert_eq!(from_environment(None), Ok(u32::MAX));
        assert_eq!(from_environment(Some(" ")), Ok(u32::MAX));
        assert_eq!(from_environment(Some("CUDA, host")), Ok(0b101));
        let error = from_environment(Some("cuda,rocket")).unwrap_err();
        assert_eq!(error.details(), "OFFLOAD_PLATFORMS names `rocket`, which is none of cuda, amdgpu, host");
    }

    #[test]
    fn arguments_of_another_size_or_with_unknown_platforms_are_refused() {
        let platforms = [ol_platform_backend_t::OL_PLATFORM_BACKEND_AMDGPU, ol_platform_backend_t::OL_PLATFORM_BACKEND_CUDA];
        let arguments = ol_init_args_t { Size: size_of::<ol_init_args_t>(), NumPlatforms: 2, Platforms: platforms.as_ptr() };
        assert_eq!(from_arguments(Some(&arguments)), Ok(0b11));
        let small = ol_init_args_t { Size: 8, ..arguments };
        assert_eq!(from_arguments(Some(&small)).unwrap_err().code, ol_errc_t::OL_ERRC_INVALID_SIZE);
        let unknown = [ol_platform_backend_t(99)];
        let arguments = ol_init_args_t { NumPlatforms: 1, Platforms: unknown.as_ptr(), ..arguments };
        assert_eq!(from_arguments(Some(&arguments)).unwrap_err().code, ol_errc_t::OL_ERRC_INVALID_ENUMERATION);
    }
}
