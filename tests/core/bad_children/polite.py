"""Says goodbye on SIGTERM and ends with code 7. Arguments: census folder."""

import os
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from census import sign, stay


def leave(number: int, frame: object) -> None:
    os.write(1, b"goodbye")
    os._exit(7)


signal.signal(signal.SIGTERM, leave)
sign(Path(sys.argv[1]))
stay()
