//! Recurrent layers: the products of inputs and states with the weights of the gates, and the gates.

use super::Op;

/// Whether [`count`] knows the op.
pub fn has_formula(name: &str) -> bool {
    matches!(
        name,
        "BlockLSTM"
            | "BlockLSTMV2"
            | "BlockLSTMGrad"
            | "BlockLSTMGradV2"
            | "LSTMBlockCell"
            | "LSTMBlockCellGrad"
            | "GRUBlockCell"
            | "GRUBlockCellGrad"
            | "CudnnRNN"
            | "CudnnRNNV2"
            | "CudnnRNNV3"
            | "CudnnRNNBackprop"
            | "CudnnRNNBackpropV2"
            | "CudnnRNNBackpropV3"
    )
}

/// The operations of one run. Clipping of cells does not count.
pub fn count(op: &Op<'_>) -> Option<i128> {
    match op.name {
        // seq_len_max, x [time, batch, inputs], cs_prev, h_prev, w [inputs + units, 4 units]
        "BlockLSTM" | "BlockLSTMV2" => lstm(op),
        // The gradients of inputs and of weights are products of the same size.
        "BlockLSTMGrad" | "BlockLSTMGradV2" => lstm(op).map(|forward| 2 * forward),
        "LSTMBlockCell" => {
            let [batch, _] = op.shape(0)? else {
                return None;
            };
            lstm_step(op, i128::from(*batch), op.shape(3)?)
        }
        // Only gates and cell; products with weights are ops of their own. Of output, cell, candidate, forget
        // and input gate 4, 5, 4, 4, 4, of the cell before 1; peepholes: two sums of products and three weights.
        "LSTMBlockCellGrad" => {
            let peepholes = if op.attributes.truth("use_peephole") { 12 } else { 0 };
            Some(op.input(1)? * (22 + peepholes))
        }
        "GRUBlockCell" => {
            let [batch, units] = op.shape(1)? else {
                return None;
            };
            let weights = op.input(2)? + op.input(3)?;
            Some(i128::from(*batch) * (2 * weights + GRU * i128::from(*units)))
        }
        // Products with the same weights; of candidate, update and reset gate 5, 5 and 4, of the state before 4;
        // the two gradients of x are added.
        "GRUBlockCellGrad" => {
            let [batch, units] = op.shape(1)? else {
                return None;
            };
            let weights = op.input(2)? + op.input(3)?;
            Some(i128::from(*batch) * (2 * weights + 18 * i128::from(*units)) + op.input(0)?)
        }
        name => {
            let forward = cudnn(op)?;
            Some(if name.contains("Backprop") { 2 * forward } else { forward })
        }
    }
}

/// Of each unit: four biases and functions, three products, a sum and a function.
const LSTM: i128 = 8 + 5;
/// Of each unit: three biases and functions, the reset state, and u * h + (1 - u) * c.
const GRU: i128 = 6 + 1 + 4;

/// One step of a batch with weights [inputs + units, 4 units]: two for each weight, then gates and cell.
fn lstm_step(op: &Op<'_>, batch: i128, weights: &[i64]) -> Option<i128> {
    let [_, outputs] = weights else { return None };
    let mut each = LSTM;
    // The oldest forms add it themselves.
    if matches!(op.name, "BlockLSTM" | "BlockLSTMGrad" | "LSTMBlockCell") {
        each += 1;
    }
    if op.attributes.truth("use_peephole") {
        each += 6;
    }
    let units = i128::from(outputs / 4);
    batch.checked_mul(2 * super::elements(weights) + each * units)
}

fn lstm(op: &Op<'_>) -> Option<i128> {
    let [time, batch, _] = op.shape(1)? else {
        return None;
    };
    let step = lstm_step(op, i128::from(*batch), op.shape(4)?)?;
    step.checked_mul(i128::from(*time))
}

/// input [time, batch, inputs], input_h [layers × directions, batch, outputs], input_c [layers × directions,
/// batch, units]. Sequences that are padded count in full. There are two biases for each gate.
fn cudnn(op: &Op<'_>) -> Option<i128> {
    let ([time, batch, inputs], [stacked, _, outputs]) = (op.shape(0)?, op.shape(1)?) else {
        return None;
    };
    let (inputs, outputs) = (i128::from(*inputs), i128::from(*outputs));
    // A projection makes the outputs fewer than the units, which the cells have.
    let projects = op.attributes.int("num_proj").unwrap_or(0) > 0;
    let units = match projects {
        true => i128::from(*op.shape(2)?.last()?),
        false => outputs,
    };
    let (gates, each) = match op.attributes.text("rnn_mode").as_deref() {
        Some("lstm") | None => (4, LSTM + 4),
        Some("gru") => (3, GRU + 3),
        _ => (1, 3),
    };
    let directions = match op.attributes.text("direction").as_deref() {
        Some("bidirectional") => 2,
        _ => 1,
    };
    let layer = |width: i128| -> Option<i128> {
        let weights = (width + outputs).checked_mul(gates * units)?;
        let projection = if projects { units * outputs } else { 0 };
        let one = 2i128.checked_mul(weights + projection)? + each * units;
        one.checked_mul(directions)
    };
    let later = match i128::from(*stacked) / directions {
        0 => return Some(0),
        layers => layers - 1,
    };
    // The first layer may take its inputs as they are, as many as it has units, without weights.
    let skips = op.attributes.text("input_mode").as_deref() == Some("skip_input");
    let first = layer(if skips { 0 } else { inputs })?;
    // Later layers take what all directions of the one before put out.
    let later = later.checked_mul(layer(outputs * directions)?)?;
    (first.checked_add(later)?).checked_mul(i128::from(*batch))?.checked_mul(i128::from(*time))
}
