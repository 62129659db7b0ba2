//! Ops that do no floating point arithmetic: they move, read, make, decode, order or convert data, reckon with
//! whole numbers and truths, keep state or talk to others. Making random numbers counts as making data.
//! An op that is in no list is not silent: it is reported as one without a formula.

/// Words in names of ops of the input pipeline, of readers, containers, events and devices' services.
#[rustfmt::skip]
const WORDS: &[&str] = &[
    "Dataset", "Iterator", "Queue", "Reader", "Summary", "HashTable", "LookupTable", "Table",
    "TensorArray", "TensorList", "TensorMap", "Barrier", "Checkpoint", "Embedding", "Infeed",
    "Outfeed", "MemoryCache", "ThreadPool", "CandidateSampler", "Variant", "Optional",
];

/// Beginnings of names.
#[rustfmt::skip]
const BEGINNINGS: &[&str] = &[
    "String", "Unicode", "Random", "StatelessRandom", "StatefulRandom", "StatefulUniform",
    "StatefulStandardNormal", "StatefulTruncatedNormal", "StatelessTruncatedNormal",
    "StatelessParameterized", "StatelessMultinomial", "StatelessShuffle", "Stack", "Decode",
    "Encode", "Save", "Restore", "Read", "Write", "Parse", "Assert", "Debug", "Regex",
    "StaticRegex", "Rng", "Rpc", "Serialize", "Deserialize", "OrderedMap", "Stage",
    "Unstage", "Stats", "Nondeterministic", "AnonymousSeed", "AnonymousRandom", "DTensor",
    "DrawBoundingBoxes", "Configure", "Shutdown", "CloseSummary", "CreateSummary",
    "Ragged", "BoostedTrees", "IsBoostedTrees", "Mutex", "_Nccl",
];

