"""The suite's own figures and tables, and the judge that all papers' privacy claims share."""
