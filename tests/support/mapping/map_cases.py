# ruff: noqa: E501 - a table
"""Results of rows, and the sentence of the standard behind each. Both engines must give them.

S2 and S6 are Sections 2 and 6 of SDMX 3.1; Section 6 is cited by its chapter on structure mapping.
"""

from __future__ import annotations

from datetime import date
from typing import Any, NamedTuple

from support.mapping.maps_by_hand import (
    component_map,
    date_map,
    epoch_map,
    fixed,
    frequency_format,
    named,
    representation_map,
    structure_map,
)


class Case(NamedTuple):
    """A map, rows and their results: a text of the target's values, or a list of findings.

    A missing value is written ``-``, and a dash ``'-'``.
    """

    name: str
    source: str
    contents: tuple[str, ...]
    columns: str
    targets: str
    rows: tuple[tuple[str, Any], ...]
    settings: dict[str, Any] = {}  # noqa: RUF012 - it is not changed


def one(by: str, *rows: str) -> tuple[str, ...]:
    """A structure A to B with one representation map."""
    return (
        named("S", "A"),
        named("G", "B"),
        representation_map("R", *rows),
        structure_map(component_map("A", "B", by)),
    )


def dated(*parts: str, freq: bool = False) -> tuple[str, ...]:
    """A structure with a date in texts to one with TIME_PERIOD."""
    names = "A FREQ" if freq else "A"
    return (
        named("S", f"{names} WHEN", timed=False),
        named("G", names),
        structure_map(*parts),
    )


VALUES = [
    Case("one to one", "S6 13.2", one("R", "AF>AFG", "AL>ALB"), "A TIME_PERIOD OBS_VALUE", "B TIME_PERIOD OBS_VALUE", (
        ("AF 2020 1", "AFG 2020 1"), ("AL 2021 2", "ALB 2021 2"),
        ("XX 2020 3", ["unmapped-value A XX"]), ("af 2020 3", ["unmapped-value A af"]))),
    Case("different values to the same", "S6 13.2", one("R", "FR>EUR", "DE>EUR"), "A TIME_PERIOD", "B", (
        ("FR 2020", "EUR"), ("DE 2021", "EUR"))),
    Case("n to 1", "S6 13.3, rules of the table", (
        named("S", "FREQUENCY ADJUSTMENT MATURITY"), named("G", "INDICATOR"),
        representation_map("R", "A,N,L>A_N_L", "M,S_A1,TY12>MON_SAX_12", sources=3),
        structure_map(component_map("FREQUENCY ADJUSTMENT MATURITY", "INDICATOR", "R"))),
        "FREQUENCY ADJUSTMENT MATURITY TIME_PERIOD", "INDICATOR", (
            ("A N L 2020", "A_N_L"), ("M S_A1 TY12 2020", "MON_SAX_12"),
            ("A N TY12 2020", ["unmapped-value FREQUENCY.ADJUSTMENT.MATURITY A.N.TY12"]))),
    Case("n to n", "S6 13.3: rules can also set values for multiple components", (
        named("S", "FREQ ADJ"), named("G", "INDICATOR", attributes="STATUS NOTE"),
        representation_map("R", "A,N>A_N,QXR15,Unadjusted", "M,S>M_S,,", sources=2, targets=3),
        structure_map(component_map("FREQ ADJ", "INDICATOR STATUS NOTE", "R"))),
        "FREQ ADJ TIME_PERIOD", "INDICATOR STATUS NOTE", (
            ("A N 2020", "A_N QXR15 Unadjusted"), ("M S 2020", "M_S - -"))),
    Case("the order of sources is that of the map", "S6 13.10.1: key order is not that of the DSD", (
        named("S", "A B"), named("G", "C"), representation_map("R", "1,2>x", sources=2),
        structure_map(component_map("B A", "C", "R"))),
        "A B TIME_PERIOD", "C", (("2 1 2020", "x"), ("1 2 2020", ["unmapped-value B.A 2.1"]))),
    Case("verbatim without a representation map", "S6 13.10.1", (
        named("S", "A X", attributes="N"), named("G", "B C", attributes="N"),
        structure_map(component_map("A", "B"), component_map("X", "C"))),
        "A X TIME_PERIOD N OBS_VALUE", "B C TIME_PERIOD N OBS_VALUE", (
            ("a b 2020 n 1.5", "a b 2020 n 1.5"), ("- b 2020 n 1", ["no-output B"]))),
    Case("pairs without a representation map", "S6 13.10.1", (
        named("S", "A X"), named("G", "B C"), structure_map(component_map("A X", "B C"))),
        "A X TIME_PERIOD", "B C", (("a b 2020", "a b"),)),
    Case("several outcomes are several series", "S6 13.1 b: different series keys, the same observation values",
        one("R", "AF>X", "AF>Y", "AL>Z"), "A TIME_PERIOD OBS_VALUE", "B OBS_VALUE", (
            ("AF 2020 1", ["X 1", "Y 1"]), ("AL 2020 2", "Z 2"))),
    Case("outcomes that differ in an attribute", "S6 13.1 b", (
        named("S", "A"), named("G", "A", attributes="N"), representation_map("R", "AF>x", "AF>y", "AL>z", "AL>z"),
        structure_map(component_map("A", "N", "R"))),
        "A TIME_PERIOD", "A N", (("AF 2020", ["ambiguous-value A AF"]), ("AL 2020", "AL z"))),
    Case("mapped to nothing", "S2 RepresentationMap: absence of an output is not an output value", (
        named("S", "A"), named("G", "B", attributes="N"), representation_map("R", "AF>X", "AL>", "AD>Y"),
        representation_map("Q", "AF>n", "AD>", "AL>"),
        structure_map(component_map("A", "B", "R"), component_map("A", "N", "Q"))),
        "A TIME_PERIOD", "B N", (("AF 2020", "X n"), ("AL 2020", ["no-output B"]), ("AD 2020", "Y -"))),
    Case("two maps make one component", "S2 ComponentMap", (
        named("S", "A X"), named("G", "B", attributes="N"),
        representation_map("R", "1>n", "2>", "3>m"), representation_map("Q", "1>n", "2>k", "3>n"),
        structure_map(component_map("A", "B"), component_map("A", "N", "R"), component_map("X", "N", "Q"))),
        "A X TIME_PERIOD", "B N", (("1 1 2020", "1 n"), ("2 2 2020", "2 k"), ("3 1 2020", ["ambiguous-value N m"]))),
    Case("empty attributes stay empty", "S6 13.1", (
        named("S", "A", attributes="P Q"), named("G", "A", attributes="N"), representation_map("R", "1,2>x", sources=2),
        structure_map(component_map("P Q", "N", "R"))),
        "A P Q TIME_PERIOD", "A N", (
            ("a - - 2020", "a -"), ("a 1 2 2020", "a x"), ("a 1 - 2020", ["unmapped-value P.Q 1."]))),
    Case("no column at all", "S6 13.1", one("R", "AF>X"), "TIME_PERIOD OBS_VALUE", "B", (("2020 1", ["no-output B"]),)),
    Case("numbers as texts", "S6 13.10.2: source of type integer", one("R", "0>A", "1>A", "3>B"), "A TIME_PERIOD", "B", (
        ("0 2020", "A"), ("3 2021", "B"), ("4 2020", ["unmapped-value A 4"]))),
    Case("fixed values", "S2 FixedValueMap", (
        named("S", "A"), named("G", "A UNIT", attributes="CONF"),
        structure_map(fixed("UNIT", "EUR"), fixed("CONF", "F"))),
        "A TIME_PERIOD", "A UNIT CONF", (("a 2020", "a EUR F"),)),
]  # fmt: skip

