"""through.py LISTEN TARGET: carries connections to a Unix socket, as whoever it runs as."""

import os
import socket
import sys
import threading


def carry(source, target):
    while data := source.recv(65536):
        target.sendall(data)
    target.shutdown(socket.SHUT_WR)


listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
os.chmod(sys.argv[1], 0o666)
listener.listen()
print("listening", flush=True)
while True:
    near = listener.accept()[0]
    far = socket.socket(socket.AF_UNIX)
    far.connect(sys.argv[2])
    threading.Thread(target=carry, args=(near, far), daemon=True).start()
    threading.Thread(target=carry, args=(far, near), daemon=True).start()
