"""The fixed sentences of the stand-in, English and Chinese."""

MODEL = "skillmesh-stand-in"
NOTE = "Stand-in without weights; for a real model set SKILLMESH_MODEL and OPENAI_API_KEY."

_ENGLISH = {
    "none": (
        "I am a stand-in without a real language model: I can only route questions to skills{offered}. "
        "To use a real model, set SKILLMESH_MODEL and OPENAI_API_KEY (OPENAI_BASE_URL for an endpoint of your own)."
    ),
    "offered": ", such as {names}",
    "ask": "To use {tool} I still need: {missing}.",
    "ask_for": "For “{text}” I would use {tool}, but I still need: {missing}.",
    "too_long": "The question is too long for this stand-in, which reads at most {limit} characters.",
    "unmatched": "No skill that I was offered fits “{text}”.",
    "failed": "{name} failed: {reason}",
    "truncated": "(The result was cut short.)",
    "empty": "no result",
    "nothing": "none",
    "more": "… and {count} more",
    "yes": "yes",
    "no": "no",
    "comma": ", ",
    "colon": ": ",
    "open": " (",
    "close": ")",
}
_CHINESE = {
    "none": (
        "我是没有真实语言模型的替身，只能把问题转给技能{offered}。"
        "要使用真实模型，请设置 SKILLMESH_MODEL 和 OPENAI_API_KEY（自有端点还需 OPENAI_BASE_URL）。"
    ),
    "offered": "，例如 {names}",
    "ask": "要使用 {tool}，还需要：{missing}。",
    "ask_for": "“{text}”可以用 {tool}，但还需要：{missing}。",
    "too_long": "问题太长，这个替身最多读 {limit} 个字符。",
    "unmatched": "没有适合“{text}”的技能。",
    "failed": "{name} 失败：{reason}",
    "truncated": "（结果已被截断。）",
    "empty": "没有结果",
    "nothing": "无",
    "more": "……还有 {count} 项",
    "yes": "是",
    "no": "否",
    "comma": "，",
    "colon": "：",
    "open": "（",
    "close": "）",
}


class Sentences:
    """`say("ask", tool=..., missing=...)` in the language of a question."""

    def __init__(self, *, chinese: bool) -> None:
        self._texts = _CHINESE if chinese else _ENGLISH

    def say(self, key: str, **values: object) -> str:
        return self._texts[key].format(**values)
