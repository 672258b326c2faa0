"""A message of SDMX-JSON 2.0 with an artefact of every class, and a message of 1.0 for its own classes."""

from __future__ import annotations

import json
from typing import Any, Final

URN: Final = "urn:sdmx:org.sdmx.infomodel."
CONCEPT: Final = f"{URN}conceptscheme.Concept=A:CS(1.0)."
CODELIST: Final = f"{URN}codelist.Codelist=A:CL(1.0)"
FLOW: Final = f"{URN}datastructure.Dataflow=A:DF(1.0.0)"
DSD: Final = f"{URN}datastructure.DataStructure=A:DSD(1.0.0)"


def artefact(id_: str, **content: Any) -> dict[str, Any]:
    """Return the common properties of an artefact, and more."""
    return {
        "id": id_,
        "agencyID": "A",
        "version": "1.0.0",
        "name": id_,
        "names": {"en": id_, "fr": f"{id_} fr"},
    } | content


def named(id_: str, **content: Any) -> dict[str, Any]:
    """Return an item."""
    return {"id": id_, "name": id_, "names": {"en": id_}} | content


def message(data: dict[str, Any], version: str = "2.0.0", **meta: Any) -> bytes:
    """Return a message."""
    schema = f"https://json.sdmx.org/{version}/sdmx-json-structure-schema.json"
    head = {"id": "M1", "test": True, "schema": schema, "prepared": "2024-01-01T00:00:00", "sender": {"id": "A"}}
    return json.dumps({"meta": head | meta, "data": data}, ensure_ascii=False).encode()


NOTE: Final = {
    "id": "n", "title": "t", "type": "k", "value": "v", "text": "x", "texts": {"en": "x", "fr": "y"},
    "links": [{"rel": "external", "href": "http://example.org/n"}],
}  # fmt: skip
SELF: Final = {"rel": "self", "urn": CODELIST, "uri": "http://example.org/about", "href": "http://example.org/cl"}
MAPPED: Final = {"value": "^X", "isRegEx": True, "startIndex": 1, "endIndex": 2}

