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
            | "GRUBlockCell"
            | "CudnnRNN"
            | "CudnnRNNV2"
            | "CudnnRNNV3"
            | "CudnnRNNBackprop"
            | "CudnnRNNBackpropV2"
            | "CudnnRNNBackpropV3"
    )
}

/// The operations of one run.
pub fn count(op: &Op<'_>) -> Option<i128> {
    match op.name {
        // x [time, batch, inputs], w [inputs + units, 4 units]
        "BlockLSTM" | "BlockLSTMV2" => lstm(op, 1, 4),
        // The gradients of inputs and of weights are products of the same size.
        "BlockLSTMGrad" | "BlockLSTMGradV2" => lstm(op, 1, 4).map(|forward| 2 * forward),
        "LSTMBlockCell" => {
            let [batch, _] = op.shape(0)? else {
                return None;
            };
            let weights = op.shape(3)?;
            Some(step(i128::from(*batch), weights, 4))
        }
        "GRUBlockCell" => {
            let [batch, _] = op.shape(0)? else {
                return None;
            };
            let both = step(i128::from(*batch), op.shape(2)?, 3);
            Some(both + 2 * i128::from(*batch) * op.input(3)?)
        }
        name => {
            let forward = cudnn(op)?;
            Some(if name.contains("Backprop") {
                2 * forward
            } else {
                forward
            })
        }
    }
}

/// One step of a batch: two for each weight, and for each unit so much as its gates need.
fn step(batch: i128, weights: &[i64], gates: i128) -> i128 {
    let all: i128 = weights.iter().map(|dim| i128::from(*dim)).product();
    let outputs = weights.last().map_or(0, |dim| i128::from(*dim));
    // Each gate: the bias and a function; then the state of each unit: three products, two sums, a function.
    batch * (2 * all + 2 * outputs + 6 * outputs / gates)
}

fn lstm(op: &Op<'_>, x: usize, gates: i128) -> Option<i128> {
    let [time, batch, _] = op.shape(x)? else {
        return None;
    };
    // seq_len_max, x, cs_prev, h_prev, w
    let weights = op.shape(4)?;
    Some(i128::from(*time) * step(i128::from(*batch), weights, gates))
}

/// input [time, batch, inputs], input_h [layers × directions, batch, units]
fn cudnn(op: &Op<'_>) -> Option<i128> {
    let ([time, batch, inputs], [stacked, _, units]) = (op.shape(0)?, op.shape(1)?) else {
        return None;
    };
    let gates = match op.attributes.text("rnn_mode").as_deref() {
        Some("lstm") | None => 4,
        Some("gru") => 3,
        _ => 1,
    };
    let directions = match op.attributes.text("direction").as_deref() {
        Some("bidirectional") => 2,
        _ => 1,
    };
    let layer = |width: i64| {
        let weights = [width + units, gates * units];
        i128::from(directions) * step(i128::from(*batch), &weights, i128::from(gates))
    };
    let later = match stacked / directions {
        0 => return Some(0),
        layers => i128::from(layers - 1),
    };
    // Later layers take what all directions of the one before put out.
    let later = later.checked_mul(layer(units * directions))?;
    later
        .checked_add(layer(*inputs))?
        .checked_mul(i128::from(*time))
}
