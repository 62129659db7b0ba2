//! The protocol buffer messages that TensorFlow writes graphs and step statistics in, as tables.
//!
//! One table serves both encodings: the text reader takes names and kinds from it, the wire walker
//! takes the numbers, and both stop at the same places. Source: the `.proto` files of TensorFlow
//! (`step_stats`, `config`, `cost_graph`, `graph`, `node_def`, `attr_value`, `tensor`,
//! `tensor_shape`, `function`, `op_def`, `meta_graph`, `saved_model`). Over 400 lines: it is a table.

/// A message type.
#[derive(Debug)]
pub struct Message {
    /// Name of the type, without its package.
    pub name: &'static str,
    /// True when readers walk into it field by field, so that it may be larger than memory.
    pub container: bool,
    /// Fields, in the order in which TensorFlow usually writes them as text.
    pub fields: &'static [Field],
}

/// A field of a message.
#[derive(Debug)]
pub struct Field {
    /// Number on the wire.
    pub number: u32,
    /// Name in text.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// Whether it may stand more than once, and so may be packed.
    pub repeated: bool,
}

/// What a field holds.
#[derive(Debug)]
pub enum Kind {
    /// Any of the integer types that are varints on the wire.
    Int,
    /// A boolean.
    Bool,
    /// 32-bit floating point.
    Float,
    /// 64-bit floating point.
    Double,
    /// UTF-8 text.
    Text,
    /// Bytes.
    Bytes,
    /// An enumeration: its names and numbers.
    Enum(&'static [(&'static str, i32)]),
    /// A message that is described here.
    Message(&'static Message),
    /// A message that exists but that nobody here reads.
    Unread,
}

impl Message {
    /// The field with this number.
    pub fn by_number(&self, number: u32) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.number == number)
    }

    /// The message type of the field with this number, when it is a container.
    pub fn container_at(&self, number: u32) -> Option<&'static Message> {
        match self.by_number(number)?.kind {
            Kind::Message(message) if message.container => Some(message),
            _ => None,
        }
    }
}

/// A field that stands once.
pub const fn one(number: u32, name: &'static str, kind: Kind) -> Field {
    Field {
        number,
        name,
        kind,
        repeated: false,
    }
}

/// A field that may be repeated.
pub const fn many(number: u32, name: &'static str, kind: Kind) -> Field {
    Field {
        number,
        name,
        kind,
        repeated: true,
    }
}

macro_rules! messages {
    ($($id:ident $name:literal $container:literal [$($field:expr),* $(,)?])*) => {
        $(
            #[doc = concat!("`", $name, "`")]
            pub static $id: Message =
                Message { name: $name, container: $container, fields: &[$($field),*] };
        )*
    };
}

use Kind::{Bool, Bytes, Double, Enum, Float, Int, Text, Unread};

macro_rules! sub {
    ($id:ident) => {
        Kind::Message(&$id)
    };
}

