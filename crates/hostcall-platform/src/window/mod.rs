//! Windows: device memory that the host writes while a kernel reads it.
//!
//! A kernel that waits for the host polls a word. In pinned host memory each look is a round trip over the bus. In a
//! window it is a load from the GPU's own memory, and the host's answer crosses the bus once, as a posted write. The
//! host's mapping is write-combining. The host stores whole [`Line`]s by [`LineStore`]. It never reads the window,
//! because a read across the bus takes microseconds; it keeps a copy of what it must know again.
//!
//! The machine decides who gives a window ([`WindowProvider`]): Vulkan, GDRCopy, or nobody. Without one, everything
//! works through host memory. The variable `HOSTCALL_WINDOW` forces one of them, or `off`.

use std::fmt;
use std::ptr::NonNull;
use std::str::FromStr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::backend::BackendMemory;
use crate::device::Device;
use crate::error::Error;

mod litmus;
mod store;

pub(crate) mod gdrcopy;
pub(crate) mod vulkan;

pub use litmus::{Effort, Litmus};
pub use store::{Line, LineStore};

/// The variable that forces a provider, or none.
const VARIABLE: &str = "HOSTCALL_WINDOW";

/// Who maps a device's memory for the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WindowProvider {
    /// Vulkan, by the driver's own library or by the loader.
    Vulkan,
    /// GDRCopy's library and kernel module.
    GdrCopy,
    /// The simulator, whose device memory is memory of this process.
    Simulator,
}

impl WindowProvider {
    const ALL: [Self; 3] = [Self::Vulkan, Self::GdrCopy, Self::Simulator];

    /// As `HOSTCALL_WINDOW` says it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Vulkan => "vulkan",
            Self::GdrCopy => "gdrcopy",
            Self::Simulator => "simulator",
        }
    }
}

impl fmt::Display for WindowProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Vulkan => "Vulkan",
            Self::GdrCopy => "GDRCopy",
            Self::Simulator => "the simulator",
        })
    }
}

/// Why there is no window.
#[derive(Clone, thiserror::Error)]
#[non_exhaustive]
pub enum WindowError {
    /// The user wants none.
    #[error("windows into device memory are turned off by {VARIABLE}=off; unset it to use them")]
    Off,
    /// The variable has another value than those that it can have.
    #[error("{VARIABLE}={value} names no provider of windows; set it to off, vulkan, gdrcopy or simulator, or unset it")]
    UnknownProvider {
        /// Its value.
        value: String,
    },
    /// More than can be addressed.
    #[error("a window of {bytes} bytes is more than the address space; ask for less")]
    TooLarge {
        /// The bytes asked for.
        bytes: usize,
    },
    /// The processor would write a line in parts, which can tear the words that a kernel reads.
    #[error(
        "this processor stores a line of 64 bytes in parts ({has}), and a window needs movdir64b or AVX-512; replies go by host memory"
    )]
    NoLineStore {
        /// The best it has.
        has: LineStore,
    },
    /// Nobody could give one.
    #[error("no window into the memory of {device}: {}; replies go by host memory", reasons(.tried))]
    NoProvider {
        /// The device's name.
        device: String,
        /// Who was asked, and why it has none, with the remedy.
        tried: Vec<(WindowProvider, String)>,
    },
    /// The window tears the words that the host writes, so it must not be used.
    #[error("{}", torn(.provider, .litmus))]
    Torn {
        /// Who gave the window.
        provider: WindowProvider,
        /// What was seen.
        litmus: Litmus,
    },
    /// The test for torn words saw nothing, good or bad.
    #[error("the test for torn words in a window saw nothing: {reason}; run it while the device is idle")]
    Inconclusive {
        /// Why.
        reason: String,
    },
    /// The device failed.
    #[error(transparent)]
    Device(#[from] Error),
}

hostcall_error::readable!(WindowError);