EXPRESSIONS = [
    Case("expressions fit the whole value", "S6 13.6.1: Rule match if input = 'A'; if the input starts with A to G; A or B",
        one("R", "/A/>OUT_A", "/^[A-G]/>OUT_B", "/X|Y/>OUT_C", "/.*9$/>NINE"), "A TIME_PERIOD", "B", (
            ("A 2020", "OUT_A"), ("AB 2020", "OUT_B"), ("GZZ 2020", "OUT_B"), ("X 2020", "OUT_C"), ("Y 2020", "OUT_C"),
            ("XY 2020", ["unmapped-value A XY"]), ("H 2020", ["unmapped-value A H"]), ("Z9 2020", "NINE")),
        {"rules": {"ambiguous-key": "off"}}),
    Case("capture groups", r"S6 13.6.1: \1-Q\2 of 200933 is 2009-Q3", one("R", r"/([0-9]{4})[0-9]([0-9]{1})/>\1-Q\2"),
        "A TIME_PERIOD", "B", (("200933 2020", "2009-Q3"), ("20093 2020", ["unmapped-value A 20093"]))),
    Case("a group put elsewhere", "S2 RepresentationMap: ABX to XAB", one("R", r"/AB(.*)/>\1AB"), "A TIME_PERIOD", "B", (
        ("ABX 2020", "XAB"), ("ABY 2020", "YAB"), ("AB 2020", "AB"))),
    Case("groups that took no part, and the whole", "S6 13.6.1", one("R", r"/(a)?(b)?c/>[\1|\2]", r"/d+/>\0\0"),
        "A TIME_PERIOD", "B", (("c 2020", "[|]"), ("bc 2020", "[|b]"), ("abc 2020", "[a|b]"), ("dd 2020", "dddd"))),
    Case("the longest number for which there is a group", "Java's replacements",
        one("R", rf"/{'(.)' * 10}/>\10|\100|\2", r"/(.)(.)/>\10\01"), "A TIME_PERIOD", "B", (
            ("abcdefghij 2020", "j|j0|b"), ("xy 2020", "x0xy1"))),
    Case("groups of several sources are counted on", "S6 13.6.1, S2", (
        named("S", "A X"), named("G", "B"), representation_map("R", r"/(.).*/,/.*(.)/>\2\1", sources=2),
        structure_map(component_map("A X", "B", "R"))),
        "A X TIME_PERIOD", "B", (("abc xyz 2020", "za"),)),
    Case("the first expression that matches", "S6 13.6.1: starting with the highest priority",
        one("R", "/A/>OUT_A", "/B/>OUT_B", "/[A-Z]/>OUT_C"), "A TIME_PERIOD", "B", (
            ("A 2020", "OUT_A"), ("B 2020", "OUT_B"), ("G 2020", "OUT_C"))),
    Case("plain values before expressions", "S6 13.6.1: a general catch-all if nothing else matches",
        one("R", "/.*/>OTHER", "AF>AFG"), "A TIME_PERIOD", "B", (("AF 2020", "AFG"), ("ZZ 2020", "OTHER"))),
    Case("rows of plain values and expressions", "S2 RepresentationMap", (
        named("S", "A X"), named("G", "B"),
        representation_map("R", "1,/.*/>any", r"2,/x(.)/>\1", "2,3>plain", "/.*/,9>nine", sources=2),
        structure_map(component_map("A X", "B", "R"))),
        "A X TIME_PERIOD", "B", (
            ("1 z 2020", "any"), ("2 xk 2020", "k"), ("2 3 2020", "plain"), ("7 9 2020", "nine"), ("1 9 2021", "any"),
            ("7 8 2020", ["unmapped-value A.X 7.8"]))),
    Case("substrings", "S6 13.6.2, S2 MappedValue: indexes from zero",
        one("R", "0:2=XU>Y", "4:7=DEF>D", "4:6=GHI>G", "7=END>E"), "A TIME_PERIOD", "B", (
            ("XULADS 2020", "Y"), ("ABC_DEF_XYZ 2020", "D"), ("ABC_GHI_XYZ 2020", "G"), ("1234567END 2020", "E"),
            ("AXU 2020", ["unmapped-value A AXU"]), ("X 2020", ["unmapped-value A X"]))),
    Case("a group that captured nothing", "S2 RepresentationMap: an empty text is not a code", one("R", r"/AB(.*)/>\1"), "A TIME_PERIOD", "B", (
        ("ABX 2020", "X"), ("AB 2020", ["no-output B"]))),
    Case("groups of one source beside a value of a column that is not there", "S6 13.6.1", (
        named("S", "A X"), named("G", "B"), representation_map("R", r"1,/x(.)/>\1", sources=2),
        structure_map(component_map("A X", "B", "R"))),
        "X TIME_PERIOD", "B", (("xk 2020", ["unmapped-value A.X .xk"]), ("xk 2021", ["unmapped-value A.X .xk"]))),
    Case("characters that XML does not have", "XML 1.0, 2.2; they must not move what stands beside them", (
        named("S", "A X"), named("G", "B", attributes="N"),
        representation_map("R", r"/(.*)/,/(.*)/>\1,\2", sources=2, targets=2), structure_map(component_map("A X", "B N", "R"))),
        "A|X|TIME_PERIOD", "B N", (("a b|c|2020", "a b c"), ("a\x1fb|c|2020", ["unmapped-value A.X a\x1fb.c"]))),
    Case("expressions in any letter case", "Java's expressions", one("R", "/(?i)ab[c-d]+/>x", r"/\Qa.b\E\d\w\s?/>y"),
        "A|TIME_PERIOD", "B", (("ABCd|2020", "x"), ("a.b1_ |2020", "y"), ("a.b٣_|2020", ["unmapped-value A a.b٣_"]))),
]  # fmt: skip

