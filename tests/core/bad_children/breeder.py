"""Starts children on and on: deaf, forked twice, in sessions of their own. Arguments: census folder."""

import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from census import go_deaf, sign, stay

census = Path(sys.argv[1])
go_deaf()
while True:
    if not os.fork():
        os.setsid()
        if os.fork():
            os._exit(0)
        sign(census)
        stay()
    os.wait()
    time.sleep(0.02)
