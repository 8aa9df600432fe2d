"""Leaves a daemon that hides its descent: forked twice, its own session, no environment, no output.

Arguments: census folder, and for how many seconds the one between lives on beside its daemon.
"""

import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from census import sign, wait_for

census = Path(sys.argv[1])
if not os.fork():
    os.setsid()
    null = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(null, stream)
    if not os.fork():
        deaf = str(Path(__file__).with_name("deaf.py"))
        os.execve(sys.executable, [sys.executable, "-I", "-S", deaf, str(census)], {})
    sign(census)
    wait_for(census, 2)
    time.sleep(float(sys.argv[2]))
    os._exit(0)
os.wait()
