"""The text that a parameter wants: one of its choices, a name, a file, a unit, a keyword, or what is left to say."""

import re
from collections.abc import Callable, Sequence

import jsonschema_rs

from agent_core.dev.model import entities, languages, places
from agent_core.dev.model.filling import Filling
from agent_core.dev.model.found import CJK, Found, before, blank, is_chinese
from agent_core.dev.model.moment_values import moment_for
from agent_core.dev.model.reading import Reading
from agent_core.dev.model.roles import Role, direction_of, role_of, samples
from agent_core.dev.model.schema import Parameter
from agent_core.dev.model.unit_table import CANONICAL, spelled
from agent_core.dev.model.words import located, words_of

_LEVELS = {"debug": "debug", "info": "info", "notice": "notice", "=warning": "warning", "=error": "error",
           "critical": "critical", "fatal": "fatal", "trace": "trace"}  # fmt: skip
_ABOUT = re.compile(
    r"(?:\b(?:containing|contains?|that mentions?|mentioning|matching|about|for|with(?: the)?(?: keyword| word| text)?"
    r"|keywords?)\b"
    r"|包含|含有|关于|关键词|关键字|提到|带有)\s*(?:the\s+(?:word|text|keyword)\s+)?[::]?\s*", re.IGNORECASE
)  # fmt: skip
_END = re.compile(
    r"\0|[,.;:?!。、！？\n]|\s(?:in|from|between|since|on|at|to|and|during|within|of|with)\s|的", re.IGNORECASE
)
_LATIN = re.compile(r"\s*(?P<word>[A-Za-z0-9][\w.-]{2,})", re.ASCII)
_JUNK = " \t\r\n.,;:?!。、！？\"'“”"
_LEAD = re.compile(
    r"^(?:please|can you|could you|would you|i (?:want|need|would like)(?: you)? to|for me|me|the|a|an"
    r"|this|that|all|my|our|about|for"
    r"|请问|请|帮我|给我|把|将|一下|下|这句话|这段话)(?![A-Za-z])[\s,:]*", re.IGNORECASE
)  # fmt: skip
_TAIL = re.compile(
    r"[\s,]*(?:\b(?:please|to|into|in|on|at|for|from|by|with|of|as|and)|一下|成|为|到|在|请)$", re.IGNORECASE
)
_GENERIC_NAMES = frozenset(words_of("id name key value type kind string"))
_FILE_WORDS = frozenset(words_of("file path log"))


def choice_in(
    parameter: Parameter, reading: Reading, allowed: Callable[[Found[object]], bool] = lambda _: True
) -> Found[object] | None:
    """The choice of `enum` that the text names: as written, in another form of the word, or in the other language."""
    ideas = located(reading.folded)
    hits = [f for c in parameter.choices for f in _named(c, reading, ideas) if allowed(f)]
    return min(hits, key=lambda f: (f.start, f.start - f.end)) if hits else None


def _named(choice: object, reading: Reading, ideas: Sequence[Found[str]]) -> list[Found[object]]:
    if isinstance(choice, bool) or choice is None:
        return []
    if isinstance(choice, int | float):
        return [Found(choice, n.start, n.end) for n in reading.numbers if n.value == choice]
    if not isinstance(choice, str) or not choice.strip() or len(choice) > 100:
        return []
    spaced = re.escape(choice).replace("_", "[ _-]").replace(r"\-", "[ _-]")
    exact = rf"(?<![A-Za-z0-9_]){spaced}(?![A-Za-z0-9_])" if choice.isascii() else spaced
    found: list[Found[object]] = [
        Found(choice, m.start(), m.end())
        for m in re.finditer(exact, reading.folded, 0 if len(choice) == 1 else re.IGNORECASE)
    ]
    words = words_of(choice)
    if not found and len(words) == 1:
        found = [Found(choice, i.start, i.end) for i in ideas if i.value == words[0]]
    return found


def text_for(parameter: Parameter, role: Role, filling: Filling) -> object | None:
    """The value for a parameter of a text role; None where the question gives none."""
    read = _READERS.get(role)
    value = read(parameter, filling) if read else None
    return None if value is None else _as_allowed(parameter, value)


def _as_allowed(parameter: Parameter, value: object) -> object | None:
    """One of the parameter's choices where it has any, and nothing that its pattern refuses."""
    if parameter.choices and isinstance(value, str):
        return next((c for c in parameter.choices if isinstance(c, str) and _same(c, value)), None)
    pattern = parameter.schema.get("pattern")
    return value if pattern is None or _matches(pattern, value) else None


def _same(choice: str, value: str) -> bool:
    one, other = choice.lower(), value.lower()
    return one == other or (one in CANONICAL and CANONICAL[one] == CANONICAL.get(other)) or languages.same(one, other)


