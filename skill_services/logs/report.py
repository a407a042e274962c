"""What is found, as text for the model and as values for other callers."""

from datetime import datetime
from typing import Final

from skill_services.logs.entries import Entry
from skill_services.logs.inspection import Inspection
from skill_services.logs.search import Found

MAX_TEXT: Final = 60_000
_MAX_ENTRY: Final = 2_000


def found_text(found: Found) -> tuple[str, bool]:
    """The entries, oldest first, and whether some had to be left out for length."""
    if not found.entries:
        where = ", ".join(found.files[:10]) or "no file that was changed since the start of the range"
        return "\n".join((f"No entry matches. Searched: {where}.", *found.notes)), False
    shown: list[str] = []
    size = 0
    for entry in reversed(found.entries):  # the latest matter most
        line = entry_text(entry)
        size += len(line) + 1
        if size > MAX_TEXT:
            break
        shown.append(line)
    notes = list(found.notes)
    if len(shown) < len(found.entries):
        notes.append(f"{len(found.entries) - len(shown)} earlier entries are left out for length: narrow the search.")
    head = f"{found.matched} entries match; {len(shown)} shown, oldest first."
    return "\n".join((head, *reversed(shown), *notes)), len(shown) < len(found.entries)


def found_values(found: Found) -> dict[str, object]:
    return {
        "matched": found.matched,
        "entries": [entry_values(entry) for entry in found.entries],
        "files": list(found.files),
        "notes": list(found.notes),
    }


def inspection_text(inspection: Inspection) -> str:
    levels = ", ".join(f"{count} {level}" for level, count in inspection.levels.items()) or "none named"
    lines = [
        f"{inspection.file}: {inspection.size:,} bytes, {inspection.lines:,} lines, {inspection.entries:,} entries.",
        f"Time: {iso(inspection.first) or 'none'} to {iso(inspection.last) or 'none'}.",
        f"Levels: {levels}.",
    ]
    if inspection.errors:
        lines += ["Latest errors:", *map(entry_text, inspection.errors)]
    return "\n".join((*lines, *inspection.notes))


def inspection_values(inspection: Inspection) -> dict[str, object]:
    return {
        "file": inspection.file,
        "size": inspection.size,
        "modified": iso(inspection.modified),
        "lines": inspection.lines,
        "entries": inspection.entries,
        "first": iso(inspection.first),
        "last": iso(inspection.last),
        "levels": dict(inspection.levels),
        "latest_errors": [entry_values(entry) for entry in inspection.errors],
        "notes": list(inspection.notes),
    }


def entry_text(entry: Entry) -> str:
    """`file:line time level | text`; the text keeps its lines."""
    text = entry.text if len(entry.text) <= _MAX_ENTRY else entry.text[:_MAX_ENTRY] + " ...(entry cut)"
    return f"{entry.file}:{entry.line} {iso(entry.time) or '-'} {entry.level or '-'} | {text}"


def entry_values(entry: Entry) -> dict[str, object]:
    text = entry.text if len(entry.text) <= _MAX_ENTRY else entry.text[:_MAX_ENTRY] + " ...(entry cut)"
    return {
        "file": entry.file,
        "line": entry.line,
        "time": iso(entry.time),
        "level": str(entry.level) if entry.level else None,
        "text": text,
    }


def iso(moment: datetime | None) -> str | None:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z") if moment else None
