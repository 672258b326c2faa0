"""Hand-written structure sets (2.1)."""

from __future__ import annotations

NAMESPACES = " ".join(
    f'xmlns:{prefix}="http://www.sdmx.org/resources/sdmxml/schemas/v2_1/{name}"'
    for prefix, name in (("m", "message"), ("s", "structure"), ("c", "common"))
)


def message_21(content: str) -> bytes:
    """Return a structure message of SDMX-ML 2.1."""
    return (
        f"<m:Structure {NAMESPACES}><m:Header><m:ID>T</m:ID><m:Test>true</m:Test>"
        '<m:Prepared>2026-01-01T00:00:00</m:Prepared><m:Sender id="T"/></m:Header>'
        f"<m:Structures>{content}</m:Structures></m:Structure>"
    ).encode()


def _reference(id_: str, package: str, cls: str) -> str:
    return f'<Ref agencyID="T" id="{id_}" version="1.0" package="{package}" class="{cls}"/>'


def codelist_map(id_: str, kind: str = "Codelist", **pairs: str) -> str:
    """Return a map of codes by their ids, of codelists or hybrid."""
    hybrid = kind == "Hybrid"
    tag, of = ("HybridCodelistMap", "HybridCodeMap") if hybrid else ("CodelistMap", "CodeMap")
    ends = "".join(
        f"<s:{side}>{_reference(f'CL_{side}', 'codelist', 'Codelist')}</s:{side}>" for side in ("Source", "Target")
    )
    rows = ""
    for source, target in pairs.items():
        rows += f'<s:{of}><s:Source><Ref id="{source}"/></s:Source><s:Target><Ref id="{target}"/></s:Target></s:{of}>'
    return f'<s:{tag} id="{id_}"><c:Name>{id_}</c:Name>{ends}{rows}</s:{tag}>'


def component(source: str, target: str, mapping: str = "") -> str:
    """Return a component map."""
    parts = "".join(f'<s:{side}><Ref id="{id_}"/></s:{side}>' for side, id_ in (("Source", source), ("Target", target)))
    inner = f"<s:RepresentationMapping>{mapping}</s:RepresentationMapping>" if mapping else ""
    return f"<s:ComponentMap>{parts}{inner}</s:ComponentMap>"


def by_codelist(id_: str) -> str:
    """Return a mapping by a codelist map of the set."""
    return f'<s:CodelistMap><Ref id="{id_}"/></s:CodelistMap>'


def by_text(kind: str) -> str:
    """Return a mapping by the value, name or description of the code."""
    return f'<s:ToTextFormat textType="String"/><s:ToValueType>{kind}</s:ToValueType>'


def by_values(**pairs: str) -> str:
    """Return a mapping by values."""
    rows = "".join(f'<s:ValueMapping source="{source}" target="{target}"/>' for source, target in pairs.items())
    return f"<s:ValueMap>{rows}</s:ValueMap>"


def structure_set(*scheme_maps: str, components: str, more: str = "") -> bytes:
    """Return T:SET(1.0) with the structure map M from T:S(1.0) to T:G(1.0)."""
    ends = "".join(
        f"<s:{side}><s:Structure>{_reference(id_, 'datastructure', 'DataStructure')}</s:Structure></s:{side}>"
        for side, id_ in (("Source", "S"), ("Target", "G"))
    )
    ends = ends.replace("<s:Structure>", "").replace("</s:Structure>", "")
    map_ = f'<s:StructureMap id="M"><c:Name>M</c:Name>{ends}{components}</s:StructureMap>'
    return message_21(
        '<s:StructureSets><s:StructureSet agencyID="T" id="SET" version="1.0"><c:Name>SET</c:Name>'
        f"{''.join(scheme_maps)}{map_}{more}</s:StructureSet></s:StructureSets>"
    )
