import pytest
from tests.harness import *

@pytest.mark.parametrize("n", range(4))
async def test_a(rules: Rules, n) -> None:
    import time
    t=time.perf_counter()
    game = await rules.start()
    end = await rules.play_to_end(game)
    print(end.version, time.perf_counter()-t)
    print((await rules.record(game.game_id)).ByteSize())
    assert (await rules.verify(game.game_id)).valid
    await rules.snapshot()
async def test_b(rules: Rules) -> None:
    import time
    t=time.perf_counter()
    game = await rules.start(target=15)
    end = await rules.play_to_end(game)
    print(end.version, time.perf_counter()-t)
    r = (await rules.record(game.game_id))
    print(r.ByteSize())
    assert (await rules.verify(r)).valid
