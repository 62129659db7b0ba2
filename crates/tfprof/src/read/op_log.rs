//! Op logs: types, operations and Python stacks of nodes.

use super::{damaged, text, whole};
use crate::model::{Frame, Model};
use stepscope_core::error::Result;
use stepscope_core::input::Input;
use stepscope_core::proto::wire::{Field, Fields};

/// Adds what an op log says about nodes that are there. Returns the number of its entries.
pub fn op_log(model: &mut Model, input: &Input) -> Result<u64> {
    let bytes = whole(input)?;
    let mut entries = 0;
    let mut texts = Vec::new();
    // Texts and entries may come in any order. An unreadable log is ignored as a whole.
    for field in Fields::new(&bytes, 0) {
        let field = field.map_err(|damage| damaged(&damage))?;
        if field.number == 2 {
            texts.push(id_and_text(&field));
        }
    }
    for (id, text) in texts {
        model.texts.entry(id).or_insert(text);
    }
    for field in Fields::new(&bytes, 0).flatten().filter(|field| field.number == 1) {
        entries += 1;
        op_log_entry(model, &field)?;
    }
    Ok(entries)
}

pub(super) fn id_and_text(field: &Field<'_>) -> (i64, String) {
    let (mut id, mut value) = (0, String::new());
    for part in field.message().into_iter().flatten().flatten() {
        match part.number {
            1 => id = part.i64().unwrap_or_default(),
            2 => value = text(&part),
            _ => {}
        }
    }
    (id, value)
}

fn op_log_entry(model: &mut Model, field: &Field<'_>) -> Result<()> {
    let (mut name, mut types, mut flops) = (String::new(), Vec::new(), 0);
    let mut code: Option<Vec<Frame>> = None;
    for part in field.message().into_iter().flatten() {
        let part = part.map_err(|damage| damaged(&damage))?;
        match part.number {
            1 => name = text(&part),
            2 => flops = part.i64().unwrap_or_default(),
            3 => types.push(text(&part)),
            4 => code.get_or_insert_default().extend(frames(&part)?),
            _ => {}
        }
    }
    let Some(node) = model.find(&name) else {
        return Ok(());
    };
    for text in types {
        model.add_type(node, &text);
    }
    let own = &mut model.nodes[node as usize];
    if flops != 0 {
        own.flops = flops;
    }
    if let Some(code) = code {
        model.has_code = true;
        own.stack.get_or_insert(code.into());
    }
    Ok(())
}

pub(super) fn frames(code: &Field<'_>) -> Result<Vec<Frame>> {
    let mut frames = Vec::new();
    for trace in code.message().into_iter().flatten() {
        let trace = trace.map_err(|damage| damaged(&damage))?;
        if trace.number != 1 {
            continue;
        }
        let mut frame = Frame::default();
        for part in trace.message().into_iter().flatten().flatten() {
            let value = part.i64().unwrap_or_default();
            match part.number {
                2 => frame.line = i64::from(value as i32),
                5 => frame.function_line = i64::from(value as i32),
                6 => frame.file = value,
                7 => frame.function = value,
                8 => frame.text = value,
                _ => {}
            }
        }
        frames.push(frame);
    }
    Ok(frames)
}
