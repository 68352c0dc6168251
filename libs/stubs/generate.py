"""Make the messages and gRPC stubs from protos/, typed, into libs/stubs/generated/.

protovalidate ships the descriptor of buf/validate/validate.proto, not the file, so protoc gets it
as a descriptor set; that also works without a network.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROTOS = HERE.parents[1] / "protos"
GENERATED = HERE / "generated"


def validate_descriptors() -> bytes:
    """A serialised FileDescriptorSet of buf/validate/validate.proto and what it imports."""
    from google.protobuf import (
        descriptor_pb2,
        duration_pb2,
        field_mask_pb2,
        timestamp_pb2,
    )
    from protovalidate._gen.buf.validate import validate_pb

    files = descriptor_pb2.FileDescriptorSet()
    for module in (descriptor_pb2, duration_pb2, field_mask_pb2, timestamp_pb2):
        module.DESCRIPTOR.CopyToProto(files.file.add())
    files.file.add().ParseFromString(validate_pb._DESC.proto.to_binary())
    return files.SerializeToString()


def protoc(*arguments: str) -> None:
    """Run protoc on every proto of the house; raises CalledProcessError where it complains."""
    sources = sorted(str(path.relative_to(PROTOS)) for path in PROTOS.rglob("*.proto"))
    # mypy-protobuf's plugins stand beside the interpreter, which need not be on PATH.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    with tempfile.NamedTemporaryFile(suffix=".binpb") as known:
        known.write(validate_descriptors())
        known.flush()
        command = [sys.executable, "-m", "grpc_tools.protoc", f"--proto_path={PROTOS}"]
        command += [f"--descriptor_set_in={known.name}", *arguments]
        subprocess.run([*command, *sources], check=True, env={**os.environ, "PATH": path})


def generate() -> None:
    """Make the stubs anew. Files that come out as they were stay untouched, so that whoever imports
    them meanwhile finds them whole."""
    with tempfile.TemporaryDirectory(dir=HERE) as folder:
        made = Path(folder)
        outputs = [f"--{kind}_out={made}" for kind in ("python", "grpc_python", "mypy")]
        outputs.append(f"--mypy_grpc_out=only_async:{made}")
        protoc(*outputs, "buf/validate/validate.proto")
        for package in {path.parent for path in made.rglob("*.py")}:
            (package / "py.typed").touch()
        _replace(made)


def _replace(made: Path) -> None:
    new = {path.relative_to(made) for path in made.rglob("*") if path.is_file()}
    for name in new:
        there = GENERATED / name
        if there.exists() and there.read_bytes() == (made / name).read_bytes():
            continue
        there.parent.mkdir(parents=True, exist_ok=True)
        (made / name).replace(there)
    for there in [path for path in GENERATED.rglob("*") if path.is_file()]:
        if "__pycache__" not in there.parts and there.relative_to(GENERATED) not in new:
            there.unlink()


def image(path: Path) -> None:
    """Write the compiled contracts, for buf."""
    protoc(f"--descriptor_set_out={path}", "--include_imports", "--include_source_info")


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "image":
        image(Path(sys.argv[2]))
    else:
        generate()
