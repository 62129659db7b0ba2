"""Items of "tfprof: profile the model".

What TensorFlow's own engine (2.21) prints for the same files of TensorFlow 1.1 is the truth of the views, and
sums over the RunMetadata that of the rest.
"""

from pathlib import Path

from .item import Item

TITLE = "tfprof: profile the model"

GRAPH = "-graph_path=tf1/resnet32/graph.pbtxt.gz"
STEP = "-run_meta_path=tf1/resnet32/run_meta.gz"
LOG = "-op_log_path=tf1/resnet32/tfprof_log"
SCOPE = f"stepscope tfprof scope {GRAPH}"
VARIABLES = f"{SCOPE} -account_type_regexes Variable.* -select params"
_WITH_CHECKPOINT = "tf1/resnet32/graph.pbtxt.gz tf1/resnet32/model.ckpt.index.gz"
_TRAINABLE = (
    "_TFProfRoot (--/464.15k params)",
    "init/init_conv/DW (3x3x3x16, 432/432 params)",
    "pool_logit/DW (64x10, 640/640 params)",
    "pool_logit/biases (10, 10/10 params)",
    "unit_last/final_bn/gamma (64, 64/64 params)",
)
_GAMMA = (
    "unit_1_0/shared_activation/init_bn/gamma () "
    "[1.01 1.00 1.01 0.99 1.01 1.00 1.01 1.00 0.99 1.00 1.00 1.01 0.99 1.00 0.99 1.00 ],",
    "unit_1_0/sub2/bn2/gamma () "
    "[1.00 1.00 1.00 1.01 1.01 1.00 1.01 0.99 1.00 1.00 1.01 0.99 1.00 0.99 1.01 1.01 ],",
)
_TWO_CONVOLUTIONS = (
    "_TFProfRoot (--/18.43k params)",
    "unit_2_1/sub1/conv1/DW (3x3x32x32, 9.22k/9.22k params)",
    "unit_2_1/sub2/conv2/DW (3x3x32x32, 9.22k/9.22k params)",
)
_ALL = "-min_peak_bytes=-99999"
_HIDES = "-min_peak_bytes 0, the default, hides"


def _dumped(folder: Path, printed: str) -> None:
    assert "_TFProfRoot" not in printed
    assert "_TFProfRoot (--/932.91k params)" in (folder / "dump").read_text(encoding="utf-8")


