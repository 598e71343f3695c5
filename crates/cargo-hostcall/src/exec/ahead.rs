//! What is done while the driver opens a device: assembling the program for it.
//!
//! A driver takes its time to make a context, and a program that comes as PTX takes its time to be assembled; the one
//! needs nothing of the other. All that the assembler must know is the architecture, which the driver tells before
//! there is a context.

use std::error::Error;

use hostcall_build::{ProgramBundle, Ptxas};
use offload::{Device, DeviceKind, Image, ImageKind, Program};

/// Does both at once.
pub(super) fn beside<A, B: Send>(here: impl FnOnce() -> A, there: impl FnOnce() -> B + Send) -> (A, B) {
    std::thread::scope(|scope| {
        let there = scope.spawn(there);
        let here = here();
        // It panics in our stead: the message is out already.
        (here, there.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}

/// Machine code that was made before the device was open, and for which architecture.
#[derive(Debug, Default)]
pub(super) struct Ahead(Option<(String, Vec<u8>)>);

impl Ahead {
    /// Opens a device by `open`, and meanwhile assembles the program for it, if it is to be assembled. `spec` is the
    /// device that was asked for.
    pub(super) fn beside<A>(spec: Option<&str>, bundle: &ProgramBundle, open: impl FnOnce() -> A) -> (A, Ahead) {
        let Some(ordinal) = cuda_ordinal(spec) else { return (open(), Ahead::default()) };
        let device = format!("cuda:{ordinal}");
        beside(open, move || {
            let guess = hostcall_build::noted_arch(&device);
            // Whoever opens the device says what is wrong with it.
            let arch = || offload::cuda::arch(ordinal).ok();
            let made = assembled_for(guess.as_deref(), arch, |arch| assembled(bundle, arch));
            if let Some((arch, _)) = made.as_ref().filter(|(arch, _)| guess.as_deref() != Some(arch.as_str())) {
                hostcall_build::note_arch(&device, arch);
            }
            Ahead(made)
        })
    }

    /// Loads the program; on NVIDIA GPUs as machine code if there is an assembler, which is kept, so that the driver
    /// need not compile it at each start. It is assembled quickly, because somebody waits; machine code that was
    /// shipped (`--for cubin:…`) is optimised in full.
    pub(super) fn load(self, device: &Device, bundle: &ProgramBundle) -> Result<Program, Box<dyn Error>> {
        let info = device.info();
        if let Some((arch, code)) = self.0
            && info.kind == DeviceKind::Cuda
            && info.arch == arch
        {
            let assembled = ProgramBundle::new(bundle.name.clone(), vec![Image::new(ImageKind::Cubin, arch, code)]);
            // What one release assembles another driver may not load: the PTX it always can.
            if let Ok(program) = device.load(&assembled) {
                return Ok(program);
            }
        }
        Ok(device.load(bundle)?)
    }
}

/// Machine code for the architecture that `arch` names. To ask takes time, until the driver is there; so it begins with
/// a `guess`, which was right last time.
fn assembled_for(
    guess: Option<&str>,
    arch: impl FnOnce() -> Option<String>,
    mut assemble: impl FnMut(&str) -> Option<Vec<u8>>,
) -> Option<(String, Vec<u8>)> {
    let guessed = guess.and_then(&mut assemble);
    let arch = arch()?;
    let code = if guess == Some(arch.as_str()) { guessed } else { assemble(&arch) };
    code.map(|code| (arch, code))
}

/// The CUDA device that would be opened: the first unless another was asked for; `None` if it was of another kind.
fn cuda_ordinal(spec: Option<&str>) -> Option<u32> {
    match spec {
        None | Some("cuda") => Some(0),
        Some(spec) => spec.strip_prefix("cuda:")?.parse().ok(),
    }
}

/// The program's PTX, if it has some and no machine code for `arch`.
fn to_assemble<'a>(bundle: &'a ProgramBundle, arch: &str) -> Option<&'a Image> {
    let shipped = bundle.images_of(ImageKind::Cubin).any(|image| image.arch == arch);
    bundle.images_of(ImageKind::Ptx).next().filter(|_| !shipped)
}

/// The program's PTX assembled for `arch`, or as it was kept; `None` if there is nothing to assemble or nobody who
/// does, or if he does not take it.
fn assembled(bundle: &ProgramBundle, arch: &str) -> Option<Vec<u8>> {
    let ptx = bundle.checked(to_assemble(bundle, arch)?).ok()?;
    let ptxas = Ptxas::find().ok()?;
    hostcall_build::assemble_quickly(&ptxas, &ptx.bytes, arch).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_goes_to_a_cuda_device_is_assembled_ahead() {
        assert_eq!([None, Some("cuda"), Some("cuda:3")].map(cuda_ordinal), [Some(0), Some(0), Some(3)]);
        assert_eq!([Some("sim"), Some("sim:lanes=4"), Some("hsa:0"), Some("cuda:x")].map(cuda_ordinal), [None; 4]);
    }

    #[test]
    fn a_program_with_machine_code_for_the_device_is_not_assembled() {
        let image = |kind, arch: &str| Image::new(kind, arch.to_owned(), b"code".to_vec());
        let bundle = |images| ProgramBundle::new("x".to_owned(), images);
        assert!(to_assemble(&bundle(vec![image(ImageKind::Sim, "x86_64"), image(ImageKind::Ptx, "sm_70")]), "sm_90").is_some());
        let shipped = bundle(vec![image(ImageKind::Ptx, "sm_70"), image(ImageKind::Cubin, "sm_90")]);
        assert!(to_assemble(&shipped, "sm_90").is_none() && to_assemble(&shipped, "sm_80").is_some());
        assert!(to_assemble(&bundle(vec![image(ImageKind::Sim, "x86_64")]), "sm_90").is_none());
    }

    #[test]
    fn a_guess_that_is_right_is_assembled_before_the_driver_is_asked_and_a_wrong_one_again_after() {
        let run = |guess: Option<&str>, arch: Option<&str>| {
            let said = std::cell::RefCell::new(Vec::new());
            let made = assembled_for(
                guess,
                || {
                    said.borrow_mut().push("asked".to_owned());
                    arch.map(str::to_owned)
                },
                |arch| {
                    said.borrow_mut().push(arch.to_owned());
                    Some(arch.as_bytes().to_vec())
                },
            );
            (made.map(|(arch, code)| (arch, String::from_utf8(code).expect("text"))), said.into_inner().join(" "))
        };
        let for_90 = Some(("sm_90".to_owned(), "sm_90".to_owned()));
        assert_eq!(run(Some("sm_90"), Some("sm_90")), (for_90.clone(), "sm_90 asked".to_owned()));
        assert_eq!(run(Some("sm_80"), Some("sm_90")), (for_90.clone(), "sm_80 asked sm_90".to_owned()));
        assert_eq!(run(None, Some("sm_90")), (for_90, "asked sm_90".to_owned()));
        assert_eq!(run(None, None), (None, "asked".to_owned()), "without a driver nothing is assembled");
    }

    #[test]
    fn both_halves_run_at_once_and_both_results_come_back() {
        let (to_there, from_here) = std::sync::mpsc::channel();
        let (to_here, from_there) = std::sync::mpsc::channel();
        // Each waits for the other: one after the other, neither would end.
        let both = beside(
            || {
                to_there.send(1).expect("the other half listens");
                from_there.recv().expect("the other half sends")
            },
            move || {
                to_here.send(2).expect("this half listens");
                from_here.recv().expect("this half sends")
            },
        );
        assert_eq!(both, (2, 1));
    }

    #[test]
    fn without_machine_code_made_ahead_the_program_is_loaded_as_it_came() {
        let device = Device::open("sim").expect("the simulator");
        let bundle = ProgramBundle::new("x".to_owned(), vec![Image::new(ImageKind::Ptx, "sm_70".to_owned(), b"ptx".to_vec())]);
        let ahead = Ahead(Some(("sm_90".to_owned(), b"code".to_vec())));
        let error = ahead.load(&device, &bundle).expect_err("the simulator takes no image of NVIDIA's");
        assert!(error.to_string().contains("image"), "{error}");
    }
}
