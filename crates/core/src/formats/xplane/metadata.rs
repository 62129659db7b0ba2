//! The dictionaries of a plane: names of stats, and what kinds of events there are.

use super::ids::Ids;
use super::text::Text;
use super::window::{Extent, Head, Trouble, Window};
use crate::columns::NONE;
use crate::formats::markers::marks_step;
use crate::formats::node_names::op_of;
use crate::store::Writer;
use crate::store::lazy_text::Named;
use rustc_hash::FxHashMap;

/// Longer names are cut, and that is noted.
pub const NAME_LIMIT_BYTES: usize = 1 << 20;

/// What a stat means to us besides being an arg.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    None,
    Correlation,
    StepNumber,
    HloOp,
    HloCategory,
    TfOp,
    ProducerType,
    ProducerId,
    ConsumerType,
    ConsumerId,
    /// Set on calls of a tf.function, whatever the user called it.
    FunctionCall,
}

impl Role {
    fn of(name: &str) -> Role {
        match name {
            "correlation_id" => Role::Correlation,
            "step_num" => Role::StepNumber,
            "hlo_op" => Role::HloOp,
            "hlo_category" => Role::HloCategory,
            "tf_op" => Role::TfOp,
            "_pt" => Role::ProducerType,
            "_p" => Role::ProducerId,
            "_ct" => Role::ConsumerType,
            "_c" => Role::ConsumerId,
            "tf_function_call" => Role::FunctionCall,
            _ => Role::None,
        }
    }
}

/// A name of stats.
#[derive(Debug, Clone, Copy)]
pub struct StatName {
    /// Where `,"name":` is in the pool.
    pub start: usize,
    /// Its length.
    pub length: u32,
    /// First slot with the same name: two ids may share one.
    pub same_as: u32,
    /// What it means to us.
    pub role: Role,
}

/// Names of stats by id. A name also serves as value: that is what references are.
#[derive(Debug, Default)]
pub struct StatNames {
    pub ids: Ids,
    /// The entries of small ids once more, by id: one look less for each stat.
    direct: Vec<StatName>,
    /// The roles of small ids, in few bytes: all that decoding asks for.
    roles: Vec<Option<Role>>,
    pub entries: Vec<StatName>,
    /// `,"name":` of all of them, and 32 bytes more; see [`Text::push_from`].
    pub pool: Vec<u8>,
    /// Length of the longest `,"name":`.
    pub longest: usize,
    /// Id and name of each entry.
    names: Vec<Named>,
}

impl StatNames {
    pub fn name(&self, slot: usize) -> &str {
        &self.names[slot].1
    }

    /// Ids and names in the order of the file.
    pub fn all(&self) -> &[Named] {
        &self.names
    }

    /// The name with this id.
    #[inline(always)]
    pub fn get(&self, id: u64) -> Option<&StatName> {
        match self.direct.get(id as usize) {
            Some(name) if name.length > 0 => Some(name),
            _ => self.ids.get(id).map(|slot| &self.entries[slot]),
        }
    }

    /// What the name with this id means to us; None when there is no such name.
    #[inline(always)]
    pub fn role(&self, id: u64) -> Option<Role> {
        match self.roles.get(id as usize) {
            Some(Some(role)) => Some(*role),
            _ => self.rare_role(id),
        }
    }

    /// Like [`StatNames::role`], only for small ids.
    #[inline(always)]
    pub fn quick_role(&self, id: u64) -> Option<Role> {
        self.roles.get(id as usize).copied().flatten()
    }

    #[cold]
    fn rare_role(&self, id: u64) -> Option<Role> {
        self.ids.get(id).map(|slot| self.entries[slot].role)
    }

    /// Reads the values of the plane's map; counts the names that had to be repaired or cut.
    pub fn read(window: &mut Window<'_>, entries: &[Extent], repaired: &mut u64) -> Result<Self, Trouble> {
        let mut names = Vec::new();
        for &entry in entries {
            // An entry without a value names nothing.
            let (id, Some(value)) = map_entry(window, entry)? else {
                continue;
            };
            let mut name = String::new();
            each_field(window, value, |window, head| {
                if head.is(2) {
                    name = read_name(window, head.body, repaired)?;
                } else if head.is(3) {
                    // A description; nobody asks for it, but it has to be text.
                    read_name(window, head.body, repaired)?;
                }
                Ok(true)
            })?;
            names.push((id, name.into_boxed_str()));
        }
        Ok(StatNames::new(names))
    }

