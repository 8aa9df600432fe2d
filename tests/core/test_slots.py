"""Slots: served in order, given up at once, never lost."""

from __future__ import annotations

import asyncio

from core.run_context import LiveTurn
from core.slots import Slots
from core.turn_outcome import StopCause


async def settled() -> None:
    """Let everything run that can."""
    for _ in range(5):
        await asyncio.sleep(0)


def test_turns_get_their_slots_in_the_order_in_which_they_came() -> None:
    async def scene() -> list[int]:
        slots, served = Slots(2), list[int]()

        async def turn(number: int) -> None:
            assert await slots.acquire(LiveTurn())
            served.append(number)

        tasks = [asyncio.create_task(turn(number)) for number in range(5)]
        await settled()
        assert served == [0, 1]
        for _ in range(3):
            slots.release()
            await settled()
        await asyncio.gather(*tasks)
        return served

    assert asyncio.run(scene()) == [0, 1, 2, 3, 4]


def test_a_turn_that_is_let_go_waits_no_longer_and_takes_no_slot_from_others() -> None:
    async def scene() -> None:
        slots = Slots(1)
        assert await slots.acquire(LiveTurn())
        gone, next_one = LiveTurn(), LiveTurn()
        giving_up = asyncio.create_task(slots.acquire(gone))
        waiting = asyncio.create_task(slots.acquire(next_one))
        await settled()
        gone.stop(StopCause.RUN)
        assert await giving_up is False
        assert not waiting.done()
        slots.release()
        assert await waiting is True
        assert await slots.acquire(gone) is False

    asyncio.run(scene())


def test_a_slot_that_was_just_given_to_a_task_that_is_cancelled_goes_to_the_next() -> None:
    async def scene() -> None:
        slots = Slots(1)
        assert await slots.acquire(LiveTurn())
        first = asyncio.create_task(slots.acquire(LiveTurn()))
        second = asyncio.create_task(slots.acquire(LiveTurn()))
        await settled()
        slots.release()
        first.cancel()
        assert await asyncio.wait_for(second, 30) is True
        assert first.cancelled()

    asyncio.run(scene())
