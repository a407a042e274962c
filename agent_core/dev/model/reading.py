"""One part of a question, read once: everything in it that could be a value."""

from dataclasses import dataclass
from datetime import datetime

from agent_core.dev.model import entities, expressions, languages, numbers, places, times, units
from agent_core.dev.model.found import Found, Spanned, blank, fold, overlaps
from agent_core.dev.model.words import words_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """`text` as written, `folded` of the same length; what one list has taken the later ones do not see."""

    text: str
    folded: str
    now: datetime
    quoted: list[Found[str]]
    urls: list[Found[str]]
    emails: list[Found[str]]
    files: list[Found[str]]
    moments: list[times.Moment]
    expressions: list[Found[str]]
    conversions: list[units.Conversion]
    durations: list[times.Duration]
    numbers: list[Found[numbers.Number]]
    places: list[Found[str]]
    languages: list[Found[str]]
    words: list[str]

    @property
    def open_text(self) -> str:
        """The folded text without quotations, addresses and files."""
        return blank(self.folded, [*self.quoted, *self.urls, *self.emails, *self.files])

    def protected(self) -> list[Spanned]:
        """The spans that no separator splits."""
        return [
            *self.quoted, *self.urls, *self.emails, *self.files, *self.moments, *self.expressions, *self.conversions,
            *self.numbers, *self.places,
        ]  # fmt: skip


def read(text: str, now: datetime) -> Reading:
    """All that the extractors find in `text`; `now` resolves relative times."""
    folded = fold(text)
    quoted = [Found(text[f.start + 1 : f.end - 1], f.start, f.end) for f in entities.quoted(folded)]
    rest = blank(folded, quoted)
    urls, emails = entities.addresses(rest)
    rest = blank(rest, [*urls, *emails])
    paths = [f for f in entities.files(rest) if not places.IANA.fullmatch(f.value)]
    known_places = places.find(blank(rest, paths))
    rest = blank(rest, [*paths, *known_places])
    moments = times.find(rest, now)
    timeless = blank(rest, [m for m in moments if not m.present])
    sums = expressions.find(timeless)
    counted = numbers.find(blank(timeless, sums))
    conversions = units.find(blank(timeless, sums))
    values: list[Spanned] = [*quoted, *urls, *emails, *paths, *known_places, *moments, *sums]
    conversions = [c for c in conversions if not any(overlaps(c, place) for place in known_places)]
    return Reading(
        text=text,
        folded=folded,
        now=now,
        quoted=quoted,
        urls=urls,
        emails=emails,
        files=paths,
        moments=moments,
        expressions=sums,
        conversions=conversions,
        durations=times.find_durations(rest),
        numbers=counted,
        places=known_places,
        languages=languages.find(rest),
        words=words_of(
            blank(folded, [*values, *counted, *(c for c in conversions if c.known), *_names(timeless)]).replace(
                "\0", " "
            )
        ),
    )


def _names(text: str) -> list[Found[str]]:
    """Names of places and people that a preposition introduces; no words in capitals throughout, which may be codes."""
    found = entities.after_preposition(text, "in at near for from to with named called")
    return [f for f in found if f.value[0].isupper() and not f.value.isupper()]
