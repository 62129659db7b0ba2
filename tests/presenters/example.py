"""A report as it comes from a real recording, made by hand so that presenters are tested alone."""

from stepscope.report import Chart, Column, Note, Report, ReportFinding, Section, Table

MS = 10**9

STEPS = Section(
    name="steps",
    title="Steps",
    question="How long is a step?",
    answer=(
        "9 steps of 34.1 ms on average; median 33.9 ms, p95 36.0 ms, spread 6 %.",
        "Left out of the averages: step 0 (compile, 306 ms).",
    ),
    table=Table(
        (
            Column("step", "int", "step"),
            Column("kind", "text", "kind"),
            Column("dur_ps", "ps", "duration", "start to end of the step"),
            Column("averaged", "bool", "averaged"),
        ),
        tuple(
            (i, "compile" if i == 0 else "train", d * MS // 10, i > 0)
            for i, d in enumerate((3061, 341, 339, 345, 360, 337, 341, 339, 342, 338))
        ),
        10,
    ),
    chart=Chart("strip", "step", ("dur_ps",), "Duration of each step"),
    sql="SELECT step, kind, dur_ps, averaged\nFROM step\nORDER BY step",
)

_OPS = (
    ("Conv2DBackpropFilter", 123, 31),
    ("Conv2DBackpropInput", 91, 23),
    ("_MklNativeConv2D", 67, 17),
    ("_MklFusedBatchNormV3", 41, 10),
    ("IteratorGetNext", 22, 6),
    ("ApplyMomentum", 14, 4),
    ("Identity", 4, 1),
    ("NoOp", 0, 0),
)

OP_TYPES = Section(
    name="op_types",
    title="Op types",
    question="Which op types take the time?",
    answer=(),
    table=Table(
        (
            Column("op_type", "text", "op type"),
            Column("occurrences", "int", "runs"),
            Column("total_ps", "ps", "total"),
            Column("self_ps", "ps", "self"),
            Column("share", "ratio", "share", "self time as a share of all self time"),
        ),
        tuple((n, 14 * (i + 1), t * MS // 10 + 7, t * MS // 10, s / 100) for i, (n, t, s) in enumerate(_OPS)),
        37,
    ),
    chart=Chart("bar", "op_type", ("self_ps",), "Self time by op type"),
    sql="SELECT op_type, count(*) AS occurrences FROM slice GROUP BY op_type",
)

TRACKS = Section(
    name="tracks",
    title="Busy",
    question="How busy are devices and tracks?",
    answer=("Rows of this timeline are lanes, not threads.",),
    table=Table(
        (
            Column("track", "text", "track"),
            Column("busy_ps", "ps", "busy"),
            Column("wait_ps", "ps", "waiting"),
            Column("idle_ps", "ps", "idle"),
            Column("busy_share", "ratio", "busy"),
        ),
        tuple(
            (
                f"/job:localhost/replica:0/task:0/device:CPU:0 lane {i}",
                (30 - 7 * i) * MS,
                3 * MS,
                7 * i * MS,
                (30 - 7 * i) / 33,
            )
            for i in range(4)
        ),
        4,
    ),
    chart=Chart("stacked_bar", "track", ("busy_ps", "wait_ps", "idle_ps"), "Busy and idle per track"),
    sql="SELECT 1",
)

COMPLETE = Section(
    "completeness",
    "Complete",
    "What is missing?",
    ("917 of 917 events stored; 3 repaired.",),
    None,
    None,
    "SELECT 1",
)

FINDING = ReportFinding(
    slug="input-bound",
    severity="high",
    title="The input pipeline holds the model up",
    impact="87 % of the step is spent waiting for data, 29.7 ms of 34.1 ms.",
    action="Run the slow map in parallel: dataset.map(f, num_parallel_calls=tf.data.AUTOTUNE).",
    evidence=Table(
        (Column("step", "int", "step"), Column("wait_ps", "ps", "wait")), ((1, 29 * MS), (2, 30 * MS)), 2
    ),
    sql="SELECT step, sum(dur_ps) FROM slice WHERE name = 'IteratorGetNext' GROUP BY step",
    reasoning="A step that waits does nothing else.",
    formula="share = wait / step; told when share >= 0.1",
)

LANES = ReportFinding(
    slug="rows-are-lanes",
    severity="info",
    title="Rows of this timeline are lanes",
    impact="",
    action="Read concurrency from the track table, not from the number of rows.",
    evidence=Table((Column("track", "text", "track"),), (("lane 0",),), 1),
    sql="SELECT 1",
    weakened_by=("truncated",),
)

NOTE = Note(
    "truncated", "lost", "logs/timeline-5.json", 12, "The file ends within event 930", ("step times",)
)

REPORT = Report(
    title="resnet14: 1 run, 1 host, 10 steps",
    headline=("Steps take 34.1 ms; 71 % of that is convolution and its gradients.",),
    sections=(STEPS, OP_TYPES, TRACKS, COMPLETE),
    findings=(FINDING, LANES),
    notes=(NOTE,),
    next_commands=(
        'stepscope query logs/timeline-5.json "SELECT op_name, sum(self_ps) FROM slice GROUP BY 1"',
        "stepscope report logs/timeline-5.json -o report.html",
    ),
    facts={"runs": 1, "hosts": 1, "events_seen": 917},
)
