"""Leaves a daemon that hides its descent: forked twice, its own session, no environment, no output.

Arguments: census folder, for how many seconds the one between lives on beside its daemon, and what the
daemon keeps all the same: `nothing`, `environment`, `output` or `limits` (of resources).
"""

import os
import resource
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from census import sign, wait_for

census, seconds, keeps = Path(sys.argv[1]), float(sys.argv[2]), sys.argv[3]
if not os.fork():
    os.setsid()
    if keeps != "limits":
        most = resource.getrlimit(resource.RLIMIT_MSGQUEUE)[1]
        resource.setrlimit(resource.RLIMIT_MSGQUEUE, (most, most))
    if keeps != "output":
        null = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(null, stream)
    if not os.fork():
        deaf = str(Path(__file__).with_name("deaf.py"))
        environment = dict(os.environ) if keeps == "environment" else {}
        os.execve(sys.executable, [sys.executable, "-I", "-S", deaf, str(census)], environment)
    sign(census)
    wait_for(census, 2)
    time.sleep(seconds)
    os._exit(0)
os.wait()
