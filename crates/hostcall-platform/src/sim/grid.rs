//! One launch: workgroups, and the teams of threads that run them.
//!
//! A *team* holds the slots of one workgroup and has a thread for each of its waves (or lanes). It runs one workgroup
//! after another until there are no more, or until another kernel wants the slots.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Condvar, Mutex, MutexGuard, PoisonError};

use hostcall_abi::sim::{LaneInfo, WHATEVER};

use super::config::LaneMode;
use super::device::Shared;
use super::fibers::Wave;
use super::group::{self, Group};
use super::image::{Entry, SimKernel};
use super::lane::WaveState;
use super::pool::{Job, Worker};
use super::seeded;
use super::slots::Lease;
use super::threads;
use crate::args::Params;
use crate::device::Help;
use crate::error::{Error, Fault, FaultKind};
use crate::queue::Launch;

/// Where a wave is resident.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) sm: u32,
    pub(super) wave: u32,
}

/// One launch of a kernel.
pub(super) struct Run {
    pub(super) device: Arc<Shared>,
    kernel: Arc<SimKernel>,
    params: Params,
    launch: Launch,
    /// The launch's number on its device.
    number: u64,
    /// The number of the next workgroup.
    next: AtomicU64,
    aborted: AtomicBool,
    failure: Mutex<Option<Error>>,
    /// Teams that run.
    teams: Mutex<usize>,
    team_done: Condvar,
    /// Whether this launch waits for slots.
    waiting: AtomicUsize,
    help: Option<Help>,
}

impl Run {
    pub(super) fn new(device: Arc<Shared>, kernel: Arc<SimKernel>, params: Params, launch: Launch, number: u64) -> Self {
        Self {
            help: device.help(),
            device,
            kernel,
            params,
            launch,
            number,
            next: AtomicU64::new(0),
            aborted: AtomicBool::new(false),
            failure: Mutex::new(None),
            teams: Mutex::new(0),
            team_done: Condvar::new(),
            waiting: AtomicUsize::new(0),
        }
    }

