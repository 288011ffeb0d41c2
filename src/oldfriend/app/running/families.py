"""In which forms does Prometheus read numbers? Of what they tell, nothing is known here."""

from typing import Final, TypeAlias

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

TODAY: Final = "since midnight"

Values: TypeAlias = dict[tuple[str, ...], float]


def gauge(name: str, text: str, values: Values, *labels: str) -> GaugeMetricFamily:
    """Something that goes up and down."""
    family = GaugeMetricFamily(f"oldfriend_{name}", text, labels=labels)
    for labelled, value in values.items():
        family.add_metric(labelled, value)
    return family


def counter(name: str, text: str, values: Values, *labels: str) -> CounterMetricFamily:
    """Something that only goes up, until it begins anew."""
    family = CounterMetricFamily(f"oldfriend_{name}", text, labels=labels)
    for labelled, value in values.items():
        family.add_metric(labelled, value)
    return family
