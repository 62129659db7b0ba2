"""Items of "Analyze tf.data performance with the TF Profiler"."""

from .item import Item

TITLE = "Analyze tf.data performance with the TF Profiler"

_NO_PREFETCH = "stepscope pipeline tf_guide/no_prefetch.xplane.pb.gz"
_FILTER = "stepscope pipeline tf_guide/filter.xplane.pb.gz"
_IN_ORDER = "stepscope pipeline tf_guide/files_in_order.xplane.pb.gz"
_EXAMPLE_1 = "stepscope pipeline tf_guide/example_1.xplane.pb.gz"
_EXAMPLE_2 = "stepscope pipeline tf_guide/example_2.xplane.pb.gz"
_LIST_FILES = "stepscope pipeline tf_guide/list_files.xplane.pb.gz"
_KERAS = "stepscope pipeline tf_data/keras_fit_slow_map.xplane.pb.gz"
_RECORDS = "stepscope pipeline tf_data/tfrecord_map_batch_repeat.xplane.pb.gz"

ITEMS: list[Item] = [
    Item(
        "A profile of some steps, collected with TensorFlow's profiler",
        _KERAS,
        ("The input is the bottleneck (confidence high).", "20 steps:"),
    ),
    Item(
        "Question 1: is the pipeline fast enough? The time in `IteratorGetNext` within the steps",
        _RECORDS,
        ("1. Is the pipeline fast enough? No: 62.8 % of the step time is spent waiting for input",),
    ),
    Item(
        "A pipeline whose calls return quickly is not the bottleneck. The guide's 50 µs is no limit: a "
        "healthy one takes longer here",
        "stepscope pipeline tf_data/guide_range_map_repeat_batch.xplane.pb.gz",
        (
            "The input is not the bottleneck (confidence high).",
            "Yes: 0.5 % of the step time is spent waiting for input, 79.7 µs per step.",
        ),
        never=("What a change would gain", "◀ bottleneck"),
    ),
    Item(
        "Under Keras, batches are taken on threads named `tf_data_iterator_get_next`",
        _KERAS,
        ("83.9 % of the step time is spent waiting for input", "map (transformation 2) does 14.0 ms of work"),
    ),
    Item(
        "Under a distribution strategy, `IteratorGetNextAsOptional`, and a pipeline for each device that "
        "takes from the host's",
        "stepscope pipeline tf_data/mirrored_slow_map.xplane.pb.gz",
        (
            "Yes: TensorFlow prefetches to each device what the pipeline of the host makes",
            "map (transformation 2) with batch (transformation 3) does",
            "The pipelines of the devices only hand over what the host's pipeline makes",
        ),
    ),
    Item(
        "Question 2: are you prefetching? A parallel map at the end is none: one made the steps of this "
        "program take 19 to 22 ms instead of 35 to 38",
        _NO_PREFETCH,
        (
            "2. Are you prefetching? No: the last stage is batch (transformation 2), and no Prefetch.",
            "works ahead by 2 elements of the 8 of a step and no further",
            "With prefetch(tf.data.AUTOTUNE) at the end, a step would take 23.1 ms instead of 39.8 ms.",
            "end the pipeline with prefetch(tf.data.AUTOTUNE)",
        ),
        never=("It is prefetched", "partly prefetched", "prefetch more", "keeps up"),
    ),
    Item(
        "Question 3: is the CPU used well? A machine of two cores, a thread pool of eight",
        _FILTER,
        ("3. Is the CPU used well? The pipeline keeps at most 0.9 of 2 cores busy",),
        never=("8 cores",),
    ),
    Item(
        "`cache()` where the data fit into memory, and a map over whole batches",
        _RECORDS,
        (
            "add cache() after map (transformation 2) with batch (transformation 3), if it yields the same",
            "batch first in map (transformation 2) with batch (transformation 3), so that its function",
        ),
    ),
    Item(
        "`max_intra_op_parallelism = 1`, which TensorFlow 2 does by itself",
        _EXAMPLE_2,
        ("set options.threading.max_intra_op_parallelism = 1: TensorFlow 2 does so by itself",),
    ),
    Item(
        "Work that other hosts do",
        _FILTER,
        ("run the pipeline on other hosts with tf.data service; it gains what those hosts add",),
    ),
    Item(
        "Names of stages for `range(10).map(lambda x: x).repeat(2).batch(5)`: what was written, what it runs "
        "as, and that the map is gone, because it changes nothing",
        "stepscope pipeline tf_data/guide_range_map_repeat_batch.xplane.pb.gz",
        (
            "TensorFlow took transformation 1 out of your chain",
            "└─ Prefetch 2.44 µs 1 ahead added by TensorFlow",
            "└─ batch (3) 9.54 µs 1 BatchV2",
            "└─ repeat (2) 16.5 µs 1 FiniteRepeat",
            "└─ range (0)",
        ),
    ),
    Item(
        "Numbers are places in the chain, and threads those that the events tell: two, of a pool of four",
        _NO_PREFETCH,
        (
            "map (1) 21.6 ms 2 ahead ParallelMapV2",
            "range (0)",
            "does 43.2 ms of work per step on 2 threads, so it needs 21.6 ms",
        ),
        never=("on 4 threads",),
    ),
    Item(
        "Synchronous and asynchronous stages, and the threads that they run on",
        "stepscope query tf_guide/example_1.xplane.pb.gz "
        '"SELECT spoken, works_ahead, lane FROM iterator WHERE works_ahead"',
        ("map (transformation 2) with batch (transformation 3)", "Prefetch, added by TensorFlow"),
        never=("flat_map",),
    ),
    Item(
        "The way from the last stage to the slow one: the first of two maps",
        "stepscope pipeline tf_data/two_maps_first_slow.xplane.pb.gz",
        (
            "4. Which stage holds the program up? map (transformation 2) does 11.8 ms of work per step",
            "map (2) 5.91 ms",
        ),
    ),
    Item(
        "Example 1: `TFRecordDataset.map.batch.repeat`, which TensorFlow 2.21 fuses and prefetches by itself",
        _EXAMPLE_1,
        (
            "Yes, but not by your doing: TensorFlow put a Prefetch at the end.",
            "map (2) with batch (3) 2.17 ms 2 ahead MapAndBatch",
            "TFRecordDataset 205 µs",
        ),
        never=("not for data", "The pipeline keeps up"),
    ),
    Item(
        "Example 2: `map` with `num_parallel_calls=2`, batches of 32",
        _EXAMPLE_2,
        (
            "map (transformation 2) does 8.47 ms of work per step on 2 threads",
            "so that its function takes 32 elements at once",
        ),
        never=("31 elements", "not for data", "It is prefetched"),
    ),
    Item(
        "`InstantiatedCapturedFunction::Run`: how long the function of a map ran, and waited for a thread",
        "stepscope query tf_guide/example_2.xplane.pb.gz "
        '"SELECT spoken, function_ps, queue_ps FROM iterator WHERE spoken LIKE \'map%\'"',
        ("map (transformation 2) 167333475000 0",),
    ),
    Item(
        "A slow source: several files, read by `interleave` at once. This program has one file, and an "
        "interleave over it gained nothing",
        "stepscope pipeline tf_guide/one_file.xplane.pb.gz",
        (
            "TFRecordDataset (transformation 1) does 6.45 ms of work per step",
            "it shows only one file, and with one this gains nothing: divide the data into several.",
        ),
        never=("4.49 ms 3.81 ms 5.19 ms read several files",),
    ),
    Item(
        "A source under a parallel interleave: unpacking the files is the work, not handing over",
        _IN_ORDER,
        (
            "4. Which stage holds the program up? TFRecordDataset inside interleave (transformation 1) does "
            "5.03 ms of work per step on 2 threads",
            "TFRecordDataset 2.52 ms 2 TFRecord ◀ bottleneck",
        ),
        never=("a faster FlatMap", "flat_map inside interleave (transformation 1) does"),
    ),
    Item(
        "`deterministic=False` where order does not matter",
        _IN_ORDER,
        ("give interleave (transformation 1) deterministic=False, if order does not matter",),
    ),
    Item(
        "A slow transformation: more threads, or a cache",
        "stepscope pipeline tf_data/batch_big_copy.xplane.pb.gz",
        ("give batch (transformation 2) num_parallel_calls=tf.data.AUTOTUNE", "add cache() after batch"),
    ),
    Item(
        "Outer parallelism for `filter`, `unbatch` and `batch`: four copies of this pipeline made its steps "
        "take 4.7 to 5.1 ms instead of 20.8 to 30",
        _FILTER,
        (
            "5.16 ms 4.39 ms 20.7 ms run 4 copies of the pipeline at once, each of a shard of the data, "
            "because filter (transformation 1) takes one element after the other",
            "tf.data.Dataset.range(4).interleave(lambda i: range(…).shard(4, i).filter(…).batch(…)",
            "With the best parallelism and prefetching, a step would take 2.42 ms on this machine; then the "
            "thread pool limits it.",
        ),
        never=("then filter limits it", "then Filter limits it"),
    ),
    Item(
        "`prefetch(tf.data.AUTOTUNE)` at the end",
        _EXAMPLE_2,
        ("end the pipeline with prefetch(tf.data.AUTOTUNE)",),
    ),
    Item(
        "`list_files(…, shuffle=True)` by its name",
        _LIST_FILES,
        (
            "list_files (transformation 1) does 6.04 ms of work per step",
            "list_files (0) 5.59 ms 1 TensorSlice",
            "list fewer files with list_files (transformation 1)",
            "flat_map (transformation 3) waits 97.2 ms of the 404 ms in its calls for a thread of the pool",
        ),
        never=("shuffle names of files instead of elements", "shuffle (1)"),
    ),
    Item(
        "Recordings too large to be read whole: the first part is, and that is said",
        "stepscope pipeline recording",
        ("Only the first 26.0 % of the pipeline's events were read.",),
        kept_by="tests/instruments/test_pipeline.py::"
        "test_of_a_huge_recording_the_first_part_is_read_and_told",
    ),
]  # fmt: skip
