"""As much of CloudFormation as a deployment asks before it begins: which stacks there are; change sets are noted and refused."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl

from tests.template import reading

STACK = """<DescribeStacksResponse><DescribeStacksResult><Stacks><member>
<StackName>{name}</StackName><StackStatus>{status}</StackStatus><CreationTime>2026-11-17T00:00:00Z</CreationTime>
<Parameters>{parameters}</Parameters><Outputs>{outputs}</Outputs></member></Stacks></DescribeStacksResult></DescribeStacksResponse>"""
OUTPUT = "<member><OutputKey>{0}</OutputKey><OutputValue>https://{0}.example.com</OutputValue></member>"
PARAMETER = "<member><ParameterKey>{}</ParameterKey><ParameterValue>{}</ParameterValue></member>"
REFUSAL = "<ErrorResponse><Error><Type>Sender</Type><Code>ValidationError</Code><Message>{}</Message></Error></ErrorResponse>"


@dataclass(slots=True)
class CloudFormation:
    url: str = ""
    stacks: dict[str, str] = field(default_factory=dict)
    parameters: dict[str, str] = field(default_factory=dict)
    change_sets: list[dict[str, str]] = field(default_factory=list)

    def answer(self, asked: dict[str, str]) -> tuple[int, str]:
        name = asked["StackName"]
        if asked["Action"] == "DescribeStacks" and name in self.stacks:
            outputs = "".join(map(OUTPUT.format, reading.sam_template()["Outputs"]))
            parameters = "".join(PARAMETER.format(*each) for each in self.parameters.items())
            return 200, STACK.format(name=name, status=self.stacks[name], parameters=parameters, outputs=outputs)
        if asked["Action"] == "CreateChangeSet":
            self.change_sets.append(asked)
            return 400, REFUSAL.format("It was noted, and that is all.")
        return 400, REFUSAL.format(f"Stack with id {name} does not exist")

    def members(self, of: str) -> dict[str, str]:
        """A list of pairs in the only change set, such as its Parameters or Tags."""
        (asked,) = self.change_sets
        key, value = {"Parameters": ("ParameterKey", "ParameterValue"), "Tags": ("Key", "Value")}[of]
        count = sum(name.startswith(f"{of}.member.") and name.endswith(f".{key}") for name in asked)
        return {asked[f"{of}.member.{each}.{key}"]: asked[f"{of}.member.{each}.{value}"] for each in range(1, count + 1)}


@contextmanager
def running() -> Iterator[CloudFormation]:
    service = CloudFormation()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            status, text = service.answer(dict(parse_qsl(body, keep_blank_values=True)))
            self.send_response(status)
            self.send_header("Content-Type", "text/xml")
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        service.url = f"http://127.0.0.1:{server.server_port}"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield service
        server.shutdown()
