//! The stats of an event that have a role, besides being args.

use super::args::Found;
use super::metadata::Role;

/// Values of the stats with a role; those whose bit is set belong to this event.
pub struct Roles<'a> {
    pub bits: u32,
    numbers: [u64; COUNT],
    pub texts: [Found<'a>; COUNT],
}

/// Bits of texts are this far above those of numbers.
const TEXTS: u32 = 16;

impl<'a> Roles<'a> {
    pub fn new() -> Self {
        Roles { bits: 0, numbers: [0; COUNT], texts: [Found::Nothing; COUNT] }
    }

    pub fn take(&mut self, role: Role, found: Found<'a>) {
        match found {
            Found::Signed(value) => self.take_number(role, value as u64, false),
            Found::Unsigned(value) => self.take_number(role, value, false),
            Found::Ref(id) => self.take_number(role, id, true),
            Found::Str(_) => {
                self.texts[role as usize] = found;
                self.bits |= text_bit(role);
            }
            _ => {}
        }
    }

    #[inline(always)]
    pub fn take_number(&mut self, role: Role, number: u64, reference: bool) {
        if reference {
            self.texts[role as usize] = Found::Ref(number);
            self.bits |= text_bit(role);
        } else {
            self.numbers[role as usize] = number;
            self.bits |= number_bit(role);
        }
    }

    pub fn number(&self, role: Role) -> Option<u64> {
        (self.bits & number_bit(role) != 0).then_some(self.numbers[role as usize])
    }

    pub fn has_text(&self, role: Role) -> bool {
        self.bits & text_bit(role) != 0
    }
}

const fn number_bit(role: Role) -> u32 {
    1 << role as u32
}

const fn text_bit(role: Role) -> u32 {
    1 << (role as u32 + TEXTS)
}

const COUNT: usize = Role::FunctionCall as usize + 1;
pub const LINKS: u32 = number_bit(Role::ProducerType)
    | number_bit(Role::ProducerId)
    | number_bit(Role::ConsumerType)
    | number_bit(Role::ConsumerId);
pub const OPS: u32 = text_bit(Role::HloOp) | text_bit(Role::TfOp) | text_bit(Role::HloCategory);
pub const MARKS: u32 = number_bit(Role::StepNumber) | text_bit(Role::FunctionCall);
