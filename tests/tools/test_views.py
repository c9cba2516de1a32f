# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the views show of a fixed snapshot: the whole text, and the same as plain data."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.color import Color
from rich.console import Console

from tests.tools.results import console_of, text_of
from tests.tools.snapshots import BASE, FRAMES, KIB, MIB, SNAPSHOT, later
from urasync_l0.snapshot import IDLE, IN_USE, PENDING, BlockSnapshot, SegmentSnapshot, Snapshot
from urasync_l0.tools.diff_view import DiffView
from urasync_l0.tools.layout import OTHER_SHADE, PARTLY, STYLES, UNMAPPED, Layout, layout_of
from urasync_l0.tools.map_view import MapView, cell_size, cells_of, rows_of
from urasync_l0.tools.pool_findings import findings, whole_idle_bytes
from urasync_l0.tools.pool_rates import RateMeter
from urasync_l0.tools.queues_view import QueuesView
from urasync_l0.tools.show_view import ShowView
from urasync_l0.tools.top_view import TopView, seconds_text
from urasync_l0.tools.watch_view import WatchView

RENDERED = Path(__file__).parent / "rendered"


def watching(layout: Layout) -> WatchView:
    meter = RateMeter()
    meter.add(SNAPSHOT)
    after = later()
    return WatchView(after, meter.add(after), meter.curves, layout)


VIEWS: dict[str, Callable[[Layout], Any]] = {
    "show": lambda layout: ShowView(SNAPSHOT, layout),
    "map": lambda layout: MapView(SNAPSHOT, layout, rows=3),
    "queues": lambda layout: QueuesView(SNAPSHOT, layout),
    "top": lambda layout: TopView(SNAPSHOT, layout, by="size", count=10),
    "sites": lambda layout: TopView(SNAPSHOT, layout, by="site", count=10),
    "diff": lambda layout: DiffView(SNAPSHOT, later(), layout, count=9),
    "watch": watching,
}


def rendered(view: Any, width: int) -> str:
    """What a console of that width shows, without trailing spaces."""
    console = console_of(width)
    console.print(view)
    return "".join(f"{line.rstrip()}\n" for line in text_of(console).splitlines())


@pytest.mark.parametrize("width", [80, 160])
@pytest.mark.parametrize("name", VIEWS)
def test_a_view_shows_exactly_this(name: str, width: int) -> None:
    expected = (RENDERED / f"{name}-{width}.txt").read_text("utf-8")

    assert rendered(VIEWS[name](Layout()), width) == expected


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_needs_neither_colour_nor_unicode_nor_width(name: str) -> None:
    """With plain signs and exact bytes, at 60 columns."""
    text = rendered(VIEWS[name](Layout(exact=True, plain=True)), 60)

    assert text == (RENDERED / f"{name}-plain.txt").read_text("utf-8")
    assert max(map(len, text.splitlines())) <= 60
    # What is left beside plain ASCII are the lines of tables, which rich replaces by itself where
    # the output cannot show them.
    assert set(text) - set(map(chr, range(128))) <= {"─"}


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_is_plain_data_too(name: str) -> None:
    data = VIEWS[name](Layout()).to_data()

    text = json.dumps(data)
    assert "4242" in text
    sizes = {"queues": 7 * MIB, "diff": -2 * MIB, "watch": 6 * MIB, "show": 8 * MIB - 105}
    assert str(sizes.get(name, 3 * MIB)) in text


@pytest.mark.parametrize("name", VIEWS)
def test_states_are_coloured_on_a_terminal(name: str) -> None:
    console = Console(
        file=io.StringIO(), width=80, force_terminal=True, color_system="256", _environ={}
    )
    console.print(VIEWS[name](Layout()))

    coloured = name in ("show", "map", "watch")
    assert ("38;5;33m" in text_of(console)) == coloured


def test_each_state_has_its_colour_and_its_sign() -> None:
    """Blue is in use, orange pending, green idle, grey nothing; PARTLY looks like in use."""
    assert STYLES == {
        IN_USE: "color(33)",
        PARTLY: "color(33)",
        PENDING: "color(172)",
        IDLE: "color(71)",
        UNMAPPED: "color(244)",
    }
    console = Console(
        file=io.StringIO(), width=80, force_terminal=True, color_system="256", _environ={}
    )
    console.print(MapView(SNAPSHOT, Layout(), rows=3))
    text = text_of(console)
    for colour, sign in ((33, "█"), (33, "▄"), (172, "▒"), (71, "░"), (244, "·")):
        assert f"\x1b[38;5;{colour}m{sign}" in text


