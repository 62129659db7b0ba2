// Written by crates/core/messages.py from the descriptors of TensorFlow; change that script, not this file.

use super::messages::Kind::{Bool, Bytes, Double, Enum, Float, Int, Text, Unread};
use super::messages::{Message, many, message, messages, one};

messages! {
RUN_METADATA "RunMetadata" true [
    one(1, "step_stats", message(&STEP_STATS)), one(2, "cost_graph", message(&COST_GRAPH_DEF)),
    many(3, "partition_graphs", message(&GRAPH_DEF)),
    many(4, "function_graphs", message(&RUN_METADATA_FUNCTION_GRAPHS)),
    one(5, "session_metadata", message(&SESSION_METADATA)),
]
STEP_STATS "StepStats" true [
    many(1, "dev_stats", message(&DEVICE_STEP_STATS)),
]
DEVICE_STEP_STATS "DeviceStepStats" true [
    one(1, "device", Text), many(2, "node_stats", message(&NODE_EXEC_STATS)),
    many(3, "thread_names", message(&DEVICE_STEP_STATS_THREAD_NAMES_ENTRY)),
]
NODE_EXEC_STATS "NodeExecStats" false [
    one(1, "node_name", Text), one(2, "all_start_micros", Int), one(3, "op_start_rel_micros", Int),
    one(4, "op_end_rel_micros", Int), one(5, "all_end_rel_micros", Int),
    many(6, "memory", message(&ALLOCATOR_MEMORY_USED)), many(7, "output", message(&NODE_OUTPUT)),
    one(8, "timeline_label", Text), one(9, "scheduled_micros", Int), one(10, "thread_id", Int),
    many(11, "referenced_tensor", message(&ALLOCATION_DESCRIPTION)),
    one(12, "memory_stats", message(&MEMORY_STATS)), one(13, "all_start_nanos", Int),
    one(14, "op_start_rel_nanos", Int), one(15, "op_end_rel_nanos", Int), one(16, "all_end_rel_nanos", Int),
    one(17, "scheduled_nanos", Int),
]
ALLOCATOR_MEMORY_USED "AllocatorMemoryUsed" false [
    one(1, "allocator_name", Text), one(2, "total_bytes", Int), one(3, "peak_bytes", Int),
    one(4, "live_bytes", Int), many(6, "allocation_records", message(&ALLOCATION_RECORD)),
    one(5, "allocator_bytes_in_use", Int),
]
ALLOCATION_RECORD "AllocationRecord" false [
    one(1, "alloc_micros", Int), one(2, "alloc_bytes", Int),
]
NODE_OUTPUT "NodeOutput" false [
    one(1, "slot", Int), one(3, "tensor_description", message(&TENSOR_DESCRIPTION)),
]
TENSOR_DESCRIPTION "TensorDescription" false [
    one(1, "dtype", Enum(DATA_TYPES)), one(2, "shape", message(&TENSOR_SHAPE_PROTO)),
    one(4, "allocation_description", message(&ALLOCATION_DESCRIPTION)),
]
TENSOR_SHAPE_PROTO "TensorShapeProto" false [
    many(2, "dim", message(&TENSOR_SHAPE_PROTO_DIM)), one(3, "unknown_rank", Bool),
]
TENSOR_SHAPE_PROTO_DIM "Dim" false [
    one(1, "size", Int), one(2, "name", Text),
]
ALLOCATION_DESCRIPTION "AllocationDescription" false [
    one(1, "requested_bytes", Int), one(2, "allocated_bytes", Int), one(3, "allocator_name", Text),
    one(4, "allocation_id", Int), one(5, "has_single_reference", Bool), one(6, "ptr", Int),
]
MEMORY_STATS "MemoryStats" false [
    one(1, "temp_memory_size", Int), one(3, "persistent_memory_size", Int),
    many(5, "persistent_tensor_alloc_ids", Int), one(2, "device_temp_memory_size", Int),
    one(4, "device_persistent_memory_size", Int), many(6, "device_persistent_tensor_alloc_ids", Int),
]
DEVICE_STEP_STATS_THREAD_NAMES_ENTRY "ThreadNamesEntry" false [
    one(1, "key", Int), one(2, "value", Text),
]
COST_GRAPH_DEF "CostGraphDef" true [
    many(1, "node", message(&COST_GRAPH_DEF_NODE)), many(2, "cost", message(&COST_GRAPH_DEF_AGGREGATED_COST)),
]
COST_GRAPH_DEF_NODE "Node" false [
    one(1, "name", Text), one(2, "device", Text), one(3, "id", Int),
    many(4, "input_info", message(&COST_GRAPH_DEF_NODE_INPUT_INFO)),
    many(5, "output_info", message(&COST_GRAPH_DEF_NODE_OUTPUT_INFO)), one(6, "temporary_memory_size", Int),
    one(12, "persistent_memory_size", Int), one(10, "host_temp_memory_size", Int),
    one(11, "device_temp_memory_size", Int), one(16, "device_persistent_memory_size", Int),
    one(9, "compute_cost", Int), one(14, "compute_time", Int), one(15, "memory_time", Int),
    one(7, "is_final", Bool), many(8, "control_input", Int), one(17, "inaccurate", Bool),
]
COST_GRAPH_DEF_NODE_INPUT_INFO "InputInfo" false [
    one(1, "preceding_node", Int), one(2, "preceding_port", Int),
]
COST_GRAPH_DEF_NODE_OUTPUT_INFO "OutputInfo" false [
    one(1, "size", Int), one(2, "alias_input_port", Int), one(3, "shape", message(&TENSOR_SHAPE_PROTO)),
    one(4, "dtype", Enum(DATA_TYPES)),
]
COST_GRAPH_DEF_AGGREGATED_COST "AggregatedCost" false [
    one(1, "cost", Float), one(2, "dimension", Text),
]
GRAPH_DEF "GraphDef" true [
    many(1, "node", message(&NODE_DEF)), one(4, "versions", message(&VERSION_DEF)), one(3, "version", Int),
    one(2, "library", message(&FUNCTION_DEF_LIBRARY)), one(5, "debug_info", message(&GRAPH_DEBUG_INFO)),
]
NODE_DEF "NodeDef" false [
    one(1, "name", Text), one(2, "op", Text), many(3, "input", Text), one(4, "device", Text),
    many(5, "attr", message(&NODE_DEF_ATTR_ENTRY)),
    one(6, "experimental_debug_info", message(&NODE_DEF_EXPERIMENTAL_DEBUG_INFO)),
    one(7, "experimental_type", message(&FULL_TYPE_DEF)),
]
NODE_DEF_ATTR_ENTRY "AttrEntry" false [
    one(1, "key", Text), one(2, "value", message(&ATTR_VALUE)),
]
ATTR_VALUE "AttrValue" false [
    one(2, "s", Bytes), one(3, "i", Int), one(4, "f", Float), one(5, "b", Bool),
    one(6, "type", Enum(DATA_TYPES)), one(7, "shape", message(&TENSOR_SHAPE_PROTO)),
    one(8, "tensor", message(&TENSOR_PROTO)), one(1, "list", message(&ATTR_VALUE_LIST_VALUE)),
    one(10, "func", message(&NAME_ATTR_LIST)), one(9, "placeholder", Text),
]
TENSOR_PROTO "TensorProto" false [
    one(1, "dtype", Enum(DATA_TYPES)), one(2, "tensor_shape", message(&TENSOR_SHAPE_PROTO)),
    one(3, "version_number", Int), one(4, "tensor_content", Bytes), many(13, "half_val", Int),
    many(5, "float_val", Float), many(6, "double_val", Double), many(7, "int_val", Int),
    many(8, "string_val", Bytes), many(9, "scomplex_val", Float), many(10, "int64_val", Int),
    many(11, "bool_val", Bool), many(12, "dcomplex_val", Double),
    many(14, "resource_handle_val", message(&RESOURCE_HANDLE_PROTO)),
    many(15, "variant_val", message(&VARIANT_TENSOR_DATA_PROTO)), many(16, "uint32_val", Int),
    many(17, "uint64_val", Int), one(18, "float8_val", Bytes),
]
RESOURCE_HANDLE_PROTO "ResourceHandleProto" false [
    one(1, "device", Text), one(2, "container", Text), one(3, "name", Text), one(4, "hash_code", Int),
    one(5, "maybe_type_name", Text),
    many(6, "dtypes_and_shapes", message(&RESOURCE_HANDLE_PROTO_DTYPE_AND_SHAPE)),
]
RESOURCE_HANDLE_PROTO_DTYPE_AND_SHAPE "DtypeAndShape" false [
    one(1, "dtype", Enum(DATA_TYPES)), one(2, "shape", message(&TENSOR_SHAPE_PROTO)),
]
VARIANT_TENSOR_DATA_PROTO "VariantTensorDataProto" false [
    one(1, "type_name", Text), one(2, "metadata", Bytes), many(3, "tensors", message(&TENSOR_PROTO)),
]
ATTR_VALUE_LIST_VALUE "ListValue" false [
    many(2, "s", Bytes), many(3, "i", Int), many(4, "f", Float), many(5, "b", Bool),
    many(6, "type", Enum(DATA_TYPES)), many(7, "shape", message(&TENSOR_SHAPE_PROTO)),
    many(8, "tensor", message(&TENSOR_PROTO)), many(9, "func", message(&NAME_ATTR_LIST)),
]
NAME_ATTR_LIST "NameAttrList" false [
    one(1, "name", Text), many(2, "attr", message(&NAME_ATTR_LIST_ATTR_ENTRY)),
]
NAME_ATTR_LIST_ATTR_ENTRY "AttrEntry" false [
    one(1, "key", Text), one(2, "value", message(&ATTR_VALUE)),
]
NODE_DEF_EXPERIMENTAL_DEBUG_INFO "ExperimentalDebugInfo" false [
    many(1, "original_node_names", Text), many(2, "original_func_names", Text),
]
FULL_TYPE_DEF "FullTypeDef" false [
    one(1, "type_id", Enum(&[])), many(2, "args", message(&FULL_TYPE_DEF)), one(3, "s", Text),
    one(4, "i", Int),
]
VERSION_DEF "VersionDef" false [
    one(1, "producer", Int), one(2, "min_consumer", Int), many(3, "bad_consumers", Int),
]
FUNCTION_DEF_LIBRARY "FunctionDefLibrary" true [
    many(1, "function", message(&FUNCTION_DEF)), many(2, "gradient", message(&GRADIENT_DEF)),
    many(3, "registered_gradients", message(&REGISTERED_GRADIENT)),
]
FUNCTION_DEF "FunctionDef" false [
    one(1, "signature", message(&OP_DEF)), many(5, "attr", message(&FUNCTION_DEF_ATTR_ENTRY)),
    many(7, "arg_attr", message(&FUNCTION_DEF_ARG_ATTR_ENTRY)),
    many(8, "resource_arg_unique_id", message(&FUNCTION_DEF_RESOURCE_ARG_UNIQUE_ID_ENTRY)),
    many(3, "node_def", message(&NODE_DEF)), many(4, "ret", message(&FUNCTION_DEF_RET_ENTRY)),
    many(6, "control_ret", message(&FUNCTION_DEF_CONTROL_RET_ENTRY)),
]
OP_DEF "OpDef" false [
    one(1, "name", Text), many(2, "input_arg", message(&OP_DEF_ARG_DEF)),
    many(3, "output_arg", message(&OP_DEF_ARG_DEF)), many(20, "control_output", Text),
    many(4, "attr", message(&OP_DEF_ATTR_DEF)), one(8, "deprecation", message(&OP_DEPRECATION)),
    one(5, "summary", Text), one(6, "description", Text), one(18, "is_commutative", Bool),
    one(16, "is_aggregate", Bool), one(17, "is_stateful", Bool), one(19, "allows_uninitialized_input", Bool),
    one(21, "is_distributed_communication", Bool),
]
OP_DEF_ARG_DEF "ArgDef" false [
    one(1, "name", Text), one(2, "description", Text), one(3, "type", Enum(DATA_TYPES)),
    one(4, "type_attr", Text), one(5, "number_attr", Text), one(6, "type_list_attr", Text),
    many(7, "handle_data", message(&RESOURCE_HANDLE_PROTO_DTYPE_AND_SHAPE)), one(16, "is_ref", Bool),
    one(17, "experimental_full_type", message(&FULL_TYPE_DEF)),
]
OP_DEF_ATTR_DEF "AttrDef" false [
    one(1, "name", Text), one(2, "type", Text), one(3, "default_value", message(&ATTR_VALUE)),
    one(4, "description", Text), one(5, "has_minimum", Bool), one(6, "minimum", Int),
    one(7, "allowed_values", message(&ATTR_VALUE)),
]
OP_DEPRECATION "OpDeprecation" false [
    one(1, "version", Int), one(2, "explanation", Text),
]
FUNCTION_DEF_ATTR_ENTRY "AttrEntry" false [
    one(1, "key", Text), one(2, "value", message(&ATTR_VALUE)),
]
FUNCTION_DEF_ARG_ATTR_ENTRY "ArgAttrEntry" false [
    one(1, "key", Int), one(2, "value", message(&FUNCTION_DEF_ARG_ATTRS)),
]
FUNCTION_DEF_ARG_ATTRS "ArgAttrs" false [
    many(1, "attr", message(&FUNCTION_DEF_ARG_ATTRS_ATTR_ENTRY)),
]
FUNCTION_DEF_ARG_ATTRS_ATTR_ENTRY "AttrEntry" false [
    one(1, "key", Text), one(2, "value", message(&ATTR_VALUE)),
]
FUNCTION_DEF_RESOURCE_ARG_UNIQUE_ID_ENTRY "ResourceArgUniqueIdEntry" false [
    one(1, "key", Int), one(2, "value", Int),
]
FUNCTION_DEF_RET_ENTRY "RetEntry" false [
    one(1, "key", Text), one(2, "value", Text),
]
FUNCTION_DEF_CONTROL_RET_ENTRY "ControlRetEntry" false [
    one(1, "key", Text), one(2, "value", Text),
]
GRADIENT_DEF "GradientDef" false [
    one(1, "function_name", Text), one(2, "gradient_func", Text),
]
REGISTERED_GRADIENT "RegisteredGradient" false [
    one(1, "gradient_func", Text), one(2, "registered_op_type", Text),
]
GRAPH_DEBUG_INFO "GraphDebugInfo" true [
    many(1, "files", Text), many(4, "frames_by_id", message(&GRAPH_DEBUG_INFO_FRAMES_BY_ID_ENTRY)),
    many(6, "traces_by_id", message(&GRAPH_DEBUG_INFO_TRACES_BY_ID_ENTRY)),
    many(2, "traces", message(&GRAPH_DEBUG_INFO_TRACES_ENTRY)),
    many(5, "name_to_trace_id", message(&GRAPH_DEBUG_INFO_NAME_TO_TRACE_ID_ENTRY)),
]
GRAPH_DEBUG_INFO_FRAMES_BY_ID_ENTRY "FramesByIdEntry" false [
    one(1, "key", Double), one(2, "value", message(&GRAPH_DEBUG_INFO_FILE_LINE_COL)),
]
GRAPH_DEBUG_INFO_FILE_LINE_COL "FileLineCol" false [
    one(1, "file_index", Int), one(2, "line", Int), one(3, "col", Int), one(4, "func", Text),
    one(5, "code", Text),
]
GRAPH_DEBUG_INFO_TRACES_BY_ID_ENTRY "TracesByIdEntry" false [
    one(1, "key", Double), one(2, "value", message(&GRAPH_DEBUG_INFO_STACK_TRACE)),
]
GRAPH_DEBUG_INFO_STACK_TRACE "StackTrace" false [
    many(1, "file_line_cols", message(&GRAPH_DEBUG_INFO_FILE_LINE_COL)), many(2, "frame_id", Double),
]
GRAPH_DEBUG_INFO_TRACES_ENTRY "TracesEntry" false [
    one(1, "key", Text), one(2, "value", message(&GRAPH_DEBUG_INFO_STACK_TRACE)),
]
GRAPH_DEBUG_INFO_NAME_TO_TRACE_ID_ENTRY "NameToTraceIdEntry" false [
    one(1, "key", Text), one(2, "value", Double),
]
RUN_METADATA_FUNCTION_GRAPHS "FunctionGraphs" true [
    many(1, "partition_graphs", message(&GRAPH_DEF)), one(2, "pre_optimization_graph", message(&GRAPH_DEF)),
    one(3, "post_optimization_graph", message(&GRAPH_DEF)),
]
SESSION_METADATA "SessionMetadata" false [
    one(1, "name", Text), one(2, "version", Int),
]
SAVED_MODEL "SavedModel" true [
    one(1, "saved_model_schema_version", Int), many(2, "meta_graphs", message(&META_GRAPH_DEF)),
]
META_GRAPH_DEF "MetaGraphDef" true [
    one(1, "meta_info_def", message(&META_GRAPH_DEF_META_INFO_DEF)), one(2, "graph_def", message(&GRAPH_DEF)),
    one(3, "saver_def", Unread), many(4, "collection_def", Unread), many(5, "signature_def", Unread),
    many(6, "asset_file_def", Unread), one(7, "object_graph_def", Unread),
]
META_GRAPH_DEF_META_INFO_DEF "MetaInfoDef" false [
    one(1, "meta_graph_version", Text), one(2, "stripped_op_list", message(&OP_LIST)),
    one(3, "any_info", Unread), many(4, "tags", Text), one(5, "tensorflow_version", Text),
    one(6, "tensorflow_git_version", Text), one(7, "stripped_default_attrs", Bool),
    many(8, "function_aliases", message(&META_GRAPH_DEF_META_INFO_DEF_FUNCTION_ALIASES_ENTRY)),
]
OP_LIST "OpList" false [
    many(1, "op", message(&OP_DEF)),
]
META_GRAPH_DEF_META_INFO_DEF_FUNCTION_ALIASES_ENTRY "FunctionAliasesEntry" false [
    one(1, "key", Text), one(2, "value", Text),
]
PROFILE_PROTO "ProfileProto" true [
    many(1, "nodes", message(&PROFILE_PROTO_NODES_ENTRY)), one(2, "has_trace", Bool),
    one(5, "miss_accelerator_stream", Bool), many(3, "steps", Int),
    many(4, "id_to_string", message(&PROFILE_PROTO_ID_TO_STRING_ENTRY)),
]
PROFILE_PROTO_NODES_ENTRY "NodesEntry" false [
    one(1, "key", Int), one(2, "value", message(&PROFILE_NODE)),
]
PROFILE_NODE "ProfileNode" false [
    one(1, "name", Text), one(9, "op", Text), one(13, "id", Int),
    many(2, "inputs", message(&PROFILE_NODE_INPUTS_ENTRY)),
    many(16, "input_shapes", message(&PROFILE_NODE_INPUT_SHAPES_ENTRY)),
    many(3, "outputs", message(&PROFILE_NODE_OUTPUTS_ENTRY)),
    many(15, "output_shapes", message(&PROFILE_NODE_OUTPUT_SHAPES_ENTRY)),
    many(14, "src_output_index", message(&PROFILE_NODE_SRC_OUTPUT_INDEX_ENTRY)), many(4, "shape", Int),
    many(5, "op_types", Text), one(6, "canonical_device", Text), one(7, "host_device", Text),
    one(8, "float_ops", Int), one(10, "trace", Unread), many(11, "attrs", message(&PROFILE_NODE_ATTRS_ENTRY)),
    many(12, "execs", message(&PROFILE_NODE_EXECS_ENTRY)),
]
PROFILE_NODE_INPUTS_ENTRY "InputsEntry" false [
    one(1, "key", Int), one(2, "value", Int),
]
PROFILE_NODE_INPUT_SHAPES_ENTRY "InputShapesEntry" false [
    one(1, "key", Int), one(2, "value", message(&TUPLE)),
]
TUPLE "Tuple" false [
    many(1, "int64_values", Int),
]
PROFILE_NODE_OUTPUTS_ENTRY "OutputsEntry" false [
    one(1, "key", Int), one(2, "value", Int),
]
PROFILE_NODE_OUTPUT_SHAPES_ENTRY "OutputShapesEntry" false [
    one(1, "key", Int), one(2, "value", message(&TUPLE)),
]
PROFILE_NODE_SRC_OUTPUT_INDEX_ENTRY "SrcOutputIndexEntry" false [
    one(1, "key", Int), one(2, "value", Int),
]
PROFILE_NODE_ATTRS_ENTRY "AttrsEntry" false [
    one(1, "key", Text), one(2, "value", message(&ATTR_VALUE)),
]
PROFILE_NODE_EXECS_ENTRY "ExecsEntry" false [
    one(1, "key", Int), one(2, "value", message(&EXEC_PROFILE)),
]
EXEC_PROFILE "ExecProfile" false [
    one(1, "run_count", Int), one(2, "all_start_micros", Int), one(3, "latest_end_micros", Int),
    many(4, "accelerator_execs", message(&EXEC_PROFILE_ACCELERATOR_EXECS_ENTRY)),
    many(5, "cpu_execs", message(&EXEC_PROFILE_CPU_EXECS_ENTRY)),
    many(7, "memory_execs", message(&EXEC_MEMORY)), many(11, "allocations", message(&ALLOCATION_RECORD)),
    many(6, "devices", Text),
]
EXEC_PROFILE_ACCELERATOR_EXECS_ENTRY "AcceleratorExecsEntry" false [
    one(1, "key", Text), one(2, "value", message(&EXEC_TIME)),
]
EXEC_TIME "ExecTime" false [
    many(1, "times", message(&TUPLE)),
]
EXEC_PROFILE_CPU_EXECS_ENTRY "CpuExecsEntry" false [
    one(1, "key", Text), one(2, "value", message(&EXEC_TIME)),
]
EXEC_MEMORY "ExecMemory" false [
    one(1, "memory_micros", Int), one(2, "host_temp_bytes", Int), one(3, "host_persistent_bytes", Int),
    one(4, "accelerator_temp_bytes", Int), one(5, "accelerator_persistent_bytes", Int),
    one(6, "requested_bytes", Int), one(7, "peak_bytes", Int), one(8, "residual_bytes", Int),
    one(9, "output_bytes", Int), one(10, "allocator_bytes_in_use", Int),
    many(11, "output_memory", message(&EXEC_MEMORY_OUTPUT_MEMORY_ENTRY)),
]
EXEC_MEMORY_OUTPUT_MEMORY_ENTRY "OutputMemoryEntry" false [
    one(1, "key", Int), one(2, "value", message(&MEMORY)),
]
MEMORY "Memory" false [
    one(1, "bytes", Int), one(2, "ptr", Int),
]
PROFILE_PROTO_ID_TO_STRING_ENTRY "IdToStringEntry" false [
    one(1, "key", Int), one(2, "value", Text),
]
}

