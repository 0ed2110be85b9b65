"""The Docker engine that `docker` on the PATH talks to, or words that say why there is none."""

import os
import shutil
import subprocess
from dataclasses import dataclass

from devstack.state import RefusalError

ARCHITECTURES = {"amd64": "x86_64", "arm64": "arm64"}  # as Docker and as Lambda call them
REPOSITORY = "public.ecr.aws/lambda"
WITHOUT = "Without Docker:           make dev runs the same service in processes"


class EngineError(RuntimeError):
    """Docker refused what it was asked; the message is what it said. Whoever asked acts on it."""


@dataclass(frozen=True, slots=True)
class Engine:
    """`address` is where it listens, which sam must be told: sam knows nothing of Docker's contexts."""

    address: str
    architecture: str

    @classmethod
    def find(cls) -> "Engine":
        """The engine, if one runs and may be used."""
        if not shutil.which("docker"):
            raise RefusalError(f"`sam local` runs functions in containers, and there is no docker on the PATH.\n{WITHOUT}")
        asked = _docker("version", "--format", "{{.Server.Arch}}")
        if asked.returncode:
            raise RefusalError(f"{_cause(asked.stderr)}\n{WITHOUT}")
        architecture = ARCHITECTURES.get(asked.stdout.strip())
        if architecture is None:
            raise RefusalError(f"Lambda has no functions for {asked.stdout.strip()}, which the Docker engine runs.\n{WITHOUT}")
        address = os.environ.get("DOCKER_HOST") or _said("context", "inspect", "--format", "{{.Endpoints.docker.Host}}")
        return cls(address, architecture)

    def run(self, *arguments: str) -> str:
        """What this command of docker's says."""
        return _said(*arguments)

    def image_name(self, runtime: str) -> str:
        """Where sam finds the runtime `python3.13`: `…/python:3.13-x86_64`."""
        language = runtime.rstrip("0123456789.")
        return f"{REPOSITORY}/{language}:{runtime.removeprefix(language)}-{self.architecture}"

    def has(self, image: str) -> bool:
        return _docker("image", "inspect", image).returncode == 0

    def pull(self, image: str) -> None:
        """Fetch an image, which docker shows at length."""
        if subprocess.run(["docker", "pull", image], check=False).returncode:  # noqa: S607 (the one on the PATH)
            raise RefusalError(
                f"The image {image} cannot be pulled; Docker says above why.\n"
                f"Try it alone:             docker pull {image}\n"
                f"Carried here by hand:     docker load, or docker tag, under this name is as good\n{WITHOUT}"
            )


def _cause(stderr: str) -> str:
    said = (stderr.strip().splitlines() or ["it says nothing"])[-1]
    if "permission denied" in stderr.lower():
        return f"You may not use Docker ({said}).\nHave yourself admitted:   sudo usermod -aG docker $USER, then log in again"
    return f"Docker does not answer ({said}).\nStart it:                 Docker Desktop, or sudo systemctl start docker"


def _said(*arguments: str) -> str:
    done = _docker(*arguments)
    if done.returncode:
        raise EngineError(f"docker {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout.strip()


def _docker(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["docker", *arguments], capture_output=True, text=True, check=False)  # noqa: S607
