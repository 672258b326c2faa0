"""Run the kit's tests against a service with the registry, and print their tables."""

from __future__ import annotations

from support.conformance.registry import registry_topic
from support.conformance.report import failures, summary
from support.conformance.service_tests import run_tests
from support.server.rest_service import rest_service


def main() -> None:
    """Run all tests and print the outcomes."""
    with rest_service(registry_topic()) as service:
        outcomes = run_tests(service.address)
    print("\n".join([*summary(outcomes), "", *failures(outcomes)]))


if __name__ == "__main__":
    main()
