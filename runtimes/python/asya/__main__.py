"""`python -m asya my_module.my_func` hosts a handler for the sidecar."""

import sys

from asya._runtime import main

sys.exit(main())
