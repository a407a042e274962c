"""Human languages by English name, code and Chinese name."""

import re

from agent_core.dev.model.found import Found

_TABLE = """
english en 英语 英文
chinese zh 中文 汉语
french fr 法语 法文
german de 德语 德文
spanish es 西班牙语 西语
italian it 意大利语
portuguese pt 葡萄牙语
russian ru 俄语 俄文
japanese ja 日语 日文
korean ko 韩语 韩文
arabic ar 阿拉伯语
hindi hi 印地语
dutch nl 荷兰语
swedish sv 瑞典语
polish pl 波兰语
turkish tr 土耳其语
greek el 希腊语
hebrew he 希伯来语
thai th 泰语
vietnamese vi 越南语
latin la 拉丁语
finnish fi 芬兰语
danish da 丹麦语
norwegian no 挪威语
czech cs 捷克语
"""

LANGUAGES: tuple[tuple[str, ...], ...] = tuple(tuple(row.split()) for row in _TABLE.strip().splitlines())
_BY_NAME = {name: row for row in LANGUAGES for name in (row[0], *row[2:])}
_NAMES = re.compile("|".join(rf"\b{n}\b" if n.isascii() else n for n in _BY_NAME), re.IGNORECASE | re.ASCII)


def find(text: str) -> list[Found[str]]:
    """Language names in `text`, as written, in order."""
    return [Found(m.group(), m.start(), m.end()) for m in _NAMES.finditer(text)]


def code_of(language: str) -> str:
    return _BY_NAME[language.lower()][1]


def same(one: str, other: str) -> bool:
    """Whether two names or codes mean one language."""
    return any({one.lower(), other.lower()} <= set(row) for row in LANGUAGES)