def luminance(colour: str) -> float:
    """How bright a colour is, from 0 to 1, as the rules for readable pages of the web count it."""
    parts = [part / 255 for part in Color.parse(colour).get_truecolor()]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("style", [*STYLES.values(), OTHER_SHADE])
def test_every_colour_can_be_read_on_a_light_and_on_a_dark_ground(style: str) -> None:
    found = luminance(style)
    on_light, on_dark = 1.05 / (found + 0.05), (found + 0.05) / 0.05

    assert min(on_light, on_dark) > 2.5


def test_a_queue_heads_its_lines_where_a_table_does_not_fit() -> None:
    lines = rendered(QueuesView(SNAPSHOT, Layout()), 50).splitlines()

    assert [line for line in lines if line.startswith("queue ")] == ["queue 1", "queue 2"]
    assert [line for line in lines if "runs after" in line] == [
        "  runs after 2 to 7",
        "  runs after itself only",
    ]


def test_an_output_that_is_not_unicode_gets_plain_signs() -> None:
    ascii_file = io.TextIOWrapper(io.BytesIO(), encoding="ascii")

    assert layout_of(Console(file=ascii_file), exact=False).plain
    assert not layout_of(console_of(80), exact=False).plain


# -- what is found ---------------------------------------------------------------------------------


def test_findings_add_up_to_what_is_reserved() -> None:
    (context,) = SNAPSHOT.contexts
    for pool in context.pools:
        found = findings(pool, context, Layout())
        assert sum(each.size for each in found) == pool.statistics.reserved


def test_without_blocks_the_findings_still_add_up() -> None:
    (context,) = SNAPSHOT.contexts
    pool = context.pools[0]
    bare = replace(pool, segments=tuple(replace(each, blocks=()) for each in pool.segments))
    found = findings(bare, context, Layout(), has_blocks=False)

    assert sum(each.size for each in found) == pool.statistics.reserved
    assert found[0].reason == "3 allocations"


@pytest.mark.parametrize(
    ("threshold", "reason"),
    [
        (0, "goes back at the next finish of a queue, or with trim_to(0)"),
        (16 * MIB, "kept for reuse: the release threshold is 16.0 MiB; trim_to(0) gives it back"),
        (2**64 - 1, "kept for reuse: the release threshold keeps everything; trim_to(0) gives"),
    ],
)
def test_why_idle_memory_is_kept(threshold: int, reason: str) -> None:
    (context,) = SNAPSHOT.contexts
    pool = replace(context.pools[0], release_threshold=threshold)
    idle = [each.reason for each in findings(pool, context, Layout()) if each.state == IDLE]

    assert idle[0].startswith(reason)


@pytest.mark.parametrize(
    ("completed", "sequence", "reason"),
    [
        (9, 9, "which is complete: idle at the next look"),
        (7, 9, "known complete to command 7 of 9: busy, or not asked since; finish it"),
        (7, 8, "known complete to command 7 of 8, and nobody has asked since"),
        (7, 12345, "known complete to command 7 of 12,345: busy"),
    ],
)
def test_why_memory_is_pending(completed: int, sequence: int, reason: str) -> None:
    (context,) = SNAPSHOT.contexts
    queue = replace(context.queues[1], completed=completed, sequence=sequence)
    context = replace(context, queues=(context.queues[0], queue))
    found = findings(context.pools[0], context, Layout())

    assert [reason in each.reason for each in found if each.state == PENDING] == [True]


def test_pending_memory_of_a_closed_queue() -> None:
    (context,) = SNAPSHOT.contexts
    found = findings(context.pools[0], replace(context, queues=()), Layout())

    assert any("freed on queue 2, which is closed" in each.reason for each in found)


def test_only_whole_pages_of_idle_memory_can_go() -> None:
    page = 2 * MIB
    segment = SegmentSnapshot(
        "device", 0, BASE, 1 << 30, page, regions=((BASE, BASE + 4 * page),),
        blocks=(
            BlockSnapshot(BASE, 256, IN_USE),
            BlockSnapshot(BASE + 256, 3 * page - 256, IDLE),
            BlockSnapshot(BASE + 3 * page, page, IN_USE),
        ),
    )  # fmt: skip
    assert whole_idle_bytes(segment) == 2 * page
    assert whole_idle_bytes(replace(segment, page_size=0)) == 0
    assert whole_idle_bytes(replace(segment, is_owned=False)) == 0


