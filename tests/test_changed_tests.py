"""`make check` finds the tests of a change."""

from changed_tests import WHOLE_PROJECT, affected_tests


def test_only_tests_that_import_a_changed_module_are_chosen():
    test = "tests/mechanisms/catalogue/test_tldp.py"
    assert affected_tests(set()) == sorted(WHOLE_PROJECT)
    assert affected_tests({test}) == sorted({*WHOLE_PROJECT, test})
    assert "tests/mechanisms/base/test_inputs.py" in affected_tests({"mechanisms/__init__.py"})