def _matches(pattern: object, value: object) -> bool:
    try:
        return jsonschema_rs.is_valid({"pattern": pattern}, value)
    except ValueError:
        return False


def _choice(parameter: Parameter, filling: Filling) -> object | None:
    found = choice_in(parameter, filling.reading, lambda f: bool(filling.free([f])))
    if found is not None:
        filling.take(found)
        return found.value
    return parameter.choices[0] if len(parameter.choices) == 1 and parameter.required else None


def _level(parameter: Parameter, filling: Filling) -> str | None:
    for word in filling.free(located(filling.reading.folded)):
        if word.value in _LEVELS:
            filling.take(word)
            small = any(s.islower() for s in samples(parameter))
            return _LEVELS[word.value] if small else _LEVELS[word.value].upper()
    return None


def _expression(parameter: Parameter, filling: Filling) -> str | None:
    value = _next(filling.reading.expressions, filling)
    said = " ".join(samples(parameter))
    return value.replace("**", "^") if value and "^" in said and "**" not in said else value


def _unit(parameter: Parameter, filling: Filling) -> str | None:
    named = [s for s in filling.siblings if role_of(s) is Role.UNIT]
    side = direction_of(parameter) or ("target" if len(named) > 1 and named[-1] is parameter else "source")
    conversion = next((c for c in filling.reading.conversions if c.target or side == "source"), None)
    if conversion is None:
        return None
    unit = conversion.source if side == "source" else conversion.target
    chinese = any(re.search(f"[{CJK}]", s) for s in samples(parameter))
    return (unit if chinese and is_chinese(unit) else spelled(unit)) or None


def _zone(parameter: Parameter, filling: Filling) -> str | None:
    place = _place(parameter, filling)
    said = samples(parameter)
    iana = any(places.IANA.fullmatch(e) for e in said) or "IANA" in parameter.description
    loose = any(not places.IANA.fullmatch(e) and places.zone_of(e) for e in said)
    return places.zone_of(place) or place if place and iana and not loose else place


def _place(parameter: Parameter, filling: Filling) -> str | None:
    text = blank(filling.reading.open_text, [*filling.reading.moments, *filling.reading.expressions])
    known = _directed(filling.reading.places, parameter, filling)
    if role_of(parameter) is Role.ZONE and not filling.may_guess(parameter):
        return _next(known, filling)
    for candidates in (
        known,
        entities.after_preposition(text, "in at near for from to of"),
        entities.chinese_places(text),
    ):
        value = _next(candidates, filling)
        if value:
            return value
    return _next(entities.proper_names(text), filling) if filling.may_guess(parameter) else None


def _directed(found: list[Found[str]], parameter: Parameter, filling: Filling) -> list[Found[str]]:
    """Of several, the one that `from` or `to` introduces, else the first as source and the last as target."""
    side = direction_of(parameter)
    other = {"source": "target", "target": "source"}.get(side, "")
    role = role_of(parameter)
    if not side or not any(direction_of(s) == other and role_of(s) is role for s in filling.siblings):
        return found
    cue = r"(?:\bfrom|从|由)\s*$" if side == "source" else r"(?:\b(?:to|in|into)|到|成|为)\s*$"
    text = filling.reading.folded
    cued = [f for f in found if re.search(cue, before(text, f.start), re.IGNORECASE)]
    if cued:
        return cued[:1] if side == "source" else cued[-1:]
    if len(found) == 1:
        return found if side == "target" else []
    return found[:1] if side == "source" else found[-1:]


def _language(parameter: Parameter, filling: Filling) -> str | None:
    value = _next(_directed(filling.reading.languages[::-1], parameter, filling), filling)
    if value is None or parameter.choices:
        return value
    said = samples(parameter)
    if said and all(re.fullmatch(r"[a-z]{2}(?:-[A-Z]{2})?", s) for s in said):
        return languages.code_of(value)
    english = next(row[0].capitalize() for row in languages.LANGUAGES if languages.same(row[0], value))
    return value if any(re.search(f"[{CJK}]", s) for s in said) else english


def _file(parameter: Parameter, filling: Filling) -> str | None:
    quoted_files = [q for q in filling.reading.quoted if entities.files(q.value)]
    value = _next([*filling.reading.files, *quoted_files], filling)
    if value is None and filling.may_guess(parameter):
        value = _next(entities.beside_words(filling.left(), _FILE_WORDS), filling)
    return value


def _moment(parameter: Parameter, filling: Filling) -> str | None:
    return moment_for(parameter, filling)


def _duration(parameter: Parameter, filling: Filling) -> str | None:
    for duration in filling.free(filling.reading.durations):
        filling.take(duration)
        if parameter.schema.get("format") != "duration":
            return filling.reading.text[duration.start : duration.end].strip()
        return f"PT{duration.seconds:g}S" if duration.seconds % 60 else f"PT{duration.seconds / 60:.0f}M"
    return None