# -- the map ---------------------------------------------------------------------------------------


def test_a_cell_shows_what_keeps_it() -> None:
    """One small allocation in a cell full of idle memory, and pending memory among idle."""
    segment = SegmentSnapshot(
        "device", 0, BASE, 1 << 20, 4096, regions=((BASE, BASE + 4096),),
        blocks=(
            BlockSnapshot(BASE, 1024, IN_USE),
            BlockSnapshot(BASE + 1024, 512, IDLE),
            BlockSnapshot(BASE + 1536, 256, IN_USE),
            BlockSnapshot(BASE + 1792, 1024, IDLE),
            BlockSnapshot(BASE + 2816, 256, PENDING),
            BlockSnapshot(BASE + 3072, 1024, IDLE),
        ),
    )  # fmt: skip
    coarse = [state for state, _ in cells_of(segment, BASE, BASE + 5120, 1024)]
    fine = [state for state, _ in cells_of(segment, BASE + 1024, BASE + 2048, 256)]
    assert coarse == [IN_USE, PARTLY, PENDING, IDLE, UNMAPPED]
    assert fine == [IDLE, IDLE, IN_USE, IDLE]


def test_a_segment_of_few_large_blocks_takes_few_rows() -> None:
    """A page of equal cells shows no more than a row of them."""
    blocks = (BlockSnapshot(BASE, 3 * MIB, IN_USE), BlockSnapshot(BASE + 3 * MIB, MIB, IDLE))
    whole = SegmentSnapshot("host", None, BASE, 4 * MIB, regions=((BASE, BASE + 4 * MIB),))
    small = tuple(BlockSnapshot(BASE + at, 4 * KIB, IN_USE) for at in range(0, 4 * MIB, 4 * KIB))

    assert cell_size(replace(whole, blocks=blocks), 16 * 65, least=65) == 32 * KIB
    assert cell_size(replace(whole, blocks=small), 16 * 65, least=65) == 4 * KIB
    rows = list(rows_of(replace(whole, blocks=blocks), 32 * KIB, 65))
    assert [len(cells) for _, cells, _ in rows] == [65, 63]


def test_a_last_cell_that_is_cut_is_wholly_in_use() -> None:
    segment = SegmentSnapshot(
        "device", 0, BASE, 768, regions=((BASE, BASE + 768),),
        blocks=(BlockSnapshot(BASE, 768, IN_USE),),
    )  # fmt: skip
    assert [state for state, _ in cells_of(segment, BASE, BASE + 768, 512)] == [IN_USE, IN_USE]


def test_neighbours_in_use_have_different_shades() -> None:
    segment = SegmentSnapshot(
        "device", 0, BASE, 1 << 20, regions=((BASE, BASE + 1024),),
        blocks=(BlockSnapshot(BASE, 512, IN_USE), BlockSnapshot(BASE + 512, 512, IN_USE)),
    )  # fmt: skip
    assert cells_of(segment, BASE, BASE + 1024, 256) == [
        (IN_USE, 0),
        (IN_USE, 0),
        (IN_USE, 1),
        (IN_USE, 1),
    ]


@pytest.mark.parametrize("width", [20, 80, 160, 500])
def test_the_map_shows_every_mapped_byte_once(width: int) -> None:
    for pool in SNAPSHOT.pools:
        for segment in pool.segments:
            size = cell_size(segment, width * 4)
            at = segment.address
            mapped = 0
            for address, cells, skipped in rows_of(segment, size, width):
                assert address == at
                at += skipped or len(cells) * size
                mapped += sum(state != UNMAPPED for state, _ in cells) * size
            assert at >= segment.address + segment.size
            assert segment.mapped <= mapped <= segment.mapped + 2 * len(segment.regions) * size


def test_a_snapshot_without_memory() -> None:
    (context,) = SNAPSHOT.contexts
    empty = replace(SNAPSHOT, contexts=(replace(context, pools=context.pools[1:]),))

    assert rendered(MapView(empty, Layout()), 80).endswith("No pool holds memory.\n")
    assert "Without memory: host pool." in rendered(ShowView(empty, Layout()), 80)
    assert "Nothing is allocated." in rendered(TopView(empty, Layout(), by="size", count=1), 80)


