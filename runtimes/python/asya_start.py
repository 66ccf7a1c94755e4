"""`python3 asya_start.py my_module.my_func` hosts a handler like asya_runtime.py next to it, and starts faster.

Python compiles a file on its command line at every start. It keeps the bytecode of a file that is imported.
"""

import sys

from asya_runtime import main

sys.exit(main())