VALIDITY = [
    Case("time spans", "S6 13.9: start of 2007 to the very end of 2009, whatever the frequency", (
        named("S", "I"), named("G", "I", attributes="CONF"),
        representation_map("R", "XULADS>F@2007-01-01/2009-12-31", "XULADS>C@2010-01-01/"),
        structure_map(component_map("I", "CONF", "R"))),
        "I TIME_PERIOD", "I CONF", (
            ("XULADS 2007", "XULADS F"), ("XULADS 2009-12-31", "XULADS F"), ("XULADS 2009-Q4", "XULADS F"),
            ("XULADS 2010-01", "XULADS C"), ("XULADS 2099-W01", "XULADS C"),
            ("XULADS 2006-12", ["unmapped-value I XULADS"]), ("XULADS -", ["no-output TIME_PERIOD", "unmapped-value I XULADS"]))),
    Case("validity before none", "S6 13.9; the nearer rule first", one("R", "A>old@/1998-12-31", "A>new", "A>odd@2000-01-01/2000-12-31"),
        "A TIME_PERIOD", "B", (("A 1998-12", "old"), ("A 1999-01", "new"), ("A 2000", "odd"), ("A 2001", "new"))),
    Case("validity of expressions", "S6 13.9", one("R", r"/(A.*)/>old_\1@/1998-12-31", r"/(.*)/>\1"), "A TIME_PERIOD", "B", (
        ("AB 1990", "old_AB"), ("AB 2000", "AB"), ("B 1990", "B"))),
    Case("validity at a period that is none", "S6 13.9", one("R", "A>old@/1998-12-31", "A>new"), "A TIME_PERIOD", "B", (
        ("A 1998", "old"), ("A 1998M01", ["date-unreadable TIME_PERIOD 1998M01"]), ("A -", ["no-output TIME_PERIOD"]))),
    Case("what is not attached to a period, and what deletes", "SDMX-CSV 2.0: ~, actions", one("R", "A>old@/1998-12-31", "A>new", "B>y"),
        "ACTION A TIME_PERIOD", "B TIME_PERIOD", (
            ("I A ~", "new ~"), ("D A ~", "new ~"), ("D B *", "y *"), ("I B x", ["date-unreadable TIME_PERIOD x"])),
        {"rules": {"ambiguous-key": "off"}}),
    Case("dimensions that are switched off", "SDMX-CSV 2.0: ~; only with an action", (
        named("S", "A X", attributes="P"), named("G", "B C", attributes="N Q"),
        representation_map("R", "A>b", "/.*/>other"), representation_map("W", "1,2>c,n", sources=2, targets=2),
        representation_map("T", "p>q"),
        structure_map(component_map("A", "B", "R"), component_map("A X", "C N", "W"), component_map("P", "Q", "T"))),
        "ACTION A X TIME_PERIOD P", "B C N Q TIME_PERIOD", (
            ("M ~ ~ 2020 p", "~ ~ - q 2020"), ("M ~ 2 2020 p", ["unmapped-value A.X ~.2"]),
            ("- ~ ~ 2020 p", ["unmapped-value A.X ~.~"]), ("M ~ ~ 2020 ~", ["unmapped-value P ~"]))),
    Case("values that are missing on purpose are not switched off", "SDMX 3.0 Section 6, Intentionally missing values",
         one("R", "A>b"), "ACTION A TIME_PERIOD", "B", (
            ("M ~ 2020", "~"), ("M #N/A 2020", ["unmapped-value A #N/A"]))),
    Case("dates that are switched off", "SDMX-CSV 2.0: ~", (
        named("S", "A WHEN", timed=False), named("G", "A", attributes="N"),
        structure_map(date_map("WHEN", "TIME_PERIOD", "dd/MM/yyyy", "D"), date_map("WHEN", "N", "dd/MM/yyyy", "D"))),
        "ACTION A WHEN", "TIME_PERIOD N", (
            ("M a 18/07/1981", "1981-07-18 1981-07-18"), ("M a ~", "~ -"),
            ("- a ~", ["date-unreadable WHEN ~", "date-unreadable WHEN ~"]))),
    Case("a date that is switched off beside another one", "SDMX-CSV 2.0: ~", (
        named("S", "A DAY MONTH", timed=False), named("G", "A"),
        structure_map(date_map("DAY", "TIME_PERIOD", "dd/MM/yyyy", "D"),
                      date_map("MONTH", "TIME_PERIOD", "MM/yyyy", "M"))),
        "ACTION A DAY MONTH", "TIME_PERIOD", (("M a ~ 05/2020", "2020-05"), ("M a ~ ~", "~"))),
    Case("many validities", "S6 13.9", one("R", *(f"A>v{year}@{year}/{year}" for year in range(1900, 2020)), "A>x"),
         "A TIME_PERIOD", "B", (
            ("A 1899", "x"), ("A 1900", "v1900"), ("A 1963-05", "v1963"), ("A 2019-12", "v2019"), ("A 2020", "x"))),
    Case("an expression that is valid at any time before one with a validity", "S6 13.6.1, 13.9",
         one("R", r"/A(.)/>one_\1@1990/1999", r"/A(.)/>any_\1", r"/A(.)/>never_\1@1990/2009"), "A TIME_PERIOD", "B", (
            ("AB 1995", "one_B"), ("AB 2005", "any_B"))),
    Case("validity at a period that is read by a map", "S6 13.9, 13.7", (
        named("S", "A"), named("G", "B"), representation_map("R", "A>old@/1998-12-31", "A>new"),
        structure_map(component_map("A", "B", "R"), date_map("TIME_PERIOD", "TIME_PERIOD", "yyyy'M'MM", "M"))),
        "A TIME_PERIOD", "B TIME_PERIOD", (
            ("A 1990M01", "old 1990-01"), ("A 1999M01", "new 1999-01"), ("A 1999", ["date-unreadable TIME_PERIOD 1999"]))),
    Case("by the time period itself", "S6 13.8", (
        named("S", "I"), named("G", "I", attributes="CONF"),
        representation_map("R", "X,2007>F", "X,2008>C", sources=2), structure_map(component_map("I TIME_PERIOD", "CONF", "R"))),
        "I TIME_PERIOD", "I TIME_PERIOD CONF", (
            ("X 2007", "X 2007 F"), ("X 2008", "X 2008 C"), ("X 2009", ["unmapped-value I.TIME_PERIOD X.2009"]))),
    Case("validity at a period that is mapped", "S6 13.9; the source has no time dimension", (
        named("S", "A WHEN", timed=False), named("G", "B"), representation_map("R", "A>old@/1998-12-31", "A>new"),
        structure_map(component_map("A", "B", "R"), date_map("WHEN", "TIME_PERIOD", "dd.MM.yyyy", "M"))),
        "A WHEN", "B TIME_PERIOD", (("A 31.12.1998", "old 1998-12"), ("A 01.01.1999", "new 1999-01"))),
]  # fmt: skip

