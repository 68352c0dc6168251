"""Every object of every overlay is what Kubernetes takes, and they fit each other."""

from __future__ import annotations

import subprocess
from collections import Counter
from typing import Any, Final

import kubernetes_validate
import pytest
from kafeneio_runtime.settings import PREFIX, Settings, reference

from tests.deploy.rendered import (
    DEPLOY,
    NAME,
    OVERLAYS,
    SERVICES,
    container,
    environment,
    labels,
    of_kind,
    pod,
    ports,
    program,
    rendered,
    selects,
    workload,
    workloads,
)

CUSTOM: Final = {"ServiceMonitor", "PrometheusRule"}
"""Kinds of the Prometheus operator, for which the validator has no schema."""


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_kubernetes_takes_it(overlay: str) -> None:
    version = kubernetes_validate.latest_version()
    unknown = set()
    for each in rendered(overlay):
        try:
            kubernetes_validate.validate(each, version, strict=True)
        except kubernetes_validate.SchemaNotFoundError:
            unknown.add(each["kind"])
    assert unknown == CUSTOM


def test_the_validator_is_strict() -> None:
    deployment = workload("production", "rules")
    misspelt = {**deployment, "spec": {**deployment["spec"], "minReadySecond": 5}}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(misspelt, kubernetes_validate.latest_version(), strict=True)


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_nothing_is_there_twice_and_everything_is_in_the_namespace(overlay: str) -> None:
    objects = rendered(overlay)
    names = Counter((each["kind"], each["metadata"]["name"]) for each in objects)
    assert [name for name, times in names.items() if times > 1] == []
    (namespace,) = of_kind(overlay, "Namespace").values()
    name, enforced = namespace["metadata"]["name"], namespace["metadata"]["labels"]
    assert enforced["pod-security.kubernetes.io/enforce"] == "restricted"
    for each in objects:
        assert each["metadata"]["labels"]["app.kubernetes.io/part-of"] == "kafeneio"
        if each["kind"] != "Namespace":
            assert each["metadata"]["namespace"] == name


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_no_secret_is_in_the_repository(overlay: str) -> None:
    assert of_kind(overlay, "Secret") == {}
    for name, config in of_kind(overlay, "ConfigMap").items():
        if name.startswith("settings-"):
            secret = [key for key in config["data"] if key.endswith(("_KEY", "_URL", "_TOKEN"))]
            assert secret == []


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_what_secrets_are_needed_stands_in_the_readme(overlay: str) -> None:
    told = (DEPLOY / "k8s" / "README.md").read_text("utf-8")
    needed: set[tuple[str, str]] = set()
    for name in of_kind(overlay, "Deployment", "StatefulSet", "Job"):
        made = workload(overlay, name)
        for value in environment(overlay, made).values():
            if isinstance(value, dict):
                needed.add((value["secretKeyRef"]["name"], value["secretKeyRef"]["key"]))
        for volume in pod(made)["spec"].get("volumes", ()):
            secret = volume.get("secret", {})
            needed |= {(secret["secretName"], each["key"]) for each in secret.get("items", ())}
    for name, key in sorted(needed):
        assert f"| `{name}` | `{key}` |" in told


@pytest.mark.parametrize(("overlay", "name"), workloads())
def test_selectors_select_the_pods(overlay: str, name: str) -> None:
    made = workload(overlay, name)
    if made["kind"] != "Job":
        assert made["spec"]["selector"] == {"matchLabels": {NAME: name}}
        assert selects(made["spec"]["selector"], labels(made))
    assert container(made)["name"] == "main"
    account = pod(made)["spec"]["serviceAccountName"]
    assert of_kind(overlay, "ServiceAccount")[account]["automountServiceAccountToken"] is False
    assert account == labels(made)[NAME], "an account of its own"


@pytest.mark.parametrize("overlay", OVERLAYS)
@pytest.mark.parametrize("service", SERVICES)
def test_a_service_is_found_at_its_usual_port(overlay: str, service: str) -> None:
    headless = of_kind(overlay, "Service")[service]["spec"]
    usual = Settings.model_fields[f"{service}_port"].default
    metrics = Settings.model_fields["metrics_port"].default
    made = workload(overlay, service)
    assert headless["clusterIP"] == "None"
    assert selects({"matchLabels": headless["selector"]}, labels(made))
    offered = {each["name"]: (each["port"], each["targetPort"]) for each in headless["ports"]}
    assert offered == {"grpc": (usual, "grpc"), "metrics": (metrics, "metrics")}
    told = environment(overlay, made)
    assert ports(made) == {
        "grpc": usual,
        "metrics": metrics,
        "health": int(told["KAFENEIO_HEALTH_PORT"]),
    }
    assert not {f"{PREFIX}{service.upper()}_PORT", f"{PREFIX}METRICS_PORT"} & told.keys()
    if service != "computers":
        assert told[f"{PREFIX}{service.upper()}_ADDRESS"] == f"dns:///{service}:{usual}"