messages! {
    RUN_METADATA "RunMetadata" true [
        one(1, "step_stats", sub!(STEP_STATS)),
        one(2, "cost_graph", sub!(COST_GRAPH)),
        many(3, "partition_graphs", sub!(GRAPH_DEF)),
        many(4, "function_graphs", sub!(FUNCTION_GRAPHS)),
        one(5, "session_metadata", sub!(SESSION_METADATA)),
    ]
    STEP_STATS "StepStats" true [many(1, "dev_stats", sub!(DEVICE_STEP_STATS))]
    DEVICE_STEP_STATS "DeviceStepStats" true [
        one(1, "device", Text),
        many(2, "node_stats", sub!(NODE_EXEC_STATS)),
        many(3, "thread_names", sub!(THREAD_NAME)),
    ]
    THREAD_NAME "ThreadNamesEntry" false [one(1, "key", Int), one(2, "value", Text)]
    NODE_EXEC_STATS "NodeExecStats" false [
        one(1, "node_name", Text),
        one(2, "all_start_micros", Int),
        one(3, "op_start_rel_micros", Int),
        one(4, "op_end_rel_micros", Int),
        one(5, "all_end_rel_micros", Int),
        many(6, "memory", sub!(ALLOCATOR_MEMORY)),
        many(7, "output", sub!(NODE_OUTPUT)),
        one(8, "timeline_label", Text),
        one(9, "scheduled_micros", Int),
        one(10, "thread_id", Int),
        many(11, "referenced_tensor", sub!(ALLOCATION_DESCRIPTION)),
        one(12, "memory_stats", sub!(MEMORY_STATS)),
        one(13, "all_start_nanos", Int),
        one(14, "op_start_rel_nanos", Int),
        one(15, "op_end_rel_nanos", Int),
        one(16, "all_end_rel_nanos", Int),
        one(17, "scheduled_nanos", Int),
    ]
    ALLOCATOR_MEMORY "AllocatorMemoryUsed" false [
        one(1, "allocator_name", Text),
        one(2, "total_bytes", Int),
        one(3, "peak_bytes", Int),
        one(4, "live_bytes", Int),
        many(6, "allocation_records", sub!(ALLOCATION_RECORD)),
        one(5, "allocator_bytes_in_use", Int),
    ]
    ALLOCATION_RECORD "AllocationRecord" false [
        one(1, "alloc_micros", Int),
        one(2, "alloc_bytes", Int),
    ]
    NODE_OUTPUT "NodeOutput" false [
        one(1, "slot", Int),
        one(3, "tensor_description", sub!(TENSOR_DESCRIPTION)),
    ]
    TENSOR_DESCRIPTION "TensorDescription" false [
        one(1, "dtype", Enum(DATA_TYPES)),
        one(2, "shape", sub!(TENSOR_SHAPE)),
        one(4, "allocation_description", sub!(ALLOCATION_DESCRIPTION)),
    ]
    TENSOR_SHAPE "TensorShapeProto" false [
        many(2, "dim", sub!(DIM)),
        one(3, "unknown_rank", Bool),
    ]
    DIM "Dim" false [one(1, "size", Int), one(2, "name", Text)]
    ALLOCATION_DESCRIPTION "AllocationDescription" false [
        one(1, "requested_bytes", Int),
        one(2, "allocated_bytes", Int),
        one(3, "allocator_name", Text),
        one(4, "allocation_id", Int),
        one(5, "has_single_reference", Bool),
        one(6, "ptr", Int),
    ]
    MEMORY_STATS "MemoryStats" false [
        one(1, "temp_memory_size", Int),
        one(3, "persistent_memory_size", Int),
        many(5, "persistent_tensor_alloc_ids", Int),
        one(2, "device_temp_memory_size", Int),
        one(4, "device_persistent_memory_size", Int),
        many(6, "device_persistent_tensor_alloc_ids", Int),
    ]
    COST_GRAPH "CostGraphDef" true [
        many(1, "node", sub!(COST_NODE)),
        many(2, "cost", sub!(AGGREGATED_COST)),
    ]
    COST_NODE "CostGraphDef.Node" false [
        one(1, "name", Text),
        one(2, "device", Text),
        one(3, "id", Int),
        many(4, "input_info", sub!(COST_INPUT)),
        many(5, "output_info", sub!(COST_OUTPUT)),
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
    ]
    COST_INPUT "InputInfo" false [
        one(1, "preceding_node", Int),
        one(2, "preceding_port", Int),
    ]
    COST_OUTPUT "OutputInfo" false [
        one(1, "size", Int),
        one(2, "alias_input_port", Int),
        one(3, "shape", sub!(TENSOR_SHAPE)),
        one(4, "dtype", Enum(DATA_TYPES)),
    ]
    AGGREGATED_COST "AggregatedCost" false [
        one(1, "cost", Float),
        one(2, "dimension", Text),
    ]
    FUNCTION_GRAPHS "FunctionGraphs" true [
        many(1, "partition_graphs", sub!(GRAPH_DEF)),
        one(2, "pre_optimization_graph", sub!(GRAPH_DEF)),
        one(3, "post_optimization_graph", sub!(GRAPH_DEF)),
    ]
    SESSION_METADATA "SessionMetadata" false [one(1, "name", Text), one(2, "version", Int)]
    GRAPH_DEF "GraphDef" true [
        many(1, "node", sub!(NODE_DEF)),
        one(4, "versions", sub!(VERSIONS)),
        one(3, "version", Int),
        one(2, "library", sub!(FUNCTION_LIBRARY)),
        one(5, "debug_info", sub!(DEBUG_INFO)),
    ]
    NODE_DEF "NodeDef" false [
        one(1, "name", Text),
        one(2, "op", Text),
        many(3, "input", Text),
        one(4, "device", Text),
        many(5, "attr", sub!(ATTR_ENTRY)),
        one(6, "experimental_debug_info", sub!(NODE_DEBUG_INFO)),
        one(7, "experimental_type", sub!(FULL_TYPE)),
    ]
    NODE_DEBUG_INFO "ExperimentalDebugInfo" false [
        many(1, "original_node_names", Text),
        many(2, "original_func_names", Text),
    ]
    ATTR_ENTRY "AttrEntry" false [one(1, "key", Text), one(2, "value", sub!(ATTR_VALUE))]
    ATTR_VALUE "AttrValue" false [
        one(2, "s", Bytes),
        one(3, "i", Int),
        one(4, "f", Float),
        one(5, "b", Bool),
        one(6, "type", Enum(DATA_TYPES)),
        one(7, "shape", sub!(TENSOR_SHAPE)),
        one(8, "tensor", sub!(TENSOR)),
        one(1, "list", sub!(ATTR_LIST)),
        one(10, "func", sub!(ATTR_FUNCTION)),
        one(9, "placeholder", Text),
    ]
    ATTR_LIST "ListValue" false [
        many(2, "s", Bytes),
        many(3, "i", Int),
        many(4, "f", Float),
        many(5, "b", Bool),
        many(6, "type", Enum(DATA_TYPES)),
        many(7, "shape", sub!(TENSOR_SHAPE)),
        many(8, "tensor", sub!(TENSOR)),
        many(9, "func", sub!(ATTR_FUNCTION)),
    ]
    ATTR_FUNCTION "NameAttrList" false [
        one(1, "name", Text),
        many(2, "attr", sub!(ATTR_ENTRY)),
    ]
    TENSOR "TensorProto" false [
        one(1, "dtype", Enum(DATA_TYPES)),
        one(2, "tensor_shape", sub!(TENSOR_SHAPE)),
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
        many(14, "resource_handle_val", sub!(RESOURCE_HANDLE)),
        many(15, "variant_val", sub!(VARIANT)),
        many(16, "uint32_val", Int),
        many(17, "uint64_val", Int),
        one(18, "float8_val", Bytes),
    ]
    RESOURCE_HANDLE "ResourceHandleProto" false [
        one(1, "device", Text),
        one(2, "container", Text),
        one(3, "name", Text),
        one(4, "hash_code", Int),
        one(5, "maybe_type_name", Text),
        many(6, "dtypes_and_shapes", sub!(DTYPE_AND_SHAPE)),
    ]
    DTYPE_AND_SHAPE "DtypeAndShape" false [
        one(1, "dtype", Enum(DATA_TYPES)),
        one(2, "shape", sub!(TENSOR_SHAPE)),
    ]
    VARIANT "VariantTensorDataProto" false [
        one(1, "type_name", Text),
        one(2, "metadata", Bytes),
        many(3, "tensors", sub!(TENSOR)),
    ]
    FULL_TYPE "FullTypeDef" false [
        // An enumeration that nobody reads; its names are skipped.
        one(1, "type_id", Enum(&[])),
        many(2, "args", sub!(FULL_TYPE)),
        one(3, "s", Text),
        one(4, "i", Int),
    ]
    // Large, and of no use without the sources: walked through piece by piece, never kept. Its ids are
    // fixed64, which are as wide as doubles.
    DEBUG_INFO "GraphDebugInfo" true [
        many(1, "files", Text),
        many(4, "frames_by_id", sub!(FRAME_ENTRY)),
        many(6, "traces_by_id", sub!(TRACE_ENTRY)),
        many(2, "traces", sub!(NAMED_TRACE_ENTRY)),
        many(5, "name_to_trace_id", sub!(TRACE_ID_ENTRY)),
    ]
    FRAME_ENTRY "FramesByIdEntry" false [one(1, "key", Double), one(2, "value", sub!(FILE_LINE))]
    TRACE_ENTRY "TracesByIdEntry" false [one(1, "key", Double), one(2, "value", sub!(STACK_TRACE))]
    NAMED_TRACE_ENTRY "TracesEntry" false [
        one(1, "key", Text),
        one(2, "value", sub!(STACK_TRACE)),
    ]
    TRACE_ID_ENTRY "NameToTraceIdEntry" false [one(1, "key", Text), one(2, "value", Double)]
    STACK_TRACE "StackTrace" false [
        many(1, "file_line_cols", sub!(FILE_LINE)),
        many(2, "frame_id", Double),
    ]
    FILE_LINE "FileLineCol" false [
        one(1, "file_index", Int),
        one(2, "line", Int),
        one(3, "col", Int),
        one(4, "func", Text),
        one(5, "code", Text),
    ]
    GRADIENT "GradientDef" false [one(1, "function_name", Text), one(2, "gradient_func", Text)]
    REGISTERED_GRADIENT "RegisteredGradient" false [
        one(1, "gradient_func", Text),
        one(2, "registered_op_type", Text),
    ]
    ARG_ATTR_ENTRY "ArgAttrEntry" false [one(1, "key", Int), one(2, "value", sub!(ARG_ATTRS))]
    ARG_ATTRS "ArgAttrs" false [many(1, "attr", sub!(ATTR_ENTRY))]
    UNIQUE_ID_ENTRY "ResourceArgUniqueIdEntry" false [one(1, "key", Int), one(2, "value", Int)]
    ATTR_DEF "AttrDef" false [
        one(1, "name", Text),
        one(2, "type", Text),
        one(3, "default_value", sub!(ATTR_VALUE)),
        one(4, "description", Text),
        one(5, "has_minimum", Bool),
        one(6, "minimum", Int),
        one(7, "allowed_values", sub!(ATTR_VALUE)),
    ]
    DEPRECATION "OpDeprecation" false [one(1, "version", Int), one(2, "explanation", Text)]
    VERSIONS "VersionDef" false [
        one(1, "producer", Int),
        one(2, "min_consumer", Int),
        many(3, "bad_consumers", Int),
    ]
    FUNCTION_LIBRARY "FunctionDefLibrary" true [
        many(1, "function", sub!(FUNCTION)),
        many(2, "gradient", sub!(GRADIENT)),
        many(3, "registered_gradients", sub!(REGISTERED_GRADIENT)),
    ]
    FUNCTION "FunctionDef" false [
        one(1, "signature", sub!(OP_DEF)),
        many(5, "attr", sub!(ATTR_ENTRY)),
        many(7, "arg_attr", sub!(ARG_ATTR_ENTRY)),
        many(8, "resource_arg_unique_id", sub!(UNIQUE_ID_ENTRY)),
        many(3, "node_def", sub!(NODE_DEF)),
        many(4, "ret", sub!(TEXT_PAIR)),
        many(6, "control_ret", sub!(TEXT_PAIR)),
    ]
    TEXT_PAIR "RetEntry" false [one(1, "key", Text), one(2, "value", Text)]
    OP_DEF "OpDef" false [
        one(1, "name", Text),
        many(2, "input_arg", sub!(ARG_DEF)),
        many(3, "output_arg", sub!(ARG_DEF)),
        many(20, "control_output", Text),
        many(4, "attr", sub!(ATTR_DEF)),
        one(8, "deprecation", sub!(DEPRECATION)),
        one(5, "summary", Text),
        one(6, "description", Text),
        one(18, "is_commutative", Bool),
        one(16, "is_aggregate", Bool),
        one(17, "is_stateful", Bool),
        one(19, "allows_uninitialized_input", Bool),
        one(21, "is_distributed_communication", Bool),
    ]
    ARG_DEF "ArgDef" false [
        one(1, "name", Text),
        one(2, "description", Text),
        one(3, "type", Enum(DATA_TYPES)),
        one(4, "type_attr", Text),
        one(5, "number_attr", Text),
        one(6, "type_list_attr", Text),
        many(7, "handle_data", sub!(DTYPE_AND_SHAPE)),
        one(16, "is_ref", Bool),
        one(17, "experimental_full_type", sub!(FULL_TYPE)),
    ]
    META_GRAPH_DEF "MetaGraphDef" true [
        one(1, "meta_info_def", sub!(META_INFO)),
        one(2, "graph_def", sub!(GRAPH_DEF)),
        one(3, "saver_def", Unread),
        many(4, "collection_def", Unread),
        many(5, "signature_def", Unread),
        many(6, "asset_file_def", Unread),
        one(7, "object_graph_def", Unread),
    ]
    META_INFO "MetaInfoDef" false [
        one(1, "meta_graph_version", Text),
        one(2, "stripped_op_list", sub!(OP_LIST)),
        one(3, "any_info", Unread),
        many(4, "tags", Text),
        one(5, "tensorflow_version", Text),
        one(6, "tensorflow_git_version", Text),
        one(7, "stripped_default_attrs", Bool),
        many(8, "function_aliases", sub!(TEXT_PAIR)),
    ]
    OP_LIST "OpList" false [many(1, "op", sub!(OP_DEF))]
    SAVED_MODEL "SavedModel" true [
        one(1, "saved_model_schema_version", Int),
        many(2, "meta_graphs", sub!(META_GRAPH_DEF)),
    ]
}

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

/// Name of an element type; `DT_<n>` for one that is newer than this table.
pub fn data_type_name(number: i64) -> std::borrow::Cow<'static, str> {
    match DATA_TYPES.iter().find(|entry| i64::from(entry.1) == number) {
        Some(entry) => entry.0.into(),
        None => format!("DT_{number}").into(),
    }
}
