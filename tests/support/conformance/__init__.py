"""The structure and schema tests of SDMX's conformance kit (sdmx-tck 3.4.0), reimplemented, and a registry for them.

``kit_tests`` lists the tests, ``structure_checks`` and ``schema_checks`` check answers as the kit does, with its
faults; ``runner`` and ``schema_runner`` request the answers from a service. The kit picks artefacts at random; here
each artefact that it could pick is tested.

Source: https://github.com/sdmx-twg/sdmx-tck, commit of tag 3.4.0: sdmx-tck-api/src/constants,
sdmx-tck-manager/src/builders and src/checker, sdmx-tck-parsers/src/parsers.
"""
