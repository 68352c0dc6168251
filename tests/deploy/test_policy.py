"""What every workload must have: it is hardened, it ends politely, and there is more than one."""

from __future__ import annotations

from typing import Final

import pytest
from kafeneio_runtime import serve
from kafeneio_runtime.settings import Settings

from tests.deploy.rendered import (
    OVERLAYS,
    SERVICES,
    container,
    environment,
    labels,
    of_kind,
    pod,
    selects,
    workload,
    workloads,
)

SPARE_SECONDS: Final = 10
"""What a process needs beside its drain: to start it, to close the store, to be late."""


@pytest.mark.parametrize(("overlay", "name"), workloads())
def test_a_pod_may_do_nothing_but_run_its_program(overlay: str, name: str) -> None:
    spec = pod(workload(overlay, name))["spec"]
    context, main = spec["securityContext"], container(workload(overlay, name))
    assert spec["automountServiceAccountToken"] is False
    assert spec["enableServiceLinks"] is False
    assert not {"hostNetwork", "hostPID", "hostIPC"} & spec.keys()
    assert context["runAsNonRoot"] is True
    assert min(context["runAsUser"], context["runAsGroup"], context["fsGroup"]) > 0
    assert context["seccompProfile"] == {"type": "RuntimeDefault"}
    assert main["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert not any("hostPath" in volume for volume in spec["volumes"])
    kinds = {volume["name"]: set(volume) - {"name"} for volume in spec["volumes"]}
    mounts = {mount["mountPath"]: mount for mount in main["volumeMounts"]}
    assert kinds[mounts["/tmp"]["name"]] == {"emptyDir"}
    for mount in mounts.values():
        if kinds.get(mount["name"], set()) & {"secret", "configMap"}:
            assert mount["readOnly"] is True


@pytest.mark.parametrize(("overlay", "name"), workloads())
def test_what_a_pod_uses_is_bounded(overlay: str, name: str) -> None:
    resources = container(workload(overlay, name))["resources"]
    assert set(resources) == {"requests", "limits"}
    assert set(resources["requests"]) == set(resources["limits"]) == {"cpu", "memory"}


@pytest.mark.parametrize(("overlay", "name"), workloads("Deployment"))
def test_a_release_takes_nothing_away(overlay: str, name: str) -> None:
    spec = workload(overlay, name)["spec"]
    assert "replicas" not in spec, "the autoscaler's"
    assert spec["strategy"]["rollingUpdate"] == {"maxUnavailable": 0, "maxSurge": 1}
    budget = of_kind(overlay, "PodDisruptionBudget")[name]["spec"]
    assert selects(budget["selector"], labels(workload(overlay, name)))
    assert budget["maxUnavailable"] == 1


@pytest.mark.parametrize(("overlay", "name"), workloads("Deployment"))
def test_there_are_as_many_as_needed(overlay: str, name: str) -> None:
    scaler = of_kind(overlay, "HorizontalPodAutoscaler")[name]["spec"]
    assert scaler["scaleTargetRef"] == {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "name": name,
    }
    least = 2 if overlay == "production" else 1
    assert least == scaler["minReplicas"] < scaler["maxReplicas"]
    (metric,) = scaler["metrics"]
    assert metric["resource"]["name"] == "cpu"
    assert scaler["behavior"]["scaleDown"]["stabilizationWindowSeconds"] >= 300


@pytest.mark.parametrize(("overlay", "name"), workloads("Deployment"))
def test_replicas_stand_apart(overlay: str, name: str) -> None:
    made = workload(overlay, name)
    spread = pod(made)["spec"]["topologySpreadConstraints"]
    assert [each["topologyKey"] for each in spread] == [
        "kubernetes.io/hostname",
        "topology.kubernetes.io/zone",
    ]
    for each in spread:
        assert each["maxSkew"] == 1
        assert selects(each["labelSelector"], labels(made))
        assert "app.kubernetes.io/name" in each["matchLabelKeys"]


@pytest.mark.parametrize("overlay", OVERLAYS)
@pytest.mark.parametrize("service", SERVICES)
def test_the_grace_is_longer_than_the_drain(overlay: str, service: str) -> None:
    made = workload(overlay, service)
    told = environment(overlay, made)
    settings = Settings(
        drain_seconds=told["KAFENEIO_DRAIN_SECONDS"],
        drain_grace_seconds=told["KAFENEIO_DRAIN_GRACE_SECONDS"],
    )
    drain = settings.drain_seconds + settings.drain_grace_seconds + serve._FLUSH_SECONDS
    assert pod(made)["spec"]["terminationGracePeriodSeconds"] >= drain + SPARE_SECONDS


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_the_edge_serves_until_everybody_knows_that_it_goes(overlay: str) -> None:
    made = workload(overlay, "envoy")
    waits = container(made)["lifecycle"]["preStop"]["sleep"]["seconds"]
    assert 10 <= waits < pod(made)["spec"]["terminationGracePeriodSeconds"]


@pytest.mark.parametrize("overlay", OVERLAYS)
@pytest.mark.parametrize("service", SERVICES)
def test_a_service_is_asked_for_its_health_by_grpc(overlay: str, service: str) -> None:
    main = container(workload(overlay, service))
    port = int(environment(overlay, workload(overlay, service))["KAFENEIO_HEALTH_PORT"])
    assert main["startupProbe"]["grpc"] == main["readinessProbe"]["grpc"] == {"port": port}
    # Not the health that follows the store: a restart would not bring the store back.
    assert main["livenessProbe"]["grpc"] == {"port": port, "service": serve.LIVE}
    patience = main["startupProbe"]["periodSeconds"] * main["startupProbe"]["failureThreshold"]
    assert patience >= 60


@pytest.mark.parametrize("overlay", OVERLAYS)
@pytest.mark.parametrize("name", ["envoy", "page"])
def test_so_are_the_others_by_http(overlay: str, name: str) -> None:
    main = container(workload(overlay, name))
    path = "/healthz" if name == "envoy" else "/"
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        assert main[probe]["httpGet"] == {"path": path, "port": "http"}
