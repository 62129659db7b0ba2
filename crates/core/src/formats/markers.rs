//! Names of slices that may delimit steps. Whether they do is decided where steps are recovered.

use crate::classes;

/// True for a slice whose name says that it may be one step of the program's loop, by any of the
/// ways frameworks have of saying so. A slice with a `step_num` is a candidate whatever its name.
///
/// * `ProfilerStep#7`: PyTorch's profiler.
/// * `train`, `train_step`, `Step 7`, ...: marks of users (`Trace("train", step_num=7)`).
/// * `SessionRun`: TF1. `FunctionRun`: every call of a tf.function, and nothing else in Keras 3.
/// * `multi_step_on_iterator`, `train_function`, ...: Keras' own tf.functions by name.
/// * `Profiled batch`: Keras' TensorBoard callback.
/// * `IteratorGetNext…::DoCompute`: the op that hands over the next batch.
/// * `Optimizer.step#Adam.step`, `enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__`: PyTorch, of each
///   update of the weights and of each batch.
/// * `PjitFunction(...)`, `pjit(...)`: JAX calls of a compiled function.
/// * `model_run`: ONNX Runtime, of each run of a session.
/// * `execute_context_1(888)_generation_0(0)`, `step[DECODE bs=32]`, ...: batches of inference servers.
pub fn marks_step(name: &str) -> bool {
    classes::marks_step(name) || numbered(name, "ProfilerStep#") || loop_mark(name) || serves(name)
}

/// True for a batch of an inference server, which says how many requests of it are new and how many go on, or
/// which of both it does.
fn serves(name: &str) -> bool {
    let counted = name.strip_prefix("execute_").and_then(|rest| rest.split_once("context_")).is_some_and(
        |(size, rest)| size.bytes().all(|b| b.is_ascii_digit() || b == b'_') && rest.contains("_generation_"),
    );
    let named = name
        .strip_prefix("step[")
        .and_then(|rest| rest.strip_suffix(']'))
        .and_then(|rest| rest.split_once(" bs="))
        .is_some_and(|(mode, rest)| {
            !mode.is_empty()
                && mode.bytes().all(|b| b.is_ascii_uppercase() || b == b'_')
                && rest.starts_with(|c: char| c.is_ascii_digit())
        });
    counted || named
}

/// True for a row of an accelerator whose slices are its own steps, or runs of whole programs, as profilers of
/// TensorFlow and JAX name them.
pub fn shows_steps(row: &str) -> bool {
    matches!(row, "Steps" | "XLA Modules")
}

/// Marks of users and functions of Keras, whatever their capitals and the number behind them.
const LOOP_MARKS: [&str; 16] = [
    "train", "training", "train_step", "training_step", "train step", "training step", "step", "eval",
    "eval_step", "test_step", "predict_step", "validation_step", "train_function", "test_function",
    "predict_function", "iteration",
];

/// What Keras 3 calls its tf.functions; `_on_data` and `_on_iterator` count the steps within.
const KERAS_FUNCTIONS: [&str; 5] = [
    "multi_step_on_iterator", "one_step_on_iterator", "one_step_on_data", "one_step_on_data_distributed",
    "one_test_step_on_data",
];

fn numbered(name: &str, prefix: &str) -> bool {
    name.strip_prefix(prefix).is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
}

fn loop_mark(name: &str) -> bool {
    // The longest mark with a number behind it fits well within this.
    if name.len() > 48 {
        return false;
    }
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let bare = bare.trim_end_matches([' ', '_', '#', ':', '=', '-', '/', '[']).trim();
    LOOP_MARKS.iter().any(|mark| bare.eq_ignore_ascii_case(mark)) || KERAS_FUNCTIONS.contains(&bare)
}

#[cfg(test)]
mod tests {
    use super::marks_step;

    #[test]
    fn candidates() {
        for name in [
            "ProfilerStep#0",
            "ProfilerStep#123",
            "train",
            "Train",
            "train_step",
            "Training Step 12",
            "step_7",
            "Step #7",
            "SessionRun",
            "FunctionRun",
            "Profiled batch",
            "multi_step_on_iterator",
            "one_step_on_data",
            "IteratorGetNext::DoCompute",
            "IteratorGetNextAsOptional::DoCompute",
            "IteratorGetNextOp::DoCompute",
            "PjitFunction(<lambda>)",
            "test_function",
            "XlaCompile:#module=cluster_0#",
            "_XlaCompile",
            "cluster_1_1/xla_compile:_XlaCompile",
            "cluster_1_1/xla_compile",
            "execute_context_1(888_788544)_generation_0(0)",
            "execute_32_context_0(sq0sk0)_generation_32(sq32sk55086)",
            "execute_context_1024_generation_64",
            "step[DECODE bs=32]",
            "step[EXTEND bs=2 toks=4096]",
            "PjRtCpuClient::Compile",
            "CpuCompiler::RunBackend",
        ] {
            assert!(marks_step(name), "{name}");
        }
    }

    #[test]
    fn others() {
        for name in [
            "",
            "ProfilerStep#",
            "ProfilerStep#x",
            "trainer",
            "stepping",
            "MatMul",
            "EagerExecute",
            "Iterator::Root::Prefetch",
            "IteratorGetNext",
            "ThreadpoolListener::Record",
            "execute_context_1(888)",
            "execute_new_context_1(888)_generation_0(0)",
            "step[decode bs=1]",
            "step[DECODE bs=]",
            "step[DECODE]",
            "1234",
            "#",
            "ExecutorState::Process",
            "StatefulPartitionedCall/train/MatMul:MatMul",
        ] {
            assert!(!marks_step(name), "{name}");
        }
    }
}