DATES = [
    Case("a date of one frequency", "S6 13.10.4: 18/07/1981 by dd/MM/yyyy of frequency A is 1981",
        dated(date_map("WHEN", "TIME_PERIOD", "dd/MM/yyyy", "A")), "A WHEN", "A TIME_PERIOD", (
            ("a 18/07/1981", "a 1981"), ("a 8/7/1981", "a 1981"), ("a 31/04/1981", ["date-unreadable WHEN 31/04/1981"]),
            ("a 18/13/1981", ["date-unreadable WHEN 18/13/1981"]), ("a 1981", ["date-unreadable WHEN 1981"]),
            ("a -", ["no-output TIME_PERIOD"])), {"rules": {"ambiguous-key": "off"}}),
    Case("date maps that contradict each other", "S6 13.1, 13.7", dated(
        date_map("WHEN", "TIME_PERIOD", "dd/MM/yyyy", "D"), date_map("WHEN", "TIME_PERIOD", "MM/dd/yyyy", "D")),
        "A WHEN", "TIME_PERIOD", (
            ("a 18/07/1981", "1981-07-18"), ("a 07/18/1981", "1981-07-18"), ("b 07/07/1981", "1981-07-07"),
            ("a 01/02/2020", ["ambiguous-value TIME_PERIOD 2020-02-01"])), {"rules": {"ambiguous-key": "off"}}),
    Case("dates of two components that differ", "S6 13.1, 13.7", (
        named("S", "A FROM TO", timed=False), named("G", "A"),
        structure_map(date_map("FROM", "TIME_PERIOD", "dd/MM/yyyy", "D"), date_map("TO", "TIME_PERIOD", "dd/MM/yyyy", "D"))),
        "A FROM TO", "TIME_PERIOD", (
            ("a 18/07/1981 18/07/1981", "1981-07-18"), ("a 18/07/1982 -", "1982-07-18"),
            ("a 01/02/2020 05/06/2021", ["ambiguous-value TIME_PERIOD 2020-02-01"]))),
    Case("the frequency of a dimension", "S6 13.7, default formats; 13.10.4: 1981-07-18 when FREQ=D",
        dated(date_map("WHEN", "TIME_PERIOD", "dd/MM/yyyy", "=FREQ"), freq=True), "A FREQ WHEN", "A FREQ TIME_PERIOD", (
            ("a A 18/07/1981", "a A 1981"), ("a S 18/07/1981", "a S 1981-S2"), ("a T 18/07/1981", "a T 1981-T2"),
            ("a Q 18/07/1981", "a Q 1981-Q3"), ("a M 18/07/1981", "a M 1981-07"), ("a W 18/07/1981", "a W 1981-W29"),
            ("a D 18/07/1981", "a D 1981-07-18"), ("a I 18/07/1981", "a I 1981-07-18T23:59:59"),
            ("a W 01/01/2021", "a W 2020-W53"), ("a W 31/12/2018", "a W 2019-W01"),
            ("a X 18/07/1981", ["frequency-unknown WHEN 18/07/1981"]))),
    Case("deletions by a date that is written less precisely", "S6 13.7; SDMX-CSV 2.0, actions",
        dated(date_map("WHEN", "TIME_PERIOD", "dd/MM/yyyy", "=FREQ"), freq=True), "ACTION A FREQ WHEN", "A FREQ TIME_PERIOD", (
            ("D - A 18/07/1981", ["no-output ACTION D"]), ("D a A 18/07/1981", "a A 1981"), ("D - D 18/07/1981", "- D 1981-07-18"),
            ("D a A -", "a A -"))),
    Case("the end of the period", "S6 13.10.4: 1981 by yyyy to D is 1981-12-31",
        dated(date_map("WHEN", "TIME_PERIOD", "yyyy", "D")), "A WHEN", "TIME_PERIOD", (("a 1981", "1981-12-31"),)),
    Case("the start of the period", "S6 13.7", dated(date_map("WHEN", "TIME_PERIOD", "yyyy", "D", resolve="startOfPeriod")),
        "A WHEN", "TIME_PERIOD", (("a 1981", "1981-01-01"),)),
    Case("the middle of the period", "S6 13.7", dated(date_map("WHEN", "TIME_PERIOD", "yyyyMM", "D", resolve="midPeriod")),
        "A WHEN", "TIME_PERIOD", (("a 202002", "2020-02-15"), ("a 202104", "2021-04-16"))),
    Case("names of months", "S6 13.7.1: 22 July 1981 by dd MMMM yyyy", dated(date_map("WHEN", "TIME_PERIOD", "dd MMMM yyyy", "D", locale="en-US")),
        "A|WHEN", "TIME_PERIOD", (("a|22 July 1981", "1981-07-22"), ("a|22 JULY 1981", "1981-07-22"), ("a|22 Jul 1981", "1981-07-22"),
                                  ("a|22 jULy 1981", "1981-07-22"), ("a|22 jUL 1981", "1981-07-22"),
                                  ("a|22 Juli 1981", ["date-unreadable WHEN 22 Juli 1981"])),
        {"rules": {"ambiguous-key": "off"}}),
    Case("names of months in a language", "S6 13.7.1: 2008-mars-12 by YYYY-MMM-DD in fr-FR",
        dated(date_map("WHEN", "TIME_PERIOD", "YYYY-MMM-DD", "D", locale="fr-FR")),
        "A WHEN", "TIME_PERIOD", (("a 2008-mars-12", "2008-03-12"), ("a 2008-déc.-12", "2008-12-12"), ("a 2008-Mai-1", "2008-05-01"),
            ("a 2008-DÉc.-13", "2008-12-13"))),
    Case("names of months in any letter case", "S6 13.7.1; capitals of Turkish and Greek", dated(
        date_map("WHEN", "TIME_PERIOD", "d MMMM yyyy", "D", locale="tr"),
        date_map("WHEN", "TIME_PERIOD", "d-MMMM-yyyy", "D", locale="el")),
        "A|WHEN", "TIME_PERIOD", (("a|1 kASım 2020", "2020-11-01"), ("a|2 KASIM 2020", "2020-11-02"),
                                  ("a|3-ΙΟΎΛΙΟΣ-2020", "2020-07-03"), ("a|4-ιουΛίου-2020", "2020-07-04"))),
    Case("short names and years of two digits", "S6 13.7.1", dated(date_map("WHEN", "TIME_PERIOD", "MMM yy", "M")),
        "A|WHEN", "TIME_PERIOD", (("a|Sep 23", "2023-09"), ("a|Sept 23", "2023-09"), ("a|Dec 50", "1950-12"), ("a|Dec 45", "2045-12")),
        {"as_of": date(2026, 6, 1), "rules": {"ambiguous-key": "off"}}),
    Case("numbers of periods", "S6 13.7: 2010M001, 2014D123", (
        *dated(date_map("WHEN", "TIME_PERIOD", "yyyyDnnn", "D"), date_map("WHEN", "TIME_PERIOD", "yyyyMnnn", "M"),
               date_map("WHEN", "TIME_PERIOD", "yyyyQn", "Q"), date_map("WHEN", "TIME_PERIOD", "yyyy'W'ww", "W")),),
        "A WHEN", "TIME_PERIOD", (
            ("a 2014D123", "2014-05-03"), ("a 2010M001", "2010-01"), ("a 2010Q4", "2010-Q4"), ("a 2020W53", "2020-W53"),
            ("a 2010M013", ["date-unreadable WHEN 2010M013"]), ("a 2010Q5", ["date-unreadable WHEN 2010Q5"]),
            ("a 2021W53", ["date-unreadable WHEN 2021W53"]), ("a 2021D366", ["date-unreadable WHEN 2021D366"]))),
    Case("the day of the year", "S6 13.7.1: 2010 D62", dated(date_map("WHEN", "TIME_PERIOD", "yyyy 'D'DD", "D")),
        "A|WHEN", "TIME_PERIOD", (("a|2010 D62", "2010-03-03"), ("a|2020 D366", "2020-12-31"))),
    Case("times of the day", "S6 13.7.1", dated(date_map("WHEN", "TIME_PERIOD", "yyyy-MM-dd hh:mm:ss a", "I"),
                                               date_map("WHEN", "TIME_PERIOD", "yyyyMMddHHmm", "I", resolve="startOfPeriod"),
                                               date_map("WHEN", "TIME_PERIOD", "yyyy-MM-dd kk 'h'", "I")),
        "A|WHEN", "TIME_PERIOD", (
            ("a|2020-02-29 12:05:09 AM", "2020-02-29T00:05:09"), ("a|2020-02-29 12:05:09 pm", "2020-02-29T12:05:09"),
            ("a|202002290730", "2020-02-29T07:30:00"), ("a|2020-02-29 24 h", "2020-02-29T00:00:00"),
            ("a|2020-02-29 13:05:09 AM", ["date-unreadable WHEN 2020-02-29 13:05:09 AM"]))),
    Case("a time of day is a point of time", "S6 13.7: the end of the period, which a point of time has not", dated(
        date_map("WHEN", "TIME_PERIOD", "yyyy-MM-dd HH:mm", "I"),
        date_map("WHEN", "TIME_PERIOD", "yyyyMMdd HHmm", "I", resolve="endOfPeriod"),
        date_map("WHEN", "TIME_PERIOD", "dd/MM/yyyy HH:mm", "D"), date_map("WHEN", "TIME_PERIOD", "yyyy/MM/dd", "I")),
        "A|WHEN", "TIME_PERIOD", (
            ("a|2020-02-29 10:30", "2020-02-29T10:30:00"), ("a|20200229 1030", "2020-02-29T10:30:59"),
            ("a|29/02/2020 23:59", "2020-02-29"), ("a|2020/02/29", "2020-02-29T23:59:59"))),
    Case("patterns that say something twice", "S6 13.7.1, SimpleDateFormat: the finest counts; the half of the day does not beside HH",
        dated(date_map("WHEN", "TIME_PERIOD", "yyyy-MM-dd HH:mm a", "I", resolve="startOfPeriod"),
              date_map("WHEN", "TIME_PERIOD", "YYYYWnn-u", "I"), date_map("WHEN", "TIME_PERIOD", "yyyySnQn", "I"),
              date_map("WHEN", "TIME_PERIOD", "dd/MM/yyyy 'w'ww", "I"), date_map("WHEN", "TIME_PERIOD", "MM/yyyy Qn", "I")),
        "A|WHEN", "TIME_PERIOD", (
            ("a|2020-01-01 13:05 PM", "2020-01-01T13:05:00"), ("a|2020W05-3", "2020-01-29T23:59:59"),
            ("a|2020S1Q2", "2020-06-30T23:59:59"), ("a|06/01/2020 w02", "2020-01-06T23:59:59"),
            ("a|05/2020 Q2", "2020-05-31T23:59:59"))),
    Case("formats of the map", "S6 13.7: the default can be redefined using a frequency format mapping",
        dated(date_map("WHEN", "TIME_PERIOD", "dd/MM/yyyy", "=FREQ"), frequency_format("A", "yyyy-'A1'"),
              frequency_format("M", "yyyy-Mnn"), frequency_format("X", "dd.MM.yy"), freq=True),
        "A FREQ WHEN", "TIME_PERIOD", (
            ("a A 18/07/1981", "1981-A1"), ("a M 18/07/1981", "1981-M07"), ("a X 18/07/1981", "18.07.81"), ("a D 18/07/1981", "1981-07-18"))),
    Case("only the formats that the date map names", "S2 DateMap.mappedFrequencies",
        dated(date_map("WHEN", "TIME_PERIOD", "dd/MM/yyyy", "=FREQ", formats="FA"), frequency_format("A", "yyyy-'A1'"),
              frequency_format("M", "yyyy-Mnn"), freq=True),
        "A FREQ WHEN", "TIME_PERIOD", (("a A 18/07/1981", "1981-A1"), ("a M 18/07/1981", "1981-07"))),
    Case("seconds of an epoch", "S6 13.10.4 (its example says millisecond and means second)",
        dated(epoch_map("WHEN", "TIME_PERIOD", "1970", "second", "M")), "A WHEN", "TIME_PERIOD", (
            ("a 1589808220", "2020-05"), ("a -1", "1969-12"), ("a 1.5", ["date-unreadable WHEN 1.5"]),
            ("a 99999999999999", ["date-unreadable WHEN 99999999999999"]))),
    Case("units of an epoch", "S6 13.7.2", (
        named("S", "A DAYS MS US NS", timed=False), named("G", "A", attributes="TD TMS TUS TNS"),
        structure_map(epoch_map("DAYS", "TD", "1900-01-01", "day", "D"), epoch_map("MS", "TMS", "1601", "millisecond", "I"),
                      epoch_map("US", "TUS", "1970", "microsecond", "I"), epoch_map("NS", "TNS", "1970", "nanosecond", "I"),
                      fixed("TIME_PERIOD", "2020"))),
        "A DAYS MS US NS", "TD TMS TUS TNS", (
            ("a 0 0 -1 -1", "1900-01-01 1601-01-01T00:00:00 1969-12-31T23:59:59 1969-12-31T23:59:59"),
            ("a 43890 1000 1589808220123456 1589808220123456789",
             "2020-03-02 1601-01-01T00:00:01 2020-05-18T13:23:40 2020-05-18T13:23:40")), {"rules": {"ambiguous-key": "off"}}),
]  # fmt: skip