fn reasons(tried: &[(WindowProvider, String)]) -> String {
    if tried.is_empty() {
        return "its plugin has no way to make one".into();
    }
    tried.iter().map(|(provider, reason)| format!("{provider}: {reason}")).collect::<Vec<_>>().join("; ")
}

fn torn(provider: &WindowProvider, litmus: &Litmus) -> String {
    let Litmus { words_read, torn_words, words_back, lines_lost, .. } = litmus;
    format!(
        "the window by {provider} is not usable: of {words_read} words read, {torn_words} were torn and {words_back} went back to older ones, and \
         {lines_lost} lines were lost; set {VARIABLE}=off, and please report the machine"
    )
}

/// What `HOSTCALL_WINDOW` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    First,
    Only(WindowProvider),
    Off,
}

impl Choice {
    fn of_environment() -> Result<Self, WindowError> {
        std::env::var_os(VARIABLE).map_or(Ok(Self::First), |value| value.to_string_lossy().parse())
    }
}

impl FromStr for Choice {
    type Err = WindowError;

    fn from_str(value: &str) -> Result<Self, WindowError> {
        match value {
            "" => Ok(Self::First),
            "off" => Ok(Self::Off),
            _ => match WindowProvider::ALL.into_iter().find(|provider| provider.name() == value) {
                Some(provider) => Ok(Self::Only(provider)),
                None => Err(WindowError::UnknownProvider { value: value.to_owned() }),
            },
        }
    }
}

/// Device memory that the host can write and never reads.
///
/// It keeps its device. Dropping it unmaps and frees it, on CUDA once no kernel runs any more; whoever writes by
/// [`Window::as_ptr`] has to be done by then.
pub struct Window {
    host: NonNull<u8>,
    address: u64,
    len: usize,
    provider: WindowProvider,
    store: LineStore,
    /// Before the device, which is what gives it back.
    memory: Arc<dyn BackendMemory>,
    device: Device,
}

// SAFETY: an address range; what is done with the bytes is the business of who writes and reads them.
unsafe impl Send for Window {}
// SAFETY: as above; no method writes through the pointer once the window is made.
unsafe impl Sync for Window {}

impl Device {
    /// A window of at least `bytes` (rounded up to whole lines, at least one), aligned to a line, zeroed, and tried:
    /// what the host wrote was read back by the device.
    ///
    /// # Errors
    /// [`WindowError::NoProvider`] with every reason where the machine has none, [`WindowError::Off`] if the user wants
    /// none, [`WindowError::UnknownProvider`] for a wrong `HOSTCALL_WINDOW`, [`WindowError::NoLineStore`] if the
    /// processor is too old.
    pub fn window(&self, bytes: usize) -> Result<Window, WindowError> {
        self.window_by(Choice::of_environment()?, bytes)
    }

    fn window_by(&self, choice: Choice, bytes: usize) -> Result<Window, WindowError> {
        let too_large = WindowError::TooLarge { bytes };
        let len = bytes.max(1).checked_next_multiple_of(Line::BYTES).filter(|&len| len <= isize::MAX as usize).ok_or(too_large)?;
        let providers = match choice {
            Choice::Off => return Err(WindowError::Off),
            Choice::Only(provider) => vec![provider],
            Choice::First => self.backend().window_providers().to_vec(),
        };
        let mut tried = Vec::new();
        for provider in providers {
            match self.window_of(provider, len) {
                Ok(window) => return Ok(window),
                Err(WindowError::Device(error)) if !matches!(error, Error::DeviceLost { .. }) => tried.push((provider, error.to_string())),
                Err(error) => return Err(error),
            }
        }
        Err(WindowError::NoProvider { device: self.info().name.clone(), tried })
    }