SAMPLE: Final[dict[str, Any]] = {
    "codelists": [
        artefact(
            "CL", version="1.0", isPartial=True, validFrom="2020", validTo="2021", annotations=[NOTE],
            links=[SELF, {"rel": "alternate", "href": "http://example.org/a", "type": "text/html"}],
            codes=[
                named("Z", description="D", descriptions={"en": "D", "de": "B"}),
                named("A", parent="Z", annotations=[NOTE]),
            ],
            codelistExtensions=[
                {
                    "prefix": "X_", "codelist": f"{URN}codelist.Codelist=B:CL(1.0+.0)",
                    "inclusiveCodeSelection": {
                        "wildcardedMemberValues": ["A%"],
                        "memberValues": [
                            {"value": "B", "cascadeValues": True}, {"value": "C", "cascadeValues": "excluderoot"},
                        ],
                    },
                }
            ],
        )
    ],
    "geographicCodelists": [
        artefact("GEO", geoType="GeographicCodelist", geoFeatureSetCodes=[named("A", value="POLYGON(0 0)")])
    ],
    "geoGridCodelists": [
        artefact("GRID", geoType="GeoGridCodelist", gridDefinition="G", geoGridCodes=[named("A", geoCell="1")])
    ],
    "valueLists": [artefact("VL", valueItems=[{"id": "¥", "name": "Yen"}, {"id": "¥", "name": "Yuan"}])],
    "conceptSchemes": [
        artefact(
            "CS", version="1.0",
            concepts=[
                named(
                    "FREQ",
                    coreRepresentation={
                        "enumeration": CODELIST, "enumerationFormat": {"dataType": "String", "maxLength": 3},
                        "minOccurs": 0, "maxOccurs": "unbounded",
                    },
                    isoConceptReference={"conceptAgency": "I", "conceptSchemeID": "S", "conceptID": "C"},
                ),
                named("SUB", parent="FREQ"),
                named(
                    "VAL",
                    coreRepresentation={
                        "format": {
                            "dataType": "Decimal", "minValue": -1.5, "decimals": 2, "isSequence": False,
                            "sentinelValues": [{"value": -1, "name": "none"}, {"value": "x", "names": {"fr": "rien"}}],
                        }
                    },
                ),
            ],
        )
    ],
    "dataStructures": [
        artefact(
            "DSD", evolvingStructure=True, metadata=f"{URN}metadatastructure.MetadataStructure=A:MSD(1.0.0)",
            dataStructureComponents={
                "dimensionList": {
                    "id": "DimensionDescriptor", "annotations": [NOTE],
                    "dimensions": [
                        {
                            "id": "FREQ", "position": 1, "conceptIdentity": CONCEPT + "FREQ",
                            "conceptRoles": [CONCEPT + "FREQ"], "localRepresentation": {"enumeration": CODELIST},
                        },
                        {"id": "AREA", "conceptIdentity": CONCEPT + "AREA"},
                    ],
                    "timeDimension": {
                        "id": "TIME_PERIOD", "conceptIdentity": CONCEPT + "T",
                        "localRepresentation": {"format": {"dataType": "ObservationalTimePeriod"}},
                    },
                },
                "groups": [{"id": "G", "groupDimensions": ["FREQ"]}],
                "measureList": {
                    "id": "MeasureDescriptor",
                    "measures": [{"id": "M", "conceptIdentity": CONCEPT + "M", "usage": "mandatory"}],
                },
                "attributeList": {
                    "id": "AttributeDescriptor",
                    "attributes": [
                        {"id": "A1", "usage": "mandatory", "attributeRelationship": {"observation": {}},
                         "conceptIdentity": CONCEPT + "A1", "measureRelationship": ["M"]},
                        {"id": "A2", "attributeRelationship": {"dimensions": ["FREQ", "AREA"]}},
                        {"id": "A3", "attributeRelationship": {"dataflow": {}}},
                        {"id": "A4", "attributeRelationship": {"group": "G"}},
                        {"id": "REPORTING_YEAR_START_DAY", "attributeRelationship": {"dataflow": {}},
                         "localRepresentation": {"format": {"dataType": "MonthDay"}, "maxOccurs": 1}},
                    ],
                    "metadataAttributeUsages": [
                        {"metadataAttributeReference": "CONTACT", "attributeRelationship": {"dimensions": ["FREQ"]}}
                    ],
                },
            },
        )
    ],
    "dataflows": [artefact("DF", structure=DSD, dimensionConstraint=["FREQ"])],
    "agencySchemes": [
        {"id": "AGENCIES", "agencyID": "A", "version": "1.0", "name": "N", "agencies": [
            named("B", contacts=[{
                "id": "c", "name": "Jo", "department": "D", "departments": {"en": "D"}, "role": "R",
                "telephones": ["1"],
                "faxes": ["2"], "x400s": ["3"], "uris": ["http://example.org"], "emails": ["jo@example.org"],
            }])
        ]}
    ],
    "dataProviderSchemes": [{"id": "DATA_PROVIDERS", "agencyID": "A", "name": "N", "dataProviders": [named("P")]}],
    "dataConsumerSchemes": [{"id": "DATA_CONSUMERS", "agencyID": "A", "name": "N", "dataConsumers": [named("C")]}],
    "metadataProviderSchemes": [
        {"id": "METADATA_PROVIDERS", "agencyID": "A", "name": "N", "metadataProviders": [named("MP")]}
    ],
    "organisationUnitSchemes": [artefact("OUS", organisationUnits=[named("U"), named("V", parent="U")])],
    "categorySchemes": [
        artefact("CATS", categories=[named("ONE", categories=[named("TWO", categories=[named("X")])])])
    ],
    "categorisations": [
        artefact("CAT", source=FLOW, target=f"{URN}categoryscheme.Category=A:CATS(1.0.0).ONE.TWO")
    ],
    "reportingTaxonomies": [
        artefact("RT", reportingCategories=[named("ONE", structuralMetadata=[DSD], reportingCategories=[
            named("TWO", provisioningMetadata=[FLOW])
        ])])
    ],
    "dataConstraints": [
        artefact(
            "CON", role="Allowed",
            constraintAttachment={"dataflows": [FLOW]},
            cubeRegions=[{
                "include": False, "annotations": [NOTE],
                "keyValues": [
                    {"id": "FREQ", "removePrefix": True, "values": [
                        "A", {"value": "B", "cascadeValues": "excluderoot", "lang": "en", "validFrom": "2020"}]},
                    {"id": "TIME_PERIOD", "include": True, "timeRange": {
                        "startPeriod": {"period": "2000", "isInclusive": False}, "endPeriod": {"period": "2010"}}},
                ],
                "components": [{"id": "A1", "include": False, "values": [{"value": "X"}]}],
            }],
            dataKeySets=[{"isIncluded": False, "keys": [
                {"validFrom": "2020", "keyValues": [{"id": "FREQ", "value": "A"}, {"id": "AREA", "values": ["X", "Y"]}],
                 "components": [{"id": "A1", "values": ["1"]}]}]}],
            releaseCalendar={"periodicity": "P1M", "offset": "P1D", "tolerance": "P2D"},
        )
    ],
    "metadataConstraints": [
        artefact(
            "MCON", role="Allowed",
            constraintAttachment={"metadataflows": [f"{URN}metadatastructure.Metadataflow=A:MDF(1.0.0)"]},
            metadataTargetRegions=[
                {"include": True, "components": [{"id": "CONTACT.NAME", "values": [{"value": "x"}]}]}
            ],
        )
    ],
    "hierarchies": [
        artefact(
            "H", hasFormalLevels=True,
            level=named("L1", codingFormat={"dataType": "Alpha", "maxLength": 1}, level=named("L2")),
            hierarchicalCodes=[{"id": "ONE", "code": f"{URN}codelist.Code=A:CL(1.0).Z", "hierarchicalCodes": [
                {"id": "TWO", "code": f"{URN}codelist.Code=A:CL(1.0).A", "level": "L2",
                 "validFrom": "2020", "validTo": "2021"}]}],
        )
    ],
    "hierarchyAssociations": [
        artefact("HA", linkedHierarchy=f"{URN}codelist.Hierarchy=A:H(1.0.0)", linkedObject=CODELIST, contextObject=FLOW)
    ],
    "structureMaps": [
        artefact(
            "SM", source=DSD, target=FLOW,
            componentMaps=[{"source": ["FREQ"], "target": ["AREA", "FREQ"],
                            "representationMap": f"{URN}structuremapping.RepresentationMap=A:RM(1.0.0)"}],
            fixedValueMaps=[{"target": "AREA", "values": ["X"]}],
            datePatternMaps=[{"id": "D", "mappedComponents": [{"source": "DATE", "target": "TIME_PERIOD"}],
                              "sourcePattern": "MM/yyyy", "locale": "en", "frequencyDimension": "FREQ"}],
            epochMaps=[{"mappedComponents": [{"source": "E", "target": "TIME_PERIOD"}], "basePeriod": "1970",
                        "epochPeriod": "day", "targetFrequencyID": "M", "resolvePeriod": "endOfPeriod",
                        "mappedFrequencies": ["A"]}],
            frequencyFormatMappings=[{"id": "F", "frequencyId": "A", "datePattern": "yyyy"}],
        )
    ],
    "representationMaps": [
        artefact("RM", source=[{"codelist": CODELIST}, {"dataType": "String"}], target=[{"codelist": CODELIST}],
                 representationMappings=[
                     {"sourceValues": [{"value": "A"}, MAPPED], "targetValues": ["B"], "validFrom": "2020"},
                     {"sourceValues": [{"value": "C"}, {"value": "D"}], "annotations": [NOTE]}])
    ],
    "conceptSchemeMaps": [
        artefact("CSM", source=f"{URN}conceptscheme.ConceptScheme=A:CS(1.0)",
                 target=f"{URN}conceptscheme.ConceptScheme=A:CS2(1.0)",
                 itemMaps=[{"sourceValue": {"value": "FREQ"}, "targetValue": "F"}, {"sourceValue": MAPPED}])
    ],
    "categorySchemeMaps": [artefact("CATM", itemMaps=[])],
    "organisationSchemeMaps": [artefact("OM", itemMaps=[])],
    "reportingTaxonomyMaps": [artefact("RTM", itemMaps=[])],
    "provisionAgreements": [
        artefact("PA", dataflow=FLOW, dataProvider=f"{URN}base.DataProvider=A:DATA_PROVIDERS(1.0).P")
    ],
    "metadataProvisionAgreements": [
        artefact("MPA", metadataflow=f"{URN}metadatastructure.Metadataflow=A:MDF(1.0.0)",
                 metadataProvider=f"{URN}base.MetadataProvider=A:METADATA_PROVIDERS(1.0).MP",
                 targets=[f"{URN}datastructure.Dataflow=*:*(*)"])
    ],
    "metadataStructures": [
        artefact("MSD", metadataStructureComponents={"metadataAttributeList": {
            "id": "MetadataAttributeDescriptor", "metadataAttributes": [
                {"id": "CONTACT", "conceptIdentity": CONCEPT + "CONTACT", "isPresentational": True, "minOccurs": 0,
                 "maxOccurs": "unbounded", "metadataAttributes": [
                     {"id": "NAME", "conceptIdentity": CONCEPT + "NAME",
                      "localRepresentation": {"format": {"dataType": "String"}}}]}]}})
    ],
    "metadataSets": [
        artefact("MS", action="Replace", metadataflow=f"{URN}metadatastructure.Metadataflow=A:MDF(1.0.0)",
                 metadataProvisionAgreement=f"{URN}registry.MetadataProvisionAgreement=A:MPA(1.0.0)",
                 targets=[FLOW], reportingBegin="2020", reportingEnd="2021", publicationYear="2022",
                 publicationPeriod="2022-Q1",
                 attributes=[{"id": "CONTACT", "attributes": [{"id": "NAME", "value": {"en": "Ada", "fr": "Ada L."}},
                                                              {"id": "CODE", "value": 2721},
                                                              {"id": "IS_OPEN", "value": True},
                                                              {"id": "NOTHING", "value": None}]}])
    ],
    "metadataflows": [
        artefact("MDF", structure=f"{URN}metadatastructure.MetadataStructure=A:MSD(1.0.0)",
                 targets=[f"{URN}datastructure.Dataflow=A:*(*)"])
    ],
    "processes": [
        artefact("PR", processSteps=[named("S1", inputs=[{"localID": "i", "objectReference": FLOW}],
                                           outputs=[{"objectReference": DSD}],
                                           computation={"localID": "c", "softwarePackage": "p", "description": "D"},
                                           transitions=[{"id": "T", "targetStep": "S1.S2", "condition": "if",
                                                         "conditions": {"en": "if"}}],
                                           processSteps=[named("S2")])])
    ],
    "transformationSchemes": [
        artefact("TS", vtlVersion="2.0", vtlMappingScheme=f"{URN}transformation.VtlMappingScheme=A:VMS(1.0.0)",
                 rulesetSchemes=[f"{URN}transformation.RulesetScheme=A:RS(1.0.0)"],
                 transformations=[named("T1", expression="a + b", result="c", isPersistent=True)])
    ],
    "rulesetSchemes": [
        artefact("RS", vtlVersion="2.0", rulesets=[
            named("R1", rulesetDefinition="define", rulesetType="datapoint", rulesetScope="variable")])
    ],
    "userDefinedOperatorSchemes": [
        artefact("UDOS", vtlVersion="2.0", userDefinedOperators=[named("U1", operatorDefinition="define")])
    ],
    "customTypeSchemes": [
        artefact("CTS", vtlVersion="2.0", customTypes=[
            named("C1", vtlScalarType="string", dataType="String", nullValue="n", outputFormat="o",
                  vtlLiteralFormat="l")])
    ],
    "namePersonalisationSchemes": [
        artefact("NPS", vtlVersion="2.0", namePersonalisations=[
            named("N1", vtlArtefact="a", vtlDefaultName="d", personalisedName="p")])
    ],
    "vtlMappingSchemes": [
        artefact("VMS", vtlMappings=[
            named("V1", alias="a1", dataflow=FLOW,
                  toVtlMapping={"method": "Pivot", "toVtlSubSpace": {"keys": ["FREQ"]}},
                  fromVtlMapping={"fromVtlSuperSpace": {"keys": ["AREA"]}}),
            named("V2", alias="a2", codelist=CODELIST), named("V3", alias="a3", concept=CONCEPT + "FREQ"),
            named("V4", alias="a4", genericDataflow={})])
    ],
}  # fmt: skip

