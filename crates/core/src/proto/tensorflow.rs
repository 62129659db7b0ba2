// Written by crates/core/messages.py from the descriptors of TensorFlow; change that script, not this file.
// Over 400 lines: it is data.

use super::messages::Kind::{Bool, Bytes, Double, Enum, Float, Int, Text, Unread};
use super::messages::{Kind, Message, many, one};

/// `RunMetadata`
pub static RUN_METADATA: Message = Message { name: "RunMetadata", container: true, fields: &[
    one(1, "step_stats", Kind::Message(&STEP_STATS)),
    one(2, "cost_graph", Kind::Message(&COST_GRAPH_DEF)),
    many(3, "partition_graphs", Kind::Message(&GRAPH_DEF)),
    many(4, "function_graphs", Kind::Message(&RUN_METADATA_FUNCTION_GRAPHS)),
    one(5, "session_metadata", Kind::Message(&SESSION_METADATA)),
] };

/// `StepStats`
pub static STEP_STATS: Message = Message { name: "StepStats", container: true, fields: &[
    many(1, "dev_stats", Kind::Message(&DEVICE_STEP_STATS)),
] };

/// `DeviceStepStats`
pub static DEVICE_STEP_STATS: Message = Message { name: "DeviceStepStats", container: true, fields: &[
    one(1, "device", Text),
    many(2, "node_stats", Kind::Message(&NODE_EXEC_STATS)),
    many(3, "thread_names", Kind::Message(&DEVICE_STEP_STATS_THREAD_NAMES_ENTRY)),
] };

/// `NodeExecStats`
pub static NODE_EXEC_STATS: Message = Message { name: "NodeExecStats", container: false, fields: &[
    one(1, "node_name", Text),
    one(2, "all_start_micros", Int),
    one(3, "op_start_rel_micros", Int),
    one(4, "op_end_rel_micros", Int),
    one(5, "all_end_rel_micros", Int),
    many(6, "memory", Kind::Message(&ALLOCATOR_MEMORY_USED)),
    many(7, "output", Kind::Message(&NODE_OUTPUT)),
    one(8, "timeline_label", Text),
    one(9, "scheduled_micros", Int),
    one(10, "thread_id", Int),
    many(11, "referenced_tensor", Kind::Message(&ALLOCATION_DESCRIPTION)),
    one(12, "memory_stats", Kind::Message(&MEMORY_STATS)),
    one(13, "all_start_nanos", Int),
    one(14, "op_start_rel_nanos", Int),
    one(15, "op_end_rel_nanos", Int),
    one(16, "all_end_rel_nanos", Int),
    one(17, "scheduled_nanos", Int),
] };

/// `AllocatorMemoryUsed`
pub static ALLOCATOR_MEMORY_USED: Message = Message { name: "AllocatorMemoryUsed", container: false, fields: &[
    one(1, "allocator_name", Text),
    one(2, "total_bytes", Int),
    one(3, "peak_bytes", Int),
    one(4, "live_bytes", Int),
    many(6, "allocation_records", Kind::Message(&ALLOCATION_RECORD)),
    one(5, "allocator_bytes_in_use", Int),
] };

/// `AllocationRecord`
pub static ALLOCATION_RECORD: Message = Message { name: "AllocationRecord", container: false, fields: &[
    one(1, "alloc_micros", Int),
    one(2, "alloc_bytes", Int),
] };

/// `NodeOutput`
pub static NODE_OUTPUT: Message = Message { name: "NodeOutput", container: false, fields: &[
    one(1, "slot", Int),
    one(3, "tensor_description", Kind::Message(&TENSOR_DESCRIPTION)),
] };

/// `TensorDescription`
pub static TENSOR_DESCRIPTION: Message = Message { name: "TensorDescription", container: false, fields: &[
    one(1, "dtype", Enum(DATA_TYPES)),
    one(2, "shape", Kind::Message(&TENSOR_SHAPE_PROTO)),
    one(4, "allocation_description", Kind::Message(&ALLOCATION_DESCRIPTION)),
] };

/// `TensorShapeProto`
pub static TENSOR_SHAPE_PROTO: Message = Message { name: "TensorShapeProto", container: false, fields: &[
    many(2, "dim", Kind::Message(&TENSOR_SHAPE_PROTO_DIM)),
    one(3, "unknown_rank", Bool),
] };

/// `TensorShapeProto.Dim`
pub static TENSOR_SHAPE_PROTO_DIM: Message = Message { name: "Dim", container: false, fields: &[
    one(1, "size", Int),
    one(2, "name", Text),
] };