    fn window_of(&self, provider: WindowProvider, len: usize) -> Result<Window, WindowError> {
        let backend = self.backend();
        if !backend.window_providers().contains(&provider) {
            return Err(Error::Unsupported { what: "a window by this provider" }.into());
        }
        let store = match provider {
            // The words of ordinary memory are whole whatever stores them.
            WindowProvider::Simulator => LineStore::detect_cached(),
            _ => LineStore::detect(),
        };
        if provider != WindowProvider::Simulator && !store.is_whole() {
            return Err(WindowError::NoLineStore { has: store });
        }
        let memory = backend.window(provider, len)?;
        let (host, address) = (memory.host_pointer(), memory.device_address());
        let misplaced = || Error::Backend {
            call: "window",
            code: 0,
            text: format!("it lies at {host:p} for the host and at {address:#x} for the device, which is not at a line"),
        };
        let host = NonNull::new(host).filter(|host| host.as_ptr().addr().is_multiple_of(Line::BYTES)).ok_or_else(misplaced)?;
        if !address.is_multiple_of(Line::BYTES as u64) {
            return Err(misplaced().into());
        }
        let window = Window { host, address, len, provider, store, memory, device: self.clone() };
        window.zero()?;
        window.try_out()?;
        Ok(window)
    }
}

impl Window {
    /// Where the device sees it.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Its size in bytes, whole lines.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Never: a window has at least one line.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Who gave it.
    pub fn provider(&self) -> WindowProvider {
        self.provider
    }

    /// Where the host writes it. Write-combining memory: store whole lines by [`Window::line_store`], or single aligned
    /// words of 4 bytes, which no processor writes in parts, with [`LineStore::order`] behind them. Never read. It is
    /// valid as long as the window is held.
    pub fn as_ptr(&self) -> NonNull<u8> {
        self.host
    }

    /// How this processor writes a line of it.
    pub fn line_store(&self) -> LineStore {
        self.store
    }

    /// Whose memory it is.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// By the device's own copies, which do not wait for running kernels.
    fn zero(&self) -> Result<(), Error> {
        let zeros = vec![0; self.len.min(1 << 20)];
        for at in (0..self.len).step_by(zeros.len()) {
            let bytes = zeros.len().min(self.len - at);
            // SAFETY: inside the window, which no kernel knows of yet.
            unsafe { self.device.backend().write(self.address + at as u64, &zeros[..bytes]) }?;
        }
        Ok(())
    }

    /// Writes the first and the last line, has the device read them, and zeroes them.
    fn try_out(&self) -> Result<(), Error> {
        /// Stores are on their way for a microsecond. After this they are lost.
        const PATIENCE: Duration = Duration::from_millis(200);
        let last = self.len - Line::BYTES;
        for (at, seed) in [(0, 0x9e37_79b9_u32), (last, 0x85eb_ca6b)] {
            let line = Line(std::array::from_fn(|i| seed.wrapping_mul(2 * i as u32 + 1)));
            // SAFETY: a line of the window, which nobody else knows of yet; the processor has what `detect` found.
            unsafe { self.store.store(self.host.as_ptr().add(at), &line) };
            self.store.order();
            let start = Instant::now();
            while self.read_line(at)? != line {
                if start.elapsed() > PATIENCE {
                    let text = format!("what the host wrote by {} at byte {at} did not arrive in the device's memory", self.store);
                    return Err(Error::Backend { call: "window", code: 0, text });
                }
            }
        }
        for at in [0, last] {
            // SAFETY: as in `zero`.
            unsafe { self.device.backend().write(self.address + at as u64, &[0; Line::BYTES]) }?;
        }
        Ok(())
    }

    fn read_line(&self, at: usize) -> Result<Line, Error> {
        let mut bytes = [0; Line::BYTES];
        // SAFETY: a line of the window.
        unsafe { self.device.backend().read(self.address + at as u64, &mut bytes) }?;
        let (words, _) = bytes.as_chunks::<4>();
        Ok(Line(std::array::from_fn(|i| u32::from_ne_bytes(words[i]))))
    }
}

