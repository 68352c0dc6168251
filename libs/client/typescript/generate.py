"""Make the messages and services of the TypeScript client from protos/, into src/generated/.

It runs the protoc that libs/stubs runs, with the plugin protoc-gen-es of node_modules. For each
package of the contracts there is one module of all that is in it: generated/rules.ts.
"""

from __future__ import annotations

import runpy
import shutil
from pathlib import Path

from google.rpc import error_details_pb2

HERE = Path(__file__).resolve().parent
GENERATED = HERE / "src" / "generated"


def generate() -> None:
    """Make everything anew; raises CalledProcessError where protoc complains."""
    protoc = runpy.run_path(str(HERE.parents[1] / "stubs" / "generate.py"))["protoc"]
    shutil.rmtree(GENERATED, ignore_errors=True)
    GENERATED.mkdir()
    protoc(
        f"--proto_path={Path(error_details_pb2.__file__).parents[2]}",
        f"--plugin=protoc-gen-es={HERE / 'node_modules' / '.bin' / 'protoc-gen-es'}",
        f"--es_out={GENERATED}",
        "--es_opt=target=ts,import_extension=js",
        "buf/validate/validate.proto",
        "google/rpc/error_details.proto",
    )
    for package in (GENERATED / "kafeneio").iterdir():
        made = sorted(file.stem for file in package.glob("v1/*.ts"))
        lines = [f'export * from "./kafeneio/{package.name}/v1/{name}.js";\n' for name in made]
        (GENERATED / f"{package.name}.ts").write_text("".join(lines), "utf-8")


if __name__ == "__main__":
    generate()