/// `AllocationDescription`
pub static ALLOCATION_DESCRIPTION: Message = Message { name: "AllocationDescription", container: false, fields: &[
    one(1, "requested_bytes", Int),
    one(2, "allocated_bytes", Int),
    one(3, "allocator_name", Text),
    one(4, "allocation_id", Int),
    one(5, "has_single_reference", Bool),
    one(6, "ptr", Int),
] };

/// `MemoryStats`
pub static MEMORY_STATS: Message = Message { name: "MemoryStats", container: false, fields: &[
    one(1, "temp_memory_size", Int),
    one(3, "persistent_memory_size", Int),
    many(5, "persistent_tensor_alloc_ids", Int),
    one(2, "device_temp_memory_size", Int),
    one(4, "device_persistent_memory_size", Int),
    many(6, "device_persistent_tensor_alloc_ids", Int),
] };

/// `DeviceStepStats.ThreadNamesEntry`
pub static DEVICE_STEP_STATS_THREAD_NAMES_ENTRY: Message = Message { name: "ThreadNamesEntry", container: false, fields: &[
    one(1, "key", Int),
    one(2, "value", Text),
] };

/// `CostGraphDef`
pub static COST_GRAPH_DEF: Message = Message { name: "CostGraphDef", container: true, fields: &[
    many(1, "node", Kind::Message(&COST_GRAPH_DEF_NODE)),
    many(2, "cost", Kind::Message(&COST_GRAPH_DEF_AGGREGATED_COST)),
] };

/// `CostGraphDef.Node`
pub static COST_GRAPH_DEF_NODE: Message = Message { name: "Node", container: false, fields: &[
    one(1, "name", Text),
    one(2, "device", Text),
    one(3, "id", Int),
    many(4, "input_info", Kind::Message(&COST_GRAPH_DEF_NODE_INPUT_INFO)),
    many(5, "output_info", Kind::Message(&COST_GRAPH_DEF_NODE_OUTPUT_INFO)),
    one(6, "temporary_memory_size", Int),
    one(12, "persistent_memory_size", Int),
    one(10, "host_temp_memory_size", Int),
    one(11, "device_temp_memory_size", Int),
    one(16, "device_persistent_memory_size", Int),
    one(9, "compute_cost", Int),
    one(14, "compute_time", Int),
    one(15, "memory_time", Int),
    one(7, "is_final", Bool),
    many(8, "control_input", Int),
    one(17, "inaccurate", Bool),
] };

/// `CostGraphDef.Node.InputInfo`
pub static COST_GRAPH_DEF_NODE_INPUT_INFO: Message = Message { name: "InputInfo", container: false, fields: &[
    one(1, "preceding_node", Int),
    one(2, "preceding_port", Int),
] };

/// `CostGraphDef.Node.OutputInfo`
pub static COST_GRAPH_DEF_NODE_OUTPUT_INFO: Message = Message { name: "OutputInfo", container: false, fields: &[
    one(1, "size", Int),
    one(2, "alias_input_port", Int),
    one(3, "shape", Kind::Message(&TENSOR_SHAPE_PROTO)),
    one(4, "dtype", Enum(DATA_TYPES)),
] };

/// `CostGraphDef.AggregatedCost`
pub static COST_GRAPH_DEF_AGGREGATED_COST: Message = Message { name: "AggregatedCost", container: false, fields: &[
    one(1, "cost", Float),
    one(2, "dimension", Text),
] };

/// `GraphDef`
pub static GRAPH_DEF: Message = Message { name: "GraphDef", container: true, fields: &[
    many(1, "node", Kind::Message(&NODE_DEF)),
    one(4, "versions", Kind::Message(&VERSION_DEF)),
    one(3, "version", Int),
    one(2, "library", Kind::Message(&FUNCTION_DEF_LIBRARY)),
    one(5, "debug_info", Kind::Message(&GRAPH_DEBUG_INFO)),
] };

/// `NodeDef`
pub static NODE_DEF: Message = Message { name: "NodeDef", container: false, fields: &[
    one(1, "name", Text),
    one(2, "op", Text),
    many(3, "input", Text),
    one(4, "device", Text),
    many(5, "attr", Kind::Message(&NODE_DEF_ATTR_ENTRY)),
    one(6, "experimental_debug_info", Kind::Message(&NODE_DEF_EXPERIMENTAL_DEBUG_INFO)),
    one(7, "experimental_type", Kind::Message(&FULL_TYPE_DEF)),
] };

