"""The body of an HTTP request, whole or in chunks, up to what API Gateway takes."""

from email.message import Message
from io import BufferedIOBase

MAX_BYTES = 10 * 1024 * 1024
MAX_LINE = 1024


class RefusedBodyError(ValueError):
    """The body cannot be read as announced; the client gets the status and the connection ends."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def read_body(headers: "Message[str, str]", stream: BufferedIOBase) -> bytes:
    lengths, encodings = headers.get_all("content-length", []), headers.get_all("transfer-encoding", [])
    if encodings:
        # Two ways of saying where the body ends are how requests get smuggled past a gateway.
        if lengths or [each.strip().lower() for each in encodings] != ["chunked"]:
            raise RefusedBodyError(400, "Bad Request")
        return _read_chunks(stream)
    if not lengths:
        return b""
    if len(set(lengths)) > 1 or not (lengths[0].isascii() and lengths[0].isdigit()):
        raise RefusedBodyError(400, "Bad Request")
    return _read_exactly(stream, _allowed(int(lengths[0])))


def _read_chunks(stream: BufferedIOBase) -> bytes:
    body = bytearray()
    while size := _chunk_size(stream.readline(MAX_LINE)):
        body += _read_exactly(stream, _allowed(len(body) + size) - len(body))
        if stream.readline(MAX_LINE) not in {b"\r\n", b"\n"}:
            raise RefusedBodyError(400, "Bad Request")
    while stream.readline(MAX_LINE) not in {b"\r\n", b"\n", b""}:
        pass  # trailers
    return bytes(body)


def _chunk_size(line: bytes) -> int:
    digits = line.partition(b";")[0].strip()
    try:
        size = int(digits, 16)
    except ValueError:
        raise RefusedBodyError(400, "Bad Request") from None
    if size < 0:
        raise RefusedBodyError(400, "Bad Request")
    return size


def _allowed(size: int) -> int:
    if size > MAX_BYTES:
        raise RefusedBodyError(413, "Request Entity Too Large")
    return size


def _read_exactly(stream: BufferedIOBase, size: int) -> bytes:
    body = stream.read(size)
    if len(body) < size:
        raise RefusedBodyError(400, "Bad Request")
    return body
