"""Every promise of SECURITY.md is kept by tests that are named here; one without a test fails."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TESTS = {
    "The decoders are written in Rust without `unsafe`": [
        "tests/test_security.py::test_unsafe_code_is_in_three_modules_that_say_why"
    ],
    "A damaged file produces a result": [
        "tests/fuzz/test_found.py::test_targets_survive_mutants_of_the_samples",
        "tests/sources/test_damage.py::test_a_cut_archive_costs_its_end",
        "tests/sources/test_damage.py::test_a_damaged_archive_costs_what_is_damaged",
        "tests/sources/test_damage.py::test_a_damaged_packed_file_is_one_unread_source",
    ],
    "It never causes a crash, a hang": [
        "tests/fuzz/test_found.py::test_what_was_found_is_a_result_or_an_error",
        "tests/sources/test_damage.py::test_a_pipe_that_nobody_writes_to_is_not_waited_for_forever",
        "tests/sources/test_damage.py::test_a_sparse_file_is_stopped_at_once",
        "tests/sources/test_damage.py::test_a_tar_with_an_endless_header_is_stopped",
        "tests/sources/test_damage.py::test_a_zip_whose_directory_lies_is_unpacked_in_small_pieces",
        "tests/session/test_many_sources.py::test_many_small_traces_stay_small",
        "tests/cli/test_odd_paths.py::test_odd_paths",
        "tests/faults/test_full_disk.py::test_any_call_of_an_export_may_fail",
    ],
    "A packed file may expand to 200 times": [
        "tests/sources/test_archives.py::test_bombs_are_stopped",
        "tests/core/test_store.py::test_a_bomb_is_stopped",
    ],
    "stepscope stops reading it there": [
        "tests/sources/test_archives.py::test_bombs_are_stopped",
        "tests/sources/test_damage.py::test_a_zip_whose_directory_lies_is_unpacked_in_small_pieces",
    ],
    "Names inside archives never become paths": [
        "tests/sources/test_archives.py::test_names_that_lead_out_are_refused",
        "tests/sources/test_archives.py::test_links_and_devices_in_archives_are_not_followed",
    ],
    "The files inside a lake or the cache are not trusted": [
        "tests/lake/test_hostile_lakes.py::test_any_plan_ends_in_a_sweep",
        "tests/lake/test_flipped_bits.py::test_no_flipped_bit_is_overlooked",
    ],
    "stepscope deletes only files whose names": [
        "tests/lake/test_hostile_lakes.py::test_only_own_names_are_swept",
        "tests/lake/test_hostile_lakes.py::test_no_file_behind_a_link_is_removed",
        "tests/lake/test_hostile_lakes.py::test_a_plan_reaches_nothing_but_files_of_tables",
        "tests/lake/test_hostile_lakes.py::test_nothing_is_written_behind_a_link",
        "tests/lake/test_hostile_lakes.py::test_links_in_the_stage_are_not_followed",
        "tests/lake/test_hostile_lakes.py::test_a_plan_does_not_remove_what_another_source_lists",
        "tests/lake/test_cache.py::test_nothing_of_somebody_else_is_removed",
        "tests/lake/test_cache.py::test_links_in_the_cache_are_not_followed",
        "tests/faults/test_lake_faults.py::test_kills_with_plans_and_stages_damaged_in_between",
    ],
    "A folder that holds other files is not used as a cache": [
        "tests/lake/test_cache.py::test_nothing_of_somebody_else_is_removed"
    ],
    "Every file of a lake is compared with the hash": [
        "tests/lake/test_flipped_bits.py::test_no_flipped_bit_is_overlooked",
        "tests/lake/test_flipped_bits.py::test_what_was_compared_is_remembered_until_it_changes",
    ],
    "Manifests carry a hash of their own": [
        "tests/lake/test_flipped_bits.py::test_no_flipped_bit_of_a_manifest_is_overlooked"
    ],
    "A flipped bit is an error that names the file": [
        "tests/lake/test_flipped_bits.py::test_no_flipped_bit_is_overlooked"
    ],
    "stepscope's own JSON files go through one strict reader": [
        "tests/test_strict_json.py::test_every_oddity_is_a_value_or_one_error"
    ],
    "An odd value is an error or is ignored": [
        "tests/test_strict_json.py::test_odd_values_in_the_files_of_a_lake",
        "tests/test_strict_json.py::test_odd_values_in_what_derived_tables_were_made_of",
        "tests/test_strict_json.py::test_odd_values_in_the_files_of_the_cache",
        "tests/test_strict_json.py::test_odd_values_in_the_files_of_a_capture",
    ],
    "stepscope sends nothing anywhere": [
        "tests/presenters/test_html.py::test_the_page_is_one_file_and_its_policy_names_its_blocks"
    ],
    "A report is a single file": [
        "tests/presenters/test_html.py::test_the_page_is_one_file_and_its_policy_names_its_blocks"
    ],
    "Text from a recording is escaped wherever": [
        "tests/cli/test_terminals.py::test_no_control_character_reaches_a_terminal",
        "tests/presenters/test_html.py::test_hostile_names_stay_text",
        "tests/presenters/test_rows.py::test_markdown_shows_names_as_they_are",
    ],
    "Files and pipes get the exact": [
        "tests/cli/test_terminals.py::test_pipes_get_the_exact_text",
        "tests/cli/test_terminals.py::test_spreadsheets_get_no_formula_on_request",
        "tests/cli/test_terminals.py::test_guarded_csv_holds_no_formula",
    ],
    "SQL reads the tables and nothing else": [
        "tests/engines/test_duckdb.py::test_refusals_say_what_to_do",
        "tests/engines/test_duckdb.py::test_only_the_files_named_may_be_read",
    ],
    "`stepscope serve` listens on the loopback address only": [
        "tests/server/test_process.py::test_only_the_loopback_address_listens"
    ],
    "Every request names one of three hosts": [
        "tests/server/test_access.py::test_other_hosts_are_refused_before_routing",
        "tests/server/test_access.py::test_other_origins_are_refused",
        "tests/server/test_access.py::test_what_is_no_get_needs_everything",
        "tests/server/test_process.py::test_the_real_rebinding_shape_is_refused",
    ],
    "Every route but the page itself asks for a cookie": [
        "tests/server/test_access.py::test_every_route_needs_a_session",
        "tests/server/test_access.py::test_tokens_and_sessions_are_random_and_sessions_are_few",
        "tests/server/test_process.py::test_from_the_url_to_an_answer_and_no_token_anywhere",
        "tests/server/test_process.py::test_a_browser_gets_the_url_from_a_file_that_only_the_user_can_read",
    ],
    "No route takes a path": [
        "tests/server/test_traversal.py::test_no_payload_reads_a_file",
        "tests/server/test_traversal.py::test_the_manifest_has_the_files_of_the_folder_and_no_others",
    ],
    "No answer runs a script that is not ours": [
        "tests/server/test_access.py::test_every_answer_has_the_headers",
        "tests/web/repeats_scripts.py::test_there_are_enough_and_they_would_run",
        "tests/web/repeats_scripts.py::test_timeline_with_search_slices_and_a_range",
        "tests/web/repeats_scripts.py::test_report",
    ],
    "`stepscope mcp` opens only paths under the folders": [
        "tests/agents/test_tools.py::test_paths_outside_the_roots_are_refused",
        "tests/agents/test_tools.py::test_a_link_in_a_folder_is_not_followed_out",
    ],
    "It has no tool that writes": [
        "tests/agents/test_protocol.py::test_the_list_of_tools_and_resources",
        "tests/agents/test_protocol.py::test_what_is_refused",
    ],
    "SQL of the page runs in a process of its own": [
        "tests/server/test_escapes.py::test_no_sql_reaches_out",
        "tests/server/test_escapes.py::test_files_of_a_lake_are_read_and_never_written",
        "tests/server/repeats_bombs.py::test_bombs_end_in_time",
    ],
    "DuckDB's own walls hold everywhere": ["tests/server/test_escapes.py::test_no_sql_reaches_out"],
    "Linux adds Landlock and limits": [
        "tests/server/test_escapes.py::test_files_of_a_lake_are_read_and_never_written",
        "tests/server/repeats_bombs.py::test_bombs_end_in_time",
    ],
    "It is killed when it does not stop": ["tests/server/repeats_bombs.py::test_bombs_end_in_time"],
    "`stepscope record` runs a program as it would run": [
        "tests/capture/test_launcher.py::test_a_damaged_capture_json_changes_no_exit_code",
        "tests/capture/test_launcher.py::test_a_full_disk_after_the_program_changes_no_exit_code",
        "tests/capture/test_launcher.py::test_ignored_signals_stay_ignored_and_no_others",
        "tests/capture/test_launcher.py::test_inherited_descriptors_are_passed_on_and_no_others",
        "tests/capture/test_launcher.py::test_no_signal_leaves_an_orphan",
    ],
}
"""How a sentence of SECURITY.md begins, and what proves it."""


def promises() -> list[str]:
    """The sentences of the list in SECURITY.md."""
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    items = re.findall(r"^- (.*?)(?=^- |^$)", text, re.MULTILINE | re.DOTALL)
    return [
        one for item in items for one in re.split(r"(?<=[.;]) (?=[A-Z]|stepscope )", " ".join(item.split()))
    ]


@pytest.mark.parametrize("promise", promises(), ids=lambda text: text[:50])
def test_every_promise_has_a_test(promise: str) -> None:
    assert [begin for begin in TESTS if promise.startswith(begin)], f"no test is named for: {promise}"


@pytest.mark.parametrize("begin", TESTS)
def test_every_entry_is_a_promise_with_tests_that_exist(begin: str) -> None:
    assert [one for one in promises() if one.startswith(begin)], "SECURITY.md no longer says so"
    for node in TESTS[begin]:
        path, _, name = node.partition("::")
        tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
        assert name in {one.name for one in tree.body if isinstance(one, ast.FunctionDef)}, node


def test_unsafe_code_is_in_three_modules_that_say_why() -> None:
    found = []
    for path in sorted((ROOT / "crates").glob("*/src/**/*.rs")):
        code = "\n".join(line.split("//")[0] for line in path.read_text(encoding="utf-8").splitlines())
        if re.search(r"\bunsafe\b", code):
            found.append(path)
    assert [path.name for path in found] == ["guard.rs", "mapping.rs", "streams.rs"]
    for path in found:
        text = path.read_text(encoding="utf-8")
        assert text.startswith("//!")
        assert text.count("unsafe {") == text.count("SAFETY")