/// `NodeDef.AttrEntry`
pub static NODE_DEF_ATTR_ENTRY: Message = Message { name: "AttrEntry", container: false, fields: &[
    one(1, "key", Text),
    one(2, "value", Kind::Message(&ATTR_VALUE)),
] };

/// `AttrValue`
pub static ATTR_VALUE: Message = Message { name: "AttrValue", container: false, fields: &[
    one(2, "s", Bytes),
    one(3, "i", Int),
    one(4, "f", Float),
    one(5, "b", Bool),
    one(6, "type", Enum(DATA_TYPES)),
    one(7, "shape", Kind::Message(&TENSOR_SHAPE_PROTO)),
    one(8, "tensor", Kind::Message(&TENSOR_PROTO)),
    one(1, "list", Kind::Message(&ATTR_VALUE_LIST_VALUE)),
    one(10, "func", Kind::Message(&NAME_ATTR_LIST)),
    one(9, "placeholder", Text),
] };

/// `TensorProto`
pub static TENSOR_PROTO: Message = Message { name: "TensorProto", container: false, fields: &[
    one(1, "dtype", Enum(DATA_TYPES)),
    one(2, "tensor_shape", Kind::Message(&TENSOR_SHAPE_PROTO)),
    one(3, "version_number", Int),
    one(4, "tensor_content", Bytes),
    many(13, "half_val", Int),
    many(5, "float_val", Float),
    many(6, "double_val", Double),
    many(7, "int_val", Int),
    many(8, "string_val", Bytes),
    many(9, "scomplex_val", Float),
    many(10, "int64_val", Int),
    many(11, "bool_val", Bool),
    many(12, "dcomplex_val", Double),
    many(14, "resource_handle_val", Kind::Message(&RESOURCE_HANDLE_PROTO)),
    many(15, "variant_val", Kind::Message(&VARIANT_TENSOR_DATA_PROTO)),
    many(16, "uint32_val", Int),
    many(17, "uint64_val", Int),
    one(18, "float8_val", Bytes),
] };

/// `ResourceHandleProto`
pub static RESOURCE_HANDLE_PROTO: Message = Message { name: "ResourceHandleProto", container: false, fields: &[
    one(1, "device", Text),
    one(2, "container", Text),
    one(3, "name", Text),
    one(4, "hash_code", Int),
    one(5, "maybe_type_name", Text),
    many(6, "dtypes_and_shapes", Kind::Message(&RESOURCE_HANDLE_PROTO_DTYPE_AND_SHAPE)),
] };

/// `ResourceHandleProto.DtypeAndShape`
pub static RESOURCE_HANDLE_PROTO_DTYPE_AND_SHAPE: Message = Message { name: "DtypeAndShape", container: false, fields: &[
    one(1, "dtype", Enum(DATA_TYPES)),
    one(2, "shape", Kind::Message(&TENSOR_SHAPE_PROTO)),
] };

/// `VariantTensorDataProto`
pub static VARIANT_TENSOR_DATA_PROTO: Message = Message { name: "VariantTensorDataProto", container: false, fields: &[
    one(1, "type_name", Text),
    one(2, "metadata", Bytes),
    many(3, "tensors", Kind::Message(&TENSOR_PROTO)),
] };

/// `AttrValue.ListValue`
pub static ATTR_VALUE_LIST_VALUE: Message = Message { name: "ListValue", container: false, fields: &[
    many(2, "s", Bytes),
    many(3, "i", Int),
    many(4, "f", Float),
    many(5, "b", Bool),
    many(6, "type", Enum(DATA_TYPES)),
    many(7, "shape", Kind::Message(&TENSOR_SHAPE_PROTO)),
    many(8, "tensor", Kind::Message(&TENSOR_PROTO)),
    many(9, "func", Kind::Message(&NAME_ATTR_LIST)),
] };

/// `NameAttrList`
pub static NAME_ATTR_LIST: Message = Message { name: "NameAttrList", container: false, fields: &[
    one(1, "name", Text),
    many(2, "attr", Kind::Message(&NAME_ATTR_LIST_ATTR_ENTRY)),
] };

/// `NameAttrList.AttrEntry`
pub static NAME_ATTR_LIST_ATTR_ENTRY: Message = Message { name: "AttrEntry", container: false, fields: &[
    one(1, "key", Text),
    one(2, "value", Kind::Message(&ATTR_VALUE)),
] };

/// `NodeDef.ExperimentalDebugInfo`
pub static NODE_DEF_EXPERIMENTAL_DEBUG_INFO: Message = Message { name: "ExperimentalDebugInfo", container: false, fields: &[
    many(1, "original_node_names", Text),
    many(2, "original_func_names", Text),
] };