    /// Runs the kernel until it has ended.
    pub(super) fn execute(self: &Arc<Self>, worker: &mut Worker) -> Result<(), Error> {
        match self.device.config.seed {
            Some(seed) => seeded::run(self, seed, worker),
            None => self.dispatch(),
        }
        self.device.check()?;
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).take().map_or(Ok(()), Err)
    }

    fn dispatch(self: &Arc<Self>) {
        let per_team = match self.device.config.lanes {
            LaneMode::Fibers => self.waves(),
            LaneMode::Threads => self.launch.group_threads() as usize,
        };
        loop {
            // Hints for the teams, who ask `Slots::contended`.
            self.waiting.store(1, Ordering::Relaxed);
            let lease = self.device.slots.take(self.waves(), || self.has_groups());
            self.waiting.store(0, Ordering::Relaxed);
            let Some(lease) = lease else { break };
            let Some(first) = self.next_group() else { break };
            let team = Arc::new(Team {
                run: self.clone(),
                places: (0..self.waves()).map(|wave| lease.place(wave)).collect(),
                lease: Mutex::new(Some(lease)),
                meet: Barrier::new(per_team),
                members: AtomicUsize::new(per_team),
                current: Mutex::new(None),
            });
            *self.lock_teams() += 1;
            let job = |member| {
                let team = team.clone();
                Box::new(move |worker: &mut Worker| team.work(member, first, worker)) as Job
            };
            if let Err(error) = self.device.pool.run_all((0..per_team).map(job).collect()) {
                *self.lock_teams() -= 1;
                self.fail(error);
                break;
            }
        }
        let mut teams = self.lock_teams();
        while *teams > 0 {
            teams = self.team_done.wait(teams).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn lock_teams(&self) -> MutexGuard<'_, usize> {
        self.teams.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn has_groups(&self) -> bool {
        // A hint: `next_group` decides.
        !self.aborted() && self.next.load(Ordering::Relaxed) < self.launch.group_count()
    }

    /// Coordinates of a workgroup that nobody has run yet.
    pub(super) fn next_group(&self) -> Option<[u32; 3]> {
        if !self.has_groups() {
            return None;
        }
        // Only the number must be unique; a launch has at most 2^64 - 1 groups, and stops counting soon after the last.
        let n = self.next.fetch_add(1, Ordering::Relaxed);
        let [x, y, _] = self.launch.groups.map(u64::from);
        (n < self.launch.group_count()).then(|| [(n % x) as u32, (n / x % y) as u32, (n / x / y) as u32])
    }

    /// A workgroup, about to run.
    pub(super) fn group(&self, id: [u32; 3]) -> Arc<Group> {
        let memory = group::Memory::new(self.kernel.declared, self.launch.dynamic_shared).unwrap_or_else(|error| {
            // Its lanes end before they could use any.
            self.fail(error);
            group::Memory::default()
        });
        Arc::new(Group::new(id, self.launch.group_threads() as u32, self.waves(), memory))
    }

    /// Waves of a workgroup.
    pub(super) fn waves(&self) -> usize {
        (self.launch.group_threads() as usize).div_ceil(self.device.config.wave_size as usize)
    }

    /// The most lanes that a wave of the launch has.
    pub(super) fn most_lanes(&self) -> u32 {
        (self.launch.group_threads() as u32).min(self.device.config.wave_size)
    }

    /// Lanes of the `wave`-th wave of a workgroup.
    pub(super) fn lanes_of(&self, wave: usize) -> u32 {
        let size = self.device.config.wave_size;
        (self.launch.group_threads() as u32 - wave as u32 * size).min(size)
    }

    /// Coordinates of a lane in its workgroup.
    pub(super) fn local(&self, wave: usize, lane: u32) -> [u32; 3] {
        let n = wave as u32 * self.device.config.wave_size + lane;
        let [x, y, _] = self.launch.group_size;
        [n % x, n / x % y, n / x / y]
    }

    pub(super) fn lane_info(&self, group: &Group, wave: usize, lane: u32, place: Place) -> LaneInfo {
        LaneInfo {
            lane,
            wave_size: self.device.config.wave_size,
            wave: place.wave,
            sm: place.sm,
            group: group.id,
            groups: self.launch.groups,
            local: self.local(wave, lane),
            local_size: self.launch.group_size,
            launch: self.number as u32,
        }
    }

    pub(super) fn entry(&self) -> Entry {
        self.kernel.entry
    }

    pub(super) fn params(&self) -> &Params {
        &self.params
    }

    pub(super) fn stack_bytes(&self) -> usize {
        self.device.config.stack_bytes
    }

    pub(super) fn seeded(&self) -> bool {
        self.device.config.seed.is_some()
    }

    /// Where an address of device memory lies.
    pub(super) fn describe(&self, address: u64) -> Option<String> {
        self.device.arena.describe(address)
    }

    /// Whether the kernel was ended: every lane must end when it next can.
    pub(super) fn aborted(&self) -> bool {
        // Nothing but ending depends on it.
        self.aborted.load(Ordering::Relaxed) || self.device.is_lost()
    }

    /// Counts an operation of a lane, after which the device may be lost.
    #[inline]
    pub(super) fn count_operation(&self) {
        self.device.count_operation();
    }

    /// Whether a wave that waits for the host for the `attempt`-th time has something to do meanwhile. From 2³¹ on it
    /// waits for time to pass.
    pub(super) fn helps(&self, attempt: u32) -> bool {
        self.help.is_some() && attempt < 1 << 31
    }

    /// Does it, on the stack of the wave's thread. Whether there was anything to do.
    pub(super) fn help(&self, attempt: u32) -> bool {
        self.helps(attempt) && self.help.as_ref().is_some_and(|help| help())
    }

    /// Ends the kernel as a fault of a lane. The first one counts.
    pub(super) fn fault(&self, block: [u32; 3], thread: [u32; 3], kind: FaultKind) {
        self.fail(Error::Fault(Box::new(Fault::new(self.kernel.name.clone(), block, thread, kind))));
    }

    /// As [`Run::fault`], of an instruction.
    pub(super) fn fault_at(&self, instruction: u64, block: [u32; 3], thread: [u32; 3], kind: FaultKind) {
        let fault = Fault::new(self.kernel.name.clone(), block, thread, kind);
        self.fail(Error::Fault(Box::new(Fault { function: self.kernel.function_at(instruction), ..fault })));
    }

    /// Ends the kernel. The first failure counts.
    pub(super) fn fail(&self, error: Error) {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        // See `aborted`; sleepers look for it now and then.
        self.aborted.store(true, Ordering::Relaxed);
        super::wait::wake_patient(WHATEVER);
    }
}

/// The threads of one workgroup at a time.
struct Team {
    run: Arc<Run>,
    places: Vec<Place>,
    lease: Mutex<Option<Lease>>,
    meet: Barrier,
    /// Members that have not left.
    members: AtomicUsize,
    /// What the members run.
    current: Mutex<Option<Task>>,
}

#[derive(Clone)]
struct Task {
    group: Arc<Group>,
    /// With a thread per lane.
    waves: Vec<Arc<WaveState>>,
}

impl Team {
    /// The life of a member. Member 0 fetches the workgroups.
    fn work(&self, member: usize, first: [u32; 3], worker: &mut Worker) {
        let run = &self.run;
        let (lanes, per_wave) = match run.device.config.lanes {
            LaneMode::Fibers => (run.most_lanes(), 1),
            LaneMode::Threads => (1, run.device.config.wave_size as usize),
        };
        let mut stacks = worker.take_stacks(lanes, run.stack_bytes()).map_err(|error| run.fail(error)).ok();
        let mut next = Some(first);
        loop {
            if member == 0 {
                let task = next.map(|id| {
                    let group = run.group(id);
                    let waves = if per_wave == 1 { Vec::new() } else { threads::waves(run, &group) };
                    Task { group, waves }
                });
                *self.current.lock().unwrap_or_else(PoisonError::into_inner) = task;
            }
            self.meet();
            let task = self.current.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let Some(task) = task else { break };
            let (wave, lane) = (member / per_wave, member % per_wave);
            // A member without stacks has ended the kernel. It still comes to every meeting, for the others wait for it
            // there.
            match (&mut stacks, task.waves.get(wave)) {
                (None, _) => {}
                (Some(stacks), None) => Wave::new(run, &task.group, wave, self.places[wave], stacks).run(),
                (Some(stacks), Some(state)) => threads::run_lane(state, lane as u32, self.places[wave], stacks),
            }
            self.meet();
            if member == 0 {
                // Relaxed: a hint.
                let yields = run.device.slots.contended(run.waiting.load(Ordering::Relaxed));
                next = if yields { None } else { run.next_group() };
            }
        }
        if let Some(stacks) = stacks {
            worker.keep_stacks(stacks);
        }
        // AcqRel: the last to leave has seen all that the others did.
        if self.members.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.lease.lock().unwrap_or_else(PoisonError::into_inner).take();
            *run.lock_teams() -= 1;
            run.team_done.notify_all();
        }
    }

    /// Waits for the other members.
    fn meet(&self) {
        if self.places.len() > 1 || self.run.device.config.lanes == LaneMode::Threads {
            self.meet.wait();
        }
    }
}
