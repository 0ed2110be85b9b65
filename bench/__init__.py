"""What is measured, and against what. `python -m bench` does it all in one run on one server."""

import sys
from pathlib import Path

# The layer is on a Lambda's path; here it has to be put there.
sys.path.insert(0, str(Path(__file__).parent.parent / "layers" / "shared"))
