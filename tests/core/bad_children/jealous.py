"""Wants to be alone: notes when another one of its kind, or what that one left behind, still lives.

It leaves a deaf daemon behind, forked twice, in a session of its own. A lock is held as long as one of the
two lives. Arguments: folder for notes, what the daemon keeps of its descent (`nothing` or `environment`), and
`answer` or `hang_once` (never end, unless another one ran before).
"""

import fcntl
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from census import go_deaf, stay, wait_for

folder, keeps, then = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT)
try:
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
except OSError:
    (folder / "met another").touch()
    sys.exit(9)
first = not list(folder.glob("daemon-*"))
census = folder / f"daemon-{os.getpid()}"
census.mkdir()
if not os.fork():
    os.setsid()
    if not os.fork():
        os.set_inheritable(lock, True)
        null = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(null, stream)
        deaf = str(Path(__file__).with_name("deaf.py"))
        environment = dict(os.environ) if keeps == "environment" else {}
        os.execve(sys.executable, [sys.executable, "-I", "-S", deaf, str(census)], environment)
    os._exit(0)
os.wait()
wait_for(census, 1)
if then == "hang_once" and first:
    go_deaf()
    (folder / "hangs").touch()
    stay()
sys.stdout.write('<state_update>{"payload": {"alone": [1]}}</state_update>\n')
