"""Prometheus families: builders for gauges and counters."""

from typing import Final, TypeAlias

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

SINCE_MIDNIGHT: Final = "since midnight"

MetricValues: TypeAlias = dict[tuple[str, ...], float]


def build_gauge(
    name: str, description: str, values: MetricValues, *labels: str
) -> GaugeMetricFamily:
    """Build a gauge: a value that goes up and down."""
    family = GaugeMetricFamily(f"oldfriend_{name}", description, labels=labels)
    for labelled, value in values.items():
        family.add_metric(labelled, value)
    return family


def build_counter(
    name: str, description: str, values: MetricValues, *labels: str
) -> CounterMetricFamily:
    """Build a counter: a value that only grows, until it is reset."""
    family = CounterMetricFamily(f"oldfriend_{name}", description, labels=labels)
    for labelled, value in values.items():
        family.add_metric(labelled, value)
    return family
