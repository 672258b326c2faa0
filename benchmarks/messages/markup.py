"""The content as SDMX-ML 2.0, 2.1 and 3.0."""

from __future__ import annotations

from xml.sax.saxutils import escape

from benchmarks.messages.content import AGENCY, VERSION, Codelist, ConceptScheme, Content, DataStructure, Item

_BASE = "http://www.sdmx.org/resources/sdmxml/schemas/"
_HEADER = (
    "<{m}Header>\n<{m}ID>BENCH</{m}ID>\n<{m}Test>false</{m}Test>\n<{m}Prepared>2026-01-01T00:00:00</{m}Prepared>\n"
    '<{m}Sender id="KR"/>\n<{m}Receiver id="ALL"/>\n</{m}Header>\n'
)


def sdmx_ml(content: Content, edition: str) -> bytes:
    """Return the content as SDMX-ML 2.1 or 3.0; ``edition`` as in its namespaces, ``2_1`` or ``3_0``."""
    container, body = _Writer(edition).artefact(content)
    names = " ".join(
        f'xmlns:{prefix}="{_BASE}v{edition}/{room}"'
        for prefix, room in (("mes", "message"), ("str", "structure"), ("com", "common"))
    )
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<mes:Structure {names}>\n{_HEADER.format(m="mes:")}<mes:Structures>\n'
        f"<str:{container}>\n{body}</str:{container}>\n</mes:Structures>\n</mes:Structure>\n"
    ).encode()


def _texts(tag: str, en: str, fr: str) -> str:
    return f'<{tag} xml:lang="en">{escape(en)}</{tag}>\n<{tag} xml:lang="fr">{escape(fr)}</{tag}>\n'


def _maintained(element: str, id_: str, package: str, inner: str) -> str:
    urn = f"urn:sdmx:org.sdmx.infomodel.{package}.{element}={AGENCY}:{id_}({VERSION})"
    marks = f'id="{id_}" urn="{urn}" agencyID="{AGENCY}" version="{VERSION}" isExternalReference="false"'
    names = _texts("com:Name", f"{id_} in English", f"{id_} en français")
    return f"<str:{element} {marks}>\n{names}{inner}</str:{element}>\n"