/// Ops that no word of their names gives away, sorted.
#[rustfmt::skip]
const NAMES: &[&str] = &[
    "Abort", "AccumulatorNumAccumulated", "AccumulatorSetGlobalStep", "AddManySparseToTensorsMap",
    "AddSparseToTensorsMap", "All", "AllToAll", "Any", "AsString", "Assign", "AssignVariableOp",
    "AssignVariableXlaConcatND", "Batch", "BatchMatrixBandPart", "BatchMatrixDiag",
    "BatchMatrixDiagPart", "BatchMatrixSetDiag", "BatchToSpace", "BatchToSpaceND", "Bincount",
    "Bitcast", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "BroadcastArgs", "BroadcastGradientArgs",
    "BroadcastTo", "Bucketize", "CSRSparseMatrixComponents", "CSRSparseMatrixToDense",
    "CSRSparseMatrixToSparseTensor", "CTCGreedyDecoder", "Cast", "CheckNumerics", "CheckNumericsV2",
    "CheckPinned", "CollectiveAllToAllV2", "CollectiveAllToAllV3", "CollectiveAssignGroupV2",
    "CollectiveBcastRecv", "CollectiveBcastRecvV2", "CollectiveBcastSend", "CollectiveBcastSendV2",
    "CollectiveGather", "CollectiveGatherV2", "CollectiveInitializeCommunicator",
    "CollectivePermute", "Complex", "CompressElement", "ComputeAccidentalHits", "Concat",
    "ConcatOffset", "ConcatV2", "ConditionalAccumulator", "Conj", "ConjugateTranspose", "Const",
    "ConsumeMutexLock", "ControlTrigger", "ConvertToCooTensor", "Copy", "CopyHost", "CopyToMesh",
    "CopyToMeshGrad", "CountUpTo", "CudnnRNNCanonicalToParams", "CudnnRNNCanonicalToParamsV2",
    "CudnnRNNParamsSize", "CudnnRNNParamsToCanonical", "CudnnRNNParamsToCanonicalV2",
    "DataFormatDimMap", "DataFormatVecPermute", "DeepCopy", "DeleteRandomSeedGenerator",
    "DeleteSeedGenerator", "DeleteSessionTensor", "DenseBincount", "DenseCountSparseOutput",
    "DenseToCSRSparseMatrix", "DenseToDenseSetOperation", "DenseToSparseSetOperation",
    "DepthToSpace", "Dequantize", "DestroyResourceOp", "DestroyTemporaryVariable", "DeviceIndex",
    "Diag", "DiagPart", "DisableCopyOnRead", "DummyIterationCounter", "DummySeedGenerator",
    "DumpTensor", "DynamicPartition", "DynamicStitch", "EditDistance", "Empty", "EnsureShape",
    "Enter", "Exit", "ExpandDims", "ExtractGlimpse", "ExtractGlimpseV2", "ExtractImagePatches",
    "ExtractJpegShape", "ExtractVolumePatches", "FakeParam", "FileSystemSetConfiguration", "Fill",
    "Fingerprint", "Gather", "GatherNd", "GatherV2", "GenerateVocabRemapping", "GetElementAtIndex",
    "GetOptions", "GetSessionHandle", "GetSessionHandleV2", "GetSessionTensor", "GlobalIterId",
    "GraphDefVersion", "GuaranteeConst", "HistogramFixedWidth", "HostConst", "Identity",
    "IdentityN", "Imag", "ImmutableConst", "ImportEvent", "InTopK", "InTopKV2", "InplaceUpdate",
    "Invert", "InvertPermutation", "IsFinite", "IsInf", "IsNan", "IsResourceHandleRefCounting",
    "IsTensorFloat32Enabled", "IsVariableInitialized", "KMC2ChainInitialization",
    "KthOrderStatistic", "LeftShift", "LinSpace", "ListDiff", "LoadAndRemapMatrix", "LogicalAnd",
    "LogicalNot", "LogicalOr", "LoopCond", "LowerBound", "MakeUnique", "MakeWeakResourceHandle",
    "MapClear", "MapIncompleteSize", "MapPeek", "MapSize", "MapStage", "MapUnstage",
    "MapUnstageNoKey", "MatchingFiles", "MatrixBandPart", "MatrixDiag", "MatrixDiagPart",
    "MatrixDiagPartV2", "MatrixDiagPartV3", "MatrixDiagV2", "MatrixDiagV3", "MatrixSetDiag",
    "MatrixSetDiagV2", "MatrixSetDiagV3", "MaxPoolGradGradWithArgmax", "Merge", "MirrorPad",
    "MirrorPadGrad", "Multinomial", "NcclBroadcast", "NegTrain", "NextIteration", "NoOp",
    "NonDeterministicInts", "NthElement", "OneHot", "OnesLike", "Pack", "Pad", "PadV2",
    "ParallelConcat", "ParallelDynamicStitch", "ParameterizedTruncatedNormal", "Placeholder",
    "PlaceholderV2", "PlaceholderWithDefault", "PopulationCount", "PreventGradient", "Print",
    "PrintV2", "QuantizeDownAndShrinkRange", "QuantizeV2", "QuantizedConcat", "QuantizedConcatV2",
    "QuantizedReshape", "Range", "Rank", "Real", "RecordInput", "Recv", "ReduceJoin", "RefEnter",
    "RefExit", "RefIdentity", "RefIn", "RefMerge", "RefNextIteration", "RefSelect", "RefSwitch",
    "Relayout", "RelayoutLike", "RequantizationRange", "RequantizationRangePerChannel",
    "Requantize", "RequantizePerChannel", "Reshape", "ResizeNearestNeighbor",
    "ResizeNearestNeighborGrad", "ResourceAccumulatorNumAccumulated",
    "ResourceAccumulatorSetGlobalStep", "ResourceConditionalAccumulator", "ResourceCountUpTo",
    "ResourceGather", "ResourceGatherNd", "ResourceScatterNdUpdate", "ResourceScatterUpdate",
    "ResourceStridedSliceAssign", "Reverse", "ReverseSequence", "ReverseV2", "RightShift",
    "RiscBitcast", "RiscBroadcast", "RiscCast", "RiscConcat", "RiscGather", "RiscImag",
    "RiscIsFinite", "RiscLogicalAnd", "RiscLogicalNot", "RiscLogicalOr", "RiscPad",
    "RiscRandomUniform", "RiscReal", "RiscReshape", "RiscReverse", "RiscShape", "RiscSlice",
    "RiscSort", "RiscSqueeze", "RiscTranspose", "Roll", "ScatterNdUpdate", "ScatterUpdate",
    "Select", "SelectV2", "Send", "SetSize", "Shape", "ShapeN", "ShardedFilename",
    "ShardedFilespec", "Size", "Skipgram", "SleepIdentityOp", "SleepOp", "Slice", "Snapshot",
    "SobolSample", "SpaceToBatch", "SpaceToBatchND", "SpaceToDepth",
    "SparseAccumulatorTakeGradient", "SparseBincount", "SparseConcat",
    "SparseConditionalAccumulator", "SparseCountSparseOutput", "SparseCross", "SparseCrossHashed",
    "SparseCrossV2", "SparseFillEmptyRows", "SparseFillEmptyRowsGrad", "SparseMatrixNNZ",
    "SparseMatrixOrderingAMD", "SparseMatrixTranspose", "SparseMatrixZeros", "SparseReorder",
    "SparseReshape", "SparseSlice", "SparseSliceGrad", "SparseSplit",
    "SparseTensorToCSRSparseMatrix", "SparseToDense", "SparseToSparseSetOperation", "Split",
    "SplitV", "Squeeze", "StochasticCastToInt", "StopGradient", "StridedSlice",
    "StridedSliceAssign", "StridedSliceGrad", "StubResourceHandleOp", "Substr", "Switch",
    "SyncDevice", "TPUCompilationResult", "TPUOrdinalSelector", "TPUPartitionedInput",
    "TPUPartitionedInputV2", "TPUPartitionedOutput", "TPUPartitionedOutputV2",
    "TPUReplicateMetadata", "TPUReplicatedInput", "TPUReplicatedOutput",
    "TakeManySparseFromTensorsMap", "TemporaryVariable", "TensorScatterUpdate",
    "TensorStridedSliceUpdate", "Tile", "TileGrad", "Timestamp", "ToBool", "TopK", "TopKUnique",
    "TopKV2", "TopKWithUnique", "Transpose", "TruncatedNormal", "Unbatch", "UnbatchGrad",
    "UncompressElement", "UniformDequantize", "UniformQuantize", "UniformRequantize", "Unique",
    "UniqueV2", "UniqueWithCounts", "UniqueWithCountsV2", "Unpack", "UnravelIndex",
    "UnsortedSegmentJoin", "UpperBound", "VarHandleOp", "VarIsInitializedOp", "Variable",
    "VariableShape", "VariableV2", "Where", "WorkerHeartbeat", "XlaBroadcastHelper",
    "XlaClusterOutput", "XlaConcatND", "XlaDequantize", "XlaDynamicSlice", "XlaDynamicUpdateSlice",
    "XlaGather", "XlaKeyValueSort", "XlaPad", "XlaRecv", "XlaRecvFromHost", "XlaReducePrecision",
    "XlaRemoveDynamicDimensionSize", "XlaReplicaId", "XlaRngBitGenerator", "XlaSend",
    "XlaSendToHost", "XlaSetBound", "XlaSetDynamicDimensionSize", "XlaSharding", "XlaSort",
    "XlaSplitND", "XlaSpmdFullToShardShape", "XlaSpmdShardToFullShape", "XlaVariadicSort",
    "ZerosLike", "_Arg", "_ArrayToList", "_DeviceArg", "_DeviceRetval", "_EagerConst", "_HostCast",
    "_HostRecv", "_HostSend", "_InitializeHostForDistributedTPU", "_ListToArray",
    "_ParallelConcatStart", "_ParallelConcatUpdate", "_ReadVariablesOp", "_Recv", "_Retval",
    "_ScopedAllocator", "_ScopedAllocatorConcat", "_ScopedAllocatorSplit", "_Send", "_SwitchN",
    "_TensorToHashBucketFast", "_VarHandlesOp", "_XlaAotOnlyVarHandleOp", "_XlaMerge",
    "_XlaRecvAtHost", "_XlaRecvAtHostV2", "_XlaSendFromHost", "_XlaSendFromHostV2",
];

/// Whether an op is known to do no floating point arithmetic.
pub fn is_silent(name: &str) -> bool {
    WORDS.iter().any(|word| name.contains(word))
        || BEGINNINGS.iter().any(|start| name.starts_with(start))
        || NAMES.binary_search(&name).is_ok()
}

#[cfg(test)]
mod tests {
    use super::{NAMES, is_silent};

    #[test]
    fn names_are_found() {
        assert!(NAMES.is_sorted());
        assert!(is_silent("Reshape") && is_silent("TensorListStack") && is_silent("StringJoin"));
        assert!(!is_silent("While") && !is_silent("CTCLoss") && !is_silent("MyOwnOp"));
    }
}