impl fmt::Debug for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { address, len, provider, store, .. } = self;
        let host = self.host.as_ptr();
        write!(f, "Window {{ {len} bytes at {address:#x}, {host:p} for the host, by {provider}, lines by {store} }}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn simulator() -> Device {
        Device::sim("".parse().unwrap()).unwrap()
    }

    #[test]
    fn the_simulator_has_a_window_of_whole_zeroed_lines_that_the_device_sees() {
        let device = simulator();
        for (bytes, len) in [(0, 64), (1, 64), (64, 64), (65, 128), (3 << 20, 3 << 20)] {
            let window = device.window_by(Choice::First, bytes).unwrap();
            assert_eq!((window.len(), window.provider(), window.is_empty()), (len, WindowProvider::Simulator, false), "{window:?}");
            let mut found = vec![1; len];
            // SAFETY: the window's bytes.
            unsafe { device.backend().read(window.address(), &mut found) }.unwrap();
            assert!(found.iter().all(|&byte| byte == 0), "{window:?}");
            let line = Line([7; 16]);
            // SAFETY: the window's last line, which nobody else uses.
            unsafe { window.line_store().store(window.as_ptr().as_ptr().add(len - 64), &line) };
            window.line_store().fence();
            assert_eq!(window.read_line(len - 64).unwrap(), line);
        }
    }

    #[test]
    fn a_window_outlives_the_handles_to_its_device() {
        let device = simulator();
        let window = device.window_by(Choice::First, 128).unwrap();
        drop(device);
        // SAFETY: the window's second line, which nobody else uses.
        unsafe { window.line_store().store(window.as_ptr().as_ptr().add(64), &Line([1; 16])) };
        assert_eq!(window.read_line(64).unwrap(), Line([1; 16]));
    }

    #[test]
    fn the_variable_forces_a_provider_or_none_and_a_wrong_value_is_told() {
        for (value, choice) in [("", Choice::First), ("off", Choice::Off), ("gdrcopy", Choice::Only(WindowProvider::GdrCopy))] {
            assert_eq!(value.parse::<Choice>().unwrap(), choice);
        }
        for provider in WindowProvider::ALL {
            assert_eq!(provider.name().parse::<Choice>().unwrap(), Choice::Only(provider));
        }
        for value in ["on", "OFF", "Vulkan", "vulkan,gdrcopy", " off"] {
            let error = value.parse::<Choice>().unwrap_err();
            assert!(matches!(&error, WindowError::UnknownProvider { value: found } if found == value), "{error:?}");
            assert!(error.to_string().starts_with(&format!("HOSTCALL_WINDOW={value} names no provider")), "{error}");
            assert!(error.to_string().contains("off, vulkan, gdrcopy or simulator"), "{error}");
        }
    }

    #[test]
    fn errors_say_what_was_tried_and_what_to_do() {
        let device = simulator();
        let off = device.window_by(Choice::Off, 64).unwrap_err();
        assert_eq!(off.to_string(), "windows into device memory are turned off by HOSTCALL_WINDOW=off; unset it to use them");
        let other = device.window_by(Choice::Only(WindowProvider::Vulkan), 64).unwrap_err();
        assert!(matches!(&other, WindowError::NoProvider { tried, .. } if tried.len() == 1), "{other:?}");
        let text = other.to_string();
        assert!(text.contains("simulator (") && text.contains("Vulkan: a window by this provider is not supported"), "{text}");
        let much = device.window_by(Choice::First, usize::MAX).unwrap_err();
        assert!(matches!(much, WindowError::TooLarge { bytes: usize::MAX }), "{much:?}");
        let more = device.window_by(Choice::First, 1 << 46).unwrap_err();
        assert!(more.to_string().contains("out of device memory"), "{more}");
        let none = WindowError::NoProvider { device: "d".into(), tried: Vec::new() };
        assert_eq!(none.to_string(), "no window into the memory of d: its plugin has no way to make one; replies go by host memory");
        let old = WindowError::NoLineStore { has: LineStore::Avx };
        assert!(old.to_string().contains("in parts (AVX)") && old.to_string().contains("movdir64b or AVX-512"), "{old}");
    }
}