@pytest.mark.parametrize(("overlay", "name"), workloads())
def test_every_setting_exists_and_has_a_value_that_is_one(overlay: str, name: str) -> None:
    told = environment(overlay, workload(overlay, name))
    ours = {variable: value for variable, value in told.items() if variable.startswith(PREFIX)}
    for variable in ours:
        assert f"| `{variable}` |" in reference(), "as the README has it"
    values: dict[str, Any] = {
        variable.removeprefix(PREFIX).lower(): value
        for variable, value in ours.items()
        if isinstance(value, str)
    }
    Settings(**values)
    if name in SERVICES or name.startswith("migrate-"):
        mounted = {each["mountPath"] for each in container(workload(overlay, name))["volumeMounts"]}
        files = [value for key, value in ours.items() if key.endswith("_FILE")]
        assert files
        for file in files:
            assert file.rpartition("/")[0] in mounted, f"{file} is in no volume"


def test_each_is_told_its_secrets_and_no_others() -> None:
    def secrets(name: str) -> set[str]:
        told = environment("production", workload("production", name))
        return {key.removeprefix(PREFIX) for key, value in told.items() if isinstance(value, dict)}

    store = {"DATABASE_URL", "NATS_URL"}
    assert secrets("rules") == {*store, "CHANCE_KEY"}
    assert secrets("clock") == secrets("settlement") == secrets("matchmaking") == store
    assert secrets("computers") == secrets("envoy") == secrets("page") == set()
    for service in SERVICES[:4]:
        assert secrets(f"migrate-{service}") == {"DATABASE_URL"}
        told = environment("production", workload("production", f"migrate-{service}"))
        assert told["KAFENEIO_DATABASE_URL"]["secretKeyRef"]["key"] == "migrate-url"
    for service in SERVICES[1:]:
        volumes = pod(workload("production", service))["spec"]["volumes"]
        items = [each["secret"].get("items") for each in volumes if "secret" in each]
        assert [{"key": service, "path": "token"}] in items, "only the token of its own"


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_a_job_migrates_each_schema(overlay: str) -> None:
    jobs = of_kind(overlay, "Job")
    assert set(jobs) == {f"migrate-{service}" for service in SERVICES if service != "computers"}
    for name, job in jobs.items():
        service = name.removeprefix("migrate-")
        main = container(job)
        assert main["command"] == ["kafeneio", "migrate", service]
        assert main["image"] == container(workload(overlay, service))["image"]
        assert pod(job)["spec"]["restartPolicy"] == "Never"
        assert job["spec"]["ttlSecondsAfterFinished"] > 0


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_images_have_a_tag(overlay: str) -> None:
    for each in of_kind(overlay, "Deployment", "StatefulSet", "Job").values():
        _, _, tag = container(each)["image"].partition(":")
        assert tag not in {"", "latest"}


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_prometheus_is_told_of_everything_that_has_metrics(overlay: str) -> None:
    (monitor,) = of_kind(overlay, "ServiceMonitor").values()
    (endpoint,) = monitor["spec"]["endpoints"]
    assert monitor["apiVersion"] == "monitoring.coreos.com/v1"
    assert (endpoint["port"], endpoint["path"], endpoint["honorLabels"]) == (
        "metrics",
        "/metrics",
        True,
    )
    asked = {
        name
        for name, each in of_kind(overlay, "Service").items()
        if selects(monitor["spec"]["selector"], each["metadata"]["labels"])
        and any(port["name"] == endpoint["port"] for port in each["spec"]["ports"])
    }
    assert asked == {*SERVICES, "envoy"}
    (rule,) = of_kind(overlay, "PrometheusRule").values()
    assert rule["apiVersion"] == "monitoring.coreos.com/v1"
    assert all(group["name"] and group["rules"] for group in rule["spec"]["groups"])


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_the_edge_has_the_one_configuration(overlay: str) -> None:
    (volume,) = [
        each
        for each in pod(workload(overlay, "envoy"))["spec"]["volumes"]
        if each["name"] == "configuration"
    ]
    config = of_kind(overlay, "ConfigMap")[volume["configMap"]["name"]]
    assert config["data"] == {"envoy.yaml": (DEPLOY / "envoy" / "envoy.yaml").read_text("utf-8")}


def test_nats_takes_its_configuration() -> None:
    config = DEPLOY / "k8s" / "dev" / "nats.conf"
    command = (program("nats-server"), "-t", "-c", str(config))
    tried = subprocess.run(
        command, env={"NATS_TOKEN": "secret"}, capture_output=True, text=True, check=False
    )
    assert tried.returncode == 0, tried.stderr
    assert "sync_interval: always" in config.read_text("utf-8")
