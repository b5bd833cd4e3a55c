"""A fast engine of the shape of OpenAI's: PORT. After 5 ms it sends max_tokens events, so many a second as the request says."""

import asyncio
import json
import sys

EVENT = b'data: {"choices":[{"index":0,"delta":{"content":"token"}}]}\n\n'
LAST = b"data: [DONE]\n\n"


def chunk(data):
    return b"%x\r\n%s\r\n" % (len(data), data)


async def serve(reader, writer):
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            body = await reader.readexactly(int(head.split(b"content-length:")[1].split(b"\r\n")[0]))
            request = json.loads(body)
            await asyncio.sleep(0.005)
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
            begun = asyncio.get_running_loop().time()
            for i in range(request["max_tokens"]):
                await asyncio.sleep(begun + i / request["rate"] - asyncio.get_running_loop().time())
                writer.write(chunk(EVENT))
                await writer.drain()
            writer.write(chunk(LAST) + b"0\r\n\r\n")
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def main():
    async with await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]), backlog=512) as server:
        await server.serve_forever()


asyncio.run(main())