    /// Of several names of one id the last counts.
    pub fn new(all: Vec<Named>) -> Self {
        let mut names = StatNames::default();
        let mut first: FxHashMap<&str, u32> = FxHashMap::default();
        let mut text = Text::default();
        for (slot, (id, name)) in all.iter().enumerate() {
            let slot = slot as u32;
            let start = text.len();
            text.byte(b',');
            text.quoted(name.as_bytes());
            text.byte(b':');
            let length = text.len() - start;
            names.longest = names.longest.max(length);
            names.entries.push(StatName {
                start,
                length: length as u32,
                same_as: *first.entry(name).or_insert(slot),
                role: Role::of(name),
            });
            names.ids.insert(*id, slot);
        }
        let none = StatName { start: 0, length: 0, same_as: 0, role: Role::None };
        let dense = names.ids.dense().iter();
        let small = dense.map(|&slot| names.entries.get(slot as usize));
        names.roles = small.clone().map(|name| Some(name?.role)).collect();
        names.direct = small.map(|name| *name.unwrap_or(&none)).collect();
        text.push(&[0; 32]);
        names.pool = text.into_bytes();
        names.names = all;
        names
    }
}

/// What all events of one kind have in common: codes of the writer's pools.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    pub name: u32,
    pub op_name: u32,
    pub op_type: u32,
    /// From the metadata's own hlo_category; NONE leaves it to the line.
    pub category: u32,
    pub marker: bool,
}

/// Kinds of events by id.
#[derive(Debug, Default)]
pub struct Kinds {
    pub ids: Ids,
    pub entries: Vec<Kind>,
    /// The entries of small ids once more, by id; without a name where there is none.
    direct: Vec<Kind>,
    /// Entries that hold more than names.
    pub described: Vec<Extent>,
}

impl Kinds {
    /// The kind with this id.
    #[inline(always)]
    pub fn get(&self, id: u64) -> Option<Kind> {
        match self.direct.get(id as usize) {
            Some(kind) if kind.name != NONE => Some(*kind),
            _ => self.ids.get(id).map(|slot| self.entries[slot]),
        }
    }

    /// Reads the values of the plane's map and interns what slices may need of them; counts the names
    /// that had to be repaired or cut. A plane without lines needs none of the names (`used`).
    pub fn read(
        window: &mut Window<'_>,
        entries: &[Extent],
        stats: &StatNames,
        writer: &mut Writer,
        used: bool,
        repaired: &mut u64,
    ) -> Result<Self, Trouble> {
        let mut kinds = Kinds::default();
        for &entry in entries {
            let (id, Some(value)) = map_entry(window, entry)? else {
                continue;
            };
            let (mut name, mut display) = (String::new(), String::new());
            let mut category: Option<String> = None;
            let mut described = false;
            each_field(window, value, |window, head| {
                match head.number {
                    2 if head.wire == 2 => name = read_name(window, head.body, repaired)?,
                    4 if head.wire == 2 => display = read_name(window, head.body, repaired)?,
                    3 if head.wire == 2 => described |= head.body.len() > 0,
                    6 => described = true,
                    5 if head.wire == 2 => {
                        described = true;
                        if let Some(text) = hlo_category(window, head.body, stats)? {
                            category = Some(text);
                        }
                    }
                    _ => {}
                }
                Ok(true)
            })?;
            let slot = kinds.entries.len() as u32;
            kinds.ids.insert(id, slot);
            if described {
                kinds.described.push(value);
            }
            if !used {
                continue;
            }
            // Only JAX's Python profiler writes the version of JAX.
            if name.starts_with("PjitFunction(") {
                writer.facts.producer = "jax".to_owned();
            }
            let (op_name, op_type) = match (&category, op_of(&name)) {
                // XLA's own rows: the name is the whole instruction, display_name its short form.
                (Some(category), _) => {
                    let op = if display.is_empty() { &name } else { &display };
                    (writer.op_names.intern(op), writer.op_types.intern(category))
                }
                (None, Some((node, op))) => (writer.op_names.intern(node), writer.op_types.intern(op)),
                (None, None) => (NONE, NONE),
            };
            kinds.entries.push(Kind {
                name: writer.names.intern(&name),
                op_name,
                op_type,
                category: category.map_or(NONE, |text| writer.categories.intern(&text)),
                marker: marks_step(&name),
            });
        }
        let none = Kind { name: NONE, op_name: NONE, op_type: NONE, category: NONE, marker: false };
        let small = kinds.ids.dense().iter();
        kinds.direct = small.map(|&slot| *kinds.entries.get(slot as usize).unwrap_or(&none)).collect();
        Ok(kinds)
    }
}