# -- top and diff ----------------------------------------------------------------------------------


def test_the_oldest_come_first_by_age() -> None:
    ages = [row.block.age for row in TopView(SNAPSHOT, Layout(), by="age", count=2).rows()]

    assert ages == [11, 1]


def test_top_says_how_to_get_tracebacks() -> None:
    (context,) = SNAPSHOT.contexts
    pool = context.pools[0]
    segments = tuple(
        replace(each, blocks=tuple(replace(block, traceback=()) for block in each.blocks))
        for each in pool.segments
    )
    bare = replace(
        SNAPSHOT, contexts=(replace(context, pools=(replace(pool, segments=segments),)),)
    )

    assert "URASYNC_L0_RECORD_TRACEBACKS=8" in rendered(
        TopView(bare, Layout(), by="size", count=5), 160
    )


def test_an_address_given_out_again_is_another_allocation() -> None:
    changes = DiffView(SNAPSHOT, later(), Layout(), count=9).allocations()

    assert [(change.count, change.size) for change in changes] == [
        (-1, -4 * MIB),
        (1, MIB),
        (-1, -MIB),
    ]
    assert changes[1].traceback == FRAMES


def test_two_processes_are_compared_by_what_is_alike() -> None:
    other = replace(later(), pid=77)
    changes = DiffView(SNAPSHOT, other, Layout(), count=9).allocations()

    assert sorted(change.count for change in changes) == [-1, -1, 1]
    assert all(change.queue is None for change in changes)


def test_equal_snapshots_have_no_difference() -> None:
    text = rendered(DiffView(SNAPSHOT, SNAPSHOT, Layout(), count=9), 80)

    assert text.endswith("No pool has changed.\n")


# -- watch -----------------------------------------------------------------------------------------


def test_rates_are_differences_over_time() -> None:
    meter = RateMeter()
    first = meter.add(SNAPSHOT)
    (rates, _) = meter.add(later())

    assert [each.allocations for each in first] == [None, None]
    assert (rates.allocations, rates.frees, rates.growths) == (1.5, 1.5, 0.5)
    assert rates.reuse == pytest.approx(2 / 3)


def test_another_process_starts_anew() -> None:
    meter = RateMeter()
    meter.add(SNAPSHOT)

    assert meter.add(replace(later(), pid=9))[0].allocations is None


def test_a_log_has_a_line_for_each_pool() -> None:
    assert watching(Layout()).log_lines() == [
        "10:30:02 default pool of device 0 (1): in use 6.00 MiB, pending 2.25 MiB, idle 3.75 MiB, "
        "reserved 12.0 MiB, 1.5 allocations/s, 66.7% reused, 0.5 growths/s, 0 waits/s"
    ]


def test_a_log_before_any_memory() -> None:
    meter = RateMeter()
    empty = Snapshot(1, "early.py", SNAPSHOT.seconds)
    view = WatchView(empty, meter.add(empty), meter.curves, Layout())

    assert view.log_lines() == ["10:30:00 no pool has held memory yet"]
    assert rendered(view, 80).endswith("No pool has held memory yet.\n")


# -- sizes -----------------------------------------------------------------------------------------


def test_a_bar_shows_every_part_and_has_its_width() -> None:
    for parts in ([1, 1, 10**9], [10**9, 1, 0], [5, 5, 5], [0, 0, 7]):
        bar = Layout().bar(list(zip((IN_USE, PENDING, IDLE), parts, strict=True)), 40).plain
        assert len(bar) == 40
        for sign, nbytes in zip("█▒░", parts, strict=True):
            assert (sign in bar) == bool(nbytes)


@pytest.mark.parametrize(
    ("nbytes", "text"), [(-3 * MIB, "-3.00 MiB"), (5 * KIB, "+5.00 KiB"), (0, "0 B")]
)
def test_changes_have_signs(nbytes: int, text: str) -> None:
    assert Layout().change(nbytes) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.0123, "12.3 ms"), (59.0, "59.0 s"), (150.0, "2.5 min"), (9000.0, "2.5 h")],
)
def test_time_spans(seconds: float, text: str) -> None:
    assert seconds_text(seconds) == text
