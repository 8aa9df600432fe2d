"""An OpenLoop that runs families of agents and is about to be killed.

Arguments: folder for the families, how many. Says `ready` and the supervisor's pid once all of them live.
"""

import os
import sys
from pathlib import Path

from core.runner import ProcessSpec, Supervisor

sys.path.insert(0, str(Path(__file__).parent))
from census import wait_for

folder = Path(sys.argv[1])
family = str(Path(__file__).with_name("family.py"))
supervisor = Supervisor()
for number in range(int(sys.argv[2])):
    census = folder / str(number)
    census.mkdir()
    supervisor.launch(
        ProcessSpec(
            (sys.executable, "-I", "-S", family, str(census), "stay"),
            folder,
            dict(os.environ),
            Path(os.devnull),
            folder / f"{number}.out",
            folder / f"{number}.err",
            f"agent-{number}",
        )
    )
for number in range(int(sys.argv[2])):
    wait_for(folder / str(number), 5)
sys.stdout.write(f"ready {supervisor.pid}\n")
sys.stdout.flush()
sys.stdin.read()
