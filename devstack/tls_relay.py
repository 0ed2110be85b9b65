"""TLS for a Postgres that has none: `python -m devstack.tls_relay --certificate server.pem --to 5432` says where it listens.

It answers Postgres' request for TLS, and passes on what comes in it. Like an RDS that forces TLS, it refuses who does without."""

import argparse
import asyncio
import contextlib
import ssl
import struct
from pathlib import Path

REQUEST = struct.Struct("!ii")  # its length and its code: what a client asks before it says who it is
SSL_REQUEST, GSSENC_REQUEST = 80877103, 80877104
LIMIT = 65_536
# An ErrorResponse: severity, SQLSTATE and words, each with its letter.
_WORDS = b"SFATAL\0C28000\0Mno encryption: this server takes connections by TLS alone\0\0"
REFUSAL = b"E" + struct.pack("!i", len(_WORDS) + 4) + _WORDS


class Relay:
    """One task for each direction of each connection; either end closes both."""

    def __init__(self, context: ssl.SSLContext, port: int) -> None:
        self._context = context
        self._port = port

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, ssl.SSLError, asyncio.IncompleteReadError):
            if await self._is_secured(reader, writer):
                await self._pass_on(reader, writer)
        writer.close()

    async def _is_secured(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Whether what follows comes in TLS, for which the client asks; what else it may ask is denied."""
        while True:
            _, code = REQUEST.unpack(await reader.readexactly(REQUEST.size))
            if code == SSL_REQUEST:
                writer.write(b"S")
                await writer.drain()
                await writer.start_tls(self._context)
                return True
            if code != GSSENC_REQUEST:
                writer.write(REFUSAL)
                await writer.drain()
                return False
            writer.write(b"N")

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server_reader, server_writer = await asyncio.open_connection("127.0.0.1", self._port)
        try:
            both = {
                asyncio.create_task(_copy(reader, server_writer)),
                asyncio.create_task(_copy(server_reader, writer)),
            }
            _, pending = await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            for task in pending:
                task.cancel()
        finally:
            server_writer.close()


async def _copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError, ssl.SSLError):
        while content := await source.read(LIMIT):
            target.write(content)
            await target.drain()


async def main(certificate: Path, port: int) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(certificate)
    server = await asyncio.start_server(Relay(context, port).serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="devstack.tls_relay", description="TLS in front of a Postgres on this machine.")
    parser.add_argument("--certificate", type=Path, required=True, help="PEM: the key and the certificate")
    parser.add_argument("--to", type=int, required=True, metavar="PORT")
    options = parser.parse_args()
    asyncio.run(main(options.certificate, options.to))