def _url(parameter: Parameter, filling: Filling) -> str | None:
    return _next(filling.reading.urls, filling)


def _email(parameter: Parameter, filling: Filling) -> str | None:
    return _next(filling.reading.emails, filling)


def _query(parameter: Parameter, filling: Filling) -> str | None:
    value = _next(filling.reading.quoted, filling)
    if value:
        return value
    text = filling.left()
    value = _next(_after_han_verb(text, filling), filling)
    if value:
        return value
    for cue in _ABOUT.finditer(text):
        end = _END.search(text, cue.end())
        span = Found("", cue.end(), end.start() if end else len(text))
        said = filling.reading.text[span.start : span.end].strip(_JUNK)
        if said and not set(words_of(said)) <= filling.verbs and not said.lower().startswith(("the last", "me")):
            filling.take(span)
            return said
    return _remainder(filling) if filling.may_guess(parameter) else None


def _after_han_verb(text: str, filling: Filling) -> list[Found[str]]:
    """`查找 timeout`: a word in Latin letters behind a Chinese verb of the tool's."""
    verbs = [w for w in located(text) if w.value in filling.verbs and is_chinese(text[w.start : w.end])]
    words = [m for v in verbs if (m := _LATIN.match(text, v.end))]
    return [Found(m["word"], m.start("word"), m.end("word")) for m in words]


def _text(parameter: Parameter, filling: Filling) -> str | None:
    value = _next(filling.reading.quoted, filling)
    if value:
        return value
    colon = re.search(r":\s*(?=\S)", filling.left())
    if colon and filling.may_guess(parameter):
        span = Found("", colon.end(), len(filling.reading.folded))
        filling.take(span)
        return filling.reading.text[span.start :].strip() or None
    return _remainder(filling) if filling.may_guess(parameter) else None


def _name(parameter: Parameter, filling: Filling) -> str | None:
    text = filling.left()
    words = {w for w in parameter.words if w not in _GENERIC_NAMES}
    plain = [f for f in entities.beside_words(text, words) if not {i.value for i in located(f.value)} & filling.verbs]
    value = _next([*_sampled(parameter, text), *filling.reading.quoted, *plain], filling)
    if value is None:
        value = _next(entities.after_preposition(text, "named called"), filling)
    if value is None and filling.may_guess(parameter):
        pattern = parameter.schema.get("pattern")
        tokens = [Found(m.group(), m.start(), m.end()) for m in re.finditer(r"[\w./@:-]+", text)] if pattern else []
        fitting = [t for t in tokens if _matches(pattern, t.value)]
        named = entities.proper_names(blank(text, [w for w in located(text) if w.value in filling.verbs]))
        other = [*entities.after_preposition(text, "for of to with"), *entities.qualifiers(text, filling.verbs)]
        value = _next([*fitting, *named, *other], filling)
    return value


def _sampled(parameter: Parameter, text: str) -> list[Found[str]]:
    """The parameter's own examples where the question has them."""
    patterns = (
        rf"(?<![A-Za-z0-9]){re.escape(s)}(?![A-Za-z0-9])" if s.isascii() else re.escape(s) for s in samples(parameter)
    )
    return [Found(m.group(), m.start(), m.end()) for p in patterns for m in re.finditer(p, text, re.IGNORECASE)]


def _remainder(filling: Filling) -> str | None:
    """The longest stretch neither taken nor the request itself: `translate hello world to French` -> hello world."""
    text = filling.left()
    verbs = [w for w in located(text) if w.value in filling.verbs]
    text = blank(text, verbs)
    pieces = [(m.start(), m.end()) for m in re.finditer(r"[^\0]+", text)]
    trimmed = [_trim(filling.reading.text, start, end) for start, end in pieces]
    best = max(trimmed, key=len, default="")
    return best or None


def _trim(text: str, start: int, end: int) -> str:
    said = text[start:end].strip(_JUNK)
    for pattern in (_LEAD, _TAIL):
        while (shorter := pattern.sub("", said).strip(_JUNK)) != said:
            said = shorter
    return said


def _next(candidates: Sequence[Found[str]], filling: Filling) -> str | None:
    for found in filling.free(candidates):
        filling.take(found)
        return found.value
    return None


_READERS: dict[Role, Callable[[Parameter, Filling], object | None]] = {
    Role.CHOICE: _choice,
    Role.LEVEL: _level,
    Role.EXPRESSION: _expression,
    Role.UNIT: _unit,
    Role.ZONE: _zone,
    Role.PLACE: _place,
    Role.LANGUAGE: _language,
    Role.FILE: _file,
    Role.MOMENT: _moment,
    Role.DURATION: _duration,
    Role.URL: _url,
    Role.EMAIL: _email,
    Role.QUERY: _query,
    Role.TEXT: _text,
    Role.NAME: _name,
}