/// `fusion.12` is one of many `fusion`s.
pub fn hlo_base(op: &str) -> &str {
    unnumbered(op, '.')
}

/// A name without the number after its last separator: `wrapped_tanh_5` is one of many `wrapped_tanh`s.
pub fn unnumbered(name: &str, separator: char) -> &str {
    match name.rsplit_once(separator) {
        Some((base, number))
            if !base.is_empty() && !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) =>
        {
            base
        }
        _ => name,
    }
}

fn hlo_category(window: &mut Window<'_>, stat: Extent, stats: &StatNames) -> Result<Option<String>, Trouble> {
    let (mut wanted, mut text) = (false, None);
    each_field(window, stat, |window, head| {
        if let Some(id) = head.varint(1) {
            wanted = stats.ids.get(id).is_some_and(|slot| stats.entries[slot].role == Role::HloCategory);
        } else if wanted && head.is(5) {
            text = Some(read_name(window, head.body, &mut 0)?);
        } else if wanted && let Some(id) = head.varint(7) {
            text = stats.ids.get(id).map(|slot| stats.name(slot).to_owned());
        }
        Ok(true)
    })?;
    Ok(text)
}

/// Key and value of a map entry.
fn map_entry(window: &mut Window<'_>, entry: Extent) -> Result<(u64, Option<Extent>), Trouble> {
    let (mut key, mut value) = (0, None);
    each_field(window, entry, |_, head| {
        if let Some(id) = head.varint(1) {
            key = id;
        } else if head.is(2) {
            value = Some(head.body);
        }
        Ok(true)
    })?;
    Ok((key, value))
}

/// Calls `see` for each field of a message while it answers true. Stops where the message is damaged:
/// what was whole is kept, no event is lost by it, and the window remembers.
pub fn each_field(
    window: &mut Window<'_>,
    message: Extent,
    mut see: impl FnMut(&mut Window<'_>, Head) -> Result<bool, Trouble>,
) -> Result<(), Trouble> {
    let mut at = message.start;
    loop {
        match window.field(at, message.end) {
            Ok(Some(head)) if !head.cut => {
                at = head.body.end;
                if !see(window, head)? {
                    return Ok(());
                }
            }
            Ok(None) => return Ok(()),
            Ok(Some(_)) | Err(Trouble::Damage(_)) => {
                window.damaged.get_or_insert(at);
                return Ok(());
            }
            Err(failure) => return Err(failure),
        }
    }
}

/// A name, repaired when it is not UTF-8 and cut when it is far too long.
pub fn read_name(window: &mut Window<'_>, body: Extent, repaired: &mut u64) -> Result<String, Trouble> {
    let (bytes, whole) = window.copy(body, NAME_LIMIT_BYTES)?;
    match String::from_utf8(bytes) {
        Ok(text) if whole => Ok(text),
        Ok(text) => {
            *repaired += 1;
            Ok(text)
        }
        Err(error) => {
            *repaired += 1;
            Ok(String::from_utf8_lossy(error.as_bytes()).into_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hlo_bases() {
        assert_eq!(hlo_base("fusion.12"), "fusion");
        assert_eq!(hlo_base("dot"), "dot");
        assert_eq!(hlo_base("a.b"), "a.b");
        assert_eq!(hlo_base(".1"), ".1");
        assert_eq!(unnumbered("gemm_fusion_dot_general_24", '_'), "gemm_fusion_dot_general");
        assert_eq!(unnumbered("wrapped_tanh", '_'), "wrapped_tanh");
        assert_eq!(unnumbered("_1", '_'), "_1");
    }
}
