"""Starts a child that stops itself (SIGSTOP) and hears nothing, and stays. Arguments: census folder."""

import os
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from census import sign, stay

census = Path(sys.argv[1])
if not os.fork():
    os.setsid()
    sign(census)
    os.kill(os.getpid(), signal.SIGSTOP)
    stay()
sign(census)
stay()