/// `DataType`: names and numbers; a reference type is its base plus 100.
#[rustfmt::skip]
pub static DATA_TYPES: &[(&str, i32)] = &[
    ("DT_INVALID", 0), ("DT_FLOAT", 1), ("DT_DOUBLE", 2), ("DT_INT32", 3), ("DT_UINT8", 4), ("DT_INT16", 5),
    ("DT_INT8", 6), ("DT_STRING", 7), ("DT_COMPLEX64", 8), ("DT_INT64", 9), ("DT_BOOL", 10), ("DT_QINT8", 11),
    ("DT_QUINT8", 12), ("DT_QINT32", 13), ("DT_BFLOAT16", 14), ("DT_QINT16", 15), ("DT_QUINT16", 16),
    ("DT_UINT16", 17), ("DT_COMPLEX128", 18), ("DT_HALF", 19), ("DT_RESOURCE", 20), ("DT_VARIANT", 21),
    ("DT_UINT32", 22), ("DT_UINT64", 23), ("DT_FLOAT8_E5M2", 24), ("DT_FLOAT8_E4M3FN", 25),
    ("DT_FLOAT8_E4M3FNUZ", 26), ("DT_FLOAT8_E4M3B11FNUZ", 27), ("DT_FLOAT8_E5M2FNUZ", 28), ("DT_INT4", 29),
    ("DT_UINT4", 30), ("DT_INT2", 31), ("DT_UINT2", 32), ("DT_FLOAT4_E2M1FN", 33), ("DT_FLOAT_REF", 101),
    ("DT_DOUBLE_REF", 102), ("DT_INT32_REF", 103), ("DT_UINT8_REF", 104), ("DT_INT16_REF", 105),
    ("DT_INT8_REF", 106), ("DT_STRING_REF", 107), ("DT_COMPLEX64_REF", 108), ("DT_INT64_REF", 109),
    ("DT_BOOL_REF", 110), ("DT_QINT8_REF", 111), ("DT_QUINT8_REF", 112), ("DT_QINT32_REF", 113),
    ("DT_BFLOAT16_REF", 114), ("DT_QINT16_REF", 115), ("DT_QUINT16_REF", 116), ("DT_UINT16_REF", 117),
    ("DT_COMPLEX128_REF", 118), ("DT_HALF_REF", 119), ("DT_RESOURCE_REF", 120), ("DT_VARIANT_REF", 121),
    ("DT_UINT32_REF", 122), ("DT_UINT64_REF", 123), ("DT_FLOAT8_E5M2_REF", 124),
    ("DT_FLOAT8_E4M3FN_REF", 125), ("DT_FLOAT8_E4M3FNUZ_REF", 126), ("DT_FLOAT8_E4M3B11FNUZ_REF", 127),
    ("DT_FLOAT8_E5M2FNUZ_REF", 128), ("DT_INT4_REF", 129), ("DT_UINT4_REF", 130), ("DT_INT2_REF", 131),
    ("DT_UINT2_REF", 132), ("DT_FLOAT4_E2M1FN_REF", 133),
];
