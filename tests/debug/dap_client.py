#!/usr/bin/env python3
"""dap_client.py: a client of the debug adapter protocol, as VS Code is one, for ide_test.cpp.

    dap_client.py ADAPTER LAUNCH_JSON CONFIGURATION PROGRAM PROJECT FUNCTION

Starts the program with the fields of a configuration of launch.json, stops in FUNCTION, and prints the stop
events, the frames, the variables of the innermost frame, and what a heed command at the debug console
prints."""

import json
import queue
import subprocess
import sys
import threading

ADAPTER, LAUNCH_JSON, CONFIGURATION, PROGRAM, PROJECT, FUNCTION = sys.argv[1:]
SECONDS = 120  # for one message


class Adapter:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL)
        self.number, self.messages, self.output = 0, queue.Queue(), ""
        self.events, self.responses = [], {}  # received, and not yet asked for
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        while True:
            size = 0
            while (line := self.process.stdout.readline().strip()):
                if line.lower().startswith(b"content-length:"):
                    size = int(line.split(b":")[1])
            if size == 0:
                return self.messages.put(None)
            self.messages.put(json.loads(self.process.stdout.read(size)))

    def next_message(self):
        message = self.messages.get(timeout=SECONDS)
        if message is None:
            sys.exit("the adapter has ended")
        if message["type"] == "response":
            self.responses[message["request_seq"]] = message
        elif message["type"] == "event" and message["event"] == "output":
            self.output += message["body"]["output"]
        elif message["type"] == "event":
            self.events.append(message)

    def send(self, command, **arguments):
        self.number += 1
        body = json.dumps({"seq": self.number, "type": "request", "command": command,
                           "arguments": arguments}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()
        return self.number

    def response(self, number):
        while number not in self.responses:
            self.next_message()
        message = self.responses.pop(number)
        if not message["success"]:
            sys.exit("%s failed: %s" % (message["command"], message.get("message")))
        return message.get("body", {})

    def ask(self, command, **arguments):
        return self.response(self.send(command, **arguments))

    def wait(self, *names):
        while True:
            for event in self.events:
                if event["event"] in names:
                    self.events.remove(event)
                    return event
            self.next_message()

    def stopped(self):
        event = self.wait("stopped", "terminated")
        if event["event"] == "terminated":
            sys.exit("the program ended before the stop\n" + self.output)
        body = event["body"]
        print("stopped, reason %s" % body["reason"])
        return body["threadId"]


def launch_fields():
    """The fields of the configuration. lldb-vscode wants the environment as a list."""
    with open(LAUNCH_JSON, encoding="utf-8") as file:
        text = file.read().replace("${workspaceFolder}", PROJECT)
    fields = next(c for c in json.loads(text)["configurations"] if c["name"] == CONFIGURATION)
    fields = {name: value for name, value in fields.items()
              if name not in ("name", "type", "request", "preLaunchTask")}
    return {**fields, "program": PROGRAM, "cwd": ".",
            "env": ["%s=%s" % item for item in fields["env"].items()]}


def print_variables(adapter, reference, indent):
    variables = adapter.ask("variables", variablesReference=reference)["variables"]
    for variable in variables:
        print("%s%s = %s%s" % (indent, variable["name"], variable["value"],
                               " (can be expanded)" if variable["variablesReference"] else ""))
    return variables


def main():
    adapter = Adapter(ADAPTER)
    adapter.ask("initialize", adapterID="heed", clientID="vscode", linesStartAt1=True, columnsStartAt1=True,
                pathFormat="path", supportsVariableType=True)
    launched = adapter.send("launch", **launch_fields())
    adapter.wait("initialized")
    found = adapter.ask("setFunctionBreakpoints", breakpoints=[{"name": FUNCTION}])
    print("breakpoint %s" % ("verified" if found["breakpoints"][0]["verified"] else "not verified"))
    adapter.ask("setExceptionBreakpoints", filters=[])
    adapter.send("configurationDone")
    adapter.response(launched)
    thread = adapter.stopped()
    adapter.ask("continue", threadId=thread)
    thread = adapter.stopped()
    frames = adapter.ask("stackTrace", threadId=thread, startFrame=0, levels=20)["stackFrames"]
    for frame in frames:
        print("frame %s %s:%d" % (frame["name"], frame.get("source", {}).get("name", "?"), frame["line"]))
    for scope in adapter.ask("scopes", frameId=frames[0]["id"])["scopes"][:1]:
        print("scope %s" % scope["name"])
        print_variables(adapter, scope["variablesReference"], "  ")
    caller = next(frame for frame in frames if frame["name"].split("(")[0] == "main")
    scope = adapter.ask("scopes", frameId=caller["id"])["scopes"][0]
    print("scope of main")
    for variable in print_variables(adapter, scope["variablesReference"], "  "):
        if variable["name"] == "now":
            for member in print_variables(adapter, variable["variablesReference"], "    "):
                if member["name"] == "A":
                    print_variables(adapter, member["variablesReference"], "      ")
    for command in ("heed out", "heed check"):
        adapter.ask("evaluate", expression="`" + command, frameId=frames[0]["id"], context="repl")
        result = adapter.ask("evaluate", expression="`" + command, frameId=frames[0]["id"], context="repl")
        print("console: %s\n%s" % (command, result["result"].strip()))
    adapter.ask("next", threadId=thread)
    adapter.stopped()
    adapter.ask("disconnect", terminateDebuggee=True)


try:
    main()
except queue.Empty:
    sys.exit("the adapter does not answer")
