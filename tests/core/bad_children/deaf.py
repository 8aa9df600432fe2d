"""Ignores SIGTERM and stays. Arguments: census folder."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from census import go_deaf, sign, stay

go_deaf()
sign(Path(sys.argv[1]))
stay()