ITEMS: list[Item] = [
    Item(
        "Parameters, shapes and floating point operations of a model",
        f"{SCOPE} {LOG} -select params,float_ops -max_depth 4 -account_type_regexes .*",
        ("_TFProfRoot (--/932.91k params, --/4.41b flops)", "init/init_conv/DW (3x3x3x16, 432/864 params"),
    ),
    Item(
        "Tensors of a checkpoint: shapes and values",
        "stepscope tfprof scope tf1/resnet32 -show_name_regexes unit_1_0.*gamma -select tensor_value,params "
        "-max_depth 5",
        ("unit_1_0/sub2/bn2/gamma (16, 16/32 params) [1.00 1.00 1.00 1.01 1.01",),
    ),
    Item(
        "By name scope or by the graph, grouped, filtered and ordered",
        f"{SCOPE} -account_type_regexes Variable.* -hide_name_regexes .*Momentum "
        "-order_by params -select params -max_depth 2",
        ("unit_3_4 (--/148.48k params) unit_3_0 (--/111.36k params) unit_2_1 (--/37.38k params)",),
    ),
    Item(
        "Time, memory and devices by type of op; TensorFlow 1.1 wrote negative bytes, which defaults hide",
        f"stepscope tfprof op {GRAPH} {STEP} -select micros,occurrence -order_by micros -max_depth 6",
        (
            f"{_HIDES} 7 lines that have negative figures",
            "the one that takes longest is Conv2DBackpropFilter, 3.01sec",
            "-min_peak_bytes=-30912 shows all",
        ),
    ),
    Item(
        "The same as a table, which has no minimums",
        'stepscope query tf1/resnet32 "SELECT count(*) AS types, sum(self_ps) // 1000000 AS us '
        "FROM tfprof_node WHERE view = 'op' AND depth = 1\"",
        ("76 8148268",),
    ),
    Item(
        "Python: the sizes of trainable variables, added up (`total_parameters`)",
        'import stepscope\nprofile = stepscope.tfprof("tf1/resnet32")\n'
        'print(profile.scope(account_type_regexes=["_trainable_variables"]).total.params)',
        ("464154",),
    ),
    Item(
        "Python: floating point operations (`FLOAT_OPS_OPTIONS`)",
        "import stepscope\n"
        'graph, log = "tf1/resnet32/graph.pbtxt.gz", "tf1/resnet32/tfprof_log"\n'
        "print(stepscope.tfprof(graph=graph, op_log=log).scope().total.float_ops)",
        ("4407288128",),
    ),
    Item(
        "Python: times and memory (`PRINT_ALL_TIMING_MEMORY`), and the result as data",
        'import stepscope\nprofile = stepscope.tfprof("tf1/resnet32")\n'
        'for kind in profile.op(order_by="micros").children[:2]:\n'
        "    print(kind.name, kind.own.micros, kind.own.requested_bytes)",
        ("Conv2DBackpropFilter 3013477 708417216 Conv2DBackpropInput 2249561 448053248",),
    ),
    Item(
        "Example 1: one answer, or a prompt; graph, RunMetadata, op log and checkpoint",
        f"{SCOPE} -max_depth=3 -select params\n"
        "stepscope tfprof tf1/resnet32\ntfprof> op -select occurrence -max_depth 0 -order_by occurrence",
        (
            "steps: tf1/resnet32/run_meta.gz",
            "op log: tf1/resnet32/tfprof_log",
            "checkpoint: tf1/resnet32/model.ckpt",
        ),
    ),
    Item(
        "`tfprof help`",
        "stepscope tfprof help",
        ("scope nodes by name scope", "-op_log_path", "-account_type_regexes", "orders of -order_by: name"),
        never=("run_log_path", "# required"),
    ),
    Item(
        "Example 2: Enter shows the options",
        f"stepscope tfprof {GRAPH}\ntfprof>",
        ("-max_depth 10", "-order_by name", "-account_type_regexes .*", "-select micros"),
    ),
    Item(
        "Example 3: the value of a BatchNorm's gamma in the checkpoint",
        "stepscope tfprof scope tf1/resnet32 -show_name_regexes unit_1_0.*gamma "
        "-select tensor_value -max_depth 5",
        _GAMMA,
    ),
    Item(
        "Example 4: the tensors of the checkpoint, with shapes and parameters",
        f"stepscope tfprof scope {_WITH_CHECKPOINT} -account_type_regexes _checkpoint_variables "
        "-select params -max_depth 4",
        (
            "_TFProfRoot (--/932.91k params) global_step (1, 1/1 params)",
            "pool_logit/DW (64x10, 640/1.28k params) pool_logit/DW/Momentum (64x10, 640/640 params)",
            "unit_last/final_bn/moving_mean (64, 64/64 params)",
        ),
    ),
    Item(
        "Example 5: what the op `cost` depends on and takes long",
        f"stepscope tfprof graph {GRAPH} {STEP} -start_name_regexes cost.* -max_depth 100 -min_micros 10000 "
        "-select micros -account_type_regexes .*",
        (
            "_TFProfRoot (--/8.15sec, --/0us, --/8.15sec)",
            "unit_2_4/sub2/bn2/moments/moments/Sub (46.32ms/46.32ms, 0us/0us, 46.32ms/46.32ms)",
            _HIDES,
        ),
    ),
    Item(
        "Example 6: expensive ops of back propagation",
        f"{SCOPE} {STEP} -start_name_regexes gradient.* -max_depth 100 -min_micros 20000 "
        "-select micros -account_type_regexes .*",
        (
            "gradients/unit_1_0/sub1/conv1/Conv2D_grad/Conv2DBackpropFilter (136.72ms/136.72ms, 0us/0us, "
            "136.72ms/136.72ms)",
        ),
    ),
    Item(
        "Example 7: floating point operations, with an op log",
        f"{SCOPE} {LOG} -min_float_ops 1 -max_depth 10 -select float_ops -account_type_regexes .*",
        (
            "_TFProfRoot (--/4.41b flops)",
            "init/init_conv/Conv2D (28.31m/28.31m flops)",
            "pool_logit/xw_plus_b (320/41.28k flops) pool_logit/xw_plus_b/MatMul (40.96k/40.96k flops)",
        ),
    ),
    Item(
        "Example 8: parameters of all trainable variables, with an option that lasts",
        f"stepscope tfprof {GRAPH} {LOG}\ntfprof> set -account_type_regexes _trainable_variables\n"
        "tfprof> scope -max_depth 4 -select params",
        _TRAINABLE,
    ),
    Item(
        "Example 9: a group of ops by their names, which alone are counted",
        f"stepscope tfprof {GRAPH}\ntfprof> set -account_type_regexes .*\n"
        "tfprof> scope -show_name_regexes unit_2_1.*DW -max_depth 100 -account_displayed_op_only "
        "-select params",
        _TWO_CONVOLUTIONS,
    ),
    Item(
        "Example 9 as it was typed: the default of `-select` is time today",
        f"{SCOPE} -show_name_regexes unit_2_1.*DW -max_depth 100 -account_displayed_op_only",
        ("unit_2_1/sub1/conv1/DW (0us/0us, 0us/0us, 0us/0us)",),
    ),
    Item(
        "Example 7 without an op log: the shapes of queues and of a step complete the graph's",
        f"stepscope tfprof op {GRAPH} -flops own -select float_ops -order_by float_ops -max_depth 2",
        # A forward pass of 4.41b as TensorFlow 1.1 counts it, and twice as much back.
        (
            "Conv2D 4.41b float_ops",
            "Conv2DBackpropFilter 4.41b float_ops",
            "Conv2DBackpropInput 4.41b float_ops",
        ),
        never=("2637",),
    ),
    Item(
        "Example 10: the type Variable counts more than one would think, and today nothing: it is VariableV2",
        f"{SCOPE} -account_type_regexes Variable -max_depth 4 -select params",
        (
            "_TFProfRoot (--/0 params)",
            "variables are VariableV2 or VarHandleOp; Variable.*,VarHandleOp finds all",
        ),
    ),
    Item(
        "Example 11: types of one's own, in an op log of TensorFlow 1.1",
        f"{SCOPE} {LOG} -account_type_regexes pool_logit -max_depth 4 -select params",
        (
            "_TFProfRoot (--/650 params)",
            "pool_logit/DW (64x10, 640/640 params)",
            "pool_logit/biases (10, 10/10",
        ),
    ),
    Item(
        "Example 12: the answer into a file",
        f"{VARIABLES} -max_depth=3 --dump_to_file=dump",
        (),
        check=_dumped,
    ),
    Item(
        "Example 13: how variables are spread over parameter servers",
        "stepscope tfprof tf1/parameter_servers\n"
        "tfprof> scope -select device,params -account_type_regexes .*ps.*task:0.* -max_depth 1\n"
        "tfprof> scope -select device,params -account_type_regexes .*ps.*task:1.* -max_depth 1",
        ("_TFProfRoot (--/128.00k params)", "_TFProfRoot (--/356.82k params)"),
    ),
    Item(
        "The four files; something else in place of one of them",
        "stepscope tfprof scope -graph_path=tf1/resnet32/run_meta.gz",
        ("The file cannot be read.", "tf1/resnet32/run_meta.gz"),
        exit=2,
    ),
    Item(
        "Memory of a RunMetadata of TensorFlow 1.1, which tells totals alone",
        "stepscope memory tf1/resnet32/run_meta.gz",
        (
            "Allocators gave 1.46 GiB in all for 4,658 executions",
            "4,657 outputs of 1.20 GiB were recorded",
            "-select bytes",
        ),
        never=("trace_level=FULL_TRACE", "say nothing"),
    ),
    Item(
        "What a checkpoint keeps",
        "stepscope tf1/resnet32/model.ckpt.index.gz",
        ("464,154 parameters of the model", "4,606 moving averages", "FROM checkpoint_tensor"),
        never=("468,760", "FROM node"),
    ),
    Item(
        "`-max_depth`",
        f"{VARIABLES} -max_depth 2",
        ("_TFProfRoot (--/932.91k params)", "pool_logit (--/1.30k params)"),
        never=("pool_logit/DW",),
    ),
    Item(
        "`-min_bytes`, `-min_micros`, `-min_params`, `-min_float_ops`",
        f"{SCOPE} {STEP} {LOG} -min_bytes 20000000 -min_micros 100000 -max_depth 100 "
        f"-select bytes -show_name_regexes .*Conv2DBackpropFilter {_ALL}\n"
        f"{SCOPE} {LOG} -min_params 640 -min_float_ops 0 -max_depth 100 -select params "
        "-account_type_regexes .* -show_name_regexes pool_logit.*",
        ("pool_logit/DW (64x10, 640/1.28k params) pool_logit/DW/Momentum (64x10, 640/640 params)",),
        never=("biases (",),
    ),
    Item(
        "`-device_regexes`, which TensorFlow has dropped",
        "stepscope tfprof scope tf1/parameter_servers -device_regexes .*ps.*task:0.* -select device,params "
        "-max_depth 100",
        ("/job:ps/replica:0/task:0/cpu:0",),
        never=("task:1/cpu:0)", "/job:worker/replica:0/task:0/cpu:0)"),
    ),
    Item(
        "`-order_by`; by depth lines come by name, as ever",
        f"{VARIABLES} -max_depth 2 -order_by depth",
        (
            "-order_by depth: there is no such order, so lines come by name",
            "global_step (1, 1/1 params) init (--/864",
        ),
    ),
    Item(
        "`-account_type_regexes`",
        f"{SCOPE} -account_type_regexes VariableV2 -select params -max_depth 1",
        ("_TFProfRoot (--/932.91k params)",),
    ),
    Item(
        "`-start_name_regexes`",
        f"{VARIABLES} -start_name_regexes unit_last",
        ("unit_last/final_bn/beta (64, 64/128 params)",),
        never=("pool_logit (",),
    ),
    Item(
        "`-trim_name_regexes`",
        f"{VARIABLES} -trim_name_regexes unit_.*",
        ("unit_last (--/514 params)", "pool_logit/biases (10, 10/20 params)"),
        never=("unit_last/final_bn",),
    ),
    Item(
        "`-show_name_regexes`",
        f"{VARIABLES} -show_name_regexes pool_logit.*",
        ("_TFProfRoot (--/932.91k params) pool_logit (--/1.30k params)",),
        never=("unit_last",),
    ),
    Item(
        "`-hide_name_regexes`",
        f"{VARIABLES} -hide_name_regexes unit_.*,.*Momentum",
        ("pool_logit/DW (64x10, 640/1.28k params)",),
        never=("Momentum (", "unit_last"),
    ),
    Item(
        "`-account_displayed_op_only`",
        f"{SCOPE} -account_type_regexes .* -show_name_regexes unit_2_1.*DW -max_depth 100 "
        "-account_displayed_op_only -select params",
        _TWO_CONVOLUTIONS,
    ),
    Item(
        "`-select`: bytes, micros, params, float_ops, tensor_value, device, op_types; num_hidden_ops never "
        "showed",
        "stepscope tfprof scope tf1/resnet32 -show_name_regexes pool_logit/biases -max_depth 9 "
        f"-select bytes,micros,params,float_ops,tensor_value,device,op_types,num_hidden_ops {_ALL}",
        (
            "pool_logit/biases (10, 10/20 params,",
            "VariableV2|_checkpoint_variables|_trainable_variables|pool_logit)",
            "-select num_hidden_ops: tfprof has never shown anything for this word",
        ),
    ),
    Item(
        "`-viz`, `-dump_to_file`",
        f"{VARIABLES} -viz -dump_to_file dump",
        ("-viz never drew anything",),
        check=_dumped,
    ),
    Item(
        "`advise`, of which TensorFlow's answer is empty here",
        "stepscope tfprof advise tf1/resnet32",
        (
            "The list of types is empty, as in TensorFlow",
            "The times of the top graph nodes are TensorFlow's: a scope's own, which is none",
            "OperationChecker lists nothing, as in TensorFlow",
            "low: Too few steps to speak for the job. Averages",
        ),
    ),
]