KEYS = [
    Case("two series become one", "S6 13.4: two observations with the same series key, for the same period",
        one("R", "XMAN_Z_21>XM", "XMAN_Z_34>XM"), "A TIME_PERIOD OBS_VALUE", "B TIME_PERIOD", (
            ("XMAN_Z_21 2019 1", "XM 2019"), ("XMAN_Z_21 2020 1", ["ambiguous-key B.TIME_PERIOD XM.2020"]),
            ("XMAN_Z_34 2020 2", ["ambiguous-key B.TIME_PERIOD XM.2020"]), ("XMAN_Z_34 2021 2", "XM 2021"))),
    Case("the source has fixed values", "S2 FixedValueMap; they are not in the target", (
        named("S", "A FREQ"), named("G", "A"), structure_map(fixed("FREQ", "A", "M", side="Source"))),
        "A FREQ TIME_PERIOD OBS_VALUE", "A TIME_PERIOD", (
            ("a A 2020 1", ["ambiguous-key A.TIME_PERIOD a.2020"]), ("a M 2020 2", ["ambiguous-key A.TIME_PERIOD a.2020"]),
            ("a A 2021 1", "a 2021"))),
    Case("rules that contradict each other", "S6 13.1", (
        named("S", "A"), named("G", "B C", attributes="N"),
        representation_map("R", "AF>X,Y,x", "AF>X,Y,y", "AL>Z,Z,z", targets=3), structure_map(component_map("A", "B C N", "R"))),
        "A TIME_PERIOD", "B C N", (("AF 2020", ["ambiguous-value A AF"]), ("AL 2020", "Z Z z"), ("AL 2021", "Z Z z"))),
    Case("what is only warned of does not excuse a key without value", "S2 RepresentationMap", one("R", "A>x"), "A TIME_PERIOD", "B", (
        ("A 2020", "x"), ("B 2020", ["no-output B"]), ("C 2020", ["no-output B"])), {"rules": {"unmapped-value": "warning"}}),
    Case("keys that may be empty", "S6 13.4", one("R", "A>x"), "A TIME_PERIOD", "B", (
        ("A 2020", "x"), ("B 2020", ["ambiguous-key B.TIME_PERIOD .2020"]), ("C 2020", ["ambiguous-key B.TIME_PERIOD .2020"]),
        ("C 2021", "-")), {"rules": {"unmapped-value": "warning", "no-output": "warning"}}),
    Case("rows that delete may leave dimensions out", "SDMX-CSV 2.0, actions", one("R", "AF>X"), "ACTION A TIME_PERIOD", "B", (
        ("D - -", "-"), ("R - 2020", ["no-output B"]), ("D AF 2020", "X"))),
    Case("deletions that would delete more in the target", "SDMX-CSV 2.0, actions: what a row omits is not restricted", (
        named("S", "A F", attributes="P U"), named("G", "B", attributes="Q"),
        representation_map("R", "a>b", "n>"), representation_map("T", "p>q", "n>"),
        structure_map(component_map("A", "B", "R"), component_map("P", "Q", "T"))),
        "ACTION A F TIME_PERIOD P U", "B TIME_PERIOD Q", (
            ("D - - - - -", "- - -"), ("D a - - - -", "b - -"), ("D a f 2020 - -", "b 2020 -"), ("D - - - p u", "- - q"),
            ("delete n - - - -", ["no-output B delete"]),
            ("D - f - - -", ["no-output ACTION D"]), ("Delete a f - - -", ["no-output ACTION Delete"]),
            ("D - - - - u", ["no-output ACTION D"]), ("D a f 2020 - u", ["no-output ACTION D"]),
            ("D a f 2020 n -", "b 2020 '-'")),
        {"rules": {"no-output": "off", "ambiguous-key": "off"}}),
    Case("measures and attributes that deletions name", "SDMX-CSV 2.0, actions: any valid value, e.g. the dash character", (
        named("S", "A F", attributes="P"), named("G", "A F", attributes="Q V W C L"),
        representation_map("R", "p>q", "n>"), representation_map("T", "a>c"), structure_map(
            component_map("P", "Q", "R"), component_map("F", "W"), component_map("A", "C", "T"), fixed("V", "x"), fixed("L", "x", "y"))),
        "ACTION A F TIME_PERIOD P OBS_VALUE", "A F TIME_PERIOD OBS_VALUE Q V W C L", (
            ("D a f 2020 - -", "a f 2020 - - - - - -"), ("D - - - - -", "- - - - - - - - -"), ("D a - - - -", "a - - - - - - - -"),
            ("D a f 2020 - '-'", "a f 2020 '-' - - - - -"), ("D a f 2020 '-' -", "a f 2020 - '-' - - - -"),
            ("D a f 2020 p -", "a f 2020 - q - - - -"), ("D a f 2020 n -", "a f 2020 - '-' - - - -"),
            ("Delete b f 2020 ? -", "b f 2020 - '-' - - - -"), ("M a f 2020 p 1", "a f 2020 1 q x f c ['x', 'y']"),
            ("M b f 2020 ? 1", ["unmapped-value A b", "unmapped-value P ?"]))),
    Case("dates of attributes that deletions name", "SDMX-CSV 2.0, actions: any valid value, e.g. the dash character", (
        named("S", "A", attributes="P WHEN"), named("G", "A", attributes="Q N"),
        representation_map("R", "p,18/07/1981>q", sources=2),
        structure_map(date_map("WHEN", "N", "dd/MM/yyyy", "D"), component_map("P WHEN", "Q", "R"), component_map("P", "Q"))),
        "ACTION A TIME_PERIOD P WHEN", "A TIME_PERIOD Q N", (
            ("D a 2020 - '-'", "a 2020 '-' '-'"), ("D a 2020 p -", "a 2020 p -"), ("D a 2020 - -", "a 2020 - -"),
            ("M a 2021 p ?", ["date-unreadable WHEN ?", "unmapped-value P.WHEN p.?"]),
            ("M a 2022 p 18/07/1981", ["ambiguous-value Q p"]))),
    Case("deletions by a dimension that the map fixes in the source", "S2 FixedValueMap", (
        named("S", "A FREQ X"), named("G", "A"), structure_map(fixed("FREQ", "A", side="Source"), fixed("X", "1", "2", side="Source"))),
        "ACTION A FREQ X TIME_PERIOD", "A TIME_PERIOD", (
            ("D a A - -", "a -"), ("D a A - 2020", "a 2020"), ("D a Q - -", ["no-output ACTION D"]), ("D a - 1 -", ["no-output ACTION D"]))),
    Case("deletions by a dimension that is switched off, and does not reach the target", "SDMX-CSV 2.0: ~, actions", (
        named("S", "A F", attributes="P"), named("G", "A", attributes="P"), structure_map()),
        "ACTION A F TIME_PERIOD P", "A TIME_PERIOD P", (
            ("D a ~ - -", ["no-output ACTION D"]), ("D a ~ 2020 -", ["no-output ACTION D"]), ("D a ~ - p", "a - p")),
        {"rules": {"no-output": "off", "ambiguous-key": "off"}}),
    Case("deletions by what mapping does not read", "SDMX-CSV 2.0: SERIES_KEY, OBS_KEY, custom columns", (
        named("S", "A F"), named("G", "A F"), structure_map()),
        "ACTION SERIES_KEY OBS_KEY TYPO A F TIME_PERIOD OBS_VALUE", "A F TIME_PERIOD", (
            ("D a.f - - - - - -", ["no-output SERIES_KEY D"]), ("D a.f - - a f - -", "a f -"), ("D .f - - - f - -", "- f -"),
            ("D - a.f.2020 - a f - -", ["no-output OBS_KEY D"]), ("D - a.f.2020 - a f 2020 -", "a f 2020"),
            ("D - - x a f - -", ["no-output TYPO D"]), ("D - - x a f 2020 -", ["no-output TYPO D"]),
            ("D a - - a - - -", "a - -"), ("D a.2020 - - a - 2020 -", "a - 2020"), ("D a.f - - a - 2020 -", ["no-output SERIES_KEY D"]),
            ("D - a.f - a f - -", "a f -"), ("D - - x a f 2020 '-'", "a f 2020"), ("M a.f a.f.2020 x a f 2020 1", "a f 2020"))),
    Case("deletions by a column whose name is that of a component with an underscore", "SDMX-CSV 2.0: custom columns", (
        named("S", "A"), named("G", "A"), structure_map()),
        "ACTION A _A _B TIME_PERIOD", "A TIME_PERIOD", (
            ("D - a - 2020", ["no-output _A D"]), ("D - - b 2020", "- 2020"), ("M a a b 2020", "a 2020"))),
    Case("deletions of a dataflow's data by a map of the data structure", "SDMX-CSV 1.0 and 2.0: DATAFLOW, STRUCTURE", (
        named("S", "A"), named("G", "A"), structure_map()),
        "ACTION STRUCTURE DATAFLOW A TIME_PERIOD", "A TIME_PERIOD", (
            ("D DataFlow - a -", ["no-output ACTION D"]), ("D - T:F(1.0) a -", ["no-output ACTION D"]),
            ("D dataprovision - - 2020", ["no-output ACTION D"]), ("D dataflow - a 2020", "a 2020"),
            ("D DataStructure - a -", "a -"), ("M dataflow - a 2020", "a 2020"))),
    Case("deletions with an empty text", "SDMX-CSV 2.0: an empty cell is no value", (
        named("S", "A", attributes="P"), named("G", "A", attributes="P"), structure_map()),
        "ACTION|A|TIME_PERIOD|P", "A TIME_PERIOD P", (
            ("D|a||-", ["no-output ACTION D"]), ("D||2020|-", ["no-output ACTION D"]), ("D|a|2020|", ["no-output ACTION D"]),
            ("D|a|2020|p", "a 2020 p"), ("M|a||p", "a  p"))),
    Case("deletions by a value that becomes the same as another one", "S6 13.2; SDMX-CSV 2.0, actions", (
        named("S", "A F"), named("G", "B C"), representation_map("R", "a1>b", "a2>b", "c>d"), representation_map("T", "/(.*)/>\\1"),
        structure_map(component_map("A", "B", "R"), component_map("F", "C", "T"))),
        "ACTION A F TIME_PERIOD", "B C TIME_PERIOD", (
            ("D a1 - -", ["no-output ACTION D"]), ("D a1 f -", ["no-output ACTION D"]), ("D a1 f 2020", "b f 2020"), ("D c - -", "d - -"),
            ("D c - 2020", "d - 2020"), ("D - - 2020", "- - 2020"), ("D - f -", ["no-output ACTION D"]), ("D - - -", "- - -")),
        {"rules": {"ambiguous-key": "off"}}),
    Case("deletions by a value whose other copy stays different", "S6 13.2; SDMX-CSV 2.0, actions", (
        named("S", "A"), named("G", "A B"), representation_map("R", "a1>b", "a2>b"), structure_map(component_map("A", "B", "R"), component_map("A", "A"))),
        "ACTION A TIME_PERIOD", "A B TIME_PERIOD", (("D a1 -", "a1 b -"),)),
    Case("deletions without a period by rules with a validity", "S6 13.9; SDMX-CSV 2.0, actions", (
        named("S", "A"), named("G", "B", attributes="U"),
        representation_map("R", "A>old,x@/1998-12-31", "A>new,x", "B>y,x@/1998-12-31", "B>y,z", "C>c,x@/1998-12-31", "/D/>d,x@1990/1999", "E>e,x", targets=2),
        structure_map(component_map("A", "B U", "R"))),
        "ACTION A TIME_PERIOD", "B TIME_PERIOD", (
            ("D A -", ["ambiguous-value A A"]), ("D A 1998", "old 1998"), ("D A 2000", "new 2000"), ("D A never", ["ambiguous-value A A"]),
            ("D A ~", "new ~"), ("D B 1998", "y 1998"), ("D C -", ["ambiguous-value A C"]), ("D D -", ["ambiguous-value A D"]), ("D - -", "- -")),
        {"rules": {"ambiguous-key": "off"}}),
    Case("deletions of values that do not depend on the period", "S6 13.9; SDMX-CSV 2.0, actions", (
        named("S", "A"), named("G", "B", attributes="U"),
        representation_map("R", "A>old,x@/1998-12-31", "A>new,x", "B>y,x@/1998-12-31", "B>y,z", "E>e,x", targets=2),
        structure_map(component_map("A", "B U", "R"))),
        "ACTION A TIME_PERIOD", "B TIME_PERIOD U", (("D A -", ["ambiguous-value A A"]), ("D B -", "y - -"), ("D E -", "e - -"))),
]  # fmt: skip

CASES = [*VALUES, *EXPRESSIONS, *VALIDITY, *DATES, *KEYS]
