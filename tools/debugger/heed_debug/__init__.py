"""heed_debug: debugger commands that read heed's arrays and graphs from the program's memory."""
