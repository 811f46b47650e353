"""`python -m ilpinfer`."""

import sys

from ilpinfer.cli import main

sys.exit(main())