/// `FullTypeDef`
pub static FULL_TYPE_DEF: Message = Message { name: "FullTypeDef", container: false, fields: &[
    one(1, "type_id", Enum(&[])),
    many(2, "args", Kind::Message(&FULL_TYPE_DEF)),
    one(3, "s", Text),
    one(4, "i", Int),
] };

/// `VersionDef`
pub static VERSION_DEF: Message = Message { name: "VersionDef", container: false, fields: &[
    one(1, "producer", Int),
    one(2, "min_consumer", Int),
    many(3, "bad_consumers", Int),
] };

/// `FunctionDefLibrary`
pub static FUNCTION_DEF_LIBRARY: Message = Message { name: "FunctionDefLibrary", container: true, fields: &[
    many(1, "function", Kind::Message(&FUNCTION_DEF)),
    many(2, "gradient", Kind::Message(&GRADIENT_DEF)),
    many(3, "registered_gradients", Kind::Message(&REGISTERED_GRADIENT)),
] };

/// `FunctionDef`
pub static FUNCTION_DEF: Message = Message { name: "FunctionDef", container: false, fields: &[
    one(1, "signature", Kind::Message(&OP_DEF)),
    many(5, "attr", Kind::Message(&FUNCTION_DEF_ATTR_ENTRY)),
    many(7, "arg_attr", Kind::Message(&FUNCTION_DEF_ARG_ATTR_ENTRY)),
    many(8, "resource_arg_unique_id", Kind::Message(&FUNCTION_DEF_RESOURCE_ARG_UNIQUE_ID_ENTRY)),
    many(3, "node_def", Kind::Message(&NODE_DEF)),
    many(4, "ret", Kind::Message(&FUNCTION_DEF_RET_ENTRY)),
    many(6, "control_ret", Kind::Message(&FUNCTION_DEF_CONTROL_RET_ENTRY)),
] };

/// `OpDef`
pub static OP_DEF: Message = Message { name: "OpDef", container: false, fields: &[
    one(1, "name", Text),
    many(2, "input_arg", Kind::Message(&OP_DEF_ARG_DEF)),
    many(3, "output_arg", Kind::Message(&OP_DEF_ARG_DEF)),
    many(20, "control_output", Text),
    many(4, "attr", Kind::Message(&OP_DEF_ATTR_DEF)),
    one(8, "deprecation", Kind::Message(&OP_DEPRECATION)),
    one(5, "summary", Text),
    one(6, "description", Text),
    one(18, "is_commutative", Bool),
    one(16, "is_aggregate", Bool),
    one(17, "is_stateful", Bool),
    one(19, "allows_uninitialized_input", Bool),
    one(21, "is_distributed_communication", Bool),
] };

/// `OpDef.ArgDef`
pub static OP_DEF_ARG_DEF: Message = Message { name: "ArgDef", container: false, fields: &[
    one(1, "name", Text),
    one(2, "description", Text),
    one(3, "type", Enum(DATA_TYPES)),
    one(4, "type_attr", Text),
    one(5, "number_attr", Text),
    one(6, "type_list_attr", Text),
    many(7, "handle_data", Kind::Message(&RESOURCE_HANDLE_PROTO_DTYPE_AND_SHAPE)),
    one(16, "is_ref", Bool),
    one(17, "experimental_full_type", Kind::Message(&FULL_TYPE_DEF)),
] };

/// `OpDef.AttrDef`
pub static OP_DEF_ATTR_DEF: Message = Message { name: "AttrDef", container: false, fields: &[
    one(1, "name", Text),
    one(2, "type", Text),
    one(3, "default_value", Kind::Message(&ATTR_VALUE)),
    one(4, "description", Text),
    one(5, "has_minimum", Bool),
    one(6, "minimum", Int),
    one(7, "allowed_values", Kind::Message(&ATTR_VALUE)),
] };

/// `OpDeprecation`
pub static OP_DEPRECATION: Message = Message { name: "OpDeprecation", container: false, fields: &[
    one(1, "version", Int),
    one(2, "explanation", Text),
] };

/// `FunctionDef.AttrEntry`
pub static FUNCTION_DEF_ATTR_ENTRY: Message = Message { name: "AttrEntry", container: false, fields: &[
    one(1, "key", Text),
    one(2, "value", Kind::Message(&ATTR_VALUE)),
] };

