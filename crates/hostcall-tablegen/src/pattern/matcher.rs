//! Patterns as programs, and running one over a text.
//!
//! All ways to match are followed at once, one byte of the text after the other (Thompson's construction): a step for
//! each instruction that is reached, and each is reached at most once for a byte.

use super::parse::{Part, Place};
use super::{Bytes, TooManySteps};

#[derive(Clone, Copy, Debug)]
enum Step {
    Byte(u8),
    Any,
    Set(u32),
    At(Place),
    /// Goes on at both.
    Split(u32, u32),
    Jump(u32),
    Found,
}

/// A compiled pattern.
#[derive(Debug)]
pub(super) struct Program {
    steps: Vec<Step>,
    sets: Vec<Bytes>,
}

/// Instructions of one program. Repetitions within repetitions multiply.
const LONGEST: usize = 1 << 16;

impl Program {
    pub(super) fn of(part: &Part) -> Result<Program, String> {
        let mut program = Program { steps: Vec::new(), sets: Vec::new() };
        program.add(part)?;
        program.push(Step::Found)?;
        Ok(program)
    }

    fn push(&mut self, step: Step) -> Result<usize, String> {
        if self.steps.len() >= LONGEST {
            return Err(format!("its repetitions make more than {LONGEST} steps"));
        }
        self.steps.push(step);
        Ok(self.steps.len() - 1)
    }

    /// Where the next instruction will be.
    fn here(&self) -> u32 {
        self.steps.len() as u32
    }

    fn add(&mut self, part: &Part) -> Result<(), String> {
        match part {
            Part::Byte(byte) => self.push(Step::Byte(*byte)).map(drop),
            Part::Any => self.push(Step::Any).map(drop),
            Part::At(place) => self.push(Step::At(*place)).map(drop),
            Part::Set(set) => {
                let known = self.sets.iter().position(|known| known == set);
                let index = known.unwrap_or_else(|| {
                    self.sets.push(*set);
                    self.sets.len() - 1
                });
                self.push(Step::Set(index as u32)).map(drop)
            }
            Part::Sequence(parts) => parts.iter().try_for_each(|part| self.add(part)),
            Part::Either(parts) => self.add_either(parts),
            Part::Repeat(part, least, most) => self.add_repeat(part, *least, *most),
        }
    }

    fn add_either(&mut self, parts: &[Part]) -> Result<(), String> {
        let Some((last, others)) = parts.split_last() else { return Ok(()) };
        let mut ends = Vec::with_capacity(others.len());
        for part in others {
            let split = self.push(Step::Split(0, 0))?;
            self.add(part)?;
            ends.push(self.push(Step::Jump(0))?);
            self.steps[split] = Step::Split(split as u32 + 1, self.here());
        }
        self.add(last)?;
        for end in ends {
            self.steps[end] = Step::Jump(self.here());
        }
        Ok(())
    }

    fn add_repeat(&mut self, part: &Part, least: u32, most: Option<u32>) -> Result<(), String> {
        for _ in 0..least {
            self.add(part)?;
        }
        let Some(most) = most else {
            let split = self.push(Step::Split(0, 0))?;
            self.add(part)?;
            self.push(Step::Jump(split as u32))?;
            self.steps[split] = Step::Split(split as u32 + 1, self.here());
            return Ok(());
        };
        let mut splits = Vec::new();
        for _ in least..most {
            splits.push(self.push(Step::Split(0, 0))?);
            self.add(part)?;
        }
        for split in splits {
            self.steps[split] = Step::Split(split as u32 + 1, self.here());
        }
        Ok(())
    }

    /// Whether the program matches a part of the text, and the steps that it took.
    pub(super) fn run(&self, text: &[u8], limit: u64) -> Result<(bool, u64), TooManySteps> {
        let mut now = Reached::new(self.steps.len());
        let mut next = Reached::new(self.steps.len());
        let mut taken = 0;
        for at in 0..=text.len() {
            // A match may begin anywhere.
            if self.follow(0, text, at, &mut now) {
                return Ok((true, taken + now.count));
            }
            taken += now.count;
            if taken > limit {
                return Err(TooManySteps);
            }
            let Some(&byte) = text.get(at) else { break };
            next.clear();
            for &step in &now.waiting {
                let goes_on = match self.steps[step as usize] {
                    Step::Byte(wanted) => wanted == byte,
                    Step::Any => true,
                    Step::Set(set) => self.sets[set as usize].contains(byte),
                    _ => false,
                };
                if goes_on && self.follow(step + 1, text, at + 1, &mut next) {
                    return Ok((true, taken + next.count));
                }
            }
            std::mem::swap(&mut now, &mut next);
        }
        Ok((false, taken))
    }

    /// Everything that can be reached from an instruction without reading a byte. `true` if the pattern is found.
    fn follow(&self, from: u32, text: &[u8], at: usize, reached: &mut Reached) -> bool {
        reached.todo.push(from);
        while let Some(step) = reached.todo.pop() {
            if !reached.enter(step) {
                continue;
            }
            match self.steps[step as usize] {
                Step::Byte(_) | Step::Any | Step::Set(_) => reached.waiting.push(step),
                Step::At(place) => {
                    if place.is_at(text, at) {
                        reached.todo.push(step + 1);
                    }
                }
                Step::Split(one, other) => reached.todo.extend([other, one]),
                Step::Jump(to) => reached.todo.push(to),
                Step::Found => {
                    reached.todo.clear();
                    return true;
                }
            }
        }
        false
    }
}

impl Place {
    fn is_at(self, text: &[u8], at: usize) -> bool {
        let is_word = |byte: Option<&u8>| byte.is_some_and(|&byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let before = is_word(at.checked_sub(1).and_then(|before| text.get(before)));
        let after = is_word(text.get(at));
        match self {
            Place::Begin => at == 0,
            Place::End => at == text.len(),
            Place::WordBegin => !before && after,
            Place::WordEnd => before && !after,
        }
    }
}

/// The instructions reached at one place of the text.
struct Reached {
    /// Those that wait for a byte.
    waiting: Vec<u32>,
    /// For each instruction, the turn in which it was reached last.
    turns: Vec<u32>,
    turn: u32,
    todo: Vec<u32>,
    count: u64,
}

impl Reached {
    fn new(steps: usize) -> Reached {
        Reached { waiting: Vec::new(), turns: vec![0; steps], turn: 1, todo: Vec::new(), count: 0 }
    }

    fn clear(&mut self) {
        self.waiting.clear();
        self.count = 0;
        self.turn = self.turn.checked_add(1).unwrap_or_else(|| {
            self.turns.fill(0);
            1
        });
    }

    /// Whether an instruction is reached for the first time.
    fn enter(&mut self, step: u32) -> bool {
        let turn = &mut self.turns[step as usize];
        let is_new = *turn != self.turn;
        *turn = self.turn;
        self.count += u64::from(is_new);
        is_new
    }
}
