"""Reads pytest's JUnit file and writes the one of the whole run."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

from pyhelpers.suites.case import Case, FileReport


def parse(xml: bytes, file: str) -> list[Case]:
    """The cases in a JUnit document; errors count as failures."""
    return [_case(node, file) for node in ET.fromstring(xml).iter("testcase")]


def _case(node: ET.Element, file: str) -> Case:
    name, seconds = node.get("name", ""), float(node.get("time", 0))
    for tag, outcome in (("failure", "failed"), ("error", "failed"), ("skipped", "skipped")):
        child = node.find(tag)
        if child is not None:
            reason = child.get("message") or ""
            return Case(file, name, outcome, seconds, reason if outcome == "skipped" else child.text or reason)
    return Case(file, name, "passed", seconds)


def write(path: Path, reports: list[FileReport]) -> None:
    """One JUnit file: a suite for each test file."""
    root = ET.Element("testsuites")
    for report in reports:
        suite = ET.SubElement(root, "testsuite", name=report.file, time=f"{report.seconds:.3f}")
        suite.set("tests", str(len(report.cases)))
        suite.set("failures", str(report.count("failed")))
        suite.set("skipped", str(report.count("skipped")))
        for case in report.cases:
            node = ET.SubElement(suite, "testcase", classname=case.file, name=case.name, time=f"{case.seconds:.3f}")
            if case.outcome != "passed":
                tag = "failure" if case.outcome == "failed" else "skipped"
                child = ET.SubElement(node, tag, message=_printable(case.message[:200]))
                child.text = _printable(case.message)
    path.parent.mkdir(parents=True, exist_ok=True)
    ET.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)


def _printable(text: str) -> str:
    """XML 1.0 has no place for most control characters, and test output may hold them."""
    return "".join(char for char in text if char >= " " or char in "\t\n")