/// `FunctionDef.ArgAttrEntry`
pub static FUNCTION_DEF_ARG_ATTR_ENTRY: Message = Message { name: "ArgAttrEntry", container: false, fields: &[
    one(1, "key", Int),
    one(2, "value", Kind::Message(&FUNCTION_DEF_ARG_ATTRS)),
] };

/// `FunctionDef.ArgAttrs`
pub static FUNCTION_DEF_ARG_ATTRS: Message = Message { name: "ArgAttrs", container: false, fields: &[
    many(1, "attr", Kind::Message(&FUNCTION_DEF_ARG_ATTRS_ATTR_ENTRY)),
] };

/// `FunctionDef.ArgAttrs.AttrEntry`
pub static FUNCTION_DEF_ARG_ATTRS_ATTR_ENTRY: Message = Message { name: "AttrEntry", container: false, fields: &[
    one(1, "key", Text),
    one(2, "value", Kind::Message(&ATTR_VALUE)),
] };

/// `FunctionDef.ResourceArgUniqueIdEntry`
pub static FUNCTION_DEF_RESOURCE_ARG_UNIQUE_ID_ENTRY: Message = Message { name: "ResourceArgUniqueIdEntry", container: false, fields: &[
    one(1, "key", Int),
    one(2, "value", Int),
] };

/// `FunctionDef.RetEntry`
pub static FUNCTION_DEF_RET_ENTRY: Message = Message { name: "RetEntry", container: false, fields: &[
    one(1, "key", Text),
    one(2, "value", Text),
] };

/// `FunctionDef.ControlRetEntry`
pub static FUNCTION_DEF_CONTROL_RET_ENTRY: Message = Message { name: "ControlRetEntry", container: false, fields: &[
    one(1, "key", Text),
    one(2, "value", Text),
] };

/// `GradientDef`
pub static GRADIENT_DEF: Message = Message { name: "GradientDef", container: false, fields: &[
    one(1, "function_name", Text),
    one(2, "gradient_func", Text),
] };

/// `RegisteredGradient`
pub static REGISTERED_GRADIENT: Message = Message { name: "RegisteredGradient", container: false, fields: &[
    one(1, "gradient_func", Text),
    one(2, "registered_op_type", Text),
] };

/// `GraphDebugInfo`
pub static GRAPH_DEBUG_INFO: Message = Message { name: "GraphDebugInfo", container: true, fields: &[
    many(1, "files", Text),
    many(4, "frames_by_id", Kind::Message(&GRAPH_DEBUG_INFO_FRAMES_BY_ID_ENTRY)),
    many(6, "traces_by_id", Kind::Message(&GRAPH_DEBUG_INFO_TRACES_BY_ID_ENTRY)),
    many(2, "traces", Kind::Message(&GRAPH_DEBUG_INFO_TRACES_ENTRY)),
    many(5, "name_to_trace_id", Kind::Message(&GRAPH_DEBUG_INFO_NAME_TO_TRACE_ID_ENTRY)),
] };

/// `GraphDebugInfo.FramesByIdEntry`
pub static GRAPH_DEBUG_INFO_FRAMES_BY_ID_ENTRY: Message = Message { name: "FramesByIdEntry", container: false, fields: &[
    one(1, "key", Double),
    one(2, "value", Kind::Message(&GRAPH_DEBUG_INFO_FILE_LINE_COL)),
] };

/// `GraphDebugInfo.FileLineCol`
pub static GRAPH_DEBUG_INFO_FILE_LINE_COL: Message = Message { name: "FileLineCol", container: false, fields: &[
    one(1, "file_index", Int),
    one(2, "line", Int),
    one(3, "col", Int),
    one(4, "func", Text),
    one(5, "code", Text),
] };

/// `GraphDebugInfo.TracesByIdEntry`
pub static GRAPH_DEBUG_INFO_TRACES_BY_ID_ENTRY: Message = Message { name: "TracesByIdEntry", container: false, fields: &[
    one(1, "key", Double),
    one(2, "value", Kind::Message(&GRAPH_DEBUG_INFO_STACK_TRACE)),
] };

/// `GraphDebugInfo.StackTrace`
pub static GRAPH_DEBUG_INFO_STACK_TRACE: Message = Message { name: "StackTrace", container: false, fields: &[
    many(1, "file_line_cols", Kind::Message(&GRAPH_DEBUG_INFO_FILE_LINE_COL)),
    many(2, "frame_id", Double),
] };

/// `GraphDebugInfo.TracesEntry`
pub static GRAPH_DEBUG_INFO_TRACES_ENTRY: Message = Message { name: "TracesEntry", container: false, fields: &[
    one(1, "key", Text),
    one(2, "value", Kind::Message(&GRAPH_DEBUG_INFO_STACK_TRACE)),
] };