class _Writer:
    """A writer of artefacts in one edition."""

    def __init__(self, edition: str) -> None:
        self._is_21 = edition == "2_1"

    def artefact(self, content: Content) -> tuple[str, str]:
        """Return the container and the artefact."""
        if isinstance(content, Codelist):
            inner = "".join(self._code(content.id, code) for code in content.codes)
            return "Codelists", _maintained("Codelist", content.id, "codelist", inner)
        if isinstance(content, ConceptScheme):
            inner = "".join(self._concept(content.id, concept) for concept in content.concepts)
            where = "Concepts" if self._is_21 else "ConceptSchemes"
            return where, _maintained("ConceptScheme", content.id, "conceptscheme", inner)
        if isinstance(content, DataStructure):
            inner = self._components(content)
            return "DataStructures", _maintained("DataStructure", content.id, "datastructure", inner)
        structure = self._reference("DataStructure", "datastructure", content.structure)
        inner = f"<str:Structure>{structure}</str:Structure>\n"
        return "Dataflows", _maintained("Dataflow", content.id, "datastructure", inner)

    def _reference(self, class_: str, package: str, scheme: str, item: str | None = None) -> str:
        if not self._is_21:
            tail = f".{item}" if item else ""
            return f"urn:sdmx:org.sdmx.infomodel.{package}.{class_}={AGENCY}:{scheme}({VERSION}){tail}"
        own = f'id="{scheme}" version="{VERSION}"'
        if item:
            own = f'maintainableParentID="{scheme}" maintainableParentVersion="{VERSION}" id="{item}"'
        return f'<Ref {own} agencyID="{AGENCY}" package="{package}" class="{class_}"/>'

    def _code(self, scheme: str, code: Item) -> str:
        urn = f"urn:sdmx:org.sdmx.infomodel.codelist.Code={AGENCY}:{scheme}({VERSION}).{code.id}"
        parent = f'<Ref id="{code.parent}"/>' if self._is_21 else code.parent
        return (
            f'<str:Code id="{code.id}" urn="{urn}">\n'
            f"<com:Annotations>\n<com:Annotation>\n<com:AnnotationType>NOTE</com:AnnotationType>\n"
            f'<com:AnnotationText xml:lang="en">{code.note}</com:AnnotationText>\n'
            "</com:Annotation>\n</com:Annotations>\n"
            f"{_texts('com:Name', code.en, code.fr)}"
            + (f"<str:Parent>{parent}</str:Parent>\n" if code.parent else "")
            + "</str:Code>\n"
        )

    def _concept(self, scheme: str, concept: Item) -> str:
        urn = f"urn:sdmx:org.sdmx.infomodel.conceptscheme.Concept={AGENCY}:{scheme}({VERSION}).{concept.id}"
        core = ""
        if concept.codelist:
            core = f"<str:CoreRepresentation>\n{self._enumeration(concept.codelist)}</str:CoreRepresentation>\n"
        return (
            f'<str:Concept id="{concept.id}" urn="{urn}">\n{_texts("com:Name", concept.en, concept.fr)}'
            f"{core}</str:Concept>\n"
        )

    def _enumeration(self, codelist: str) -> str:
        return f"<str:Enumeration>{self._reference('Codelist', 'codelist', codelist)}</str:Enumeration>\n"

    def _component(self, kind: str, id_: str, marks: str, inner: str) -> str:
        concept = self._reference("Concept", "conceptscheme", "CS_0", id_)
        return (
            f'<str:{kind} id="{id_}"{marks}>\n<str:ConceptIdentity>{concept}</str:ConceptIdentity>\n'
            f"{inner}</str:{kind}>\n"
        )

    def _components(self, content: DataStructure) -> str:
        dimensions = "".join(
            self._component(
                "Dimension", id_, f' position="{n}"',
                f"<str:LocalRepresentation>\n{self._enumeration(f'CL_{id_}')}</str:LocalRepresentation>\n",
            )
            for n, id_ in enumerate(content.dimensions, 1)
        )  # fmt: skip
        time = self._component(
            "TimeDimension", "TIME_PERIOD", "",
            '<str:LocalRepresentation><str:TextFormat textType="ObservationalTimePeriod"/></str:LocalRepresentation>\n',
        )  # fmt: skip
        kind = "PrimaryMeasure" if self._is_21 else "Measure"
        measure = self._component(kind, "OBS_VALUE", "" if self._is_21 else ' usage="mandatory"', "")
        relation = (
            '<str:PrimaryMeasure><Ref id="OBS_VALUE"/></str:PrimaryMeasure>' if self._is_21 else "<str:Observation/>"
        )
        mark = ' assignmentStatus="Conditional"' if self._is_21 else ' usage="optional"'
        attribute = self._component(
            "Attribute", "OBS_STATUS", mark,
            f"<str:LocalRepresentation>\n{self._enumeration('CL_OBS_STATUS')}</str:LocalRepresentation>\n"
            f"<str:AttributeRelationship>{relation}</str:AttributeRelationship>\n",
        )  # fmt: skip
        lists = {"Dimension": dimensions + time, "Attribute": attribute, "Measure": measure}
        body = "".join(
            f'<str:{kind}List id="{kind}Descriptor">\n{inner}</str:{kind}List>\n' for kind, inner in lists.items()
        )
        return f"<str:DataStructureComponents>\n{body}</str:DataStructureComponents>\n"


def sdmx_ml_20(content: Content) -> bytes:
    """Return a codelist as SDMX-ML 2.0."""
    if not isinstance(content, Codelist):
        raise TypeError("only codelists are written in SDMX-ML 2.0")
    base = "http://www.SDMX.org/resources/SDMXML/schemas/v2_0/"
    codes = "".join(
        f'<s:Code value="{code.id}"' + (f' parentCode="{code.parent}"' if code.parent else "") + ">\n"
        f"{_texts('s:Description', code.en, code.fr)}"
        "<s:Annotations>\n<c:Annotation>\n<c:AnnotationType>NOTE</c:AnnotationType>\n"
        f'<c:AnnotationText xml:lang="en">{code.note}</c:AnnotationText>\n</c:Annotation>\n'
        "</s:Annotations>\n</s:Code>\n"
        for code in content.codes
    )
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<Structure xmlns="{base}message" xmlns:s="{base}structure" '
        f'xmlns:c="{base}common">\n{_HEADER.format(m="")}<CodeLists>\n'
        f'<s:CodeList id="{content.id}" agencyID="{AGENCY}" version="{VERSION}">\n'
        f"{_texts('s:Name', content.id, content.id)}{codes}</s:CodeList>\n</CodeLists>\n</Structure>\n"
    ).encode()