SAMPLE_1_0: Final[dict[str, Any]] = {
    "dataStructures": [
        artefact("DSD", version="1.0", isFinal=True, dataStructureComponents={
            "dimensionList": {
                "id": "DimensionDescriptor",
                "dimensions": [{"id": "FREQ", "position": 1, "type": "Dimension", "conceptIdentity": CONCEPT + "FREQ"}],
                "measureDimensions": [{"id": "IND", "position": 2, "conceptIdentity": CONCEPT + "IND"}],
                "timeDimensions": [{"position": 3, "conceptIdentity": CONCEPT + "T",
                                    "localRepresentation": {"textFormat": {"textType": "ObservationalTimePeriod"}}}],
            },
            "measureList": {"id": "MeasureDescriptor", "primaryMeasure": {"conceptIdentity": CONCEPT + "V"}},
            "attributeList": {"id": "AttributeDescriptor",
                              "attributes": [
                                  {"id": "A1", "assignmentStatus": "Mandatory", "conceptIdentity": CONCEPT + "A1",
                                   "attributeRelationship": {"primaryMeasure": "OBS_VALUE"}},
                                  {"id": "A2", "assignmentStatus": "Conditional",
                                   "attributeRelationship": {"dimensions": ["FREQ"], "attachmentGroups": ["G"]}},
                                  {"id": "A3", "attributeRelationship": {"none": {}}}],
                              "reportingYearStartDays": [{"id": "RYSD", "attributeRelationship": {"none": {}}}]},
        })
    ],
    "conceptSchemes": [artefact("CS", version="1.0", concepts=[
        named("A"), named("B", parent=CONCEPT + "A", isoConceptReference=f"{URN}conceptscheme.Concept=I:S(1.0).C")])],
    "contentConstraints": [artefact("CC", version="1.0", type="Actual", constraintAttachment={
        "dataProvider": f"{URN}base.DataProvider=A:DATA_PROVIDERS(1.0).P", "simpleDataSource": "http://example.org/d"},
        cubeRegions=[{"isIncluded": True, "keyValues": [{"id": "FREQ", "values": ["A"], "cascadeValues": ["B"]}],
                      "attributes": [{"id": "A1", "values": ["x"]}]}],
        referencePeriod={"startTime": "2000-01-01T00:00:00", "endTime": "2001-01-01T00:00:00"},
        metadataKeySets=[{"isIncluded": True, "keys": [{"metadataTarget": "MT", "report": "R", "keyValues": [
            {"id": "DS", "dataSet": {"dataProvider": f"{URN}base.DataProvider=A:DATA_PROVIDERS(1.0).P", "id": "d"}},
            {"id": "OB", "object": FLOW}]}]}])],
    "attachmentConstraints": [artefact("AC", version="1.0", constraintAttachment={"dataStructures": [DSD]})],
    "hierarchicalCodelists": [artefact("HCL", version="1.0", includedCodelists={"MY": CODELIST}, hierarchies=[
        named("H1", leveled=True, level=named("L1", level=named("L2")), hierarchicalCodes=[
            {"id": "ONE", "codelistAliasRef": "MY", "codeID": "Z", "hierarchicalCodes": [
                {"id": "TWO", "code": f"{URN}codelist.Code=A:CL(1.0).A",
                 "level": f"{URN}codelist.Level=A:HCL(1.0).H1.L1.L2"}]}])])],
    "structureSets": [artefact("SS", version="1.0", relatedStructures=[DSD],
        codelistMaps=[named("CM", source=CODELIST, target=f"{URN}codelist.Codelist=A:CL2(1.0)", codeMaps=[
            {"source": f"{URN}codelist.Code=A:CL(1.0).A", "target": f"{URN}codelist.Code=A:CL2(1.0).B"}])],
        structureMaps=[named("SM", source=DSD, target=FLOW, isExtension=True, componentMaps=[
            {"source": f"{URN}datastructure.Dimension=A:DSD(1.0.0).FREQ",
             "target": f"{URN}datastructure.Dimension=A:DSD(1.0.0).AREA",
             "representationMapping": {"codelistMap": f"{URN}mapping.CodelistMap=A:SS(1.0).CM"}},
            {"source": f"{URN}datastructure.Dimension=A:DSD(1.0.0).X",
             "target": f"{URN}datastructure.Dimension=A:DSD(1.0.0).Y",
             "representationMapping": {"valueMap": {"valueMappings": [{"source": "a", "target": "b"}]}}}])])],
    "metadataStructures": [artefact("MSD", version="1.0", metadataStructureComponents={
        "metadataTargets": [{"id": "MT", "dataSetTargets": [{"id": "DATA_SET_TARGET"}], "identifiableObjectTargets": [
            {"id": "IO", "objectType": "Dataflow", "localRepresentation": {"enumeration": CODELIST}}]}],
        "reportStructures": [{"id": "R", "metadataAttributes": [{"id": "M1", "conceptIdentity": CONCEPT + "M1"}],
                              "metadataTargets": [f"{URN}metadatastructure.MetadataTarget=A:MSD(1.0).MT"]}]})],
    "provisionAgreements": [artefact("PA", version="1.0", structureUsage=FLOW,
                                     dataProvider=f"{URN}base.DataProvider=A:DATA_PROVIDERS(1.0).P")],
    "organisationUnitSchemes": [artefact("OUS", version="1.0", organisationUnits=[
        named("U"), named("V", parent=f"{URN}base.OrganisationUnit=A:OUS(1.0).U")])],
}  # fmt: skip
