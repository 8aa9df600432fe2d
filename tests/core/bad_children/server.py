"""Answers and ends well, but leaves a server listening. Arguments: port on the loopback; must be free."""

import os
import socket
import sys

server = socket.socket()
try:
    server.bind(("127.0.0.1", int(sys.argv[1])))
except OSError as error:
    sys.exit(f"the port is taken: {error}")
server.listen()
if not os.fork():
    os.setsid()
    if os.fork():
        os._exit(0)
    while True:
        server.accept()
os.wait()
sys.stdout.write('<state_update>{"payload": {"served": [1]}}</state_update>\n')
