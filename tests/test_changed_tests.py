"""`make check` finds the tests of a change."""

from changed_tests import WHOLE_PROJECT, concerned


def test_tests_that_import_what_changed_are_chosen_and_others_are_not():
    test = "tests/mechanisms/catalogue/test_tldp.py"
    assert concerned(set()) == sorted(WHOLE_PROJECT)
    assert concerned({test}) == sorted({*WHOLE_PROJECT, test})
    assert "tests/mechanisms/base/test_inputs.py" in concerned({"mechanisms/__init__.py"})
