"""Answers when it is asked to end, and ends well. Arguments: census folder."""

import os
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from census import sign, stay


def answer(number: int, frame: object) -> None:
    os.write(1, b'<state_update>{"payload": {"late": true}}</state_update>\n')
    os._exit(0)


signal.signal(signal.SIGTERM, answer)
os.write(1, b"At work.\n")
sign(Path(sys.argv[1]))
stay()