/// `GraphDebugInfo.NameToTraceIdEntry`
pub static GRAPH_DEBUG_INFO_NAME_TO_TRACE_ID_ENTRY: Message = Message { name: "NameToTraceIdEntry", container: false, fields: &[
    one(1, "key", Text),
    one(2, "value", Double),
] };

/// `RunMetadata.FunctionGraphs`
pub static RUN_METADATA_FUNCTION_GRAPHS: Message = Message { name: "FunctionGraphs", container: true, fields: &[
    many(1, "partition_graphs", Kind::Message(&GRAPH_DEF)),
    one(2, "pre_optimization_graph", Kind::Message(&GRAPH_DEF)),
    one(3, "post_optimization_graph", Kind::Message(&GRAPH_DEF)),
] };

/// `SessionMetadata`
pub static SESSION_METADATA: Message = Message { name: "SessionMetadata", container: false, fields: &[
    one(1, "name", Text),
    one(2, "version", Int),
] };

/// `SavedModel`
pub static SAVED_MODEL: Message = Message { name: "SavedModel", container: true, fields: &[
    one(1, "saved_model_schema_version", Int),
    many(2, "meta_graphs", Kind::Message(&META_GRAPH_DEF)),
] };

/// `MetaGraphDef`
pub static META_GRAPH_DEF: Message = Message { name: "MetaGraphDef", container: true, fields: &[
    one(1, "meta_info_def", Kind::Message(&META_GRAPH_DEF_META_INFO_DEF)),
    one(2, "graph_def", Kind::Message(&GRAPH_DEF)),
    one(3, "saver_def", Unread),
    many(4, "collection_def", Unread),
    many(5, "signature_def", Unread),
    many(6, "asset_file_def", Unread),
    one(7, "object_graph_def", Unread),
] };

/// `MetaGraphDef.MetaInfoDef`
pub static META_GRAPH_DEF_META_INFO_DEF: Message = Message { name: "MetaInfoDef", container: false, fields: &[
    one(1, "meta_graph_version", Text),
    one(2, "stripped_op_list", Kind::Message(&OP_LIST)),
    one(3, "any_info", Unread),
    many(4, "tags", Text),
    one(5, "tensorflow_version", Text),
    one(6, "tensorflow_git_version", Text),
    one(7, "stripped_default_attrs", Bool),
    many(8, "function_aliases", Kind::Message(&META_GRAPH_DEF_META_INFO_DEF_FUNCTION_ALIASES_ENTRY)),
] };

/// `OpList`
pub static OP_LIST: Message = Message { name: "OpList", container: false, fields: &[
    many(1, "op", Kind::Message(&OP_DEF)),
] };

/// `MetaGraphDef.MetaInfoDef.FunctionAliasesEntry`
pub static META_GRAPH_DEF_META_INFO_DEF_FUNCTION_ALIASES_ENTRY: Message = Message { name: "FunctionAliasesEntry", container: false, fields: &[
    one(1, "key", Text),
    one(2, "value", Text),
] };

/// `ProfileProto`
pub static PROFILE_PROTO: Message = Message { name: "ProfileProto", container: true, fields: &[
    many(1, "nodes", Kind::Message(&PROFILE_PROTO_NODES_ENTRY)),
    one(2, "has_trace", Bool),
    one(5, "miss_accelerator_stream", Bool),
    many(3, "steps", Int),
    many(4, "id_to_string", Kind::Message(&PROFILE_PROTO_ID_TO_STRING_ENTRY)),
] };

/// `ProfileProto.NodesEntry`
pub static PROFILE_PROTO_NODES_ENTRY: Message = Message { name: "NodesEntry", container: false, fields: &[
    one(1, "key", Int),
    one(2, "value", Kind::Message(&PROFILE_NODE)),
] };

