from skill_services.sdk.docstring import read_docstring


def test_the_text_before_the_sections_is_the_description() -> None:
    documentation = read_docstring(
        """Use when a sum is needed. Adds
        numbers.

        Unlike `mean`, it does not
        divide.

        Args:
            first: The first
                number.
            second (int): The second.

        Returns:
            The sum.
        """
    )

    assert documentation.description == "Use when a sum is needed. Adds numbers.\n\nUnlike `mean`, it does not divide."
    assert documentation.parameters == {"first": "The first number.", "second": "The second."}


def test_lists_keep_their_lines() -> None:
    documentation = read_docstring("Knows:\n\n- one\n- two\n  more\n1. three")

    assert documentation.description == "Knows:\n\n- one\n- two more\n1. three"


def test_numpy_and_rest_styles_are_read() -> None:
    numpy = read_docstring("Adds.\n\nParameters\n----------\nfirst : int\n    The first.\n")
    rest = read_docstring("Adds.\n\n:param first: The first.\n")

    assert numpy.parameters == rest.parameters == {"first": "The first."}
    assert numpy.description == rest.description == "Adds."


def test_nothing_gives_nothing() -> None:
    assert read_docstring(None).description == read_docstring("  \n ").description == ""


def test_a_section_that_cannot_be_read_stays_in_the_text() -> None:
    assert read_docstring("Adds.\n\nArgs:\n    no colon here\n").description == "Adds.\n\nArgs: no colon here"


def test_chinese_text_is_kept() -> None:
    assert read_docstring("计算表达式。\n\nArgs:\n    expression: 算式。\n").parameters == {"expression": "算式。"}
