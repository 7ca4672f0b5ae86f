"""heed_debug: heed's arrays and graphs in a debugger, read from memory alone."""