/// `ProfileNode`
pub static PROFILE_NODE: Message = Message { name: "ProfileNode", container: false, fields: &[
    one(1, "name", Text),
    one(9, "op", Text),
    one(13, "id", Int),
    many(2, "inputs", Kind::Message(&PROFILE_NODE_INPUTS_ENTRY)),
    many(16, "input_shapes", Kind::Message(&PROFILE_NODE_INPUT_SHAPES_ENTRY)),
    many(3, "outputs", Kind::Message(&PROFILE_NODE_OUTPUTS_ENTRY)),
    many(15, "output_shapes", Kind::Message(&PROFILE_NODE_OUTPUT_SHAPES_ENTRY)),
    many(14, "src_output_index", Kind::Message(&PROFILE_NODE_SRC_OUTPUT_INDEX_ENTRY)),
    many(4, "shape", Int),
    many(5, "op_types", Text),
    one(6, "canonical_device", Text),
    one(7, "host_device", Text),
    one(8, "float_ops", Int),
    one(10, "trace", Unread),
    many(11, "attrs", Kind::Message(&PROFILE_NODE_ATTRS_ENTRY)),
    many(12, "execs", Kind::Message(&PROFILE_NODE_EXECS_ENTRY)),
] };

/// `ProfileNode.InputsEntry`
pub static PROFILE_NODE_INPUTS_ENTRY: Message = Message { name: "InputsEntry", container: false, fields: &[
    one(1, "key", Int),
    one(2, "value", Int),
] };

/// `ProfileNode.InputShapesEntry`
pub static PROFILE_NODE_INPUT_SHAPES_ENTRY: Message = Message { name: "InputShapesEntry", container: false, fields: &[
    one(1, "key", Int),
    one(2, "value", Kind::Message(&TUPLE)),
] };

/// `Tuple`
pub static TUPLE: Message = Message { name: "Tuple", container: false, fields: &[
    many(1, "int64_values", Int),
] };

/// `ProfileNode.OutputsEntry`
pub static PROFILE_NODE_OUTPUTS_ENTRY: Message = Message { name: "OutputsEntry", container: false, fields: &[
    one(1, "key", Int),
    one(2, "value", Int),
] };

/// `ProfileNode.OutputShapesEntry`
pub static PROFILE_NODE_OUTPUT_SHAPES_ENTRY: Message = Message { name: "OutputShapesEntry", container: false, fields: &[
    one(1, "key", Int),
    one(2, "value", Kind::Message(&TUPLE)),
] };

/// `ProfileNode.SrcOutputIndexEntry`
pub static PROFILE_NODE_SRC_OUTPUT_INDEX_ENTRY: Message = Message { name: "SrcOutputIndexEntry", container: false, fields: &[
    one(1, "key", Int),
    one(2, "value", Int),
] };

/// `ProfileNode.AttrsEntry`
pub static PROFILE_NODE_ATTRS_ENTRY: Message = Message { name: "AttrsEntry", container: false, fields: &[
    one(1, "key", Text),
    one(2, "value", Kind::Message(&ATTR_VALUE)),
] };

/// `ProfileNode.ExecsEntry`
pub static PROFILE_NODE_EXECS_ENTRY: Message = Message { name: "ExecsEntry", container: false, fields: &[
    one(1, "key", Int),
    one(2, "value", Kind::Message(&EXEC_PROFILE)),
] };

/// `ExecProfile`
pub static EXEC_PROFILE: Message = Message { name: "ExecProfile", container: false, fields: &[
    one(1, "run_count", Int),
    one(2, "all_start_micros", Int),
    one(3, "latest_end_micros", Int),
    many(4, "accelerator_execs", Kind::Message(&EXEC_PROFILE_ACCELERATOR_EXECS_ENTRY)),
    many(5, "cpu_execs", Kind::Message(&EXEC_PROFILE_CPU_EXECS_ENTRY)),
    many(7, "memory_execs", Kind::Message(&EXEC_MEMORY)),
    many(11, "allocations", Kind::Message(&ALLOCATION_RECORD)),
    many(6, "devices", Text),
] };

/// `ExecProfile.AcceleratorExecsEntry`
pub static EXEC_PROFILE_ACCELERATOR_EXECS_ENTRY: Message = Message { name: "AcceleratorExecsEntry", container: false, fields: &[
    one(1, "key", Text),
    one(2, "value", Kind::Message(&EXEC_TIME)),
] };

/// `ExecTime`
pub static EXEC_TIME: Message = Message { name: "ExecTime", container: false, fields: &[
    many(1, "times", Kind::Message(&TUPLE)),
] };

/// `ExecProfile.CpuExecsEntry`
pub static EXEC_PROFILE_CPU_EXECS_ENTRY: Message = Message { name: "CpuExecsEntry", container: false, fields: &[
    one(1, "key", Text),
    one(2, "value", Kind::Message(&EXEC_TIME)),
] };

/// `ExecMemory`
pub static EXEC_MEMORY: Message = Message { name: "ExecMemory", container: false, fields: &[
    one(1, "memory_micros", Int),
    one(2, "host_temp_bytes", Int),
    one(3, "host_persistent_bytes", Int),
    one(4, "accelerator_temp_bytes", Int),
    one(5, "accelerator_persistent_bytes", Int),
    one(6, "requested_bytes", Int),
    one(7, "peak_bytes", Int),
    one(8, "residual_bytes", Int),
    one(9, "output_bytes", Int),
    one(10, "allocator_bytes_in_use", Int),
    many(11, "output_memory", Kind::Message(&EXEC_MEMORY_OUTPUT_MEMORY_ENTRY)),
] };

/// `ExecMemory.OutputMemoryEntry`
pub static EXEC_MEMORY_OUTPUT_MEMORY_ENTRY: Message = Message { name: "OutputMemoryEntry", container: false, fields: &[
    one(1, "key", Int),
    one(2, "value", Kind::Message(&MEMORY)),
] };

/// `Memory`
pub static MEMORY: Message = Message { name: "Memory", container: false, fields: &[
    one(1, "bytes", Int),
    one(2, "ptr", Int),
] };

/// `ProfileProto.IdToStringEntry`
pub static PROFILE_PROTO_ID_TO_STRING_ENTRY: Message = Message { name: "IdToStringEntry", container: false, fields: &[
    one(1, "key", Int),
    one(2, "value", Text),
] };

/// `DataType`: names and numbers; a reference type is its base plus 100.
pub static DATA_TYPES: &[(&str, i32)] = &[
    ("DT_INVALID", 0),
    ("DT_FLOAT", 1),
    ("DT_DOUBLE", 2),
    ("DT_INT32", 3),
    ("DT_UINT8", 4),
    ("DT_INT16", 5),
    ("DT_INT8", 6),
    ("DT_STRING", 7),
    ("DT_COMPLEX64", 8),
    ("DT_INT64", 9),
    ("DT_BOOL", 10),
    ("DT_QINT8", 11),
    ("DT_QUINT8", 12),
    ("DT_QINT32", 13),
    ("DT_BFLOAT16", 14),
    ("DT_QINT16", 15),
    ("DT_QUINT16", 16),
    ("DT_UINT16", 17),
    ("DT_COMPLEX128", 18),
    ("DT_HALF", 19),
    ("DT_RESOURCE", 20),
    ("DT_VARIANT", 21),
    ("DT_UINT32", 22),
    ("DT_UINT64", 23),
    ("DT_FLOAT8_E5M2", 24),
    ("DT_FLOAT8_E4M3FN", 25),
    ("DT_FLOAT8_E4M3FNUZ", 26),
    ("DT_FLOAT8_E4M3B11FNUZ", 27),
    ("DT_FLOAT8_E5M2FNUZ", 28),
    ("DT_INT4", 29),
    ("DT_UINT4", 30),
    ("DT_INT2", 31),
    ("DT_UINT2", 32),
    ("DT_FLOAT4_E2M1FN", 33),
    ("DT_FLOAT_REF", 101),
    ("DT_DOUBLE_REF", 102),
    ("DT_INT32_REF", 103),
    ("DT_UINT8_REF", 104),
    ("DT_INT16_REF", 105),
    ("DT_INT8_REF", 106),
    ("DT_STRING_REF", 107),
    ("DT_COMPLEX64_REF", 108),
    ("DT_INT64_REF", 109),
    ("DT_BOOL_REF", 110),
    ("DT_QINT8_REF", 111),
    ("DT_QUINT8_REF", 112),
    ("DT_QINT32_REF", 113),
    ("DT_BFLOAT16_REF", 114),
    ("DT_QINT16_REF", 115),
    ("DT_QUINT16_REF", 116),
    ("DT_UINT16_REF", 117),
    ("DT_COMPLEX128_REF", 118),
    ("DT_HALF_REF", 119),
    ("DT_RESOURCE_REF", 120),
    ("DT_VARIANT_REF", 121),
    ("DT_UINT32_REF", 122),
    ("DT_UINT64_REF", 123),
    ("DT_FLOAT8_E5M2_REF", 124),
    ("DT_FLOAT8_E4M3FN_REF", 125),
    ("DT_FLOAT8_E4M3FNUZ_REF", 126),
    ("DT_FLOAT8_E4M3B11FNUZ_REF", 127),
    ("DT_FLOAT8_E5M2FNUZ_REF", 128),
    ("DT_INT4_REF", 129),
    ("DT_UINT4_REF", 130),
    ("DT_INT2_REF", 131),
    ("DT_UINT2_REF", 132),
    ("DT_FLOAT4_E2M1FN_REF", 133),
];
